"""Tests of the tasks that fit and measure maps."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.data.model.statements import statements
from hetviz.errors import Cancelled, ParameterError
from hetviz.jobs.tasks import maps
from hetviz.jobs.tasks.maps import make_first_map
from hetviz.progress import Progress, ignore_progress
from hetviz.runs.embed.run import MapResult


def linked(n: int = 50) -> HeteroData:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 2))
    a = Dataset("a", [f"a{k}" for k in range(n)], Z @ rng.normal(size=(2, 6)))
    b = Dataset("b", [f"b{k}" for k in range(n)], Z @ rng.normal(size=(2, 4)))
    return HeteroData([a, b], [Links("a", "b", np.arange(n), np.arange(n))])


def make_map(
    data: HeteroData,
    method: str,
    params: dict[str, object],
    seed: int,
    hold_out: float,
    progress: Progress,
    **options: Any,
) -> MapResult:
    fit = {"method": method, "params": params, "seed": seed, "hold_out": hold_out}
    return maps.make_map(data, progress, **fit, **options)


def test_held_out_links_are_measured_separately() -> None:
    seen: list[float] = []

    def progress(fraction: float, message: str = "", **figures: object) -> None:
        seen.append(fraction)

    created = make_map(linked(), "guided-projection", {"gamma": 0.2}, 3, 0.2, progress)
    assert set(created.figures["curves"]) == {"given", "held_out"}
    assert created.figures["scores"]["guidance_area_held_out"] > 0.8
    assert created.params["gamma"] == 0.2
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_make_map_is_reproducible() -> None:
    first, second = (
        make_map(linked(), "guided-projection", {}, 1, 0.2, ignore_progress) for _ in range(2)
    )
    assert np.array_equal(first.embedding.stacked(), second.embedding.stacked())
    assert json.dumps(first.figures) == json.dumps(second.figures)


def test_curves_go_from_0_to_1() -> None:
    created = make_map(linked(), "pca", {}, 0, 0.0, ignore_progress)
    x, y, (chance, share) = created.figures["curves"]["given"]
    assert 0 < chance <= share <= 1
    assert (x[0], x[-1]) == (0.0, 1.0)
    assert (y[0], y[-1]) == (0.0, pytest.approx(1.0))
    assert all(b >= a for a, b in itertools.pairwise(y))


def test_figures_have_notes() -> None:
    data = linked().edit().add(Dataset("lonely", ["x", "y", "z"], np.eye(3)))
    created = make_map(data, "guided-projection", {}, 0, 0.0, ignore_progress)
    assert any("lonely" in note for note in created.figures["notes"])


def test_bad_setting_is_error() -> None:
    with pytest.raises(ParameterError, match="gamma"):
        make_map(linked(), "guided-projection", {"gamma": -1.0}, 0, 0.0, ignore_progress)


def test_first_map_has_figures() -> None:
    created = make_first_map(linked(), ignore_progress)
    assert created.figures["scores"]["guidance_area"] > 0.8
    assert created.figures["choice"].startswith("Chosen because")


def test_cancelled_first_map_is_partial() -> None:
    def stop(fraction: float, message: str = "", **figures: object) -> None:
        if message.startswith("Comparing"):
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled) as caught:
        make_first_map(linked(), stop)
    retained = caught.value.partial
    assert retained.title.endswith(", stopped early")
    assert retained.embedding.stacked_placed().all()


def cancel_while_measuring(after: int) -> Progress:
    """Return a progress that cancels when measures have gone on for so many steps."""
    steps = 0

    def stop(fraction: float, message: str = "", **figures: object) -> None:
        nonlocal steps
        # Those of the methods that are tried name the method too.
        steps += message == "Measuring the map"
        if steps > after:
            raise Cancelled("Stopped.")

    return stop


@pytest.mark.parametrize("after", [0, 3])
def test_map_cancelled_while_measured_is_partial(after: int) -> None:
    with pytest.raises(Cancelled) as first:
        make_first_map(linked(), cancel_while_measuring(after))
    with pytest.raises(Cancelled) as other:
        make_map(linked(), "guided-projection", {}, 0, 0.2, cancel_while_measuring(after))
    for caught in (first, other):
        retained = caught.value.partial
        assert not retained.title.endswith(", stopped early")
        assert retained.embedding.stacked_placed().all()
    # Why this method is known by then; the measures are taken when the map is looked at.
    expected = first.value.partial.figures
    assert expected["choice"] and "curves" not in expected
    assert other.value.partial.figures is None


def test_map_of_only_rows() -> None:
    data = linked()
    only = np.array([*range(30), *range(50, 80)])
    created = make_map(data, "guided-projection", {}, 0, 0.2, ignore_progress, only=only)
    assert np.flatnonzero(created.embedding.stacked_placed()).tolist() == only.tolist()
    part = data.edit().subset({"a": range(30), "b": range(30)})
    alone = make_map(part, "guided-projection", {}, 0, 0.2, ignore_progress)
    assert created.figures == alone.figures


def test_weighted_map_uses_original_links_for_measures() -> None:
    data = linked()
    apart = Links("a", "b", np.arange(50), (np.arange(50) + 7) % 50, -0.9, kind="apart")
    data = data.edit().add(apart)
    weighed = make_map(
        data, "guided-projection", {}, 0, 0.0, ignore_progress, weights={"a|b|apart": 0.0}
    )
    assert "negative_guidance_area" in weighed.figures["scores"]
    inputs = make_map(data, "guided-projection", {}, 0, 0.0, ignore_progress)
    assert not np.allclose(weighed.embedding.stacked(), inputs.embedding.stacked())


def test_cancelled_map_is_partial() -> None:
    def stop(fraction: float, message: str = "", **figures: object) -> None:
        if "layout" in figures and fraction > 0.2:
            raise Cancelled("Stopped.")

    only = np.arange(60)
    with pytest.raises(Cancelled) as stopped:
        make_map(linked(), "mr-sne", {}, 0, 0.0, stop, only=only)
    created = stopped.value.partial
    assert created.title.endswith(", stopped early")
    assert created.figures is None
    assert np.flatnonzero(created.embedding.stacked_placed()).tolist() == only.tolist()


def test_refit_has_consequences_and_learned_groups() -> None:
    rng = np.random.default_rng(0)
    X = np.eye(4)[np.arange(80) % 4] * 4 + rng.normal(size=(80, 4))
    data = HeteroData([Dataset("a", [f"a{k}" for k in range(80)], X)])
    params = {"n_iter": 60, "perplexity": 8.0}
    first = make_map(data, "mr-sne", params, 0, 0.0, ignore_progress)
    assert "consequences" not in (first.figures or {})
    i, j = np.triu_indices(5, 1)
    with_statements = data.edit().add(Links("a", "a", 4 * i, 4 * j, kind="said"))
    keys = statements(with_statements)["key"].tolist()
    created = make_map(
        with_statements,
        "mr-sne",
        params,
        0,
        0.0,
        ignore_progress,
        start=first.embedding,
        said=keys,
    )
    figures = json.loads(json.dumps(created.figures))
    assert figures["consequences"]["n_said"] == 10
    assert figures["consequences"]["n_items"] == 5
    (group,) = figures["learned"]
    assert group["named"] == ["a0", "a4", "a8", "a12", "a16"]
    # A map of other rows has no consequences.
    fewer = Embedding({"a": first.embedding.coordinates["a"][:60]}, {"a": data["a"].ids[:60]})
    created = make_map(with_statements, "pca", {}, 0, 0.0, ignore_progress, start=fewer, said=keys)
    assert "consequences" not in (created.figures or {})
