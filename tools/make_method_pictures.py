"""Pictures of the methods for the documentation, docs/methods/KEY.svg."""

from __future__ import annotations

import sys
import tomllib
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import hetviz
from hetviz import HeteroData
from hetviz.ui.notebook.display import still_svg

DOCS = Path(__file__).resolve().parents[1] / "docs"
MOST = 200


def small(sample: str, compared: bool) -> HeteroData:
    """Return part of a sample, with comparisons if they are asked for."""
    data = hetviz.load(sample)
    rows = {
        name: np.unique(np.linspace(0, len(dataset) - 1, min(MOST, len(dataset))).astype(int))
        for name, dataset in data.datasets.items()
    }
    # Views of one thing keep the same things.
    data = data.edit().subset(rows)
    if compared:
        label = data.labels[0]
        data = data.edit().add(
            hetviz.comparisons_from_label(data, label.dataset, label.name, n_comparisons=2000)
        )
    return data


def main() -> None:
    """Draw those that are named, or all."""
    record = tomllib.loads((DOCS / "methods.toml").read_text(encoding="utf-8"))
    for key in sys.argv[1:] or list(record):
        about = record[key]
        data = small(about["sample"], about.get("compared", False))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            embedding = hetviz.embed(data, key)
        (DOCS / "methods" / f"{key}.svg").write_text(still_svg(data, embedding), encoding="utf-8")
        sys.stdout.write(f"{key}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
