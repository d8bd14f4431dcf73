"""Stores tokens: one file per server in the user's configuration directory, readable only by the user."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, OAuthToken, ProtectedResourceMetadata

from react_run import config_directory
from react_toolsets.mcp.login import Login

PORT = 33_418
"""The port of the redirect URL, unless it is in use; clients registered by hand use it."""
EARLY = 30.0
"""A token counts as expired this many seconds before it expires."""


class Tokens:
    """The SDK's token storage, for one server.

    A new process has to know when a token expires and where to refresh it; otherwise it would send the
    user to the browser each time. So both are stored with the token, and restored in ``provider``.
    """

    def __init__(self, url: str, login: Login) -> None:
        self._login = login
        self._url = url
        name = f"{urlsplit(url).hostname}-{sha256(url.encode()).hexdigest()[:12]}.json"
        self.path = config_directory() / "mcp-tokens" / name
        self.provider: OAuthClientProvider | None = None

    @property
    def are_there(self) -> bool:
        """Whether there are tokens."""
        return "tokens" in self._read()

    @property
    def port(self) -> int:
        """The port that the client was registered with."""
        for uri in self._read().get("client", {}).get("redirect_uris") or ():
            if port := urlsplit(str(uri)).port:
                return port
        return PORT

    def forget(self) -> None:
        """Delete the tokens; the client stays registered."""
        data = self._read()
        if data.pop("tokens", None) is not None:
            self._write(data)

    async def get_tokens(self) -> OAuthToken | None:
        """The stored tokens; also restores the provider's state."""
        data = self._read()
        if "tokens" not in data:
            return None
        if self.provider is not None:
            context = self.provider.context
            context.token_expiry_time = data.get("expires_at")
            if "authority" in data:
                context.oauth_metadata = OAuthMetadata.model_validate(data["authority"])
            if "resource" in data:
                context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(data["resource"])
        return OAuthToken.model_validate(data["tokens"])

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Store new or refreshed tokens."""
        data = self._read()
        data["tokens"] = _plain(tokens)
        data["expires_at"] = time.time() + tokens.expires_in - EARLY if tokens.expires_in else None
        context = self.provider.context if self.provider is not None else None
        if context is not None and context.oauth_metadata is not None:
            data["authority"] = _plain(context.oauth_metadata)
        if context is not None and context.protected_resource_metadata is not None:
            data["resource"] = _plain(context.protected_resource_metadata)
        self._write(data)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The client from the agent file, else the registered one."""
        login = self._login
        if login.client_id:
            return OAuthClientInformationFull(
                client_id=login.client_id,
                client_secret=login.client_secret or None,
                redirect_uris=[f"http://127.0.0.1:{PORT}/callback"],
                token_endpoint_auth_method="client_secret_basic" if login.client_secret else "none",
                scope=login.scope or None,
            )
        data = self._read()
        return OAuthClientInformationFull.model_validate(data["client"]) if "client" in data else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Store the client that the SDK has registered."""
        self._write({**self._read(), "client": _plain(client_info)})

    def _read(self) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            data = json.loads(self.path.read_text(encoding="utf-8"))
            if isinstance(data, dict) and data.get("url") == self._url:
                return data
        return {}

    def _write(self, data: dict[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({**data, "url": self._url}, file, indent=1)
        part.replace(self.path)


def _plain(model: Any) -> dict[str, Any]:
    plain: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return plain
