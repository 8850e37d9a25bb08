"""Automatic first maps: methods tried, method chosen, and reasons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz.algorithms import ranking
from hetviz.data import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz.errors import Cancelled, NotApplicableError
from hetviz.features.spaces.landmarks import landmarks
from hetviz.progress import ignore_progress
from hetviz.runs import first_map as module
from hetviz.runs.compare.comparison import Candidate, Comparison, FitScores
from hetviz.runs.embed.run import MapResult
from hetviz.runs.first_map import choose_method, crowding, dataset_spreads, embed, first_map


@pytest.fixture(autouse=True)
def folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETVIZ_HOME", str(tmp_path))


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A ranking table of two quick methods, one behind the other, and a slow one."""
    entries = [
        {"method": "pca", "behind": 0.0, "n_sets": 4},
        {"method": "cdmca", "behind": 0.1, "n_sets": 4},
        {"method": "mr-sne", "behind": 0.2, "n_sets": 4},
    ]
    ranking_table = {
        "shapes": dict.fromkeys(ranking.SHAPES, entries),
        "seconds": {"pca": [0.1, 1.0], "cdmca": [0.1, 1.0], "mr-sne": [1e9, 1.0]},
        "measuring": [0.1, 1.0],
    }
    monkeypatch.setattr(ranking, "_measured_table", lambda: ranking_table)
    return ranking_table


def linked_data(n: int = 60) -> HeteroData:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 2))
    a = Dataset("a", [f"a{k}" for k in range(n)], Z @ rng.normal(size=(2, 6)))
    b = Dataset("b", [f"b{k}" for k in range(n)], 50 * Z @ rng.normal(size=(2, 4)))
    return HeteroData([a, b], [Links("a", "b", np.arange(n), np.arange(n))])


def test_choose_method_takes_the_best_on_hidden_links(table: Any) -> None:
    choice = choose_method(linked_data())
    assert choice.method == "cdmca"
    result = choice.comparison
    assert result is not None
    assert [fit.key for fit in result.fits] == ["pca", "cdmca"] * module.N_SPLITS
    assert result.decides == "overall"
    assert result.mean("cdmca", "overall") > result.mean("pca", "overall")
    assert "over 3 splits" in choice.sentence
    assert choice.seconds == pytest.approx(0.012)
    best = choice.best_neighbours
    assert best is not None
    # The neighbours are compared on the first split, which all candidates have.
    trust = {key: result.values(key, "trustworthiness")[0] for key in ("pca", "cdmca")}
    kept = {key: result.values(key, "links_kept_held_out")[0] for key in ("pca", "cdmca")}
    assert best.score == max(trust.values())
    assert best.method == max(trust, key=lambda key: trust[key])
    assert best.title == result.candidate(best.method).title
    assert best.chosen == trust["cdmca"]
    assert best.kept == kept[best.method]
    assert best.chosen_kept == kept["cdmca"]
    assert best.to_dict() == {
        "method": best.method,
        "title": best.title,
        "params": {},
        "score": best.score,
        "chosen": best.chosen,
        "kept": best.kept,
        "chosen_kept": best.chosen_kept,
        "offered": best.offered,
    }
    assert replace(best, score=0.9, chosen=0.86).offered
    assert not replace(best, score=0.9, chosen=0.88).offered
    bare = replace(best, kept=float("nan"), chosen=float("nan")).to_dict()
    assert (bare["kept"], bare["chosen"], bare["offered"]) == (None, None, False)


def test_suggest_uses_the_order_of_the_first_map(table: Any) -> None:
    data = linked_data()
    assert hetviz.suggest(data)[0].card.key == "pca"
    result = first_map(data)
    keys = [verdict.card.key for verdict in hetviz.suggest(data)]
    assert keys[:2] == [result.method, "pca"]
    np.testing.assert_array_equal(hetviz.embed(data).stacked(), result.embedding.stacked())
    # Other data are not affected.
    assert hetviz.suggest(linked_data(50))[0].card.key == "pca"


