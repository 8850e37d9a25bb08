"""Figures for print: text, size and reproducible bytes."""

from __future__ import annotations

import json
import re
import zlib
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import hetviz
from hetviz.data import Dataset, Embedding, HeteroData, Labels, Links
from hetviz.errors import ParameterError
from hetviz.exports.figures import SIZES, bars_bytes, map_bytes
from hetviz.exports.interactive import interactive_map
from hetviz.plots.colour import BY_DATASET, colouring
from hetviz.plots.figure_choices import FIGURE_FORMATS
from hetviz.plots.palette import pale, tokens
from hetviz.plots.paper import (
    SERIF,
    Page,
    blank_figure,
    figure_bytes,
    font,
    has_all_letters,
    put_text,
    text_size,
)
from hetviz.plots.paper_charts import paper_bars, paper_curve
from hetviz.plots.paper_map import paper_map
from hetviz.plots.planar import proposed_text


def small() -> tuple[HeteroData, Embedding]:
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(60, 2)) * 0.3 + np.repeat([[0, 0], [3, 0], [0, 3]], 20, axis=0)
    kinds = np.repeat(["meadow", "harbour", "$x$ & <b>"], 20)
    plants = Dataset("plants", [f"p{k}" for k in range(60)], Z)
    places = Dataset("places", ["north", "south", "東京"])
    links = Links("plants", "places", np.arange(60), np.repeat([0, 1, 2], 20))
    data = HeteroData([plants, places], [links], labels=[Labels("plants", "ground", kinds)])
    where = {"plants": Z, "places": [[0.1, 0.1], [3, 0.2], [np.nan, np.nan]]}
    ids = {name: part.ids for name, part in data.datasets.items()}
    return data, Embedding(where, ids)


def texts_of_pdf(content: bytes) -> str:
    """Return the text of a PDF."""
    streams = []
    for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.S):
        try:
            streams.append(zlib.decompress(part))
        except zlib.error:
            continue
    text_streams = b" ".join(stream for stream in streams if b"Tj" in stream or b"TJ" in stream)
    letters = re.findall(rb"\(((?:[^()\\]|\\.)*)\)", text_streams)
    # Letters have codes of two bytes, and are placed one by one.
    return b"".join(letters).decode("latin-1").replace("\0", "")


def test_pdf_keeps_text_and_embeds_font() -> None:
    data, embedding = small()
    content = figure_bytes(paper_map(data, embedding, colouring(data)).figure, "pdf")
    assert content.startswith(b"%PDF")
    text = texts_of_pdf(content)
    for word in ("Meadow", "Harbour", "plants", "places"):
        assert word in text
    assert "$x$" in text
    assert b"/FontFile2" in content
    assert b"CreationDate" not in content


@pytest.mark.parametrize("form", ["pdf", "svg", "png"])
def test_figure_metadata_holds_title(form: str) -> None:
    data, embedding = small()
    writers = [
        lambda name: map_bytes(data, embedding, form=form, name=name),
        lambda name: bars_bytes(
            ["one", "two"], [0.5, 0.7], [0.1, 0.1], "AUC", form=form, name=name
        ),
    ]
    for write_figure in writers:
        with_title, without_title = write_figure("Who played where"), write_figure("")
        if form == "png":
            assert Image.open(BytesIO(with_title)).info["Title"] == "Who played where"
            assert "Title" not in Image.open(BytesIO(without_title)).info
        else:
            mark = b"/Title (Who played where)" if form == "pdf" else b"<dc:title>Who played where"
            assert mark in with_title
            assert b"Who played where" not in without_title


def test_legend_scale_shows_whole_years() -> None:
    years = [str(1974 + k) for k in range(24)]
    people = Dataset(
        "people", [f"p{k}" for k in range(24)], table=pd.DataFrame({"born": map(int, years)})
    )
    data = HeteroData([people])
    places = Embedding({"people": np.eye(24)[:, :2]}, {"people": people.ids})
    by_year = colouring(data, json.dumps(["people", "born"]))
    content = figure_bytes(paper_map(data, places, by_year).figure, "svg").decode()
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", content)
    assert "Born, 1974 to 1997" in texts


