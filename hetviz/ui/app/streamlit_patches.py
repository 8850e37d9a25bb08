"""Patches of Streamlit: callbacks run completely and once, and no message or error is lost."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

from streamlit import config
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime import app_session, memory_media_file_storage
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import (
    ScriptRequest,
    ScriptRequests,
    ScriptRequestType,
)
from streamlit.runtime.session_manager import ActiveSessionInfo
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.session_state import WStates
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from hetviz.errors import HetvizError
from hetviz.ui.shell import session
from hetviz.workers.turns import PAGE_TURNS

_GATHERED_FOR_S = 0.02
_FILE_KEY = secrets.token_bytes(32)
# Far fewer than a tab may have waiting.
_MESSAGES_AT_ONCE = 50
_VALUES = "filtered_state"
_BUTTON = "trigger_value"
_TRIGGERS = (_BUTTON, "string_trigger_value", "chat_input_value", "json_trigger_value")
_FIELDS = (
    *("bool_value", "string_value", "string_array_value"),
    *("int_value", "int_array_value", "double_value", "double_array_value"),
)
_LATER = "_hetviz_later"
_CLICK_WAITS_UNTIL, _WAITED = "_hetviz_click_waits_until", "_hetviz_click_waited"
# Longer runs wait for something, such as a file, and a click may be on Cancel.
_CLICK_WAITS_S = 2.0
# The callback of a click after a changed field is made by the run with the new value.
_CLICK_WAITS_FOR_VALUE_S = 30.0

_on_script_will_rerun: Callable[..., None] = SafeSessionState.on_script_will_rerun
_widget_changed: Callable[[SessionState, str], bool] = SessionState._widget_changed
_create_runner: Callable[[AppSession, RerunData], None] = AppSession._create_scriptrunner
_clear_queue: Callable[[AppSession], None] = AppSession._clear_queue
_run_callback: Callable[..., None] = SessionState._run_callback_and_record_rerun
_fill_theme: Callable[[CustomThemeConfig, str], None] = app_session._populate_theme_msg
_on_event: Callable[..., None] = AppSession._on_scriptrunner_event
_get_option: Callable[[str], Any] = config.get_option
_file_id: Callable[..., str] = memory_media_file_storage._calculate_file_id
_flush: Callable[[AppSession], list[ForwardMsg]] = AppSession.flush_browser_queue
_send: Callable[[Runtime, ActiveSessionInfo, ForwardMsg], None] = Runtime._send_message
_run_script: Callable[[ScriptRunner, RerunData], None] = ScriptRunner._run_script
_next_request: Callable[[ScriptRequests], ScriptRequest | None] = (
    ScriptRequests.on_scriptrunner_yield
)
_ready_request: Callable[[ScriptRequests], ScriptRequest] = ScriptRequests.on_scriptrunner_ready
_add_request: Callable[[ScriptRequests, RerunData], bool] = ScriptRequests.request_rerun
_connect: Callable[..., None] = WebSocketsSansIOProtocol.connection_made


def patch_streamlit() -> None:
    """Run callbacks completely, once and only for widgets on the page; lose no message of a run."""
    # Streamlit has no settings for any of these:
    # - It may stop a run for a newer one within or just before callbacks, so that a click does
    #   nothing or half of its work. Now the newer run starts after the callbacks.
    # - A timer sends all widget states of the browser, including those of a page that was replaced.
    #   They count as changed, and their callbacks revert newer changes. Now a timer sends no
    #   states, and widgets that are not on the page cannot change.
    # - A run that begins just after another drops the unsent messages of the first. A part of the
    #   page that runs next may then have no place, which empties the whole page. Now it waits.
    # - A run of the whole page that follows one of a part writes into the place of that part, which
    #   empties the whole page, too. Now it begins at the top.
    # - A part that runs again removes its own unsent messages but not those of parts within it,
    #   which then have no place either. Now all are sent.
    # - An error of a callback ends the run with a traceback. Now ours become messages of the page.
    # - A script wakes the event loop for each of some 150 messages, and the loop sends them one by
    #   one. Other threads go first each time, so a click takes seconds if many people work. Now
    #   messages of 20 ms go together, in one piece.
    # - Each field gathers the values of all fields to find its own. Now it looks for its own.
    # - Each message reads a setting under a lock that all pages share: threads that stop within it
    #   hold up all others, a fifth of the time with forty people. Now settings are read without.
    # - Each run writes the colours of the settings again, a tenth of the time of a small part.
    # - All scripts run at once. Python runs one at a time, so each takes as long as all of them
    #   together. Now a few run and the others follow.
    # - A click on a button right after a field was changed runs the callback that the page made for
    #   the field's earlier value. Now the page runs with the new value first.
    # - Of two events of components that come before the page runs, such as two edits of a table,
    #   the first is lost. Now each has a run.
    # - Only three parts of a file above 1 MB make its address, so a visitor may download that of
    #   another which differs elsewhere. Now all of it does, with a key that only the server has.
    setattr(SafeSessionState, _on_script_will_rerun.__name__, _rerun_atomically)
    setattr(SafeSessionState, _VALUES, property(_StateByKey))
    setattr(SessionState, _widget_changed.__name__, _is_changed_on_page)
    setattr(app_session, RerunData.__name__, _rerun_request)
    setattr(AppSession, _create_runner.__name__, _run_after_messages)
    setattr(AppSession, _clear_queue.__name__, _clear_before_page)
    setattr(SessionState, _run_callback.__name__, _run_with_message)
    setattr(AppSession, _on_event.__name__, _gather_events)
    setattr(config, _get_option.__name__, _option)
    setattr(AppSession, _flush.__name__, _flush_in_batches)
    setattr(Runtime, _send.__name__, _send_batch)
    setattr(WebSocketsSansIOProtocol, _connect.__name__, _connect_gathered)
    setattr(ScriptRunner, _run_script.__name__, _run_in_turn)
    setattr(ScriptRequests, _next_request.__name__, _next_but_click)
    setattr(ScriptRequests, _ready_request.__name__, _next_when_ready)
    setattr(ScriptRequests, _add_request.__name__, _add_in_order)
    setattr(app_session, _fill_theme.__name__, _copy_theme)
    setattr(memory_media_file_storage, _file_id.__name__, _id_of_file)


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


class _StateByKey(Mapping[str, object]):
    """Values of the page, each looked up when it is needed."""

    def __init__(self, state: SafeSessionState) -> None:
        self._state = state

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key in self._state

    def __getitem__(self, key: str) -> object:
        return self._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, object]:
        with self._state._lock:
            values: dict[str, object] = self._state._state.filtered_state
        return values


def _run_with_message(state: SessionState, votes: object, run: Callable[[], None]) -> None:
    """Run a callback; an error of ours becomes a message."""

    def run_safely() -> None:
        try:
            run()
        except HetvizError as error:
            session.add_message(str(error))

    _run_callback(state, votes, run_safely)


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


def _run_after_messages(tab: AppSession, request: RerunData) -> None:
    """Start a run behind the messages that one which has just ended still has to send."""
    _handle_events(tab)
    _create_runner(tab, request)


def _clear_before_page(tab: AppSession, fragment_ids: list[str] | None = None) -> None:
    """Remove unsent messages before the whole page runs, and keep them before a part of it."""
    if fragment_ids is None:
        _clear_queue(tab)
    else:
        # No later message may take the place of an earlier one.
        tab._browser_queue._delta_index_map = {}


def _gather_events(
    tab: AppSession, sender: ScriptRunner | None, event: ScriptRunnerEvent, **values: object
) -> None:
    """Hand an event of a run to the event loop, a message together with those that follow."""
    events = _events(tab)
    handle: Callable[..., None] = tab._handle_scriptrunner_event_on_event_loop
    events.append(partial(handle, sender, event, **values))
    if event is not ScriptRunnerEvent.ENQUEUE_FORWARD_MSG:
        tab._call_soon_on_event_loop(partial(_handle_events, tab))
    elif len(events) == 1:
        tab._call_soon_on_event_loop(partial(_handle_later, tab))


def _handle_later(tab: AppSession) -> None:
    tab._event_loop.call_later(_GATHERED_FOR_S, _handle_events, tab)


def _handle_events(tab: AppSession) -> None:
    events = _events(tab)
    notify, tab._message_enqueued_callback = tab._message_enqueued_callback, None
    try:
        while events:
            events.popleft()()
    finally:
        tab._message_enqueued_callback = notify
        if notify is not None:
            notify()
        if events:
            tab._event_loop.call_soon(_handle_events, tab)


def _events(tab: AppSession) -> deque[Callable[[], None]]:
    """Return the events of a tab that the event loop has not handled yet."""
    found: deque[Callable[[], None]] = tab.__dict__.setdefault("_hetviz_events", deque())
    return found


def _option(key: str) -> object:
    option = config.get_config_options().get(key)
    return _get_option(key) if option is None else option.value


def _flush_in_batches(tab: AppSession) -> list[list[ForwardMsg]]:
    # The loop pauses after each part of what it gets.
    messages, size = _flush(tab), _MESSAGES_AT_ONCE
    return [messages[start : start + size] for start in range(0, len(messages), size)]


def _send_batch(runtime: Runtime, tab: ActiveSessionInfo, messages: list[ForwardMsg]) -> None:
    for message in messages:
        _send(runtime, tab, message)


def _connect_gathered(connection: WebSocketsSansIOProtocol, transport: asyncio.Transport) -> None:
    _connect(connection, _GatheredWrites(transport))


class _GatheredWrites:
    """Transport that writes what one turn of the event loop brings at once."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._transport, name)

    def write(self, part: bytes) -> None:
        if not self._parts:
            asyncio.get_running_loop().call_soon(self._flush)
        self._parts.append(part)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        whole, self._parts = b"".join(self._parts), []
        if whole and not self._transport.is_closing():
            self._transport.write(whole)


