"""Wrapper classes: plugins written as plain classes with ``preprocess`` and ``postprocess``, adapted to the hooks.

:mod:`~react_run.wrappers.bases` has the classes to subclass. Each of the other modules adapts the wrappers of one
level: :mod:`~react_run.wrappers.tool_calls`, :mod:`~react_run.wrappers.model_calls`,
:mod:`~react_run.wrappers.whole_runs`.
"""

from react_run.wrappers.bases import LLMCallWrapper as LLMCallWrapper
from react_run.wrappers.bases import RequestPreprocessor as RequestPreprocessor
from react_run.wrappers.bases import ResponsePostprocessor as ResponsePostprocessor
from react_run.wrappers.bases import ToolCallResult as ToolCallResult
from react_run.wrappers.bases import ToolCallWrapper as ToolCallWrapper
from react_run.wrappers.bases import ToolSkipResult as ToolSkipResult
