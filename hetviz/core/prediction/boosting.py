"""Boosted models trained on given derivatives: trees by LightGBM, or ridge regressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from hetviz._types import Floats, Ints, Matrix, is_sparse
from hetviz.core.arrays import as_dense
from hetviz.errors import HetvizError

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor

TREES, FOREST, LINEAR = "trees", "forest", "linear"
LEARNERS = (TREES, FOREST, LINEAR)
"""Base learners: a tree of best splits, a tree of random splits on some rows, or a ridge."""

MIN_CURVATURE = 1e-6
_MAX_PLAIN_TREE_CELLS = 2_000_000
_FOREST = {
    "extra_trees": True,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "feature_fraction": 0.5,
}
_FOREST_MIN_LEAF = 2
_MAX_EXACT_SIZE, _N_DIRECTIONS = 500, 200

LineSearch = Callable[[Floats], float]
"""Line search: maps a change of the margins (n_i, K) to a step length, 1 for the full change."""


@dataclass(frozen=True)
class TreeSettings:
    """Settings of the base learners.

    `n_bins`: Number of bins of a feature in LightGBM; 63 take half the time of its default of 255.
    `learner` {"trees", "forest", "linear"}: Trees of best splits; trees of random splits, each on
        70 % of the rows and half of the features, with leaves of at least two rows; or ridge
        regressions.
    """

    learning_rate: float = 0.1
    n_leaves: int = 15
    min_leaf: int = 5
    n_bins: int = 63
    random_state: int = 0
    learner: str = TREES


class Booster(Protocol):
    """A booster of the margins of one source's rows."""

    scores: Floats

    def step(self, slope: Floats, curvature: Floats, line: LineSearch | None = None) -> None:
        """Take a step for the derivatives of the training rows, (m, K), of length `line`."""
        ...

    def predict(self, X: Matrix) -> Floats:
        """Return the scores of other rows, (n_new, K)."""
        ...


def make_booster(X: Matrix, learn: Ints, n_outputs: int, settings: TreeSettings) -> Booster:
    """Return a booster for some features."""
    if settings.learner == LINEAR:
        return _Ridges(X, learn, n_outputs, settings)
    try:
        import lightgbm
    except OSError as error:
        # The package is installed, but a system library that it needs is not.
        if X.shape[0] * X.shape[1] * n_outputs > _MAX_PLAIN_TREE_CELLS:
            raise HetvizError(
                f"LightGBM could not be loaded ({error}). It needs the system library libgomp: on "
                "Debian or Ubuntu install the package libgomp1, on macOS libomp. Without it this "
                "method only works for small data."
            ) from error
        return _PlainTrees(X, learn, n_outputs, settings)
    return _LightGbm(lightgbm, X, learn, n_outputs, settings)


