"""Linked datasets for evaluating joint maps.

``LOADERS`` names them all. Those of `FROM_FOLDER` need ``--data DIR``, a folder with what their
docstrings name; `zones`, `imports` and `estimators` are made of what is installed (tzdata, SciPy,
networkx, scikit-learn), so their figures belong to the versions a run names.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import hetviz
from hetviz import Dataset, HeteroData, Labels, Links

_WORD = re.compile(r"[a-z]{3,}")


def sample(name: str, folder: Path | None = None) -> HeteroData:
    """A sample project that comes with hetviz."""
    return hetviz.load(name)


def citeseer(folder: Path) -> HeteroData:
    """3,312 papers by their words, and citations; ``citeseer/citeseer.npz``."""
    with np.load(folder / "citeseer" / "citeseer.npz") as file:
        indptr, indices = file["bow_indptr"], file["bow_indices"]
        edges, classes = file["edges"], file["y"]
    n = len(indptr) - 1
    X = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, int(indices.max()) + 1))
    ids = [str(row) for row in range(n)]
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
    links = Links("papers", "papers", edges[:, 0], edges[:, 1], kind="cites", role="relation")
    papers = Dataset("papers", ids, _tfidf(X))
    return HeteroData([papers], [links], None, [Labels("papers", "class", classes.astype(str))])


def terror_attack(folder: Path) -> HeteroData:
    """1,293 attacks by 106 features, and which share a place; ``terror_attack/``."""
    base = folder / "terror_attack"
    nodes = pd.read_csv(base / "nodes.tsv", sep="\t", header=None, skiprows=1)
    X = nodes.iloc[:, 1:-1].to_numpy(np.float64)
    ids = [str(row) for row in range(len(nodes))]
    edges = pd.read_csv(base / "edges_same_location.tsv", sep="\t").to_numpy()
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
    links = Links("attacks", "attacks", edges[:, 0], edges[:, 1], kind="same place")
    labels = Labels("attacks", "class", nodes.iloc[:, -1].astype(str))
    return HeteroData([Dataset("attacks", ids, X)], [links], None, [labels])


def yamanishi_nr(folder: Path) -> HeteroData:
    """54 drugs and 26 nuclear receptors by kernels, 90 interactions; ``yamanishi_nr/``."""
    base = folder / "yamanishi_nr"
    drugs, targets, links = (
        pd.read_csv(base / f"{name}.tsv", sep="\t", index_col=0)
        for name in ("drug_similarity", "target_similarity", "interactions")
    )
    kernels = [np.asarray(table, dtype=np.float64) for table in (drugs, targets)]
    parts = [
        Dataset(name, [str(item) for item in table.index], kernel=(K + K.T) / 2)
        for name, table, K in zip(("drugs", "targets"), (drugs, targets), kernels, strict=True)
    ]
    W = np.asarray(links, dtype=np.float64)
    if W.shape != (len(drugs), len(targets)):
        W = W.T
    return HeteroData(parts, [Links("drugs", "targets", *np.nonzero(W))])


def mfeat(folder: Path) -> HeteroData:
    """2,000 numerals by their Fourier coefficients and by pixels, half joined; ``mfeat/``."""
    with np.load(folder / "mfeat" / "mfeat.npz") as file:
        views = {name: np.asarray(file[name], np.float64) for name in ("fou", "pix")}
        classes = file["y"].astype(str)
    ids = [str(row) for row in range(len(classes))]
    parts = [Dataset(name, ids, X, entity=name) for name, X in views.items()]
    joined = np.sort(np.random.default_rng(0).choice(len(ids), len(ids) // 2, replace=False))
    labels = [Labels(name, "class", classes) for name in views]
    return HeteroData(parts, [Links("fou", "pix", joined, joined)], None, labels)


def baseball(folder: Path) -> HeteroData:
    """Players by body and batting, teams of a season by results, parks; ``baseball/`` (Lahman)."""
    base = folder / "baseball"
    people, batting, teams = (
        pd.read_csv(base / f"{name}.csv") for name in ("people", "batting", "teams")
    )
    numbers = ["G", "AB", "R", "H", "2B", "3B", "HR", "RBI", "SB", "BB", "SO"]
    played = batting.groupby("playerID")[numbers].sum()
    played = played[played["G"] >= 60]
    body = people.set_index("playerID").loc[played.index]
    rates = played[numbers[1:]].div(played["G"], axis=0)
    features = pd.concat([rates, body[["birthYear", "weight", "height"]]], axis=1)
    features["left"] = (body["bats"] == "L").astype(float)
    features["throws left"] = (body["throws"] == "L").astype(float)
    results = ["W", "R", "AB", "H", "HR", "BB", "SO", "SB", "RA", "ER", "ERA", "HA", "SOA", "E"]
    seasons = teams.assign(season=teams["teamID"] + " " + teams["yearID"].astype(str))
    seasons = seasons.set_index("season")
    retained = batting[batting["playerID"].isin(played.index)]
    pairs = retained.assign(season=retained["teamID"] + " " + retained["yearID"].astype(str))
    pairs = pairs[pairs["season"].isin(seasons.index)][["playerID", "season"]].drop_duplicates()
    parks = sorted(seasons["park"].unique())
    data = [
        Dataset("players", list(features.index), _standard(features)),
        Dataset("seasons", list(seasons.index), _standard(seasons[results])),
        Dataset("parks", parks),
    ]
    links = [
        Links(
            "players",
            "seasons",
            features.index.get_indexer(pairs["playerID"]),
            seasons.index.get_indexer(pairs["season"]),
            kind="played",
        ),
        Links(
            "seasons",
            "parks",
            np.arange(len(seasons)),
            pd.Index(parks).get_indexer(seasons["park"]),
            kind="at home in",
        ),
    ]
    last = retained.sort_values("yearID").drop_duplicates("playerID", keep="last")
    league = last.set_index("playerID").loc[features.index]["lgID"].astype(str)
    labels = [
        Labels("players", "league", league.to_numpy()),
        Labels("seasons", "league", seasons["lgID"].astype(str).to_numpy()),
    ]
    return HeteroData(data, links, None, labels)


def zones(folder: Path | None = None) -> HeteroData:
    """Time zones by where they lie, and countries without features; tables of tzdata."""
    import tzdata

    base = Path(str(tzdata.__file__)).parent / "zoneinfo"
    rows = [
        line.split("\t")
        for line in (base / "zone1970.tab").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    names = [row[2] for row in rows]
    places = np.array([_degrees(row[1]) for row in rows])
    radians = np.deg2rad(places)
    globe = np.column_stack(
        [
            np.cos(radians[:, 0]) * np.cos(radians[:, 1]),
            np.cos(radians[:, 0]) * np.sin(radians[:, 1]),
            np.sin(radians[:, 0]),
        ]
    )
    codes = sorted({code for row in rows for code in row[0].split(",")})
    number = {code: place for place, code in enumerate(codes)}
    pairs = [(i, number[code]) for i, row in enumerate(rows) for code in row[0].split(",")]
    area = [name.split("/")[0] for name in names]
    of_country = _majority(len(codes), [(j, area[i]) for i, j in pairs])
    return HeteroData(
        [Dataset("zones", names, globe), Dataset("countries", codes)],
        [Links("zones", "countries", *np.array(pairs).T, kind="used in")],
        None,
        [Labels("zones", "area", area), Labels("countries", "area", of_country)],
    )


def imports(folder: Path | None = None) -> HeteroData:
    """Modules of SciPy, scikit-learn and networkx by their words, and what they import.

    A citation network: modules have texts, the names that at least five of them import from other
    modules of these packages have none. Labels are subpackages.
    """
    texts, names, labels = [], [], []
    uses: list[tuple[int, str]] = []
    for package in ("scipy", "sklearn", "networkx"):
        root = Path(str(importlib.import_module(package).__file__)).parent
        for file in sorted(root.rglob("*.py")):
            inside = file.relative_to(root)
            if "tests" in inside.parts or file.name.startswith("test_") or len(inside.parts) < 2:
                continue
            source = file.read_text(encoding="utf-8", errors="replace")
            try:
                tree = ast.parse(source)
            except SyntaxError:
                continue
            words = _WORD.findall(_words_of(tree).lower())
            result = set(_imported(tree, package, inside.parts[:-1]))
            if len(words) < 100 or not result:
                continue
            uses += [(len(names), name) for name in sorted(result)]
            names.append(f"{package}/{inside.as_posix()}")
            texts.append(words)
            labels.append(f"{package}.{inside.parts[0]}")
    count = Counter(name for _, name in uses)
    symbols = sorted(name for name, many in count.items() if many >= 5)
    number = {name: place for place, name in enumerate(symbols)}
    pairs = [(i, number[name]) for i, name in uses if name in number]
    X = _bag(texts, least=3)
    home = _majority(len(symbols), [(j, labels[i]) for i, j in pairs])
    return HeteroData(
        [Dataset("modules", names, X), Dataset("symbols", symbols)],
        [Links("modules", "symbols", *np.array(pairs).T, kind="imports", role="relation")],
        None,
        [Labels("modules", "part", labels), Labels("symbols", "part", home)],
    )


def estimators(folder: Path | None = None) -> HeteroData:
    """Estimators of scikit-learn by the words of their documentation, and their parameters."""
    from sklearn.utils import all_estimators

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = sorted(all_estimators())
    texts, names, labels, uses = [], [], [], []
    described: dict[str, list[str]] = {}
    for name, kind in result:
        doc = inspect.getdoc(kind) or ""
        parameters = list(inspect.signature(kind).parameters)
        about = dict(re.findall(r"^(\w+) : .*\n((?:    .*\n|\n)+)", doc, flags=re.MULTILINE))
        summary = doc.split("\nParameters\n")[0] + doc.split("\nNotes\n")[-1]
        uses += [(len(names), parameter) for parameter in parameters]
        for parameter in parameters:
            words = _WORD.findall(about.get(parameter, "").lower())
            described.setdefault(parameter, []).extend(words)
        names.append(name)
        texts.append(_WORD.findall(summary.lower()))
        labels.append(kind.__module__.split(".")[1])
    parameters = sorted(described)
    number = {name: place for place, name in enumerate(parameters)}
    pairs = [(i, number[name]) for i, name in uses]
    return HeteroData(
        [
            Dataset("estimators", names, _bag(texts, least=3)),
            Dataset("parameters", parameters, _bag([described[p] for p in parameters], least=3)),
        ],
        [Links("estimators", "parameters", *np.array(pairs).T, kind="has", role="relation")],
        None,
        [Labels("estimators", "module", labels)],
    )


LOADERS: Mapping[str, Callable[..., HeteroData]] = {
    **{name: partial(sample, name) for name in ("emoji", "digits", "world", "debian")},
    "digit-views": partial(sample, "digit-views"),
    "citeseer": citeseer,
    "terror_attack": terror_attack,
    "yamanishi_nr": yamanishi_nr,
    "mfeat": mfeat,
    "baseball": baseball,
    "zones": zones,
    "imports": imports,
    "estimators": estimators,
}
FROM_FOLDER = ("citeseer", "terror_attack", "yamanishi_nr", "mfeat", "baseball")


def _degrees(text: str) -> tuple[float, float]:
    """Return latitude and longitude of ISO 6709, as in +4230+00131."""
    result = re.fullmatch(r"([+-]\d+)([+-]\d+)", text)
    if result is None:
        raise ValueError(f"no place: {text!r}")
    values = []
    for part, whole in zip(result.groups(), (2, 3), strict=True):
        sign, digits = (-1 if part[0] == "-" else 1), part[1:]
        degrees, others = digits[:whole], digits[whole:]
        minutes, seconds = others[:2] or "0", others[2:] or "0"
        values.append(sign * (int(degrees) + int(minutes) / 60 + int(seconds) / 3600))
    return values[0], values[1]


def _words_of(tree: ast.AST) -> str:
    """Return names and documentation of a module: what it is about, not what it imports."""
    parts = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            parts.append(node.name.replace("_", " "))
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            parts.append(ast.get_docstring(node) or "")
        if isinstance(node, ast.arg):
            parts.append(node.arg.replace("_", " "))
    return " ".join(parts)


def _imported(tree: ast.AST, package: str, folder: Sequence[str]) -> Iterable[str]:
    """Yield the full names that a module imports from its own package."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = node.module or ""
        if node.level:
            up = list(folder)[: len(folder) - node.level + 1]
            base = ".".join([package, *up, *([base] if base else [])])
        if base.split(".")[0] == package:
            for alias in node.names:
                yield f"{base}.{alias.name}"


