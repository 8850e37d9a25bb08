"""What the server does before anybody comes, and when all have left.

Before, so that the first visitor need not wait for it; after, to let go of projects in memory.
"""

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
from hetviz.jobs import Pool
from hetviz.serve.config import settings
from hetviz.serve.records import configure_logging
from hetviz.ui.map.array_cache import ARRAY_CACHE, drop_unused
from hetviz.ui.shell import background
from hetviz.ui.shell.atomic_callbacks import make_callbacks_atomic
from hetviz.ui.shell.paths import FIRST_SAMPLE
from hetviz.workspace import SESSIONS
from hetviz.workspace.store.content import read_sample
from hetviz.workspace.store.sessions import IDLE_S

# Making maps loads scikit-learn; that waits until a first visitor has likely seen the first map, or
# the two would take the processors from each other.
LATE_MODULES = ("hetviz.algorithms.registry", "hetviz.jobs.tasks.maps")
_LATE_IMPORT_S = 15.0
# Of mallopt, as malloc.h numbers them.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """Warm up beside the server's start, rest when all have left, and end the worker at the end."""
    limit_malloc()
    disable_external_ip_lookup()
    make_callbacks_atomic()
    if settings().log != "quiet":
        configure_logging(settings().log)
    Thread(target=_warm_up, name="warm-up", daemon=True).start()
    resting = asyncio.create_task(free_memory_periodically())
    yield
    resting.cancel()
    if isinstance(background.RUNNER, Pool):
        background.RUNNER.close()


def disable_external_ip_lookup() -> None:
    """Keep Streamlit from asking a server of Amazon for our address.

    It does so for each request from another site, to tell whether that is ourselves. There is no
    setting for it.
    """
    net_util.get_external_ip = lambda: None


def _warm_up() -> None:
    importlib.import_module("hetviz.plots")
    share_memory_with_arrow()
    if FIRST_SAMPLE in samples():
        try:
            read_sample(FIRST_SAMPLE)
        except HetvizError:
            # The page that opens it says what is wrong.
            return
    collect_garbage()
    time.sleep(_LATE_IMPORT_S)
    background.RUNNER.warm()
    for name in LATE_MODULES:
        importlib.import_module(name)
    collect_garbage()


def limit_malloc() -> None:
    """Have the C library hold little of the memory that was freed (glibc only).

    Every run of a page has a thread of its own. By default each of up to eight arenas a processor
    keeps tens of megabytes at its top that no call gives back.
    """
    _call_libc("mallopt", _ARENA_MAX, 2)
    _call_libc("mallopt", _MMAP_THRESHOLD, 64_000)
    _call_libc("mallopt", _TRIM_THRESHOLD, 4_000_000)


async def free_memory_periodically() -> None:
    """Give memory back from time to time, until cancelled.

    HETVIZ_REST_AFTER_S says after how many seconds without a visitor.
    """
    after = float(os.environ.get("HETVIZ_REST_AFTER_S", IDLE_S))
    while True:
        await asyncio.sleep(after / 10)
        # Here, since Streamlit's own calls are made on this thread.
        dropped = _drop_closed_tabs()
        await asyncio.to_thread(free_memory, after, freed=dropped > 0)
        if isinstance(background.RUNNER, Pool):
            background.RUNNER.end_idle_workers(after)


def free_memory(after: float, freed: bool = False) -> None:
    """Let go of projects that nobody looks at, and of what their browsers could ask for.

    Parameters
    ----------
    after : float
        Seconds without a visitor.
    freed : bool
        Whether other memory became free that the system should have back.
    """
    rested = SESSIONS.close_idle(after)
    for id in rested:
        ARRAY_CACHE.clear(id)
        background.drop_jobs(id)
    drop_unused(after)
    if freed or rested:
        collect_garbage()
        _call_libc("malloc_trim", 0)


def collect_garbage() -> None:
    """Collect garbage; while nobody is there, set aside what remains, mostly that of libraries.

    Python collects all of its objects only once those that outlived some collections are a quarter
    more than before. Beside 300,000 objects of libraries these are the pages of many visitors, with
    all their arrays. What is set aside is not counted, and takes no time at any collection.
    """
    alone = SESSIONS.n_open == 0
    if alone:
        gc.unfreeze()
    gc.collect()
    if alone:
        gc.freeze()


def share_memory_with_arrow() -> None:
    """Have Arrow, once it is loaded, take memory as all others do; it would keep a reserve."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.set_memory_pool(arrow.system_memory_pool())


def _drop_closed_tabs() -> int:
    """Have Streamlit drop closed tabs whose time is over; it waits for the next to be closed."""
    # There is no public way; without this one, theirs works.
    with suppress(AttributeError, RuntimeError, TypeError):
        tabs = get_instance()._session_mgr._session_storage._cache  # type: ignore[attr-defined]
        return len(tabs._expirations) - len(tabs)
    return 0


def _call_libc(function: str, *arguments: int) -> None:
    """Call a function of glibc; nothing happens on another system."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            getattr(ctypes.CDLL("libc.so.6"), function)(*arguments)
