"""A server by hand: JSON-RPC over standard input and output, with the standard library only.

It starts in no time, and can do what no SDK permits. Scripts begin with ``from stdio_server import *``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Message = dict[str, Any]


def send(message: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request: Message, result: Mapping[str, Any]) -> None:
    send({"id": request["id"], "result": result})


def refuse(request: Message, code: int, text: str) -> None:
    send({"id": request["id"], "error": {"code": code, "message": text}})


def text(words: str, **more: Any) -> Message:
    return {"content": [{"type": "text", "text": words}], **more}


def tool(name: str, description: str = "", **more: Any) -> Message:
    schema = {"type": "object", "properties": more.pop("properties", {})}
    return {"name": name, "description": description or f"Does {name}.", "inputSchema": schema, **more}


def messages() -> Iterator[Message]:
    for line in sys.stdin:
        yield json.loads(line)


def initialized(request: Message, **capabilities: Any) -> None:
    version = request["params"]["protocolVersion"]
    info = {"name": "by hand", "version": "0.1"}
    answer(request, {"protocolVersion": version, "capabilities": {"tools": {}, **capabilities}, "serverInfo": info})


def serve(
    tools: Sequence[Message] | Callable[[Message], Mapping[str, Any]],
    call: Callable[[str, Message, Message], Mapping[str, Any] | None] = lambda name, arguments, request: text(name),
    other: Callable[[Message], None] = lambda message: refuse(message, -32601, "Method not found"),
    **capabilities: Any,
) -> None:
    """Answer until the input ends.

    Args:
        tools: The tools, or what answers ``tools/list``.
        call: What answers a call, given its tool, its arguments and the request; ``None`` when it has done so itself.
        other: What answers everything else.
        capabilities: What is declared besides tools.
    """
    for message in messages():
        method = message.get("method")
        if "id" not in message or method is None:
            continue
        if method == "initialize":
            initialized(message, **capabilities)
        elif method == "tools/list":
            answer(message, tools(message) if callable(tools) else {"tools": list(tools)})
        elif method == "tools/call":
            params = message["params"]
            result = call(params["name"], params.get("arguments", {}), message)
            if result is not None:
                answer(message, result)
        else:
            other(message)
