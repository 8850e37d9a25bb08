"""Differences between the supported versions of pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from hetviz._text import plain_text
from hetviz._types import Array, Ints


def _text_dtype() -> Any:
    try:
        return pd.StringDtype(na_value=np.nan)
    except TypeError:
        # The name in pandas 2.2.
        return pd.StringDtype("pyarrow_numpy")


TEXT: pd.StringDtype = _text_dtype()
"""Text in Arrow with NaN for missing values, which pandas 3 calls ``str``."""

# pandas 2 cuts text at a NUL.
_STOPS_AT_NUL = int(pd.__version__.split(".")[0]) < 3


def is_missing(cell: object) -> bool:
    """Whether a cell is empty: None, NaN, NaT or NA."""
    return pd.api.types.is_scalar(cell) and bool(pd.isna(cast("float", cell)))


def as_texts(values: pd.Series) -> pd.Series:
    """Return the cells as text, 3 for 3.0; missing cells as "nan" or the like."""
    if not pd.api.types.is_float_dtype(values):
        return values.astype(str)
    return values.map({value: plain_text(value) for value in values.unique().tolist()}).astype(str)


def factorize(texts: Sequence[str] | Array, *, sort: bool = False) -> tuple[Ints, Array]:
    """Return a code for each text, and the distinct texts, like `pandas.factorize`."""
    values = np.array(texts, dtype=object)
    if not _STOPS_AT_NUL or not any("\0" in text for text in values.tolist()):
        codes, uniques = pd.factorize(values, sort=sort)
        return codes.astype(np.int64), np.asarray(uniques, dtype=object)
    unique_texts = dict.fromkeys(values.tolist())
    code_of = {text: k for k, text in enumerate(sorted(unique_texts) if sort else unique_texts)}
    codes = np.array([code_of[text] for text in values.tolist()], dtype=np.int64)
    return codes, np.array(list(code_of), dtype=object)
