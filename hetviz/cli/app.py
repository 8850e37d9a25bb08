"""Start the app."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from pathlib import Path

from hetviz.cli.arguments import Add
from hetviz.errors import HetvizError

_PACKAGE = Path(__file__).resolve().parents[1]


def register(add: Add) -> None:
    """Add the command."""
    app = add("app", _app, "Start the app in a browser.", "app --port 8501")
    app.add_argument("--port", type=int, help="port to serve on")
    app.add_argument("--headless", action="store_true", help="open no browser window")


def _app(given: argparse.Namespace) -> int:
    script = next(
        (path for path in (_PACKAGE / "app.py", _PACKAGE.parent / "app.py") if path.is_file()), None
    )
    if script is None:
        raise HetvizError("The app was not installed with this copy of hetviz; install it again.")
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    if given.port is not None:
        command += ["--server.port", str(given.port)]
    if given.headless:
        command += ["--server.headless", "true"]
    with subprocess.Popen(command) as server:  # noqa: S603 - our own interpreter and script
        # Whoever stops this process means the server.
        signal.signal(signal.SIGTERM, lambda *_: server.terminate())
        return server.wait()