def test_choose_method_without_time_takes_the_usual_best(table: Any) -> None:
    choice = choose_method(linked_data(), seconds=0.01)
    assert (choice.method, choice.comparison) == ("pca", None)
    assert choice.best_neighbours is None
    assert "it was best on 4 similar datasets" in choice.sentence


def test_choose_method_tries_landmarks_when_time_is_short(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = linked_data(60)
    monkeypatch.setattr(module, "N_LANDMARKS", 40)
    monkeypatch.setattr(module, "landmarks", lambda data: landmarks(data, 40))
    # Two methods on all splits take .43 s with judging on all 120 rows, and .14 s on 40 of them.
    table["seconds"] |= {"pca": [0.2, 1.0], "cdmca": [0.2, 1.0]}
    choice = choose_method(data, seconds=0.2)
    assert choice.comparison is not None
    assert choice.method == "cdmca"
    assert "over 3 splits of 40 items" in choice.sentence
    # With even less time the usual best is taken.
    assert choose_method(data, seconds=0.03).comparison is None


def test_choose_method_skips_unmeasured_methods(table: Any) -> None:
    del table["seconds"]["cdmca"]
    assert choose_method(linked_data()).method == "pca"


def test_first_map_equals_embed_with_its_parameters(table: Any) -> None:
    data = linked_data()
    result = first_map(data)
    again = embed(data, result.method, **result.params)
    np.testing.assert_array_equal(again.stacked(), result.embedding.stacked())


def test_first_map_reports_a_layout_before_comparing(table: Any) -> None:
    entries = [("joint-map", 0.0), ("pca", 0.1)]
    table["shapes"]["linked"] = [
        {"method": key, "behind": behind, "n_sets": 4} for key, behind in entries
    ]
    table["seconds"]["joint-map"] = [0.1, 1.0]
    order: list[str] = []

    def progress(fraction: float, message: str = "", **figures: Any) -> None:
        if "layout" in figures:
            order.append("layout")
        elif message.startswith("Comparing"):
            order.append("comparing")

    first_map(linked_data(), progress)
    assert order[0] == "layout"
    assert "comparing" in order


def test_best_candidate_avoids_tiny_datasets() -> None:
    rng = np.random.default_rng(0)
    wide, blot = rng.normal(size=(9, 2)), rng.normal(size=(9, 2)) / 10
    ids = {"a": [str(k) for k in range(9)], "b": [str(k) for k in range(9)]}
    kinds = {name: Candidate(name, name, name.upper()) for name in ("blotted", "clear", "worse")}
    maps = {
        "blotted": hetviz.Embedding({"a": wide, "b": blot}, ids),
        "clear": hetviz.Embedding({"a": wide, "b": wide}, ids),
        "worse": hetviz.Embedding({"a": wide, "b": wide}, ids),
    }
    fits = [
        FitScores(key, seed, 1.0, {"overall": value}, {})
        for key, value in (("blotted", 0.9), ("clear", 0.8), ("worse", 0.7))
        for seed in (0, 1)
    ]
    result = Comparison(tuple(kinds.values()), tuple(fits), {}, (0, 1), 0.2, maps)
    assert (
        dataset_spreads(maps["blotted"])["a"]
        > module.MAX_SPREAD_RATIO * dataset_spreads(maps["blotted"])["b"]
    )
    best = module._best_candidate(result)
    assert best is not None
    assert best.key == "clear"
    assert (
        "one of the best maps that are easy to read. It scored 80 % over 2 splits."
        in module._reason_of_choice(result, best)
    )


def test_crowding_detects_a_dense_heap() -> None:
    ids = {"a": [str(k) for k in range(100)]}
    spread = np.random.default_rng(0).normal(size=(100, 2))
    heap = spread / 10
    heap[:5] += (9.0, 0.0)
    crowded, clear = (hetviz.Embedding({"a": Y}, ids) for Y in (heap, spread))
    assert crowding(crowded) < module.MIN_CROWDING_SHARE < crowding(clear)
    assert not module._is_readable(crowded)
    assert module._is_readable(clear)
    assert crowding(hetviz.Embedding({"a": np.zeros((100, 2))}, ids)) == 1.0


def test_first_map_gives_reasons_when_no_method_suits() -> None:
    with pytest.raises(NotApplicableError) as caught:
        first_map(HeteroData([Dataset("a", ["x", "y"])]))
    assert caught.value.reasons


def test_cancel_during_comparison_keeps_the_first_map(table: Any) -> None:
    def stop(fraction: float, message: str = "", **figures: object) -> None:
        if message.startswith("Comparing"):
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled) as caught:
        first_map(linked_data(), stop)
    drawn = caught.value.partial
    assert isinstance(drawn, MapResult)
    assert drawn.embedding.n_unplaced == 0


