"""The first colour of maps whose groups are known: random names, unequal sizes, links only."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.metrics.color_choice import find_best_color

SEEDS = range(8)


def random_names(rng: np.random.Generator, n: int, length: int = 7) -> list[str]:
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return ["".join(rng.choice(letters, length)) for _ in range(n)]


def unequal_groups(rng: np.random.Generator, n: int, n_groups: int) -> np.ndarray:
    """Groups of sizes between 4 and 40 %."""
    share = 0.04 + rng.dirichlet(np.ones(n_groups)) * (1 - 0.04 * n_groups)
    while share.max() > 0.6:
        share = 0.04 + rng.dirichlet(np.ones(n_groups)) * (1 - 0.04 * n_groups)
    return rng.choice(n_groups, n, p=share)


def places_of(rng: np.random.Generator, groups: np.ndarray, spread: float = 0.6) -> np.ndarray:
    centers = rng.normal(size=(groups.max() + 1, 2)) * 4
    return centers[groups] + rng.normal(size=(len(groups), 2)) * spread


def map_of(data: HeteroData, places: Sequence[np.ndarray]) -> Embedding:
    names = {name: part.ids for name, part in data.datasets.items()}
    coordinates = dict(zip(data.datasets, places, strict=True))
    return Embedding(coordinates, names, {name: name for name in data.datasets})


def random_columns(rng: np.random.Generator, n: int) -> dict[str, object]:
    """Columns without any relation to the map, and one with one value in 83 % of the rows."""
    return {
        f"{name} column": np.array(random_names(rng, k))[unequal_groups(rng, n, k)]
        for name, k in zip(random_names(rng, 6), (2, 3, 4, 6, 9, 12), strict=True)
    }


@pytest.mark.parametrize("price", [[0.99, 1.99], [True, False]])
def test_number_of_two_values_is_never_the_first_color(price: list[float]) -> None:
    rng = np.random.default_rng(0)
    side = np.repeat([0, 1], 150)
    table = pd.DataFrame({"price": np.array(price)[side], "note": random_names(rng, 300)})
    data = HeteroData([Dataset("tracks", random_names(rng, 300), table=table)])
    assert find_best_color(data, map_of(data, [places_of(rng, side)])) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_of_a_column_are_the_first_color(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_groups = 400, int(rng.integers(3, 13))
    groups = unequal_groups(rng, n, n_groups)
    places = places_of(rng, groups)
    truth = random_names(rng, 1)[0]
    # Half of the largest difference on the map, but one value has 83 % of the rows.
    is_far = places[:, 0] > np.quantile(places[:, 0], 0.83)
    columns = random_columns(rng, n) | {
        "side": np.where(is_far, np.where(places[:, 1] > 0, "p", "q"), "r"),
        truth: np.array(random_names(rng, n_groups))[groups],
    }
    names = list(columns)
    rng.shuffle(names)
    table = pd.DataFrame({name: columns[name] for name in names})
    data = HeteroData([Dataset("things", random_names(rng, n), table=table)])
    assert find_best_color(data, map_of(data, [places])) == json.dumps(["things", truth])


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_of_linked_items_are_the_first_color(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_makers, n_groups = 500, 60, int(rng.integers(3, 8))
    maker_groups = unequal_groups(rng, n_makers, n_groups)
    maker_groups[:n_groups] = range(n_groups)
    maker = rng.integers(n_makers, size=n)
    # Things lie by the group of their maker, makers have no place.
    places = places_of(rng, maker_groups[maker])
    truth = random_names(rng, 1)[0]
    makers = pd.DataFrame(
        random_columns(rng, n_makers) | {truth: np.array(random_names(rng, n_groups))[maker_groups]}
    )
    things = pd.DataFrame(random_columns(rng, n))
    data = HeteroData(
        [
            Dataset("things", random_names(rng, n), table=things),
            Dataset("makers", random_names(rng, n_makers), table=makers),
        ],
        [Links("things", "makers", range(n), maker)],
    )
    nowhere = np.full((n_makers, 2), np.nan)
    best = find_best_color(data, map_of(data, [places, nowhere]))
    assert best == json.dumps(["makers", truth])


@pytest.mark.parametrize("seed", SEEDS)
def test_linked_items_are_the_first_color_of_datasets_with_links_only(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_firms = 400, int(rng.integers(4, 12))
    firm = unequal_groups(rng, n, n_firms)
    data = HeteroData(
        [Dataset("planes", random_names(rng, n)), Dataset("firms", random_names(rng, n_firms))],
        [Links("firms", "planes", firm, range(n))],
    )
    places = [places_of(rng, firm), rng.normal(size=(n_firms, 2))]
    assert find_best_color(data, map_of(data, places)) == json.dumps(["firms", ""])


@pytest.mark.parametrize("seed", SEEDS)
def test_no_first_color_without_groups_on_the_map(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_makers = 500, 12
    maker = rng.integers(n_makers, size=n)
    makers = pd.DataFrame(random_columns(rng, n_makers * 5).copy()).iloc[:n_makers]
    data = HeteroData(
        [
            Dataset(
                "things",
                random_names(rng, n),
                table=pd.DataFrame(random_columns(rng, n)),
            ),
            Dataset("makers", random_names(rng, n_makers), table=makers),
        ],
        [Links("things", "makers", range(n), maker)],
    )
    places = [rng.normal(size=(n, 2)), rng.normal(size=(n_makers, 2))]
    assert find_best_color(data, map_of(data, places)) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_random_column_of_linked_items_is_not_preferred_to_the_items(seed: int) -> None:
    """Things lie by maker, so that any column of makers agrees between neighbours."""
    rng = np.random.default_rng(seed)
    n, n_makers = 500, 10
    maker = unequal_groups(rng, n, n_makers)
    country = np.array(random_names(rng, 3))[np.arange(n_makers) % 3]
    data = HeteroData(
        [
            Dataset("things", random_names(rng, n)),
            Dataset(
                "makers", random_names(rng, n_makers), table=pd.DataFrame({"country": country})
            ),
        ],
        [Links("things", "makers", range(n), maker)],
    )
    places = [places_of(rng, maker, 0.3), rng.normal(size=(n_makers, 2))]
    assert find_best_color(data, map_of(data, places)) == json.dumps(["makers", ""])


@pytest.mark.parametrize("name", ["trips: how many", "CIK"])
def test_counts_and_numbers_of_registers_are_not_the_first_color(name: str) -> None:
    """How often an item occurs elsewhere says nothing about what it is, nor does a register."""
    rng = np.random.default_rng(0)
    group = unequal_groups(rng, 300, 4)
    table = pd.DataFrame({name: 10 * group, "place": [f"p{k % 3}" for k in group]})
    data = HeteroData([Dataset("things", random_names(rng, 300), table=table)])
    places = [places_of(rng, group, 0.3)]
    assert find_best_color(data, map_of(data, places)) == json.dumps(["things", "place"])
