"""Tests of links proposed by place, date and pictures."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageDraw

import hetviz
from hetviz import Dataset, HeteroData
from hetviz.data.joins.near_rows import PROPOSED_KINDS
from hetviz.errors import DataError, ParameterError

N = 60


def are_same(frame: pd.DataFrame) -> bool:
    """Return whether the numbers in the ids of all pairs are equal."""
    return bool((frame["source_id"].str[1:] == frame["target_id"].str[1:]).all())


def ids_of(letter: str) -> list[str]:
    return [f"{letter}{k}" for k in range(N)]


def places(metres: float, seed: int = 0) -> HeteroData:
    """Return stops and stations; each station is that far from its stop, in another order."""
    rng = np.random.default_rng(seed)
    stops = np.column_stack([rng.uniform(48.0, 48.4, N), rng.uniform(11.3, 11.9, N)])
    stations = stops + rng.choice([-1, 1], (N, 2)) * metres / 111_000 / np.sqrt(2)
    tables = {
        "stops": pd.DataFrame(stops, columns=["latitude", "longitude"], index=ids_of("s")),
        "stations": pd.DataFrame(stations, columns=["lat", "lon"], index=ids_of("t")),
    }
    tables["stations"] = tables["stations"].iloc[rng.permutation(N)]
    return HeteroData.from_frames(tables, labels={})


def test_near_places_are_found():
    data = places(metres=100)
    frame = hetviz.propose_links(data, "stops", "stations", by="place", km=0.5)
    assert len(frame) > 0.9 * N
    assert are_same(frame)
    assert frame["similarity"].is_monotonic_decreasing
    assert frame["reason"].str.fullmatch(r"\d+ m apart").all()
    assert (frame["kind"] == "near places").all()
    assert (data.edit().add(frame).links[0].kind) in PROPOSED_KINDS
    judged = frame[["source_id", "target_id"]].iloc[::5].assign(right=True)
    sure = hetviz.propose_links(data, "stops", "stations", by="place", km=0.5, answers=judged)
    assert sure["probability"].min() > 0.8


def test_places_of_other_things_are_not_nearer_than_by_chance():
    data = places(metres=30_000)
    assert hetviz.propose_links(data, "stops", "stations", by="place", km=3).empty
    every = hetviz.propose_links(data, "stops", "stations", by="place", km=3, max_chance=1)
    assert not every.empty


def test_shared_places_have_no_partner():
    data = places(metres=100)
    table = pd.DataFrame(data["stations"].table)
    table.iloc[1] = table.iloc[0]
    twice = HeteroData([data["stops"], Dataset("stations", data["stations"].ids, table=table)])
    frame = hetviz.propose_links(twice, "stops", "stations", by="place", km=0.5)
    assert not set(data["stations"].ids[:2]) & set(frame["target_id"])


def dates(days: int, text: bool, seed: int = 0) -> HeteroData:
    """Return concerts and reviews; each review is the given number of days after its concert."""
    rng = np.random.default_rng(seed)
    day = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.choice(3_000, N, replace=False), "D")
    tables = {
        "concerts": pd.DataFrame({"on": day}, index=ids_of("c")),
        "reviews": pd.DataFrame({"published": day + pd.Timedelta(days, "D")}, index=ids_of("r")),
    }
    if text:
        tables["reviews"]["published"] = tables["reviews"]["published"].dt.strftime("%Y-%m-%d")
    tables["reviews"] = tables["reviews"].iloc[rng.permutation(N)]
    return HeteroData([Dataset(name, list(t.index), table=t) for name, t in tables.items()])


@pytest.mark.parametrize(("days", "text"), [(0, True), (2, False)])
def test_near_dates_are_found(days, text):
    data = dates(days, text)
    frame = hetviz.propose_links(data, "concerts", "reviews", by="date", days=days)
    assert len(frame) > 0.8 * N
    same = frame["source_id"].str[1:] == frame["target_id"].str[1:]
    assert same.mean() > 0.9
    assert frame["reason"][same].unique().tolist() == ["same day" if not days else "2 days apart"]
    if days:
        assert hetviz.propose_links(data, "concerts", "reviews", by="date").empty


def test_days_of_all_rows_show_nothing():
    every_day = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=N)})
    data = HeteroData(
        [Dataset(name, [f"{name}{k}" for k in range(N)], table=every_day) for name in "ab"]
    )
    assert hetviz.propose_links(data, "a", "b", by="date").empty


def test_repeated_dates_are_refused_and_limit_other_proposals():
    names = [f"{first} {second}" for first in ("Blue", "Grand", "Old") for second in
             ("Lake", "Station", "Harbour", "Market", "Palace")]  # fmt: skip
    day = ["2024-05-01", "2024-05-02", "2024-05-03"] * 5
    tables = {
        "shows": pd.DataFrame({"name": names, "on": day}),
        "tickets": pd.DataFrame({"what": [f"The {n} show" for n in names], "at": day}),
    }
    tables["tickets"].loc[:4, "at"] = "2024-06-30"
    data = HeteroData(
        [Dataset(n, [f"{n[0]}{k}" for k in range(15)], table=t) for n, t in tables.items()]
    )
    with pytest.raises(DataError, match="15 of 15 rows share their day with another row"):
        hetviz.propose_links(data, "shows", "tickets", by="date")
    frame = hetviz.propose_links(data, "shows", "tickets", days=1, max_chance=1)
    assert sorted(frame["source_id"], key=lambda id: int(id[1:])) == [f"s{k}" for k in range(5, 15)]
    assert are_same(frame)
    assert frame["reason"].str.startswith("both have ").all()
    assert frame["reason"].str.endswith(", same day").all()


def picture(shape: int, colour: int, side: int) -> bytes:
    image = Image.new("RGB", (side, side), "white")
    draw = ImageDraw.Draw(image)
    fill = ("red", "green", "blue", "black", "orange", "purple")[colour]
    box = (side // 8, side // 8, side - side // 8, side - side // 8)
    if shape == 0:
        draw.ellipse(box, fill=fill)
    elif shape == 1:
        draw.rectangle(box, fill=fill)
    elif shape == 2:
        draw.polygon([(box[0], box[3]), (side // 2, box[1]), (box[2], box[3])], fill=fill)
    else:
        draw.line(box, fill=fill, width=side // 6)
    content = io.BytesIO()
    image.save(content, "PNG")
    return content.getvalue()


def test_same_pictures_of_other_sizes_are_found():
    kinds = [(shape, colour) for shape in range(4) for colour in range(6)]
    order = np.random.default_rng(0).permutation(24)
    small = Dataset("small", [f"s{k}" for k in range(24)], media=[picture(*k, 48) for k in kinds])
    large = Dataset(
        "large", [f"t{k}" for k in order], media=[picture(*kinds[k], 96) for k in order]
    )
    data = HeteroData([small, large])
    frame = hetviz.propose_links(data, "small", "large", by="pictures", max_chance=1)
    assert len(frame) >= 20
    assert are_same(frame)
    assert set(frame["reason"]) == {"look alike by edges and colours"}
    assert (frame["kind"] == "similar pictures").all()


def test_what_is_missing_is_said():
    data = places(metres=100)
    with pytest.raises(ParameterError, match='by = "place" needs km'):
        hetviz.propose_links(data, "stops", "stations", by="place")
    with pytest.raises(ParameterError, match="days = -1"):
        hetviz.propose_links(data, "stops", "stations", by="date", days=-1)
    with pytest.raises(DataError, match="no column of dates"):
        hetviz.propose_links(data, "stops", "stations", by="date")
    with pytest.raises(DataError, match="no pictures"):
        hetviz.propose_links(data, "stops", "stations", by="pictures")
    with pytest.raises(DataError, match="no columns of latitude"):
        hetviz.propose_links(dates(0, False), "concerts", "reviews", by="place", km=1)
    with pytest.raises(ParameterError, match="two datasets"):
        hetviz.propose_links(data, "stops", "stops", by="place", km=1)
