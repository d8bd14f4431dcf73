"""How hooks are called: :func:`react_run.layers.ask` for layers, ``ask_all()`` for questions, ``notify()`` for events.

pluggy registers plugins and validates their signatures; the calling order is ours, because pluggy cannot await, skip or
retry, and enters all wrappers before any plain implementation (decision record 0004). Only its documented surface is
used: ``HookCaller.get_hookimpls()`` and the attributes of ``HookImpl``.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache
from inspect import (
    getattr_static,
    isasyncgenfunction,
    isawaitable,
    iscoroutinefunction,
    isgeneratorfunction,
    signature,
)
from operator import itemgetter
from time import perf_counter
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from react_run.errors import BLAME, PluginError
from react_run.hookspecs import Hooks, hookimpl
from react_run.support.logs import log_failure
from react_run.support.tasks import cancellations

logger = logging.getLogger(__name__)

Call = Callable[..., Any]
Mask = Callable[[str], str]
F = TypeVar("F", bound=Call)
PLAIN, AROUND, GENERATOR, LATE = range(4)
FIRST_ANSWER, DIRECT, LATE_ONLY, ANY = range(4)
"""How a layer is asked from one of its implementations on: it is a plain function; it is the loop; it and all that
follow except the loop are late; anything else."""
IN_THREADS = frozenset({"react_guide", "react_sense", "react_check_answer"})
"""Hooks whose synchronous implementations run in a worker thread with a timeout (behaviour T2)."""
SLOW = 0.1
"""If an implementation blocks the event loop for more than this many seconds, the log names it."""
_INLINE = "__react_inline__"
_LATE = "__react_late__"


class IdentityProxy:
    """Proxy for a plugin that defines ``__eq__``: pluggy compares with ``==`` and would merge two equal plugins."""

    def __init__(self, plugin: object) -> None:
        self.plugin = plugin
        for name in dir(plugin):
            if hasattr(getattr_static(plugin, name, None), f"{hookimpl.project_name}_impl"):
                setattr(self, name, getattr(plugin, name))


def unproxied(plugin: object) -> object:
    return plugin.plugin if isinstance(plugin, IdentityProxy) else plugin


class Implementation:
    """One plugin's implementation of one hook: ``start(*args)`` calls it with the arguments that it declares.

    An implementation that surrounds the rest gets ``proceed`` after the arguments of the hook.

    ``answers`` are the types its answer may have; ``mask`` removes secrets from log records. ``unless``, ``when`` and
    ``errors`` say in which cases an implementation marked :func:`late` is entered at all.
    """

    __slots__ = (
        "answer",
        "answers",
        "errors",
        "form",
        "hook",
        "in_thread",
        "is_async",
        "mask",
        "plugin",
        "plugin_name",
        "start",
        "unless",
        "way",
        "when",
    )

    def __init__(
        self, hook: str, impl: pluggy.HookImpl, argnames: tuple[str, ...], answers: tuple[type, ...], mask: Mask
    ) -> None:
        self.hook = hook
        self.mask = mask
        self.answers = answers
        self.answer = answers[0]
        self.plugin = unproxied(impl.plugin)
        self.plugin_name = impl.plugin_name
        self.is_async = impl.wrapper or iscoroutinefunction(impl.function)
        self.form = GENERATOR if impl.wrapper else AROUND if "proceed" in impl.argnames else PLAIN
        self.unless: Call | None = None
        self.when: Call | None = None
        self.errors: type[Exception] | tuple[type[Exception], ...] = ()
        if hasattr(impl.function, _LATE):
            self.form = LATE
            unless, when, self.errors = getattr(impl.function, _LATE)
            self.unless, self.when = _of_plugin(unless, impl.function), _of_plugin(when, impl.function)
        self.way = ANY
        self.in_thread = hook in IN_THREADS and not self.is_async and not getattr(impl.function, _INLINE, False)
        self.start: Call = _starter(impl.function, impl.argnames, argnames)
        if not self.is_async and not self.in_thread and not _is_ours(self.plugin):
            self.start = _watched(self.start, f"plugin {self.plugin_name!r} took {{:.0f}} ms in {hook}")

    def blame(self, error: BaseException) -> None:
        """Note on ``error`` which plugin and hook it came from."""
        error.add_note(f"{BLAME}{self.plugin_name!r} in {self.hook}")

    def check(self, answer: object) -> None:
        """Reject an answer of the wrong type, which later code would misunderstand.

        Raises:
            PluginError: The answer has the wrong type.
        """
        fits = isinstance(answer, self.answers)
        if fits and type(answer) not in (list, tuple):
            return  # the usual case
        parts: Iterable[object] = answer if fits else (answer,)  # type: ignore[assignment]  # mypy: it is one of the two
        odd = next((type(part).__name__ for part in parts if not isinstance(part, self.answers[0])), "")
        if odd:
            wanted = ", ".join(kind.__name__ for kind in self.answers)
            where = f" in a {type(answer).__name__}" if fits else ""
            raise PluginError(
                f"plugin {self.plugin_name!r} answered {self.hook} with {odd}{where}; allowed answers: {wanted}, None"
            )


def inline(function: F) -> F:
    """Mark a synchronous implementation of ``react_guide``, ``react_sense`` or ``react_check_answer`` that only
    computes.

    It then runs on the event loop, without a thread or a timeout, so it must not block.
    """
    setattr(function, _INLINE, True)
    return function


def late(
    *,
    unless: Call | None = None,
    when: Call | None = None,
    errors: type[Exception] | tuple[type[Exception], ...] = (),
) -> Callable[[F], F]:
    """Mark an ``async`` implementation of a layer that seldom does more than ``await proceed()``.

    It is entered only when it has more to do: late, that is after everything further in, whose answer or error its
    first ``proceed()`` gives. In all other cases it costs next to nothing. ``unless`` and ``when`` may be functions of
    the plugin's class, with ``self``.

    Args:
        unless: Called with the arguments of the hook, beforehand; if it returns true, the implementation is entered at
            once, as if it were not marked.
        when: Called with the arguments of the hook and the answer; returns whether the implementation is entered for
            that answer. Without it, no answer is a reason.
        errors: The exceptions from further in for which it is entered.
    """

    def mark(function: F) -> F:
        setattr(function, _LATE, (unless, when, errors))
        return function

    return mark


def _of_plugin(condition: Call | None, method: Call) -> Call | None:
    """Bind a condition that takes ``self`` to the plugin whose ``method`` it belongs to."""
    if condition is None or next(iter(signature(condition).parameters), "") != "self":
        return condition
    return MethodType(condition, getattr(method, "__self__", None))


def _is_ours(plugin: object) -> bool:
    kind = plugin if isinstance(plugin, type) else type(plugin)
    return kind.__module__.partition(".")[0] == "react_run"


def _watched(start: Call, what: str) -> Call:
    """Wrap ``start`` so that blocking the event loop, and with it every other run, is logged."""

    def watched(*args: object) -> object:
        begun = perf_counter()
        answer = start(*args)
        if (taken := perf_counter() - begun) > SLOW:
            logger.warning("%s: nothing else runs meanwhile; make it async", what.format(taken * 1000))
        return answer

    return watched


def _starter(function: Call, wanted: tuple[str, ...], argnames: tuple[str, ...]) -> Call:
    """Return a function that takes all arguments of the hook, and ``proceed``, and calls ``function`` with those it
    declares.
    """
    if wanted in (argnames, (*argnames, "proceed")):
        return function  # the usual case: nothing between caller and plugin
    if not wanted:
        return lambda *args: function()
    positions = [(*argnames, "proceed").index(name) for name in wanted]
    if len(positions) == 1:
        (position,) = positions
        return lambda *args: function(args[position])
    pick = itemgetter(*positions)
    return lambda *args: function(*pick(args))


Chain = tuple[Implementation, ...]


class HookTable:
    """The implementations of every hook of one agent, outermost first: one attribute per hook, and ``plugins``."""

    if TYPE_CHECKING:

        def __getattr__(self, hook: str) -> Chain: ...
        def __setattr__(self, hook: str, chain: object) -> None: ...

    def __init__(
        self, manager: pluggy.PluginManager, answers: Mapping[str, tuple[type, ...]], mask: Mask = str
    ) -> None:
        listed = manager.list_name_plugin()
        self.plugins: tuple[object, ...] = tuple(unproxied(plugin) for _, plugin in listed)
        rank = {name: position for position, (name, _) in enumerate(listed)}
        for hook in hook_names():
            caller: pluggy.HookCaller = getattr(manager.hook, hook)
            assert caller.spec is not None  # only hooks of the specification are listed
            argnames = tuple(name for name in caller.spec.argnames if name != "proceed")
            impls = sorted(caller.get_hookimpls(), key=lambda impl: (_moved(impl), rank[impl.plugin_name]))
            kinds = answers.get(hook, (object,))
            chain = tuple(Implementation(hook, impl, argnames, kinds, mask) for impl in impls)
            _set_ways(chain)
            setattr(self, hook, chain)


def _set_ways(chain: Chain) -> None:
    """Determine how the chain is asked from each implementation on, once for all runs."""
    further_in = ANY
    for impl in reversed(chain):
        if impl is chain[-1]:
            impl.way = DIRECT if impl.form == PLAIN and impl.is_async else ANY
        elif impl.form == PLAIN and not impl.is_async:
            impl.way = FIRST_ANSWER
        elif impl.form == LATE and further_in in (DIRECT, LATE_ONLY):
            impl.way = LATE_ONLY
        further_in = impl.way


def _moved(impl: pluggy.HookImpl) -> int:
    return 0 if impl.tryfirst else 2 if impl.trylast else 1


def hook_names() -> list[str]:
    """The names of all hooks, in the order of ``hookspecs.py``."""
    return [name for name in vars(Hooks) if name.startswith("react_")]


@cache
def layers() -> frozenset[str]:
    """The layer hooks: those with ``proceed`` in their specification."""
    return frozenset(name for name in hook_names() if "proceed" in signature(getattr(Hooks, name)).parameters)


def check_form(impl: pluggy.HookImpl, hook: str) -> None:
    """Reject forms that the calling order cannot support.

    Raises:
        PluginError: An old-style hook wrapper, a generator that is not marked as a wrapper, or a method without its
            object.
    """
    problem = ""
    if impl.hookwrapper:
        problem = "uses hookwrapper=True, pluggy's old form; use @hookimpl(wrapper=True) and return the result"
    elif isasyncgenfunction(impl.function):
        problem = "is an asynchronous generator; take `proceed` and await it"
    elif not impl.wrapper and isgeneratorfunction(impl.function):
        problem = "is a generator; mark it @hookimpl(wrapper=True)"
    elif _lacks_its_object(impl):
        problem = "is a method of the class that was given as the plugin; pass an instance of that class"
    elif hasattr(impl.function, _LATE) and not ("proceed" in impl.argnames and iscoroutinefunction(impl.function)):
        problem = "is marked @late, which is for `async def` with `proceed`"
    elif impl.wrapper and hook not in layers():
        problem = "is a wrapper, but only layer hooks can be surrounded"
    if problem:
        raise PluginError(f"plugin {impl.plugin_name!r}: {hook} {problem}")


def _lacks_its_object(impl: pluggy.HookImpl) -> bool:
    plugin = unproxied(impl.plugin)
    kinds = plugin.__mro__ if isinstance(plugin, type) else ()
    return any(impl.function is found for kind in kinds for found in vars(kind).values())


async def ask_all(chain: Chain, run: object, subject: object) -> list[Any]:
    """Ask every plugin a question of ``run`` about ``subject``, in order, and return the answers that are not
    ``None``.
    """
    answers = []
    for impl in chain:
        try:
            answer = impl.start(run, subject)
            if answer is not None and isawaitable(answer):
                answer = await answer
            if answer is not None:
                impl.check(answer)
                answers.append(answer)
        except BaseException as error:
            impl.blame(error)
            raise
    return answers


async def notify(chain: Chain, *args: object) -> None:
    """Notify every listener; exceptions are logged and otherwise ignored. ``chain`` must not be empty."""
    for awaitable in dispatch(chain, *args):
        await await_listener(*awaitable)


def dispatch(chain: Chain, *args: object) -> list[tuple[Implementation, Awaitable[object]]]:
    """Notify every listener; return the awaitables of the asynchronous ones."""
    pending: list[tuple[Implementation, Awaitable[object]]] = []
    for impl in chain:
        try:
            answer = impl.start(*args)
        except _MEANT_FOR_ALL:
            raise
        except BaseException as error:  # also a cancellation of its own, or a panic in foreign code
            _log(impl, error)
        else:
            if answer is not None and isawaitable(answer):
                pending.append((impl, answer))
    return pending


async def await_listener(impl: Implementation, answer: Awaitable[object]) -> None:
    """Await what an event listener returned; log what it raises."""
    cancelled = cancellations()
    try:
        await answer
    except _MEANT_FOR_ALL:
        raise
    except BaseException as error:
        if cancellations() > cancelled:  # the run is cancelled, not the listener
            raise
        _log(impl, error)


_MEANT_FOR_ALL = (KeyboardInterrupt, SystemExit, GeneratorExit)


def _log(impl: Implementation, error: BaseException) -> None:
    what = f"plugin {impl.plugin_name!r} failed in event {impl.hook}"
    log_failure(logger, logging.ERROR, what, error, impl.mask)
