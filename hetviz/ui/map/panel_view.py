"""Which tab of the panel a reader looks at, and which others lie ready behind it."""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

TABS = ("Item", "Guidance", "Clusters", "Predict")


@dataclass(eq=False)
class PanelView:
    """What the panel shows; kept in the session.

    Attributes
    ----------
    tab : str
    wide : bool
        Whether it is as wide as a table needs.
    turn : int
        Counts what the server changed; the browser follows where it is higher than it knows.
    opens_panel : bool
        Whether the last change also opens a panel that is closed.
    drawn_states : dict of str to object
        By tab, what it showed when it was last drawn. A tab that would show the same lies ready
        behind the one that is looked at, and the browser turns to it without asking.
    token : str
        Name of this view for the browser, which says by it where it turned without asking.
    """

    tab: str = TABS[0]
    wide: bool = False
    turn: int = 0
    opens_panel: bool = False
    drawn_states: dict[str, object] = field(default_factory=dict)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(12))

    def update_tabs(self, states: Mapping[str, object]) -> list[str]:
        """Return which tabs to draw: the one that is looked at, then those that lie ready.

        Parameters
        ----------
        states : mapping of str to object
            By tab, what it shows now.
        """
        self.drawn_states = {
            tab: state
            for tab, state in states.items()
            if tab == self.tab or self.drawn_states.get(tab) == state
        }
        return [self.tab, *(tab for tab in TABS if tab in self.drawn_states and tab != self.tab)]


_VIEWS: weakref.WeakValueDictionary[str, PanelView] = weakref.WeakValueDictionary()


def get_panel_view() -> PanelView:
    """Return the view of the running session."""
    view = st.session_state.get("panel-view")
    if not isinstance(view, PanelView):
        view = st.session_state["panel-view"] = PanelView()
        _VIEWS[view.token] = view
    return view


def note_tab(token: str, tab: str) -> bool:
    """Note that the browser turned to a tab without asking; False where there is no such view."""
    view = _VIEWS.get(token)
    if view is None or tab not in TABS:
        return False
    view.tab = tab
    return True
