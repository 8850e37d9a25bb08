"""Comparison of methods: splits, errors over seeds, failures, cancel and recommendation."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz._text import format_seconds, per_hundred
from hetviz.core.measures.resolution import least_significant_difference
from hetviz.data import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz.errors import Cancelled, HetvizError, ParameterError
from hetviz.params import Choice, Flag, Integer, PerDataset, Real
from hetviz.runs.compare import compare as engine
from hetviz.runs.compare.comparison import Candidate, Comparison, FitScores
from hetviz.runs.compare.measures import MEASURES, overall
from hetviz.runs.compare.sweep import sweep_values
from hetviz.runs.embed.run import fit_run

QUICK = ["pca", "guided-projection", "cdmca"]


def paired_views(n: int = 40, with_comparisons: bool = False) -> HeteroData:
    """Two views of the same n points, each point linked with itself in the other dataset."""
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(n, 3))
    a = Dataset("a", [f"a{k}" for k in range(n)], Z @ rng.normal(size=(3, 6)))
    b = Dataset("b", [f"b{k}" for k in range(n)], Z @ rng.normal(size=(3, 5)))
    rows = rng.integers(0, 2 * n, size=(60, 3))
    rows = rows[[len(set(row)) == 3 for row in rows.tolist()]]
    comparisons = Comparisons(rows) if with_comparisons else None
    return HeteroData([a, b], [Links("a", "b", range(n), range(n))], comparisons)


def comparison_of_shares(
    values: dict[str, list[float]],
    steps: dict[str, int] | None = None,
    seconds: dict[str, float] | None = None,
) -> Comparison:
    """Return a comparison with these shares of unseen links by candidate and split."""
    candidates = [Candidate(key, key, key.upper(), {}, (steps or {}).get(key, 0)) for key in values]
    fits = [
        FitScores(key, seed, (seconds or {}).get(key, 1.0), {"links_kept_held_out": value}, {})
        for key, shares in values.items()
        for seed, value in enumerate(shares)
    ]
    n = max(map(len, values.values()))
    return Comparison(tuple(candidates), tuple(fits), {}, tuple(range(n)), 0.2)


def test_compare_uses_the_same_splits_for_all_methods() -> None:
    data = paired_views()
    comparison = hetviz.compare(data, QUICK, seeds=2)
    assert [(fit.key, fit.seed) for fit in comparison.fits] == [
        (k, s) for s in (0, 1) for k in QUICK
    ]
    for seed in (0, 1):
        alone = fit_run(data, "cdmca", {}, seed, hold_out=0.2)
        expected = hetviz.evaluate(
            alone.scope.measured, alone.result.embedding, alone.scope.held_out
        )
        fit = next(fit for fit in comparison.fits if (fit.key, fit.seed) == ("cdmca", seed))
        assert {k: fit.scores[k] for k in expected.to_dict()} == expected.to_dict()


def test_table_has_means_and_standard_errors() -> None:
    comparison = hetviz.compare(paired_views(), QUICK, seeds=3)
    table = comparison.table
    assert comparison.decides == "overall"
    assert table["overall"].is_monotonic_decreasing
    close = table["links_kept_held_out"]
    values = [fit.scores["links_kept_held_out"] for fit in comparison.fits if fit.key == "cdmca"]
    assert close["cdmca"] == pytest.approx(np.mean(values))
    error = np.std(values, ddof=1) / math.sqrt(3)
    assert table.loc["cdmca", "links_kept_held_out_se"] == pytest.approx(error)
    assert list(table["failed"]) == ["", "", ""]
    assert comparison.mean("pca", "links_kept_held_out") < comparison.mean(
        "cdmca", "links_kept_held_out"
    )


def test_links_kept_is_a_point_of_the_curve() -> None:
    comparison = hetviz.compare(paired_views(), ["cdmca"], seeds=2)
    for kind, key in (("given", "links_kept"), ("held_out", "links_kept_held_out")):
        x, y, (chance, value) = comparison.curves["cdmca"][kind]
        assert value == pytest.approx(comparison.mean("cdmca", key), abs=1e-6)
        assert chance == pytest.approx(comparison.chance(key), abs=1e-6)
        assert (x[0], y[0], x[-1], y[-1]) == (0.0, 0.0, 1.0, 1.0)


def test_links_of_unplaced_items_are_not_close() -> None:
    data = paired_views(10)
    embedding = hetviz.embed(data, "cdmca")
    all_placed = engine.measure_map(data, embedding, None)[1]["given"][1]
    a = np.array(embedding.coordinates["a"])
    a[:5] = np.nan
    half = hetviz.Embedding({"a": a, "b": embedding.coordinates["b"]}, embedding.ids)
    close = engine.measure_map(data, half, None)[1]["given"][1]
    assert (all_placed[-1], close[-1]) == (1.0, 0.5)
    a[:] = np.nan
    gone = hetviz.Embedding({"a": a, "b": embedding.coordinates["b"]}, embedding.ids)
    assert engine.measure_map(data, gone, None)[0]["links_kept"] == 0.0


def test_compare_is_deterministic_except_for_times() -> None:
    def shorn() -> dict[str, Any]:
        content = hetviz.compare(
            paired_views(with_comparisons=True), ["pca", "mr-sne"], seeds=2
        ).to_dict()
        for entry in [*content["fits"], *content["table"]]:
            entry["seconds"] = entry["seconds_se"] = None
        # The sentence may mention times.
        del content["recommendation"]["sentence"]
        return content

    assert shorn() == shorn()


def test_compare_holds_out_comparisons() -> None:
    comparison = hetviz.compare(paired_views(with_comparisons=True), QUICK, seeds=1)
    assert "comparison_accuracy_held_out" in comparison.measures
    without_links = HeteroData(
        paired_views().datasets, (), paired_views(with_comparisons=True).comparisons
    )
    assert hetviz.compare(without_links, ["pca"], seeds=1).decides == "overall"
    bare = HeteroData(paired_views().datasets)
    assert hetviz.compare(bare, ["pca"], seeds=1).decides == "trustworthiness"


def test_overall_is_the_mean_over_sorts_times_share_placed() -> None:
    links = {"link_auc_held_out": 0.9, "links_kept_held_out": 0.5, "degree_auc_held_out": 0.8}
    others = {"trustworthiness": 0.6, "label_knn_accuracy": 0.4}
    assert overall(links | others) == pytest.approx((0.7 + 0.8 + 0.6 + 0.4) / 4)
    assert overall(links | others | {"placed": 0.5}) == pytest.approx(0.3125)
    assert overall(links | others | {"links_kept": 0.9}) == pytest.approx(
        (0.7 + 0.8 + 0.9 + 0.6 + 0.4) / 5
    )
    # Training links alone do not count.
    assert overall({"links_kept": 0.9, "trustworthiness": 0.6}) is None


def test_methods_that_see_labels_have_no_overall_score() -> None:
    data = paired_views().edit().add(Labels("a", "kind", ["x", "y"] * 20))
    comparison = hetviz.compare(data, ["gbc", "pca"], seeds=1)
    assert comparison.recommendation.method == "pca"
    assert comparison.failures == {}


def test_new_items_are_left_out_and_placed() -> None:
    comparison = hetviz.compare(
        paired_views(with_comparisons=True), ["cdmca", "gnmds"], seeds=2, new_items=0.2
    )
    scores = {fit.key: fit.scores for fit in comparison.fits}
    # Two exact views of points in three dimensions: the right place follows from features.
    assert scores["cdmca"]["links_kept_new_items"] > 0.3
    assert "links_kept_new_items" not in scores["gnmds"]
    assert math.isnan(comparison.table["links_kept_new_items"]["gnmds"])
    assert "left off the map" in comparison.notes["gnmds"][0]
    assert scores["gnmds"]["placed"] < 1


def test_compare_continues_after_failures(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fit(data: HeteroData, key: str, *args: Any) -> Any:
        if key == "pca":
            raise ZeroDivisionError("secret detail")
        if key == "lpp":
            raise MemoryError
        return fit_run(data, key, *args)

    monkeypatch.setattr(engine, "fit_run", fit)
    comparison = hetviz.compare(paired_views(), ["pca", "gnmds", "lpp", "cdmca"], seeds=2)
    assert "a bug in hetviz" in comparison.failures["pca"]
    assert "secret" not in json.dumps(comparison.to_dict())
    assert "secret" in caplog.text
    assert "comparisons" in comparison.failures["gnmds"]
    assert "memory" in comparison.failures["lpp"]
    assert list(comparison.refusals) == ["gnmds"]
    assert set(comparison.errors) == {"pca", "lpp"}
    assert [fit.key for fit in comparison.fits] == ["cdmca", "cdmca"]
    assert comparison.recommendation.method == "cdmca"
    assert comparison.table.index[0] == "cdmca"


def test_recommendation_skips_methods_with_failures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fit(data: HeteroData, key: str, params: Any, seed: int, progress: Any) -> Any:
        if key == "cdmca" and seed == 1:
            raise HetvizError("No.")
        return fit_run(data, key, params, seed, progress)

    monkeypatch.setattr(engine, "fit_run", fit)
    comparison = hetviz.compare(paired_views(), ["cdmca", "pca"], seeds=2)
    assert comparison.failures == {"cdmca": "With seed 1: No."}
    assert comparison.table.loc["cdmca", "n_fits"] == 1
    assert comparison.recommendation.method == "pca"


def test_progress_reports_each_method() -> None:
    reports: list[tuple[float, list[tuple[str, float, str]]]] = []
    hetviz.compare(
        paired_views(),
        ["pca", "gnmds", "mr-sne"],
        seeds=2,
        progress=lambda fraction, message="", **figures: reports.append(
            (fraction, figures["parts"])
        ),
    )
    fractions = [fraction for fraction, _ in reports]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    for place in range(3):
        shares = [parts[place][1] for _, parts in reports]
        assert shares == sorted(shares)
    assert {parts[2][2] for _, parts in reports} == {"waiting", "running", "done"}
    assert [state for _, _, state in reports[-1][1]] == ["done", "failed", "done"]


def test_cancel_keeps_complete_fits() -> None:
    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        if fraction > 0.55:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled) as stopped:
        hetviz.compare(paired_views(), ["pca", "cdmca"], seeds=2, progress=stop)
    comparison = stopped.value.partial
    assert isinstance(comparison, Comparison)
    assert not comparison.complete
    assert [(fit.key, fit.seed) for fit in comparison.fits] == [("pca", 0), ("cdmca", 0)]
    assert set(comparison.embeddings) == {"pca", "cdmca"}
    assert comparison.recommendation.method == "cdmca"


def test_comparison_round_trip_through_json() -> None:
    comparison = hetviz.compare(paired_views(), ["pca", "cdmca", "gnmds"], seeds=2)
    again = Comparison.from_dict(json.loads(json.dumps(comparison.to_dict(), allow_nan=False)))
    assert again.recommendation == comparison.recommendation
    assert again.table.equals(comparison.table)
    assert (again.failures, again.notes) == (comparison.failures, comparison.notes)
    # The earlier definition of close links, the closest 5 % of pairs, had no chance level.
    content = json.loads(json.dumps(comparison.to_dict()))
    for fit in content["fits"]:
        fit["scores"].pop("links_kept_chance")
    left_out = set(comparison.measures) - set(Comparison.from_dict(content).measures)
    assert left_out == {"links_kept", "links_kept_chance"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"seeds": 0},
        {"hold_out": 1.0},
        {"new_items": -0.1},
        {"methods": []},
        {"methods": ["pac"]},
        {"params": {"cca": {}}},
        {"params": {"pca": {"no": 1}}},
    ],
)
def test_compare_rejects_bad_arguments(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        hetviz.compare(paired_views(), **({"methods": ["pca"]} | wrong))


# --- recommendation -------------------------------------------------------------------------------


def test_recommendation_of_a_clear_winner() -> None:
    comparison = comparison_of_shares({"a": [0.46, 0.47, 0.48], "b": [0.30, 0.31, 0.32]})
    assert comparison.recommendation.method == "a"
    assert comparison.recommendation.sentence == (
        "Take A. It is best at finding hidden links again (47 %). Next is B (31 %). "
        "The difference over 3 splits is larger than chance (95 %)."
    )


def test_recommendation_of_a_tie_takes_the_simpler_method() -> None:
    comparison = comparison_of_shares(
        {"slow": [0.40, 0.50, 0.45], "plain": [0.41, 0.46, 0.45]},
        {"slow": 1},
        {"slow": 28.0, "plain": 0.03},
    )
    assert comparison.tied() == ["slow", "plain"]
    assert comparison.recommendation == (
        "plain",
        "SLOW and PLAIN tie at 44 to 45 % over 3 splits. "
        "Their differences may be chance. "
        "Take PLAIN, which is solved in one step and faster (0.03 s instead of 28 s).",
    )


def test_tied_uses_the_error_of_paired_differences() -> None:
    # The splits differ by far more than the methods, but b is behind on each of them.
    comparison = comparison_of_shares({"a": [0.20, 0.50, 0.80], "b": [0.18, 0.48, 0.78]})
    assert comparison.tied() == ["a"]


def test_places_groups_indistinguishable_candidates() -> None:
    comparison = comparison_of_shares(
        {
            "a": [0.46, 0.48, 0.47],
            # Behind by 0.01 with error 0.0058: within 4.30 errors, Student's t for three splits.
            "b": [0.45, 0.46, 0.47],
            # Behind by 0.1 on each split.
            "c": [0.36, 0.38, 0.37],
            "d": [0.35, 0.39, 0.37],
        }
    )
    assert comparison.places() == [["a", "b"], ["c", "d"]]
    assert comparison_of_shares({"a": [0.47], "b": [0.46], "c": [0.46]}).places() == [
        ["a"],
        ["b", "c"],
    ]
    low, high = comparison.interval("a", "links_kept_held_out")
    assert (low, high) == pytest.approx(
        (0.47 - 4.3027 * 0.005774, 0.47 + 4.3027 * 0.005774), abs=1e-4
    )


def test_joined_merges_comparisons_of_the_same_splits() -> None:
    data = paired_views()
    both = hetviz.compare(data, ["pca", "cdmca"], seeds=2)
    first, second = hetviz.compare(data, ["pca"], seeds=2), hetviz.compare(data, ["cdmca"], seeds=2)
    joined = first.joined(second)
    assert joined is not None
    assert joined.table.drop(columns=["seconds", "seconds_se"]).equals(
        both.table.drop(columns=["seconds", "seconds_se"])
    )
    # A repeated candidate replaces the earlier one, and other splits cannot be joined.
    again = first.joined(first)
    assert again is not None
    assert len(again.fits) == 2
    assert first.joined(hetviz.compare(data, ["cdmca"], seeds=1)) is None


def test_recommendation_mentions_a_single_split() -> None:
    comparison = comparison_of_shares({"a": [0.47], "b": [0.46]})
    assert comparison.tied() == ["a"]
    assert "One split gives no error" in comparison.recommendation.sentence


def test_recommendation_mentions_chance_level() -> None:
    sentence = comparison_of_shares({"a": [0.04, 0.05, 0.045]}).recommendation.sentence
    assert sentence.endswith("That is no better than chance (5 %).")


def test_verdict_names_all_that_share_the_first_rank() -> None:
    # b is behind by more than one standard error, but within Student's t of three splits.
    comparison = comparison_of_shares({"a": [0.46, 0.48, 0.47], "b": [0.45, 0.46, 0.47]})
    assert (comparison.tied(), comparison.places()) == (["a"], [["a", "b"]])
    assert comparison.recommendation.sentence == (
        "A and B tie at 46 to 47 % over 3 splits. Their differences may be chance. "
        "Take A, which has the highest mean."
    )


def test_recommendation_is_none_without_measures() -> None:
    empty = Comparison((Candidate("a", "a", "A"),), (), {"a": "No."}, (0,), 0.2)
    assert empty.recommendation.method is None
    assert empty.curves == {}
    assert list(empty.table.index) == ["a"]


def test_recommend_by_another_measure() -> None:
    comparison = hetviz.compare(paired_views(), QUICK, seeds=1)
    assert comparison.recommend("trustworthiness").method == comparison.best("trustworthiness")
    assert comparison.best("links_kept") in ("cdmca", "guided-projection")
    assert set(comparison.measures[:2]) <= set(MEASURES)


@pytest.mark.parametrize(
    ("value", "words"), [(0.468, "47"), (0.004, "0.4"), (0.0, "0"), (1.0, "100"), (0.0095, "1")]
)
def test_per_hundred_formats_shares(value: float, words: str) -> None:
    assert per_hundred(value) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.001, "0.01 s"), (0.03, "0.03 s"), (0.1, "0.1 s"), (28.2, "28 s"), (180.0, "3 min")],
)
def test_format_seconds_uses_units(seconds: float, words: str) -> None:
    assert format_seconds(seconds) == words


# --- sweep ----------------------------------------------------------------------------------------


def test_sweep_fits_each_value() -> None:
    comparison = hetviz.sweep(
        paired_views(), "guided-projection", "kernel", [None, "linear"], seeds=2
    )
    assert [candidate.title for candidate in comparison.candidates] == ["None", "linear"]
    assert len(comparison.fits) == 4
    assert comparison.candidates[1].params == {"kernel": "linear"}


def test_sweep_rejects_unknown_parameters_and_no_values() -> None:
    with pytest.raises(ParameterError, match="no parameter 'kernle'"):
        hetviz.sweep(paired_views(), "guided-projection", "kernle")
    with pytest.raises(ParameterError, match="give values"):
        hetviz.sweep(paired_views(), "guided-projection", "kernel", [])


@pytest.mark.parametrize(
    ("param", "values"),
    [
        (Flag("", default=True), [False, True]),
        (Choice("", default="a", options={"a": "", "b": ""}), ["a", "b"]),
        (Real("", default=0.5, low=0.0, high=1.0), [0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0]),
        (Real("", default=1.0, low=0.0, log=True), [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0]),
        (Integer("", default=2, low=1, high=5), [1, 2, 4, 5]),
        (PerDataset("", default=False, inner=Flag("")), [False, True]),
        (PerDataset("", default={"a": 1}, inner=Flag("")), []),
    ],
)
def test_sweep_values_follow_the_declaration(param: Any, values: list[Any]) -> None:
    assert sweep_values(param) == values


def test_limits_name_ceiling_and_resolution() -> None:
    comparison = comparison_of_shares({"a": [0.5, 0.62, 0.55], "b": [0.4, 0.5, 0.44]})
    measure = "links_kept_held_out"
    values = [comparison.values(key, measure) for key in "ab"]
    assert comparison.resolution(measure) == pytest.approx(least_significant_difference(values))
    first = replace(comparison.fits[0], ceilings={measure: 0.7}, resolutions={measure: 0.3})
    capped = replace(comparison, fits=(first,))
    assert (capped.ceiling(measure), capped.resolution(measure)) == (0.7, 0.3)
    words = "The best possible value here is 70 %"
    assert capped.limits(measure).startswith(words)
    again = Comparison.from_dict(capped.to_dict())
    assert again.limits(measure) == capped.limits(measure)
    # Older files have no ceilings.
    content = comparison.to_dict()
    content["fits"] = [{k: v for k, v in fit.items() if k != "ceilings"} for fit in content["fits"]]
    assert Comparison.from_dict(content).ceiling(measure) == 1.0