def test_svg_keeps_text_and_embeds_letters() -> None:
    data, embedding = small()
    content = figure_bytes(paper_map(data, embedding, colouring(data)).figure, "svg").decode()
    assert ">Meadow</text>" in content
    assert "&lt;b&gt;" in content
    assert content.count("@font-face") == 2
    assert "http:" not in re.sub(
        r'xmlns(:\w+)?="[^"]*"|<!DOCTYPE[^>]*>|"http://purl[^"]*"', "", content
    )


@pytest.mark.parametrize("form", FIGURE_FORMATS)
def test_figure_bytes_are_reproducible(form: str) -> None:
    data, embedding = small()
    first, second = (
        figure_bytes(paper_map(data, embedding, colouring(data)).figure, form) for _ in range(2)
    )
    assert first == second


def test_paper_map_has_requested_size() -> None:
    data, embedding = small()
    picture = paper_map(data, embedding, colouring(data), width=174, height=98)
    image = Image.open(BytesIO(figure_bytes(picture.figure, "png", dpi=100)))
    wanted = np.array([174, 98]) / 25.4 * 100
    assert np.abs(np.array(image.size) - wanted).max() <= 1


def test_slide_has_large_text_and_its_legend_where_the_map_gets_larger() -> None:
    data, embedding = small()
    size = {name: SIZES["slide"][name] for name in ("width", "height", "font_size")}
    W, H = Page(size["width"], size["height"]).points
    for shape, is_beside in (((1.0, 1.0), True), ((4.0, 1.0), False)):
        places = {name: Y * shape for name, Y in embedding.coordinates.items()}
        m = Embedding(places, embedding.ids)
        (axes,) = paper_map(data, m, colouring(data), names="none", **size).figure.axes
        # At least 3.5 % of the height of the slide.
        assert min(text.get_fontsize() for text in axes.texts) >= 0.035 * H
        parts = [np.array(part.get_offsets()) for part in axes.collections]
        dots = np.vstack([part for part in parts if len(part) > 1])
        starts = np.array([text.get_position() for text in axes.texts])
        ends = starts[:, 0] + [text_size(text.get_text(), 15.0) for text in axes.texts]
        assert ((dots > 0) & (dots < [W, H])).all()
        assert ((starts > 0) & (starts < [W, H])).all()
        assert ends.max() < W
        assert bool(ends.max() < dots[:, 0].min()) is is_beside
        assert bool(starts[:, 1].max() < dots[:, 1].min()) is not is_beside


def test_caption_lists_missing_items() -> None:
    data, embedding = small()
    words = paper_map(data, embedding, colouring(data), title="Guided projection").caption
    assert words.startswith("Joint map of 60 plants and 3 places by Guided projection.")
    assert "Colour: Ground of plants." in words
    assert "1 item is not placed." in words
    alone = paper_map(data, embedding, colouring(data, BY_DATASET), hidden=["places"]).caption
    assert alone.startswith("Joint map of 60 plants.")


def proposed_links(probability: float | None, kind: str = "similar words") -> Links:
    meta = None if probability is None else pd.DataFrame({"probability": [probability] * 8})
    return Links("plants", "places", range(8), [0, 1] * 4, np.full(8, 0.7), kind=kind, meta=meta)


@pytest.mark.parametrize(
    ("links", "text"),
    [
        ([], ""),
        ([proposed_links(None)], "Made from 8 links proposed by words, not judged yet"),
        ([proposed_links(0.7)], "Made from 8 links proposed by words, about 70 % right"),
        (
            [proposed_links(0.7), proposed_links(0.9, "near places")],
            "Made from 16 links proposed by words and place, about 80 % right",
        ),
        (
            [proposed_links(0.7), proposed_links(None, "near dates")],
            "Made from 16 links proposed by words and date, not judged yet",
        ),
        (
            [proposed_links(0.7), proposed_links(None, "same name")],
            "Made in part from 8 links proposed by words, about 70 % right",
        ),
        (
            [proposed_links(0.7), proposed_links(None, "said")],
            "Made from 8 links proposed by words, about 70 % right",
        ),
    ],
)
def test_figures_say_that_links_were_proposed(links: list[Links], text: str) -> None:
    data, embedding = small()
    data = HeteroData(data.datasets, links, labels=data.labels)
    assert proposed_text(data) == text
    sentence = f" {text}." if text else ""
    map_drawing = paper_map(data, embedding, colouring(data), names="none")
    assert f"Joint map of 60 plants and 3 places.{sentence} Shape" in map_drawing.caption
    svg = figure_bytes(map_drawing.figure, "svg").decode()
    assert ("proposed by" in re.sub("<[^>]*>", "", svg)) is bool(text)
    page = interactive_map(data, embedding, colouring(data), subtitle="Neighbour map")
    assert f"<p>{text}{'. ' if text else ''}Neighbour map." in page


