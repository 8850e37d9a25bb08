"""Pages of the app, and links to them."""

from __future__ import annotations

from copy import copy
from functools import cache

import streamlit as st

from hetviz.ui.shell import session
from hetviz.ui.shell.paths import PAGES

_ICONS = {
    "start": "home",
    "data": "table",
    "guidance": "rule",
    "map": "bubble_chart",
    "compare": "compare",
    "clusters": "workspaces",
    "predict": "online_prediction",
    "export": "download",
}


def pages() -> list[st.Page]:
    """Return all pages for one run of the script, which may run one of them."""
    return [copy(page) for page in _pages().values()]


def show_link(page: str, label: str) -> None:
    """Show a link to a page of this project."""
    st.page_link(_pages()[page], label=label, icon="", query_params=session.url_params())


def go_to(page: str) -> None:
    """End the run of this page and open another one of this project."""
    st.switch_page(_pages()[page], query_params=session.url_params())


# Made once: Streamlit looks up every folder of the path of each page and link.
@cache
def _pages() -> dict[str, st.Page]:
    # The first page has no name in its address, but /start works as well.
    first = st.Page(
        lambda: go_to("start"), title="To the start", url_path="start", visibility="hidden"
    )
    return {
        "": first,
        **{
            name: st.Page(
                PAGES / f"{name}.py",
                title=name.capitalize(),
                icon=f":material/{icon}:",
                url_path="home" if name == "start" else name,
                default=name == "start",
            )
            for name, icon in _ICONS.items()
        },
    }
