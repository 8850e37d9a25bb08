from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetviz.data import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz.data.model.views import identity_links, with_identity_links
from hetviz.errors import DataError, ParameterError
from tests.data.strategies import heterodata


def example() -> HeteroData:
    rng = np.random.default_rng(0)
    a = Dataset("a", [f"a{k}" for k in range(20)], rng.normal(size=(20, 3)))
    b = Dataset("b", [f"b{k}" for k in range(12)], rng.normal(size=(12, 2)))
    c = Dataset("c", [f"c{k}" for k in range(5)])
    ab = Links("a", "b", np.arange(20), np.arange(20) % 12, np.r_[np.ones(15), -np.ones(5)])
    ac = Links("a", "c", np.arange(20), np.arange(20) % 5)
    bb = Links("b", "b", np.arange(11), np.arange(1, 12), kind="next")
    triples = np.column_stack([np.arange(10), np.arange(10) + 1, np.arange(10) + 20])
    labels = Labels("a", "kind", ["p", "q"] * 10)
    return HeteroData([a, b, c], [ab, ac, bb], Comparisons(triples), [labels])


def named_links(data: HeteroData) -> set[tuple[str, str, str, str, float, str]]:
    """Links by id, so that they can be compared after rows have moved."""
    return {
        (g.source, data[g.source].ids[i], g.target, data[g.target].ids[j], float(w), g.kind)
        for g in data.links
        for i, j, w in zip(g.i, g.j, g.weight, strict=True)
    }


def named_comparisons(data: HeteroData) -> set[tuple[str, ...]]:
    if data.comparisons is None:
        return set()
    names = [f"{name}/{text}" for name, part in data.datasets.items() for text in part.ids]
    return {tuple(names[row] for row in rows) for rows in data.comparisons.objects}


def test_positions_and_offsets() -> None:
    data = example()
    assert data.offsets["b"] == slice(20, 32)
    assert data.position("c", "c2") == 34
    assert data.n_rows == data.n_objects == 37
    with pytest.raises(DataError, match="this id does not exist"):
        data.position("c", "zzz")
    with pytest.raises(DataError, match="this dataset does not exist"):
        data.position("d", "c2")


def test_fingerprint_ignores_explicit_default_title() -> None:
    table = pd.DataFrame({"name": ["Anna", "Bo"], "full": ["Anna K.", "Bo L."]})
    recipes = (None, {"title": "name"}, {"title": "full"})
    prints = [
        HeteroData([Dataset("d", ["a", "b"], table=table, recipe=recipe)]).fingerprint()
        for recipe in recipes
    ]
    assert prints[0] == prints[1] != prints[2]


def test_subset_mask_must_have_all_rows() -> None:
    assert example().edit().subset({"b": np.arange(12) > 9}).n_rows == 27
    with pytest.raises(DataError, match="each of the 12 rows"):
        example().edit().subset({"b": [True, False]})


def test_views_share_objects() -> None:
    first = Dataset("pixels", ["d1", "d2", "d3"], np.eye(3), entity="digit")
    second = Dataset("shape", ["d3", "d4", "d1"], np.eye(3), entity="digit")
    other = Dataset("notes", ["d1"])
    data = HeteroData([first, second, other])
    assert data.n_rows == 7
    assert data.n_objects == 5
    assert data.object_of[0] == data.object_of[5]
    assert data.object_of[0] != data.object_of[6]
    assert data.views("digit") == ("pixels", "shape")
    (links,) = identity_links(data)
    assert list(zip(links.i.tolist(), links.j.tolist(), strict=True)) == [(0, 2), (2, 0)]
    assert len(with_identity_links(data).links) == 1


def test_adjacency_is_symmetric_sums_repeats_and_clips() -> None:
    a, b = Dataset("a", ["x", "y"]), Dataset("b", ["u", "v"])
    groups = [Links("a", "b", [0, 0, 1], [0, 0, 1], [0.7, 0.6, -0.4]), Links("b", "a", [1], [1])]
    data = HeteroData([a, b], groups)
    W = data.adjacency().toarray()
    np.testing.assert_allclose(W, W.T)
    assert W[0, 2] == 1.0
    assert W[1, 3] == pytest.approx(0.6)
    assert data.adjacency(-1).nnz == 0
    lone = HeteroData([a, b], groups[0])
    assert lone.adjacency(-1).toarray()[1, 3] == pytest.approx(0.4)
    difference = lone.adjacency(1) - lone.adjacency("negative")
    np.testing.assert_allclose(difference.toarray(), lone.adjacency().toarray())


@given(heterodata(), st.randoms(use_true_random=False))
def test_reordering_moves_links_and_comparisons_along(data: HeteroData, random: object) -> None:
    rng = np.random.default_rng(len(data.datasets))
    rows = {name: rng.permutation(len(part)) for name, part in data.datasets.items()}
    moved = data.edit().reorder(rows).edit().reorder(list(data.datasets)[::-1])
    assert named_links(moved) == named_links(data)
    assert named_comparisons(moved) == named_comparisons(data)


@given(heterodata())
def test_subset_keeps_statements_of_remaining_rows(data: HeteroData) -> None:
    name = next(iter(data.datasets))
    remaining = list(data[name].ids[::2])
    part = data.edit().subset({name: remaining})
    gone = {(name, text) for text in data[name].ids[1::2]}
    expected = {
        link for link in named_links(data) if not {(link[0], link[1]), (link[2], link[3])} & gone
    }
    assert named_links(part) == expected
    assert list(part[name].ids) == remaining


def test_drop_rename_and_add() -> None:
    data = example()
    dropped = data.edit().drop("b")
    assert named_links(dropped) == {link for link in named_links(data) if "b" not in link[::2][:2]}
    renamed = data.edit().rename("a", "alpha")
    assert renamed["alpha"].entity == "alpha"
    assert renamed.labels[0].dataset == "alpha"
    assert {group.source for group in renamed.links} == {"alpha", "b"}
    with pytest.raises(DataError, match="this dataset does not exist"):
        data.edit().drop("z")
    with pytest.raises(DataError, match="two datasets would have the same name"):
        data.edit().rename("a", "b")
    more = data.edit().add(Dataset("d", ["q"]), Comparisons([[0, 1, 2, 3]]))
    assert more.comparisons is not None
    assert more.comparisons.objects.shape == (11, 4)


def test_edits_do_not_change_the_data() -> None:
    data = example()
    before = data.fingerprint()
    data.edit().subset({"a": [0, 1]})
    assert HeteroData(data.datasets, data.links, data.comparisons, data.labels).fingerprint() == (
        before
    )
    assert data.edit().rename("a", "z").fingerprint() != before


def test_holdout_splits_by_pair_within_block_kind_and_sign() -> None:
    data = example()
    train, held_out = data.holdout(links=0.2, comparisons=0.5)
    assert named_links(train) | named_links(held_out) == named_links(data)
    assert not named_links(train) & named_links(held_out)
    counts: dict[tuple[str, str, str, bool], int] = {}
    for source, _, target, _, weight, kind in named_links(held_out):
        key = (source, target, kind, weight > 0)
        counts[key] = counts.get(key, 0) + 1
    assert counts == {
        ("a", "b", "link", True): 3,
        ("a", "b", "link", False): 1,
        ("a", "c", "link", True): 4,
        ("b", "b", "next", True): 2,
    }
    assert train.comparisons is not None
    assert held_out.comparisons is not None
    assert len(train.comparisons) == len(held_out.comparisons) == 5
    assert data.holdout(random_state=0)[0].fingerprint() == data.holdout()[0].fingerprint()
    assert data.holdout(random_state=1)[0].fingerprint() != data.holdout()[0].fingerprint()


def test_holdout_keeps_repeated_pairs_together() -> None:
    a, b = Dataset("a", [f"{k}" for k in range(10)], np.eye(10)), Dataset("b", ["u"], [[1.0]])
    mask = Links("a", "b", np.arange(10), np.zeros(10, int))
    back = Links("b", "a", np.zeros(10, int), np.arange(10), kind="back")
    train, held_out = HeteroData([a, b], [mask, back]).holdout(links=0.3)
    sides = [
        {
            frozenset({(g.source, int(i)), (g.target, int(j))})
            for g in part.links
            for i, j in zip(g.i, g.j, strict=True)
        }
        for part in (train, held_out)
    ]
    assert not sides[0] & sides[1]
    assert len(sides[1]) == 3


def test_holdout_keeps_one_link_of_featureless_items() -> None:
    a = Dataset("a", ["x", "y", "z"], np.eye(3))
    c = Dataset("c", [f"{k}" for k in range(30)])
    data = HeteroData([a, c], [Links("a", "c", np.arange(30) % 3, np.arange(30))])
    train, held_out = data.holdout(links=0.5)
    assert sum(map(len, held_out.links)) == 0
    assert len(set(train.links[0].j.tolist())) == 30


def test_holdout_shares_by_datasets_kind_and_sign() -> None:
    rng = np.random.default_rng(0)
    a, b = (Dataset(name, [f"{name}{k}" for k in range(40)]) for name in "ab")
    p, q = np.divmod(rng.permutation(1600)[:500], 40)
    parts = [
        Links("a", "b", p[:200], q[:200], 1.0),
        Links("a", "b", p[200:300], q[200:300], -0.5),
        Links("a", "b", p[300:], q[300:], np.r_[np.ones(150), -np.ones(50)], kind="other"),
    ]
    datasets = [Dataset(part.name, part.ids, np.eye(40)) for part in (a, b)]
    train, held_out = HeteroData(datasets, parts).holdout(links=0.2)
    drawn = [
        (group.kind, int((group.weight > 0).sum()), int((group.weight < 0).sum()))
        for group in held_out.links
    ]
    assert drawn == [("link", 40, 0), ("link", 0, 20), ("other", 30, 10)]
    assert named_links(train) | named_links(held_out) == named_links(HeteroData(datasets, parts))
    assert not named_links(train) & named_links(held_out)
    again = HeteroData(datasets, parts).holdout(links=0.2, random_state=1)[1]
    assert named_links(again) != named_links(held_out)


def test_holdout_of_objects_covers_all_views() -> None:
    ids = [f"d{k}" for k in range(20)]
    K = np.eye(20)
    first = Dataset("first", ids, np.eye(20), entity="d")
    second = Dataset("second", ids[::-1], kernel=K, entity="d")
    tags = Dataset("tags", ["t", "u"])
    data = HeteroData([first, second, tags], [Links("first", "tags", range(20), [0, 1] * 10)])
    train, held_out = data.holdout(links=0.0, objects={"first": 0.25})
    assert len(train["first"]) == len(train["second"]) == 15
    assert set(held_out["first"].ids) == set(held_out["second"].ids)
    assert set(held_out["first"].ids) | set(train["first"].ids) == set(ids)
    assert held_out["second"].kernel is not None
    assert held_out["second"].kernel.shape == (5, 15)
    assert named_links(train) | named_links(held_out) == named_links(data)
    assert {link[1] for link in named_links(held_out)} == set(held_out["first"].ids)


def test_holdout_refuses_invalid_shares() -> None:
    with pytest.raises(ParameterError, match="share"):
        example().holdout(links=1.0)
    with pytest.raises(DataError, match="this dataset does not exist"):
        example().holdout(objects={"nope": 0.5})
