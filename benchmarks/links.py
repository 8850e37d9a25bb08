"""Link prediction methods against the authors' numbers, plain loops, and each other.

Needs ``--data DIR`` with `yamanishi_nr/`: the drugs and nuclear receptors of Yamanishi et al. 2008
(`interactions.tsv`, `drug_similarity.tsv`, `target_similarity.tsv`) and `mkpe_reference.npz`, the
start and the loss after every move of runs of the MKPE authors' own program.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

import hetviz
from benchmarks.harness import cpu_seconds, report
from hetviz.algorithms.kbmf2k import KBMF2K
from hetviz.algorithms.mkpe import MKPE
from hetviz.core.kernels.mkpe import Descent, Domain, ScoreBlock, fit_mkpe, score_block
from hetviz.core.kernels.regression import Design
from hetviz.core.prediction.kbmf2k import DomainLinks as Signs
from hetviz.core.prediction.kbmf2k import Factorisation, infer
from hetviz.core.spectral.stiefel import random_frame, retract, steepest_descent
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import DataWarning

Floats = np.ndarray[Any, np.dtype[np.float64]]
LINK = 0.9
SWEEPS = 100

DATA = "needs"


def run(out: Path, quick: bool, data: Path) -> None:
    """Run every part."""
    Y, K, L = receptors(data)
    report("links_reference", reference(Y, K, L, data), out, "MKPE from the authors' own starts")
    report("links_starts", starts(Y, K, L), out, "MKPE, final loss of 25 random starts, 2 axes")
    rows = unseen(Y, K, L, 1 if quick else 10, (5, 25) if quick else (5, 10, 15, 20, 25))
    report("links_unseen", rows, out, "AUC of unseen drugs, mean over folds of 10-fold splits")
    report("links_speed", speed(quick), out, "CPU seconds on one thread")
    if not quick:
        report("links_samples", samples(), out, "a fifth of the links held out")


def receptors(data: Path) -> tuple[Floats, Floats, Floats]:
    """Return interactions (54, 26) and the two similarities."""
    names = ("interactions", "drug_similarity", "target_similarity")
    Y, K, L = (
        pd.read_csv(data / "yamanishi_nr" / f"{name}.tsv", sep="\t", index_col=0).to_numpy(float)
        for name in names
    )
    return Y, (K + K.T) / 2, (L + L.T) / 2


def blocks_of(Y: Floats, K: Floats, L: Floats, zeros: bool = False) -> list[ScoreBlock]:
    """Return the scores of the paper: 0.9 for an interaction, else unknown (or 0)."""
    i, j = np.indices(Y.shape).reshape(2, -1) if zeros else np.nonzero(Y)
    across = score_block(0, 1, Y.shape, i, j, LINK * Y[i, j], 1.0)
    within = []
    for d, S in enumerate((K, L)):
        i, j = np.indices(S.shape).reshape(2, -1)
        within.append(score_block(d, d, S.shape, i, j, S.ravel(), 0.1))
    return [across, *within]


def reference(Y: Floats, K: Floats, L: Floats, data: Path) -> list[dict[str, Any]]:
    """Compare the loss of the first ten sweeps, three moves each, with the authors'."""
    rows = []
    blocks = blocks_of(Y, K, L)
    with np.load(data / "yamanishi_nr" / "mkpe_reference.npz") as file:
        for name in sorted({key.rsplit("_", 1)[0] for key in file.files}):
            inputs = (K, L) if f"{name}_Qx0" in file.files else (None, None)
            letter = "E" if inputs[0] is None else "Q"
            frames = [file[f"{name}_{letter}{side}0"] for side in "xz"]
            domains = [Domain(len(S), X) for S, X in zip((K, L), inputs, strict=True)]
            descent = Descent(domains, blocks, frames, float(np.sqrt(frames[0].shape[1])))
            for _ in range(SWEEPS):
                descent.sweep()
            theirs = file[f"{name}_obj"][:, 0]
            away = np.abs(np.array(descent.state.trace) - theirs) / theirs
            rows.append(
                {
                    "start": name,
                    "most away in 10 sweeps": float(away[:31].max()),
                    "in 100 sweeps": float(away.max()),
                    "final": descent.loss,
                    "final of authors": float(theirs[-1]),
                }
            )
    return rows


