"""Damaged files that must raise a clear error."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import hetviz
from hetviz.cli import main
from hetviz.errors import DataError, HetvizError
from hetviz.io.formats.npy import stored_array


def npy_bytes(kind: type) -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([1, 2]).astype(kind), allow_pickle=True)
    return file.getvalue()


DAMAGED_FILES = Path(__file__).resolve().parents[1] / "soak" / "hostile" / "found"


@pytest.mark.parametrize(
    "path", sorted(DAMAGED_FILES.glob("*model*.zip")), ids=lambda path: path.name
)
def test_load_model_rejects_damaged_files(path: Path) -> None:
    with pytest.raises(HetvizError):
        hetviz.load_model(path)


def test_load_rejects_deeply_nested_keys(capsys: pytest.CaptureFixture[str]) -> None:
    path = DAMAGED_FILES / "toml_15000.zip"
    with pytest.raises(DataError, match="nested 14,999 levels deep, at most 32 are allowed"):
        hetviz.load(path)
    assert main(["evaluate", str(path), "--method", "pca"]) == 1
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04broken",
        b"\x93NUMPY",
        b"\x80\x04.",
        npy_bytes(object),
        npy_bytes(float)[:-1],
    ],
    ids=["empty", "zip", "cut", "pickle", "objects", "short"],
)
def test_array_of_a_model_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - NumPy has many words for it
        stored_array(content)


def test_arrays_of_a_model_may_be_texts() -> None:
    assert stored_array(npy_bytes(str)).tolist() == ["1", "2"]
