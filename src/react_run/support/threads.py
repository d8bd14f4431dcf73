"""Runs functions in threads that can be abandoned, and coroutines from synchronous code.

asyncio's own executor has CPU + 4 threads, and its shutdown waits for hung ones. Ours grows as needed (callers limit it
with ``parallel_tools``), reuses idle threads, and uses daemon threads: a hung one can neither delay a run nor keep the
process from exiting.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, copy_context
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from react_run.support.tasks import running_loop

T = TypeVar("T")
_log = logging.getLogger(__name__)
LEAVE_SECONDS = 0.5
"""Seconds for remaining tasks to end when the loop closes."""


class _Worker(threading.Thread):
    def __init__(self, idle: deque[_Worker]) -> None:
        super().__init__(name="react-run-tool", daemon=True)
        self.jobs: SimpleQueue[tuple[Context, Callable[[], object], asyncio.AbstractEventLoop, asyncio.Future[Any]]] = (
            SimpleQueue()
        )
        self._idle = idle

    def run(self) -> None:
        while True:
            context, function, loop, future = self.jobs.get()
            try:
                result, error = context.run(function), None
            except BaseException as caught:  # passed to the caller that awaits the future
                result, error = None, caught
            self._idle.append(self)
            with suppress(RuntimeError):  # the loop is closed: nobody is waiting
                loop.call_soon_threadsafe(_resolve, future, result, error)
            del context, function, loop, future, result, error


def _resolve(future: asyncio.Future[Any], result: object, error: BaseException | None) -> None:
    if future.done():
        return  # abandoned (timeout or cancellation)
    if error is None:
        future.set_result(result)
    elif isinstance(
        error, StopIteration | GeneratorExit
    ):  # a future refuses the former; the latter would close the awaiting coroutine
        future.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))
    else:
        future.set_exception(error)


_awaited: ContextVar[asyncio.Future[Any] | None] = ContextVar("react_run_awaited", default=None)
"""The future of the function running in this thread, until it is abandoned."""
_idle: deque[_Worker] = deque()
_workers: list[_Worker] = []


def busy_threads() -> int:
    """The number of threads running a tool, including abandoned ones."""
    return len(_workers) - len(_idle)


async def in_thread(function: Callable[[], T], *, seconds: float | None = None, stoppable: bool = False) -> T:
    """Run a synchronous function in a thread, with the caller's context variables.

    If the caller is cancelled or times out, the thread is abandoned: it ends by itself, and keeps neither the event
    loop nor the process from ending.

    Args:
        function: The function to call.
        seconds: How long to wait; ``None`` waits forever.
        stoppable: Stop an abandoned function at its next Python instruction, so that slow parsing, for example, does
            not continue after the timeout. The function must not hold resources that need releasing.

    Raises:
        TimeoutError: It took longer.
    """
    if stoppable:
        function = _stoppable(function)
    if seconds is None:
        return await started_in_thread(function)
    async with asyncio.timeout(seconds):
        return await started_in_thread(function)


def started_in_thread(function: Callable[[], T]) -> asyncio.Future[T]:
    """Start a synchronous function in one of our threads, with the caller's context variables.

    Cancelling the future abandons the thread: it finishes or hangs on its own, and is reused only after it has
    finished.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = copy_context()
    context.run(_awaited.set, future)
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker(_idle)
        worker.start()
        _workers.append(worker)
    worker.jobs.put((context, function, loop, future))
    return future


@contextmanager
def given_up(react: Callable[[], object]) -> Iterator[None]:
    """Call ``react`` on the event-loop thread when the function running here is abandoned.

    A thread cannot be ended from outside, but what it has started can. Outside such a function, nothing is called.
    """
    future, over = _awaited.get(), threading.Event()
    if future is None:
        yield
        return

    def tell(_: object) -> None:
        if not over.is_set():
            react()

    try:
        future.get_loop().call_soon_threadsafe(future.add_done_callback, tell)
    except RuntimeError:  # the loop is closed: it was abandoned long ago
        react()
    try:
        yield
    finally:
        over.set()


class _Stopped(BaseException):
    """This work was abandoned. A separate class, so that libraries do not mistake it for their own failure."""


def _stoppable(function: Callable[[], T]) -> Callable[[], T]:
    import ctypes

    def work() -> T:
        lock, over, thread = threading.Lock(), threading.Event(), ctypes.c_ulong(threading.get_ident())

        def stop() -> None:
            with lock:  # the thread is reused: its next work must not be interrupted
                if not over.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(_Stopped))

        with given_up(stop):
            try:
                return function()
            finally:
                with lock:
                    over.set()
                _step()

    return work


def _step() -> None:
    """A call, so that an exception set from outside is raised here at the latest."""


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from synchronous code; inside a running event loop (a notebook), in a separate thread.

    Tasks that it leaves running are cancelled and get a moment to end, but are never waited for: see the top of this
    module. The same applies to the coroutine itself if the caller is interrupted.
    """
    inside = running_loop() is not None
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    if not inside:  # outside any handler, so that exceptions of the work keep their own context
        return _run_to_end(loop, task)
    outcome: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def in_own_loop() -> None:
        try:
            outcome.put((_run_to_end(loop, task), None))
        except BaseException as error:  # raised in the caller's thread
            outcome.put((None, error))

    try:
        threading.Thread(target=in_own_loop, name="react-run-loop", daemon=True).start()
        result, error = outcome.get()
    except BaseException:  # Ctrl-C: nothing may continue in the background
        with suppress(RuntimeError, Empty):  # the loop is closed, or the work ignores its cancellation
            loop.call_soon_threadsafe(task.cancel)
            outcome.get(timeout=2 * LEAVE_SECONDS)
        raise
    if error is not None:
        raise error
    return result  # type: ignore[return-value]  # there is a result where there is no error


def _run_to_end(loop: asyncio.AbstractEventLoop, task: asyncio.Task[T]) -> T:
    try:
        try:
            return loop.run_until_complete(task)
        except BaseException:  # Ctrl-C: let the run end with a valid history before it propagates
            if not task.done():
                task.cancel()
                loop.run_until_complete(asyncio.wait((task,), timeout=LEAVE_SECONDS))
            raise
    finally:
        try:
            # Tasks already cancelled are cleaning up, perhaps with tasks that have not started.
            _wait_a_moment(loop, {task for task in asyncio.all_tasks(loop) if task.cancelling()})
            left = asyncio.all_tasks(loop)
            for straggler in left:
                straggler.cancel()
            _wait_a_moment(loop, left)
            loop.run_until_complete(loop.shutdown_asyncgens())
            if asyncio.all_tasks(loop):  # they ignore their cancellation: asyncio need not report it
                loop.set_exception_handler(lambda _, about: _log.debug("left behind: %s", about.get("message")))
        finally:
            loop.close()


def _wait_a_moment(loop: asyncio.AbstractEventLoop, tasks: set[asyncio.Task[Any]]) -> None:
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=LEAVE_SECONDS))
