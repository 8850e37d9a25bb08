"""Figures and tables of paper 003's experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.papers.drawing import COLOURS, curve, legend_below, panels, plain_log_x
from benchmarks.papers.mapping import NEAREST, WAYS
from benchmarks.papers.out import Out
from benchmarks.papers.stats import mean_and_error, told

Results = Sequence[dict[str, Any]]
RATIOS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
FAMILIES = ("CDMCA", "kernel CDMCA", "PMvGE", "MR-SNE")
MAPPED = (
    "cdmca 2",
    "pmvge ignored 2",
    "pmvge second_order 2",
    "pmvge sn_graph 2",
    "mr-sne equal unnorm",
    "mr-sne adaptive unnorm",
)
# The paper's Tables 3 to 6 by measure, and what each counts.
METRICS = {
    "hit_across": ("Metric I across (Table 3)", "items with a word of theirs"),
    "hit_within": ("Metric I within items (Table 4)", "items with one that shares a word"),
    "count_across": ("Metric II across (Table 5)", "own words"),
    "count_within": ("Metric II within items (Table 6)", "items that share a word"),
}


class Found:
    """The draws of all sources and methods, ready to be asked for one figure."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.sources = list(dict.fromkeys(result["source"] for result in results))
        self.draws = len({result["draw"] for result in results})
        self._by: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for result in results:
            self._by.setdefault((result["source"], result["way"]), []).append(result)

    def of(self, source: str, way: str) -> list[dict[str, Any]]:
        """Return the draws of one source and method, in order."""
        return self._by[source, way]

    def values(
        self, source: str, way: str, measure: str, place: int | None = None
    ) -> NDArray[np.float64]:
        """Return one figure of each draw."""
        found = [result[measure] for result in self.of(source, way)]
        return np.array(found if place is None else [value[place] for value in found])


def draw(out: Out, results: Results) -> None:
    """Draw Figures 5, 6, 8 and 10, and write Tables 1 to 7 and the times."""
    found = Found(results)
    _areas(out, found)
    _rates(out, found)
    _maps(out, found)
    _neighbours(out, found)
    out.table(
        "areas",
        _table(found, ("graph_auc", "graph_auc_across")),
        "Area under the ROC curve of graph reconstruction (Tables 1 and 7): words, and items that "
        "share a word, told from all others by nearness; across: words only. Mean ± standard "
        "error.",
    )
    out.table(
        "spread",
        _table(found, ("variance_ratio",)),
        "Variance of items over that of words; 1 is alike (Tables 2 and 7). Mean ± standard error.",
    )
    out.table(
        "seconds",
        _table(found, ("seconds",), digits=2),
        "CPU seconds on one thread, t-SNE included where there are more than two dimensions.",
    )
    for measure, (title, what) in METRICS.items():
        out.table(
            measure,
            _metric(found, measure),
            f"{title}: {what} among the k nearest, by k. Mean ± standard error.",
        )


def _table(found: Found, measures: Sequence[str], digits: int = 3) -> pd.DataFrame:
    rows = []
    for way, described in WAYS.items():
        row = {"method": described.title}
        for source in found.sources:
            for measure in measures:
                words = {"graph_auc_across": ", across"}.get(measure, "")
                row[source + words] = told(found.values(source, way, measure), digits)
        rows.append(row)
    return pd.DataFrame(rows)


def _metric(found: Found, measure: str) -> pd.DataFrame:
    rows = []
    for source in found.sources:
        for way, described in WAYS.items():
            row = {"data": source, "method": described.title}
            for place, k in enumerate(NEAREST):
                values = found.values(source, way, measure, place)
                row[f"k = {k}"] = told(values) if np.isfinite(values).any() else ""
            rows.append(row)
    return pd.DataFrame(rows)


