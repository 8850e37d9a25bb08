from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz.errors import DataError


def test_weights_default_to_one_and_derive_from_scores() -> None:
    assert Links("a", "b", [0, 1], [1, 0]).weight.tolist() == [1.0, 1.0]
    scored = Links("a", "b", [0, 1, 2], [0, 0, 0], score=[4.0, 0.0, -2.0])
    assert scored.weight.tolist() == [1.0, 0.0, -0.5]
    assert not scored.weight_given
    assert scored.strength.tolist() == [4.0, 0.0, -2.0]


def test_every_bad_weight_is_listed() -> None:
    with pytest.raises(DataError) as caught:
        Links("a", "b", [0, 1, 2, 3], [0, 1, 2, 3], [0.0, 1.5, np.nan, 0.5])
    result = [(problem.code, problem.row) for problem in caught.value.problems]
    assert sorted(result, key=str) == [("not-finite", 2), ("weight-range", 1), ("zero-weight", 0)]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"i": [0], "j": [0, 1]}, "bad-shape"),
        ({"i": [-1], "j": [0]}, "unknown-row"),
        ({"i": [0.5], "j": [0]}, "not-positions"),
        ({"i": [0], "j": [0], "role": "rumour"}, "bad-role"),
        ({"i": [0], "j": [0], "target": "a"}, "self-link"),
        ({"i": [0], "j": [0], "meta": pd.DataFrame({"note": ["x", "y"]})}, "bad-meta"),
    ],
)
def test_bad_links_are_refused_by_code(arguments: dict[str, object], code: str) -> None:
    with pytest.raises(DataError) as caught:
        Links(**{"source": "a", "target": "b", **arguments})  # type: ignore[arg-type]
    assert code in [problem.code for problem in caught.value.problems]


def test_links_take_keeps_fields() -> None:
    meta = pd.DataFrame({"who": ["Ann", "Bo", "Cy"]})
    links = Links("a", "b", [0, 1, 2], [2, 1, 0], [0.1, -0.2, 0.3], meta=meta, kind="k")
    part = links.take(np.array([False, True, True]))
    assert part.i.tolist() == [1, 2]
    assert part.weight.tolist() == [-0.2, 0.3]
    assert part.meta is not None
    assert part.meta["who"].tolist() == ["Bo", "Cy"]
    assert part.kind == "k"


def test_comparisons_of_three_and_four() -> None:
    assert Comparisons([[0, 1, 2]]).pairs.tolist() == [[0, 1, 0, 2]]
    assert Comparisons([[0, 1, 2, 3]]).pairs.tolist() == [[0, 1, 2, 3]]
    assert len(Comparisons([])) == 0
    with pytest.raises(DataError, match="3 positions"):
        Comparisons([[0, 1]])
    with pytest.raises(DataError, match="above 0"):
        Comparisons([[0, 1, 2]], weight=[-1.0])


def test_labels_known_mask() -> None:
    labels = Labels("a", "kind", ["x", None, np.nan, "y", np.int64(3), pd.NA])
    assert labels.known.tolist() == [True, False, False, True, True, False]
    assert labels.classes == [3, "x", "y"]


def test_heterodata_refuses_unknown_references() -> None:
    a = Dataset("alpha", ["x", "y"])
    with pytest.raises(DataError, match="Did you mean 'alpha'") as caught:
        HeteroData([a], [Links("alpha", "alpah", [0], [0]), Links("alpha", "alpha", [0], [5])])
    assert [problem.code for problem in caught.value.problems] == ["unknown-dataset", "unknown-row"]
    with pytest.raises(DataError, match="this row position does not exist"):
        HeteroData([a], comparisons=Comparisons([[0, 1, 2]]))
    with pytest.raises(DataError, match="2 rows"):
        HeteroData([a], labels=[Labels("alpha", "kind", ["p"])])
    with pytest.raises(DataError, match="two datasets"):
        HeteroData([a, a])
    with pytest.raises(DataError, match="there is no dataset"):
        HeteroData([])
