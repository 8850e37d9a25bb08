"""Options that override how a dropped file is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from hetviz.io.formats.registry import format_by_extension
from hetviz.io.infer import encodings

_SEPARATORS = {
    None: "automatic",
    ",": "comma",
    ";": "semicolon",
    "\t": "tab",
    "|": "bar |",
    " ": "spaces",
}
_DECIMALS = {None: "automatic", ".": "point: 1.5", ",": "comma: 1,5"}
_ENCODINGS: dict[str | None, str] = dict([(None, "automatic"), *encodings.ENCODING_NAMES.items()])
_ROLES = {None: "automatic", "dataset": "a dataset", "links": "links", "comparisons": "comparisons"}
_HEADERS = {None: "automatic", True: "the first row", False: "no row"}
_MATRICES = {
    None: "automatic",
    "features": "a row of numbers for each item",
    "kernel": "similarities of items (kernel)",
    "distance": "distances between items",
}
_SQUARES = {name: words for name, words in _MATRICES.items() if name != "features"}
_FIELDS: dict[str, tuple[str, Mapping[Any, str], str]] = {
    "role": ("Contents", _ROLES, "A dataset has one row for each item."),
    "separator": ("Column separator", _SEPARATORS, "The character between two cells."),
    "decimal": ("Decimal sign", _DECIMALS, "How decimal fractions are written."),
    "encoding": ("Text encoding", _ENCODINGS, "Try another one if accented letters look wrong."),
    "header": ("Column names", _HEADERS, "Without names, columns are called column_1, ..."),
    "matrix": ("The numbers are", _MATRICES, "The meaning of a matrix."),
    "square": (
        "A square table holds",
        _SQUARES,
        "The first row and the first column have the same ids, with a number for each pair.",
    ),
}
# Fields stored as another one, as their options differ by kind of file.
_STORED_AS = {"square": "matrix"}
_NAMED_FIELDS = {
    "sheet": ("Sheet or table", "Only this one is read. You can also name a hidden one.", "all"),
    "rows_of": (
        "Its rows belong to",
        "The two must have their rows in the same order.",
        "automatic",
    ),
    "part": (
        "The features are",
        "X has the measured values. Others are computed from it.",
        "automatic",
    ),
}
_FIELDS_PER_ROW = 3
FileChoices = Mapping[str, Mapping[str, Any]]


def show_options(
    files: Mapping[str, str],
    choices: FileChoices,
    on_change: Callable[[FileChoices], None],
    sheets: Mapping[str, Sequence[str]] | None = None,
    matrices: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Show the options of each file and pass the new choices to `on_change`."""
    tables = [name for name in files if _options_of(name)]
    if not tables:
        return
    with st.expander("Reading options"):
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


def _options_of(name: str) -> tuple[str, ...]:
    file_format = format_by_extension(name)
    return () if file_format is None else file_format.options


def _show_fields(
    key: str, name: str, current: Mapping[str, object], options: Mapping[str, Sequence[str]]
) -> None:
    fields = _options_of(name)
    # Row by row, so that the labels of one row are aligned.
    for start in range(0, len(fields), _FIELDS_PER_ROW):
        columns = st.columns(_FIELDS_PER_ROW)
        for column, field in zip(columns, fields[start : start + _FIELDS_PER_ROW], strict=False):
            with column:
                value = current.get(_STORED_AS.get(field, field))
                _show_field(f"{key}-{field}", field, value, options.get(field, ()))


def _show_field(key: str, field: str, value: Any, known_values: Sequence[str]) -> None:
    if field == "id":
        st.text_input(
            "Id column",
            value=value or "",
            placeholder="automatic",
            help="Its values must be unique. Links refer to items by them.",
            key=key,
        )
    elif field == "skip":
        st.number_input(
            "Row of column names",
            min_value=1,
            value=None if value is None else value + 1,
            placeholder="automatic",
            help="Counted from 1. Empty lines of text files do not count.",
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
        for field in _options_of(name)
    }
    if "id" in values:
        values["id"] = values["id"].strip() or None
    if values.get("skip") is not None:
        values["skip"] = int(values["skip"]) - 1
    on_change(
        {**choices, name: {field: value for field, value in values.items() if value is not None}}
    )
