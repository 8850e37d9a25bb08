"""Appendix of the report: the rows behind its numbers and names, with anchors to link to."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from hetviz.data import Embedding, HeteroData
from hetviz.exports.page import escape_html
from hetviz.metrics.measure_names import HELD_OUT, MEASURE_TEXTS, rows_of_measure
from hetviz.runs.cluster.regions import RegionLevel
from hetviz.runs.evidence.about import evidence
from hetviz.runs.evidence.evidence import Evidence
from hetviz.runs.evidence.groups import NAME_RULE, name_evidence
from hetviz.runs.evidence.guidance import link_evidence

_N_SHOWN = 12
"""Rows shown from each end of a table."""
_N_MEMBERS = 8


def anchor_of(measure: str) -> str:
    """Return the anchor of the rows of a measure, "" if the appendix has none."""
    about = rows_of_measure(measure)
    text = MEASURE_TEXTS.get(about)
    if "@" in about:
        # One table has the counts for all numbers of neighbours.
        about = "shared-among-nearest" if "within" in about else "linked-among-nearest"
    elif text is not None:
        about = re.sub(r"[^a-z0-9]+", "-", text.name.lower())
    hidden = "hidden-" if measure.endswith(HELD_OUT) else ""
    return f"rows-{hidden}{about}" if about else ""


def link_html(text: str, anchor: str) -> str:
    """Return text that links to a table of the appendix."""
    return f'<a href="#{anchor}">{escape_html(text)}</a>' if anchor else escape_html(text)


def appendix_html(
    data: HeteroData,
    embedding: Embedding,
    held_out: HeteroData | None,
    scores: Mapping[str, float],
    regions_html: str = "",
) -> str:
    """Return the tables behind the measures, and those of `regions_table_html`."""
    measure_of: dict[str, str] = {}
    for measure in scores:
        measure_of.setdefault(anchor_of(measure), measure)
    parts = [
        _section(anchor, _evidence(measure, data, embedding, held_out))
        for anchor, measure in measure_of.items()
        if anchor
    ]
    parts.append(regions_html)
    if not any(parts):
        return ""
    note = (
        "Every table shows the first and the last rows. In the app, a click on the number opens "
        "all of them, and <code>hetviz evidence</code> writes them as CSV."
    )
    return (
        '<section class="appendix"><h2>Appendix: what the numbers were computed from</h2>'
        f"<p>{note}</p>{''.join(parts)}</section>"
    )


REGIONS_ANCHOR = "rows-regions"


def regions_table_html(data: HeteroData, regions: RegionLevel | None) -> str:
    """Return the members behind the names of regions, "" without names."""
    named = [
        (name, np.flatnonzero(regions.codes == code))
        for code, name in enumerate(() if regions is None else regions.details)
        if regions is not None and name.text
    ]
    if not named:
        return ""
    rule = escape_html(NAME_RULE)
    tables = (_table(name_evidence(data, *pair), _N_MEMBERS, 0, has_title=False) for pair in named)
    return f'<h3 id="{REGIONS_ANCHOR}">Names of regions</h3><p>{rule}</p>{"".join(tables)}'


def _evidence(
    measure: str, data: HeteroData, embedding: Embedding, held_out: HeteroData | None
) -> Evidence:
    about, is_hidden = rows_of_measure(measure), measure.endswith(HELD_OUT)
    if about in ("links", "apart"):
        own, others = (held_out, data) if is_hidden and held_out is not None else (data, held_out)
        sign = 1 if about == "links" else -1
        return link_evidence(own, embedding, others=others, sign=sign, is_hidden=is_hidden)
    return evidence(data, embedding, about, held_out=held_out if is_hidden else None)


def _section(anchor: str, rows: Evidence) -> str:
    head = f'<h3 id="{anchor}">{escape_html(rows.statement)}</h3>'
    return head + _table(rows, _N_SHOWN, _N_SHOWN, has_title=True)


def _table(found: Evidence, n_first: int, n_last: int, has_title: bool = False) -> str:
    table = found.table
    texts = [found.rule, found.sample, found.chance]
    if not has_title:
        texts = [found.statement, found.sample, found.chance]
    words = escape_html(" ".join(filter(None, texts)))
    n_left_out = len(table) - n_first - n_last
    shown = table
    if n_left_out > 0:
        shown = (
            pd.concat([table.head(n_first), table.tail(n_last)]) if n_last else table.head(n_first)
        )
    head = "".join(f'<th scope="col">{escape_html(str(name))}</th>' for name in table.columns)
    rows = [
        "<tr>" + "".join(f"<td>{escape_html(_cell(cell))}</td>" for cell in row) + "</tr>"
        for row in shown.itertuples(index=False)
    ]
    if n_left_out > 0:
        gap = f'<tr><td colspan="{len(table.columns)}">… {n_left_out:,} more rows</td></tr>'
        rows.insert(n_first, gap)
    return (
        f"<p>{words}</p><table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _cell(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
