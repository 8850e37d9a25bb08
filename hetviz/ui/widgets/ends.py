"""What an item is linked with: picture, name, and how near each lies on the map."""

from __future__ import annotations

from math import log1p

import streamlit as st

from hetviz._text import short
from hetviz.data import HeteroData
from hetviz.metrics.fit.nearest import Nearest
from hetviz.ui.shell import theme
from hetviz.ui.widgets import item_chip

_MOST, _NAME = 12, 44


def length(nearer: int, n_near: int, n_others: int) -> float:
    """Return how long a bar stands for a rank: 1 for the nearest, one half where near ends.

    By the logarithm of the rank, so that the first few differ as much as the last hundreds.
    """
    edge = log1p(n_near)
    if nearer <= n_near:
        return 1.0 - 0.5 * log1p(nearer) / edge
    beyond = log1p(max(n_others, n_near + 1)) - edge
    return 0.5 * (1.0 - min((log1p(nearer) - edge) / beyond, 1.0))


def show(data: HeteroData, name: str, found: Nearest) -> None:
    """List what of one dataset the item is linked with, the nearest first."""
    theme.quiet(f"How many {name} lie nearer. The mark: the {found.n_near:,} nearest.")
    rows = []
    for row, nearer, weight, met in zip(
        found.ends[:_MOST].tolist(),
        found.nearer.tolist(),
        found.weight.tolist(),
        found.met().tolist(),
        strict=False,
    ):
        item = item_chip.item_at(data, row)
        source = item_chip.picture_of(data, item)
        face = (
            f'<img src="{theme.esc(source)}" alt="" loading="lazy">'
            if source
            else f'<i aria-hidden="true">{item.glyph}</i>'
        )
        title = theme.esc(short(item.title, _NAME))
        apart = " <em>apart</em>" if weight < 0 else ""
        share = 100.0 * length(nearer, found.n_near, found.n_others)
        rows.append(
            f"<li{'' if met else ' class=not'}>{face}<span>{title}{apart}</span>"
            f'<u aria-hidden="true"><i style="width:{max(share, 3):.0f}%"></i></u>'
            f"<b>{nearer:,}</b></li>"
        )
    more = len(found.ends) - len(rows)
    tail = f"<li class=more>… and {more:,} more, farther away</li>" if more > 0 else ""
    st.html(f'<ul class="hv-ends-of">{"".join(rows)}{tail}</ul>')