def starts(Y: Floats, K: Floats, L: Floats) -> list[dict[str, Any]]:
    """Return the spread of final losses, by first width."""
    rows = []
    for name, sigma0 in (("automatic", None), ("paper", float(np.sqrt(2)))):
        domains = [Domain(len(K)), Domain(len(L))]
        rng = np.random.default_rng(0)
        seconds, result = cpu_seconds(
            lambda domains=domains, rng=rng, sigma0=sigma0: fit_mkpe(
                domains, blocks_of(Y, K, L), 2, rng, sigma0=sigma0, n_iter=SWEEPS, n_init=25
            ),
            1,
        )
        quarter, median, three = np.quantile(result.finals, (0.25, 0.5, 0.75))
        rows.append(
            {
                "first width": name,
                "median": float(median),
                "quartiles": f"{quarter:.4f} {three:.4f}",
                "best": min(result.finals),
                "CPU s": seconds,
            }
        )
    return rows


def unseen(
    Y: Floats, K: Floats, L: Floats, repeats: int, ranks: tuple[int, ...]
) -> list[dict[str, Any]]:
    """Predict the targets of drugs that no method saw."""
    rows = []
    for r in ranks:
        result: dict[str, list[float]] = {}
        for repeat in range(repeats):
            order = np.random.default_rng(repeat).permutation(len(Y))
            for fold in np.array_split(order, 10):
                train = np.setdiff1d(np.arange(len(Y)), fold)
                truth = Y[fold].ravel()
                scores = {
                    "MKPE": by_mkpe(Y, K, L, train, fold, r, repeat),
                    "MKPE, 0 for unknown": by_mkpe(Y, K, L, train, fold, r, repeat, zeros=True),
                    "KBMF2K": by_kbmf2k(Y, K, L, train, fold, r, repeat),
                    "nearest profile": Y[train][K[np.ix_(fold, train)].argmax(axis=1)],
                    "mean profile": K[np.ix_(fold, train)] @ Y[train],
                }
                for name, S in scores.items():
                    result.setdefault(name, []).append(float(roc_auc_score(truth, S.ravel())))
        rows.append({"axes": r, **{name: float(np.mean(auc)) for name, auc in result.items()}})
    return rows


def by_mkpe(
    Y: Floats,
    K: Floats,
    L: Floats,
    train: Any,
    fold: Any,
    r: int,
    seed: int,
    zeros: bool = False,
) -> Floats:
    """Return scores of unseen drugs: the kernel between their places and the targets'."""
    model = MKPE(
        n_components=r,
        variant="parametric",
        within_weight=0.1,
        n_iter=SWEEPS,
        n_init=1,
        random_state=seed,
    )
    return of_unseen(model, Y, K, L, train, fold, zeros)


def by_kbmf2k(Y: Floats, K: Floats, L: Floats, train: Any, fold: Any, r: int, seed: int) -> Floats:
    """Return probabilities of the links of unseen drugs."""
    return of_unseen(KBMF2K(n_components=r, random_state=seed), Y, K, L, train, fold)


def of_unseen(
    model: MKPE | KBMF2K,
    Y: Floats,
    K: Floats,
    L: Floats,
    train: Any,
    fold: Any,
    complete: bool = False,
) -> Floats:
    """Fit a method to some of the drugs, and return its scores of the others."""
    ids = np.array([f"drug {row}" for row in range(len(K))])
    i, j = np.nonzero(Y[train])
    data = HeteroData(
        [
            Dataset("drugs", ids[train], kernel=K[np.ix_(train, train)]),
            Dataset("targets", [f"target {row}" for row in range(len(L))], kernel=L),
        ],
        [Links("drugs", "targets", i, j, complete=complete)],
    )
    model.fit(data)
    new = Dataset("drugs", ids[fold], kernel=K[np.ix_(fold, train)])
    places = model.transform(new).coordinates["drugs"]
    present = model.embedding_.coordinates["targets"]
    return model.link_scores(new, data["targets"], places, present)


