"""Help, for the frame of every page: what the app does, the keys, where things are kept."""

from __future__ import annotations

import streamlit as st

from hetviz._version import __version__
from hetviz.io import limits
from hetviz.io.sandbox import process
from hetviz.ui.map.panel import KEYS
from hetviz.ui.shell import theme
from hetviz.workspace.store.blobs import MAX_BYTES, MOST_CACHED

_DOES = (
    "hetviz puts the items of several unlike datasets on one map. What you know of how they "
    "relate moves the map, and the curve beside it shows how far the map keeps it."
)
_STEPS = (
    ("Start", "open a sample, or drop your own files: tables, matrices, pictures, links"),
    ("Data", "see how the files were read, link datasets, add more"),
    ("Guidance", "see what was said and how far the map keeps it; change, add, settle conflicts"),
    ("Map", "select items, filter, compare maps made in different ways"),
)
_KEPT = (
    "Every step is saved on the computer that runs hetviz, in its own data folder, or where the "
    "variable HETVIZ_HOME says. Nothing is sent anywhere else.",
    "The address of this page is the key to the project: who has it can open and change it. Your "
    "browser keeps a list of your projects; no one else can see that list.",
)


def show() -> None:
    """Show the help; meant for the inside of a popover."""
    theme.section("What this is")
    theme.quiet(_DOES)
    _terms("Pages", _STEPS)
    theme.section("On the map")
    _terms("Keys", KEYS)
    theme.section("Where things are kept")
    for words in _KEPT:
        theme.quiet(words)
    theme.section("Limits")
    theme.pairs([(limit.words, str(limit)) for limit in limits.LIMITS])
    theme.quiet(
        f"Reading one file may take {process.PROCESSOR_S} seconds of work and "
        f"{process.RESIDENT // limits.MB:,} MB of memory. Larger data: take a sample of the rows."
    )
    theme.quiet(
        f"A project may hold {MAX_BYTES // limits.MB} MB. Up to {MOST_CACHED // limits.MB} MB "
        "of it are what was read from large files, so that they need not be read again; that goes "
        "first where its files and maps need the room."
    )
    st.html(f'<p class="hv-now">hetviz {theme.esc(__version__)}</p>')


def _terms(label: str, pairs: tuple[tuple[str, str], ...]) -> None:
    lines = "".join(
        f"<dt><kbd>{theme.esc(name)}</kbd></dt><dd>{theme.esc(words)}</dd>" for name, words in pairs
    )
    # What may scroll must be reached by the keyboard.
    st.html(
        f'<div tabindex="0" role="group" aria-label="{theme.esc(label)}">'
        f'<dl class="hv-key-list">{lines}</dl></div>'
    )
