"""Default map and simple rivals on data sets that no setting was chosen on.

Settings of the default map and of its choice were taken from samples and from the sets of
`benchmarks.joint_maps.CHOSEN_ON`. A fifth of the links is held out on three splits; every measure
is one of `hetviz.compare`. Needs ``--data DIR``, a folder with these files as their authors publish
them:

- ``gpcr``, ``ic`` and ``e`` of Yamanishi et al. 2008: ``gpcr_admat_dgc.txt``,
  ``gpcr_simmat_dc.txt``, ``gpcr_simmat_dg.txt``, and so on (the similarity of enzymes is not used);
- ``drug_dis.csv`` and ``drug_sim.csv`` of LAGCN;
- ``ratings.csv`` and ``movies.csv`` of MovieLens (ml-latest-small), ``u.data`` and ``u.item`` of
  ml-100k;
- ``user_artists.dat``, ``user_taggedartists.dat`` and ``user_friends.dat`` of HetRec 2011
  (Last.fm).

Where openTSNE is installed, it draws 32 axes of `joint-spectral` with its own defaults.

Each figure is written to ``unseen.jsonl`` as soon as it is there; a run goes on where the last one
ended. ``python -m benchmarks.unseen FILE`` prints the tables.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

import hetviz
from benchmarks.joint_maps import DEFAULT, OURS, measure, measure_default, rows_of, suited, values
from hetviz import Dataset, HeteroData, Links

DATA = "needs"
SEEDS = 3
RIVALS = ("pca", "joint-spectral", "graph-axes", "umap", "mr-sne")
BY_LINKS = "joint-map, links_over_features 1"
SPECTRAL_TSNE = "spectral, then openTSNE"
SPECTRAL_AXES = 32
LABELS = (DEFAULT, OURS, BY_LINKS, *RIVALS, SPECTRAL_TSNE)
MEASURES = ("link_auc_held_out", "links_kept", "links_kept_held_out", "trustworthiness", "cpu")
MIN_RATING = 4
MIN_LIKES = 10


def targets(name: str, folder: Path) -> HeteroData:
    """Drugs and proteins by kernels, and which interact."""
    table = pd.read_csv(folder / f"{name}_admat_dgc.txt", sep="\t", index_col=0)
    parts = []
    for dataset, kind, ids in (("drugs", "dc", table.columns), ("targets", "dg", table.index)):
        names = [str(item) for item in ids]
        file = folder / f"{name}_simmat_{kind}.txt"
        if file.exists():
            K = pd.read_csv(file, sep="\t", index_col=0).to_numpy(float)
            parts.append(Dataset(dataset, names, kernel=(K + K.T) / 2))
        else:
            parts.append(Dataset(dataset, names))
    return HeteroData(parts, [Links("drugs", "targets", *np.nonzero(table.to_numpy(float).T))])


def diseases(folder: Path) -> HeteroData:
    """Drugs by a kernel, and the diseases they are used for."""
    W = np.loadtxt(folder / "drug_dis.csv", delimiter=",")
    K = np.loadtxt(folder / "drug_sim.csv", delimiter=",")
    np.fill_diagonal(K, 1.0)
    parts = [
        Dataset("drugs", [f"d{k}" for k in range(len(W))], kernel=(K + K.T) / 2),
        Dataset("diseases", [f"s{k}" for k in range(W.shape[1])]),
    ]
    return HeteroData(parts, [Links("drugs", "diseases", *np.nonzero(W))])


def films(folder: Path) -> HeteroData:
    """People, films by genre and year, and who rated which film 4 or more (ml-latest-small)."""
    table = pd.read_csv(folder / "movies.csv").drop_duplicates("movieId").set_index("movieId")
    ratings = pd.read_csv(folder / "ratings.csv")
    year = table.title.str.extract(r"\((\d{4})\)\s*$")[0].astype(float)
    return _rated(ratings.userId, ratings.movieId, ratings.rating, table.genres, year)


def older_films(folder: Path) -> HeteroData:
    """The same of ml-100k."""
    ratings = pd.read_csv(folder / "u.data", sep="\t", names=["user", "film", "rating", "time"])
    table = pd.read_csv(folder / "u.item", sep="|", encoding="latin-1", header=None)
    table = table[pd.to_numeric(table[0], errors="coerce").notna()]
    table = table.set_index(table[0].astype(int))
    flags = table[list(range(5, 24))].astype(int)
    genres = flags.apply(lambda row: "|".join(str(k) for k in flags.columns[row > 0]), axis=1)
    year = table[2].astype(str).str.extract(r"(\d{4})$")[0].astype(float)
    return _rated(ratings.user, ratings.film, ratings.rating, genres, year)


def _rated(
    person: pd.Series, film: pd.Series, rating: pd.Series, genres: pd.Series, year: pd.Series
) -> HeteroData:
    liked = pd.DataFrame({"person": person, "film": film})[rating >= MIN_RATING]
    often = liked.film.value_counts()
    liked = liked[liked.film.isin(often.index[often >= MIN_LIKES])]
    people, names = sorted(liked.person.unique()), sorted(liked.film.unique())
    flags = genres.loc[names].str.get_dummies("|").to_numpy(float)
    years = year.loc[names].fillna(year.median())
    X = np.column_stack([flags, (years - years.mean()) / years.std()])
    i = pd.Index(people).get_indexer(liked.person)
    j = pd.Index(names).get_indexer(liked.film)
    parts = [
        Dataset("people", [str(k) for k in people]),
        Dataset("films", [str(k) for k in names], X),
    ]
    return HeteroData(parts, [Links("people", "films", i, j)])


def _columns(file: Path, *names: str) -> pd.DataFrame:
    """Return the first columns of a table, whether it has a head or not."""
    table = pd.read_csv(file, sep="\t", header=None, dtype=str, encoding="latin-1")
    table = table[table[0].str.isdigit()].iloc[:, : len(names)].astype(int)
    return table.set_axis(list(names), axis=1)


def listeners(folder: Path) -> HeteroData:
    """Listeners, artists by tags, who listens to whom, and who are friends."""
    plays = _columns(folder / "user_artists.dat", "userID", "artistID")
    often = plays.artistID.value_counts()
    plays = plays[plays.artistID.isin(often.index[often >= MIN_LIKES])]
    people, artists = (pd.Index(sorted(plays[name].unique())) for name in ("userID", "artistID"))
    tags = _columns(folder / "user_taggedartists.dat", "userID", "artistID", "tagID")
    tags = tags[tags.artistID.isin(artists)]
    often = tags.tagID.value_counts()
    tags = tags[tags.tagID.isin(often.index[often >= MIN_LIKES])]
    words = pd.Index(sorted(tags.tagID.unique()))
    ends = artists.get_indexer(tags.artistID), words.get_indexer(tags.tagID)
    X = sp.csr_array((np.ones(len(tags)), ends), shape=(len(artists), len(words)))
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    friends = _columns(folder / "user_friends.dat", "userID", "friendID")
    friends = friends[(friends.userID < friends.friendID)].drop_duplicates()
    friends = friends[friends.userID.isin(people) & friends.friendID.isin(people)]
    links = [
        Links(
            "listeners",
            "artists",
            people.get_indexer(plays.userID),
            artists.get_indexer(plays.artistID),
        ),
        Links(
            "listeners",
            "listeners",
            people.get_indexer(friends.userID),
            people.get_indexer(friends.friendID),
            kind="friends",
        ),
    ]
    parts = [
        Dataset("listeners", [str(k) for k in people]),
        Dataset("artists", [str(k) for k in artists], X),
    ]
    return HeteroData(parts, links)


SETS: dict[str, Callable[[Path], HeteroData]] = {
    "receptors": partial(targets, "gpcr"),
    "channels": partial(targets, "ic"),
    "enzymes": partial(targets, "e"),
    "diseases": diseases,
    "films": films,
    "older films": older_films,
    "listeners": listeners,
}


def run(out: Path, quick: bool, folder: Path) -> None:
    """Measure all maps on all sets; `quick` takes one split."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "unseen.jsonl"
    loaded = {name: load(folder) for name, load in SETS.items()}
    for seed in range(1 if quick else SEEDS):
        for name, data in loaded.items():
            keys = suited(data)
            measure(file, name, data, OURS, OURS, {}, [seed])
            measure(file, name, data, BY_LINKS, OURS, {"links_over_features": 1.0}, [seed])
            for key in RIVALS:
                if key in keys:
                    measure(file, name, data, key, key, {}, [seed])
            measure_spectral_tsne(file, name, data, seed)
            measure_default(file, name, data, seed)
    show(file)


