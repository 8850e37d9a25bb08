"""Start several server processes behind one address, and direct requests to them.

The front accepts all connections and copies bytes. It reads only the first lines of a request,
whose path names a process, see `hetviz.serve.processes`. Each process has the next port on this
machine.
A process that ends or hangs is replaced. Its projects open again from their journals, whose locks
ended with the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from hetviz.serve.config import ServerSettings
from hetviz.serve.processes import split_number

log = logging.getLogger(__name__)

MAX_HEAD_BYTES = 64_000
_MAX_CONNECTIONS = 4_000
_BLOCK_BYTES = 64_000
# A browser that opens a connection in advance may send nothing for a while.
_HEAD_S = 120.0
# Time for a process to start or to be replaced, during which requests wait.
_CONNECT_S = 60.0
_CONNECT_TICK_S = 0.1
_CHECK_EVERY_S, _CHECK_S, _MAX_FAILED_CHECKS = 5.0, 20.0, 3
_START_S = 120.0
_STABLE_S, _MAX_PAUSE_S = 60.0, 30.0
_STOP_S = 20.0

_TARGET = re.compile(rb"[A-Z]+ (\S+) HTTP/1\.[01]\r\n")
_CONNECTION = re.compile(rb"\r\n(?:connection|keep-alive):[^\r\n]*", re.IGNORECASE)
_UPGRADE = re.compile(rb"\r\nupgrade:", re.IGNORECASE)

StartProcess = Callable[[Mapping[str, str]], "subprocess.Popen[bytes]"]


def share_settings(settings: ServerSettings, number: int) -> dict[str, str]:
    """Return the variables of one process: its number, address and part of the server's limits."""
    from hetviz.jobs.pool import n_workers
    from hetviz.workers.queue import n_readers

    n, work = settings.processes, settings.work

    def part(total: int) -> str:
        return str(-(-total // n))

    return {
        "HETVIZ_PARENT": str(os.getpid()),  # See `hetviz.ui.app.lifespan`.
        "HETVIZ_PROCESS": str(number),
        "HETVIZ_ADDRESS": "127.0.0.1",
        "HETVIZ_PORT": str(settings.port + number),
        "HETVIZ_VISITORS": part(settings.visitors),
        "HETVIZ_WORK_WORKERS": part(n_workers(work.workers)),
        "HETVIZ_WORK_READERS": part(n_readers(work.readers)),
        "HETVIZ_WORK_UPLOADS_MB": part(work.uploads_mb),
    }


@dataclass
class _Process:
    """One server process."""

    number: int
    port: int
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    is_ready: bool = False
    n_failed_checks: int = 0
    n_failures: int = 0  # In a row


class Front:
    """The processes of a server and the address in front of them."""

    def __init__(self, settings: ServerSettings, start: StartProcess) -> None:
        self._settings, self._start = settings, start
        self._processes = [
            _Process(number, settings.port + number) for number in range(1, settings.processes + 1)
        ]
        self._connections: set[asyncio.Task[None]] = set()
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """End all processes, and then `run`."""
        self._stop.set()

    async def run(self) -> int:
        """Serve until a signal ends it; return the exit code."""
        for name in (signal.SIGTERM, signal.SIGINT):
            # Windows has no handlers in the loop, and only the main thread has any.
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(name, self.stop)
        address = self._settings.address
        server = await asyncio.start_server(
            self._accept, address, self._settings.port, limit=MAX_HEAD_BYTES
        )
        keepers = [asyncio.create_task(self._keep_running(each)) for each in self._processes]
        stopped = asyncio.create_task(self._stop.wait())
        try:
            async with server:
                done, _ = await asyncio.wait(
                    [stopped, *keepers], return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    task.result()
        finally:
            tasks = [*keepers, *self._connections]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(self._end_all)
        return 0

    async def _keep_running(self, each: _Process) -> None:
        """Start a process, check it, and replace it when it ends or hangs."""
        while True:
            if each.process is None or each.process.poll() is not None:
                await self._start_again(each)
            elif await self._is_well(each):
                each.is_ready, each.n_failed_checks = True, 0
                if time.monotonic() - each.started_at > _STABLE_S:
                    each.n_failures = 0
            elif each.is_ready or time.monotonic() - each.started_at > _START_S:
                each.n_failed_checks += 1
                if each.n_failed_checks >= _MAX_FAILED_CHECKS:
                    log.error("Server process %d does not answer and is replaced.", each.number)
                    each.process.kill()
                    await asyncio.to_thread(each.process.wait)
                    continue
            await self._wait_for_end(each)

    async def _start_again(self, each: _Process) -> None:
        if each.process is not None:
            code = each.process.returncode
            log.error("Server process %d ended (%s) and is replaced.", each.number, code)
            each.n_failures += 1
            if each.n_failures > 1:
                await asyncio.sleep(min(2.0 ** (each.n_failures - 1), _MAX_PAUSE_S))
        each.is_ready, each.n_failed_checks = False, 0
        each.started_at = time.monotonic()
        each.process = self._start(share_settings(self._settings, each.number))

    async def _wait_for_end(self, each: _Process) -> None:
        """Wait until the next check is due, or the process ended."""
        pause = _CHECK_EVERY_S if each.is_ready else _CONNECT_TICK_S
        until = time.monotonic() + pause
        while time.monotonic() < until:
            if each.process is None or each.process.poll() is not None:
                return
            await asyncio.sleep(_CONNECT_TICK_S)

    async def _is_well(self, each: _Process) -> bool:
        request = f"GET {self._settings.base}/healthz HTTP/1.1\r\nHost: localhost\r\n"
        try:
            async with asyncio.timeout(_CHECK_S):
                reader, writer = await asyncio.open_connection("127.0.0.1", each.port)
                try:
                    writer.write(f"{request}Connection: close\r\n\r\n".encode())
                    return b" 200 " in await reader.readline()
                finally:
                    writer.close()
        except OSError:
            return False

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a connection in a task, and close it even if the task is cancelled at once."""

        def close(task: asyncio.Task[None]) -> None:
            self._connections.discard(task)
            writer.close()

        task = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(close)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection, which is one request or web socket."""
        try:
            async with asyncio.timeout(_HEAD_S):
                head = await reader.readuntil(b"\r\n\r\n")
            await self._direct(head, reader, writer)
        except asyncio.LimitOverrunError:
            _refuse(writer, 431, "The headers of this request are too large.")
        except (OSError, asyncio.IncompleteReadError):
            # The browser has gone, or sent nothing in time.
            pass
        finally:
            with contextlib.suppress(OSError):
                await writer.drain()

    async def _direct(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        matched = _TARGET.match(head)
        if matched is None:
            _refuse(writer, 400, "This is not a request of HTTP/1.1.")
            return
        path = unquote(matched[1].partition(b"?")[0].decode("latin-1"))
        if path == f"{self._settings.base}/healthz":
            _send_text(writer, *self._health())
            return
        if len(self._connections) > _MAX_CONNECTIONS:
            _refuse(writer, 503, "The server has too many connections.")
            return
        each = self._process_of(path)
        connection = await self._connect(each)
        if connection is None:
            _refuse(writer, 503, "This part of the server does not run. Try again in a minute.")
            return
        inner_reader, inner_writer = connection
        inner_writer.write(_without_reuse(head))
        request = asyncio.create_task(_copy(reader, inner_writer))
        try:
            await _copy(inner_reader, writer)
        finally:
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)
            inner_writer.close()

    def _process_of(self, path: str) -> _Process:
        base = self._settings.base
        number, _ = split_number(path.removeprefix(base)) if path.startswith(base) else (0, path)
        if 1 <= number <= len(self._processes):
            return self._processes[number - 1]
        # Any process can answer an address without a number.
        return next((each for each in self._processes if each.is_ready), self._processes[0])

    async def _connect(
        self, each: _Process
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """Connect to a process, and wait for one that starts."""
        until = time.monotonic() + _CONNECT_S
        while time.monotonic() < until:
            try:
                return await asyncio.open_connection("127.0.0.1", each.port)
            except OSError:
                await asyncio.sleep(_CONNECT_TICK_S)
        return None

    def _health(self) -> tuple[int, str, str]:
        states = {
            f"process {each.number}": "ok" if each.is_ready else "starting"
            for each in self._processes
        }
        is_well = all(each.is_ready for each in self._processes)
        about = {"status": "ok" if is_well else "failing", **states}
        return (200 if is_well else 503), "application/json", json.dumps(about)

    def _end_all(self) -> None:
        running = [each.process for each in self._processes if each.process is not None]
        for process in running:
            process.terminate()
        until = time.monotonic() + _STOP_S
        for process in running:
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy until one side ends, and end the other side in this direction."""
    with contextlib.suppress(OSError):
        while block := await reader.read(_BLOCK_BYTES):
            writer.write(block)
            await writer.drain()
        writer.write_eof()


def _without_reuse(head: bytes) -> bytes:
    """Return the head of a request after which the connection ends, except for a web socket.

    The next request of a browser may be for another process.
    """
    if _UPGRADE.search(head):
        return head
    return _CONNECTION.sub(b"", head[:-2]) + b"Connection: close\r\n\r\n"


def _refuse(writer: asyncio.StreamWriter, status: int, text: str) -> None:
    _send_text(writer, status, "text/plain; charset=utf-8", text)


def _send_text(writer: asyncio.StreamWriter, status: int, kind: str, text: str) -> None:
    body = text.encode()
    head = (
        f"HTTP/1.1 {status} \r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode() + body)
