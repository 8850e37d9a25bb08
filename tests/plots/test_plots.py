"""Plots: colours, places of names, what goes into the figure and what never does."""

from __future__ import annotations

import json
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Dataset, Embedding, HeteroData, Labels, Links
from hetviz.plots import (
    colour_options,
    colouring,
    curve_alt,
    curve_figure,
    hide_rules,
    map_figure,
    still_map,
    tokens,
)
from hetviz.plots.colour import NO_VALUE, OTHER, spoken
from hetviz.plots.curve import kept_at
from hetviz.plots.label_placement import Board, Frame, place_names
from hetviz.plots.palette import mix, text_colour


def luminance(colour: str) -> float:
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def example(n: int = 60, n_groups: int = 3) -> tuple[HeteroData, Embedding]:
    rng = np.random.default_rng(0)
    groups = [f"group-{'abcdefghijklmnop'[k % n_groups]}" for k in range(n)]
    table = pd.DataFrame(
        {"name": [f"<b>${k}$ & co" for k in range(n)], "size": np.arange(n) / 2, "group": groups}
    )
    a = Dataset("animals", [f"a{k}" for k in range(n)], table=table, media=[b"x"] * n)
    b = Dataset("words", [f"w{k}" for k in range(4)])
    links = Links("animals", "words", np.arange(8), np.arange(8) % 3)
    data = HeteroData([a, b], [links], labels=[Labels("animals", "group", groups)])
    places = {"animals": rng.normal(size=(n, 2)), "words": rng.normal(size=(4, 2))}
    places["words"][2] = np.nan
    return data, Embedding(places)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_category_is_seen_on_its_background_and_readable_as_text(theme: str) -> None:
    token = tokens(theme)  # type: ignore[arg-type]
    assert len(set(token.categories)) == 8
    for colour in token.categories:
        assert contrast(colour, token.bg) >= 2.9
        assert contrast(text_colour(colour, theme), token.bg) >= 4.5  # type: ignore[arg-type]
    for text in (token.ink, token.mute, token.accent, token.bad):
        assert contrast(text, token.bg) >= 4.5
    assert contrast(token.on_accent, token.accent) >= 4.5


def test_mixing_colours() -> None:
    assert mix("#000000", "#ffffff", 0.0) == "#000000"
    assert mix("#000000", "#ffffff", 1.0) == "#ffffff"
    assert mix("#002040", "#ffffff", 0.5) == "#80" + "90" + "a0"


def test_labels_come_first_and_unique_text_is_not_offered() -> None:
    data, _ = example()
    options = colour_options(data)
    assert [(option.title, option.kind) for option in options] == [
        ("Group of animals", "categories"),
        ("Size of animals", "numbers"),
        ("dataset", "dataset"),
    ]


def test_more_than_eight_categories_leave_seven_and_other() -> None:
    data, _ = example(n=64, n_groups=16)
    colours = colouring(data)
    assert len(colours.categories) == 7
    assert colours.n_other == 9
    assert (colours.code[:64] == OTHER).sum() == 64 - 7 * 4


def test_other_datasets_take_the_value_of_most_of_their_links() -> None:
    a = Dataset("a", list("uvwxyz"), table=pd.DataFrame({"g": list("ppqqpq")}))
    b = Dataset("b", ["1", "2", "3"])
    links = [
        Links("a", "b", [0, 1, 2], [0, 0, 0]),
        Links("a", "b", [3, 0], [1, 1], [1.0, 0.2]),
        Links("a", "b", [1], [2], [-1.0]),
    ]
    colours = colouring(HeteroData([a, b], links), json.dumps(["a", "g"]))
    names = [colours.categories[k] if k >= 0 else None for k in colours.code[6:]]
    assert names == ["p", "q", None]
    assert colours.code[8] == NO_VALUE
    assert colours.borrowed == ("b",)


def test_views_of_one_object_share_its_value() -> None:
    table = pd.DataFrame({"g": list("pqpqpq")})
    one = Dataset("one", list("uvwxyz"), table=table, entity="thing")
    two = Dataset("two", list("zyx"), entity="thing")
    colours = colouring(HeteroData([one, two]), json.dumps(["one", "g"]))
    assert [colours.categories[k] for k in colours.code[6:]] == ["q", "p", "q"]


def test_an_unknown_colour_falls_back_to_the_first() -> None:
    data, _ = example()
    assert colouring(data, '["gone", "x"]').option == colouring(data).option


def test_slugs_are_spoken_and_other_text_is_left_alone() -> None:
    assert spoken("smileys-emotion") == "Smileys emotion"
    assert spoken("C4-H10") == "C4-H10"


