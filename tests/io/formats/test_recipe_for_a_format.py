"""The steps of CONTRIBUTING for a new file format, run literally: one module adds it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

MODULE = '''
"""Lists of words, one row a line."""

from __future__ import annotations

from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.json_tables import records_table
from hetviz.io.infer.parsed import Choices, Table, stem
from hetviz.workers import reader as process


def read_words(name: str, content: bytes, choices: Choices) -> list[Table]:
    lines = content.decode().split("\\n")[1:]
    records = [{"id": line, "length": len(line), "here": process.is_confined()} for line in lines]
    return [records_table(stem(name), name, records, range(len(records)), choices)]


FORMATS = (
    FileFormat(
        "words",
        "a list of words",
        "table",
        (".words",),
        read_words,
        magic=(b"WORDS1",),
    ),
)
'''

SCRIPT = """
import io, sys, zipfile
import hetviz
from hetviz.io.formats import registry
from hetviz.io.intake.zip_tables import tables_of_zip
from hetviz.io.intake import child

content = b"WORDS1\\napple\\npear\\nplum"
assert registry.kind_of("fruit.words", content) == "words"
assert ".words" in registry.extensions_of("table")
assert registry.format_by_extension("FRUIT.WORDS").options == ("role", "id")
# In the confined reader, by itself and in a zip next to a picture that is refused.
(piece,) = child.parse_files([("fruit.words", content)], {}).frames[0].tables
assert piece.frame["id"].tolist() == ["apple", "pear", "plum"]
assert piece.frame["here"].tolist() == ["true"] * 3
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w") as archive:
    archive.writestr("fruit.words", content)
assert tables_of_zip("box.zip", buffer.getvalue()) == {"fruit.words": content}
(piece,) = child.parse_files([("box.zip", buffer.getvalue())], {}).frames[0].tables
assert (piece.name, len(piece.frame)) == ("fruit", 3)
# The preview, and the whole way to a dataset.
(look,), _ = child.preview_tables([("fruit.words", content)], {})
assert [column.name for column in look.recipe.columns] == ["id", "length", "here"]
assert not look.has_rows
with open("fruit.words", "wb") as file:
    file.write(content)
assert list(hetviz.load("fruit.words")["fruit"].ids) == ["apple", "pear", "plum"]
# Its name is in the messages about other kinds of files.
try:
    hetviz.io.read_table("fruit.words", content)
except hetviz.errors.DataError as error:
    assert "this is a list of words" in str(error)
print("added")
"""

HEAVY = ("h5py", "duckdb", "openpyxl", "python_calamine", "pyreadstat", "streamlit")


def run(script: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or done.stderr


def test_one_module_adds_a_format(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "hetviz", tmp_path / "hetviz", ignore=shutil.ignore_patterns("ui"))
    (tmp_path / "hetviz" / "io" / "formats" / "words.py").write_text(MODULE, encoding="utf-8")
    assert run(SCRIPT, tmp_path) == "added"


def test_registry_imports_no_heavy_library() -> None:
    script = "import sys\nfrom hetviz.io.formats.registry import file_formats\nfile_formats()\n"
    script += f"print([name for name in {HEAVY} if name in sys.modules])"
    assert run(script, ROOT) == "[]"
