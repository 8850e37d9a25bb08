"""State of the panel: the current tab and the tabs drawn in advance."""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field

TABS = ("Item", "Guidance", "Clusters", "Predict")
_VIEWS: weakref.WeakValueDictionary[str, PanelView] = weakref.WeakValueDictionary()


@dataclass(eq=False)
class PanelView:
    """State of the panel in a session."""

    tab: str = TABS[0]
    wide: bool = False  # Whether it is wide enough for tables
    version: int = 0  # Counts changes by the server; the browser follows higher numbers
    opens_panel: bool = False  # Whether the last change opens a closed panel
    # State of each tab when it was last drawn. The browser switches to an unchanged tab without a
    # request.
    drawn_states: dict[str, object] = field(default_factory=dict)
    # Key with which the browser reports such a switch.
    token: str = field(default_factory=lambda: secrets.token_urlsafe(12))

    def __post_init__(self) -> None:
        _VIEWS[self.token] = self

    def update_tabs(self, states: Mapping[str, object]) -> list[str]:
        """Return the tabs to draw: the current one, then unchanged ones."""
        self.drawn_states = {
            tab: state
            for tab, state in states.items()
            if tab == self.tab or self.drawn_states.get(tab) == state
        }
        return [self.tab, *(tab for tab in TABS if tab in self.drawn_states and tab != self.tab)]


def note_tab(token: str, tab: str) -> bool:
    """Record a switch of the browser to a tab; return False for unknown tokens."""
    view = _VIEWS.get(token)
    if view is None or tab not in TABS:
        return False
    view.tab = tab
    return True