def test_the_figure_holds_addresses_rows_and_escaped_text_only() -> None:
    data, embedding = example()
    drawn = map_figure(
        data, embedding, colouring(data), picture_of=lambda name, row: f"/picture/{name}/{row}"
    )
    animals, words = drawn.figure.data
    assert animals.x.dtype == np.float32
    assert animals.customdata.tolist() == list(range(60))
    assert words.customdata.tolist() == [60, 61, 63]
    assert animals.marker.symbol != words.marker.symbol
    assert all(image.source.startswith("/picture/animals/") for image in drawn.figure.layout.images)
    assert len(drawn.figure.layout.images) > 0
    assert animals.hovertext[0] == "<b>&lt;b&gt;&#36;0&#36; &amp; co</b><br>animals · Group a"
    assert drawn.unplaced == 1
    assert not drawn.figure.layout.xaxis.visible
    assert drawn.figure.layout.yaxis.scaleanchor == "x"


def test_the_number_of_items_outside_is_told() -> None:
    data, embedding = example(n=400)
    points = dict(embedding.coordinates)
    points["animals"] = points["animals"].copy()
    points["animals"][:2] = [[1e6, 0], [0, -1e6]]
    drawn = map_figure(data, Embedding(points), colouring(data))
    x, y = drawn.figure.data[0].x, drawn.figure.data[0].y
    low_x, high_x = drawn.figure.layout.xaxis.range
    low_y, high_y = drawn.figure.layout.yaxis.range
    inside = (x >= low_x) & (x <= high_x) & (y >= low_y) & (y <= high_y)
    assert high_x < 1e5
    assert drawn.outside >= (~inside).sum() >= 2


def test_hidden_datasets_are_not_drawn_or_counted() -> None:
    data, embedding = example()
    drawn = map_figure(data, embedding, colouring(data), hidden=("words",))
    assert len(drawn.figure.data) == 1
    assert drawn.unplaced == 0
    assert "words" not in drawn.alt


def test_selected_rows_are_drawn_as_selected() -> None:
    data, embedding = example()
    drawn = map_figure(data, embedding, colouring(data), selected=(3, 63))
    assert drawn.figure.data[0].selectedpoints == (3,)
    assert drawn.figure.data[1].selectedpoints == (2,)


def test_a_dataset_too_small_to_see_is_enlarged_and_that_is_told() -> None:
    data, embedding = example()
    points = {"animals": embedding.coordinates["animals"], "words": np.eye(4, 2) * 1e-3}
    drawn = map_figure(data, Embedding(points), colouring(data))
    assert len(drawn.notes) == 1
    assert "words is drawn" in drawn.notes[0]
    assert np.ptp(drawn.figure.data[1].x) > 0.1


def test_a_map_without_any_place_is_empty_and_not_an_error() -> None:
    data, _ = example()
    nowhere = Embedding({"animals": np.full((60, 2), np.nan), "words": np.full((4, 2), np.nan)})
    drawn = map_figure(data, nowhere, colouring(data))
    assert drawn.unplaced == 64


