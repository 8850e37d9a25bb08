"""Evidence of statements about predictions and comparisons of methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from hetviz._text import count
from hetviz.plots.predicted_links import MODEL_NAMES
from hetviz.runs.evidence.evidence import Evidence
from hetviz.ui.compare.leaderboard import deciding_measure
from hetviz.ui.evidence.sources import outdated, source
from hetviz.ui.item.item import rows_of_ids
from hetviz.ui.predict import labels as label_page
from hetviz.ui.predict import links as link_page
from hetviz.ui.shell.comparison_results import COMPARE, comparison_of
from hetviz.workspace import State


def _content(state: State, kind: str) -> Mapping[str, Any]:
    finding = state.findings.get(kind)
    if finding is None:
        raise outdated()
    return finding.content


@source("link-candidates")
def link_candidates(state: State) -> Evidence:
    """Return the ranked pairs without a link."""
    finding, data = link_page.shown_finding(state), state.opened()
    if finding is None:
        raise outdated()
    content = finding.content
    source_name, target = content["source"], content["target"]
    table = pd.DataFrame(content["candidates"])
    table = table.drop(columns=[name for name in table if str(name).endswith("evidence")])
    rows = [
        *rows_of_ids(data, source_name, list(table.get("source_id", ()))),
        *rows_of_ids(data, target, list(table.get("target_id", ()))),
    ]
    tested = content["test"]
    n_pairs = None if tested is None else tested["n_pairs"]
    return Evidence(
        f"The best {count(len(table), 'pair')} of {source_name} and {target} without a link.",
        "Sorted by the distance on the map."
        if content["by_map"]
        else "Sorted by the score of the method. known_links is the number of known links of the "
        "item that has fewer.",
        f"{count(content['n_known'], 'known link')} between them."
        + ("" if n_pairs is None else f" {n_pairs:,} pairs were ranked in the tests."),
        "",
        table,
        np.unique(np.array(rows, dtype=np.int64)),
    )


@source("link-test")
def link_test(state: State) -> Evidence:
    """Return the scores of the ranking on hidden links."""
    content = _content(state, link_page.KIND)
    test = content["test"]
    if test is None:
        raise outdated()
    table = pd.DataFrame(
        [
            {"ranking": MODEL_NAMES[key], "best": row[0], "hidden links among them, %": _per_cent(
                row[1])}
            for key, rows in test["precision"].items()
            for row in rows
        ]
    )  # fmt: skip
    chance = next((row[1] for row in test["precision"].get("chance", ()) if row[0] == 10), None)
    return Evidence(
        "Share of hidden links among the best pairs.",
        "Some links are hidden, the others are learned from, and all pairs without a remaining "
        "link are ranked. A hidden link among the best counts as found.",
        f"{count(test['repeats'], 'test')} with about {test['n_links']:,} hidden links among "
        f"{test['n_pairs']:,} pairs.",
        "" if chance is None else f"By chance it would be {100 * chance:.2f} %.",
        table,
    )


def _per_cent(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 2)


@source("predicted-labels")
def predicted_labels(state: State) -> Evidence:
    """Return the predicted labels, the least certain first."""
    content = _content(state, label_page.KIND)
    columns = {
        str(name): values
        for name, values in content["table"].items()
        if isinstance(values, list) and len(values) == len(content["table"]["id"])
    }
    table = pd.DataFrame(columns).sort_values("doubt", ascending=False, kind="stable")
    rows = rows_of_ids(state.opened(), content["dataset"], list(table["id"]))
    known = int(np.sum(table["known"].astype(bool)))
    return Evidence(
        f"{content['label']} of {count(len(table) - known, 'item')} of {content['dataset']}.",
        f"Predicted by {content['title']} from features, links and the known labels.",
        f"{count(known, 'known label')}, {count(len(table) - known, 'predicted one')}.",
        "",
        table,
        np.array(rows, dtype=np.int64),
    )


@source("label-test")
def label_test(state: State) -> Evidence:
    """Return the errors on hidden labels, by model and test."""
    content = _content(state, label_page.KIND)
    table = pd.DataFrame(content["held_out"])
    if not len(table):
        raise outdated()
    return Evidence(
        f"Error of {content['title']} on hidden labels of {content['dataset']}.",
        "Some known labels are hidden, predicted from the others, and compared.",
        f"{count(len(table), 'result')} of tests.",
        "The row “guess” always predicts the most common label, or the mean.",
        table,
    )


@source("compared")
def compared(state: State) -> Evidence:
    """Return the scores of all compared methods."""
    finding = state.findings.get(COMPARE)
    if finding is None:
        raise outdated()
    comparison = comparison_of(finding)
    measure = deciding_measure(comparison)
    best = comparison.best(measure)
    if measure is None or best is None:
        raise outdated()
    table = comparison.table.reset_index(names="method")
    numbers = table.select_dtypes("number").columns
    table[numbers] = table[numbers].round(4)
    table = table.sort_values(measure, ascending=False, kind="stable")
    first = ["method", measure]
    table = table[[*first, *(name for name in table if name not in first)]]
    chance, texts = comparison.chance(measure), comparison.texts(measure)
    return Evidence(
        f"{comparison.candidate(best).title}: {100 * comparison.mean(best, measure):.0f} %.",
        f"{texts.label}: {texts.meaning}",
        f"{count(len(comparison.seeds), 'split')}, {count(len(table), 'method')}. Columns that end "
        "in _error are standard errors.",
        "" if chance is None else f"By chance it would be {100 * chance:.0f} %.",
        table,
    )
