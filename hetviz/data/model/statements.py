"""Statements: all links and comparisons with stable keys."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from hetviz._types import Bools, Ints, Texts
from hetviz.data.model.comparisons import Comparisons
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import Links
from hetviz.data.model.meta import META_COLUMNS, meta_text
from hetviz.errors import DataError, Problem, check_type, limit_problems
from hetviz.memo import Memo, cached_while_alive

ENDS = ("source", "source_id", "target", "target_id")
ITEMS = tuple(f"{item}_{part}" for item in "abcd" for part in ("dataset", "id"))
COLUMNS = ("key", "form", *ENDS, *ITEMS, "weight", "score", "kind", "role", *META_COLUMNS)
COMPARISON_SET = "comparisons"
"""Set of comparisons without a set of their own."""

_KEYS = Memo()
# An edit of a few statements does not change the other groups of links.
_LINK_KEYS = Memo()
_MAX_SINGLE_KEYS = 20
_TO_ESCAPE = str.maketrans({"\\": "\\\\", "|": "\\|", "#": "\\#"})


def statements(data: HeteroData) -> pd.DataFrame:
    """Return every link and comparison as a row, links first.

    Parameters
    ----------
    data : HeteroData

    Returns
    -------
    DataFrame
        Columns key, form ("link" or "comparison"), source, source_id, target, target_id, a_dataset,
        a_id .. d_dataset, d_id, weight, score, kind, role, set, note, who and when. Text that does
        not apply is empty, a missing score is NaN. A comparison of a, b and c means that a is
        closer to b than to c; with d, that a and b are closer than c and d.

    Notes
    -----
    A key consists of form, names, ids and kind, so it survives edits of other fields. Statements
    with equal keys get ``#2``, ``#3`` and so on, in order. O(statements).
    """
    check_type(data, HeteroData, "data")
    parts = [_link_rows(data, links) for links in data.links]
    if data.comparisons is not None:
        parts.append(_comparison_rows(data, data.comparisons))
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*COLUMNS[1:]])
    return table.assign(key=statement_keys(data))[[*COLUMNS]]


def statement_keys(data: HeteroData) -> Texts:
    """Return the keys of `statements`, cached for each data object."""
    return _KEYS.get_or_compute(data, "", lambda: _compute_keys(data))


def set_statement_keys(part: HeteroData, keys: Texts) -> None:
    """Use the keys that the statements have in the data of which `part` is a part."""
    _KEYS.get_or_compute(part, "", lambda: keys)


def link_keys_at(data: HeteroData, positions: Iterable[tuple[int, int]]) -> list[str]:
    """Return the keys of some links, given by group number and row within the group.

    O(links) for each of a few links; for many links all keys are computed.
    """
    position_list = list(positions)
    if _KEYS.get(data, "") is not None or len(position_list) > _MAX_SINGLE_KEYS:
        keys, starts = statement_keys(data), np.cumsum([0, *map(len, data.links)])
        return [str(keys[starts[group] + row]) for group, row in position_list]
    keys_found = []
    for group, row in position_list:
        links = data.links[group]
        i, j, alike = int(links.i[row]), int(links.j[row]), 1
        for other, group_links in enumerate(data.links[: group + 1]):
            if (group_links.source, group_links.target, group_links.kind) == (
                links.source,
                links.target,
                links.kind,
            ):
                end = row if other == group else len(group_links)
                alike += int(
                    np.count_nonzero((group_links.i[:end] == i) & (group_links.j[:end] == j))
                )
        ends = _ends_of(data[links.source])[i] + _ends_of(data[links.target])[j]
        suffix = f"#{alike}" if alike > 1 else ""
        keys_found.append(f"link{ends}|{links.kind.translate(_TO_ESCAPE)}{suffix}")
    return keys_found


def statement_rows(data: HeteroData) -> Ints:
    """Return the global rows of each of `statements`, (n, 4); -1 where there is none."""
    links = [
        np.column_stack(
            [
                group.i + data.offsets[group.source].start,
                group.j + data.offsets[group.target].start,
                np.full((len(group), 2), -1),
            ]
        )
        for group in data.links
    ]
    compared = [] if data.comparisons is None else [data.comparisons.pairs]
    return np.vstack([np.empty((0, 4), dtype=np.int64), *links, *compared])


def set_names(data: HeteroData) -> Texts:
    """Return the set of each of `statements`: the set in its meta table, else its kind."""
    parts = [np.empty(0, dtype=object)]
    for links in data.links:
        parts.append(_set_names_of(links, links.kind))
    if data.comparisons is not None:
        parts.append(_set_names_of(data.comparisons, COMPARISON_SET))
    return np.concatenate(parts)


def author_names(data: HeteroData) -> Texts:
    """Return the author of each of `statements`, empty if unknown."""
    check_type(data, HeteroData, "data")
    groups: list[Links | Comparisons] = [*data.links]
    groups += [] if data.comparisons is None else [data.comparisons]
    parts = [np.array(authors_of(group, np.arange(len(group))), dtype=object) for group in groups]
    return np.concatenate([np.empty(0, dtype=object), *parts])


def people_of(data: HeteroData) -> list[str]:
    """Return the names of all authors of statements and labels, sorted."""
    names = set(author_names(data))
    for label in data.labels:
        names |= set() if label.annotations is None else set(label.annotations["who"])
    return sorted(name for name in names if name)


def authors_of(group: Links | Comparisons, rows: Ints) -> list[str]:
    """Return the authors of some statements, empty if unknown."""
    if group.meta is None or "who" not in group.meta.columns:
        return [""] * len(rows)
    return meta_text(group.meta.iloc[rows], "who", len(rows)).tolist()


def set_mask(data: HeteroData, name: str) -> Bools:
    """Return a mask of the `statements` of a set; fast for groups without sets of their own."""
    groups: list[tuple[Links | Comparisons, str]] = [(links, links.kind) for links in data.links]
    if data.comparisons is not None:
        groups.append((data.comparisons, COMPARISON_SET))
    parts = [np.zeros(0, dtype=bool)]
    for group, default_set in groups:
        if group.meta is None or "set" not in group.meta.columns:
            parts.append(np.full(len(group), default_set == name))
        else:
            parts.append(np.asarray(_set_names_of(group, default_set) == name, dtype=bool))
    return np.concatenate(parts)


def statement_positions(data: HeteroData, keys: Iterable[str]) -> Ints:
    """Return the positions in `statements` of the given keys."""
    key_list = list(keys)
    place = {key: row for row, key in enumerate(statement_keys(data))}
    unknown = [key for key in key_list if key not in place]
    if unknown:
        message, remedy = "this statement does not exist", "It may have been changed or removed."
        raise DataError(
            limit_problems(
                Problem("unknown-statement", "guidance", message, str(k), remedy) for k in unknown
            )
        )
    return np.array([place[key] for key in key_list], dtype=np.int64)


def _compute_keys(data: HeteroData) -> Texts:
    parts = [np.empty(0, dtype=object)]
    seen: dict[tuple[str, str, str], list[int]] = {}
    for place, links in enumerate(data.links):
        parts.append(_link_keys(data, links))
        seen.setdefault((links.source, links.target, links.kind), []).append(place)
    for places in seen.values():
        if len(places) > 1:
            _number_alike(data, [(data.links[k], parts[k + 1]) for k in places])
    if data.comparisons is not None:
        parts.append(_comparison_keys(data, data.comparisons.pairs))
    return np.concatenate(parts)


def _link_keys(data: HeteroData, links: Links) -> Texts:
    """Return the keys of a group of links, cached while the group and its items live."""
    owner = (links, data[links.source], data[links.target])
    return _LINK_KEYS.get_or_compute(owner, "", lambda: _compute_link_keys(data, links)).copy()


def _compute_link_keys(data: HeteroData, links: Links) -> Texts:
    ends = (data[links.source], data[links.target])
    first, second = (_ends_of(part) for part in ends)
    # Common parts of the keys are added once per item, not once per link.
    first, second = "link" + first, second + f"|{links.kind.translate(_TO_ESCAPE)}"
    keys: Texts = first[links.i] + second[links.j]
    _number_alike(data, [(links, keys)])
    return keys


def _number_alike(data: HeteroData, groups: list[tuple[Links, Texts]]) -> None:
    """Append #2, #3 ... to repeated keys, in place."""
    width = len(data[groups[0][0].target])
    code = np.concatenate([links.i * width + links.j for links, _ in groups])
    repeated = np.flatnonzero(pd.Series(code).duplicated(keep=False))
    if not len(repeated):
        return
    order = repeated[np.argsort(code[repeated], kind="stable")]
    is_first = np.diff(code[order], prepend=-1) != 0
    first, again = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    number = again - first[np.searchsorted(first, again, side="right") - 1] + 1
    starts = np.cumsum([0, *(len(keys) for _, keys in groups)])
    for at, count in zip(order[again].tolist(), number.tolist(), strict=True):
        group = int(np.searchsorted(starts, at, side="right")) - 1
        links, keys = groups[group]
        link_row = at - int(starts[group])
        p, q = (
            _ends_of(data[end])[row[link_row]]
            for end, row in ((links.source, links.i), (links.target, links.j))
        )
        keys[link_row] = f"link{p}{q}|{links.kind.translate(_TO_ESCAPE)}#{count}"


