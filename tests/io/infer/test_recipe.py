import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetviz
from hetviz.errors import DataError
from hetviz.features.columns import number_parsing
from hetviz.features.columns.number_parsing import is_unit, number_column, parse
from hetviz.io import Choices, read_new_version, read_tables
from hetviz.io.infer.raw_rows import RawTable
from hetviz.io.infer.recipe import TYPES, ColumnRecipe, TableRecipe
from hetviz.io.infer.rows import adapt_recipe, apply_recipe, propose_recipe
from hetviz.io.intake import child
from hetviz.io.intake.new_items import read_new_items
from hetviz.plots.colour import colour_options, colouring
from hetviz.ui.item import item_cards
from tests.io.file_builders import raw_tables, workbook

NUMBERS = st.floats(-1e9, 1e9).map(lambda x: round(x, 3))
WELLS = [
    ["Wells 2023", "", "", "", ""],
    ["as of 12 March", "", "", "", ""],
    [],
    ["", "", "Measured (mean)", "", ""],
    ["No.", "Name", "Nitrate", "pH", "Remark"],
    ["", "", "mg/l", "", ""],
    ["01", "Abbey", "<0,5", "7,1", "dry"],
    ["02", "Brook", "3,25", "n. d.", ""],
    ["03", "Croft", "1.089,5", "6,9", "dry"],
    ["04", "Dale", "12", "7,0", "new"],
    ["Sum", "", "1.105,25", "", ""],
    [],
    ["Source: own survey", "", "", "", ""],
]


def written(value, decimal, thousands, sign, unit):
    text = f"{abs(value):,.3f}".replace(",", "_").replace(".", decimal).replace("_", thousands)
    return ("-" if value < 0 else "") + sign * (value >= 0) + text + unit


@given(
    NUMBERS,
    st.sampled_from([(".", ","), (",", "."), (".", " "), (",", "\u202f"), (".", "'"), (".", "")]),
    st.sampled_from(["", "+"]),
    st.sampled_from(["", " %", "%", " kg", " mg/l", "€", " °C"]),
)
def test_parse_number_forms(value, signs, sign, unit):
    decimal, thousands = signs
    result = parse(written(value, decimal, thousands, sign, unit), decimal)
    assert result.value == pytest.approx(value, abs=1e-9)
    assert result.unit == unit.strip()
    assert result.limit == 0


@given(NUMBERS, st.sampled_from(["<", "> ", "<=", "≥ "]))
def test_limits_are_values_with_note(value, sign):
    result = parse(f"{sign}{abs(value):.3f}")
    assert result.value == pytest.approx(abs(value))
    assert result.limit == (-1 if "<" in sign else 1)


@given(st.text(max_size=12), st.sampled_from([".", ","]))
def test_parse_random_text_is_finite_or_none(text, decimal):
    result = parse(text, decimal)
    assert result is None or np.isfinite(result.value)


