"""Tests of the command `propose`."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import hetviz
from hetviz.cli import main
from tests.data.joins.test_similar_rows import shops, words_of_same_meaning


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    folder = tmp_path / "tables"
    folder.mkdir()
    data = shops()
    for name in ("shop", "store"):
        table = pd.DataFrame(data[name].table)
        table.insert(0, "id", data[name].ids)
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder


def test_proposed_links_are_written_and_read(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = ["propose", str(tables), "--source", "shop", "--target", "store"]
    assert main(ends) == 0
    assert " - " in capsys.readouterr().out.splitlines()[0]
    assert main([*ends, "--json", "--out", str(tables / "links.csv")]) == 0
    records = json.loads(capsys.readouterr().out)
    written = pd.read_csv(tables / "links.csv", dtype=str)
    assert written["source_id"].tolist() == [record["source_id"] for record in records]
    assert len(hetviz.load(tables).links[0]) == len(records)
    answers = tmp_path / "answers.csv"
    written.iloc[::8][["source_id", "target_id"]].assign(right="yes").to_csv(answers, index=False)
    assert main([*ends, "--answers", str(answers), "--column", "shop:name"]) == 0
    assert "(right: 100%)" in capsys.readouterr().out


def test_similar_meaning_is_proposed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime")
    data = words_of_same_meaning()
    for name, dataset in data.datasets.items():
        pd.DataFrame({"id": dataset.ids, "name": dataset.ids}).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    ends = ["propose", str(tmp_path), "--source", "words", "--target", "said", "--by", "meaning"]
    assert main([*ends, "--per-row", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("puppy - young dog  (similar meaning)" in line for line in lines)


def test_unrelated_tables_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "towns.csv").write_text("id,name\n1,Karenmi\n2,Vuzetos\n3,Ogdripan\n")
    (tmp_path / "tools.csv").write_text("id,name\n1,Hammer\n2,Spanner\n3,Chisel\n")
    assert main(["propose", str(tmp_path), "--source", "towns", "--target", "tools"]) == 0
    assert "hardly more rows are similar than by chance" in capsys.readouterr().out
