"""Spread of positions in tables, scores and reports."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

import hetviz
from hetviz import cli
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import DataError
from hetviz.exports.result import read_result

ITEMS = "id,size,weight\n" + "".join(f"i{k},{k * 7 % 11},{k * 5 % 13}\n" for k in range(24))
OTHERS = "id,span\n" + "".join(f"o{k},{k * 3 % 7}\n" for k in range(12))
LINKS = "source_dataset,source_id,target_dataset,target_id,weight\n" + "".join(
    f"items,i{k},others,o{k % 12},1\n" for k in range(24)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the result folder of a run with its spread."""
    home = tmp_path_factory.mktemp("spread")
    (home / "data").mkdir()
    for name, text in {"items": ITEMS, "others": OTHERS, "links": LINKS}.items():
        (home / "data" / f"{name}.csv").write_text(text, encoding="utf-8")
    result = str(home / "result")
    assert cli.main(["embed", str(home / "data"), "--method", "mr-sne", "--out", result]) == 0
    assert cli.main(["spread", result, "--out", str(home / "spread.csv")]) == 0
    return home


def test_scores_have_the_spread(folder: Path) -> None:
    scores = json.loads((folder / "result" / "scores.json").read_text(encoding="utf-8"))
    spread = read_result(folder / "result").spread
    assert spread is not None
    assert scores["spread"]["refits"] == 8 and scores["spread"]["links_resampled"]
    assert scores["spread"]["median"] == pytest.approx(pd.Series(spread.share).median(), abs=1e-5)
    assert scores["scores"]
    with (folder / "spread.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [
        *(f"i{k}" for k in range(24)),
        *(f"o{k}" for k in range(12)),
    ]
    assert [float(row["spread"]) for row in rows] == pytest.approx(spread.share.tolist(), abs=1e-5)


def test_coordinates_and_report_of_a_folder_have_the_spread(folder: Path) -> None:
    out, page = folder / "coordinates.csv", folder / "report.html"
    assert cli.main(["export", str(folder / "result"), str(out)]) == 0
    assert cli.main(["report", str(folder / "result"), "--out", str(page)]) == 0
    spread = read_result(folder / "result").spread
    assert spread is not None
    assert pd.read_csv(out)["spread"].tolist() == pytest.approx(spread.share.tolist())
    text = page.read_text(encoding="utf-8")
    assert "Spread of positions" in text
    assert spread.sentence.split(",")[0] in text
    most = spread.frame().nlargest(1, "spread")["id"].iloc[0]
    assert f"<td>{most}</td>" in text[text.index("Spread of positions") :]


def test_damaged_spread_is_refused(folder: Path, tmp_path: Path) -> None:
    scores = json.loads((folder / "result" / "scores.json").read_text(encoding="utf-8"))
    for broken in ({"refits": 8}, {**scores["spread"], "share": [0.1]}):
        for file in (folder / "result").iterdir():
            (tmp_path / file.name).write_bytes(file.read_bytes())
        text = json.dumps({**scores, "spread": broken})
        (tmp_path / "scores.json").write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match="spread is damaged"):
            read_result(tmp_path)


def test_export_and_report_of_the_library_take_a_spread(tmp_path: Path) -> None:
    items = Dataset("items", [f"i{k}" for k in range(24)])
    others = Dataset("others", [f"=o{k}" for k in range(12)])
    data = HeteroData(
        [items, others], [Links("items", "others", range(24), [k % 12 for k in range(24)])]
    )
    embedding = hetviz.embed(data, "mr-sne")
    spread = hetviz.spread(data, embedding)
    for what, rows in (("coordinates", None), ("selection", [3, 30])):
        file = hetviz.export(
            data, embedding, tmp_path / f"{what}.parquet", what, rows=rows, spread=spread
        )
        expected = spread.share if rows is None else spread.share[rows]
        assert pd.read_parquet(file)["spread"].tolist() == pytest.approx(
            expected.tolist(), nan_ok=True
        )
    page = hetviz.write_report(data, embedding, tmp_path / "r.html", spread=spread)
    assert "Spread of positions" in page.read_text(encoding="utf-8")
    assert "Spread of positions" not in hetviz.write_report(
        data, embedding, tmp_path / "without.html"
    ).read_text(encoding="utf-8")
