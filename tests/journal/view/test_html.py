"""The page of a run: nothing comes from elsewhere, nothing that was recorded is markup, and it can be read (J5)."""

from __future__ import annotations

import functools
import json
import re
import shutil
import struct
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.journal.hostile import TAGS, hostile_journal
from tests.journal.recording import add, agent_of, recorded

from react_run.journal.reading import Journal
from react_run.journal.view.html import page
from react_run.testing import calls, says

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")


class Elements(HTMLParser):
    """Every element of a page, with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_page_has_no_script_no_handler_no_form_and_no_address(tmp_path: Path) -> None:
    elements = Elements(page(hostile_journal("http://127.0.0.1:1", tmp_path)))
    assert not elements.open
    names = {name for name, _ in elements.found}
    assert names <= {
        *(
            "html",
            "head",
            "meta",
            "link",
            "title",
            "style",
            "body",
            "main",
            "h1",
            "h2",
            "h3",
            "p",
            "span",
            "div",
            "b",
            "small",
        ),
        *(
            "dl",
            "dt",
            "dd",
            "ul",
            "li",
            "i",
            "pre",
            "details",
            "summary",
            "section",
            "svg",
            "g",
            "rect",
            "a",
            "defs",
            "pattern",
        ),
    }
    for name, attributes in elements.found:
        assert not any(key.startswith("on") for key in attributes)
        for key in ("src", "href", "action"):
            value = attributes.get(key) or "#"
            assert value.startswith(("#", "data:,")), (name, value)
    (policy,) = [found for name, found in elements.found if found.get("http-equiv")]
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_every_link_of_a_page_leads_to_one_place_on_it(tmp_path: Path) -> None:
    elements = Elements(page(recorded(agent_of(), workspace=tmp_path)))
    places = [found["id"] for _, found in elements.found if "id" in found]
    links = [str(found["href"])[1:] for name, found in elements.found if name == "a"]
    assert len(places) == len(set(places))
    assert links
    assert set(links) <= set(places)


def test_what_acts_unseen_is_made_visible(tmp_path: Path) -> None:
    text = page(hostile_journal("http://127.0.0.1:1", tmp_path))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    assert "\\x1b[31mred" in text
    assert "\\u202eesrever" in text


def test_a_very_long_text_is_shown_in_part(tmp_path: Path) -> None:
    text = page(recorded(agent_of([says("a" * 300_000 + "the end")]), workspace=tmp_path))
    assert len(text) < 200_000
    assert "the end" in text
    assert "characters left out here" in text


def test_a_page_says_in_words_why_a_run_ended_and_gives_the_code_beside_them() -> None:
    replies = [calls(("nothing", {"a": number})) for number in range(2)]
    text = page(recorded(agent_of(replies, failure_handling="safe")))
    words, code = "a tool failed again after its correction", '<small class="soft">tool_retry_exhausted</small>'
    assert f'<span class="badge bad">{words}</span> {code}</h1>' in text
    assert f'<p class="guard">! failures: {words}: nothing: unknown_tool {code}</p>' in text
    assert '<span class="badge good">completed</span></h1>' in page(recorded(agent_of([says("done")])))


# -- in a browser ------------------------------------------------------------------------------------------------------


@dataclass
class Site:
    """A directory served on the loopback address, what was asked for, and what a page reported."""

    folder: Path
    address: str = ""
    asked: list[str] = field(default_factory=list)
    reported: Any = None
    done: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    found = Site(tmp_path / "site")
    found.folder.mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            found.asked.append(self.path)

        def do_GET(self) -> None:
            if self.path == "/hold":  # keeps a page from being complete until it has reported
                found.done.wait(60)
                self.send_error(404)
            else:
                super().do_GET()

        def do_POST(self) -> None:
            found.reported = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.done.set()
            self.send_response(204)
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(found.folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found.address = f"http://127.0.0.1:{server.server_port}"
    yield found
    server.shutdown()
    server.server_close()


def chromium(tmp_path: Path, *options: str) -> str:
    """What headless Chromium prints."""
    assert CHROMIUM is not None
    fixed = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
    command = [CHROMIUM, *fixed, f"--user-data-dir={tmp_path / 'profile'}", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


MEASURE = """<!doctype html><meta charset="utf-8"><body><img src="/hold"><script>
const contrast = (a, b) => {
  const light = colour => {
    const parts = colour.match(/[0-9.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};
const look = width => new Promise(done => {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  const started = performance.now();
  frame.onload = () => requestAnimationFrame(() => {
    const page = frame.contentDocument, root = page.documentElement;
    const style = name => frame.contentWindow.getComputedStyle(page.querySelector(name));
    const body = style("body");
    const result = {
      width, overflow: root.scrollWidth - root.clientWidth, seconds: (performance.now() - started) / 1000,
      background: body.backgroundColor, text: contrast(body.color, body.backgroundColor),
      soft: contrast(style(".soft").color, body.backgroundColor), title: page.title,
      images: page.images.length, scripts: page.scripts.length, frames: page.querySelectorAll("iframe").length,
      rows: page.querySelectorAll(".row").length, bars: page.querySelectorAll("svg g").length,
      details: page.querySelectorAll("details").length, smallest: parseFloat(style(".row").fontSize),
      pre: [...page.querySelectorAll("pre")].map(p => p.textContent),
    };
    frame.remove();
    done(result);
  });
  frame.src = "run.html";
  document.body.append(frame);
});
(async () => {
  const results = [];
  for (const width of [400, 1600]) results.push(await look(width));
  await fetch("/report", {method: "POST", body: JSON.stringify(results)});
})();
</script>"""


def looked_at(site: Site, tmp_path: Path, journal: Journal, *options: str) -> list[dict[str, Any]]:
    """What a browser makes of the page, at two widths."""
    (site.folder / "run.html").write_text(page(journal), encoding="utf-8")
    (site.folder / "measure.html").write_text(MEASURE, encoding="utf-8")
    chromium(tmp_path, *options, "--window-size=1700,1000", "--dump-dom", f"{site.address}/measure.html")
    results: list[dict[str, Any]] = site.reported
    return results


@needs_chromium
def test_hostile_text_stays_text_in_a_browser_and_nothing_else_is_loaded(site: Site, tmp_path: Path) -> None:
    for result in looked_at(site, tmp_path, hostile_journal(site.address, tmp_path)):
        assert (result["images"], result["scripts"], result["frames"]) == (0, 0, 0)
        assert result["title"] != "pwned"
        assert TAGS in result["title"]
        assert any(TAGS in text for text in result["pre"])
    assert {path.partition("?")[0] for path in site.asked} <= {
        "/measure.html",
        "/run.html",
        "/favicon.ico",
        "/hold",
        "/report",
    }


@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
def test_a_page_can_be_read_at_400_and_1600_pixels_in_light_and_dark(site: Site, tmp_path: Path, dark: bool) -> None:
    options = ["--blink-settings=preferredColorScheme=0"] if dark else ["--blink-settings=preferredColorScheme=1"]
    narrow, wide = looked_at(site, tmp_path, recorded(agent_of(), workspace=tmp_path), *options)
    for result in (narrow, wide):
        assert result["overflow"] <= 0
        assert result["text"] > 7
        assert result["soft"] > 4.5
        assert result["smallest"] >= 12
        brightness = sum(map(int, re.findall(r"\d+", result["background"])[:3]))
        assert (brightness < 200) is dark
    assert narrow["rows"] == wide["rows"] == 5 + 7  # model calls and tool calls
    assert wide["bars"] >= 4


@needs_chromium
def test_a_picture_of_a_page_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / "run.html").write_text(page(recorded(agent_of(), workspace=tmp_path)), encoding="utf-8")
    picture = tmp_path / "run.png"
    chromium(tmp_path, "--window-size=1600,1200", f"--screenshot={picture}", (tmp_path / "run.html").as_uri())
    data = picture.read_bytes()
    assert struct.unpack(">II", data[16:24]) == (1600, 1200)
    assert len(data) > 20_000


@needs_chromium
def test_five_thousand_events_open_quickly(site: Site, tmp_path: Path) -> None:
    replies = [calls(("add", {"a": number, "b": 1}), ("add", {"a": number, "b": 2})) for number in range(840)]
    agent = agent_of([*replies, says("done")], tools=[add])
    agent.config.max_iterations = 1_000  # beyond what a file may say
    journal = recorded(agent, workspace=tmp_path)
    assert len(journal.records) > 5_000
    for result in looked_at(site, tmp_path, journal):
        assert result["seconds"] < 10  # finds what grows with the square of the events; it takes well under two
        assert result["rows"] == 281  # three iterations each


def long_run(iterations: int) -> Journal:
    replies = [calls(("add", {"a": number, "b": 1})) for number in range(iterations)]
    agent = agent_of(
        [*({**reply, "usage": {"input_tokens": 90, "output_tokens": 9}} for reply in replies), says("done")],
        tools=[add],
    )
    agent.config.max_iterations = iterations + 1  # beyond what a file may say
    return recorded(agent)


def test_a_run_that_was_killed_at_once_has_a_page() -> None:
    assert "<h2>Waterfall</h2>" in page(Journal(records=long_run(1).records[:1]))


def test_iterations_of_a_long_run_share_bars_and_rows_and_each_stands_below_them() -> None:
    for iterations, drawn in ((299, 300), (899, 300), (900, 226)):
        text = page(long_run(iterations))
        charts, rows, below = re.split("<h2>(?:Waterfall|Iterations)</h2>", text)
        assert charts.count("<g><title>") == drawn
        assert rows.count('<div class="part">') == drawn
        assert below.count('<details class="tool"') == iterations
        links = re.findall('href="#([^"]+)"', rows)
        assert len(links) == (2 * iterations + 1 if drawn == iterations + 1 else drawn)
        assert all(f'id="{link}"' in below for link in links)


def test_a_bar_of_several_iterations_is_their_mean_and_a_row_tells_of_failures(tmp_path: Path) -> None:
    replies = [calls(("add", {"a": "x" if number == 3 else number, "b": 1})) for number in range(600)]
    for number, reply in enumerate(replies):
        reply["usage"] = {"input_tokens": 100 + number, "output_tokens": 10}
    agent = agent_of([*replies, says("done")], tools=[add])
    agent.config.max_iterations = 1_000
    text = page(recorded(agent, workspace=tmp_path))
    assert "<title>Iterations 4 to 6, on average: 104 input (0 cached), 10 output</title>" in text
    assert "Each bar is the mean of 3 iterations." in text
    assert "4 to 6 · ✗ 1 of 3 tool calls" in text


def test_a_page_of_two_thousand_iterations_is_no_larger_than_two_megabytes() -> None:
    assert len(page(long_run(2_000)).encode()) < 2_000_000
