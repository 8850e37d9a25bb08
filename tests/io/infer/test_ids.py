import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetviz.features.columns.names import is_named_id
from hetviz.io import Choices, read_tables
from hetviz.io.infer.ids import guess_id_column, id_candidates

WORDS = st.text("abcdefgh", min_size=1, max_size=6)
DECIMALS = st.floats(-1e6, 1e6).map(lambda x: f"{x:.3f}")


def frame(**columns):
    return pd.DataFrame({name: list(map(str, cells)) for name, cells in columns.items()}, dtype=str)


def read(text, **choice):
    return read_tables([("t.csv", text.encode())], {"t.csv": Choices(**choice)} if choice else None)


@given(
    st.lists(DECIMALS, min_size=2, max_size=30, unique=True),
    st.sampled_from(["x", "weight", "id", "key", "code"]),
)
def test_decimal_number_is_not_id(cells, name):
    assert guess_id_column(frame(**{name: cells})) is None


@given(st.lists(st.integers(2, 10**9), min_size=2, max_size=30, unique=True))
def test_whole_numbers_are_ids_only_by_name(cells):
    assert guess_id_column(frame(population=cells)) is None
    assert guess_id_column(frame(cityID=cells)) == "cityID"


@given(st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=1, max_size=20), st.booleans())
def test_guessed_id_keeps_all_rows(rows, named):
    lines = [("id" if named else "a") + ",b,c", *map(",".join, rows)]
    loaded = read("\n".join(lines))
    dataset = loaded.data["t"]
    assert len(dataset) == len(rows)
    guessed = loaded.understood[0].id_from
    if guessed:
        at = [("id" if named else "a"), "b", "c"].index(guessed[0])
        assert len({row[at] for row in rows}) == len(rows)
    else:
        assert list(dataset.ids) == [str(at + 1) for at in range(len(rows))]


@pytest.mark.parametrize(
    "name", ["id", "playerID", "PassengerId", "Mst-Nr.", "Order No.", "park.key", "Kundennummer"]
)
def test_names_of_ids(name):
    assert is_named_id(name)


@pytest.mark.parametrize(
    "name", ["mass", "No of rooms", "number", "idle", "Anzahl Nr", "nodes", "paid", "width"]
)
def test_names_of_other_columns(name):
    assert not is_named_id(name)


def test_dates_and_times_are_not_ids():
    days = [f"2020-01-{day:02}" for day in range(1, 20)]
    assert guess_id_column(frame(date=days, day=range(1, 20), at=["8:15"] * 19)) is None


def test_code_with_leading_zeros_is_id():
    assert guess_id_column(frame(x=[1.5, 2.5, 3.0], station=["0001", "0002", "0010"])) == "station"


def test_repeated_id_column_falls_back_to_row_numbers():
    loaded = read("id,x\na,1\na,2\nb,3\n")
    assert list(loaded.data["t"].ids) == ["1", "2", "3"]
    assert list(loaded.data["t"].table["id"]) == ["a", "a", "b"]
    assert [p.what for p in loaded.notes if p.code == "row-numbers"] == [
        "row numbers are the ids: id: 2 different in 3 rows, but 'a' in row 2 "
        "is already used in row 1"
    ]
    assert "row numbers are the ids" in loaded.files[0].words


def test_link_to_repeated_id_has_hint():
    files = [
        ("drugs.csv", b"id,x\n007,1\n008,2\n007,3\n"),
        ("towns.csv", b"id,x\nt1,1\nt2,2\n"),
        ("links.csv", b"source_dataset,source_id,target_dataset,target_id\n"
                      b"drugs,007,towns,t1\ndrugs,008,towns,t1\n"),
    ]  # fmt: skip
    lost = [p for p in read_tables(files).problems if p.code == "unknown-id"]
    assert [(p.value, "Several rows of column id" in p.remedy) for p in lost] == [
        ("007", True),
        ("008", False),
    ]


def test_two_id_columns_stay_in_table():
    loaded = read("playerID,yearID,x\na,1,5\na,2,6\nb,1,7\n", id=["playerID", "yearID"])
    dataset, info = loaded.data["t"], loaded.understood[0]
    assert list(dataset.ids) == ["a · 1", "a · 2", "b · 1"]
    assert {"playerID", "yearID"} <= set(dataset.table.columns)
    assert info.id_from == ("playerID", "yearID")
    assert info.id_column == "playerID + yearID"


def test_row_numbers_can_be_chosen():
    loaded = read("id,x\na,1\nb,2\n", id=())
    assert list(loaded.data["t"].ids) == ["1", "2"]
    assert not [p for p in loaded.notes if p.code == "row-numbers"]


def test_id_candidates_are_ranked():
    result = id_candidates(
        frame(who=["a", "a", "b"], year=[1, 2, 1], x=[1.5, 2.5, 3.5], playerID="aab")
    )
    assert [(one.columns, one.fits) for one in result] == [
        (("playerID", "year"), True),
        (("who",), False),
        (("year",), False),
        (("playerID",), False),
    ]
    assert result[0].words == "playerID + year: different in all 3 rows"
    assert result[1].words == "who: 2 different in 3 rows"
