"""Pairs of items as lines of a list, with evidence from their links."""

from __future__ import annotations

from collections.abc import Sequence

from hetviz._text import shorten
from hetviz.data import HeteroData
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import MapItem, find_item
from hetviz.ui.shell import theme

_NAME_CHARS, _SHORT_CHARS, _SENTENCE_CHARS = 40, 22, 60


def pair_html(
    data: HeteroData, p: int, q: int, aside: str, p_links: Sequence[int], q_links: Sequence[int]
) -> str:
    """Return HTML of a pair of global rows, with the rows that each is linked with."""
    first, second = find_item(data, p), find_item(data, q)
    evidence = []
    if q_links:
        evidence.append(
            f"{inline_html(data, q_links)} {verb_be(q_links)} linked with {_name_html(second)}"
        )
    if p_links:
        evidence.append(f"{_name_html(first)} is linked with {inline_html(data, p_links)}")
    paragraph = f"<p>{', '.join(evidence)}</p>" if evidence else "<p>no links of close items</p>"
    return (
        f'<div class="hv-pair"><div>{_face_html(data, first)}<em>and</em>{_face_html(data, second)}'
        f"<b>{theme.escape_html(aside)}</b></div>{paragraph}</div>"
    )


def item_html(data: HeteroData, row: int, aside: str = "") -> str:
    """Return HTML of one item with a text at the right."""
    item = find_item(data, row)
    words = theme.escape_html(aside)
    return f'<div class="hv-pair hv-single"><div>{_face_html(data, item)}<b>{words}</b></div></div>'


def verb_be(rows: Sequence[int]) -> str:
    """Return "is" or "are"."""
    return "is" if len(rows) == 1 else "are"


def _face_html(data: HeteroData, item: MapItem) -> str:
    face = item_chip.small_face(data, item)
    words = theme.escape_html(shorten(item.title, _NAME_CHARS))
    return f'<span title="{theme.escape_html(item.title)}">{face}{words}</span>'


def _name_html(item: MapItem) -> str:
    return theme.escape_html(shorten(item.title, _SHORT_CHARS))


def inline_html(data: HeteroData, rows: Sequence[int]) -> str:
    """Return HTML of items within a sentence, by picture or else by name."""
    cells = []
    for k, row in enumerate(rows):
        item = find_item(data, row)
        source = item_chip.picture_of(data, item)
        title = theme.escape_html(item.title)
        if source:
            cells.append(f'<img src="{theme.escape_html(source)}" alt="{title}" title="{title}">')
        else:
            comma = ", " if k else ""
            cells.append(
                f"{comma}<q "
                f'title="{title}">{theme.escape_html(shorten(item.title, _SENTENCE_CHARS))}</q>'
            )
    return "".join(cells)
