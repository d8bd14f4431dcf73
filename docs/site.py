"""Hooks of the site: pages of the repository's root belong to it, and links to other files of the repository do not."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
_LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that stand beside the documentation, not in it."""
    for name in PAGES:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links out of ``docs/``: to a page that was added as such, to anything else as its path."""
    here = posixpath.dirname(page.file.src_uri)

    def mended(found: re.Match[str]) -> str:
        target, anchor = found[1], found[2] or ""
        path = posixpath.normpath(posixpath.join("docs" if page.file.src_uri not in PAGES else "", here, target))
        if path in PAGES:
            return f"]({posixpath.relpath(path, here or '.')}{anchor})"
        if path.startswith("docs/"):
            return f"]({posixpath.relpath(path.removeprefix('docs/'), here or '.')}{anchor})"
        return f"](# '{path}')" if (ROOT / path).exists() else found[0]

    return _LINK.sub(mended, markdown)
