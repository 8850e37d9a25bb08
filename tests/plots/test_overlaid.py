"""Overlaid satisfaction curves and their labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hetviz.plots.overlaid import CHANCE, overlaid_alt, overlaid_figure
from hetviz.plots.palette import Theme, tokens

SHARES = np.linspace(0.0, 1.0, 201)


def curves(n: int) -> dict[str, tuple[list[float], list[float]]]:
    """Return n curves that end close to each other."""
    return {
        f"Method {k}": (SHARES.tolist(), (SHARES ** (0.5 + 0.01 * k)).tolist()) for k in range(n)
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_overlaid_figure_highlights_only_the_winner(theme: Theme) -> None:
    figure = overlaid_figure(curves(4), "Method 2", theme)
    accent = tokens(theme).accent
    lines = [trace for trace in figure.data if trace.line.color == accent]
    assert len(lines) == 1
    assert "Method 2" in lines[0].hovertemplate
    bold = [note.text for note in figure.layout.annotations if note.font.color == accent]
    assert bold == ["<b>Method 2</b>"]


@pytest.mark.parametrize("n", [1, 4, 18])
def test_overlaid_labels_do_not_overlap(n: int) -> None:
    figure = overlaid_figure(curves(n), "Method 0")
    notes = figure.layout.annotations
    assert {"<b>Method 0</b>", CHANCE} <= {note.text for note in notes}
    assert len(notes) == min(n + 1, 10)
    heights = sorted(note.y for note in notes)
    low, high = figure.layout.yaxis.range
    pixels = (figure.layout.height - 52) / (high - low)
    assert all((b - a) * pixels >= 16.9 for a, b in itertools.pairwise(heights))
    assert low <= heights[0]
    assert heights[-1] <= high


def test_overlaid_labels_are_escaped() -> None:
    figure = overlaid_figure({"<img src=x> %{y}": (SHARES.tolist(), SHARES.tolist())}, "none")
    texts = [note.text for note in figure.layout.annotations]
    assert not any("<img" in text or "%{" in text for text in texts)


def test_overlaid_alt_lists_shares_best_first() -> None:
    alt = overlaid_alt({"A": ([0, 1], [0, 1]), "B": ([0, 0.05, 1], [0, 0.47, 1])})
    assert alt == (
        "Close links, among the closest 5 % of all pairs: B 47 %, A 5 %. By chance it would be 5 %."
    )
