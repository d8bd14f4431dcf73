"""A remote server with a door: MCP over HTTP, and an authority of its own, on the loopback interface."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from typing import Any

import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp


class Authority(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Says yes to everybody, until it is told otherwise."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.refreshed = self.authorized = 0

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id is not None
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        self.authorized += 1
        code = AuthorizationCode(
            code=secrets.token_urlsafe(16),
            client_id=client.client_id or "",
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._tokens(client)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        if refresh_token.token not in self.refresh:
            raise TokenError("invalid_grant")
        self.refreshed += 1
        return self._tokens(client)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)

    def _tokens(self, client: OAuthClientInformationFull) -> OAuthToken:
        access, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.access[access] = AccessToken(token=access, client_id=client.client_id or "", scopes=[])
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client.client_id or "", scopes=[])
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=3600)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


class RemoteServer:
    """Runs in a thread; can be stopped and started again at the same address.

    Args:
        authority: Who guards it; nobody when not given.
        sse: Whether it speaks the transport of before 2025.
        zipped: Whether its answers are compressed.
    """

    def __init__(self, authority: Authority | None = None, *, sse: bool = False, zipped: bool = False) -> None:
        self.port = free_port()
        self.authority, self.sse, self.zipped = authority, sse, zipped
        self.url = f"http://127.0.0.1:{self.port}/{'sse' if sse else 'mcp'}"
        self.starts = 0
        self.start()

    def start(self) -> None:
        self.starts += 1
        server = MCPServer("remote", version="1", **self._door())
        number = self.starts

        @server.tool()
        def number_of_start() -> str:
            """Say how often this was started."""
            return str(number)

        @server.tool(structured_output=False)
        def words(size: int) -> str:
            """Answer with a text of that many characters."""
            return "x" * size

        app: ASGIApp = server.sse_app() if self.sse else server.streamable_http_app()
        if self.zipped:
            app = GZipMiddleware(app)
        config = uvicorn.Config(app, port=self.port, log_level="critical", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def stop(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(60)

    def _door(self) -> dict[str, Any]:
        if self.authority is None:
            return {}
        own = f"http://127.0.0.1:{self.port}"
        settings = AuthSettings.model_validate(
            {
                "issuer_url": own,
                "resource_server_url": f"{own}/mcp",
                "client_registration_options": ClientRegistrationOptions(enabled=True),
            }
        )
        return {"auth": settings, "auth_server_provider": self.authority}
