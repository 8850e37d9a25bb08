"""What a user can say about how a file is to be read, where hetviz guessed otherwise."""

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
_ENCODINGS: dict[str | None, str] = dict([(None, "as found"), *encodings.WORDS.items()])
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
_AS = {"square": "matrix"}
_TEXT = ("role", "separator", "decimal", "encoding", "header", "skip", "id", "square")
_BOOK = ("role", "sheet", "decimal", "header", "skip", "id", "square")
_TYPED = ("role", "id")
_MATRIX = ("matrix", "rows_of")
_NAMED = {
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
_ACROSS = 3
_FOR: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab"), _TEXT),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"), _BOOK),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db", ".duckdb"), ("sheet",)),
    **dict.fromkeys((".parquet", ".arrow", ".feather", ".json", ".jsonl", ".ndjson"), _TYPED),
    **dict.fromkeys((".dta", ".sav", ".zsav", ".sas7bdat", ".xpt"), _TYPED),
    **dict.fromkeys((".sif", ".gmt"), ("separator", "encoding")),
    **dict.fromkeys((".npy", ".npz"), _MATRIX),
    **dict.fromkeys((".h5ad", ".h5mu"), ("part",)),
}

Said = Mapping[str, Mapping[str, Any]]


def choices_form(
    files: Mapping[str, str],
    said: Said,
    then: Callable[[Said], None],
    sheets: Mapping[str, Sequence[str]] | None = None,
    matrices: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Ask how files are to be read.

    Parameters
    ----------
    files : mapping of str to str
        File name to blob; those of which nothing can be said, such as zips, are passed over.
    said : mapping of file name to mapping
        What was said before.
    then : callable
        Gets what is said now.
    sheets : mapping of file name to sequence of str
        The sheets that a workbook is known to have.
    matrices : mapping of file name to sequence of str
        The matrices that an AnnData file is known to have.
    """
    tables = [name for name in files if _suffix(name) in _FOR]
    if not tables:
        return
    with st.expander("Read a file in another way"):
        name = tables[0] if len(tables) == 1 else st.selectbox("File", tables, key="reading-file")
        key = f"reading-{tables.index(name)}"
        others = [other for other in files if other != name]
        with st.form(key, border=False):
            known = {
                "sheet": (sheets or {}).get(name, ()),
                "part": (matrices or {}).get(name, ()),
                "rows_of": others,
            }
            _fields(key, name, said.get(name, {}), known)
            st.form_submit_button("Read again", on_click=_say, args=(key, name, said, then))


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _fields(
    key: str, name: str, before: Mapping[str, object], known: Mapping[str, Sequence[str]]
) -> None:
    fields = _FOR[_suffix(name)]
    # Row by row, so that labels of one row stand at one height.
    for start in range(0, len(fields), _ACROSS):
        columns = st.columns(_ACROSS)
        for column, field in zip(columns, fields[start : start + _ACROSS], strict=False):
            with column:
                said = before.get(_AS.get(field, field))
                _field(f"{key}-{field}", field, said, known.get(field, ()))


def _field(key: str, field: str, before: Any, known: Sequence[str]) -> None:
    if field == "id":
        st.text_input(
            "Column of ids",
            value=before or "",
            placeholder="as found",
            help="Its values must all differ; links name items by them.",
            key=key,
        )
    elif field == "skip":
        st.number_input(
            "Names of columns are in row",
            min_value=1,
            value=None if before is None else before + 1,
            placeholder="as found",
            help="Count from 1 as a spreadsheet does; in a text file, empty lines do not count.",
            key=key,
        )
    elif field in _NAMED:
        label, help, nothing = _NAMED[field]
        named = [None, *dict.fromkeys([*([before] if before else []), *known])]
        st.selectbox(
            label,
            named,
            index=named.index(before),
            format_func=lambda name: name or nothing,
            accept_new_options=field == "sheet",
            help=help,
            key=key,
        )
    else:
        label, options, help = _FIELDS[field]
        keys = list(options)
        st.selectbox(
            label,
            keys,
            index=keys.index(before) if before in keys else 0,
            format_func=options.__getitem__,
            help=help,
            key=key,
        )


def _say(key: str, name: str, said: Said, then: Callable[[Said], None]) -> None:
    values = {
        _AS.get(field, field): st.session_state[f"{key}-{field}"] for field in _FOR[_suffix(name)]
    }
    if "id" in values:
        values["id"] = values["id"].strip() or None
    if values.get("skip") is not None:
        values["skip"] = int(values["skip"]) - 1
    then({**said, name: {field: value for field, value in values.items() if value is not None}})


__all__ = ["choices_form"]
