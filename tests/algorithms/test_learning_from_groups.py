"""Learning from user links: similar items follow a group, or the group is rejected."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist

import hetviz
from hetviz.core.spectral.group_axes import (
    MAX_SIMILAR_SHARE,
    MIN_AUC,
    LearnedGroup,
    group_axes,
    learn_groups,
    needed_auc,
)
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import DataWarning
from hetviz.features.relations.user_links import items_set_apart, user_groups
from hetviz.features.spaces.joint_graph import joint_graph
from hetviz.features.spaces.learned_groups import GroupSummary, find_learned_groups
from hetviz.progress import ignore_progress

N, KINDS = 240, 4


def kinds(seed: int = 0, kernel: bool = False, sparse: bool = False) -> tuple[HeteroData, Any]:
    """Items whose kind is one of many features, most of which are unrelated."""
    rng = np.random.default_rng(seed)
    kind = np.arange(N) % KINDS
    X = np.hstack([np.eye(KINDS)[kind], rng.normal(size=(N, 16)) * 0.6])
    ids = [f"i{k}" for k in range(N)]
    if kernel:
        items = Dataset("items", ids, kernel=X @ X.T)
    else:
        items = Dataset("items", ids, sp.csr_array(X) if sparse else X)
    tags = Dataset("tags", [f"t{k}" for k in range(12)])
    share = np.where(np.arange(12) % KINDS == kind[:, None], 0.06, 0.03)
    i, j = np.nonzero(rng.random((N, 12)) < share)
    return HeteroData([items, tags], [Links("items", "tags", i, j)]), kind


def together(*groups: Any) -> Links:
    pairs = [(group[a], group[b]) for group in groups for a, b in [np.triu_indices(len(group), 1)]]
    i, j = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return Links("items", "items", i, j, kind="said")


def fitted(key: str, data: HeteroData, start: Any = None, **parameters: Any) -> Any:
    if key == "joint-map":
        parameters = {"check_links": False, "n_iter": 200} | parameters
    return hetviz.get_method(key)(**parameters).fit(data, start=start)


def same_kind(Y: Any, kind: Any, rows: Any) -> float:
    """Return the share of the ten nearest rows with the same kind, for each row."""
    D = np.linalg.norm(Y[rows][:, None] - Y[None], axis=2)
    return float((kind[np.argsort(D, axis=1)[:, 1:11]] == kind[rows][:, None]).mean())


NAMED = [np.flatnonzero(np.arange(N) % KINDS == k)[:9] for k in (0, 1)]
REST = np.setdiff1d(np.flatnonzero(np.arange(N) % KINDS < 2), np.concatenate(NAMED))


@pytest.mark.parametrize(
    ("key", "form"),
    [
        ("joint-map", "dense"),
        ("mr-sne", "dense"),
        ("mr-sne", "sparse"),
        ("mr-sne", "kernel"),
        ("umap", "dense"),
    ],
)
def test_similar_items_follow_a_group(key: str, form: str) -> None:
    data, kind = kinds(kernel=form == "kernel", sparse=form == "sparse")
    guided = data.edit().add(together(*NAMED))
    # A few neighbours differ between processors.
    alone, taught = (
        np.mean(
            [
                same_kind(
                    fitted(
                        key, guided, learn_groups=learn, random_state=state
                    ).embedding_.coordinates["items"],
                    kind,
                    REST,
                )
                for state in range(3)
            ]
        )
        for learn in (False, True)
    )
    assert taught > alone + 0.01


@pytest.mark.parametrize("key", ["joint-map", "mr-sne", "umap"])
def test_similar_items_follow_on_an_earlier_map(key: str) -> None:
    data, kind = kinds()
    guided = data.edit().add(together(*NAMED))
    alone, taught = [], []
    for state in range(3):
        before = fitted(key, data, random_state=state).embedding_
        for learn, embedding in ((False, alone), (True, taught)):
            method = fitted(key, guided, before, learn_groups=learn, random_state=state)
            Y = method.embedding_.coordinates["items"]
            embedding.append(same_kind(Y, kind, REST))
            # Close but not at one point. Without the limit of their pull mr-sne gives .2 to .4.
            assert key != "mr-sne" or np.median(pdist(Y[NAMED[0]])) > 0.6
    assert np.mean(taught) > np.mean(alone) + 0.01


@pytest.mark.parametrize("key", ["joint-map", "mr-sne", "umap"])
def test_groups_of_two_are_not_learned(key: str) -> None:
    data, _ = kinds()
    two = data.edit().add(Links("items", "items", [0, 1], [4, 5], kind="said"))
    maps = [fitted(key, two, learn_groups=learn) for learn in (False, True)]
    np.testing.assert_array_equal(*(m.embedding_.stacked() for m in maps))
    assert maps[1].diagnostics_["learned"] == []


def test_random_groups_are_rejected_with_a_message() -> None:
    data, _ = kinds()
    rng = np.random.default_rng(5)
    chance = np.sort(rng.choice(N, 9, replace=False))
    guided = data.edit().add(together(chance))
    (group,) = hetviz.learned_from(guided)
    assert not group.learned
    assert group.followers == ()
    # The most similar items are still asked about.
    assert len(group.to_ask) == 12
    assert not {id_ for id_, _ in group.to_ask} & set(group.named)
    with pytest.warns(DataWarning, match="only they move"):
        refused = fitted("joint-map", guided, n_iter=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blind = fitted("joint-map", guided, n_iter=50, learn_groups=False)
    np.testing.assert_array_equal(refused.embedding_.stacked(), blind.embedding_.stacked())


def test_user_links_are_no_evidence_for_their_group() -> None:
    data, _ = kinds()
    refused = 0
    for seed in range(20):
        chance = np.sort(np.random.default_rng(seed).choice(N, 6, replace=False))
        guided = data.edit().add(together(chance))
        refused += not hetviz.learned_from(guided)[0].learned
    # In the axes, user links would bring the named items together.
    assert refused >= 18


def test_followers_are_in_the_same_dataset() -> None:
    data, kind = kinds()
    guided = data.edit().add(together(*NAMED))
    groups = hetviz.learned_from(guided)
    assert [group.named for group in groups] == [tuple(f"i{k}" for k in rows) for rows in NAMED]
    for value, group in enumerate(groups):
        assert group.learned
        assert group.auc > group.needed
        followers = [int(name[1:]) for name in group.followers]
        assert not set(group.followers) & set(group.named)
        assert (kind[followers] == value).mean() > 0.8
        assert list(group.certainty) == sorted(group.certainty, reverse=True)
        assert "may be similar" in str(group)
    json.dumps([group.to_dict() for group in groups])


def test_rejected_items_do_not_follow() -> None:
    data, _ = kinds()
    guided = data.edit().add(together(NAMED[0]))
    (before,) = hetviz.learned_from(guided)
    first = [int(id_[1:]) for id_, _ in before.to_ask[:4]]
    apart = Links("items", "items", [NAMED[0][0]] * 4, first, -np.ones(4), kind="said")
    assert [rows.tolist() for rows in items_set_apart(guided.edit().add(apart), [NAMED[0]])] == [
        sorted(first)
    ]
    (after,) = hetviz.learned_from(guided.edit().add(apart))
    assert not {f"i{row}" for row in first} & {id_ for id_, _ in after.to_ask}
    assert after.named == before.named
    # A negative table link is not a rejection by a person.
    table_link = Links("items", "items", [NAMED[0][0]] * 4, first, -np.ones(4))
    assert items_set_apart(guided.edit().add(table_link), [NAMED[0]])[0].size == 0


def test_questions_stop_after_mostly_negative_answers() -> None:
    data, _ = kinds()
    rng = np.random.default_rng(5)
    chance, others = np.split(rng.choice(N, 28, replace=False), [9])
    guided = data.edit().add(together(np.sort(chance)))
    assert not hetviz.learned_from(guided)[0].learned
    apart = Links("items", "items", [chance[0]] * 19, others, -np.ones(19), kind="said")
    (group,) = hetviz.learned_from(guided.edit().add(apart))
    assert not group.learned
    assert group.to_ask == ()
    again = GroupSummary.from_dict(before := hetviz.learned_from(guided)[0].to_dict())
    assert again.to_dict() == before
    # Format of earlier projects.
    sure = hetviz.learned_from(data.edit().add(together(NAMED[0])))[0].to_dict()
    del sure["to_ask"]
    assert [id_ for id_, _ in GroupSummary.from_dict(sure).to_ask] == sure["followers"] != []


def test_removing_a_statement_restores_the_map() -> None:
    data, _ = kinds()
    guided = data.edit().add(together(*NAMED))
    before = fitted("joint-map", data, n_iter=60).embedding_.stacked()
    fitted("joint-map", guided, n_iter=60)
    again = fitted("joint-map", data, n_iter=60).embedding_.stacked()
    np.testing.assert_array_equal(before, again)


def test_groups_are_connected_within_a_dataset() -> None:
    data, _ = kinds()
    guided = data.edit().add(
        Links("items", "items", [0, 1, 7, 9], [1, 2, 8, 10], kind="said"),
        Links("items", "items", [3, 10], [4, 11], [-1.0, 0.5], kind="said"),
        Links("items", "tags", [2, 7], [0, 0], kind="said"),
        Links("items", "items", [20, 21], [21, 22]),
    )
    assert [group.tolist() for group in user_groups(guided)] == [[0, 1, 2], [7, 8], [9, 10, 11]]
    assert [group.tolist() for group in user_groups(guided, 3)] == [[0, 1, 2], [9, 10, 11]]


def test_beliefs_are_shares_of_known_items() -> None:
    rng = np.random.default_rng(0)
    Z = np.vstack([rng.normal(size=(40, 3)) + 4.0, rng.normal(size=(60, 3)), np.zeros((5, 3))])
    groups = [np.arange(6), np.arange(40, 46)]
    taught = learn_groups(Z, [slice(0, 105)], groups)
    total = taught[0].membership + taught[1].membership
    assert (total <= 1.0).all()
    assert (total[100:] == 0).all()
    assert taught[0].membership[:40].mean() > 0.5 > taught[0].membership[40:100].max()
    assert taught[0].size <= MAX_SIMILAR_SHARE * 100
    axes = group_axes(taught)
    assert axes.shape == (105, sum(group.confidence > 0 for group in taught))


def test_groups_of_different_width_are_separated() -> None:
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(8), 50)
    middle = rng.normal(size=(8, 24)) * 2.1
    Z = middle[kind] + np.linspace(0.5, 2.0, 8)[kind, None] * rng.normal(size=(400, 24))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    groups = [np.arange(9) + 50 * k for k in range(8)]
    taught = learn_groups(Z, [slice(0, 400)], groups)
    belief = np.stack([group.membership for group in taught], axis=1)
    unnamed = np.setdiff1d(np.arange(400), np.concatenate(groups))
    # Each group has its own boundary. A common boundary gives .94.
    assert (belief.argmax(axis=1) == kind)[unnamed].mean() > 0.98


def test_table_links_keep_their_weight() -> None:
    data, _ = kinds()
    guided = data.edit().add(together(*NAMED))
    shares = []
    for variant in (data, guided):
        pulls = fitted("joint-map", variant, n_iter=10).attraction_graph(variant)
        shares.append(pulls.parts["link"].toarray())
    assert shares[0].sum() > 0.1
    np.testing.assert_allclose(shares[1], shares[0], atol=1e-15)


def test_better_features_are_not_overruled() -> None:
    data, kind = kinds()
    rng = np.random.default_rng(0)
    clear = np.hstack([3.0 * np.eye(KINDS)[kind], rng.normal(size=(N, 2)) * 0.1])
    items = Dataset("items", data["items"].ids, clear)
    links = Links("items", "tags", rng.integers(N, size=900), rng.integers(12, size=900))
    guided = HeteroData([items, data["tags"]], [links]).edit().add(together(*NAMED))
    learned = find_learned_groups(guided, joint_graph(guided, lambda *_: None, ignore_progress))
    strong = replace(learned, groups=tuple(replace(g, auc=0.8, needed=0.7) for g in learned.groups))
    assert strong.axes.shape[1] == 2
    dropped = strong.drop_predicted_by_features(guided)
    assert dropped.axes.shape[1] == 0
    assert dropped.followers == []
    assert "features predict such items better" in dropped.account(guided)
    assert all(group.learned for group in dropped.of_items(guided))


def test_user_links_place_items_of_tiny_datasets() -> None:
    data, _ = kinds()
    people = Dataset("people", ["ann", "bob"])
    user_link = Links("people", "people", [0], [1], kind="said")
    more = HeteroData([*data.datasets.values(), people], [*data.links, user_link])
    with pytest.warns(DataWarning, match="Links do not connect"):
        Y = fitted("joint-map", more, n_iter=50).embedding_.stacked()
    assert np.isfinite(Y).all()


def test_small_groups_need_more_evidence() -> None:
    needed = [needed_auc(s) for s in (3, 6, 9, 30)]
    assert needed == sorted(needed, reverse=True)
    assert needed[-1] == MIN_AUC
    sure = LearnedGroup(np.arange(3), needed[0] + 0.01, needed[0], np.ones(3), 3)
    unsure = LearnedGroup(np.arange(3), needed[0] - 0.01, needed[0], np.ones(3), 3)
    assert sure.confidence == pytest.approx(2 * (needed[0] + 0.01) - 1)
    assert unsure.confidence == 0.0
    assert group_axes([unsure]).shape == (3, 0)


def test_groups_of_one_kind_are_refused_because_they_cannot_be_told_apart() -> None:
    data, kind = kinds()
    rows = np.random.default_rng(3).permutation(np.flatnonzero(kind == 0))
    groups = hetviz.learned_from(data.edit().add(together(rows[:9], rows[9:18])))
    assert len(groups) == 2
    for group in groups:
        assert group.apart < group.needed_apart
        assert not group.learned
        assert group.followers == ()
        assert GroupSummary.from_dict(group.to_dict()) == group
    found = replace(groups[0], auc=0.9)
    assert not found.learned
    assert "cannot be distinguished" in str(found)
