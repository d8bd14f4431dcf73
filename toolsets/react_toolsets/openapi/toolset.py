"""The ``openapi`` toolset: builds the tools from the operations, and makes the calls."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import PrivateAttr

from react_run import Fault, Outcome, ReActSkillSpec, Run, Tool, ToolsetError
from react_toolsets.http import READS, RequestError, RequestFailed
from react_toolsets.openapi.addresses import base_of, server_of
from react_toolsets.openapi.choosing import Choice, names_of
from react_toolsets.openapi.document import SpecProblem
from react_toolsets.openapi.fetched import changed_since_fetched, noted
from react_toolsets.openapi.grouping import Entry, skills
from react_toolsets.openapi.options import Auth, OpenApiOptions
from react_toolsets.web.policy import HostPolicy

if TYPE_CHECKING:
    from react_toolsets.openapi.document import Document
    from react_toolsets.openapi.fetching import Fetched
    from react_toolsets.openapi.operations import Operation
    from react_toolsets.openapi.requests import Credentials
    from react_toolsets.openapi.schemas import Schema
    from react_toolsets.web.network import Network

LONGEST = 1_000
"""The most characters of a description; providers accept 1,024."""
NAMED = 3
"""How many operations a warning names."""


class OpenApiWarning(UserWarning):
    """Some operations of a document are left out; the others work."""


class OpenApiToolset(OpenApiOptions):
    """The operations of an HTTP service, read from its OpenAPI document."""

    kind: ClassVar[str] = "openapi"

    _entries: list[Entry] = PrivateAttr(default_factory=list)
    _left_out: list[tuple[str, SpecProblem]] = PrivateAttr(default_factory=list)
    _base: str = PrivateAttr(default="")
    _credentials: Any = PrivateAttr(default=None)
    _network: Any = PrivateAttr(default=None)

    def using(self, network: Network) -> OpenApiToolset:
        """Use ``network`` instead of the machine's own, for tests and unusual networks."""
        self._network = network
        return self

    @classmethod
    def fetched(cls, url: str) -> Fetched:
        """Download the document at ``url``, for ``react-run openapi fetch``.

        Raises:
            ConfigError: The download failed, or it is not an OpenAPI 3 document.
        """
        from react_toolsets.openapi.fetching import fetch

        return fetch(url)

    @property
    def left_out(self) -> list[tuple[str, SpecProblem]]:
        """The selected operations that cannot be used, each with the reason."""
        self.tools()
        return list(self._left_out)

    def tools(self) -> list[Tool]:
        """One tool per selected operation.

        Raises:
            ToolsetError: The document cannot be used, or the options do not match it.
        """
        if self._tools is None:
            self._check_where_secrets_go()
            document = self._read()
            self._base = base_of(document, self.base_url, str(noted(self.spec).get("url", "")))
            self._credentials = self._credentials_for(document)
            self._entries = self._chosen(document)
            self._tools = [self._tool(entry) for entry in self._entries]
        return list(self._tools)

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """One skill per tag; a tag with too many operations is split by path segments."""
        self.tools()
        return skills(self._entries, self.group_tools)

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
        """Every response is a verified fact."""
        return Outcome.success(f"{tool_name} answered: {' '.join(str(result).split())[:200]}")

    def _check_where_secrets_go(self) -> None:
        """Require ``base_url`` with secrets: a document, which may be fetched again, must not decide who gets a key."""
        given = "auth" if self.auth != Auth() else "headers" if self.headers else ""
        if given and self.base_url is None:
            text = f"{given}: is sent only to the origin of base_url, so set base_url: https://…, too"
            raise _fault("openapi.base_url", text, given)

    def _read(self) -> Document:
        from react_toolsets.openapi.document import Document

        try:
            document, content = Document.read(self.spec)
        except SpecProblem as problem:
            raise _fault(problem.code, str(problem), "spec") from problem
        if changed := changed_since_fetched(self.spec, content):
            raise _fault("spec_changed", changed, "spec")
        return document

    def _chosen(self, document: Document) -> list[Entry]:
        from react_toolsets.openapi.operations import operations
        from react_toolsets.openapi.schemas import Schemas

        schemas, choice = Schemas(document), Choice(self)
        found, self._left_out = operations(document, schemas, choice.wants)
        if faults := list(choice.faults()):
            raise ToolsetError(faults[0].text, code=faults[0].code, faults=faults)
        if len(found) > self.max_operations:
            text = (
                f"{self.spec.name} has {len(found)} matching operations, more than max_operations "
                f"({self.max_operations})"
            )
            raise _fault("openapi.many", f"{text}: select some with tags: or operations:", "max_operations")
        names = names_of(found)
        entries = [
            entry
            for operation in found
            if (entry := self._entry(schemas, operation, names[operation.place])) is not None
        ]
        self._warn_of_left_out()
        self._check_fields(entries)
        return entries

    def _entry(self, schemas: Any, operation: Operation, name: str) -> Entry | None:
        properties = {parameter.argument: parameter.schema for parameter in operation.parameters}
        required = [parameter.argument for parameter in operation.parameters if parameter.required]
        if operation.body is not None:
            properties["body"] = operation.body.schema
            required += ["body"] if operation.body.required else []
        try:
            schema: Schema = schemas.arguments(properties, required, self.max_schema)
            server_of(operation, self._base)
        except SpecProblem as problem:
            self._left_out.append((operation.place, problem))
            return None
        return Entry(operation=operation, name=name, schema=schema)

    def _warn_of_left_out(self) -> None:
        if self._left_out:
            named = "; ".join(f"{place}: {problem}" for place, problem in self._left_out[:NAMED])
            more = f"; and {len(self._left_out) - NAMED} more" if len(self._left_out) > NAMED else ""
            count = len(self._left_out)
            what = "an operation is" if count == 1 else f"{count} operations are"
            text = f"{self.spec.name}: {what} left out: {named}{more}"
            warnings.warn(text, OpenApiWarning, stacklevel=4)

    def _check_fields(self, entries: list[Entry]) -> None:
        for key in self.fields:
            if not any(self._is(key, entry) for entry in entries):
                text = f"no tool of this document is called {key!r}; give the name of a tool, or METHOD /path"
                raise _fault("tool.unmatched", text, "fields", key)

    @staticmethod
    def _is(key: str, entry: Entry) -> bool:
        return key in (entry.name, entry.operation.id, entry.operation.place)

    def _tool(self, entry: Entry) -> Tool:
        operation = entry.operation
        schema = entry.schema
        return Tool.from_schema(
            lambda: schema,
            partial(self._call, entry),
            name=entry.name,
            description=_described(operation),
            toolset=self,
            context={"__run": "run"},
            read_only=operation.method in READS,
            repeatable=True,
            idempotent=operation.method in ("PUT", "DELETE"),
            network=True,
            timeout=self.timeout + 5.0,
        )

    async def _call(self, entry: Entry, **arguments: Any) -> object:
        from react_toolsets.declared.requests import exchange
        from react_toolsets.openapi.requests import request_of, result_for_model

        run: Run = arguments.pop("__run")
        fields = next((paths for key, paths in self.fields.items() if self._is(key, entry)), [])
        try:
            request = request_of(
                entry.operation,
                arguments,
                max_bytes=self.max_bytes,
                **self._sent_to(server_of(entry.operation, self._base)),
            )
            answer = await exchange(request, network=self._network, policy=self._policy, timeout=self.timeout)
            return result_for_model(entry.operation, answer, fields)
        except RequestFailed as failure:
            came = f" The response begins with: {failure.came[:500].decode('utf-8', 'replace')}" if failure.came else ""
            raise RequestError(run.agent.config.masker.mask(f"{failure}{came}"), code=failure.code) from failure

    def _sent_to(self, base: str) -> dict[str, Any]:
        """The base URL, credentials and headers for a request to ``base``; secrets go to one origin only."""
        from react_toolsets.openapi.requests import Credentials

        headers = {name: value.get_secret_value() for name, value in self.headers.items()}
        if _origin(base) == _origin(self._base):
            return {"base": base, "credentials": self._credentials, "headers": headers}
        return {"base": base, "credentials": Credentials(), "headers": {}}

    @property
    def _policy(self) -> HostPolicy:
        return HostPolicy(allow=self._opened)

    def _credentials_for(self, document: Document) -> Credentials:
        from react_toolsets.openapi.credentials import credentials

        try:
            return credentials(document, self.auth)
        except SpecProblem as problem:
            raise _fault("openapi.auth", problem.text, "auth", "api_key", problem.pointer) from problem


def _described(operation: Operation) -> str:
    said = operation.description if operation.description != operation.summary else ""
    text = "\n\n".join(filter(None, (operation.summary, said))) or operation.place
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - 1].rpartition(' ')[0]}…"


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", parts.port or usual


def _fault(code: str, text: str, *loc: str | int) -> ToolsetError:
    return ToolsetError(f"toolset openapi: {text}", code=code, faults=[Fault(code, text, loc)])
