"""Damaged files that must raise a clear error."""

from __future__ import annotations

from pathlib import Path

import pytest

import hetviz
from hetviz.cli import main
from hetviz.errors import DataError, HetvizError

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