def _run_in_turn(runner: ScriptRunner, request: RerunData) -> None:
    context_dg_stack.set(get_default_dg_stack_value())
    with PAGE_TURNS.take():
        request = _without_early_click(runner, request)
        has_value = request.widget_states and _has_new_value(runner, request.widget_states)
        limit_s = _CLICK_WAITS_FOR_VALUE_S if has_value else _CLICK_WAITS_S
        runner._requests.__dict__[_CLICK_WAITS_UNTIL] = time.monotonic() + limit_s
        _run_script(runner, request)


def _next_but_click(requests: ScriptRequests) -> ScriptRequest | None:
    """Return the request that stops a run; a click waits for the end of a short one."""
    if (
        time.monotonic() < requests.__dict__.get(_CLICK_WAITS_UNTIL, 0.0)
        and requests._state is ScriptRequestType.RERUN
        and _has_click(requests._rerun_data.widget_states)
    ):
        return None
    request = _next_request(requests)
    _add_later(requests)
    return request


def _next_when_ready(requests: ScriptRequests) -> ScriptRequest:
    request = _ready_request(requests)
    _add_later(requests)
    return request


def _add_in_order(requests: ScriptRequests, request: RerunData) -> bool:
    """Add a request to the waiting one, or behind it if that has an event of a component."""
    with requests._lock:
        waits = requests._state is ScriptRequestType.RERUN and request.widget_states
        if waits and (_later(requests) or _has_event(requests._rerun_data)):
            _later(requests).append(request)
            return True
        return requests._request_rerun_locked(request)


