"""Runs the cases of ``react-run test`` as pytest tests."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from react_run.errors import ConfigError, ReactError

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.evals.cases import Case
    from react_run.evals.suite import Cases

_MARKER = "real_model"


class CaseCollection:
    """Collects files of cases that name their agent."""

    @pytest.hookimpl
    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> CaseFile | None:
        """Collect a file whose name matches and that contains ``agent:``."""
        if not any(fnmatch(file_path.name, pattern) for pattern in parent.config.getini("react_run_files")):
            return None
        names_agent = any(line.startswith("agent:") for line in _lines(file_path))
        return CaseFile.from_parent(parent, path=file_path) if names_agent else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


class CaseFile(pytest.File):
    """A file of cases."""

    @cached_property
    def suite(self) -> Cases:
        """The cases; running tests implies trust."""
        from react_run.evals.suite import read_suite

        try:
            return read_suite(self.path, trusted=True)
        except ConfigError as error:
            raise self.CollectError(str(error)) from None

    @cached_property
    def agent(self) -> ReActAgent:
        """The agent named in the file."""
        from react_run.agent import ReActAgent
        from react_run.config import load_config

        assert self.suite.agent is not None  # asked for by collect()
        try:
            return ReActAgent(load_config(self.suite.agent, trusted=True), journal=())
        except ReactError as error:
            raise self.CollectError(str(error)) from None

    def collect(self) -> Iterator[CaseItem]:
        """Yield a test for each case."""
        if self.suite.agent is None:
            raise self.CollectError(f"{self.path}: 'agent' must name an agent file")
        self.agent  # noqa: B018  # report its errors here, once
        for case in self.suite.cases:
            yield CaseItem.from_parent(self, name=case.name, case=case)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, **about: Any) -> None:
        super().__init__(**about)
        self.case = case
        for tag in case.tags:
            self.extra_keyword_matches.add(tag)
        if _MARKER in case.tags:
            self.add_marker(_MARKER)

    def runtest(self) -> None:
        """Run the case; its problems make the test fail."""
        from react_run.evals.offline import judged, needs_network
        from react_run.support.threads import run_blocking

        file = self.parent
        assert isinstance(file, CaseFile)  # the item's parent
        shared = file.suite.scorers
        if _MARKER not in self.case.tags and (problem := needs_network(self.case, file.agent, shared)):
            raise CaseFailed([f"{problem}, or the tag {_MARKER}"])
        verdict = run_blocking(judged(self.case, file.agent, shared))
        if verdict.problems:
            raise CaseFailed(list(verdict.problems))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The problems, without a traceback."""
        if isinstance(excinfo.value, CaseFailed):
            return "\n".join(excinfo.value.problems)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The location of the case."""
        return self.path, None, f"case {self.name}"


class CaseFailed(Exception):
    """A case did not pass."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems
