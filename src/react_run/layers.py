"""Calls the implementations of a layer, from the outermost inwards and back (decision record 0003)."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from inspect import isawaitable
from typing import Any

from react_run.errors import PluginError
from react_run.hooks import DIRECT, FIRST_ANSWER, GENERATOR, LATE, LATE_ONLY, PLAIN, Chain, Implementation

Args = tuple[object, ...]
Asked = Coroutine[Any, Any, Any]


def ask(chain: Chain, *args: object) -> Asked:
    """Call a layer, and return an awaitable for the answer of the outermost implementation.

    Raises:
        PluginError: An implementation skipped the rest and gave no answer, or no plugin answered.
    """
    index = 0
    for impl in chain:
        way = impl.way
        if way == DIRECT:
            loop: Asked = impl.start(*args)
            return loop
        if way != FIRST_ANSWER:
            return _late_answer(chain, index, args) if way == LATE_ONLY else _answer(chain, index, args, None)
        index += 1
        try:
            answer = impl.start(*args)
        except BaseException as error:
            impl.blame(error)
            raise
        if answer is not None:
            return _given(chain, index, args, answer)
    return _answer(chain, index, args, None)


async def _given(chain: Chain, index: int, args: Args, answer: Any) -> Any:
    """The ``answer`` of the plain implementation before ``index``, or, if it is ``None`` when awaited, that of the
    rest.
    """
    impl = chain[index - 1]
    try:
        if isawaitable(answer):
            answer = await answer
        if answer is not None:
            impl.check(answer)
            return answer
    except BaseException as error:
        impl.blame(error)
        raise
    return await _answer(chain, index, args, None)


async def _late_answer(chain: Chain, start: int, args: Args) -> Any:
    """The answer of a chain that consists of late implementations and the loop from ``start`` on."""
    for impl in chain:
        if impl.unless is not None and _is_early(impl, args):
            return await _answer(chain, start, args, None)
    try:
        answer = await chain[-1].start(*args)
    except Exception as error:
        later = tuple(range(len(chain) - 2, start - 1, -1))
        if not _concerns(chain, later, error):
            raise
        return await _entered_late(chain, later, args, None, error)
    for impl in chain:
        if impl.when is not None and impl.when(*args, answer):
            later = tuple(range(len(chain) - 2, start - 1, -1))
            return await _entered_late(chain, later, args, answer, None)
    return answer


def _is_early(impl: Implementation, args: Args) -> bool:
    try:
        return bool(impl.unless and impl.unless(*args))
    except Exception:  # _answer() will meet it again, and blames the right plugin
        return True


class _Proceed:
    """The rest of a chain, passed as ``proceed`` to the implementation that surrounds it."""

    __slots__ = ("args", "called", "chain", "closed", "failure", "index", "result")

    def __init__(self, chain: Chain, index: int, args: Args) -> None:
        self.chain, self.index, self.args = chain, index, args
        self.called = self.closed = False
        self.failure = 0  # the id of the exception: a reference would be a cycle, through its traceback
        self.result: Any = None

    def __call__(self) -> Asked:
        return _answer(self.chain, self.index, self.args, self)

    def too_late(self) -> PluginError:
        """The error for a call of ``proceed()`` after the answer, which has been judged and recorded by then."""
        outer = self.chain[self.index - 1]
        return PluginError(f"plugin {outer.plugin_name!r} called proceed() after it had answered {outer.hook}")

    def result_or_raise(self, impl: Implementation) -> Any:
        """The result that applies if an implementation returns ``None``.

        Raises:
            PluginError: There is no result, because the implementation did not proceed, or swallowed the exception.
        """
        if self.called and not self.failure:
            return self.result
        raise PluginError(
            f"plugin {impl.plugin_name!r} gave no answer in {impl.hook}: return one, or the result of proceed()"
        )


async def _answer(chain: Chain, start: int, args: Args, place: _Proceed | None) -> Any:
    """The first answer of ``chain`` from ``start`` on.

    ``place`` is the ``proceed`` that was called; it keeps the outcome, so that no outer plugin is blamed for an error.
    """
    if place is not None:
        if place.closed:
            raise place.too_late()
        place.called = True
    index, inner = start, None
    later: tuple[int, ...] = ()  # indices of the late implementations passed, innermost first
    try:
        try:
            while index < len(chain):
                impl = chain[index]
                index += 1
                form = impl.form
                if form == PLAIN:
                    answer = impl.start(*args)
                elif form == LATE and (impl.unless is None or not impl.unless(*args)):
                    later = (index - 1, *later)
                    continue
                elif form != GENERATOR:
                    inner = _Proceed(chain, index, args)
                    answer = impl.start(*args, inner)
                else:
                    inner = _Proceed(chain, index, args)
                    answer = _surround(impl.start(*args), inner)
                if impl.is_async or (answer is not None and isawaitable(answer)):
                    answer = await answer
                if inner is not None:
                    inner.closed = True
                    answer = inner.result_or_raise(impl) if answer is None else answer
                if answer is not None:
                    if type(answer) is not impl.answer:
                        impl.check(answer)
                    break
            else:
                raise PluginError("no plugin answered a layer hook: the loop is missing from the plugin manager")
        except BaseException as error:
            if inner is not None:
                inner.closed = True
            if index < len(chain) and (inner is None or id(error) != inner.failure):  # the last one is the loop itself
                impl.blame(error)
            if not _concerns(chain, later, error):
                raise
            answer = await _entered_late(chain, later, args, None, error)
        else:
            for at in later:
                when = chain[at].when
                if when is not None and when(*args, answer):
                    answer = await _entered_late(chain, later, args, answer, None)
                    break
    except BaseException as error:
        if place is not None:
            place.failure = id(error)
        raise
    if place is not None:
        place.result = answer
    return answer


def _concerns(chain: Chain, later: tuple[int, ...], error: BaseException) -> bool:
    return any(isinstance(error, chain[at].errors) for at in later)


class _Known(_Proceed):
    """``proceed`` for an implementation that is entered late: the first call gives the known outcome of the rest;
    further calls run the rest again.
    """

    __slots__ = ("known",)

    def __init__(self, chain: Chain, index: int, args: Args, known: tuple[Any, BaseException | None]) -> None:
        super().__init__(chain, index, args)
        self.known: tuple[Any, BaseException | None] | None = known

    def __call__(self) -> Asked:
        if self.known is None:
            return super().__call__()
        (answer, error), self.known = self.known, None
        return self._told(answer, error)

    async def _told(self, answer: Any, error: BaseException | None) -> Any:
        if self.closed:
            raise self.too_late()
        self.called = True
        if error is None:
            self.result = answer
            return answer
        self.failure = id(error)
        try:
            raise error
        finally:
            del error  # its traceback refers to this frame


async def _entered_late(
    chain: Chain, later: tuple[int, ...], args: Args, answer: Any, error: BaseException | None
) -> Any:
    """Enter those of ``later`` that the answer or the error concerns; each gets the outcome of the one before."""
    try:
        for at in later:
            impl = chain[at]
            if not (isinstance(error, impl.errors) if error else impl.when is not None and impl.when(*args, answer)):
                continue
            inner = _Known(chain, at + 1, args, (answer, error))
            error = None
            try:
                answer = await impl.start(*args, inner)
                answer = inner.result_or_raise(impl) if answer is None else answer
                impl.check(answer)
            except BaseException as failure:
                error = failure
                if id(failure) != inner.failure:
                    impl.blame(failure)
            inner.closed = True
        if error is not None:
            raise error
        return answer
    finally:
        del error  # as above


async def _surround(wrapper: Generator[None, Any, Any], proceed: _Proceed) -> Any:
    try:
        next(wrapper)
    except StopIteration as stop:  # pluggy's rule is one yield; before it, a wrapper cannot skip
        raise PluginError("a wrapper returned before its yield; use the proceed form to skip") from stop
    failure: BaseException | None = None
    result = None
    try:
        result = await proceed()
    except BaseException as error:
        failure = error
    try:
        if failure is not None:
            wrapper.throw(failure)
        else:
            wrapper.send(result)
    except StopIteration as stop:
        return stop.value
    raise PluginError("a wrapper yielded twice")
