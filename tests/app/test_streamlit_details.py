"""What the app leans on in Streamlit beyond its public calls.

The range of Streamlit in pyproject.toml is what was tried with these. To try the next one, install
it and run this file: what fails here is what has to be looked at first.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What is imported from inside Streamlit, and what of it is used.
LEANS_ON = {
    "streamlit.net_util": {"get_external_ip"},
    "streamlit.runtime.get_instance": set(),
    "streamlit.elements.lib.mutable_expander_container.ExpanderContainer": {"open"},
    "streamlit.elements.lib.mutable_popover_container.PopoverContainer": {"open"},
    "streamlit.delta_generator_singletons.context_dg_stack": {"set"},
    "streamlit.delta_generator_singletons.get_default_dg_stack_value": set(),
    "streamlit.proto.NewSession_pb2.CustomThemeConfig": {"MergeFrom"},
    "streamlit.proto.WidgetStates_pb2.WidgetStates": set(),
    "streamlit.runtime.app_session": {"RerunData", "_populate_theme_msg"},
    "streamlit.runtime.app_session.AppSession": {
        "_create_scriptrunner",
        "_clear_queue",
        "_on_scriptrunner_event",
        "_handle_scriptrunner_event_on_event_loop",
        "_call_soon_on_event_loop",
        "flush_browser_queue",
    },
    "streamlit.runtime.memory_media_file_storage": {"_calculate_file_id"},
    "streamlit.config": {"get_option", "get_config_options"},
    "streamlit.proto.ForwardMsg_pb2.ForwardMsg": set(),
    "streamlit.runtime.runtime.Runtime": {"_send_message"},
    "streamlit.runtime.session_manager.ActiveSessionInfo": set(),
    "streamlit.runtime.scriptrunner_utils.script_requests.ScriptRequest": set(),
    "streamlit.runtime.scriptrunner_utils.script_requests.ScriptRequests": {
        "on_scriptrunner_yield",
        "on_scriptrunner_ready",
        "request_rerun",
        "_request_rerun_locked",
    },
    "streamlit.runtime.scriptrunner_utils.script_requests.ScriptRequestType": {"STOP", "RERUN"},
    "streamlit.runtime.scriptrunner.RerunData": set(),
    "streamlit.runtime.scriptrunner.ScriptRunner": {"_run_script"},
    "streamlit.runtime.scriptrunner.ScriptRunnerEvent": {"ENQUEUE_FORWARD_MSG"},
    "streamlit.runtime.state.SafeSessionState": {"on_script_will_rerun", "filtered_state"},
    "streamlit.runtime.state.SessionState": {
        "_widget_changed",
        "_run_callback_and_record_rerun",
    },
    "streamlit.runtime.state.session_state.WStates": {"set_widget_from_proto"},
    "streamlit.web.server.starlette.starlette_app_utils.decode_xsrf_token_string": set(),
    "streamlit.web.server.starlette.starlette_app_utils.generate_xsrf_token_string": set(),
    "streamlit.web.server.starlette.starlette_routes._ensure_xsrf_cookie": set(),
    "streamlit.web.server.starlette.starlette_server_config.XSRF_COOKIE_NAME": set(),
    "streamlit.web.server.starlette.starlette_server_config.USER_COOKIE_NAME": set(),
    "streamlit.web.server.starlette.starlette_websocket._get_signed_cookie_with_chunks": set(),
}


def thing(name: str) -> object:
    module, _, last = name.rpartition(".")
    found = import_module(module)
    return getattr(found, last) if hasattr(found, last) else import_module(name)


# In a process of its own: Python 3.11 loses count of its depth, and fails, where another thread of
# an app under test happens to parse at the same moment.
IMPORTED = """
import ast, sys
from pathlib import Path
for file in sys.argv[1:]:
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("streamlit"):
            print(*(f"{node.module}.{one.name}" for one in node.names), sep="\\n")
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names if one.name.startswith("streamlit.")]
            print(*names, sep="\\n")
"""


def test_all_that_is_leaned_on_is_named_here() -> None:
    files = [ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "hetviz").rglob("*.py")]
    command = [sys.executable, "-c", IMPORTED, *map(str, files)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = set(told.split())
    public = {name for name in found if name.startswith(("streamlit.testing", "streamlit.web.cli"))}
    assert found - public == set(LEANS_ON)


@pytest.mark.parametrize("name", LEANS_ON)
def test_it_is_there(name: str) -> None:
    found = thing(name)
    for attribute in LEANS_ON[name]:
        assert hasattr(found, attribute)


def test_sessions_and_their_runner_have_what_is_changed_in_them() -> None:
    import streamlit as st
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
    from streamlit.runtime.runtime import Runtime
    from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
    from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
    from streamlit.runtime.state import SafeSessionState, SessionState

    state = SessionState()
    assert hasattr(state, "_new_widget_state") and hasattr(state, "_old_state")
    assert hasattr(state._new_widget_state, "widget_metadata")
    assert hasattr(state._key_id_mapper, "id_key_mapping")
    assert "_yield_callback" in inspect.getsource(SafeSessionState)
    assert all(name in inspect.getsource(SafeSessionState) for name in ("_lock", "self._state"))
    assert "_execing" in inspect.getsource(ScriptRunner)
    assert "self._requests" in inspect.getsource(ScriptRunner)
    requests = inspect.getsource(ScriptRequests)
    assert all(f"self.{name}" in requests for name in ("_state", "_rerun_data"))
    assert "_session_state" in inspect.getsource(ScriptRunner)
    session = inspect.getsource(AppSession)
    assert all(f"self.{name}" in session for name in ("_scriptrunner", "_event_loop"))
    assert "self._browser_queue = ForwardMsgQueue" in session
    assert "self._message_enqueued_callback:" in session
    loop = inspect.getsource(Runtime._loop_coroutine)
    assert "for msg in msg_list:" in loop and "self._send_message(active_session_info, msg)" in loop
    assert "self._delta_index_map" in inspect.getsource(ForwardMsgQueue)
    assert {"widget_states", "is_auto_rerun"} <= set(inspect.signature(RerunData).parameters)
    assert callable(st.components.v2.component)
