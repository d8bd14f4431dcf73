"""Code named by an option of an agent file: found, trusted, and explained when it is not (agent-files.md, trust)."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import ValidationError

from react_run import Component, LocalFunction, LocalModule, Origin


class Coded(Component):
    """A component with both."""

    function: LocalFunction | None = None
    """A function."""
    module: LocalModule | None = None
    """A module."""


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    (tmp_path / "helpers.py").write_text("def double(x):\n    return 2 * x\n\nNUMBER = 1\n")
    (tmp_path / "tools.py").write_text("import helpers\n\nRAN = True\n\ndef four():\n    return helpers.double(2)\n")
    return tmp_path


def coded(directory: Path | None, trusted: bool = True, **options: object) -> Coded:
    origin = None if directory is None else Origin(directory=directory, trusted=trusted)
    return Coded.model_validate(options, context=origin)


def why(directory: Path | None, trusted: bool = True, **options: object) -> dict[str, Any]:
    with pytest.raises(ValidationError) as caught:
        coded(directory, trusted, **options)
    return dict(caught.value.errors()[0])


@pytest.mark.parametrize("path", ["helpers:double", "helpers.double"])
def test_a_function_is_found_beside_the_file(beside: Path, path: str) -> None:
    function = coded(beside, function=path).function
    assert function is not None
    assert function(4) == 8
    assert str(beside) not in sys.path


def test_a_function_of_an_installed_package_is_found_from_python_too() -> None:
    assert coded(None, function="react_run.testing:says").function is not None


def test_a_callable_and_a_module_are_taken_as_they_are(beside: Path) -> None:
    made = coded(beside, trusted=False, function=len, module=sys)
    assert (made.function, made.module) == (len, sys)


def test_a_file_is_loaded_and_can_import_what_stands_beside_it(beside: Path) -> None:
    for name in ("tools.py", beside / "tools.py"):
        module = coded(beside, module=name).module
        assert isinstance(module, ModuleType)
        assert module.four() == 4
    assert coded(beside, module="helpers").module is not None
    assert str(beside) not in sys.path


@pytest.mark.parametrize("option", [{"function": "helpers:double"}, {"module": "tools.py"}, {"module": "react_run"}])
def test_nothing_is_even_imported_without_trust(tmp_path: Path, option: dict[str, str]) -> None:
    (tmp_path / "helpers.py").write_text("raise SystemExit('ran')\n")
    (tmp_path / "tools.py").write_text("raise SystemExit('ran')\n")
    error = why(tmp_path, trusted=False, **option)
    assert error["type"] == "cfg.untrusted"
    assert f"react-run trust {tmp_path}" in error["msg"]


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"function": "os:system"}, "standard library"),
        ({"function": "helpers:nothing"}, "has no 'nothing'"),
        ({"function": "helpers:NUMBER"}, "is not a function but of type int"),
        ({"function": "no_such_package:f"}, "No module named"),
        ({"function": "not a path"}, "is not a path such as"),
        ({"function": 3}, "must be text"),
        ({"module": "subprocess"}, "standard library"),
        ({"module": "missing.py"}, "there is no file"),
        ({"module": "../../etc"}, "is not the name of a module"),
        ({"module": 3}, "must be text"),
    ],
)
def test_what_is_wrong_is_said(beside: Path, option: dict[str, Any], text: str) -> None:
    assert text in why(beside, **option)["msg"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("x = 1\ndef f(:\n", ":2: SyntaxError: "),
        ("\n\nx = 1 / 0\n", ":3: ZeroDivisionError: division by zero"),
        ("import no_such_module_at_all\n", ":1: ModuleNotFoundError: "),
        ("raise SystemExit(3)\n", ":1: SystemExit: 3"),
    ],
)
def test_a_file_that_fails_is_named_with_its_line(tmp_path: Path, source: str, text: str) -> None:
    (tmp_path / "broken.py").write_text(source)
    assert f"{tmp_path / 'broken.py'}{text}" in why(tmp_path, module="broken.py")["msg"]
    assert not [name for name in sys.modules if name.endswith("_broken")]
