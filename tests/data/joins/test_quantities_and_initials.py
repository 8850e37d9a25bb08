"""The same quantities and people in other ways of writing."""

import pandas as pd
import pytest

import hetviz
from hetviz import HeteroData
from hetviz.data.joins.quantities_and_initials import quantities, short_names

SAME = (
    ("1.5 kg", "1500 g"), ("1,5 kg", "1500g"), ("1,500 g", "1.5kg"), ("12 in", "30.5 cm"),
    ("16GB", "16 GB"), ("500ml", ".5 l"), ("1 lb", "16 oz"), ("1.5 kW", "1500 w"),
    ("2.4GHz", "2400 MHz"), ("0,500 l", "500 ml"), ('12"', "1 ft"), ("12 fl oz", "355 ml"),
    ("1 GB", "1000 MB"), ("1 GB", "1024 MB"), ("1.5 GB", "1536 MB"), ("1048576 kB", "1 GiB"),
    ("5 in", '5"'), ("5 in", "5 inches"), ("5-inch", "5\u201d"), ("5\u2033", "5''"),
    ("1/2 in", "0.5 inch"), ('5 1/2"', "5.5 in"), ("5-1/2 in", "5.5in"), ("2 pounds", "2 lbs"),
    ("6 feet", "6 ft."), ("12 fl. oz", "12 fl oz"), ("60 watts", "60W"),
)  # fmt: skip
DIFFERENT = (
    ("1.5 kg", "15 kg"),
    ("500 ml", "500 g"),
    ("16 GB", "16 MB"),
    ("12 in", "12 cm"),
    ("512 GB", "500 GB"),
    ("1/2 in", "2 in"),
    ("1 1/2 in", "11/2 in"),
)
NONE = (
    "X16GB, 5 months, 1.2.3 g7, model 12",
    "5 in 2010",
    "the top 5 in March",
    "3 in 1 printer",
    "4-in-1",
    "Catch 22 in the dark",
    "2010 in film",
    '"Apollo 13" and others',
)
INCHES = ("24 in monitor", "12 in wide", "8.5 in x 11 in", '12" x 5"', '12 " x 5 "', "12in 2010")
PEOPLE = (
    ("J. R. R. Tolkien", "John Ronald Reuel Tolkien"), ("Smith, J", "John Smith"),
    ("V. van Gogh", "Vincent van Gogh"), ("Smith, J.", "Smith, John"),
    ("A. Jones, B. Miller", "Brian Miller and Anna Jones"),
)  # fmt: skip


@pytest.mark.parametrize(("first", "second"), SAME)
def test_same_quantities_are_equal(first, second):
    assert quantities(f"rice {first}, cooked").keys() == quantities(second).keys()
    assert list(quantities(first).values()) == [first]


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_different_quantities_are_not(first, second):
    assert not quantities(first).keys() & quantities(second).keys()


@pytest.mark.parametrize("text", NONE)
def test_codes_and_bare_numbers_are_no_quantities(text):
    assert quantities(text) == {}


@pytest.mark.parametrize("text", INCHES)
def test_inches_before_a_word_or_a_number(text):
    assert any(quantity.endswith(" mm") for quantity in quantities(text))


def test_two_sizes_are_no_fraction():
    assert list(quantities("8/16 GB and 4GB/64GB")) == ["16000 mb", "4000 mb", "64000 mb"]


@pytest.mark.parametrize("text", ["6x330ml", "6 x 330 ml"])
def test_quantity_of_each_of_a_pack(text):
    assert list(quantities(text)) == ["330 ml"]


@pytest.mark.parametrize(("first", "second"), PEOPLE)
def test_people_have_a_short_name_in_common(first, second):
    ((names,), (others,)) = short_names([[[first]], [[second]]])
    assert set(names) & set(others)
    assert set(names) == set(others) & set(names)


def test_initials_of_others_differ():
    ((names,), (others,)) = short_names([[["J. Smith"]], [["Kate Smith"]]])
    assert (names, others) == (["smith j"], [])


def test_names_count_only_beside_initials():
    assert short_names([[["rice cooker"]], [["John Smith"]]]) == [[[]], [[]]]


# Fewer than five pairs are not proposed.
OTHERS = ["kettle", "toaster", "blender", "vacuum cleaner", "coffee grinder"]


def similarity(first: list[str], second: list[str]) -> dict[tuple[str, str], float]:
    tables = {
        name: pd.DataFrame({"name": names}, index=names)
        for name, names in (("a", [*first, *OTHERS]), ("b", [*second, *OTHERS]))
    }
    data = HeteroData.from_frames(tables, labels={})
    frame = hetviz.propose_links(data, "a", "b", max_chance=1)
    frame = frame[~frame["source_id"].isin(OTHERS)]
    return dict(zip(zip(frame["source_id"], frame["target_id"], strict=True), frame["similarity"],
                    strict=True))  # fmt: skip


def test_quantities_decide_between_equal_names():
    pairs = similarity(
        ["basmati rice 1.5 kg", "basmati rice 15 kg"],
        ["rice basmati 1500 g", "basmati rice 15000g"],
    )
    assert set(pairs) == {
        ("basmati rice 1.5 kg", "rice basmati 1500 g"),
        ("basmati rice 15 kg", "basmati rice 15000g"),
    }


def test_fractions_of_one_character_count():
    first, second = ["pipe 5\u00bd in", "pipe 51 in"], ["pipe 5.5 in", "pipe 51 inch"]
    assert set(similarity(first, second)) == set(zip(first, second, strict=True))


def test_same_quantity_is_more_alike_than_the_same_digits():
    same = similarity(["flour 1.5 kg"], ["flour 1500 g"])
    other = similarity(["flour 1.5 kg"], ["flour 15 kg"])
    assert min(same.values()) > max(other.values())


def test_initials_decide_between_families():
    pairs = similarity(
        ["Smith, J.", "Smith, K.", "J. R. R. Tolkien"],
        ["Kate Smith", "John Smith", "John Ronald Reuel Tolkien"],
    )
    assert set(pairs) == {
        ("Smith, J.", "John Smith"), ("Smith, K.", "Kate Smith"),
        ("J. R. R. Tolkien", "John Ronald Reuel Tolkien"),
    }  # fmt: skip


def test_reason_names_the_quantity():
    tables = {
        "a": {"name": ["basmati rice 1.5 kg", *OTHERS]},
        "b": {"name": ["1500 g of rice", *OTHERS]},
    }
    data = HeteroData.from_frames(tables, labels={})
    frame = hetviz.propose_links(data, "a", "b", max_chance=1).set_index("source_id")
    assert "1.5 kg" in frame.loc["basmati rice 1.5 kg", "reason"]