def test_names_never_overlap_and_keep_to_the_picture() -> None:
    rng = np.random.default_rng(1)
    board = Board(560, 440)
    groups = [(f"Group number {k}", rng.normal(size=(50, 2)) * 60) for k in range(12)]
    placed = place_names(board, groups, np.vstack([at for _, at in groups]), 16)
    assert len(placed) >= 8
    for a, b in combinations(board.boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    for left, bottom, right, top in board.boxes:
        assert -280 <= left < right <= 280
        assert -220 <= bottom < top <= 220


def test_the_frame_of_one_point_and_of_a_line_has_an_area() -> None:
    for points in (np.zeros((1, 2)), np.column_stack([np.arange(9.0), np.zeros(9)])):
        frame = Frame.around(points)
        assert (frame.high > frame.low).all()


@pytest.mark.parametrize("low", [0.02, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("gap", [0.0, 0.05, 0.3])
def test_labels_of_curves_keep_apart_and_on_the_plot(low: float, gap: float) -> None:
    heights = {"given": min(low + gap, 1.0), "held_out": low}
    curves = {key: ([0.0, 0.05, 1.0], [0.0, y, 1.0]) for key, y in heights.items()}
    first, second = curve_figure(curves).layout.annotations[:2]
    assert abs(first.y - second.y) >= 0.15 or first.xanchor != second.xanchor
    assert all(0 <= note.y <= 0.88 or note.xanchor == "right" for note in (first, second))
    assert all(note.y <= 1.0 for note in (first, second))


def test_the_curve_reads_off_the_share_it_names() -> None:
    given_curve = ([0.0, 0.05, 1.0], [0.0, 0.78, 1.0])
    held = ([0.0, 0.05, 1.0], [0.0, 0.47, 1.0])
    assert kept_at(given_curve) == pytest.approx(0.78)
    figure = curve_figure({"given": given_curve, "held_out": held}, "dark")
    texts = [note.text for note in figure.layout.annotations]
    assert texts == ["<b>78%</b> given", "<b>47%</b> held out", "chance"]
    alt = curve_alt({"given": given_curve, "held_out": held})
    assert "78%" in alt
    assert "47%" in alt


def test_a_still_map_is_plain_svg_in_the_palette() -> None:
    data, embedding = example()
    svg = ElementTree.fromstring(still_map(data, embedding, colouring(data), "dark"))
    colours = {path.get("stroke") for path in svg.iter("{http://www.w3.org/2000/svg}path")}
    assert colours <= {*tokens("dark").categories, tokens("dark").ghost}
    assert len(colours) >= 3


def test_what_a_small_window_has_no_room_for_is_hidden_there() -> None:
    data, embedding = example(n=400, n_groups=6)
    drawn = map_figure(data, embedding, colouring(data))
    texts = drawn.written.texts
    assert texts == sorted(texts)
    assert texts[-1] == len(drawn.figure.layout.annotations)
    assert 0 < texts[0] < texts[-1]
    rules = hide_rules(".here", drawn.written)
    assert (
        f"max-width:1279.9px),(max-height:799.9px){{.here :nth-child(n+{texts[0] + 1} of" in rules
    )
    assert "<" not in rules  # or Streamlit would drop the whole style


def test_datasets_that_nothing_joins_are_told_of():
    data = HeteroData([Dataset("a", ["x", "y"]), Dataset("b", ["z"])])
    places = {"a": np.zeros((2, 2)), "b": np.ones((1, 2))}
    apart = Embedding(places, components={"a": 0, "b": 1})
    (note,) = map_figure(data, apart, colouring(data)).notes
    assert "a and b" in note
    assert map_figure(data, apart, colouring(data), hidden=["b"]).notes == ()
    assert map_figure(data, Embedding(places), colouring(data)).notes == ()


def test_the_word_chance_touches_neither_its_line_nor_curves_near_it():
    x = np.geomspace(1e-4, 1.0, 121)
    for power in (0.97, 1.03):
        figure = curve_figure({"given": (x, x), "held_out": (x, x**power)})
        word = figure.layout.annotations[-1]
        # 13 px of 127, and 45 px of 218 for three powers of ten
        top, left = word.y + 0.13, 10 ** (word.x - 0.65)
        assert left**power > top - 0.02
        assert word.y >= 0


def test_a_name_covers_no_dot_of_a_small_map_where_there_is_room():
    board = Board(580, 400)
    dots = np.array([[0.0, 0.0], [30.0, 10.0], [-150.0, 60.0], [100.0, -80.0]])
    found = place_names(board, [("Mammals", dots[:2]), ("Birds", dots[2:])], dots, 16)
    assert set(found) == {"Mammals", "Birds"}
    for left, bottom, right, top in board.boxes:
        inside = (dots > [left, bottom]) & (dots < [right, top])
        assert not inside.all(axis=1).any()


def test_many_points_are_named_in_their_midst():
    rng = np.random.default_rng(0)
    crowd = rng.normal(size=(500, 2)) * 40
    found = place_names(Board(580, 400), [("Mammals", crowd)], crowd, 16)
    assert np.hypot(*found["Mammals"]) < 40


def test_votes_travel_over_three_links_and_ties_go_to_the_larger_group():
    a = Dataset("a", list("uvwxyz"), table=pd.DataFrame({"g": list("pppqqp")}))
    chain = Dataset("b", ["1", "2", "3", "4", "5"])
    links = [
        Links("a", "b", [3], [0]),
        Links("b", "b", [0, 1, 2], [1, 2, 3]),
        Links("a", "b", [0, 4], [4, 4]),
    ]
    code = colouring(HeteroData([a, chain], links), json.dumps(["a", "g"])).code[6:]
    assert code.tolist() == [1, 1, 1, NO_VALUE, 0]


def test_options_are_found_once_for_the_same_data(monkeypatch: pytest.MonkeyPatch):
    data, _ = example()
    first = colour_options(data)
    first.clear()
    monkeypatch.setattr("hetviz.plots.colour._kind", None)
    assert len(colour_options(data)) == 3
