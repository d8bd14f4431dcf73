"""Errors in OpenAI's format: a status, a type, a code, and a message that says what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

_TYPES = {
    400: ("invalid_request_error", "invalid_request"),
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", "forbidden"),
    404: ("invalid_request_error", "not_found"),
    405: ("invalid_request_error", "method_not_allowed"),
    408: ("invalid_request_error", "request_timeout"),
    409: ("invalid_request_error", "conflict"),
    413: ("invalid_request_error", "request_too_large"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    431: ("invalid_request_error", "headers_too_large"),
    500: ("server_error", "internal_error"),
    502: ("upstream_error", "model_failed"),
    503: ("server_error", "draining"),
    504: ("server_error", "run_timeout"),
}
RETRY_AFTER = 2
"""Seconds after which a client may retry when the queue is full or the server is draining."""


class ApiError(Exception):
    """A request is answered with an error.

    Args:
        status: The HTTP status.
        message: What is wrong and what to do about it.
        code: A short name for programs; ``None`` means the status's default.
        param: The field of the request that is wrong.
        headers: Additional headers of the response.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.param = status, message, param
        self.type, usual = _TYPES[status]
        self.code = code or usual
        self.headers = dict(headers or {})
        if status in (429, 503):
            self.headers.setdefault("Retry-After", str(RETRY_AFTER))
        if status == 401:
            self.headers.setdefault("WWW-Authenticate", 'Bearer realm="react-run"')

    @property
    def body(self) -> dict[str, Any]:
        """The error object."""
        error = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        return {"error": error}

    @property
    def response(self) -> JSONResponse:
        """The HTTP response."""
        return JSONResponse(self.body, status_code=self.status, headers=self.headers)


def wrong(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    """A 400: the request is invalid."""
    return ApiError(400, message, param=param, code=code)
