"""A candidate in full: both items in their own form, what speaks for it and what against."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hetviz._text import short
from hetviz.data import HeteroData
from hetviz.ui.predict.link_list import Candidate
from hetviz.ui.shell import theme
from hetviz.ui.widgets import pair_list

_NAME = 60
_CODE = re.compile(r"[a-z]{0,2}_?\d+\Z")


def reasons(data: HeteroData, content: Mapping[str, Any], one: Candidate) -> str:
    """Return HTML of what speaks for a candidate and against it.

    Parameters
    ----------
    data : HeteroData
    content : mapping
        Of the findings that it is of.
    one : Candidate
    """
    source, target = content["source"], content["target"]
    a, b = (theme.esc(short(title, _NAME)) for title in one.titles)
    record = one.record

    def rows(key: str, dataset: str) -> list[int]:
        found = (pair_list.row_of(data, dataset, id) for id in record.get(key, ()))
        return [row for row in found if row is not None]

    like, unlike = rows("alike_linked", source), rows("alike_not_linked", source)
    speaks, against = [], []
    if like:
        shared = [name for name in record.get("shared_features", ()) if not _CODE.match(name)]
        by = f", by {theme.esc(theme.listed(shared))}" if shared else ""
        some = pair_list.small(data, like)
        speaks.append(f"{some} {_go(like)} with {b} and {_are(like)} like {a}{by}.")
    carried = []
    for k, other in record.get("carried_by", ()):
        p, q = pair_list.row_of(data, source, k), pair_list.row_of(data, target, other)
        if p is not None and q is not None:
            carried.append(f"{pair_list.small(data, [p])} with {pair_list.small(data, [q])}")
    if carried:
        speaks.append(f"Known links that count most: {', '.join(carried)}.")
    if not like and not carried:
        if one.why[1]:
            speaks.append(f"{pair_list.small(data, one.why[1])} {_go(one.why[1])} with {b}.")
        if one.why[0]:
            speaks.append(f"{a} goes with {pair_list.small(data, one.why[0])}.")
    if unlike:
        some = pair_list.small(data, unlike)
        against.append(f"{some} {_are(unlike)} like {a} too, and {_go(unlike)} with others only.")
    for title, known in ((a, one.why[0]), (b, one.why[1])):
        if not known:
            against.append(f"{title} has no link yet: this rests on likeness alone.")
    parts = [
        f"<dt>{word}</dt><dd>{'</dd><dd>'.join(lines)}</dd>"
        for word, lines in (("For it", speaks), ("Against it", against))
        if lines
    ]
    return f'<dl class="hv-why">{"".join(parts)}</dl>'


def _go(rows: Sequence[int]) -> str:
    return "goes" if len(rows) == 1 else "go"


def _are(rows: Sequence[int]) -> str:
    return "is" if len(rows) == 1 else "are"
