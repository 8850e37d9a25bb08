"""Files that once ended load_model or the command line in a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

import hetviz
from hetviz.cli import main
from hetviz.errors import DataError, HetvizError

FOUND = Path(__file__).resolve().parents[1] / "soak" / "hostile" / "found"


@pytest.mark.parametrize("path", sorted(FOUND.glob("*model*.zip")), ids=lambda path: path.name)
def test_a_damaged_model_is_refused(path: Path) -> None:
    with pytest.raises(HetvizError):
        hetviz.load_model(path)


def test_a_key_of_many_parts_takes_no_memory(capsys: pytest.CaptureFixture[str]) -> None:
    path = FOUND / "toml_15000.zip"
    with pytest.raises(DataError, match="nested 14,999 deep; 32 are allowed"):
        hetviz.load(path)
    assert main(["evaluate", str(path), "--method", "pca"]) == 1
    assert "Traceback" not in capsys.readouterr().err
