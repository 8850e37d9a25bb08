"""What is proposed to join datasets by, what is not, and with which score."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.key_columns import chance_share, key_columns
from hetviz.data.joins.proposals import Proposal
from hetviz.io import read_tables

CITIES = ["Oslo", "Riga", "Wien", "Bern", "Rom", "Paris", "Madrid", "Lissabon"]


def cities(name: str = "cities") -> Dataset:
    table = pd.DataFrame({"name": CITIES, "size": [4.5, 3, 9, 2, 8, 11, 10, 5]})
    return Dataset(name, [f"c{row}" for row in range(len(CITIES))], table=table)


def films(column: str = "city", n: int = 40) -> Dataset:
    table = pd.DataFrame({column: [CITIES[row % 6] for row in range(n)]})
    return Dataset("films", [f"film {row}" for row in range(n)], table=table)


def told(data: HeteroData) -> list[tuple[str, str, str, str]]:
    return [
        (p.join.kind, p.join.source_column, p.join.target, p.join.target_column)
        for p in hetviz.propose_joins(data)
    ]


def test_propose_key_with_score() -> None:
    data = HeteroData([cities(), films()])
    (result,) = hetviz.propose_joins(data)
    assert told(data) == [("key", "city", "cities", "name")]
    # All 40 films find their city, next to nothing of it by chance; that 2 of 8 cities have no film
    # is no matter.
    assert result.score > 0.95
    assert result.sure
    assert result.title == "films: city = cities: name"
    assert "40 of 40 films and 6 of 8 cities" in result.evidence[0]
    assert len(result.examples(data)) == 3
    assert result.examples(data)[0] == ("film 0", "Oslo")
    after = result.join.carried_out(data)
    assert told(after) == []
    assert result.to_dict(data)["pairs"] == 40


def test_propose_views_for_equal_ids() -> None:
    names = [f"{city}-{city[::-1]}" for city in CITIES]
    data = HeteroData([Dataset("text", names), Dataset("face", names[::-1][:7])])
    (result,) = hetviz.recognise_views(data)
    assert result.title == "text and face look like two views of the same items"
    after = result.join.carried_out(data)
    assert len(after.entities) == 1
    assert hetviz.recognise_views(after) == []


def test_running_numbers_are_doubtful() -> None:
    ids = [str(row) for row in range(1, 31)]
    values = pd.DataFrame({"year": np.arange(1, 31)})
    (result,) = hetviz.propose_joins(HeteroData([Dataset("a", ids), Dataset("b", ids)]))
    assert result.join.kind == "views"
    assert result.score == pytest.approx(0.2)
    assert any("running numbers" in words for words in result.evidence)
    rows = [f"r{row}" for row in range(30)]
    data = HeteroData([Dataset("a", rows, table=values), Dataset("b", ids)])
    assert hetviz.propose_joins(data) == []
    # A column's name is evidence: b_id points to b.
    named = Dataset("a", rows, table=values.rename(columns={"year": "b_id"}))
    assert told(HeteroData([named, Dataset("b", ids)])) == [("key", "b_id", "b", "")]


def test_measurements_and_categories_are_not_keys() -> None:
    rng = np.random.default_rng(0)

    def table(name: str) -> Dataset:
        columns = {
            "size": rng.integers(0, 50, 60),
            "share": rng.random(60),
            "side": ["left", "right"] * 30,
        }
        return Dataset(name, [f"{name}{k}" for k in range(60)], table=pd.DataFrame(columns))

    assert hetviz.propose_joins(HeteroData([table("a"), table("b")])) == []


def test_table_without_any_key_has_no_joins() -> None:
    assert hetviz.propose_joins(read_tables([("t.csv", b"kind\n" + 9 * b"a\n")]).data) == []


def test_codes_that_differ_in_case_are_doubtful() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    codes = [x + y for x in letters for y in letters]
    languages = Dataset("languages", codes[:200])
    others = Dataset("countries", [text.upper() for text in codes[80:280]])
    same = Dataset("countries", codes[80:280])
    assert hetviz.propose_joins(HeteroData([languages, others])) == []
    assert len(hetviz.propose_joins(HeteroData([languages, same]))) == 1
    long = Dataset(
        "films", films().ids.tolist(), table=pd.DataFrame({"city": ["OSLO", "riga"] * 20})
    )
    (result,) = hetviz.propose_joins(HeteroData([long, cities()]))
    assert result.join.loose
    assert any("spelled the same" in words for words in result.evidence)


def test_chance_share_of_patterns_and_ranges() -> None:
    ids = Dataset("a", ["item_004", "item_001", "item_002", "item_003"])
    sample = Dataset("b", ["item_001", "item_004"])
    names = Dataset("c", ["aa", "bb"])
    a, b, c = key_columns(HeteroData([ids, sample, names]))
    assert chance_share(a, b) == pytest.approx(2 / 4)
    assert chance_share(b, a) == 1
    assert chance_share(c, c) == pytest.approx(2 / 26**2, rel=0.01)
    assert chance_share(a, c) == 0


def test_propose_lists_as_links_or_new_dataset() -> None:
    lists = pd.DataFrame({"shown_in": ["Oslo; Riga", "Riga; Wien; Oslo", "Bern; Wien", "Rom"] * 5})
    source = Dataset("films", [f"f{k}" for k in range(20)], table=lists)
    assert told(HeteroData([source, cities()])) == [("list", "shown_in", "cities", "name")]
    data = HeteroData([source, Dataset("other", ["x", "y"])])
    (result,) = hetviz.propose_joins(data)
    assert (result.join.kind, result.join.target) == ("tags", "shown_in")
    after = result.join.carried_out(data)
    assert sorted(after["shown_in"].ids) == ["Bern", "Oslo", "Riga", "Rom", "Wien"]


def test_list_like_cells_can_be_single_keys() -> None:
    paths = ["src/map/draw.py", "src/map/__init__.py", "src/__init__.py", "docs/map/draw.md"]
    changed = pd.DataFrame({"path": [paths[row % 4] for row in range(24)]})
    changes = Dataset("changes", [f"c{row}" for row in range(24)], table=changed)
    assert told(HeteroData([changes, Dataset("files", paths)])) == [("key", "path", "files", "")]
    people = ["Doe, Jane", "Roe, Jane", "Doe, John", "Poe, Ann", "Jane, Poe"]
    won = pd.DataFrame({"winner": [people[row % 5] for row in range(30)]})
    races = Dataset("races", [f"r{row}" for row in range(30)], table=won)
    result = hetviz.propose_joins(HeteroData([races, Dataset("runners", people)]))
    assert [(first.join.kind, first.join.target, first.sure) for first in result] == [
        ("key", "runners", True)
    ]


def test_propose_places_by_distance() -> None:
    rng = np.random.default_rng(1)
    P = np.column_stack([rng.uniform(-60, 60, 30), rng.uniform(-180, 180, 30)])

    def table(name: str, at: np.ndarray) -> Dataset:
        return Dataset(
            name,
            [f"{name} {k}" for k in range(len(at))],
            table=pd.DataFrame(at, columns=["lat", "lon"]),
        )

    shops, towns = table("shops", P[:20] + 0.1), table("towns", P)
    (result,) = hetviz.propose_joins(HeteroData([shops, towns]))
    assert (result.join.kind, result.join.source, result.join.target) == ("near", "towns", "shops")
    assert 0.5 < result.score <= 1
    # The same places written in one column.
    cells = [f"{lat:.9f}, {lon:.9f}" for lat, lon in P]
    written = Dataset("towns", towns.ids.tolist(), table=pd.DataFrame({"where": cells}))
    (same,) = hetviz.propose_joins(HeteroData([shops, written]))
    assert same.join == result.join
    assert same.score == pytest.approx(result.score, abs=1e-6)
    assert same.match.j.tolist() == result.match.j.tolist()


def test_proposals_ignore_order() -> None:
    rng = np.random.default_rng(2)
    data = HeteroData([cities(), films(), Dataset("more", CITIES)])
    other = data.edit().reorder(["more", "films", "cities"])
    other = other.edit().reorder(
        {name: rng.permutation(len(d)) for name, d in other.datasets.items()}
    )

    def scores(data: HeteroData) -> list[tuple[float, tuple[str, ...], int]]:
        return sorted(
            (round(p.score, 9), tuple(sorted((p.join.source, p.join.target))), len(p.match.i))
            for p in hetviz.propose_joins(data)
        )

    assert scores(data) == scores(other)
    # A column refers to one dataset: films name cities, and cities are the same as more.
    assert [ends for _, ends, _ in scores(data)] == [("cities", "more"), ("cities", "films")]


def test_number_of_offers_is_limited_but_not_of_certain_joins() -> None:
    named = [Dataset(f"d{k}", [f"{city}{city[::-1]}" for city in CITIES]) for k in range(8)]
    certain = hetviz.propose_joins(HeteroData(named))
    assert len(certain) == 28
    assert all(proposal.sure for proposal in certain)
    running = [Dataset(f"d{k}", [str(row) for row in range(1, 9)]) for k in range(8)]
    offers = hetviz.propose_joins(HeteroData(running))
    assert len(offers) == 12
    assert not any(proposal.sure for proposal in offers)


def lines() -> HeteroData:
    """Return batting lines of players in teams, whose key is of two columns."""
    teams = pd.DataFrame(
        [(year, team, year % 3) for year in (2019, 2020, 2021) for team in ("ARI", "BOS", "SEA")],
        columns=["year", "team", "rank"],
    )
    people = [f"{city.lower()}01" for city in CITIES]
    batting = pd.DataFrame(
        [
            (people[k % 8], 2019 + k % 3, ["ARI", "BOS", "SEA"][k % 2 + k % 5 // 4], k % 9)
            for k in range(48)
        ],
        columns=["player", "Year", "team", "runs"],
    )
    return HeteroData(
        [
            Dataset("batting", [str(k) for k in range(48)], table=batting),
            Dataset("people", people),
            Dataset("teams", [str(k) for k in range(9)], table=teams),
        ]
    )


def test_propose_key_of_several_columns() -> None:
    data = lines()
    result = {p.join.target: p for p in hetviz.propose_joins(data)}
    assert set(result) == {"people", "teams"}
    assert all(p.sure for p in result.values())
    both = result["teams"]
    assert both.title == "batting: Year + team = teams: year + team"
    assert len(both.match.i) == 48
    table = data["batting"].table, data["teams"].table
    assert table[0] is not None and table[1] is not None
    for i, j in zip(both.match.i, both.match.j, strict=True):
        assert table[0]["team"].iloc[i] == table[1]["team"].iloc[j]
        assert table[0]["Year"].iloc[i] == table[1]["year"].iloc[j]
    after = both.join.carried_out(data)
    assert [p.join.target for p in hetviz.propose_joins(after)] == ["people"]
    again = hetviz.links_by_key(data, "batting", "teams", "Year", "year", also=[("team", "team")])
    assert again.j.tolist() == both.match.j.tolist()


def test_redundant_proposals_are_left_out() -> None:
    data = lines()
    people = data["people"]
    # A second code of the same people, and a number that is among the numbers of the teams' rows.
    codes = pd.DataFrame({"code": [*people.ids[:7], "new"], "runs": range(8)})
    data = data.edit().replace(Dataset("people", people.ids, table=codes))
    assert {(p.join.source, p.join.target) for p in hetviz.propose_joins(data)} == {
        ("batting", "people"),
        ("batting", "teams"),
    }
    # Two tables of lines name the same people and teams: neither is named by the other.
    lines_of = data["batting"].table
    assert lines_of is not None
    pay = lines_of.drop_duplicates(["player", "Year", "team"]).reset_index(drop=True)
    data = data.edit().add(Dataset("pay", [f"{k}." for k in range(len(pay))], table=pay))
    assert {(p.join.source, p.join.target) for p in hetviz.propose_joins(data)} == {
        (source, target) for source in ("batting", "pay") for target in ("people", "teams")
    }


def test_propose_keys_by_spelling() -> None:
    towns = ["Zürich Nord", "St. Gallen", "Biel/Bienne", "Genève", "Chur", "Bern", "Basel"]
    written = ["Zurich Nord", "St Gallen", "Biel / Bienne", "Geneve", "Chur", "Bern", "basel"]
    visits = Dataset("visits", list("abcdefg"), table=pd.DataFrame({"town": written}))
    (result,) = hetviz.propose_joins(HeteroData([visits, Dataset("towns", towns)]))
    assert result.join.loose == "spelling"
    assert result.match.j.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert result.sure
    languages = Dataset("languages", ["C", "C++", "C#", "Ada"])
    used = pd.DataFrame({"in": ["C", "C++", "Ada", "c#", "C,"]})
    programs = Dataset("programs", list("abcde"), table=used)
    (result,) = hetviz.propose_joins(HeteroData([programs, languages]))
    assert result.match.i.tolist() == [0, 1, 2, 3]


def test_propose_keys_with_accents_in_one_table() -> None:
    towns = ["São Paulo", "Zürich", "Łódź", "Málaga", "Tromsø", "Đakovo", "Bern"]
    plain = ["Sao Paulo", "Zurich", "Lodz", "Malaga", "Tromso", "Dakovo", "Bern"]
    cafes = pd.DataFrame({"town": [plain[k % 7] for k in range(60)]})
    ids = [f"Café {k}" for k in range(60)]
    data = HeteroData([Dataset("towns", towns), Dataset("cafes", ids, table=cafes)])
    (result,) = [first for first in hetviz.propose_joins(data) if first.join.source == "cafes"]
    assert result.sure
    assert (result.join.source_column, result.join.loose) == ("town", "spelling")
    # Bern alone is written alike, by eight of them.
    assert result.evidence[-1].startswith("52 of these 60 pairs are spelled slightly differently")
    assert len(result.match.i) == 60


@pytest.mark.parametrize(("column", "found"), [("patient", True), ("code", False)])
def test_codes_that_differ_in_case_match_similar_column_names(column: str, found: bool) -> None:
    patients = Dataset("patients", [f"PT-{k:03}" for k in range(50)])
    visits = pd.DataFrame({column: [f"pt-{7 * k % 50:03}" for k in range(200)]})
    data = HeteroData([patients, Dataset("visits", [f"v{k}x" for k in range(200)], table=visits)])
    proposed = [first for first in hetviz.propose_joins(data) if first.sure]
    assert [first.title for first in proposed] == (
        ["visits: patient = patients: id"] if found else []
    )


def test_key_of_several_columns_with_few_repeated_rows() -> None:
    n = 2_000
    matches = pd.DataFrame(
        {"date": np.arange(n) // 20 + 1_900, "home": [f"team {k % 20}" for k in range(n)]}
    ).astype(str)
    goals = matches.iloc[::3].assign(minute=12.5).reset_index(drop=True)

    def proposed(repeats: int) -> list[Proposal]:
        twice = pd.concat([matches, matches.iloc[:repeats]], ignore_index=True)
        data = hetviz.HeteroData.from_frames({"matches": twice, "goals": goals})
        return [p for p in hetviz.propose_joins(data) if p.join.also]

    (one,) = proposed(1)
    assert one.join.target_columns == ("date", "home")
    assert "1 of 2,001 matches have the values of an earlier row" in one.evidence[0]
    # Of 2,000 rows more than two are no accident.
    assert proposed(10) == []


def test_ids_are_preferred_to_names_that_repeat() -> None:
    rng = np.random.default_rng(0)
    n = 3_000
    names = [f"player {k}" for k in range(n)]
    names[7] = names[8]
    players = pd.DataFrame({"player_id": np.arange(n) + 100_001, "name": names})
    rows = np.concatenate([[7, 8], rng.integers(0, n, 400)])
    matches = pd.DataFrame(
        {"winner_id": players["player_id"][rows], "winner": np.array(names)[rows]}
    ).reset_index(drop=True)
    data = hetviz.HeteroData.from_frames({"matches": matches, "players": players})
    (found,) = [p for p in hetviz.propose_joins(data) if p.sure]
    assert (found.join.source_column, found.join.target_column) == ("winner_id", "")
    assert len(found.match.i) == len(rows)
    assert f"{len(rows)} of these {len(rows)} pairs also agree in winner." in found.evidence


def test_examples_of_rows_without_names_are_their_keys() -> None:
    players = pd.DataFrame({"player_id": [101, 102, 107], "name": ["Anna", "Bo", "Cy"]})
    shots = pd.DataFrame({"player_id": [101, 107, 101, 102] * 5, "speed": np.arange(20) + 0.5})
    data = hetviz.HeteroData.from_frames({"shots": shots, "players": players})
    assert data["shots"].has_row_numbers
    (found,) = hetviz.propose_joins(data)
    assert found.examples(data)[0] == ("101", "Anna")
