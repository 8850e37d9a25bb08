"""Named groups: sets of statements about all pairs of some items."""

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
    """Items that a person put together, or apart, as a group.

    Attributes
    ----------
    name : str
        Name of the set of its statements.
    rows : array of int
        Global rows of its items, three or more.
    weight : float
        Weight of each pair: positive for together, negative for apart.
    kind, note : str
    who, when : str
        Author and time; empty if the pairs differ.
    keys : tuple of str
        Keys of its pairs in `hetviz.statements`.
    whole : bool
        Whether its items, weight and notes describe all statements of the set completely.
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
    """Return the sets of guidance with one weight for all pairs of three or more items.

    Parameters
    ----------
    data : HeteroData

    Returns
    -------
    list of NamedGroup
        In order of their first statement. A pair that a later set repeats counts for both sets.
        O(links).
    """
    guidance = [
        links
        for links in data.links
        if links.role == "guidance" and links.meta is not None and "set" in links.meta.columns
    ]
    if not any(bool((meta_text(links.meta, "set", len(links)) != "").any()) for links in guidance):
        return []
    keys = statement_keys(data)
    parts, start = [], 0
    for links in data.links:
        n = len(links)
        if links in guidance:
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
    table = pd.concat(parts, ignore_index=True)
    pairs: dict[bool, Ints] = {}
    groups = []
    for name, part in table[table["set"] != ""].groupby("set", sort=False):
        rows = np.unique(part[["p", "q"]].to_numpy())
        first = part.iloc[0]
        n_pairs = len(rows) * (len(rows) - 1) // 2
        is_uniform = part["weight"].nunique() == 1 and part["kind"].nunique() == 1
        # Counting first is cheap and excludes most sets.
        if len(rows) < MIN_ITEMS or not is_uniform or 2 * len(part) < n_pairs:
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
            groups.append(
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
    return groups


def _guidance_pairs(data: HeteroData, together: bool) -> Ints:
    """Return the sorted codes of the pairs that guidance puts together, or apart."""
    parts = [np.empty(0, dtype=np.int64)]
    for links in data.links:
        if links.role == "guidance":
            mask = links.weight > 0 if together else links.weight < 0
            p = links.i[mask] + data.offsets[links.source].start
            q = links.j[mask] + data.offsets[links.target].start
            parts.append(np.minimum(p, q) * data.n_rows + np.maximum(p, q))
    return np.sort(np.concatenate(parts))


def _all_pairs_among(rows: Ints, n: int, pairs: Ints) -> bool:
    p, q = np.triu_indices(len(rows), 1)
    needed = rows[p] * n + rows[q]
    at = np.searchsorted(pairs, needed)
    return bool((np.append(pairs, -1)[at] == needed).all())
