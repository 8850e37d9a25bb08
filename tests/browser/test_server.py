"""Browser tests of the served app: proxy path, foreign hosts and policies."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import socketserver
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from hetviz.workspace.store.files import new_session_id
from tests.browser.harness import (
    ARTIFACTS,
    ROOT,
    Open,
    Server,
    Watch,
    free_port,
    new_context,
    serve,
    wait_in,
)
from tests.browser.test_app import settled, stage
from tests.waits import PATIENCE_S


@contextlib.contextmanager
def proxy(port: int, backend: int) -> Iterator[None]:
    """Forward connections like a reverse proxy that keeps the Host header."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                line = self.rfile.readline(65_536)
                if not line:
                    return
                head += line
            if b"upgrade: websocket" not in head.lower():
                head = re.sub(rb"(?i)connection: [^\r]*", b"Connection: close", head)
            with socket.create_connection(("127.0.0.1", backend)) as inner:
                inner.sendall(head)
                back = threading.Thread(target=passed_on, args=(inner, self.connection))
                back.start()
                with contextlib.suppress(OSError):
                    while data := self.rfile.read1(65_536):
                        inner.sendall(data)
                    inner.shutdown(socket.SHUT_WR)
                back.join()

    def passed_on(inner: socket.socket, outer: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := inner.recv(65_536):
                outer.sendall(data)
        # Readers of the other side get the end of the stream.
        with contextlib.suppress(OSError):
            outer.shutdown(socket.SHUT_RDWR)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with Server(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def test_app_works_below_path_behind_proxy(open_page: Open) -> None:
    port = free_port()
    with serve(ROOT / "app.py", ARTIFACTS / "below.log", base="tools/hetviz") as server:
        backend = urlsplit(server.url).port
        assert backend is not None
        with proxy(port, backend):
            url = f"http://127.0.0.1:{port}"
            page = open_page(url)
            # The first request of a server, to a page that is not the first.
            page.goto(f"{url}/tools/hetviz/data")
            expect(page.get_by_text("Add files", exact=True)).to_be_visible()
            expect(page.get_by_text("Map up to date")).to_be_visible()
            page.get_by_role("link", name="Map").click()
            stage(page)
            expect(page).to_have_url(re.compile(rf"{url}/tools/hetviz/map\?s="))
            page.get_by_role("link", name="Compare").click()
            expect(page).to_have_url(re.compile(rf"{url}/tools/hetviz/compare\?s="))
            settled(page)
            # Links of the project list contain the path.
            page.locator(".st-key-project button").first.click()
            page.get_by_role("link", name="Start").click()
            expect(page.get_by_role("heading", name="What do you want to map?")).to_be_visible()
            settled(page)
            assert page.url.startswith(f"{url}/tools/hetviz/")


def test_visitor_waits_for_a_place(browser: Browser) -> None:
    log = ARTIFACTS / "visitors.log"
    env = {"HETVIZ_VISITORS": "1", "HETVIZ_METRICS": "true"}
    with serve(ROOT / "app.py", log, env=env) as server:
        first, second = (new_context(browser).new_page() for _ in range(2))
        first.goto(f"{server.url}/data")
        expect(first.get_by_text("Map up to date")).to_be_visible()
        answer = second.goto(f"{server.url}/data")
        assert answer is not None and answer.status == 503
        expect(second.get_by_text("1 visitor is on this server")).to_be_visible()
        assert second.locator("script").count() == 0
        assert asked(server, "/healthz")[0] == 200
        metrics = asked(server, "/metrics")[1].decode()
        assert "\nhetviz_visitors 1\n" in metrics
        # The work of a visitor, under a name that stands for no person or project.
        done = re.findall(
            r'\nhetviz_visitor_(?:tabs|messages)\{visitor="[0-9a-f]{10}"\} (\d+)', metrics
        )
        assert len(done) == 2 and all(int(n) > 0 for n in done)
        # The first visitor goes on, reloads and opens another tab.
        first.reload()
        first.get_by_role("link", name="Map").click()
        stage(first)
        other = first.context.new_page()
        other.goto(f"{server.url}/data")
        expect(other.get_by_text("Map up to date")).to_be_visible()
        first.context.close()
        # By itself, without a script.
        expect(second.get_by_text("Map up to date")).to_be_visible()
        second.context.close()


def asked(server: Server, path: str, **headers: str) -> tuple[int, bytes]:
    """Return status and body of a request with these headers."""
    link = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=PATIENCE_S)
    with contextlib.closing(link):
        link.request("GET", path, headers=headers)
        answer = link.getresponse()
        return answer.status, answer.read()


def test_foreign_hosts_and_origins_are_refused(server: Server) -> None:
    own = urlsplit(server.url).netloc
    pages = (
        "/",
        "/map",
        "/_stcore/health",
        "/_stcore/host-config",
        f"/hv/items/{new_session_id()}",
    )
    for path in pages:
        assert asked(server, path, Host="evil.example")[0] == 421
        for origin in ("https://evil.example", "http://127.0.0.1:1", "null"):
            assert asked(server, path, Origin=origin)[0] == 403
        assert asked(server, path, Origin=f"http://{own}")[0] in (200, 404)
    stream = f"ws://{own}/_stcore/stream"
    for origin, host in (("https://evil.example", own), ("http://evil.example", "evil.example")):
        with pytest.raises(InvalidStatus) as refused:
            connect(
                stream,
                origin=origin,  # type: ignore[arg-type]
                subprotocols=["streamlit"],  # type: ignore[list-item]
                additional_headers={"Host": host} if host != own else {},
            )
        # The library would send two Host headers, which is invalid.
        assert refused.value.response.status_code in (400, 403)


def test_streamlit_endpoints_are_closed(server: Server) -> None:
    told = json.loads(asked(server, "/_stcore/host-config")[1])
    assert told["allowedOrigins"] == [] and not told["enableCustomParentMessages"]
    for path in ("/_stcore/metrics", "/_stcore/agent/openapi.json", "/_stcore/agent/mcp"):
        assert asked(server, path)[0] == 404


def test_unknown_session_id_is_not_adopted(open_page: Open, server: Server) -> None:
    page, guessed = open_page(server.url), new_session_id()
    page.goto(f"/map?s={guessed}")
    stage(page)
    settled(page)
    expect(page).not_to_have_url(re.compile(guessed))
    assert asked(server, f"/hv/search/{guessed}?q=a")[0] == 404


def test_other_sites_cannot_frame_or_read_app(browser: Browser, server: Server) -> None:
    """Try to read and frame the app from another origin in the same browser."""
    own = urlsplit(server.url).netloc
    page: Page = new_context(browser).new_page()
    try:
        page.route(
            "http://other.test/**",
            lambda route: route.fulfill(body="<p>other</p>", content_type="text/html"),
        )
        page.goto("http://other.test/")
        read = page.evaluate(
            """async (url) => {
                try { return (await fetch(url + '/_stcore/health')).status; }
                catch (error) { return String(error); }
            }""",
            server.url,
        )
        assert "TypeError" in str(read)
        # A frame that is refused loads an error page.
        page.evaluate(
            """(url) => new Promise((loaded) => {
                const frame = document.createElement('iframe');
                frame.onload = loaded;
                frame.src = url;
                document.body.append(frame);
            })""",
            f"{server.url}/map",
        )
        inner = [frame for frame in page.frames if frame != page.main_frame]
        assert all(own not in frame.url for frame in inner)
    finally:
        page.close()


def test_breach_of_policy_is_a_problem(browser: Browser, server: Server) -> None:
    # So every test that opens a page also tests that it follows the policy.
    context = new_context(browser)
    page, watch = context.new_page(), Watch(server.url)
    watch.follow(page)
    page.goto(f"{server.url}/_stcore/health")
    page.evaluate(
        "() => document.body.append("
        "Object.assign(document.createElement('object'), { data: '/map', type: 'text/html' }))"
    )
    wait_in(page, lambda: watch.problems)
    assert "Content Security Policy" in watch.problems[0]
    context.close()


@pytest.mark.parametrize(
    ("path", "most_requests", "most_bytes"), [("/", 35, 2_200_000), ("/map", 45, 3_700_000)]
)
def test_first_visit_is_small(
    browser: Browser, server: Server, path: str, most_requests: int, most_bytes: int
) -> None:
    # A context of its own, since those of other tests have the scripts in their caches.
    with contextlib.closing(new_context(browser, base_url=server.url)) as context:
        page = context.new_page()
        requests: list[Request] = []

        def note(request: Request) -> None:
            requests.append(request)

        page.on("requestfinished", note)
        page.goto(path)
        page.wait_for_function("() => document.querySelector('.hv-map')?.__hv?.draws > 0")
        settled(page)
        page.wait_for_load_state("networkidle")
        addresses = [request.url for request in requests]
        sizes = [request.sizes() for request in requests if request.url.startswith("http")]
    scripts = [urlsplit(url).path.rpartition("/")[2] for url in addresses if "/hv/asset/" in url]
    # Modules that are sent one by one would be further files.
    assert scripts == ["component.js"]
    assert len(sizes) <= most_requests
    assert sum(s["responseBodySize"] + s["responseHeadersSize"] for s in sizes) <= most_bytes
