"""Tests of events that come during a run or just after it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from streamlit import config
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import Runtime, app_session, memory_media_file_storage
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.script_data import ScriptData
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests, ScriptRequestType
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.testing.v1 import AppTest
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from hetviz.ui.app import streamlit_patches
from hetviz.ui.app.streamlit_patches import patch_streamlit
from tests.waits import PATIENCE_S

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
    monkeypatch.setattr(AppSession, "_create_scriptrunner", AppSession._create_scriptrunner)
    monkeypatch.setattr(AppSession, "_clear_queue", AppSession._clear_queue)
    name = "_run_callback_and_record_rerun"
    monkeypatch.setattr(SessionState, name, getattr(SessionState, name))
    monkeypatch.setattr(AppSession, "_on_scriptrunner_event", AppSession._on_scriptrunner_event)
    monkeypatch.setattr(app_session, "_populate_theme_msg", app_session._populate_theme_msg)
    file_id = memory_media_file_storage._calculate_file_id
    monkeypatch.setattr(memory_media_file_storage, "_calculate_file_id", file_id)
    monkeypatch.setattr(SafeSessionState, "filtered_state", SafeSessionState.filtered_state)
    monkeypatch.setattr(AppSession, "flush_browser_queue", AppSession.flush_browser_queue)
    monkeypatch.setattr(Runtime, "_send_message", Runtime._send_message)
    monkeypatch.setattr(config, "get_option", config.get_option)
    made = WebSocketsSansIOProtocol.connection_made
    monkeypatch.setattr(WebSocketsSansIOProtocol, "connection_made", made)
    monkeypatch.setattr(ScriptRunner, "_run_script", ScriptRunner._run_script)
    for name in ("on_scriptrunner_yield", "on_scriptrunner_ready", "request_rerun"):
        monkeypatch.setattr(ScriptRequests, name, getattr(ScriptRequests, name))


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


def page_with_turn() -> None:
    import streamlit as st

    from hetviz.workers.turns import PAGE_TURNS

    st.session_state["has_turn"] = getattr(PAGE_TURNS._thread, "has_turn", False)


@pytest.mark.usefixtures("reverted")
def test_page_runs_in_its_turn() -> None:
    app = AppTest.from_function(page_with_turn, default_timeout=PATIENCE_S).run()
    assert not app.session_state["has_turn"]
    patch_streamlit()
    for _ in range(5):
        assert app.run().session_state["has_turn"]


@pytest.mark.usefixtures("reverted")
def test_event_does_not_interrupt_callback() -> None:
    app = AppTest.from_function(page, default_timeout=PATIENCE_S).run()
    app.button(key="act").click().run()
    assert app.session_state["done"] == ["begun"]  # As Streamlit does by itself.
    patch_streamlit()
    app = AppTest.from_function(page, default_timeout=PATIENCE_S).run()
    app.button(key="act").click().run()
    assert app.session_state["done"] == ["begun", "ended"]
    # The second event runs the page afterwards.
    assert app.session_state["runs"] == 2


def page_of_field() -> None:
    import streamlit as st
    from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    def act(value: int) -> None:
        st.session_state.setdefault("got", []).append(value)

    value = st.number_input("Value", 0, 9, 0, key="value")
    if value == 2 and "got" not in st.session_state:
        # Simulates a click while the page runs with the new value.
        ctx = get_script_run_ctx()
        assert ctx is not None
        assert ctx.script_requests is not None
        state = ctx.session_state._state
        button = state._key_id_mapper.get_id_from_key("act")
        click = WidgetStates(widgets=[WidgetState(id=button, trigger_value=True)])
        ctx.script_requests.request_rerun(
            RerunData(widget_states=click, page_script_hash=ctx.page_script_hash)
        )
    st.button("Act", key="act", on_click=act, args=(value,))


@pytest.mark.parametrize("interrupts", [False, True])
@pytest.mark.usefixtures("reverted")
def test_click_knows_the_field_changed_before(
    interrupts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def got() -> list[int]:
        app = AppTest.from_function(page_of_field, default_timeout=PATIENCE_S).run()
        app.number_input(key="value").set_value(2 if interrupts else 1)
        if not interrupts:
            app.button(key="act").click()
        values: list[int] = app.run().session_state["got"]
        return values

    assert got() == [0]  # As Streamlit does by itself.
    patch_streamlit()
    # On a slow machine, a run takes longer than a click waits otherwise.
    monkeypatch.setattr(streamlit_patches, "_CLICK_WAITS_S", 0.0)
    assert got() == [2 if interrupts else 1]


def event(component: str, value: str, field: int = 0) -> RerunData:
    widgets = [
        WidgetState(id=component, json_trigger_value=value),
        WidgetState(id="field", int_value=field),
    ]
    return RerunData(widget_states=WidgetStates(widgets=widgets))


def handled(requests: ScriptRequests) -> list[dict[str, str]]:
    """Return the values of the widgets of each run that is left."""
    runs = []
    while (request := requests.on_scriptrunner_ready()).type is ScriptRequestType.RERUN:
        states = request.rerun_data.widget_states
        assert states is not None
        runs.append(
            {one.id: one.json_trigger_value or str(one.int_value) for one in states.widgets}
        )
    return runs


@pytest.mark.usefixtures("reverted")
def test_each_event_of_a_component_has_a_run() -> None:
    def runs() -> list[dict[str, str]]:
        requests = ScriptRequests()
        for at, (component, value) in enumerate((("a", "1"), ("b", "2"), ("a", "3"), ("b", "4"))):
            assert requests.request_rerun(event(component, value, at))
        return handled(requests)

    assert len(runs()) == 1  # As Streamlit does by itself.
    patch_streamlit()
    assert runs() == [
        {"a": "1", "field": "0"},
        {"b": "2", "field": "1"},
        {"a": "3", "field": "2"},
        {"b": "4", "field": "3"},
    ]


@pytest.mark.usefixtures("reverted")
def test_event_stops_a_run_and_the_next_one_stops_its_run() -> None:
    patch_streamlit()
    requests = ScriptRequests()
    requests.request_rerun(event("a", "1"))
    requests.on_scriptrunner_ready()
    assert requests.on_scriptrunner_yield() is None
    for value in ("2", "3"):
        requests.request_rerun(event("a", value))
    taken = [requests.on_scriptrunner_yield() for _ in range(3)]
    assert [
        one and one.rerun_data.widget_states.widgets[0].json_trigger_value for one in taken
    ] == [
        "2",
        "3",
        None,
    ]


@pytest.mark.usefixtures("reverted")
def test_an_earlier_request_goes_before_one_that_waits() -> None:
    patch_streamlit()
    requests = ScriptRequests()
    requests.request_rerun(event("a", "2"))
    assert streamlit_patches._add_first(requests, event("a", "1"))
    assert [run["a"] for run in handled(requests)] == ["1", "2"]


def page_that_sets_a_field() -> None:
    import streamlit as st

    def raise_value() -> None:
        st.session_state["value"] += 1

    st.session_state["runs"] = st.session_state.get("runs", 0) + 1
    st.number_input("Value", 0, 9, key="value")
    st.button("Raise", key="raise", on_click=raise_value)


@pytest.mark.usefixtures("reverted")
def test_click_after_the_page_has_set_a_field_runs_once() -> None:
    patch_streamlit()
    app = AppTest.from_function(page_that_sets_a_field, default_timeout=PATIENCE_S).run()
    for n in range(1, 4):
        app.button(key="raise").click().run()
        assert app.number_input(key="value").value == n
        assert app.session_state["runs"] == n + 1


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


@pytest.mark.usefixtures("reverted")
def test_messages_of_a_run_wake_the_event_loop_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "app.py"
    monkeypatch.setattr(Runtime, "_instance", MagicMock())
    script.write_text("import streamlit as st\nfor k in range(50):\n    st.text(str(k))\n")
    monkeypatch.setattr(streamlit_patches, "_GATHERED_FOR_S", 1e6)
    patch_streamlit()
    texts, wakes = asyncio.run(_texts_and_wakes(script))
    assert texts == [str(k) for k in range(50)]
    # The first message, and what tells that the run began and ended.
    assert wakes <= 6


@pytest.mark.usefixtures("reverted")
def test_an_event_that_fails_does_not_hold_up_the_others() -> None:
    patch_streamlit()
    done: list[int] = []

    async def handle() -> None:
        loop, notify = asyncio.get_running_loop(), MagicMock()
        tab = MagicMock(spec=AppSession, _event_loop=loop, _message_enqueued_callback=notify)
        events = streamlit_patches._events(tab)
        events.extend([lambda: done.append(1), lambda: done.pop(7), lambda: done.append(2)])
        with pytest.raises(IndexError):
            streamlit_patches._handle_events(tab)
        await asyncio.sleep(0)
        notify.assert_called_with()
        assert tab._message_enqueued_callback is notify

    asyncio.run(handle())
    assert done == [1, 2]


@pytest.mark.usefixtures("reverted")
def test_all_messages_are_sent_in_their_order() -> None:
    patch_streamlit()
    sent: list[str] = []
    tab = MagicMock()
    tab._browser_queue.flush = lambda: [ForwardMsg(hash=str(number)) for number in range(120)]
    client = MagicMock(write_forward_msg=lambda message: sent.append(message.hash))
    parts = AppSession.flush_browser_queue(tab)
    for part in parts:
        Runtime._send_message(MagicMock(), MagicMock(client=client), part)
    assert len(parts) == 3
    assert sent == [str(number) for number in range(120)]


@pytest.mark.usefixtures("reverted")
def test_settings_are_read_while_another_thread_holds_the_lock() -> None:
    patch_streamlit()
    given = config.get_option("server.port")
    with config._config_lock, ThreadPoolExecutor(1) as other:
        assert other.submit(config.get_option, "server.port").result() == given
    with pytest.raises(RuntimeError, match="not defined"):
        config.get_option("server.typo")


def test_one_turn_of_the_event_loop_writes_once() -> None:
    asyncio.run(_write_gathered())


async def _write_gathered() -> None:
    transport = MagicMock(is_closing=lambda: False)
    gathered = streamlit_patches._GatheredWrites(transport)
    gathered.write(b"a")
    gathered.write(b"b")
    transport.write.assert_not_called()
    await asyncio.sleep(0)
    transport.write.assert_called_once_with(b"ab")
    gathered.write(b"last")
    gathered.close()
    transport.write.assert_called_with(b"last")
    await asyncio.sleep(0)
    assert [name for name, *_ in transport.method_calls] == ["write", "write", "close"]


@pytest.mark.usefixtures("reverted")
def test_fields_find_their_values_among_all() -> None:
    patch_streamlit()
    app = AppTest.from_function(fields, default_timeout=PATIENCE_S).run()
    app.text_input(key="name").input("Ada").run()
    assert not app.exception
    assert app.session_state["seen"] == {"name": "Ada", "kind": None, "own": 1}


def fields() -> None:
    import streamlit as st
    from streamlit.runtime.state import get_session_state

    st.session_state["own"] = 1
    st.text_input("Name", key="name")
    st.selectbox("Kind", ["a", "b"], index=None, key="kind")
    values = get_session_state().filtered_state
    st.session_state["seen"] = {key: values[key] for key in values if key != "seen"}


@pytest.mark.usefixtures("reverted")
def test_colours_of_the_settings_are_sent_as_before() -> None:
    given, sent = CustomThemeConfig(), CustomThemeConfig()
    for message in (given, sent):
        app_session._populate_theme_msg(message)
        app_session._populate_theme_msg(message.dark, "theme.dark")
        patch_streamlit()
    assert sent == given
    assert sent.SerializeToString()


async def _texts_and_wakes(script: Path) -> tuple[list[str], int]:
    """Run a page; return its texts and how often it woke the event loop."""
    session = make_session(script)
    wakes: list[object] = []
    call_soon = session._call_soon_on_event_loop
    session._call_soon_on_event_loop = lambda call: (wakes.append(call), call_soon(call))  # type: ignore
    session.request_rerun(None)
    await _all_received(session)
    messages = session._browser_queue.flush()
    session.shutdown()
    texts = [m.delta.new_element.text.body for m in messages if m.HasField("delta")]
    return texts, len(wakes)


def make_session(script: Path) -> AppSession:
    return AppSession(
        ScriptData(str(script), is_hello=False),
        MemoryUploadedFileManager("/upload"),
        ScriptCache(),
        None,
        {},
    )


@pytest.mark.usefixtures("reverted")
def test_similar_files_of_two_visitors_have_two_addresses() -> None:
    def addresses() -> list[str]:
        files = memory_media_file_storage.MemoryMediaFileStorage("/media")
        contents = [bytes(2_000_000), bytes(700_000) + b"secret" + bytes(1_299_994)]
        ids = [
            files.load_and_get_id(content, "text/csv", MediaFileKind.DOWNLOADABLE, "items.csv")
            for content in (*contents, contents[0])
        ]
        return [f"{id}: {files.get_file(id).content.count(b'secret')}" for id in ids]

    assert len(set(addresses())) == 1  # As Streamlit does by itself.
    patch_streamlit()
    first, second, again = addresses()
    assert first == again and first.endswith(": 0") and second.endswith(": 1")


async def _paths_without_place(script: Path, received: bool) -> list[tuple[int, ...]]:
    """Run a page and a fragment; return the paths of messages sent before their parent.

    The fragment is requested before or after the server received the messages of the page, and
    always before it sent them.
    """
    session = make_session(script)
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


@pytest.mark.usefixtures("reverted")
def test_page_begins_at_its_top_after_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Runtime, "_instance", MagicMock())
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    once = asyncio.run(_places_of_page(script, after_part=False))
    # As Streamlit does by itself.
    assert asyncio.run(_places_of_page(script, after_part=True)) != once
    patch_streamlit()
    assert asyncio.run(_places_of_page(script, after_part=True)) == once


async def _places_of_page(script: Path, *, after_part: bool) -> set[tuple[int, ...]]:
    """Return the places of what a page shows, if wished requested just when a part ends."""
    session = make_session(script)
    session.request_rerun(None)
    await _all_received(session)
    if after_part:
        session._browser_queue.flush()
        part = next(iter(session._fragment_storage._fragments))  # type: ignore[attr-defined]
        ended, given = ScriptRunner._on_script_finished, []

        def end(runner: ScriptRunner, *about: object) -> None:
            ended(runner, *about)  # type: ignore[arg-type]
            if not given:
                given.append(runner._requests.request_rerun(RerunData()))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ScriptRunner, "_on_script_finished", end)
            session.request_rerun(ClientState(fragment_id=part))
            await _all_received(session)
        assert given == [True]
    messages = session._browser_queue.flush()
    session.shutdown()
    return {tuple(m.metadata.delta_path) for m in messages if m.HasField("delta")}


async def _all_received(session: AppSession) -> None:
    while session._scriptrunner is not None:
        await asyncio.sleep(0.001)
