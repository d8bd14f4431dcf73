"""The confinement of programs: what they may touch, and how much of that is enforced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path

from react_run import own_code
from react_run.support import dataclass
from react_toolsets.programs.confined.start import Rules
from react_toolsets.programs.launcher import bubblewrap, launcher
from react_toolsets.programs.limits import Limits
from react_toolsets.programs.means import Means, best_means
from react_toolsets.programs.places import DEVICES, ROOM_DEVICES, SYSTEM, below, exposed, interpreters, names
from react_toolsets.programs.promises import PROMISES


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """What a program may touch.

    ``write`` lists what it may change, and ``read`` what it may read and execute besides the system's own directories.
    ``network`` says whether it may use the network, ``limits`` which resources. ``means`` enforces all of it.
    """

    write: Sequence[Path]
    read: Sequence[Path] = ()
    network: bool = False
    limits: Limits = field(default_factory=Limits)
    means: Means = field(default_factory=lambda: best_means())

    @cached_property
    def protected(self) -> list[Path]:
        """The parts of ``write`` that contain our own code, which programs must not change."""
        return below(own_code(), self.write)

    @cached_property
    def exposed(self) -> list[Path]:
        """The paths in ``write`` that are inside our own code, so that it cannot be protected."""
        return exposed(self.write)

    @property
    def gaps(self) -> list[str]:
        """What programs can do here in spite of the promises."""
        return [promise.gap for promise in PROMISES if not promise.kept(self)]

    def report(self) -> str:
        """A description for people of what is enforced and what is not."""
        if not self.means:
            return "Not confined: this system has neither Landlock, nor namespaces that we may use, nor bubblewrap."
        text = (
            f"Confined by {self.means}: programs can write in {', '.join(map(str, self.write))} and a private "
            "temporary directory, and read there and in the system's own directories; "
            f"they {'may use the' if self.network else 'have no'} network"
        )
        if self.means.room and self.protected:
            text += f"; they cannot change {', '.join(map(str, self.protected))}"
        return f"{text}. Not prevented: programs can {'; '.join(self.gaps)}." if self.gaps else f"{text}."

    def launcher(self, temporary: Path) -> list[str]:
        """The command prefix that confines a command; ``temporary`` is a private directory for it."""
        if not self.means:
            return []
        own = self.means.room == "own"
        read = [*SYSTEM, *(names() if self.network else ()), *interpreters(), *map(str, self.read)]
        rules = Rules(
            room="own" if own else "made" if self.means.room else "",
            temporary=str(temporary),
            read=list(dict.fromkeys(read)),
            write=[*map(str, self.write), str(temporary)],
            protected=list(map(str, self.protected)) if self.means.room else [],
            devices=[*DEVICES, *(ROOM_DEVICES if self.means.room else ())],
            network=self.network,
            landlock=bool(self.means.landlock),
            filtered=self.means.filtered,
            **self.limits.model_dump(),
        )
        return launcher(rules, bubblewrap=bubblewrap() if self.means.room == "bubblewrap" else "")
