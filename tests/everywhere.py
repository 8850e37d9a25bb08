"""Fixtures of all tests, also of the examples in hetviz/, which know none of tests/conftest.py."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from hetviz.serve.config import settings


@pytest.fixture(autouse=True, scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep what tests (and the servers that they start) save out of the user's own folder."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HETVIZ_HOME", str(folder))
        # Eight refits of each map would cost more than the tests.
        patch.setenv("HETVIZ_WORK_SPREAD_ITEMS", "0")
        settings.cache_clear()
        yield folder


@pytest.fixture(autouse=True, scope="session")
def samples_are_read_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """Read each sample once per process; data never change."""
    if all(item.get_closest_marker("browser") for item in request.session.items):
        yield
        return
    # Imported here, because the threads are set above.
    from tests.samples import read_once

    with pytest.MonkeyPatch.context() as patch:
        read_once(patch)
        yield


@pytest.fixture(autouse=True)
def examples_choose_methods_once(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Choose the method of a sample once for all examples in hetviz/."""
    if isinstance(request.node, pytest.DoctestItem):
        from tests.samples import try_once

        try_once(monkeypatch)


@pytest.fixture
def reader_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files in this process, for tests of what is read: each start of a reader takes long."""
    from hetviz.errors import DataError, Problem
    from hetviz.io.intake import child, isolated
    from hetviz.workers import reader

    def run(
        request: isolated.Request,
        processor_s: int,
        on_progress: Callable[[float, str], None] | None = None,
        into: IO[bytes] | None = None,
    ) -> bytes:
        content = b"".join(isolated.encode_buffers(request, isolated.REQUEST_RECORDS))
        try:
            with warnings.catch_warnings():
                # Nothing shows those of a reader.
                warnings.simplefilter("ignore")
                answer = b"".join(child._answer(content, on_progress or (lambda *_: None)))
        except DataError:
            raise
        except Exception:
            # It would have ended the reader.
            failure = reader._failure_of(1, processor_s)
            assert failure is not None
            code, message, remedy = failure
            problem = Problem(code, request.names, message, "", remedy)
            raise reader.ReaderFailed(problem, "") from None
        if into is None:
            return answer
        into.write(answer)
        into.flush()
        return b""

    monkeypatch.setattr(isolated.Request, "run", run)
