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
    """A user name and a password."""

    user: str
    """The user name."""
    password: SecretStr
    """The password; write it as `${VARIABLE}`."""


class Auth(Options):
    """Credentials; they are sent only to the origin of `base_url`."""

    bearer: SecretStr | None = None
    """A token for the header `Authorization: Bearer …`."""
    basic: Basic | None = None
    """A user name and a password for the same header."""
    api_key: dict[str, SecretStr] = Field(default_factory=dict)
    """Keys by the names of the document's `securitySchemes`, which define where they are sent."""

    @model_validator(mode="after")
    def _one_header(self) -> Self:
        if self.bearer is not None and self.basic is not None:
            raise ValueError("bearer and basic are sent in the same header: give one of them")
        return self


class OpenApiOptions(ReActToolset):
    """The document, the operations to use, and how to call them."""

    spec: LocalPath
    """The document, OpenAPI 3 in JSON or YAML; `react-run openapi fetch URL` downloads one."""
    base_url: str | None = None
    """The address of the service; by default the first server of the document. An IP address with a port may be
    non-public."""
    tags: list[str] = Field(default_factory=list)
    """The tags whose operations to use, as globs; all by default."""
    operations: list[str] = Field(default_factory=list)
    """The operations to use, as globs over operationId or `METHOD /path`; all by default."""
    methods: list[Method] = Field(default=["get", "head"], min_length=1)
    """The methods whose operations to use; those that change something must be listed explicitly."""
    auth: Auth = Field(default_factory=Auth)
    """Credentials."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Additional headers for every request to the service."""
    max_operations: int = Field(default=2_000, ge=1)
    """Maximum number of operations that become tools; with more, building the agent fails."""
    max_schema: int = Field(default=20_000, ge=1_000)
    """Maximum characters of a tool's schema; in larger schemas, deeper parts accept anything."""
    group_tools: int = Field(default=20, ge=1)
    """Maximum number of tools per skill, with `tool_disclosure: skills`."""
    timeout: float = Field(default=30.0, gt=0, le=600)
    """Time limit for a call, in seconds, retries included."""
    max_bytes: int = Field(default=262_144, ge=1_024, le=64 * 1024 * 1024)
    """Maximum bytes of a response, after decompression."""
    fields: dict[str, list[str]] = Field(default_factory=dict)
    """The parts of the response to keep, by tool: paths such as `*.title`; everything by default."""

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
                raise ValueError("must not have a query: put fixed parameters into headers or auth")
        return url

    @model_validator(mode="after")
    def _note_the_file(self, info: ValidationInfo) -> Self:
        self._origin = info.context if isinstance(info.context, Origin) else None
        return self

    @property
    def _opened(self) -> tuple[Pattern, ...]:
        """The address of `base_url` as an exception, if it is not public."""
        if self.base_url is None:
            return ()
        target = parse(self.base_url)
        try:
            address = parse_address(target.host)
        except ValueError:
            return ()
        return (Pattern(host=target.host, port=target.port, address=address),) if why_not_public(address) else ()

    def needs_trust(self) -> str:
        """Options that send secrets, change something elsewhere, reach non-public addresses, or read files
        elsewhere.
        """
        if self.auth != Auth() or self.headers:
            return "sends a secret to another machine"
        if writing := [method.upper() for method in self.methods if method.upper() not in READS]:
            return f"changes things on other machines ({', '.join(writing)})"
        if self._opened:
            return f"reaches a non-public address ({parse(self.base_url or '').authority})"
        start = self._origin.directory.resolve() if self._origin else None
        if start is not None and not self.spec.resolve().is_relative_to(start):
            return f"reads a file in another directory ({self.spec})"
        return ""
