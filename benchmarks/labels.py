"""Labels from several sources: boosting consensus and transfer, against baselines.

With ``--data DIR``: `mfeat/mfeat.npz` (as for the benchmark `coca`), `terror_attack/` (same), and
`citeseer/citeseer.npz` (LINQS CiteSeer: words `X`, classes `y`, citations). Without it only the
samples digits, digit-views and world are used. Errors are means over random splits, with the
standard error of the mean; lambdas and trees are the defaults throughout, but where it says "cv".
The defaults of lam0 and sharpness were chosen on mfeat with 10 % of the labels and 30 % of the rows
missing, on three seeds (100 to 102) that are not among those measured.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC

import hetviz
from benchmarks.coca import ENTITY, mfeat, terror, with_noise
from benchmarks.harness import report
from hetviz import Dataset, HeteroData, Labels, Links
from hetviz.core.prediction.gbc import GbcModel, GbcSettings, choose_settings, fit_gbc
from hetviz.features.problems.label_problems import LabelProblem, label_problem
from hetviz.progress import ignore_progress
from hetviz.runs.predict.label_scores import baselines, error_of, joined_source, split_labels

DATA = "may"
BASE = GbcSettings()
Rows = list[dict[str, Any]]


def run(out: Path, quick: bool, data: Path | None) -> None:
    """Run all parts; each writes a file of its own."""
    seeds = 2 if quick else 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base = replace(BASE, n_rounds=30) if quick else BASE
        collections: dict[str, Callable[[], HeteroData]] = {
            "digit-views": lambda: hetviz.load("digit-views")
        }
        if data is not None:
            collections = {"mfeat": lambda: mfeat(data)}
        note = f"error, mean and standard error of {seeds} seeds, {base.n_rounds} rounds"
        for name, make in collections.items():
            created = make()
            shares = (0.1, 0.5) if quick else (0.1, 0.3, 0.5, 0.7, 0.9)
            report("labels-share", list(by_share(name, created, shares, seeds, base)), out, note)
            report("labels-terms", list(terms(name, created, seeds, base)), out, note)
            report("labels-sources", list(source_counts(name, created, seeds, base)), out, note)
        if data is not None:
            noisy = list(weights("terror_attack", terror(data), seeds, base))
            if (data / "citeseer").exists():
                noisy += list(weights("citeseer", citeseer(data), min(seeds, 3), base))
            report("labels-weights", noisy, out, note)
        report("labels-world", list(regression(seeds)), out, "root mean square error, years")
        report("labels-transfer", list(transfer(seeds)), out, "error on held-out labels")


def by_share(
    name: str, data: HeteroData, shares: Sequence[float], seeds: int, base: GbcSettings
) -> Iterator[dict[str, Any]]:
    """Yield errors by share of labels, rows complete or not."""
    for missing in (0.0, 0.3):
        for share in shares:
            errors: dict[str, list[float]] = {}
            ratios = []
            for seed in range(seeds):
                result, ratio = one_split(data, missing, share, seed, base)
                ratios.append(ratio)
                for title, error in result.items():
                    keep(errors, title, error)
            yield (
                {"data": name, "rows missing": missing, "labels": share}
                | told(errors)
                | {"time ratio": float(np.median(ratios))}
            )


def one_split(
    data: HeteroData, missing: float, share: float, seed: int, base: GbcSettings
) -> tuple[dict[str, float], float]:
    """Return errors by model of one split, and the cost of the consensus by that of the vote."""
    problem, seen, hidden = made(without_rows(data, missing, seed), share, seed)
    fitted, seconds = timed(lambda: fit(problem, seen, replace(base, lam1=0.0)))
    errors = {"gbc": wrong(problem, fitted.joint, hidden)}
    if problem.graphs:
        errors["gbc with links"] = wrong(problem, fit(problem, seen, base).joint, hidden)
    start, ratio = time.process_time(), np.nan
    alone: list[float] = []
    for title, margin, here in baselines(problem, seen, base):
        if title.endswith("alone"):
            rows = hidden[here[hidden]]
            alone.append(wrong(problem, margin, rows))
            continue
        errors[title] = wrong(problem, margin, hidden)
        if title == "vote":
            ratio = seconds / (time.process_time() - start)
    return errors | {"best alone": min(alone)} | dict(svm(problem, seen, hidden)), ratio


def terms(
    name: str,
    data: HeteroData,
    seeds: int,
    base: GbcSettings,
    *,
    gaps: Sequence[float] = (0.0, 0.3),
    shares: Sequence[float] = (0.1, 0.3),
    n_cv: int = 2,
) -> Iterator[dict[str, Any]]:
    """Yield errors with and without each coupling term; for `n_cv` seeds also cross-validated."""
    for missing in gaps:
        for share in shares:
            errors: dict[str, list[float]] = {}
            for seed in range(seeds):
                graphed = with_neighbours(without_rows(data, missing, seed))
                problem, seen, hidden = made(graphed, share, seed)
                for lam0, lam1, title in (
                    (0.0, 0.0, "neither"),
                    (base.lam0, 0.0, "consensus"),
                    (0.0, base.lam1, "links"),
                    (base.lam0, base.lam1, "both"),
                ):
                    settings = replace(base, lam0=lam0, lam1=lam1)
                    keep(errors, title, wrong(problem, fit(problem, seen, settings).joint, hidden))
                timid = replace(base, lam1=0.0, sharpness=1.0)
                keep(errors, "sharpness 1", wrong(problem, fit(problem, seen, timid).joint, hidden))
                paper = replace(base, consensus="paper", weights="training", normalize=False)
                paper = replace(paper, lam0=0.1, lam1=0.1, alone=0)
                keep(errors, "thesis, 0.1", wrong(problem, fit(problem, seen, paper).joint, hidden))
                exact = replace(base, connectivity="exact")
                keep(errors, "both, exact", wrong(problem, fit(problem, seen, exact).joint, hidden))
                if seed < n_cv:
                    graphs = list(problem.graphs.values())
                    Y, subset = (
                        problem.targets(seen),
                        replace(base, n_rounds=min(50, base.n_rounds)),
                    )
                    by_cv = choose_settings(
                        problem.parts,
                        graphs,
                        Y,
                        "classes",
                        subset,
                        ["lam0", "lam1"],
                        ignore_progress,
                    )
                    by_cv = replace(by_cv, n_rounds=base.n_rounds)
                    keep(errors, "cv", wrong(problem, fit(problem, seen, by_cv).joint, hidden))
                    keep(errors, "lam0 by cv", by_cv.lam0)
                    keep(errors, "lam1 by cv", by_cv.lam1)
            yield {"data": name, "rows missing": missing, "labels": share} | told(errors)


def source_counts(
    name: str, data: HeteroData, seeds: int, base: GbcSettings
) -> Iterator[dict[str, Any]]:
    """Yield errors with one, two, four and all sources, 30 % of the rows missing in each."""
    views = list(data.datasets)
    for count in sorted({1, 2, 4, len(views)}):
        if count > len(views):
            continue
        errors: dict[str, list[float]] = {}
        for seed in range(seeds):
            chosen_views = np.random.default_rng(seed).permutation(views)[:count].tolist()
            problem, seen, hidden = made(without_rows(data, 0.3, seed), 0.3, seed, chosen_views)
            settings = replace(base, lam1=0.0)
            keep(errors, "gbc", wrong(problem, fit(problem, seen, settings).joint, hidden))
            for title, margin, _ in baselines(problem, seen, base):
                if title in ("vote", "joined features"):
                    keep(errors, title, wrong(problem, margin, hidden))
        yield {"data": name, "sources": count} | {
            title: told(errors).get(title, "-") for title in ("gbc", "vote", "joined features")
        }


def weights(name: str, data: HeteroData, seeds: int, base: GbcSettings) -> Iterator[dict[str, Any]]:
    """Yield errors and weights with sources of noise, learned against equal weights."""
    for noise in (0, 2, 5):
        noisy = with_noise(data, noise)
        errors: dict[str, list[float]] = {}
        for seed in range(seeds):
            problem, seen, hidden = made(noisy, 0.3, seed)
            for method in ("holdout", "training", "equal"):
                fitted = fit(problem, seen, replace(base, weights=method, lam1=0.0))
                keep(errors, method, wrong(problem, fitted.joint, hidden))
                share = sum(
                    float(w)
                    for w, part in zip(fitted.weights[-1], problem.names, strict=True)
                    if part.startswith("noise")
                )
                keep(errors, f"noise weight, {method}", share)
            linked = fit(problem, seen, base)
            keep(errors, "holdout with links", wrong(problem, linked.joint, hidden))
            for title, margin, _ in baselines(problem, seen, base):
                if title in ("joined features", "guess"):
                    keep(errors, title, wrong(problem, margin, hidden))
        yield {"data": name, "noise": noise} | told(errors)


def regression(seeds: int) -> Iterator[dict[str, Any]]:
    """Yield errors of life expectancy in the sample world, one source, and two halves of it."""
    world = hetviz.load("world")
    whole = world["countries"]
    names = whole.feature_names or ()
    halves = [
        replace(
            whole,
            name=f"countries {half}",
            entity="countries",
            X=np.asarray(whole.X)[:, half::2],
            feature_names=names[half::2],
            recipe=None,
        )
        for half in (0, 1)
    ]
    borders = [
        Links(halves[0].name, halves[0].name, group.i, group.j, group.weight, kind=group.kind)
        for group in world.links
        if group.source == group.target == "countries"
    ]
    for title, data, dataset in (
        ("as it is", world, "countries"),
        ("two halves", HeteroData(halves, borders), halves[0].name),
    ):
        for key, params in (("gbc", {"lam1": 0.0}), ("gbc with links", {})):
            result = hetviz.predict_labels(
                data, dataset, "life_expectancy", repeats=seeds, **params
            )
            for _, row in result.held_out.iterrows():
                if key == "gbc" or row["model"] == "gbc":
                    yield {
                        "sources": title,
                        "model": key if row["model"] == "gbc" else row["model"],
                        "error": f"{row['error']:.2f} ({row['standard_error']:.2f})",
                    }


def transfer(seeds: int) -> Iterator[dict[str, Any]]:
    """Yield what HeMap transfers from one view of digits to another, and from unrelated data."""
    digits = hetviz.load("digits").edit().drop("shape")
    unlinked = HeteroData(digits.datasets, [], None, digits.labels)
    heavy = np.random.default_rng(0).standard_t(1.0, size=(700, 40))
    codes = np.random.default_rng(1).integers(0, 10, 700).astype(str)
    stranger = Dataset("stranger", [f"s{row}" for row in range(700)], heavy)
    strange = HeteroData(
        [digits["pixels"], stranger],
        [],
        None,
        [digits.labels[0], Labels("stranger", "code", codes)],
    )
    for title, data, source, pairing in (
        ("linked", digits, ("fourier", "digit"), "links"),
        ("not linked, equal labels", unlinked, ("fourier", "digit"), "labels"),
        ("not linked, at random", unlinked, ("fourier", "digit"), "random"),
        ("unrelated", strange, ("stranger", "code"), "random"),
    ):
        for share in (0.02, 0.05, 0.2, 0.8):
            result = hetviz.predict_labels(
                data,
                "pixels",
                "digit",
                method="hemap",
                source=source,
                pairing=pairing,
                training_share=share,
                repeats=seeds,
            )
            errors = {
                row["model"]: f"{row['error']:.3f} ({row['standard_error']:.3f})"
                for _, row in result.held_out.iterrows()
            }
            models = ("hemap", "10 nearest of its own", "ridge on its own features")
            yield {
                "pairs": title,
                "labels": share,
                "decision": result.decision,
                "share of source": result.figures["share_of_source"],
            } | {model: errors.get(model, "-") for model in models}


def made(
    data: HeteroData, share: float, seed: int, sources: Sequence[str] | None = None
) -> tuple[LabelProblem, np.ndarray, np.ndarray]:
    """Return the problem, the labels shown, and the items to judge by."""
    label = data.labels[0]
    problem = label_problem(data, label.dataset, label.name, sources=sources)
    usable = np.flatnonzero(np.isfinite(problem.y))
    displayed, hidden = split_labels(problem.y, usable, share, problem.column.task, seed)
    seen = np.full(len(problem.y), np.nan)
    seen[displayed] = problem.y[displayed]
    return problem, seen, hidden


def fit(problem: LabelProblem, y: np.ndarray, settings: GbcSettings) -> GbcModel:
    """Fit the consensus to the labels shown."""
    graphs = list(problem.graphs.values())
    return fit_gbc(problem.parts, graphs, problem.targets(y), problem.column.task, settings)


def svm(problem: LabelProblem, seen: np.ndarray, hidden: np.ndarray) -> Iterator[tuple[str, float]]:
    """Yield errors of support vectors on the joined features, plain and self-trained."""
    X = joined_source(problem.parts, len(seen)).X
    rows = np.flatnonzero(np.isfinite(seen))
    first = [MaxAbsScaler()] if sp.issparse(X) else [SimpleImputer(), StandardScaler()]
    codes = np.where(np.isfinite(seen), np.nan_to_num(seen), -1).astype(int)
    Z = make_pipeline(*first).fit(X[rows]).transform(X)
    plain = SVC(probability=True, random_state=0)
    plain.fit(Z[rows], codes[rows])
    yield "svm", float((plain.predict(Z[hidden]) != problem.y[hidden]).mean())
    taught = SelfTrainingClassifier(SVC(probability=True, random_state=0), max_iter=4)
    taught.fit(Z, codes)
    yield "self-trained svm", float((taught.predict(Z[hidden]) != problem.y[hidden]).mean())


def without_rows(data: HeteroData, missing: float, seed: int) -> HeteroData:
    """Take a share of the rows out of each view; the view with the labels has them without X."""
    if not missing:
        return data
    rng = np.random.default_rng(1000 + seed)
    label = data.labels[0]
    entity = data[label.dataset].entity
    parts: list[Dataset] = [Dataset("items", data[label.dataset].ids, entity=entity)]
    for name, part in data.datasets.items():
        rows = np.flatnonzero(rng.random(len(part)) >= missing)
        parts.append(part.subset(rows) if name in data.views(entity) else part)
    return HeteroData(parts, [], None, [Labels("items", label.name, label.values)])


def with_neighbours(data: HeteroData) -> HeteroData:
    """Link each item with its five nearest in view `mor` (else the last), which is then left out.

    As one graph, and as a second one in which a third of the features are noise.
    """
    from sklearn.neighbors import kneighbors_graph

    names = [name for name, part in data.datasets.items() if not part.is_featureless]
    view = "mor" if "mor" in names else names[-1]
    part = data[view]
    X = StandardScaler().fit_transform(np.asarray(part.X))
    noise = np.random.default_rng(0).normal(size=(len(X), max(X.shape[1] // 2, 1)))
    links = []
    bare = replace(part, X=None, feature_names=None, recipe=None)
    for kind, Z in (("near", X), ("near, noisy", np.hstack([X, noise]))):
        A = kneighbors_graph(Z, 5).tocoo()
        links.append(Links(view, view, A.row, A.col, kind=kind, role="relation"))
    parts = [bare if name == view else other for name, other in data.datasets.items()]
    return HeteroData(parts, links, None, data.labels)


def citeseer(folder: Path) -> HeteroData:
    """Words of 3,312 papers in five random parts, and who cites whom."""
    with np.load(folder / "citeseer" / "citeseer.npz", allow_pickle=False) as file:
        indices = file["bow_indices"].astype(np.int64)
        X = sp.csr_array((np.ones(len(indices)), indices, file["bow_indptr"]), shape=file["shape"])
        edges, y = file["edges"].astype(np.int64), file["y"].astype(str)
    ids = [str(row) for row in range(X.shape[0])]
    order = np.random.default_rng(0).permutation(X.shape[1])
    parts = [
        Dataset(f"words{number}", ids, X[:, np.sort(columns)], entity=ENTITY)
        for number, columns in enumerate(np.array_split(order, 5))
    ]
    edges = edges[edges[:, 0] != edges[:, 1]]
    cites = Links("words0", "words0", edges[:, 0], edges[:, 1], kind="cites", role="relation")
    return HeteroData(parts, [cites], None, [Labels("words0", "class", y)])


def wrong(problem: LabelProblem, margin: np.ndarray, rows: np.ndarray) -> float:
    """Return the error on some items."""
    return error_of(problem.column.task, margin[rows], problem.y[rows])


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and its CPU seconds."""
    start = time.process_time()
    return work(), time.process_time() - start


def keep(errors: dict[str, list[float]], title: str, value: float) -> None:
    """Note a figure of one seed."""
    errors.setdefault(title, []).append(value)


def told(errors: dict[str, list[float]]) -> dict[str, str]:
    """Return mean and standard error as text."""
    return {
        title: f"{np.mean(values):.3f} ({np.std(values, ddof=1) / np.sqrt(len(values)):.3f})"
        if len(values) > 1
        else f"{values[0]:.3f}"
        for title, values in errors.items()
    }
