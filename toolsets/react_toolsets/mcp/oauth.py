"""OAuth with the SDK's provider and our storage, browser and callback. Imported only on the host's thread."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from react_toolsets.mcp.callback import Callback
from react_toolsets.mcp.login import Login
from react_toolsets.mcp.tokens import Tokens
from react_toolsets.mcp.troubles import LoginRequired


def provider(login: Login, name: str, url: str) -> OAuthClientProvider:
    """An auth provider that adds tokens to requests to ``url``, and gets new ones when needed.

    Raises:
        LoginRequired: There is no token, and no user to log in.
    """
    tokens = Tokens(url, login)
    if login.talk is None and not tokens.are_there:
        raise _required(name)
    callback = Callback.for_port(tokens.port, keep=bool(login.client_id))
    asking = _Asking(name, tokens, callback, login.talk)
    found = OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="react-run",
            redirect_uris=[callback.uri],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            scope=login.scope or None,
        ),
        storage=tokens,
        redirect_handler=asking.open,
        callback_handler=asking.answer,
    )
    tokens.provider = found
    return found


class _Asking:
    """Sends the user to the authorization page, and waits for the redirect."""

    def __init__(self, name: str, tokens: Tokens, callback: Callback, talk: Callable[[str], None] | None) -> None:
        self._name, self._tokens, self._callback, self._talk = name, tokens, callback, talk

    async def open(self, url: str) -> None:
        """Show the URL, and open it in the browser.

        Raises:
            LoginRequired: There is no user; the old tokens are useless, and are deleted.
        """
        if self._talk is None:
            self._tokens.forget()
            raise _required(self._name)
        await self._callback.listen()
        self._talk(f"To log in to {self._name}, visit\n{url}")
        webbrowser.open(url)

    async def answer(self) -> AuthorizationCodeResult:
        """Wait for the redirect, and return its parameters."""
        code, state, issuer = await self._callback.answer()
        return AuthorizationCodeResult(code=code, state=state, iss=issuer)


def _required(name: str) -> LoginRequired:
    return LoginRequired(f"the MCP server {name} needs a login: react-run mcp login AGENT.yaml {name}")
