"""Paper 000's methods on tagged objects: fitted at every ridge, read at every number of axes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from benchmarks.papers.tagged import Tagged
from hetviz.core.measures.ranking import ndcg, nearest_places
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

GAMMAS = (0.01, 0.1, 1.0, 10.0, 100.0)
AXES = (1, 2, 3, 5, 8, 12, 20, 30)
FOLDS = 3
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
        Axes by their agreement when there are more than three, as hetviz does.
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

    def at(self, k: int, scaled: bool) -> Places:
        """Return the places on the first k axes."""
        factors = axis_scale(self._mu[:, :k], 1.0 if scaled and k > 3 else 0.0)
        return Places(
            self._fitted[:, :k] * factors[0],
            self._new[:, :k] * factors[0],
            self._tags[:, :k] * factors[1],
            None if self._third is None else self._third[:, :k] * factors[2],
        )


@dataclass(frozen=True, eq=False)
class Solved:
    """A method's solutions by ridge."""

    method: Method
    by_gamma: Mapping[float, Solution]

    def at(self, gamma: float, k: int) -> Places:
        """Return the places at one ridge on k axes."""
        return self.by_gamma[gamma].at(k, self.method.scaled)


def solve_all(train: Tagged, new: Dataset, keys: Sequence[str]) -> dict[str, Solved]:
    """Fit every method at every ridge; methods that differ in their axes only share solutions."""
    bases: dict[str, tuple[Basis, Any]] = {}
    problems: dict[tuple[int, str, str], dict[float, Solution]] = {}
    third = train.basis_of_places()
    found = {}
    for key in keys:
        method = METHODS[key]
        if method.kernel not in bases:
            basis = fit_basis(train.objects, method.kernel)
            bases[method.kernel] = basis, basis.of_new(new)
        basis, features = bases[method.kernel]
        problem = method.n_kinds, method.variant, method.kernel
        if problem not in problems:
            problems[problem] = {
                gamma: Solution(method, train, (basis, third), features, gamma) for gamma in GAMMAS
            }
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


def table_of_gains(solved: Solved, test: Tagged) -> Floats:
    """Return the mean NDCG of new objects by ridge and number of axes."""
    return np.array(
        [
            [gains(test.W, places.new, places.tags).mean() for places in row]
            for row in ([solved.at(gamma, k) for k in AXES] for gamma in GAMMAS)
        ]
    )


def validated(train: Tagged, keys: Sequence[str], rng: np.random.Generator) -> dict[str, Floats]:
    """Return the NDCG by ridge and number of axes on parts of the training objects, in turn."""
    fold = rng.permutation(len(train.objects)) % FOLDS
    total = {key: np.zeros((len(GAMMAS), len(AXES))) for key in keys}
    for number in range(FOLDS):
        inner = train.take(np.flatnonzero(fold != number))
        held = train.take(np.flatnonzero(fold == number))
        for key, solved in solve_all(inner, held.objects, keys).items():
            total[key] += table_of_gains(solved, held) / FOLDS
    return total


def best(table: Floats, most_axes: int) -> tuple[float, int]:
    """Return the ridge and number of axes with the highest value, at most so many axes."""
    allowed = table[:, [k <= most_axes for k in AXES]]
    row, column = np.unravel_index(int(allowed.argmax()), allowed.shape)
    return GAMMAS[int(row)], AXES[int(column)]


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
