"""The Berkeley Function-Calling Leaderboard as cases: its functions become tools, its APIs keep their state.

See README.md. Each row brings tools of its own, so a plugin offers them to the run that asks the row's question. In the
multi-turn categories it also asks the next question when one is answered, and the calls change objects of the run.
"""

from __future__ import annotations

import argparse
import ast
import copy
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from react_run import ConfigError, LocalPath, Plugin, Run, RunResult, ScoredRun, Tool, ToolFailed, Verdict, hookimpl

PACKAGE = "bfcl_eval"
_SOURCES = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
APIS = {
    "Basket": ("imitation.basket", "basket"),
    "GorillaFileSystem": (f"{_SOURCES}.gorilla_file_system", "gorilla_file_system"),
    "MathAPI": (f"{_SOURCES}.math_api", "math_api"),
    "MessageAPI": (f"{_SOURCES}.message_api", "message_api"),
    "TicketAPI": (f"{_SOURCES}.ticket_api", "ticket_api"),
    "TradingBot": (f"{_SOURCES}.trading_bot", "trading_bot"),
    "TravelAPI": (f"{_SOURCES}.travel_booking", "travel_booking"),
    "TwitterAPI": (f"{_SOURCES}.posting_api", "posting_api"),
    "VehicleControlAPI": (f"{_SOURCES}.vehicle_control", "vehicle_control"),
}
"""Where each stateful API lives, and the file that describes its functions."""
_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "", "long": "integer", "double": "number"}
"""Names of types in the data set that JSON Schema calls otherwise."""
_NOTED = "noted"


# -- the data ---------------------------------------------------------------------------------------------------------


