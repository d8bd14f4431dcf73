"""Schemas that are made directly say what pydantic would say of the same signature."""

import inspect
import json
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_run import Tool
from react_run.tools.arguments.model_checking import ModelChecker
from react_run.tools.arguments.problems import InvalidArguments
from react_run.tools.schemas.function_model import function_model, model_schema
from react_run.tools.schemas.plain import plain_schema
from react_run.tools.schemas.signature import Signature, read_signature

SCALARS = st.sampled_from([str, int, float, bool, list, dict, object, typing.Any, inspect.Parameter.empty])
NESTED = st.recursive(
    st.sampled_from([str, int, float, bool, list, dict, typing.Any]),
    lambda inner: st.one_of(
        inner.map(lambda item: list[item]),  # type: ignore[valid-type]  # made at run time
        inner.map(lambda item: dict[str, item]),  # type: ignore[valid-type]  # as above
        inner.map(lambda item: dict[int, item]),  # type: ignore[valid-type]  # as above
        st.lists(st.one_of(inner, st.just(None)), min_size=1, max_size=4).map(
            lambda members: typing.Union[tuple(members)]  # noqa: UP007  # known at run time only
        ),
    ),
    max_leaves=6,
)
DEFAULTS = st.one_of(
    st.just(inspect.Parameter.empty), st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)
)
NAMES = st.sampled_from(["a", "b", "path", "_hidden", "schema", "copy", "json", "class_", "model_x", "größe"])


def _signature(fields: dict[str, tuple[object, object]]) -> Signature:
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = {
        name: inspect.Parameter(name, kind, annotation=annotation, default=default)
        for name, (annotation, default) in fields.items()
    }
    return Signature(label="work", fields=parameters, extra=None, rest="", context={})


@given(st.dictionaries(NAMES, st.tuples(st.one_of(SCALARS, NESTED), DEFAULTS), max_size=4))
def test_a_plain_schema_is_the_one_that_pydantic_makes(fields: dict[str, tuple[object, object]]) -> None:
    signature = _signature(fields)
    direct = plain_schema(signature)
    if direct is not None:
        assert json.dumps(direct) == json.dumps(model_schema(function_model(signature)))


def test_most_types_of_tools_need_no_model() -> None:
    def work(
        a: str,
        b: int = 3,
        c: float | None = None,
        d: list[dict[str, int]] | None = None,
        e: bool = False,
        f: dict[str, typing.Any] | None = None,
    ) -> str:
        """Work."""
        return a

    tool = Tool.from_function(work)
    assert tool.wire["function"]["parameters"]["required"] == ["a"]
    assert tool.checker is not None
    assert "model" not in vars(tool.checker), "made only when the tool is called"
    assert tool.prepare({"a": "x", "b": 2}).kwargs["b"] == 2
    assert "model" in vars(tool.checker)


@pytest.mark.parametrize("annotation", [set[str], tuple[int, ...], typing.Literal["a"], bytes, dict[int, str]])
def test_other_types_are_left_to_pydantic(annotation: object) -> None:
    assert plain_schema(_signature({"a": (annotation, inspect.Parameter.empty)})) is None


def test_a_function_that_takes_any_name_is_left_to_pydantic() -> None:
    def work(a: str, **more: int) -> str:
        """Work."""
        return a

    assert plain_schema(read_signature(work, "work")) is None


@given(st.tuples(st.integers(), st.text(), st.booleans()))
def test_arguments_of_the_exact_types_bind_as_pydantic_binds_them(values: tuple[int, str, bool]) -> None:
    def work(a: int, b: str, c: bool) -> None:
        """Work."""

    quick, model = Tool.from_function(work).checker, Tool.from_function(work).checker
    assert isinstance(quick, ModelChecker)
    assert isinstance(model, ModelChecker)
    model._exact = None  # so that pydantic decides
    arguments = dict(zip("abc", values, strict=True))
    assert quick.bind(arguments) == model.bind(arguments)


@pytest.mark.parametrize(
    "arguments", [{"a": True}, {"a": 1.0}, {"a": "1"}, {"a": None}, {}, {"a": 1, "b": "\ud800"}, {"a": 1, "b": 2}]
)
def test_arguments_of_other_types_are_pydantics_to_judge(arguments: dict[str, object]) -> None:
    def work(a: int, b: str = "") -> None:
        """Work."""

    checker = Tool.from_function(work).checker
    assert isinstance(checker, ModelChecker)
    with pytest.raises(InvalidArguments):
        checker.bind(arguments)
