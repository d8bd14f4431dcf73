"""``react-run explain FILE``: show what an agent file means, and where every value comes from."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Any, cast

import click

from react_run.cli.exit import complain, logs_to
from react_run.cli.interrupts import drive
from react_run.cli.options import agent_options
from react_run.cli.terminal import fitted, json_text, terminal_text
from react_run.cli.validation import doubts
from react_run.components.looking import looking
from react_run.launch.explanation import explanation
from react_run.launch.options import MACHINE_PLUGINS, AgentOptions, built

if TYPE_CHECKING:
    from react_run.launch.values import Value

_DEFAULT = "default"
_NOTHING = ("", "-", "[]", "{}")


@click.command("explain", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", metavar="AGENT.yaml", type=click.Path())
@agent_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--mermaid", is_flag=True, help="Print a Mermaid graph of the agent.")
def command(file: str, as_json: bool, mermaid: bool, **given: Any) -> int:  # the shared options, named as their fields
    """Show the effective configuration, where each value comes from, the prompt, the tools and the hooks.

    Nothing is sent to a provider.
    """
    options = AgentOptions(file=file, **given)
    config = options.config()
    extra = options.extra_plugins()
    with looking():
        agent = built(config, extra)
    if mermaid:
        from react_run.cli.mermaid import graph

        print(terminal_text(config.masker.mask(graph(agent, extra))))
        return 0
    with logs_to(complain):
        explained = explanation(agent, drive)
    explained["notes"] = [text for text in (doubts(agent.tools),) if text]
    explained["values"] += [value.to_dict() for value in _added(extra, options)]
    masked = cast("dict[str, Any]", config.masker.mask_data(explained))  # before lines are wrapped and cut
    print(json_text(masked, indent=2) if as_json else terminal_text("\n".join(_as_text(masked))))
    return 0


def _added(plugins: list[object], options: AgentOptions) -> Iterator[Value]:
    """What ``-p`` and ``REACT_RUN_PLUGINS`` add to the values of the file."""
    from react_run.launch.values import Value
    from react_run.plugins import plugin_name

    given = sum(not name.startswith("no:") for name in options.plugins)
    for number, plugin in enumerate(plugins):
        key, source = ("-p", "command line") if number < given else (MACHINE_PLUGINS, "environment")
        yield Value(key, plugin_name(plugin), source)


def _as_text(explained: dict[str, Any]) -> list[str]:
    from react_run.support.text import printable

    rows = [row for row in explained["values"] if row["source"] != _DEFAULT]
    keys = min(44, max((len(row["key"]) for row in rows), default=0))
    widest = min(40, max((len(row["shown"]) for row in rows), default=0))
    lines = ["VALUES", ""]
    lines += [f"  {row['key']:<{keys}}  {row['shown']:<{widest}}  {row['source']}".rstrip() for row in rows]
    lines += _defaults([row for row in explained["values"] if row["source"] == _DEFAULT])
    lines += ["", "PROMPT", ""]
    lines += [f"  {line}".rstrip() for text in explained["prompt"] for line in text.splitlines()]
    lines += ["", "TOOLS", ""]
    for tool in explained["tools"]:
        marks = [tool["toolset"], *tool["flags"], *([] if tool["offered_first"] else ["offered later"])]
        lines.append(f"  {tool['name']}  ({', '.join(mark for mark in marks if mark)})".replace("  ()", ""))
        lines += [f"    {line}".rstrip() for line in tool["description"].splitlines()]
        lines += _parameters(tool["parameters"])
    lines += [] if explained["tools"] else ["  none"]
    lines += ["", *(f"  note: {text}" for text in explained["notes"])] if explained["notes"] else []
    lines += ["", "HOOKS, outermost first", ""]
    width = max(map(len, explained["hooks"]))
    lines += [f"  {hook:<{width}}  {' > '.join(plugins)}" for hook, plugins in explained["hooks"].items()]
    return [printable(line) for line in lines]


def _defaults(rows: list[dict[str, str]]) -> list[str]:
    """Default values, in as few lines as possible: ``key value``, or only the key if it has no value."""
    said = [f"{row['key']} {row['shown']}" for row in rows if row["shown"] not in _NOTHING]
    unset = [row["key"] for row in rows if row["shown"] in _NOTHING]
    lines = []
    for title, words in (("by default", said), ("not set", unset)):
        if words:
            lines += ["", *wrap(f"{title}: {', '.join(words)}", 110, initial_indent="  ", subsequent_indent="    ")]
    return lines


def _parameters(schema: dict[str, Any]) -> list[str]:
    """One line per parameter; ``--json`` has the whole schema."""
    required = schema.get("required", ())
    return [
        fitted(f"    - {name}{'' if name in required else '?'}: {_sort(parameter)}".rstrip(": "), 120)
        for name, parameter in schema.get("properties", {}).items()
    ]


def _sort(parameter: Any) -> str:
    if not isinstance(parameter, dict):
        return ""
    about = " ".join(str(parameter.get("description", "")).split())
    sorts = parameter.get("enum") or parameter.get("type")
    sorts = sorts or [one["type"] for one in parameter.get("anyOf", ()) if isinstance(one, dict) and "type" in one]
    sort = sorts if isinstance(sorts, str) else " | ".join(map(str, sorts))
    return ", ".join(filter(None, (sort, about)))
