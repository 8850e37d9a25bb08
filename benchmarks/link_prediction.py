"""Hidden links and items without links: the default predictor against simple rivals.

The settings of the predictor were chosen on the data of `CHOSEN_ON`, and reported on those of
`REPORTED_ON`. ``--data DIR`` holds the folders of `benchmarks.joint_data`, and ``DIR/unseen`` the
files that `UNSEEN` reads.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.metrics import average_precision_score, roc_auc_score

import hetviz
from benchmarks.harness import report
from benchmarks.joint_data import FROM_FOLDER, LOADERS
from hetviz import Dataset, HeteroData, Links
from hetviz.core.prediction.link_ridge import KroneckerRidge, Spectrum, profile_kernel
from hetviz.features.problems.profiles import NearestProfiles
from hetviz.runs.predict.held_out_links import without_items
from hetviz.runs.predict.link_fitting import signed_links, similarity_kernel

Floats = np.ndarray[Any, np.dtype[np.float64]]
DATA = "needs"
REPORTED_ON = ("gpcr", "ion channels", "enzymes", "drugs and diseases", "films", "listeners")
CHOSEN_ON = (
    ("yamanishi_nr", "drugs", "targets"),
    ("debian", "programs", "tags"),
    ("debian", "programs", "libraries"),
    ("world", "countries", "languages"),
    ("world", "films", "countries"),
    ("emoji", "emoji", "keywords"),
    ("citeseer", "papers", "papers"),
)
MOST_ROWS = 600
EASE_PENALTIES = (1.0, 10.0, 50.0, 200.0, 500.0)
ALS_FACTORS, ALS_PENALTIES, ALS_CONFIDENCE, ALS_ROUNDS = (16, 64), (1.0, 10.0), 40.0, 10


def run(out: Path, quick: bool, data: Path) -> None:
    """Hide a fifth of the links, or all links of a fifth of the items, and rank the other pairs."""
    cases: list[tuple[str, Callable[[], HeteroData], str, str]] = []
    for name, source, target in CHOSEN_ON[:2] if quick else CHOSEN_ON:
        cases.append((name, lambda name=name: _joint_data(name, data), source, target))
    for name in () if quick else REPORTED_ON:
        load, source, target = UNSEEN[name]
        cases.append((name, lambda load=load: load(data / "unseen"), source, target))
    links, items = [], []
    for name, loader, source, target in cases:
        whole = loader()
        links.append(judged(name, whole, source, target, 1 if quick else 3))
        if source != target:
            items.append(judged(name, whole, source, target, 1 if quick else 3, items=True))
        report("link_prediction", links, out, "hidden links: AUC and average precision (error)")
        report("link_prediction_items", items, out, "hidden items of source: the same")


def _joint_data(name: str, data: Path) -> HeteroData:
    loader = LOADERS[name]
    return loader(data) if name in FROM_FOLDER else loader()


def judged(
    name: str, data: HeteroData, source: str, target: str, seeds: int, items: bool = False
) -> dict[str, Any]:
    """Return AUC and average precision of each way, over the seeds, and the calibration."""
    result: dict[str, list[tuple[float, float]]] = {}
    seconds, tops = [], []
    for seed in range(seeds):
        rows = np.arange(len(data[source]))
        truth = np.zeros((len(rows), len(data[target])), dtype=bool)
        if items:
            train, positive, rows = without_items(data, source, target, 0.2, seed)
            truth.ravel()[positive] = True
        else:
            train, content = data.holdout(0.2, random_state=seed)
            truth = (signed_links(content, source, target) > 0).toarray()
        if len(rows) * len(data[target]) > 4_000_000:
            drawn = np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False)
            rows = np.sort(drawn)
        Y = signed_links(train, source, target)
        is_asked = Y[rows].toarray() == 0
        if source == target:
            is_asked[np.arange(len(rows)), rows] = False
        is_link = truth[rows][is_asked]
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predictor = hetviz.fit_link_predictor(train, source, target, random_state=seed)
        P = predictor.scores(rows)
        seconds.append(time.process_time() - start)
        # Within a dataset each pair is counted once.
        once = is_asked & (rows[:, None] < np.arange(P.shape[1])) if source == target else is_asked
        top = np.argsort(-P[once], kind="stable")[:100]
        tops.append((P[once][top].mean(), truth[rows][once][top].mean()))
        known = (Y > 0).astype(np.float64)
        degrees = [np.log1p(np.asarray(known.sum(axis=axis)).ravel()) for axis in (1, 0)]
        ways = {
            "default": P,
            "plain ridge": plain_ridge(train, source, target, known)[rows],
            "nearest profiles": NearestProfiles(train, source, target).scores(rows),
            "popularity": np.add.outer(degrees[0][rows], degrees[1]),
        }
        if items:
            ways["two-sided ridge"] = two_sided_ridge(train, source, target, known)[rows]
        else:
            ways["EASE"] = best_ease(known.toarray(), seed)[rows]
            ways["ALS"] = best_als(known.toarray(), seed)[rows]
        for title, S in ways.items():
            scores = S[is_asked]
            pair = (
                float(roc_auc_score(is_link, scores)),
                float(average_precision_score(is_link, scores)),
            )
            result.setdefault(title, []).append(pair)
    row: dict[str, Any] = {"data": name, "links": f"{source} - {target}"}
    for title, values in result.items():
        for place, measure in enumerate(("AUC", "precision")):
            figures = np.array(values)[:, place]
            error = figures.std(ddof=1) / np.sqrt(len(figures)) if len(figures) > 1 else np.nan
            row[f"{title}, {measure}"] = f"{figures.mean():.3f} ({error:.3f})"
    row["CPU s of a fit and its scores"] = float(np.mean(seconds))
    stated, right = np.mean(tops, axis=0)
    row["best 100: stated, links"] = f"{stated:.2f}, {right:.2f}"
    return row


def _kernels(data: HeteroData, source: str, target: str, known: Any) -> list[list[Floats]]:
    """Return the similarity by features and by links of both datasets, or by links twice."""
    kernels = []
    for name, profiles in ((source, known), (target, sp.csr_array(known.T))):
        G = profile_kernel(sp.csr_array(profiles))
        K = similarity_kernel(data[name], 0)
        kernels.append([G if K is None else K, G])
    return kernels


def plain_ridge(data: HeteroData, source: str, target: str, known: Any) -> Floats:
    """Return Kronecker ridge as usual: half likeness and half interaction profiles, ridge 1."""
    a, b = (Spectrum.of_kernel((K + G) / 2) for K, G in _kernels(data, source, target, known))
    Y = sp.csr_array(known + sp.eye_array(known.shape[0])) if source == target else known
    scores = KroneckerRidge.of(Y, a, b).scores(1.0)
    return np.asarray(scores.left @ scores.right.T)


def two_sided_ridge(data: HeteroData, source: str, target: str, known: Any) -> Floats:
    """Return two-sided kernel ridge, ridge 1: features of source, features and links of target."""
    (K, _), (L, G) = _kernels(data, source, target, known)
    L = (L + G) / 2
    rows = K @ np.linalg.solve(K + np.eye(len(K)), known.toarray())
    return np.asarray(rows @ np.linalg.solve(L + np.eye(len(L)), L))


def ease(Y: Floats, penalty: float) -> Floats:
    """Return the scores of the item model without self-similarity (Steck 2019)."""
    B = np.linalg.inv(Y.T @ Y + penalty * np.eye(Y.shape[1]))
    B /= -np.diag(B)
    np.fill_diagonal(B, 0.0)
    return np.asarray(Y @ B)


def best_ease(Y: Floats, seed: int) -> Floats:
    """Return the scores of `ease` with the penalty that finds most of a hidden fifth."""
    return _best(Y, seed, {(penalty,): ease for penalty in EASE_PENALTIES})


def als(Y: Floats, factors: int, penalty: float, seed: int = 0) -> Floats:
    """Return the scores of a factorisation with weighted squares (Hu, Koren, Volinsky 2008).

    Known links weigh 1 + `ALS_CONFIDENCE`, all other pairs 1 with the value 0.
    """
    rng = np.random.default_rng(seed)
    U, V = (0.1 * rng.normal(size=(n, factors)) for n in Y.shape)
    for _ in range(ALS_ROUNDS):
        U = _weighted_rows(Y, V, penalty)
        V = _weighted_rows(Y.T, U, penalty)
    return np.asarray(U @ V.T)


def _weighted_rows(Y: Floats, V: Floats, penalty: float) -> Floats:
    base = V.T @ V + penalty * np.eye(V.shape[1])
    U = np.zeros((len(Y), V.shape[1]))
    for row, links in enumerate(Y):
        near = V[links > 0]
        if len(near):
            A = base + ALS_CONFIDENCE * near.T @ near
            U[row] = np.linalg.solve(A, (1.0 + ALS_CONFIDENCE) * near.sum(axis=0))
    return U


def best_als(Y: Floats, seed: int) -> Floats:
    """Return the scores of `als` with the settings that find most of a hidden fifth."""
    settings = [(factors, penalty) for factors in ALS_FACTORS for penalty in ALS_PENALTIES]
    return _best(Y, seed, dict.fromkeys(settings, als))


def _best(Y: Floats, seed: int, ways: dict[tuple[float, ...], Callable[..., Floats]]) -> Floats:
    """Return the scores of the way and settings that find most of a hidden fifth."""
    i, j = np.nonzero(Y)
    hidden = np.random.default_rng(seed).random(len(i)) < 0.2
    rest = Y.copy()
    rest[i[hidden], j[hidden]] = 0.0
    is_asked = rest == 0
    is_link = (Y > 0)[is_asked]

    def precision(settings: tuple[float, ...]) -> float:
        scores = ways[settings](rest, *settings)
        return float(average_precision_score(is_link, scores[is_asked]))

    best = max(ways, key=precision)
    return ways[best](Y, *best)


def yamanishi(folder: Path, kind: str) -> HeteroData:
    """Drugs and targets of Yamanishi et al. 2008: `{kind}_admat_dgc.txt` and similarities.

    Without the similarity of the targets, they have no features.
    """
    links = pd.read_csv(folder / f"{kind}_admat_dgc.txt", sep="\t", index_col=0)
    parts = []
    for name, file, ids in (("drugs", "dc", links.columns), ("targets", "dg", links.index)):
        path, kernel = folder / f"{kind}_simmat_{file}.txt", None
        if path.exists():
            table = pd.read_csv(path, sep="\t", index_col=0)
            K = (table.loc[list(ids)] if set(ids) <= set(table.index) else table).to_numpy(float)
            kernel = (K + K.T) / 2
        parts.append(Dataset(name, [str(text) for text in ids], kernel=kernel))
    return HeteroData(parts, [Links("drugs", "targets", *np.nonzero(links.to_numpy().T))])


def diseases(folder: Path) -> HeteroData:
    """269 drugs by similarity, 598 diseases without features: `drug_dis.csv`, `drug_sim.csv`."""
    A, K = (np.loadtxt(folder / f"drug_{name}.csv", delimiter=",") for name in ("dis", "sim"))
    np.fill_diagonal(K, 1.0)
    drugs = Dataset("drugs", [f"d{row}" for row in range(len(A))], kernel=(K + K.T) / 2)
    others = Dataset("diseases", [f"s{row}" for row in range(A.shape[1])])
    return HeteroData([drugs, others], [Links("drugs", "diseases", *np.nonzero(A))])


def films(folder: Path) -> HeteroData:
    """People, and films rated 4 or more by at least five, by genres and year.

    `ratings.csv` and `movies.csv` of MovieLens, latest small.
    """
    ratings = pd.read_csv(folder / "ratings.csv")
    ratings = _frequent(ratings[ratings["rating"] >= 4], "movieId", 5)
    people, ids = (sorted(ratings[name].unique()) for name in ("userId", "movieId"))
    about = pd.read_csv(folder / "movies.csv").drop_duplicates("movieId").set_index("movieId")
    about = about.loc[ids]
    year = about["title"].str.extract(r"\((\d{4})\)")[0].astype(float)
    year = year.fillna(year.median())
    genres = about["genres"].str.get_dummies("|").to_numpy(float)
    X = np.column_stack([genres, (year - year.mean()) / year.std()])
    ends = _places(ratings["userId"], people), _places(ratings["movieId"], ids)
    parts = [Dataset("people", list(map(str, people))), Dataset("films", list(map(str, ids)), X)]
    return HeteroData(parts, [Links("people", "films", *ends)])


def listeners(folder: Path) -> HeteroData:
    """Listeners with their friends, and artists with ten listeners or more, by tags.

    `user_artists.dat`, `user_taggedartists.dat` and `user_friends.dat` of HetRec 2011, Last.fm.
    """
    played, tagged, friends = (
        pd.read_csv(folder / f"user_{name}.dat", sep="\t").set_axis(names, axis=1)
        for name, names in (
            ("artists", ["user", "artist", "weight"]),
            ("taggedartists", ["user", "artist", "tag", "day", "month", "year"]),
            ("friends", ["user", "friend"]),
        )
    )
    played = _frequent(played, "artist", 10)
    users, artists = (sorted(played[name].unique()) for name in ("user", "artist"))
    tagged = _frequent(tagged[tagged["artist"].isin(artists)], "tag", 10)
    tags = sorted(tagged["tag"].unique())
    ends = _places(tagged["artist"], artists), _places(tagged["tag"], tags)
    X = sp.csr_array((np.ones(len(tagged)), ends), shape=(len(artists), len(tags)))
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    friends = friends[friends["user"].isin(users) & friends["friend"].isin(users)]
    friends = friends[friends["user"] < friends["friend"]].drop_duplicates()
    parts = [
        Dataset("listeners", list(map(str, users))),
        Dataset("artists", list(map(str, artists)), X),
    ]
    pairs = _places(friends["user"], users), _places(friends["friend"], users)
    ends = _places(played["user"], users), _places(played["artist"], artists)
    links = [
        Links("listeners", "artists", *ends),
        Links("listeners", "listeners", *pairs, kind="friends"),
    ]
    return HeteroData(parts, links)


def _frequent(table: pd.DataFrame, column: str, minimum: int) -> pd.DataFrame:
    counts = table[column].value_counts()
    return table[table[column].isin(counts[counts >= minimum].index)]


def _places(values: pd.Series, ids: list[Any]) -> Any:
    return pd.Index(ids).get_indexer(values)


UNSEEN: dict[str, tuple[Callable[[Path], HeteroData], str, str]] = {
    "gpcr": (lambda folder: yamanishi(folder, "gpcr"), "drugs", "targets"),
    "ion channels": (lambda folder: yamanishi(folder, "ic"), "drugs", "targets"),
    "enzymes": (lambda folder: yamanishi(folder, "e"), "drugs", "targets"),
    "drugs and diseases": (diseases, "drugs", "diseases"),
    "films": (films, "people", "films"),
    "listeners": (listeners, "listeners", "artists"),
}
