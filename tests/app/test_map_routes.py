"""Tests of the routes of the map component."""

from __future__ import annotations

import gzip
import io
import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.data.queries import search
from hetviz.jobs import Job
from hetviz.jobs.frame import Frame
from hetviz.ui.item import item_cards, thumbnails
from hetviz.ui.jobs.jobs import JOBS
from hetviz.ui.map import description, links_of_rows, routes
from hetviz.ui.map_data.array_cache import PackedArray, send_array
from hetviz.workspace import SESSIONS, MapResult, OpenSample, State
from hetviz.workspace.sessions import new_session_id
from tests.app.asking import Answer, ask


def png(size: tuple[int, int] = (20, 10), colour: str = "white", mode: str = "RGB") -> bytes:
    stream = io.BytesIO()
    Image.new(mode, size, colour).save(stream, "PNG")
    return stream.getvalue()


TITLES = ["Éclair", "clair obscur", "Ÿ", "tarte éclair", "ECLAIR", "pie", '"<b>$x$</b>', "nut"]


def example() -> State:
    n = len(TITLES)
    table = pd.DataFrame(
        {
            "name": pd.Series(TITLES, dtype=object),
            "price": [1.23456789, np.nan, 3.0, 4e20, -5.5, 6.0, 7.0, 8.0],
            "sweet": [True, False] * (n // 2),
            "made": pd.to_datetime(["2020-01-02"] * n),
            "about": ["long words " * 100, *[""] * (n - 1)],
            "kind": ["p", "q"] * (n // 2),
        }
    )
    media = [png(), png((10, 20)), png(colour="#00000000", mode="RGBA"), b"\x89PNG\r\n\x1a\nbroken"]
    food = Dataset(
        "food, cold",
        [f"f-{k}" for k in range(n)],
        table=table,
        media=[*media, *[None] * (n - 4)],
        recipe={"title": "name", "text": ["about"]},
    )
    words = Dataset("words", list("wxyz"))
    links = Links("food, cold", "words", [0, 1, 2, 2, 3], [0, 0, 1, 2, 3], [1, 0.5, 1, -0.9, 0.2])
    data = HeteroData([food, words], [links])
    rng = np.random.default_rng(0)
    places = {"food, cold": rng.normal(size=(n, 2)), "words": rng.normal(size=(4, 2))}
    places["words"][3] = np.nan
    ids = {name: part.ids for name, part in data.datasets.items()}
    run = MapResult(
        data.fingerprint(),
        "pca",
        {},
        0,
        title="First map",
        embedding=Embedding(places, ids),
        id="1",
    )
    return State(data=data, runs=(run,), chosen="1")


def settle(state: State) -> str:
    """Return a new session that has `state` open."""
    sid = new_session_id()
    SESSIONS.get(sid).state = state
    return sid


@pytest.fixture(scope="module")
def sid() -> str:
    return settle(example())


@pytest.fixture(scope="module")
def spec(sid: str) -> dict[str, Any]:
    state = SESSIONS.get(sid).state
    return description.map_spec(state, state.run, session=sid)


def is_guarded(answer: Answer) -> bool:
    return answer.headers["x-content-type-options"] == "nosniff" and answer.headers[
        "cache-control"
    ].startswith("private")


def test_array_route_serves_own_session_only(sid: str, spec: dict[str, Any]) -> None:
    answer = ask(f"/hv/array/{sid}/{spec['geometry']['pieces'][0]}")
    assert answer.status == 200
    assert len(answer.body) == 12 * 5
    assert is_guarded(answer)
    assert "immutable" in answer.headers["cache-control"]
    assert ask(f"/hv/array/{new_session_id()}/{spec['geometry']['pieces'][0]}").status == 404
    assert ask(f"/hv/array/{sid}/{'0' * 32}").status == 404


def test_large_arrays_are_compressed_if_useful_and_accepted(sid: str) -> None:
    codes = PackedArray.pack(np.zeros(200_000), "|i1")
    noise = PackedArray.pack(np.random.default_rng(0).normal(size=50_000), "<f4")
    for array in (codes, noise):
        send_array(sid, array)
    packed = ask(f"/hv/array/{sid}/{codes.key}", gzip=True)
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == codes.content
    plain = ask(f"/hv/array/{sid}/{codes.key}")
    assert plain.headers.get("content-encoding", "identity") == "identity"
    assert plain.body == codes.content
    assert ask(f"/hv/array/{sid}/{noise.key}", gzip=True).body == noise.content


def test_asset_route_serves_component_files_only() -> None:
    from hetviz.ui.map.component import asset_version

    answer = ask(f"/hv/asset/{asset_version()}/map.js")
    assert answer.status == 200
    assert "immutable" in answer.headers["cache-control"]
    assert "immutable" not in ask("/hv/asset/0/map.js").headers["cache-control"]
    for name in ("..%2F__init__.py", "__init__.py", "nothing.js", "..", "%00"):
        assert ask(f"/hv/asset/{asset_version()}/{name}").status == 404


def test_script_of_component_contains_its_modules_line_by_line() -> None:
    from hetviz.ui.map.component.assets import asset_response, text_assets

    texts = text_assets()
    content, source_map = asset_response("component.js"), asset_response("component.js.map")
    assert content is not None and source_map is not None
    script = content[0].decode()
    # Any other statement would be one that the bundle does not know.
    statements = re.findall(r"^(?:import|export)\b.*", script, re.M)
    assert statements == [texts["component.js"].splitlines()[-1]]
    modules = set()
    for section in json.loads(source_map[0])["sections"]:
        (name,) = section["map"]["sources"]
        modules.add(name)
        source = texts[name].splitlines()
        assert section["map"]["mappings"].count(";") == len(source)
        lines = script.splitlines()[section["offset"]["line"] :]
        for own, line in zip(source, lines, strict=False):
            if not own.startswith(("import", "export {", "} from")):
                assert line.endswith(own.removeprefix("export "))
    # `messages.js` contains only types.
    assert modules == {name for name in texts if name.endswith(".js")} - {
        "component.js",
        "messages.js",
    }


def test_item_route_has_names_and_fit(sid: str) -> None:
    found = ask(f"/hv/items/{sid}?rows=0,2,6,8").json
    assert [item["title"] for item in found] == ["Éclair", "Ÿ", '"<b>$x$</b>', "w"]
    assert [item["dataset"] for item in found] == ["food, cold"] * 3 + ["words"]
    assert [item["word"] for item in found] == [True, False, False, False]
    assert [item["named"] for item in found] == [True, True, True, False]


def test_card_has_columns(sid: str) -> None:
    found = ask(f"/hv/item/{sid}/0").json
    assert dict(found["facts"]) == {
        "id": "f-0",
        "Price": "1.23457",
        "Sweet": "yes",
        "Made": "2020-01-02",
        "Kind": "p",
    }
    assert found["text"].startswith("long words") and len(found["text"]) == 400
    assert found["links"] == 1
    # The most frequent first.
    assert found["colour"] == {"title": "dataset", "value": "food, cold", "code": 0}
    assert ask(found["picture"]).status in (200, 404)
    second = ask(f"/hv/item/{sid}/1").json
    assert "Price" not in dict(second["facts"])
    assert second["text"] is None
    assert ask(f"/hv/item/{sid}/5").json["picture"] is None
    assert found["head"]["pictures"] == [found["picture"]]
    assert found["head"]["line"] == "food, cold"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3.0, "3"),
        (4e20, "4e+20"),
        (0.1 + 0.2, "0.3"),
        (True, "yes"),
        (None, ""),
        (float("nan"), ""),
        (2021, "2021"),
        (pd.NaT, ""),
        (pd.NA, ""),
        ([1, 2], "[1, 2]"),
        (float("inf"), "inf"),
    ],
)
def test_value_texts(value: Any, words: str) -> None:
    assert item_cards.value_text(value) == words


