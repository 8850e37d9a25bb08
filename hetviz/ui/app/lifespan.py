"""Server start and idle work: warm-up, memory limits and release of unused projects."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import importlib
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from threading import Thread

from streamlit import net_util
from streamlit.runtime import get_instance

from hetviz._samples import samples
from hetviz.errors import HetvizError
from hetviz.serve.config import settings
from hetviz.serve.records import configure_logging
from hetviz.ui.app.streamlit_patches import patch_streamlit
from hetviz.ui.app.upload_limits import release_closed_tabs
from hetviz.ui.jobs.jobs import JOBS
from hetviz.ui.map_data.array_cache import ARRAYS, RESULTS
from hetviz.ui.shell import background
from hetviz.ui.shell.paths import FIRST_SAMPLE
from hetviz.workers.confine import end_with
from hetviz.workspace import SESSIONS
from hetviz.workspace.sessions import IDLE_S
from hetviz.workspace.store.content import read_sample

# Imports that load scikit-learn. They wait until the first visitor has likely seen a map, so that
# both do not compete for the processors.
LATE_MODULES = ("hetviz.algorithms.registry", "hetviz.jobs.tasks.maps")
_LATE_IMPORT_S = 15.0
# Options of mallopt in malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """Warm up in the background, free memory when idle and stop the workers at the end."""
    if (parent := os.environ.get("HETVIZ_PARENT")) is not None:
        end_with(int(parent))
    limit_malloc()
    disable_external_ip_lookup()
    patch_streamlit()
    if settings().log != "quiet":
        configure_logging(settings().log)
    Thread(target=_warm_up, name="warm-up", daemon=True).start()
    resting = asyncio.create_task(free_memory_periodically())
    yield
    resting.cancel()
    JOBS.close()


def disable_external_ip_lookup() -> None:
    """Stop Streamlit from asking an external server for our IP address; no setting does it."""
    net_util.get_external_ip = lambda: None


def _warm_up() -> None:
    importlib.import_module("hetviz.plots")
    share_memory_with_arrow()
    if FIRST_SAMPLE in samples():
        try:
            read_sample(FIRST_SAMPLE)
        except HetvizError:
            # The page that opens the sample reports the error.
            return
    collect_garbage()
    time.sleep(_LATE_IMPORT_S)
    JOBS.warm()
    for name in LATE_MODULES:
        importlib.import_module(name)
    collect_garbage()


def limit_malloc() -> None:
    """Limit the freed memory that glibc holds: each page run has a thread, each arena a reserve."""
    _call_libc("mallopt", _ARENA_MAX, 2)
    _call_libc("mallopt", _MMAP_THRESHOLD, 64_000)
    _call_libc("mallopt", _TRIM_THRESHOLD, 4_000_000)


async def free_memory_periodically() -> None:
    """Free memory periodically; HETVIZ_REST_AFTER_S sets the seconds without a visitor."""
    after = float(os.environ.get("HETVIZ_REST_AFTER_S", IDLE_S))
    while True:
        await asyncio.sleep(after / 10)
        # Streamlit makes its own calls on this thread.
        dropped = _drop_closed_tabs() + release_closed_tabs()
        await asyncio.to_thread(free_memory, after, freed=dropped > 0)
        JOBS.end_idle_workers(after)


def free_memory(after: float, freed: bool = False) -> None:
    """Release projects without a visitor for `after` seconds; `freed` trims memory anyway."""
    rested = SESSIONS.close_idle(after)
    for id in rested:
        ARRAYS.clear(id)
        background.drop_jobs(id)
    RESULTS.drop_unused(after)
    if freed or rested:
        collect_garbage()
        _call_libc("malloc_trim", 0)


def collect_garbage() -> None:
    """Collect garbage; freeze the remaining objects if no project is open."""
    # Frozen objects, mostly of libraries, cost no time in later collections, which then run sooner
    # for the pages of visitors.
    alone = SESSIONS.n_open == 0
    if alone:
        gc.unfreeze()
    gc.collect()
    if alone:
        gc.freeze()


def share_memory_with_arrow() -> None:
    """Make Arrow use the system allocator, since its own keeps a reserve."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.set_memory_pool(arrow.system_memory_pool())


def _drop_closed_tabs() -> int:
    """Make Streamlit drop expired closed tabs; it does so only when another tab closes."""
    # Streamlit has no public function for it.
    with suppress(AttributeError, RuntimeError, TypeError):
        tabs = get_instance()._session_mgr._session_storage._cache  # type: ignore[attr-defined]
        return len(tabs._expirations) - len(tabs)
    return 0


def _call_libc(function: str, *arguments: int) -> None:
    """Call a function of glibc; do nothing on other systems."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            getattr(ctypes.CDLL("libc.so.6"), function)(*arguments)
