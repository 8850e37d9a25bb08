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
from hetviz.io.formats import npy
from hetviz.runs.large.plan import LinkTable, Plan, Table

if TYPE_CHECKING:
    import pyarrow as pa

MAX_SHOWN = 20
_MAX_ENTRIES = 4_000_000
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
    dtype = np.float32 if table.single else np.float64
    X = np.empty((stop - start, table.d), dtype=dtype)
    for c, column in enumerate(table.features):
        start_row = 0
        for chunk in rows.column(column).chunks:
            chunk_rows = slice(start_row, start_row + len(chunk))
            start_row += len(chunk)
            if len(table.features) == 1 and hasattr(chunk.type, "list_size"):
                values = chunk.flatten()
                if chunk.null_count or values.null_count or len(values) != len(chunk) * table.d:
                    raise _missing_value_error(table, start + chunk_rows.start, column)
                X[chunk_rows] = values.to_numpy(zero_copy_only=False).reshape(-1, table.d)
            else:
                if chunk.null_count:
                    at = int(np.flatnonzero(chunk.is_null().to_numpy(zero_copy_only=False))[0])
                    raise _missing_value_error(table, start + chunk_rows.start + at, column)
                X[chunk_rows, c] = chunk.to_numpy(zero_copy_only=False)
    for start_row in range(0, len(X), 32_768):
        piece = X[start_row : start_row + 32_768]
        if not is_within_magnitude(piece):
            bad = np.argwhere(~(np.abs(piece.astype(np.float64)) <= MAX_MAGNITUDE))[0]
            name = table.features[min(int(bad[1]), len(table.features) - 1)]
            raise DataError.of(
                "not-finite",
                f"{table.name}, row {start + start_row + int(bad[0]) + 1:,}, column {name}",
                f"a feature value is missing, infinite or beyond {MAX_MAGNITUDE:g}",
                str(piece[tuple(bad)]),
                "Fill it in, rescale it, or leave the row or the feature out.",
            )
    return X


def _missing_value_error(table: Table, row: int, column: str) -> DataError:
    where = f"{table.name}, row {row + 1:,} or after, column {column}"
    remedy = "Fill it in, or leave the row or the feature out."
    return DataError.of("not-finite", where, "a feature value is missing", "", remedy)


def read_block(plan: Plan, number: int) -> int:
    """Read a block and store its features, and its ids by part."""
    import pyarrow as pa

    block = plan.blocks[number]
    table = plan.tables[block.table]
    _save(plan.path(f"x-{number}.npy"), read_features(table, block.start, block.stop))
    if plan.links or plan.views:
        ids = _ids(table.files.read(block.start, block.stop, [table.id]).column(0), table.name,
                   block.start, plan.as_text[block.table])  # fmt: skip
        rows = pa.array(np.arange(block.start, block.stop))
        _write_by_part(plan, pa.table({"id": ids, "row": rows}), f"ids-{block.table}-{{}}-{number}")
    return block.n


def _ids(column: pa.ChunkedArray, name: str, start: int, as_text: bool) -> pa.Array:
    """Return ids as text or integers; missing ones are errors."""
    import pyarrow as pa

    if column.null_count:
        at = int(np.flatnonzero(column.is_null().to_numpy())[0])
        where = f"{name}, row {start + at + 1:,}"
        raise DataError.of("no-id", where, "the id is missing", "", "Give every row an id.")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    converted = column.cast(pa.large_string() if as_text else pa.int64()).combine_chunks()
    return converted.combine_chunks() if isinstance(converted, pa.ChunkedArray) else converted


def _write_by_part(plan: Plan, rows: pa.Table, name: str) -> None:
    """Write rows by the part of their id, to files `name` with the number of the part."""
    if plan.parts == 1:
        _write(plan, name.format(0), rows)
        return
    part = _part_of_ids(rows.column("id").combine_chunks(), plan.parts)
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(plan.parts + 1))
    rows = rows.take(order)
    for h in range(plan.parts):
        _write(plan, name.format(h), rows.slice(int(ends[h]), int(ends[h + 1] - ends[h])))