def section_titles(answer: Any) -> list[str]:
    return [block["title"] for block in answer.json["blocks"] if block["kind"] == "section"]


def test_panel_route_has_blocks_of_item_as_text(sid: str) -> None:
    answer = ask(f"/hv/panel/{sid}/6")
    is_guarded(answer)
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.json["title"] == TITLES[6]
    first = ask(f"/hv/panel/{sid}/0").json["blocks"]
    kinds = [block["kind"] for block in first]
    assert kinds[:3] == ["section", "note", "links"]
    cells = [cell for block in first if block["kind"] == "items" for cell in block["cells"]]
    assert TITLES[6] in [cell["name"] for cell in cells]
    titles = [block["title"] for block in first if block["kind"] == "section"]
    assert titles[0] == "Linked with"
    assert "Nearest food, cold" in titles
    # The first explanation on a map would take long.
    assert "Why it is here" not in titles
    # An item without a position has no panel of its own.
    assert ask(f"/hv/panel/{sid}/11?prepare=1").status == 204
    assert ask(f"/hv/panel/{sid}/11").json is None
    assert ask(f"/hv/panel/{sid}/12").status == 204
    assert ask(f"/hv/panel/{'x' * 22}/0").status == 404


def test_prepared_panel_route_explains_other_items_at_once() -> None:
    sid = new_session_id()
    SESSIONS.get(sid).do(OpenSample("emoji"))
    assert "Why it is here" not in section_titles(ask(f"/hv/panel/{sid}/6"))
    # The browser asks for the first item before any click.
    assert ask(f"/hv/panel/{sid}/0?prepare=1").status == 204
    assert "Why it is here" in section_titles(ask(f"/hv/panel/{sid}/6"))


