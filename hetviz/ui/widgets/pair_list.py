"""A pair of items as one line of a list: both in their own form, and what speaks for them."""

from __future__ import annotations

from collections.abc import Sequence

from hetviz._text import short
from hetviz.data import HeteroData
from hetviz.ui.shell import theme
from hetviz.ui.widgets import item_chip
from hetviz.ui.widgets.item_chip import Item

_NAME, _SMALL, _IN_SENTENCE = 40, 22, 60


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
    first, second = item_chip.item_at(data, p), item_chip.item_at(data, q)
    why = []
    if q_links:
        why.append(f"{small(data, q_links)} {_go(q_links)} with {_name(second)}")
    if p_links:
        why.append(f"{_name(first)} goes with {small(data, p_links)}")
    words = f"<p>{'; '.join(why)}</p>" if why else "<p>nothing linked with either lies nearby</p>"
    return (
        f'<div class="hv-pair"><div>{_face(data, first)}<em>and</em>{_face(data, second)}'
        f"<b>{theme.esc(aside)}</b></div>{words}</div>"
    )


def item(data: HeteroData, row: int, aside: str = "") -> str:
    """Return HTML of one item with a word at its right."""
    one = item_chip.item_at(data, row)
    words = theme.esc(aside)
    return f'<div class="hv-pair hv-alone"><div>{_face(data, one)}<b>{words}</b></div></div>'


def _go(rows: Sequence[int]) -> str:
    return "goes" if len(rows) == 1 else "go"


def _face(data: HeteroData, one: Item) -> str:
    source = item_chip.picture_of(data, one)
    face = (
        f'<img src="{theme.esc(source)}" alt="" loading="lazy">'
        if source
        else f'<i aria-hidden="true">{one.glyph}</i>'
    )
    words = theme.esc(short(one.title, _NAME))
    return f'<span title="{theme.esc(one.title)}">{face}{words}</span>'


def _name(one: Item) -> str:
    return theme.esc(short(one.title, _SMALL))


def small(data: HeteroData, rows: Sequence[int]) -> str:
    """Return HTML of items within a sentence, by picture or else by name."""
    cells = []
    for k, row in enumerate(rows):
        one = item_chip.item_at(data, row)
        source = item_chip.picture_of(data, one)
        title = theme.esc(one.title)
        if source:
            cells.append(f'<img src="{theme.esc(source)}" alt="{title}" title="{title}">')
        else:
            comma = ", " if k else ""
            cells.append(
                f'{comma}<q title="{title}">{theme.esc(short(one.title, _IN_SENTENCE))}</q>'
            )
    return "".join(cells)