def measure_spectral_tsne(file: Path, name: str, data: HeteroData, seed: int) -> None:
    """Measure openTSNE on spectral axes on one split, if it is installed, and write it down."""
    done = {(row["data"], row["label"], row["seed"]) for row in rows_of(file)}
    if (name, SPECTRAL_TSNE, seed) in done or importlib.util.find_spec("openTSNE") is None:
        return
    from openTSNE import TSNE

    train, hidden = data.holdout(links=0.2, random_state=seed)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        axes = hetviz.embed(train, "joint-spectral", n_components=SPECTRAL_AXES, random_state=seed)
        A = axes.stacked()
        placed = np.isfinite(A).all(axis=1)
        Y = np.full((len(A), 2), np.nan)
        Y[placed] = TSNE(random_state=seed, n_jobs=1).fit(A[placed])
    places = {dataset: Y[span] for dataset, span in train.offsets.items()}
    scores = hetviz.evaluate(train, replace(axes, coordinates=places), hidden).to_dict()
    row = {"data": name, "rows": data.n_rows, "label": SPECTRAL_TSNE, "method": "", "params": {}}
    row |= {"seed": seed, "scores": scores, "cpu": round(time.process_time() - start, 3)}
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(row) + "\n")


def show(file: Path) -> None:
    """Print the means over the sets that all maps have, and each set with standard errors."""
    rows = rows_of(file)
    for row in rows:
        row["scores"]["cpu"] = row["cpu"]

    def of(name: str, label: str, measure_key: str) -> list[float]:
        return list(values(rows, name, label, measure_key).values())

    head = "| map | " + " | ".join(MEASURES) + " |\n|" + " --- |" * (len(MEASURES) + 1)
    print(f"\nMeans over {', '.join(SETS)}\n\n{head}")
    for label in LABELS:
        cells = []
        for key in MEASURES:
            means = [np.mean(of(name, label, key)) for name in SETS if of(name, label, key)]
            missing = "" if len(means) == len(SETS) else f" ({len(means)} sets)"
            cells.append(f"{np.mean(means):.3f}{missing}" if means else "")
        print(f"| {label} | " + " | ".join(cells) + " |")
    for name in SETS:
        methods = [
            row["method"] + "".join(f", {key} {value:g}" for key, value in row["params"].items())
            for row in rows
            if (row["data"], row["label"]) == (name, DEFAULT)
        ]
        n_rows = next((row["rows"] for row in rows if row["data"] == name), 0)
        print(f"\n{name}, {n_rows:,} items. Default on each split: {'; '.join(methods)}\n\n{head}")
        for label in LABELS:
            cells = []
            for key in MEASURES:
                each = of(name, label, key)
                error = np.std(each, ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.nan
                cells.append(f"{np.mean(each):.3f} ± {error:.3f}" if each else "")
            print(f"| {label} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    show(Path(sys.argv[1]))
