"""Starting of worker processes: a module in our own interpreter, with an inherited socket."""

from __future__ import annotations

import os
import site
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import IO

_PACKAGE = Path(__file__).resolve().parents[1]
_SERVER_ONLY = ("PYTHONMALLOC", "MALLOC_ARENA_MAX", "NUMPY_MADVISE_HUGEPAGE")
# Variables that limit the threads of numerical libraries.
_THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_MAX_THREADS = 4
# A library reads files in the same process, so its numbers must come from the same kernels.
_READER_VARIABLES = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV", "OPENBLAS_CORETYPE")


def launch(
    module: str,
    *arguments: object,
    is_reader: bool = False,
    source: IO[bytes] | int = subprocess.DEVNULL,
    out: IO[bytes] | None = None,
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a module and return its process and our end of a socket to it, which never blocks.

    Its arguments are the descriptor of its end of the socket, our process id, and `arguments`. A
    reader has a minimal environment, writes only to `out`, and is not reached by Ctrl-C.
    """
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            descriptor = theirs.fileno()
            # multiprocessing would run the main script, the app, in the child.
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                # -P: do not import from the working directory.
                [sys.executable, "-P", "-m", module,
                 *map(str, (descriptor, os.getpid(), *arguments))],
                pass_fds=[descriptor],
                stdin=source,
                stdout=out,
                stderr=subprocess.DEVNULL if is_reader else None,
                env=reader_environment() if is_reader else worker_environment(),
                cwd=tempfile.gettempdir() if is_reader else None,
                start_new_session=is_reader,
            )  # fmt: skip
    except BaseException:
        ours.close()
        raise
    ours.setblocking(False)
    return process, ours


def reader_environment() -> dict[str, str]:
    """Return a minimal environment for reading files."""
    return {
        **{name: os.environ[name] for name in _READER_VARIABLES if name in os.environ},
        "PYTHONPATH": str(_PACKAGE.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        # Readers must not write to the home folder.
        "HOME": tempfile.gettempdir(),
    }


def worker_environment() -> dict[str, str]:
    """Return the environment of the worker: fewer threads, no secrets, paths."""
    # Workers need no secrets. The memory settings of the server would slow them down.
    env = {
        name: text
        for name, text in os.environ.items()
        if "SECRET" not in name and name not in _SERVER_ONLY
    }
    # Leave one processor to the server.
    threads = max(1, min(_MAX_THREADS, _n_processors() - 1))
    for name in _THREAD_VARIABLES:
        env.setdefault(name, str(threads))
    root = str(_PACKAGE.parent)
    # site-packages must not come before the standard library.
    if root not in [*site.getsitepackages(), site.getusersitepackages()]:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [root, env.get("PYTHONPATH")]))
    if "NUMBA_CACHE_DIR" not in env and not os.access(_PACKAGE, os.W_OK):
        env["NUMBA_CACHE_DIR"] = str(_cache_folder())
    return env


def _n_processors() -> int:
    # The process may be limited to some of the processors.
    ours = getattr(os, "sched_getaffinity", None)
    return (os.cpu_count() or 1) if ours is None else len(ours(0))


@cache
def _cache_folder() -> Path:
    """Return a folder that only this user can write, because compiled code in it is executed."""
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = (Path(home) if home else Path.home() / ".cache") / "hetviz" / "numba"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except (OSError, RuntimeError):
        # No writable home folder.
        pass
    return Path(tempfile.mkdtemp(prefix="hetviz-numba-"))
