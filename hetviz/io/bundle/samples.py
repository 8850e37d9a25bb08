"""Where the samples are: beside the package in a checkout, inside it when installed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hetviz.io import gate
from hetviz.io.bundle import manifest
from hetviz.io.files import MANIFEST

_PACKAGE = Path(__file__).resolve().parents[2]
_ORDER = ("emoji", "world", "digits", "debian", "digit-views")


@dataclass(frozen=True)
class SampleCard:
    """What a sample is, known without reading its data.

    Attributes
    ----------
    name, title : str
    datasets : tuple of str
    n_items : int or None
        Number of objects, where the sample says it.
    still : str
        A small picture of its map as SVG text in the colours of the light theme, or nothing.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    n_items: int | None
    still: str


def sample_root() -> Path | None:
    """Return the folder of the samples, or None where they were not shipped."""
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
    """Return the folder of a sample, or None if there is none of this name."""
    root = sample_root()
    return root / name if root is not None and name in samples() else None


def sample_card(name: str) -> SampleCard:
    """Return what a sample is; it must be one of `samples`.

    Raises
    ------
    hetviz.errors.DataError
        If its hetviz.toml is not valid.
    """
    folder = sample_path(name)
    if folder is None:
        raise gate.refusal("unknown-sample", "samples", "there is no such sample", name)
    said = manifest.parse((folder / MANIFEST).read_bytes())
    still = None if said.map is None or said.map.still is None else folder / said.map.still
    return SampleCard(
        name,
        said.title,
        tuple(entry.name for entry in said.datasets),
        None if said.map is None else said.map.items,
        "" if still is None else still.read_text(encoding="utf-8"),
    )
