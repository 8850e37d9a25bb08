"""Paper 000's methods on tagged objects: fitted at every ridge, read at every number of axes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from benchmarks.papers.settings import settled
from benchmarks.papers.tagged import Tagged
from hetviz.core.graph.neighbors import nearest_places
from hetviz.core.grid_search import Span, search_grid
from hetviz.core.measures.ranking import ndcg
from hetviz.core.measures.satisfaction import (
    distance_percentiles,
    satisfaction_area,
    satisfaction_curve,
)
from hetviz.core.spectral.guided import axis_scale, guided_projection
from hetviz.data import Dataset
from hetviz.errors import DataWarning
from hetviz.features.spaces.basis import Basis, fit_basis

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SETTLED = settled("p000")
GAMMAS = tuple(SETTLED["ridge"])
"""The first ridges to try; the search goes on past them while the best is at an end."""
MOST_GAMMAS: int = SETTLED["most_ridges"]
AXES = tuple(SETTLED["axes"])
EXPONENTS = tuple(SETTLED["exponents"])
FOLDS: int = SETTLED["folds"]
SHARES = np.linspace(0.0, 1.0, 51)


@dataclass(frozen=True)
class Method:
    """One way to project.

    Attributes
    ----------
    title : str
    n_kinds : int
        2 for objects and tags, 3 for places too.
    variant : str
        Of `hetviz.core.spectral.guided.guided_projection`: "anchor" is the paper's constraint.
        "block" with axes of equal spread is the analysis of canonical correlations of duplicated
        pairs.
    scaled : bool
        Axes by their agreement to a power, which is chosen too.
    kernel : str
        "rbf" or "linear", of the objects.
    """

    title: str
    n_kinds: int
    variant: str
    scaled: bool = False
    kernel: str = "rbf"


METHODS: Mapping[str, Method] = {
    "paper 2": Method("the paper's form, two datasets", 2, "anchor"),
    "paper 3": Method("the paper's form, three datasets", 3, "anchor"),
    "hetviz 2": Method("hetviz's form, two datasets", 2, "block", scaled=True),
    "hetviz 3": Method("hetviz's form, three datasets", 3, "block", scaled=True),
    "cca": Method("CCA of duplicated pairs", 2, "block"),
    "cca linear": Method("CCA of duplicated pairs, linear", 2, "block", kernel="linear"),
}


@dataclass(frozen=True, eq=False)
class Places:
    """Where the objects fitted, new objects, tags and the third kind lie; NaN without a link."""

    fitted: Floats
    new: Floats
    tags: Floats
    third: Floats | None


class Solution:
    """The solution of one problem at one ridge, for all numbers of axes.

    Parameters
    ----------
    method : Method
        What it says of kinds and variant.
    train : Tagged
    bases : tuple of Basis
        Of the objects, and of the places.
    new : array
        Features of new objects in the first basis.
    gamma : float
    """

    def __init__(
        self, method: Method, train: Tagged, bases: tuple[Basis, Basis], new: Any, gamma: float
    ) -> None:
        chosen = [bases[0], Basis("featureless", len(train.tags), None, None), bases[1]]
        chosen = chosen[: method.n_kinds]
        with warnings.catch_warnings():
            # fewer axes than asked for come back where fewer hold any agreement
            warnings.simplefilter("ignore", DataWarning)
            guided = guided_projection(
                [basis.features for basis in chosen],
                train.guidance(method.n_kinds),
                n_components=max(AXES),
                gamma=gamma,
                variant=method.variant,
                nominal=[basis.nominal for basis in chosen],
                symmetric=True,
            )
        linked = np.asarray(train.W.sum(axis=0)).ravel() > 0
        self._mu = guided.mu
        self._fitted, self._new = guided.embeddings[0], guided.maps[0](new)
        self._tags = np.where(linked[:, None], guided.embeddings[1], np.nan)
        self._third = guided.embeddings[2] if method.n_kinds == 3 else None

    def at(self, k: int, exponent: float) -> Places:
        """Return the places on the first k axes, by their agreement to a power."""
        factors = axis_scale(self._mu[:, :k], exponent)
        return Places(
            self._fitted[:, :k] * factors[0],
            self._new[:, :k] * factors[0],
            self._tags[:, :k] * factors[1],
            None if self._third is None else self._third[:, :k] * factors[2],
        )


class Solved:
    """A method's solutions by ridge, each made when it is first asked for.

    Parameters
    ----------
    method : Method
    make : callable
        Returns the solution at a ridge; methods of the same problem share it.
    """

    def __init__(self, method: Method, make: Callable[[float], Solution]) -> None:
        self.method, self._make = method, make

    def at(self, gamma: float, k: int, exponent: float = 0.0) -> Places:
        """Return the places at one ridge on k axes."""
        return self._make(gamma).at(k, exponent)


def solve_all(train: Tagged, new: Dataset, keys: Sequence[str]) -> dict[str, Solved]:
    """Return every method on some data; those that differ in their axes only share solutions."""
    bases: dict[str, tuple[Basis, Any]] = {}
    problems: dict[tuple[int, str, str], Callable[[float], Solution]] = {}
    third = train.basis_of_places()
    found = {}
    for key in keys:
        method = METHODS[key]
        if method.kernel not in bases:
            basis = fit_basis(train.objects, method.kernel)
            bases[method.kernel] = basis, basis.of_new(new)
        problem = method.n_kinds, method.variant, method.kernel
        if problem not in problems:
            basis, features = bases[method.kernel]
            problems[problem] = cache(partial(Solution, method, train, (basis, third), features))
        found[key] = Solved(method, problems[problem])
    return found


def gains(W: Any, objects: Floats, tags: Floats) -> Floats:
    """Return the NDCG of each object: its q nearest tags for its q own."""
    there = np.flatnonzero(np.isfinite(tags).all(axis=1))
    n_own = np.diff(W.indptr).astype(np.int64)
    asked = np.flatnonzero(n_own)
    k = min(int(n_own.max(initial=1)), len(there))
    near = there[nearest_places(objects[asked], tags[there], k)]
    return ndcg(W, near, asked, n_own[asked])


def guessed(train: Any, W: Any) -> float:
    """Return the NDCG of answering every object with the most frequent tags of training."""
    often = np.argsort(-np.asarray(train.sum(axis=0)).ravel(), kind="stable")
    n_own = np.diff(W.indptr).astype(np.int64)
    asked = np.flatnonzero(n_own)
    same = np.broadcast_to(often[: n_own.max()], (len(asked), n_own.max()))
    return float(ndcg(W, same, asked, n_own[asked]).mean())


@dataclass(frozen=True)
class Chosen:
    """Ridge, number of axes and exponent of their scale; `open` where the search was cut off."""

    gamma: float
    axes: int
    exponent: float
    open: bool


class Validation:
    """The NDCG of one method on parts of the training objects in turn, by ridge.

    Parameters
    ----------
    folds : sequence of (Solved, Tagged)
        The method without a part, and that part.
    """

    def __init__(self, folds: Sequence[tuple[Solved, Tagged]]) -> None:
        self._folds = folds
        self.exponents = EXPONENTS if folds[0][0].method.scaled else (0.0,)
        self._tables: dict[float, Floats] = {}

    def table(self, gamma: float) -> Floats:
        """Return the mean NDCG by number of axes and exponent."""
        if gamma not in self._tables:
            total = np.zeros((len(AXES), len(self.exponents)))
            for solved, held in self._folds:
                for row, k in enumerate(AXES):
                    for column, exponent in enumerate(self.exponents):
                        places = solved.at(gamma, k, exponent)
                        total[row, column] += gains(held.W, places.new, places.tags).mean()
            self._tables[gamma] = total / len(self._folds)
        return self._tables[gamma]

    def best(self, most_axes: int = max(AXES)) -> Chosen:
        """Return the best of at most so many axes; ridges go on while the best is at an end."""
        allowed = sum(k <= most_axes for k in AXES)

        def score(points: Sequence[dict[str, Any]]) -> list[float]:
            return [float(self.table(point["gamma"])[:allowed].max()) for point in points]

        found = search_grid(score, {"gamma": Span(GAMMAS)}, whole_grid=True, max_points=MOST_GAMMAS)
        gamma = float(found.best["gamma"])
        table = self.table(gamma)[:allowed]
        row, column = np.unravel_index(int(table.argmax()), table.shape)
        return Chosen(gamma, AXES[row], self.exponents[column], bool(found.cut_off))


def validated(
    train: Tagged, keys: Sequence[str], rng: np.random.Generator
) -> dict[str, Validation]:
    """Return what chooses the settings of each method, on parts of the training objects."""
    fold = rng.permutation(len(train.objects)) % FOLDS
    parts: dict[str, list[tuple[Solved, Tagged]]] = {key: [] for key in keys}
    for number in range(FOLDS):
        inner = train.take(np.flatnonzero(fold != number))
        held = train.take(np.flatnonzero(fold == number))
        for key, solved in solve_all(inner, held.objects, keys).items():
            parts[key].append((solved, held))
    return {key: Validation(folds) for key, folds in parts.items()}


def satisfied(W: Any, objects: Floats, tags: Floats) -> tuple[Floats, float]:
    """Return the satisfaction curve of links at `SHARES`, and its area."""
    pairs = W.tocoo()
    F = distance_percentiles(objects, pairs.row, pairs.col, tags).values
    return satisfaction_curve(F, at=SHARES)[1], satisfaction_area(F)


def rand_index(W: Any, objects: Floats, tags: Floats, k: int, seed: int) -> tuple[float, float]:
    """Return the Rand index over all pairs of object and tag, and that of shuffled clusters.

    A pair is right when linked and in one cluster, or not linked and in two.
    """
    there = np.flatnonzero(np.isfinite(tags).all(axis=1))
    Y = np.vstack([objects, tags[there]])
    code = KMeans(n_clusters=k, n_init=10, random_state=seed).fit_predict(Y)
    shuffled = np.random.default_rng(seed).permutation(code)
    n = len(objects)
    linked = W[:, there].toarray() > 0
    right = [float(((of[:n, None] == of[n:]) == linked).mean()) for of in (code, shuffled)]
    return right[0], right[1]
