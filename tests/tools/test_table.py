"""The tools of a run behave like a dictionary of its own, and the shared one never changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from react_run import ReActAgent, Run, Tool
from react_run.hookspecs import hookimpl
from react_run.models.scripted import ScriptedModel
from react_run.testing import Functions, calls
from react_run.tools.table import ToolTable


def _tool(name: str) -> Tool:
    return Tool(name=name, description="D.", parameters={}, function=lambda: "")


NAMES = ["a", "b", "c", "d", "e"]
SHARED = {name: _tool(name) for name in NAMES[:3]}
OTHERS = {name: _tool(name) for name in NAMES}
CHANGES = st.lists(st.tuples(st.sampled_from(["set", "pop", "update", "setdefault"]), st.sampled_from(NAMES)))


@given(changes=CHANGES)
def test_every_change_has_the_effect_that_it_has_on_a_dictionary(changes: list[tuple[str, str]]) -> None:
    shared = dict(SHARED)
    table, plain = ToolTable(shared), dict(SHARED)
    for what, name in changes:
        for mapping in (table, plain):
            if what == "set":
                mapping[name] = OTHERS[name]
            elif what == "pop":
                mapping.pop(name, None)
            elif what == "update":
                mapping.update({name: SHARED.get(name, OTHERS[name])})
            else:
                mapping.setdefault(name, OTHERS[name])
        assert table == plain
        assert len(table) == len(plain)
        assert set(table) == set(plain)
        assert {**table} == plain == table.copy() == table | {} == {} | table
        assert [(table.get(key), key in table) for key in NAMES] == [(plain.get(key), key in plain) for key in NAMES]
    assert shared == SHARED


def test_a_tool_taken_away_in_one_run_is_there_in_the_next() -> None:
    seen: list[tuple[bool, bool]] = []

    class TakesAway:
        @hookimpl
        def react_run_started(self, run: Run) -> None:
            seen.append(("a" in run.all_tools, "extra" in run.all_tools))
            del run.all_tools["a"]
            run.all_tools["extra"] = _tool("extra")

    agent = ReActAgent(
        model=ScriptedModel(replies=[calls(("a", {})), "done"]),
        toolsets=[Functions(functions=[_tool("a"), _tool("b")])],
        plugins=[TakesAway()],
    )
    for _ in range(2):
        result = agent.run_sync("go")
        assert not result.steps[0].executed
    assert seen == [(True, False), (True, False)]
