"""NPY files: what is read of them, and lies of their headers."""

import gc
import io
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from hetviz.errors import DataError
from hetviz.io.formats.npy import load, matrix, stored_array
from tests.io.file_builders import npy


def test_npy_reads_matrices_and_refuses_wrong_headers():
    X = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(matrix("x.npy", npy(X)), X)
    assert matrix("x.npy", npy(X.astype(np.float32))).dtype == np.float32
    big = npy(X).replace(b"(2, 3)", b"(2000000, 3)").replace(b"      \n", b"\n")
    objects = io.BytesIO()
    np.save(objects, np.array([{}], dtype=object), allow_pickle=True)
    for content in (big, objects.getvalue(), npy(X)[:-8], npy(np.arange(3.0)), npy(X)[:20]):
        with pytest.raises(DataError):
            matrix("x.npy", content)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.empty((0, 4), dtype=np.float32),
        np.array(["a", "ß"]),
        np.array([""], dtype="U0"),
        np.array(True),
    ],
)
def test_arrays_return_from_files_unchanged(array, tmp_path: Path):
    np.save(tmp_path / "x.npy", array)
    for back in (
        load(tmp_path / "x.npy"),
        load(tmp_path / "x.npy", mapped=True),
        stored_array(npy(array)),
    ):
        np.testing.assert_array_equal(back, array)
        assert back.dtype.kind == array.dtype.kind


def test_threads_read_at_once(tmp_path: Path):
    np.save(tmp_path / "x.npy", np.arange(8.0))
    content = npy(np.arange(8.0).reshape(2, 4))
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    # Threads alternate while garbage is collected, as they do with Dask's own callback.
    collect = lambda phase, info: sum(range(50))  # noqa: E731
    gc.callbacks.append(collect)
    gc.set_threshold(20, 2, 2)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            for X in threads.map(lambda _: matrix("x.npy", content), range(3000)):
                assert X[1, 3] == 7
            for x in threads.map(lambda _: load(tmp_path / "x.npy"), range(3000)):
                assert x[7] == 7
    finally:
        gc.callbacks.remove(collect)
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(interval)
