"""Objects in several views, comparisons of them, and what learned spaces keep of unseen objects."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import hetviz
from benchmarks.comparisons import TAXONOMY, factor, gaussian, scaled, tree_triplets
from benchmarks.papers.settings import settled
from hetviz import Comparisons, Dataset, HeteroData
from hetviz.core.grid_search import Span, search_grid
from hetviz.core.ordinal.comparisons import comparison_accuracy

# As many as the optimum has, or nearly so: the paper's problem has no limit of axes.
SETTLED = settled("p002")
AXES: int = SETTLED["axes"]
BETAS = tuple(SETTLED["betas"])
"""The first strengths to try; the search goes on past them while the best is at an end."""
MOST_BETAS: int = SETTLED["most_betas"]
EACH = 12
ASKED = 4_000
TEST_SHARE = 0.2
INNER_SHARE = 0.25

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class Compared:
    """Objects in several views.

    Attributes
    ----------
    name : str
    views : dict of str to Dataset
        All of the same objects, in the same order.
    kinds : dict of str to str
        Kernel of each view: "cosine" or "rbf".
    told : callable
        Draws triplets among some objects; gets these, how many, and a seed.
    asked : callable
        Draws triplets of one of some objects and two of others; gets both, and a seed.
    classes : array of shape (n,) or None
    surveyed : callable, optional
        Draws answers of many raters about some objects, as `told` does of what is true.
    """

    name: str
    views: dict[str, Dataset]
    kinds: dict[str, str]
    told: Callable[[Ints, int, int], Ints]
    asked: Callable[[Ints, Ints, int], Ints]
    classes: Any = None
    surveyed: Callable[[Ints, int], Ints] | None = None

    @property
    def real(self) -> list[str]:
        """Views that are not noise."""
        return [name for name in self.views if not is_noise(name)]

    @cached_property
    def size(self) -> int:
        """Number of objects."""
        return len(next(iter(self.views.values())))

    def split(self, seed: int) -> tuple[Ints, Ints]:
        """Return objects to learn from and objects to judge by."""
        return divided(np.arange(self.size), TEST_SHARE, seed)

    def native(self, names: Sequence[str]) -> Floats:
        """Return a space with the distances of the sum of the views' kernels."""
        total = np.zeros((self.size, self.size))
        H = np.eye(self.size) - 1.0 / self.size
        for name in names:
            X = np.asarray(self.views[name].X, dtype=np.float64)
            if self.kinds[name] == "cosine":
                X = scaled(X / np.linalg.norm(X, axis=1, keepdims=True))
                K = X @ X.T
            else:
                K = H @ gaussian(X) @ H
            total += K * self.size / np.trace(K)
        return np.asarray(factor(total))

    def fitted(
        self, names: Sequence[str], train: Ints, triplets: Ints, **params: Any
    ) -> tuple[Any, float]:
        """Return the method fitted on some objects, and its CPU seconds."""
        row = np.full(self.size, -1)
        row[train] = np.arange(len(train))
        parts = [self.views[name].subset(train) for name in names]
        data = HeteroData(parts, [], Comparisons(row[triplets]))
        kinds = {name: self.kinds[name] for name in names}
        model = hetviz.get_method("mkpoe")(n_components=AXES, features=kinds, tol=1e-2, **params)
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(data)
        return model, time.process_time() - started

    def placed(self, model: Any, names: Sequence[str], train: Ints, test: Ints) -> Floats:
        """Return the places of all objects, those of `test` as new ones."""
        Y = np.zeros((self.size, AXES))
        Y[train] = np.nan_to_num(model.embedding_.coordinates[names[0]])
        new = HeteroData([self.views[name].subset(test) for name in names])
        Y[test] = np.nan_to_num(model.transform(new).coordinates[names[0]])
        return Y

    def kept(self, Y: Floats, train: Ints, test: Ints, seed: int) -> float:
        """Return the share of comparisons of unseen objects with seen ones that a space keeps."""
        return float(comparison_accuracy(Y, self.asked(test, train, seed)))

    def chosen_beta(
        self,
        names: Sequence[str],
        train: Ints,
        triplets: Ints,
        seed: int,
        *,
        quick: bool,
        **params: Any,
    ) -> float:
        """Return the strength that keeps most comparisons of a quarter of the training objects.

        A quick run takes the middle one untried.
        """
        if quick:
            return BETAS[len(BETAS) // 2]
        inner, held = divided(train, INNER_SHARE, 500 + seed)
        told = triplets[np.isin(triplets, inner).all(axis=1)]

        def score(points: Sequence[dict[str, Any]]) -> list[float]:
            found = []
            for point in points:
                model, _ = self.fitted(names, inner, told, **point, **params)
                found.append(self.kept(self.placed(model, names, inner, held), inner, held, seed))
            return found

        searched = search_grid(score, {"beta": Span(BETAS)}, whole_grid=True, max_points=MOST_BETAS)
        return float(searched.best["beta"])


def is_noise(name: str) -> bool:
    """Whether a view is noise."""
    return name.startswith("noise")


def divided(objects: Ints, share: float, seed: int) -> tuple[Ints, Ints]:
    """Return most objects and a share of them, in order."""
    order = np.random.default_rng(seed).permutation(objects)
    held = round(share * len(objects))
    return np.sort(order[held:]), np.sort(order[:held])


def noise_views(ids: list[str], count: int, rng: np.random.Generator) -> dict[str, Dataset]:
    """Return views of random points of the unit sphere."""
    views = {}
    for number in range(1, count + 1):
        X = rng.normal(size=(len(ids), 3))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        views[f"noise {number}"] = Dataset(f"noise {number}", ids, X, entity="object")
    return views


def numerals() -> Compared:
    """Return numerals in three views and five of noise, compared by a tree of their classes."""
    rng = np.random.default_rng(0)
    digits = hetviz.load("digit-views")
    label = digits.label("digit")
    if label is None:
        raise ValueError("digit-views has no label named digit.")
    names = list(digits.datasets)
    everywhere = set.intersection(*[set(part.ids) for part in digits.datasets.values()])
    ids, classes = [], []
    for id, value in zip(digits[names[0]].ids, label.values, strict=True):
        if id in everywhere:
            ids.append(str(id))
            classes.append(str(value))
    drawn = np.sort(
        np.concatenate(
            [
                rng.permutation(np.flatnonzero(np.array(classes) == name))[:EACH]
                for name in sorted(set(classes))
            ]
        )
    )
    ids = [ids[row] for row in drawn]
    shown = np.array(classes)[drawn]
    group = {digit: name for name, members in TAXONOMY.items() for digit in members}
    depth = np.array([[group[name], name] for name in shown])
    views = {
        name: Dataset(
            name,
            ids,
            np.asarray(digits[name].X, dtype=np.float64)[digits[name].find(ids)],
            entity="object",
        )
        for name in names
    } | noise_views(ids, 5, rng)

    def told(train: Ints, count: int, seed: int) -> Ints:
        return train[tree_triplets(depth[train], count, seed)]

    def asked(test: Ints, train: Ints, seed: int) -> Ints:
        drawing = np.random.default_rng(1_000 + seed)
        a = drawing.choice(test, 20 * ASKED)
        b, c = drawing.choice(train, 20 * ASKED), drawing.choice(train, 20 * ASKED)
        near, far = ((depth[a] == depth[other]).sum(axis=1) for other in (b, c))
        return np.column_stack([a, b, c])[near > far][:ASKED]

    def surveyed(train: Ints, seed: int) -> Ints:
        return train[survey(depth[train], np.random.default_rng(seed))]

    kinds = dict.fromkeys(views, "rbf")
    return Compared("numerals", views, kinds, told, asked, shown, surveyed)


def survey(depth: Any, rng: np.random.Generator) -> Ints:
    """Return the comparisons of raters who each pick the most alike of a list.

    Parameters
    ----------
    depth : array of shape (n, levels)
        Of each object its branch of a tree, from the root on.
    rng : Generator

    Returns
    -------
    array of shape (m, 3)
        (a, b, c): asked about a, a rater picked b and not c.
    """
    asked = settled("p002_graph")
    n, found = len(depth), []
    for a in range(n):
        pool = rng.choice(np.delete(np.arange(n), a), asked["pool"], replace=False)
        for _ in range(asked["raters_an_object"]):
            shown = rng.choice(pool, asked["list_length"], replace=False)
            shared = np.cumprod(depth[shown] == depth[a], axis=1).sum(axis=1)
            weight = np.exp(rng.choice(asked["sharpness"]) * shared)
            pick = rng.choice(shown, p=weight / weight.sum())
            found += [(a, pick, other) for other in shown if other != pick]
    return np.array(found, dtype=np.int64)


def shoes(data: Path) -> Compared:
    """Return shoes in three views of one network and two of noise, compared by people."""
    with np.load(data / "zappos_triplets" / "zappos.npz") as file:
        triplets, X = file["triplets"].astype(np.int64), file["cnn"].astype(np.float64)
    ids = [str(row) for row in range(len(X))]
    rng = np.random.default_rng(0)
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    views = {
        "cosine": Dataset("cosine", ids, X, entity="object"),
        "gaussian": Dataset("gaussian", ids, X, entity="object"),
        "ten axes": Dataset("ten axes", ids, U[:, :10] * s[:10], entity="object"),
    } | noise_views(ids, 2, rng)
    kinds = dict.fromkeys(views, "rbf") | {"cosine": "cosine"}
    triplets = rng.permutation(triplets)

    def told(train: Ints, count: int, seed: int) -> Ints:
        among = triplets[np.isin(triplets, train).all(axis=1)]
        return np.random.default_rng(seed).permutation(among)[:count]

    def asked(test: Ints, train: Ints, seed: int) -> Ints:
        about = np.isin(triplets[:, 0], test) & np.isin(triplets[:, 1:], train).all(axis=1)
        return np.asarray(triplets[about])

    return Compared("shoes", views, kinds, told, asked)
