import pytest

from hetviz.errors import DataError
from hetviz.io.formats.registry import kind_of
from tests.io.file_builders import packed


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (packed([("xl/workbook.xml", b""), ("[Content_Types].xml", b"")]), "xlsx"),
        (packed([("a/xl/workbook.xml", b""), ("b.csv", b"")]), "zip"),
        (packed([("a.npy", b""), ("b.npy", b"")]), "npz"),
        (packed([("a.csv", b"")]), "zip"),
        (b"PAR1\x15\0", "parquet"),
        (b"PAR1,id\n1,a\n", "text"),
        (b"\x89HDF\r\n\x1a\n", "hdf5"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<graphml>", "graphml"),
        (b'{"id": 1}', "json"),
        (b'[{"id": 1},\n {"id": 2}]', "json"),
        (b'{\n"id": [1]}', "json"),
        (b'{"id": 1}\n\n{"id": 2}\n', "jsonl"),
        (b"[1,2\n", "text"),
        (b"{a},b\n", "text"),
    ],
)
def test_kind_of_uses_content(content, kind):
    assert kind_of("x.csv", content) == kind


@pytest.mark.parametrize(
    "content",
    [
        packed([("word/document.xml", b""), ("[Content_Types].xml", b"")]),
        packed([("mimetype", b""), ("content.xml", b"")]),
        b"<html><graphml>",
        b"\0" * 257 + b"ustar",
    ],
)
def test_kind_of_refuses_other_formats(content):
    with pytest.raises(DataError) as caught:
        kind_of("x.csv", content)
    assert {problem.code for problem in caught.value.problems} == {"unknown-format"}
    assert caught.value.problems[0].remedy
