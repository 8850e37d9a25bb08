"""Proposed keys of linked tables, and precision of the reliable ones.

``--data FOLDER`` holds ``linked/baseball`` (Lahman's tables). The samples are taken apart into CSV
files: their datasets with what the links between two of them say as a column of keys, or as a table
of two keys where an item has several. The others are made here, each with traps: numbers that
mean nothing to each other, codes written in two ways, a key of two columns, years.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import hetviz
from benchmarks.harness import report
from hetviz.data import HeteroData
from hetviz.data.joins.proposals import Proposal, propose_joins
from hetviz.io import read_tables

DATA = "may"
True_ = set[tuple[str, str, str, str]]
BASEBALL: True_ = {
    ("batting", "playerID", "people", ""),
    ("salaries", "playerID", "people", ""),
    ("teams", "franchID", "franchises", ""),
    ("batting", "teamID + yearID", "teams", "teamID + yearID"),
    ("salaries", "teamID + yearID", "teams", "teamID + yearID"),
    ("teams", "park", "parks", "park.name"),
}


def _csv(head: str, rows: list[list[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([head.split(","), *rows])
    return text.getvalue().encode()


def _named(
    rng: np.random.Generator, ids: Mapping[int, object], word: str, low: int, high: int
) -> list[list[object]]:
    """Return a row for each number: its id, a name with the number, and some whole number."""
    return [[id, f"{word} {k}", int(rng.integers(low, high))] for k, id in ids.items()]


def shop() -> tuple[dict[str, bytes], True_]:
    """Orders of customers and products; numbers that run from 1 in each table."""
    rng = np.random.default_rng(0)
    customers = _named(rng, {k: k for k in range(1, 201)}, "Customer", 18, 90)
    products = [[f"P-{k:03}", f"Thing {k}", round(float(rng.gamma(2, 9)), 2)] for k in range(80)]
    orders: list[list[object]] = [
        [k, int(rng.integers(1, 201)), f"p-{rng.integers(80):03}", int(rng.integers(1, 9))]
        for k in range(1, 1501)
    ]
    files = {
        "customers": _csv("id,name,age", customers),
        "products": _csv("sku,title,price", products),
        "orders": _csv("order_id,customer_id,sku,quantity", orders),
    }
    return files, {
        ("orders", "customer_id", "customers", ""),
        ("orders", "sku", "products", ""),
    }


def school() -> tuple[dict[str, bytes], True_]:
    """Marks by course and term together; a year that stands everywhere and joins nothing."""
    rng = np.random.default_rng(1)
    pupils = _named(rng, {k: f"S{k:04}" for k in range(150)}, "Pupil", 2004, 2012)
    courses = [
        [code, term, f"{code} in {term}", int(rng.integers(10, 40))]
        for code in ("MAT", "BIO", "ART", "HIS")
        for term in ("2021a", "2021b", "2022a", "2022b")
    ]
    marks: list[list[object]] = []
    for k in range(1200):
        course = courses[int(rng.integers(len(courses)))]
        marks.append([k, f"S{rng.integers(150):04}", course[0], course[1], int(rng.integers(1, 7))])
    files = {
        "pupils": _csv("pupil,name,born", pupils),
        "courses": _csv("course,term,title,places", courses),
        "marks": _csv("no,pupil,course,term,mark", marks),
    }
    return files, {
        ("marks", "pupil", "pupils", ""),
        ("marks", "course + term", "courses", "course + term"),
    }


def flights() -> tuple[dict[str, bytes], True_]:
    """Flights between two airports, by a carrier; zones that are no table."""
    rng = np.random.default_rng(2)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    codes = ["".join(letters[i] for i in rng.integers(26, size=3)) for _ in range(60)]
    codes = list(dict.fromkeys(codes))
    zones = ("east", "west", "south")
    airports = [
        [code, f"{code} field", round(float(rng.uniform(25, 48)), 3), zones[k % 3]]
        for k, code in enumerate(codes)
    ]
    carriers = [[f"{letters[k]}{letters[(k * 7) % 26]}", f"Carrier {k}"] for k in range(12)]
    rows: list[list[object]] = [
        [
            k,
            carriers[int(rng.integers(12))][0],
            *(codes[i] for i in rng.choice(len(codes), 2, replace=False)),
            int(rng.normal(8, 30)),
        ]
        for k in range(2500)
    ]
    files = {
        "airports": _csv("faa,name,lat,zone", airports),
        "carriers": _csv("carrier,name", carriers),
        "flights": _csv("flight,carrier,origin,dest,delay", rows),
    }
    return files, {
        ("flights", "carrier", "carriers", ""),
        ("flights", "origin", "airports", ""),
        ("flights", "dest", "airports", ""),
    }


def films() -> tuple[dict[str, bytes], True_]:
    """Films by directors whose names are spelt with and without accents; years in both."""
    rng = np.random.default_rng(3)
    inputs = ("José", "Zoë", "Ann", "Bo", "Chloé", "Dag", "Eva", "Łukasz")
    family = ("Núñez", "Ash", "Bay", "Cöln", "Dow", "Eyre", "Fox", "Ġorġ")
    names = [f"{a} {b}" for a in inputs for b in family]
    directors = [[name, int(rng.integers(1920, 1990))] for name in names]
    plain = str.maketrans("éëŁłúñöĠġó", "eeLlunoGgo")
    rows: list[list[object]] = [
        [f"Film {k}", names[int(rng.integers(64))].translate(plain), int(rng.integers(1950, 2020))]
        for k in range(400)
    ]
    files = {
        "directors": _csv("name,born", directors),
        "films": _csv("title,director,year", rows),
    }
    return files, {("films", "director", "directors", "")}


def unrelated() -> tuple[dict[str, bytes], True_]:
    """Two tables that have nothing to do with each other but running numbers and few words."""
    rng = np.random.default_rng(4)
    sizes = ("small", "large")
    entry: list[list[object]] = [
        [k, sizes[int(rng.integers(2))], int(rng.integers(1, 60))] for k in range(1, 301)
    ]
    other: list[list[object]] = [
        [k, int(rng.integers(1, 300)), sizes[int(rng.integers(2))]] for k in range(1, 201)
    ]
    return {"stones": _csv("id,size,weight", entry), "plants": _csv("id,height,size", other)}, set()


def cafes() -> tuple[dict[str, bytes], True_]:
    """Cafes in cities written without accents, with a list of tags; places in two tables."""
    rng = np.random.default_rng(5)
    cities: list[list[object]] = [
        ["São Paulo", -23.55, -46.63, 12.3],
        ["Zürich", 47.37, 8.54, 0.43],
        ["Łódź", 51.76, 19.46, 0.66],
        ["Köln", 50.94, 6.96, 1.08],
        ["Málaga", 36.72, -4.42, 0.58],
        ["Tromsø", 69.65, 18.96, 0.08],
        ["Oslo", 59.91, 10.75, 0.7],
        ["Bern", 46.95, 7.45, 0.13],
    ]
    places = [(float(str(city[1])), float(str(city[2]))) for city in cities]
    plain = ("Sao Paulo", "Zurich", "Lodz", "Koeln", "Malaga", "Tromso", "OSLO", " Bern")
    tags = ("vegan", "quiet", "late night", "dogs", "wifi", "terrace", "roastery", "books")
    rows: list[list[object]] = []
    for k in range(240):
        at = int(rng.integers(8))
        own_values = rng.choice(8, int(rng.integers(1, 4)), replace=False)
        place = [round(x + 0.02 * float(rng.normal()), 4) for x in places[at]]
        listed = "; ".join(tags[j] for j in own_values)
        rows.append([f"Cafe {k}", plain[at], *place, listed, int(rng.integers(8, 60))])
    files = {
        "cities": _csv("city,latitude,longitude,million", cities),
        "tags": _csv("tag,about", [[tag, f"{tag.title()} places"] for tag in tags]),
        "cafes": _csv("name,town,latitude,longitude,tags,seats", rows),
    }
    return files, {("cafes", "town", "cities", ""), ("cafes", "tags", "tags", "tag")}


def clinic() -> tuple[dict[str, bytes], True_]:
    """Visits of patients, whose codes differ in case, to wards of a hospital, with drugs."""
    rng = np.random.default_rng(6)
    patients: list[list[object]] = [
        [f"PT-{k:04}", f"Patient {k}", 1940 + k % 60, "mf"[k % 2], 150 + k % 45] for k in range(400)
    ]
    wards: list[list[object]] = [
        [place, number, f"{kind} of {place}", int(rng.integers(10, 40))]
        for place in ("North", "South", "East")
        for number, kind in enumerate(("Cardiology", "Surgery", "Neurology"), start=1)
    ]
    drugs: list[list[object]] = [
        [f"{'ABCDEFGH'[k % 8]}{k:02}XX", f"Drug {k}", 5 * (1 + k % 20)] for k in range(60)
    ]
    visits: list[list[object]] = []
    for k in range(1, 3001):
        person, ward = int(rng.integers(400)), wards[int(rng.integers(9))]
        drug = drugs[int(rng.integers(60))][0]
        visits.append([k, f"pt-{person:04}", *ward[:2], drug, int(rng.poisson(4))])
    files = {
        "patients": _csv("patient,name,born,sex,height", patients),
        "wards": _csv("hospital,ward,name,beds", wards),
        "drugs": _csv("atc,drug,dose", drugs),
        "visits": _csv("visit,patient,hospital,ward,atc,days", visits),
    }
    return files, {
        ("visits", "patient", "patients", ""),
        ("visits", "hospital + ward", "wards", "hospital + ward"),
        ("visits", "atc", "drugs", ""),
    }


def taken_apart(name: str) -> tuple[dict[str, bytes], True_]:
    """Return a sample as one CSV file a dataset, and one for the links between each two."""
    data = hetviz.load(name)
    files: dict[str, bytes] = {}
    true: True_ = set()
    for part in data.datasets.values():
        table: Any = part.table
        columns = [] if table is None else list(map(str, table.columns))
        cells = [
            [text, *([] if table is None else table.iloc[k])] for k, text in enumerate(part.ids)
        ]
        files[part.name] = _csv(",".join([f"{part.name}_id", *columns]), cells)
    between = [group for group in data.links if not group.within and (group.weight > 0).all()]
    for group in between:
        pair = f"{group.source}_{group.target}"
        if pair in files:
            continue
        ids = [
            [data[group.source].ids[i], data[group.target].ids[j]]
            for i, j in zip(group.i, group.j, strict=True)
        ]
        files[pair] = _csv(f"{group.source}_id,{group.target}_id", ids)
        true |= {(pair, f"{end}_id", end, "") for end in (group.source, group.target)}
    return files, true


def judged(name: str, files: Mapping[str, bytes], true: True_) -> dict[str, Any]:
    """Read the files as they would be dropped, and hold what is proposed against the truth."""
    loaded = read_tables([(f"{key}.csv", content) for key, content in files.items()])
    data = loaded.data
    proposals = propose_joins(data)
    ticked = [entry for entry in proposals if entry.sure]
    right = [entry for entry in ticked if _key(entry) & true]
    linked = _links_already(data, true)
    return {
        "set": name,
        "tables": len(files),
        "true keys": len(true),
        "ticked and true": len(right) + len(linked),
        "ticked and false": "; ".join(entry.title for entry in ticked if entry not in right)
        or "none",
        "true, not ticked": "; ".join(
            sorted(
                f"{a}: {b}"
                for a, b, c, d in true
                if not any((a, b, c, d) in _key(entry) for entry in right) and a not in linked
            )
        )
        or "none",
        "proposed besides": len(proposals) - len(ticked),
    }


def _key(proposal: Proposal) -> True_:
    """Return a proposal by its two ends, in both directions."""
    join = proposal.join
    entry = " + ".join(sorted(join.source_columns)), " + ".join(sorted(join.target_columns))
    return {
        (join.source, entry[0], join.target, entry[1]),
        (join.target, entry[1], join.source, entry[0]),
    }


def _links_already(data: HeteroData, true: True_) -> list[str]:
    """Return the true keys of tables that were read as links at once, and are no datasets."""
    return [a for a, _, _, _ in true if a not in data.datasets and data.links]


def run(out: Path, quick: bool, data: Path | None = None) -> None:
    """Judge all sets."""
    created = {"shop": shop, "school": school, "flights": flights, "films": films}
    created |= {"unrelated": unrelated, "cafes": cafes, "clinic": clinic}
    sets = {name: make() for name, make in created.items()}
    if not quick:
        sets |= {name: taken_apart(name) for name in ("emoji", "world", "digits", "debian")}
    if data is not None:
        folder = data / "linked" / "baseball"
        files = {path.stem: path.read_bytes() for path in sorted(folder.glob("*.csv"))}
        sets["baseball"] = files, BASEBALL
    rows = [judged(name, *entry) for name, entry in sets.items()]
    report("keys", rows, out, "no setting was chosen by these sets")
