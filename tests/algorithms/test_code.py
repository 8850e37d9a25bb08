"""CODE on datasets: co-occurrences from links and similarities, missing and new items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hetviz.algorithms import code
from hetviz.algorithms.code import CODE
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import Cancelled, DataWarning, NotApplicableError
from hetviz.metrics.fit.summary import evaluate

GROUPS = 4


def world(n: int = 60, tags: int = 24) -> HeteroData:
    """Items with features, and words without features, each linked to one group of items."""
    rng = np.random.default_rng(0)
    group, mine = np.arange(n) % GROUPS, np.arange(tags) % GROUPS
    X = 4.0 * rng.normal(size=(GROUPS, 6))[group] + rng.normal(size=(n, 6))
    items = Dataset("items", [f"i{k}" for k in range(n)], X)
    words = Dataset("words", [f"w{k}" for k in range(tags)])
    i, j = np.nonzero((group[:, None] == mine[None]) & (rng.random((n, tags)) < 0.6))
    return HeteroData([items, words], [Links("items", "words", i, j)])


WORLD = world()


@pytest.mark.parametrize("model", ["MM", "UU", "CM"])
def test_linked_items_are_close_including_held_out_links(model: str) -> None:
    train, held_out = WORLD.holdout(links=0.3)
    fitted = CODE(model=model).fit(train)
    scores = evaluate(WORLD, fitted.embedding_, held_out).to_dict()
    assert scores["link_auc_held_out"] > 0.78
    assert (np.diff(fitted.loss_history_) <= 1e-10).all()
    assert fitted.log_likelihood_ == -fitted.loss_history_[-1]
    assert len(fitted.spread_of_starts_) == 2
    blocks = fitted.diagnostics_["blocks"]
    assert [(part["source"], part["target"]) for part in blocks] == [
        ("items", "items"),
        ("items", "words"),
    ]
    weighed = 0.1 * blocks[0]["log-likelihood"] + blocks[1]["log-likelihood"]
    assert weighed == pytest.approx(fitted.log_likelihood_)


def test_similarity_weight_changes_the_map() -> None:
    keep = {}
    for weight in (0.0, 1.0):
        model = CODE(within_weight=weight).fit(WORLD)
        keep[weight] = evaluate(WORLD, model.embedding_).to_dict()["trustworthiness"]
    assert keep[1.0] > keep[0.0]


def test_new_items_follow_links_and_similarities() -> None:
    model = CODE(n_iter=60).fit(WORLD)
    new = model.transform(
        Dataset("words", ["more", "lost"]),
        [("words", "more", "items", f"i{k}") for k in range(0, 60, GROUPS)],
    ).coordinates["words"]
    assert np.isnan(new[1]).all()
    Y = model.embedding_.coordinates["items"]
    away = np.linalg.norm(Y - new[0], axis=1)
    assert away[::GROUPS].mean() < 0.8 * np.delete(away, np.arange(0, 60, GROUPS)).mean()
    X = np.asarray(WORLD["items"].X)
    between = model.transform(Dataset("items", ["x"], X[[5]] + 0.01)).coordinates["items"][0]
    near = np.linalg.norm(Y - between, axis=1).argsort()[:5]
    assert set(near % GROUPS) == {1}


def test_apart_links_and_items_without_links() -> None:
    words = Dataset("words", [*WORLD["words"].ids, "apart only"])
    more = Links("items", "words", [0], [24], -1.0, kind="apart")
    with pytest.warns(DataWarning, match="1 of words have no similarities"):
        model = CODE(n_iter=5).fit(HeteroData([WORLD["items"], words], [*WORLD.links, more]))
    assert model.embedding_.n_unplaced == 1


def test_refuses_unsuitable_data(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = Links("items", "words", [0, 1], [0, 1], score=[2.0, -1.0])
    data = HeteroData([WORLD["items"].subset(range(8)), WORLD["words"]], [bad])
    with pytest.warns(DataWarning) as caught:
        model = CODE(n_iter=3).fit(data)
    assert any("scores below 0 (1) count as 0" in str(warning.message) for warning in caught)
    assert not model.embedding_.placed["words"][1]
    monkeypatch.setattr(code, "MAX_PAIRS", 100)
    with pytest.raises(NotApplicableError, match="one dataset has 3,600 pairs"):
        CODE().fit(WORLD)


def test_cancel_keeps_the_partial_map() -> None:
    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        if "iteration 5" in message:
            assert figures["layout"]().shape == (84, 2)
            raise Cancelled

    model = CODE()
    with pytest.raises(Cancelled) as caught:
        model.fit(WORLD, progress=stop)
    assert caught.value.partial is model.embedding_
    assert model.n_iter_ == 5
