"""Workbooks of XLS and XLSB, whatever they hold, and damaged ones."""

import random
import struct
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetviz.errors import DataError
from hetviz.io import Choices, read_tables
from hetviz.io.formats.typed_values import FORMULA_ERRORS
from hetviz.io.intake import child
from hetviz.workers import reader as process
from tests.depth import examples
from tests.io.binary_workbooks import MOST, Failed, xls, xlsb
from tests.io.file_builders import file_tables, packed, raw_tables, unpacked

BINARY = pytest.mark.parametrize("name", ["t.xls", "t.xlsb"])
# Not what the library takes for a mark of the order of bytes, or of UTF-8, where a text begins.
letters = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff\ufffe\ubbef")
texts = st.one_of(
    st.text(letters, max_size=8),
    st.sampled_from(["007", "1e5", "TRUE", " a ", "1,5", "9007199254740993", "=1+1", "a\nb", "\t"]),
).filter(lambda text: text not in FORMULA_ERRORS)
failed = st.sampled_from(
    [Failed(code) for code in (0x00, 0x07, 0x0F, 0x17, 0x1D, 0x24, 0x2A, 0x2B)]
)
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
    failed,
)
# What Excel allows: 31 units of 16 bits, none of these signs, no apostrophe at an end.
titles = st.one_of(
    st.text(letters.filter(lambda letter: letter not in r"[]:*?/\'"), min_size=1, max_size=15),
    st.sampled_from(["Sheet1", "a, sheet b", "x, key y", "Ω, table z", "007"]),
)


@st.composite
def sheets_of(draw):
    """{title: rows}, each with names of columns that hold something."""
    result = {}
    for title in draw(st.lists(titles, min_size=1, max_size=3, unique_by=as_one_name)):
        width = draw(st.integers(2, 4))
        row = st.lists(values, min_size=width, max_size=width)
        names = [f"c{at}" for at in range(width)]
        result[title] = [names, *draw(st.lists(row, max_size=4))]
    return result


def as_one_name(title):
    return unicodedata.normalize("NFKC", title).casefold().strip()


def book(name, sheets, *, shared=True, most=MOST):
    return xls(sheets, shared=shared, most=most) if name == "t.xls" else xlsb(sheets, shared=shared)


def same(cell, value):
    """Whether a cell says what was written."""
    if value is None or isinstance(value, Failed):
        return cell == ""
    if isinstance(value, bool):
        return cell == ("true" if value else "false")
    if isinstance(value, int):
        return cell == str(value)
    return float(cell) == value if isinstance(value, float) else cell == value


@pytest.fixture
def here(monkeypatch):
    """Read in this process, as is done in the one with limits, which takes a while to start."""
    monkeypatch.setattr(process, "is_confined", lambda: True)


@BINARY
@pytest.mark.usefixtures("here")
def test_binary_workbook_round_trip_of_random_sheets(name):
    @settings(max_examples=examples(25))
    @given(sheets_of(), st.booleans(), st.sampled_from([MOST, 12, 40]))
    def keeps(sheets, shared, most):
        content = book(name, sheets, shared=shared, most=most)
        result = raw_tables([(name, content)], {name: Choices(decimal=".")})
        assert [sheet for _, sheet in result] == (list(sheets) if len(sheets) > 1 else [""])
        for table, rows in zip(result.values(), sheets.values(), strict=True):
            cells = dict(table.rows)
            for at, row in enumerate(rows):
                there = cells.get(at, [])
                there = [*there, *[""] * (len(row) - len(there))]
                assert all(map(same, there, row)), (there, row)

    keeps()


words = st.text("abcÄß1-_.0", min_size=1, max_size=5)


@BINARY
@pytest.mark.usefixtures("here")
def test_binary_workbook_keeps_text_ids(name):
    @settings(max_examples=examples(6))
    @given(st.lists(words, min_size=3, max_size=6, unique=True), st.booleans())
    def keeps(ids, shared):
        rows = [["id", "x"], *([f"00{word}", place / 4] for place, word in enumerate(ids))]
        content = book(
            name, {"Drugs": rows, "Cells": [["id", "y"], ["007", 1], ["08", 2]]}, shared=shared
        )
        said = {name: Choices(id="id", header=True, skip=0)}
        drugs, cells = read_tables([(name, content)], said).data.datasets.values()
        assert list(drugs.ids) == [f"00{word}" for word in ids]
        assert list(cells.ids) == ["007", "08"]

    keeps()


SHEETS = {
    "Drugs": [["id", "dose", "ok"], ["007", 1.5, True], ["b", -7, False]],
    "Cells": [["id", "size"], ["q", 1], ["ü", 0.1]],
}


@BINARY
def test_isolated_process_reads_same_pieces(name, monkeypatch):
    content = book(name, SHEETS)
    said = Choices(sheet="Drugs", exclude=("ok",), decimal=",")
    (there,) = file_tables(name, content, said)
    monkeypatch.setattr(process, "is_confined", lambda: True)
    (here,) = file_tables(name, content, said)
    assert there.frame.to_numpy().tolist() == [["007", "1,5", "true"], ["b", "-7", "false"]]
    assert there.frame.equals(here.frame)
    assert (there.name, there.where, there.facts) == (here.name, here.where, here.facts)


def damaged_member(member, old, new):
    parts = unpacked(xlsb(SHEETS))
    assert parts[member].count(old) == 1
    parts[member] = parts[member].replace(old, new)
    return packed(parts.items())


def refused(name, content):
    with pytest.raises(DataError) as caught:
        file_tables(name, content)
    (problem,) = caught.value.problems
    return problem.code


@pytest.mark.usefixtures("here")
def test_binary_workbook_panic_is_refused():
    links = "xl/_rels/workbook.bin.rels"
    assert refused("t.xlsb", damaged_member(links, b"rId1", b"rId9")) == "bad-workbook"


def test_binary_workbook_crash_is_refused():
    # A sheet that says that it has four thousand million rows.
    size, content = struct.pack("<2H2I", 0x200, 14, 0, 3), xls(SHEETS)
    assert content.count(size) == 2
    lying = content.replace(size, struct.pack("<2H2I", 0x200, 14, 0, 2**32 - 1))
    assert refused("t.xls", lying) == "reader-ended"


@BINARY
def test_damaged_binary_workbook_is_read_or_refused(name):
    content = book(name, SHEETS)
    parts = unpacked(content) if name == "t.xlsb" else {"": content}
    # Where something stands, or could: most of a compound file is empty.
    stands = {
        key: [at for at in range(1, len(part)) if part[at - 1] not in (0, 255)]
        for key, part in parts.items()
    }

    @settings(max_examples=examples(1))
    @given(st.integers(0, 2**32))
    def one_process(seed):
        # All in one process, which takes a while to start.
        choose, files = random.Random(seed), []
        for number in range(12):
            changed = {key: bytearray(part) for key, part in parts.items()}
            member = choose.choice(sorted(changed))
            changed[member][choose.choice(stands[member])] ^= choose.randrange(1, 256)
            made = packed(changed.items()) if name == "t.xlsb" else bytes(changed[member])
            cut = content[: choose.randrange(1, len(content))]
            files += [(f"{number}{name}", made), (f"cut{number}{name}", cut)]
        result = child.parse_files(files, {})
        told = {table.file for group in result.frames for table in group.tables}
        told |= {file for file, _ in result.problems}
        assert told == {file for file, _ in files}
        assert result.frames
        assert all(problems[0].what for _, problems in result.problems)

    one_process()
