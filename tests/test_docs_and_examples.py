"""The pages of the methods, the reference of the public names, and the example scripts."""

from __future__ import annotations

import importlib.util
import runpy
import sys
from html import escape
from pathlib import Path
from types import ModuleType

import pytest

import hetviz

ROOT = Path(__file__).resolve().parents[1]


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_docs", ROOT / "tools" / "make_docs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_method_has_a_page_with_all_that_its_card_says(tmp_path: Path) -> None:
    files = tool().write_methods(tmp_path, api=False)
    cards = hetviz.methods()
    assert len(files) == len(cards) + 1
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    for card in cards:
        text = (tmp_path / "methods" / f"{card.key}.html").read_text(encoding="utf-8")
        assert f"methods/{card.key}.html" in index
        told = [card.title, card.summary, card.cost, card.paper, card.equation, *card.caveats]
        told += [str(need) for need in card.needs]
        for param in hetviz.get_method(card.key).params.values():
            told += [param.label, param.help, param.wanted(), repr(param.default)]
        assert [words for words in told if escape(words) not in text] == []


def test_the_reference_knows_every_public_name() -> None:
    pdoc = pytest.importorskip("pdoc.doc")
    for name in hetviz.__all__:
        assert getattr(hetviz, name).__doc__
        setattr(hetviz, name, getattr(hetviz, name))
    members = pdoc.Module(hetviz).members
    assert set(hetviz.__all__) <= set(members)


@pytest.mark.parametrize(
    ("script", "says"),
    [("emoji_map", "written: "), ("own_tables", "wines near the stew: w")],
)
def test_example_runs(
    script: str,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [script, str(tmp_path / "out")])
    runpy.run_path(str(ROOT / "examples" / f"{script}.py"), run_name="__main__")
    assert says in capsys.readouterr().out
    if script == "emoji_map":
        assert (tmp_path / "out" / "map.png").read_bytes().startswith(b"\x89PNG")
