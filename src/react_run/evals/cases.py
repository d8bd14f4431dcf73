"""The cases of ``react-run test`` and ``react-run eval``: the input, the model, and the expected outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from react_run.components import LocalPath, Options, Origin
from react_run.components.building import build
from react_run.components.errors import how_to_trust
from react_run.components.kinds import installed
from react_run.components.option_errors import problem
from react_run.evals.scorer import Scorer
from react_run.journal.lines import as_bytes, to_json
from react_run.support.regex import Pattern

if TYPE_CHECKING:
    from react_run.batch.rows import Row

JUDGING = frozenset(
    (
        *("answer", "contains", "expected", "matches", "max_iterations", "scorers", "stop_reason", "success", "tags"),
        *("tools", "weight"),
    )
)
"""Keys that say how a run is judged. All others say what is asked, so changing one means that it must run again."""


def _scorer(entry: object, info: ValidationInfo) -> object:
    """Validate a scorer, or a check used as one; only a trusted file may start programs with it."""
    scorer = entry if isinstance(entry, Scorer) else _of_entry(entry, info)
    if isinstance(info.context, Origin) and not info.context.trusted and isinstance(scorer, Scorer):
        check = getattr(scorer, "check", None)
        if reason := scorer.needs_trust() or (check.needs_trust() if check is not None else ""):
            text = f"this {reason}, which a file of cases may do only in a trusted directory: "
            raise problem("cfg.untrusted", f"{text}{how_to_trust(info.context.directory)}")
    return scorer


def _of_entry(entry: object, info: ValidationInfo) -> object:
    kind = entry.get("kind") if isinstance(entry, Mapping) else entry
    if isinstance(kind, str) and kind not in installed("scorers") and kind in installed("checks"):
        from react_run.evals.check_scorer import CheckScorer

        options = dict(entry) if isinstance(entry, Mapping) else {"kind": entry}
        own = {name: options.pop(name) for name in ("name", "threshold") if name in options}
        return CheckScorer(check=cast("Any", build("checks", options, info.context)), **own)
    if isinstance(entry, Mapping) and isinstance(model := entry.get("model"), str) and model not in installed("models"):
        from react_run.config.shorthands import kind_of_id

        entry = {**entry, "model": kind_of_id(model)}  # as `model:` in an agent file
    return build("scorers", entry, info.context)


def _within(path: Path, info: ValidationInfo) -> Path:
    """Validate a path in a file of cases; outside the file's directory, it needs trust."""
    origin = info.context
    if isinstance(origin, Origin) and not origin.trusted and not _lies_in(path, origin.directory):
        text = f"{path} is outside the directory of the cases, which needs trust: "
        raise problem("cfg.untrusted", f"{text}{how_to_trust(origin.directory)}")
    return path


def _lies_in(path: Path, directory: Path) -> bool:
    return path.resolve().is_relative_to(directory.resolve())


AnyScorer = Annotated[Scorer, BeforeValidator(_scorer)]
CasePath = Annotated[LocalPath, AfterValidator(_within)]
"""A path relative to the file of cases."""


