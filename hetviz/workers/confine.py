"""Restrictions of worker processes: no network, blocked system calls, limits of resources.

`block_network` moves the process to an empty network namespace, which Linux allows for root and
with user namespaces. `block_system_calls` installs a seccomp filter on Linux that blocks starting
programs, opening sockets, and inspecting or signalling other processes.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import signal
import struct
import subprocess
import sys
from collections.abc import Iterable

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_SET_PDEATHSIG = 1
_NO_NEW_PRIVILEGES, _SECCOMP_FILTER, _ALL_THREADS = 38, 1, 1
# By machine: architecture id, number of the seccomp call, and blocked calls:
# sockets (create, connect, bind, listen, accept, io_uring), starting programs,
# other processes (ptrace, memory, files, signals), keys, mounts, namespaces,
# and kernel inspection or modules.
_CALLS = {
    "x86_64": (
        0xC000003E,
        317,
        (41, 42, 43, 49, 50, 288, 425, 59, 322, 101, 310, 311, 438, 62, 248, 249, 250, 165, 166,
         155, 161, 272, 308, 304, 298, 321, 323, 175, 313, 246)
    ),
    "aarch64": (
        0xC00000B7,
        277,
        (198, 203, 202, 200, 201, 242, 425, 221, 281, 117, 270, 271, 438, 129, 217, 218, 219, 40,
         39, 41, 51, 97, 268, 265, 241, 280, 282, 105, 273, 104)
    ),
}  # fmt: skip
# Call numbers of the x32 ABI, which could bypass the filter.
_X32 = 0x40000000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _NOT_PERMITTED = 0x7FFF0000, 0x00050000, 1


def block_network() -> bool:
    """Block the network permanently, before any thread starts; return whether it worked."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0 and libc.unshare(_NEW_NET) == 0:
        return True
    return bool(libc.unshare(_NEW_USER | _NEW_NET) == 0)


def block_system_calls() -> bool:
    """Block unneeded system calls permanently, after `block_network`; return whether it worked."""
    rules = _CALLS.get(platform.machine()) if sys.platform == "linux" else None
    if rules is None or sys.maxsize < 2**32:
        return False
    machine, seccomp, refused = rules
    # Jump offsets to the last two instructions, "allow" and "refuse".
    lines = [(_LOAD, 0, 0, 4), (_EQUAL, 0, len(refused) + 3, machine), (_LOAD, 0, 0, 0)]
    lines.append((_AT_LEAST, len(refused) + 1, 0, _X32))
    lines += [(_EQUAL, len(refused) - k, 0, number) for k, number in enumerate(refused)]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE | _NOT_PERMITTED)]
    filter = b"".join(struct.pack("<HBBI", *line) for line in lines)
    buffer = ctypes.create_string_buffer(filter, len(filter))
    program = struct.pack("@HP", len(lines), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    done = libc.syscall(ctypes.c_long(seccomp), _SECCOMP_FILTER, _ALL_THREADS, program)
    return bool(done == 0)


def available_limits() -> dict[str, bool]:
    """Return which restrictions work here (``network``, ``calls``), tried in a child process."""
    command = [sys.executable, "-P", "-c", f"from {__name__} import _print_limits as f; f()"]
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(  # noqa: S603 - our own interpreter
        command, capture_output=True, text=True, check=False, timeout=60, env=environment
    )
    limits: dict[str, bool] = json.loads(done.stdout)
    return limits


def _print_limits() -> None:
    network = block_network()
    sys.stdout.write(json.dumps({"network": network, "calls": block_system_calls()}))


def confine(limits: Iterable[tuple[int, int, int]] = (), parent: int = 0) -> None:
    """Restrict this process permanently, before any thread starts, as far as the system allows."""
    for kind, soft, hard in limits:
        # Only where there are limits is there the module.
        import resource

        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (soft, hard))
    block_network()
    if parent:
        # After `block_network`, which resets the setting.
        end_with(parent)
    block_system_calls()


def end_with(parent: int) -> None:
    """End this process when its parent ends."""
    if sys.platform == "linux":
        # A long library call may block all threads, so the kernel sends the signal.
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # The parent has already ended.
        os._exit(0)
