"""How an item is shown wherever it is named: its picture, or its name with its dataset's shape."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import streamlit as st

from hetviz._text import short
from hetviz.data import HeteroData
from hetviz.ui.map import item_head, pictures
from hetviz.ui.map.item import Item, item_at
from hetviz.ui.shell import theme

__all__ = ["Item", "chips", "head", "item_at", "named", "picture_of", "strip"]
_CHIP = 26


def picture_of(data: HeteroData, item: Item) -> str | None:
    """Return the address of an item's picture, or None."""
    return pictures.address(str(st.session_state["sid"]), data, item.dataset.name, item.row)


def chips(data: HeteroData, rows: Iterable[int], marked: Collection[int] = ()) -> None:
    """Show items by name, those `marked` with an outline."""
    cells = []
    for row in rows:
        item = item_at(data, int(row))
        kind = ' class="on"' if row in marked else ""
        words = theme.esc(short(item.title, _CHIP))
        cells.append(f'<li{kind} title="{theme.esc(item.title)}"><i>{item.glyph}</i> {words}</li>')
    st.html(f'<ul class="hv-names">{"".join(cells)}</ul>')


def strip(data: HeteroData, rows: Iterable[int], marked: Collection[int] = ()) -> None:
    """Show items by their pictures, five in a row, those `marked` with an outline."""
    cells = []
    for row in rows:
        item = item_at(data, int(row))
        kind = ' class="on"' if row in marked else ""
        title = theme.esc(item.title)
        source = picture_of(data, item)
        face = (
            f'<img src="{theme.esc(source)}" alt="{title}" loading="lazy">'
            if source
            else f"<i>{theme.esc(short(item.title, _CHIP))}</i>"
        )
        cells.append(f'<li{kind} title="{title}">{face}</li>')
    st.html(f'<ul class="hv-strip">{"".join(cells)}</ul>')


def named(data: HeteroData, rows: Iterable[int]) -> None:
    """Show items with picture and name."""
    cells = []
    for row in rows:
        item = item_at(data, int(row))
        title = theme.esc(item.title)
        source = picture_of(data, item)
        face = (
            f'<img src="{theme.esc(source)}" alt="" loading="lazy">'
            if source
            else f"<i>{item.glyph}</i>"
        )
        cells.append(f'<div title="{title}">{face}{title}</div>')
    st.html(f'<div class="hv-items">{"".join(cells)}</div>')


def faces(data: HeteroData, rows: Sequence[int], lines: Sequence[str] = ()) -> str:
    """Return HTML of items side by side, each with its picture, its name and a line below.

    Parameters
    ----------
    data : HeteroData
    rows : sequence of int
        Global rows.
    lines : sequence of str
        One for each row, empty for none; without them its dataset is named.
    """
    cells = []
    for place, row in enumerate(rows):
        item = item_at(data, row)
        face = _face(data, item)
        line = lines[place] if lines else item.dataset.name
        below = f"<p>{theme.esc(line)}</p>" if line else ""
        cells.append(f"<div>{face}<h2>{theme.esc(item.title)}</h2>{below}</div>")
    return f'<div class="hv-asked">{"".join(cells)}</div>'


def head(data: HeteroData, item: Item, line: str) -> None:
    """Show one item large: its picture, its name, and a grey line."""
    st.html(
        f'<div class="hv-one">{_face(data, item)}<div><h2>{theme.esc(item.title)}</h2>'
        f"<p>{theme.esc(line)}</p></div></div>"
    )


def _face(data: HeteroData, item: Item) -> str:
    """Return HTML of an item's picture; without one, of those that it is linked with most."""
    found = item_head.faces(data, item, str(st.session_state["sid"]))
    if found and item_head.own_picture(data, item):
        return f'<img src="{theme.esc(found[0])}" alt="">'
    if found:
        pictures = "".join(f'<img src="{theme.esc(one)}" alt="">' for one in found)
        return f'<span class="hv-four" aria-hidden="true">{pictures}</span>'
    return f'<i aria-hidden="true">{item.glyph}</i>'
