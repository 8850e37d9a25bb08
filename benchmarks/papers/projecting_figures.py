"""Figures and tables of paper 000's experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.papers.drawing import COLOURS, curve, legend_below, panels
from benchmarks.papers.out import Out
from benchmarks.papers.projecting import AXES, METHODS, SHARES
from benchmarks.papers.stats import mean_and_error, told

Results = Sequence[dict[str, Any]]
DRAWN = ("paper 2", "paper 3", "hetviz 2", "hetviz 3", "cca")
CLUSTERS = (2, 5, 10)
PARTS = ("given", "held_out")


class Found:
    """The splits of all sources, ready to be asked for one figure."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.sources = list(dict.fromkeys(result["source"] for result in results))
        self.shares = sorted({result["share"] for result in results})
        each = [len({r["split"] for r in results if r["source"] == s}) for s in self.sources]
        self.splits = " and ".join(map(str, dict.fromkeys(each)))

    def of(self, source: str, share: float) -> list[dict[str, Any]]:
        """Return the splits of one source at one share for training, in order."""
        return [r for r in self.results if r["source"] == source and r["share"] == share]

    def values(
        self, source: str, method: str, measure: str, place: int, share: float | None = None
    ) -> NDArray[np.float64]:
        """Return one figure of each split; at the largest share for training unless told."""
        share = self.shares[-1] if share is None else share
        if method == "guess":
            return np.array([r["guess"] for r in self.of(source, share)])
        return np.array([r["methods"][method][measure][place] for r in self.of(source, share)])

    def n_train(self, source: str, share: float) -> int:
        """Return how many objects were learned from."""
        return int(self.of(source, share)[0]["train"])


def draw(out: Out, results: Results) -> None:
    """Draw Figures 6, 7, 8 and 10, and write their numbers."""
    found = Found(results)
    _satisfaction(out, found)
    _prediction(out, found)
    _rand(out, found)
    out.table("numbers", _numbers(found), "All figures: mean ± standard error over splits.")
    out.table("chosen", _chosen(found), "What was chosen, median over splits.")


def list_clusters(out: Out, clusters: Sequence[dict[str, Any]]) -> None:
    """Write the clusters with the items nearest their centres, Figure 9."""
    for found in clusters:
        out.table(
            f"clusters {found['source']}",
            found["table"],
            f"Ten clusters of {found['source']} and all that is linked with them, and the items "
            "nearest each centre (paper: Fig. 9).",
        )


def _satisfaction(out: Out, found: Found) -> None:
    figure, axes = panels(2, len(found.sources), sharex=True, sharey=True)
    for row, source in enumerate(found.sources):
        for column, part in enumerate(PARTS):
            ax = axes[2 * row + column]
            for place, method in enumerate(DRAWN):
                curves = np.array(
                    [r["methods"][method][part] for r in found.of(source, found.shares[-1])]
                )
                mean = curves.mean(axis=0)
                error = curves.std(axis=0, ddof=1) / np.sqrt(len(curves))
                label = METHODS[method].title
                ax.plot(100 * SHARES, 100 * mean, color=COLOURS[place], label=label, lw=1.3)
                ax.fill_between(
                    100 * SHARES,
                    100 * (mean - error),
                    100 * (mean + error),
                    color=COLOURS[place],
                    alpha=0.2,
                    lw=0,
                )
            ax.plot([0, 100], [0, 100], color="#999999", lw=0.8, ls=":")
            said = "links given" if part == "given" else "links of new objects"
            ax.set_title(f"{source}: {said}")
            if column == 0:
                ax.set_ylabel("links among them (%)")
            if row == len(found.sources) - 1:
                ax.set_xlabel("closest pairs of object and tag (%)")
    legend_below(figure, axes[0], 3)
    out.figure(
        "satisfaction",
        figure,
        "Share of links between objects and tags among the closest pairs, for links that the map "
        "was made from and for links of objects that it had not seen. Bands: one standard error "
        f"over {found.splits} splits; dotted: chance. Paper: Fig. 6.",
    )


