"""Comparing methods: the same splits for all, errors over seeds, failures told, cancel, advice."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz._text import format_seconds, per_hundred
from hetviz.core.measures.resolution import least_significant
from hetviz.data import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz.errors import Cancelled, HetvizError, ParameterError
from hetviz.params import Choice, Flag, Integer, PerDataset, Real
from hetviz.runs.compare import compare as engine
from hetviz.runs.compare.comparison import Candidate, Comparison, Fitted
from hetviz.runs.compare.measures import MEASURES, overall
from hetviz.runs.compare.sweep import sweep_values
from hetviz.runs.embed.run import fit_run

QUICK = ["pca", "guided-projection", "cdmca"]


def pairs(n: int = 40, compared: bool = False) -> HeteroData:
    """Two views of the same n points, each point linked with itself in the other dataset."""
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(n, 3))
    a = Dataset("a", [f"a{k}" for k in range(n)], Z @ rng.normal(size=(3, 6)))
    b = Dataset("b", [f"b{k}" for k in range(n)], Z @ rng.normal(size=(3, 5)))
    rows = rng.integers(0, 2 * n, size=(60, 3))
    rows = rows[[len(set(row)) == 3 for row in rows.tolist()]]
    said = Comparisons(rows) if compared else None
    return HeteroData([a, b], [Links("a", "b", range(n), range(n))], said)


def made(
    values: dict[str, list[float]],
    steps: dict[str, int] | None = None,
    seconds: dict[str, float] | None = None,
) -> Comparison:
    """Return a comparison with these shares of unseen links by candidate and split."""
    candidates = [Candidate(key, key, key.upper(), {}, (steps or {}).get(key, 0)) for key in values]
    fits = [
        Fitted(key, seed, (seconds or {}).get(key, 1.0), {"links_kept_held_out": value}, {})
        for key, shares in values.items()
        for seed, value in enumerate(shares)
    ]
    n = max(map(len, values.values()))
    return Comparison(tuple(candidates), tuple(fits), {}, tuple(range(n)), 0.2)


def test_every_method_is_fitted_to_the_same_splits_with_the_same_seeds() -> None:
    data = pairs()
    found = hetviz.compare(data, QUICK, seeds=2)
    assert [(fit.key, fit.seed) for fit in found.fits] == [(k, s) for s in (0, 1) for k in QUICK]
    for seed in (0, 1):
        alone = fit_run(data, "cdmca", {}, seed, hold_out=0.2)
        expected = hetviz.evaluate(alone.scope.shown, alone.embedding, alone.scope.held_out)
        fit = next(fit for fit in found.fits if (fit.key, fit.seed) == ("cdmca", seed))
        assert {k: fit.scores[k] for k in expected.to_dict()} == expected.to_dict()


def test_the_table_has_means_and_standard_errors_best_first() -> None:
    found = hetviz.compare(pairs(), QUICK, seeds=3)
    table = found.table
    assert found.decides == "overall"
    assert table["overall"].is_monotonic_decreasing
    kept = table["links_kept_held_out"]
    values = [fit.scores["links_kept_held_out"] for fit in found.fits if fit.key == "cdmca"]
    assert kept["cdmca"] == pytest.approx(np.mean(values))
    error = np.std(values, ddof=1) / math.sqrt(3)
    assert table.loc["cdmca", "links_kept_held_out_se"] == pytest.approx(error)
    assert list(table["failed"]) == ["", "", ""]
    assert found.mean("pca", "links_kept_held_out") < found.mean("cdmca", "links_kept_held_out")


def test_what_is_kept_is_read_off_the_curve_that_is_drawn() -> None:
    found = hetviz.compare(pairs(), ["cdmca"], seeds=2)
    for kind, key in (("given", "links_kept"), ("held_out", "links_kept_held_out")):
        x, y = found.curves["cdmca"][kind]
        assert np.interp(0.05, x, y) == pytest.approx(found.mean("cdmca", key), abs=1e-6)
        assert (x[0], y[0], x[-1], y[-1]) == (0.0, 0.0, 1.0, 1.0)


def test_links_of_items_without_a_place_are_not_kept() -> None:
    data = pairs(10)
    embedding = hetviz.embed(data, "cdmca")
    whole = engine.judged(data, embedding, None)[1]["given"][1]
    a = np.array(embedding.coordinates["a"])
    a[:5] = np.nan
    half = hetviz.Embedding({"a": a, "b": embedding.coordinates["b"]}, embedding.ids)
    kept = engine.judged(data, half, None)[1]["given"][1]
    assert (whole[-1], kept[-1]) == (1.0, 0.5)
    a[:] = np.nan
    gone = hetviz.Embedding({"a": a, "b": embedding.coordinates["b"]}, embedding.ids)
    assert engine.judged(data, gone, None)[0]["links_kept"] == 0.0


def test_the_same_arguments_give_the_same_but_for_the_seconds() -> None:
    def shorn() -> dict[str, Any]:
        found = hetviz.compare(pairs(compared=True), ["pca", "mr-sne"], seeds=2).to_dict()
        for entry in [*found["fits"], *found["table"]]:
            entry["seconds"] = entry["seconds_se"] = None
        # Its choice does not depend on the time, but it tells of it.
        del found["recommendation"]["sentence"]
        return found

    assert shorn() == shorn()


def test_comparisons_are_held_out_too() -> None:
    found = hetviz.compare(pairs(compared=True), QUICK, seeds=1)
    assert "comparison_accuracy_held_out" in found.measures
    without_links = HeteroData(pairs().datasets, (), pairs(compared=True).comparisons)
    assert hetviz.compare(without_links, ["pca"], seeds=1).decides == "overall"
    bare = HeteroData(pairs().datasets)
    assert hetviz.compare(bare, ["pca"], seeds=1).decides == "trustworthiness"


def test_overall_is_the_mean_of_sorts_of_measures_by_the_share_of_items_with_a_place() -> None:
    links = {"link_auc_held_out": 0.9, "links_kept_held_out": 0.5, "degree_auc_held_out": 0.8}
    rest = {"trustworthiness": 0.6, "label_knn_accuracy": 0.4}
    assert overall(links | rest) == pytest.approx((0.7 + 0.8 + 0.6 + 0.4) / 4)
    assert overall(links | rest | {"placed": 0.5}) == pytest.approx(0.3125)
    # what a map was shown says nothing of what it shows
    assert overall({"links_kept": 0.9, "trustworthiness": 0.6}) is None


def test_what_is_shown_the_labels_is_not_judged_by_them() -> None:
    data = pairs().edit().add(Labels("a", "kind", ["x", "y"] * 20))
    found = hetviz.compare(data, ["gbc", "pca"], seeds=1)
    assert found.recommendation.method == "pca"
    assert found.failures == {}


def test_whole_items_are_held_out_and_placed_by_methods_that_can() -> None:
    found = hetviz.compare(pairs(compared=True), ["cdmca", "gnmds"], seeds=2, new_items=0.2)
    scores = {fit.key: fit.scores for fit in found.fits}
    # Points of three dimensions whose two views are exact: the right place follows from features.
    assert scores["cdmca"]["links_kept_new_items"] > 0.3
    assert "links_kept_new_items" not in scores["gnmds"]
    assert math.isnan(found.table["links_kept_new_items"]["gnmds"])
    assert "left off the map" in found.notes["gnmds"][0]
    assert scores["gnmds"]["placed"] < 1


def test_a_method_that_does_not_suit_or_breaks_is_told_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fit(data: HeteroData, key: str, *rest: Any) -> Any:
        if key == "pca":
            raise ZeroDivisionError("secret detail")
        if key == "lpp":
            raise MemoryError
        return fit_run(data, key, *rest)

    monkeypatch.setattr(engine, "fit_run", fit)
    found = hetviz.compare(pairs(), ["pca", "gnmds", "lpp", "cdmca"], seeds=2)
    assert "a fault of hetviz" in found.failures["pca"]
    assert "secret" not in json.dumps(found.to_dict())
    assert "secret" in caplog.text
    assert "comparisons" in found.failures["gnmds"]
    assert "memory" in found.failures["lpp"]
    assert list(found.refusals) == ["gnmds"]
    assert set(found.errors) == {"pca", "lpp"}
    assert [fit.key for fit in found.fits] == ["cdmca", "cdmca"]
    assert found.recommendation.method == "cdmca"
    assert found.table.index[0] == "cdmca"


def test_a_method_that_fails_on_one_split_is_not_recommended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fit(data: HeteroData, key: str, params: Any, seed: int, progress: Any) -> Any:
        if key == "cdmca" and seed == 1:
            raise HetvizError("No.")
        return fit_run(data, key, params, seed, progress)

    monkeypatch.setattr(engine, "fit_run", fit)
    found = hetviz.compare(pairs(), ["cdmca", "pca"], seeds=2)
    assert found.failures == {"cdmca": "With seed 1: No."}
    assert found.table.loc["cdmca", "n_fits"] == 1
    assert found.recommendation.method == "pca"


def test_progress_tells_of_each_method_and_never_falls() -> None:
    told: list[tuple[float, list[tuple[str, float, str]]]] = []
    hetviz.compare(
        pairs(),
        ["pca", "gnmds", "mr-sne"],
        seeds=2,
        progress=lambda fraction, message="", **figures: told.append((fraction, figures["parts"])),
    )
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    for place in range(3):
        shares = [parts[place][1] for _, parts in told]
        assert shares == sorted(shares)
    assert {parts[2][2] for _, parts in told} == {"waiting", "running", "done"}
    assert [state for _, _, state in told[-1][1]] == ["done", "failed", "done"]


def test_cancel_keeps_what_is_complete() -> None:
    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        if fraction > 0.55:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled) as stopped:
        hetviz.compare(pairs(), ["pca", "cdmca"], seeds=2, progress=stop)
    found = stopped.value.partial
    assert isinstance(found, Comparison)
    assert not found.complete
    assert [(fit.key, fit.seed) for fit in found.fits] == [("pca", 0), ("cdmca", 0)]
    assert set(found.embeddings) == {"pca", "cdmca"}
    assert found.recommendation.method == "cdmca"


def test_it_reads_back_what_it_wrote() -> None:
    found = hetviz.compare(pairs(), ["pca", "cdmca", "gnmds"], seeds=2)
    again = Comparison.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert again.recommendation == found.recommendation
    assert again.table.equals(found.table)
    assert (again.failures, again.notes) == (found.failures, found.notes)


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
def test_wrong_arguments_are_refused_before_anything_runs(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        hetviz.compare(pairs(), **({"methods": ["pca"]} | wrong))


# --- advice ---------------------------------------------------------------------------------------


def test_a_clear_winner_is_recommended_with_its_numbers() -> None:
    found = made({"a": [0.46, 0.47, 0.48], "b": [0.30, 0.31, 0.32]})
    assert found.recommendation.method == "a"
    assert found.recommendation.sentence == (
        "Take A: it keeps held-out links best, 47 in 100, against 31 for B, the next best; "
        "more than one standard error over 3 splits."
    )


def test_within_one_standard_error_they_tie_and_the_simpler_one_is_taken() -> None:
    found = made(
        {"slow": [0.40, 0.50, 0.45], "plain": [0.41, 0.46, 0.45]},
        {"slow": 1},
        {"slow": 28.0, "plain": 0.03},
    )
    assert found.tied() == ["slow", "plain"]
    assert found.recommendation == (
        "plain",
        "SLOW and PLAIN tie: 44 to 45 in 100 over 3 splits, less than one standard error apart. "
        "Take PLAIN, which is solved in one step and quicker (0.03 s against 28 s).",
    )


def test_the_error_is_that_of_the_difference_on_the_same_splits() -> None:
    # The splits differ by far more than the methods, but b is behind on each of them.
    found = made({"a": [0.20, 0.50, 0.80], "b": [0.18, 0.48, 0.78]})
    assert found.tied() == ["a"]


def test_those_that_the_splits_do_not_tell_apart_share_a_place() -> None:
    found = made(
        {
            "a": [0.46, 0.48, 0.47],
            # Behind by 0.01 with error 0.0058: within 4.30 errors, Student's t for three splits.
            "b": [0.45, 0.46, 0.47],
            # Behind by 0.1 on each split.
            "c": [0.36, 0.38, 0.37],
            "d": [0.35, 0.39, 0.37],
        }
    )
    assert found.places() == [["a", "b"], ["c", "d"]]
    assert made({"a": [0.47], "b": [0.46], "c": [0.46]}).places() == [["a"], ["b", "c"]]
    low, high = found.interval("a", "links_kept_held_out")
    assert (low, high) == pytest.approx(
        (0.47 - 4.3027 * 0.005774, 0.47 + 4.3027 * 0.005774), abs=1e-4
    )


def test_a_later_comparison_on_the_same_splits_joins_the_earlier_one() -> None:
    data = pairs()
    both = hetviz.compare(data, ["pca", "cdmca"], seeds=2)
    first, second = hetviz.compare(data, ["pca"], seeds=2), hetviz.compare(data, ["cdmca"], seeds=2)
    joined = first.joined(second)
    assert joined is not None
    assert joined.table.drop(columns=["seconds", "seconds_se"]).equals(
        both.table.drop(columns=["seconds", "seconds_se"])
    )
    # What ran again replaces what it was before, and other splits cannot be joined.
    again = first.joined(first)
    assert again is not None
    assert len(again.fits) == 2
    assert first.joined(hetviz.compare(data, ["cdmca"], seeds=1)) is None


def test_one_split_shows_no_error_and_the_sentence_says_so() -> None:
    found = made({"a": [0.47], "b": [0.46]})
    assert found.tied() == ["a"]
    assert "One split shows no error" in found.recommendation.sentence


def test_a_map_that_is_no_better_than_chance_is_not_praised() -> None:
    sentence = made({"a": [0.04, 0.05, 0.045]}).recommendation.sentence
    assert sentence.endswith("But chance alone gives 5.")


def test_nothing_measured_is_nothing_recommended() -> None:
    empty = Comparison((Candidate("a", "a", "A"),), (), {"a": "No."}, (0,), 0.2)
    assert empty.recommendation.method is None
    assert empty.curves == {}
    assert list(empty.table.index) == ["a"]


def test_another_measure_may_decide() -> None:
    found = hetviz.compare(pairs(), QUICK, seeds=1)
    assert found.recommend("trustworthiness").method == found.best("trustworthiness")
    assert found.best("links_kept") in ("cdmca", "guided-projection")
    assert set(found.measures[:2]) <= set(MEASURES)


@pytest.mark.parametrize(
    ("value", "words"), [(0.468, "47"), (0.004, "0.4"), (0.0, "0"), (1.0, "100"), (0.0095, "1")]
)
def test_shares_are_said_in_hundredths(value: float, words: str) -> None:
    assert per_hundred(value) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.001, "0.01 s"), (0.03, "0.03 s"), (0.1, "0.1 s"), (28.2, "28 s"), (180.0, "3 min")],
)
def test_times_are_said_with_their_unit(seconds: float, words: str) -> None:
    assert format_seconds(seconds) == words


# --- sweep ----------------------------------------------------------------------------------------


def test_a_sweep_fits_one_method_at_each_value() -> None:
    found = hetviz.sweep(pairs(), "guided-projection", "kernel", [None, "linear"], seeds=2)
    assert [candidate.title for candidate in found.candidates] == ["None", "linear"]
    assert len(found.fits) == 4
    assert found.candidates[1].params == {"kernel": "linear"}


def test_a_sweep_without_values_or_of_no_parameter_is_refused() -> None:
    with pytest.raises(ParameterError, match="no parameter 'kernle'"):
        hetviz.sweep(pairs(), "guided-projection", "kernle")
    with pytest.raises(ParameterError, match="give values"):
        hetviz.sweep(pairs(), "guided-projection", "kernel", [])


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
def test_values_to_try_follow_from_the_declaration(param: Any, values: list[Any]) -> None:
    assert sweep_values(param) == values


def test_each_measure_says_what_it_can_reach_and_tell() -> None:
    found = made({"a": [0.5, 0.62, 0.55], "b": [0.4, 0.5, 0.44]})
    measure = "links_kept_held_out"
    values = [found.values(key, measure) for key in "ab"]
    assert found.resolution(measure) == pytest.approx(least_significant(values))
    first = replace(found.fits[0], ceilings={measure: 0.7}, resolutions={measure: 0.3})
    capped = replace(found, fits=(first,))
    assert (capped.ceiling(measure), capped.resolution(measure)) == (0.7, 0.3)
    words = "At most 70 in 100 can be reached here"
    assert capped.limits(measure).startswith(words)
    again = Comparison.from_dict(capped.to_dict())
    assert again.limits(measure) == capped.limits(measure)
    # what was kept before there were any
    kept = found.to_dict()
    kept["fits"] = [{k: v for k, v in fit.items() if k != "ceilings"} for fit in kept["fits"]]
    assert Comparison.from_dict(kept).ceiling(measure) == 1.0
