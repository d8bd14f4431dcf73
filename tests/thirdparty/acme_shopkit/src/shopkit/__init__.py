"""Nothing of this may run when its agents are found, listed or checked."""

from pathlib import Path

Path("imported.txt").write_text("shopkit was imported")