def _areas(out: Out, found: Found) -> None:
    n = len(found.sources)
    figure, axes = panels(n, 2, width=3.4, height=3.6, sharey=True)
    height = np.arange(len(WAYS))[::-1]
    for column, source in enumerate(found.sources):
        for row, measure in enumerate(("graph_auc", "variance_ratio")):
            ax = axes[row * n + column]
            for at, (way, described) in zip(height, WAYS.items(), strict=True):
                mean, error = mean_and_error(found.values(source, way, measure))
                ax.errorbar(
                    mean,
                    at,
                    xerr=np.nan_to_num(error),
                    color=COLOURS[FAMILIES.index(described.family)],
                    marker="o",
                    markersize=3.5,
                    capsize=2,
                    linewidth=1.2,
                )
            ax.set_yticks(height, [way.title for way in WAYS.values()], fontsize=6.5)
            ax.set_title(source)
            if measure == "graph_auc":
                ax.axvline(0.5, color="#999999", lw=0.8, ls=":")
                ax.set_xlabel("area under the ROC curve")
            else:
                ax.axvline(1.0, color="#999999", lw=0.8, ls=":")
                plain_log_x(ax, RATIOS)
                ax.set_xlabel("variance of items over that of words")
    sizes = ", ".join(
        f"{source} {found.of(source, 'cdmca 2')[0]['n_items']} and about "
        f"{found.of(source, 'cdmca 2')[0]['n_words']}"
        for source in found.sources
    )
    out.figure(
        "areas",
        figure,
        "Above: how well nearness tells an item's words, and items that share a word with it, from "
        "all others (0.5 is chance). Below: how wide items lie against words (1 is alike). Bars: "
        f"one standard error over {found.draws} random draws ({sizes} words). "
        "Paper: Tables 1, 2 and 7.",
        front=True,
    )


def _rates(out: Out, found: Found) -> None:
    figure, axes = panels(len(found.sources), width=3.2, height=3.1, sharey=True)
    for ax, source in zip(axes, found.sources, strict=True):
        shown = (*MAPPED[:4], "kernel 2", *MAPPED[4:])
        for place, way in enumerate(shown):
            curves = [result["roc"] for result in found.of(source, way)]
            at = np.linspace(0, 1, 101)
            mean = np.mean([np.interp(at, false, true) for false, true in curves], axis=0)
            ax.plot(at, mean, color=COLOURS[place], lw=1.3, label=WAYS[way].title)
        ax.plot([0, 1], [0, 1], color="#999999", lw=0.8, ls=":")
        ax.set_title(source)
        ax.set_xlabel("false positive rate")
    axes[0].set_ylabel("true positive rate")
    legend_below(figure, axes[0], 3)
    out.figure(
        "roc",
        figure,
        f"ROC curves of graph reconstruction, mean of {found.draws} draws; dotted: chance. "
        "Paper: Fig. 8.",
    )


def _maps(out: Out, found: Found) -> None:
    figure, axes = panels(len(MAPPED), len(found.sources), width=2.1, height=2.1)
    for row, source in enumerate(found.sources):
        for column, way in enumerate(MAPPED):
            ax = axes[row * len(MAPPED) + column]
            first = found.of(source, way)[0]
            Y, n = first["places"], first["n_items"]
            ax.scatter(*Y[:n].T, s=2, color=COLOURS[0], lw=0, label="items")
            ax.scatter(*Y[n:].T, s=5, color=COLOURS[1], lw=0, marker="^", label="words")
            ax.set_xticks([])
            ax.set_yticks([])
            ax.grid(False)
            if row == 0:
                ax.set_title(WAYS[way].title, fontsize=7)
            if column == 0:
                ax.set_ylabel(source, fontsize=8)
    legend_below(figure, axes[0], 2)
    out.figure(
        "maps",
        figure,
        "Maps of the first draw; axes have no unit. Paper: Figs. 5, 6 and 10.",
    )


def _neighbours(out: Out, found: Found) -> None:
    shown = ("cdmca 2", "kernel 2", "pmvge ignored 2", "pmvge second_order 2",
             "mr-sne adaptive unnorm", "mr-sne adaptive pmi")  # fmt: skip
    figure, axes = panels(len(METRICS), len(found.sources), width=2.6, height=2.3)
    for row, source in enumerate(found.sources):
        for column, (measure, (title, _)) in enumerate(METRICS.items()):
            ax = axes[row * len(METRICS) + column]
            for place, way in enumerate(shown):
                pairs = [
                    mean_and_error(found.values(source, way, measure, at))
                    for at in range(len(NEAREST))
                ]
                curve(ax, NEAREST, *zip(*pairs, strict=True), WAYS[way].title, place)
            plain_log_x(ax, NEAREST)
            if row == 0:
                ax.set_title(title.split(" (")[0], fontsize=8)
            if column == 0:
                ax.set_ylabel(f"{source}\nshare of items", fontsize=8)
            elif column == 2:
                ax.set_ylabel("number", fontsize=8)
            if row == len(found.sources) - 1:
                ax.set_xlabel("k nearest")
    legend_below(figure, axes[0], 3)
    out.figure(
        "neighbours",
        figure,
        "What is among the k nearest on maps made in two dimensions: share of items with at least "
        "one word of theirs or one item that shares a word (metric I), and how many there are "
        f"(metric II). Bars: one standard error over {found.draws} draws. Paper: Tables 3 to 6.",
    )