class _LightGbm:
    def __init__(
        self, lightgbm: ModuleType, X: Matrix, learn: Ints, n_outputs: int, settings: TreeSettings
    ) -> None:
        self._k = n_outputs
        self._learn = learn
        self._others = np.setdiff1d(np.arange(X.shape[0]), learn)
        forest = settings.learner == FOREST
        min_leaf = min(settings.min_leaf, _FOREST_MIN_LEAF) if forest else settings.min_leaf
        self._raw = self.scores = np.zeros((X.shape[0], n_outputs))
        self._lengths: list[float] = []
        # Too few rows for a split, where a forest's sample may have none.
        self._flat = len(learn) < 2 * min_leaf
        if self._flat:
            return
        parameters = {
            "objective": "none",
            "metric": "none",
            "num_class": n_outputs,
            "boost_from_average": False,
            "learning_rate": settings.learning_rate,
            "num_leaves": settings.n_leaves,
            "min_data_in_leaf": min_leaf,
            "max_bin": settings.n_bins,
            "seed": settings.random_state,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "verbosity": -1,
            **(_FOREST if forest else {}),
        }
        cells = _floats(X)
        train = lightgbm.Dataset(cells[learn], params=parameters, free_raw_data=True)
        # A booster changes the parameters of its data, so construct the other rows first.
        others = train.create_valid(cells[self._others], params=parameters)
        if len(self._others):
            others.construct()
        self._booster = lightgbm.Booster(parameters, train)
        if len(self._others):
            self._booster.add_valid(others, "others")

    def step(self, slope: Floats, curvature: Floats, line: LineSearch | None = None) -> None:
        if self._flat:
            return
        from lightgbm.basic import LightGBMError

        g = slope[:, 0] if self._k == 1 else slope
        h = np.maximum(curvature, MIN_CURVATURE)
        try:
            self._booster.update(fobj=lambda *_: (g, h[:, 0] if self._k == 1 else h))
        except LightGBMError as error:
            if "num_features" not in str(error):
                raise
            # LightGBM raises an error if no feature allows a split.
            self._flat = True
            return
        before = self._raw.copy()
        self._read(self._booster.eval_train, self._learn)
        if len(self._others):
            self._read(self._booster.eval_valid, self._others)
        if line is not None:
            if self.scores is self._raw:
                self.scores = before
            self._lengths.append(line(self._raw - before))
            self.scores = self.scores + self._lengths[-1] * (self._raw - before)

    def _read(self, evaluate: Callable[..., object], rows: Ints) -> None:
        """Copy the scores that LightGBM holds, which saves a prediction."""

        def store(scores: Floats, _: object) -> tuple[str, float, bool]:
            self._raw[rows] = np.asarray(scores).reshape(len(rows), self._k)
            return "read", 0.0, False

        evaluate(feval=store)

    def predict(self, X: Matrix) -> Floats:
        if self._flat or not X.shape[0]:
            return np.zeros((X.shape[0], self._k))
        cells, out = _floats(X), np.zeros((X.shape[0], self._k))
        # Steps with individual lengths are predicted one by one.
        parts: list[tuple[float, dict[str, int]]] = (
            [(1.0, {})]
            if not self._lengths
            else [
                (length, {"start_iteration": number, "num_iteration": 1})
                for number, length in enumerate(self._lengths)
            ]
        )
        for length, iterations in parts:
            scores = self._booster.predict(cells, raw_score=True, **iterations)
            out += length * np.asarray(scores, dtype=np.float64).reshape(out.shape)
        return out

    def saved(self) -> dict[str, object]:
        """Return the state for `restored`, with the trees in LightGBM's text format."""
        trees = "" if self._flat else self._booster.model_to_string()
        return {"k": self._k, "scores": self.scores, "trees": trees, "lengths": self._lengths}

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> _LightGbm:
        """Return trees that predict like the saved ones; they cannot be trained further."""
        import lightgbm

        model = cls.__new__(cls)
        model._k, model.scores, model._flat = saved["k"], saved["scores"], not saved["trees"]
        model._lengths = list(saved.get("lengths", ()))
        if saved["trees"]:
            model._booster = lightgbm.Booster(model_str=saved["trees"])
        return model


class _PlainTrees:
    """Trees of scikit-learn: the same Newton steps with exact splits, several times slower."""

    def __init__(self, X: Matrix, learn: Ints, n_outputs: int, settings: TreeSettings) -> None:
        self._X, self._learn, self._settings = as_dense(X), learn, settings
        self._trees: list[list[Any]] = []
        self._lengths: list[float] = []
        self.scores = np.zeros((X.shape[0], n_outputs))

    def step(self, slope: Floats, curvature: Floats, line: LineSearch | None = None) -> None:
        from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

        h = np.maximum(curvature, MIN_CURVATURE)
        seed = self._settings.random_state + len(self._trees)
        forest = self._settings.learner == FOREST
        grown = []
        for column in range(slope.shape[1]):
            tree = (ExtraTreeRegressor if forest else DecisionTreeRegressor)(
                max_leaf_nodes=self._settings.n_leaves,
                min_samples_leaf=self._settings.min_leaf,
                random_state=seed,
            )
            # A leaf's mean of -g / h, weighted by h, is its Newton step -sum g / sum h.
            tree.fit(
                self._X[self._learn], -slope[:, column] / h[:, column], sample_weight=h[:, column]
            )
            grown.append(tree)
        self._trees.append(grown)
        change = self._step_of(grown, self._X)
        self._lengths.append(1.0 if line is None else line(change))
        self.scores += self._lengths[-1] * change

    def predict(self, X: Matrix) -> Floats:
        out = np.zeros((X.shape[0], self.scores.shape[1]))
        for grown, length in zip(self._trees, self._lengths, strict=True) if len(out) else ():
            out += length * self._step_of(grown, as_dense(X))
        return out

    def _step_of(self, grown: Sequence[DecisionTreeRegressor], X: Floats) -> Floats:
        steps = np.column_stack([tree.predict(X) for tree in grown])
        return np.asarray(self._settings.learning_rate * steps)


