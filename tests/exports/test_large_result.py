"""The result of a recipe over files as data and map in memory, and as a project."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hetviz
from hetviz.errors import ParameterError
from hetviz.exports.large_result import read_large
from hetviz.workspace import Sessions, open_project
from tests.runs.large.small_tables import Made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hetviz.run_recipe(Made().write(tmp_path_factory.mktemp("files")))


def test_all_rows_links_and_places_come_back(folder: Path) -> None:
    data, embedding = hetviz.load_run(folder)
    wanted = Made().data()
    assert data["genes"].ids.tolist() == wanted["genes"].ids.tolist()
    np.testing.assert_array_equal(data["genes"].X, wanted["genes"].X)
    assert data["genes"].X.dtype == np.float32
    assert data["drugs"].feature_names == ("f0", "f1", "f2")
    # What is no feature is what is known of an item.
    assert list(data["drugs"].table.columns) == ["year"]
    for sign in "+-":
        there = data.adjacency(sign) != wanted.adjacency(sign)
        assert there.nnz == 0
    made = hetviz.embed(wanted, "guided-projection")
    for name, Y in embedding.coordinates.items():
        assert np.abs(np.corrcoef(Y[:, 0], made.coordinates[name][:, 0])[0, 1]) > 1 - 1e-6
    assert embedding.made.run.method == "guided-projection"


def test_a_sample_of_the_rows_has_the_links_among_them(folder: Path, tmp_path: Path) -> None:
    whole, part = read_large(folder), read_large(folder, 110, seed=1)
    assert [len(one) for one in part.data.datasets.values()] == [65, 45]
    assert "110 of 220 rows are here" in part.embedding.note
    rows = np.concatenate(
        [
            whole.data.offsets[name].start + whole.data[name].find(one.ids)
            for name, one in part.data.datasets.items()
        ]
    )
    A = whole.data.adjacency("+")[rows][:, rows]
    assert (part.data.adjacency("+") != A).nnz == 0
    np.testing.assert_array_equal(part.embedding.stacked(), whole.embedding.stacked()[rows])
    with pytest.raises(ParameterError, match="two are needed"):
        read_large(folder, 3)
    (tmp_path / "recipe.toml").write_text('format = 1\ndata = "digits"\nmethod = "pca"\n')
    with pytest.raises(ParameterError, match="no result of a recipe over files"):
        read_large(tmp_path)


def test_it_becomes_a_project_that_the_app_opens(folder: Path, tmp_path: Path) -> None:
    data, embedding = hetviz.load_run(folder)
    file = hetviz.export(data, embedding, tmp_path / "screen.hetviz")
    sessions = Sessions(tmp_path / "sessions")
    try:
        state = sessions.get(open_project(file.read_bytes(), file.name, sessions)).state
    finally:
        sessions.close()
    assert state.title == "screen"
    assert state.run.method == "guided-projection"
    assert state.is_current(state.run)
    assert "links" in state.run.figures["kinds"]
    np.testing.assert_array_equal(state.run.embedding.stacked(), embedding.stacked())
