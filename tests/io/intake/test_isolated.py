"""HDF5 files are read in a process with limits, wherever they come in."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

from hetviz.cli import main
from hetviz.errors import DataError, MissingExtraError
from hetviz.io import Choices, read_tables
from hetviz.io.formats import anndata
from hetviz.io.intake import child, isolated
from hetviz.workers import reader as process
from tests.io.file_builders import packed

h5py = pytest.importorskip("h5py")

FOUND = Path(__file__).resolve().parents[2] / "soak" / "hostile" / "found"
HDF5 = b"\x89HDF\r\n\x1a\n"
HANGS = ("fast2-16-t.h5ad", "fast2-3-t.h5ad")


@pytest.fixture
def sound(tmp_path):
    """A small AnnData file with two matrices."""
    path = tmp_path / "t.h5ad"
    with h5py.File(path, "w") as file:
        obs = file.create_group("obs")
        obs.attrs["_index"] = "_index"
        obs["_index"] = [b"a", b"b", b"c"]
        file["X"] = np.arange(6.0).reshape(3, 2)
        file.create_group("obsm")["X_pca"] = np.ones((3, 1))
    return path.read_bytes()


def test_isolated_process_reads_same_pieces(sound):
    for choices in (Choices(), Choices(part="X_pca", name="cells")):
        (there,) = isolated.parse_file("t.h5ad", sound, choices)
        (here,) = anndata.read_hdf5("t.h5ad", sound, choices)
        assert there.name == here.name
        assert there.facts == here.facts
        np.testing.assert_array_equal(there.X, here.X)
        assert there.frame.equals(here.frame)


def test_isolated_process_returns_rejection(sound):
    with pytest.raises(DataError, match="part of the file is damaged"):
        isolated.parse_file("t.h5ad", sound[:200], Choices())


def test_isolated_process_not_started_without_h5py(sound, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    monkeypatch.setattr(process.subprocess, "Popen", lambda *_, **__: pytest.fail("a process"))
    with pytest.raises(MissingExtraError, match="omics"):
        isolated.parse_file("t.h5ad", sound, Choices())


def test_allowed_seconds_grow_with_file_size():
    assert (
        isolated.allowed_seconds("t.h5ad", HDF5)
        < isolated.allowed_seconds("t.h5ad", HDF5 + bytes(30_000_000))
        <= process.MAX_PROCESSOR_S
    )
    assert isolated.allowed_seconds("t.h5ad", HDF5 + bytes(100_000_000)) == process.MAX_PROCESSOR_S
    assert child._allowed_seconds(
        [("t.h5ad", b"\x89HDF\r\n\x1a\n" + bytes(9000))]
    ) == isolated.allowed_seconds("t.h5ad", HDF5)


# The app's way is that of the next test.
@pytest.mark.parametrize("name", HANGS)
def test_endless_hdf5_file_is_refused(name, monkeypatch):
    monkeypatch.setattr(isolated, "_MIN_SECONDS", 1)
    content = (FOUND / name).read_bytes()
    with pytest.raises(DataError, match="1 second of allowed"):
        read_tables([(name, content)])


def test_app_reads_endless_hdf5_file_once(monkeypatch):
    monkeypatch.setattr(isolated, "_MIN_SECONDS", 1)
    # What files of other kinds may take, of which one beside them uses up all.
    monkeypatch.setattr(process, "MAX_PROCESSOR_S", 1)
    bad = (HANGS[0], (FOUND / HANGS[0]).read_bytes())
    read, in_child = [], child._in_child

    def counted(files, choices, task, *rest):
        read.append((task, [name for name, _ in files]))
        return in_child(files, choices, task, *rest)

    monkeypatch.setattr(child, "_in_child", counted)
    assert child.preview_tables([bad], {}) == ([], b"")
    with (
        tempfile.TemporaryFile() as file,
        pytest.raises(DataError, match="1 second of allowed"),
    ):
        child.load([bad], None, {}, file)
    assert read == [("parse", [bad[0]])]
    tables = [("a.csv", b"id,x\na,1\nb,2\n"), ("b.csv", b"id,y\na,1\nb,3\n")]
    looks, container = child.preview_tables([*tables, bad], {})
    # All of these are parsed again, as the container must hold all files.
    assert container == b""
    assert [look.file for look in looks] == ["a.csv", "b.csv"]
    result = child.parse_files([*tables, bad], {})
    assert [group.name for group in result.frames] == ["a.csv", "b.csv"]
    assert [name for name, _ in result.problems] == [bad[0]]


def test_endless_hdf5_file_among_others_and_in_cli(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(isolated, "_MIN_SECONDS", 1)
    hanging = (FOUND / HANGS[0]).read_bytes()
    table = b"id,x,y\n" + b"\n".join(b"i%d,%d,%d" % (k, k, k * k % 7) for k in range(9))
    path = tmp_path / "both.zip"
    path.write_bytes(packed([("t.csv", table), ("bad.h5ad", hanging)]))
    assert main(["embed", str(path), "--method", "pca", "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert "1 second of allowed processor time" in told
    assert "Traceback" not in told
