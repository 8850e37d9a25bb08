"""Data are made of files in a process of their own, and are the same as made here."""

import json
import tempfile

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz._pandas import TEXT
from hetviz.data.joins.proposals import propose_joins
from hetviz.errors import DataError
from hetviz.io import Choices, read_bundle, read_tables
from hetviz.io.bundle.loaded import Loaded
from hetviz.io.intake import child
from hetviz.io.intake.pack_loaded import pack_loaded, unpack_loaded
from hetviz.workers import reader as process
from tests.io.file_builders import packed, picture, workbook

PEOPLE = "\n".join(
    ["person,town,born,height,motto"]
    + [
        f"P{k:03d},T{k % 7},19{50 + k % 40}-02-{1 + k % 28:02d},{150 + k % 37}.5,word {k}"
        for k in range(90)
    ]
).encode()
TOWNS = "\n".join(
    ["town,size,coast"] + [f"T{k},{k * 31 % 17},{'yn'[k % 2]}" for k in range(7)]
).encode()
PAIRS = b"source_id,target_id,weight\nP001,T3,0.5\nP002,T4,1\nP004,T9,1\n"
FILES = [("people.csv", PEOPLE), ("towns.csv", TOWNS), ("pairs.csv", PAIRS)]


def apart(files, choices=None, base=None, drop=None, heard=None):
    with tempfile.TemporaryFile() as file:
        child.load(files, drop, choices or {}, file, base, heard)
        file.seek(0)
        return child.loaded_of(memoryview(file.read()), base)


def same(one, other):
    assert one.data.fingerprint() == other.data.fingerprint()
    assert one.understood == other.understood
    assert one.files == other.files
    assert one.problems == other.problems
    assert (one.name, one.title) == (other.name, other.title)
    for name, dataset in one.data.datasets.items():
        there = other.data[name]
        np.testing.assert_array_equal(dataset.X, there.X)
        assert dataset.feature_names == there.feature_names
        assert json.dumps(dataset.recipe, sort_keys=True) == json.dumps(
            there.recipe, sort_keys=True
        )
        pd.testing.assert_frame_equal(dataset.table, there.table)
        assert dataset.titles.tolist() == there.titles.tolist()
    for group, there in zip(one.data.links, other.data.links, strict=True):
        np.testing.assert_array_equal(group.i, there.i)
        np.testing.assert_array_equal(group.weight, there.weight)
    for column, there in zip(one.data.labels, other.data.labels, strict=True):
        assert column.values.tolist() == there.values.tolist()


def test_load_in_child_equals_load_here():
    choices = {"people.csv": Choices(labels=("town",))}
    there, proposals = apart(FILES, choices)
    here = read_tables(FILES, choices)
    same(there, here)
    # Handed over, and what it would be.
    assert there.data.fingerprint() == there.data.edit().rename("towns", "towns").fingerprint()
    expected = propose_joins(here.data)
    assert [one.to_dict(there.data) for one in proposals] == [
        one.to_dict(here.data) for one in expected
    ]
    assert proposals


@pytest.mark.usefixtures("reader_here")
def test_container_stands_for_files():
    rows = [[f"W{k}", k / 7, "ab"[k % 2]] for k in range(30)]
    files = [("book.xlsx", workbook({"Wells": [["well", "ph", "town"], *rows]}))]
    container = child.pack_files(files, {})
    # A cell of what was parsed stands for that of the file, into which nobody looks any more.
    other = container.replace(b"W29", b"Z29")
    assert other != container
    loaded, _ = apart(files, drop=other)
    assert loaded.data["book"].ids[-1] == "Z29"


@pytest.mark.usefixtures("reader_here")
def test_load_adds_files_to_base():
    base = read_tables(FILES[:2]).data
    there, _ = apart(FILES[2:], base=base)
    here = read_tables(FILES[2:], base=base)
    assert there.data["people"] is base["people"]
    same(there, here)


def test_load_reports_progress(monkeypatch):
    # Told as often as is looked: the whole may take less than the half second between two of these.
    monkeypatch.setattr(process, "_REPORT_S", 0.0)
    told = []
    wide = "\n".join(
        [",".join(["id", *(f"x{k}" for k in range(40))])]
        + [",".join([f"i{r}", *(str(r * k % 97) for k in range(40))]) for r in range(20_000)]
    ).encode()
    apart([("wide.csv", wide)], heard=lambda *said: told.append(said))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert any("wide" in words for _, words in told)


def test_exception_in_progress_callback_kills_child():
    class Left(BaseException):
        pass

    def leave(share, words):
        raise Left

    wide = b"id,x\n" + b"".join(b"i%d,%d\n" % (k, k) for k in range(200_000))
    started = []
    popen = process.subprocess.Popen

    def start(*args, **rest):
        started.append(popen(*args, **rest))
        return started[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process.subprocess, "Popen", start)
        with pytest.raises(Left):
            apart([("wide.csv", wide)], heard=leave)
    assert [one.poll() is not None for one in started] == [True]


