"""Pairs of a join, shown by name and picture before they become links."""

from __future__ import annotations

import streamlit as st

from hetviz.data import HeteroData
from hetviz.data.joins.matching import Match
from hetviz.data.joins.proposals import spread
from hetviz.data.queries.reach import Reach
from hetviz.plots.palette import shape_of
from hetviz.plots.text import short
from hetviz.ui.guidance.order import bars
from hetviz.ui.shell import theme
from hetviz.ui.widgets import item_chip

_SHOWN = 8
_NAME = 44


def pairs(data: HeteroData, match: Match, most: int = _SHOWN) -> None:
    """Show some of the pairs, from the first to the last."""
    at = spread(len(match.i), most)
    lines = [
        f'<div class="hv-pair"><div>{_side(data, match, match.source, int(match.i[k]))}'
        f"<em>with</em>{_side(data, match, match.target, int(match.j[k]))}{_weight(match, int(k))}"
        "</div></div>"
        for k in at
    ]
    st.html("".join(lines))
    if len(match.i) > len(at):
        theme.quiet(f"{len(at):,} of {len(match.i):,} pairs, evenly from all of them.")


def popover(data: HeteroData, match: Match, key: str) -> None:
    """Offer to show the pairs."""
    with (
        st.popover("Show the pairs", type="tertiary", key=f"pairs-{key}"),
        st.container(width=360, key=f"pairs-of-{key}"),
    ):
        pairs(data, match)
        told(match.told)


def coverage(reach: Reach) -> None:
    """Show for each dataset how many of its items have a link."""
    bars(
        [
            (
                f"{reach.linked[name]:,} of {n:,} {name}",
                reach.linked[name] / n,
                f"{reach.linked[name] / n:.0%}",
                "items with a link",
            )
            for name, n in reach.items.items()
        ],
        full=1.0,
    )


def told(words: tuple[str, ...] | list[str]) -> None:
    """Show what must be said of the pairs, one line each."""
    if words:
        lines = "".join(f"<li>{theme.esc(line)}</li>" for line in words)
        st.html(f'<ul class="hv-reasons">{lines}</ul>')


def warned(words: tuple[str, ...] | list[str]) -> None:
    """Show warnings, each with an orange rule at its left."""
    for line in words:
        st.html(f'<div class="hv-conflict"><p>{theme.esc(line)}</p></div>')


def _side(data: HeteroData, match: Match, name: str, row: int) -> str:
    if match.made is not None and name == match.made.name:
        # Not among the data yet: it has no pictures, and the next shape.
        title, source = str(match.made.titles[row]), None
        glyph = shape_of(len(data.datasets))[1]
    else:
        item = item_chip.item_at(data, data.offsets[name].start + row)
        title, source, glyph = item.title, item_chip.picture_of(data, item), item.glyph
    face = (
        f'<img src="{theme.esc(source)}" alt="" loading="lazy">'
        if source
        else f'<i aria-hidden="true">{glyph}</i>'
    )
    return f'<span title="{theme.esc(title)}">{face}{theme.esc(short(title, _NAME))}</span>'


def _weight(match: Match, place: int) -> str:
    if match.weight is None:
        return ""
    return f'<b title="weight">{match.weight[place]:.2g}</b>'
