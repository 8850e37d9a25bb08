"""Effect of a few named groups on items outside them.

Groups of a known label are named, 1, 3 or 10 of 3, 6, 9 or 30 items, and the map is made without
them, with them for the named alone, with what was learned of them, and from the map without them,
as the app does, with what was learned. Settings were chosen on
`CHOSEN_ON`; `REPORTED_ON` took no part. Needs ``--data DIR``, see `benchmarks.joint_data`.

Each figure is written as soon as it is there, to ``teaching.jsonl``: a run goes on where the last
one ended. ``python -m benchmarks teaching`` runs it; ``python -m benchmarks.teaching`` prints the
tables of what is there.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.manifold import trustworthiness
from sklearn.metrics import average_precision_score
from sklearn.neighbors import NearestNeighbors

import hetviz
from benchmarks.joint_data import LOADERS
from hetviz import Dataset, HeteroData, Links
from hetviz.features.item_columns import item_columns

DATA = "needs"
CHOSEN_ON = ("digits", "emoji")
REPORTED_ON = ("world", "world films", "debian", "citeseer", "mfeat")
SHOWN = {
    "digits": ("pixels", "digit"),
    "emoji": ("emoji", "subgroup"),
    "world": ("countries", "region"),
    "world films": ("films", "decade"),
    "debian": ("programs", "section"),
    "citeseer": ("papers", "class"),
    "mfeat": ("fou", "class"),
}
"""The dataset of which groups are named, and the column they are made by.

Only four regions of the world have eighteen countries or more; of films by decade there are nine.
"""
SIZES = ((1, 3), (1, 6), (1, 9), (1, 30), (3, 3), (3, 6), (3, 9), (3, 30), (10, 3), (10, 6))
SIZES = (*SIZES, (10, 9), (10, 30))
SIZES_ALL = (10, 9)
"""The size at which all methods are measured, first."""
SEEDS = range(100, 105)
"""Not those by which the recipe was found."""
METHODS = ("joint-map", "mr-sne", "umap")
NEAREST = 10
HELD_OUT = 0.1
NONSENSE = 50
ARMS = ("base", "pairs", "learned", "again")
MEASURES = ("follow", "near", "other", "links", "rest", "trust", "trust_rest")
"""`rest` and `trust_rest` leave out what was named: a person moved that, and knows of it."""
WORDS = {
    "follow": "unnamed members' ten nearest of their class",
    "near": "average precision of unnamed members",
    "other": "other classes",
    "links": "held-out links",
    "rest": "held-out links of unnamed items",
    "trust": "trust",
    "trust_rest": "trust of unnamed items",
}


def run(out: Path, quick: bool, folder: Path) -> None:
    """Measure every data set, and write the figures down; `quick` takes one seed and size."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "teaching.jsonl"
    done = {key_of(row) for row in rows_of(file)}
    first, sizes = SIZES_ALL, [size for size in SIZES if size != SIZES_ALL]
    runs = [(method, *first) for method in (METHODS[:1] if quick else METHODS)]
    _measure(file, done, runs, quick, folder)
    for name in (*CHOSEN_ON, *REPORTED_ON):
        for n_named in (9,) if quick else (3, 6, 9, 30):
            setting = {"data": name, "nonsense": n_named}
            if key_of(setting) not in done:
                write(file, setting | refused(name, n_named, folder))
    if not quick:
        _measure(file, done, [(METHODS[0], *size) for size in sizes], quick, folder)
    show(file)
    within(out, quick, folder)


def _measure(
    file: Path, done: set[Any], runs: list[tuple[str, int, int]], quick: bool, folder: Path
) -> None:
    """Measure maps of each data set and seed that are not measured yet."""
    for method, n_groups, n_named in runs:
        for name in (*CHOSEN_ON, *REPORTED_ON):
            for seed in list(SEEDS)[:1] if quick else SEEDS:
                setting = {
                    "data": name,
                    "method": method,
                    "groups": n_groups,
                    "named": n_named,
                    "seed": seed,
                }
                if key_of(setting) not in done:
                    write(file, setting | measured(name, method, n_groups, n_named, seed, folder))


