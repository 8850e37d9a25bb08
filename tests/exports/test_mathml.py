"""Equations as MathML: every card's is drawn, well formed, with nothing of its LaTeX left."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import hetviz
from hetviz.exports.mathml import mathml


@pytest.mark.parametrize("key", [card.key for card in hetviz.methods()])
def test_the_equation_of_every_card_is_drawn(key: str) -> None:
    made = mathml(hetviz.get_method(key).card.equation)
    block = ElementTree.fromstring(made)
    assert (block.tag, block.get("display")) == ("math", "block")
    said = "".join(block.itertext())
    assert not set(said) & set("\\_^&{}")
    for tag, count in (("mfrac", 2), ("msub", 2), ("msup", 2), ("msubsup", 3), ("munder", 2)):
        assert all(len(one) == count for one in block.iter(tag))


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("x_i^2", "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
        (r"\frac{1}{2}", "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"),
        (r"\min_Y", '<munder><mi>min</mi><mi>Y</mi></munder><mspace width="0.17em"/>'),
        (r"\text{s. t.}", "<mtext>s. t.</mtext>"),
        (r"\alpha \le 1.5", "<mi>α</mi><mo>≤</mo><mn>1.5</mn>"),
        ("a < b", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"),
    ],
)
def test_parts_of_an_equation(latex: str, wanted: str) -> None:
    assert mathml(latex) == f'<math display="block"><mrow>{wanted}</mrow></math>'


def test_rows_and_columns() -> None:
    made = ElementTree.fromstring(mathml(r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"))
    assert [["".join(cell.itertext()) for cell in row] for row in made.iter("mtr")] == [
        ["a", "b"],
        ["c", "d"],
    ]


@pytest.mark.parametrize(
    "latex", [r"\oint x", r"\frac{1}", "{a", "a}", "a_", r"\left( a", "<b>", r"\text{<b>}"]
)
def test_what_is_not_known_comes_back_as_it_is_written(latex: str) -> None:
    made = mathml(latex)
    assert "<b>" not in made
    assert made.startswith("<code>") == ("b" not in latex)