def test_load_rejection_equals_rejection_here():
    with pytest.raises(DataError) as here:
        read_tables([("bad.json", b"[{")])
    with pytest.raises(DataError) as there:
        apart([("bad.json", b"[{")])
    assert there.value.problems == here.value.problems


@pytest.mark.parametrize("at", [3, 40, 400, -1, -30])
def test_unpack_loaded_refuses_damaged_bytes(at):
    loaded = read_tables(FILES)
    content = b"".join(pack_loaded(loaded, propose_joins(loaded.data)))
    with pytest.raises(ValueError, match="damaged"):
        unpack_loaded(content[:at])
    back, _ = unpack_loaded(content)
    same(back, loaded)


def test_unpack_loaded_refuses_row_index_out_of_range():
    loaded = read_tables(FILES[:2])
    content = b"".join(pack_loaded(loaded, propose_joins(loaded.data)))
    assert unpack_loaded(content)[1]
    result = content.replace(np.int64(6).tobytes(), np.int64(6_000).tobytes())
    assert result != content
    with pytest.raises(ValueError, match="damaged"):
        unpack_loaded(result)


def test_unpack_loaded_refuses_object_arrays():
    content = b"".join(pack_loaded(read_tables(FILES[:2])))
    result = content.replace(b'"<f8"', b'"|O8"')
    assert result != content
    with pytest.raises(ValueError, match="damaged"):
        unpack_loaded(result)


def test_unpack_loaded_refuses_paths_of_pictures():
    table = hetviz.Dataset("a", ["x"], media=["picture.png"])
    with pytest.raises(ValueError, match="bytes"):
        pack_loaded(Loaded(hetviz.HeteroData([table]), "a", "a"))
    table = hetviz.Dataset("a", ["x"], media=[b"1234"])
    content = b"".join(pack_loaded(Loaded(hetviz.HeteroData([table]), "a", "a")))
    result = content.replace(b'{"$pieces":[1,[4]]}', b'["/etc/passwd     "]')
    assert result != content
    with pytest.raises(ValueError, match="damaged"):
        unpack_loaded(result)


def test_full_bundle_in_child_equals_bundle_here(tmp_path):
    cells = {
        "lists": [[1, "a"], {"b": [None]}, None],
        7: [True, False, True],
        "day": pd.to_datetime(["2020-01-01", None, "2021-05-06"]),
        "word": pd.array(["x", None, "ü"], dtype=TEXT),
        "small": np.array([1, 2, 3], dtype="uint8"),
    }
    plants = hetviz.Dataset("plants", list("abc"), np.eye(3), table=pd.DataFrame(cells))
    sizes = pd.DataFrame({"size": [1.5, 2.0]})
    towns = hetviz.Dataset("towns", ["t", "u"], np.eye(2), table=sizes, media=[picture(), None])
    data = hetviz.HeteroData(
        [plants, towns],
        [hetviz.Links("plants", "towns", [0, 1], [1, 0], [0.5, 1.0], role="guidance")],
        labels=[hetviz.Labels("plants", "group", ["x", None, "y"])],
    )
    path = tmp_path / "all.zip"
    hetviz.save(data, path)
    content = path.read_bytes()
    with tempfile.TemporaryFile() as file:
        child.load_bundle("all.zip", content, file)
        file.seek(0)
        there, _ = child.loaded_of(memoryview(file.read()))
    here = read_bundle(content, "all.zip")
    same(there, here)
    assert list(there.data["plants"].table.columns) == list(cells)
    assert there.data["plants"].table["lists"].tolist() == cells["lists"]


@pytest.mark.usefixtures("reader_here")
def test_bundle_in_child_keeps_map_and_held_out_links():
    manifest = b"""format = 1
[[dataset]]
name = "a"
table = "a.csv"
id = "id"
[[links]]
file = "kept.csv"
held_out = true
[[links]]
file = "links.csv"
[map]
coordinates = "map.csv"
method = "pca"
seed = 3
params = {scale = true}
"""
    ends = b"source_dataset,source_id,target_dataset,target_id\na,1,a,%d\n"
    content = packed(
        [
            ("hetviz.toml", manifest),
            ("a.csv", b"id,size\n1,2\n2,5\n3,4\n"),
            ("kept.csv", ends % 3),
            ("links.csv", ends % 2),
            ("map.csv", b"dataset,id,x,y\na,1,0,0.5\na,3,2,1\n"),
        ]
    )
    with tempfile.TemporaryFile() as file:
        child.load_bundle("b.zip", content, file)
        file.seek(0)
        there, proposals = child.loaded_of(memoryview(file.read()))
    here = read_bundle(content, "b.zip")
    same(there, here)
    assert proposals == ()
    assert there.held_out.fingerprint() == here.held_out.fingerprint()
    assert (there.map_method, there.map_seed, there.map_params) == ("pca", 3, {"scale": True})
    np.testing.assert_array_equal(there.map.coordinates["a"], here.map.coordinates["a"])
    assert there.map.placed["a"].tolist() == [True, False, True]
    assert there.map.note == here.map.note
