"""Every benchmark that needs nothing but this machine: one JSON line per measure."""

from __future__ import annotations

from benchmarks import fan_out, iterations, large, toolsets, wrappers


def main() -> None:
    """Run them one after the other."""
    for bench in (iterations, fan_out, large, wrappers, toolsets):
        bench.main()


if __name__ == "__main__":
    main()