def found_in(sid: str, query: str, group: str) -> list[dict[str, Any]]:
    """Return the results of a query in one group."""
    groups = ask(f"/hv/search/{sid}?q={quote(query)}").json["groups"]
    return next((part["options"] for part in groups if part["key"] == group), [])


def matches(sid: str, query: str) -> list[int]:
    rows: list[int] = np.frombuffer(ask(f"/hv/matches/{sid}?{query}").body, "<i4").tolist()
    return rows


def test_search_ignores_case_and_accents_and_prefers_prefixes(sid: str) -> None:
    def titles(query: str) -> list[str]:
        return [item["title"] for item in found_in(sid, query, "names")]

    assert titles("éCLAIR") == ["Éclair", "ECLAIR", "tarte éclair"]
    assert titles("clair") == ["clair obscur", "Éclair", "ECLAIR", "tarte éclair"]
    assert titles("f-3") == ["tarte éclair"]
    assert [item["detail"] for item in found_in(sid, "f-3", "names")] == ["Id: f-3"]
    assert titles("  tarte   ECLAIR ") == ["tarte éclair"]
    assert titles("nothing such") == titles("") == titles("   ") == []
    assert len(titles("f-")) == 8
    (item,) = found_in(sid, "z", "names")
    assert item == {
        "kind": "item",
        "row": 11,
        "title": "z",
        "dataset": "words",
        "placed": False,
        "detail": "",
        "aside": "",
    }


def test_search_finds_values_and_texts_with_all_their_rows(sid: str) -> None:
    (value,) = found_in(sid, "SWEET: true", "values")
    assert (value["title"], value["aside"]) == ("Sweet: True", "4 food, cold")
    address = urlencode({name: value[name] for name in ("dataset", "column", "value")})
    assert matches(sid, address) == [0, 2, 4, 6]
    assert matches(sid, "dataset=words&column=sweet&value=True") == []
    (text,) = found_in(sid, "words long", "texts")
    assert text["row"] == 0 and text["detail"].startswith("About: long words long")
    assert matches(sid, "q=long+words&group=texts") == [0]
    assert matches(sid, "q=clair&group=names") == [0, 1, 3, 4]
    # Empty cells are no values.
    assert found_in(sid, "about:", "values") == []
    assert [item["row"] for item in found_in(sid, "about:", "texts")] == [0]
    assert ask(f"/hv/search/{sid}?q=").json["examples"] == ["kind: p", "like Éclair"]


def test_search_like_an_item_states_its_basis(sid: str) -> None:
    groups = ask(f"/hv/search/{sid}?q={quote('items like eclair')}").json["groups"]
    assert [(group["title"], group["note"]) for group in groups] == [
        ("Like Éclair, by shared links", "100 %: same links"),
        ("words closest to Éclair, on this map", ""),
    ]
    # The browser may name the item.
    first = ask(f"/hv/search/{sid}?q=like+x&row=1").json["groups"][0]
    assert first["title"].startswith("Like clair obscur, by")
    # The place of an item without links says nothing of words.
    alone = ask(f"/hv/search/{sid}?q=like+x&row=7").json
    assert (alone["groups"], alone["note"][:22]) == ([], "This item has no links")
    assert ask(f"/hv/search/{sid}?q=like+x&row=99").status == 204
    missing = ask(f"/hv/search/{sid}?q=like+nothing+such").json
    assert (missing["groups"], missing["note"]) == ([], "No item has this name.")


