"""A pair of items as one line of a list: both in their own form, and what speaks for them."""

from __future__ import annotations

from collections.abc import Sequence

from hetviz.data import HeteroData
from hetviz.plots.text import short
from hetviz.ui import faces, look
from hetviz.ui.faces import Item

_NAME, _SMALL = 40, 22


def row_of(data: HeteroData, dataset: str, id: str) -> int | None:
    """Return the global row of an item, or None where it is gone."""
    if dataset not in data.datasets:
        return None
    at = int(data[dataset].find([id])[0])
    return None if at < 0 else at + data.offsets[dataset].start


def pair(
    data: HeteroData, p: int, q: int, aside: str, p_links: Sequence[int], q_links: Sequence[int]
) -> str:
    """Return HTML of a pair of global rows, and of what each is linked with.

    Parameters
    ----------
    data : HeteroData
    p, q : int
    aside : str
        Stands at the right.
    p_links, q_links : sequence of int
        Rows that p is linked with, of the dataset of q; and the other way round.
    """
    first, second = faces.item_at(data, p), faces.item_at(data, q)
    why = []
    if q_links:
        why.append(f"{_small(data, q_links)} {_go(q_links)} with {_name(second)}")
    if p_links:
        why.append(f"{_name(first)} goes with {_small(data, p_links)}")
    words = f"<p>{'; '.join(why)}</p>" if why else "<p>nothing linked with either lies nearby</p>"
    return (
        f'<div class="hv-pair"><div>{_face(data, first)}<em>and</em>{_face(data, second)}'
        f"<b>{look.esc(aside)}</b></div>{words}</div>"
    )


def item(data: HeteroData, row: int, aside: str = "") -> str:
    """Return HTML of one item with a word at its right."""
    one = faces.item_at(data, row)
    return (
        f'<div class="hv-pair hv-alone"><div>{_face(data, one)}<b>{look.esc(aside)}</b></div></div>'
    )


def _go(rows: Sequence[int]) -> str:
    return "goes" if len(rows) == 1 else "go"


def _face(data: HeteroData, one: Item) -> str:
    source = faces.picture_of(data, one)
    face = (
        f'<img src="{look.esc(source)}" alt="" loading="lazy">'
        if source
        else f'<i aria-hidden="true">{one.glyph}</i>'
    )
    words = look.esc(short(one.title, _NAME))
    return f'<span title="{look.esc(one.title)}">{face}{words}</span>'


def _name(one: Item) -> str:
    return look.esc(short(one.title, _SMALL))


def _small(data: HeteroData, rows: Sequence[int]) -> str:
    cells = []
    for row in rows:
        one = faces.item_at(data, row)
        source = faces.picture_of(data, one)
        title = look.esc(one.title)
        if source:
            cells.append(f'<img src="{look.esc(source)}" alt="{title}" title="{title}">')
        else:
            cells.append(f'<q title="{title}">{look.esc(short(one.title, _SMALL))}</q>')
    return "".join(cells)
