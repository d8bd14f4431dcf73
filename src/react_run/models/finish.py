"""Normalises all known spellings of finish reasons."""

from __future__ import annotations

import logging
from collections.abc import Mapping

_log = logging.getLogger(__name__)

_SPELLINGS: Mapping[str, str] = {
    "stop": "stop end_turn stop_sequence eos eos_token complete completed done",
    "tool_calls": "tool_calls tool_call tool_use function_call",
    "length": "length max_tokens max_output_tokens max_completion_tokens max_length model_length token_limit truncated "
    "incomplete model_context_window_exceeded",
    "content_filter": "content_filter content_filtered safety image_safety recitation blocklist prohibited_content "
    "spii guardrail_intervened sensitive error_toxic",
    "refusal": "refusal",
    "malformed_call": "malformed_function_call malformed_tool_call unexpected_tool_call",
    "server": "error network_error insufficient_system_resource abort aborted cancelled",
}
_REASONS = {word: reason for reason, words in _SPELLINGS.items() for word in words.split()}

FAILURES = frozenset({"malformed_call", "server"})
"""Reasons that are provider failures, not ends of a reply; they are codes of ``ModelError``."""


def finish_reason(word: str) -> str:
    """One of stop, tool_calls, length, content_filter, refusal, or of :data:`FAILURES`; unknown values count as
    stop.
    """
    reason = _REASONS.get(word.lower())
    if reason is None and word:
        _log.debug("unknown finish reason %.40r counts as stop", word)
    return reason or "stop"
