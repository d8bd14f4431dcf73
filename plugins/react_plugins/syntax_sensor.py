"""The plugin ``syntax_sensor``: written files must have valid syntax for their extension (behaviour G2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, ClassVar, Literal

from pydantic import Field

from react_plugins import syntax
from react_plugins.matching import matches
from react_run import Folder, LocalPath, Observation, Plugin, Run, Signal, ToolCall, ToolError, hookimpl
from react_toolsets.texts import decode

LARGEST = 5 * 1024 * 1024
"""The most bytes of a file that is checked."""
Language = Literal["json", "yaml", "toml", "python"]
ENDINGS: Mapping[str, Language] = {
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
    ".py": "python",
}
NAMES: Mapping[Language, str] = {"json": "JSON", "yaml": "YAML", "toml": "TOML", "python": "Python"}
READERS: Mapping[Language, Callable[[str], syntax.Mistake | None]] = {
    "json": syntax.in_json,
    "yaml": syntax.in_yaml,
    "toml": syntax.in_toml,
    "python": syntax.in_python,
}


class SyntaxSensor(Plugin):
    """Parses JSON, YAML, TOML and Python files after they are written, and reports syntax errors."""

    kind: ClassVar[str] = "syntax_sensor"

    after: list[str] = Field(default_factory=lambda: ["write_file", "edit_file"], min_length=1)
    """The tools it applies to, as names or globs; the file is their argument `path`."""
    languages: list[Language] = Field(default_factory=lambda: list(READERS), min_length=1)
    """The languages it checks, by file extension."""
    severity: Literal["block", "warn", "hint"] = "block"
    """The severity of a mistake."""
    root: LocalPath | None = None
    """The directory that paths are relative to; by default the workspace of the run."""

    @hookimpl
    async def react_sense(self, run: Run, call: ToolCall, observation: Observation) -> Signal | None:
        path = call.arguments.get("path")
        if observation.failed or not isinstance(path, str) or not matches(call.name, self.after):
            return None
        language = ENDINGS.get(path[path.rfind(".") :].lower())
        if language not in self.languages:
            return None

        async def find() -> dict[str, Any]:
            return mistake_in(Folder(self.root or run.workspace), path, language)

        found = await run.recorded(f"syntax of {path}", find)
        if "unread" in found:
            run.note("sensor_failed", f"syntax: {found['unread']}")
            return Signal(severity="warn", message=f"its syntax was not checked: {found['unread']}")
        return self._signal(path, language, syntax.Mistake(**found)) if found else None

    def _signal(self, path: str, language: Language, mistake: syntax.Mistake) -> Signal:
        return Signal(
            severity=self.severity,
            message=f"this is not valid {NAMES[language]}: {mistake.what}",
            location=f"{path}:{mistake.line}:{mistake.column}" if mistake.line else path,
            hint="The file was written as it is. Correct it at this place.",
        )


def mistake_in(folder: Folder, path: str, language: Language) -> dict[str, Any]:
    """The fields of the first mistake in a file; ``unread`` with the reason if it cannot be read; else empty."""
    try:
        text, _ = decode(folder.read(path, LARGEST), path)
    except ToolError as error:
        return {"unread": str(error)}
    mistake = READERS[language](text)
    return asdict(mistake) if mistake else {}
