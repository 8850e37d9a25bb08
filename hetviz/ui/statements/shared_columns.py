"""Columns in which groups are similar, and sliders for their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.features.similar_columns import SimilarColumn, alike_by
from hetviz.plots.colour import display_name
from hetviz.ui.shell import background, session, theme
from hetviz.workspace import Act, Command, SetFeatures

_MAX_WEIGHT, _MIN_WEIGHT, _STEP = 8.0, 0.5, 0.5
_RAISED_WEIGHT = 3.0
_WIDTH = 330


def offer_weights(data: HeteroData, groups: Mapping[str, Ints]) -> None:
    """Offer weights for the columns in which A and B, or the items of A, are similar."""
    a = groups.get("A")
    if a is None:
        return
    b = groups.get("B", a)
    mark = a.tobytes() + b"|" + b.tobytes()
    columns: list[SimilarColumn] = session.get_or_compute(
        ("alike", id(data), mark), data, lambda: alike_by(data, a, b)
    )
    if not columns:
        return
    first = display_name(columns[0].column)
    with st.popover(
        f"Because of {theme.escape_markdown(first.lower())} …", key="because", type="tertiary"
    ):
        with st.container(width=_WIDTH):
            theme.show_section("Because of")
            theme.show_note(
                "These items are most similar in these columns. A larger weight changes the whole "
                "map, not only these items. You can undo it."
            )
            new_weights = [_weight_slider(column) for column in columns]
        st.button(
            "Apply weights",
            key="because-do",
            type="primary",
            disabled=all(
                column.weight == weight for column, weight in zip(columns, new_weights, strict=True)
            ),
            on_click=_apply_weights,
            args=(columns, new_weights),
        )


def _weight_slider(column: SimilarColumn) -> float:
    # The slider starts at a raised weight unless the column has one already.
    high = max(_MAX_WEIGHT, column.weight)
    low = min(_MIN_WEIGHT, column.weight)
    return float(
        st.slider(
            f"{theme.escape_markdown(display_name(column.column))}: closer than "
            f"{100 * column.nearer:.0f} % of {theme.escape_markdown(column.dataset)}",
            low,
            high,
            _RAISED_WEIGHT if column.weight == 1.0 else column.weight,
            _STEP,
            format="%.1f ×",
            key=f"because-{column.dataset}-{column.column}-{column.weight:g}",
        )
    )


def weight_command(shared: Sequence[SimilarColumn], new_weights: Sequence[float]) -> Act:
    """Return the command that sets the changed weights."""
    columns: dict[str, dict[str, dict[str, float]]] = {}
    for item, weight in zip(shared, new_weights, strict=True):
        if weight != item.weight:
            columns.setdefault(item.dataset, {})[item.column] = {"weight": weight}
    steps: list[Command] = [SetFeatures(name, fields) for name, fields in columns.items()]
    names = ", ".join(display_name(column) for fields in columns.values() for column in fields)
    return Act(steps, f"weight of {names}")


def _apply_weights(shared: Sequence[SimilarColumn], new_weights: Sequence[float]) -> None:
    if session.run_command(weight_command(shared, new_weights)):
        background.refit(session.workspace().state)
