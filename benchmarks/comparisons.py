"""Methods for comparisons: time to a proven gap, other solvers and methods, noise, new objects.

The shoes (Heim et al. 2015) are read from ``<data>/zappos_triplets/zappos.npz``: triplets
(m, 3), anchor, nearer, farther, and cnn (85, 4096), from examples/zappos of the salmon project
(github.com/stsievert/salmon), the materials (Lagunas et al. 2019) from
``<data>/materials/train.json`` and ``test.json``, the processed answers of
github.com/mlagunas/material-appearance-similarity. Without them these parts are left out. cblearn's
methods run beside where it is installed.
"""

from __future__ import annotations

import importlib.util
import json
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import hetviz
from benchmarks.harness import cpu_seconds, report
from hetviz import Comparisons, Dataset, HeteroData
from hetviz.core.ordinal.comparisons import comparison_accuracy
from hetviz.core.ordinal.embedding import Hinge, embed_order
from hetviz.core.ordinal.fixed_rank import critical_beta_for, weigh_columns

DATA = "may"
TAXONOMY = {"round": "0689", "straight": "147", "open": "235"}
NOISE_VIEWS = 5
PLANTED = tuple(
    (n, axes, per_item, noise)
    for n, axes in ((100, 2), (100, 6), (400, 6))
    for per_item in (5, 30)
    for noise in (0.0, 0.2)
)
"""Items, axes of their places, comparisons for each item, share of comparisons turned round."""


def run(out: Path, quick: bool, data: Path | None = None) -> None:
    """Run all parts; the shoes only with `data`."""
    at_scale(out, quick)
    against_conic(out, quick)
    taxonomy(out, quick)
    flipped(out, quick)
    losses(out, quick)
    if data is not None:
        shoes(out, quick, data)
        if (data / "materials").exists():
            materials(out, quick, data)