@given(
    st.from_regex(r"[+-]?[0-9]{1,20}([.,][0-9]{0,9})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(".,"),
)
def test_parse_reads_simple_numbers_as_other_forms(text, decimal):
    assert repr(parse(text, decimal)) == repr(number_parsing._parse_plain(text, decimal))


@pytest.mark.parametrize(
    ("text", "value"),
    [("$56.7M", 56.7e6), ("$537K", 537e3), ("-€1.2 Mrd.", -1.2e9), ("£3 million", 3e6), ("$5", 5)],
)
def test_amounts_are_read_in_full(text, value):
    assert parse(text).value == value


@pytest.mark.parametrize(
    ("cells", "values", "unit"),
    [
        (["900", "1.2K", "3M", "-"], [900, 1200, 3_000_000, None], ""),
        (["$537K", "$1.13M", "$2"], [537_000, 1_130_000, 2], "$"),
        # A single one may be a unit.
        (["280 K", "300 K"], [280, 300], "K"),
    ],
)
def test_powers_of_ten_behind_numbers_count(cells, values, unit):
    column = number_column(cells)
    assert (column.values, column.unit) == (values, unit)


@pytest.mark.parametrize("text", ["", "-", "n. b.", "k.A.", "e5", "1.5.2", "2020-01-01", "a1", "%"])
def test_parse_refuses_other_text(text):
    assert parse(text) is None


@pytest.mark.parametrize("unit", ["mg/l", "µS/cm", "°C", "T€", "m³", "kWh", "W/m²", "[mg/l]", "%"])
def test_units(unit):
    assert is_unit(unit)


@pytest.mark.parametrize("word", ["Name", "is", "Altdorf", "B01", "7", ""])
def test_words_are_not_units(word):
    assert not is_unit(word)


@pytest.mark.parametrize(
    "cells",
    [
        ["12a", "13b", "14", "15c"],
        ["007", "008", "12"],
        ["red", "1", "blue"],
        ["$1", "€2"],
        ["1980s", "1990s", ""],
        ["", ""],
    ],
)
def test_other_columns_are_not_numbers(cells):
    assert number_column(cells) is None


def test_seconds_are_numbers_unless_all_are_decades():
    seconds = number_column(["90s", "1980s", "12s"])
    assert seconds is not None
    assert (seconds.unit, seconds.values) == ("s", [90.0, 1980.0, 12.0])


def test_mostly_numbers_column_type():
    cells = ["1.5", "<0.5", ">100", "n.b.", "", "2 mg/l", "3"] * 3
    result = number_column(cells)
    assert result.values[:7] == [1.5, 0.5, 100.0, None, None, 2.0, 3.0]
    assert (result.below, result.above, result.others, result.unit) == (3, 3, {"n.b.": 3}, "mg/l")


def test_propose_recipe_titles_groups_units_footer():
    raw = RawTable.of(WELLS, decimal=",")
    recipe = propose_recipe(raw)
    assert (recipe.header, recipe.units, recipe.first, recipe.last) == ((3, 4), 5, 6, 9)
    assert [(one.name, one.type, one.unit) for one in recipe.columns] == [
        ("No.", "id", ""),
        ("Name", "title", ""),
        ("Measured (mean) / Nitrate", "number", "mg/l"),
        ("Measured (mean) / pH", "number with the rest missing", ""),
        ("Remark", "category", ""),
    ]
    applied = apply_recipe(raw, recipe)
    assert applied.frame["Measured (mean) / Nitrate"].tolist() == ["0,5", "3,25", "1089,5", "12"]
    assert applied.frame["Measured (mean) / pH"].tolist() == ["7,1", "", "6,9", "7,0"]
    assert tuple(applied.row) == (6, 7, 8, 9)
    assert [problem.code for problem in applied.problems] == [
        "written-numbers",
        "limits",
        "words-for-missing",
    ]


TEXT = st.text("abc /", max_size=6)
COLUMNS = st.builds(
    ColumnRecipe,
    TEXT,
    st.sampled_from(list(TYPES)),
    TEXT,
    st.sampled_from([".", ","]),
    st.lists(TEXT, max_size=3).map(tuple),
    TEXT,
    TEXT,
    st.booleans(),
)
RECIPES = st.builds(
    TableRecipe,
    st.lists(st.integers(0, 9), max_size=3).map(tuple),
    st.none() | st.integers(0, 9),
    st.integers(0, 9),
    st.none() | st.integers(0, 99),
    st.lists(COLUMNS, max_size=4).map(tuple),
)


@given(RECIPES)
def test_recipe_json_round_trip(recipe):
    assert TableRecipe.from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe


@pytest.mark.parametrize(
    "fields",
    [{}, {"header": 3}, {"header": [0], "first": 1, "columns": [{"name": "a", "type": "colour"}]}],
)
def test_recipe_from_dict_refuses_invalid(fields):
    with pytest.raises(DataError):
        TableRecipe.from_dict(fields)


CELLS = st.sampled_from(["", "1", "2,5", "<3", "a", "n.b.", "mg/l", "2020-01-01", "x;y", "Sum"])


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=12), RECIPES)
def test_apply_recipe_is_deterministic(rows, recipe):
    raw = RawTable.of(rows)
    for one in (propose_recipe(raw), recipe, adapt_recipe(recipe, raw)):
        first, second = apply_recipe(raw, one), apply_recipe(raw, one)
        assert first.frame.equals(second.frame)
        assert apply_recipe(raw, first.recipe).frame.equals(first.frame)
        assert len(first.row) == len(first.frame)


def test_adapt_recipe_to_newer_file():
    recipe = propose_recipe(RawTable.of(WELLS, decimal=",")).with_type("Remark", "leave out")
    newer = [["A longer title"], *WELLS[:10], ["05", "Elm", "2", "7,0", "dry"], *WELLS[10:]]
    raw = RawTable.of(newer, decimal=",")
    result = adapt_recipe(recipe, raw)
    assert (result.header, result.units, result.first, result.last) == ((4, 5), 6, 7, 11)
    assert result.column("Remark").type == "leave out"
    applied = apply_recipe(raw, result)
    assert applied.frame["No."].tolist() == ["01", "02", "03", "04", "05"]
    assert "Remark" not in applied.frame


