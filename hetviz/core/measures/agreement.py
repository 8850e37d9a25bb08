"""Agreement of people who judged the same units: Krippendorff's alpha."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Sparse

MIN_UNITS = 5
"""Alpha of fewer units says hardly more than chance."""
MIN_UNITS_OF_INTERVAL = 20
"""With fewer units, resampling them does not show how uncertain alpha is."""
_N_RESAMPLES = 1_000
_MAX_CELLS = 4_000_000
_MIN_DEFINED_SHARE = 0.95


class NominalAlpha(NamedTuple):
    """Krippendorff's alpha for nominal values.

    `alpha`: 1 for full agreement, 0 for agreement as by chance, below 0 for less. None with fewer
        than `MIN_UNITS` units, or if all values are equal.
    `observed`, `expected`: Observed and expected disagreement, 0 to 1. NaN without units.
    `low`, `high`: Bounds of the 95 % interval, or None.
    `n_units`, `n_values`: Number of units with two or more values, and of their values.
    """

    alpha: float | None
    observed: float
    expected: float
    low: float | None
    high: float | None
    n_units: int
    n_values: int


def nominal_alpha(
    unit: Ints,
    value: Ints,
    *,
    exchangeable: bool = False,
    min_units: int = MIN_UNITS,
    random_state: int = 0,
) -> NominalAlpha:
    r"""Return Krippendorff's alpha for nominal values of units.

    Parameters
    ----------
    unit, value : array of int, shape (n,)
        Unit and value that each judgement is about, as codes from 0. Each person judges a unit at
        most once. Units with one judgement are ignored.
    exchangeable : bool
        Whether the two values 0 and 1 are named in arbitrary order in each unit, such as "the first
        pair is closer". Then both are equally likely by chance.
    min_units : int
        Alpha of fewer units is None.
    random_state : int
        Seed of the resampling.

    Returns
    -------
    NominalAlpha

    Notes
    -----
    With the number :math:`n_{uc}` of judgements of unit u that have value c,
    :math:`n_u = \sum_c n_{uc}`, :math:`n_c = \sum_u n_{uc}` and :math:`n = \sum_u n_u`,

    .. math:: \alpha = 1 - \frac{D_o}{D_e}, \quad
        D_o = \frac{1}{n} \sum_u \frac{n_u^2 - \sum_c n_{uc}^2}{n_u - 1}, \quad
        D_e = \frac{n^2 - \sum_c n_c^2}{n (n - 1)}

    (Krippendorff 2011, "Computing Krippendorff's alpha-reliability", with nominal differences; any
    number of people and missing judgements). The interval has the 2.5 % and 97.5 % quantiles of
    1,000 resamples of the units with replacement; there is none with fewer than 20 units, or if
    more than 5 % of the resamples have equal values only. O(1,000 n).

    References
    ----------
    Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of Pennsylvania.

    Examples
    --------
    >>> import numpy as np
    >>> from hetviz.core.measures.agreement import nominal_alpha
    >>> first, second = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]
    >>> round(nominal_alpha(np.tile(np.arange(6), 2), np.array(first + second)).alpha, 3)
    0.686
    """
    unit, value = np.asarray(unit, dtype=np.int64), np.asarray(value, dtype=np.int64)
    is_paired = np.bincount(unit, minlength=1)[unit] > 1 if len(unit) else np.zeros(0, dtype=bool)
    units, at = np.unique(unit[is_paired], return_inverse=True)
    n_units, n_values = len(units), int(is_paired.sum())
    if not n_units:
        return NominalAlpha(None, np.nan, np.nan, None, None, 0, 0)
    classes, code = np.unique(value[is_paired], return_inverse=True)
    shape = (n_units, len(classes))
    counts: Sparse = sp.csr_array((np.ones(n_values), (at, code)), shape=shape)
    size = np.bincount(at).astype(np.float64)
    squares = np.asarray(counts.multiply(counts).sum(axis=1), dtype=np.float64).ravel()
    disagreement = (size**2 - squares) / (size - 1)

    def both(weight: Floats) -> tuple[Floats, Floats]:
        """Return the observed and expected disagreement for weights of units, (b, n_units)."""
        n = weight @ size
        totals = weight @ counts
        spread = n**2 / 2 if exchangeable else n**2 - (totals**2).sum(axis=1)
        return weight @ disagreement / n, spread / (n * (n - 1))

    observed, expected = (float(part[0]) for part in both(np.ones((1, n_units))))
    alpha = low = high = None
    if n_units >= min_units and expected > 0:
        alpha = 1.0 - observed / expected
        if n_units >= MIN_UNITS_OF_INTERVAL:
            rng = np.random.default_rng(random_state)
            values = []
            step = max(1, _MAX_CELLS // n_units)
            for start in range(0, _N_RESAMPLES, step):
                times = min(step, _N_RESAMPLES - start)
                weight = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=times)
                with np.errstate(invalid="ignore", divide="ignore"):
                    parts = both(weight.astype(np.float64))
                    values.append(np.where(parts[1] > 0, 1.0 - parts[0] / parts[1], np.nan))
            resampled = np.concatenate(values)
            is_defined = np.isfinite(resampled)
            if is_defined.mean() >= _MIN_DEFINED_SHARE:
                quantiles = np.quantile(resampled[is_defined], [0.025, 0.975])
                low, high = map(float, quantiles)
    return NominalAlpha(alpha, observed, expected, low, high, n_units, n_values)
