"""Items as small HTML pieces: a picture, or the name with the dataset's shape."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import streamlit as st

from hetviz._text import shorten
from hetviz.data import HeteroData
from hetviz.ui.item import item_head, pictures
from hetviz.ui.item.item import MapItem, find_item
from hetviz.ui.shell import theme
from hetviz.ui.shell.page_state import project_id

_MAX_NAME_CHARS = 26
_NONE: Mapping[int, Sequence[str]] = MappingProxyType({})
_NO_MARKS: Mapping[int, tuple[str, str]] = MappingProxyType({})


def picture_of(data: HeteroData, item: MapItem) -> str | None:
    """Return the address of an item's picture, or None."""
    return pictures.picture_address(project_id(), data, item.dataset.name, item.row)


def small_face(data: HeteroData, item: MapItem) -> str:
    """Return HTML of an item's picture, or of the shape of its dataset."""
    source = picture_of(data, item)
    if source:
        return f'<img src="{theme.escape_html(source)}" alt="" loading="lazy">'
    return f'<i aria-hidden="true">{item.glyph}</i>'


def show_names(
    data: HeteroData,
    rows: Iterable[int],
    outlined: Collection[int] = (),
    asides: Mapping[int, Sequence[str]] = _NONE,
    unsupported: Mapping[int, tuple[str, str]] = _NO_MARKS,
) -> None:
    """Show items by name; see `show_items`."""
    cells = []
    for row in rows:
        item = find_item(data, int(row))
        words = theme.escape_html(shorten(item.title, _MAX_NAME_CHARS))
        face = f"<i>{item.glyph}</i> {words}"
        cells.append(_chip_html(item, row, face, outlined, asides, unsupported))
    st.html(f'<ul class="hv-names">{"".join(cells)}</ul>')


def show_items(
    data: HeteroData,
    rows: Sequence[int],
    outlined: Collection[int] = (),
    asides: Mapping[int, Sequence[str]] = _NONE,
    unsupported: Mapping[int, tuple[str, str]] = _NO_MARKS,
) -> None:
    """Show items by their pictures, five in a row, or by name if most have no picture.

    `outlined`: Rows with an outline.
    `asides`: Texts after each row.
    `unsupported`: Mark and reason of the rows that the data do not support as near.
    """
    if not have_pictures(data, rows):
        show_names(data, rows, outlined, asides, unsupported)
        return
    cells = []
    for row in rows:
        item = find_item(data, int(row))
        source = picture_of(data, item)
        face = (
            f'<img src="{theme.escape_html(source)}" alt="{theme.escape_html(item.title)}" '
            'loading="lazy">'
            if source
            else f"<i>{theme.escape_html(shorten(item.title, _MAX_NAME_CHARS))}</i>"
        )
        cells.append(_chip_html(item, row, face, outlined, asides, unsupported))
    st.html(f'<ul class="hv-strip">{"".join(cells)}</ul>')


def have_pictures(data: HeteroData, rows: Sequence[int]) -> bool:
    """Return whether most of the items have a picture."""
    pictures = [picture_of(data, find_item(data, int(row))) for row in rows]
    return sum(address is not None for address in pictures) > len(rows) / 2


def _chip_html(
    item: MapItem,
    row: int,
    face: str,
    outlined: Collection[int],
    asides: Mapping[int, Sequence[str]],
    unsupported: Mapping[int, tuple[str, str]],
) -> str:
    title, kind, mark = item.title, "", ""
    if row in unsupported:
        word, reason = unsupported[row]
        title = f"{title}: {reason}"
        kind, mark = ' class="weak"', f" <em>{word}</em>"
    elif row in outlined:
        kind = ' class="on"'
    aside = "".join(f" <small>{theme.escape_html(text)}</small>" for text in asides.get(row, ()))
    return (
        f'<li{kind} title="{theme.escape_html(title)}">{button_html(row, face + aside + mark)}</li>'
    )


def button_html(row: int, content: str) -> str:
    """Return HTML of a button of the panel that selects an item on the map."""
    return f'<button type="button" data-hv-row="{row}">{content}</button>'


def show_named(data: HeteroData, rows: Iterable[int]) -> None:
    """Show items with picture and name."""
    cells = []
    for row in rows:
        item = find_item(data, int(row))
        title = theme.escape_html(item.title)
        content = button_html(int(row), f"{small_face(data, item)}{title}")
        cells.append(f'<div title="{title}">{content}</div>')
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
