"""The base classes of wrappers, and the values that their methods return.

All are plain abstract classes. A subclass may define ``__init__``, whose keywords are then its YAML options. Its
attributes are shared by all runs of the agent; state of one run belongs in ``ctx.state(SomeClass)``. To have options
checked like those of other components, also derive from ``Component``. Any method may be ``async def``. An exception
in a method ends the run, with a note that names the wrapper.

In every method, ``agent`` is the :class:`~react_run.agent.ReActAgent`, ``ctx`` the :class:`~react_run.run.Run`, and
``llm`` the :class:`~react_run.models.base.Model`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from pydantic import BaseModel

    from react_run.chat import ChatCompletionRequest, ChatCompletionResponse
    from react_run.models.base import Model
    from react_run.run import ReActAgent, Run

T = TypeVar("T")
MaybeAwaitable: TypeAlias = T | Awaitable[T]
"""The return value of a method that may be plain or ``async def``."""


class RequestPreprocessor(ABC):
    """Changes requests to the model: once before the loop, or before each model call."""

    __react_wrapper__: ClassVar[bool] = True

    @abstractmethod
    def preprocess(
        self, agent: ReActAgent, ctx: Run, request: ChatCompletionRequest, llm: Model
    ) -> MaybeAwaitable[ChatCompletionRequest]:
        """Return the request to continue with: the given one, changed or not, or another one.

        Messages and sampling settings may be changed, and tools removed, but not added. Whatever their order, system
        messages are moved to the start, and results to their calls.
        """


class ResponsePostprocessor(ABC):
    """Inspects or replaces responses: the final one, or that of each model call."""

    __react_wrapper__: ClassVar[bool] = True

    @abstractmethod
    def postprocess(
        self,
        agent: ReActAgent,
        ctx: Run,
        final_prompt: ChatCompletionRequest,
        llm_response: ChatCompletionResponse,
        llm: Model,
    ) -> MaybeAwaitable[ChatCompletionResponse | Sequence[object] | None]:
        """Return a response to continue with, messages to add, or ``None`` to leave the response unchanged.
        Changes made in place take effect only if the response is returned.

        Messages are added to ``RunResult.emitted``. Those for the model (text, or user messages) are also added to the
        conversation after the iteration, if the run continues.

        Args:
            final_prompt: The request as it was sent to the model, after all preprocessors.
            llm_response: The response. For a whole run, it exists even if a policy, a limit or an error ended the run;
                ``provider_specific_fields`` says which.
        """


class LLMCallWrapper(RequestPreprocessor, ResponsePostprocessor):
    """Both in one: around the whole loop, or around each model call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSkipResult:
    """Returned by ``preprocess``: the tool does not run, and ``output`` is its result."""

    output: object


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCallResult:
    """Returned by ``postprocess``: the result for the model, and messages to add.

    Messages are handled as in :meth:`ResponsePostprocessor.postprocess`.
    """

    output: object
    messages: Sequence[object] | None = None


class ToolCallWrapper(ABC):
    """Wraps each tool call, except calls that cannot run at all (unknown tool, invalid arguments)."""

    __react_wrapper__: ClassVar[bool] = True

    @abstractmethod
    def preprocess(
        self, agent: ReActAgent, ctx: Run, tool_name: str, tool_input: BaseModel
    ) -> MaybeAwaitable[BaseModel | ToolSkipResult]:
        """Return the arguments to continue with, changed or not, or a :class:`ToolSkipResult`.

        Changed arguments are checked again, and permission is asked for the final ones. A skipped call still passes
        through ``postprocess`` of the wrappers outside this one.
        """

    @abstractmethod
    def postprocess(
        self, agent: ReActAgent, ctx: Run, tool_name: str, tool_input: BaseModel, tool_output: str
    ) -> MaybeAwaitable[ToolCallResult | None]:
        """Return the result to continue with, or ``None`` to leave it unchanged.

        Args:
            tool_input: The return value of this wrapper's ``preprocess``.
            tool_output: The result as the model would read it. Failures and refusals are passed only if the method has
                another parameter ``failed``, which says whether the result is one.
        """

    def on_error(
        self, agent: ReActAgent, ctx: Run, tool_name: str, tool_input: BaseModel, error: BaseException
    ) -> MaybeAwaitable[object]:
        """Return a result to replace the error of a tool that raised or timed out, or ``None`` to keep the error.

        The innermost wrapper is asked first; the first result returned counts.
        """
        return None