@pytest.mark.parametrize(("when", "kept"), [("Fit", "pca"), ("Done", "cdmca")])
def test_cancel_keeps_the_latest_map(table: Any, when: str, kept: str) -> None:
    reports: list[tuple[float, str]] = []

    def stop(fraction: float, message: str = "", **figures: object) -> None:
        if not message.startswith("Comparing"):
            reports.append((fraction, message))
        # The fit reports its own end first.
        ended = reports.count((1.0, "Done")) == 2
        if ended if when == "Done" else reports and reports[-1][0] >= 0.8:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled) as caught:
        first_map(linked_data(), stop)
    drawn = caught.value.partial
    assert isinstance(drawn, MapResult)
    assert drawn.method == kept
    assert drawn.embedding.n_unplaced == 0


def scored(values: dict[str, list[float]]) -> Comparison:
    """A comparison of readable maps with these overall scores on splits 0, 1, ..."""
    rng = np.random.default_rng(0)
    ids = {"a": [str(k) for k in range(9)]}
    maps = {key: hetviz.Embedding({"a": rng.normal(size=(9, 2))}, ids) for key in values}
    fits = [
        FitScores(key, seed, 1.0, {"overall": value}, {})
        for key, scores in values.items()
        for seed, value in enumerate(scores)
    ]
    candidates = tuple(Candidate(key, key, key.upper()) for key in values)
    return Comparison(candidates, tuple(fits), {}, (0, 1, 2), 0.2, maps)


@pytest.mark.parametrize(
    ("other", "chosen", "reason"),
    [
        ([0.74, 0.76, 0.75], "other", "scored best of three maps"),
        ([0.705, 0.706, 0.704], "first", "no other map scored clearly better"),
        ([0.60, 0.95, 0.80], "first", "no other map scored clearly better"),
        ([0.60, 0.62, 0.61], "first", "scored best of three maps"),
    ],
)
def test_first_candidate_stays_unless_another_is_clearly_ahead(
    other: list[float], chosen: str, reason: str
) -> None:
    comparison = scored({"first": [0.70, 0.70, 0.70], "other": other, "third": [0.5]})
    best = module._best_candidate(comparison)
    assert best is not None
    assert best.key == chosen
    sentence = module._reason_of_choice(comparison, best)
    assert reason in sentence
    assert sentence.count("Also tried, on one split: THIRD.") == 1


def test_reason_does_not_claim_the_best_of_all_against_a_higher_first_split() -> None:
    comparison = scored({"first": [0.7, 0.8, 0.8], "other": [0.75, 0.7, 0.7], "third": [0.72]})
    best = module._best_candidate(comparison)
    assert best is not None
    assert "scored best of the maps tried on all splits" in module._reason_of_choice(
        comparison, best
    )


def test_reason_where_the_first_split_measured_no_map() -> None:
    comparison = scored({"first": [0.0, 0.8], "other": [0.0, 0.7]})
    later = replace(comparison, fits=tuple(fit for fit in comparison.fits if fit.seed > 0))
    sentence = module._reason_of_choice(later, later.candidate("first"))
    assert sentence.startswith("Chosen because it scored best of the maps tried on all splits.")


