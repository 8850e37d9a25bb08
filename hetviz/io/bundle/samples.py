"""Descriptions of the samples, without reading their data."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache

from hetviz._samples import MANIFEST, sample_path
from hetviz.io import gate
from hetviz.io.bundle import manifest


@dataclass(frozen=True)
class SampleCard:
    """The description of a sample."""

    name: str
    title: str
    datasets: tuple[str, ...]
    n_items: int | None
    still: str


def sample_card(name: str) -> SampleCard:
    """Return the description of one of the `samples`."""
    folder = sample_path(name)
    if folder is None:
        raise gate.refusal("unknown-sample", "samples", "this sample does not exist", name)
    sample_manifest = manifest.parse((folder / MANIFEST).read_bytes())
    still = (
        None
        if sample_manifest.map is None or sample_manifest.map.still is None
        else folder / sample_manifest.map.still
    )
    return SampleCard(
        name,
        sample_manifest.title,
        tuple(entry.name for entry in sample_manifest.datasets),
        None if sample_manifest.map is None else sample_manifest.map.items,
        "" if still is None else still.read_text(encoding="utf-8"),
    )


@dataclass(frozen=True)
class SampleDemo:
    """A statement that one item belongs with another, and the map of a sample after it."""

    item: tuple[str, str]
    other: tuple[str, str]
    positions: dict[tuple[str, str], tuple[float, float]]


@lru_cache(maxsize=4)
def sample_demo(name: str) -> SampleDemo | None:
    """Return the demonstration of a sample (see tools/make_demo.py), or None if it has none."""
    folder = sample_path(name)
    file = None if folder is None else folder / "demo.csv"
    if file is None or not file.is_file():
        return None
    with file.open(encoding="utf-8", newline="") as rows:
        positions = {
            (row["dataset"], row["id"]): (float(row["x"]), float(row["y"]))
            for row in csv.DictReader(rows)
        }
    item, other, *_ = positions
    return SampleDemo(item, other, positions)
