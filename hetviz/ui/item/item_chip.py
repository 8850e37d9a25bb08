"""Items as small HTML pieces: a picture, or the name with the dataset's shape."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import streamlit as st

from hetviz._text import shorten
from hetviz.data import HeteroData
from hetviz.ui.item import item_head, pictures
from hetviz.ui.item.item import MapItem, find_item
from hetviz.ui.shell import theme
from hetviz.ui.shell.page_state import project_id

_MAX_NAME_CHARS = 26


def picture_of(data: HeteroData, item: MapItem) -> str | None:
    """Return the address of an item's picture, or None."""
    return pictures.picture_address(project_id(), data, item.dataset.name, item.row)


def small_face(data: HeteroData, item: MapItem) -> str:
    """Return HTML of an item's picture, or of the shape of its dataset."""
    source = picture_of(data, item)
    if source:
        return f'<img src="{theme.escape_html(source)}" alt="" loading="lazy">'
    return f'<i aria-hidden="true">{item.glyph}</i>'


def show_names(data: HeteroData, rows: Iterable[int], marked: Collection[int] = ()) -> None:
    """Show items by name, those `marked` with an outline."""
    cells = []
    for row in rows:
        item = find_item(data, int(row))
        kind = ' class="on"' if row in marked else ""
        words = theme.escape_html(shorten(item.title, _MAX_NAME_CHARS))
        cells.append(
            f'<li{kind} title="{theme.escape_html(item.title)}"><i>{item.glyph}</i> {words}</li>'
        )
    st.html(f'<ul class="hv-names">{"".join(cells)}</ul>')


def show_pictures(data: HeteroData, rows: Iterable[int], marked: Collection[int] = ()) -> None:
    """Show items by their pictures, five in a row, those `marked` with an outline."""
    cells = []
    for row in rows:
        item = find_item(data, int(row))
        kind = ' class="on"' if row in marked else ""
        title = theme.escape_html(item.title)
        source = picture_of(data, item)
        face = (
            f'<img src="{theme.escape_html(source)}" alt="{title}" loading="lazy">'
            if source
            else f"<i>{theme.escape_html(shorten(item.title, _MAX_NAME_CHARS))}</i>"
        )
        cells.append(f'<li{kind} title="{title}">{face}</li>')
    st.html(f'<ul class="hv-strip">{"".join(cells)}</ul>')


def show_named(data: HeteroData, rows: Iterable[int]) -> None:
    """Show items with picture and name."""
    cells = []
    for row in rows:
        item = find_item(data, int(row))
        title = theme.escape_html(item.title)
        cells.append(f'<div title="{title}">{small_face(data, item)}{title}</div>')
    st.html(f'<div class="hv-items">{"".join(cells)}</div>')


def cards_html(data: HeteroData, rows: Sequence[int], lines: Sequence[str] = ()) -> str:
    """Return HTML of items side by side, with a line below each (else the dataset's name)."""
    cells = []
    for number, row in enumerate(rows):
        item = find_item(data, row)
        face = _face_html(data, item)
        line = lines[number] if lines else item.dataset.name
        below = f"<p>{theme.escape_html(line)}</p>" if line else ""
        cells.append(f"<div>{face}<h2>{theme.escape_html(item.title)}</h2>{below}</div>")
    return f'<div class="hv-question-items">{"".join(cells)}</div>'


def show_head(data: HeteroData, item: MapItem, line: str) -> None:
    """Show one item large, with a grey line below its name."""
    st.html(
        f'<div class="hv-item-head">{_face_html(data, item)}<div>'
        f"<h2>{theme.escape_html(item.title)}</h2><p>{theme.escape_html(line)}</p></div></div>"
    )


def _face_html(data: HeteroData, item: MapItem) -> str:
    """Return HTML of an item's picture, or of pictures of its strongest links."""
    sources = item_head.picture_addresses(data, item, project_id())
    if sources and item_head.has_picture(data, item):
        return f'<img src="{theme.escape_html(sources[0])}" alt="">'
    if sources:
        pictures = "".join(f'<img src="{theme.escape_html(source)}" alt="">' for source in sources)
        return f'<span class="hv-picture-grid" aria-hidden="true">{pictures}</span>'
    return f'<i aria-hidden="true">{item.glyph}</i>'
