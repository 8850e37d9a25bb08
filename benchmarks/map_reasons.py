"""Reasons of maps made elsewhere: is the planted cause first, and is anything named without one.

A case is a table of 80 to 3,000 rows with a planted column (numbers, dates, categories of 2 to 30
values, lists), planted links to a second table or a planted category of the items of a second table
that rows link to, and 12 to 20 other columns of all kinds. Up to
30 % of the cells are missing, also of the cause. Half of the cases also have a noisy copy of the
cause. The coordinates come from the cause and from noise, as clusters, a gradient, a ring, islands
(each value in two places, squeezed and stretched) or a real map by ``umap`` of hidden features.
Without a cause, the coordinates are those of another table. Settings were chosen on seeds below
1,000 and are reported on others.
"""

from __future__ import annotations

import resource
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import hetviz
from benchmarks.harness import report

N_CASES, FIRST_SEED = 100, 1_000
KINDS = ("number", "date", "2", "3", "5", "12", "30", "list", "links", "linked")
LAYOUTS = ("clusters", "gradient", "ring", "islands", "umap")
WORDS = tuple(f"word{letter}" for letter in "abcdefghijkl")


def run(out: Path, quick: bool) -> None:
    """Count the planted causes that are named first, and the names without a cause."""
    n = 20 if quick else N_CASES
    found = [planted(FIRST_SEED + k) for k in range(n)]
    rows = [_summary("all", found)]
    for key in ("kind", "layout", "missing", "copy"):
        groups = defaultdict(list)
        for case in found:
            groups[case[key]].append(case)
        rows += [_summary(f"{key}: {value}", groups[value]) for value in sorted(groups, key=str)]
    report("map_reasons", rows, out, "planted cause named first")
    names = [unplanted(FIRST_SEED + n + k) for k in range(n)]
    named = [name for case in names for name in case]
    rows = [{"maps": n, "with a name": sum(map(bool, names)), "names": ", ".join(named)}]
    report("map_reasons_without_cause", rows, out, "named where nothing is planted")
    report("map_reasons_time", [large()], out, "30,000 rows, 20 columns")


def _summary(group: str, cases: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "cases": group,
        "n": len(cases),
        "first": sum(case["place"] == 1 for case in cases),
        "named": sum(case["place"] > 0 for case in cases),
        "independent column named": sum(case["wrong"] > 0 for case in cases),
    }