def test_chosen_column_types_are_used():
    content = b"code,size,grade,kind\n1,5,1,a\n2,6,2,b\n3,7,1,a\n4,9,2,b\n5,8,1,c\n"
    raw = raw_tables([("t.csv", content)])["t.csv", ""]
    recipe = propose_recipe(raw).with_type("grade", "category").with_type("kind", "title")
    recipe = recipe.with_type("code", "leave out").with_type("size", "label")
    choices = {"t.csv": Choices(recipes={"": recipe.to_dict()})}
    loaded = read_tables([("t.csv", content)], choices)
    dataset = loaded.data["t"]
    assert list(dataset.table.columns) == ["size", "grade", "kind"]
    assert dataset.title_column == "kind"
    assert [label.name for label in loaded.data.labels] == ["size"]
    assert dataset.feature_names == ("grade=1", "grade=2")
    assert loaded.understood[0].id_from == ()


@pytest.mark.usefixtures("reader_here")
def test_recipes_by_sheet_in_child():
    book = workbook({"wells": WELLS, "owners": [["id", "size"], ["a", "1"], ["b", "2"]]})
    files = [("book.xlsx", book)]
    raws = raw_tables(files, parse=child.parse_files)
    assert set(raws) == {("book.xlsx", "wells"), ("book.xlsx", "owners")}
    raw = raws["book.xlsx", "wells"]
    assert raw.rows[0][1][0] == "Wells 2023"
    recipe = propose_recipe(raw).with_type("Name", "id").with_type("No.", "category")
    choices = {"book.xlsx": Choices(recipes={"wells": recipe.to_dict()})}
    loaded = read_tables(files, choices, parse=child.parse_files)
    assert list(loaded.data["wells"].ids) == ["Abbey", "Brook", "Croft", "Dale"]
    assert list(loaded.data["owners"].ids) == ["a", "b"]


def test_newer_version_uses_chosen_recipe():
    def csv(rows):
        return "\n".join(";".join(row) or ";" for row in rows).encode()

    content = csv(WELLS)
    raw = raw_tables([("w.csv", content)])["w.csv", ""]
    recipe = propose_recipe(raw).with_type("Remark", "leave out")
    loaded = read_tables([("w.csv", content)], {"w.csv": Choices(recipes={"": recipe.to_dict()})})
    more = csv([["one more title", "", "", "", ""], *WELLS[:6], *WELLS[7:]])
    newer = read_new_version(loaded.data, "w", more, "v2.csv", loaded.understood[0])
    assert newer.gone == ("01",)
    assert not newer.added
    assert not len(newer.changed)
    assert "Remark" not in newer.data["w"].table
    assert not newer.columns_gone


def test_new_items_use_chosen_recipe():
    content = "\n".join(";".join(row) or ";" for row in WELLS).encode()
    recipe = propose_recipe(raw_tables([("w.csv", content)])["w.csv", ""])
    recipe = recipe.with_type("Measured (mean) / pH", "category")
    said = {"w.csv": Choices(recipes={"": recipe.to_dict()})}
    data = read_tables([("w.csv", content)], said).data
    more = "\n".join(
        ";".join(row) or ";" for row in [["new"], *WELLS[3:6], ["05", "Elm", "<2", "7", ""]]
    )
    choices = {"n.csv": Choices(separator=";", like=recipe.to_dict())}
    table = read_new_items([("n.csv", more.encode())], data["w"], choices, "Name").table
    assert table["id"].tolist() == ["Elm"]
    assert table["Measured (mean) / Nitrate"].tolist() == [2.0]
    assert table["Measured (mean) / pH"].tolist() == ["7"]


def test_newer_version_without_ids_matches_row_numbers():
    loaded = read_tables([("t.csv", b"x,y\n1.5,2\n2.5,2\n3.5,4\n")])
    newer = read_new_version(
        loaded.data, "t", b"x,y\n1.5,2\n9.5,2\n", "v2.csv", loaded.understood[0]
    )
    assert newer.sentence == (
        "Rows are matched by row number. Items of t: 0 new, 1 gone, 1 changed."
    )


@pytest.mark.parametrize(
    "last", [["c", "", ""], ["Max", "7", ""], ["Total War", "1", "2"], ["Source", "", ""]]
)
def test_last_row_with_empty_cells_is_data(last):
    raw = RawTable.of([["id", "x", "y"], ["a", "1", "2"], ["b", "2", "3"], ["d", "2", "3"], last])
    assert apply_recipe(raw, propose_recipe(raw)).frame["id"].tolist() == ["a", "b", "d", last[0]]


