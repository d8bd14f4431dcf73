"""The keys of an agent file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SecretStr,
    ValidationInfo,
    model_validator,
)

from react_run.checks import Check
from react_run.components import LocalPath, Options
from react_run.components.building import build
from react_run.components.errors import near
from react_run.components.kinds import installed
from react_run.components.option_errors import problem
from react_run.config.limits import Limits
from react_run.config.loading import Loading
from react_run.config.pipeline import loading_from_python, secrets_of, validated
from react_run.config.wrapper_levels import check_anywhere, check_level
from react_run.config.yaml import Node
from react_run.errors import ConfigError
from react_run.models.base import Model
from react_run.secrets import Masker
from react_run.tools.composite import CompositeToolset
from react_run.tools.toolset import ReActToolset


def _plugin(entry: object, info: ValidationInfo) -> object:
    if isinstance(entry, (str, Mapping)):
        return build("plugins", entry, info.context)
    if entry is None or isinstance(entry, (int, float, list, tuple)):
        raise problem("cfg.type", "must be the name of a plugin, a mapping with kind:, or an object with hook methods")
    return entry


AnyPlugin = Annotated[Any, BeforeValidator(_plugin)]
"""A plugin: ``name``, ``{kind: name, …}``, or from Python any object with hook methods."""


def _at(level: str) -> AfterValidator:
    return AfterValidator(lambda plugin: check_level(plugin, level))


def _policy(*words: str) -> BeforeValidator:
    def chosen(entry: object, info: ValidationInfo) -> object:
        if isinstance(entry, str):
            if entry not in words:
                known = " or ".join(map(repr, words))
                if entry in installed("plugins"):
                    raise problem("cfg.enum", f"must be {known}; a policy is a mapping: {{kind: {entry}}}")
                hint = near(entry, [*words, *installed("plugins")]) or " Or a policy: {kind: …}"
                raise problem("cfg.enum", f"must be {known}, not {entry[:60]!r}.{hint}")
            return entry
        return _plugin(entry, info)

    return BeforeValidator(chosen)


def _web_address(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise problem("cfg.url", f"is not a URL: {error}") from None
    if parts.username or parts.password:
        raise problem("cfg.url", "must not contain credentials, because they would end up in logs; use api_key")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise problem("cfg.url", "must begin with http:// or https:// and name a host")
    return url


class ReActAgentConfig(Options):
    """An agent: the content of an agent file, with every component built.

    In Python, components may be objects, or mappings as in a file.

    Raises:
        ConfigError: Everything that is wrong, at once.
    """

    version: Literal[1] = 1
    """The version of the agent file format."""
    id: str | None = None
    """A machine-readable name, unique among agents that work together."""
    name: str | None = None
    """The display name of the agent."""
    description: str | None = None
    """What the agent does, in one sentence; other agents read it."""
    class_name: str | None = None
    """In the wrapped shape (`properties:`), the class of the agent: any ReActAgent."""
    extends: str | list[str] | None = None
    """Agent files to start from, relative to this one. Mappings merge, lists replace, `+key:` appends to a list."""
    env_file: bool | str | None = None
    """A file with variables: `true` reads `.env` next to the agent file. The environment wins."""

    model: Model | None = None
    """The model: an id such as `openai/gpt-4o-mini`, `offline`, or `{kind: …}`. The default is `offline`."""
    base_url: Annotated[str, AfterValidator(_web_address)] | None = None
    """The address of an OpenAI-compatible server, up to and including `/v1`."""
    api_key: SecretStr | None = None
    """The key for the model's provider; write it as `${VARIABLE}`."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sampling temperature, from 0 to 2."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Maximum tokens of one reply."""
    timeout: float | None = Field(default=None, gt=0)
    """Time limit for one model request, in seconds."""
    model_settings: dict[str, Any] = Field(default_factory=dict)
    """Settings passed to the provider unchanged."""
    fallback_models: list[Model] = Field(default_factory=list)
    """Models to try, in order, when the previous one fails permanently or after all retries."""
    tool_protocol: Literal["auto", "native", "text"] = "auto"
    """How the model calls tools: `native`, or `text` for models without native tool calls."""

    system_prompt: str | None = None
    """Replaces the built-in system prompt: text, or `{file: prompt.md}`."""
    guides: list[Any] | None = None
    """Texts (or `{file: …}`) added to the system prompt; each becomes a `guide` plugin."""

    max_iterations: int = Field(default=10, ge=1, le=100)
    """Maximum number of iterations, each with one model call."""
    failure_handling: Annotated[Any, _policy("safe", "legacy")] = "safe"
    """What happens when tools fail: `safe`, `legacy`, or a policy as `{kind: …}`."""
    tool_disclosure: Annotated[Any, _policy("all", "skills")] = "all"
    """Which tools the model sees: `all`, `skills` (it unlocks them in groups), or a policy as `{kind: …}`."""
    skill_activation_followup: Literal["auto", "required"] = "auto"
    """Whether the model must call a tool right after activating a skill."""
    skill_activation_observation: Literal["standard", "explicit"] = "standard"
    """Whether the result of an activation reminds the model that nothing is answered yet."""
    skill_disclosure_progression: Literal["sticky", "expand_after_first_success"] = "sticky"
    """Whether all tools are offered after the first successful call."""
    output_schema: dict[str, Any] | None = None
    """A JSON Schema that the answer must satisfy; becomes a `json_schema` check. In Python, this may be a class."""
    output_mode: Literal["auto", "prompt"] = "auto"
    """How the model learns the `output_schema`: in the provider's own form if it has one, or only in the prompt."""
    checks: list[Check] = Field(default_factory=list)
    """Checks that an answer must pass."""

    toolsets: list[ReActToolset] = Field(default_factory=list)
    """The toolsets: names, or `{kind: …}` with options. `toolset:` is short for a list with one entry."""
    skills: list[LocalPath] | None = None
    """Directories with SKILL.md files; they become a `skills` toolset."""
    subagents: list[Any] | None = None
    """Agent files offered as tools; they become an `agents` toolset."""

    plugins: list[Annotated[AnyPlugin, AfterValidator(check_anywhere)]] = Field(default_factory=list)
    """Plugins, outermost first."""
    request_preprocessors: list[Annotated[AnyPlugin, _at("request_preprocessors")]] = Field(default_factory=list)
    """Wrapper classes that change the request once, before the loop."""
    llm_request_wrappers: list[Annotated[AnyPlugin, _at("llm_request_wrappers")]] = Field(default_factory=list)
    """Wrapper classes around the whole loop."""
    response_postprocessors: list[Annotated[AnyPlugin, _at("response_postprocessors")]] = Field(default_factory=list)
    """Wrapper classes that inspect or replace the final response."""
    iteration_preprocessors: list[Annotated[AnyPlugin, _at("iteration_preprocessors")]] = Field(default_factory=list)
    """Wrapper classes that change the request before each model call."""
    iteration_wrappers: list[Annotated[AnyPlugin, _at("iteration_wrappers")]] = Field(default_factory=list)
    """Wrapper classes around each model call."""
    iteration_postprocessors: list[Annotated[AnyPlugin, _at("iteration_postprocessors")]] = Field(default_factory=list)
    """Wrapper classes that inspect or replace the response of each model call."""
    tool_wrappers: list[Annotated[AnyPlugin, _at("tool_wrappers")]] = Field(default_factory=list)
    """Wrapper classes around each tool call."""

    limits: Limits = Limits()
    """The limits of a run; each key may also be given at the top level of the file."""
    permissions: list[dict[str, Any]] | None = None
    """Rules `{tool: glob, toolset: glob, arguments: {name: glob}, action: allow|ask|deny}`; become `approval`."""
    session: str | None = None
    """The name of the conversation to continue."""
    trace: LocalPath | None = None
    """The file to write the journal to."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """Anything you want to store with the agent; never read."""

    _loading: Loading = PrivateAttr()

    @model_validator(mode="wrap")
    @classmethod
    def _load(cls, data: object, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        if isinstance(data, cls):
            return data
        loading = info.context if isinstance(info.context, Loading) else loading_from_python(data)
        config = validated(loading, handler)
        config._loading = loading
        return config

    @classmethod
    def option_names(cls) -> list[str]:
        """The keys of an agent file, shorthands included."""
        return [*super().option_names(), *Limits.option_names(), "toolset", "properties"]

    @classmethod
    def from_mapping(cls, data: Mapping[str, object]) -> Self:
        """The configuration for a mapping with the content of an agent file.

        Raises:
            ConfigError: Everything that is wrong, at once.
        """
        if not isinstance(data, Mapping):
            raise ConfigError(
                f"a configuration is a mapping, not {type(data).__name__}; from_yaml() reads an agent file"
            )
        return cls.model_validate(dict(data))

    @classmethod
    def from_yaml(
        cls,
        path: str | PathLike[str],
        *,
        trusted: bool | None = True,
        environment: Mapping[str, str] | None = None,
        **overrides: object,
    ) -> Self:
        """The configuration in an agent file; ``overrides`` replace its keys.

        A program that names a file trusts its directory, unless it passes ``trusted=False``, or ``trusted=None`` to
        follow ``react-run trust``. ``environment`` replaces the process environment for ``${V}``.

        Raises:
            ConfigError: Everything that is wrong with the file, with the position of each mistake.
        """
        from react_run.config.load import load_into

        variables = None if environment is None else dict(environment)
        return load_into(cls, path, overrides=overrides, trusted=trusted, environment=variables)

    @property
    def toolset(self) -> ReActToolset | None:
        """All toolsets as one; ``None`` if there are none."""
        if len(self.toolsets) > 1:
            return CompositeToolset(toolsets=self.toolsets)
        return self.toolsets[0] if self.toolsets else None

    @property
    def model_id(self) -> str | None:
        """The model id as given, if a model id was given."""
        return self._loading.model_id

    @property
    def masker(self) -> Masker:
        """Masks the secrets of this configuration in any text (behaviour J2)."""
        return self._loading.masker

    def keep_secret(self, components: Iterable[object]) -> None:
        """Also mask the values of secret type in ``components`` created in Python."""
        for value in secrets_of(components):
            self.masker.add(value)

    @property
    def path(self) -> Path | None:
        """The agent file, if there is one."""
        return self._loading.path

    @property
    def directory(self) -> Path:
        """The directory of the agent file, else the working directory."""
        return self._loading.directory

    @property
    def trusted(self) -> bool:
        """Whether the agent may start programs and load code next to its file."""
        return self._loading.trusted

    @property
    def source(self) -> Node:
        """The canonical tree, each value with the place it came from."""
        return self._loading.tree

    def to_yaml(self) -> str:
        """A file that loads to an equal configuration, secrets as ``${VARIABLE}``."""
        from react_run.config.dump import to_yaml

        return to_yaml(self, self._loading)

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """The output of :meth:`to_yaml` as data that can be loaded again: the fields alone would lose every component's
        kind.
        """
        from react_run.config.dump import to_data

        return to_data(self, self._loading)

    def model_dump_json(self, *, indent: int | None = None, **_: Any) -> str:
        """:meth:`model_dump` as JSON."""
        return json.dumps(self.model_dump(), indent=indent, ensure_ascii=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReActAgentConfig) and self.model_dump() == other.model_dump()

    __hash__ = None  # type: ignore[assignment]  # it compares by value and can be changed


def load_config(
    path: str | PathLike[str],
    *,
    overrides: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    env_file: str | PathLike[str] | None = None,
    trusted: bool | None = None,
) -> ReActAgentConfig:
    """The configuration in the agent file at ``path``, every component built.

    Args:
        path: The agent file.
        overrides: Values that override those of the file, by dotted key path (``limits.max_cost``,
            ``toolsets.0.kind``).
        environment: The variables for ``${V}``; the process environment by default.
        env_file: A file with more variables; the environment wins.
        trusted: Whether the file may start programs and load code next to it; by default, ``react-run trust`` decides.

    Raises:
        ConfigError: Everything that is wrong with the file, with the position of each mistake.
    """
    from react_run.config.load import load_into, variables_in

    variables = dict(os.environ if environment is None else environment)
    if env_file is not None:
        variables = {**variables_in(Path(env_file)), **variables}
    return load_into(ReActAgentConfig, path, overrides=overrides or {}, environment=variables, trusted=trusted)
