"""The options of ``kind: openapi``."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, PrivateAttr, SecretStr, ValidationInfo, field_validator, model_validator

from react_run import LocalPath, Options, Origin, ReActToolset
from react_toolsets.http import READS
from react_toolsets.web.address import parse as parse_address
from react_toolsets.web.address import why_not_public
from react_toolsets.web.policy import Pattern
from react_toolsets.web.refused import Refused
from react_toolsets.web.url import parse

Method = Literal["get", "head", "post", "put", "patch", "delete"]


class Basic(Options):
    """A name and a password."""

    user: str
    """The name."""
    password: SecretStr
    """The password; write it as `${VARIABLE}`."""


class Auth(Options):
    """What proves who we are; it is sent to the origin of `base_url` alone."""

    bearer: SecretStr | None = None
    """A token for the header `Authorization: Bearer …`."""
    basic: Basic | None = None
    """A name and a password for the same header."""
    api_key: dict[str, SecretStr] = Field(default_factory=dict)
    """Keys by the names of the document's `securitySchemes`, which say where they go."""

    @model_validator(mode="after")
    def _one_header(self) -> Self:
        if self.bearer is not None and self.basic is not None:
            raise ValueError("bearer and basic are sent in the same header: give one of them")
        return self


class OpenApiOptions(ReActToolset):
    """Which document, which of its operations, and how they are called."""

    spec: LocalPath
    """The document, OpenAPI 3 in JSON or YAML; `react-run openapi fetch URL` brings one."""
    base_url: str | None = None
    """Where the service is; the first server of the document when not given. An address with its port may be one that
    is not public."""
    tags: list[str] = Field(default_factory=list)
    """The tags whose operations are used, as globs; all when not given."""
    operations: list[str] = Field(default_factory=list)
    """The operations that are used, as globs over operationId or `METHOD /path`; all when not given."""
    methods: list[Method] = Field(default=["get", "head"], min_length=1)
    """The methods whose operations are used; those that change something have to be named."""
    auth: Auth = Field(default_factory=Auth)
    """What proves who we are."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """More headers of every request to the service."""
    max_operations: int = Field(default=2_000, ge=1)
    """The most operations that become tools; with more, the agent is not built."""
    max_schema: int = Field(default=20_000, ge=1_000)
    """Characters of one tool's schema; deeper parts are left open when it is larger."""
    group_tools: int = Field(default=20, ge=1)
    """The most tools of one skill, with `tool_disclosure: skills`."""
    timeout: float = Field(default=30.0, gt=0, le=600)
    """Seconds for a call, attempts included."""
    max_bytes: int = Field(default=262_144, ge=1_024, le=64 * 1024 * 1024)
    """Bytes of an answer, counted after decompression."""
    fields: dict[str, list[str]] = Field(default_factory=dict)
    """What of the answer to keep, by the tool's name: paths such as `*.title`; all when not given."""

    _origin: Origin | None = PrivateAttr(default=None)

    @field_validator("base_url")
    @classmethod
    def _an_address(cls, url: str | None) -> str | None:
        if url is not None:
            try:
                found = parse(url)
            except Refused as error:
                raise ValueError(str(error)) from error
            if "?" in found.path or "#" in url:
                raise ValueError("the address of a service has no query: put fixed parameters into headers or auth")
        return url

    @model_validator(mode="after")
    def _note_the_file(self, info: ValidationInfo) -> Self:
        self._origin = info.context if isinstance(info.context, Origin) else None
        return self

    @property
    def _opened(self) -> tuple[Pattern, ...]:
        """The address of `base_url`, when it is one that is not public."""
        if self.base_url is None:
            return ()
        target = parse(self.base_url)
        try:
            address = parse_address(target.host)
        except ValueError:
            return ()
        return (Pattern(host=target.host, port=target.port, address=address),) if why_not_public(address) else ()

    def needs_trust(self) -> str:
        """What sends secrets, changes something elsewhere, reaches what is not public, or reads files elsewhere."""
        if self.auth != Auth() or self.headers:
            return "sends a secret to another machine"
        if writing := [method.upper() for method in self.methods if method.upper() not in READS]:
            return f"changes things on other machines ({', '.join(writing)})"
        if self._opened:
            return f"reaches what is not public ({parse(self.base_url or '').authority})"
        start = self._origin.directory.resolve() if self._origin else None
        if start is not None and not self.spec.resolve().is_relative_to(start):
            return f"reads a file of another directory ({self.spec})"
        return ""
