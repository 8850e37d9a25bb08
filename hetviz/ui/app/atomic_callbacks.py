"""Patches of Streamlit that run callbacks completely and once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamlit.runtime import app_session
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
from streamlit.runtime.state import SafeSessionState, SessionState

_TRIGGERS = ("trigger_value", "string_trigger_value", "chat_input_value", "json_trigger_value")

_on_script_will_rerun: Callable[..., None] = SafeSessionState.on_script_will_rerun
_widget_changed: Callable[[SessionState, str], bool] = SessionState._widget_changed


def make_callbacks_atomic() -> None:
    """Make callbacks run completely, once, and only for widgets on the page."""
    # Streamlit may stop a run for a newer one within or just before callbacks, so that a click does
    # nothing or half of its work. With the patch the newer run starts after the callbacks. A timer
    # sends all widget states of the browser, including those of a page that was replaced. Streamlit
    # counts them as changed and repeats their callbacks, which reverts newer changes. With the
    # patch a timer sends no states, and widgets that are not on the page cannot change. Streamlit
    # has no settings for either.
    setattr(SafeSessionState, _on_script_will_rerun.__name__, _rerun_atomically)
    setattr(SessionState, _widget_changed.__name__, _is_changed_on_page)
    setattr(app_session, RerunData.__name__, _rerun_request)


def _rerun_atomically(state: SafeSessionState, *states: object, **replayed: object) -> None:
    runner = getattr(state._yield_callback, "__self__", None)
    if not isinstance(runner, ScriptRunner) or not runner._execing:
        _on_script_will_rerun(state, *states, **replayed)
        return
    runner._execing = False
    try:
        _on_script_will_rerun(state, *states, **replayed)
    finally:
        runner._execing = True


def _is_changed_on_page(state: SessionState, widget_id: str) -> bool:
    """Return whether a widget of the last run has another value; a click always counts."""
    metadata = state._new_widget_state.widget_metadata.get(widget_id)
    if metadata is None or metadata.value_type not in _TRIGGERS:
        key = state._key_id_mapper.id_key_mapping.get(widget_id)
        if widget_id not in state._old_state and (key is None or key not in state._old_state):
            return False
    return _widget_changed(state, widget_id)


def _rerun_request(**args: Any) -> RerunData:
    """Return a request to run the page, without widget states for timers."""
    return RerunData(**{**args, "widget_states": None} if args.get("is_auto_rerun") else args)
