"""Functions that people name in an agent file: called with those of our values that they ask for by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from react_run import Run, in_worker


def check_parameters(function: Callable[..., Any], names: tuple[str, ...]) -> None:
    """Refuse a function that cannot be called with values called ``names``.

    Raises:
        ValueError: It asks for something else.
    """
    unknown = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name not in names and parameter.default is parameter.empty and not _is_open(parameter)
    ]
    if unknown:
        raise ValueError(f"the function asks for {', '.join(unknown)}; it may ask for {', '.join(names)}")


async def called(run: Run, function: Callable[..., Any], values: Mapping[str, object]) -> object:
    """What ``function`` gives when it is called with those of ``values`` that it asks for.

    A plain one is called in a worker thread, under the agent's ``tool_timeout``; an ``async`` one where the run is.
    """
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        wanted = dict(values)
    else:
        wanted = {parameter.name: values[parameter.name] for parameter in parameters if parameter.name in values}
    if inspect.iscoroutinefunction(function):
        return await function(**wanted)
    result = await in_worker(run, partial(function, **wanted))
    return await result if inspect.isawaitable(result) else result


def _is_open(parameter: inspect.Parameter) -> bool:
    return parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
