"""``react-run AGENT.yaml "PROMPT"``: answer on stdout, everything else on stderr."""

from __future__ import annotations

import sys


def run(arguments: list[str]) -> int:
    """Run an agent file on a prompt; the exit status."""
    from react_run import ReActAgent, ReactError

    try:
        agent = ReActAgent.from_yaml(arguments[0])
        result = agent.run_sync(" ".join(arguments[1:]))
    except ReactError as error:
        print(f"react-run: {error}", file=sys.stderr)
        return error.exit_status
    print(result.answer)
    return 0 if result.success else 1
