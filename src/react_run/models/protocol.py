"""The rules that every provider has for conversations, checked on every request to a scripted model or stub server."""

from __future__ import annotations

import re
from collections.abc import Sequence

from react_run.messages import Message, ModelRequest

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class ProtocolViolation(AssertionError):
    """A request that a provider would refuse (behaviour L5): always a bug in the runtime, never in a model."""


class ProtocolChecker:
    """Checks a growing conversation, looking at each message once.

    One checker follows one list of messages; pass a longer prefix each time.
    """

    def __init__(self) -> None:
        self.position = 0
        self.ids: set[str] = set()
        self.open: list[str] = []
        self.started = False
        self.last_role = ""

    def advance(self, messages: Sequence[Message]) -> None:
        """Check the messages since the last call.

        Raises:
            ProtocolViolation: A rule is broken; names the message index and the rule.
        """
        if len(messages) < self.position:
            self._fail("the conversation became shorter")
        while self.position < len(messages):
            self._check(messages[self.position])
            self.position += 1
        if self.open:
            self._fail(f"calls without results: {self.open}")
        if self.last_role not in ("user", "tool"):
            self._fail(f"the last message is from {self.last_role or 'nobody'}")

    def _fail(self, rule: str) -> None:
        raise ProtocolViolation(f"message {self.position}: {rule}")

    def _check(self, message: Message) -> None:
        role = self.last_role = message.role
        if role == "tool":
            return self._check_result(message)
        if self.open:
            self._fail(f"{role} message before the results of {self.open}")
        if role == "system":
            if self.started:
                self._fail("a system message after the conversation began")
        else:
            self.started = True
        if role == "assistant":
            self._check_requests(message)
        elif not message.content:
            self._fail(f"empty {role} message")
        _check_text(message)
        return None

    def _check_result(self, message: Message) -> None:
        if message.tool_request_id not in self.open:
            self._fail(f"orphan result {message.tool_request_id!r}")
        if self.open[0] != message.tool_request_id:
            self._fail("results are not in request order")
        self.open.pop(0)
        _check_text(message)

    def _check_requests(self, message: Message) -> None:
        if not message.content and not message.tool_requests and not message.extra:
            self._fail("empty assistant message")
        for request in message.tool_requests:
            if not request.id or request.id in self.ids:
                self._fail(f"missing or repeated call id {request.id!r}")
            if not request.name:
                self._fail("a call without a name")
            self.ids.add(request.id)
            self.open.append(request.id)


def _check_text(message: Message) -> None:
    if isinstance(message.content, str) and not message.content.isascii():
        try:
            message.content.encode()
        except UnicodeEncodeError as error:
            raise ProtocolViolation(f"text that is not valid Unicode: {error}") from error


def check_tools(request: ModelRequest) -> None:
    """Check the tools of a request.

    Raises:
        ProtocolViolation: Names that are invalid or repeated, a schema that is not an object, a choice without tools.
    """
    names = [tool.name for tool in request.tools]
    if len(set(names)) != len(names):
        raise ProtocolViolation(f"repeated tool names: {names}")
    for tool in request.tools:
        if not NAME.match(tool.name):
            raise ProtocolViolation(f"invalid tool name {tool.name!r}")
        if tool.wire["function"]["parameters"].get("type") != "object":
            raise ProtocolViolation(f"parameters of {tool.name!r} are not an object schema")
    if request.tool_choice == "required" and not names:
        raise ProtocolViolation("tool_choice 'required' without tools")


class RequestChecker:
    """Checks requests of many runs; remembers the progress of the most recent ones only."""

    KEPT = 256

    def __init__(self) -> None:
        self._checkers: dict[str, tuple[Message | None, ProtocolChecker]] = {}
        self._tools: tuple[object, ...] | None = None

    def check(self, request: ModelRequest) -> None:
        """Check one request.

        Raises:
            ProtocolViolation: The request is one that providers refuse.
        """
        if request.tools is not self._tools:
            check_tools(request)
            self._tools = request.tools
        first, checker = self._checkers.pop(request.run_id, (None, None))
        messages = request.messages
        anchor = messages[checker.position - 1] if checker and 0 < checker.position <= len(messages) else None
        if checker is None or anchor is None or anchor is not first:  # a new run, or a list replaced by compaction
            checker = ProtocolChecker()
        checker.advance(messages)
        self._checkers[request.run_id] = (messages[checker.position - 1], checker)
        if len(self._checkers) > self.KEPT:
            del self._checkers[next(iter(self._checkers))]
