"""Steps on one block: reading, joining ids, sums and placement, with results in files.

Each step writes the same files when it is repeated, so a block lost with its worker can be
processed again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import scipy.sparse as sp

from hetviz._types import MAX_MAGNITUDE, Array, Floats, Ints, Sparse
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.graph.neighbors import nearest_columns
from hetviz.core.spectral import moments
from hetviz.core.spectral.moments import NEGATIVE, POSITIVE, Key
from hetviz.core.spectral.prepare import is_within_magnitude
from hetviz.errors import DataError, Problem, limit_problems
from hetviz.runs.large.plan import LinkTable, Plan, Table

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = 20
_ENTRIES = 4_000_000
_LINK = np.dtype([("p", "<i8"), ("q", "<i8"), ("w", "<f8")])


class Placer(Protocol):
    """Places rows of a table by their features alone."""

    def place(self, table: str, X: Array) -> Floats:
        """Return places (n, k) of rows X (n, d)."""
        ...


# Rows


def read_features(table: Table, start: int, stop: int) -> Array:
    """Return features of a range of rows, (n, d); missing, infinite or huge ones are errors."""
    rows = table.files.read(start, stop, table.features)
    kind = np.float32 if table.single else np.float64
    X = np.empty((stop - start, table.d), dtype=kind)
    for c, column in enumerate(table.features):
        first = 0
        for chunk in rows.column(column).chunks:
            here = slice(first, first + len(chunk))
            first += len(chunk)
            if len(table.features) == 1 and hasattr(chunk.type, "list_size"):
                values = chunk.flatten()
                if chunk.null_count or values.null_count or len(values) != len(chunk) * table.d:
                    raise _missing(table, start + here.start, column)
                X[here] = values.to_numpy(zero_copy_only=False).reshape(-1, table.d)
            else:
                if chunk.null_count:
                    at = int(np.flatnonzero(chunk.is_null().to_numpy(zero_copy_only=False))[0])
                    raise _missing(table, start + here.start + at, column)
                X[here, c] = chunk.to_numpy(zero_copy_only=False)
    for first in range(0, len(X), 32_768):
        piece = X[first : first + 32_768]
        if not is_within_magnitude(piece):
            bad = np.argwhere(~(np.abs(piece.astype(np.float64)) <= MAX_MAGNITUDE))[0]
            name = table.features[min(int(bad[1]), len(table.features) - 1)]
            raise DataError(
                Problem(
                    "not-finite",
                    f"{table.name}, row {start + first + int(bad[0]) + 1:,}, column {name}",
                    f"a feature value is missing, infinite or beyond {MAX_MAGNITUDE:g}",
                    str(piece[tuple(bad)]),
                    "Fill it in, rescale it, or leave the row or the feature out.",
                )
            )
    return X


def _missing(table: Table, row: int, column: str) -> DataError:
    where = f"{table.name}, row {row + 1:,} or after, column {column}"
    remedy = "Fill it in, or leave the row or the feature out."
    return DataError(Problem("not-finite", where, "a feature value is missing", "", remedy))


def ingest(plan: Plan, number: int) -> int:
    """Read a block and store its features, and its ids by part."""
    import pyarrow as pa

    block = plan.blocks[number]
    table = plan.tables[block.table]
    _save(plan.path(f"x-{number}.npy"), read_features(table, block.start, block.stop))
    if plan.links or plan.views:
        ids = _ids(table.files.read(block.start, block.stop, [table.id]).column(0), table.name,
                   block.start, plan.as_text[block.table])  # fmt: skip
        rows = pa.array(np.arange(block.start, block.stop))
        _spread(plan, pa.table({"id": ids, "row": rows}), f"ids-{block.table}-{{}}-{number}")
    return block.n


def _ids(column: pa.ChunkedArray, name: str, start: int, as_text: bool) -> pa.Array:
    """Return ids as text or integers; missing ones are errors."""
    import pyarrow as pa

    if column.null_count:
        at = int(np.flatnonzero(column.is_null().to_numpy())[0])
        where = f"{name}, row {start + at + 1:,}"
        raise DataError(Problem("no-id", where, "the id is missing", "", "Give every row one."))
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    wanted = column.cast(pa.large_string() if as_text else pa.int64()).combine_chunks()
    return wanted.combine_chunks() if isinstance(wanted, pa.ChunkedArray) else wanted


def _spread(plan: Plan, rows: pa.Table, name: str) -> None:
    """Write rows by the part of their id, to files `name` with the number of the part."""
    if plan.parts == 1:
        _write(plan, name.format(0), rows)
        return
    part = _part(rows.column("id").combine_chunks(), plan.parts)
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(plan.parts + 1))
    rows = rows.take(order)
    for h in range(plan.parts):
        _write(plan, name.format(h), rows.slice(int(ends[h]), int(ends[h + 1] - ends[h])))


def _part(ids: pa.Array, parts: int) -> Ints:
    import pyarrow as pa

    from hetviz.core.hashing import hash_numbers, hash_texts

    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    if not pa.types.is_large_string(ids.type):
        hashes = hash_numbers(ids.to_numpy(zero_copy_only=False))
    else:
        hashes = np.empty(len(ids), dtype=np.uint64)
        _, offsets, content = ids.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
        letters = np.frombuffer(content or b"", dtype=np.uint8)
        hash_texts(ends, letters, hashes)
    return (hashes % np.uint64(parts)).astype(np.int64)


# Links: ids are looked up part by part, so no machine needs all of them.


def split_links(plan: Plan, number: int) -> int:
    """Read a chunk of links, and split it by the ids of first ends."""
    import pyarrow as pa

    which, start, stop = plan.chunks[number]
    links = plan.links[which]
    weighted = isinstance(links.weight, str)
    columns = dict.fromkeys([links.i, links.j, *([links.weight] if weighted else [])])
    rows = links.files.read(start, stop, list(map(str, columns)))
    i = _ids(rows.column(links.i), links.name, start, plan.as_text[links.source])
    j = _ids(rows.column(links.j), links.name, start, plan.as_text[links.target])
    found = {"id": i, "other": j, "at": pa.array(np.arange(start, stop))}
    if weighted:
        found["w"] = pa.array(_weights(rows.column(str(links.weight)), links, start))
    _spread(plan, pa.table(found), f"first-{{}}-{number}")
    return stop - start


def _weights(column: pa.ChunkedArray, links: LinkTable, start: int) -> Floats:
    w: Floats = column.to_numpy().astype(np.float64)
    bad = np.flatnonzero(~((np.abs(w) <= 1) & (w != 0)))
    if len(bad):
        where = f"{links.name}, row {start + int(bad[0]) + 1:,}, column {links.weight}"
        raise DataError(
            Problem(
                "weight-range",
                where,
                "weights must be from -1 (apart) to 1 (together) and not 0",
                str(w[bad[0]]),
                "Divide by the largest, or leave such links out.",
            )
        )
    return w


def look_up_first(plan: Plan, h: int) -> list[tuple[int, int, list[tuple[int, str]]]]:
    """Replace the first ends of links by rows.

    Returns for each table of links its position, the number of unknown ids, and the first of
    these with their rows. Duplicate ids of a table are errors.
    """
    import pyarrow as pa

    known = {t: _known(plan, t, h) for t in range(len(plan.tables))}
    found = []
    for which, links in enumerate(plan.links):
        kept, unknown, first = [], 0, []
        for number, chunk in enumerate(plan.chunks):
            if chunk[0] != which:
                continue
            rows = _read(plan, f"first-{h}-{number}")
            p, lost = _looked_up(rows.column("id"), *known[links.source])
            unknown += int(lost.sum())
            first += _first(rows, lost)
            columns = {"id": rows.column("other"), "at": rows.column("at"), "p": pa.array(p)}
            if "w" in rows.column_names:
                columns["w"] = rows.column("w")
            kept.append(pa.table(columns).filter(pa.array(~lost)))
        if kept:
            _spread(plan, pa.concat_tables(kept), f"second-{which}-{{}}-{h}")
        found.append((which, unknown, first[:SHOWN]))
    for u, v in plan.views:
        q, lost = _looked_up(known[u][0], *known[v])
        rows = known[u][1][~lost]
        _share_out(plan, f"view-{u}-{v}-{h}", u, v, rows, q[~lost], np.ones(len(rows)))
    return found


def look_up_second(plan: Plan, h: int) -> list[tuple[int, int, list[tuple[int, str]]]]:
    """Replace the second ends of links by rows, and split the links by block."""
    found = []
    for which, links in enumerate(plan.links):
        ids, numbers = _known(plan, links.target, h, checked=False)
        unknown, first, ends = 0, [], []
        for part in range(plan.parts):
            if not os.path.exists(plan.path(f"second-{which}-{h}-{part}")):
                continue
            rows = _read(plan, f"second-{which}-{h}-{part}")
            q, lost = _looked_up(rows.column("id"), ids, numbers)
            unknown += int(lost.sum())
            first += _first(rows, lost)
            there = ~lost
            p = rows.column("p").to_numpy()[there]
            if "w" in rows.column_names:
                w = rows.column("w").to_numpy()[there]
            else:
                w = np.full(len(p), float(links.weight))
            ends.append((p, q[there], w))
        if ends:
            p, q, w = map(np.concatenate, zip(*ends, strict=True))
            _share_out(plan, f"link-{which}-{h}", links.source, links.target, p, q, w)
        found.append((which, unknown, sorted(first)[:SHOWN]))
    return found


def _known(plan: Plan, t: int, h: int, *, checked: bool = True) -> tuple[pa.Array, Ints]:
    """Return the ids of a part of a table, and their rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pieces = [_read(plan, f"ids-{t}-{h}-{number}") for number in plan.of_table(t)]
    table = pa.concat_tables(pieces).combine_chunks()
    ids, rows = table.column("id").combine_chunks(), table.column("row").to_numpy()
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    if checked and pc.count_distinct(ids).as_py() < len(ids):
        counts = pc.value_counts(ids)
        twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        name = plan.tables[t].name
        raise DataError(
            limit_problems(
                Problem("duplicate-id", name, "two rows have this id", str(text), "Keep one.")
                for text in twice[:SHOWN].to_pylist()
            )
        )
    return ids, rows


