"""Colours, label placement, curves and static maps."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Dataset, Embedding, HeteroData, Labels, Links
from hetviz.features.linked_values import NO_VALUE
from hetviz.plots import colour_options, colouring, still_map
from hetviz.plots.colour import (
    OTHER,
    Colouring,
    display_name,
    find_option,
    map_alt,
    share_options,
)
from hetviz.plots.curve import curve_alt, curve_figure, share_close_at
from hetviz.plots.label_placement import Frame, name_places, name_size
from hetviz.plots.palette import Theme, category_colours, mix, pale, text_colour, tokens
from hetviz.plots.planar import points_to_draw, unconnected_note
from hetviz.plots.still import recolour_still


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
def test_category_colours_have_enough_contrast(theme: str) -> None:
    token = tokens(theme)  # type: ignore[arg-type]
    assert len(set(token.categories)) == 12
    for colour in token.categories:
        assert contrast(colour, token.bg) >= 2.9
        assert contrast(text_colour(colour, theme), token.bg) >= 4.5  # type: ignore[arg-type]
    for text in (token.ink, token.mute, token.accent, token.bad):
        assert contrast(text, token.bg) >= 4.5
    assert contrast(token.on_accent, token.accent) >= 4.5


# Linear RGB as colour-blind readers see it (Machado et al. 2009, severity 1).
COLOUR_BLIND = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def oklab(linear: np.ndarray) -> np.ndarray:
    """Return OKLab coordinates of linear RGB."""
    cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    axes = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    lab: np.ndarray = np.cbrt(linear @ np.transpose(cones)) @ np.transpose(axes)
    return lab


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_category_colours_are_apart_also_for_colour_blind_readers(theme: Theme) -> None:
    hexes = tokens(theme).categories
    srgb = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in hexes])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    pairs = np.triu_indices(len(hexes), 1)

    def least_distance(seen: np.ndarray) -> float:
        lab = oklab(seen)
        return float(np.linalg.norm(lab[pairs[0]] - lab[pairs[1]], axis=1).min())

    assert least_distance(linear) >= 0.15
    for kind, matrix in COLOUR_BLIND.items():
        assert least_distance(np.clip(linear @ np.transpose(matrix), 0, 1)) >= 0.10, kind


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("n", [2, 5, 12])
def test_ordered_colours_have_enough_contrast(theme: Theme, n: int) -> None:
    colours = category_colours(n, theme, ordered=True)
    assert len(set(colours)) == n
    for colour in colours:
        assert contrast(colour, tokens(theme).bg) >= 2.9
        assert contrast(text_colour(colour, theme), tokens(theme).bg) >= 4.5


def test_mix_interpolates_colours() -> None:
    assert mix("#000000", "#ffffff", 0.0) == "#000000"
    assert mix("#000000", "#ffffff", 1.0) == "#ffffff"
    assert mix("#002040", "#ffffff", 0.5) == "#80" + "90" + "a0"


def test_colour_options_start_with_labels_and_skip_unique_text() -> None:
    data, _ = example()
    options = colour_options(data)
    assert [(option.title, option.kind) for option in options] == [
        ("Group of animals", "categories"),
        ("Size of animals", "numbers"),
        ("dataset", "dataset"),
        # Four words for 60 animals are groups.
        ("most linked words", "categories"),
    ]


def test_colouring_pools_categories_beyond_twelve() -> None:
    data, _ = example(n=64, n_groups=16)
    colours = colouring(data)
    assert len(colours.categories) == 12
    assert colours.n_other == 4
    assert (colours.code[:64] == OTHER).sum() == 64 - 12 * 4


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["10", "9", "9", "2", "2", "2"], ("2", "9", "10")),
        (["18-25 years", "65-80 years", "65-80 years", "5-17 years"], None),
        (["b", "a", "b"], ("b", "a")),
        (pd.Categorical(["high", "low", "high"], ["low", "high"], ordered=True), ("low", "high")),
    ],
)
def test_colouring_orders_categories(values: Sequence[str], order: tuple[str, ...] | None) -> None:
    values = values if isinstance(values, pd.Categorical) else list(values) * 2
    table = pd.DataFrame({"kind": values})
    data = HeteroData([Dataset("a", [f"a{k}" for k in range(len(table))], table=table)])
    colours = colouring(data, json.dumps(["a", "kind"]))
    wanted = order or ("5-17 years", "18-25 years", "65-80 years")
    assert colours.categories == wanted
    assert [colours.categories[k] for k in colours.code] == [str(value) for value in table["kind"]]


def _coloured(values: object, orders: Mapping[str, Sequence[str]] | None = None) -> Colouring:
    table = pd.DataFrame({"kind": values})
    ids = [f"a{k}" for k in range(len(table))]
    recipe = {} if orders is None else {"orders": orders}
    return colouring(
        HeteroData([Dataset("a", ids, table=table, recipe=recipe)]), json.dumps(["a", "kind"])
    )


def _lightness(colour: str) -> float:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(
    ("values", "orders"),
    [
        (["high", "low", "medium", "low"], None),
        (["18-25", "65-80", "26-64", "18-25"], None),
        (pd.Categorical(["b", "a", "c"], ["c", "a", "b"], ordered=True), None),
        (["x", "y", "z"], {"kind": ["y", "z", "x"]}),
    ],
)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_ordered_categories_get_a_colour_ramp(
    values: Sequence[str], orders: Mapping[str, Sequence[str]] | None, theme: Theme
) -> None:
    series = pd.Series(values)
    colours = _coloured(pd.concat([series, series], ignore_index=True), orders)
    assert colours.ordered
    steps = [_lightness(colour) for colour in colours.colours(theme)]
    assert steps == sorted(steps)
    assert len(set(steps)) == 3


@pytest.mark.parametrize(
    "values",
    [
        ["4", "6", "8", "4"],
        ["cluster 1", "cluster 2", "cluster 3"],
        ["Jan", "Feb", "Mar"],
        pd.Categorical(["Mon", "Tue", "Sun"], ["Mon", "Tue", "Sun"], ordered=True),
        ["red", "green", "blue"],
    ],
)
def test_unordered_categories_get_distinct_colours(values: Sequence[str]) -> None:
    series = pd.Series(values)
    colours = _coloured(pd.concat([series, series], ignore_index=True))
    assert not colours.ordered
    assert colours.colours("light") == tokens("light").categories[: len(colours.categories)]


def test_colouring_borrows_values_over_links() -> None:
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


def test_colouring_does_not_fill_missing_values_of_the_column_itself() -> None:
    a = Dataset("a", list("uvwxyz"), table=pd.DataFrame({"g": [*"ppqqp", None]}))
    b = Dataset("b", ["1"])
    data = HeteroData([a, b], [Links("a", "b", range(6), [0] * 6)])
    colours = colouring(data, json.dumps(["a", "g"]))
    assert colours.code.tolist() == [0, 0, 1, 1, 0, NO_VALUE, 0]
    assert colours.own_code.tolist() == [0, 0, 1, 1, 0, NO_VALUE, NO_VALUE]
    assert colours.is_pale is not None
    assert colours.is_pale.tolist() == [False] * 6 + [True]
    assert [colours.borrows(row) for row in range(7)] == [False] * 6 + [True]
    assert [colours.value_text(row) for row in (0, 5, 6)] == ["P", "", "mostly P, by links"]


def test_colouring_by_most_linked_items_and_their_shares() -> None:
    airlines = Dataset("airlines", ["B6", "MQ"], table=pd.DataFrame({"name": ["JetBlue", "Envoy"]}))
    airlines = replace(airlines, recipe={"title": "name"})
    planes = Dataset("planes", list("uvwxy"))
    links = Links("planes", "airlines", [0, 0, 1, 2, 3], [0, 1, 0, 0, 1], [0.6, 0.2, 1, 1, 1])
    data = HeteroData([planes, airlines], [links])
    key = json.dumps(["airlines", "name"])
    colours = colouring(data, key)
    assert colours.option.title == "most linked airlines"
    assert colours.categories == ("JetBlue", "Envoy")
    assert colours.code.tolist() == [0, 0, 0, 1, NO_VALUE, 0, 1]
    assert colours.own_code.tolist() == colours.code.tolist()
    assert colours.borrowed == ("planes",)
    # The colour is about links, so no item is paler.
    assert colours.is_pale is None
    jetblue = share_options(data, colours)[0]
    assert jetblue.title == "JetBlue, share of linked airlines"
    share = colouring(data, jetblue.key)
    np.testing.assert_allclose(share.value, [0.75, 1, 1, 0, np.nan, 1, 0])
    assert share.is_pale is None
    assert share.value_text(0) == "0.75, mean of links"
    assert share.value_text(4) == ""
    assert colours.value_text(0) == "mostly JetBlue, by links"
    assert find_option(data, json.dumps(["airlines", "gone", "JetBlue"])) is None
    assert share_options(data, share) == [jetblue]


def test_colouring_by_dates_is_in_years() -> None:
    dates = pd.Series(pd.date_range("2013-01-01", periods=30, freq="ME"))
    dates[3] = pd.NaT
    data = HeteroData([Dataset("a", list(map(str, range(30))), table=pd.DataFrame({"due": dates}))])
    colours = colouring(data, json.dumps(["a", "due"]))
    assert colours.option.title == "Due (year)"
    np.testing.assert_allclose(colours.value[[0, 11, 12]], [2013.08, 2014, 2014.08], atol=0.01)
    assert np.isnan(colours.value[3])


def test_colouring_shares_values_between_views() -> None:
    table = pd.DataFrame({"g": list("pqpqpq")})
    one = Dataset("one", list("uvwxyz"), table=table, entity="thing")
    two = Dataset("two", list("zyx"), entity="thing")
    colours = colouring(HeteroData([one, two]), json.dumps(["one", "g"]))
    assert [colours.categories[k] for k in colours.code[6:]] == ["q", "p", "q"]


def test_colouring_unknown_key_uses_first_option() -> None:
    data, _ = example()
    assert colouring(data, '["gone", "x"]').option == colouring(data).option


def test_display_name_formats_slugs_only() -> None:
    assert display_name("smileys-emotion") == "Smileys emotion"
    assert display_name("n_emoji") == "Number of emoji"
    assert display_name("n") == "N"
    assert display_name("bc") == "bc"
    assert display_name("C4-H10") == "C4-H10"


def test_frame_of_degenerate_points_has_area() -> None:
    for points in (np.zeros((1, 2)), np.column_stack([np.arange(9.0), np.zeros(9)])):
        frame = Frame.around(points)
        assert (frame.high > frame.low).all()


@pytest.mark.parametrize("low", [0.02, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("gap", [0.0, 0.05, 0.3])
def test_curve_labels_do_not_overlap(low: float, gap: float) -> None:
    heights = {"given": min(low + gap, 1.0), "held_out": low}
    curves = {key: ([0.0, 0.05, 1.0], [0.0, y, 1.0]) for key, y in heights.items()}
    first, second = curve_figure(curves).layout.annotations[:2]
    assert abs(first.y - second.y) >= 0.15 or first.xanchor != second.xanchor
    assert all(0 <= note.y <= 0.88 or note.xanchor == "right" for note in (first, second))
    assert all(note.y <= 1.0 for note in (first, second))


def test_curve_labels_show_share_close() -> None:
    given_curve = ([0.0, 0.05, 1.0], [0.0, 0.78, 1.0])
    hidden_curve = ([0.0, 0.05, 1.0], [0.0, 0.47, 1.0])
    assert share_close_at(given_curve) == pytest.approx(0.78)
    figure = curve_figure({"given": given_curve, "held_out": hidden_curve}, "dark")
    texts = [note.text for note in figure.layout.annotations]
    assert texts == ["<b>78 %</b> given", "<b>47 %</b> hidden", "chance"]
    alt = curve_alt({"given": given_curve, "held_out": hidden_curve})
    assert "78 %" in alt
    assert "47 %" in alt


def test_still_map_uses_palette_colours() -> None:
    data, embedding = example()
    svg = ElementTree.fromstring(still_map(data, embedding, colouring(data), "dark"))
    colours = {path.get("stroke") for path in svg.iter("{http://www.w3.org/2000/svg}path")}
    own = {*tokens("dark").categories, tokens("dark").ghost}
    assert colours <= own | {pale(colour, "dark") for colour in own}
    assert len(colours) >= 3


def test_still_map_draws_borrowed_colours_paler() -> None:
    a = Dataset("a", list("uvwxyz"), table=pd.DataFrame({"g": [*"ppqqpq"]}))
    b = Dataset("b", [f"b{k}" for k in range(6)])
    data = HeteroData([a, b], [Links("a", "b", range(6), range(6))])
    places = Embedding({"a": np.eye(6)[:, :2], "b": np.eye(6)[:, 2:4]})
    colours = colouring(data, json.dumps(["a", "g"]))
    light, dark = (still_map(data, places, colours, theme) for theme in ("light", "dark"))
    for theme, svg in (("light", light), ("dark", dark)):
        first = tokens(theme).categories[0]
        drawn = set(re.findall("#[0-9a-f]{6}", svg))
        assert {first, mix(first, tokens(theme).bg, 0.55)} <= drawn
        assert len(drawn) == 4
    assert recolour_still(light, "dark") == dark


def test_still_map_recolours_ordered_categories() -> None:
    colours = _coloured(["low", "medium", "high"] * 4)
    places = Embedding({"a": np.random.default_rng(0).normal(size=(12, 2))})
    data = HeteroData([Dataset("a", [f"a{k}" for k in range(12)])])
    light, dark = (still_map(data, places, colours, theme) for theme in ("light", "dark"))
    assert recolour_still(light, "dark") == dark
    assert recolour_still(light, "light") == light


def test_chance_label_clears_its_line():
    x = np.geomspace(1e-4, 1.0, 121)
    for power in (0.97, 1.03):
        figure = curve_figure({"given": (x, x), "held_out": (x, x**power)})
        word = figure.layout.annotations[-1]
        # 13 px of 127, and 45 px of 218 for three powers of ten
        top, left = word.y + 0.13, 10 ** (word.x - 0.65)
        assert left**power > top - 0.02
        assert word.y >= 0


def test_name_places_clear_dots_on_small_maps():
    dots = np.array([[0.0, 0.0], [30.0, 10.0], [-150.0, 60.0], [100.0, -80.0]])
    size = name_size("Mammals", 16)
    place = name_places(dots[:2], dots, np.array([0, 0, 1, 1]), 0, size, 35)[0]
    distance = np.abs(dots - place)
    assert not (distance < 0.5 * np.array(size)).all(axis=1).any()


def test_name_places_centre_on_large_groups():
    rng = np.random.default_rng(0)
    crowd = rng.normal(size=(500, 2)) * 40
    size = name_size("Mammals", 16)
    code = np.zeros(500, dtype=np.int64)
    assert np.hypot(*name_places(crowd, crowd, code, 0, size, 35)[0]) < 40


def test_colouring_votes_over_three_links_and_breaks_ties():
    a = Dataset("a", list("uvwxyz"), table=pd.DataFrame({"g": list("pppqqp")}))
    chain = Dataset("b", ["1", "2", "3", "4", "5"])
    links = [
        Links("a", "b", [3], [0]),
        Links("b", "b", [0, 1, 2], [1, 2, 3]),
        Links("a", "b", [0, 4], [4, 4]),
    ]
    code = colouring(HeteroData([a, chain], links), json.dumps(["a", "g"])).code[6:]
    assert code.tolist() == [1, 1, 1, NO_VALUE, 0]


def test_colour_options_are_cached(monkeypatch: pytest.MonkeyPatch):
    data, _ = example()
    first = colour_options(data)
    first.clear()
    monkeypatch.setattr("hetviz.plots.colour._kind", None)
    assert len(colour_options(data)) == 4


def test_small_dataset_is_enlarged_with_a_note() -> None:
    _, embedding = example()
    points = {"animals": embedding.coordinates["animals"], "words": np.eye(4, 2) * 1e-3}
    form = points_to_draw(Embedding(points))
    assert len(form.notes) == 1
    assert "Words is drawn" in form.notes[0]
    assert np.ptp(form.points[60:], axis=0).min() > 0.1


def test_unconnected_note_names_datasets() -> None:
    places = {"a": np.zeros((2, 2)), "b": np.ones((1, 2))}
    apart = Embedding(places, components={"a": 0, "b": 1})
    (note,) = unconnected_note(apart)
    assert note.startswith("Nothing connects a and b here.")
    places |= {"c": np.zeros((2, 2)), "d": np.ones((3, 2))}
    apart = Embedding(places, components={"a": 0, "b": 1, "c": 0, "d": 0})
    assert unconnected_note(apart)[0].startswith("Nothing connects b with the other datasets here.")
    assert unconnected_note(apart, ["b"]) == []
    assert unconnected_note(Embedding(places)) == []


def test_map_alt_skips_hidden_datasets() -> None:
    data, _ = example()
    assert "words" not in map_alt(data, colouring(data), hidden=("words",))
    assert "4 words" in map_alt(data, colouring(data))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.arange(400) / 7, "numbers"),
        ([0, 0, 0, 0, 9, 48, 128, 760, 1447], "numbers"),
        ([1, 1, 2, 2, 2, 3, 3, 5], "categories"),
        (np.arange(400) % 5, "categories"),
        (pd.array([*range(398), None, None], dtype="Int64"), "numbers"),
        (np.full(400, 2.5), None),
        ([str(k) for k in range(400)], "numbers"),
        ([*map(str, range(399)), "none"], None),
        ([f"kind {k % 7}" for k in range(400)], "categories"),
        ([f"kind {k}" for k in range(400)], None),
        (np.arange(400) % 2 == 0, "categories"),
        ([None] * 400, None),
    ],
)
def test_colour_options_by_column_kind(values: object, kind: str | None) -> None:
    table = pd.DataFrame({"said": values})
    data = HeteroData([Dataset("a", [f"a{k}" for k in range(len(table))], table=table)])
    kinds = [option.kind for option in colour_options(data) if option.kind != "dataset"]
    assert kinds == ([] if kind is None else [kind])


def test_enlargement_keeps_outliers_in_reach() -> None:
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(200, 2))
    small = 1e-3 * rng.normal(size=(9, 2))
    ids = {"wide": [f"w{k}" for k in range(200)], "small": [f"s{k}" for k in range(9)]}
    drawn = points_to_draw(
        Embedding({"wide": wide, "small": small}, ids, {name: name for name in ids})
    )
    assert drawn.notes
    assert drawn.notes[0].startswith("Small is drawn 1,")
    # The browser takes the factor back, so that its distances are those of the map.
    assert drawn.enlarged[0] == (0.0, 0.0, 1.0)
    *centre, times = drawn.enlarged[1]
    np.testing.assert_allclose(centre + (drawn.points[200:] - centre) / times, small, atol=1e-9)
    # One of them lies elsewhere already: enlarged by the median it would lie a thousand times out.
    small[0] = [3.0, 0.0]
    drawn = points_to_draw(
        Embedding({"wide": wide, "small": small}, ids, {name: name for name in ids})
    )
    assert not drawn.notes
    assert not drawn.enlarged
    np.testing.assert_array_equal(drawn.points[200:], small)


def test_whole_numbers_are_categories_without_decimals() -> None:
    cells = [4.0, 6.0, np.nan, 4.0, 8.0, 6.0, 4.5, 4.0]
    data = HeteroData([Dataset("cars", list("abcdefgh"), table=pd.DataFrame({"cylinders": cells}))])
    colours = colouring(data, json.dumps(["cars", "cylinders"]))
    assert colours.categories == ("4", "4.5", "6", "8")
    assert [int((colours.code == k).sum()) for k in range(4)] == [3, 1, 2, 1]


def test_scale_of_whole_numbers_ends_in_whole_numbers() -> None:
    years = pd.DataFrame({"year": np.arange(1950, 1980)})
    links = [Links("races", "drivers", np.arange(30), np.arange(30) % 7)]
    data = HeteroData(
        [
            Dataset("races", [f"r{k}" for k in range(30)], table=years),
            Dataset("drivers", [f"d{k}" for k in range(7)]),
        ],
        links,
    )
    # Drivers take the mean year of their races.
    assert colouring(data, json.dumps(["races", "year"])).ends == (1951.0, 1978.0)


@pytest.mark.parametrize(
    ("values", "is_log"),
    [
        (np.geomspace(1e3, 1e9, 40), True),
        (np.linspace(1.0, 1e4, 40), False),  # Spread over the whole scale.
        (np.geomspace(1.0, 50.0, 40), False),
        (np.append(np.zeros(20), np.geomspace(1e3, 1e9, 20)), False),
    ],
    ids=["skewed", "even", "narrow", "with zeros"],
)
def test_skewed_numbers_have_a_logarithmic_scale(values: np.ndarray, is_log: bool) -> None:
    ids = [f"c{k}" for k in range(40)]
    data = HeteroData([Dataset("towns", ids, table=pd.DataFrame({"people": values}))])
    colours = colouring(data, json.dumps(["towns", "people"]))
    assert colours.is_log is is_log
    low, high = colours.ends
    expected = (values - low) / (high - low)
    if is_log:
        expected = np.log(values / low) / np.log(high / low)
        assert 0.4 < float(np.median(colours.shares)) < 0.6
    np.testing.assert_allclose(colours.shares, np.clip(expected, 0, 1), atol=1e-12)
