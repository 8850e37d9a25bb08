"""Cluster codes as tables, bytes and text, without heavy imports."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

import numpy as np
import pandas as pd

from hetviz._types import Ints, Texts
from hetviz.errors import DataError
from hetviz.io.stored import pack_integers, unpack_integers


def cluster_frame(ids: Mapping[str, Texts], codes: Ints, names: tuple[str, ...]) -> pd.DataFrame:
    """Return clusters as a table: dataset, id, cluster (from 1, or missing), name."""
    datasets = np.concatenate([np.full(len(texts), name, object) for name, texts in ids.items()])
    numbers = [code + 1 if code >= 0 else None for code in codes.tolist()]
    row_names = [names[code] if code >= 0 else None for code in codes.tolist()]
    return pd.DataFrame(
        {
            "dataset": datasets,
            "id": np.concatenate(list(ids.values())),
            "cluster": pd.array(numbers, "Int64"),
            "name": pd.Series(row_names, dtype=object),
        }
    )


def pack_codes(codes: Ints) -> bytes:
    """Return codes of rows as bytes."""
    return pack_integers(codes, "<i2")


def unpack_codes(content: bytes, n_rows: int, n_codes: int) -> Ints:
    """Return the codes of `pack_codes`, checked for number of rows and range."""
    try:
        codes = unpack_integers(content, n_rows, "<i2")
    except ValueError:
        raise _damaged_error() from None
    if len(codes) != n_rows or (len(codes) and not -1 <= codes.min() <= codes.max() < n_codes):
        raise DataError.of("other-data", "clusters", "they belong to other data")
    return codes


def codes_as_text(codes: Ints) -> str:
    """Return packed codes as text, for JSON."""
    return base64.b64encode(pack_codes(codes)).decode()


def codes_of_text(text: str, n_rows: int, n_codes: int) -> Ints:
    """Return the codes of `codes_as_text`, checked as by `unpack_codes`."""
    try:
        content = base64.b64decode(text)
    except (binascii.Error, ValueError):
        raise _damaged_error() from None
    return unpack_codes(content, n_rows, n_codes)


def _damaged_error() -> DataError:
    return DataError.of("damaged-content", "clusters", "they cannot be read")
