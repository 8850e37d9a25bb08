"""README for the package index, without links into the sources.

Hatchling runs this when it builds (pyproject.toml): a page of a package has none of the files that
README.md points at.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


def plain(readme: str) -> str:
    """Return README without pictures and links to files beside it."""
    text = re.sub(r"<picture>.*?</picture>\n+", "", readme, flags=re.DOTALL)
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)


class PackageReadme(MetadataHookInterface):
    """What hatchling asks for."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the text in."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": plain(readme)}