def _comparison_keys(data: HeteroData, pairs: Ints) -> Texts:
    ends = np.concatenate([_ends_of(part) for part in data.datasets.values()])
    last = np.where(_has_three_items(pairs), "", ends[pairs[:, 2]]).astype(object)
    keys = pd.Series(
        "comparison" + ends[pairs[:, 0]] + ends[pairs[:, 1]] + last + ends[pairs[:, 3]],
        dtype=object,
    )
    if keys.duplicated().any():
        count = keys.groupby(keys, sort=False).cumcount().to_numpy()
        again = count > 0
        keys[again] = keys[again] + "#" + (count[again] + 1).astype(str).astype(object)
    return keys.to_numpy()


@cached_while_alive
def _ends_of(dataset: Dataset) -> Texts:
    head = f"|{dataset.name.translate(_TO_ESCAPE)}|"
    ids = dataset.ids.tolist()
    if any(map("".join(ids).__contains__, "\\|#")):
        ids = [id.translate(_TO_ESCAPE) for id in ids]
    return np.array([head + id for id in ids], dtype=object)


def _has_three_items(pairs: Ints) -> Bools:
    """Return a mask of the comparisons of one item with two others."""
    return np.asarray(pairs[:, 0] == pairs[:, 2])


def _link_rows(data: HeteroData, links: Links) -> pd.DataFrame:
    m = len(links)
    return pd.DataFrame(
        {
            "form": "link",
            "source": links.source,
            "source_id": data[links.source].ids[links.i],
            "target": links.target,
            "target_id": data[links.target].ids[links.j],
            **dict.fromkeys(ITEMS, ""),
            "weight": links.weight,
            "score": np.full(m, np.nan) if links.score is None else links.score,
            "kind": links.kind,
            "role": links.role,
            **_meta_fields(links, links.kind),
        },
        index=range(m),
    )


