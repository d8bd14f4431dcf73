"""Assembles an agent's models: the tool protocol around each, the fallbacks around all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from react_run.models.base import Model
from react_run.support.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AsItIs:
    """A model that is used unchanged: the copy of an agent already has its stack, a recording needs none."""

    model: Model


def model_stack(
    model: Model, fallbacks: Sequence[Model] = (), *, tool_protocol: Literal["auto", "native", "text"] = "auto"
) -> Model:
    """The one model that a run talks to.

    Args:
        model: The agent's model.
        fallbacks: Models to try, in order, when it has failed permanently.
        tool_protocol: ``native`` leaves the models unchanged, ``text`` puts calls into their text, ``auto`` does so as
            soon as a provider says that it has no tools; models without a provider (scripted, offline) stay unchanged.
    """
    models = [_with_protocol(each, tool_protocol) for each in (model, *fallbacks)]
    if len(models) == 1:
        return models[0]
    from react_run.models.fallback import FallbackModel

    return FallbackModel(models=models)


def _with_protocol(model: Model, tool_protocol: Literal["auto", "native", "text"]) -> Model:
    if tool_protocol == "native" or (tool_protocol == "auto" and not model.has_provider):
        return model
    from react_run.models.text_protocol import TextProtocolModel

    return TextProtocolModel(model=model, protocol=tool_protocol)
