"""Code named as the value of an option: it is executed, so it needs a trusted directory."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo, WithJsonSchema

from react_run.components.dotted import import_module, import_path
from react_run.components.errors import KindImportError, how_to_trust
from react_run.components.option_errors import problem
from react_run.components.origin import Origin, beside_the_file
from react_run.errors import ReactError, pass_on_interrupt


def _function(value: object, info: ValidationInfo) -> object:
    if callable(value):
        return value
    if not isinstance(value, str):
        raise problem("cfg.type", "must be text (a string): package.module:function")
    directory = _trusted_directory(value, info)
    found = _found(lambda: import_path(value, directory, trusted=True))
    if not callable(found):
        raise problem("cfg.value", f"{value} is not a function but of type {type(found).__name__}")
    return found


def _module(value: object, info: ValidationInfo) -> object:
    if isinstance(value, ModuleType):
        return value
    if not isinstance(value, (str, Path)):
        raise problem("cfg.type", "must be text (a string): a Python file, or the name of a module")
    directory = _trusted_directory(value, info)
    if isinstance(value, Path) or value.endswith(".py"):
        path = beside_the_file(value, info)
        return _found(lambda: load_file(path))
    return _found(lambda: import_module(value, directory, trusted=True))


LocalFunction = Annotated[
    Callable[..., Any], BeforeValidator(_function), WithJsonSchema({"type": "string", "pattern": r"^[\w.]+[.:]\w+$"})
]
"""A function option: ``package.module:function``, installed or next to the agent file; from Python, any callable."""

LocalModule = Annotated[ModuleType, BeforeValidator(_module), WithJsonSchema({"type": "string", "minLength": 1})]
"""A module option: a file (``tools.py``) next to the agent file, or a module's name; from Python, any module."""


def _trusted_directory(value: object, info: ValidationInfo) -> Path | None:
    origin = info.context
    if not isinstance(origin, Origin):
        return None
    if not origin.trusted:
        text = f"{value} is code, which an agent file may name only in a trusted directory: "
        raise problem("cfg.untrusted", f"{text}{how_to_trust(origin.directory)}")
    return origin.directory


def _found(look: Callable[[], object]) -> object:
    try:
        return look()
    except ReactError as error:
        code = "cfg.plugin_import" if isinstance(error, KindImportError) else "cfg.value"
        raise problem(code, str(error)) from None


def load_file(path: Path) -> ModuleType:
    """Load the module in the file ``path``; it can import modules next to it.

    Raises:
        PluginError: It cannot be read, or fails; the message names the line.
    """
    real = path.resolve()
    name = f"react_run_code_{sha256(str(real).encode()).hexdigest()[:12]}_{real.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, real)
    if spec is None or spec.loader is None:
        raise KindImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look up their module
    sys.path.insert(0, str(real.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, (Exception, SystemExit)):
            raise
        pass_on_interrupt(error)
        raise KindImportError(_why(path, real, error)) from error
    finally:
        sys.path.remove(str(real.parent))
    return module


def _why(path: Path, real: Path, error: BaseException) -> str:
    if isinstance(error, FileNotFoundError) and not real.exists():
        return f"there is no file {path}"
    if isinstance(error, SyntaxError) and error.filename == str(real):
        return f"{path}:{error.lineno}: {type(error).__name__}: {error.msg}"
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(real)]
    return f"{path}{f':{lines[-1]}' if lines else ''}: {type(error).__name__}: {error}"
