import io
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from hetviz.errors import DataError, HetvizError
from hetviz.io import limits, read_bundle
from hetviz.io.files import Archive, Folder
from hetviz.io.infer.parsed import Choices
from hetviz.io.intake.parse import parse_folder, typed_tables
from tests.depth import examples

PROSE = "It was a bright cold day in April, and nobody said a word.\nThe clocks had stopped.\n"


def png(colour=(1, 2, 3)):
    buffer = io.BytesIO()
    Image.new("RGB", (20, 10), colour).save(buffer, "PNG")
    return buffer.getvalue()


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def packed(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def folder(files, choices=None):
    tables, refused = typed_tables(parse_folder(files, choices), choices or {})
    for _, error in refused:
        raise error
    return tables


def read(members, choices=None):
    return folder(Archive("box.zip", packed(members)), choices or {})


def codes(piece):
    return [problem.code for problem in piece.problems]


def test_collection_zip_of_pictures_with_table():
    (piece,) = read(
        {
            "pets/pets.csv": "id,file,weight\n1,rex.png,30\n2,tom.png,4\n3,lost.png,5\n",
            "pets/photos/rex.png": png(),
            "pets/photos/tom.png": png(),
            "pets/photos/extra.png": png(),
            "__MACOSX/pets/._pets.csv": b"\0",
            "pets/.DS_Store": b"\0\0",
            "pets/photos/Thumbs.db": b"\0\0",
        }
    )
    assert [content is not None for content in piece.media] == [True, True, False]
    assert piece.media_column == "file"
    assert codes(piece) == ["no-picture", "spare-pictures", "hidden-files"]
    assert "3 system files" in piece.problems[-1].what


def test_collection_pictures_with_damaged_one():
    (piece,) = read({"cats/1.png": png(), "dogs/2.png": png(), "dogs/3.png": png()[:40]})
    assert piece.name == "box"
    assert piece.frame["id"].tolist() == ["1", "2"]
    assert piece.frame["folder"].tolist() == ["cats", "dogs"]
    assert codes(piece) == ["bad-picture"]


def test_collection_folder_of_texts(tmp_path):
    (tmp_path / "one.txt").write_text(PROSE)
    (tmp_path / "two.md").write_text("# The second\n\nWith a few words, and a list: a, b, c.\n")
    (tmp_path / "drei.txt").write_bytes("Über die Brücke.\nSo kam er nach Köln.".encode("cp1252"))
    (tmp_path / "empty.txt").write_text(" \n")
    (piece,) = folder(Folder(tmp_path))
    rows = piece.frame.set_index("id")
    assert rows["title"].to_dict() == {
        "one": "It was a bright cold day in April, and nobody said a word.",
        "two": "The second",
        "drei": "Über die Brücke.",
    }
    assert rows.loc["one", "text"] == PROSE.strip()
    assert (piece.title_column, piece.text_columns) == ("title", ("text",))
    assert codes(piece).count("empty-file") == 1
    assert "encoding" in codes(piece)


def test_collection_short_text_with_commas():
    short = "Small, quick, and easy to use.\nIt edits texts, lists, and mails.\n"
    (piece,) = read({"a.txt": PROSE, "b.txt": PROSE, "c.txt": short})
    assert piece.frame["id"].tolist() == ["a", "b", "c"]
    (alone,) = read({"c.txt": "id,x\n1,2\n"})
    assert list(alone.frame.columns) == ["id", "x"]


def test_collection_skips_readme_and_other_files():
    pieces = read(
        {
            "a.csv": "id,x\n1,2\n2,3\n",
            "sub/a.csv": "id,x\n1,2\n2,3\n",
            "t.txt": "id\tx\n1\t2\n2\t3\n",
            "README.md": PROSE,
            "notes.txt": PROSE,
            "paper.pdf": "%PDF",
            "run.py": "import os",
        }
    )
    assert sorted(piece.name for piece in pieces) == ["a", "t"]
    said = {problem.code: problem for problem in pieces[0].problems}
    assert said["about-files"].value == "README.md, notes.txt"
    assert said["passed-over"].value == "sub/a.csv, paper.pdf, run.py"
    assert {problem.severity for problem in said.values()} == {"note"}


def test_collection_without_data_is_refused():
    for members in (
        {"run.py": "x"},
        {"README.md": PROSE},
        {},
        {"inner.csv": packed({"a.csv": "id\n1\n"})},
        {"a.csv": b"\x80\x04junk"},
    ):
        with pytest.raises(DataError):
            read(members)


def test_collection_size_limit(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("id,x\n1,2\n2,3\n")
    (tmp_path / "b.csv").write_text("id,x\n1,2\n2,3\n")
    monkeypatch.setattr(limits, "MAX_UNPACKED_BYTES", 20)
    (piece,) = folder(Folder(tmp_path))
    assert codes(piece) == ["too-large"]


CELLS = "id,group\nc1,a\nc2,b\nc3,a\nc4,b\n"
X = np.arange(12.0).reshape(4, 3) ** 2


def test_matrix_joins_table_by_id():
    ids = np.array(["c4", "c2", "c1", "c9"])
    (piece,) = read({"cells.csv": CELLS, "cells_X.npz": npz(X=X, ids=ids)})
    assert piece.frame["id"].tolist() == ["c1", "c2", "c4"]
    np.testing.assert_array_equal(piece.X, X[[2, 1, 0]])
    assert tuple(piece.row) == (0, 1, 3)
    assert codes(piece) == ["no-features", "extra-ids"]


def test_matrix_without_ids_is_not_joined():
    members = {"cells.csv": CELLS, "cells.npy": npy(X)}
    (piece,) = read(members)
    assert piece.X is None
    assert codes(piece) == ["row-order"]
    assert "array named ids" in piece.problems[0].remedy
    (piece,) = read(members, {"cells.npy": Choices(rows_of="cells.csv")})
    np.testing.assert_array_equal(piece.X, X)
    assert codes(piece) == []
    (piece,) = read({"cells.csv": CELLS, "x.npy": npy(X[:2])}, {"x.npy": Choices(rows_of="cells")})
    assert codes(piece) == ["row-count"]


def test_matrix_of_other_rows_is_separate():
    for content in (npy(X[:3]), npz(X=X, ids=np.array(list("wxyz")))):
        name = "cells.npz" if content[:2] == b"PK" else "cells.npy"
        pieces = read({"cells.csv": CELLS, name: content})
        assert [piece.name for piece in pieces] == ["cells", "cells matrix"]
    pieces = read({"cells.csv": CELLS, "other.npy": npy(X)})
    assert [piece.name for piece in pieces] == ["cells", "other"]


def test_distance_table_joins_by_id():
    D = "id,c2,c1,c3,c4\nc2,0,1,2,3\nc1,1,0,2,3\nc3,2,2,0,3\nc4,3,3,3,0\n"
    (piece,) = read({"cells.csv": CELLS, "cells-distances.csv": D})
    np.testing.assert_array_equal(piece.distance[0], [0, 1, 2, 3])
    np.testing.assert_array_equal(piece.distance[1], [1, 0, 2, 3])


NAMES = st.sampled_from(
    ["a.csv", "a.txt", "b.md", "c/d.txt", "p.png", "q/p.png", "m.npy", "m.npz", ".h", "g.graphml"]
)
CONTENTS = st.one_of(
    st.binary(max_size=60),
    st.sampled_from([CELLS.encode(), PROSE.encode(), png(), npy(X), npz(X=X, ids=np.arange(4))]),
)


@settings(max_examples=examples(60), deadline=None)
@given(st.dictionaries(NAMES, CONTENTS, max_size=4))
def test_collection_random_mixture_is_read_or_refused(members):
    try:
        pieces = read(members)
    except HetvizError:
        return
    for piece in pieces:
        assert len(piece.frame) == len(piece.row)
        assert piece.media is None or len(piece.media) == len(piece.row)


def test_collection_skips_tables_in_subfolders(tmp_path):
    (tmp_path / "drugs.csv").write_text("id,name,size\n1,a,1\n2,b,2\n")
    below = tmp_path / "results"
    below.mkdir()
    (below / "coordinates.csv").write_text("dataset,id,x\ndrugs,1,0.5\n")
    (below / "scores.json").write_text("{}")
    result = read_bundle(tmp_path)
    assert list(result.data.datasets) == ["drugs"]
    assert "results/coordinates.csv" in str([note.value for note in result.notes])
