"""Help, for the frame of every page: one list to search, of places, keys, words and limits."""

from __future__ import annotations

import streamlit as st

from hetviz._version import __version__
from hetviz.io import limits
from hetviz.io.sandbox import process
from hetviz.ui.map.component import component
from hetviz.ui.shell import theme, words
from hetviz.workspace.store.blobs import MAX_BYTES, MOST_CACHED

_DOES = (
    "hetviz puts the items of several unlike datasets on one map. What you know of how they "
    "relate moves the map, and the curve beside it shows how far the map keeps it."
)
_KEPT = (
    "Every step is saved on the computer that runs hetviz, in its own data folder, or where the "
    "variable HETVIZ_HOME says. Nothing is sent anywhere else.",
    "The address of this page is the key to the project: who has it can open and change it. Your "
    "browser keeps a list of your projects; no one else can see that list.",
)


def show() -> None:
    """Show the help; meant for the inside of a popover."""
    with st.container(key="help-body", width=430, gap="small"):
        component.finder("help-finder", "help-body")
        st.html(
            "".join(
                (
                    _texts("What this is", (_DOES,)),
                    _terms("Places", words.PLACES),
                    _terms("Keys on the map", words.KEYS),
                    _terms("Words", words.GLOSSARY),
                    _texts("Where things are kept", _KEPT),
                    _terms("Limits", [(one.words, str(one)) for one in limits.LIMITS]),
                    _texts("More on limits", _more()),
                )
            )
        )
        st.html(f'<p class="hv-now">hetviz {theme.esc(__version__)}</p>')


def _more() -> tuple[str, str]:
    return (
        f"Reading one file may take {process.PROCESSOR_S} seconds of work and "
        f"{process.RESIDENT // limits.MB:,} MB of memory. Larger data: take a sample of the rows.",
        f"A project may hold {MAX_BYTES // limits.MB} MB. Up to {MOST_CACHED // limits.MB} MB "
        "of it are what was read from large files, so that they need not be read again; that goes "
        "first where its files and maps need the room.",
    )


def _terms(title: str, pairs: tuple[tuple[str, str], ...] | list[tuple[str, str]]) -> str:
    lines = "".join(
        f'<div class="hv-found-row"><dt>{theme.esc(name)}</dt><dd>{theme.esc(said)}</dd></div>'
        for name, said in pairs
    )
    return f'<section class="hv-help"><h3>{theme.esc(title)}</h3><dl>{lines}</dl></section>'


def _texts(title: str, texts: tuple[str, ...]) -> str:
    lines = "".join(f'<p class="hv-found-row">{theme.esc(one)}</p>' for one in texts)
    return f'<section class="hv-help"><h3>{theme.esc(title)}</h3>{lines}</section>'
