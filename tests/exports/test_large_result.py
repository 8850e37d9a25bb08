"""Results of recipes over files, in memory and as a project."""

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


def test_load_run_reads_all_rows(folder: Path) -> None:
    data, embedding = hetviz.load_run(folder)
    wanted = Made().data()
    assert data["genes"].ids.tolist() == wanted["genes"].ids.tolist()
    np.testing.assert_array_equal(data["genes"].X, wanted["genes"].X)
    assert data["genes"].X.dtype == np.float32
    assert data["drugs"].feature_names == ("f0", "f1", "f2")
    # What is no feature is what is known of an item.
    assert list(data["drugs"].table.columns) == ["year"]
    for sign in "+-":
        difference = data.adjacency(sign) != wanted.adjacency(sign)
        assert difference.nnz == 0
    refitted = hetviz.embed(wanted, "guided-projection")
    for name, Y in embedding.coordinates.items():
        assert np.abs(np.corrcoef(Y[:, 0], refitted.coordinates[name][:, 0])[0, 1]) > 1 - 1e-6
    assert embedding.made.run.method == "guided-projection"


def test_read_large_samples_rows_and_links(folder: Path, tmp_path: Path) -> None:
    whole, part = read_large(folder), read_large(folder, 110, seed=1)
    assert [len(dataset) for dataset in part.data.datasets.values()] == [65, 45]
    assert "a random sample of 110 of 220 rows" in part.embedding.note
    rows = np.concatenate(
        [
            whole.data.offsets[name].start + whole.data[name].find(dataset.ids)
            for name, dataset in part.data.datasets.items()
        ]
    )
    A = whole.data.adjacency("+")[rows][:, rows]
    assert (part.data.adjacency("+") != A).nnz == 0
    np.testing.assert_array_equal(part.embedding.stacked(), whole.embedding.stacked()[rows])
    with pytest.raises(ParameterError, match="two are needed"):
        read_large(folder, 3)
    (tmp_path / "recipe.toml").write_text('format = 1\ndata = "digits"\nmethod = "pca"\n')
    with pytest.raises(ParameterError, match="is not a result of a recipe over files"):
        read_large(tmp_path)


def test_large_result_exports_as_project(folder: Path, tmp_path: Path) -> None:
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
