"""Search of settings: growing grid, unseen test part, cancel and cost."""

from __future__ import annotations

import json

import pytest

import hetviz
from hetviz.data import HeteroData
from hetviz.errors import Cancelled, NotApplicableError, ParameterError
from hetviz.params import Choice, Integer, Real
from hetviz.runs.compare.search import BEST, DEFAULT, SettingsResult, search_values, spans_of
from tests.runs.compare.test_compare import paired_views


@pytest.fixture(scope="module")
def found() -> SettingsResult:
    # The points have three dimensions, so the best number of axes is past the end.
    return hetviz.search_settings(
        paired_views(60), "guided-projection", {"n_components": [1, 2]}, seeds=1, most=8
    )


def test_search_extends_the_grid(found: SettingsResult) -> None:
    assert found.params["n_components"] >= 3
    assert max(found.spans["n_components"]) > 2
    assert found.best == f"axes {found.params['n_components']}"
    assert found.measure == "link_auc_held_out"


def test_search_confirms_on_unseen_guidance(found: SettingsResult) -> None:
    assert found.confirmed is not None
    keys = {candidate.key for candidate in found.confirmed.candidates}
    assert keys == {BEST, DEFAULT}
    train, _ = paired_views(60).holdout(links=0.2, random_state=found.confirmed.seeds[0])
    unseen = {tuple(row) for row in paired_views(60).link_table()[["p", "q"]].to_numpy().tolist()}
    seen = {tuple(row) for row in train.link_table()[["p", "q"]].to_numpy().tolist()}
    assert len(unseen - seen) == 12
    assert "On guidance hidden from the search" in found.sentence
    again = SettingsResult.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.sentence == found.sentence


def test_search_is_deterministic(found: SettingsResult) -> None:
    again = hetviz.search_settings(
        paired_views(60), "guided-projection", {"n_components": [1, 2]}, seeds=1, most=8
    )
    assert again.params == found.params
    measure = found.measure
    keys = [candidate.key for candidate in found.tried.candidates]
    assert [again.tried.mean(k, measure) for k in keys] == [
        found.tried.mean(k, measure) for k in keys
    ]


def test_cancelled_search_keeps_tried_settings() -> None:
    messages: list[str] = []

    def stop(fraction: float, message: str = "", **figures: object) -> None:
        messages.append(message)
        if message.startswith("3 to"):
            raise Cancelled

    with pytest.raises(Cancelled) as stopped:
        hetviz.search_settings(paired_views(), "cca", {"gamma": [0.1], "axis_scale": [0.0, 1.0]},
                               seeds=1, progress=stop)  # fmt: skip
    partial = stopped.value.partial
    assert isinstance(partial, SettingsResult)
    assert not partial.tried.complete
    assert partial.best is not None
    assert "of at most 40" in messages[0]


def test_search_cost_counts_settings_and_fits() -> None:
    cost = hetviz.search_cost(paired_views(), "cca", {"gamma": [0.1, 1.0]}, seeds=3, most=10)
    assert (cost.n_first, cost.n_most, cost.n_splits) == (3, 10, 3)
    assert "From 3 to 10 settings, 3 fits each" in cost.sentence
    fixed = hetviz.search_cost(paired_views(), "cca", {"gamma": [0.1, 1.0]}, grows=False)
    assert fixed.n_most == 3


def test_search_values_by_default() -> None:
    spans = spans_of("guided-projection")
    assert spans["axis_scale"].values == (0.0, 0.5, 1.0, 2.0)
    assert spans["gamma"].values == (0.01, 0.1, 1.0)
    assert spans["n_components"].values == (1, 2, 4)
    assert search_values(Choice(options={"a": "a", "b": "b"}, default="a")) == ["a", "b"]
    assert search_values(Integer(low=1, high=500, default=30)) == [15, 30, 60]
    assert search_values(Real(low=0.0, high=1.0, default=0.3)) == [0.0, 0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gama": [1.0]}, "no parameter 'gama'"),
        ({"gamma": [-1.0]}, "each must be a number"),
        ({"gamma": []}, "give values of gamma"),
    ],
)
def test_search_rejects_bad_settings(settings: dict[str, list[float]], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        hetviz.search_settings(paired_views(), "cca", settings)


def test_search_needs_guidance() -> None:
    with pytest.raises(NotApplicableError, match="hidden links"):
        hetviz.search_settings(HeteroData(paired_views().datasets), "pca", ["n_components"])
    with pytest.raises(ParameterError, match="not measured on these data"):
        hetviz.search_settings(paired_views(), "cca", {"gamma": [0.1]}, seeds=1, measure="nonsense")
