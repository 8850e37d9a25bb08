"""Every file that can be made of a map, read back; recipes; the report."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import subprocess
import sys
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz.cli import main
from hetviz.data import Dataset, Embedding, HeteroData, Labels, Links
from hetviz.errors import DataError, DataWarning, ParameterError
from hetviz.exports.export import EXPORT_FORMS
from hetviz.exports.figures import FigureSettings
from hetviz.exports.interactive import interactive_map
from hetviz.exports.report import report_page
from hetviz.exports.reproduce import recipe_zip
from hetviz.exports.result import read_result
from hetviz.exports.tables import selection_table
from hetviz.io import read_coordinates
from hetviz.io.bundle.guidance import read_guidance
from hetviz.plots.colour import colouring
from hetviz.runs.embed.recipe import coordinates_hash, read_recipe
from hetviz.runs.embed.run import fit_run

ROOT = Path(__file__).resolve().parents[2]
DANGEROUS = ["=1+1", "+1", "-1", "@x", "</script><b>"]


@cache
def sheep() -> HeteroData:
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(30, 3))
    ids = [*DANGEROUS, *(f"s{k}" for k in range(25))]
    table = pd.DataFrame({"name": [f"sheep {k}" for k in range(30)], "weight": np.arange(30.0)})
    sheep = Dataset("sheep", ids, Z, table=table)
    farms = Dataset("farms", ["a", "b", "c"], np.eye(3))
    links = Links("sheep", "farms", np.arange(30), np.arange(30) % 3)
    kinds = Labels("sheep", "breed", np.repeat(["texel", "soay", "merino"], 10))
    return HeteroData([sheep, farms], [links], labels=[kinds])


@cache
def flock() -> Embedding:
    Y = np.random.default_rng(2).normal(size=(33, 2))
    Y[7] = np.nan
    parts = {"sheep": Y[:30], "farms": Y[30:]}
    return Embedding(parts, {name: part.ids for name, part in sheep().datasets.items()})


@pytest.mark.parametrize("exact", [True, False])
def test_coordinates_come_back_from_csv(exact: bool, tmp_path: Path) -> None:
    file = hetviz.export(sheep(), flock(), tmp_path / "c.csv", exact=exact)
    table = pd.read_csv(file, dtype=str, keep_default_na=False)
    starts = {text[0] for text in table["id"]}
    assert starts.isdisjoint("=+-@") != exact
    if exact:
        content = table.drop(columns="title").to_csv(index=False).encode()
        back = read_coordinates("c.csv", content, sheep())
        np.testing.assert_array_equal(back.stacked(), flock().stacked())


def test_coordinates_come_back_from_parquet(tmp_path: Path) -> None:
    file = hetviz.export(sheep(), flock(), tmp_path / "c.parquet")
    table = pd.read_parquet(file)
    assert table["id"].tolist() == [
        str(id) for part in sheep().datasets.values() for id in part.ids
    ]
    np.testing.assert_array_equal(table[["x", "y"]].to_numpy(), flock().stacked())


def test_neighbors_are_the_nearest_of_each_dataset(tmp_path: Path) -> None:
    table = pd.read_parquet(
        hetviz.export(sheep(), flock(), tmp_path / "n.parquet", "neighbors", k=2)
    )
    Y, ids = flock().coordinates["sheep"], sheep()["sheep"].ids
    far = np.linalg.norm(Y - Y[10], axis=1)
    far[10] = np.inf
    mine = table[(table["id"] == ids[10]) & (table["neighbor_dataset"] == "sheep")]
    assert mine["neighbor_id"].tolist() == ids[np.argsort(far)[:2]].tolist()
    assert mine["rank"].tolist() == [1, 2]
    assert ids[7] not in set(table["id"]) | set(table["neighbor_id"])
    assert len(table) == 32 * 4


def test_a_selection_keeps_its_order_and_refuses_other_rows() -> None:
    assert selection_table(sheep(), flock(), [31, 4])["id"].tolist() == ["</script><b>", "b"]
    with pytest.raises(DataError):
        selection_table(sheep(), flock(), [33])


def test_the_file_for_embedding_atlas_has_what_it_asks_for(tmp_path: Path) -> None:
    table = pd.read_parquet(hetviz.export(sheep(), flock(), tmp_path / "a.parquet", "atlas", k=3))
    assert list(table.columns[:5]) == ["id", "dataset", "text", "x", "y"]
    assert len(table) == 32
    first = table["neighbors"].iloc[0]
    XY = table[["x", "y"]].to_numpy()
    far = np.linalg.norm(XY - XY[0], axis=1)
    assert list(first["ids"]) == np.argsort(far)[1:4].tolist()
    np.testing.assert_allclose(first["distances"], np.sort(far)[1:4])
    assert table["sheep: weight"].iloc[0] == "0.0"


def test_guidance_comes_back(tmp_path: Path) -> None:
    file = hetviz.export(sheep(), flock(), tmp_path / "g.csv", "guidance")
    read = read_guidance("g.csv", file.read_bytes(), sheep()).strict()
    assert sum(map(len, read.parts)) == 30
    assert sum(map(len, read.labels.values())) == sum(one.known.sum() for one in sheep().labels)


def test_the_page_holds_no_markup_of_users_and_asks_for_nothing(tmp_path: Path) -> None:
    file = hetviz.export(sheep(), flock(), tmp_path / "m.html", title="<i>Flock</i>")
    text = file.read_text(encoding="utf-8")
    assert text.count("</script>") == 2
    assert "<i>" not in text
    assert not re.search(r"(?:src|href)=\"(?!data:)", text)
    assert "default-src 'none'" in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))  # type: ignore[union-attr]
    assert data["ids"][:5] == DANGEROUS
    at = np.frombuffer(base64.b64decode(data["at"]), "<f4").reshape(-1, 2)
    steps, wanted = np.diff(at, axis=0), np.diff(np.delete(flock().stacked(), 7, axis=0), axis=0)
    np.testing.assert_allclose(steps / steps.std(), wanted / wanted.std(), 1e-4)
    [weight] = data["facts"][0]
    rows = np.frombuffer(base64.b64decode(weight["at"]), "<i4")
    assert [weight["words"][k] for k in rows] == [str(k) for k in range(30) if k != 7]
    assert [one["drawn"] for one in data["datasets"]] == [29, 3]
    assert not re.search(r"^(?:import|export) ", text, re.M)
    assert data["categories"] == ["Merino", "Soay", "Texel"]


def test_no_file_and_no_running_id_is_written_on_the_page_s_map() -> None:
    names = ["p1402.png", "shop-07", "Anna", "Bella", "x17"]
    part = Dataset(
        "animals",
        ids=["p1402", "shop-07", "a", "Bella", "x17"],
        X=np.arange(10.0).reshape(5, 2) % 7,
        table=pd.DataFrame({"title": names}),
    )
    data = HeteroData([part])
    page = interactive_map(data, hetviz.embed(data, "pca"), colouring(data))
    told = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))  # type: ignore[union-attr]
    assert sorted(names[k] for k in told["order"]) == ["Anna", "Bella"]
    # They are still found, and named beside the map.
    assert told["titles"] == names


def test_pictures_are_taken_while_they_fit() -> None:
    data = hetviz.load("emoji")
    embedding = hetviz.embed(data, "pca")
    few = interactive_map(data, embedding, colouring(data), picture_bytes=20_000)
    none = interactive_map(data, embedding, colouring(data), picture_bytes=0)
    assert 5_000 < len(few) - len(none) < 21_000


@pytest.mark.parametrize(
    ("what", "form"), [(w, f) for w, forms in EXPORT_FORMS.items() for f in forms]
)
def test_every_form_is_written(what: str, form: str, tmp_path: Path) -> None:
    file = hetviz.export(sheep(), flock(), tmp_path / f"x.{form}", what, rows=[0])
    assert file.stat().st_size > 30


def test_what_does_not_suit_is_refused(tmp_path: Path) -> None:
    for file, what, said in (
        ("x.gif", None, "map as gif"),
        ("x.csv", "map", "map as csv"),
        ("x.csv", "all", "what = 'all'"),
        ("x", None, "without an ending"),
    ):
        with pytest.raises(ParameterError, match=said):
            hetviz.export(sheep(), flock(), tmp_path / file, what)
    with pytest.raises(ParameterError, match="there are: Breed of sheep"):
        hetviz.export(sheep(), flock(), tmp_path / "x.png", colour="wool")
    with pytest.raises(ParameterError, match="no setting of a figure"):
        FigureSettings.from_dict({"wide": 3})


def test_a_recipe_run_twice_gives_the_same_hash_and_the_same_figures(tmp_path: Path) -> None:
    assert main(["embed", "digit-views", "--method", "pca", "--out", str(tmp_path / "a")]) == 0
    told = []
    for name in ("b", "c"):
        out = str(tmp_path / name)
        assert main(["run", str(tmp_path / "a"), "--out", out, "--figures", "svg"]) == 0
        told.append(json.loads((tmp_path / name / "scores.json").read_text(encoding="utf-8")))
    assert [one["same_coordinates"] for one in told] == [True, True]
    assert told[0]["coordinates_sha256"] == told[1]["coordinates_sha256"]
    for file in ("coordinates.csv", "map.svg"):
        assert (tmp_path / "b" / file).read_bytes() == (tmp_path / "c" / file).read_bytes()


def test_a_recipe_whose_result_differs_says_so(tmp_path: Path) -> None:
    assert main(["embed", "digit-views", "--method", "pca", "--out", str(tmp_path)]) == 0
    file = tmp_path / "recipe.toml"
    digest = read_recipe(file).sha256
    file.write_text(file.read_text(encoding="utf-8").replace(digest, "0" * 64), encoding="utf-8")
    with pytest.warns(DataWarning, match="not bit-equal"):
        folder = hetviz.run_recipe(file)
    assert json.loads((folder / "scores.json").read_text("utf-8"))["same_coordinates"] is False


@pytest.mark.parametrize("hold_out", [0.0, 0.2])
def test_data_that_were_changed_travel_with_their_recipe(hold_out: float, tmp_path: Path) -> None:
    data = sheep().edit().add(Links("sheep", "sheep", [0, 1], [2, 3], [-1.0, 1.0]))
    fitted = fit_run(data, "guided-projection", {}, 3, hold_out=hold_out)
    digest = coordinates_hash(fitted.embedding)
    figures = FigureSettings(colour="Weight of sheep", width=100.0).to_dict()
    content = recipe_zip(data, fitted.run, sha256=digest, figures=figures, title="My\nsheep")
    assert content == recipe_zip(
        data, fitted.run, sha256=digest, figures=figures, title="My\nsheep"
    )
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            target = tmp_path / name
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(archive.read(name))
    folder = hetviz.run_recipe(tmp_path)
    assert json.loads((folder / "scores.json").read_text("utf-8"))["same_coordinates"] is True
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "reproduce.py"], cwd=tmp_path, env=env, check=True, timeout=120)
    assert (tmp_path / "map.pdf").read_bytes().startswith(b"%PDF")
    if not hold_out:
        table = pd.read_csv(tmp_path / "coordinates.csv", dtype=str, keep_default_na=False)
        # Read by Python: pandas 2 is off in the last digit.
        places = [[float(x), float(y)] for x, y in zip(table["x"], table["y"], strict=True)]
        np.testing.assert_array_equal(places, fitted.embedding.stacked())


def test_a_report_says_how_and_how_good(tmp_path: Path) -> None:
    assert main(["embed", "digit-views", "--method", "pca", "--out", str(tmp_path / "a")]) == 0
    file = hetviz.write_report(tmp_path / "a", path=tmp_path / "r.html")
    text = file.read_text(encoding="utf-8")
    for words in (
        "For the methods section",
        "We placed 700 pixels, 700 fourier and 700 shape together by Principal components",
        "@misc{pca,\n  author = {K. Pearson},",
        "howpublished = {Philosophical Magazine 2, 559-572}",
        "doi = {10.1080/14786440109462720}",
        "(Pearson 1901), as implemented in hetviz",
        '<math display="block">',
        "numpy",
        read_recipe(tmp_path / "a").sha256,
        hetviz.load("digit-views").fingerprint(),
        "data:image/svg+xml;base64,",
        "<h2>What the method found out</h2><h3>Variance on each axis</h3>",
    ):
        assert words in text
    found = read_result(tmp_path / "a").embedding.diagnostics["explained"]
    kept = json.loads((tmp_path / "a" / "scores.json").read_text(encoding="utf-8"))["diagnostics"]
    assert kept["explained"]["values"] == dict(found.values)
    assert all(f"<td>{value}</td>" in text for _, value in found.lines)
    assert "<script" not in text
    bare = hetviz.write_report(sheep(), flock(), tmp_path / "b.html", title="<b>Sheep</b>")
    said = bare.read_text(encoding="utf-8")
    assert "&lt;b&gt;Sheep&lt;/b&gt;" in said
    assert "1 of 33 items have no place." in said
    # Of data of which nothing was said the app keeps a kind without curves.
    unsaid = report_page(sheep(), flock(), figures={"scores": {}, "kinds": {"links": {}}})
    assert "33" in unsaid


def test_the_command_line_exports_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, model = str(tmp_path / "a"), tmp_path / "model.zip"
    embed = ["embed", "digit-views", "--method", "pca", "--out", out, "--model", str(model)]
    assert main(embed) == 0
    assert hetviz.load_model(model).embedding_.n_rows == 2100
    capsys.readouterr()
    files = [str(tmp_path / name) for name in ("map.png", "map.html", "c.parquet")]
    assert main(["export", out, *files, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["file"] for one in told["files"]] == files
    assert main(["report", out, "--out", str(tmp_path / "r.html"), "--json"]) == 0
    assert main(["export", out, str(tmp_path / "x.gif")]) == 1
    assert "map as gif" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "nothing"), files[0]]) == 1


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be written"):
        hetviz.export(sheep(), flock(), tmp_path / "file" / "c.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hetviz.export(sheep(), flock(), tmp_path / "new" / "c.csv")
