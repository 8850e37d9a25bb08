"""Keys, ids and kinds of rows of tables with integer keys, which agree by accident everywhere."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.join import Join
from hetviz.data.joins.key_names import column_words, table_words, words_of_name
from hetviz.data.joins.proposals import check_join
from hetviz.errors import DataError
from hetviz.features.table_joins import detail_tables, notes_after_joining
from hetviz.io import read_tables

RNG = np.random.default_rng(0)


def csv(columns: str, rows: Iterable[Iterable[object]]) -> bytes:
    return "\n".join([columns, *(",".join(map(str, row)) for row in rows)]).encode()


def music() -> list[tuple[str, bytes]]:
    """Return tables of a shop whose ids all run from 1."""
    n_artists, n_albums, n_people, n_staff = 40, 90, 50, 6
    albums = [(k, f"Album {k * k}", RNG.integers(1, n_artists + 1)) for k in range(1, n_albums + 1)]
    artists = [(k, f"Artist {chr(65 + k % 26)}{k}") for k in range(1, n_artists + 1)]
    people = [
        (k, f"Ann {k}", RNG.integers(3, 6), f"{k} Main Street") for k in range(1, n_people + 1)
    ]
    staff = [(k, f"Bob {k}", "" if k == 1 else 1 + k // 4) for k in range(1, n_staff + 1)]
    invoices = [
        (k, RNG.integers(1, n_people + 1), f"2024-{1 + k % 12:02}-11", round(RNG.gamma(2, 9), 2))
        for k in range(1, 201)
    ]
    bought = {(RNG.integers(1, 201), RNG.integers(1, n_albums + 1)) for _ in range(400)}
    return [
        ("Album.csv", csv("AlbumId,Title,ArtistId", albums)),
        ("Artist.csv", csv("ArtistId,Name", artists)),
        ("Customer.csv", csv("CustomerId,Name,SupportRepId,Address", people)),
        ("Employee.csv", csv("EmployeeId,Name,ReportsTo", staff)),
        ("Invoice.csv", csv("InvoiceId,CustomerId,InvoiceDate,Total", invoices)),
        ("InvoiceAlbum.csv", csv("InvoiceId,AlbumId", sorted(bought))),
    ]


@pytest.fixture(scope="module")
def shop() -> HeteroData:
    return read_tables(music()).data


def test_running_integers_link_only_by_their_keys(shop: HeteroData) -> None:
    certain = {p.title for p in hetviz.propose_joins(shop) if p.sure}
    assert certain == {
        "Album: ArtistId = Artist: id",
        "Invoice: CustomerId = Customer: id",
        "InvoiceAlbum: InvoiceId = Invoice: id",
        "InvoiceAlbum: AlbumId = Album: id",
        "Employee: ReportsTo = Employee: id",
    }


def test_key_without_a_name_is_only_offered(shop: HeteroData) -> None:
    offers = [p for p in hetviz.propose_joins(shop) if p.join.source_column == "SupportRepId"]
    assert offers
    assert not any(p.sure for p in offers)
    assert all(p.doubt for p in offers)


def test_key_of_a_table_to_itself_becomes_links(shop: HeteroData) -> None:
    (own,) = [p for p in hetviz.propose_joins(shop) if p.ends == ("Employee", "Employee")]
    data = own.join.carried_out(shop)
    (links,) = data.links
    assert (links.source, links.target, len(links)) == ("Employee", "Employee", 5)
    assert (links.i != links.j).all()


def test_notes_on_features_end_with_keys_and_links() -> None:
    loaded = read_tables(music())
    places = {info.dataset: info.file for info in loaded.understood}
    reports_to = "Employee.csv, column ReportsTo"
    before = {(note.where, note.code) for note in loaded.notes}
    assert (reports_to, "missing") in before
    joins = [proposal.join for proposal in hetviz.propose_joins(loaded.data) if proposal.sure]
    rows = {"InvoiceAlbum": "links", "Invoice": "items"}
    after = {(n.where, n.code) for n in notes_after_joining(loaded.notes, places, joins, rows)}
    gone = {where for where, _ in before - after}
    assert reports_to in gone
    assert gone - {reports_to} <= {"InvoiceAlbum.csv", "dataset 'InvoiceAlbum'"}
    assert notes_after_joining(loaded.notes, places, []) == list(loaded.notes)


def test_kinds_of_rows(shop: HeteroData) -> None:
    joins = [p.join for p in hetviz.propose_joins(shop) if p.sure]
    kinds = {table.dataset: (table.kind, table.take) for table in detail_tables(shop, joins)}
    assert kinds == {
        "Album": ("entity", "items"),
        "Invoice": ("entity", "items"),
        "InvoiceAlbum": ("relation", "links"),
    }
    joined = hetviz.join_tables(shop)
    assert "InvoiceAlbum" not in joined.datasets
    (bought,) = [links for links in joined.links if links.kind == "InvoiceAlbum"]
    assert len(bought) == len(shop["InvoiceAlbum"])


def test_ids_are_chosen_over_all_tables() -> None:
    votes = [(9000 + k % 30, f"c{k % 7}", ["yes", "no", "abstain"][k * 7 % 3]) for k in range(210)]
    texts = [(f"R/{k}/A", 9000 + k, f"On matter {k}") for k in range(30)]
    files = [
        ("resolutions.csv", csv("unres,rcid,descr", texts)),
        ("votes.csv", csv("rcid,country,vote", votes)),
        ("countries.csv", csv("country,people", [(f"c{k}", k) for k in range(7)])),
    ]
    loaded = read_tables(files)
    ids = {info.dataset: info.id_from for info in loaded.understood}
    assert ids == {"resolutions": ("rcid",), "votes": (), "countries": ("country",)}
    joined = hetviz.join_tables(loaded.data, rows={"votes": "links"})
    (links,) = joined.links
    assert set(np.sign(links.weight)) == {-1.0, 1.0}
    # A weight from -1 to 1 is no id, and keeps its sign.
    coded = [(a, b, {"yes": 1, "no": -1, "abstain": 0}[c]) for a, b, c in votes]
    files[1] = ("votes.csv", csv("rcid,country,weight", coded))
    (again,) = hetviz.join_tables(read_tables(files).data, rows={"votes": "links"}).links
    assert again.weight.tolist() == links.weight.tolist()


def test_composite_id_is_the_columns_that_another_table_repeats() -> None:
    rooms = [(b, r, 10 * r) for b in ("North", "South", "East") for r in (1, 2, 3)]
    courses = [
        (f"k{k}", f"Course {k}", ["North", "South", "East"][k % 3], 1 + k % 3) for k in range(40)
    ]
    loaded = read_tables(
        [
            ("rooms.csv", csv("building,room,seats", rooms)),
            ("courses.csv", csv("course,title,building,room", courses)),
        ]
    )
    assert {i.dataset: i.id_from for i in loaded.understood}["rooms"] == ("building", "room")
    (proposal,) = [p for p in hetviz.propose_joins(loaded.data) if p.sure]
    assert proposal.title == "courses: building + room = rooms: building + room"


def test_zero_means_no_partner() -> None:
    people = Dataset(
        "people",
        [str(k) for k in range(100, 140)],
        table=pd.DataFrame({"boss_id": [0 if k < 9 else 100 + k % 9 for k in range(40)]}),
    )
    (proposal,) = hetviz.propose_joins(HeteroData([people]))
    assert proposal.sure
    assert "0 and -1 are read as no partner." in proposal.evidence


def test_check_join_counts_or_names_the_values() -> None:
    towns = Dataset("towns", ["Bern", "Rom", "Oslo"])
    visits = Dataset(
        "visits", list("abcd"), table=pd.DataFrame({"at": ["Bern", "Rom", "Ulm", "Rom"]})
    )
    data = HeteroData([towns, visits])
    proposal = check_join(data, Join("key", "visits", "towns", "at"))
    assert proposal.evidence == ("3 of 4 visits and 2 of 3 towns match.",)
    with pytest.raises(DataError, match="no value occurs in id of visits"):
        check_join(data, Join("key", "towns", "visits"))


def test_words_of_names() -> None:
    assert words_of_name("SupportRepId") == ("support", "rep", "id")
    assert words_of_name("l_partkey") == ("l", "part", "key")
    assert words_of_name("Kategorien") == ("kategorien",)
    assert words_of_name("paid") == ("paid",)
    assert column_words(["l_partkey", "l_suppkey", "l_tax"])[0] == ("part", "key")
    assert table_words("raw_orders", ["raw_orders", "raw_items", "raw_shops"]) == ("order",)


def test_first_ids_of_a_longer_table_are_doubted() -> None:
    rng = np.random.default_rng(0)
    types = pd.DataFrame({"id": range(1, 21), "name": [f"type {chr(97 + k)}" for k in range(20)]})
    moves = pd.DataFrame(
        {
            "id": range(1, 501),
            "name": [f"move {k}" for k in range(500)],
            "type_id": rng.integers(1, 21, 500),
            "contest_type_id": rng.integers(1, 6, 500),
        }
    )
    data = HeteroData.from_frames({"moves": moves, "types": types})
    found = {
        p.join.source_column: p.doubt
        for p in hetviz.propose_joins(data)
        if p.join.target == "types" and p.join.kind == "key"
    }
    assert found["type_id"] == ""
    assert "first 5 of 20 types" in found["contest_type_id"]