def test_names_with_missing_letters_are_not_drawn() -> None:
    assert has_all_letters("Zürich – ćžł")
    assert not has_all_letters("東京")
    data, embedding = small()
    content = figure_bytes(
        paper_map(data, embedding, colouring(data), names="groups and items").figure, "svg"
    ).decode()
    assert ">north</text>" in content
    assert "東京" not in content


def test_text_size_uses_font_metrics() -> None:
    assert text_size("iiii", 10) < text_size("WWWW", 10)
    assert text_size("abc", 20) == pytest.approx(2 * text_size("abc", 10))
    assert text_size("abc", 10) != text_size("abc", 10, SERIF)


@pytest.mark.parametrize("sort", ["links", "apart", "comparisons"])
def test_paper_curve_and_bars_hold_labels(sort: str) -> None:
    x = np.linspace(0, 1, 30)
    figure = paper_curve({"given": (x, x**0.3), "held_out": (x, x**0.5)}, sort, width=174)
    assert "held out" in figure_bytes(figure, "svg").decode()
    bars = paper_bars(["one", "two"], [0.2, 0.6], [0.1, np.nan], label="Links close", chance=0.05)
    svg = figure_bytes(bars, "svg").decode()
    assert svg.index(">two</text>") < svg.index(">one</text>")


def test_figure_rejects_bad_settings() -> None:
    data, embedding = small()
    with pytest.raises(ParameterError, match="width = 2 mm"):
        paper_map(data, embedding, colouring(data), width=2)
    figure = paper_map(data, embedding, colouring(data)).figure
    with pytest.raises(ParameterError, match="form = 'gif'"):
        figure_bytes(figure, "gif")
    with pytest.raises(ParameterError, match="dpi = 9"):
        figure_bytes(figure, "png", 9)
    large = paper_map(data, embedding, colouring(data), width=1000, height=1000).figure
    with pytest.raises(ParameterError, match="too many for one picture"):
        figure_bytes(large, "png", 1200)


def test_paper_map_draws_a_sample() -> None:
    data = hetviz.load("digits")
    embedding = hetviz.embed(data, "pca")
    assert paper_map(data, embedding, colouring(data)).caption.startswith("Joint map of")


def test_fallback_font_is_used_for_missing_letters() -> None:
    figure, axes = blank_figure(Page(40.0, 20.0))
    for y, text in enumerate(("Žluťoučký кот", "קפה")):
        put_text(axes, 2, 10 + 20 * y, text, 9, "black")
    assert has_all_letters("קפה")
    svg = figure_bytes(figure, "svg").decode()
    for family in ("Hetviz Sans", "DejaVu Sans"):
        assert f"@font-face{{font-family:'{family}'" in svg
    assert text_size("mm", 10) > text_size("ii", 10)
    assert font(9, text="Žluťoučký").get_family() == ["Hetviz Sans"]
    assert font(9, text="קפה").get_family() == ["DejaVu Sans"]


def test_paper_map_draws_borrowed_colours_paler() -> None:
    table = pd.DataFrame({"group": ["north", "south"] * 6})
    a = Dataset("a", [f"a{k}" for k in range(12)], table=table)
    b = Dataset("b", [f"b{k}" for k in range(12)])
    data = HeteroData([a, b], [Links("a", "b", range(12), range(12))])
    rng = np.random.default_rng(0)
    embedding = Embedding({name: rng.normal(size=(12, 2)) for name in ("a", "b")})
    colours = colouring(data, json.dumps(["a", "group"]))
    drawing = paper_map(data, embedding, colours)
    svg = figure_bytes(drawing.figure, "svg").decode()
    blue = tokens("light").categories[0]
    assert blue in svg and pale(blue, "light") in svg
    assert "paler: colour of what they link to" in svg
    assert "Paler: b take the colour of what they link to." in drawing.caption
    alone = paper_map(data, embedding, colours, hidden=("b",))
    svg = figure_bytes(alone.figure, "svg").decode()
    assert blue in svg and pale(blue, "light") not in svg and "paler" not in svg
