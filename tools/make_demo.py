"""Demonstration on the start page: one statement, and the map after its refit.

``python tools/make_demo.py`` writes ``sample_data/emoji/demo.csv``. Its first two rows are the
items of the statement.
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
FOLDER = ROOT / "sample_data" / SAMPLE
DATASET, ITEM, OTHER = "emoji", "coconut", "cherries"


def main() -> None:
    text, item, other = make()
    (FOLDER / "demo.csv").write_text(text, encoding="utf-8", newline="")
    print(f"{item} belongs with {other}")


def make() -> tuple[str, tuple[str, str], tuple[str, str]]:
    """Return the coordinates of the refit as CSV, and dataset and id of both items."""
    data = hetviz.load(FOLDER)
    before = read_coordinates("map.csv", gate.read_file(FOLDER / "map.csv"), data)
    before = replace(before, note=get_method(METHOD).card.title)
    titles = [str(title) for title in data[DATASET].titles]
    rows = [titles.index(title) for title in (ITEM, OTHER)]
    item, other = (data.offsets[DATASET].start + row for row in rows)
    statement = hetviz.links_between(data, [item], [other], 1.0)
    after = hetviz.embed(data.edit().add(*statement), METHOD, start=before)
    Y, reference = (np.vstack(list(m.coordinates.values())) for m in (after, before))
    moved = align(Y, reference)(Y)
    parts = {name: moved[span] for name, span in data.offsets.items()}
    text = coordinates_csv(replace(after, coordinates=parts, drawn=None), digits=DIGITS)
    head, *lines = text.splitlines()
    # The statement comes first: the item, then the one it belongs with.
    lines = [lines[item], lines[other], *np.delete(lines, [item, other]).tolist()]
    ends = [(DATASET, str(data[DATASET].ids[row])) for row in rows]
    return "\n".join([head, *lines, ""]), ends[0], ends[1]


if __name__ == "__main__":
    main()
