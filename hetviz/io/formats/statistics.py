"""Stata, SPSS and SAS files with value labels and dates."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from hetviz._text import count
from hetviz.errors import MissingExtraError, Problem
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.parquet import arrow_table
from hetviz.io.formats.typed_values import check_cells
from hetviz.io.infer.parsed import Choices, Table

_MAX_LABELS_SHOWN = 40
_NO_ANSWER_LABEL = re.compile(
    r"(refus(ed|al)|no (answer|response)|not (applicable|asked|stated|answered|available)|inap|"
    r"missing|skipped|n/a\b|keine angabe|(antwort )?verweigert|nicht (erhoben|gefragt)|"
    r"sans réponse|non[ -]réponse|no contesta|no responde|nessuna risposta)",
    re.I,
)


def _read(reader: str, program: str, name: str, content: bytes, choices: Choices) -> list[Table]:
    import pyarrow as pa

    try:
        import pyreadstat
    except ImportError:
        raise MissingExtraError(f"Reading files of {program}", "files") from None

    read = getattr(pyreadstat, reader)
    _, metadata = read(io.BytesIO(content), metadataonly=True)
    check_cells(name, metadata.number_rows or 0, metadata.number_columns or 0)
    frame, metadata = read(io.BytesIO(content), dates_as_pandas_datetime=True)
    columns: dict[str, Any] = {}
    problems: list[Problem] = []
    labels = metadata.variable_value_labels
    for column in frame.columns:
        columns[column] = _column(
            f"{name}, column {column}", frame[column], labels.get(column, {}), problems
        )
    table = arrow_table(name, pa.table(columns), choices)
    facts = {**table.facts, "file of": program}
    column_labels = [
        f"{column}: {words}"
        for column, words in metadata.column_names_to_labels.items()
        if words and words != column
    ]
    if column_labels:
        facts["column labels"] = "; ".join(column_labels[:_MAX_LABELS_SHOWN]) + (
            f"; and {len(column_labels) - _MAX_LABELS_SHOWN:,} more"
            if len(column_labels) > _MAX_LABELS_SHOWN
            else ""
        )
    return [replace(table, facts=facts, problems=(*table.problems, *problems))]


def _without_no_answers(
    where: str, cells: pd.Series, labels: Mapping[object, str], problems: list[Problem]
) -> pd.Series:
    """Return a column in which no-answer codes such as -9 are missing."""
    no_answer_codes = [
        code for code, word in labels.items() if _NO_ANSWER_LABEL.match(str(word).strip())
    ]
    if not no_answer_codes or not pd.api.types.is_numeric_dtype(cells.dtype):
        return cells
    answers = cells[~cells.isin(no_answer_codes)].dropna()
    if not len(answers):
        return cells
    is_no_answer = cells.isin(no_answer_codes) & ~cells.between(answers.min(), answers.max())
    if not is_no_answer.any():
        return cells
    codes_shown = "; ".join(
        f"{code:g} = {labels[code]}"
        for code in no_answer_codes
        if (cells[is_no_answer] == code).any()
    )
    n = int(is_no_answer.sum())
    message = f"{count(n, 'cell')} with a code for no answer count{'s' * (n == 1)} as missing"
    problems.append(Problem("no-answer", where, message, codes_shown[:200], severity="note"))
    return cells.where(~is_no_answer)


def _column(
    where: str, cells: pd.Series, labels: Mapping[object, str], problems: list[Problem]
) -> object:
    """Return a column as Arrow, with labels instead of values and integers without a fraction."""
    import pyarrow as pa

    cells = _without_no_answers(where, cells, labels, problems)
    values = cells.dropna()
    if labels:
        codes = pd.unique(values)
        without = [code for code in codes.tolist() if code not in labels]
        if not without and len(codes):
            return pa.array(cells.map(labels).astype(object), pa.large_string(), from_pandas=True)
        if len(without) < len(codes):
            message = "only some values have labels, so the values are kept"
            labels_used = [(code, word) for code, word in labels.items() if code in codes][:5]
            examples = "; ".join(
                f"{code:g} = {word}" if isinstance(code, float) else f"{code} = {word}"
                for code, word in labels_used
            )
            problems.append(Problem("some-labels", where, message, examples, severity="note"))
    is_amount = pd.api.types.is_float_dtype(cells.dtype)
    if (
        is_amount
        and len(values)
        and (np.abs(values) < 2**53).all()
        and (values == values // 1).all()
    ):
        return pa.array(cells.astype("Int64"), from_pandas=True)
    if cells.dtype == object:
        try:
            return pa.array(cells, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):
            return pa.array(cells.map(str, na_action="ignore"), from_pandas=True)
    return pa.array(cells, from_pandas=True)


# Old Stata files begin with the version, the byte order, 1 and 0.
_OLD_STATA = re.compile(rb"[\x68-\x73][\x01\x02]\x01\x00")
_SAS_START = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")


def _format(
    key: str, program: str, extensions: tuple[str, ...], reader: str, *magic: bytes
) -> FileFormat:
    article = "an" if program == "SPSS" else "a"
    message = f"the {program} file is damaged or its version is not supported"
    return FileFormat(
        key, f"{article} {program} file", "table", extensions, partial(_read, reader, program),
        magic=magic,
        damage=("bad-statistics-file", message, "Save it again, or save the table as CSV."),
    )  # fmt: skip


FORMATS = (
    replace(
        _format("stata", "Stata", (".dta",), "read_dta", b"<stata_dta>"),
        detect=lambda content: _OLD_STATA.match(content) is not None,
    ),
    _format("spss", "SPSS", (".sav", ".zsav"), "read_sav", b"$FL2@(#)", b"$FL3@(#)"),
    _format("sas", "SAS", (".sas7bdat",), "read_sas7bdat", _SAS_START),
    _format("sas-transport", "SAS transport", (".xpt",), "read_xport", b"HEADER RECORD*******LIB"),
)
