"""What programs may touch, and what of that is enforced here."""

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

    ``write`` lists what it may change, ``read`` what it may read and execute besides the system's own directories;
    ``network`` says whether it may use the network, ``limits`` how much of the machine. ``means`` enforces it.
    """

    write: Sequence[Path]
    read: Sequence[Path] = ()
    network: bool = False
    limits: Limits = field(default_factory=Limits)
    means: Means = field(default_factory=lambda: best_means())

    @cached_property
    def protected(self) -> list[Path]:
        """Where our own code lies in what programs may change: they may not change that."""
        return below(own_code(), self.write)

    @cached_property
    def exposed(self) -> list[Path]:
        """What programs may change although it lies in our own code."""
        return exposed(self.write)

    @property
    def gaps(self) -> list[str]:
        """What programs can do here although it is promised that they cannot."""
        return [promise.gap for promise in PROMISES if not promise.kept(self)]

    def report(self) -> str:
        """What is enforced and what is not, for people."""
        if not self.means:
            return "Not confined: this system has neither Landlock, nor namespaces that we may use, nor bubblewrap."
        text = (
            f"Confined by {self.means}: programs can write in {', '.join(map(str, self.write))} and a temporary "
            "directory of their own, and read there and in the system's own directories; "
            f"they {'may use the' if self.network else 'have no'} network"
        )
        if self.means.room and self.protected:
            text += f"; they cannot change {', '.join(map(str, self.protected))}"
        return f"{text}. Not prevented: programs can {'; '.join(self.gaps)}." if self.gaps else f"{text}."

    def launcher(self, temporary: Path) -> list[str]:
        """The command that confines what is appended to it; ``temporary`` is a directory for it alone."""
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