def planted(seed: int) -> dict[str, Any]:
    """Return the place of the planted cause among the named reasons."""
    rng = np.random.default_rng(seed)
    kind, layout = KINDS[seed % len(KINDS)], LAYOUTS[seed // len(KINDS) % len(LAYOUTS)]
    n = int(np.exp(rng.uniform(np.log(80 if kind != "30" else 300), np.log(3_000))))
    has_copy = bool(rng.random() < 0.5) and kind not in ("list", "links", "linked")
    missing = float(rng.choice([0.0, 0.1, 0.3]))
    cause, links, latent = _cause(kind, n, rng)
    columns = _decoys(n, rng)
    columns[f"c{rng.integers(10**6)}"] = cause if cause is not None else rng.normal(size=n)
    name = list(columns)[-1] if cause is not None else {"links": "tags"}.get(kind, "theme")
    if has_copy:
        columns["copy"] = _noisy(cause, rng)
    order = rng.permutation(list(columns)).tolist()
    frame = pd.DataFrame({column: _with_gaps(columns[column], missing, rng) for column in order})
    Y = _layout(layout, latent, rng)
    data = _data(frame, links)
    reasons = hetviz.why(data, hetviz.Embedding({"rows": Y, **_rest(data)}, _ids(data))).reasons
    names = [reason.column for reason in reasons]
    return {
        "kind": kind,
        "layout": layout,
        "missing": missing,
        "copy": has_copy,
        "place": names.index(name) + 1 if name in names else 0,
        "wrong": len(set(names) - {name, "copy", "tags"}),
        "names": names[:3],
        "n": n,
        "seed": seed,
    }


def unplanted(seed: int) -> list[str]:
    """Return the names on a map that has nothing to do with the columns."""
    rng = np.random.default_rng(seed)
    kind, layout = KINDS[seed % len(KINDS)], LAYOUTS[seed // len(KINDS) % len(LAYOUTS)]
    n = int(np.exp(rng.uniform(np.log(80), np.log(3_000))))
    Y = _layout(layout, _cause(kind, n, rng)[2], rng)
    cause, links, _ = _cause(str(rng.choice(KINDS)), n, rng)
    missing = float(rng.choice([0.0, 0.1, 0.3]))
    columns = _decoys(n, rng) | ({} if cause is None else {"cause": cause})
    frame = pd.DataFrame({k: _with_gaps(values, missing, rng) for k, values in columns.items()})
    data = _data(frame, links)
    found = hetviz.why(data, hetviz.Embedding({"rows": Y, **_rest(data)}, _ids(data)))
    return [reason.column for reason in found.reasons]


def large() -> dict[str, Any]:
    """Return the time for 30,000 rows and 20 columns."""
    rng = np.random.default_rng(0)
    n = 30_000
    cause, _, latent = _cause("12", n, rng)
    columns = {f"n{k}": rng.normal(size=n) for k in range(20)} | _decoys(n, rng)
    frame = pd.DataFrame({"cause": cause} | dict(list(columns.items())[-19:]))
    data = _data(frame, None)
    embedding = hetviz.Embedding({"rows": _layout("islands", latent, rng)}, _ids(data))
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    found = hetviz.why(data, embedding)
    return {
        "rows": n,
        "columns": frame.shape[1],
        "CPU s": resource.getrusage(resource.RUSAGE_SELF).ru_utime - start,
        "first": found.reasons[0].column,
    }


def _cause(kind: str, n: int, rng: Any) -> tuple[Any, Any, Any]:
    """Return values, links and the latent place from 0 to 1 of each row, its group and a width.

    The width is that of a group, or 0.4 of all for numbers. Noise is a share of it.
    """
    if kind in ("number", "date"):
        u = rng.random(n)
        values = np.exp(2 * u) if rng.random() < 0.5 else 100 * u
        if kind == "date":
            values = pd.Timestamp("2015-01-01") + pd.to_timedelta((3000 * u).astype(int), unit="D")
        return values, None, (u, np.floor(u * 8).astype(int), 0.4)
    n_groups = int(kind) if kind.isdigit() else 6
    weights = rng.dirichlet(np.full(n_groups, 4.0))
    group = rng.choice(n_groups, n, p=weights)
    u = (rng.permutation(n_groups)[group] + rng.random(n)) / n_groups
    if kind.isdigit():
        values = np.array([f"value {k}" for k in range(n_groups)], dtype=object)[group]
        return values, None, (u, group, 1 / n_groups)
    own = np.array([rng.choice(12, 3, replace=False, p=_tag_shares(g)) for g in group])
    if kind == "list":
        return (
            np.array(["; ".join(WORDS[k] for k in row) for row in own]),
            None,
            (u, group, 1 / n_groups),
        )
    if kind == "linked":
        items = group + n_groups * rng.integers(0, 10, n)
        return None, (np.arange(n), items), (u, group, 1 / n_groups)
    return None, (np.repeat(np.arange(n), 3), own.ravel()), (u, group, 1 / n_groups)


def _tag_shares(group: int) -> Any:
    """Return how often a group has each of twelve tags: three quarters are its own three."""
    shares = np.full(12, 0.25 / 9)
    shares[(np.arange(3) + 2 * group) % 12] = 0.25
    return shares


def _noisy(values: Any, rng: Any) -> Any:
    """Return a copy in which a third of the rows have the value of another row."""
    values = np.array(values)
    is_other = rng.random(len(values)) < 1 / 3
    values[is_other] = values[rng.permutation(len(values))][is_other]
    return values


def _decoys(n: int, rng: Any) -> dict[str, Any]:
    """Return columns of all kinds that have nothing to do with each other."""
    columns: dict[str, Any] = {"row number": np.arange(n)}
    for k in range(int(rng.integers(11, 20))):
        levels = int(rng.choice([2, 4, 9, 20, 50, 200]))
        columns[f"d{k}"] = (
            rng.normal(size=n),
            np.exp(2 * rng.normal(size=n)),
            rng.poisson(0.5, n),
            np.array([f"v{v}" for v in range(levels)])[rng.integers(0, levels, n)],
            np.array([f"w{v}" for v in range(60)])[np.minimum(rng.geometric(0.3, n), 59)],
            pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), unit="D"),
            np.array([" ".join(rng.choice(WORDS, 4)) + f" no{row}" for row in range(n)]),
        )[k % 7]
    return columns


