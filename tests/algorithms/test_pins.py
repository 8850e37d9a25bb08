"""Pins of methods: targets on new maps and refits, limits, recipes and refusals."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz.algorithms.umap import UMAP
from hetviz.data import Embedding
from hetviz.errors import DataWarning, NotApplicableError, ParameterError
from hetviz.runs.embed.run import fit_run
from hetviz.runs.recipe import run_recipe, write_run
from tests.algorithms.test_mr_sne import WORLD
from tests.samples import sample

METHODS = ("joint-map", "mr-sne", "umap")
ITEM = {"place": (0.1, 0.9), "items": {"items": ["i7"]}}
GROUP = {"place": (0.9, 0.2), "items": {"items": [f"i{k}" for k in range(0, 150, 5)]}}
SIDE = {"place": "left", "items": {"items": ["i1", "i2", "i3"], "words": ["w3"]}}


def fit(method: str, **options: Any) -> Embedding:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hetviz.embed(WORLD, method, **options)


@pytest.mark.parametrize("method", METHODS)
def test_pins_are_met_on_new_maps_and_refits(method: str) -> None:
    before = fit(method)
    pins = [ITEM, GROUP, SIDE]
    for start in (None, before):
        price = hetviz.price_pins(WORLD, fit(method, pins=pins, start=start), pins)
        assert price["distance"].max() < 0.1
    # Which of the places are far by chance depends on the processor.
    assert hetviz.price_pins(WORLD, before, pins)["distance"].max() > 0.1
    for pin in pins:
        refit = fit(method, pins=[pin], start=before)
        assert hetviz.price_pins(WORLD, refit, [pin])["distance"].iloc[0] < 0.05


@pytest.mark.parametrize("method", METHODS)
def test_no_strength_is_bit_equal_to_no_pins(method: str) -> None:
    for start in (None, fit(method)):
        plain = fit(method, start=start)
        same = fit(method, pins=[ITEM, SIDE], pin_strength=0.0, start=start)
        np.testing.assert_array_equal(same.stacked(), plain.stacked())


@pytest.mark.parametrize("method", METHODS)
def test_left_stays_left_over_refits(method: str) -> None:
    group = {**GROUP, "place": "left"}
    embedding = fit(method, pins=[group])
    for _ in range(3):
        embedding = fit(method, pins=[group], start=embedding)
        x = embedding.coordinates["items"][:, 0]
        assert x[::5].max() < np.median(np.delete(x, np.s_[::5]))


def test_recipe_repeats_pins(tmp_path: Path) -> None:
    data = sample("world")
    ids = data[next(iter(data.datasets))].ids[:3].tolist()
    pins = [{"place": [0.2, 0.7], "items": {next(iter(data.datasets)): ids}}]
    fitted = fit_run(data, "mr-sne", {"pins": pins, "n_iter": 50})
    write_run(tmp_path / "made", "world", data, fitted)
    again = run_recipe(tmp_path / "made")
    text = (again / "coordinates.csv").read_text()
    assert text == (tmp_path / "made" / "coordinates.csv").read_text()
    assert hetviz.price_pins(data, fitted.result.embedding, pins)["distance"].iloc[0] < 0.05


def test_missing_items_are_left_out_with_a_warning() -> None:
    pins = [{"place": "top", "items": {"items": ["i7", "gone"], "elsewhere": ["x"]}}]
    with pytest.warns(DataWarning, match="2 pinned items are not on this map"):
        hetviz.embed(WORLD, "mr-sne", pins=pins, n_iter=10)
    with pytest.warns(DataWarning, match="1 pinned item is not on this map"):
        hetviz.embed(
            WORLD, "mr-sne", pins=[{"place": "top", "items": {"items": ["gone"]}}], n_iter=10
        )


@pytest.mark.parametrize(
    "pins",
    [
        "left",
        [{"place": "middle", "items": {"items": ["i1"]}}],
        [{"place": [0.1], "items": {"items": ["i1"]}}],
        [{"place": [0.1, float("nan")], "items": {"items": ["i1"]}}],
        [{"place": [0.1, 7.0], "items": {"items": ["i1"]}}],
        [{"place": "left", "items": {"items": "i1"}}],
        [{"place": "left"}],
    ],
)
def test_malformed_pins_are_refused(pins: Any) -> None:
    for call in (
        lambda: hetviz.embed(WORLD, "mr-sne", pins=pins),
        lambda: hetviz.price_pins(WORLD, fit("mr-sne", n_iter=10), pins),
    ):
        with pytest.raises(ParameterError, match="must be a list of"):
            call()


def test_methods_without_pins_say_so() -> None:
    with pytest.raises(ParameterError, match=r"cannot pin items. Methods that can: .*\(UMAP\)"):
        hetviz.embed(WORLD, "pca", pins=[ITEM])
    reason = "umap-learn cannot pin items"
    with pytest.raises(NotApplicableError, match=reason):
        UMAP(engine="umap-learn", pins=[ITEM]).fit(WORLD)


def test_price_counts_links_that_a_move_breaks() -> None:
    embedding = fit("mr-sne")
    here = [{"place": "left", "items": {"items": ["i2"]}}]
    at = embedding.coordinates["items"][2]
    others = np.delete(embedding.stacked(), 2, axis=0)
    low, high = others.min(axis=0), others.max(axis=0)
    stay = {"place": ((at - low) / (high - low)).tolist(), "items": {"items": ["i2"]}}
    price = hetviz.price_pins(WORLD, embedding, [stay])
    assert price["distance"].iloc[0] == pytest.approx(0.0, abs=1e-9)
    assert price["broken"].tolist() == [0]
    far = {**stay, "place": [2.0, 2.0]}
    price = hetviz.price_pins(WORLD, embedding, [far, *here])
    assert price["links"].iloc[0] > 0
    assert price["broken"].iloc[0] == price["links"].iloc[0]
    assert price["place"].tolist() == [[2.0, 2.0], "left"]


def test_why_says_that_an_item_is_pinned() -> None:
    for pin, words in ((SIDE, "It is pinned to the left."), (ITEM, "It is pinned to a place.")):
        fitted = fit_run(WORLD, "mr-sne", {"pins": [pin], "n_iter": 20})
        [name, *_] = pin["items"]
        assert words in hetviz.why(WORLD, fitted, name, pin["items"][name][0]).note
        assert "pinned" not in hetviz.why(WORLD, fitted, name, "i99").note
