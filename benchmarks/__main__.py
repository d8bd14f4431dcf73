"""Every benchmark that needs nothing but this machine: one JSON line per measure.

``--all`` runs all of them, or those that are named behind it, and writes the report.
"""

from __future__ import annotations

import sys

from benchmarks import fan_out, iterations, large, report, scale, toolsets, wrappers


def main() -> int:
    """Run them one after the other."""
    if "--all" in sys.argv[1:]:
        return report.main([name for name in sys.argv[1:] if name != "--all"])
    for bench in (iterations, fan_out, scale, large, wrappers, toolsets):
        bench.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
