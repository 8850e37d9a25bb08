"""What is noted of comparisons follows them: taken, added, subset, saved and loaded."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import hetviz
from hetviz.data import Comparisons, Dataset, HeteroData
from hetviz.errors import DataError


def noted() -> HeteroData:
    meta = pd.DataFrame({"note": ["=first", ""], "certain": [3, 4]})
    messages = Comparisons([[0, 1, 2], [3, 1, 0]], [1.0, 0.5], meta=meta)
    return HeteroData([Dataset("a", list("wxyz"))], comparisons=messages)


def test_meta_follows_selected_rows() -> None:
    left = noted().edit().subset({"a": ["x", "y", "w"]}).comparisons
    assert left is not None
    assert left.meta is not None
    assert left.meta.to_dict("list") == {"note": ["=first"], "certain": [3]}


def test_meta_concatenates_with_missing_meta() -> None:
    joined = noted().edit().add(Comparisons([[0, 1, 2, 3]])).comparisons
    assert joined is not None
    assert joined.meta is not None
    assert joined.meta["note"].tolist() == ["=first", "", ""]
    assert joined.meta["certain"].tolist()[:2] == [3, 4]
    assert pd.isna(joined.meta["certain"][2])


def test_meta_is_saved_and_loaded(tmp_path: Path) -> None:
    data = noted()
    again = hetviz.load(hetviz.save(data, tmp_path / "kept.zip"))
    assert again.fingerprint() == data.fingerprint()
    assert again.comparisons is not None
    assert again.comparisons.meta is not None
    assert again.comparisons.meta["note"].tolist() == ["=first", ""]


def test_meta_of_another_length_is_refused() -> None:
    with pytest.raises(DataError, match="meta must be a DataFrame of 1 rows"):
        Comparisons([[0, 1, 2]], meta=pd.DataFrame({"note": ["", ""]}))
