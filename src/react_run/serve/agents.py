"""The agents of a server: built from their files, and rebuilt when the files change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from react_run.errors import ConfigError, ReactError
from react_run.launch.options import AgentOptions, built
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.agent import ReActAgent

_VARIANTS = 8
"""How many agents with overrides are kept per file."""
_WRITING = ("files", "shell")

MakeJournal = Callable[[Mapping[str, object]], object]


class Problems(ConfigError):
    """All problems found in the agent files."""


@dataclass(kw_only=True, eq=False)
class ServedAgent:
    """One agent, ready to run.

    Args:
        name: The name that requests use.
        options: How to build it from its file.
        agent: The agent.
    """

    name: str
    options: AgentOptions
    agent: ReActAgent

    @property
    def file(self) -> str:
        """The path of the agent file."""
        return self.options.file

    def mask(self, data: object) -> Any:
        """``data`` with this agent's secrets masked."""
        return self.agent.config.masker.mask_data(data)


class Agents:
    """The agents of a server, by name.

    Args:
        options: How each file is read.
        plugins: Makes the plugins that every agent gets.
        journal: Makes the recorder of an agent's runs.
    """

    def __init__(
        self, options: Sequence[AgentOptions], plugins: Callable[[], Iterable[object]], journal: MakeJournal
    ) -> None:
        self._options, self._plugins, self._journal = list(options), plugins, journal
        self._served: dict[str, ServedAgent] = {}
        self._variants: dict[str, OrderedDict[str, ServedAgent]] = {}
        self._retired: list[ServedAgent] = []
        """Agents that take no new runs, but may still have runs in flight."""
        self.begun = False

    def __iter__(self) -> Any:
        return iter(self._served.values())

    def __len__(self) -> int:
        return len(self._served)

    @property
    def names(self) -> list[str]:
        """The names of the agents."""
        return list(self._served)

    def get(self, name: str) -> ServedAgent | None:
        """The agent called ``name``."""
        return self._served.get(name)

    def of_file(self, file: str | None) -> ServedAgent | None:
        """The agent that was built from ``file``."""
        wanted = None if file is None else Path(file).absolute()
        return next((one for one in self._served.values() if Path(one.file).absolute() == wanted), None)

    def load(self) -> None:
        """Build the agents of all files.

        Raises:
            Problems: Some files are wrong; one line for each.
        """
        found: dict[str, ServedAgent] = {}
        problems: list[str] = []
        for options in self._options:
            try:
                served = self._build(options)
            except ReactError as error:
                text = str(error)
                problems.append(text if text.startswith(options.file) else f"{options.file}: {text}")
                continue
            if served.name in found:
                other = found[served.name].file
                problems.append(
                    f"{options.file}: the agent is named {served.name!r}, and so is the one in {other}; "
                    "give one of them another `name:`"
                )
            found[served.name] = served
        if problems:
            raise Problems("\n".join(problems))
        self._served = found

    async def begin(self) -> None:
        """Open all agents."""
        for served in self._served.values():
            await served.agent.__aenter__()
        self.begun = True

    async def end(self) -> None:
        """Close all agents."""
        variants = [served for kept in self._variants.values() for served in kept.values()]
        self._retired += [*variants, *self._served.values()]
        await self.close_retired(())

    async def close_retired(self, used: Collection[ServedAgent]) -> None:
        """Close retired agents, except those with runs in flight."""
        closing = [served for served in self._retired if served not in used]
        self._retired = [served for served in self._retired if served in used]
        for served in closing:
            with suppress(Exception):  # the others are closed as well
                await served.agent.__aexit__(None, None, None)

    async def reload(self) -> list[str]:
        """Reload all files, and return one line for each about what happened. An agent whose file is wrong is kept."""
        said: list[str] = []
        for old in list(self._served.values()):
            try:
                new = self._build(old.options)
                if new.name != old.name:
                    raise ConfigError(f"the agent was named {old.name!r} and would be {new.name!r}: restart the server")
                await new.agent.__aenter__()
            except ReactError as error:
                said.append(f"{old.file}: not reloaded, the agent stays unchanged: {error}")
                continue
            self._served[old.name] = new
            self._retired += [old, *self._variants.pop(old.name, {}).values()]
            said.append(f"{old.file}: reloaded")
        return said

    async def variant(self, name: str, overrides: Mapping[str, object]) -> ServedAgent:
        """The agent called ``name`` with some values overridden.

        Raises:
            ReactError: An override is not valid for this agent.
        """
        base = self._served[name]
        if not overrides:
            return base
        kept = self._variants.setdefault(name, OrderedDict())
        key = repr(sorted(overrides.items()))
        if key not in kept:
            served = self._build(replace(base.options, overrides={**(base.options.overrides or {}), **overrides}))
            await served.agent.__aenter__()
            kept[key] = served
            if len(kept) > _VARIANTS:
                self._retired.append(kept.popitem(last=False)[1])
        kept.move_to_end(key)
        return kept[key]

    def _build(self, options: AgentOptions) -> ServedAgent:
        config = options.config()
        plugins = [*self._plugins(), *options.extra_plugins()]
        agent = built(config, plugins, self._journal(options.to_record()))
        return ServedAgent(name=config.name or Path(options.file).stem, options=options, agent=agent)


def sharing_a_workspace(agents: Iterable[ServedAgent]) -> list[str]:
    """The names of the agents that may change files in the workspace shared by all their runs."""
    return [
        served.name
        for served in agents
        if any(
            getattr(toolset, "kind", "") in _WRITING and any(tool.read_only is not True for tool in toolset.tools())
            for toolset in served.agent.toolset.toolsets
        )
    ]