def _part_of_ids(ids: pa.Array, parts: int) -> Ints:
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

    position, start, stop = plan.chunks[number]
    links = plan.links[position]
    weighted = isinstance(links.weight, str)
    columns = dict.fromkeys([links.i, links.j, *([links.weight] if weighted else [])])
    rows = links.files.read(start, stop, list(map(str, columns)))
    i = _ids(rows.column(links.i), links.name, start, plan.as_text[links.source])
    j = _ids(rows.column(links.j), links.name, start, plan.as_text[links.target])
    columns_of_chunk = {"id": i, "other": j, "at": pa.array(np.arange(start, stop))}
    if weighted:
        columns_of_chunk["w"] = pa.array(_weights(rows.column(str(links.weight)), links, start))
    _write_by_part(plan, pa.table(columns_of_chunk), f"first-{{}}-{number}")
    return stop - start


def _weights(column: pa.ChunkedArray, links: LinkTable, start: int) -> Floats:
    w: Floats = column.to_numpy().astype(np.float64)
    bad = np.flatnonzero(~((np.abs(w) <= 1) & (w != 0)))
    if len(bad):
        where = f"{links.name}, row {start + int(bad[0]) + 1:,}, column {links.weight}"
        raise DataError.of(
            "weight-range",
            where,
            "weights must be between -1 (apart) and 1 (together), and not 0",
            str(w[bad[0]]),
            "Divide by the largest weight, or leave such links out.",
        )
    return w


def look_up_first(plan: Plan, h: int) -> list[tuple[int, int, list[tuple[int, str]]]]:
    """Replace the first ends of links by rows.

    Returns for each table of links its position, the number of unknown ids, and the first of
    these with their rows. Duplicate ids of a table are errors.
    """
    import pyarrow as pa

    ids_by_table = {t: _ids_of_part(plan, t, h) for t in range(len(plan.tables))}
    unknown_ids = []
    for position, links in enumerate(plan.links):
        resolved, unknown, examples = [], 0, []
        for number, chunk in enumerate(plan.chunks):
            if chunk[0] != position:
                continue
            rows = _read(plan, f"first-{h}-{number}")
            p, is_unknown = _look_up(rows.column("id"), *ids_by_table[links.source])
            unknown += int(is_unknown.sum())
            examples += _first_unknown(rows, is_unknown)
            columns = {"id": rows.column("other"), "at": rows.column("at"), "p": pa.array(p)}
            if "w" in rows.column_names:
                columns["w"] = rows.column("w")
            resolved.append(pa.table(columns).filter(pa.array(~is_unknown)))
        if resolved:
            _write_by_part(plan, pa.concat_tables(resolved), f"second-{position}-{{}}-{h}")
        unknown_ids.append((position, unknown, examples[:MAX_SHOWN]))
    for u, v in plan.views:
        q, is_unknown = _look_up(ids_by_table[u][0], *ids_by_table[v])
        rows = ids_by_table[u][1][~is_unknown]
        _write_by_block(plan, f"view-{u}-{v}-{h}", u, v, rows, q[~is_unknown], np.ones(len(rows)))
    return unknown_ids


def look_up_second(plan: Plan, h: int) -> list[tuple[int, int, list[tuple[int, str]]]]:
    """Replace the second ends of links by rows, and split the links by block."""
    unknown_ids = []
    for position, links in enumerate(plan.links):
        ids, numbers = _ids_of_part(plan, links.target, h, checked=False)
        unknown, examples, ends = 0, [], []
        for part in range(plan.parts):
            if not os.path.exists(plan.path(f"second-{position}-{h}-{part}")):
                continue
            rows = _read(plan, f"second-{position}-{h}-{part}")
            q, is_unknown = _look_up(rows.column("id"), ids, numbers)
            unknown += int(is_unknown.sum())
            examples += _first_unknown(rows, is_unknown)
            is_known = ~is_unknown
            p = rows.column("p").to_numpy()[is_known]
            if "w" in rows.column_names:
                w = rows.column("w").to_numpy()[is_known]
            else:
                w = np.full(len(p), float(links.weight))
            ends.append((p, q[is_known], w))
        if ends:
            p, q, w = map(np.concatenate, zip(*ends, strict=True))
            _write_by_block(plan, f"link-{position}-{h}", links.source, links.target, p, q, w)
        unknown_ids.append((position, unknown, sorted(examples)[:MAX_SHOWN]))
    return unknown_ids


def _ids_of_part(plan: Plan, t: int, h: int, *, checked: bool = True) -> tuple[pa.Array, Ints]:
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
        duplicates = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        name = plan.tables[t].name
        raise DataError(
            limit_problems(
                Problem("duplicate-id", name, "two rows have this id", str(text), "Keep one row.")
                for text in duplicates[:MAX_SHOWN].to_pylist()
            )
        )
    return ids, rows


