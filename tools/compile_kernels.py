"""Compilation and caching of numba kernels before first use."""

from __future__ import annotations

import warnings

import numpy as np

import hetviz
from hetviz import Dataset, HeteroData, Links

RNG = np.random.default_rng(0)
IDS = [f"i{k}" for k in range(60)]
ONE = Dataset("one", IDS, RNG.normal(size=(60, 4)))
LINKED = HeteroData(
    [ONE, Dataset("other", IDS, RNG.normal(size=(60, 3)))],
    Links("one", "other", range(60), range(60)),
)


def main() -> None:
    for card in hetviz.methods():
        warm_up = getattr(hetviz.get_method(card.key), "warm_up", None)
        if warm_up is not None:
            warm_up()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hetviz.embed(LINKED, "mkpe")
        hetviz.embed(HeteroData([ONE]), "umap", engine="umap-learn", n_epochs=10)


if __name__ == "__main__":
    main()
