"""JUnit XML for CI: a test case per case and variant. ``react-run test`` uses it for its verdicts, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from react_run.support.dataclasses import dataclass
from react_run.support.render import escape


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One test case: why it failed, or why it could not run; both are empty if it passed."""

    name: str
    seconds: float = 0.0
    failure: str = ""
    error: str = ""


def junit(suite: str, entries: Iterable[Entry]) -> bytes:
    """Format test cases as JUnit XML."""
    entries = list(entries)
    attributes = {
        "name": suite,
        "tests": str(len(entries)),
        "failures": str(sum(bool(entry.failure) for entry in entries)),
        "errors": str(sum(bool(entry.error) for entry in entries)),
        "time": f"{sum(entry.seconds for entry in entries):.3f}",
    }
    root = ElementTree.Element("testsuite", attributes)
    for entry in entries:
        about = {"classname": suite, "name": escape(entry.name), "time": f"{entry.seconds:.3f}"}
        case = ElementTree.SubElement(root, "testcase", about)
        for tag, said in (("failure", entry.failure), ("error", entry.error)):
            if said:
                text = escape(said)
                ElementTree.SubElement(case, tag, message=text.splitlines()[0]).text = text
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def write(result: Mapping[str, Any], directory: Path, path: Path) -> list[Path]:
    """Write the cases; a case fails if any of its runs does; see :func:`react_run.evals.exports.export`."""
    entries = []
    several = len(result["variants"]) > 1
    for case in result["cases"]:
        for variant, found in case["variants"].items():
            marks = found["marks"]
            passed, counted = marks.count("p"), len(marks) - marks.count("e")
            failure = f"{passed} of {counted} runs passed: {found['why']}" if passed < counted else ""
            error = f"no run could be scored: {found['why']}" if not counted else ""
            name = f"{case['name']} [{variant}]" if several else case["name"]
            entries.append(Entry(name=name, seconds=found["seconds"] or 0.0, failure=failure, error=error))
    entries += [
        Entry(name=f"gate {gate['gate']}", failure="" if gate["holds"] else gate["said"]) for gate in result["gates"]
    ]
    path.write_bytes(junit(result["title"], entries))
    return [path]
