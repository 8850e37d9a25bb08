"""Square matrices of how alike (kernel) or how far (distance) each two items are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Floats, Matrix, is_sparse
from hetviz.features.columns.types import numbers
from hetviz.io import gate, limits
from hetviz.io.sandbox.piece import Piece

MATRICES = ("features", "kernel", "distance")
_UNEVEN = 1e-6
_FEWEST = 3
_SQUARE_CHECKED = 2_000
_WORDS = {
    "kernel": "how alike each two of {n} items are (a kernel)",
    "distance": "how far each two of {n} items are (distances)",
}


def sentence(kind: str, shape: tuple[int, ...]) -> str:
    """Say what a matrix was taken for."""
    if kind == "features":
        return f"features: {shape[0]:,} rows, {shape[1]:,} columns"
    return _WORDS[kind].format(n=f"{shape[0]:,}")


def recognised(X: Matrix, rounding: float = 0.0) -> str:
    """Say what a matrix of shape (rows, columns) holds: "features", "kernel" or "distance".

    Parameters
    ----------
    X : array or sparse matrix
    rounding : float
        Half a unit of the last decimal that was written.

    Notes
    -----
    Distances are symmetric, not negative, zero on the diagonal, and zero between two items only
    where these are equally far from all others (so a matrix of 0 and 1 that says who is joined to
    whom is none). A kernel is symmetric and positive semidefinite to rounding, which its Cholesky
    factor shows in n^3 / 3 steps. Beyond the size that fits as a dense square, all are features.
    """
    n, p = X.shape
    if is_sparse(X) or n != p or not _FEWEST <= n <= limits.MAX_SQUARE or not np.isfinite(X).all():
        return "features"
    top = float(np.abs(X).max())
    if top == 0 or np.abs(X - X.T).max() > _UNEVEN * top + 2 * rounding:
        return "features"
    X = np.asarray(X, dtype=np.float64)
    diagonal = np.diag(X)
    slack = 1e-9 * top + rounding
    if np.abs(diagonal).max() <= slack:
        return "distance" if X.min() >= 0 and _equals_are_equal(X, slack) else "features"
    return "kernel" if _is_kernel(X, rounding) else "features"


def _equals_are_equal(X: Floats, slack: float) -> bool:
    zero = slack >= X
    np.fill_diagonal(zero, False)
    i, j = (ends[:_SQUARE_CHECKED] for ends in np.nonzero(zero))
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


def as_said(where: str, X: Any, said: str | None, rounding: float = 0.0) -> str:
    """Return what the user says a matrix is, after checking it, or what it is recognised as.

    Raises
    ------
    hetviz.errors.DataError
        If a matrix said to be a kernel or distances cannot be one.
    """
    if said is None:
        return recognised(X, rounding)
    if said not in MATRICES:
        raise gate.refusal("bad-choice", where, "a matrix is features, a kernel or distances", said)
    if said == "features":
        return said
    n, p = X.shape
    if n != p:
        what = "a kernel or distances need as many columns as rows"
        raise gate.refusal("bad-shape", where, what, f"{n:,} x {p:,}", "Take it as features.")
    if n > limits.MAX_SQUARE:
        what = f"{n:,} rows; {limits.MAX_SQUARE:,} are allowed for a kernel or distances"
        raise gate.refusal("too-large", where, what, remedy="Take a sample of the items.")
    X = X.toarray() if is_sparse(X) else X
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        place = f"{where}, row {bad[0][0] + 1}, column {bad[0][1] + 1}"
        raise gate.refusal("not-finite", place, "a number is missing or infinite")
    uneven = np.argwhere(np.abs(X - X.T) > _UNEVEN * np.abs(X).max() + 2 * rounding)
    if len(uneven):
        i, j = uneven[0]
        raise gate.refusal(
            "not-symmetric",
            f"{where}, row {i + 1}, column {j + 1}",
            f"the matrix is not symmetric: row {j + 1}, column {i + 1} has another value",
            f"{X[i, j]:g} and {X[j, i]:g}",
            "Save (K + K.T) / 2 if the difference means nothing.",
        )
    if said == "distance" and (X < 0).any():
        i, j = np.argwhere(X < 0)[0]
        raise gate.refusal(
            "negative-distance",
            f"{where}, row {i + 1}, column {j + 1}",
            "distances are 0 or more",
            f"{X[i, j]:g}",
            "Is this how alike they are? Take it as a kernel.",
        )
    return said


def square_table(piece: Piece, said: str | None = None) -> Piece:
    """Return a table whose columns are its own ids as a kernel or distances, others as they are.

    The first column must hold the ids, and the other columns the same ids in any order; they are
    put in the order of the rows. Nothing is matched by place.

    Raises
    ------
    hetviz.errors.DataError
        If the user says that it is a kernel or distances and it cannot be.
    """
    frame = piece.frame
    if frame is None or said == "features" or piece.role not in (None, "dataset"):
        return piece
    first, *others = map(str, frame.columns)
    ids = [text.strip() for text in frame[first].tolist()] if len(frame) else []
    if not _FEWEST <= len(ids) <= limits.MAX_SQUARE or sorted(ids) != sorted(others):
        return piece
    if len(set(ids)) != len(ids):
        return piece
    X = np.column_stack([numbers(frame[name].tolist(), piece.decimal) for name in ids])
    if not np.isfinite(X).all():
        return piece
    rounding = _half_a_unit(frame[others], piece.decimal)
    kind = as_said(piece.where, X, said, rounding)
    if kind == "features":
        return piece
    half = (X + X.T) / 2
    return replace(
        piece,
        role="dataset",
        frame=pd.DataFrame({"id": frame[first].tolist()}, dtype=str),
        id_column="id",
        facts={**piece.facts, "matrix": f"{sentence(kind, X.shape)}, named by the first row"},
        **{kind: half},  # type: ignore[arg-type]
    )


def _half_a_unit(cells: pd.DataFrame, decimal: str) -> float:
    """Return half a unit of the last decimal written; the most decimals of the first rows count."""
    head = cells.head(20).to_numpy(dtype=object).ravel().tolist()
    if any("e" in text.lower() for text in head):
        return 0.0
    most = max(len(text.strip().partition(decimal)[2]) for text in head)
    return 0.5 * 10.0**-most if most else 0.0
