"""What a visitor did is carried out whole and once, whatever comes from the browser meanwhile."""

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
    """Have callbacks run whole, once, and for what is on the page only.

    Streamlit stops a run for a newer one wherever session state is touched, within callbacks and
    just before them too. A key or a click that was on its way then did nothing, or half of what it
    should. What comes next waits for the end of the callbacks, which is looked at right after them.

    A timer sends all that the browser holds: clicks that are about to be sent by themselves, and
    fields of a page that was replaced meanwhile. Those count as changed, since nothing is known of
    them any more, and their callbacks took back what was done since: a name just given, an undo. A
    timer changes nothing, so here it says nothing, and what is no longer on the page cannot change.

    There are no settings for these.
    """
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
    """Whether a widget that the last run drew has another value now; a click always counts."""
    metadata = state._new_widget_state.widget_metadata.get(widget_id)
    if metadata is None or metadata.value_type not in _TRIGGERS:
        key = state._key_id_mapper.id_key_mapping.get(widget_id)
        if widget_id not in state._old_state and (key is None or key not in state._old_state):
            return False
    return _widget_changed(state, widget_id)


def _rerun_request(**args: Any) -> RerunData:
    """Return a request to run the page."""
    return RerunData(**{**args, "widget_states": None} if args.get("is_auto_rerun") else args)
