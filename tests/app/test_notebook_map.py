"""Tests of the notebook widget without a browser."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbconvert import HTMLExporter

import hetviz
from hetviz import Dataset, Embedding, HeteroData, Links
from hetviz.errors import DataError, MissingExtraError, ParameterError
from hetviz.ui.map_data import selection_codec
from hetviz.ui.notebook import display, still
from hetviz.ui.notebook.widget import MapWidget

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def data() -> HeteroData:
    rng = np.random.default_rng(0)
    dishes = pd.DataFrame(
        {"heat": rng.normal(size=20), "salt": rng.normal(size=20)},
        index=pd.Index([*range(100, 120)], name="dish"),
    )
    wines = pd.DataFrame(rng.normal(size=(15, 3)), columns=list("abc"))
    wines.index = pd.Index([f"w{k}" for k in range(15)])
    pairs = pd.DataFrame(
        {"dish": [100 + k for k in range(15)], "wine": [f"w{k}" for k in range(15)]}
    )
    return HeteroData.from_frames({"dishes": dishes, "wines": wines}, links=pairs)


@pytest.fixture
def widget(data: HeteroData) -> MapWidget:
    return hetviz.embed(data, "mr-sne").widget()


def asked(widget: MapWidget, path: str, body: bytes = b"") -> tuple[int, str, bytes]:
    """Ask as the browser does; return status, media type and content."""
    sent: list[tuple[Any, Any]] = []
    widget.send = lambda content, buffers=None: sent.append((content, buffers))
    widget._on_message(widget, {"request": "1", "path": path}, [body] if body else [])
    ((content, buffers),) = sent
    assert content["response"] == "1"
    return content["status"], content.get("media_type", ""), buffers[0] if buffers else b""


def picked(widget: MapWidget, rows: list[int], fingerprint: str | None = None) -> dict[str, Any]:
    packed = selection_codec.pack_rows(rows, widget.data.n_rows).tobytes()
    return {
        "packed": base64.b64encode(packed).decode(),
        "count": len(rows),
        "version": widget._version + 1,
        "fingerprint": fingerprint or widget.data.fingerprint(),
    }


def test_selection_is_synchronised_by_id(widget: MapWidget) -> None:
    told: list[Any] = []
    widget.observe(lambda change: told.append(change["new"]), "selection")
    widget._selection = picked(widget, [0, 3, 22])
    assert widget.selection == {"dishes": [100, 103], "wines": ["w2"]}
    assert told == [widget.selection]
    assert widget.selected()["id"].tolist() == [100, 103, "w2"]
    before = widget._spec["selection"]["version"]
    widget.selection = {"wines": ["w14"]}
    assert widget._spec["selection"] == {
        "key": widget._spec["selection"]["key"],
        "count": 1,
        "version": before + 2,
    }
    bits = asked(widget, f"hv/array/{widget._session}/{widget._spec['selection']['key']}")[2]
    assert np.flatnonzero(np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")) == [34]
    widget.selection = widget.selected().assign(id=["w3"])
    assert widget.selection == {"wines": ["w3"]}


def test_selection_of_unknown_items_is_refused(widget: MapWidget) -> None:
    with pytest.raises(DataError, match="'w99'"):
        widget.selection = {"wines": ["w99"]}
    with pytest.raises(DataError, match="items are given as"):
        widget.selection = ["w1"]
    with pytest.raises(DataError, match="dataset and id"):
        widget.selection = pd.DataFrame({"wine": ["w1"]})
    assert widget.selection == {}


def test_selection_on_other_data_is_ignored_and_answered(widget: MapWidget) -> None:
    widget.selection = {"wines": ["w1"]}
    version = widget._spec["selection"]["version"]
    widget._selection = picked(widget, [0], fingerprint="another")
    assert widget.selection == {"wines": ["w1"]}
    assert widget._spec["selection"]["version"] > version


def test_all_component_requests_are_answered(widget: MapWidget) -> None:
    spec, sid = widget._spec, widget._session
    json.dumps(spec, allow_nan=False)
    for key in [*spec["geometry"]["pieces"], spec["order"], spec["colour"]["key"]]:
        status, kind, content = asked(widget, f"hv/array/{sid}/{key}")
        assert (status, kind) == (200, "application/octet-stream")
        assert len(content) > 0
    items = json.loads(asked(widget, f"hv/items/{sid}?rows=0,34")[2])
    assert [item["title"] for item in items] == ["100", "w14"]
    card = json.loads(asked(widget, f"hv/item/{sid}/1")[2])
    assert card["title"] == "101"
    assert card["links"] == 1
    found = json.loads(asked(widget, f"hv/search/{sid}?q=107")[2])
    assert [one["row"] for one in found["groups"][0]["options"]] == [7] and not found["pending"]
    matches = asked(widget, f"hv/matches/{sid}?q=107&group=names")[2]
    assert np.frombuffer(matches, "<i4").tolist() == [7]
    links = json.loads(asked(widget, f"hv/links/{sid}", np.int32([0]).tobytes())[2])
    assert links["total"] == 1
    assert asked(widget, f"hv/trust/{sid}")[0] == 200
    assert asked(widget, f"hv/regions/{sid}?of={spec['geometry']['id']}")[0] == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("hv/items/{sid}?rows=35", 204),
        ("hv/items/{sid}?rows=x", 400),
        ("hv/items/another?rows=0", 404),
        ("hv/array/{sid}/nothing", 404),
        ("hv/secrets/{sid}", 404),
        ("../etc/passwd", 404),
        ("", 404),
    ],
)
def test_unknown_request_is_refused(widget: MapWidget, path: str, status: int) -> None:
    assert asked(widget, path.format(sid=widget._session))[0] == status


def test_pictures_are_complete(widget: MapWidget, emoji: HeteroData) -> None:
    held = hetviz.embed(emoji, "joint-spectral").widget()
    card = json.loads(asked(held, f"hv/item/{held._session}/0")[2])
    assert card["picture"].startswith("data:image/webp;base64,")
    status, kind, strip = asked(held, f"hv/thumbnails/{held._session}?rows=0,1&size=48&v=1")
    assert (status, kind.partition("/")[0]) == (200, "image")
    assert len(strip) > 100


# The items have nothing in common, so a warning says that no others follow.
@pytest.mark.filterwarnings("ignore:.*only they move:hetviz.errors.DataWarning")
def test_statement_moves_map_and_is_taken_back(widget: MapWidget) -> None:
    first, places = widget.embedding, widget._spec["geometry"]["id"]
    n_links = sum(map(len, widget.data.links))
    did = widget.say(together={"dishes": [100, 101, 102]})
    assert did.n_said == 3
    assert did.apart_after < did.apart_before
    assert sum(map(len, widget.data.links)) == n_links + 3
    assert widget._spec["geometry"]["id"] != places
    widget.say(apart=({"dishes": [105]}, {"wines": ["w5", "w6"]}), weight=0.5)
    said = [w for links in widget.data.links for w in links.weight.tolist() if w < 0]
    assert said == [-0.5, -0.5]
    widget.take_back()
    widget.take_back()
    assert widget.embedding is first
    assert widget._spec["geometry"]["id"] == places
    with pytest.raises(ParameterError, match="there is no guidance to take back"):
        widget.take_back()


def test_selection_can_be_pulled_together(widget: MapWidget) -> None:
    widget.selection = {"dishes": [100], "wines": ["w9", "w10"]}
    assert widget.say(together=True).n_said == 3


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, "items are needed for together"),
        ({"apart": {"dishes": [100]}}, "two groups"),
        ({"together": {"dishes": [100, 101]}, "weight": 0.0}, "weight = 0.0"),
        ({"together": ({}, {}, {})}, "not 3"),
    ],
)
def test_incomplete_statement_is_refused(widget: MapWidget, said: dict[str, Any], why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        widget.say(**said)


def test_colour_is_chosen_by_title(widget: MapWidget) -> None:
    widget.colour = "heat of dishes" if "heat of dishes" in widget.colours else widget.colours[0]
    title = widget._spec["colour"]["title"]
    assert title in widget.colours
    option = widget._spec["colours"][-1]
    widget._on_message(widget, {"trigger": "colour", "value": option["key"]}, [])
    assert widget._spec["colour"]["title"] == option["title"]
    with pytest.raises(ParameterError, match="hotness"):
        widget.colour = "hotness"
    widget._on_message(widget, {"trigger": "colour", "value": "no such"}, [])
    assert widget._spec["colour"]["title"] == option["title"]


def test_embedding_displays_widget_and_picture(data: HeteroData) -> None:
    made = hetviz.embed(data, "pca")
    bundle = made._repr_mimebundle_()
    view = bundle["application/vnd.jupyter.widget-view+json"]
    assert view["model_id"] == made.widget().model_id
    assert made.widget(height=300) is not made.widget()
    drawing = ElementTree.fromstring(bundle["image/svg+xml"])
    moves = "".join(path.get("d", "") for path in drawing.iter("{http://www.w3.org/2000/svg}path"))
    # Items beyond the 0.6 and 99.4 % quantiles are not drawn.
    assert 25 <= moves.count("M") <= data.n_rows
    assert bundle["text/plain"] == repr(made)


def test_names_in_picture_are_escaped() -> None:
    name = "<script>alert(1)</script>"
    data = HeteroData(
        [Dataset(name, ["a", "b"]), Dataset("o", ["c"])], [Links(name, "o", [0], [0])]
    )
    places = Embedding({name: [[0.0, 0.0], [1.0, 0.0]], "o": [[1.0, 1.0]]})
    text = still.still_svg(data, places)
    assert "<script" not in text
    assert "&lt;script" in text


def test_map_without_data_is_displayed_as_picture() -> None:
    places = Embedding({"a": [[0.0, 0.0], [1.0, 2.0]]})
    assert set(places._repr_mimebundle_()) == {"text/plain", "image/svg+xml"}
    with pytest.raises(DataError, match=r"embedding\.widget\(data\)"):
        places.widget()
    shown_one = places.widget(HeteroData([Dataset("a", ["0", "1"])]))
    with pytest.raises(ParameterError, match="is unknown"):
        shown_one.say(together={"a": ["0", "1"]})
    with pytest.raises(DataError, match="no item in common"):
        places.widget(HeteroData([Dataset("b", ["0"])]))


def test_missing_anywidget_shows_picture_and_hint(
    data: HeteroData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display, "find_spec", lambda name: None)
    made = hetviz.embed(data, "pca")
    assert set(made._repr_mimebundle_()) == {"text/plain", "image/svg+xml"}
    with pytest.raises(MissingExtraError, match=r"hetviz\[notebook\]"):
        made.widget()


def test_widget_uses_component_of_app() -> None:
    ui = ROOT / "hetviz" / "ui" / "map" / "component" / "assets"
    files = [*ui.glob("*.js"), *(ROOT / "hetviz" / "plots" / "points").glob("*.js")]
    text = MapWidget._esm
    held = json.loads(text.split("const MODULES = ", 1)[1].split(";\n", 1)[0])
    assert held == {path.name: path.read_text(encoding="utf-8") for path in files}
    assert "</" not in text.split(";\n// The map in a notebook", 1)[0]


def test_copy_has_no_widget(data: HeteroData) -> None:
    import copy

    made = hetviz.embed(data, "pca")
    assert made.made.run.method == "pca"
    assert copy.deepcopy(made).made is None
    assert made.planar().made is None or made.planar() is made


def test_data_and_results_display_as_tables(data: HeteroData) -> None:
    embedding = hetviz.embed(data, "pca")
    compared = hetviz.compare(data, ["pca", "guided-projection"], seeds=1)
    shown_ones = {
        "dishes – wines": data,
        "101": data["dishes"],
        "link_auc": hetviz.evaluate(data, embedding),
        "guided-projection": compared,
        "clusters": hetviz.clusters(data, embedding, n_clusters=2),
        "Principal components (pca)": next(one for one in hetviz.methods() if one.key == "pca"),
    }
    for words, one in shown_ones.items():
        text = one._repr_html_()
        assert words in text, words
        ElementTree.fromstring(f"<div>{text}</div>")


def test_tables_escape_user_text() -> None:
    data = HeteroData([Dataset("<b>x</b>", ["<script>alert(1)</script>", "b"])])
    assert "<script" not in data["<b>x</b>"]._repr_html_()
    assert "<b>" not in data._repr_html_()


def test_widget_leaves_a_picture_where_widgets_are_missing(widget: MapWidget) -> None:
    bundle, _ = widget._repr_mimebundle_()
    ElementTree.fromstring(bundle["image/svg+xml"])
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == repr(widget.embedding)
    cell = nbformat.v4.new_code_cell("m.widget()")
    cell.outputs = [nbformat.v4.new_output("display_data", data=bundle)]
    page, _ = HTMLExporter(template_name="basic").from_notebook_node(
        nbformat.v4.new_notebook(cells=[cell])
    )
    assert "data:image/svg+xml;base64," in page
