"""Every measure, with the peers that are installed: ``pip install -r benchmarks/peers.txt`` first."""

from __future__ import annotations

import platform
from importlib.metadata import version

from benchmarks.measure import report
from benchmarks.peers.contenders import OURS, usable_peers
from benchmarks.peers.measures import fan_outs, growth, imports


def main(repeat: int = 15) -> None:
    """Report who takes part, then one line per measure."""
    peers = usable_peers()
    versions = {it.distribution: version(it.distribution) for it in (OURS["safe"], *peers.values())}
    report("peers", python=platform.python_version(), **versions)
    growth(peers, repeat)
    fan_outs(peers)
    imports(peers)


if __name__ == "__main__":
    main()