def _prediction(out: Out, found: Found) -> None:
    n = len(found.sources)
    figure, axes = panels(n, 2, width=3.6)
    for column, source in enumerate(found.sources):
        by_axes, by_size = axes[column], axes[n + column]
        sizes = [found.n_train(source, share) for share in found.shares]
        for place, method in enumerate((*DRAWN, "guess")):
            label = "most frequent tags" if method == "guess" else METHODS[method].title
            pairs = [
                mean_and_error(found.values(source, method, "ndcg", at)) for at in range(len(AXES))
            ]
            curve(by_axes, AXES, *zip(*pairs, strict=True), label, place)
            pairs = [
                mean_and_error(found.values(source, method, "ndcg", len(AXES) - 1, share))
                for share in found.shares
            ]
            curve(by_size, sizes, *zip(*pairs, strict=True), label, place)
        by_axes.set_title(f"{source}: all training objects")
        by_axes.set_xlabel("most axes allowed")
        by_size.set_title(f"{source}: up to {max(AXES)} axes")
        by_size.set_xlabel("training objects")
        for ax in (by_axes, by_size):
            ax.set_ylabel("NDCG of predicted tags")
            ax.set_ylim(bottom=0)
    legend_below(figure, axes[0], 3)
    out.figure(
        "prediction",
        figure,
        "How well the tags nearest an unseen object are its own (NDCG, 1 is best), by the most "
        f"axes allowed and by the number of training objects. Bars: one standard error over "
        f"{found.splits} splits of 80 to 20. Paper: Figs. 7 and 8.",
        front=True,
    )


def _rand(out: Out, found: Found) -> None:
    figure, axes = panels(len(CLUSTERS), len(found.sources), width=2.9)
    for row, source in enumerate(found.sources):
        sizes = [found.n_train(source, share) for share in found.shares]
        for column, k in enumerate(CLUSTERS):
            ax = axes[len(CLUSTERS) * row + column]
            for place, method in enumerate(DRAWN):
                pairs = [
                    mean_and_error(found.values(source, method, "rand", column, share))
                    for share in found.shares
                ]
                curve(ax, sizes, *zip(*pairs, strict=True), METHODS[method].title, place)
            ax.set_title(f"{source}: {k} clusters")
            if column == 0:
                ax.set_ylabel("Rand index")
            if row == len(found.sources) - 1:
                ax.set_xlabel("training objects")
    legend_below(figure, axes[0], 3)
    out.figure(
        "rand",
        figure,
        "Rand index of clusters of unseen objects and tags: share of pairs that are linked and in "
        f"one cluster, or not linked and in two. Bars: one standard error over {found.splits} "
        "splits. What shuffled clusters reach is in the table. Paper: Fig. 10.",
    )


def _numbers(found: Found) -> pd.DataFrame:
    rows = []
    for source in found.sources:
        for method in (*METHODS, "guess"):
            row = {"data": source, "method": method}
            for share in (found.shares[0], found.shares[-1]):
                row[f"NDCG, {share:.0%} for training"] = told(
                    found.values(source, method, "ndcg", len(AXES) - 1, share)
                )
            if method != "guess":
                for place, part in enumerate(PARTS):
                    row[f"area, {part.replace('_', ' ')}"] = told(
                        found.values(source, method, "area", place)
                    )
                for place, k in enumerate(CLUSTERS):
                    row[f"Rand, {k} clusters"] = told(found.values(source, method, "rand", place))
                    row[f"shuffled, {k}"] = told(found.values(source, method, "rand_chance", place))
            rows.append(row)
    return pd.DataFrame(rows).fillna("")


def _chosen(found: Found) -> pd.DataFrame:
    rows = []
    for source in found.sources:
        for method in METHODS:
            for share in found.shares:
                made = [r["methods"][method] for r in found.of(source, share)]
                rows.append(
                    {
                        "data": source,
                        "method": method,
                        "for training": f"{share:.0%}",
                        "ridge": float(np.median([m["gamma"] for m in made])),
                        "axes": float(np.median([m["axes"] for m in made])),
                        "exponent": float(np.median([m["exponent"] for m in made])),
                        "cut off": f"{int(sum(m['open'] for m in made))} of {len(made)}",
                    }
                )
    return pd.DataFrame(rows)
