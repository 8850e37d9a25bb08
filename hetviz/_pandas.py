"""What differs between the versions of pandas that hetviz works with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from hetviz._types import Array, Ints


def _text() -> Any:
    try:
        return pd.StringDtype(na_value=np.nan)
    except TypeError:
        # pandas 2.2 has it under another name.
        return pd.StringDtype("pyarrow_numpy")


TEXT: pd.StringDtype = _text()
"""A column of text that lies in Arrow, with NaN for gaps: what pandas 3 means by ``str``."""

# Before pandas 3 text was taken to end at a NUL.
_ENDS_AT_NUL = int(pd.__version__.split(".")[0]) < 3


def is_missing(cell: object) -> bool:
    """Tell a cell that holds nothing: None, NaN, NaT or NA."""
    return pd.api.types.is_scalar(cell) and bool(pd.isna(cast("float", cell)))


def factorized(texts: Sequence[str] | Array, *, sort: bool = False) -> tuple[Ints, Array]:
    """Return which of the different texts each text is, and these, as `pandas.factorize` does."""
    held = np.array(texts, dtype=object)
    if not _ENDS_AT_NUL or not any("\0" in text for text in held.tolist()):
        codes, different = pd.factorize(held, sort=sort)
        return codes.astype(np.int64), np.asarray(different, dtype=object)
    known = dict.fromkeys(held.tolist())
    place = {text: k for k, text in enumerate(sorted(known) if sort else known)}
    codes = np.array([place[text] for text in held.tolist()], dtype=np.int64)
    return codes, np.array(list(place), dtype=object)
