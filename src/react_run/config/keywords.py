"""The keys of an agent file as Python keywords, with types for editors and type checkers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from react_run.checks import Check
    from react_run.config.limits import Limits
    from react_run.models.base import Model

Entry = Mapping[str, object] | str
"""A component as an agent file names it: by its kind, or ``{"kind": …}`` with options."""


class LimitKeys(TypedDict, total=False):
    """The keys of ``limits``, which may also stand at the top of a file."""

    tool_timeout: float
    run_timeout: float | None
    parallel_tools: int
    max_result_bytes: int
    spill: bool
    max_cost: float | None
    allow_unknown_cost: bool
    max_total_tokens: int | None
    on_limit: Literal["end", "ask"]
    max_check_attempts: int


class AgentKeys(LimitKeys, total=False):
    """The keywords of ``ReActAgent(…)`` besides model, toolsets, plugins and journal (docs/agent-files.md)."""

    id: str | None
    name: str | None
    description: str | None
    base_url: str | None
    api_key: object
    temperature: float | None
    max_tokens: int | None
    timeout: float | None
    model_settings: Mapping[str, Any]
    fallback_models: Iterable[Model | Entry]
    tool_protocol: Literal["auto", "native", "text"]
    system_prompt: str | Mapping[str, object] | None
    guides: Iterable[Entry] | None
    max_iterations: int
    failure_handling: object
    tool_disclosure: object
    skill_activation_followup: Literal["auto", "required"]
    skill_activation_observation: Literal["standard", "explicit"]
    skill_disclosure_progression: Literal["sticky", "expand_after_first_success"]
    output_schema: Mapping[str, Any] | type | None
    output_mode: Literal["auto", "prompt"]
    checks: Iterable[Check | Entry]
    skills: Iterable[str | PathLike[str]] | None
    subagents: Iterable[Entry] | None
    request_preprocessors: Iterable[object]
    llm_request_wrappers: Iterable[object]
    response_postprocessors: Iterable[object]
    iteration_preprocessors: Iterable[object]
    iteration_wrappers: Iterable[object]
    iteration_postprocessors: Iterable[object]
    tool_wrappers: Iterable[object]
    limits: Limits | Mapping[str, object]
    permissions: Iterable[Mapping[str, Any]] | None
    session: str | None
    trace: str | PathLike[str] | None
    metadata: Mapping[str, Any]


OTHERS = frozenset(
    ("version", "class_name", "extends", "env_file", "properties", "model", "toolset", "toolsets", "plugins")
)
"""Keys of a file that are not such keywords: they concern the file, or are separate arguments with other types."""