def test_search_equals_brute_force() -> None:
    rng = np.random.default_rng(0)
    titles = ["".join(rng.choice(list("aAbÁ \u0300ß"), 6)) for _ in range(300)]
    names = Dataset("x", [str(k) for k in range(300)], table=pd.DataFrame({"name": titles}))
    data = HeteroData([names])
    from hetviz.data.queries.filters import fold_text

    for query in ("a", "ab", "ba ", "ss", "aÁ"):
        found = search.search_names(data, query, max_hits=300)
        needle = " ".join(fold_text(query).split())
        plain = {
            row
            for row in range(300)
            if needle in " ".join(fold_text(str(names.titles[row])).split()) or needle in str(row)
        }
        assert set(found.best) == set(found.rows.tolist()) == plain


def test_links_are_sorted_by_strength_with_total(sid: str) -> None:
    def links(rows: list[int]) -> dict[str, Any]:
        found: dict[str, Any] = ask(
            f"/hv/links/{sid}", method="POST", body=np.array(rows, dtype="<i4").tobytes(), parts=3
        ).json
        return found

    found = links([2, 1, 3])
    assert found == {
        "links": [
            [2, 9, 1.0, "given"],
            [2, 10, -0.9, "given"],
            [1, 8, 0.5, "given"],
            [3, 11, 0.2, "given"],
        ],
        "total": 4,
    }
    assert links([8])["total"] == 2
    assert links([]) == {"links": [], "total": 0}


def test_many_links_are_limited_and_ties_spread() -> None:
    n = 2000
    rng = np.random.default_rng(0)
    weight = np.full(n, 0.5)
    weight[:100] = rng.random(100) * 0.1 + 0.01
    weight[1500:1510] = -1.0
    data = HeteroData(
        [Dataset("a", map(str, range(n))), Dataset("b", ["0"])],
        [Links("a", "b", np.arange(n), np.zeros(n, dtype=int), weight)],
    )
    found = links_of_rows.strongest_links(State(data=data), None, np.array([n]))
    assert found["total"] == n
    # Links of many rows are counted, not drawn.
    assert len(links_of_rows.strongest_links(State(data=data), None, np.arange(n))["links"]) == n
    assert [link[2] for link in found["links"]] == [-1.0] * 10 + [0.5] * 290
    assert np.ptp([link[0] for link in found["links"][10:]]) > 1500


def test_regions_belong_to_requested_map() -> None:
    rng = np.random.default_rng(0)
    parts = [Dataset("a", map(str, range(60))), Dataset("b", ["planet", "moon"])]
    data = HeteroData(parts, [Links("a", "b", np.arange(60), np.repeat([0, 1], 30))])
    side = np.repeat([0.0, 20.0], 30)
    places = {
        "a": np.c_[side, np.zeros(60)] + rng.normal(size=(60, 2)),
        "b": np.array([[0.0, 0.0], [20.0, 0.0]]),
    }
    ids = {name: part.ids for name, part in data.datasets.items()}
    run = MapResult(
        data.fingerprint(),
        "pca",
        {},
        0,
        title="First map",
        embedding=Embedding(places, ids),
        id="1",
    )
    state = State(data=data, runs=(run,), chosen="1")
    sid = settle(state)
    of = description.map_spec(state, run, session=sid)["geometry"]["id"]
    levels = ask(f"/hv/regions/{sid}?of={of}").json["levels"]
    assert len(levels) == 2
    assert {"Planet", "Moon"} <= set(levels[0]["names"])
    codes = np.frombuffer(ask(f"/hv/array/{sid}/{levels[0]['key']}").body, dtype=np.int8)
    assert len(codes) == data.n_rows
    assert codes.max() == len(levels[0]["names"]) - 1
    # A map that is not chosen has no regions, without an error.
    assert ask(f"/hv/regions/{sid}?of={'0' * 32}").json == {"levels": []}


