"""Sends a run's questions, and the progress of its tools, to the editor."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from acp.exceptions import RequestError
from acp.helpers import text_block, tool_content, update_tool_call
from acp.schema import (
    AllowedOutcome,
    ElicitationFormSessionMode,
    ElicitationSchema,
    PermissionOption,
    PermissionOptionKind,
    ToolCallUpdate,
)

from react_run.hookspecs import hookimpl
from react_run.questions import ALWAYS, NO, YES, Answer, Question
from react_run.run import Run, ToolCall
from react_run.serve.acp.content import change_of, id_of, kind_of, title_of

if TYPE_CHECKING:
    from acp.interfaces import Client


class Asker(Protocol):
    """The part of a session that asking needs."""

    id: str
    connection: Client
    takes_forms: bool

    async def send(self, update: Any) -> None: ...


at_work: ContextVar[Asker | None] = ContextVar("react_run_acp_session", default=None)
"""The session that the current run belongs to."""
KINDS: dict[str, PermissionOptionKind] = {YES: "allow_once", ALWAYS: "allow_always", NO: "reject_once"}
NAMES = {YES: "Allow", ALWAYS: "Allow exactly this from now on", NO: "Do not allow"}


class Editor:
    """A plugin that sends a run's questions and progress to its editor."""

    kind = "acp_editor"

    @hookimpl
    async def react_ask(self, run: Run, question: Question) -> Answer | None:
        """Ask the person at the editor. Standard input carries the protocol, so the terminal is never asked."""
        session = at_work.get()
        if session is None:
            return Answer(None)
        try:
            if question.choices and (question.is_approval or not session.takes_forms):
                return await self._ask_choice(session, run, question)
            if session.takes_forms:
                return await self._ask_form(session, question)
        except (RequestError, ConnectionError):  # the editor cannot ask, or has disconnected
            return Answer(None)
        return Answer(None)

    async def _ask_choice(self, session: Asker, run: Run, question: Question) -> Answer:
        call = _asked_about(run, question)
        masker = run.agent.config.masker
        options = [
            PermissionOption(option_id=choice, name=NAMES.get(choice, choice), kind=KINDS.get(choice, "allow_once"))
            for choice in question.choices
        ]
        about: list[Any] = [tool_content(text_block(masker.mask(question.about)))]
        about += change_of(question.tool, question.arguments, run.workspace, masker) or []
        shown = ToolCallUpdate(
            tool_call_id=id_of(call) if call is not None else question.id or "question",
            title=masker.mask(title_of(question.tool, question.arguments) if question.tool else question.text),
            kind=kind_of(call.tool if call is not None else None, question.tool),
            status="pending",
            content=about,
            raw_input=masker.mask_data(dict(question.arguments)) or None,
        )
        said = await session.connection.request_permission(session_id=session.id, tool_call=shown, options=options)
        if isinstance(said.outcome, AllowedOutcome) and said.outcome.option_id in question.choices:
            return Answer(said.outcome.option_id)
        return Answer(NO if NO in question.choices else None)

    async def _ask_form(self, session: Asker, question: Question) -> Answer:
        schema = _form(question)
        mode = ElicitationFormSessionMode(
            session_id=session.id, requested_schema=ElicitationSchema.model_validate(schema)
        )
        said = await session.connection.create_elicitation(question.about, mode)
        if said.action != "accept":
            return Answer(NO if NO in question.choices else None)
        content = dict(getattr(said, "content", None) or {})
        return Answer(content if question.schema is not None else content.get("answer"))

    @hookimpl
    async def react_tool_progress(
        self, run: Run, call: ToolCall, done: float | None, total: float | None, message: str
    ) -> None:
        """Show reported progress behind the title of the call."""
        session = at_work.get()
        if session is None or run.parent is not None:
            return
        masker = run.agent.config.masker
        amount = "" if done is None else f"{done:g}" if total is None else f"{done:g}/{total:g}"
        title = " ".join(filter(None, (title_of(call.name, call.arguments), amount, message)))
        await session.send(update_tool_call(id_of(call), title=masker.mask(title)))


def _asked_about(run: Run, question: Question) -> ToolCall | None:
    """The call that an approval is about, so that the editor shows the question with it."""
    calls = run.iterations[-1].calls if run.iterations else []
    same = (call for call in calls if call.name == question.tool and call.arguments == question.arguments)
    return next(same, None)


def _form(question: Question) -> dict[str, Any]:
    if question.schema is not None:
        return dict(question.schema)
    answer: dict[str, Any] = {"type": "string", "title": "Answer"}
    if question.choices:
        answer["enum"] = list(question.choices)
    return {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