def speed(quick: bool) -> list[dict[str, Any]]:
    """Time both methods beside plain loops at the size of the GPCR network, and MKPE larger."""
    rng = np.random.default_rng(0)
    Y, K, L = made(223, 95, 635, rng)
    frames = [random_frame(223, 2, rng), random_frame(95, 2, rng)]
    sigma = float(np.sqrt(2))
    blocks = blocks_of(Y, K, L)

    def mkpe() -> Descent:
        descent = Descent([Domain(223), Domain(95)], blocks, frames, sigma)
        for _ in range(SWEEPS):
            descent.sweep()
        return descent

    mkpe()
    mine, descent = cpu_seconds(mkpe)
    plain, theirs = cpu_seconds(lambda: plain_mkpe(Y, K, L, frames, sigma), 1)
    rows = [
        {
            "method": "MKPE 223 x 95, 100 sweeps",
            "hetviz": mine,
            "plain": plain,
            "faster": plain / mine,
            "difference of results": abs(descent.loss - theirs) / theirs,
        }
    ]
    signs = np.where(Y > 0, 1.0, -1.0)

    def kbmf2k() -> Factorisation:
        start = np.random.default_rng(0)
        model = Factorisation([Design(K, 223), Design(L, 95)], [Signs(0, 1, signs)], 10, start)
        infer(model, 200, tol=-1.0)
        return model

    mine, model = cpu_seconds(kbmf2k, 1)
    plain, scores = cpu_seconds(lambda: plain_kbmf2k(signs, K, L, 10), 1)
    away = np.abs(model.projections(0) @ model.projections(1).T - scores).max()
    rows.append(
        {
            "method": "KBMF2K 223 x 95, R = 10, 200 sweeps",
            "hetviz": mine,
            "plain": plain,
            "faster": plain / mine,
            "difference of results": float(away / np.abs(scores).max()),
        }
    )
    if not quick:
        Y, K, L = made(1000, 800, 54_000, rng)
        large = blocks_of(Y, K, L)
        frames = [random_frame(1000, 2, rng), random_frame(800, 2, rng)]

        def many() -> None:
            descent = Descent([Domain(1000), Domain(800)], large, frames, sigma)
            for _ in range(SWEEPS):
                descent.sweep()

        taken, _ = cpu_seconds(many, 1)
        nothing = float("nan")
        rows.append(
            {
                "method": "MKPE 1000 x 800, 54,000 links, 100 sweeps",
                "hetviz": taken,
                "plain": nothing,
                "faster": nothing,
                "difference of results": nothing,
            }
        )
    return rows


