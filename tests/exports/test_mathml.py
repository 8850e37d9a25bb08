"""Equations as well-formed MathML."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import hetviz
from hetviz.exports.mathml import mathml


@pytest.mark.parametrize("key", [card.key for card in hetviz.methods()])
def test_mathml_draws_every_method_equation(key: str) -> None:
    equation = mathml(hetviz.get_method(key).card.equation)
    block = ElementTree.fromstring(equation)
    assert (block.tag, block.get("display")) == ("math", "block")
    text = "".join(block.itertext())
    assert not set(text) & set("\\_^&{}")
    for tag, count in (("mfrac", 2), ("msub", 2), ("msup", 2), ("msubsup", 3), ("munder", 2)):
        assert all(len(element) == count for element in block.iter(tag))


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
def test_mathml_commands(latex: str, wanted: str) -> None:
    assert mathml(latex) == f'<math display="block"><mrow>{wanted}</mrow></math>'


def test_mathml_matrix() -> None:
    matrix = ElementTree.fromstring(mathml(r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}"))
    assert [["".join(cell.itertext()) for cell in row] for row in matrix.iter("mtr")] == [
        ["a", "b"],
        ["c", "d"],
    ]


@pytest.mark.parametrize(
    "latex", [r"\oint x", r"\frac{1}", "{a", "a}", "a_", r"\left( a", "<b>", r"\text{<b>}"]
)
def test_mathml_returns_unknown_latex_as_code(latex: str) -> None:
    markup = mathml(latex)
    assert "<b>" not in markup
    assert markup.startswith("<code>") == ("b" not in latex)