def _looked_up(ids: pa.ChunkedArray, known: pa.Array, rows: Ints) -> tuple[Ints, Array]:
    """Return the rows of ids, and a mask of unknown ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    at = pc.index_in(ids, value_set=known)
    if isinstance(at, pa.ChunkedArray):
        at = at.combine_chunks()
    lost = np.asarray(at.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    places = np.asarray(at.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
    found = rows[places] if len(rows) else np.zeros(len(places), dtype=np.int64)
    return np.asarray(found, dtype=np.int64), lost


def _first(rows: pa.Table, lost: Array) -> list[tuple[int, str]]:
    at = np.flatnonzero(lost)[:SHOWN]
    numbers, ids = rows.column("at").take(at).to_pylist(), rows.column("id").take(at).to_pylist()
    return sorted(zip(numbers, map(str, ids), strict=True))


def _starts(plan: Plan, t: int) -> tuple[Ints, int]:
    """Return the starts of the blocks of a table, and the number of its first block."""
    own = plan.of_table(t)
    return np.array([plan.blocks[number].start for number in own]), own[0]


def _share_out(plan: Plan, name: str, u: int, v: int, p: Ints, q: Ints, w: Floats) -> None:
    """Write links by the block that owns them; p and q are rows of their tables."""
    (a, first_a), (b, first_b) = _starts(plan, u), _starts(plan, v)
    P = first_a + np.searchsorted(a, p, side="right") - 1
    Q = first_b + np.searchsorted(b, q, side="right") - 1
    links = np.empty(len(p), dtype=_LINK)
    starts = np.array([block.start for block in plan.blocks])
    # Each pair is stored once, independent of its direction; ownership alternates.
    mine = np.where((P + Q) % 2 == 0, np.minimum(P, Q), np.maximum(P, Q)) == P
    same = P == Q
    swap = np.where(same, p > q, ~mine)
    left, right = np.where(swap, q, p), np.where(swap, p, q)
    owner, other = np.where(swap, Q, P), np.where(swap, P, Q)
    links["p"], links["w"] = left - starts[owner], w
    # The other block and the row in it, as one number.
    links["q"] = (other.astype(np.int64) << 40) | (right - starts[other])
    keep = ~(same & (p == q))
    links, owner = links[keep], owner[keep]
    order = np.argsort(owner, kind="stable")
    ends = np.searchsorted(owner[order], np.arange(len(plan.blocks) + 1))
    for block in range(len(plan.blocks)):
        mine_now = order[ends[block] : ends[block + 1]]
        if len(mine_now):
            _save(plan.path(f"links-{block}-{name}.npy"), links[mine_now])


def join_links(plan: Plan, rule: Rule, number: int) -> list[tuple[int, int, int]]:
    """Merge the links of a block, with summed weights, and return the other blocks with counts.

    Each entry has the other block, the number of “together” links and of “apart” links.
    """
    names = sorted(Path(plan.scratch).glob(f"links-{number}-*.npy"))
    links = np.concatenate([np.load(name) for name in names] or [np.empty(0, dtype=_LINK)])
    order = np.lexsort((links["p"], links["q"]))
    links = links[order]
    new = np.ones(len(links), dtype=bool)
    new[1:] = (links["p"][1:] != links["p"][:-1]) | (links["q"][1:] != links["q"][:-1])
    at = np.flatnonzero(new)
    w = np.add.reduceat(links["w"], at) if len(at) else np.empty(0)
    p, q = links["p"][at], links["q"][at]
    others, rows = q >> 40, q & ((1 << 40) - 1)
    # Sums of opposite weights can have either sign.
    w = np.clip(w, -1.0, 1.0)
    if rule.positive_only:
        w = np.maximum(w, 0.0)
    found = []
    u = plan.blocks[number].table
    for other in np.unique(others):
        block = plan.blocks[int(other)]
        v = block.table
        weight = w[others == other] * np.sqrt(rule.weights[u] * rule.weights[v])
        if u == v and not rule.within:
            weight = np.zeros_like(weight)
        there = weight != 0
        ends = (p[others == other][there], rows[others == other][there])
        shape = (plan.blocks[number].n, block.n)
        W = sp.csr_array((weight[there], ends), shape=shape)
        if W.nnz:
            for part in ("indptr", "indices", "data"):
                _save(plan.path(f"w-{number}-{int(other)}-{part}.npy"), getattr(W, part))
            together = int((W.data > 0).sum())
            found.append((int(other), together, int(W.nnz) - together))
    for name in names:
        name.unlink(missing_ok=True)
    return found


class Rule:
    """Rule for link weights of a method.

    Links between tables u and v are multiplied by sqrt(weight_u weight_v); `within` tells whether
    links within a table count.
    """

    def __init__(self, weights: Sequence[float], positive_only: bool, within: bool) -> None:
        self.weights, self.positive_only, self.within = tuple(weights), positive_only, within


def links_of(plan: Plan, number: int, other: int) -> Sparse:
    """Return the link weights between two blocks, (n, m)."""
    parts = [np.load(plan.path(f"w-{number}-{other}-{part}.npy"))
             for part in ("data", "indices", "indptr")]  # fmt: skip
    shape = (plan.blocks[number].n, plan.blocks[other].n)
    return sp.csr_array((parts[0], parts[1], parts[2]), shape=shape)


Pairs = tuple[tuple[int, int], ...]
"""Pairs of blocks that share links: the owner and the other block."""


def degrees(plan: Plan, pairs: Pairs, number: int) -> dict[Key, Floats]:
    """Return the sum of rows of a block weighted by their link sums, and store these."""
    found = np.zeros((2, plan.blocks[number].n))
    for owner, other in pairs:
        if number not in (owner, other):
            continue
        W = links_of(plan, owner, other)
        for sign, degree in zip((POSITIVE, NEGATIVE), found, strict=True):
            part = np.maximum(sign * W.data, 0.0)
            if owner == number:
                row = np.repeat(np.arange(len(degree)), np.diff(W.indptr))
                degree += np.bincount(row, part, minlength=len(degree))
            if other == number:
                degree += np.bincount(W.indices, part, minlength=len(degree))
    _save(plan.path(f"d-{number}.npy"), found)
    X = np.load(plan.path(f"x-{number}.npy"))
    return moments.first_moments(X, found.sum(axis=0), plan.blocks[number].table)


def means(plan: Plan, number: int) -> dict[Key, Floats]:
    """Return the sum of the rows of a block."""
    block = plan.blocks[number]
    X = np.load(plan.path(f"x-{number}.npy"))
    return moments.first_moments(X, np.ones(block.n), block.table)


def spreads(plan: Plan, centres: Sequence[Floats], number: int) -> dict[Key, Floats]:
    """Return the products of the centred features of a block."""
    block = plan.blocks[number]
    X = np.load(plan.path(f"x-{number}.npy"))
    ones, v = np.ones(block.n), block.table
    return moments.own_moments(X, ones, np.zeros(block.n), centres[v], v)


def products(plan: Plan, pairs: Pairs, centres: Sequence[Floats], number: int) -> dict[Key, Floats]:
    """Return the contributions of a block and its links to the eigenproblem."""
    block = plan.blocks[number]
    u = block.table
    X = np.load(plan.path(f"x-{number}.npy"))
    positive, negative = np.load(plan.path(f"d-{number}.npy"))
    total = moments.own_moments(X, positive, negative, centres[u], u)
    others: dict[int, list[int]] = {}
    for owner, other in pairs:
        if owner == number:
            others.setdefault(plan.blocks[other].table, []).append(other)
    for v, blocks in others.items():
        for sign in (POSITIVE, NEGATIVE):
            linked: Floats | None = None
            for other in blocks:
                W = _of_sign(links_of(plan, number, other), sign)
                if not W.nnz:
                    continue
                if linked is None:
                    linked = np.zeros((block.n, plan.tables[v].d))
                Z = X if other == number else np.load(plan.path(f"x-{other}.npy"))
                moments.add_linked_sums(W, Z, centres[v], linked)
            if linked is None:
                continue
            C = moments.cross_moment(X, centres[u], linked)
            key: Key = ("cross", sign, min(u, v), max(u, v))
            # Each pair of rows is stored once, and within a table it counts in both directions.
            C = C + C.T if u == v else (C if u < v else C.T)
            total[key] = total[key] + C if key in total else C
    return total


def _of_sign(W: Sparse, sign: int) -> Sparse:
    if (sign * W.data > 0).all():
        return W if sign > 0 else sp.csr_array(-W)
    part = sp.csr_array((np.maximum(sign * W.data, 0.0), W.indices, W.indptr), shape=W.shape)
    part.eliminate_zeros()
    return part


def agreements(
    plan: Plan, pairs: Pairs, centres: Sequence[Floats], even: bool, number: int
) -> dict[Key, Floats]:
    """Return the contributions of a block to `hetviz.core.spectral.coca.coca_by_sums`.

    With `even`, links within a table are divided by the roots of the link sums of both ends.
    """
    block = plan.blocks[number]
    u = block.table
    X = np.load(plan.path(f"x-{number}.npy"))
    ones = np.ones(block.n)
    total = moments.own_moments(X, ones, np.zeros(block.n), centres[u], u)
    for owner, other in pairs:
        if owner != number:
            continue
        v = plan.blocks[other].table
        W = links_of(plan, number, other)
        if u == v and even:
            W = _evened(plan, W, number, other)
        linked = np.zeros((block.n, plan.tables[v].d))
        Z = X if other == number else np.load(plan.path(f"x-{other}.npy"))
        moments.add_linked_sums(W, Z, centres[v], linked)
        C = moments.cross_moment(X, centres[u], linked)
        key: Key = ("cross", POSITIVE, min(u, v), max(u, v))
        C = C + C.T if u == v else (C if u < v else C.T)
        total[key] = total[key] + C if key in total else C
    return total


def _evened(plan: Plan, W: Sparse, number: int, other: int) -> Sparse:
    left, right = (np.sqrt(np.load(plan.path(f"d-{which}.npy"))[0]) for which in (number, other))
    row = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    data = W.data / (left[row] * right[W.indices])
    return sp.csr_array((data, W.indices, W.indptr), shape=W.shape)


def place_views(plan: Plan, placer: Placer, ties: Pairs, number: int) -> int:
    """Store places of the items of a block, as the mean over all tables with these items."""
    block = plan.blocks[number]
    own = placer.place(plan.tables[block.table].name, np.load(plan.path(f"x-{number}.npy")))
    there = np.asarray(np.isfinite(own).all(axis=1))
    total: Floats = np.where(there[:, None], own, 0.0)
    count: Floats = there.astype(np.float64)
    for owner, other in ties:
        if number not in (owner, other):
            continue
        W = links_of(plan, owner, other)
        those = other if owner == number else owner
        name = plan.tables[plan.blocks[those].table].name
        Y = placer.place(name, np.load(plan.path(f"x-{those}.npy")))
        p, q = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr)), W.indices
        mine, theirs = (p, q) if owner == number else (q, p)
        known = np.isfinite(Y[theirs]).all(axis=1)
        # Indices are unique because ids of a table are.
        total[mine[known]] += Y[theirs[known]]
        count[mine[known]] += 1.0
    with np.errstate(invalid="ignore"):
        _save(plan.path(f"y-{number}.npy"), np.where(count[:, None] > 0, total / count[:, None],
                                                     np.nan))  # fmt: skip
    return block.n


def place_rows(plan: Plan, placer: Placer, number: int) -> int:
    """Store the places of the rows of a block by features."""
    block = plan.blocks[number]
    X = np.load(plan.path(f"x-{number}.npy"), mmap_mode="r")
    _save(plan.path(f"y-{number}.npy"), placer.place(plan.tables[block.table].name, X))
    return block.n


def keep_refined(plan: Plan, rows: Sequence[Ints], Y: Sequence[Floats]) -> None:
    """Store the refined places of rows of each block, for `place_by_refined`."""
    for number, (mine, places) in enumerate(zip(rows, Y, strict=True)):
        _save(plan.path(f"refined-{number}-rows.npy"), mine)
        _save(plan.path(f"refined-{number}-places.npy"), places)


def place_by_refined(plan: Plan, placer: Placer, number: int) -> int:
    """Store the refined places of rows of a block, and place its other rows by them."""
    block = plan.blocks[number]
    rows = np.load(plan.path(f"refined-{number}-rows.npy"))
    Y = np.array(np.load(plan.path(f"y-{number}.npy")))
    others = np.setdiff1d(np.arange(block.n), rows, assume_unique=True)
    if len(others):
        X = np.load(plan.path(f"x-{number}.npy"), mmap_mode="r")[others]
        Y[others] = placer.place(plan.tables[block.table].name, X)
    Y[rows] = np.load(plan.path(f"refined-{number}-places.npy"))
    _save(plan.path(f"y-{number}.npy"), Y)
    return block.n


def keep(plan: Plan, name: str, array: Array) -> None:
    """Store an array for all blocks under a name."""
    _save(plan.path(f"{name}.npy"), array)


def nearest_in_block(
    plan: Plan,
    features: Sequence[Floats],
    places: Sequence[Floats],
    own: Sequence[Ints],
    k: int,
    number: int,
) -> Floats:
    """Return the rows of a block nearest to q query rows of its table.

    The result has shape (2, 2, q, k): by features and on the map, squared distances and row
    numbers; infinite and -1 if the block has fewer rows. `own` has the row numbers of the queries.
    """
    block = plan.blocks[number]
    t = block.table
    found = np.full((2, 2, len(own[t]), k), np.inf)
    found[:, 1] = -1.0
    at = np.flatnonzero((own[t] >= block.start) & (own[t] < block.stop))
    for way, (name, asked) in enumerate((("x", features[t]), ("y", places[t]))):
        there = np.load(plan.path(f"{name}-{number}.npy"), mmap_mode="r")
        step = max(1, _ENTRIES // max(len(asked), 1))
        for start in range(0, block.n, step):
            D = cross_squared_distances(asked, there[start : start + step].astype(np.float64))
            first = block.start + start
            here = at[(own[t][at] >= first) & (own[t][at] < first + D.shape[1])]
            D[here, own[t][here] - first] = np.inf
            D[np.isnan(D)] = np.inf
            both = np.hstack([found[way, 0], D])
            rows = np.arange(first, first + D.shape[1])
            names = np.hstack([found[way, 1], np.broadcast_to(rows, D.shape)])
            nearest = nearest_columns(both, k)
            found[way, 0] = np.take_along_axis(both, nearest, axis=1)
            found[way, 1] = np.take_along_axis(names, nearest, axis=1)
    return found


def places_are_kept(plan: Plan) -> bool:
    """Return whether places of all rows are stored."""
    return os.path.exists(plan.path("y-0.npy"))


def some_places(plan: Plan, wanted: Sequence[Ints], number: int) -> Floats:
    """Return the stored places of some rows of a block."""
    return np.asarray(np.load(plan.path(f"y-{number}.npy"), mmap_mode="r")[wanted[number]])


# Results


def write_places(plan: Plan, placer: Placer, folder: str, number: int) -> tuple[str, int, int]:
    """Write the places of a block; return the SHA-256 of the file, rows and unplaced rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    block = plan.blocks[number]
    table = plan.tables[block.table]
    kept = plan.path(f"y-{number}.npy")
    if os.path.exists(kept):
        Y = np.load(kept)
    else:
        Y = placer.place(table.name, np.load(plan.path(f"x-{number}.npy")))
    ids = table.files.read(block.start, block.stop, [table.id]).column(0)
    columns = {"id": ids.combine_chunks()}
    columns |= {f"axis_{c + 1}": pa.array(Y[:, c]) for c in range(Y.shape[1])}
    place = plan.of_table(block.table).index(number)
    path = Path(folder) / table.name / f"part-{place:05d}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".part")
    pq.write_table(pa.table(columns), scratch, compression="zstd", use_dictionary=False)
    scratch.replace(path)
    digest = hashlib.sha256()
    with path.open("rb") as written:
        while piece := written.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest(), block.n, int(np.isnan(Y).any(axis=1).sum())