def _look_up(ids: pa.ChunkedArray, table_ids: pa.Array, rows: Ints) -> tuple[Ints, Array]:
    """Return the rows of ids, and a mask of unknown ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    at = pc.index_in(ids, value_set=table_ids)
    if isinstance(at, pa.ChunkedArray):
        at = at.combine_chunks()
    is_unknown = np.asarray(at.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    positions = np.asarray(at.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
    matched_rows = rows[positions] if len(rows) else np.zeros(len(positions), dtype=np.int64)
    return np.asarray(matched_rows, dtype=np.int64), is_unknown


def _first_unknown(rows: pa.Table, is_unknown: Array) -> list[tuple[int, str]]:
    at = np.flatnonzero(is_unknown)[:MAX_SHOWN]
    numbers, ids = rows.column("at").take(at).to_pylist(), rows.column("id").take(at).to_pylist()
    return sorted(zip(numbers, map(str, ids), strict=True))


def _block_starts(plan: Plan, t: int) -> tuple[Ints, int]:
    """Return the starts of the blocks of a table, and the number of its first block."""
    block_numbers = plan.of_table(t)
    return np.array([plan.blocks[number].start for number in block_numbers]), block_numbers[0]


def _write_by_block(plan: Plan, name: str, u: int, v: int, p: Ints, q: Ints, w: Floats) -> None:
    """Write links by the block that owns them; p and q are rows of their tables."""
    (a, first_a), (b, first_b) = _block_starts(plan, u), _block_starts(plan, v)
    P = first_a + np.searchsorted(a, p, side="right") - 1
    Q = first_b + np.searchsorted(b, q, side="right") - 1
    links = np.empty(len(p), dtype=_LINK)
    starts = np.array([block.start for block in plan.blocks])
    # Each pair is stored once, independent of its direction; ownership alternates.
    is_owner = np.where((P + Q) % 2 == 0, np.minimum(P, Q), np.maximum(P, Q)) == P
    same_block = P == Q
    swap = np.where(same_block, p > q, ~is_owner)
    left, right = np.where(swap, q, p), np.where(swap, p, q)
    owner, other = np.where(swap, Q, P), np.where(swap, P, Q)
    links["p"], links["w"] = left - starts[owner], w
    # The other block and the row in it, as one number.
    links["q"] = (other.astype(np.int64) << 40) | (right - starts[other])
    is_kept = ~(same_block & (p == q))
    links, owner = links[is_kept], owner[is_kept]
    order = np.argsort(owner, kind="stable")
    ends = np.searchsorted(owner[order], np.arange(len(plan.blocks) + 1))
    for block in range(len(plan.blocks)):
        of_block = order[ends[block] : ends[block + 1]]
        if len(of_block):
            _save(plan.path(f"links-{block}-{name}.npy"), links[of_block].view("<i8"))


def join_links(plan: Plan, rule: LinkRule, number: int) -> list[tuple[int, int, int]]:
    """Merge the links of a block, with summed weights, and return the other blocks with counts."""
    names = sorted(Path(plan.scratch).glob(f"links-{number}-*.npy"))
    links = np.concatenate([npy.load(name).view(_LINK) for name in names] or [np.empty(0, _LINK)])
    order = np.lexsort((links["p"], links["q"]))
    links = links[order]
    is_first = np.ones(len(links), dtype=bool)
    is_first[1:] = (links["p"][1:] != links["p"][:-1]) | (links["q"][1:] != links["q"][:-1])
    at = np.flatnonzero(is_first)
    w = np.add.reduceat(links["w"], at) if len(at) else np.empty(0)
    p, q = links["p"][at], links["q"][at]
    others, rows = q >> 40, q & ((1 << 40) - 1)
    # Sums of opposite weights can have either sign.
    w = np.clip(w, -1.0, 1.0)
    if rule.positive_only:
        w = np.maximum(w, 0.0)
    counts = []
    u = plan.blocks[number].table
    for other in np.unique(others):
        block = plan.blocks[int(other)]
        v = block.table
        weight = w[others == other] * np.sqrt(rule.weights[u] * rule.weights[v])
        if u == v and not rule.within:
            weight = np.zeros_like(weight)
        is_nonzero = weight != 0
        ends = (p[others == other][is_nonzero], rows[others == other][is_nonzero])
        shape = (plan.blocks[number].n, block.n)
        W = sp.csr_array((weight[is_nonzero], ends), shape=shape)
        if W.nnz:
            for part in ("indptr", "indices", "data"):
                _save(plan.path(f"w-{number}-{int(other)}-{part}.npy"), getattr(W, part))
            together = int((W.data > 0).sum())
            counts.append((int(other), together, int(W.nnz) - together))
    for name in names:
        name.unlink(missing_ok=True)
    return counts


class LinkRule:
    """Rule for link weights of a method.

    Links between tables u and v are multiplied by sqrt(weight_u weight_v); `within` tells whether
    links within a table count.
    """

    def __init__(self, weights: Sequence[float], positive_only: bool, within: bool) -> None:
        self.weights, self.positive_only, self.within = tuple(weights), positive_only, within


def links_of(plan: Plan, number: int, other: int) -> Sparse:
    """Return the link weights between two blocks, (n, m)."""
    parts = [npy.load(plan.path(f"w-{number}-{other}-{part}.npy"))
             for part in ("data", "indices", "indptr")]  # fmt: skip
    shape = (plan.blocks[number].n, plan.blocks[other].n)
    return sp.csr_array((parts[0], parts[1], parts[2]), shape=shape)


Pairs = tuple[tuple[int, int], ...]
"""Pairs of blocks that share links: the owner and the other block."""


def degrees(plan: Plan, pairs: Pairs, number: int) -> dict[Key, Floats]:
    """Return the sum of rows of a block weighted by their link sums, and store these."""
    sums = np.zeros((2, plan.blocks[number].n))
    for owner, other in pairs:
        if number not in (owner, other):
            continue
        W = links_of(plan, owner, other)
        for sign, degree in zip((POSITIVE, NEGATIVE), sums, strict=True):
            part = np.maximum(sign * W.data, 0.0)
            if owner == number:
                row = np.repeat(np.arange(len(degree)), np.diff(W.indptr))
                degree += np.bincount(row, part, minlength=len(degree))
            if other == number:
                degree += np.bincount(W.indices, part, minlength=len(degree))
    _save(plan.path(f"d-{number}.npy"), sums)
    X = npy.load(plan.path(f"x-{number}.npy"))
    return moments.first_moments(X, sums.sum(axis=0), plan.blocks[number].table)


def means(plan: Plan, number: int) -> dict[Key, Floats]:
    """Return the sum of the rows of a block."""
    block = plan.blocks[number]
    X = npy.load(plan.path(f"x-{number}.npy"))
    return moments.first_moments(X, np.ones(block.n), block.table)


def spreads(plan: Plan, centres: Sequence[Floats], number: int) -> dict[Key, Floats]:
    """Return the products of the centred features of a block."""
    block = plan.blocks[number]
    X = npy.load(plan.path(f"x-{number}.npy"))
    ones, v = np.ones(block.n), block.table
    return moments.own_moments(X, ones, np.zeros(block.n), centres[v], v)


def products(plan: Plan, pairs: Pairs, centres: Sequence[Floats], number: int) -> dict[Key, Floats]:
    """Return the contributions of a block and its links to the eigenproblem."""
    block = plan.blocks[number]
    u = block.table
    X = npy.load(plan.path(f"x-{number}.npy"))
    positive, negative = npy.load(plan.path(f"d-{number}.npy"))
    total = moments.own_moments(X, positive, negative, centres[u], u)
    others: dict[int, list[int]] = {}
    for owner, other in pairs:
        if owner == number:
            others.setdefault(plan.blocks[other].table, []).append(other)
    for v, blocks in others.items():
        for sign in (POSITIVE, NEGATIVE):
            linked: Floats | None = None
            for other in blocks:
                W = _weights_of_sign(links_of(plan, number, other), sign)
                if not W.nnz:
                    continue
                if linked is None:
                    linked = np.zeros((block.n, plan.tables[v].d))
                Z = X if other == number else npy.load(plan.path(f"x-{other}.npy"))
                moments.add_linked_sums(W, Z, centres[v], linked)
            if linked is None:
                continue
            C = moments.cross_moment(X, centres[u], linked)
            key: Key = ("cross", sign, min(u, v), max(u, v))
            # Each pair of rows is stored once, and within a table it counts in both directions.
            C = C + C.T if u == v else (C if u < v else C.T)
            total[key] = total[key] + C if key in total else C
    return total


def _weights_of_sign(W: Sparse, sign: int) -> Sparse:
    if (sign * W.data > 0).all():
        return W if sign > 0 else sp.csr_array(-W)
    part = sp.csr_array((np.maximum(sign * W.data, 0.0), W.indices, W.indptr), shape=W.shape)
    part.eliminate_zeros()
    return part


def agreements(
    plan: Plan, pairs: Pairs, centres: Sequence[Floats], even: bool, number: int
) -> dict[Key, Floats]:
    """Return the contributions of a block to `hetviz.core.spectral.coca.coca_by_sums`."""
    block = plan.blocks[number]
    u = block.table
    X = npy.load(plan.path(f"x-{number}.npy"))
    ones = np.ones(block.n)
    total = moments.own_moments(X, ones, np.zeros(block.n), centres[u], u)
    for owner, other in pairs:
        if owner != number:
            continue
        v = plan.blocks[other].table
        W = links_of(plan, number, other)
        if u == v and even:
            W = _normalise_by_degrees(plan, W, number, other)
        linked = np.zeros((block.n, plan.tables[v].d))
        Z = X if other == number else npy.load(plan.path(f"x-{other}.npy"))
        moments.add_linked_sums(W, Z, centres[v], linked)
        C = moments.cross_moment(X, centres[u], linked)
        key: Key = ("cross", POSITIVE, min(u, v), max(u, v))
        C = C + C.T if u == v else (C if u < v else C.T)
        total[key] = total[key] + C if key in total else C
    return total


def _normalise_by_degrees(plan: Plan, W: Sparse, number: int, other: int) -> Sparse:
    left, right = (np.sqrt(npy.load(plan.path(f"d-{which}.npy"))[0]) for which in (number, other))
    row = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    data = W.data / (left[row] * right[W.indices])
    return sp.csr_array((data, W.indices, W.indptr), shape=W.shape)


def place_views(plan: Plan, placer: Placer, ties: Pairs, number: int) -> int:
    """Store places of the items of a block, as the mean over all tables with these items."""
    block = plan.blocks[number]
    places = placer.place(plan.tables[block.table].name, npy.load(plan.path(f"x-{number}.npy")))
    is_placed = np.asarray(np.isfinite(places).all(axis=1))
    total: Floats = np.where(is_placed[:, None], places, 0.0)
    count: Floats = is_placed.astype(np.float64)
    for owner, other in ties:
        if number not in (owner, other):
            continue
        W = links_of(plan, owner, other)
        other_block = other if owner == number else owner
        name = plan.tables[plan.blocks[other_block].table].name
        Y = placer.place(name, npy.load(plan.path(f"x-{other_block}.npy")))
        p, q = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr)), W.indices
        own_rows, other_rows = (p, q) if owner == number else (q, p)
        has_place = np.isfinite(Y[other_rows]).all(axis=1)
        # Indices are unique because ids of a table are.
        total[own_rows[has_place]] += Y[other_rows[has_place]]
        count[own_rows[has_place]] += 1.0
    with np.errstate(invalid="ignore"):
        _save(plan.path(f"y-{number}.npy"), np.where(count[:, None] > 0, total / count[:, None],
                                                     np.nan))  # fmt: skip
    return block.n


def place_rows(plan: Plan, placer: Placer, number: int) -> int:
    """Store the places of the rows of a block by features."""
    block = plan.blocks[number]
    X = npy.load(plan.path(f"x-{number}.npy"), mapped=True)
    _save(plan.path(f"y-{number}.npy"), placer.place(plan.tables[block.table].name, X))
    return block.n


def store_refined(plan: Plan, rows: Sequence[Ints], Y: Sequence[Floats]) -> None:
    """Store the refined places of rows of each block, for `place_by_refined`."""
    for number, (block_rows, places) in enumerate(zip(rows, Y, strict=True)):
        _save(plan.path(f"refined-{number}-rows.npy"), block_rows)
        _save(plan.path(f"refined-{number}-places.npy"), places)


def place_by_refined(plan: Plan, placer: Placer, number: int) -> int:
    """Store the refined places of rows of a block, and place its other rows by them."""
    block = plan.blocks[number]
    rows = npy.load(plan.path(f"refined-{number}-rows.npy"))
    Y = np.array(npy.load(plan.path(f"y-{number}.npy")))
    others = np.setdiff1d(np.arange(block.n), rows, assume_unique=True)
    if len(others):
        X = npy.load(plan.path(f"x-{number}.npy"), mapped=True)[others]
        Y[others] = placer.place(plan.tables[block.table].name, X)
    Y[rows] = npy.load(plan.path(f"refined-{number}-places.npy"))
    _save(plan.path(f"y-{number}.npy"), Y)
    return block.n


def store_array(plan: Plan, name: str, array: Array) -> None:
    """Store an array for all blocks under a name."""
    _save(plan.path(f"{name}.npy"), array)


def nearest_in_block(
    plan: Plan,
    features: Sequence[Floats],
    places: Sequence[Floats],
    row_numbers: Sequence[Ints],
    k: int,
    number: int,
) -> Floats:
    """Return the rows of a block nearest to q query rows of its table."""
    block = plan.blocks[number]
    t = block.table
    nearest_so_far = np.full((2, 2, len(row_numbers[t]), k), np.inf)
    nearest_so_far[:, 1] = -1.0
    at = np.flatnonzero((row_numbers[t] >= block.start) & (row_numbers[t] < block.stop))
    for space, (name, queries) in enumerate((("x", features[t]), ("y", places[t]))):
        stored = npy.load(plan.path(f"{name}-{number}.npy"), mapped=True)
        step = max(1, _MAX_ENTRIES // max(len(queries), 1))
        for start in range(0, block.n, step):
            D = cross_squared_distances(queries, stored[start : start + step].astype(np.float64))
            first = block.start + start
            own_positions = at[
                (row_numbers[t][at] >= first) & (row_numbers[t][at] < first + D.shape[1])
            ]
            D[own_positions, row_numbers[t][own_positions] - first] = np.inf
            D[np.isnan(D)] = np.inf
            all_squared = np.hstack([nearest_so_far[space, 0], D])
            rows = np.arange(first, first + D.shape[1])
            names = np.hstack([nearest_so_far[space, 1], np.broadcast_to(rows, D.shape)])
            nearest = nearest_columns(all_squared, k)
            nearest_so_far[space, 0] = np.take_along_axis(all_squared, nearest, axis=1)
            nearest_so_far[space, 1] = np.take_along_axis(names, nearest, axis=1)
    return nearest_so_far


def has_stored_places(plan: Plan) -> bool:
    """Return whether places of all rows are stored."""
    return os.path.exists(plan.path("y-0.npy"))


def read_places_of_block(plan: Plan, wanted: Sequence[Ints], number: int) -> Floats:
    """Return the stored places of some rows of a block."""
    return np.asarray(npy.load(plan.path(f"y-{number}.npy"), mapped=True)[wanted[number]])


# Results


def write_places(plan: Plan, placer: Placer, folder: str, number: int) -> tuple[str, int, int]:
    """Write the places of a block; return the SHA-256 of the file, rows and unplaced rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    block = plan.blocks[number]
    table = plan.tables[block.table]
    stored_path = plan.path(f"y-{number}.npy")
    if os.path.exists(stored_path):
        Y = npy.load(stored_path)
    else:
        Y = placer.place(table.name, npy.load(plan.path(f"x-{number}.npy")))
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


