"""What a user can say about how a table is to be read, where hetviz guessed otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

_SEPARATORS = {None: "as found", ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar |"}
_DECIMALS = {None: "as found", ".": "point: 1.5", ",": "comma: 1,5"}
_ENCODINGS = {None: "as found", "utf-8": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16"}
_ROLES = {None: "as found", "dataset": "a dataset", "links": "links", "comparisons": "comparisons"}
_FIELDS: dict[str, tuple[str, Mapping[str | None, str], str]] = {
    "role": ("This file holds", _ROLES, "A dataset has one row for each item."),
    "separator": ("Between columns stands", _SEPARATORS, "What separates one cell from the next."),
    "decimal": ("Decimal sign", _DECIMALS, "How numbers with a fraction are written."),
    "encoding": ("Text encoding", _ENCODINGS, "Try another one if accented letters look wrong."),
}

Said = Mapping[str, Mapping[str, Any]]


def choices_form(files: Mapping[str, str], said: Said, then: Callable[[Said], None]) -> None:
    """Ask how tables are to be read.

    Parameters
    ----------
    files : mapping of str to str
        File name to blob; zips are passed over.
    said : mapping of file name to mapping
        What was said before.
    then : callable
        Gets what is said now.
    """
    tables = [name for name in files if not name.lower().endswith(".zip")]
    if not tables:
        return
    with st.expander("Read a file in another way"):
        name = tables[0] if len(tables) == 1 else st.selectbox("File", tables, key="reading-file")
        key = f"reading-{tables.index(name)}"
        with st.form(key, border=False):
            _fields(key, said.get(name, {}))
            st.form_submit_button("Read again", on_click=_say, args=(key, name, said, then))


def _fields(key: str, before: Mapping[str, Any]) -> None:
    columns = st.columns(3)
    for place, (field, (label, options, help)) in enumerate(_FIELDS.items()):
        keys = list(options)
        with columns[place % 3]:
            st.selectbox(
                label,
                keys,
                index=keys.index(before.get(field)),
                format_func=options.__getitem__,
                help=help,
                key=f"{key}-{field}",
            )
    with columns[1]:
        st.text_input(
            "Column of ids",
            value=before.get("id", ""),
            placeholder="as found",
            help="Its values must all differ; links name items by them.",
            key=f"{key}-id",
        )


def _say(key: str, name: str, said: Said, then: Callable[[Said], None]) -> None:
    values = {field: st.session_state[f"{key}-{field}"] for field in _FIELDS}
    values["id"] = st.session_state[f"{key}-id"].strip() or None
    then({**said, name: {field: value for field, value in values.items() if value is not None}})


__all__ = ["choices_form"]
