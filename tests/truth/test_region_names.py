"""Names of regions of maps with planted groups of random names and unequal sizes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz import Dataset, Embedding, HeteroData, Labels, Links
from hetviz.runs.cluster.contrast import Contrasts
from hetviz.runs.cluster.names import name_groups
from hetviz.runs.cluster.regions import find_regions

N_GROUPS = 6
_SYLLABLES = ("ba", "du", "fen", "gor", "hil", "jam", "kos", "lem", "nar", "pil", "ros", "tul")


def random_name(rng: np.random.Generator) -> str:
    return "".join(rng.choice(_SYLLABLES, 3)).capitalize()


def planted(seed: int, *, links_only: bool = False) -> tuple[HeteroData, np.ndarray, list[str]]:
    """Return artists and halls whose links stay within groups, the groups, and their names.

    Artists say their group, unless `links_only`: then each group has a festival that most of its
    artists are linked with. Halls say nothing.
    """
    rng = np.random.default_rng(seed)
    names = list(dict.fromkeys(random_name(rng) for _ in range(40)))[:N_GROUPS]
    sizes = rng.integers(40, 160, N_GROUPS)
    group = np.repeat(np.arange(N_GROUPS), sizes)
    halls = np.repeat(np.arange(N_GROUPS), sizes // 5)
    artists = pd.DataFrame({"artist_id": [f"A{k:04d}" for k in range(len(group))]})
    artists["name"] = [f"Artist {k}" for k in range(len(group))]
    artists["year"] = rng.integers(1950, 2020, len(group)).astype(str)
    if not links_only:
        artists["genre"] = [names[k] for k in group]
    venues = pd.DataFrame({"venue_id": [f"V{k:03d}" for k in range(len(halls))]})
    venues["name"] = [f"Hall {k}" for k in range(len(halls))]
    rows = np.repeat(np.arange(len(group)), 2)
    at = np.array([rng.choice(np.flatnonzero(halls == group[k])) for k in rows])
    pairs = np.unique(np.column_stack([rows, at]), axis=0)
    gigs = pd.DataFrame(
        {"artist_id": artists["artist_id"].to_numpy()[pairs[:, 0]]}
        | {"venue_id": venues["venue_id"].to_numpy()[pairs[:, 1]]}
    )
    tables = {"artists": artists, "venues": venues}
    links = {("artists", "venues"): gigs}
    if links_only:
        festivals = pd.DataFrame({"festival_id": [f"F{k}" for k in range(N_GROUPS)]})
        festivals["name"] = names
        there = rng.random(len(group)) < 0.8
        ends = pd.DataFrame(
            {"artist_id": artists["artist_id"][there]}
            | {"festival_id": [f"F{k}" for k in group[there]]}
        )
        tables["festivals"] = festivals
        links["artists", "festivals"] = ends
    ids = {name: table.columns[0] for name, table in tables.items()}
    titles = dict.fromkeys(tables, "name")
    data = HeteroData.from_frames(tables, links, ids=ids, titles=titles)
    truth = [group, halls, *([np.arange(N_GROUPS)] if links_only else [])]
    return data, np.concatenate(truth), names


def map_of(data: HeteroData, group: np.ndarray, seed: int) -> Embedding:
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * np.arange(N_GROUPS) / N_GROUPS
    centre = 10 * np.column_stack([np.cos(angle), np.sin(angle)])
    Y = centre[group] + rng.normal(size=(len(group), 2))
    places = {name: Y[rows] for name, rows in data.offsets.items()}
    return Embedding(places, {name: part.ids for name, part in data.datasets.items()})


@pytest.mark.parametrize("links_only", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_printed_names_are_true(seed: int, links_only: bool) -> None:
    data, group, names = planted(seed, links_only=links_only)
    m = map_of(data, group, seed)
    frame = hetviz.regions(data, m)
    printed = frame[frame["name"] != ""]
    Y = np.vstack(list(m.coordinates.values()))
    true = []
    for row in printed.itertuples():
        members = np.asarray(row.rows)
        planted_group = names.index(row.name) if row.name in names else -1
        share = (group[members] == planted_group).mean()
        assert row.share >= 0.4
        assert row.members == len(members)
        true.append(share >= 0.4)
        # The name stands among the members that it is true of.
        near = np.argsort(((Y - [row.x, row.y]) ** 2).sum(axis=1))[:10]
        assert (group[near] == planted_group).mean() >= 0.8
    assert np.mean(true) >= 0.95
    first = printed[printed["level"] == 0]
    assert len(first) >= N_GROUPS - 1
    assert first["name"].is_unique


def test_groups_that_nothing_is_true_of_have_no_name() -> None:
    data, group, _ = planted(0)
    rng = np.random.default_rng(0)
    shuffled = map_of(data, rng.permutation(group), 0)
    assert (hetviz.regions(data, shuffled)["name"] == "").all()


def test_ids_codes_and_titles_are_no_names() -> None:
    data, group, _ = planted(1)
    frame = hetviz.regions(data, map_of(data, group, 1))
    for name in frame["name"]:
        assert not name.startswith(("A0", "V0", "Artist", "Hall", "Year"))


def test_pairs_of_letters_of_a_label_are_no_names() -> None:
    data, group, _ = planted(1, links_only=True)
    codes = np.array(["nu", "di", "hr", "me", "co", "ec"], dtype=object)
    n_artists = len(data["artists"])
    labelled = data.edit().add(Labels("artists", "topic", codes[group[:n_artists]]))
    frame = hetviz.regions(labelled, map_of(labelled, group, 1))
    assert not set(frame["name"].str.casefold()) & set(codes)


STATES = ["AK", "AL", "CA", "NY", "TX", "WA"]


def towns(values: list[str], column: str = "state", **more: list[str]) -> pd.DataFrame:
    """Return the names of regions of 240 towns with a column of six values, a region for each."""
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(N_GROUPS), 40)
    table = pd.DataFrame({"id": [f"t{k}" for k in range(len(group))]})
    table["name"] = [random_name(rng) + random_name(rng).lower() for _ in group]
    table["height"] = rng.normal(size=len(group))
    for name, given in {column: values, **more}.items():
        table[name] = [given[k] for k in (group if len(given) == N_GROUPS else range(len(group)))]
    data = HeteroData.from_frames({"towns": table}, ids={"towns": "id"}, titles={"towns": "name"})
    return hetviz.regions(data, map_of(data, group, 5))


@pytest.mark.parametrize(
    ("column", "values", "names"),
    [
        ("state", STATES, STATES),
        ("country", ["DE", "FR", "IT", "NA", "NO", "PL"], ["DE", "FR", "IT", "NA", "NO", "PL"]),
        (
            "iso3",
            ["DEU", "FRA", "ITA", "NAM", "NOR", "POL"],
            ["DEU", "FRA", "ITA", "NAM", "NOR", "POL"],
        ),
        ("grade", list("ABCDEF"), [f"Grade {letter}" for letter in "ABCDEF"]),
    ],
)
def test_codes_that_many_rows_share_name_regions(
    column: str, values: list[str], names: list[str]
) -> None:
    frame = towns(values, column)
    first = frame[(frame["level"] == 0) & (frame["name"] != "")]
    assert set(first["name"]) == set(names)
    for row in first.itertuples():
        assert row.account == f"{row.name}: {row.members} of {row.members} towns"
    # Beside another column that is the label.
    frame = towns(values, column, kind=["port", "spa"] * 120)
    assert set(frame.loc[frame["level"] == 0, "name"]) >= set(names)


def test_codes_that_the_map_does_not_separate_are_no_names() -> None:
    rng = np.random.default_rng(6)
    frame = towns(rng.permutation(np.repeat(STATES, 40)).tolist())
    assert not set(frame["name"]) & set(STATES)


def test_codes_of_few_rows_are_no_names() -> None:
    codes = [f"{a}{b}{c}" for a in "BCDF" for b in "GHJKLM" for c in "NPQRSTVWXZ"]
    for each in (codes, np.repeat(codes[::8], 8).tolist()):
        frame = towns(each, "product")
        assert not set(frame["name"]) & {*codes, *(code.capitalize() for code in codes)}


def test_codes_whose_names_are_known_are_no_names() -> None:
    lands = ["Alaska", "Alabama", "California", "New York", "Texas", "Washington"]
    frame = towns(STATES, land=lands)
    assert set(lands) <= set(frame["name"])
    assert not set(frame["name"]) & set(STATES)


def test_keys_of_another_table_are_no_names() -> None:
    rng = np.random.default_rng(7)
    group = np.repeat(np.arange(N_GROUPS), 40)
    table = pd.DataFrame({"id": [f"t{k}" for k in range(240)], "height": rng.normal(size=240)})
    table["state"] = [STATES[k] for k in group]
    states = pd.DataFrame({"state": STATES, "area": rng.normal(size=N_GROUPS)})
    ids = {"towns": "id", "states": "state"}
    data = HeteroData.from_frames({"towns": table, "states": states}, ids=ids)
    facts = Contrasts(data).facts
    assert not set(facts.texts) & set(STATES)


@pytest.mark.parametrize("seed", range(3))
def test_names_stay_when_few_items_move(seed: int) -> None:
    data, group, _ = planted(seed)
    first = map_of(data, group, seed)
    rng = np.random.default_rng(seed)
    moved = {}
    for name, Y in first.coordinates.items():
        Y = Y + 0.05 * rng.normal(size=Y.shape)
        few = rng.choice(len(Y), len(Y) // 50, replace=False)
        Y[few] += rng.normal(scale=8.0, size=(len(few), 2))
        moved[name] = Y
    later = Embedding(moved, first.ids)
    before = hetviz.regions(data, first)
    after = hetviz.regions(data, later, before=first)
    for level in (0, 1):
        names = [set(frame.loc[frame["level"] == level, "name"]) for frame in (before, after)]
        assert names[0] - {""} == names[1] - {""}
    for row in before[before["level"] == 0].itertuples():
        (rows,) = [one for one in after["rows"] if np.isin(row.rows, one).mean() > 0.8][:1]
        assert len(rows) < 2 * len(row.rows)


def test_account_counts_the_members() -> None:
    data, group, names = planted(2)
    contrasts = Contrasts(data)
    Y = np.vstack(list(map_of(data, group, 2).coordinates.values()))
    level = find_regions(contrasts, Y)[0]
    n_artists = len(data["artists"])
    for code, name in enumerate(level.details):
        if not name.text:
            continue
        members = np.flatnonzero(level.codes == code)
        own = members[members < n_artists]
        n_true = int((group[own] == names.index(name.text)).sum())
        assert f"{name.text}: {n_true:,} of {len(own):,} artists" in name.account
        assert name.n_true >= n_true


def test_items_are_not_named_by_an_item_that_they_share_links_with() -> None:
    """A region of drivers alone is not one of the driver whom they all raced; one of races is."""
    rng = np.random.default_rng(3)
    season_of_race, season_of_driver = np.repeat(range(3), 40), np.repeat(range(3), 40)
    # The first driver of each season is in all its races, the others in half of them.
    present = (season_of_race[:, None] == season_of_driver) & (rng.random((120, 120)) < 0.5)
    present[np.arange(120), season_of_race * 40] = True
    drivers = [random_name(rng) + random_name(rng).lower() for _ in range(120)]
    data = HeteroData(
        [Dataset("races", [f"{k}" for k in range(120)]), Dataset("drivers", drivers)],
        [Links("races", "drivers", *np.nonzero(present))],
    )
    facts = Contrasts(data).facts
    apart = np.concatenate([season_of_race, season_of_driver + 3])
    together = np.concatenate([season_of_race, season_of_driver])
    names = [name.text for name in name_groups(data, facts, apart, 6)]
    assert names == [*(drivers[k].capitalize() for k in (0, 40, 80)), "", "", ""]
    first = name_groups(data, facts, together, 3)[0]
    assert (first.text, first.n_members) == (drivers[0].capitalize(), 80)
    assert "40 of 40 races" in first.account


@pytest.mark.parametrize("n_true", [10, 11])
def test_name_is_true_of_more_than_half_of_members_and_of_core(n_true: int) -> None:
    rng = np.random.default_rng(4)
    genre = ["Baroque"] * n_true + [random_name(rng) for _ in range(120 - n_true)]
    songs = pd.DataFrame({"id": [f"s{k}" for k in range(120)], "genre": genre})
    data = HeteroData.from_frames({"songs": songs.assign(year=rng.normal(size=120))})
    facts = Contrasts(data).facts
    codes = np.where(np.arange(120) < 20, 0, -1)
    everything = np.ones(120, dtype=bool)
    is_more = n_true > 10
    (name,) = name_groups(data, facts, codes, 1, among=everything)
    assert name.text == ("Baroque" if is_more else "")
    assert not is_more or (name.n_true, name.n_members) == (11, 20)
    # The core is the last ten members, and the name is true of one of them at most.
    core = (np.arange(120) >= 10) & (codes == 0)
    (name,) = name_groups(data, facts, codes, 1, among=everything, core=core)
    assert name.text == ""


def test_quarter_is_not_named_by_words_of_a_taken_name() -> None:
    band = ["The Beatles"] * 30 + ["Queen"] * 30
    data = HeteroData.from_frames(
        {"songs": pd.DataFrame({"id": [f"s{k}" for k in range(60)], "band": band})
         .assign(words=["Beatles"] * 30 + ["Opera"] * 30)}
    )  # fmt: skip
    codes = np.repeat([0, 1], 30)
    facts = Contrasts(data).facts
    assert {"Beatles", "The Beatles"} <= set(facts.texts)
    names = name_groups(data, facts, codes, 2, taken=["The Beatles"])
    assert names[0].text == ""
    assert names[1].text in ("Queen", "Opera")
