"""Grid search that extends its grid, and its limits."""

import math

import pytest

from hetviz.core.grid_search import Span, search_grid


def peaked(**at):
    """Return an objective with one peak on logarithmic axes, and what it was asked."""
    calls = []

    def score(points):
        calls.extend(points)
        return [
            -sum((math.log(point[name]) - math.log(top)) ** 2 for name, top in at.items())
            for point in points
        ]

    return score, calls


@pytest.mark.parametrize("whole_grid", [True, False])
@pytest.mark.parametrize("top", [1_000.0, 1e-4], ids=["above", "below"])
def test_search_extends_the_grid_to_the_optimum(whole_grid, top):
    score, calls = peaked(ridge=top, axes=120)
    spans = {"ridge": Span((0.1, 1.0, 10.0)), "axes": Span((15, 30), whole=True)}
    result = search_grid(score, spans, whole_grid=whole_grid)
    assert result.best == {"ridge": top, "axes": 120}
    assert result.cut_off == result.at_limit == ()
    # one value more than the best on each side, or the best would be at an end
    values = result.spans["ridge"].values
    assert values[0] < top < values[-1]
    assert len(calls) == len(result.tried) == len({tuple(p.items()) for p in calls})


def test_search_distinguishes_cut_off_and_limit():
    score, _ = peaked(power=9.0, axes=4_000)
    spans = {"power": Span((0.5, 1.0, 2.0), high=4.0), "axes": Span((10, 20), whole=True)}
    result = search_grid(score, spans, max_points=10)
    assert len(result.tried) == 10
    assert result.best["power"] == 4.0
    assert result.at_limit == ("power",)
    assert result.cut_off == ("axes",)


def test_choices_do_not_grow_and_start_is_first():
    def score(points):
        return [(point["kernel"] == "rbf") + (point["scale"] == "auto") for point in points]

    spans = {"kernel": Span(("linear", "rbf"), grows=False), "scale": Span((0.0, 0.5, 1.0))}
    result = search_grid(score, spans, start={"scale": "auto", "kernel": "linear"})
    assert result.tried[0][0] == {"kernel": "linear", "scale": "auto"}
    assert result.best == {"kernel": "rbf", "scale": "auto"}
    assert result.cut_off == ()


def test_failed_point_is_never_best():
    def score(points):
        return [math.nan if point["a"] > 2 else point["a"] for point in points]

    assert search_grid(score, {"a": Span((1, 2, 3))}).best == {"a": 2}


def test_span_next_value():
    assert Span((1.0, 10.0)).next_value(upward=True) == 100.0
    assert Span((1.0, 10.0)).next_value(upward=False) == 0.1
    assert Span((0.0, 0.5, 1.0, 2.0), low=0.0).next_value(upward=False) is None
    assert Span((2, 3), whole=True, low=1).next_value(upward=False) == 1
    assert Span((1, 2), whole=True, low=1).next_value(upward=False) is None
    assert Span((5,)).next_value(upward=True) is None


def test_search_without_values_raises():
    with pytest.raises(ValueError, match="at least one setting"):
        search_grid(lambda points: [0.0] * len(points), {"a": Span(())})
