"""Items as small HTML pieces: a picture, or the name with the dataset's shape."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import streamlit as st

from hetviz._text import join_units, shorten
from hetviz.data import HeteroData
from hetviz.ui.item import item_head, pictures
from hetviz.ui.item.blocks import Block
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


def show_names(data: HeteroData, rows: Iterable[int]) -> None:
    """Show items by name."""
    st.html(items_html(_names_block([(int(row), find_item(data, int(row))) for row in rows])))


def items_block(
    data: HeteroData,
    rows: Sequence[int],
    session: str,
    outlined: Collection[int] = (),
    asides: Mapping[int, Sequence[str]] = _NONE,
    unsupported: Mapping[int, tuple[str, str]] = _NO_MARKS,
) -> Block:
    """Return items by their pictures, five in a row, or by name if most have no picture.

    `outlined`: Rows with an outline.
    `asides`: Texts after each row.
    `unsupported`: Mark and reason of the rows that the data do not support as near.
    """
    items = [(int(row), find_item(data, int(row))) for row in rows]
    block = _names_block(items)
    if have_pictures(data, rows, session):
        block["has_pictures"] = True
        for cell, (_, item) in zip(block["cells"], items, strict=True):
            cell["glyph"] = ""
            cell["picture"] = pictures.picture_address(session, data, item.dataset.name, item.row)
    for cell in block["cells"]:
        row = cell["row"]
        cell["asides"] = list(map(join_units, asides.get(row, ())))
        if row in unsupported:
            cell["mark"], reason = unsupported[row]
            cell["tip"], cell["kind"] = f"{cell['title']}: {reason}", "weak"
        elif row in outlined:
            cell["kind"] = "on"
    return block


def _names_block(items: Sequence[tuple[int, MapItem]]) -> Block:
    cells: list[Block] = [
        {
            "row": row,
            "title": item.title,
            "tip": item.title,
            "name": shorten(item.title, _MAX_NAME_CHARS),
            "glyph": item.glyph,
            "picture": None,
            "kind": "",
            "mark": "",
            "asides": [],
        }
        for row, item in items
    ]
    return {"kind": "items", "has_pictures": False, "cells": cells}


def have_pictures(data: HeteroData, rows: Sequence[int], session: str) -> bool:
    """Return whether most of the items have a picture."""
    items = [find_item(data, int(row)) for row in rows]
    n_pictures = sum(
        pictures.picture_address(session, data, item.dataset.name, item.row) is not None
        for item in items
    )
    return n_pictures > len(rows) / 2


def items_html(block: Block) -> str:
    """Return HTML of a block of items."""
    cells = "".join(map(_chip_html, block["cells"]))
    return f'<ul class="hv-{"strip" if block["has_pictures"] else "names"}">{cells}</ul>'


def _chip_html(cell: Block) -> str:
    name, title = theme.escape_html(cell["name"]), theme.escape_html(cell["title"])
    if cell["picture"]:
        source = theme.escape_html(cell["picture"])
        face = f'<img src="{source}" alt="{title}" loading="lazy">'
    else:
        face = f"<i>{cell['glyph']}</i> {name}" if cell["glyph"] else f"<i>{name}</i>"
    kind = f' class="{cell["kind"]}"' if cell["kind"] else ""
    mark = f" <em>{cell['mark']}</em>" if cell["mark"] else ""
    aside = "".join(f" <small>{theme.escape_html(text)}</small>" for text in cell["asides"])
    tip = theme.escape_html(cell["tip"])
    return f'<li{kind} title="{tip}">{button_html(cell["row"], face + aside + mark)}</li>'


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
