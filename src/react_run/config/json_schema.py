"""The JSON Schema (2020-12) of agent files: every key, and the options of every installed kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, JsonSchemaWarningKind
from pydantic_core import CoreSchema

from react_run.components import GROUP_MARK
from react_run.components.kinds import GROUPS, Kind, installed
from react_run.config.limits import Limits
from react_run.config.option_docs import documented, shown_text
from react_run.config.schema import ReActAgentConfig
from react_run.config.wrapper_levels import LEVELS
from react_run.errors import PluginError
from react_run.tools.shared_keys import SharedKeys
from react_run.tools.toolset import ReActToolset

Schema = dict[str, Any]

VARIABLE: Schema = {"type": "string", "pattern": r"\$\{", "description": "A value from the environment: `${VARIABLE}`."}
FILE: Schema = {
    "type": "object",
    "properties": {"file": {"type": "string", "description": "A path, relative to this file."}},
    "required": ["file"],
    "additionalProperties": False,
    "description": "The text of a file.",
}
_TEXT: Schema = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/file"}]}
_RULE: Schema = {
    "type": "object",
    "properties": {
        "tool": {"type": "string", "description": "The tools that the rule applies to, as a glob."},
        "toolset": {
            "type": "string",
            "description": "The toolsets that the rule applies to, as a glob over their `name`.",
        },
        "arguments": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Globs that the arguments must match.",
        },
        "action": {"enum": ["allow", "ask", "deny"], "description": "What to do with such a call."},
    },
    "required": ["action"],
    "additionalProperties": False,
}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


_SPECIAL: Mapping[str, Schema] = {
    "model": {"anyOf": [{"type": "string", "minLength": 1}, _ref("model"), {"type": "null"}]},
    "fallback_models": _list_of({"anyOf": [{"type": "string", "minLength": 1}, _ref("model")]}),
    "toolsets": _list_of(_ref("toolset")),
    "plugins": _list_of(_ref("plugin")),
    **{level: _list_of(_ref("plugin")) for level in LEVELS},
    "checks": _list_of(_ref("check")),
    "failure_handling": {"anyOf": [{"enum": ["safe", "legacy"]}, _ref("plugin")]},
    "tool_disclosure": {"anyOf": [{"enum": ["all", "skills"]}, _ref("plugin")]},
    "system_prompt": _TEXT,
    "guides": _list_of(_TEXT),
    "skills": _list_of({"type": "string"}),
    "subagents": _list_of({"type": ["string", "object"]}),
    "permissions": _list_of(_RULE),
}
"""Keys whose schema is more precise than the type of their field."""


def agent_file_schema() -> Schema:
    """The schema; kinds that cannot be loaded are listed without their options."""
    keys, defs = _keys()
    for group in GROUPS:
        entry, found = _group(group)
        defs |= found
        defs[group[:-1]] = entry
    defs |= _shared()
    defs |= {"variable": VARIABLE, "file": FILE, **{f"key.{name}": schema for name, schema in keys.items()}}
    properties = {name: _ref(f"key.{name}") for name in keys}
    wrapped: Schema = {
        "type": "object",
        "properties": properties,
        "patternProperties": {r"^\+": {"type": "array"}},
        "additionalProperties": False,
        "description": "The wrapped shape: everything except `id`, `name`, `description` and `class_name`.",
    }
    schema: Schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "react-run agent file",
        "description": "An agent: a model, tools, plugins and limits.",
        "type": "object",
        "properties": {**properties, "properties": wrapped},
        "patternProperties": {r"^\+": {"type": "array"}, "^x-": {}},
        "additionalProperties": False,
        "$defs": defs,
    }
    _for_people(schema)
    return schema


def _for_people(schema: object) -> None:
    """Reduce every description in ``schema`` to what users need."""
    if isinstance(schema, dict):
        if isinstance(text := schema.get("description"), str):
            schema["description"] = shown_text(text)
        for part in schema.values():
            _for_people(part)
    elif isinstance(schema, list):
        for part in schema:
            _for_people(part)


def _keys() -> tuple[dict[str, Schema], dict[str, Schema]]:
    schema = _Generator("#/$defs/{model}").of(ReActAgentConfig)
    defs: dict[str, Schema] = schema.pop("$defs", {})
    keys: dict[str, Schema] = {}
    for name, field in schema["properties"].items():
        special = _SPECIAL.get(name)
        about = {key: field[key] for key in ("description", "default") if key in field}
        keys[name] = {**about, **special} if special is not None else _lenient(field)
    keys["toolset"] = {**_ref("toolset"), "description": "A single toolset: short for a list with one entry."}
    keys |= {name: _lenient(field) for name, field in _Generator("").of(Limits)["properties"].items()}
    return keys, {name: _lenient(found) for name, found in defs.items()}


def _group(group: str) -> tuple[Schema, dict[str, Schema]]:
    """The schema of an entry of a group, and the definitions it refers to."""
    defs: dict[str, Schema] = {}
    choices: list[Schema] = []
    kinds = installed(group)
    for kind in sorted(kinds.values(), key=lambda kind: kind.name):
        schema, found = _options(kind)
        defs |= found
        defs[f"{group}.{kind.name}"] = schema
        choices.append(_ref(f"{group}.{kind.name}"))
    names: Schema = {"type": "string", "anyOf": [{"enum": sorted(kinds)}, {"pattern": "[.:]"}]}
    dotted: Schema = {
        "type": "object",
        "properties": {"kind": {"type": "string", "pattern": "[.:]", "description": "package.module:Class"}},
        "required": ["kind"],
    }
    return {"anyOf": [names, *choices, dotted]}, defs


def _shared() -> dict[str, Schema]:
    """The keys of every toolset, each a definition of its own."""
    schema = _Generator("#/$defs/shared.{model}").of(SharedKeys)
    found = schema.pop("$defs", {}) | schema["properties"]
    return {f"shared.{name}": _lenient(part) for name, part in found.items()}


def _options(kind: Kind) -> tuple[Schema, dict[str, Schema]]:
    named: Schema = {"const": kind.name, "description": f"{kind.distribution} {kind.version}".strip()}
    try:
        cls = kind.load()
    except PluginError as error:
        return {"type": "object", "properties": {"kind": named}, "required": ["kind"], "description": str(error)}, {}
    about = (getattr(cls, "__doc__", "") or "").strip()
    if not (isinstance(cls, type) and issubclass(cls, BaseModel)):
        return {"type": "object", "properties": {"kind": named}, "required": ["kind"], "description": about}, {}
    prefix = f"{kind.group}.{kind.name}"
    schema = _Generator(f"#/$defs/{prefix}.{{model}}").of(cls)
    defs = {f"{prefix}.{name}": _lenient(found) for name, found in schema.pop("$defs", {}).items()}
    options = {name: _lenient(field) for name, field in schema.get("properties", {}).items()}
    if issubclass(cls, ReActToolset):
        options |= {name: _ref(f"shared.{name}") for name in cls.shared_option_names()}
    return {
        "type": "object",
        "description": about,
        "properties": {"kind": named, **options},
        "required": ["kind", *schema.get("required", [])],
        "additionalProperties": False,
    }, defs


def _lenient(schema: Any) -> Any:
    """Extend ``schema`` to accept what becomes such a value: a variable, or the text of a file."""
    if isinstance(schema, list):
        return [_lenient(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if GROUP_MARK in schema:
        about = {"description": schema["description"]} if "description" in schema else {}
        return {**about, **_ref(str(schema[GROUP_MARK])[:-1])}
    made = {
        key: value if key in ("default", "examples", "enum", "const") else _lenient(value)
        for key, value in schema.items()
    }
    about = {key: made.pop(key) for key in ("description", "default", "title") if key in made}
    about.pop("title", None)
    if made.get("type") in ("integer", "number", "boolean") or "enum" in made or "const" in made:
        return {**about, "anyOf": [made, _ref("variable")]}
    if made.get("type") == "string":
        return {**about, "anyOf": [made, _ref("variable"), _ref("file")]}
    return {**about, **made}


class _Generator(GenerateJsonSchema):
    """pydantic's generator, without warnings about defaults that JSON cannot represent."""

    def __init__(self, ref_template: str) -> None:
        super().__init__(by_alias=True, ref_template=ref_template or "#/$defs/{model}")

    def of(self, cls: type[BaseModel]) -> Schema:
        """The schema of one model; types that JSON cannot describe accept anything."""
        return self.generate(documented(cls).__pydantic_core_schema__, mode="validation")

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        """Leave out a default without a JSON form, without a warning."""

    def handle_invalid_for_json_schema(self, schema: CoreSchema, error_info: str) -> JsonSchemaValue:
        """Accept anything: the component checks it itself."""
        return {}

    def encode_default(self, dft: Any) -> Any:
        """A default in JSON, if it can be represented."""
        try:
            return super().encode_default(dft)
        except PydanticInvalidForJsonSchema:
            return None