def _comparison_rows(data: HeteroData, compared: Comparisons) -> pd.DataFrame:
    t, pairs = len(compared), compared.pairs
    names = np.repeat(
        np.array([*data.datasets], dtype=object), [len(part) for part in data.datasets.values()]
    )
    ids = np.concatenate([part.ids for part in data.datasets.values()])
    three = _has_three_items(pairs)
    # Items a, b, c of three; a, b, c, d of four.
    places = (pairs[:, 0], pairs[:, 1], np.where(three, pairs[:, 3], pairs[:, 2]), pairs[:, 3])
    items = {}
    for item, at in zip("abcd", places, strict=True):
        left_out = three if item == "d" else np.zeros(t, dtype=bool)
        items[f"{item}_dataset"] = np.where(left_out, "", names[at])
        items[f"{item}_id"] = np.where(left_out, "", ids[at])
    return pd.DataFrame(
        {
            "form": "comparison",
            **dict.fromkeys(ENDS, ""),
            **items,
            "weight": compared.weight,
            "score": np.nan,
            "kind": "",
            "role": "guidance",
            **_meta_fields(compared, COMPARISON_SET),
        },
        index=range(t),
    )


def _meta_fields(group: Links | Comparisons, default_set: str) -> dict[str, Texts | pd.Series]:
    texts = {
        name: meta_text(group.meta, name, len(group)) for name in META_COLUMNS if name != "set"
    }
    return {"set": _set_names_of(group, default_set), **texts}


def _set_names_of(group: Links | Comparisons, default_set: str) -> Texts:
    if group.meta is None or "set" not in group.meta.columns:
        return np.full(len(group), default_set, dtype=object)
    names = meta_text(group.meta, "set", len(group))
    return names.where(names != "", default_set).to_numpy(dtype=object)