def some_rows(plan: Plan, wanted: Sequence[Ints], number: int) -> Array:
    """Return the features of some rows of a block."""
    return np.asarray(np.load(plan.path(f"x-{number}.npy"), mmap_mode="r")[wanted[number]])


def some_ids(plan: Plan, wanted: Sequence[Ints], number: int) -> list[str]:
    """Return the ids of some rows of a block, as text."""
    block = plan.blocks[number]
    table = plan.tables[block.table]
    column = table.files.read(block.start, block.stop, [table.id]).column(0)
    return list(map(str, column.take(wanted[number]).to_pylist()))


def some_links(
    plan: Plan, wanted: Sequence[Sequence[Ints]], pairs: Pairs, number: int
) -> tuple[Ints, Ints, Floats]:
    """Return some links of two blocks: rows of both, and weights."""
    owner, other = pairs[number]
    W = links_of(plan, owner, other).tocoo()
    at = wanted[number]
    return (
        np.asarray(W.coords[0][at], dtype=np.int64),
        np.asarray(W.coords[1][at], dtype=np.int64),
        np.asarray(W.data[at]),
    )


def n_links(plan: Plan, number: int, other: int) -> int:
    """Return the number of links that two blocks share."""
    found = np.load(plan.path(f"w-{number}-{other}-data.npy"), mmap_mode="r")
    return int(found.shape[0])


