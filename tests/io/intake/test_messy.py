"""Files as people have them are read as what they are: datasets, rows, names, what colours them."""

from __future__ import annotations

import pytest

from hetviz.io import read_new_version, read_tables
from hetviz.io.intake import child
from hetviz.io.intake.guidance import read_guidance
from tests.io.file_builders import parquet
from tests.messy import FILES

# dataset, rows, an id, column of titles, columns that colour
EXPECTED = {
    "country facts.xlsx": ("country facts", 194, "AE", "Country", ["Region"]),
    "Filmliste.csv": ("Filmliste", 600, "tt0038297", "Originaltitel", []),
    "programs.jsonl": ("programs", 703, "3dchess", None, ["section"]),
    "my emoji.zip": ("my emoji", 260, "1f600.webp", "name", ["group"]),
    "dependencies.graphml": ("dependencies", 286, "a2ps", None, ["section"]),
    "digits.h5ad": ("digits", 700, "f0004", None, ["digit"]),
    "languages.parquet": ("languages", 305, "en", "name", []),
    "texts.zip": ("texts", 121, "3dchess", "title", ["folder"]),
}


@pytest.mark.parametrize("file", FILES)
def test_messy_files(file):
    loaded = read_tables([(file, FILES[file]())])
    name, n_rows, first, title, colours = EXPECTED[file]
    dataset = loaded.data[name]
    assert list(loaded.data.datasets) == [name]
    assert not loaded.errors
    assert (len(dataset), dataset.ids[0], dataset.title_column) == (n_rows, first, title)
    assert [label.name for label in loaded.data.labels] == colours
    assert dataset.X is not None
    if file == "my emoji.zip":
        assert all(dataset.media)
    if file == "dependencies.graphml":
        assert sum(map(len, loaded.data.links)) == 354
    if file == "Filmliste.csv":
        assert dataset.table["Stunden"].median() == pytest.approx(1.6, abs=0.3)


@pytest.mark.usefixtures("reader_here")
def test_new_version_and_guidance_from_any_format():
    old = read_tables([("t.csv", b"id,x\na,1\nb,2\nc,4\n")]).data
    newer = parquet({"id": ["a", "b", "d"], "x": [1.0, 5.0, 3.0]})
    result = read_new_version(old, "t", newer, "t.parquet", parse=child.parse_files)
    assert (result.added, result.gone) == (("d",), ("c",))
    links = parquet({"source_id": ["a", "q"], "target_id": ["b", "c"], "weight": [1.0, 1.0]})
    said = read_guidance("said.parquet", links, old, child.parse_files)
    assert (said.n_good, len(said.errors)) == (1, 1)