def measured(
    name: str, method: str, n_groups: int, n_named: int, seed: int, folder: Path
) -> dict[str, Any]:
    """Make the three maps of one draw of groups, and measure them."""
    data = LOADERS[name.partition(" ")[0]](folder=folder)
    rng = np.random.default_rng(seed)
    data, hidden = _held_out(data, rng)
    dataset, column = SHOWN[name]
    label = label_of(data, dataset, column)
    groups = list(_groups(label, n_groups, n_named, rng))
    if not groups:
        return {"n_groups": 0}
    statements = data.edit().add(_said(dataset, groups))
    row: dict[str, Any] = {"n_groups": len(groups)}
    arms = dict(
        zip(
            ARMS,
            ((data, False), (statements, False), (statements, True), (statements, True)),
            strict=True,
        )
    )
    before = None
    for arm, (inputs, learn) in arms.items():
        model = hetviz.get_method(method)(learn_groups=learn, random_state=0)
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(inputs, start=before if arm == "again" else None)
        before = before or model.embedding_
        seconds = time.process_time() - started
        row[arm] = _figures(data, model, dataset, label, groups, hidden) | {"seconds": seconds}
        if learn:
            row["accepted"] = sum(g["learned"] for g in model.diagnostics_["learned"])
    return row


def within(out: Path, quick: bool, folder: Path) -> None:
    """Name three groups of nine within one area, which the map shows as one."""
    file = out / "teaching_within.jsonl"
    done = {key_of(row) for row in rows_of(file)}
    for name in WITHIN:
        for seed in list(SEEDS)[:1] if quick else SEEDS:
            setting = {"data": name, "method": METHODS[0], "groups": 3, "named": 9, "seed": seed}
            if key_of(setting) not in done:
                write(file, setting | measured_within(name, seed, folder))
    show_within(file)


