"""What items are alike in is found among columns in which they were made alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hetviz
from hetviz import Dataset, HeteroData


def planted(n: int = 60) -> Dataset:
    """Items 0 to 3 share an odd size and a rare colour; nothing else says anything of them."""
    rng = np.random.default_rng(0)
    size, noise = rng.normal(size=n), rng.normal(size=n)
    size[:4] = 5.0
    noise[:4] = [-2.0, 2.0, -1.0, 1.0]
    colour = rng.choice(["red", "blue"], size=n).astype(object)
    colour[:4] = "green"
    table = pd.DataFrame({"size": size, "noise": noise, "colour": colour})
    return hetviz.make_features(Dataset("things", [f"t{k}" for k in range(n)], table=table))


def test_alike_by_finds_planted_columns() -> None:
    data = HeteroData([planted()])
    result = hetviz.alike_by(data, [0, 1], [2, 3])
    assert {first.column for first in result} == {"size", "colour"}
    # Of 58 others two are as near in either: the two further ones of the planted.
    assert [first.nearer for first in result] == pytest.approx([57 / 58] * 2)
    assert {first.weight for first in result} == {1.0}


def test_alike_by_sparse_features() -> None:
    dense = planted()
    sparse = Dataset("things", dense.ids, sp.csr_array(dense.X), recipe=dense.recipe)
    first, other = (hetviz.alike_by(HeteroData([part]), [0], [1]) for part in (dense, sparse))
    assert [(a.column, a.nearer) for a in first] == [(a.column, a.nearer) for a in other]


def test_alike_by_compares_within_datasets() -> None:
    other = Dataset("others", ["x", "y"], np.eye(2))
    data = HeteroData([planted(), other])
    assert not hetviz.alike_by(data, [0], [60])
    # Features that came without columns have none to name.
    assert not hetviz.alike_by(data, [60], [61])
    assert len(hetviz.alike_by(data, [0, 60], [1, 61], n=1)) == 1


def test_alike_by_ignores_chance() -> None:
    data = HeteroData([planted()])
    assert not [first for first in hetviz.alike_by(data, [0], [1]) if first.column == "noise"]
