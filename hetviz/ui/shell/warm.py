"""What the server does before anybody comes, so that the first visitor need not wait for it."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Thread

from streamlit import net_util

from hetviz._samples import samples
from hetviz.errors import HetvizError
from hetviz.jobs import Pool
from hetviz.serve.config import settings
from hetviz.serve.records import set_up_log
from hetviz.ui.shell import background
from hetviz.ui.shell.idle import be_frugal, keep_resting, settle, share_memory_with_arrow
from hetviz.ui.shell.paths import FIRST_SAMPLE
from hetviz.ui.shell.whole import carry_out_whole
from hetviz.workspace.store.content import read_sample

# Making maps loads scikit-learn; that waits until a first visitor has likely seen the first map, or
# the two would take the processors from each other.
_LATER = ("hetviz.algorithms.registry", "hetviz.jobs.tasks.maps")
_LATER_S = 15.0


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """Warm up beside the server's start, rest when all have left, and end the worker at the end."""
    be_frugal()
    ask_nobody()
    carry_out_whole()
    if settings().log != "quiet":
        set_up_log(settings().log)
    Thread(target=_warm, name="warm-up", daemon=True).start()
    resting = asyncio.create_task(keep_resting())
    yield
    resting.cancel()
    if isinstance(background.RUNNER, Pool):
        background.RUNNER.close()


def ask_nobody() -> None:
    """Keep Streamlit from asking a server of Amazon for our address.

    It does so for each request from another site, to tell whether that is ourselves. There is no
    setting for it.
    """
    net_util.get_external_ip = lambda: None


def _warm() -> None:
    importlib.import_module("hetviz.plots")
    share_memory_with_arrow()
    if FIRST_SAMPLE in samples():
        try:
            read_sample(FIRST_SAMPLE)
        except HetvizError:
            # The page that opens it says what is wrong.
            return
    settle()
    time.sleep(_LATER_S)
    background.RUNNER.warm()
    for name in _LATER:
        importlib.import_module(name)
    settle()
