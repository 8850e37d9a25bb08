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


def was_opened(part: PopoverContainer | ExpanderContainer, name: str) -> bool:
    """Return whether a part was opened since the page was."""
    # Once opened, it stays drawn: Streamlit resets fields that are not.
    names = state_of(Opened).names
    if part.open:
        names.add(name)
    return name in names
