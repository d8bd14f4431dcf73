"""react-run: a plugin-driven ReAct agent runtime. Public names are imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.2.0"
"""Defined only here, and read by the build; reading it from the installed metadata would double ``--version``."""

if TYPE_CHECKING:
    from react_run.agent import DEFAULT_REACT_SYSTEM_PROMPT as DEFAULT_REACT_SYSTEM_PROMPT
    from react_run.agent import ReActAgent as ReActAgent
    from react_run.chat import ChatCompletionRequest as ChatCompletionRequest
    from react_run.chat import ChatCompletionResponse as ChatCompletionResponse
    from react_run.checks import Check as Check
    from react_run.components import Component as Component
    from react_run.components import LocalPath as LocalPath
    from react_run.components import Options as Options
    from react_run.components import Origin as Origin
    from react_run.components import Plugin as Plugin
    from react_run.components.code import LocalFunction as LocalFunction
    from react_run.components.code import LocalModule as LocalModule
    from react_run.components.looking import only_looking as only_looking
    from react_run.config import ReActAgentConfig as ReActAgentConfig
    from react_run.engine.usage import Pricing as Pricing
    from react_run.engine.workers import in_worker as in_worker
    from react_run.errors import ConfigError as ConfigError
    from react_run.errors import Fault as Fault
    from react_run.errors import JournalBusy as JournalBusy
    from react_run.errors import JournalError as JournalError
    from react_run.errors import ModelError as ModelError
    from react_run.errors import PluginError as PluginError
    from react_run.errors import ReactError as ReactError
    from react_run.errors import ReplayMismatch as ReplayMismatch
    from react_run.errors import ToolsetError as ToolsetError
    from react_run.evals.scorer import Score as Score
    from react_run.evals.scorer import ScoredRun as ScoredRun
    from react_run.evals.scorer import Scorer as Scorer
    from react_run.hooks import inline as inline
    from react_run.hooks import late as late
    from react_run.hookspecs import hookimpl as hookimpl
    from react_run.journal.files import FileSink as FileSink
    from react_run.journal.reading import read_journal as read_journal
    from react_run.journal.recorder import Recorder as Recorder
    from react_run.journal.replay.resume import resume as resume
    from react_run.journal.sinks import MemorySink as MemorySink
    from react_run.journal.sinks import Sink as Sink
    from react_run.journal.stats import RunStats as RunStats
    from react_run.messages import Message as Message
    from react_run.messages import ModelRequest as ModelRequest
    from react_run.messages import ModelResponse as ModelResponse
    from react_run.messages import TextDelta as TextDelta
    from react_run.messages import TextDiscarded as TextDiscarded
    from react_run.messages import ToolRequest as ToolRequest
    from react_run.messages import Usage as Usage
    from react_run.models.base import Model as Model
    from react_run.models.prices import cost_of as cost_of
    from react_run.models.scripted import ScriptedModel as ScriptedModel
    from react_run.outcome import ClarificationNeeded as ClarificationNeeded
    from react_run.outcome import Disposition as Disposition
    from react_run.outcome import NoResult as NoResult
    from react_run.outcome import Observation as Observation
    from react_run.outcome import Outcome as Outcome
    from react_run.outcome import Signal as Signal
    from react_run.outcome import ToolError as ToolError
    from react_run.outcome import ToolFailed as ToolFailed
    from react_run.outcome import Verdict as Verdict
    from react_run.parts import FilePart as FilePart
    from react_run.parts import ImagePart as ImagePart
    from react_run.parts import attachment as attachment
    from react_run.questions import Answer as Answer
    from react_run.questions import Question as Question
    from react_run.results import RunOutcome as RunOutcome
    from react_run.run import Iteration as Iteration
    from react_run.run import ReActStep as ReActStep
    from react_run.run import Run as Run
    from react_run.run import RunResult as RunResult
    from react_run.run import StopReason as StopReason
    from react_run.run import ToolCall as ToolCall
    from react_run.run import ToolFinished as ToolFinished
    from react_run.run import ToolStarted as ToolStarted
    from react_run.skills import AgentSkill as AgentSkill
    from react_run.skills import ReActSkillSpec as ReActSkillSpec
    from react_run.skills import SkillWarning as SkillWarning
    from react_run.skills.files import read_skills as read_skills
    from react_run.support.files import Folder as Folder
    from react_run.support.files.run_files import run_directory as run_directory
    from react_run.support.json_schema import JsonSchema as JsonSchema
    from react_run.support.own_code import guard_imports as guard_imports
    from react_run.support.own_code import own_code as own_code
    from react_run.support.programs.running import Finished as Finished
    from react_run.support.programs.running import run_program as run_program
    from react_run.support.programs.running import run_program_sync as run_program_sync
    from react_run.support.regex import Pattern as Pattern
    from react_run.support.regex import SlowPattern as SlowPattern
    from react_run.support.typed import instance_of as instance_of
    from react_run.support.user_dirs import config_directory as config_directory
    from react_run.tools.composite import CompositeToolset as CompositeToolset
    from react_run.tools.tool import Tool as Tool
    from react_run.tools.tool import ToolWarning as ToolWarning
    from react_run.tools.tool import is_tool as is_tool
    from react_run.tools.tool import tool as tool
    from react_run.tools.toolset import ReActToolset as ReActToolset
    from react_run.tools.toolset import ToolSpec as ToolSpec
    from react_run.wrappers import LLMCallWrapper as LLMCallWrapper
    from react_run.wrappers import RequestPreprocessor as RequestPreprocessor
    from react_run.wrappers import ResponsePostprocessor as ResponsePostprocessor
    from react_run.wrappers import ToolCallResult as ToolCallResult
    from react_run.wrappers import ToolCallWrapper as ToolCallWrapper
    from react_run.wrappers import ToolSkipResult as ToolSkipResult

_HOMES = {
    "agent": ("DEFAULT_REACT_SYSTEM_PROMPT", "ReActAgent"),
    "chat": ("ChatCompletionRequest", "ChatCompletionResponse"),
    "checks": ("Check",),
    "components.code": ("LocalFunction", "LocalModule"),
    "components": ("Component", "LocalPath", "Options", "Origin", "Plugin"),
    "config": ("ReActAgentConfig",),
    "errors": (
        "ConfigError",
        "Fault",
        "JournalBusy",
        "JournalError",
        "ModelError",
        "PluginError",
        "ReactError",
        "ReplayMismatch",
        "ToolsetError",
    ),
    "evals.scorer": ("Score", "ScoredRun", "Scorer"),
    "support.files.run_files": ("run_directory",),
    "support.files": ("Folder",),
    "support.json_schema": ("JsonSchema",),
    "support.own_code": ("guard_imports", "own_code"),
    "support.programs.running": ("Finished", "run_program", "run_program_sync"),
    "support.regex": ("Pattern", "SlowPattern"),
    "engine.workers": ("in_worker",),
    "hooks": ("inline", "late"),
    "hookspecs": ("hookimpl",),
    "journal.reading": ("read_journal",),
    "journal.stats": ("RunStats",),
    "journal.files": ("FileSink",),
    "journal.sinks": ("MemorySink", "Sink"),
    "journal.recorder": ("Recorder",),
    "journal.replay.resume": ("resume",),
    "components.looking": ("only_looking",),
    "messages": (
        "Message",
        "ModelRequest",
        "ModelResponse",
        "TextDelta",
        "TextDiscarded",
        "ToolRequest",
        "Usage",
    ),
    "models.base": ("Model",),
    "models.prices": ("cost_of",),
    "models.scripted": ("ScriptedModel",),
    "outcome": (
        "ClarificationNeeded",
        "Disposition",
        "NoResult",
        "Observation",
        "Outcome",
        "Signal",
        "ToolError",
        "ToolFailed",
        "Verdict",
    ),
    "parts": ("FilePart", "ImagePart", "attachment"),
    "questions": ("Answer", "Question"),
    "engine.usage": ("Pricing",),
    "results": ("RunOutcome",),
    "run": ("Iteration", "ReActStep", "Run", "RunResult", "StopReason", "ToolCall", "ToolFinished", "ToolStarted"),
    "skills.files": ("read_skills",),
    "skills": ("AgentSkill", "ReActSkillSpec", "SkillWarning"),
    "support.typed": ("instance_of",),
    "support.user_dirs": ("config_directory",),
    "tools.tool": ("Tool", "ToolWarning", "is_tool", "tool"),
    "tools.composite": ("CompositeToolset",),
    "tools.toolset": ("ReActToolset", "ToolSpec"),
    "wrappers": (
        "LLMCallWrapper",
        "RequestPreprocessor",
        "ResponsePostprocessor",
        "ToolCallResult",
        "ToolCallWrapper",
        "ToolSkipResult",
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'react_run' has no attribute {name!r}")
    value: object = getattr(import_module(f"react_run.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
