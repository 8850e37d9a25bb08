"""A visitor of the app that speaks the browser's protocol without a browser."""

from __future__ import annotations

import http.cookiejar
import json
import re
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import ClientConnection, connect

from tests.waits import PATIENCE_S

_SID = re.compile(r"s=([A-Za-z0-9_-]{22})")
# What a component tells once has a name that begins so.
_ONCE = "$$STREAMLIT_INTERNAL_KEY"


class ServerGone(Exception):
    """The server does not answer any more."""


class Visitor:
    """One tab.

    Parameters
    ----------
    url : str
        Of the server, without a slash at the end.
    page : str
        Last part of the page's address.
    sid : str
        The project to go on with; a new one without.

    Attributes
    ----------
    heard : list of bytes
        Every message that the server sent.
    """

    def __init__(self, url: str, page: str = "map", sid: str = "") -> None:
        self.url, self.page, self.sid = url, page, sid
        self.heard: list[bytes] = []
        self.widgets: dict[str, Any] = {}
        self.texts: list[str] = []
        # What else stands in the address, once; where the server sends the browser to.
        self.query, self.sent_to = "", ""
        self.shown: list[Any] = []
        self._socket: ClientConnection | None = None
        self._states: dict[str, WidgetState] = {}
        # Large messages by hash, which the server sends once.
        self._large: dict[str, ForwardMsg] = {}
        self._tab = ""
        # Fragments that rerun: interval in seconds, and time of the next run.
        self._beats: dict[str, tuple[float, float]] = {}
        cookies = http.cookiejar.CookieJar()
        self._http = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))
        self._cookies = cookies

    def come(self) -> Visitor:
        """Open the page."""
        with self._http.open(f"{self.url}/_stcore/health", timeout=PATIENCE_S):
            pass
        address = self.url.replace("http", "ws", 1) + "/_stcore/stream"
        cookie = "; ".join(f"{one.name}={one.value}" for one in self._cookies)
        # The server ignores the login without the token.
        token = [one.value or "" for one in self._cookies if "xsrf" in one.name]
        self._socket = connect(
            address,
            origin=self.url,  # type: ignore[arg-type]
            subprotocols=["streamlit", *token],  # type: ignore[list-item]
            additional_headers={"Cookie": cookie},
            max_size=None,
            open_timeout=PATIENCE_S,
            legacy=True,
        )
        self.run()
        return self

    def leave(self) -> None:
        """Close the tab."""
        if self._socket is not None:
            self._socket.close()

    def go(self, page: str) -> float:
        """Follow a link of the navigation."""
        self.page = page
        return self.run()

    def say(self, label: str, text: str) -> float:
        """Write into a field of text."""
        kind = "text_area" if label == "Comment" else "text_input"
        state = self._state(kind, label)
        state.string_value = text
        return self.run()

    def set_number(self, label: str, number: int) -> float:
        """Write a whole number into a field."""
        self._state("number_input", label).int_value = number
        return self.run()

    def press(self, label: str) -> float:
        """Press a button whose label begins so."""
        state = self._state("button", label)
        state.trigger_value = True
        try:
            return self.run()
        finally:
            self._states.pop(state.id, None)

    def open(self, label: str, kind: str = "popover") -> float:
        """Open what is drawn only when it is opened."""
        self._state(kind, label).bool_value = True
        return self.run()

    def make_map(self) -> float:
        """Make a map with the form; return the longer wait, for the form or for the start."""
        waits = [] if self.has("Make map") else [self.open("New map")]
        return max([*waits, self.press("Make map")])

    def choose(self, label: str, place: int) -> float:
        """Take one of the options of a list."""
        state = self._state("selectbox", label)
        state.string_value = list(self._named("selectbox", label).options)[place]
        return self.run()

    def part(self, name: str) -> Any:
        """Return what the server told a component of the page, such as the map; None without it."""
        result = self._component(name)
        return None if result is None else json.loads(result.json)

    def wish(self, name: str, event: str, value: object) -> float:
        """Have a component of the page tell something once, such as what to colour by."""
        result = self._component(name)
        assert result is not None, f"there is no {name} on {self.page}: {self._labels()}"
        id = f"{_ONCE}_{result.id}__events"
        state = WidgetState(
            id=id, json_trigger_value=json.dumps([{"event": event, "value": value}])
        )
        self._states[id] = state
        return self.run()

    def tell(self, name: str, states: dict[str, object]) -> float:
        """Have a component of the page keep something, such as what is selected."""
        result = self._component(name)
        assert result is not None, f"there is no {name} on {self.page}: {self._labels()}"
        state = self._states.setdefault(result.id, WidgetState(id=result.id))
        state.json_value = json.dumps({**json.loads(state.json_value or "{}"), **states})
        return self.run()

    def upload(self, files: dict[str, bytes]) -> float:
        """Drop files."""
        element = self._named("file_uploader", "")
        ask = BackMsg()
        ask.file_urls_request.request_id = "files"
        ask.file_urls_request.file_names.extend(files)
        self._send(ask)
        urls = self._until("file_urls_response").file_urls_response.file_urls
        state = self._states.setdefault(element.id, WidgetState(id=element.id))
        for (name, content), where in zip(files.items(), urls, strict=True):
            self._put(where.upload_url, name, content)
            info = state.file_uploader_state_value.uploaded_file_info.add()
            info.file_id, info.name, info.size = where.file_id, name, len(content)
            info.file_urls.CopyFrom(where)
        return self.run()

    def run(self) -> float:
        """Run the page with the fields as they are; return the seconds that it took."""
        begun = time.monotonic()
        message = BackMsg()
        asked = [f"s={self.sid}"] * bool(self.sid) + [self.query] * bool(self.query)
        message.rerun_script.query_string, self.query = "&".join(asked), ""
        message.rerun_script.page_name = self.page
        message.rerun_script.widget_states.widgets.extend(self._states.values())
        message.rerun_script.cached_message_hashes.extend(self._large)
        self._send(message)
        self._forget()
        self._hear()
        for id in [id for id in self._states if id.startswith(_ONCE)]:
            del self._states[id]
        return time.monotonic() - begun

    def rest(self, seconds: float) -> None:
        """Do nothing for a while, but what a browser does meanwhile: parts of a page run again."""
        end = time.monotonic() + seconds
        while self._beats:
            due, fragment = min((due, id) for id, (_, due) in self._beats.items())
            if due > end:
                break
            time.sleep(max(0.0, due - time.monotonic()))
            message = BackMsg()
            message.rerun_script.query_string = f"s={self.sid}" if self.sid else ""
            message.rerun_script.page_name = self.page
            message.rerun_script.fragment_id = fragment
            message.rerun_script.is_auto_rerun = True
            message.rerun_script.widget_states.widgets.extend(self._states.values())
            self._send(message)
            self._hear()
            if fragment in self._beats:
                every = self._beats[fragment][0]
                self._beats[fragment] = (every, time.monotonic() + every)
        time.sleep(max(0.0, end - time.monotonic()))

    def rest_until(self, words: str, seconds: float = PATIENCE_S) -> None:
        """Do nothing until the page shows these words by itself, as a browser does."""
        end = time.monotonic() + seconds
        while not self.has(words):
            assert time.monotonic() < end, f"{words!r} was never shown, but {self._labels()}"
            self.rest(0.5)

    def _forget(self) -> None:
        self.widgets, self.texts, self.shown, self._beats = {}, [], [], {}

    def _hear(self) -> None:
        """Take in what the server tells until a page, or a part of it, has run."""
        while True:
            received = self._next()
            kind = received.WhichOneof("type")
            if kind == "new_session":
                self._tab = received.new_session.initialize.session_id
            elif kind == "page_info_changed":
                result = _SID.search(received.page_info_changed.query_string)
                self.sid = result.group(1) if result else self.sid
            elif kind == "auth_redirect":
                self.sent_to = received.auth_redirect.url
            elif kind == "auto_rerun":
                every = received.auto_rerun.interval
                self._beats[received.auto_rerun.fragment_id] = (every, time.monotonic() + every)
            elif kind == "delta":
                self._keep(received)
            elif kind == "navigation":
                pages = {
                    app_page.page_script_hash: app_page.url_pathname
                    for app_page in received.navigation.app_pages
                }
                self.page = pages.get(received.navigation.page_script_hash, self.page) or self.page
            elif kind == "script_finished":
                if received.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    self._forget()
                    continue
                if received.script_finished != ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY:
                    # A browser forgets the fields that are not there any more.
                    for id in set(self._states) - set(self.widgets):
                        del self._states[id]
                return

    def download(self, label: str) -> bytes:
        """Press a button that makes a file; return the file."""
        ask = BackMsg()
        ask.backend_operation_request.request_id = "file"
        ask.backend_operation_request.session_id = self._tab
        wanted = ask.backend_operation_request.deferred_file
        wanted.file_id = self._named("download_button", label).deferred_file_id
        self._send(ask)
        answer = self._until("backend_operation_response").backend_operation_response
        assert not answer.error_msg, answer.error_msg
        return self.fetch(answer.deferred_file.url)

    def has(self, words: str) -> bool:
        """Whether the page shows these words."""
        labels = (getattr(element, "label", "") for element in self.widgets.values())
        return any(words in text for text in (*self.texts, *labels))

    def wait(self, words: str, seconds: float = PATIENCE_S) -> None:
        """Run the page until it shows these words."""
        self.wait_until(lambda: self.has(words), words, seconds)

    def wait_until(self, present: Callable[[], bool], message: str, seconds: float) -> None:
        """Run the page until it is as it should be.

        Most of the time is left to what is waited for: on a busy machine, running the page again
        and again would hold it up.
        """
        end, took = time.monotonic() + seconds, 0.0
        while not present():
            assert time.monotonic() < end, f"{message!r} was never shown, but {self._labels()}"
            time.sleep(max(0.3, 3.0 * took))
            took = self.run()

    def fetch(self, path: str) -> bytes:
        """Ask for something beside the pages, such as a picture."""
        with self._http.open(self.url + path, timeout=PATIENCE_S) as answer:
            content: bytes = answer.read()
        self.heard.append(content)
        return content

    def _keep(self, received: ForwardMsg) -> None:
        if received.delta.WhichOneof("type") != "new_element":
            if received.delta.WhichOneof("type") == "add_block":
                self.texts.append(str(received.delta.add_block))
                for part in (received.delta.add_block.popover, received.delta.add_block.expandable):
                    if part.id:
                        self.widgets[part.id] = part
            return
        element = received.delta.new_element
        inner = getattr(element, element.WhichOneof("type"))
        if hasattr(inner, "id") and inner.id:
            self.widgets[inner.id] = inner
        self.shown.append(inner)
        if hasattr(inner, "body"):
            self.texts.append(inner.body)

    def _component(self, name: str) -> Any:
        for element in self.widgets.values():
            if getattr(element, "component_name", "").endswith(name):
                return element
        return None

    def _named(self, kind: str, label: str) -> Any:
        for element in self.widgets.values():
            name = type(element).__name__.lower()
            if name == kind.replace("_", "") and element.label.startswith(label):
                return element
        raise AssertionError(f"there is no {kind} {label!r} on {self.page}: {self._labels()}")

    def _labels(self) -> list[str]:
        return [f"{type(e).__name__} {getattr(e, 'label', '')}" for e in self.widgets.values()]

    def _state(self, kind: str, label: str) -> WidgetState:
        element = self._named(kind, label)
        return self._states.setdefault(element.id, WidgetState(id=element.id))

    def _put(self, path: str, name: str, content: bytes) -> None:
        line = "hetviz-visitor-file"
        head = (
            f'--{line}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n\r\n'
        )
        body = head.encode() + content + f"\r\n--{line}--\r\n".encode()
        token = next((cookie.value for cookie in self._cookies if "xsrf" in cookie.name), "")
        request = urllib.request.Request(
            self.url + path,
            data=body,
            method="PUT",
            headers={
                "Content-Type": f"multipart/form-data; boundary={line}",
                "X-Xsrftoken": token or "",
            },
        )
        with self._http.open(request, timeout=PATIENCE_S) as answer:
            assert answer.status < 300

    def _send(self, message: BackMsg) -> None:
        assert self._socket is not None
        try:
            self._socket.send(message.SerializeToString())
        except OSError as error:
            raise ServerGone from error
        except Exception as error:
            if type(error).__module__.startswith("websockets"):
                raise ServerGone from error
            raise

    def _next(self) -> ForwardMsg:
        assert self._socket is not None
        try:
            raw = self._socket.recv(timeout=PATIENCE_S)
        except TimeoutError:
            raise
        except Exception as error:
            if isinstance(error, OSError) or type(error).__module__.startswith("websockets"):
                raise ServerGone from error
            raise
        assert isinstance(raw, bytes)
        self.heard.append(raw)
        message = ForwardMsg()
        message.ParseFromString(raw)
        if message.WhichOneof("type") == "ref_hash":
            message.CopyFrom(self._large[message.ref_hash])
        elif message.metadata.cacheable:
            self._large[message.hash] = message
        return message

    def _until(self, kind: str) -> ForwardMsg:
        while True:
            message = self._next()
            if message.WhichOneof("type") == kind:
                return message
