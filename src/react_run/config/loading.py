"""The state and the results of loading a configuration."""

from __future__ import annotations

from dataclasses import field

from react_run.components import Origin
from react_run.config.yaml import Node, Report, TreeReader
from react_run.secrets import Masker
from react_run.support.dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Loading(Origin):
    """The state and the results of loading one configuration."""

    tree: Node
    report: Report = field(default_factory=Report)
    masker: Masker = field(default_factory=Masker)
    reader: TreeReader | None = None
    model_id: str | None = None
