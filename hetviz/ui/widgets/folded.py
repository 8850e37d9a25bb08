"""Popovers and expanders whose content is drawn once they were opened."""

from __future__ import annotations

from dataclasses import dataclass, field

from streamlit.elements.lib.mutable_expander_container import ExpanderContainer
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from hetviz.ui.shell.page_state import state_of


@dataclass
class Opened:
    """Names of the popovers and expanders that were opened on this page."""

    names: set[str] = field(default_factory=set)


def needs_content(part: PopoverContainer | ExpanderContainer, stays: str = "") -> bool:
    """Return whether to draw the content of a part: while it is open.

    With a name in `stays`, also after it was closed, because Streamlit resets fields that are not
    drawn.
    """
    names = state_of(Opened).names
    if part.open and stays:
        names.add(stays)
    if part.open or stays in names:
        return True
    if isinstance(part, PopoverContainer):
        # It is placed by the height that it opens with.
        part.html('<p class="hv-opening" role="status">Opening …</p>')
    return False
