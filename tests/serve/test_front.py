"""Tests of several server processes behind one address."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from hetviz.serve import front
from hetviz.serve.config import ServerSettings, read_settings
from hetviz.serve.front import Front, share_settings
from tests.browser.harness import free_ports, is_open, serve_with, session_members
from tests.waits import PATIENCE_S, wait_until

# Answers with its number, its process and what it received, echoes what follows an upgrade, and
# sends as many bytes as asked for.
_SERVER = """
import os, socketserver
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        head = b""
        while not head.endswith(b"\\r\\n\\r\\n"):
            head += self.rfile.readline()
        low = head.lower()
        if b"upgrade:" in low:
            self.wfile.write(b"HTTP/1.1 101 Switching\\r\\n\\r\\n")
            while line := self.rfile.readline():
                self.wfile.write(line.upper())
            return
        n = int(low.split(b"content-length:")[1].split()[0]) if b"content-length:" in low else 0
        body = self.rfile.read(n)
        n = int(head.split(b"bytes=")[1].split()[0]) if b"bytes=" in head else 0
        text = f"{os.environ['HETVIZ_PROCESS']} {os.getpid()} {len(body)} ".encode()
        text += head.replace(b"\\r\\n", b"|") + b"x" * n
        self.wfile.write(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n" + text)
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
Server(("127.0.0.1", int(os.environ["HETVIZ_PORT"])), Handler).serve_forever()
"""


@dataclass
class Running:
    """A front with small processes behind it."""

    settings: ServerSettings
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, "-c", _SERVER], env={**os.environ, **variables})
        self.started.append(process)
        return process

    def send(self, request: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.settings.port), PATIENCE_S) as connection:
            with suppress(OSError):
                connection.sendall(request)
            received = b""
            with suppress(ConnectionResetError):
                while block := connection.recv(1 << 16):
                    received += block
            return received

    def get(self, path: str, more: bytes = b"") -> bytes:
        return self.send(f"GET {path} HTTP/1.1\r\nHost: x\r\n".encode() + more + b"\r\n")


@pytest.fixture
def running() -> Iterator[Running]:
    running = Running(ServerSettings(port=free_ports(3), processes=2))
    loop, fronts = asyncio.new_event_loop(), []

    async def run() -> None:
        fronts.append(Front(running.settings, running.start))
        await fronts[0].run()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    try:
        assert wait_until(lambda: fronts and is_open(running.settings.port))
        assert wait_until(lambda: b" 200 " in running.get("/healthz"))
        yield running
    finally:
        loop.call_soon_threadsafe(fronts[0].stop)
        thread.join()
        loop.close()
    assert all(process.poll() is not None for process in running.started)


def number_of(answer: bytes) -> int:
    return int(answer.partition(b"\r\n\r\n")[2].split()[0])


def process_id(answer: bytes) -> int:
    return int(answer.partition(b"\r\n\r\n")[2].split()[1])


def test_path_names_the_process(running: Running) -> None:
    for number in (1, 2, 1, 2):
        assert number_of(running.get(f"/n{number}/map?s=x")) == number
    # An address without a number, or with that of no process.
    assert number_of(running.get("/map")) == number_of(running.get("/n9/map")) == 1


def test_connection_ends_after_each_request(running: Running) -> None:
    # The next request of the browser may be for another process.
    answer = running.get("/n1/", b"Connection: keep-alive\r\nCookie: a=b\r\n")
    assert b"|Connection: close|" in answer and b"keep-alive" not in answer
    assert b"|Cookie: a=b|" in answer


def test_bytes_of_both_directions_arrive(running: Running) -> None:
    n = 3_000_000
    head = f"POST /n2/rows?bytes={n} HTTP/1.1\r\nHost: x\r\nContent-Length: {n}\r\n\r\n"
    answer = running.send(head.encode() + b"y" * n).partition(b"\r\n\r\n")[2]
    assert int(answer.split()[2]) == n and answer.endswith(b"|" + b"x" * n)


def test_web_socket_stays_open(running: Running) -> None:
    head = b"GET /n2/_stcore/stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
    with socket.create_connection(("127.0.0.1", running.settings.port), PATIENCE_S) as connection:
        stream = connection.makefile("rwb")
        stream.write(head + b"Upgrade: websocket\r\n\r\n")
        stream.flush()
        assert b" 101 " in stream.readline() and stream.readline() == b"\r\n"
        for text in (b"one\n", b"two\n"):
            stream.write(text)
            stream.flush()
            assert stream.readline() == text.upper()


def test_process_that_ends_is_replaced(running: Running) -> None:
    os.kill(killed := process_id(running.get("/n2/")), signal.SIGKILL)
    assert wait_until(lambda: any(each.poll() is not None for each in running.started))
    # The request waits for the new process. The other one goes on.
    assert process_id(running.get("/n2/")) != killed
    assert number_of(running.get("/n1/")) == 1 and len(running.started) == 3
    assert wait_until(lambda: b" 200 " in running.get("/healthz"))


def test_process_that_hangs_is_replaced(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "_CHECK_EVERY_S", 0.1)
    monkeypatch.setattr(front, "_CHECK_S", 0.5)
    hanging = process_id(running.get("/n2/"))
    os.kill(hanging, signal.SIGSTOP)
    try:
        assert wait_until(lambda: len(running.started) == 3)
    finally:
        with suppress(ProcessLookupError):
            os.kill(hanging, signal.SIGCONT)
    assert process_id(running.get("/n2/")) != hanging


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux ends it")
def test_server_ends_with_a_killed_command(tmp_path: Path) -> None:
    port = free_ports(1)
    env = {"HETVIZ_HOME": str(tmp_path), "HETVIZ_PORT": str(port)}
    command, log = [sys.executable, "-m", "hetviz", "serve"], tmp_path / "server.log"
    with serve_with(command, f"http://127.0.0.1:{port}", log, env) as server:
        assert len(session_members(server.pid)) > 1
        os.kill(server.pid, signal.SIGKILL)
    # `serve_with` fails if a process is left.
    assert session_members(server.pid) == []


def test_connection_is_closed_if_the_server_stops_before_it_is_answered() -> None:
    async def stop_at_once() -> MagicMock:
        served, writer = Front(ServerSettings(), MagicMock()), MagicMock()
        served._accept(asyncio.StreamReader(), writer)
        (task,) = served._connections
        task.cancel()
        await asyncio.wait([task])
        assert not served._connections
        return writer

    asyncio.run(stop_at_once()).close.assert_called_once_with()


def test_health_names_each_process(running: Running) -> None:
    about = json.loads(running.get("/healthz").partition(b"\r\n\r\n")[2])
    assert about == {"status": "ok", "process 1": "ok", "process 2": "ok"}


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"nonsense\r\n\r\n", b" 400 "),
        (b"GET / SPDY/9\r\n\r\n", b" 400 "),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n", b" 431 "),
    ],
)
def test_bad_requests_are_refused(running: Running, request_bytes: bytes, status: bytes) -> None:
    assert status in running.send(request_bytes)
    assert number_of(running.get("/n1/")) == 1


def test_limits_of_the_server_are_divided() -> None:
    path = {"HETVIZ_PROCESSES": "4", "HETVIZ_VISITORS": "10", "HETVIZ_WORK_WORKERS": "6"}
    settings = read_settings(None, path)
    own = share_settings(settings, 3)
    part = read_settings(None, path | own)
    assert (part.process, part.port, part.visitors) == (3, settings.port + 3, 3)
    assert (part.work.workers, part.work.uploads_mb) == (2, 250)
    assert part.work.readers >= 1
    # No limit stays none.
    assert share_settings(ServerSettings(processes=4), 1)["HETVIZ_VISITORS"] == "0"
