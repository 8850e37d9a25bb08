"""Share of close links on data with planted groups of random sizes and names."""

from __future__ import annotations

import numpy as np
import pytest

import hetviz
from hetviz import Dataset, Embedding, HeteroData, Links
from hetviz.core.measures.close_pairs import close_share
from hetviz.metrics.fit.guidance import linkable_pairs_of


def planted(seed: int, n_groups: int = 6) -> tuple[HeteroData, np.ndarray, np.ndarray]:
    """Return two datasets whose links stay within groups of unequal sizes, and their groups."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(60, 180, n_groups)
    group_a = np.repeat(np.arange(n_groups), sizes)
    group_b = np.repeat(np.arange(n_groups), sizes // 5)
    i = np.repeat(np.arange(len(group_a)), 3)
    j = np.array([rng.choice(np.flatnonzero(group_b == group_a[k])) for k in i])
    ends = np.unique(np.column_stack([i, j]), axis=0)
    a = Dataset("a", [f"a{k}" for k in range(len(group_a))])
    b = Dataset("b", [f"b{k}" for k in range(len(group_b))])
    return HeteroData([a, b], [Links("a", "b", *ends.T)]), group_a, group_b


EQUAL, UNEQUAL = (60, 60, 60, 60, 60, 60), (160, 90, 60, 30, 20)


def of_sizes(
    sizes: tuple[int, ...], n_links: int, noise: float = 0.0
) -> tuple[HeteroData, np.ndarray, np.ndarray]:
    """Return data with groups of these sizes, of which a share of the links ignores the groups."""
    rng = np.random.default_rng(n_links)
    group_a = np.repeat(np.arange(len(sizes)), sizes)
    group_b = np.repeat(np.arange(len(sizes)), [size // 3 for size in sizes])
    i = np.repeat(np.arange(len(group_a)), n_links)
    j = np.array([rng.choice(np.flatnonzero(group_b == group_a[k])) for k in i])
    anywhere = rng.random(len(j)) < noise
    j[anywhere] = rng.integers(0, len(group_b), anywhere.sum())
    ends = np.unique(np.column_stack([i, j]), axis=0)
    a = Dataset("a", [f"a{k}" for k in range(len(group_a))])
    b = Dataset("b", [f"b{k}" for k in range(len(group_b))])
    return HeteroData([a, b], [Links("a", "b", *ends.T)]), group_a, group_b


def separated(data: HeteroData, group_a: np.ndarray, group_b: np.ndarray) -> Embedding:
    """Return a map with a round cluster for each group."""
    rng = np.random.default_rng(0)
    k = int(group_a.max()) + 1
    angle = 2 * np.pi * np.arange(k) / k
    centre = 10.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    a, b = (centre[group] + rng.uniform(-1, 1, (len(group), 2)) for group in (group_a, group_b))
    return map_of(data, a, b)


@pytest.mark.parametrize("sizes", [EQUAL, UNEQUAL, (100, 100), (100, 100, 100)])
@pytest.mark.parametrize("n_links", [2, 3, 6])
def test_separated_groups_of_any_number_have_all_links_close(
    sizes: tuple[int, ...], n_links: int
) -> None:
    data, *groups = of_sizes(sizes, n_links)
    values = hetviz.evaluate(data, separated(data, *groups)).to_dict()
    in_group = np.equal.outer(*groups).mean()
    assert values["links_kept_chance"] == pytest.approx(in_group, abs=0.03)
    assert values["links_kept"] >= 0.97


@pytest.mark.parametrize("noise", [0.03, 0.07])
def test_links_between_groups_are_not_close(noise: float) -> None:
    data, *groups = of_sizes(EQUAL, 5, noise)
    (links,) = data.links
    inside = float((groups[0][links.i] == groups[1][links.j]).mean())
    values = hetviz.evaluate(data, separated(data, *groups)).to_dict()
    assert values["links_kept"] == pytest.approx(inside, abs=0.03)


@pytest.mark.parametrize("n_links", [1, 2, 3, 6])
def test_random_links_have_no_groups(n_links: int) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        pairs = np.unique(rng.integers(0, (600, 200), (600 * n_links, 2)), axis=0)
        assert close_share(*pairs.T, 600, 200) == 0.05


@pytest.mark.parametrize("n_linked", [1, 30, 200, 900])
def test_perfect_order_has_all_links_close(n_linked: int) -> None:
    # Items on a line, linked to the nearest ones.
    n = 40
    Y, Z = np.arange(n)[:, None] * 1.0, np.arange(n)[:, None] * 1.0001
    nearest = np.argsort(np.abs(Y - Z.T).ravel(), kind="stable")[:n_linked]
    a, b = (Dataset(name, [f"{name}{k}" for k in range(n)]) for name in "ab")
    data = HeteroData([a, b], [Links("a", "b", *np.divmod(nearest, n))])
    assert hetviz.evaluate(data, map_of(data, Y, Z)).to_dict()["links_kept"] == 1.0


def test_statement_is_ranked_among_all_items() -> None:
    rng = np.random.default_rng(5)
    items = Dataset("a", [f"a{k}" for k in range(200)])
    Y = rng.normal(size=(200, 2))
    far = int(np.argmax(np.linalg.norm(Y - Y[0], axis=1)))
    data = HeteroData([items], [Links("a", "a", [0], [far], kind="said")])
    embedding = Embedding({"a": Y}, {"a": items.ids})
    values = hetviz.evaluate(data, embedding).to_dict()
    assert (values["links_kept"], values["links_kept_chance"]) == (0.0, 0.05)
    result = hetviz.consequences(data, embedding, embedding, list(hetviz.statements(data)["key"]))
    assert (result.kept_before, result.n_said) == (0, 1)


def map_of(data: HeteroData, a: np.ndarray, b: np.ndarray) -> Embedding:
    return Embedding({"a": a, "b": b}, {name: part.ids for name, part in data.datasets.items()})


@pytest.mark.parametrize("seed", range(5))
def test_separated_groups_have_all_links_close(seed: int) -> None:
    data, group_a, group_b = planted(seed)
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * np.arange(6) / 6
    centre = 10 * np.column_stack([np.cos(angle), np.sin(angle)])
    spread = [0.5 * rng.normal(size=(len(group), 2)) for group in (group_a, group_b)]
    values = hetviz.evaluate(
        data, map_of(data, centre[group_a] + spread[0], centre[group_b] + spread[1])
    ).to_dict()
    in_group = (np.equal.outer(group_a, group_b)).mean()
    assert values["links_kept_chance"] == pytest.approx(in_group, abs=0.02)
    assert values["links_kept"] >= 0.97


@pytest.mark.parametrize("seed", range(5))
def test_random_map_has_the_chance_level(seed: int) -> None:
    data, group_a, group_b = planted(seed)
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(len(group_a), 2)), rng.normal(size=(len(group_b), 2))
    values = hetviz.evaluate(data, map_of(data, *places)).to_dict()
    assert values["links_kept"] == pytest.approx(values["links_kept_chance"], abs=0.05)


def test_links_that_are_all_closer_than_other_pairs_are_close() -> None:
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(40, 2))
    far = np.linalg.norm(Y[:, None] - Y[None], axis=2)
    i, j = np.nonzero(far <= np.quantile(far, 0.3))
    a, b = (Dataset(name, [f"{name}{k}" for k in range(40)]) for name in "ab")
    data = HeteroData([a, b], [Links("a", "b", i, j)])
    values = hetviz.evaluate(data, map_of(data, Y, Y)).to_dict()
    assert values["links_kept"] == 1.0
    assert values["links_kept_chance"] >= len(i) / 1600


def test_items_without_links_change_nothing() -> None:
    data, group_a, group_b = planted(0)
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(len(group_a), 2)) + group_a[:, None]
    Z = rng.normal(size=(len(group_b), 2)) + group_b[:, None]
    before = hetviz.evaluate(data, map_of(data, Y, Z)).to_dict()
    a = Dataset("a", [*data["a"].ids, *(f"new {k}" for k in range(500))])
    more = HeteroData([a, data["b"]], data.links)
    after = hetviz.evaluate(more, map_of(more, np.vstack([Y, Y[:500] + 30]), Z)).to_dict()
    for name in ("links_kept", "links_kept_chance", "guidance_area", "link_auc"):
        assert after[name] == before[name]


def test_close_share_without_groups_is_at_least_five_percent() -> None:
    pairs = np.arange(200)
    assert close_share(pairs, pairs, 200, 200) == 0.05
    assert close_share(pairs[:0], pairs[:0], 200) == 0.05
    # Everything is linked with everything, so every pair is close.
    i, j = (side.ravel() for side in np.meshgrid(np.arange(5), np.arange(4)))
    assert close_share(i, j, 5, 4) == 1.0


def test_hidden_links_do_not_move_the_limit() -> None:
    data, _, _ = planted(3)
    train, held_out = data.holdout(links=0.3)
    (every,) = linkable_pairs_of(data).values()
    (parts,) = linkable_pairs_of(train, held_out).values()
    assert parts.share == every.share
    np.testing.assert_array_equal(parts.rows, every.rows)
