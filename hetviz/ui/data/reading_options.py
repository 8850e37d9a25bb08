"""Options that override how a dropped file is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import streamlit as st

from hetviz.io.infer import encodings

_SEPARATORS = {
    None: "as found",
    ",": "comma",
    ";": "semicolon",
    "\t": "tab",
    "|": "bar |",
    " ": "spaces",
}
_DECIMALS = {None: "as found", ".": "point: 1.5", ",": "comma: 1,5"}
_ENCODINGS: dict[str | None, str] = dict([(None, "as found"), *encodings.ENCODING_NAMES.items()])
_ROLES = {None: "as found", "dataset": "a dataset", "links": "links", "comparisons": "comparisons"}
_HEADERS = {None: "as found", True: "the first row", False: "no row"}
_MATRICES = {
    None: "as found",
    "features": "a row of numbers for each item",
    "kernel": "likeness of items (kernel)",
    "distance": "distances between items",
}
_SQUARES = {name: words for name, words in _MATRICES.items() if name != "features"}
_FIELDS: dict[str, tuple[str, Mapping[Any, str], str]] = {
    "role": ("This file holds", _ROLES, "A dataset has one row for each item."),
    "separator": ("Between columns stands", _SEPARATORS, "What separates one cell from the next."),
    "decimal": ("Decimal sign", _DECIMALS, "How numbers with a fraction are written."),
    "encoding": ("Text encoding", _ENCODINGS, "Try another one if accented letters look wrong."),
    "header": ("Columns are named by", _HEADERS, "Without names they are called column_1, ..."),
    "matrix": ("The numbers are", _MATRICES, "What a matrix says of the items."),
    "square": (
        "A table as wide as long holds",
        _SQUARES,
        "A first row and a first column of the same ids, and a number for each two of them.",
    ),
}
# Fields that are answered as another one: what they ask differs by the kind of file.
_STORED_AS = {"square": "matrix"}
_TEXT_FIELDS = ("role", "separator", "decimal", "encoding", "header", "skip", "id", "square")
_WORKBOOK_FIELDS = ("role", "sheet", "decimal", "header", "skip", "id", "square")
_TYPED_FIELDS = ("role", "id")
_MATRIX_FIELDS = ("matrix", "rows_of")
_NAMED_FIELDS = {
    "sheet": (
        "Sheet or table",
        "Only this one is read. A hidden one can be named as well.",
        "every one",
    ),
    "rows_of": (
        "Its rows are those of",
        "The two must have their rows in the same order.",
        "as found",
    ),
    "part": ("The features are", "X is what was measured; others were computed of it.", "as found"),
}
_FIELDS_PER_ROW = 3
_FIELDS_BY_SUFFIX: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab"), _TEXT_FIELDS),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"), _WORKBOOK_FIELDS),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db", ".duckdb"), ("sheet",)),
    **dict.fromkeys(
        (".parquet", ".arrow", ".feather", ".json", ".jsonl", ".ndjson"), _TYPED_FIELDS
    ),
    **dict.fromkeys((".dta", ".sav", ".zsav", ".sas7bdat", ".xpt"), _TYPED_FIELDS),
    **dict.fromkeys((".sif", ".gmt"), ("separator", "encoding")),
    **dict.fromkeys((".npy", ".npz"), _MATRIX_FIELDS),
    **dict.fromkeys((".h5ad", ".h5mu"), ("part",)),
}

FileChoices = Mapping[str, Mapping[str, Any]]


def show_options(
    files: Mapping[str, str],
    choices: FileChoices,
    on_change: Callable[[FileChoices], None],
    sheets: Mapping[str, Sequence[str]] | None = None,
    matrices: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Ask how files are to be read.

    Parameters
    ----------
    files : mapping of str to str
        File name to blob; those of which nothing can be said, such as zips, are passed over.
    choices : mapping of file name to mapping
        What was said before.
    on_change : callable
        Gets what is said now.
    sheets : mapping of file name to sequence of str
        The sheets that a workbook is known to have.
    matrices : mapping of file name to sequence of str
        The matrices that an AnnData file is known to have.
    """
    tables = [name for name in files if _suffix(name) in _FIELDS_BY_SUFFIX]
    if not tables:
        return
    with st.expander("Read a file in another way"):
        name = tables[0] if len(tables) == 1 else st.selectbox("File", tables, key="reading-file")
        key = f"reading-{tables.index(name)}"
        others = [other for other in files if other != name]
        with st.form(key, border=False):
            options = {
                "sheet": (sheets or {}).get(name, ()),
                "part": (matrices or {}).get(name, ()),
                "rows_of": others,
            }
            _show_fields(key, name, choices.get(name, {}), options)
            st.form_submit_button(
                "Read again", on_click=_submit, args=(key, name, choices, on_change)
            )


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _show_fields(
    key: str, name: str, current: Mapping[str, object], options: Mapping[str, Sequence[str]]
) -> None:
    fields = _FIELDS_BY_SUFFIX[_suffix(name)]
    # Row by row, so that labels of one row stand at one height.
    for start in range(0, len(fields), _FIELDS_PER_ROW):
        columns = st.columns(_FIELDS_PER_ROW)
        for column, field in zip(columns, fields[start : start + _FIELDS_PER_ROW], strict=False):
            with column:
                value = current.get(_STORED_AS.get(field, field))
                _show_field(f"{key}-{field}", field, value, options.get(field, ()))


def _show_field(key: str, field: str, value: Any, known_values: Sequence[str]) -> None:
    if field == "id":
        st.text_input(
            "Column of ids",
            value=value or "",
            placeholder="as found",
            help="Its values must all differ; links name items by them.",
            key=key,
        )
    elif field == "skip":
        st.number_input(
            "Names of columns are in row",
            min_value=1,
            value=None if value is None else value + 1,
            placeholder="as found",
            help="Count from 1 as a spreadsheet does; in a text file, empty lines do not count.",
            key=key,
        )
    elif field in _NAMED_FIELDS:
        label, help_text, default_text = _NAMED_FIELDS[field]
        names = [None, *dict.fromkeys([*([value] if value else []), *known_values])]
        st.selectbox(
            label,
            names,
            index=names.index(value),
            format_func=lambda name: name or default_text,
            accept_new_options=field == "sheet",
            help=help_text,
            key=key,
        )
    else:
        label, options, help_text = _FIELDS[field]
        keys = list(options)
        st.selectbox(
            label,
            keys,
            index=keys.index(value) if value in keys else 0,
            format_func=options.__getitem__,
            help=help_text,
            key=key,
        )


def _submit(
    key: str, name: str, choices: FileChoices, on_change: Callable[[FileChoices], None]
) -> None:
    values = {
        _STORED_AS.get(field, field): st.session_state[f"{key}-{field}"]
        for field in _FIELDS_BY_SUFFIX[_suffix(name)]
    }
    if "id" in values:
        values["id"] = values["id"].strip() or None
    if values.get("skip") is not None:
        values["skip"] = int(values["skip"]) - 1
    on_change(
        {**choices, name: {field: value for field, value in values.items() if value is not None}}
    )
