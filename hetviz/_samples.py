"""Location of the sample datasets, in a checkout or in an installed package."""

from __future__ import annotations

from pathlib import Path

MANIFEST = "hetviz.toml"

_PACKAGE = Path(__file__).resolve().parent
_ORDER = ("emoji", "world", "digits", "debian", "digit-views")


def sample_root() -> Path | None:
    """Return the folder of the samples, or None where they are not installed."""
    for root in (_PACKAGE / "sample_data", _PACKAGE.parent / "sample_data"):
        if any(root.glob(f"*/{MANIFEST}")):
            return root
    return None


def samples() -> list[str]:
    """Return the names of the samples, the flagship first."""
    root = sample_root()
    if root is None:
        return []
    names = sorted(path.parent.name for path in root.glob(f"*/{MANIFEST}"))
    return sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))


def sample_path(name: str) -> Path | None:
    """Return the folder of a sample, or None for an unknown name."""
    root = sample_root()
    return root / name if root is not None and name in samples() else None
