"""Drawing of tables as boxes, with lines between joined columns that can be drawn and changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from hetviz._text import shorten
from hetviz.data import HeteroData
from hetviz.data.joins.join import Join
from hetviz.data.joins.proposals import Proposal
from hetviz.data.joins.similar_rows import SIMILAR

_HERE = Path(__file__).parent
# Limit of columns of one table sent to the browser, which shows the first few.
_MAX_COLUMNS = 500
_N_EXAMPLES = 2


def draw_join_map(
    key: str,
    data: HeteroData,
    proposals: Sequence[tuple[str, str, Proposal, bool, bool]],
    can_undo: bool,
    on_action: Callable[[], None],
    has_list: bool = True,
) -> None:
    """Draw the tables and joins.

    `proposals`: the key, sentence and proposal of each join, whether it is ticked, and whether the
    user drew it. `has_list`: list the joins below the drawing.
    """
    st.components.v2.component(
        "hetviz_join_map",
        html='<div class="hv-join-map"></div>',
        css=(_HERE / "join_map.css").read_text(encoding="utf-8"),
        js=(_HERE / "join_map.js").read_text(encoding="utf-8"),
    )(
        key=key,
        data={
            "tables": [_table_info(data, name) for name in data.datasets],
            "joins": [_join_info(data, *proposal) for proposal in proposals],
            "can_undo": can_undo,
            "has_list": has_list,
        },
        on_act_change=on_action,
    )


def _table_info(data: HeteroData, name: str) -> dict[str, object]:
    dataset = data[name]
    id_name = str((dataset.recipe or {}).get("id", "")) or "row number"
    columns = [] if dataset.table is None else list(map(str, dataset.table.columns))
    marks = {dataset.title_column: "title"}
    return {
        "name": name,
        "rows": len(dataset),
        "columns": [
            ["", id_name, "id"],
            *([column, column, marks.get(column, "")] for column in columns[:_MAX_COLUMNS]),
        ],
    }


def _join_info(
    data: HeteroData, key: str, sentence: str, proposal: Proposal, is_on: bool, is_drawn: bool
) -> dict[str, object]:
    join = proposal.join
    examples = [
        f"{shorten(first, 30)} – {shorten(other, 30)}"
        for first, other in proposal.examples(data)[:_N_EXAMPLES]
    ]
    return {
        "key": key,
        "words": sentence,
        "source": join.source,
        "columns": _drawn_columns(data, join, join.source, join.source_columns),
        "target": join.target,
        "others": _drawn_columns(
            data, join, join.target, join.target_columns if join.kind == "key" else ("",)
        ),
        "on": is_on,
        "drawn": is_drawn,
        "declared": proposal.declared,
        "can_reverse": join.kind == "key" and not join.also,
        "evidence": " ".join(filter(None, [*proposal.evidence, proposal.doubt])),
        "examples": examples,
    }


def _drawn_columns(data: HeteroData, join: Join, name: str, columns: Sequence[str]) -> list[str]:
    """Return the columns of a table between which a join is drawn; "" stands for the ids."""
    return [data[name].title_column or ""] if join.kind in SIMILAR else list(columns)
