"""Converts provider failures to :class:`ModelError` (behaviours S6, H1).

``code`` is one of ``auth``, ``bad_response``, ``connection``, ``content_filter``, ``context_overflow``, ``incomplete``,
``invalid_request``, ``malformed_call``, ``no_choice``, ``no_tools``, ``not_found``, ``overloaded``, ``quota``,
``rate_limit``, ``redirect``, ``server``, ``text_protocol``, ``timeout``, ``unsupported_parameter``.
The message contains the provider's own code and text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from react_run.errors import ModelError
from react_run.models.error_body import ProviderError, parse_error_body
from react_run.secrets import Masker
from react_run.support.retrying import retry_after

LONGEST_WAIT = 120.0
"""Seconds: a provider that asks for a longer wait has failed permanently (behaviour S6)."""

RETRYABLE = frozenset(
    {
        "bad_response",
        "connection",
        "incomplete",
        "malformed_call",
        "no_choice",
        "overloaded",
        "rate_limit",
        "server",
        "timeout",
    }
)

_SHOWN = 500
_LOOKED_AT = 64 * 1024
"""Maximum characters of a message to process, so that no secret is cut before it is masked."""
_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context[ _-]?(window|length|size|limit)"
    r"|(prompt|input) (is )?too long|too many (input )?tokens|reduce the length of the (messages|prompt|input)"
    r"|input token count .{0,40}exceeds|inputs? (tokens )?must have less than|max(imum)? prompt length"
    r"|exceeds? the (available|maximum) (context|number of (input )?tokens)|larger than the maximum (context|input)",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"(does not|doesn't|do not|not) support (the )?(tool|function)|supports? tool use"
    r"|(tool|function)s?[ _-]?(use|call(ing|s)?)? (is|are) not (supported|enabled|available)"
    r"|enable-auto-tool-choice|requires? --jinja"
    r"|(unsupported param(eter)?|unrecogni[sz]ed (request )?argument)[^a-z]{0,20}(supplied: )?(tools|functions)\b",
    re.IGNORECASE,
)
_BY_WORDS: Mapping[str, re.Pattern[str]] = {
    # The model wrote a call that the provider could not parse: it may write another one.
    "malformed_call": re.compile(
        r"tool call validation failed|failed to (call a function|parse (the )?(tool|function)[ _]?calls?)"
        r"|failed_generation|(invalid|malformed) (tool|function)[ _]call (arguments|format|generated)",
        re.IGNORECASE,
    ),
    "content_filter": re.compile(
        r"content management policy|content[_ ]filter(ed|ing)?\b.{0,40}trigger", re.IGNORECASE
    ),
    "unsupported_parameter": re.compile(
        r"unsupported (param(eter)?|value)\b|unrecogni[sz]ed (request )?argument|unknown (name|parameter|field)\b"
        r"|(param(eter)?|argument|field|property|input)s? .{0,60}(is|are) not (supported|permitted|allowed)"
        r"|does not support (the )?(param(eter)?|argument)|extra (inputs|fields) (are )?not permitted"
        r"|[`'\"]?\b\w++[`'\"]? is (deprecated|not supported) (for|with|by) this model",
        re.IGNORECASE,
    ),
}
_SECRET = re.compile(
    r"\b(?:sk|pk|rk|xai|gsk|hf|ghp|glpat|key)[-_][\w*.\-]{6}[^\s\"'<>,;&]*|\bAIza[\w\-]{20,}"
    r"|(?<=[Bb]earer )[^\s\"',]+|(?<![\w\-])eyJ[\w\-]{10,}+\.[\w\-.]+"
)
_CODES: Mapping[str, str] = {
    "insufficient_quota": "quota",
    "billing_hard_limit_reached": "quota",
    "billing_error": "quota",
    "rate_limit_exceeded": "rate_limit",
    "rate_limit_error": "rate_limit",
    "overloaded_error": "overloaded",
    "authentication_error": "auth",
    "invalid_api_key": "auth",
    "permission_error": "auth",
    "not_found_error": "not_found",
    "model_not_found": "not_found",
    "invalid_request_error": "invalid_request",
    "timeout_error": "timeout",
    "tool_use_failed": "malformed_call",
    "wrong_api_format": "malformed_call",
    "content_filter": "content_filter",
    "content_policy_violation": "content_filter",
    "unsupported_parameter": "unsupported_parameter",
    "unsupported_value": "unsupported_parameter",
    "unknown_parameter": "unsupported_parameter",
    "unsupported_parameters": "unsupported_parameter",
}
_STATUSES: Mapping[int, str] = {
    401: "auth",
    402: "quota",
    403: "auth",
    404: "not_found",
    408: "timeout",
    413: "context_overflow",
    429: "rate_limit",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
_HINTS: Mapping[str, str] = {
    "auth": "Check api_key and what it is allowed to use.",
    "context_overflow": "The conversation is longer than the model can read.",
    "no_tools": "Set tool_protocol: text for this model.",
    "not_found": "Check base_url and the model id, which is sent exactly as written where base_url is set. For a "
    "server with an API other than OpenAI's, write model: {kind: litellm, …}.",
    "unsupported_parameter": "Remove it from the agent file (model: or model_settings:).",
    "quota": "Waiting does not help: check the account's plan and billing.",
}


def failure(
    status: int | None,
    body: object,
    headers: Mapping[str, str] | None = None,
    *,
    provider: str,
    secrets: Iterable[str] = (),
) -> ModelError:
    """The error for a provider's response.

    Args:
        status: The HTTP status; ``None`` for an error inside a stream or a successful answer.
        body: The body, decoded if it was JSON, else its text.
        headers: The headers, names in lower case, for Retry-After.
        provider: The provider that failed.
        secrets: Values that must not be repeated in the message (behaviour J2).
    """
    said = parse_error_body(body)
    status = status or said.status
    code = _classify(status, said)
    wait = retry_after(headers or {})
    retryable = _retryable(code, headers or {})
    hint = _HINTS.get(code, "")
    if "signature" in said.message and code == "invalid_request":
        hint = "A signed thinking block was refused: start a new conversation, or turn thinking off in model_settings."
    if retryable and wait is not None and wait > LONGEST_WAIT:
        retryable = False
        hint = f"It asks to wait {wait:.0f} s, which is more than {LONGEST_WAIT:.0f} s: try again later."
    label = " ".join(str(part) for part in (status, said.code and f"({said.code})") if part)
    words = f"{provider} failed{label and f' with {label}'}: {said.message or 'no explanation given'}"
    return model_error(
        code,
        f"{words}. {hint}" if hint else words,
        provider=provider,
        status=status,
        retryable=retryable,
        retry_after=wait,
        parameter=said.parameter,
        secrets=secrets,
    )


def model_error(
    code: str,
    message: str,
    *,
    provider: str,
    status: int | None = None,
    retryable: bool | None = None,
    retry_after: float | None = None,
    parameter: str = "",
    secrets: Iterable[str] = (),
    sent: bool = True,
) -> ModelError:
    """A :class:`ModelError` whose message is one bounded line without secrets."""
    error = ModelError(
        mask(message, secrets),
        provider=provider,
        status=status,
        code=code,
        retryable=code in RETRYABLE if retryable is None else retryable,
        retry_after=retry_after,
        parameter=parameter,
    )
    error.sent = sent
    return error


def mask(message: str, secrets: Iterable[str] = ()) -> str:
    """``message`` as one line of at most 500 characters, without ``secrets`` and anything that looks like an API
    key.
    """
    message = Masker(secrets).mask(message[:_LOOKED_AT])[: 8 * _SHOWN]
    line = "".join(c if c.isprintable() else " " for c in _SECRET.sub("***", message))
    line = " ".join(line.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def _classify(status: int | None, said: ProviderError) -> str:
    words = f"{said.code} {said.message}"[:4000]
    if status not in (401, 403, 429) and _OVERFLOW.search(words):
        return "context_overflow"
    if status not in (401, 403, 429) and _NO_TOOLS.search(words):
        return "no_tools"
    code = _CODES.get(said.code, "")
    if code == "quota" or status is None:
        return code or "server"
    if status in (400, 422) and (code in _BY_WORDS or not code or code == "invalid_request"):
        code = code if code in _BY_WORDS else next((c for c, said_so in _BY_WORDS.items() if said_so.search(words)), "")
        if code:
            return code
    if status in _STATUSES:
        return _STATUSES[status]
    if 300 <= status < 400:
        return "redirect"
    return "server" if status >= 500 else "invalid_request"


def _retryable(code: str, headers: Mapping[str, str]) -> bool:
    wish = headers.get("x-should-retry", "")
    return wish == "true" if wish in ("true", "false") else code in RETRYABLE