def read_rows_of_block(plan: Plan, rows: Sequence[Ints], number: int) -> Array:
    """Return the features of some rows of a block."""
    return np.asarray(npy.load(plan.path(f"x-{number}.npy"), mapped=True)[rows[number]])


def read_ids_of_block(plan: Plan, rows: Sequence[Ints], number: int) -> list[str]:
    """Return the ids of some rows of a block, as text."""
    block = plan.blocks[number]
    table = plan.tables[block.table]
    column = table.files.read(block.start, block.stop, [table.id]).column(0)
    return list(map(str, column.take(rows[number]).to_pylist()))


def read_links_of_pair(
    plan: Plan, positions: Sequence[Sequence[Ints]], pairs: Pairs, number: int
) -> tuple[Ints, Ints, Floats]:
    """Return some links of two blocks: rows of both, and weights."""
    owner, other = pairs[number]
    W = links_of(plan, owner, other).tocoo()
    at = positions[number]
    return (
        np.asarray(W.coords[0][at], dtype=np.int64),
        np.asarray(W.coords[1][at], dtype=np.int64),
        np.asarray(W.data[at]),
    )


def n_links(plan: Plan, number: int, other: int) -> int:
    """Return the number of links that two blocks share."""
    weights = npy.load(plan.path(f"w-{number}-{other}-data.npy"), mapped=True)
    return int(weights.shape[0])


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


def remove_files(plan: Plan, starts: Iterable[str]) -> None:
    """Delete temporary files."""
    for start in starts:
        for path in Path(plan.scratch).glob(f"{start}-*"):
            path.unlink(missing_ok=True)
