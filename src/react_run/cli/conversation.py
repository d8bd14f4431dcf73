"""A chat with an agent: turns, slash commands, and the conversation history."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from react_run.cli.chat_turns import Turns
from react_run.cli.exit import INTERRUPTED, Interrupted, complain, logs_to, reason_of, settle_in, warnings_to
from react_run.cli.interrupts import drive
from react_run.cli.line_input import line_reader
from react_run.cli.persistence import Keeping
from react_run.cli.progress import Draft, Permitted, Progress, Stopwatch
from react_run.cli.run_once import OFFLINE, show_answer
from react_run.cli.screen import Screen
from react_run.cli.statuses import footer, why
from react_run.cli.terminal import coloured, fitted, width
from react_run.components.errors import near
from react_run.errors import ReactError
from react_run.launch.options import AgentOptions, built
from react_run.support.text import printable
from react_run.support.user_dirs import from_home

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.messages import Message
    from react_run.parts import Part

HELP = """\
/help         this text
/tools        the agent's tools
/undo         forget the last turn; what its tools did stays done
/retry        ask the last question again, in place of its answer
/reset        forget the conversation
/usage        model calls, tool calls, tokens and cost of this chat
/trace        the last turn, step by step
/sessions     the conversations that have a name
/save FILE    write the conversation: Markdown, or JSON when FILE ends in .json
/model ID     switch to another model
/SERVER:NAME  send a prompt of an MCP server; its arguments follow as key=value; /SERVER: lists them
@FILE         anywhere in a message: attach an image, PDF or text file
/quit         leave (or Ctrl-D); Ctrl-C ends one answer"""


WORDS = ("exit", "quit", "help")
"""Words that count as commands even without a slash: nobody asks a model to quit."""


_NO_TURN = "there is no turn of this chat to take back"


class Conversation:
    """One chat. Use it as a context manager, which closes what the agent opened."""

    def __init__(
        self,
        options: AgentOptions,
        *,
        session: str | None,
        continues: bool,
        verbosity: int,
        no_save: bool,
        raw: bool = False,
    ) -> None:
        self.options, self.verbosity, self.no_save, self.raw = options, verbosity, no_save, raw
        self.session, self.continues = session, continues
        self.typed = False
        """Whether a person types the lines; piped input cannot attach files."""
        self.screen = Screen()
        self.runner = asyncio.Runner()
        self.turns = Turns()
        self._build()
        self.messages = self.keeping.earlier()
        self.commands: dict[str, Callable[[str], bool]] = {
            "/help": self._help,
            "/tools": self._tools,
            "/undo": self._undo,
            "/retry": self._retry,
            "/reset": self._reset,
            "/usage": self._usage,
            "/trace": self._trace,
            "/sessions": self._sessions,
            "/save": self._save,
            "/model": self._model,
            "/quit": lambda _: False,
            "/exit": lambda _: False,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):  # a failure to close must not spoil the end of a chat
            self.runner.run(self.agent.__aexit__())
        self.runner.close()

    def talk(self) -> int:
        """Take turns until the user leaves, and return the exit status."""
        settle_in()
        with warnings_to(self.screen.note), logs_to(self.screen.note):
            return self._talk()

    def _talk(self) -> int:
        if self.config.model is None:
            self.screen.note(OFFLINE)
        reader = line_reader([name for name in self.commands if name != "/exit"])
        self.typed = reader.interactive
        if reader.interactive:
            self.screen.note(coloured(f"{self._about()}. /help for help.", "dim"))
        while True:
            try:
                line = reader.read()
            except EOFError:
                return 0
            except KeyboardInterrupt:
                self.screen.note("(/quit or Ctrl-D to leave)")
                continue
            if line.strip() and not self._handle(line.strip()):
                return 0

    @property
    def name(self) -> str:
        """The name of the agent."""
        return printable(self.config.name or Path(self.options.file).stem)

    def _about(self) -> str:
        """Describe the agent: model, tools, and the conversation so far."""
        tools = len(self.agent.tools)
        parts = [self.name, self.agent.model.name, f"{tools} tool{'' if tools == 1 else 's'}"]
        if self.session:
            parts.append(f"session {self.session}")
        if self.messages:
            parts.append(f"{len(self.messages)} messages so far")
        return printable(" · ".join(parts))

    def _build(self) -> None:
        config: ReActAgentConfig = self.options.config()
        progress, draft = Progress(self.screen, config.masker, self.verbosity), Draft(self.screen, config.masker)
        drafts = [draft] if self.screen.shows_drafts else []
        keeping = Keeping(
            options=self.options,
            config=config,
            note=self.screen.note,
            no_save=self.no_save,
            session=self.session,
            continues=self.continues,
        )
        agent = built(
            config, [progress, Permitted(progress), *drafts, *self.options.extra_plugins()], keeping.journal() or ()
        )
        self.config, self.agent, self.progress, self.keeping = config, agent, progress, keeping
        self.draft = draft if drafts else None

    def _handle(self, line: str) -> bool:
        """Handle one line, and return whether to continue."""
        if line.casefold() in WORDS:
            line = f"/{line.casefold()}"
        if not line.startswith("/"):
            self._answer(line)
            return True
        name, _, rest = line.partition(" ")
        command = self.commands.get(name)
        if command is None and ":" in name:
            command = partial(self._prompt, name)
        if command is None:
            self._say(f"unknown command {name}.{near(name, self.commands)} /help lists them.")
            return True
        try:
            return command(rest.strip())
        except (ReactError, OSError) as error:
            complain(reason_of(error) if isinstance(error, OSError) else str(error))
            return True

    def _answer(self, line: str) -> None:
        from react_run.cli.attaching import with_mentioned

        try:
            prompt, strange = with_mentioned(line) if self.typed else (line, [])
        except ReactError as error:
            complain(str(error))
            return
        for word in strange:
            self.screen.note(f"{printable(word)} is not a file here: it is sent as text")
        self._turn(prompt)

    def _turn(self, prompt: str | Sequence[str | Part]) -> None:
        self.progress.begin()
        self.turns.begin(prompt)
        if self.draft is not None:
            self.draft.begin()
        self.screen.start_status(self.progress.status)
        clock = Stopwatch()
        try:
            with self.keeping.turn(self.messages) as earlier:
                before = list(earlier)
                turn = self.agent.run(prompt, messages=earlier)
                result = drive(turn, at_once=self.screen.stop_status, runner=self.runner)
                self.keeping.keep(result.messages)
        except Interrupted as error:
            self.screen.stop_status()
            self.screen.end_draft()
            if error.status != INTERRUPTED:
                raise
            self.screen.note("interrupted; this turn is discarded")
            return
        except ReactError as error:
            self.screen.stop_status()
            self.screen.end_draft()
            complain(self.config.masker.mask(str(error)))
            return
        finally:
            self.screen.stop_status()
        show_answer(self.config.masker.mask(result.answer), self.draft, self.screen, raw=self.raw)
        if reason := why(result):
            self.screen.note(self.config.masker.mask(reason))
        line = footer(result.usage, self.progress.tool_calls, clock.seconds, result.run_id, below=self.progress.below)
        self.screen.note(coloured(line, "dim"))
        self.messages = list(result.messages)
        self.turns.end(result, before, tool_calls=self.progress.tool_calls, seconds=clock.seconds)

    def _say(self, text: str) -> None:
        print(printable(text), file=sys.stderr, flush=True)

    def _help(self, _: str) -> bool:
        self._say(HELP)
        return True

    def _tools(self, _: str) -> bool:
        room = max((len(tool.name) for tool in self.agent.tools), default=0)
        lines = [
            fitted(f"{tool.name:{room}}  {tool.description.splitlines()[0]}", width() - 1) for tool in self.agent.tools
        ]
        self._say("\n".join(lines) or "this agent has no tools")
        return True

    def _undo(self, _: str) -> bool:
        self._say("the last turn is forgotten; what its tools did stays done" if self._take_back() else _NO_TURN)
        return True

    def _take_back(self) -> bool:
        messages = self.turns.take_back()
        if messages is not None:
            self.messages = messages
            self.keeping.keep(messages)
        return messages is not None

    def _retry(self, _: str) -> bool:
        if self.turns.failed or self._take_back():
            self._turn(self.turns.asked)
        else:
            self._say(_NO_TURN)
        return True

    def _usage(self, _: str) -> bool:
        self._say(self.turns.used())
        return True

    def _trace(self, _: str) -> bool:
        from react_run.cli.trace import show_tree
        from react_run.journal.locate import find_run
        from react_run.journal.reading import read_journal

        if self.no_save or not self.turns.run_id:
            self._say("nothing is saved (--no-save)" if self.no_save else "there is no turn yet")
            return True
        show_tree(read_journal(find_run(self.turns.run_id)), to=sys.stderr)
        return True

    def _sessions(self, _: str) -> bool:
        from react_run.journal.sessions import Session

        names = [f"{'*' if name == self.keeping.session else ' '} {name}" for name in Session.names()]
        self._say("\n".join(names) or "there is none: --session NAME begins one")
        return True

    def _reset(self, _: str) -> bool:
        self.messages = []
        self.turns.forget()
        self.keeping.keep([])
        self._say("forgotten")
        return True

    def _prompt(self, name: str, arguments: str) -> bool:
        """Send a prompt of an MCP server; its text cannot attach our files."""
        from react_run.launch.mcp_servers import pairs, toolset_of
        from react_run.outcome import ToolError

        server, _, prompt = name[1:].partition(":")
        try:
            given = dict(pairs(shlex.split(arguments)))
            text = toolset_of(self.config, server).inspection().prompt(server, prompt, given)
        except (ToolError, ReactError, ValueError) as error:
            complain(self.config.masker.mask(str(error)))
            return True
        self._say(self.config.masker.mask(text))
        if prompt and text.strip():
            self._turn(text)
        return True

    def _save(self, name: str) -> bool:
        if not name:
            self._say("usage: /save FILE")
            return True
        path = from_home(name)
        path.write_text(self.config.masker.mask(transcript(self.messages, path.suffix)), encoding="utf-8")
        self._say(f"written to {path}")
        return True

    def _model(self, name: str) -> bool:
        if not name:
            self._say(self.agent.model.name)
            return True
        before = self.options, self.agent
        self.options = dataclasses.replace(self.options, model=name)
        try:
            self._build()
        except ReactError:
            self.options = before[0]
            raise
        with suppress(Exception):  # the previous agent is gone, even if closing it fails
            self.runner.run(before[1].__aexit__())
        self._say(f"now using {self.agent.model.name}")
        return True


def transcript(messages: list[Message], suffix: str) -> str:
    """A conversation as JSON messages, or as Markdown."""
    from react_run.models.stored import message_to_dict

    if suffix == ".json":
        return json.dumps([message_to_dict(message) for message in messages], ensure_ascii=False, indent=2) + "\n"
    return "\n".join(part for message in messages for part in _as_markdown(message))


def _as_markdown(message: Message) -> Iterator[str]:
    """The text of a message, a tool request or a tool result."""
    text = message.said.strip()
    if message.role == "tool":
        fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=2) + 1)
        yield f"{max(fence, '```', key=len)}\n{text}\n{max(fence, '```', key=len)}\n"
        return
    if message.role in ("user", "assistant") and (text or message.tool_requests):
        yield f"## {message.role.capitalize()}\n"
        if text:
            yield f"{text}\n"
        for request in message.tool_requests:
            yield f"* `{request.name} {json.dumps(request.arguments, ensure_ascii=False, default=str)}`\n"
