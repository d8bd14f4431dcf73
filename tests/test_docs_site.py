"""The pages that are about everything leave nothing out, and their examples run."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import react_run
from react_run import StopReason
from react_run.components.kinds import installed
from react_run.config import load_config

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [DOCS / "endings.md", *sorted((DOCS / "learn").glob("*.md")), *sorted((DOCS / "recipes").glob("*.md"))]
_CODE = re.compile(
    r"\bcode=\"([a-z_]+(?:\.[a-z_]+)?)\"|default_code = \"([a-z_]+)\"|Outcome\.retryable\(\"([a-z_]+)\""
    r"|_refused\(run, \"([a-z_]+)\", (?:[A-Z]+\.format\(tool=|text, D)"
)


def _codes() -> set[str]:
    sources = [path for root in ("src", "toolsets", "plugins") for path in (ROOT / root).rglob("*.py")]
    return {
        code
        for path in sources
        for found in _CODE.findall(path.read_text(encoding="utf-8"))
        for code in found
        if code and "/templates/" not in str(path)
    }


def test_every_error_code_is_on_the_page() -> None:
    page = set(re.findall(r"`([a-z_.]+)`", (DOCS / "errors.md").read_text(encoding="utf-8")))
    assert _codes() - page == set()


def test_every_reason_to_stop_is_on_the_page() -> None:
    page = set(re.findall(r"`([a-z_]+)`", (DOCS / "endings.md").read_text(encoding="utf-8")))
    assert {str(reason) for reason in StopReason} - page == set()


def test_every_public_name_is_on_a_page() -> None:
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    assert [name for name in react_run.__all__ if f"### `{name}`" not in page] == ["__version__"]


def test_every_kind_and_each_of_its_options_is_on_a_page() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    words = {*re.findall(r"`([\w-]+)`", text), *re.findall(r"[`{, ]([\w-]+):", text)}
    for group in ("toolsets", "plugins", "checks", "models", "scorers"):
        for kind, found in installed(group).items():
            cls = found.load()
            if cls.__module__.startswith(("react_run", "react_toolsets", "react_plugins", "react_offline")):
                assert kind in words or f"kind: {kind}" in text or f"# {kind}" in text, f"{group}: {kind}"
                options = cls.option_names() if hasattr(cls, "option_names") else []
                assert set(options) - words == set(), f"{group}: {kind}"


WEATHER = """
from react_run import tool

@tool(read_only=True)
def forecast(city: str) -> str:
    "Forecast."
    return city
"""
SHOP = """
openapi: 3.0.0
info: {title: Shop, version: "1"}
servers: [{url: "https://example.org"}]
paths: {/order: {get: {operationId: get_order, responses: {}}}}
"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_the_agent_files_of_a_page_load(page: Path, tmp_path: Path) -> None:
    (tmp_path / "weather.py").write_text(WEATHER)
    (tmp_path / "shop.yaml").write_text(SHOP)
    for text in re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        if "cases:" not in text and "extends:" not in text:
            path = tmp_path / "agent.yaml"
            path.write_text(text)
            load_config(path, environment={}, trusted=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    for number, source in enumerate(
        re.findall(r"```python\n(?!# not run)(.*?)```", page.read_text("utf-8"), re.DOTALL)
    ):
        exec(
            compile(source, f"{page.name}:{number}", "exec"), vars(module)
        )  # one page is one module, from top to bottom
