"""Tests of the sizes, corners and shadows in the style sheets."""

import re
from dataclasses import asdict

import pytest

from hetviz.plots.palette import tokens
from hetviz.ui.shell.paths import CSS
from hetviz.ui.shell.theme import style_sheet

TEXT_SIZES = {"12.5px", "14px", "15px", "19px", "25px", "inherit"}
RADII = {"0", "2px", "3px", "4px", "10px", "14px", "14px 14px 0 0", "50%", "var(--m-radius)"}
# Parts of a card or a control of several parts.
RADII |= {"10px 10px 0 0", "0 10px 10px 10px", "10px 0 0 10px", "0 10px 10px 0"}


@pytest.fixture(scope="module")
def sheets():
    return "".join(path.read_text() for path in sorted(CSS.parents[1].rglob("*.css")))


def test_style_sheets_use_five_text_sizes(sheets):
    sizes = {size.strip() for size in re.findall(r"font-size:([^;}!]*)", sheets)}
    assert sizes <= TEXT_SIZES


def test_texts_of_plots_use_five_text_sizes():
    plots = "\n".join(path.read_text() for path in sorted((CSS.parents[2] / "plots").glob("*.py")))
    calls = re.findall(r"write_text\(\s*figure,[^()]*?token\.\w+,\s*([\d.]+)", plots)
    fonts = re.findall(r"font=\{\"size\": ([\d.]+)", plots)
    assert len(calls) > 1
    assert {f"{size}px" for size in calls + fonts} <= TEXT_SIZES


@pytest.mark.parametrize(
    "part", ["stExpander", "stSliderThumbValue", "stSliderTickBar", "stPagination"]
)
def test_parts_of_streamlit_with_sizes_of_their_own_get_one_of_the_five(sheets, part):
    rule = re.search(rf":is\([^)]*{part}[^{{]*\{{font-size:14px\}}", sheets)
    assert rule is not None


def test_style_sheets_use_one_corner_for_cards(sheets):
    radii = {radius.strip() for radius in re.findall(r"border-radius:([^;}!]*)", sheets)}
    assert radii <= RADII


def test_style_sheet_declares_the_colours_of_both_themes():
    sheet = style_sheet()
    light, dark = asdict(tokens("light")), asdict(tokens("dark"))
    for name, both in {
        "bg": ("#fcfbf8", "#14161a"),
        "ink": ("#1d1f22", "#ecebe6"),
        "mute": ("#5b5d62", "#a9abb0"),
        "line": ("#e4e0d6", "#2c3036"),
        "accent": ("#1d5c63", "#7cc7c3"),
    }.items():
        assert (light[name], dark[name]) == both
        assert f"--hv-{name}:light-dark({both[0]},{both[1]})" in sheet
