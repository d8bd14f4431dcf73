"""Parses the forms in which providers report errors."""

from __future__ import annotations

from collections.abc import Mapping

from react_run.models.coerce import as_list, as_mapping, as_text, first_text
from react_run.support.dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderError:
    """A provider's own error: message and code, and the status and refused field if given."""

    message: str
    code: str
    status: int | None
    parameter: str = ""


def parse_error_body(body: object) -> ProviderError:
    """Parse an error body: ``{error: {…}}``, ``{error: text}``, ``{message}``, ``{detail}``, or just text."""
    if isinstance(body, str):
        return ProviderError(message=body.strip(), code="", status=None)
    outer = as_mapping(next(iter(as_list(body)), body))
    details = as_mapping(outer.get("error")) or outer
    codes = (details.get("code"), details.get("type"), details.get("status"))
    return ProviderError(
        message=_message(outer, details),
        code=first_text(code for code in codes if _status(code) is None),
        status=next((s for code in (*codes, outer.get("status_code")) if (s := _status(code)) is not None), None),
        parameter=as_text(details.get("param")),
    )


def _message(outer: Mapping[str, object], details: Mapping[str, object]) -> str:
    found = first_text((details.get("message"), outer.get("error"), outer.get("message"), outer.get("detail")))
    upstream = first_text((as_mapping(details.get("metadata")).get("raw"),))
    if not found:
        problems = (first_text((as_mapping(item).get("msg"),)) for item in as_list(outer.get("detail")))
        return upstream or "; ".join(filter(None, problems))
    return f"{found}: {upstream}" if upstream else found


def _status(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599 else None