def test_units_reach_the_map(tmp_path):
    rows = "".join(f"Well {k},{k * 7 % 31 + 0.25},{6 + k % 5}\n" for k in range(40))
    data = read_tables([("w.csv", f"name,nitrate,pH\n,mg/l,\n{rows}".encode())]).data
    assert data["w"].units == {"nitrate": "mg/l"}
    titles = [option.title for option in colour_options(data)]
    assert "Nitrate (mg/l)" in titles
    card = item_cards.item_card(data, 1, colouring(data), "s")
    assert [fact for fact in card["facts"] if "7" in fact[1]] == [
        ("Nitrate", "7.25 mg/l"),
        ("pH", "7"),
    ]
    assert hetviz.load(hetviz.save(data, tmp_path / "w.zip"))["w"].units == data["w"].units


def test_unit_in_column_name_is_not_repeated():
    loaded = read_tables([("t.csv", b"name,mass [kg]\na,1.5\nb,2.5\nc,3\n")])
    assert loaded.data["t"].units == {}


def test_ordered_category_order_can_be_changed():
    raw = RawTable.of([["size", "x"], ["S", "1"], ["XL", "2"], ["M", "3"], ["S", "4"]])
    recipe = propose_recipe(raw)
    assert recipe.column("size").type == "ordered category"
    assert recipe.column("size").why == "has an order: S < M < XL"
    assert recipe.column("size").order == ("S", "M", "XL")
    said = apply_recipe(raw, recipe.with_type("size", "ordered category")).recipe
    assert said.column("size").order == ("S", "M", "XL")
    turned = TableRecipe.from_dict(said.with_order("size", "XL", "M", "S").to_dict())
    assert apply_recipe(raw, turned).recipe.column("size").order == ("XL", "M", "S")
    more = RawTable.of([["size", "x"], ["L", "1"], ["M", "2"]])
    assert apply_recipe(more, turned).recipe.column("size").order == ("XL", "M", "S", "L")


def test_postal_codes_have_no_order():
    raw = RawTable.of([["PLZ", "x"], *[[f"0{k % 5}103", str(k)] for k in range(20)]])
    column = propose_recipe(raw).column("PLZ")
    assert (column.type, column.why) == ("category", "a postal code")


def test_scale_words_are_ordered():
    scales = {
        "severity": ["mild", "moderate", "severe"],
        "age": ["18-24", "25-64", "65+", "under 18"],
        "stimmung": ["stimme zu", "neutral", "stimme nicht zu"],
        "month": ["Jan", "Feb", "Mar"],
        "two": ["low", "high"],
        "group": ["cluster 1", "cluster 2", "cluster 3"],
        "odd": ["low", "medium", "high"],
    }
    rows = [
        [words[(3 * k + k // 5) % len(words)] for words in scales.values()] for k in range(1_500)
    ]
    # Below the rows that a proposal is made by.
    rows[1_499][-1] = "it depends"
    table = [["x", *scales], *([str(k * k % 11), *row] for k, row in enumerate(rows))]
    raw = RawTable.of(table)
    read = apply_recipe(raw, propose_recipe(raw)).recipe
    assert read.of_type("ordered category") == ("severity", "age", "stimmung")
    assert read.column("stimmung").order == ("stimme nicht zu", "neutral", "stimme zu")
    content = "\n".join(map(",".join, table)).encode()
    data = read_tables([("t.csv", content)], {"t.csv": Choices(labels=("month",))}).data
    steps = {step["column"]: step for step in data["t"].recipe["features"]["columns"]}
    assert [name for name, step in steps.items() if step["kind"] == "ordered"] == [
        "severity", "age", "stimmung",
    ]  # fmt: skip
    assert steps["age"]["order"] == ["under 18", "18-24", "25-64", "65+"]


def test_many_codes_have_no_order():
    names = [f"{k % 40:04}" for k in range(120)]
    raw = RawTable.of([["code", "x"], *([name, f"{k},5"] for k, name in enumerate(names))])
    assert propose_recipe(raw).column("code").type == "category"
    assert propose_recipe(raw).column("code").why == ""


def test_order_reaches_feature_and_legend():
    content = b"id,size,x\n" + b"\n".join(
        b"i%d,%s,%d" % (k, [b"petit", b"tall", b"wee"][k % 3], k * k % 11) for k in range(30)
    )
    raw = raw_tables([("t.csv", content)])["t.csv", ""]
    recipe = propose_recipe(raw).with_type("size", "ordered category")
    recipe = recipe.with_order("size", "wee", "tall", "petit")
    said = {"t.csv": Choices(recipes={"": recipe.to_dict()})}
    data = read_tables([("t.csv", content)], said).data
    assert data["t"].orders == {"size": ("wee", "tall", "petit")}
    step = next(s for s in data["t"].recipe["features"]["columns"] if s["column"] == "size")
    assert (step["kind"], step["order"]) == ("ordered", ["wee", "tall", "petit"])
    key = json.dumps(["t", "size"])
    assert colouring(data, key).categories == ("wee", "tall", "petit")