class _Ridges:
    """Ridge regressions of the Newton steps, more accurate than trees for few labels.

    All rows use the largest curvature, so that no step is too long. The ridge is the mean squared
    singular value of the rows, with columns of equal size. One singular value decomposition (a
    randomised one of 200 directions for more than 500 rows and columns), then O(m r K) per step.
    """

    def __init__(self, X: Matrix, learn: Ints, n_outputs: int, settings: TreeSettings) -> None:
        self._learn, self._rate = learn, settings.learning_rate
        self._centre, self._size = _column_moments(X)
        Z = self._laid_out(X)
        training = Z[learn]
        if min(training.shape) > _MAX_EXACT_SIZE:
            U, d, V = randomized_svd(training, _N_DIRECTIONS, random_state=settings.random_state)
        else:
            U, d, V = np.linalg.svd(as_dense(training), full_matrices=False)
        ridge = float(np.mean(d**2)) if len(d) else 0.0
        self._up, self._down = U.T, V.T * (d / np.maximum(d**2 + ridge, 1e-300))
        self._Z = Z
        self.slopes = np.zeros((Z.shape[1], n_outputs))
        self.level = np.zeros(n_outputs)
        self.scores = np.zeros((Z.shape[0], n_outputs))

    def step(self, slope: Floats, curvature: Floats, line: LineSearch | None = None) -> None:
        r = -slope / np.maximum(curvature.max(axis=0), MIN_CURVATURE)
        level = self._rate * r.mean(axis=0)
        slopes = self._rate * (self._down @ (self._up @ (r - r.mean(axis=0))))
        change = level + np.asarray(self._Z @ slopes)
        length = 1.0 if line is None else line(change)
        self.level, self.slopes = self.level + length * level, self.slopes + length * slopes
        self.scores = self.scores + length * change

    def predict(self, X: Matrix) -> Floats:
        return np.asarray(self.level + self._laid_out(X) @ self.slopes)

    def saved(self) -> dict[str, object]:
        """Return the state for `restored`."""
        return {
            "slopes": self.slopes,
            "level": self.level,
            "scores": self.scores,
            "centre": self._centre,
            "size": self._size,
        }

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> _Ridges:
        """Return a model that predicts like the saved one; it cannot be trained further."""
        model = cls.__new__(cls)
        model.slopes, model.level, model.scores = saved["slopes"], saved["level"], saved["scores"]
        model._centre, model._size = saved["centre"], saved["size"]
        return model

    def _laid_out(self, X: Matrix) -> Matrix:
        """Return columns of mean 0 and equal size, missing cells as 0; sparse zeros stay 0."""
        if is_sparse(X):
            return sp.csr_array(X @ sp.diags_array(1.0 / self._size))
        Z = (np.asarray(X, dtype=np.float64) - self._centre) / self._size
        return np.where(np.isfinite(Z), Z, 0.0)


def _column_moments(X: Matrix) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the columns without missing cells; 1 if constant."""
    if is_sparse(X):
        size = np.sqrt(np.asarray(X.multiply(X).mean(axis=0)).ravel())
        return np.zeros(X.shape[1]), np.where(size > 0, size, 1.0)
    cells = np.asarray(X, dtype=np.float64)
    present = np.isfinite(cells)
    count = np.maximum(present.sum(axis=0), 1)
    centre = np.where(present, cells, 0.0).sum(axis=0) / count
    size = np.sqrt(np.where(present, (cells - centre) ** 2, 0.0).sum(axis=0) / count)
    return centre, np.where(size > 0, size, 1.0)


def _floats(X: Matrix) -> Floats | sp.csr_matrix:
    return sp.csr_matrix(X) if is_sparse(X) else np.ascontiguousarray(X, dtype=np.float64)
