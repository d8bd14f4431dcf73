"""Answers side requests of chat pages, such as one for a title, with a small model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response, StreamingResponse

from react_run.errors import ModelError, ReactError
from react_run.serve.errors import ApiError
from react_run.serve.replies import usage_of

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.results import RunResult
    from react_run.serve.conversation import Asked

_OPEN_WEBUI = re.compile(r"\s*### Task:\s*\n")
_LIBRECHAT = re.compile(
    r"\s*(Provide|Write|Generate) a (concise|short|brief)\b.{0,80}\btitle\b", re.IGNORECASE | re.DOTALL
)


def is_helper_request(asked: Asked) -> bool:
    """Whether a request is a chat page's side request: a title, tags, or follow-up questions."""
    return bool(_OPEN_WEBUI.match(asked.prompt) or _LIBRECHAT.match(asked.prompt))


class Helper:
    """Answers helper requests with one model call, without tools.

    Args:
        model: The name of the model.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._agent: ReActAgent | None = None

    async def answer(self, asked: Asked) -> Response:
        """Answer in the requested format.

        Raises:
            ApiError: The model failed.
        """
        from react_run.agent import ReActAgent

        if self._agent is None:
            self._agent = ReActAgent({"model": self.model, "system_prompt": "", "max_iterations": 1}, journal=())
        try:
            result = await self._agent.run(asked.prompt, asked.messages, settings=asked.settings)
        except ModelError as error:
            raise ApiError(502, f"the model for titles failed: {error}") from None
        except ReactError as error:
            raise ApiError(500, f"the model for titles cannot be used: {error}") from None
        headers = {"X-Request-Id": result.run_id}
        if asked.stream:
            return StreamingResponse(_lines(result, asked), media_type="text/event-stream", headers=headers)
        return JSONResponse(_completion(result, asked), headers=headers)


def _completion(result: RunResult, asked: Asked) -> dict[str, object]:
    message = {"role": "assistant", "content": result.answer}
    choice = {"index": 0, "message": message, "finish_reason": result.finish_reason}
    head = {"id": f"chatcmpl-{result.run_id}", "created": 0, "model": str(asked.model)}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": usage_of(result.usage)}


async def _lines(result: RunResult, asked: Asked):  # type: ignore[no-untyped-def]  # an asynchronous generator of text
    import json

    head = {"id": f"chatcmpl-{result.run_id}", "created": 0, "model": str(asked.model)}
    delta = {"role": "assistant", "content": result.answer}
    for choice in ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": result.finish_reason}):
        chunk = {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, **choice}]}
        yield f"data: {json.dumps(chunk)}\n\n"
    yield "data: [DONE]\n\n"
