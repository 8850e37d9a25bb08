"""Trees grown round by round from slopes given from outside, by LightGBM or plainly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Matrix, is_sparse
from hetviz.core.spectral.blocks import as_dense
from hetviz.errors import HetvizError

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor

LEAST_CURVATURE = 1e-6
_MOST_CELLS_OF_PLAIN_TREES = 2_000_000


@dataclass(frozen=True)
class TreeSettings:
    """How trees are grown.

    Attributes
    ----------
    learning_rate : float
    n_leaves : int
        At most, by tree.
    min_leaf : int
        Rows in a leaf, at least.
    n_bins : int
        Values of a feature that LightGBM tells apart; 63 take half the time of its own 255.
    random_state : int
    """

    learning_rate: float = 0.1
    n_leaves: int = 15
    min_leaf: int = 5
    n_bins: int = 63
    random_state: int = 0


class Boosted(Protocol):
    """Margins of the rows of one source, one step of trees after the other.

    Attributes
    ----------
    scores : ndarray of shape (n_i, K)
        Of all rows, those that the trees learn from and the others.
    """

    scores: Floats

    def step(self, slope: Floats, curvature: Floats) -> None:
        """Grow one tree for each column by derivatives of the rows to learn from, (m, K)."""
        ...

    def predict(self, X: Matrix) -> Floats:
        """Return the scores of other rows, (n_new, K)."""
        ...


def boosted(X: Matrix, learn: Ints, n_outputs: int, settings: TreeSettings) -> Boosted:
    """Make ready to boost.

    Parameters
    ----------
    X : ndarray or csr of shape (n_i, d)
        NaN where a cell is missing.
    learn : ndarray of int
        Rows to learn from; the others are only predicted.
    n_outputs : int
        Number K of columns.
    settings : TreeSettings

    Raises
    ------
    hetviz.errors.HetvizError
        If LightGBM cannot be loaded and the data are too large for the plain trees.
    """
    try:
        import lightgbm
    except OSError as error:
        # the package is there, but a library of the system that it needs is not
        if X.shape[0] * X.shape[1] * n_outputs > _MOST_CELLS_OF_PLAIN_TREES:
            raise HetvizError(
                f"LightGBM could not be loaded ({error}). It needs the system library libgomp: on "
                "Debian or Ubuntu install the package libgomp1, on macOS libomp. Without it only "
                "small data can be learned from."
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
        parameters = {
            "objective": "none",
            "metric": "none",
            "num_class": n_outputs,
            "boost_from_average": False,
            "learning_rate": settings.learning_rate,
            "num_leaves": settings.n_leaves,
            "min_data_in_leaf": settings.min_leaf,
            "max_bin": settings.n_bins,
            "seed": settings.random_state,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "verbosity": -1,
        }
        cells = _floats(X)
        train = lightgbm.Dataset(cells[learn], params=parameters, free_raw_data=True)
        # a booster adds to the parameters of its data, so the others are laid out before it
        others = train.create_valid(cells[self._others], params=parameters)
        if len(self._others):
            others.construct()
        self._booster = lightgbm.Booster(parameters, train)
        if len(self._others):
            self._booster.add_valid(others, "others")
        self.scores = np.zeros((X.shape[0], n_outputs))
        self._flat = len(learn) < 2 * settings.min_leaf

    def step(self, slope: Floats, curvature: Floats) -> None:
        if self._flat:
            return
        from lightgbm.basic import LightGBMError

        g = slope[:, 0] if self._k == 1 else slope
        h = np.maximum(curvature, LEAST_CURVATURE)
        try:
            self._booster.update(fobj=lambda *_: (g, h[:, 0] if self._k == 1 else h))
        except LightGBMError as error:
            if "num_features" not in str(error):
                raise
            # no feature differs enough for a single split, which LightGBM takes for a fault
            self._flat = True
            return
        self._read(self._booster.eval_train, self._learn)
        if len(self._others):
            self._read(self._booster.eval_valid, self._others)

    def _read(self, evaluate: Callable[..., object], rows: Ints) -> None:
        """Take over the scores that LightGBM keeps: no second prediction is needed."""

        def store(scores: Floats, _: object) -> tuple[str, float, bool]:
            self.scores[rows] = np.asarray(scores).reshape(len(rows), self._k)
            return "read", 0.0, False

        evaluate(feval=store)

    def predict(self, X: Matrix) -> Floats:
        if self._flat or not X.shape[0]:
            return np.zeros((X.shape[0], self._k))
        found = self._booster.predict(_floats(X), raw_score=True)
        return np.asarray(found, dtype=np.float64).reshape(X.shape[0], self._k)

    def saved(self) -> dict[str, object]:
        """Return what `restored` needs: the trees in LightGBM's own text form."""
        trees = "" if self._flat else self._booster.model_to_string()
        return {"k": self._k, "scores": self.scores, "trees": trees}

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> _LightGbm:
        """Return trees that predict as the saved ones; they cannot grow further."""
        import lightgbm

        found = cls.__new__(cls)
        found._k, found.scores, found._flat = saved["k"], saved["scores"], not saved["trees"]
        if saved["trees"]:
            found._booster = lightgbm.Booster(model_str=saved["trees"])
        return found


class _PlainTrees:
    """Trees of scikit-learn: the same Newton steps in exact splits, several times slower."""

    def __init__(self, X: Matrix, learn: Ints, n_outputs: int, settings: TreeSettings) -> None:
        self._X, self._learn, self._settings = as_dense(X), learn, settings
        self._trees: list[list[Any]] = []
        self.scores = np.zeros((X.shape[0], n_outputs))

    def step(self, slope: Floats, curvature: Floats) -> None:
        from sklearn.tree import DecisionTreeRegressor

        h = np.maximum(curvature, LEAST_CURVATURE)
        seed = self._settings.random_state + len(self._trees)
        grown = []
        for column in range(slope.shape[1]):
            tree = DecisionTreeRegressor(
                max_leaf_nodes=self._settings.n_leaves,
                min_samples_leaf=self._settings.min_leaf,
                random_state=seed,
            )
            # a leaf's weighted mean of -g / h by h is its Newton step -sum g / sum h
            tree.fit(
                self._X[self._learn],
                -slope[:, column] / h[:, column],
                sample_weight=h[:, column],
            )
            grown.append(tree)
        self._trees.append(grown)
        self.scores += self._step_of(grown, self._X)

    def predict(self, X: Matrix) -> Floats:
        out = np.zeros((X.shape[0], self.scores.shape[1]))
        for grown in self._trees if len(out) else ():
            out += self._step_of(grown, as_dense(X))
        return out

    def _step_of(self, grown: Sequence[DecisionTreeRegressor], X: Floats) -> Floats:
        steps = np.column_stack([tree.predict(X) for tree in grown])
        return np.asarray(self._settings.learning_rate * steps)


def _floats(X: Matrix) -> Floats | sp.csr_matrix:
    return sp.csr_matrix(X) if is_sparse(X) else np.ascontiguousarray(X, dtype=np.float64)
