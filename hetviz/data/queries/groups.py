"""Groups that were named: statements about all pairs of some items, taken as the one they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._types import Ints
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.meta import META_COLUMNS, meta_text
from hetviz.data.model.statements import statement_keys

MIN_ITEMS = 3


@dataclass(frozen=True, eq=False)
class NamedGroup:
    """Items of which one thing was said: that all of them belong together, or all apart.

    Attributes
    ----------
    name : str
        Of the set of its statements.
    rows : array of int
        Global rows of its items, three or more.
    weight : float
        Of each pair: above 0 together, below apart.
    kind, note : str
    who, when : str
        Who said it, and when; empty where the pairs differ.
    keys : tuple of str
        Of its pairs among `hetviz.statements`.
    whole : bool
        It is all that its set says, in one voice: its items, weight and notes say the same as all
        its pairs.
    """

    name: str
    rows: Ints
    weight: float
    kind: str
    note: str
    who: str
    when: str
    keys: tuple[str, ...]
    whole: bool


def named_groups(data: HeteroData) -> list[NamedGroup]:
    """Return the sets of guidance that say one thing of all pairs of three or more items.

    Parameters
    ----------
    data : HeteroData

    Returns
    -------
    list of NamedGroup
        In the order in which they were first said. A pair that a later set has said in its turn
        counts for both. O(links).
    """
    said_of_sets = [
        links
        for links in data.links
        if links.role == "guidance" and links.meta is not None and "set" in links.meta.columns
    ]
    if not any(
        bool((meta_text(links.meta, "set", len(links)) != "").any()) for links in said_of_sets
    ):
        return []
    keys = statement_keys(data)
    parts, start = [], 0
    for links in data.links:
        n = len(links)
        if links in said_of_sets:
            parts.append(
                pd.DataFrame(
                    {
                        "p": links.i + data.offsets[links.source].start,
                        "q": links.j + data.offsets[links.target].start,
                        "weight": links.weight,
                        "kind": links.kind,
                        **{name: meta_text(links.meta, name, n) for name in META_COLUMNS},
                        "scored": links.score is not None,
                        "key": keys[start : start + n],
                    }
                )
            )
        start += n
    if not parts:
        return []
    said = pd.concat(parts, ignore_index=True)
    pairs: dict[bool, Ints] = {}
    found = []
    for name, part in said[said["set"] != ""].groupby("set", sort=False):
        rows = np.unique(part[["p", "q"]].to_numpy())
        first = part.iloc[0]
        n_pairs = len(rows) * (len(rows) - 1) // 2
        of_one = part["weight"].nunique() == 1 and part["kind"].nunique() == 1
        # Fewer own pairs than items minus one leave one of them out; counting first keeps it cheap.
        if len(rows) < MIN_ITEMS or not of_one or 2 * len(part) < n_pairs:
            continue
        together = bool(first["weight"] > 0)
        if together not in pairs:
            pairs[together] = _guidance_pairs(data, together)
        if _all_pairs_among(rows, data.n_rows, pairs[together]):
            notes = {column: part[column].unique() for column in ("note", "who", "when")}
            whole = (
                len(part) == n_pairs
                and not part["scored"].any()
                and bool((part["p"] < part["q"]).all())
                and all(len(texts) == 1 for texts in notes.values())
            )
            found.append(
                NamedGroup(
                    str(name),
                    rows,
                    float(first["weight"]),
                    str(first["kind"]),
                    **{
                        column: str(texts[0]) if len(texts) == 1 else ""
                        for column, texts in notes.items()
                    },
                    keys=tuple(part["key"]),
                    whole=whole,
                )
            )
    return found


def _guidance_pairs(data: HeteroData, together: bool) -> Ints:
    """Return the pairs that guidance puts together, or apart, as sorted numbers."""
    parts = [np.empty(0, dtype=np.int64)]
    for links in data.links:
        if links.role == "guidance":
            mine = links.weight > 0 if together else links.weight < 0
            p = links.i[mine] + data.offsets[links.source].start
            q = links.j[mine] + data.offsets[links.target].start
            parts.append(np.minimum(p, q) * data.n_rows + np.maximum(p, q))
    return np.sort(np.concatenate(parts))


def _all_pairs_among(rows: Ints, n: int, pairs: Ints) -> bool:
    p, q = np.triu_indices(len(rows), 1)
    wanted = rows[p] * n + rows[q]
    at = np.searchsorted(pairs, wanted)
    return bool((np.append(pairs, -1)[at] == wanted).all())
