"""Files of Stata, SPSS and SAS: values come with their labels, moments as dates."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from hetviz._text import count
from hetviz.errors import DataError, Problem
from hetviz.io import gate
from hetviz.io.formats.parquet import arrow_piece
from hetviz.io.formats.typed_values import check_cells
from hetviz.io.parsed import Choices, Piece

_WORDS = {
    "read_dta": "Stata",
    "read_sav": "SPSS",
    "read_sas7bdat": "SAS",
    "read_xport": "SAS transport",
}
_SHOWN = 40
_NO_ANSWER = re.compile(
    r"(refus(ed|al)|no (answer|response)|not (applicable|asked|stated|answered|available)|inap|"
    r"missing|skipped|n/a\b|keine angabe|(antwort )?verweigert|nicht (erhoben|gefragt)|"
    r"sans réponse|non[ -]réponse|no contesta|no responde|nessuna risposta)",
    re.I,
)


def read_stata(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read a Stata file, see `read_spss`."""
    return _read("read_dta", name, content, choices)


def read_spss(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read an SPSS file.

    Where every value of a column has a label, the labels are the cells; where only some have, as
    the ends of a scale, the numbers stay. Values declared as missing are missing, and so
    are codes outside of all answers whose labels say that there is none: -9, no answer.

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


def _answered(
    where: str, cells: pd.Series, labels: Mapping[object, str], problems: list[Problem]
) -> pd.Series:
    """Return a column in which codes for no answer, such as -9, are missing.

    Their labels say so, and they lie outside of what is an answer: a label alone could be one.
    """
    none = [code for code, word in labels.items() if _NO_ANSWER.match(str(word).strip())]
    if not none or not pd.api.types.is_numeric_dtype(cells.dtype):
        return cells
    answers = cells[~cells.isin(none)].dropna()
    if not len(answers):
        return cells
    is_none = cells.isin(none) & ~cells.between(answers.min(), answers.max())
    if not is_none.any():
        return cells
    said = "; ".join(
        f"{code:g} = {labels[code]}" for code in none if (cells[is_none] == code).any()
    )
    n = int(is_none.sum())
    message = f"{count(n, 'cell')} with a code for no answer count{'s' * (n == 1)} as missing"
    problems.append(Problem("no-answer", where, message, said[:200], severity="note"))
    return cells.where(~is_none)


def _column(
    where: str, cells: pd.Series, labels: Mapping[object, str], problems: list[Problem]
) -> object:
    """Return a column as Arrow: labels for values, whole numbers without a fraction."""
    import pyarrow as pa

    cells = _answered(where, cells, labels, problems)
    known = cells.dropna()
    if labels:
        codes = pd.unique(known)
        without = [code for code in codes.tolist() if code not in labels]
        if not without and len(codes):
            return pa.array(cells.map(labels).astype(object), pa.large_string(), from_pandas=True)
        if len(without) < len(codes):
            message = "only some values have labels, so the values stay"
            some = [(code, word) for code, word in labels.items() if code in codes][:5]
            shown = "; ".join(
                f"{code:g} = {word}" if isinstance(code, float) else f"{code} = {word}"
                for code, word in some
            )
            problems.append(Problem("some-labels", where, message, shown, severity="note"))
    is_amount = pd.api.types.is_float_dtype(cells.dtype)
    if is_amount and len(known) and (np.abs(known) < 2**53).all() and (known == known // 1).all():
        return pa.array(cells.astype("Int64"), from_pandas=True)
    if cells.dtype == object:
        try:
            return pa.array(cells, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):
            return pa.array(cells.map(str, na_action="ignore"), from_pandas=True)
    return pa.array(cells, from_pandas=True)
