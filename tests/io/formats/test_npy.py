"""NPY files: what is read of them, and lies of their headers."""

import io

import numpy as np
import pytest

from hetviz.errors import DataError
from hetviz.io.formats.npy import matrix
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
