"""What a visitor did is carried out whole, whatever comes from the browser meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.state import SafeSessionState

_given: Callable[..., None] = SafeSessionState.on_script_will_rerun


def carry_out_whole() -> None:
    """Keep callbacks from being cut short by what comes next from the browser.

    Streamlit stops a run for a newer one wherever session state is touched, within callbacks and
    just before them too. A key or a click that was on its way then did nothing, or half of what it
    should. What comes next waits for the end of the callbacks, which is looked at right after them.
    There is no setting for it.
    """
    setattr(SafeSessionState, _given.__name__, _whole)


def _whole(state: SafeSessionState, *states: Any, **replayed: Any) -> None:
    runner = getattr(state._yield_callback, "__self__", None)
    if not isinstance(runner, ScriptRunner) or not runner._execing:
        _given(state, *states, **replayed)
        return
    runner._execing = False
    try:
        _given(state, *states, **replayed)
    finally:
        runner._execing = True