class Data:
    """Rows and answers of one category.

    Args:
        category: Such as ``simple_python``, ``multiple``, ``parallel``, ``irrelevance``, ``multi_turn_base``.
        directory: Where the files are; those of the installed package when not given.
    """

    def __init__(self, category: str, directory: Path | None = None) -> None:
        self.category, self.directory = category, directory or _installed()

    @cached_property
    def rows(self) -> dict[str, dict[str, Any]]:
        """The rows by their first question, as far as that names one row."""
        rows: dict[str, dict[str, Any]] = {}
        for row in _lines(self.directory / f"BFCL_v4_{self.category}.json"):
            rows.setdefault(first_question(row), row)
        return rows

    @cached_property
    def answers(self) -> dict[str, list[Any]]:
        """What is right, by the ids of rows; where there is no file, no function is."""
        path = self.directory / "possible_answer" / f"BFCL_v4_{self.category}.json"
        return {row["id"]: row["ground_truth"] for row in _lines(path)} if path.exists() else {}

    def documents(self, row: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The functions of a row, each with the API that has it; empty for functions that nobody carries out."""
        yield from (("", document) for document in row.get("function", ()))
        for api in row.get("involved_classes", ()):
            for document in _lines(self.directory / "multi_turn_func_doc" / f"{_api(api)[1]}.json"):
                if document["name"] not in row.get("excluded_function", ()):
                    yield api, document


def _installed() -> Path:
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise ConfigError("the data set is not installed: pip install --no-deps bfcl-eval mpmath, or name a directory")
    return Path(next(iter(found.submodule_search_locations))) / "data"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    yield from map(json.loads, filter(str.strip, text.splitlines()))


def first_question(row: Mapping[str, Any]) -> str:
    """What is asked first; what stands before it (a system prompt) is put in front."""
    return _said(row["question"][0])


def _said(turn: Sequence[Mapping[str, str]]) -> str:
    return "\n\n".join(message["content"] for message in turn)


def _api(name: str) -> tuple[str, str]:
    if name not in APIS:
        raise ConfigError(f"there is no API {name!r} here; there are {', '.join(APIS)}")
    return APIS[name]


def _module(name: str) -> ModuleType:
    if not name.startswith("imitation."):
        return import_module(name)
    spec = spec_from_file_location(name, Path(__file__).parent / f"{name.replace('.', '/')}.py")
    assert spec is not None  # it is our own file
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(row: Mapping[str, Any]) -> dict[str, Any]:
    """The objects of a row, as they are before the first question."""
    objects = {}
    for name in row.get("involved_classes", ()):
        instance = getattr(_module(_api(name)[0]), name)()
        if hasattr(instance, "_load_scenario"):
            instance._load_scenario(copy.deepcopy(row.get("initial_config", {}).get(name, {})))
        objects[name] = instance
    return objects


# -- the agent --------------------------------------------------------------------------------------------------------


class State:
    """What belongs to one run: its row, its objects, and how many questions were asked."""

    def __init__(self) -> None:
        self.row: Mapping[str, Any] = {}
        self.objects: dict[str, Any] = {}
        self.asked = 1


class Bfcl(Plugin):
    """Offers the functions of a row as tools, and asks its further questions."""

    kind: ClassVar[str] = "bfcl"

    cases: LocalPath
    """The cases that this module has written: they say which category is asked."""
    data: LocalPath | None = None
    """A directory with the files, in place of the installed package."""

    @cached_property
    def asked(self) -> Data:
        """The rows."""
        first = next(_lines(self.cases), None)
        if first is None:
            raise ConfigError(f"{self.cases} is empty: python bfcl.py CATEGORY writes it")
        return Data(first["tags"][0], self.data)

    @hookimpl
    def react_run_started(self, run: Run) -> None:
        state = run.state(State)
        row = self.asked.rows.get(run.prompt)
        if row is None:
            raise ConfigError(f"no row of {self.asked.category} asks this: python bfcl.py CATEGORY writes {self.cases}")
        state.row, state.objects = row, made(row)
        tools = tuple(_tool(document, state.objects.get(api)) for api, document in self.asked.documents(row))
        run.offered_tools = (*run.offered_tools, *tools)
        run.all_tools.update({tool.name: tool for tool in tools})

    @hookimpl
    def react_check_answer(self, run: Run, answer: str) -> Verdict | None:
        state = run.state(State)
        turns = state.row.get("question", ())
        if state.asked >= len(turns):
            return None
        state.asked += 1
        return Verdict(accepted=False, feedback=_said(turns[state.asked - 1]))


def _tool(document: Mapping[str, Any], owner: Any) -> Tool:
    name = str(document["name"])

    def call(**arguments: Any) -> str:
        if owner is None:
            return _NOTED
        return _answered(getattr(owner, name), arguments)

    return Tool(
        name=name,
        description=str(document["description"])[:1_024],
        parameters=schema_of(document["parameters"]),
        function=call,
        read_only=owner is None,
        repeatable=True,
        serial=True,
    )


def _answered(method: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    try:
        found = method(**arguments)
    except Exception as error:  # the APIs raise whatever they like
        raise ToolFailed(f"{type(error).__name__}: {error}") from None
    return found if isinstance(found, str) else json.dumps(found, default=str)


def schema_of(described: Any) -> Any:
    """A description of parameters as JSON Schema."""
    if isinstance(described, list):
        return [schema_of(item) for item in described]
    if not isinstance(described, dict):
        return described
    made = {key: schema_of(value) for key, value in described.items() if key not in ("optional", "default", "response")}
    if isinstance(kind := described.get("type"), str):
        made["type"] = _TYPES.get(kind, kind)
        if not made["type"]:
            del made["type"]
    return made


# -- what is right ----------------------------------------------------------------------------------------------------


def score(result: RunResult, run: ScoredRun) -> tuple[float, str]:
    """The scorer: whether the calls of a run are those that are right (``kind: python, function: bfcl:score``)."""
    plugin = next(plugin for plugin in run.agent.plugins if isinstance(plugin, Bfcl))
    data = plugin.asked
    row = data.rows[run.prompt]
    right = data.answers.get(row["id"], [])
    calls = [(_plain_name(step.action), step.action_input) for step in result.steps]
    problem = _wrong_state(row, calls, right) if row.get("involved_classes") else wrong_calls(calls, right)
    return (0.0, problem) if problem else (1.0, "")


def _plain_name(name: str) -> str:
    return name.replace(".", "_")


def wrong_calls(calls: Sequence[tuple[str, Any]], right: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong with the calls of a single question; each expected one is to be made once, in any order."""
    left = list(calls)
    for expected in right:
        name, allowed = next(iter(expected.items()))
        at = next((n for n, call in enumerate(left) if call[0] == _plain_name(name) and _fits(call[1], allowed)), None)
        if at is None:
            got = ", ".join(f"{called}({_short(arguments)})" for called, arguments in calls)
            return f"expected {name}({_short(allowed)}), got {got or 'no call'}"
        del left[at]
    return f"called {', '.join(name for name, _ in left)} as well" if left else ""


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:120]


def _fits(arguments: Any, allowed: Mapping[str, Sequence[Any]]) -> bool:
    """Whether each argument is one of those allowed. ``""`` among them says that it may be left out; where there are
    none, nothing is said of it."""
    if not isinstance(arguments, Mapping) or arguments.keys() - allowed.keys():
        return False
    return all(
        not values or (any(_same(arguments[name], value) for value in values) if name in arguments else "" in values)
        for name, values in allowed.items()
    )


