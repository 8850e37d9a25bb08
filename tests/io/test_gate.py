import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetviz.errors import DataError, HetvizError
from hetviz.io import gate, limits
from hetviz.io.datasets.images import checked_picture
from hetviz.io.files import Archive, Folder
from hetviz.io.formats.npy import matrix
from tests.io.file_builders import packed


def codes(caught):
    return {problem.code for problem in caught.value.problems}


@pytest.mark.parametrize("name", ["../a.csv", "/etc/passwd", "a/../../b", "C:x.csv", "a\\b.csv"])
def test_archive_refuses_path_traversal(name, tmp_path):
    with pytest.raises(DataError) as caught:
        Archive("z.zip", packed([(name, b"x"), ("hetviz.toml", b"")]))
    assert codes(caught) == {"bad-name"}
    with pytest.raises(DataError):
        Folder(tmp_path).read(name)


def test_archive_refuses_symbolic_link(tmp_path):
    info = zipfile.ZipInfo("a.csv")
    info.external_attr = 0o120777 << 16
    with pytest.raises(DataError) as caught:
        Archive("z.zip", packed([(info, b"/etc/passwd")]))
    assert codes(caught) == {"link"}
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside.csv").write_text("id\n")
    (tmp_path / "inside" / "a.csv").symlink_to(tmp_path / "outside.csv")
    with pytest.raises(DataError, match="outside the bundle"):
        Folder(tmp_path / "inside").read("a.csv")


def test_archive_refuses_zip_bomb():
    with pytest.raises(DataError) as caught:
        Archive("z.zip", packed([("a.csv", b"0" * 20_000_000)]))
    assert codes(caught) == {"zip-bomb"}


def test_archive_refuses_wrong_member_size():
    content = bytearray(packed([("a.csv", b"0" * 5000)], zipfile.ZIP_STORED))
    for place in (content.find(b"PK\x03\x04") + 22, content.find(b"PK\x01\x02") + 24):
        struct.pack_into("<I", content, place, 10)
    with pytest.raises(DataError):
        Archive("z.zip", bytes(content)).read("a.csv")


def test_archive_refuses_encrypted_and_repeated_members():
    content = bytearray(packed([("a.csv", b"x")]))
    content[content.find(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(DataError) as caught:
        Archive("z.zip", bytes(content))
    assert codes(caught) == {"encrypted"}
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = packed([("a.csv", b"x"), ("a.csv", b"y")])
    with pytest.raises(DataError) as caught:
        Archive("z.zip", twice)
    assert codes(caught) == {"duplicate-name"}


def test_archive_member_limit(monkeypatch):
    monkeypatch.setattr(limits, "MAX_MEMBERS", 3)
    with pytest.raises(DataError) as caught:
        Archive("z.zip", packed([(f"{n}.csv", b"") for n in range(4)]))
    assert codes(caught) == {"too-many"}


def test_archive_strips_common_folder():
    archive = Archive("z.zip", packed([("data/hetviz.toml", b"a"), ("data/x.csv", b"b")]))
    assert archive.names() == ["hetviz.toml", "x.csv"]
    assert archive.read("x.csv") == b"b"


def test_read_file_size_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", 5)
    (tmp_path / "a.csv").write_text("id\nabcdef\n")
    monkeypatch.setattr(gate.check_size, "__defaults__", (5,))
    with pytest.raises(DataError, match="allowed"):
        gate.read_file(tmp_path / "a.csv")


HEADS = [
    b"",
    b"PK\x03\x04",
    b"\x93NUMPY\x01\x00",
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"RIFF1234WEBP",
]


@given(st.sampled_from(HEADS), st.binary(max_size=120))
def test_kind_of_random_bytes(head, tail):
    content = head + tail
    for opened in (matrix, checked_picture, Archive):
        try:
            opened("x", content)
        except HetvizError:
            continue


@given(st.data())
def test_damaged_archive_is_read_or_refused(data):
    content = bytearray(packed([("hetviz.toml", b"format = 1\n"), ("a.csv", b"id\n1\n" * 20)]))
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    try:
        archive = Archive("z.zip", bytes(content))
        for name in archive.names():
            archive.read(name)
    except HetvizError:
        return
