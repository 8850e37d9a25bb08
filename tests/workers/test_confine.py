"""Sandbox restrictions of the reader process."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from collections.abc import Iterable

import pytest

from hetviz.workers import confine, launch

# Each as a statement; what is not permitted says so.
CALLS = {
    "a socket": "socket.socket()",
    "a socket of this machine": "socket.socket(socket.AF_UNIX)",
    "another program": "subprocess.run([sys.executable, '-c', ''])",
    "itself as another program": "os.execv(sys.executable, [sys.executable, '-c', ''])",
    "a signal to the server": "os.kill(os.getppid(), 0)",
    "a look into another process": "call(101 if x86 else 117, 16, os.getppid(), 0, 0)",
    "a ring that makes sockets": "call(425, 1, 0)",
    "the numbers of another machine": "call(0x40000000 + 39)",
}
TRY = """
import ctypes, json, os, platform, socket, subprocess, sys, threading
from hetviz.workers import confine
x86 = platform.machine() == "x86_64"
libc = ctypes.CDLL(None, use_errno=True)
def call(*numbers):
    if libc.syscall(*map(ctypes.c_long, numbers)) < 0:
        raise OSError(ctypes.get_errno(), "")
told = {{}}
def tried():
    for name, statement in {calls}.items():
        try:
            exec(statement)
        except OSError as error:
            told.setdefault(name, []).append(error.errno)
        else:
            told.setdefault(name, []).append("done")
{confined}
tried()
thread = threading.Thread(target=tried)
thread.start()
thread.join()
open(sys.executable, "rb").read(4)
print(json.dumps(told))
"""


def told(names: Iterable[str], confined: str) -> dict[str, list[object]]:
    """Return by call what a process and a thread of it were told; both can still read a file."""
    calls = {name: CALLS[name] for name in names}
    command = [sys.executable, "-c", TRY.format(calls=calls, confined=confined)]
    env = launch.reader_environment()
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    result: dict[str, list[object]] = json.loads(done.stdout)
    return result


@pytest.fixture(scope="module")
def filtered() -> None:
    if not confine.available_limits()["calls"]:
        pytest.skip("this system has no filter of calls")


@pytest.mark.usefixtures("filtered")
def test_sandbox_blocks_system_calls() -> None:
    result = told(CALLS, "confine.block_system_calls()")
    assert result == {name: [errno.EPERM, errno.EPERM] for name in CALLS}


@pytest.mark.usefixtures("filtered")
def test_system_calls_work_without_sandbox() -> None:
    some = ("a socket", "another program", "a signal to the server")
    assert told(some, "") == {name: ["done", "done"] for name in some}


@pytest.mark.usefixtures("filtered")
def test_child_process_has_seccomp_filter() -> None:
    code = "from hetviz.workers import reader as process; process.apply_limits(); "
    code += "print([line for line in open('/proc/self/status') if line.startswith('Seccomp:')])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=launch.reader_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "2" in done.stdout
