"""Names of rows that two columns make together."""

from __future__ import annotations

import pytest

from hetviz.io import read_tables
from hetviz.io.infer.titles import full_name

GIVEN = ("Ann", "Bob", "Cem", "Ann", "Bob", "Cem", "Dee", "Eve", "Ann", "Bob")
FAMILY = ("Ash", "Ash", "Ash", "Bay", "Bay", "Bay", "Cox", "Cox", "Cox", "Dow")


def table(head: str, rows: list[str]) -> bytes:
    return "\n".join([head, *rows, ""]).encode()


def read(content: bytes, name: str = "people.csv"):
    return next(iter(read_tables([(name, content)]).data.datasets.values()))


@pytest.mark.parametrize(
    ("columns", "both"),
    [
        (["nameFirst", "nameLast"], ("nameFirst", "nameLast")),
        (["last_name", "first_name"], ("first_name", "last_name")),
        (["Nachname", "Vorname"], ("Vorname", "Nachname")),
        (["forename", "surname", "age"], ("forename", "surname")),
        (["Prénom", "Family name"], None),
        (["first game", "last game"], None),
        (["name", "last"], None),
    ],
)
def test_full_name_columns(columns: list[str], both: tuple[str, str] | None) -> None:
    assert full_name(columns) == both


def test_title_uses_both_names_if_more_distinct() -> None:
    rows = [
        f"p{k},{family},{given} Given,{given},{160 + k}"
        for k, (given, family) in enumerate(zip(GIVEN, FAMILY, strict=True))
    ]
    people = read(table("playerID,nameLast,nameGiven,nameFirst,height", rows))
    assert people.titles.tolist()[:4] == ["Ann Ash", "Bob Ash", "Cem Ash", "Ann Bay"]
    assert people.title_column == "nameFirst + nameLast"
    used = {name.split("=")[0] for name in people.feature_names or ()}
    assert used == {"height", "nameGiven"}


def test_title_keeps_single_name() -> None:
    rows = [
        f"p{k},{family},{given},{given} {k} {family},{160 + k}"
        for k, (given, family) in enumerate(zip(GIVEN, FAMILY, strict=True))
    ]
    people = read(table("id,last_name,first_name,name,height", rows))
    assert people.title_column == "name"


def test_title_includes_year_for_repeated_names() -> None:
    rows = [
        f"{year},{team},Club of {team},{k + year % 7}"
        for year in (2019, 2020, 2021)
        for k, team in enumerate(("Ash", "Bay", "Cox", "Dow"))
    ]
    teams = read(table("yearID,teamID,name,wins", rows), "teams.csv")
    assert teams.titles.tolist()[:2] == ["Club of Ash 2019", "Club of Bay 2019"]
    assert "yearID" in (teams.feature_names or ())


def test_chosen_title_is_kept() -> None:
    from hetviz.io import Choices

    rows = [
        f"p{k},{family},{given},{160 + k}"
        for k, (given, family) in enumerate(zip(GIVEN, FAMILY, strict=True))
    ]
    content = table("id,last_name,first_name,height", rows)
    loaded = read_tables([("people.csv", content)], {"people.csv": Choices(title="last_name")})
    assert loaded.data["people"].title_column == "last_name"


def test_title_is_not_a_shared_value() -> None:
    rows = [f"24-{1000 + 3 * k},Pit {k % 5},{k * k % 13}.5" for k in range(60)]
    samples = read(table("lab no,name,zinc", rows), "samples.csv")
    assert samples.titles.tolist() == samples.ids.tolist()
    assert len(set(samples.titles)) == 60
    few = read(
        table("lab no,name,zinc", [row.replace("Pit", f"P{k}") for k, row in enumerate(rows)])
    )
    assert few.titles.tolist()[:2] == ["P0 0", "P1 1"]


def test_description_is_not_title_if_ids_are_names() -> None:
    rows = [f"tool{letter * 3},it does the {letter} thing well" for letter in "abcdefghijkl"]
    assert read(table("package,description", rows)).titles[0] == "toolaaa"
    coded = [f"{at:05d},it does the {at} thing well" for at in range(12)]
    assert read(table("package,description", coded)).titles[0] == "it does the 0 thing well"
