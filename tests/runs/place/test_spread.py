"""Spread of positions over refits with resampled links."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import hetviz
from hetviz.core import compiled
from hetviz.core.layout import sne
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.errors import Cancelled, NotApplicableError, ParameterError
from hetviz.metrics.trust.spread import Spread
from hetviz.runs.embed.run import fit_run

N, N_OTHERS, N_GROUPS, N_EACH = 240, 90, 5, 30
STABLE, RANDOM, ONE_LINK = 0, 1, 2


@cache
def planted(seed: int = 0) -> tuple[HeteroData, np.ndarray]:
    """Items in groups with links; 30 have random features, and 30 others one link as well."""
    rng = np.random.default_rng(seed)
    group, other = rng.integers(0, N_GROUPS, N), np.arange(N_OTHERS) % N_GROUPS
    X = 3.0 * rng.standard_normal((N_GROUPS, 10))[group] + rng.standard_normal((N, 10))
    kind = np.full(N, STABLE)
    kind[:N_EACH], kind[N_EACH : 2 * N_EACH] = RANDOM, ONE_LINK
    X[kind != STABLE] = 4.0 * rng.standard_normal((2 * N_EACH, 10))
    pairs = [
        (row, int(end))
        for row in range(N)
        for end in rng.choice(
            np.flatnonzero(other == group[row]),
            {STABLE: 5, RANDOM: 0, ONE_LINK: 1}[int(kind[row])],
            replace=False,
        )
    ]
    i, j = np.array(pairs).T
    items = Dataset("items", [f"i{row}" for row in range(N)], X=X)
    others = Dataset("others", [f"o{row}" for row in range(N_OTHERS)])
    return HeteroData([items, others], [Links("items", "others", i, j)]), kind


@cache
def map_by(method: str) -> Embedding:
    return hetviz.embed(planted()[0], method)


@cache
def spread_of(method: str) -> Spread:
    return hetviz.spread(planted()[0], map_by(method))


@pytest.mark.parametrize("method", ["joint-map", "mr-sne"])
def test_spread_is_larger_for_items_without_support(method: str) -> None:
    _, kind = planted()
    spread = spread_of(method)
    own = spread.share[:N]
    assert spread.n_refits == 8
    assert np.median(own[kind == RANDOM]) > 1.3 * np.median(own[kind == STABLE])
    assert np.nanmedian(own) < spread.chance / 3


def test_refits_may_lack_a_rare_kind_of_links() -> None:
    data, _ = planted()
    rare = Links("items", "others", [0, 1], [0, 1], kind="rare")
    data = HeteroData(list(data.datasets.values()), [*data.links, rare])
    assert hetviz.spread(data, hetviz.embed(data, "joint-map")).n_refits == 8


def test_spread_is_the_same_on_one_and_two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = planted()
    embedding = map_by("joint-map")
    # Small maps are laid out on one thread otherwise.
    monkeypatch.setattr(sne, "ONE_THREAD_ROWS", 100)
    results = []
    for threads in (1, 2):
        monkeypatch.setattr(compiled, "available_threads", partial(int, threads))
        with threadpool_limits(threads):
            results.append(hetviz.spread(data, embedding).share.tobytes())
    assert results[0] == results[1]


def test_spread_depends_on_the_seed_only() -> None:
    first = spread_of("mr-sne").share
    again, other = (
        hetviz.spread(planted()[0], map_by("mr-sne"), random_state=seed).share for seed in (0, 1)
    )
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


def test_spread_of_some_rows_leaves_the_others_empty() -> None:
    data, _ = planted()
    only = np.arange(60, data.n_rows)
    result = fit_run(data, "mr-sne", only=only).result
    spread = hetviz.spread(data, result.embedding, run=result)
    assert np.isnan(spread.share[:60]).all() and np.isfinite(spread.share[only]).any()
    assert (spread.n_placed[:60] == 0).all()
    frame = spread.frame()
    assert frame.columns.tolist() == ["dataset", "id", "spread", "error", "refits"]
    assert frame["id"].tolist() == [id for part in data.datasets.values() for id in part.ids]


def test_spread_refits_other_methods_in_full() -> None:
    data, _ = planted()
    spread = hetviz.spread(data, hetviz.embed(data, "code", n_components=2, n_iter=20))
    assert spread.n_refits == 3 and spread.resampled
    assert "3 refits with resampled links" in spread.sentence


def test_spread_without_links_varies_the_start_only() -> None:
    data = HeteroData([planted()[0]["items"]])
    spread = hetviz.spread(data, hetviz.embed(data, "mr-sne"))
    assert not spread.resampled and "resampled" not in spread.sentence
    with pytest.raises(NotApplicableError, match="no links to resample"):
        hetviz.spread(data, hetviz.embed(data, "pca"))


@pytest.mark.parametrize("method", ["joint-map", "graph-axes"])
def test_spread_is_larger_for_items_with_one_link(method: str) -> None:
    _, kind = planted()
    own = spread_of(method).share[:N]
    assert np.median(own[kind == ONE_LINK]) > 1.3 * np.median(own[kind == STABLE])


def test_spread_keeps_links_of_a_person() -> None:
    items = planted()[0]["items"]
    said = Links("items", "items", np.arange(0, 40, 2), np.arange(1, 40, 2), kind="said")
    data = HeteroData([items], [said])
    assert not hetviz.spread(data, hetviz.embed(data, "mr-sne")).resampled


def test_spread_needs_to_know_the_method() -> None:
    data, _ = planted()
    Y = np.random.default_rng(0).random((data.n_rows, 2))
    plain = Embedding(
        {name: Y[rows] for name, rows in data.offsets.items()},
        {name: dataset.ids for name, dataset in data.datasets.items()},
    )
    with pytest.raises(ParameterError, match="how this map was made"):
        hetviz.spread(data, plain)


def test_spread_can_be_cancelled_without_a_map() -> None:
    data, embedding = planted()[0], map_by("mr-sne")

    def stop(share: float, message: str = "", **figures: object) -> None:
        if share > 0.2:
            raise Cancelled

    with pytest.raises(Cancelled) as stopped:
        hetviz.spread(data, embedding, progress=stop)
    assert stopped.value.partial is None