def _add_later(requests: ScriptRequests) -> None:
    """Let the next request wait for a run, once the one before it is taken."""
    with requests._lock:
        if _later(requests) and requests._state is ScriptRequestType.CONTINUE:
            requests._request_rerun_locked(_later(requests).popleft())


def _add_first(requests: ScriptRequests, request: RerunData) -> bool:
    """Let an earlier request wait before those that came later."""
    with requests._lock:
        if requests._state is ScriptRequestType.RERUN:
            _later(requests).appendleft(requests._rerun_data)
            requests._state = ScriptRequestType.CONTINUE
        return requests._request_rerun_locked(request)


def _later(requests: ScriptRequests) -> deque[RerunData]:
    found: deque[RerunData] = requests.__dict__.setdefault(_LATER, deque())
    return found


def _has_event(request: RerunData) -> bool:
    widgets = request.widget_states.widgets if request.widget_states else ()
    return any(one.json_trigger_value for one in widgets)


def _without_early_click(runner: ScriptRunner, request: RerunData) -> RerunData:
    """Return a request without its click if a field has a new value; the click comes next."""
    states, waited = request.widget_states, runner.__dict__.pop(_WAITED, False)
    if states is None or waited or not _has_click(states) or not _has_new_value(runner, states):
        return request
    runner.__dict__[_WAITED] = _add_first(runner._requests, request)
    others = [one for one in states.widgets if one.WhichOneof("value") != _BUTTON]
    return replace(request, widget_states=WidgetStates(widgets=others))


def _has_click(states: WidgetStates | None) -> bool:
    return states is not None and any(one.trigger_value for one in states.widgets)


def _has_new_value(runner: ScriptRunner, states: WidgetStates) -> bool:
    state = runner._session_state._state
    before = state._new_widget_state
    sent = WStates(widget_metadata=before.widget_metadata)
    for one in states.widgets:
        metadata = before.widget_metadata.get(one.id)
        if metadata is not None and metadata.value_type in _FIELDS:
            sent.set_widget_from_proto(one)
    return any(id in state and sent[id] != state[id] for id in sent)


def _copy_theme(message: CustomThemeConfig, section: str = "theme") -> None:
    message.MergeFrom(_theme_message(section))


@cache
def _theme_message(section: str) -> CustomThemeConfig:
    message = CustomThemeConfig()
    _fill_theme(message, section)
    return message


def _id_of_file(content: bytes, *about: str | None) -> str:
    """Return the id of a file that a page offers: content, media type and name."""
    digest = hashlib.blake2b(repr((len(content), about)).encode(), key=_FILE_KEY, digest_size=16)
    digest.update(content)
    return digest.hexdigest()