def _with_gaps(values: Any, share: float, rng: Any) -> pd.Series:
    series = pd.Series(values)
    return series.mask(rng.random(len(series)) < share * rng.choice([1.0, 1.0, 0.2]))


def _layout(layout: str, latent: Any, rng: Any) -> Any:
    """Return coordinates of rows from their latent places and groups."""
    u, group, width = latent
    n, n_groups = len(u), group.max() + 1
    noise = float(rng.uniform(0.1, 0.6))
    if layout == "umap":
        X = np.column_stack([np.eye(n_groups)[group], 3 * u, rng.normal(size=(n, 6)) * noise])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = hetviz.HeteroData([hetviz.Dataset("rows", np.arange(n).astype(str), X)])
            return hetviz.embed(data, "umap", random_state=int(rng.integers(1000)))["rows"]
    e = rng.normal(size=(n, 2))
    if layout == "gradient":
        # The other axis is noise, of half to twice the range.
        turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
        return (
            np.column_stack([u + width * noise * e[:, 0], rng.uniform(0.5, 2) * rng.random(n)])
            @ turn
        )
    if layout == "ring":
        angle = 2 * np.pi * (u + width * noise * e[:, 0])
        return np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 0.4 * noise * e[:, 1:])
    places = rng.permutation(2 * 36)[: 2 * n_groups]
    centres = np.column_stack([places % 9, places // 9]).astype(float)
    island = group if layout == "clusters" else group + n_groups * (rng.random(n) < 0.4)
    Y = centres[island] + 2.5 * noise * e * (
        1 if layout == "clusters" else rng.uniform(0.4, 1.6, 2)
    )
    if layout == "islands":
        # Squeezed and stretched, with a few stray rows.
        Y = np.sign(Y - 4) * np.abs(Y - 4) ** 1.5
        stray = rng.random(n) < 0.05
        Y[stray] = rng.uniform(Y.min(), Y.max(), (int(stray.sum()), 2))
    return Y


def _data(frame: pd.DataFrame, links: Any) -> Any:
    rows = hetviz.Dataset("rows", [f"r{k}" for k in range(len(frame))], table=frame)
    if links is None:
        return hetviz.HeteroData([rows])
    if links[1].max() < len(WORDS):
        tags = hetviz.Dataset("tags", WORDS)
    else:
        theme = pd.DataFrame({"theme": [WORDS[k % 6] for k in range(60)]})
        tags = hetviz.Dataset("tags", [f"item {k}" for k in range(60)], table=theme)
    return hetviz.HeteroData([rows, tags], [hetviz.Links("rows", "tags", *links, kind="has")])


def _ids(data: Any) -> dict[str, Any]:
    return {name: data[name].ids for name in data.datasets}


def _rest(data: Any) -> dict[str, Any]:
    """Return no places for the other tables, as the coordinates are those of one."""
    return {name: np.full((len(data[name]), 2), np.nan) for name in data.datasets if name != "rows"}
