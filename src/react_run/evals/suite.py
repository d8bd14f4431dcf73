"""A file of cases, with what they have in common and its dataset."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, ValidationError, model_validator

from react_run.components import LocalPath, Options, Origin
from react_run.components.option_errors import problem
from react_run.config.texts import note_errors
from react_run.config.yaml import AgentFileError, Report, plain
from react_run.config.yaml.compose import compose
from react_run.config.yaml.text import read_text
from react_run.evals.cases import AnyScorer, Case
from react_run.evals.datasets import DATASETS, Dataset, cases_of_dataset


class Cases(Options):
    """A file of cases."""

    agent: LocalPath | None = None
    """The agent file that pytest runs the cases with; the commands name it themselves."""
    cases: list[Case] = Field(default_factory=list, min_length=1)
    """The cases, in order."""
    dataset: Dataset | None = None
    """Cases that are rows of another file."""
    scorers: list[AnyScorer] = Field(default_factory=list)
    """Scorers for the runs of every case."""
    repeat: int | None = Field(default=None, ge=1)
    """How often `eval` runs each case."""

    @model_validator(mode="after")
    def _unique(self) -> Cases:
        if not self.cases and self.dataset is None:
            raise problem("cfg.missing_key", "there are no cases: write a list of 'cases', or a 'dataset'")
        names = [case.name for case in self.cases]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise problem("cfg.value", f"two cases are called {twice!r}")
        return self


def read_suite(path: Path, *, trusted: bool | None = None) -> Cases:
    """Read the cases of a file (YAML, JSON lines, CSV) and of its dataset, and the common scorers.

    Args:
        path: The file.
        trusted: Whether it may name programs and code; by default, what ``react-run trust`` has recorded.

    Raises:
        ConfigError: The file is wrong; the message lists each problem with its position.
    """
    if trusted is None:
        from react_run.config.trust import is_in_trusted

        trusted = is_in_trusted(path)
    origin = Origin(directory=path.parent.absolute(), trusted=trusted, path=path)
    if path.suffix.lower() in DATASETS:
        return Cases(cases=cases_of_dataset(path, None, origin))
    suite = _read_yaml(path, origin)
    if suite.dataset is not None:
        suite.cases += cases_of_dataset(suite.dataset.file, suite.dataset, origin, known=suite.cases)
    return suite


def _read_yaml(path: Path, origin: Origin) -> Cases:
    report = Report()
    found = read_text(path, str(path), report, "a file of cases")
    tree = compose(*found, report, wanted="write a list of 'cases', or a 'dataset'") if found else None
    if tree is not None and not report.problems:
        try:
            return Cases.model_validate(plain(tree), context=origin)
        except ValidationError as error:
            note_errors(error, tree, report)
    raise AgentFileError(report.problems)
