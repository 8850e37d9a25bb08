"""Harness that starts the app and collects the problems of a page."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from tests.waits import PATIENCE_MS, PATIENCE_S, wait_until

ROOT = Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "test-artifacts"

# Software WebGL (the map needs it), and no request that the page itself does not make.
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]

# What Playwright turns off: the last list of a command counts.
_OFF_IN_PLAYWRIGHT = [
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
]

# What halves the cost of loading a page: without a GPU, what is no WebGL is drawn in less time
# when no GPU is played, and one process for all pages of a visitor compiles the scripts of the app
# once, unless it parses those that arrive in a thread beside. Benchmarks do without, since a
# visitor's browser has none of it.
QUICK_FLAGS = [
    f"--disable-features={','.join(['ScriptStreaming', *_OFF_IN_PLAYWRIGHT])}",
    "--disable-gpu-rasterization",
    "--disable-gpu-compositing",
    "--process-per-site",
]

# On a deep link the client first looks for its server beside the page; both answer 404.
HARMLESS_404 = re.compile(r"/[^/]+/_stcore/(health|host-config)$")


@dataclass(frozen=True)
class Look:
    """How a page is shown: colour scheme and size of the window."""

    scheme: Literal["light", "dark"] = "light"
    width: int = 1400
    height: int = 900

    def __str__(self) -> str:
        return f"{self.scheme}-{self.width}x{self.height}"


_SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LOOKS = [
    Look(scheme, width, height)
    for scheme in _SCHEMES
    for width, height in ((1400, 900), (900, 700))
]


def each_look(page: Page) -> Iterator[Look]:
    """Give one page all looks in turn, which costs less than loading it in each.

    That a page opens in any of them is tested by those that are marked with a look.
    """
    for look in LOOKS:
        page.set_viewport_size({"width": look.width, "height": look.height})
        themed(page, look.scheme)
        yield look


def themed(page: Page, scheme: Literal["light", "dark"]) -> None:
    """Show a page of the app in a theme, and wait until it is."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(
        """(scheme) => {
          const paper = getComputedStyle(document.querySelector('.stApp')).backgroundColor;
          const [r, g, b] = paper.match(/[0-9.]+/g).map(Number);
          return (r + g + b < 384) === (scheme === 'dark');
        }""",
        arg=scheme,
    )


# Once per tab, so that a test can clear it and load the page again.
_WITHOUT_GUIDE = """try {
  if (!sessionStorage.getItem("hetviz-guided")) localStorage.setItem("hetviz-guided", "1");
  sessionStorage.setItem("hetviz-guided", "1");
} catch {}"""


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """Open a context whose actions wait as long as all waits of the tests.

    Its visitors have skipped the guide of a first project.
    """
    context = browser.new_context(**options)
    context.add_init_script(_WITHOUT_GUIDE)
    context.set_default_timeout(PATIENCE_MS)
    return context


class Open(Protocol):
    """Opens a watched page of a server, each as another visitor."""

    def __call__(self, url: str, *, motion: bool = False) -> Page: ...


class Picture(Protocol):
    """Saves a screenshot under test-artifacts, named with the look (that of the test, if none)."""

    def __call__(self, page: Page, name: str, look: Look | None = None) -> Path: ...


@dataclass(frozen=True)
class Server:
    """A running app."""

    url: str
    pid: int
    log: Path


@contextlib.contextmanager
def serve(
    script: Path,
    log: Path,
    *,
    env: Mapping[str, str] | None = None,
    port: int | None = None,
    base: str = "",
    hosts: str = "",
    grace_s: float = PATIENCE_S,
) -> Iterator[Server]:
    """Run a Streamlit script until the block ends; no process of it may be left then.

    A test may kill the server before. With `base` it is served below that path, with `hosts` under
    these names besides 127.0.0.1, as ``hetviz serve`` would do.
    """
    port = port or free_port()
    names = ["127.0.0.1", *hosts.split()]
    env = {**(env or {}), "HETVIZ_BASE_PATH": base, "HETVIZ_HOSTS": ",".join(names)}
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"]
    command += [f"--server.baseUrlPath={base}"] * bool(base)
    command += [f"--server.allowedHosts={name}" for name in names]
    below = f"/{base}" if base else ""
    with serve_with(command, f"http://127.0.0.1:{port}{below}", log, env, grace_s) as server:
        yield server


@contextlib.contextmanager
def serve_with(
    command: Sequence[str],
    url: str,
    log: Path,
    env: Mapping[str, str],
    grace_s: float = PATIENCE_S,
) -> Iterator[Server]:
    """Run the command of a server until the block ends; no process of it may be left then."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as output:
        # A session of its own, so that what it leaves behind can be found.
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(url, process.pid, log)
    try:
        if not wait_until(lambda: process.poll() is not None or healthy(server.url)):
            raise TimeoutError(f"no answer from {server.url}:\n{log.read_text()}")
        if process.poll() is not None:
            raise RuntimeError(f"the server ended at once:\n{log.read_text()}")
        yield server
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE_S)
            stopped = True
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            stopped = False
    assert stopped, f"the server did not stop on SIGTERM:\n{log.read_text()}"
    # Tests of faults kill it, and Streamlit by itself ends with the signal.
    codes = (0, -signal.SIGKILL) if "hetviz" in command else (0, -signal.SIGKILL, -signal.SIGTERM)
    assert process.returncode in codes, log.read_text()
    # Its worker ends when it finds the pipe closed.
    assert wait_until(lambda: not session_members(process.pid), limit_s=grace_s), (
        "the server left processes behind"
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def free_ports(n: int) -> int:
    """Return the first of some free ports in a row."""
    while True:
        port = free_port()
        if port + n < 65_535 and not any(is_open(port + k) for k in range(n)):
            return port


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=PATIENCE_S) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def wait_in(page: Page, condition: Callable[[], object]) -> None:
    """Wait for a condition while the events of the page are handled."""

    def holds() -> object:
        page.wait_for_timeout(50)
        return condition()

    assert wait_until(holds, pause_s=0)


def painted(page: Page) -> None:
    """Wait until what the page has drawn is on the screen."""
    page.evaluate(
        "new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))"
    )


def session_members(session: int) -> list[int]:
    """List the living processes of a session (Linux; elsewhere none are seen)."""
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name, in brackets, may hold anything; after it: state, parent, group, session.
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                members.append(int(stat.parent.name))
    return members


@dataclass
class Watch:
    """What went wrong in a page, as it happened."""

    origin: str
    problems: list[str] = field(default_factory=list)

    def follow(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type != "error":
            return
        place = message.location.get("url", "")
        if "404" in message.text and HARMLESS_404.search(place):
            return
        self.problems.append(f"console: {message.text} ({place})")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("data", "blob", "about"):
            return
        if parts.netloc != urlsplit(self.origin).netloc:
            self.problems.append(f"request to another place: {request.url}")