def _same(given: Any, wanted: Any) -> bool:
    if isinstance(given, str) and isinstance(wanted, str):
        return _letters(given) == _letters(wanted)
    if isinstance(given, Mapping) and isinstance(wanted, Mapping):
        return _fits(given, wanted)
    if isinstance(given, (list, tuple)) and isinstance(wanted, (list, tuple)):
        return len(given) == len(wanted) and all(map(_same, given, wanted))
    return bool(given == wanted)


def _letters(text: str) -> str:
    """As the leaderboard compares texts: without punctuation, spaces and case."""
    return "".join(letter for letter in text.lower().replace("'", '"') if letter not in ",./-_*^() ")


def _wrong_state(row: Mapping[str, Any], calls: Sequence[tuple[str, Any]], right: Sequence[Sequence[str]]) -> str:
    """How the objects differ from what the right calls make of them."""
    ours, theirs = made(row), made(row)
    for name, arguments in calls:
        _do(ours, name, arguments if isinstance(arguments, Mapping) else {})
    for turn in right:
        for text in turn:
            name, arguments = parsed(text, theirs)
            _do(theirs, name, arguments)
    for api, instance in theirs.items():
        for key, value in vars(instance).items():
            if not key.startswith("_") and getattr(ours[api], key, None) != value:
                return f"{api}.{key} is not what it should be"
    return ""


def _do(objects: Mapping[str, Any], name: str, arguments: Mapping[str, Any]) -> None:
    for instance in objects.values():
        if hasattr(instance, name):
            with suppress(Exception):  # a failed call changes nothing that counts, in the run as here
                getattr(instance, name)(**copy.deepcopy(dict(arguments)))
            return


def parsed(text: str, objects: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and arguments of a call that is written as Python."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    name = ast.unparse(call.func)
    arguments = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    method = next((getattr(instance, name) for instance in objects.values() if hasattr(instance, name)), None)
    if call.args and method is not None:
        names = list(inspect.signature(method).parameters)
        arguments |= dict(zip(names, map(ast.literal_eval, call.args), strict=False))
    return name, arguments


# -- the cases --------------------------------------------------------------------------------------------------------


def cases(data: Data, *, scripted: bool = False) -> Iterator[dict[str, Any]]:
    """The rows as cases of ``react-run eval``; ``scripted`` has the right calls made without any model."""
    for question, row in data.rows.items():
        case: dict[str, Any] = {
            "name": row["id"],
            "prompt": question,
            "tags": [data.category],
            "stop_reason": "completed",  # whether a call of an API failed is not what is asked here
        }
        if scripted:
            case["replies"] = list(_replies(row, data.answers.get(row["id"], [])))
        yield case


def _replies(row: Mapping[str, Any], right: Sequence[Any]) -> Iterator[Any]:
    if not row.get("involved_classes"):
        wanted = [_first_choice(expected) for expected in right]
        if wanted:
            yield {"tool_calls": wanted}
        yield "done"
        return
    objects = made(row)
    for turn in right:
        for text in turn:
            name, arguments = parsed(text, objects)
            yield {"tool_calls": [{"name": name, "arguments": arguments}]}
        yield "done"


def _first_choice(expected: Mapping[str, Mapping[str, Sequence[Any]]]) -> dict[str, Any]:
    name, allowed = next(iter(expected.items()))
    arguments = {key: _chosen(values[0]) for key, values in allowed.items() if values and values[0] != ""}
    return {"name": _plain_name(name), "arguments": arguments}


def _chosen(value: Any) -> Any:
    """A value of which each part has a list of choices."""
    if isinstance(value, dict):
        return {
            key: _chosen(choices[0]) for key, choices in value.items() if isinstance(choices, list) and choices[0] != ""
        }
    return [_chosen(item) for item in value] if isinstance(value, list) else value


def main() -> None:
    """Write the cases of a category beside this file."""
    parser = argparse.ArgumentParser(description="Cases of the Berkeley function-calling set for react-run eval.")
    parser.add_argument("category", help="simple_python, multiple, parallel, irrelevance, multi_turn_base, …")
    parser.add_argument("--data", type=Path, help="a directory with the files, in place of the installed package")
    parser.add_argument("--limit", type=int, help="only the first rows")
    parser.add_argument("--scripted", action="store_true", help="with the right calls as replies: no model is needed")
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).with_name("cases.jsonl"))
    given = parser.parse_args()
    found = islice(cases(Data(given.category, given.data), scripted=given.scripted), given.limit)
    lines = [json.dumps(case, ensure_ascii=False) for case in found]
    given.output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} cases in {given.output}")


if __name__ == "__main__":
    main()
