"""The ways in which programs can be confined here, for tests that hold for each."""

from __future__ import annotations

import pytest

from react_toolsets.programs.launcher import bubblewrap
from react_toolsets.programs.means import Means, best_means

BEST = best_means()
MEANS = [
    pytest.param(
        Means(landlock=BEST.landlock, room="own", filtered=True, counted=True),
        id="room",
        marks=pytest.mark.skipif(BEST.room != "own", reason="no namespaces may be made here"),
    ),
    pytest.param(
        Means(landlock=BEST.landlock, room="bubblewrap", filtered=True),
        id="bubblewrap",
        marks=pytest.mark.skipif(not bubblewrap(), reason="bubblewrap is not installed"),
    ),
    pytest.param(
        Means(landlock=BEST.landlock, filtered=True),
        id="landlock",
        marks=pytest.mark.skipif(not BEST.landlock, reason="this kernel has no Landlock"),
    ),
]
ROOM = MEANS[:2]
"""Those with namespaces."""
EXACT = [MEANS[0], MEANS[2]]
"""Those that say by which signal a command ended; bubblewrap adds 128 to its number."""
