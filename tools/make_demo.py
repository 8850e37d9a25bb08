"""Demonstration on the start page: one statement, and the map after its refit.

``python tools/make_demo.py`` writes ``sample_data/emoji/demo.csv``, whose first two rows are the items of
the statement.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

import hetviz  # noqa: E402
from hetviz.algorithms.registry import get_method  # noqa: E402
from hetviz.core.layout.procrustes import align  # noqa: E402
from hetviz.io import coordinates_csv, gate, read_coordinates  # noqa: E402

SAMPLE, METHOD, DIGITS = "emoji", "joint-map", 6
DATASET, ITEM, OTHER = "emoji", "gorilla", "otter"


def main() -> None:
    """Refit the map of the sample with the statement that the item belongs with the other one."""
    folder = ROOT / "sample_data" / SAMPLE
    data = hetviz.load(folder)
    before = read_coordinates("map.csv", gate.read_file(folder / "map.csv"), data)
    before = replace(before, note=get_method(METHOD).card.title)
    titles = [str(title) for title in data[DATASET].titles]
    rows = [titles.index(title) for title in (ITEM, OTHER)]
    item, other = (data.offsets[DATASET].start + row for row in rows)
    statement = hetviz.links_between(data, [item], [other], 1.0)
    after = hetviz.embed(data.edit().add(*statement), METHOD, start=before)
    Y, reference = (np.vstack(list(m.coordinates.values())) for m in (after, before))
    moved = align(Y, reference)(Y)
    parts = {name: moved[span] for name, span in data.offsets.items()}
    lines = coordinates_csv(replace(after, coordinates=parts, drawn=None), digits=DIGITS).splitlines()
    head, *lines = lines
    # The statement comes first: the item, then the one it belongs with.
    lines = [lines[item], lines[other], *np.delete(lines, [item, other]).tolist()]
    (folder / "demo.csv").write_text("\n".join([head, *lines, ""]), encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