def links_among(
    plan: Plan, rows: Sequence[Ints], pairs: Pairs, number: int
) -> tuple[Ints, Ints, Floats]:
    """Return the links of two blocks among selected rows, as positions in the selections."""
    owner, other = pairs[number]
    W = links_of(plan, owner, other)[rows[owner]][:, rows[other]].tocoo()
    p, q = (np.asarray(ends, dtype=np.int64) for ends in W.coords)
    return p, q, np.asarray(W.data, dtype=np.float64)


# Temporary files


def _save(path: str, array: Array) -> None:
    """Write an array atomically."""
    scratch = f"{path}.{os.getpid()}"
    with open(scratch, "wb") as opened:
        np.lib.format.write_array(opened, np.ascontiguousarray(array), allow_pickle=False)
    os.replace(scratch, path)


def _write(plan: Plan, name: str, table: pa.Table) -> None:
    import pyarrow as pa

    scratch = plan.path(f"{name}.{os.getpid()}")
    with pa.OSFile(scratch, "wb") as opened, pa.ipc.new_file(opened, table.schema) as writer:
        writer.write_table(table)
    os.replace(scratch, plan.path(name))


def _read(plan: Plan, name: str) -> pa.Table:
    import pyarrow as pa

    with pa.OSFile(plan.path(name), "rb") as opened, pa.ipc.open_file(opened) as reader:
        return reader.read_all()


def removed(plan: Plan, starts: Iterable[str]) -> None:
    """Delete temporary files."""
    for start in starts:
        for path in Path(plan.scratch).glob(f"{start}-*"):
            path.unlink(missing_ok=True)
