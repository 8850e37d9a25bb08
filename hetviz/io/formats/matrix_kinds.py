"""Kinds of matrices: features, a kernel or distances."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats, Matrix, Reals, is_sparse
from hetviz.io import gate, limits

ROW = "row"
"""Name of the row number column of a matrix without ids."""

MATRICES = ("features", "kernel", "distance")
_MAX_ASYMMETRY = 1e-6
MIN_ROWS = 3
_MAX_PAIRS_CHECKED = 2_000
_WORDS = {
    "kernel": "similarities between {n} items (a kernel)",
    "distance": "distances between {n} items",
}


def matrix_sentence(kind: str, shape: tuple[int, ...]) -> str:
    """Return a text about the kind of a matrix."""
    if kind == "features":
        return f"features: {shape[0]:,} rows, {shape[1]:,} columns"
    return _WORDS[kind].format(n=f"{shape[0]:,}")


def matrix_kind(X: Matrix, rounding: float = 0.0) -> str:
    """Return the kind of a matrix: "features", "kernel" or "distance"."""
    n, p = X.shape
    if is_sparse(X) or n != p or not MIN_ROWS <= n <= limits.MAX_SQUARE or not np.isfinite(X).all():
        return "features"
    top = float(np.abs(X).max())
    if top == 0 or np.abs(X - X.T).max() > _MAX_ASYMMETRY * top + 2 * rounding:
        return "features"
    cells: Floats = np.asarray(X, dtype=np.float64)
    diagonal = np.diag(cells)
    slack = 1e-9 * top + rounding
    if np.abs(diagonal).max() <= slack:
        return (
            "distance" if cells.min() >= 0 and _zero_distances_agree(cells, slack) else "features"
        )
    return "kernel" if _is_kernel(cells, rounding) else "features"


def _zero_distances_agree(X: Floats, slack: float) -> bool:
    zero = slack >= X
    np.fill_diagonal(zero, False)
    i, j = (ends[:_MAX_PAIRS_CHECKED] for ends in np.nonzero(zero))
    far = np.abs(X[i] - X[j]).max(axis=1, initial=0.0) if len(i) else np.zeros(1)
    return bool((far <= 1e-3 * X.max() + 2 * slack).all())


def _is_kernel(X: Floats, rounding: float) -> bool:
    diagonal = np.diag(X)
    slack = max(1e-6 * float(np.abs(X).max()), 2 * rounding * np.sqrt(len(X)))
    if diagonal.min() < -slack:
        return False
    bound = np.sqrt(np.maximum(diagonal, 0))
    if (np.abs(X) > np.outer(bound, bound) + slack).any():
        return False
    try:
        np.linalg.cholesky(X + slack * np.eye(len(X)))
    except np.linalg.LinAlgError:
        return False
    return True


def chosen_or_recognised(where: str, X: Matrix, chosen: str | None, rounding: float = 0.0) -> str:
    """Return the kind of a matrix that the user chose, after a check, or the recognised kind."""
    if chosen is None:
        return matrix_kind(X, rounding)
    if chosen not in MATRICES:
        raise gate.refusal(
            "bad-choice", where, "a matrix must be features, a kernel or distances", chosen
        )
    if chosen == "features":
        return chosen
    n, p = X.shape
    if n != p:
        message = "a kernel or distance matrix needs as many columns as rows"
        raise gate.refusal("bad-shape", where, message, f"{n:,} x {p:,}", "Use it as features.")
    if n > limits.MAX_SQUARE:
        message = f"{n:,} rows, at most {limits.MAX_SQUARE:,} are allowed for a kernel or distances"
        raise gate.refusal("too-large", where, message, remedy="Take a sample of the items.")
    X = X.toarray() if is_sparse(X) else X
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        place = f"{where}, row {bad[0][0] + 1}, column {bad[0][1] + 1}"
        raise gate.refusal("not-finite", place, "a number is missing or infinite")
    check_symmetric(where, X, 2 * rounding)
    if chosen == "distance" and (X < 0).any():
        i, j = np.argwhere(X < 0)[0]
        raise gate.refusal(
            "negative-distance",
            f"{where}, row {i + 1}, column {j + 1}",
            "distances are 0 or more",
            f"{X[i, j]:g}",
            "If these are similarities, use it as a kernel.",
        )
    return chosen


def check_symmetric(where: str, X: Reals, slack: float = 0.0) -> None:
    """Raise an error for a matrix that is not symmetric up to `slack`."""
    scale = np.abs(X).max(initial=0.0)
    with np.errstate(invalid="ignore"):
        uneven = np.argwhere(np.abs(X - X.T) > _MAX_ASYMMETRY * scale + slack)
    if len(uneven):
        i, j = uneven[0]
        raise gate.refusal(
            "not-symmetric",
            f"{where}, row {i + 1}, column {j + 1}",
            f"the matrix is not symmetric: row {j + 1}, column {i + 1} has another value",
            f"{X[i, j]:g} and {X[j, i]:g}",
            "Save (K + K.T) / 2 if the difference means nothing.",
        )
