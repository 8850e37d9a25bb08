"""Tests of events that come during a run or just after it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime import Runtime, app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.script_data import ScriptData
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.testing.v1 import AppTest

from hetviz.ui.app.streamlit_patches import patch_streamlit

_SCRIPT = """
import streamlit as st

@st.fragment
def inner():
    st.text("inner")

@st.fragment
def outer():
    st.text("outer")
    inner()

for k in range(3):
    with st.container():
        outer()
"""


@pytest.fixture
def reverted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Revert the patches at the end."""
    given = SafeSessionState.on_script_will_rerun
    monkeypatch.setattr(SafeSessionState, "on_script_will_rerun", given)
    monkeypatch.setattr(SessionState, "_widget_changed", SessionState._widget_changed)
    monkeypatch.setattr(app_session, "RerunData", RerunData)
    monkeypatch.setattr(AppSession, "request_rerun", AppSession.request_rerun)
    monkeypatch.setattr(AppSession, "_clear_queue", AppSession._clear_queue)
    name = "_run_callback_and_record_rerun"
    monkeypatch.setattr(SessionState, name, getattr(SessionState, name))


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


@pytest.mark.usefixtures("reverted")
def test_event_does_not_interrupt_callback() -> None:
    app = AppTest.from_function(page).run()
    app.button(key="act").click().run()
    assert app.session_state["done"] == ["begun"]  # As Streamlit does by itself.
    patch_streamlit()
    app = AppTest.from_function(page).run()
    app.button(key="act").click().run()
    assert app.session_state["done"] == ["begun", "ended"]
    # The second event runs the page afterwards.
    assert app.session_state["runs"] == 2


@pytest.mark.parametrize("received", [False, True])
@pytest.mark.usefixtures("reverted")
def test_parts_of_page_always_have_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, received: bool
) -> None:
    monkeypatch.setattr(Runtime, "_instance", MagicMock())
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    assert asyncio.run(_paths_without_place(script, received))  # As Streamlit does by itself.
    patch_streamlit()
    assert not asyncio.run(_paths_without_place(script, received))


async def _paths_without_place(script: Path, received: bool) -> list[tuple[int, ...]]:
    """Run a page and a fragment; return the paths of messages sent before their parent.

    The fragment is requested before or after the server received the messages of the page, and
    always before it sent them.
    """
    session = AppSession(
        ScriptData(str(script), is_hello=False),
        MemoryUploadedFileManager("/upload"),
        ScriptCache(),
        None,
        {},
    )
    session.request_rerun(None)
    runner = session._scriptrunner
    assert runner is not None
    assert runner._script_thread is not None
    runner._script_thread.join()
    if received:
        await _all_received(session)
    fragment = next(iter(session._fragment_storage._fragments))  # type: ignore[attr-defined]
    session.request_rerun(ClientState(fragment_id=fragment))
    await _all_received(session)
    messages = session._browser_queue.flush()
    session.shutdown()
    paths = [tuple(m.metadata.delta_path) for m in messages if m.HasField("delta")]
    assert paths
    # The main part of the page is always there.
    places = {(0,)}
    orphans = []
    for path in paths:
        if path[:-1] not in places:
            orphans.append(path)
        places.add(path)
    return orphans


async def _all_received(session: AppSession) -> None:
    while session._scriptrunner is not None:
        await asyncio.sleep(0.001)