class Case(Options):
    """One case. Keys that are not given are not checked."""

    name: str = Field(min_length=1)
    """The name of the case, unique in its file."""
    prompt: str = ""
    """The prompt; not needed with `recording`. `{name}` is replaced by a value of `vars`."""
    vars: dict[str, Any] = Field(default_factory=dict)
    """Values for `{name}` in the prompt; with any, `{{` is a literal brace."""
    messages: list[dict[str, Any]] = Field(default_factory=list)
    """The conversation so far."""
    files: list[CasePath] = Field(default_factory=list)
    """Files and directories, copied into the workspace of each run under their own names."""
    replies: list[Any] | None = None
    """The replies of the model, as for `{kind: scripted}`. Without them the agent's own model answers; in a test, it
    must be offline."""
    recording: CasePath | None = None
    """A journal: the model answers from the recording, and in a test everything must match it."""
    recorded_tools: bool = False
    """Whether tools answer from the recording as well."""
    answer: str | None = None
    """The whole answer."""
    contains: list[str] = Field(default_factory=list)
    """Texts (or one) that must occur in the answer."""
    matches: str | None = None
    """A regular expression that must be found in the answer."""
    tools: list[str] | None = None
    """The names of the tools that must be called, in order."""
    success: bool | None = None
    """Whether the run must be a success; by default it must, unless `stop_reason` or `recording` is given."""
    stop_reason: str | None = None
    """The stop reason."""
    max_iterations: int | None = None
    """Maximum number of iterations."""
    expected: Any = None
    """The value that scorers compare the answer with; without scorers, the answer must be exactly this."""
    scorers: list[AnyScorer] = Field(default_factory=list)
    """Scorers and checks, by kind, in addition to the scorers of the file."""
    repeat: int | None = Field(default=None, ge=1)
    """How often `eval` runs it; by default as given by `--repeat`."""
    tags: list[str] = Field(default_factory=list)
    """Tags for selecting cases."""
    weight: float = Field(default=1.0, gt=0)
    """The weight of the case."""

    @field_validator("replies")
    @classmethod
    def _are_replies(cls, given: list[Any] | None) -> list[Any] | None:
        from react_run.models.scripted import ScriptedModel

        for number, reply in enumerate(given or ()):
            try:
                ScriptedModel(replies=[reply])
            except ValidationError as error:
                found = error.errors()[0]
                where = "".join(f" {part!r}:" for part in found["loc"][1:])
                raise ValueError(f"reply {number + 1}:{where} {found['msg'].removeprefix('Value error, ')}") from None
        if given == []:
            raise ValueError("must have at least one reply; leave 'replies' out to ask the agent's own model")
        return given

    @field_validator("contains", "tags", mode="before")
    @classmethod
    def _one_text(cls, given: object) -> object:
        return [given] if isinstance(given, str) else given

    @field_validator("matches")
    @classmethod
    def _compiles(cls, given: str | None) -> str | None:
        Pattern(given or "")
        return given

    @field_validator("messages")
    @classmethod
    def _is_a_conversation(cls, given: list[dict[str, Any]]) -> list[dict[str, Any]]:
        from react_run.errors import ConfigError
        from react_run.models.stored import message_from_dict

        try:
            for message in given:
                message_from_dict(message)
        except (ConfigError, TypeError, KeyError) as error:
            raise ValueError(str(error)) from None
        return given

    @field_validator("files")
    @classmethod
    def _are_there(cls, given: list[Path]) -> list[Path]:
        for path in given:
            if not path.exists():
                raise problem("cfg.path_missing", f"there is no {path}")
        return given

    @model_validator(mode="after")
    def _one_source(self) -> Case:
        if self.recording is None and not self.prompt.strip() and not self.messages:
            raise problem("cfg.missing_key", "'prompt' is missing: write what to ask, or name a recording")
        if self.recording is not None and (self.replies is not None or self.prompt):
            raise problem("cfg.value", "a recording already contains the prompt and the replies: leave them out")
        if self.vars:
            from react_run.batch.inputs import filled

            try:
                filled(self.prompt, self.vars)
            except Exception as error:
                raise problem("cfg.value", f"the prompt {error}") from None
        return self

    @property
    def asked(self) -> str:
        """The prompt, with the values of `vars`."""
        from react_run.batch.inputs import filled

        return filled(self.prompt, self.vars) if self.vars else self.prompt

    @property
    def answers_itself(self) -> bool:
        """Whether it contains the model's replies, so that no model is asked."""
        return self.replies is not None or self.recording is not None

    @cached_property
    def digest(self) -> str:
        """A digest of everything the case asks."""
        asks = self.model_dump(mode="json", exclude=set(JUDGING) | {"name", "repeat"})
        return sha256(as_bytes(to_json(asks))).hexdigest()[:16]

    def row(self, index: int, id_: str) -> Row:
        """The row of a batch that runs the case."""
        from react_run.batch.rows import Row

        if self.recording is not None:
            from react_run.journal.reading import read_journal

            header = read_journal(self.recording).header
            return Row(index=index, id=id_, prompt=header["prompt"], messages=header["incoming"])
        return Row(index=index, id=id_, prompt=self.asked, messages=self.messages)

    def criteria(self, shared: Sequence[Scorer] = ()) -> list[Scorer]:
        """All scorers of its runs: from its keys, its own, and those of its file; costly ones last."""
        found = [_build_scorer(kind, **options) for kind, options in self._by_keys()]
        found += [*self.scorers, *shared]
        if self.expected is not None and len(found) == len(self._by_keys()):
            found.append(_build_scorer("exact"))
        if self.success is None and self.stop_reason is None and self.recording is None:
            found.append(_build_scorer("success"))
        return sorted(found, key=lambda scorer: scorer.asks_model)

    def _by_keys(self) -> list[tuple[str, dict[str, Any]]]:
        """The scorers that its keys stand for, with their options."""
        found: list[tuple[str, dict[str, Any], object]] = [
            ("exact", {"name": "answer", "text": self.answer}, self.answer),
            *(("contains", {"texts": [text]}, text) for text in self.contains),
            ("matches", {"pattern": self.matches}, self.matches),
            ("tools_order", {"name": "tools", "tools": self.tools, "others": False}, self.tools),
            ("success", {"success": self.success}, self.success),
            ("stop_reason", {"reason": self.stop_reason}, self.stop_reason),
            ("max_iterations", {"most": self.max_iterations}, self.max_iterations),
        ]
        return [(kind, options) for kind, options, said in found if said is not None]


def _build_scorer(kind: str, **options: object) -> Scorer:
    return cast("Scorer", build("scorers", {"kind": kind, **options}))
