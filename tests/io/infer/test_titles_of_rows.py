"""Titles of rows: the best text of a row, not its code."""

from __future__ import annotations

import pandas as pd
import pytest

from hetviz.data import Dataset
from hetviz.io.infer.row_names import choose_title

N = 60
CODES = [f"r{5_300 + k}" for k in range(N)]
LONG = [
    f"Resolution on subject {k} of the {k % 7}th session, and on the further measures that members "
    f"asked for in their {k}th request"
    for k in range(N)
]


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("content", LONG),
        ("content", [text if k % 5 < 3 else "" for k, text in enumerate(LONG)]),
        ("descr", [LONG[k % 20] for k in range(N)]),
        ("label", [f"Wine {k % 10} of the north" for k in range(N)]),
    ],
    ids=["long", "partly missing", "repeated", "short and repeated"],
)
def test_codes_are_named_by_the_best_text(column: str, cells: list[str]) -> None:
    frame = pd.DataFrame({"rcid": CODES, "unres": [f"R/69/{k}" for k in range(N)], column: cells})
    assert choose_title("resolutions", frame, ["rcid"]) == (column,)


def test_categories_and_codes_are_no_titles() -> None:
    frame = pd.DataFrame(
        {
            "tail": [f"N{k}" for k in range(N)],
            "model": [f"A{k % 9}-{k % 4}" for k in range(N)],
            "type": ["fixed wing multi engine" if k % 9 else "rotorcraft" for k in range(N)],
        }
    )
    assert choose_title("planes", frame, ["tail"]) == ()


def test_ids_that_are_words_need_no_repeated_text() -> None:
    names = [f"{a}{b}" for a in ("amber", "birch", "cedar") for b in ("wood", "field", "hill")]
    frame = pd.DataFrame({"name": names, "note": ["Built in the old town"] * 5 + ["New"] * 4})
    assert choose_title("streets", frame, ["name"]) == ()


def test_rows_are_not_named_by_remarks() -> None:
    names = [f"{a}{b}" for a in ("Amber", "Birch", "Cedar") for b in ("wood", "field", "hill")]
    frame = pd.DataFrame(
        {
            "performer": names,
            "show": ["The Practice", "Lost", "Fargo"] * 3,
            "show notes": [f"Also in season {k} of another" if k % 4 else "" for k in range(9)],
        }
    )
    # Two columns identify the rows, with words.
    assert choose_title("show-data", frame, ["performer", "show"]) == ()
    assert choose_title("show-data", frame, []) == ("performer",)
    codes = frame.assign(performer=[f"P-{k}" for k in range(9)])
    assert choose_title("show-data", codes, ["performer"]) == ()


def test_display_names_add_ids_to_repeated_titles() -> None:
    table = pd.DataFrame({"name": ["Oslo", "Riga", "Oslo", None, "x"]})
    cities = Dataset("cities", ["a", "b", "c", "d", "x"], table=table)
    assert cities.titles.tolist() == ["Oslo", "Riga", "Oslo", "d", "x"]
    assert cities.display_names.tolist() == ["Oslo (a)", "Riga", "Oslo (c)", "d", "x"]
    plain = Dataset("plain", ["a", "b"])
    assert plain.display_names is plain.titles


def test_rows_are_not_named_after_one_of_several_names() -> None:
    teams = [f"Team {chr(65 + k % 26)}" for k in range(N)]
    frame = pd.DataFrame({"match": CODES, "winner_name": teams, "loser_name": teams[::-1]})
    assert choose_title("matches", frame, ["match"]) == ()
    # A name that is often missing is no second one.
    gaps = ["" if k % 2 else team for k, team in enumerate(teams)]
    renamed = pd.DataFrame({"park": CODES, "current_name": teams, "original_name": gaps})
    assert choose_title("parks", renamed, ["park"]) == ("current_name",)


def test_long_tables_are_not_named_by_a_column_that_repeats() -> None:
    names = pd.Series([f"Player {k}" for k in range(1_500)] * 4)
    assert choose_title("goals", pd.DataFrame({"scorer": names}), []) == ()
    assert choose_title("goals", pd.DataFrame({"scorer": names[:1_500]}), []) == ("scorer",)


def test_ids_made_of_names_are_named_by_the_names() -> None:
    first, last = ("Ana", "Zoë", "Karl-Anthony", "Bo"), ("Towns", "O'Neal", "Li", "d'Arc", "Ruiz")
    names = [f"{one} {other}" for one in first for other in last]
    slugs = [name.lower().replace("ë", "e").replace("'", "").replace(" ", "-") for name in names]
    points = [f"{k * 37 % 11}.5" for k in range(len(names))]
    frame = pd.DataFrame({"who": names, "ID": slugs, "points": points})
    assert choose_title("drafts", frame, ["ID"]) == ("who",)
    # A copy of the ids says nothing new.
    assert choose_title("drafts", frame.assign(who=slugs), ["ID"]) == ()


def test_rows_with_numbers_alone_are_named_by_words_that_repeat() -> None:
    first, last = ("Ana", "Bob", "Cleo", "Dan", "Eve"), ("Stone", "Rivers", "Hill", "Woods")
    people = [f"{first[k % 5]} {last[k % 4]}" for k in range(20)]
    frame = pd.DataFrame(
        {
            "guest": [people[k * 3 % 20 if k % 7 else 7] for k in range(30)],
            "occupation": ["actor" if k % 3 else "writer" for k in range(30)],
            "day": [f"{1 + k % 28}/3/99" for k in range(30)],
        }
    )
    assert choose_title("visits", frame, []) == ("guest",)
    assert choose_title("visits", frame[["occupation", "day"]], []) == ()
