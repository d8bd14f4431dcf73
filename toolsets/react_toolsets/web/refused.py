"""The reasons why a page is not fetched, and the error code of each."""

from __future__ import annotations

from collections.abc import Mapping

from react_toolsets.http import RequestFailed

CODES: Mapping[str, str] = {
    "scheme": "invalid_url",
    "host": "invalid_url",
    "userinfo": "invalid_url",
    "characters": "invalid_url",
    "port": "invalid_url",
    "loopback": "address_refused",
    "private": "address_refused",
    "shared": "address_refused",
    "linklocal": "address_refused",
    "reserved": "address_refused",
    "multicast": "address_refused",
    "metadata": "address_refused",
    "hosts": "host_not_allowed",
    "dns": "dns_error",
    "redirects": "too_many_redirects",
    "size": "too_large",
    "type": "unsupported_type",
    "empty": "empty_page",
    "wall": "robot_check",
}
"""The error codes by reason."""


class Refused(RequestFailed):
    """A page must not, or cannot, be read.

    Args:
        reason: One of the keys of ``CODES``.
        message: What is wrong and what to do instead, for the model.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(CODES[reason], message)
        self.reason = reason
