"""TOML from anybody: what is deep is refused before it is read."""

from __future__ import annotations

import pytest

from hetviz.errors import DataError
from hetviz.io import toml


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 40) + " = 1",
        "[" + ".".join("a" * 40) + "]",
        '"a".' * 40 + "b = 1",
        "x = " + "[" * 40 + "]" * 40,
        "x = " + "{a=" * 40 + "1" + "}" * 40,
        'y = "\\""\nx = ' + "[" * 40 + "]" * 40,
        "'a'.\"b\" . c" + " . d" * 40 + " = 1",
    ],
)
def test_toml_refuses_deep_nesting(text: str) -> None:
    with pytest.raises(DataError, match="deep"):
        toml.loads("f.toml", text.encode())


@pytest.mark.parametrize(
    "text",
    [
        'title = "' + "a." * 100 + '"',
        "title = '" + "[" * 100 + "'",
        'about = """\n' + "[" * 100 + '\n"quoted" ' + "x." * 50 + '"""',
        "# " + "a." * 100 + "\nx = 1",
        "x = [1.5, 2.5, 3.5, " + "0.5," * 100 + "]",
        'x = "\\\\" # ' + "[" * 50,
    ],
)
def test_toml_ignores_dots_and_brackets_in_text(text: str) -> None:
    assert toml.loads("f.toml", text.encode())