def test_held_out_links_are_marked() -> None:
    rng = np.random.default_rng(0)
    parts = [
        Dataset(name, [f"{name}{k}" for k in range(50)], rng.normal(size=(50, 3))) for name in "ab"
    ]
    links = Links("a", "b", rng.permutation(50), rng.permutation(50))
    data = HeteroData(parts, [links])
    base = example()
    assert base.run is not None
    run = replace(base.run, fingerprint=data.fingerprint(), hold_out=0.2, seed=3)
    aside = HeteroData([parts[1], parts[0]], [Links("a", "b", [7], [9])])
    state = State(data=data, held_out=aside, runs=(run,), chosen="1")
    found = links_of_rows.strongest_links(state, run, np.arange(100))["links"]
    _, held = data.holdout(links=0.2, random_state=3)
    table = held.link_table()
    wanted = set(zip(table["p"].tolist(), table["q"].tolist(), strict=True)) | {(7, 59)}
    assert {(p, q) for p, q, _, kind in found if kind == "hidden"} == wanted
    assert len(found) == 51
    other = replace(run, fingerprint="of other data")
    plain = links_of_rows.strongest_links(State(data=data), other, np.arange(100))["links"]
    assert {kind for *_, kind in plain} == {"given"}


def test_thumbnails_fit_into_cells(sid: str) -> None:
    answer = ask(f"/hv/thumbnails/{sid}?rows=0,1,3,5,8&size=40&v=1")
    assert answer.headers["content-type"] == "image/webp"
    strip = np.asarray(Image.open(io.BytesIO(answer.body)).convert("RGBA"))
    assert strip.shape == (40, 200, 4)
    alpha = strip[:, :, 3]
    assert alpha[20, 20] == 255 and alpha[2, 20] == 0
    assert alpha[20, 60] == 255 and alpha[20, 42] == 0
    # Cells of broken or missing pictures are empty.
    assert not alpha[:, 80:].any()


def test_wide_thumbnail_strip_is_served(sid: str) -> None:
    rows = ",".join(["0"] * 200)
    answer = ask(f"/hv/thumbnails/{sid}?rows={rows}&size=96")
    assert answer.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(answer.body)).size == (96 * 200, 96)


def test_opaque_thumbnails_get_round_corners() -> None:
    tile = thumbnails.make_thumbnail(png((30, 30)), 48)
    assert tile is not None
    assert tile.getpixel((0, 0))[3] == 0  # type: ignore[index]
    assert tile.getpixel((24, 0))[3] == 255  # type: ignore[index]
    half = png((30, 30), "#ff000080", "RGBA")
    see_through = thumbnails.make_thumbnail(half, 48)
    assert see_through is not None
    assert see_through.getextrema()[3] == (128, 128)


def test_too_large_pictures_are_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thumbnails, "MAX_PICTURE_PIXELS", 99)
    assert thumbnails.make_thumbnail(png((10, 10)), 48) is None
    assert thumbnails.make_thumbnail(png((9, 11)), 48) is not None


@pytest.mark.parametrize("content", [b"", b"GIF89a", b"RIFF0000WEBP", png()[:40], b"\xff\xd8\xff"])
def test_broken_pictures_are_empty(content: bytes) -> None:
    assert thumbnails.make_thumbnail(content, 48) is None


