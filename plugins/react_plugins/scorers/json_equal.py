"""The scorer ``json_equal``: the answer is JSON, and means the expected value."""

from __future__ import annotations

import json
import math
import re
from typing import Any, ClassVar

from react_plugins.scorers.texts import Expects
from react_run import Score, ScoredRun

_FENCED = re.compile(r"\s*```(?:json)?[ \t]*\n(.*?)\n?```\s*", re.DOTALL)


class JsonEqual(Expects):
    """The answer must be JSON that equals the expected value; the order of keys does not count."""

    kind: ClassVar[str] = "json_equal"

    value: Any = None
    """The value; by default that of the case. A text that is JSON is parsed."""
    extra_keys: bool = False
    """Whether objects in the answer may have additional keys."""
    any_order: bool = False
    """Whether the order of lists does not matter."""

    async def score(self, run: ScoredRun) -> Score:
        wanted = self.wanted(run, self.value)
        if isinstance(wanted, str):
            wanted = json.loads(wanted)
        fenced = _FENCED.fullmatch(run.answer)
        try:
            given = json.loads(fenced[1] if fenced else run.answer)
        except (ValueError, RecursionError) as error:
            return Score(value=0.0, reason=f"the answer is not JSON: {error}")
        where = self._difference(wanted, given, "")
        return Score(value=float(where is None), reason=f"json: {where}")

    def _difference(self, wanted: object, given: object, path: str) -> str | None:
        """A description of the first difference; ``None`` if there is none."""
        place = path or "the answer"
        if isinstance(wanted, dict) and isinstance(given, dict):
            return self._of_objects(wanted, given, path)
        if isinstance(wanted, list) and isinstance(given, list):
            return self._of_lists(wanted, given, path)
        if isinstance(wanted, bool) or isinstance(given, bool) or wanted is None or given is None:
            same = wanted is given
        elif isinstance(wanted, (int, float)) and isinstance(given, (int, float)):
            same = math.isclose(wanted, given, rel_tol=1e-9)
        else:
            same = wanted == given
        return None if same else f"{place}: expected {_short(wanted)}, got {_short(given)}"

    def _of_objects(self, wanted: dict[str, object], given: dict[str, object], path: str) -> str | None:
        missing, more = wanted.keys() - given.keys(), given.keys() - wanted.keys()
        if missing:
            return f"{path or 'the answer'} lacks {', '.join(sorted(missing))}"
        if more and not self.extra_keys:
            return f"{path or 'the answer'} has {', '.join(sorted(more))}, which is not expected"
        return next(
            filter(None, (self._difference(wanted[key], given[key], f"{path}.{key}".lstrip(".")) for key in wanted)),
            None,
        )

    def _of_lists(self, wanted: list[object], given: list[object], path: str) -> str | None:
        if len(wanted) != len(given):
            return f"{path or 'the answer'} has {len(given)} items, expected {len(wanted)}"
        if self.any_order:
            left = list(given)
            for item in wanted:
                at = next((n for n, other in enumerate(left) if self._difference(item, other, "") is None), None)
                if at is None:
                    return f"{path or 'the answer'} lacks {_short(item)}"
                del left[at]
            return None
        pairs = enumerate(zip(wanted, given, strict=True))
        return next(filter(None, (self._difference(a, b, f"{path}[{n}]") for n, (a, b) in pairs)), None)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:100]}…"
