"""Files of Stata, SPSS and SAS: values come with their labels, moments as dates."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from hetviz.errors import DataError, Problem
from hetviz.io import gate
from hetviz.io.formats.parquet import arrow_piece
from hetviz.io.formats.typed_values import check_cells
from hetviz.io.piece import Choices, Piece

_WORDS = {
    "read_dta": "Stata",
    "read_sav": "SPSS",
    "read_sas7bdat": "SAS",
    "read_xport": "SAS transport",
}
_SHOWN = 40


def read_stata(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read a Stata file, see `read_spss`."""
    return _read("read_dta", name, content, choices)


def read_spss(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read an SPSS file.

    Where every value of a column has a label, the labels are the cells; where only some have, as
    the ends of a scale, the numbers stay. Values declared as missing are missing.

    Raises
    ------
    hetviz.errors.DataError
        If it is damaged, larger than the budget, or holds no rows.
    """
    return _read("read_sav", name, content, choices)


def read_sas(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read a SAS file, see `read_spss`; SAS keeps labels of values in another file."""
    return _read("read_sas7bdat", name, content, choices)


def read_transport(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read a SAS transport file, see `read_sas`."""
    return _read("read_xport", name, content, choices)


def _read(reader: str, name: str, content: bytes, choices: Choices) -> list[Piece]:
    import pyarrow as pa
    import pyreadstat

    read = getattr(pyreadstat, reader)
    try:
        _, about = read(io.BytesIO(content), metadataonly=True)
        check_cells(name, about.number_rows or 0, about.number_columns or 0)
        frame, about = read(io.BytesIO(content), dates_as_pandas_datetime=True)
        columns: dict[str, Any] = {}
        problems: list[Problem] = []
        labels = about.variable_value_labels
        for column in frame.columns:
            columns[column] = _column(
                f"{name}, column {column}", frame[column], labels.get(column, {}), problems
            )
        table = pa.table(columns)
    except (DataError, MemoryError):
        raise
    except Exception as error:
        # What a damaged file makes the library raise is without end.
        raise gate.refusal(
            "bad-statistics-file",
            name,
            f"the {_WORDS[reader]} file is damaged, or of a version that is not read",
            remedy="Save it again, or save the table as CSV.",
        ) from error
    piece = arrow_piece(name, table, choices)
    facts = {**piece.facts, "file of": _WORDS[reader]}
    said = [
        f"{column}: {words}"
        for column, words in about.column_names_to_labels.items()
        if words and words != column
    ]
    if said:
        facts["what columns say"] = "; ".join(said[:_SHOWN]) + (
            f"; and {len(said) - _SHOWN:,} more" if len(said) > _SHOWN else ""
        )
    return [replace(piece, facts=facts, problems=(*piece.problems, *problems))]


def _column(
    where: str, cells: pd.Series, labels: Mapping[object, str], problems: list[Problem]
) -> object:
    """Return a column as Arrow: labels for values, whole numbers without a fraction."""
    import pyarrow as pa

    known = cells.dropna()
    if labels:
        codes = pd.unique(known)
        without = [code for code in codes.tolist() if code not in labels]
        if not without and len(codes):
            return pa.array(cells.map(labels).astype(object), pa.large_string(), from_pandas=True)
        what = "only some values have labels, so the values stay"
        shown = "; ".join(f"{code:g} = {word}" if isinstance(code, float) else f"{code} = {word}"
                          for code, word in list(labels.items())[:5])  # fmt: skip
        problems.append(Problem("some-labels", where, what, shown, severity="note"))
    is_amount = pd.api.types.is_float_dtype(cells.dtype)
    if is_amount and len(known) and (np.abs(known) < 2**53).all() and (known == known // 1).all():
        return pa.array(cells.astype("Int64"), from_pandas=True)
    if cells.dtype == object:
        try:
            return pa.array(cells, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):
            return pa.array(cells.map(str, na_action="ignore"), from_pandas=True)
    return pa.array(cells, from_pandas=True)
