"""Items most alike in the data, and neighbours on a map that the data do not support."""

import numpy as np
import pytest

import hetviz
from hetviz import Dataset, Embedding, HeteroData, Links
from hetviz.core.measures.alike import count_closer
from hetviz.errors import DataError, ParameterError
from hetviz.metrics.trust.alike import AlikeItems, is_far


def voters() -> HeteroData:
    """Voters of two blocs of 12 that vote on 8 laws, one of them (v0) against its bloc."""
    ids = [f"v{k}" for k in range(24)]
    X = np.repeat([[0.0], [1.0]], 12, axis=0) + np.linspace(0, 0.01, 24)[:, None]
    bloc = np.repeat([1.0, -1.0], 12)
    bloc[0] = -1.0
    weight = np.outer(bloc, np.tile([1.0, -1.0], 4))
    i, j = np.indices(weight.shape)
    laws = Dataset("laws", [f"law {k}" for k in range(8)])
    votes = Links("voters", "laws", i.ravel(), j.ravel(), weight.ravel())
    return HeteroData([Dataset("voters", ids, X), laws], [votes])


def test_most_alike_by_links_and_features():
    data = voters()
    by_links = hetviz.most_alike(data, "v0")
    assert by_links["id"].tolist() == [f"v{k}" for k in range(12, 20)]
    assert by_links["score"].tolist() == pytest.approx([1.0] * 8)
    assert set(by_links["dataset"]) == {"voters"}
    by_features = hetviz.most_alike(data, "v0", "features", 3)
    assert by_features["id"].tolist() == ["v1", "v2", "v3"]
    assert by_features["score"].is_monotonic_decreasing
    # An opposite vote is a score of -1, which is not listed.
    assert len(hetviz.most_alike(data, "v0", k=100)) == 12
    # Laws have no features, and all even laws have the same votes.
    assert hetviz.most_alike(data, "law 0")["id"].tolist() == ["law 2", "law 4", "law 6"]
    assert hetviz.most_alike(data, "law 0", "features").empty


def test_most_alike_score_at_the_median_distance():
    X = np.array([[0.0], [1.0], [2.0]])
    data = HeteroData([Dataset("points", ["a", "b", "c"], X)])
    # Distances 1, 1 and 2: the median is 1.
    frame = hetviz.most_alike(data, "a", "features")
    assert frame["score"].tolist() == pytest.approx([np.exp(-2), np.exp(-8)])


def test_most_alike_needs_features_that_tell_items_apart():
    data = HeteroData([Dataset("items", list("abcd"), np.eye(4))])
    assert hetviz.most_alike(data, "a", "features").empty
    assert hetviz.most_alike(data, "a", "links").empty


def test_most_alike_on_map_marks_unsupported_neighbours():
    data = voters()
    # v1 is alike to v0 by features, v12 by votes, v23 is alike to v1 in nothing.
    places = np.column_stack([np.full(24, 100.0), np.arange(24.0)])
    places[[0, 1, 12, 23]] = [[0, 0], [1, 0], [-2, 0], [1, 0.1]]
    ids = {name: data[name].ids for name in data.datasets}
    embedding = Embedding({"voters": places, "laws": np.full((8, 2), 50.0)}, ids)
    frame = hetviz.most_alike(data, "v0", "map", 3, embedding=embedding)
    assert frame["id"].tolist() == ["v1", "v23", "v12"]
    assert frame["score"].tolist() == pytest.approx([1.0, 22 / 23, 21 / 23])
    assert frame["closer"].tolist() == [0, 1, 2]
    assert frame["supported"].tolist() == [True, True, True]

    def nearest_is_supported(data: HeteroData) -> bool:
        (nearest,) = hetviz.most_alike(data, "v1", "map", 1, embedding=embedding).to_dict("records")
        assert nearest["id"] == "v23"
        return nearest["supported"]

    assert not nearest_is_supported(data)
    assert nearest_is_supported(data.edit().add(Links("voters", "voters", [23], [1])))
    assert not nearest_is_supported(data.edit().add(Links("voters", "voters", [23], [1], -1.0)))


def test_most_alike_shows_where_alike_items_are_on_map():
    data = voters()
    places = np.column_stack([np.arange(24.0), np.zeros(24)])
    places[13] = np.nan
    ids = {name: data[name].ids for name in data.datasets}
    embedding = Embedding({"voters": places, "laws": np.zeros((8, 2))}, ids)
    frame = hetviz.most_alike(data, "v0", k=3, embedding=embedding)
    assert frame["id"].tolist() == ["v12", "v13", "v14"]
    assert frame["closer"].tolist() == pytest.approx([11, np.nan, 12], nan_ok=True)
    # The 10 nearest of 22 others are near.
    assert (
        is_far(count_closer(places, 0)).tolist()
        == [False] * 11 + [True] * 2 + [False] + [True] * 10
    )
    assert hetviz.most_alike(data, "v13", "map", embedding=embedding).empty
    # All items at one place.
    assert len(hetviz.most_alike(data, "law 0", "map", embedding=embedding)) == 7


def test_scores_reuse_what_datasets_share():
    data = voters()
    items = AlikeItems(data)
    for row in (0, 5, 23):
        scores = items.scores("voters", row)
        for way, found in (("links", scores.by_links), ("features", scores.by_features)):
            assert found is not None
            frame = hetviz.most_alike(data, f"v{row}", way)
            assert found[data["voters"].find(frame["id"])].tolist() == frame["score"].tolist()


def test_most_alike_rejects_unclear_requests():
    data = voters()
    for arguments in ({"by": "colour"}, {"k": 0}, {"k": True}, {"by": "map"}):
        with pytest.raises(ParameterError):
            hetviz.most_alike(data, "v0", **arguments)
    with pytest.raises(DataError):
        hetviz.most_alike(data, "unknown")
    twice = HeteroData([Dataset("a", ["x", "y"]), Dataset("b", ["x", "z"])])
    with pytest.raises(ParameterError, match="a and b have an item 'x'"):
        hetviz.most_alike(twice, "x")
    assert hetviz.most_alike(twice, "x", dataset="b").empty
