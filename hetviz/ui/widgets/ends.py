"""What an item is linked with: picture, name, and how near each lies on the map."""

from __future__ import annotations

import streamlit as st

from hetviz.data import HeteroData
from hetviz.metrics.fit.nearest import Nearest
from hetviz.ui.map import item_head
from hetviz.ui.shell import theme


def show(data: HeteroData, name: str, found: Nearest) -> None:
    """List what of one dataset the item is linked with, the nearest first."""
    theme.quiet(item_head.told(name, found))
    rows = []
    for end in item_head.ends(data, found, str(st.session_state["sid"])):
        face = (
            f'<img src="{theme.esc(end["picture"])}" alt="" loading="lazy">'
            if end["picture"]
            else f'<i aria-hidden="true">{end["glyph"]}</i>'
        )
        apart = " <em>apart</em>" if end["apart"] else ""
        rows.append(
            f"<li{'' if end['met'] else ' class=not'}>{face}"
            f"<span>{theme.esc(end['title'])}{apart}</span>"
            f'<u aria-hidden="true"><i style="width:{end["share"]}%"></i></u>'
            f"<b>{end['nearer']}</b></li>"
        )
    more = item_head.more(found)
    tail = f"<li class=more>… and {more:,} more, farther away</li>" if more else ""
    st.html(f'<ul class="hv-ends-of">{"".join(rows)}{tail}</ul>')
