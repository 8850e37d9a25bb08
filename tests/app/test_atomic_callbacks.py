"""Tests of callbacks during simultaneous events."""

from __future__ import annotations

import pytest
from streamlit.runtime import app_session
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.testing.v1 import AppTest

from hetviz.ui.app.atomic_callbacks import make_callbacks_atomic


def page() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    def act() -> None:
        st.session_state["done"].append("begun")
        ctx = get_script_run_ctx()
        assert ctx is not None
        assert ctx.script_requests is not None
        # Simulates the next click of the browser.
        ctx.script_requests.request_rerun(RerunData(page_script_hash=ctx.page_script_hash))
        st.session_state["done"].append("ended")

    st.session_state.setdefault("done", [])
    st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    st.button("Act", key="act", on_click=act)


def test_event_does_not_interrupt_callback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = SafeSessionState.on_script_will_rerun
    # The patches are reverted at the end.
    monkeypatch.setattr(SafeSessionState, "on_script_will_rerun", given)
    monkeypatch.setattr(SessionState, "_widget_changed", SessionState._widget_changed)
    monkeypatch.setattr(app_session, "RerunData", RerunData)
    app = AppTest.from_function(page).run()
    app.button(key="act").click().run()
    assert app.session_state["done"] == ["begun"]  # As Streamlit does by itself.
    make_callbacks_atomic()
    app = AppTest.from_function(page).run()
    app.button(key="act").click().run()
    assert app.session_state["done"] == ["begun", "ended"]
    # The second event runs the page afterwards.
    assert app.session_state["runs"] == 2