def hidden(n: int, m: int, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray]:
    """Five kernels of objects in ten groups, three of them noise, and noisy comparisons."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(10, 4))[rng.integers(0, 10, n)] + 0.6 * rng.normal(size=(n, 4))
    seen = Z @ rng.normal(size=(4, 30)) + rng.normal(size=(n, 30))
    wide = Z @ rng.normal(size=(4, 60)) + 2.0 * rng.normal(size=(n, 60))
    a, b, c = rng.normal(size=(n, 20)), rng.normal(size=(n, 50)), rng.normal(size=(n, 50))
    kernels = [gaussian(a), gaussian(seen), wide @ wide.T, gaussian(b), c @ c.T]
    H = np.eye(n) - 1.0 / n
    kernels = [H @ K @ H for K in kernels]
    C = rng.integers(0, n, (m, 4))
    near, far = (((Z[C[:, k]] - Z[C[:, k + 1]]) ** 2).sum(axis=1) for k in (0, 2))
    turned = near * np.exp(0.3 * rng.normal(size=m)) > far
    return [K * n / np.trace(K) for K in kernels], np.where(turned[:, None], C[:, [2, 3, 0, 1]], C)


def gaussian(X: np.ndarray) -> np.ndarray:
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.exp(-D / np.median(D))


def factor(K: np.ndarray) -> np.ndarray:
    values, U = np.linalg.eigh(K)
    retained = values > 1e-9 * values[-1]
    return U[:, retained] * np.sqrt(values[retained])


def at_scale(out: Path, quick: bool) -> None:
    """Time to a proven gap; factors of the kernels count."""
    n, m = (150, 3_000) if quick else (412, 16_000)
    kernels, C = hidden(n, m)
    rows: list[dict[str, Any]] = []

    def solve(diagonal: bool, times: float) -> tuple[Any, float]:
        if diagonal:
            views = [K / np.sqrt(np.diag(K)) for K in kernels]
        else:
            views = [factor(K) for K in kernels]
        share = np.full(len(C), 1.0 / len(C))
        beta = times * critical_beta_for(views, Hinge(n, C, share), diagonal=diagonal)
        hinge = Hinge(n, C, beta * share)
        if diagonal:
            return weigh_columns(np.hstack(views), hinge, tol=3e-3), beta
        return embed_order(views, hinge, tol=3e-3), beta

    for diagonal in (False, True):
        for times in (3.0, 30.0, 300.0):
            seconds, (result, _) = cpu_seconds(partial(solve, diagonal, times), 1 if quick else 3)
            rows.append(
                {
                    "variant": "diagonal" if diagonal else "full",
                    "beta / critical": times,
                    "objective": result.objective,
                    "relative gap": result.gap,
                    "evaluations": result.n_evaluations,
                    "CPU s": seconds,
                }
            )
    report("comparisons_scale", rows, out, f"{n} objects, 5 kernels, {m} comparisons")


def against_conic(out: Path, quick: bool) -> None:
    """The same problem by Clarabel through cvxpy."""
    import cvxpy as cp

    n, m = (30, 100) if quick else (60, 400)
    kernels, C = hidden(n, m, seed=1)
    views = [factor(K) for K in kernels[1:3]]
    share = np.full(m, 1.0 / m)
    beta = 30.0 * critical_beta_for(views, Hinge(n, C, share))

    def conic() -> float:
        total, size = 0, 0
        for Phi in views:
            S = cp.Variable((Phi.shape[1],) * 2, PSD=True)
            near, far = Phi[C[:, 0]] - Phi[C[:, 1]], Phi[C[:, 2]] - Phi[C[:, 3]]
            Z = np.einsum("ci,cj->cij", near, near) - np.einsum("ci,cj->cij", far, far)
            total = total + Z.reshape(m, -1) @ cp.vec(S, order="C")
            size = size + cp.trace(S)
        problem = cp.Problem(cp.Minimize(size + beta / m * cp.sum(cp.pos(1 + total))))
        return float(problem.solve(solver=cp.CLARABEL))

    own_values, result = cpu_seconds(
        lambda: embed_order(views, Hinge(n, C, beta * share), tol=1e-4)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, optimum = cpu_seconds(conic, 1)
    row = {
        "objects": n,
        "comparisons": m,
        "CPU s": own_values,
        "conic CPU s": theirs,
        "times faster": theirs / own_values,
        "relative error": (result.objective - optimum) / optimum,
    }
    report("comparisons_conic", [row], out, "2 kernels, gap 1e-4; Clarabel through cvxpy")


def taxonomy(out: Path, quick: bool) -> None:
    """Digits in three views and five of noise, compared by a tree of their classes."""
    rng = np.random.default_rng(0)
    digits = hetviz.load("digit-views")
    label = digits.label("digit")
    assert label is not None
    classes = np.array([str(value) for value in label.values])
    everywhere = np.all(
        [part.find(list(digits["pixels"].ids)) >= 0 for part in digits.datasets.values()], axis=0
    )
    chosen = np.sort(
        np.concatenate(
            [
                rng.permutation(np.flatnonzero((classes == c) & everywhere))[:20]
                for c in sorted(set(classes))
            ]
        )
    )
    group = {digit: name for name, members in TAXONOMY.items() for digit in members}
    depth = np.array([[group[c], c] for c in classes[chosen]])
    ids = list(digits["pixels"].ids[chosen])
    parts = [
        Dataset(name, ids, np.asarray(digits[name].X)[digits[name].find(ids)], entity="digit")
        for name in digits.datasets
    ]
    for k in range(NOISE_VIEWS):
        X = rng.normal(size=(len(ids), 3))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        parts.append(Dataset(f"noise {k + 1}", ids, X, entity="digit"))
    real = [part.name for part in parts[:3]]
    noise = [part.name for part in parts[3:]]
    settings: list[tuple[str, dict[str, Any] | None]] = [("native, sum of all", None)]
    settings += [
        (f"single: {name}", {"weights": {other.name: 0.0 for other in parts if other.name != name}})
        for name in real
    ]
    settings += [("sum of all", {"combine": "sum"}), ("multiple kernels", {})]
    settings += [("multiple kernels, diagonal", {"diagonal": True})]
    result: dict[str, list[tuple[float, float, float]]] = {name: [] for name, _ in settings}
    for split in range(1 if quick else 3):
        retained = np.random.default_rng(split).permutation(len(ids))
        test, train = np.sort(retained[: len(ids) // 5]), np.sort(retained[len(ids) // 5 :])
        messages = tree_triplets(depth[train], 1_000 if quick else 4_000, split)
        asked = asked_of(depth, test, train, 4_000, split)
        old = HeteroData([part.subset(train) for part in parts], [], Comparisons(messages))
        new = HeteroData([part.subset(test) for part in parts])
        for name, params in settings:
            Y = np.full((len(ids), 20), 0.0)
            share = float("nan")
            if params is None:
                Y = np.hstack([scaled(np.asarray(part.X)) for part in parts])
                seconds = 0.0
            else:
                model = hetviz.get_method("mkpoe")(n_components=20, beta=100.0, **params)
                seconds, model = cpu_seconds(partial(model.fit, old), 1)
                Y[train] = model.embedding_.coordinates[real[0]]
                Y[test] = model.transform(new).coordinates[real[0]]
                share = sum(model.view_weights_.get(other, 0.0) for other in noise)
            result[name].append((comparison_accuracy(Y, asked), share, seconds))
    rows = [
        {
            "views": name,
            "kept, new objects": float(np.mean([value[0] for value in values])),
            "share of noise views": float(np.mean([value[1] for value in values])),
            "CPU s": float(np.mean([value[2] for value in values])),
        }
        for name, values in result.items()
    ]
    report("comparisons_taxonomy", rows, out, "200 digits, 3 views and 5 of noise, 20 axes")


def tree_triplets(depth: np.ndarray, m: int, seed: int) -> np.ndarray:
    """Draw comparisons of rows from their classes, coarse to fine."""
    import pandas as pd

    ids = [str(k) for k in range(len(depth))]
    table = pd.DataFrame(depth, columns=["group", "digit"])
    data = HeteroData([Dataset("d", ids, table=table)])
    return hetviz.comparisons_from_hierarchy(
        data, "d", ["group", "digit"], n_comparisons=m, random_state=seed
    ).objects


def asked_of(
    depth: np.ndarray, test: np.ndarray, train: np.ndarray, m: int, seed: int
) -> np.ndarray:
    """Draw comparisons of a new object with two old ones."""
    rng = np.random.default_rng(1_000 + seed)
    a, b, c = rng.choice(test, 20 * m), rng.choice(train, 20 * m), rng.choice(train, 20 * m)
    near, far = ((depth[a] == depth[other]).sum(axis=1) for other in (b, c))
    return np.column_stack([a, b, c])[near > far][:m]


def scaled(X: np.ndarray) -> np.ndarray:
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X)


def flipped(out: Path, quick: bool) -> None:
    """Comparisons some of which were turned round, with and without processing their graph."""
    n, m = 60, 2_000 if quick else 6_000
    kernels, C = hidden(n, 2 * m, seed=2)
    messages, asked = C[:m], C[m:]
    X = factor(kernels[1])
    rng = np.random.default_rng(0)
    rows = []
    for share in (0.0, 0.1, 0.2, 0.3):
        wrong = rng.random(m) < share
        statements = np.where(wrong[:, None], messages[:, [2, 3, 0, 1]], messages)
        part = HeteroData(
            [Dataset("d", [str(k) for k in range(n)], X)], [], Comparisons(statements)
        )
        row: dict[str, Any] = {"turned round": share}
        for key in ("gnmds", "mkpoe"):
            for order in ("process", "contradictions", "none"):
                model = hetviz.get_method(key)(order=order).fit(part)
                row[f"{key}, {order}"] = comparison_accuracy(model.embedding_.stacked(), asked)
                if order == "process":
                    counts = model_order(model).counts
        row |= {word: counts[word] for word in ("contradicted", "circular")}
        rows.append(row)
    note = f"{n} objects, {m} comparisons, 2 axes, share of as many others kept"
    report("comparisons_flipped", rows, out, note)


def losses(out: Path, quick: bool) -> None:
    """Both losses of `gnmds` and other programs on places of two and of six axes, drawn on two."""
    methods: list[tuple[str, Any]] = [("convex", {}), ("soft", {"loss": "soft"})]
    methods += [(name, None) for name in ("SOE", "TSTE", "GNMDS")] if has_cblearn() else []
    rows = []
    for n, axes, per_item, noise in PLANTED[:2] if quick else PLANTED:
        result: dict[str, list[float]] = {name: [] for name, _ in methods}
        for seed in range(1 if quick else 3):
            rng = np.random.default_rng([seed, n, axes])
            Z = rng.normal(size=(n, axes))
            T = rng.permuted(np.tile(np.arange(n), (per_item * n + 20_000, 1)), axis=1)[:, :3]
            near, far = (((Z[T[:, 0]] - Z[T[:, k]]) ** 2).sum(axis=1) for k in (1, 2))
            T = np.where((near > far)[:, None], T[:, [0, 2, 1]], T)
            train, test = T[:-20_000], T[-20_000:]
            turned = rng.random(len(train)) < noise
            train = np.where(turned[:, None], train[:, [0, 2, 1]], train)
            ids = [str(k) for k in range(n)]
            for name, params in methods:
                method = name if params is None else ([Dataset("d", ids)], "gnmds", params)
                Y = placed(method, train, Z, seed)
                result[name].append(comparison_accuracy(Y, test))
        row: dict[str, Any] = {"items": n, "axes": axes, "comparisons each": per_item}
        row["turned round"] = noise
        row |= {name: mean_and_error(values) for name, values in result.items()}
        rows.append(row)
    report("comparisons_losses", rows, out, "2 axes, share of 20,000 comparisons kept")


def mean_and_error(values: list[float]) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{np.mean(values):.3f} ± {error:.3f}"


def model_order(model: Any) -> Any:
    order = model.order_
    return next(iter(order.values())) if isinstance(order, dict) else order


def shoes(out: Path, quick: bool, data: Path) -> None:
    """Learning curve on the shoes, two axes, random splits, 20,000 triplets to judge by."""
    with np.load(data / "zappos_triplets" / "zappos.npz") as file:
        triplets, cnn = file["triplets"].astype(np.int64), file["cnn"]
    ids = [str(k) for k in range(len(cnn))]
    entry = [Dataset("cnn", ids, cnn)]
    views = [Dataset(f"cnn {kind}", ids, cnn, entity="shoe") for kind in ("cosine", "rbf")]
    kinds = {"cnn cosine": "cosine", "cnn rbf": "rbf"}
    methods: list[tuple[str, Any]] = [
        ("CNN distances alone", None),
        ("mkpoe, cosine", (entry, "mkpoe", {"features": "cosine"})),
        ("mkpoe, not moved", (entry, "mkpoe", {"features": "cosine", "polish": False})),
        ("mkpoe, cosine and rbf, cv", (views, "mkpoe", {"features": kinds, "beta": "cv"})),
        ("gnmds", (entry, "gnmds", {})),
        ("gnmds, soft", (entry, "gnmds", {"loss": "soft"})),
    ]
    methods += [(name, name) for name in ("SOE", "TSTE", "GNMDS")] if has_cblearn() else []
    sizes = (100, 1_000) if quick else (100, 200, 500, 1_000, 2_000, 5_000)
    rows = []
    for name, method in methods:
        row: dict[str, Any] = {"method": name}
        spent = []
        for m in sizes:
            retained = []
            for seed in range(1 if quick else 3):
                T = np.random.default_rng(seed).permutation(triplets)
                train, test = T[:m], T[-20_000:]
                seconds, Y = cpu_seconds(partial(placed, method, train, cnn, seed), 1)
                retained.append(comparison_accuracy(Y, test))
                spent.append(seconds)
            row[str(m)] = float(np.mean(retained))
        row["CPU s, most"] = max(spent)
        rows.append(row)
    report("comparisons_shoes", rows, out, "85 shoes, 2 axes, share of 20,000 triplets kept")


def materials(out: Path, quick: bool, data: Path) -> None:
    """Both losses of `gnmds` and other programs on the majority answers of people."""
    train, test = (
        np.array(json.loads((data / "materials" / f"{part}.json").read_text())["answers_diff"])
        for part in ("train", "test")
    )
    n = 1 + int(max(train.max(), test.max()))
    entry = [Dataset("materials", [str(k) for k in range(n)])]
    methods: list[tuple[str, Any]] = [
        (name, (entry, "gnmds", {"loss": name})) for name in ("convex", "soft")
    ]
    methods += [(name, name) for name in ("SOE", "GNMDS")] if has_cblearn() else []
    rows = []
    for m in (1_000,) if quick else (1_000, 5_000):
        row: dict[str, Any] = {"comparisons": m}
        for name, method in methods:
            kept = []
            for seed in range(1 if quick else 3):
                seen = np.random.default_rng(seed).permutation(train)[:m]
                kept.append(comparison_accuracy(placed(method, seen, np.zeros((n, 2)), seed), test))
            row[name] = mean_and_error(kept)
        rows.append(row)
    report("comparisons_materials", rows, out, f"{n} materials, 2 axes, share of {len(test)} kept")


def has_cblearn() -> bool:
    return importlib.util.find_spec("cblearn") is not None


def placed(method: Any, train: np.ndarray, cnn: np.ndarray, seed: int) -> np.ndarray:
    """Place the shoes; those in no comparison in the middle."""
    if method is None:
        return np.asarray(cnn, dtype=np.float64)
    if isinstance(method, str):
        from cblearn import embedding

        n = int(train.max()) + 1
        options = {"n_components": 2, "random_state": seed}
        Y = getattr(embedding, method)(**options).fit_transform(train, n_objects=len(cnn))
        return np.asarray(Y) if len(Y) == len(cnn) else np.vstack([Y, np.zeros((len(cnn) - n, 2))])
    datasets, key, params = method
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = hetviz.get_method(key)(**params).fit(HeteroData(datasets, [], Comparisons(train)))
    return np.nan_to_num(model.embedding_.coordinates[datasets[0].name])