@pytest.mark.parametrize(
    ("parts", "ending"),
    [
        ("links", "Scores are means over hidden links, other links and neighbours."),
        ("labels", "Scores are means over neighbours and labels."),
        ("comparisons", "Scores are means over hidden comparisons and neighbours."),
        ("", "Scores are for showing true neighbours."),
    ],
)
def test_reason_names_only_what_was_scored(parts: str, ending: str) -> None:
    linked = linked_data(40)
    first = linked["a"]
    triples = np.array([np.random.default_rng(k).permutation(40)[:3] for k in range(60)])
    data = {
        "links": linked,
        "labels": HeteroData([first]).edit().add(Labels("a", "kind", ["x", "y"] * 20)),
        "comparisons": HeteroData([first], (), Comparisons(triples)),
        "": HeteroData([first]),
    }[parts]
    other = "cdmca" if parts == "links" else "lpp"
    candidates = [module.candidate(key, {}) for key in ("pca", other)]
    comparison, chosen = module._tried(data, candidates, 0, ignore_progress)
    assert chosen is not None
    assert module._reason_of_choice(comparison, chosen).endswith(ending)
    assert comparison.decides is not None
    assert ("links" in comparison.texts(comparison.decides).does) == (parts == "links")


def test_choose_method_tries_more_weight_on_links(table: Any) -> None:
    table["shapes"]["linked"] = [{"method": "joint-map", "behind": 0.0, "n_sets": 4}]
    table["seconds"] = {"joint-map": [0.1, 1.0]}
    comparison = choose_method(linked_data()).comparison
    assert comparison is not None
    keys = ["joint-map", "joint-map-1", "joint-map-0.75"]
    assert [candidate.key for candidate in comparison.candidates] == keys
    assert [candidate.params for candidate in comparison.candidates] == [
        {},
        {"links_over_features": 1.0},
        {"links_over_features": 0.75},
    ]
    # The default leads after one split, so that no other is fitted.
    assert comparison.best() == "joint-map"
    assert len(comparison.seeds) == 1
    likely = choose_method(linked_data(), likely=True).comparison
    assert likely is not None
    assert [candidate.key for candidate in likely.candidates] == ["joint-map", "joint-map-1"]


def test_likely_methods_leave_out_those_far_behind(table: Any) -> None:
    comparison = choose_method(linked_data()).comparison
    assert comparison is not None
    assert [candidate.key for candidate in comparison.candidates] == ["pca", "cdmca"]
    choice = choose_method(linked_data(50), likely=True)
    assert (choice.method, choice.comparison) == ("pca", None)
    assert "No other method came near it" in choice.sentence
    # A method that was nearly as good is tried, and chosen as it is better on these data.
    table["shapes"]["linked"][1]["behind"] = module.MAX_BEHIND
    assert choose_method(linked_data(50), likely=True).method == "cdmca"


@pytest.mark.filterwarnings("ignore::hetviz.errors.DataWarning")
def test_embed_works_for_every_shape_of_data() -> None:
    rng = np.random.default_rng(0)
    ids = [f"n{k}" for k in range(20)]
    ring = Links("net", "net", np.arange(20), (np.arange(20) + 1) % 20)
    table = Dataset("net", ids, rng.normal(size=(20, 3)))
    triples = rng.permutation(np.tile(np.arange(20), 3)).reshape(20, 3)
    triples = triples[[len(set(row)) == 3 for row in triples.tolist()]]
    shapes = {
        "network": HeteroData([Dataset("net", ids)], [ring]),
        "alone": HeteroData([table]),
        "compared": HeteroData([table], (), Comparisons(triples)),
        "linked": linked_data(20),
    }
    for shape, data in shapes.items():
        assert ranking.shape_of(data) == shape
        assert embed(data).stacked_placed().all(), shape


def test_suggest_puts_label_methods_last() -> None:
    data = linked_data()
    data = data.edit().add(Labels("a", "kind", ["x", "y"] * 30))
    order = [verdict.card.key for verdict in hetviz.suggest(data) if verdict.suits]
    assert order[-1] == "gbc"