def measured_within(name: str, seed: int, folder: Path) -> dict[str, Any]:
    """Make the map before and after groups within an area are named, and measure it."""
    data, dataset, area, label = WITHIN[name](seed, folder)
    rng = np.random.default_rng(seed)
    can = []
    for value in np.unique(area):
        part = np.where(area == value, label, "")
        if len([*_groups(part, 3, 9, np.random.default_rng(0))]) > 1:
            can.append(part)
    if not can:
        return {"n_groups": 0}
    groups = list(_groups(can[rng.integers(len(can))], 3, 9, rng))
    guided = data.edit().add(_said(dataset, groups))
    named = np.concatenate(groups)
    members = np.isin(label, [label[group[0]] for group in groups])
    members &= ~np.isin(np.arange(len(label)), named)
    row: dict[str, Any] = {"n_groups": len(groups)}
    before = None
    for arm, inputs, learn in (
        ("base", data, False), ("pairs", guided, False), ("learned", guided, True),
        ("again", guided, True),
    ):  # fmt: skip
        model = hetviz.get_method(METHODS[0])(learn_groups=learn, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(inputs, start=before if arm == "again" else None)
        before = before or model.embedding_
        Y = np.nan_to_num(model.embedding_.coordinates[dataset])
        index = NearestNeighbors(n_neighbors=NEAREST).fit(Y).kneighbors(return_distance=False)
        row[arm] = float((label[index] == label[:, None]).mean(axis=1)[members].mean())
    summaries = hetviz.learned_from(guided)
    of_id = dict(zip(map(str, data[dataset].ids), label, strict=True))
    right = {True: [0, 0], False: [0, 0]}
    for group in summaries:
        true = of_id[group.named[0]]
        right[group.learned][0] += sum(of_id[id_] == true for id_, _ in group.to_ask)
        right[group.learned][1] += len(group.to_ask)
    accepted = sum(group.learned for group in summaries)
    return row | {"accepted": accepted, "right": right[True], "right_refused": right[False]}


def show_within(file: Path) -> None:
    """Print the table of groups within an area."""
    _line("data", WORDS["follow"], "accepted", "right of the first twelve", "of refused groups")
    _line(*["---"] * 5)
    for name in WITHIN:
        mine = [r for r in rows_of(file) if r["data"] == name and r.get("n_groups")]
        if not mine:
            continue
        base, pairs, learned, again = (np.array([r[arm] for r in mine]) for arm in ARMS)
        gains = f"{spread(learned - base)}; {spread(again - base)}"
        means = " / ".join(f"{part.mean():.3f}" for part in (base, pairs, learned, again))
        groups, accepted = (sum(r[key] for r in mine) for key in ("n_groups", "accepted"))
        shares = []
        for key in ("right", "right_refused"):
            true, total = (sum(r[key][place] for r in mine) for place in (0, 1))
            shares.append(f"{true / total:.2f}" if total else "–")
        _line(f"{name} ({len(mine)})", f"{means} ({gains})", f"{accepted} of {groups}", *shares)


def planted(
    seed: int, folder: Path, strength: float = 0.6
) -> tuple[HeteroData, str, np.ndarray, np.ndarray]:
    """Papers of three areas of five venues each, which differ in a tenth of the features."""
    rng = np.random.default_rng(seed)
    n, p, n_authors = 600, 300, 120
    venue = rng.integers(0, 15, n)
    area = venue // 5
    middle = rng.normal(size=(3, p))
    own = strength * rng.normal(size=(15, p)) * (rng.random((15, p)) < 0.1)
    topics = 0.3 * rng.normal(size=(n, 40)) @ rng.normal(size=(40, p))
    X = middle[area] + own[venue] + topics + rng.normal(size=(n, p))
    same = area[:, None] == np.repeat(np.arange(3), n_authors // 3)
    i, j = np.nonzero(rng.random(same.shape) < np.where(same, 0.05, 0.003))
    papers = Dataset("papers", [f"p{k}" for k in range(n)], X)
    authors = Dataset("authors", [f"a{k}" for k in range(n_authors)])
    data = HeteroData([papers, authors], [Links("papers", "authors", i, j)])
    return data, "papers", area, venue.astype(str).astype(object)


def of_columns(
    name: str, dataset: str, area: str, column: str, seed: int, folder: Path
) -> tuple[HeteroData, str, np.ndarray, np.ndarray]:
    """Return a sample, and two of its columns."""
    data = hetviz.load(name)
    return data, dataset, label_of(data, dataset, area), label_of(data, dataset, column)


def modules(seed: int, folder: Path) -> tuple[HeteroData, str, np.ndarray, np.ndarray]:
    """Modules of Python packages, and the part of their package that they are in."""
    data = LOADERS["imports"](folder=folder)
    part = np.array([str(value) for value in data.labels[0].values], dtype=object)
    package = np.array([str(id_).split("/")[0] for id_ in data["modules"].ids], dtype=object)
    return data, "modules", package, part


WITHIN = {
    "planted": planted,
    "planted, nothing to learn": partial(planted, strength=0.0),
    "emoji, subgroups of a group": partial(of_columns, "emoji", "emoji", "group", "subgroup"),
    "imports, parts of a package": modules,
    "debian, languages of a section": partial(
        of_columns, "debian", "programs", "section", "language"
    ),
}
"""Data, dataset, area and class of its items, by seed and folder."""


def refused(name: str, n_named: int, folder: Path) -> dict[str, Any]:
    """Name items by chance, and count how many such groups are refused."""
    data = LOADERS[name.partition(" ")[0]](folder=folder)
    dataset = SHOWN[name][0]
    rng = np.random.default_rng(n_named)
    count = 0
    for _ in range(NONSENSE):
        group = rng.choice(len(data[dataset]), n_named, replace=False)
        statements = data.edit().add(_said(dataset, [group]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = hetviz.learned_from(statements)
        count += not result[0].learned
    return {"refused": count, "of": NONSENSE}


def _held_out(data: HeteroData, rng: np.random.Generator) -> tuple[HeteroData, list[Any]]:
    """Return the data without a tenth of the links of each kind, and these."""
    hidden, retained = [], []
    for links in data.links:
        out = rng.random(len(links.i)) < HELD_OUT
        out &= links.weight > 0
        hidden.append((links.source, links.target, links.i[out], links.j[out]))
        stay = ~out
        retained.append(
            Links(
                links.source,
                links.target,
                links.i[stay],
                links.j[stay],
                links.weight[stay],
                kind=links.kind,
                role=links.role,
            )
        )
    return HeteroData(list(data.datasets.values()), retained, None, list(data.labels)), hidden


def label_of(data: HeteroData, dataset: str, column: str) -> np.ndarray:
    values = item_columns(data, dataset)[column].values
    return np.array(["" if v is None or v != v else str(v) for v in values], dtype=object)


def _groups(
    label: np.ndarray, n_groups: int, n_named: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield the named of classes of which at least as many again are left to follow."""
    classes, count = np.unique(label[label != ""], return_counts=True)
    for value in rng.permutation(classes[count >= 2 * n_named])[:n_groups]:
        yield np.sort(rng.choice(np.flatnonzero(label == value), n_named, replace=False))


def _said(dataset: str, groups: list[np.ndarray]) -> Links:
    pairs = [np.triu_indices(len(group), 1) for group in groups]
    i = np.concatenate([group[a] for group, (a, _) in zip(groups, pairs, strict=True)])
    j = np.concatenate([group[b] for group, (_, b) in zip(groups, pairs, strict=True)])
    return Links(dataset, dataset, i, j, 1.0, kind="said")


def _figures(
    data: HeteroData,
    model: Any,
    dataset: str,
    label: np.ndarray,
    groups: list[np.ndarray],
    hidden: list[Any],
) -> dict[str, float]:
    """Return the measures of one map; of the dataset spoken of, unless of links."""
    coordinates = model.embedding_.coordinates
    Y = np.nan_to_num(coordinates[dataset])
    index = NearestNeighbors(n_neighbors=NEAREST).fit(Y).kneighbors(return_distance=False)
    same = (label[index] == label[:, None]).mean(axis=1)
    named = np.concatenate(groups)
    stated = {label[group[0]] for group in groups}
    unnamed = ~np.isin(np.arange(len(label)), named)
    members = np.isin(label, list(stated)) & unnamed
    others = ~np.isin(label, list(stated)) & (label != "")
    near = []
    for group in groups:
        others_list = np.setdiff1d(np.arange(len(label)), group)
        d = np.sqrt(((Y[others_list, None] - Y[None, group]) ** 2).sum(axis=2)).min(axis=1)
        near.append(average_precision_score(label[others_list] == label[group[0]], -d))
    X = data[dataset].X
    trust = trust_rest = np.nan
    if X is not None:
        dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        rows = np.random.default_rng(0).permutation(len(dense))[:1500]
        trust = trustworthiness(dense[rows], Y[rows], n_neighbors=NEAREST)
        rows = rows[unnamed[rows]]
        trust_rest = trustworthiness(dense[rows], Y[rows], n_neighbors=NEAREST)
    return {
        "follow": float(same[members].mean()),
        "near": float(np.mean(near)),
        "other": float(same[others].mean()) if others.any() else float("nan"),
        "links": auc_of(coordinates, hidden),
        "rest": auc_of(coordinates, _of_unnamed(hidden, dataset, unnamed)),
        "trust": float(trust),
        "trust_rest": float(trust_rest),
    }


def _of_unnamed(hidden: list[Any], dataset: str, unnamed: np.ndarray) -> list[Any]:
    """Return the hidden links of which no end was named."""
    left = []
    for source, target, i, j in hidden:
        stay = np.ones(len(i), dtype=bool)
        if source == dataset:
            stay &= unnamed[i]
        if target == dataset:
            stay &= unnamed[j]
        left.append((source, target, i[stay], j[stay]))
    return left


def auc_of(coordinates: Any, hidden: list[Any]) -> float:
    """Return how often a hidden link is shorter than one from its source to the end of another."""
    wins, total = 0.0, 0
    rng = np.random.default_rng(0)
    for source, target, i, j in hidden:
        if len(i) < 2:
            continue
        A, B = np.nan_to_num(coordinates[source]), np.nan_to_num(coordinates[target])
        length = np.linalg.norm(A[i] - B[j], axis=1)
        for _ in range(10):
            against = np.linalg.norm(A[i] - B[rng.permutation(j)], axis=1)
            wins += float((length < against).sum() + 0.5 * (length == against).sum())
            total += len(i)
    return wins / total if total else float("nan")


def key_of(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return what a figure is of."""
    return tuple(row.get(k) for k in ("data", "method", "groups", "named", "seed", "nonsense"))


def rows_of(file: Path) -> list[dict[str, Any]]:
    """Return the figures that are there."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def write(file: Path, row: dict[str, Any]) -> None:
    """Add a figure."""
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(row) + "\n")


def spread(values: np.ndarray[Any, Any]) -> str:
    """Write a mean and its standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{values.mean():+.3f} ± {error:.3f}"


def show(file: Path) -> None:
    """Print the tables: means over seeds, and of paired differences with their standard errors."""
    rows = [row for row in rows_of(file) if row.get("n_groups")]
    for method in METHODS:
        mine = [r for r in rows if r["method"] == method and (r["groups"], r["named"]) == SIZES_ALL]
        print(f"\n### `{method}`, ten groups of nine\n")
        _table("data", SHOWN, [[r for r in mine if r["data"] == name] for name in SHOWN], MEASURES)
    sizes = [(name, *size) for name in SHOWN for size in SIZES if size != SIZES_ALL]
    parts = [
        [r for r in rows if r["method"] == METHODS[0] and r["data"] == name
         and (r["groups"], r["named"]) == tuple(size)] for name, *size in sizes
    ]  # fmt: skip
    # where a data set has no more classes large enough, ten groups are three again
    retained = [(s, p) for s, p in zip(sizes, parts, strict=True)
            if p and all(r["n_groups"] > s[1] / 3 for r in p)]  # fmt: skip
    print(f"\n### `{METHODS[0]}`, other sizes\n")
    names = [f"{name}, {n_groups} of {n_named}" for (name, n_groups, n_named), _ in retained]
    _table("data, groups", names, [p for _, p in retained], ("follow", "rest", "trust_rest"))
    print("\n### Groups named by chance\n")
    drawn = {(r["data"], r["nonsense"]): r for r in rows_of(file) if r.get("nonsense")}
    _line("data", *(f"{n} named" for n in (3, 6, 9, 30)))
    _line(*["---"] * 5)
    for name in SHOWN:
        result = [drawn.get((name, n)) for n in (3, 6, 9, 30)]
        _line(name, *(f"{r['refused']} of {r['of']}" if r else "" for r in result))


def _table(
    head: str, names: Iterable[str], parts: Iterable[list[dict[str, Any]]], measures: Sequence[str]
) -> None:
    """Print a line for each part: before, and what learning adds anew and by a refit.

    Of the first measure all four arms.
    """
    _line(head, *(WORDS[measure] for measure in measures), "accepted")
    _line(*["---"] * (len(measures) + 2))
    for name, mine in zip(names, parts, strict=True):
        if not mine:
            continue
        cells = []
        for measure in measures:
            result = [np.array([r[arm][measure] for r in mine], dtype=float) for arm in ARMS]
            base, _, learned, again = result
            messages = result if measure == measures[0] else [base]
            means = " / ".join(f"{arm.mean():.3f}" for arm in messages)
            gains = f"{spread(learned - base)}; {spread(again - base)}"
            cells.append("–" if np.isnan(base).any() else f"{means} ({gains})")
        accepted = sum(r["accepted"] for r in mine) / sum(r["n_groups"] for r in mine)
        _line(f"{name} ({len(mine)})", *cells, f"{accepted:.2f}")


def _line(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    show(Path(sys.argv[1] if len(sys.argv) > 1 else "out/benchmarks/teaching.jsonl"))
