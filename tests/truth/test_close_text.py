"""Tests of the share of close links in the film strip and in the list of maps."""

from __future__ import annotations

import numpy as np

from hetviz.data import Embedding
from hetviz.ui.map.history import run_facts
from hetviz.ui.widgets import charts
from hetviz.workspace import MapResult, State


def map_with(figures: dict[str, object], run: str) -> MapResult:
    point = Embedding({"a": np.zeros((1, 2))}, {"a": np.array(["x"])})
    return MapResult("", "joint-map", {}, 0, title=run, embedding=point, figures=figures, id=run)


def curve(chance: float, share: float) -> tuple[list[float], list[float], list[float]]:
    # The third entry holds the chance level and the share of close links.
    return [0.0, 0.05, 1.0], [0.0, 0.9, 1.0], [chance, share]


def test_share_of_close_links_is_next_to_chance() -> None:
    figures = {"scores": {"links_kept_held_out": 0.6}, "curves": {"given": curve(0.05, 0.712)}}
    run = map_with(figures, "first")
    assert charts.close_text(figures) == "71 % of links are close (chance: 5 %)"
    facts = run_facts(State(runs=(run,), chosen="first"), run)
    assert "71 % of links are close (chance: 5 %)" in facts
    assert "60 % of hidden links are close" in facts


def test_map_of_earlier_version_has_no_share() -> None:
    figures = {"scores": {"links_kept": 0.9}, "curves": {"given": curve(0.05, 0.712)[:2]}}
    assert charts.close_text(figures) is None
    assert charts.close_text({}) is None
    state = State(runs=(map_with(figures, "old"),), chosen="old")
    assert charts.best_close_text(state) == ""


def test_best_map_so_far_has_the_share_of_its_own_text() -> None:
    first, second = ({"scores": {}, "curves": {"given": curve(0.05, x)}} for x in (0.712, 0.884))
    state = State(runs=(map_with(first, "a"), map_with(second, "b")), chosen="a")
    assert charts.best_close_text(state) == "Best map so far: 88 %."
    assert (charts.close_text(second) or "").startswith("88 % of links")


def test_no_map_is_called_the_best_while_another_has_no_figures() -> None:
    known = {"scores": {}, "curves": {"given": curve(0.05, 0.4)}}
    state = State(runs=(map_with(known, "a"), map_with({"scores": {}}, "b")), chosen="a")
    assert charts.best_close_text(state) == ""
