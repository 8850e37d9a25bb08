"""Why items would belong together: the columns they are alike in, which may count for more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.features.alike import Alike, alike_by
from hetviz.plots.colour import spoken
from hetviz.ui.shell import background, session, theme
from hetviz.workspace import Act, Command, SetFeatures

_MOST, _LEAST_WEIGHT, _STEP = 8.0, 0.5, 0.5
_STRESSED = 3.0
_WIDTH = 330


def offer(data: HeteroData, groups: Mapping[str, Ints]) -> None:
    """Offer the columns by which A and B, or the items of A, are alike; nothing without any."""
    a = groups.get("A")
    if a is None:
        return
    b = groups.get("B", a)
    mark = a.tobytes() + b"|" + b.tobytes()
    found: list[Alike] = session.cached(
        ("alike", id(data), mark), data, lambda: alike_by(data, a, b)
    )
    if not found:
        return
    first = spoken(found[0].column)
    with st.popover(f"Because of {theme.plain(first.lower())} …", key="because", type="tertiary"):
        with st.container(width=_WIDTH):
            theme.section("Because of")
            theme.quiet(
                "What they are most alike in. Let it count for more, and the whole map follows; "
                "nothing is said of these items alone. One undo takes it back."
            )
            wanted = [_slider(one) for one in found]
        st.button(
            "Let these count so",
            key="because-do",
            type="primary",
            disabled=all(one.weight == weight for one, weight in zip(found, wanted, strict=True)),
            on_click=_stress,
            args=(found, wanted),
        )


def _slider(one: Alike) -> float:
    # Who opens this wants some of it to count for more, unless that is so already.
    high = max(_MOST, one.weight)
    low = min(_LEAST_WEIGHT, one.weight)
    return float(
        st.slider(
            f"{theme.plain(spoken(one.column))}: nearer than {100 * one.nearer:.0f} % of "
            f"{theme.plain(one.dataset)}",
            low,
            high,
            _STRESSED if one.weight == 1.0 else one.weight,
            _STEP,
            format="%.1f ×",
            key=f"because-{one.dataset}-{one.column}-{one.weight:g}",
        )
    )


def stressed(found: Sequence[Alike], wanted: Sequence[float]) -> Act:
    """Return the command that gives columns these weights."""
    columns: dict[str, dict[str, dict[str, float]]] = {}
    for one, weight in zip(found, wanted, strict=True):
        if weight != one.weight:
            columns.setdefault(one.dataset, {})[one.column] = {"weight": weight}
    steps: list[Command] = [SetFeatures(name, fields) for name, fields in columns.items()]
    names = ", ".join(spoken(column) for fields in columns.values() for column in fields)
    return Act([one.to_dict() for one in steps], f"weight of {names}")


def _stress(found: Sequence[Alike], wanted: Sequence[float]) -> None:
    if session.do(stressed(found, wanted)):
        background.refit(session.workspace().state)
