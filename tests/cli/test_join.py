"""Tests of the command `join`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hetviz
from hetviz.cli import main

CITIES = "id,name,size\n" + "".join(
    f"c{k},Town {word},{k % 7}.5\n" for k, word in enumerate("ABCDEF")
)
SHOPS = "id,title,town,tags\n" + "".join(
    f"s{k},Shop {k},Town {'ABCDEF'[k % 5]},{'food; late' if k % 2 else 'late; books'}\n"
    for k in range(20)
)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "towns.csv").write_text(CITIES)
    (folder / "shops.csv").write_text(SHOPS)
    return folder


def test_join_lists_and_applies_proposals(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["join", str(tables)]) == 0
    text = capsys.readouterr().out
    assert "shops: town = towns: name" in text
    assert "New dataset of the entries of tags in shops" in text
    assert main(["join", str(tables), "--json"]) == 0
    messages = json.loads(capsys.readouterr().out)["proposals"]
    assert {entry["join"]["kind"] for entry in messages} == {"key", "tags"}
    assert all(0.2 <= entry["score"] <= 1 and len(entry["examples"]) == 3 for entry in messages)
    out = tmp_path / "joined"
    assert main(["join", str(tables), "--accept", "1", "--accept", "2", "--out", str(out)]) == 0
    joined = hetviz.load(out)
    assert sorted(joined["tags"].ids) == ["books", "food", "late"]
    assert sorted(map(len, joined.links)) == [20, 40]
    assert hetviz.propose_joins(joined) == []
    assert main(["join", str(tables), "--sure", "--out", str(out), "--force"]) == 0
    assert [(links.source, len(links)) for links in hetviz.load(out).links] == [("shops", 20)]


def test_join_unlink_and_leave_unlinked(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "joined"
    command = ["join", str(tables), "--sure", "--unlink", "towns:c0", "--out", str(out), "--force"]
    assert main([*command, "--leave-unlinked", "towns", "--leave-unlinked", "shops"]) == 0
    messages = capsys.readouterr().out
    assert "Removed: the links of towns:c0" in messages
    joined = hetviz.load(out)
    # Of five towns that have four shops each, one was parted from them, and one never had any.
    assert (len(joined["towns"]), len(joined["shops"])) == (4, 16)
    assert sum(map(len, joined.links)) == 16
    assert main([*command, "--unlink", "towns:nowhere"]) == 1
    assert "nowhere" in capsys.readouterr().err
    assert main(["join", str(tables), "--leave-unlinked", "towns"]) == 1
    assert "--leave-unlinked needs --out PATH" in capsys.readouterr().err


def test_join_rejects_bad_options(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["join", str(tables), "--accept", "1"]) == 1
    assert main(["join", str(tables), "--sure"]) == 1
    assert main(["join", str(tables), "--out", "x"]) == 1
    assert main(["join", str(tables), "--accept", "9", "--out", "x"]) == 1
    assert "--accept 9: the list has 2 proposals" in capsys.readouterr().err
