"""``react-run AGENT.yaml "PROMPT"``: answer on stdout, everything else on stderr."""

from __future__ import annotations

import re
from typing import Any

import click

from react_run.cli.options import agent_options, duration, named_file, session_options
from react_run.launch.options import AgentOptions

FORMATS = ("text", "json", "stream-json")


_NUMBER = re.compile(r"-[\d.(]")
_GUARD = "\0"


class RunCommand(click.Command):
    """Accepts prompts such as ``-2**2``, which look like options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Protect words that begin like a negative number, unless they are the value of an option."""
        takers = {name for option in self.params if _takes_value(option) for name in option.opts}
        before = ["", *args]
        guarded = [
            _GUARD + word if _NUMBER.match(word) and last not in takers else word
            for last, word in zip(before, args, strict=False)
        ]
        return super().parse_args(ctx, guarded)


def _takes_value(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and not parameter.is_flag and not parameter.count


@click.command("run", cls=RunCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", metavar="AGENT.yaml", type=click.Path())
@click.argument("prompt", metavar="[PROMPT | -]", nargs=-1)
@agent_options
@click.option("--attach", metavar="FILE", multiple=True, help="Attach an image, PDF or text file (repeatable).")
@click.option("--max-iterations", metavar="N", type=int, help="Maximum number of iterations.")
@click.option("--max-cost", metavar="USD", type=float, help="Maximum cost of the run.")
@click.option("--timeout", metavar="TIME", callback=duration, help="Maximum duration of the run: 90 (seconds), 10m.")
@click.option("--output-format", type=click.Choice(FORMATS), help="Format of the result.")
@click.option("--json", "as_json", is_flag=True, help="Same as --output-format json: one result object.")
@click.option("--no-stream", is_flag=True, help="Show the answer only when it is complete.")
@click.option("--raw", is_flag=True, help="Do not render the answer's Markdown on a terminal.")
@click.option("--record", metavar="FILE", callback=named_file, help="Write the journal of the run to FILE.")
@click.option(
    "--replay", metavar="RUN", help="Answer model calls from the journal of RUN; exit with status 6 if the run differs."
)
@click.option("--no-save", is_flag=True, help="Save neither a journal nor the conversation.")
@session_options
@click.option("-v", "--verbose", count=True, help="Show a line per tool call and guard; -vv also shows each iteration.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the answer and errors.")
@click.option("--yes", is_flag=True, help="Approve every tool call that needs approval.")
@click.option("--dry-run", is_flag=True, help="Print the exact first request, secrets masked, and send nothing.")
def command(
    file: str,
    prompt: tuple[str, ...],
    max_iterations: int | None,
    max_cost: float | None,
    timeout: float | None,
    as_json: bool,
    **given: Any,  # the rest of the options, each named as its field
) -> int:
    """Run the agent that AGENT.yaml describes.

    The answer goes to stdout, everything else to stderr. Without PROMPT, a terminal opens a chat. With `-` or
    piped input, stdin is the prompt. If PROMPT is also given, stdin is appended to it as context.
    """
    from react_run.cli.prompting import prompt_from

    overrides = {"max_iterations": max_iterations, "max_cost": max_cost, "run_timeout": timeout}
    options = AgentOptions(
        file=file,
        model=given.pop("model"),
        sets=given.pop("sets"),
        plugins=given.pop("plugins"),
        env_file=given.pop("env_file"),
        trust=given.pop("trust"),
        overrides={key: value for key, value in overrides.items() if value is not None},
    )
    style = given.pop("output_format") or ("json" if as_json else "text")
    if style == "text":  # otherwise this is reported like every other error, as JSON
        options.must_exist()
    asked = prompt_from(tuple(word.removeprefix(_GUARD) for word in prompt))
    if given.pop("dry_run"):
        from react_run.cli.dry_run import show_first_request

        return show_first_request(options, asked or "(your prompt)", given["attach"])
    if asked is None:
        return _talk(options, style, given)
    from react_run.cli.run_once import OneRun

    return OneRun(options=options, style=style, **given).answer(asked)


def _talk(options: AgentOptions, style: str, given: dict[str, Any]) -> int:
    from react_run.cli.chat import talk

    meant = {"--json": style != "text", **{f"--{name}": given[name] for name in ("record", "replay", "yes", "quiet")}}
    if given["attach"]:
        raise click.UsageError("--attach is for a single run: give a PROMPT; in a chat, write @FILE in a line")
    for name, wanted in meant.items():
        if wanted:
            raise click.UsageError(f"{name} is for a single run: give a PROMPT, or - for standard input")
    kept = {name: given[name] for name in ("session", "continues", "no_save", "raw")}
    return talk(options, verbosity=given["verbose"], **kept)
