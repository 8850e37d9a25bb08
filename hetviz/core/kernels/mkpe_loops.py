"""Compiled inner loops of multiple kernel preserving embedding.

A pair has a squared distance D, a target score s of exp(-D / sigma^2), and a weight c. Dense pairs
are all rows i and columns j of a table, row by row; in a triangle only those with j > i.
Coordinates of dense pairs are (r, n), so that the inner loop runs along memory; those of listed
pairs are (n, r).
"""

from __future__ import annotations

from typing import Any

from hetviz._types import Floats, Ints
from hetviz.core.compiled import compiled_fastmath

_MAX_EXPONENT = 40.0


@compiled_fastmath
def exp_of_minus(x: float) -> float:
    """Return exp(-x) for x >= 0 to 1e-13, and exp(-40), which is 4e-18, beyond 40.

    Plain arithmetic, so that the compiler can vectorise it: a Taylor polynomial of exp(-x / 1024),
    squared ten times.
    """
    y = -min(x, _MAX_EXPONENT) / 1024.0
    e = y * (1.0 / 40_320.0) + 1.0 / 5_040.0
    e = e * y + 1.0 / 720.0
    e = e * y + 1.0 / 120.0
    e = e * y + 1.0 / 24.0
    e = e * y + 1.0 / 6.0
    e = e * y + 0.5
    e = e * y + 1.0
    # Use exp(y) - 1, whose squaring does not cancel: (1 + m)^2 - 1 = m (m + 2).
    m = e * y
    m = m * (m + 2.0)
    m = m * (m + 2.0)
    m = m * (m + 2.0)
    m = m * (m + 2.0)
    m = m * (m + 2.0)
    m = m * (m + 2.0)
    e = m + 1.0
    e = e * e
    e = e * e
    e = e * e
    return e * e


@compiled_fastmath
def dense_distances(E: Floats, F: Floats, triangle: bool, D: Floats) -> None:
    """Write squared distances of the columns of E (r, n) and F (r, m) to D."""
    r, n = E.shape
    m = F.shape[1]
    start = 0
    for i in range(n):
        first = i + 1 if triangle else 0
        size = m - first
        row = D[start : start + size]
        other = F[0, first:]
        x = E[0, i]
        for j in range(size):
            d = x - other[j]
            row[j] = d * d
        for axis in range(1, r):
            other = F[axis, first:]
            x = E[axis, i]
            for j in range(size):
                d = x - other[j]
                row[j] += d * d
        start += size


@compiled_fastmath
def dense_pull(
    E: Floats, F: Floats, triangle: bool, T: Floats, left: Floats, right: Floats
) -> None:
    """Add T (e_i - f_j) of each pair to left (r, n) at i; subtract it from right (r, m) at j."""
    r, n = E.shape
    m = F.shape[1]
    start = 0
    for i in range(n):
        first = i + 1 if triangle else 0
        size = m - first
        row = T[start : start + size]
        for axis in range(r):
            other = F[axis, first:]
            back = right[axis, first:]
            x = E[axis, i]
            total = 0.0
            for j in range(size):
                pull = row[j] * (x - other[j])
                total += pull
                back[j] -= pull
            left[axis, i] += total
        start += size


@compiled_fastmath
def listed_distances(E: Floats, F: Floats, i: Ints, j: Ints, D: Floats) -> None:
    """Write squared distances of rows i of E (n, r) and j of F (m, r) to D."""
    for p in range(i.size):
        total = 0.0
        for axis in range(E.shape[1]):
            d = E[i[p], axis] - F[j[p], axis]
            total += d * d
        D[p] = total


@compiled_fastmath
def listed_pull(
    E: Floats, F: Floats, i: Ints, j: Ints, T: Floats, left: Floats, right: Floats
) -> None:
    """Add T (e_i - f_j) of each pair to left (n, r) at i; subtract it from right (m, r) at j."""
    for p in range(i.size):
        for axis in range(E.shape[1]):
            pull = T[p] * (E[i[p], axis] - F[j[p], axis])
            left[i[p], axis] += pull
            right[j[p], axis] -= pull


@compiled_fastmath
def misfit(D: Floats, s: Floats, c: Floats, inverse: float) -> float:
    """Return the sum of c (k - s)^2, k = exp(-D inverse)."""
    total = 0.0
    for p in range(D.size):
        residual = exp_of_minus(D[p] * inverse) - s[p]
        total += c[p] * residual * residual
    return total


@compiled_fastmath
def slopes(D: Floats, s: Floats, c: Floats, inverse: float, T: Floats) -> float:
    """Write 2 c k (k - s) to T, and return the sum of T D."""
    total: Any = 0.0
    for p in range(D.size):
        k = exp_of_minus(D[p] * inverse)
        t = 2.0 * c[p] * k * (k - s[p])
        T[p] = t
        total += t * D[p]
    return float(total)
