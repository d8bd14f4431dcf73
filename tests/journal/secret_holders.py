"""A model and a toolset that hold secrets and tell them in every form, for the test that none of them gets anywhere."""

from __future__ import annotations

import random
import string
from typing import Any

from pydantic import Field, SecretStr
from tests.secrets.test_masker import FORMS

from react_run import ReActToolset, ScriptedModel, ToolError, tool

_CHANCE = random.Random(30)
CORES = ["".join(_CHANCE.choices(string.ascii_letters + string.digits, k=20)) for _ in range(30)]
CANARIES = {f"CANARY_KEY_{number:02}": f"sk-{core}/+ü\"'\\{number}" for number, core in enumerate(CORES)}


def leaky_replies() -> list[Any]:
    """Replies with every secret in every form: as thoughts, arguments, names, provider fields, errors and answer."""
    secrets = list(CANARIES.values())
    tools = ["tell", "tell_data", "fail_with", "refuse"]
    replies: list[Any] = []
    for start in range(0, 30, 5):
        forms = [form(secret) for secret in secrets[start : start + 5] for form in FORMS.values()]
        wanted: list[dict[str, Any]] = [
            {"name": tools[n % 4], "arguments": {"secret": text}} for n, text in enumerate(forms)
        ]
        wanted.append({"name": f"no_{secrets[start]}", "arguments": f"{{broken {secrets[start]}"})
        replies.append({"text": f"Using {' '.join(forms)}", "tool_calls": wanted, "extra": {"note": forms[0]}})
    replies.append({"error": {"status": 503, "message": f"bad key {secrets[0]}"}})
    return [*replies, f"They are {' '.join(secrets)}"]


class Leaky(ScriptedModel):
    """Knows all secrets."""

    replies: list[Any] = Field(default_factory=leaky_replies, validate_default=True)
    """What it says."""


class Vault(ReActToolset):
    """Tells what it should not."""

    api_key: SecretStr
    """A secret by its type."""
    password: str
    """A secret by its name."""
    headers: dict[str, str]
    """Secrets in a mapping."""
    url: str
    """A secret in an address."""
    others: dict[str, str]
    """Secrets by the names of their keys."""

    @tool(read_only=True, repeatable=True)
    def tell(self, secret: str) -> str:
        """Return it."""
        return f"it is {secret}, as is {self.password} at {self.url}"

    @tool(read_only=True, repeatable=True)
    def tell_data(self, secret: str) -> dict[str, object]:
        """Return it as a value and as a key."""
        return {secret: [secret, {"headers": self.headers}], "key": self.api_key.get_secret_value()}

    @tool(read_only=True, repeatable=True)
    def fail_with(self, secret: str) -> str:
        """Fail with it, twice over."""
        try:
            raise ValueError(secret)
        except ValueError as error:
            raise RuntimeError(f"cannot use {secret!r}") from error

    @tool(read_only=True, repeatable=True)
    def refuse(self, secret: str) -> str:
        """Refuse it with a message for the model."""
        raise ToolError(f"{secret} is no good", code="refused")