def made(n: int, m: int, links: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Return links that near pairs of hidden places have, and similarities by these places."""
    X, Z = rng.normal(size=(n, 4)), rng.normal(size=(m, 4))

    def near(A: Floats, B: Floats) -> Floats:
        return np.asarray(np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2)))

    S = near(X, Z) + 0.05 * rng.random((n, m))
    return (np.sort(S, axis=None)[-links] <= S).astype(float), near(X, X), near(Z, Z)


def plain_mkpe(Y: Floats, K: Floats, L: Floats, frames: list[Floats], sigma: float) -> float:
    """Do the same descent the plain way: whole tables, all of them at every trial."""
    tables = [(0, 1, np.where(Y > 0, LINK, np.nan), 1.0), (0, 0, K, 0.1), (1, 1, L, 0.1)]
    masks = [np.isfinite(S) for _, _, S, _ in tables]
    tables = [(d, e, np.nan_to_num(S), w) for d, e, S, w in tables]

    def squared(E: Floats, F: Floats) -> Floats:
        return (E**2).sum(axis=1)[:, None] + (F**2).sum(axis=1)[None] - 2.0 * E @ F.T

    def loss(E: list[Floats], eta: float) -> float:
        total = 0.0
        for (d, e, S, weight), mask in zip(tables, masks, strict=True):
            k = np.exp(-squared(E[d], E[e]) * np.exp(-2 * eta))
            total += weight / mask.sum() * float((mask * (k - S) ** 2).sum())
        return total

    def slopes(E: list[Floats], eta: float, which: int | None) -> Any:
        inverse, total, slope = np.exp(-2 * eta), np.zeros_like(E[which or 0]), 0.0
        for (d, e, S, weight), mask in zip(tables, masks, strict=True):
            D = squared(E[d], E[e])
            k = np.exp(-D * inverse)
            T = 2.0 * weight / mask.sum() * k * (k - S) * mask
            slope += 2.0 * inverse * float((T * D).sum())
            for end, other, M in ((d, e, T), (e, d, T.T)):
                if end == which:
                    total -= 2.0 * inverse * (M.sum(axis=1)[:, None] * E[end] - M @ E[other])
        return slope if which is None else total

    def moved(at: tuple[list[Floats], float], d: int, way: Any, step: float) -> Any:
        E, eta = at
        if d == 2:
            return E, eta + step * way
        return [retract(Q + step * way) if n == d else Q for n, Q in enumerate(E)], eta

    at, steps = ([Q.copy() for Q in frames], float(np.log(sigma))), [1.0, 1.0, 1.0]
    for _ in range(SWEEPS):
        for d in range(3):
            if d == 2:
                way = -slopes(*at, None)
                nu = way**2
            else:
                way, nu = steepest_descent(at[0][d], slopes(*at, d))
            now, step = loss(*at), steps[d]
            while now - loss(*moved(at, d, way, 2 * step)) >= step * nu:
                step *= 2
            while now - loss(*moved(at, d, way, step)) < 0.5 * step * nu and step > 1e-14:
                step /= 2
            steps[d] = step
            if step > 1e-14:
                at = moved(at, d, way, step)
    return loss(*at)


def plain_kbmf2k(Y: Floats, K: Floats, L: Floats, r: int) -> Floats:
    """Do the same inference the plain way: an inverse for every component and domain."""
    start = np.random.default_rng(0)
    kernels = (K, L)
    drawn = [start.standard_normal((2, len(S), r)) for S in kernels]
    A, G = [part[0] for part in drawn], [part[1] for part in drawn]
    variance = [np.ones((len(S), r)) for S in kernels]
    cov = [np.eye(r), np.eye(r)]
    F = Y * (np.abs(start.standard_normal(Y.shape)) + 1.0)
    for _ in range(200):
        for d, S in enumerate(kernels):
            precision = 1.5 / (1.0 + 0.5 * (A[d] ** 2 + variance[d]))
            for c in range(r):
                inverse = np.linalg.inv(np.diag(precision[:, c]) + S.T @ S / 0.01)
                A[d][:, c] = inverse @ (S.T @ G[d][:, c]) / 0.01
                variance[d][:, c] = inverse.diagonal()
            other = 1 - d
            moments = G[other].T @ G[other] + len(G[other]) * cov[other]
            cov[d] = np.linalg.inv(np.eye(r) / 0.01 + moments)
            G[d] = (S @ A[d] / 0.01 + (F if d == 0 else F.T) @ G[other]) @ cov[d]
        m = G[0] @ G[1].T
        z = Y * m - 1.0
        F = m + Y * np.exp(norm.logpdf(z) - norm.logcdf(z))
    return K @ A[0] @ (L @ A[1]).T


def samples() -> list[dict[str, Any]]:
    """Compare the methods on two samples."""
    rows = []
    trials: list[tuple[str, str, dict[str, Any]]] = [("MR-SNE", "mr-sne", {})]
    trials += [("MKPE", "mkpe", {}), ("CODE", "code", {})]
    trials += [(f"KBMF2K, {k} axes", "kbmf2k", {"n_components": k}) for k in (2, 15)]
    trials += [
        (f"PMvGE {within}, {k} axes", "pmvge", {"within": within, "n_components": k})
        for within in ("ignored", "second_order", "sn_graph")
        for k in (2, 100)
    ]
    for sample in ("emoji", "debian"):
        whole = hetviz.load(sample)
        train, content = whole.holdout()
        for title, key, parameters in trials:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                model = hetviz.get_method(key)(**parameters)
                seconds, _ = cpu_seconds(lambda model=model, train=train: model.fit(train), 1)
            result = hetviz.evaluate(whole, model.embedding_, content).to_dict()
            row: dict[str, Any] = {"sample": sample, "method": title}
            row |= {name: result[name] for name in ("link_auc", "link_auc_held_out")}
            row["own score, held out"] = own_auc(model, whole, train, content)
            row |= {"trustworthiness": result["trustworthiness"], "CPU s": seconds}
            rows.append(row)
    return rows


def own_auc(model: Any, whole: Any, train: Any, content: Any) -> float:
    """Return the AUC of a method's own scores: held-out links among pairs without any link."""
    if not hasattr(model, "link_scores"):
        return float("nan")
    total, count = 0.0, 0
    for group in content.links:
        if group.within or not (group.weight > 0).any():
            continue
        source, target = train[group.source], train[group.target]
        Y, Z = (model.embedding_.coordinates[name] for name in (group.source, group.target))
        S = model.link_scores(source, target, np.nan_to_num(Y), np.nan_to_num(Z))
        blank = np.ones(S.shape, dtype=bool)
        for links in whole.links:
            if (links.source, links.target) == (group.source, group.target):
                blank[links.i, links.j] = False
        scores = np.concatenate([S[group.i, group.j], S[blank]])
        truth = np.arange(len(scores)) < len(group)
        total, count = total + len(group) * float(roc_auc_score(truth, scores)), count + len(group)
    return total / count