def _majority(n: int, votes: Iterable[tuple[int, str]]) -> list[str | None]:
    """Return the label most often given to each of n items, the first in order among equals."""
    count: list[Counter[str]] = [Counter() for _ in range(n)]
    for item, label in votes:
        count[item][label] += 1
    return [min(c, key=lambda text: (-c[text], text)) if c else None for c in count]


def _bag(texts: Sequence[Sequence[str]], least: int) -> sp.csr_array:
    """Return word counts of texts as tf-idf rows of length 1; words of fewer texts are left out."""
    documents = Counter(word for words in texts for word in set(words))
    maximum = len(texts) / 3
    vocabulary = sorted(word for word, many in documents.items() if least <= many <= maximum)
    number = {word: place for place, word in enumerate(vocabulary)}
    rows, columns, values = [], [], []
    for row, words in enumerate(texts):
        for word, many in Counter(words).items():
            if word in number:
                rows.append(row)
                columns.append(number[word])
                values.append(1.0 + np.log(many))
    return _tfidf(sp.csr_array((values, (rows, columns)), shape=(len(texts), len(vocabulary))))


def _tfidf(X: sp.csr_array) -> sp.csr_array:
    """Return rows of length 1 in which rare words count more."""
    often = np.asarray((X > 0).sum(axis=0)).ravel()
    X = X @ sp.diags_array(np.log((1 + X.shape[0]) / (1 + often)) + 1.0)
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1.0 / np.where(length > 0, length, 1.0)) @ X)


def _standard(table: pd.DataFrame) -> Any:
    """Return columns of mean 0 and spread 1, gaps at the mean."""
    numbers = table.astype(float)
    return ((numbers - numbers.mean()) / numbers.std(ddof=0)).fillna(0.0).to_numpy()