class Feed:
    """A runner with one job whose partial maps a test sets."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.job = Job("j", owner, "Map", "running")
        self.newest = Frame(0, b"")
        self.asked = 0

    def get(self, id: str, owner: str) -> Job | None:
        self.asked += 1
        return self.job if (id, owner) == ("j", self.owner) else None

    def frame(self, id: str, owner: str, after: int = 0) -> Frame | None:
        return self.newest if self.newest.seq > after else None


@pytest.fixture
def feed(sid: str, monkeypatch: pytest.MonkeyPatch) -> Feed:
    made = Feed(sid)
    monkeypatch.setattr(JOBS, "runner", made)
    monkeypatch.setattr(routes, "_MAX_POLL_S", 0.2)
    return made


def test_frame_route_has_sequence_number(sid: str, feed: Feed) -> None:
    feed.newest = Frame(4, b"\x00" * 96)
    answer = ask(f"/hv/frame/{sid}/j?after=3")
    assert (answer.status, answer.body) == (200, b"\x00" * 96)
    assert (answer.headers["x-seq"], answer.headers["x-state"]) == ("4", "running")
    assert "no-store" in answer.headers["cache-control"]


def test_frame_route_waits_for_next_frame(sid: str, feed: Feed) -> None:
    answer = ask(f"/hv/frame/{sid}/j?after=3")
    assert (answer.status, answer.body) == (204, b"")
    assert (answer.headers["x-seq"], answer.headers["x-state"]) == ("3", "running")
    assert feed.asked > 1


def test_frame_route_ends_with_job(sid: str, feed: Feed) -> None:
    feed.job = replace(feed.job, state="failed")
    answer = ask(f"/hv/frame/{sid}/j?after=3")
    assert (answer.status, answer.headers["x-state"]) == (204, "failed")
    assert feed.asked == 1


def test_frames_of_other_sessions_are_not_served(sid: str, feed: Feed) -> None:
    feed.newest = Frame(4, b"\x00" * 96)
    for address in (f"/hv/frame/{new_session_id()}/j", f"/hv/frame/{sid}/other?after=3"):
        answer = ask(address)
        assert (answer.status, answer.body) == (204, b"")
        assert answer.headers["x-state"] == "gone"
    for after in ("-1", "x", "1e3", "", "9" * 40, "٣"):
        assert ask(f"/hv/frame/{sid}/j?after={quote(after)}").status in (400, 404)


ROWS = (
    "",
    "a",
    "-1",
    "1,,2",
    "1.5",
    "1;2",
    "99999999999999999999",
    "0," * 500 + "0",
    "٣",
    "1 ",
)


@pytest.mark.parametrize("rows", ROWS)
def test_invalid_rows_in_requests_are_refused(sid: str, rows: str) -> None:
    assert ask(f"/hv/items/{sid}?rows={quote(rows)}").status in (400, 404)
    assert ask(f"/hv/thumbnails/{sid}?rows={quote(rows)}").status in (400, 404)
    assert ask(f"/hv/item/{sid}/{quote(rows, safe='')}").status in (400, 404)


def test_rows_of_earlier_data_get_empty_response(sid: str) -> None:
    for path in ("items/{}?rows=0,12", "thumbnails/{}?rows=12", "item/{}/12"):
        answer = ask(f"/hv/{path.format(sid)}")
        assert (answer.status, answer.body) == (204, b"")


@pytest.mark.parametrize("size", ["0", "1", "1000", "-5", "x", "48.0", ""])
def test_sizes_out_of_range_are_refused(sid: str, size: str) -> None:
    assert ask(f"/hv/thumbnails/{sid}?rows=0&size={size}").status in (400, 404)


@pytest.mark.parametrize("body", [b"x", b"\xff\xff\xff\xff", b"\x00" * 5, b"\x0c\x00\x00\x00"])
def test_invalid_bodies_are_refused(sid: str, body: bytes) -> None:
    assert ask(f"/hv/links/{sid}", method="POST", body=body).status == 400


def test_too_long_bodies_are_not_read(sid: str) -> None:
    assert ask(f"/hv/links/{sid}", method="POST", body=bytes(4 * 13)).status == 413
    assert ask(f"/hv/links/{sid}").status == 405


def test_other_sessions_are_not_served() -> None:
    empty = new_session_id()
    SESSIONS.get(empty)
    for session in (new_session_id(), empty, "..", "%00", "x" * 5000):
        for path in ("items/{}?rows=0", "item/{}/0", "search/{}?q=a", "thumbnails/{}?rows=0"):
            assert ask(f"/hv/{path.format(session)}").status == 404
        assert ask(f"/hv/links/{session}", method="POST").status == 404


def test_spec_keys_have_arrays(sid: str, spec: dict[str, Any]) -> None:
    keys = [*spec["geometry"]["pieces"], spec["colour"]["key"], spec["order"]]
    assert {ask(f"/hv/array/{sid}/{key}").status for key in keys} == {200}
