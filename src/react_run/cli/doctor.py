"""``react-run doctor``: check the installation, and give a fix for each failure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import click

from react_run.cli.terminal import json_text

if TYPE_CHECKING:
    from react_run.cli.finding import Finding


@click.command("doctor", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", metavar="[AGENT.yaml]", required=False, type=click.Path())
@click.option("--offline", is_flag=True, help="Do not contact providers.")
@click.option("--trust", is_flag=True, help="Trust the file's directory for this check.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def command(file: str | None, offline: bool, trust: bool, as_json: bool) -> int:
    """Check Python, directories, installed packages, keys (never shown) and the connection to providers.

    With AGENT.yaml, also check that the file is valid, that its model can be reached and that its toolsets start.
    """
    from react_run.cli.doctor_checks import agent_findings, installation, keys, kinds, providers

    steps: list[Callable[[], Iterable[Finding]]] = [installation, kinds, keys]
    if not offline:
        steps.append(providers)
    if file is not None:
        steps.append(lambda: agent_findings(file, trust=trust, offline=offline))
    findings = [finding for step in steps for finding in step()]
    if as_json:
        print(json_text([finding.to_dict() for finding in findings], indent=2))
    else:
        _show(findings)
    return 1 if any(finding.status == "failed" for finding in findings) else 0


def _show(findings: Sequence[Finding]) -> None:
    import sys

    from react_run.cli.terminal import coloured
    from react_run.support.text import printable

    marks = {"ok": ("✓", "green"), "note": ("-", "dim"), "failed": ("✗", "red")}
    for finding in findings:
        mark = coloured(*marks[finding.status], sys.stdout)
        print(f"{mark} {printable(finding.what)}: {printable(finding.detail)}")
        if finding.fix:
            print(f"    fix: {printable(finding.fix)}")
