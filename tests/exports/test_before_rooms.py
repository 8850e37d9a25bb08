"""Files written by earlier versions with other module names."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz.algorithms.registry import methods
from hetviz.workspace import Sessions, open_project
from hetviz.workspace.commands.command import from_dict
from tests.exports.test_model import new_rows

EARLIER = Path(__file__).parents[1] / "fixtures" / "before_rooms"
JOURNAL = json.loads((EARLIER / "journal.json").read_text(encoding="utf-8"))


@cache
def earlier_models() -> dict[str, bytes]:
    with zipfile.ZipFile(EARLIER / "models.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_earlier_models_cover_methods() -> None:
    saved = {name.removesuffix(".zip") for name in earlier_models() if name.endswith(".zip")}
    assert len(saved) == 19
    assert {card.key for card in methods()} >= saved
    assert sum(name.endswith(".npy") for name in earlier_models()) == 16


@pytest.mark.parametrize("name", sorted(name for name in earlier_models() if name.endswith(".zip")))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_earlier_model_loads_and_transforms(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(earlier_models()[name])
    model = hetviz.load_model(file)
    assert model.card.key == name.removesuffix(".zip")
    assert np.isfinite(model.embedding_.coordinates["first"]).any()
    placed = earlier_models().get(name.replace(".zip", ".npy"))
    if placed is not None:
        coordinates = model.transform(new_rows()).stacked()
        expected = np.load(io.BytesIO(placed))
        size = float(np.ptp(model.embedding_.stacked()[model.embedding_.stacked_placed()]))
        np.testing.assert_allclose(coordinates, expected, rtol=1e-6, atol=1e-6 * size)


def test_earlier_project_opens(tmp_path: Path) -> None:
    file = EARLIER / "project.hetviz"
    sessions = Sessions(tmp_path)
    workspace = sessions.get(open_project(file.read_bytes(), file.name, sessions))
    assert workspace.notes == []
    data = workspace.state.data
    assert data is not None
    assert {name: len(part) for name, part in data.datasets.items()} == {"plants": 4, "birds": 3}
    assert hetviz.load(file).fingerprint() == data.fingerprint()
    assert len(workspace.state.runs) == 2
    assert workspace.steps == 6
    while workspace.steps:
        workspace.undo()
    sessions.close()


@pytest.mark.parametrize("kind", sorted(JOURNAL))
def test_earlier_commands_are_read(kind: str) -> None:
    entries: list[Any] = JOURNAL[kind]
    assert entries
    for entry in entries:
        fields = from_dict(entry).to_dict()
        # What has come since then is as if nothing had been said of it.
        assert {name: fields[name] for name in entry} == entry
        assert not any(value for name, value in fields.items() if name not in entry)
