"""The classes that class-style wrappers subclass, and what their methods return.

All of them are plain abstract classes: a subclass may define ``__init__``, whose keywords are then its YAML options,
and keep state of its own, which every run of the agent shares; what belongs to one run goes into
``ctx.state(SomeClass)``. To have options checked like those of other components, derive from ``Component`` as well.
Any method may be ``async def``. A method that raises ends the run, with a note that names the wrapper.

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
"""What a method returns that may be plain or ``async def``."""


class RequestPreprocessor(ABC):
    """Changes what the model is asked: once, before the loop, or before each model call."""

    __react_wrapper__: ClassVar[bool] = True

    @abstractmethod
    def preprocess(
        self, agent: ReActAgent, ctx: Run, request: ChatCompletionRequest, llm: Model
    ) -> MaybeAwaitable[ChatCompletionRequest]:
        """The request to go on with: the one given, changed or not, or another.

        Messages and sampling settings may be changed, and tools withdrawn; tools cannot be added. System messages end
        up first, and calls keep their results, whatever order they are put in.
        """


class ResponsePostprocessor(ABC):
    """Looks at a response, or replaces it: the final one, or that of each model call."""

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
        """A response to go on with, messages to send along, or ``None`` to leave it as it is:
        changes made in place count only when it is returned.

        Messages end up in ``RunResult.emitted``. Those for the model (text, or messages of the user) are added to the
        conversation after the iteration as well, when the run goes on.

        Args:
            final_prompt: The request as it went to the model, after all preprocessors.
            llm_response: The response; of a whole run, also when a policy, a limit or an error ended it
                (``provider_specific_fields`` says how).
        """


class LLMCallWrapper(RequestPreprocessor, ResponsePostprocessor):
    """Both: around the whole loop, or around each model call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSkipResult:
    """Returned by ``preprocess``: the tool does not run, and ``output`` stands for its result."""

    output: object


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCallResult:
    """Returned by ``postprocess``: what the model reads as the result, and messages to send along.

    Messages are treated as those of :meth:`ResponsePostprocessor.postprocess`.
    """

    output: object
    messages: Sequence[object] | None = None


class ToolCallWrapper(ABC):
    """Surrounds each tool call; calls that cannot run at all (unknown tool, wrong arguments) do not get here."""

    __react_wrapper__: ClassVar[bool] = True

    @abstractmethod
    def preprocess(
        self, agent: ReActAgent, ctx: Run, tool_name: str, tool_input: BaseModel
    ) -> MaybeAwaitable[BaseModel | ToolSkipResult]:
        """The arguments to go on with, changed or not, or a :class:`ToolSkipResult`.

        Changed arguments are checked again, and permission is asked for them as they are then. A skipped call still
        passes ``postprocess`` of the wrappers outside this one.
        """

    @abstractmethod
    def postprocess(
        self, agent: ReActAgent, ctx: Run, tool_name: str, tool_input: BaseModel, tool_output: str
    ) -> MaybeAwaitable[ToolCallResult | None]:
        """The result to go on with; ``None`` leaves it as it is.

        Args:
            tool_input: What this wrapper's ``preprocess`` returned.
            tool_output: The result, as the model would read it. Failures and refusals do not get here, unless the
                method takes one more parameter, ``failed``, which says whether it is one.
        """

    def on_error(
        self, agent: ReActAgent, ctx: Run, tool_name: str, tool_input: BaseModel, error: BaseException
    ) -> MaybeAwaitable[object]:
        """What stands for the result of a tool that raised or ran out of time; ``None`` leaves the error standing.

        The innermost wrapper is asked first; once one has an answer, the error is handled.
        """
        return None
