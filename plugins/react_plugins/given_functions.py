"""Calls functions from an agent file with the values that their parameters name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from react_run import Run, in_worker


def check_parameters(function: Callable[..., Any], names: tuple[str, ...]) -> None:
    """Check that all parameters of a function are among ``names``.

    Raises:
        ValueError: The function has another parameter.
    """
    unknown = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name not in names and parameter.default is parameter.empty and not _is_open(parameter)
    ]
    if unknown:
        raise ValueError(f"the function takes {', '.join(unknown)}; it may take {', '.join(names)}")


async def called(run: Run, function: Callable[..., Any], values: Mapping[str, object]) -> object:
    """Call ``function`` with those of ``values`` that it takes, and return its result.

    A plain function runs in a worker thread under the agent's ``tool_timeout``, an ``async`` one on the run's loop.
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
