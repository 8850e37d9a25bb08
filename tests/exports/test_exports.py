"""Export files read back, recipes and the report."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import runpy
import subprocess
import sys
import warnings
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import hetviz
from hetviz.cli import main
from hetviz.data import Dataset, Embedding, HeteroData, Labels, Links
from hetviz.errors import DataError, DataWarning, ParameterError
from hetviz.exports import interactive
from hetviz.exports.export import EXPORT_FORMS
from hetviz.exports.figures import FigureSettings, map_bytes
from hetviz.exports.interactive import PageChart, interactive_map
from hetviz.exports.report import report_page
from hetviz.exports.reproduce import map_recipe, recipe_zip
from hetviz.exports.result import read_result
from hetviz.exports.tables import selection_table
from hetviz.io import read_coordinates
from hetviz.io.intake.guidance import read_guidance
from hetviz.plots.colour import colouring
from hetviz.plots.palette import tokens
from hetviz.runs.embed.run import EmbeddingOrigin, MapOrigin, Run, fit_run
from hetviz.runs.recipe import coordinates_hash, read_recipe
from tests.samples import few_emoji, read_once
from tests.waits import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
DANGEROUS = ["=1+1", "+1", "-1", "@x", "</script><b>"]


@pytest.fixture(autouse=True)
def few_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    read_once(monkeypatch, subset=True)


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
def test_csv_coordinates_round_trip(exact: bool, tmp_path: Path) -> None:
    file = hetviz.export(sheep(), flock(), tmp_path / "c.csv", exact=exact)
    table = pd.read_csv(file, dtype=str, keep_default_na=False)
    starts = {text[0] for text in table["id"]}
    assert starts.isdisjoint("=+-@") != exact
    if exact:
        content = table.drop(columns="title").to_csv(index=False).encode()
        back = read_coordinates("c.csv", content, sheep())
        np.testing.assert_array_equal(back.stacked(), flock().stacked())


def test_parquet_coordinates_round_trip(tmp_path: Path) -> None:
    file = hetviz.export(sheep(), flock(), tmp_path / "c.parquet")
    table = pd.read_parquet(file)
    assert table["id"].tolist() == [
        str(id) for part in sheep().datasets.values() for id in part.ids
    ]
    np.testing.assert_array_equal(table[["x", "y"]].to_numpy(), flock().stacked())


def test_neighbors_table_lists_nearest_by_dataset(tmp_path: Path) -> None:
    table = pd.read_parquet(
        hetviz.export(sheep(), flock(), tmp_path / "n.parquet", "neighbors", k=2)
    )
    Y, ids = flock().coordinates["sheep"], sheep()["sheep"].ids
    far = np.linalg.norm(Y - Y[10], axis=1)
    far[10] = np.inf
    mine = table[(table["id"] == ids[10]) & (table["neighbor_dataset"] == "sheep")]
    assert mine["neighbor_id"].tolist() == ids[np.argsort(far)[:2]].tolist()
    assert mine["rank"].tolist() == [1, 2]
    titles = dict(zip(ids, sheep()["sheep"].titles, strict=True))
    assert mine["neighbor_title"].tolist() == [titles[id] for id in mine["neighbor_id"]]
    assert mine["title"].tolist() == [titles[ids[10]]] * 2
    assert ids[7] not in set(table["id"]) | set(table["neighbor_id"])
    assert len(table) == 32 * 4


def test_selection_table_keeps_order_and_checks_rows() -> None:
    assert selection_table(sheep(), flock(), [31, 4])["id"].tolist() == ["</script><b>", "b"]
    with pytest.raises(DataError):
        selection_table(sheep(), flock(), [33])


def test_atlas_table_has_required_columns(tmp_path: Path) -> None:
    table = pd.read_parquet(hetviz.export(sheep(), flock(), tmp_path / "a.parquet", "atlas", k=3))
    assert list(table.columns[:5]) == ["id", "dataset", "text", "x", "y"]
    assert len(table) == 32
    first = table["neighbors"].iloc[0]
    XY = table[["x", "y"]].to_numpy()
    far = np.linalg.norm(XY - XY[0], axis=1)
    assert list(first["ids"]) == np.argsort(far)[1:4].tolist()
    np.testing.assert_allclose(first["distances"], np.sort(far)[1:4])
    assert table["sheep: weight"].iloc[0] == "0.0"


def test_guidance_csv_round_trip(tmp_path: Path) -> None:
    file = hetviz.export(sheep(), flock(), tmp_path / "g.csv", "guidance")
    read = read_guidance("g.csv", file.read_bytes(), sheep()).strict()
    assert sum(map(len, read.parts)) == 30
    assert sum(map(len, read.labels.values())) == sum(
        labels.known.sum() for labels in sheep().labels
    )


def test_interactive_map_escapes_text_and_makes_no_requests(tmp_path: Path) -> None:
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
    assert weight["number"] is True
    assert [dataset["columns"] for dataset in data["datasets"]] == [1, 0]
    assert [dataset["drawn"] for dataset in data["datasets"]] == [29, 3]
    assert not re.search(r"^(?:import|export) ", text, re.M)
    assert data["categories"] == ["Merino", "Soay", "Texel"]


def test_interactive_map_skips_file_names_and_ids() -> None:
    names = ["p1402.png", "shop-07", "Anna", "Bella", "x17"]
    part = Dataset(
        "animals",
        ids=["p1402", "shop-07", "a", "Bella", "x17"],
        X=np.arange(10.0).reshape(5, 2) % 7,
        table=pd.DataFrame({"title": names}),
    )
    part.table["year"] = [2010.0, 1985.0, None, 12_500.0, 2.5]
    data = HeteroData([part])
    page = interactive_map(data, hetviz.embed(data, "pca"), colouring(data))
    content = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))  # type: ignore[union-attr]
    assert sorted(names[k] for k in content["order"]) == ["Anna", "Bella"]
    # They are still found, and named beside the map.
    assert content["titles"] == names
    # Years have no separators.
    [[year]] = content["facts"]
    assert year["words"] == ["2010", "1985", "12,500", "2.5"]


def test_interactive_map_has_the_geography_of_its_items() -> None:
    table = pd.DataFrame(
        {"lat": [47.0707, 59.9133, -12.0621, np.nan], "lon": [15.4395, 10.7389, -77.0365, np.nan]}
    )
    data = HeteroData([Dataset("towns", list("abcd"), X=np.eye(4), table=table)])
    page = interactive_map(data, hetviz.embed(data, "pca"), colouring(data))
    content = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))  # type: ignore[union-attr]
    earth = content["geography"]
    places = np.frombuffer(base64.b64decode(earth["at"]), "<f4").reshape(4, 2)
    assert np.isnan(places).all(axis=1).tolist() == [False, False, False, True]
    # Oslo is in the north, Lima in the west and south, both in view.
    assert places[:3, 1].argmax() == 1 and places[:3].argmin(axis=0).tolist() == [2, 2]
    for axis, values in zip("xy", places[:3].T, strict=True):
        low, high = earth["frame"][axis]
        assert low <= values.min() < values.max() <= high
    assert earth["note"] == "1 of 4 items has no coordinates"
    frame = interactive.Frame.around(places[:3])
    assert interactive._geography(hetviz.load("emoji"), np.arange(9), frame) is None


def test_interactive_map_has_the_links_of_its_items(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [Dataset("a", list("pqr"), X=np.eye(3)), Dataset("b", list("xy"), X=np.eye(2, 3))]
    data = HeteroData(parts, [Links("a", "b", [0, 2, 1], [0, 1, 1], [1, 1, -1])])
    rows = np.array([1, 2, 3, 4])
    # Of rows on the page, without links of others and without those that are apart.
    text = interactive._links(data, rows)
    assert text is not None
    assert np.frombuffer(base64.b64decode(text), "<i4").tolist() == [1, 3]
    monkeypatch.setattr(interactive, "MAX_LINKS", 0)
    page = interactive_map(data, hetviz.embed(data, "joint-map"), colouring(data))
    assert "Too large for this file: links." in page


def test_interactive_map_limits_picture_bytes() -> None:
    data = hetviz.load("emoji")
    embedding = hetviz.embed(data, "pca")
    with_pictures = interactive_map(data, embedding, colouring(data), picture_bytes=20_000)
    without_pictures = interactive_map(data, embedding, colouring(data), picture_bytes=0)
    assert 5_000 < len(with_pictures) - len(without_pictures) < 21_000


def test_interactive_map_has_charts_of_shown_datasets_within_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, embedding = sheep(), flock()
    first, second = data.datasets
    spec = {"kind": "bins", "key": "a", "places": None, "links": None}
    charts = [
        PageChart([first, "weight", ""], [spec], {"a": bytes(len(data[first]))}),
        PageChart([second, "size", ""], [{**spec, "key": "b"}], {"b": bytes(10_000)}),
        PageChart([first, "age", ""], [{**spec, "key": "c"}], {"a": b"", "c": b"12"}),
    ]

    def content(**more: Any) -> Any:
        page = interactive_map(data, embedding, colouring(data), charts=charts, **more)
        found = re.search(r'id="data">(.*?)</script>', page, re.S)
        assert found is not None
        return json.loads(found[1])

    everything = content()
    assert [item["chart"] for item in everything["charts"]] == [item.chart for item in charts]
    assert set(everything["arrays"]) == {"a", "b", "c"}
    rows = np.frombuffer(base64.b64decode(everything["rows"]), "<i4")
    assert len(rows) == len(everything["titles"])
    assert len(content(hidden=[second])["charts"]) == 2
    monkeypatch.setattr(interactive, "CHART_BYTES", 1000)
    assert [item["chart"][1] for item in content()["charts"]] == ["weight", "age"]
    charts.clear()
    assert content()["charts"] == []


def test_interactive_map_marks_pinned_items(tmp_path: Path) -> None:
    data, (first, second) = sheep(), sheep().datasets
    pinned = str(data[second].ids[1])
    params = {"pins": [{"place": "left", "items": {second: [pinned]}}]}
    embedding = flock().with_made(EmbeddingOrigin(data, Run("", "umap", params, 0)))
    file = hetviz.export(data, embedding, tmp_path / "map.html")
    found = re.search(r'id="data">(.*?)</script>', file.read_text(encoding="utf-8"), re.S)
    assert found is not None
    content = json.loads(found[1])
    (at,) = content["pins"]
    start = next(part["drawn"] for part in content["datasets"] if part["name"] == first)
    assert at >= start
    assert pinned in (content["ids"][at], content["titles"][at])


@pytest.mark.parametrize(
    ("what", "form"), [(w, f) for w, forms in EXPORT_FORMS.items() for f in forms]
)
def test_export_writes_every_format(what: str, form: str, tmp_path: Path) -> None:
    embedding = flock().with_made(EmbeddingOrigin(sheep(), Run("", "pca", {}, 0)))
    file = hetviz.export(sheep(), embedding, tmp_path / f"x.{form}", what, rows=[0])
    assert file.stat().st_size > 30


def test_export_rejects_bad_arguments(tmp_path: Path) -> None:
    for file, what, message in (
        ("x.gif", None, "map as gif"),
        ("x.csv", "map", "map as csv"),
        ("x.csv", "all", "what = 'all'"),
        ("x", None, "without an extension"),
    ):
        with pytest.raises(ParameterError, match=message):
            hetviz.export(sheep(), flock(), tmp_path / file, what)
    with pytest.raises(ParameterError, match="one of: Breed of sheep"):
        hetviz.export(sheep(), flock(), tmp_path / "x.png", colour="wool")
    with pytest.raises(ParameterError, match="size = 'poster' must be one of 'slide'"):
        hetviz.export(sheep(), flock(), tmp_path / "x.png", size="poster")
    with pytest.raises(ParameterError, match="not a setting of a figure"):
        FigureSettings.from_dict({"wide": 3})


def test_recipe_run_is_reproducible(tmp_path: Path) -> None:
    assert main(["embed", "digit-views", "--method", "pca", "--out", str(tmp_path / "a")]) == 0
    scores = []
    for name in ("b", "c"):
        out = str(tmp_path / name)
        assert main(["run", str(tmp_path / "a"), "--out", out, "--figures", "svg"]) == 0
        scores.append(json.loads((tmp_path / name / "scores.json").read_text(encoding="utf-8")))
    assert [run_scores["same_coordinates"] for run_scores in scores] == [True, True]
    assert scores[0]["coordinates_sha256"] == scores[1]["coordinates_sha256"]
    for file in ("coordinates.csv", "map.svg"):
        assert (tmp_path / "b" / file).read_bytes() == (tmp_path / "c" / file).read_bytes()


def test_recipe_with_wrong_hash_warns(tmp_path: Path) -> None:
    assert main(["embed", "digit-views", "--method", "pca", "--out", str(tmp_path)]) == 0
    file = tmp_path / "recipe.toml"
    digest = read_recipe(file).sha256
    file.write_text(file.read_text(encoding="utf-8").replace(digest, "0" * 64), encoding="utf-8")
    with pytest.warns(DataWarning, match="not bit-equal"):
        folder = hetviz.run_recipe(file)
    assert json.loads((folder / "scores.json").read_text("utf-8"))["same_coordinates"] is False


@pytest.mark.parametrize("hold_out", [0.0, 0.2])
def test_recipe_zip_reproduces_edited_data(
    hold_out: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = sheep().edit().add(Links("sheep", "sheep", [0, 1], [2, 3], [-1.0, 1.0]))
    fitted = fit_run(data, "guided-projection", {}, 3, hold_out=hold_out)
    digest = coordinates_hash(fitted.result.embedding)
    figures = FigureSettings(colour="Weight of sheep", width=100.0).to_dict()
    content = recipe_zip(data, fitted.result, sha256=digest, figures=figures, title="My\nsheep")
    assert content == recipe_zip(
        data, fitted.result, sha256=digest, figures=figures, title="My\nsheep"
    )
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            target = tmp_path / name
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(archive.read(name))
    folder = hetviz.run_recipe(tmp_path)
    assert json.loads((folder / "scores.json").read_text("utf-8"))["same_coordinates"] is True
    if hold_out:
        monkeypatch.chdir(tmp_path)
        runpy.run_path("reproduce.py")
    else:
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(
            [sys.executable, "reproduce.py"], cwd=tmp_path, env=env, check=True, timeout=PATIENCE_S
        )
    assert (tmp_path / "map.pdf").read_bytes().startswith(b"%PDF")
    if not hold_out:
        table = pd.read_csv(tmp_path / "coordinates.csv", dtype=str, keep_default_na=False)
        # Read by Python: pandas 2 is off in the last digit.
        places = [[float(x), float(y)] for x, y in zip(table["x"], table["y"], strict=True)]
        np.testing.assert_array_equal(places, fitted.result.embedding.stacked())


def test_report_has_the_test_of_predicted_links(tmp_path: Path) -> None:
    group = {
        "known_links": "2 to 5",
        "n_links": 1234,
        "auc": {"method": [0.8125, 0.01], "popularity": [0.5, None]},
    }
    file = hetviz.write_report(
        sheep(), flock(), tmp_path / "r.html", link_test={"by_known_links": [group]}
    )
    text = file.read_text(encoding="utf-8")
    assert "<h2>Predicted links</h2>" in text
    assert "<td>2 to 5</td><td>1,234</td><td>81.2 ± 1.0</td><td>50.0</td>" in text


def test_report_describes_method_and_quality(tmp_path: Path) -> None:
    assert main(["embed", "digit-views", "--method", "pca", "--out", str(tmp_path / "a")]) == 0
    file = hetviz.write_report(tmp_path / "a", path=tmp_path / "r.html")
    text = file.read_text(encoding="utf-8")
    for words in (
        "Text for a methods section",
        "We placed 80 pixels, 80 fourier and 80 shape together by Principal components",
        "@misc{pca,\n  author = {K. Pearson},",
        "howpublished = {Philosophical Magazine 2, 559-572}",
        "doi = {10.1080/14786440109462720}",
        "(Pearson 1901), as implemented in hetviz",
        '<math display="block">',
        "numpy",
        read_recipe(tmp_path / "a").sha256,
        hetviz.load("digit-views").fingerprint(),
        "data:image/svg+xml;base64,",
        "<h2>Diagnostics of the method</h2><h3>Variance on each axis</h3>",
    ):
        assert words in text
    diagnostic = read_result(tmp_path / "a").embedding.diagnostics["explained"]
    saved = json.loads((tmp_path / "a" / "scores.json").read_text(encoding="utf-8"))["diagnostics"]
    assert saved["explained"]["values"] == dict(diagnostic.values)
    assert all(f"<td>{value}</td>" in text for _, value in diagnostic.lines)
    assert "<script" not in text
    bare = hetviz.write_report(sheep(), flock(), tmp_path / "b.html", title="<b>Sheep</b>")
    bare_text = bare.read_text(encoding="utf-8")
    assert "&lt;b&gt;Sheep&lt;/b&gt;" in bare_text
    assert "1 of 33 items could not be placed." in bare_text
    assert "Predicted links" not in bare_text
    # Of data of which nothing was said the app keeps a kind without curves.
    empty_report = report_page(sheep(), flock(), figures={"scores": {}, "kinds": {"links": {}}})
    assert "33" in empty_report


def test_report_numbers_link_to_their_rows(tmp_path: Path) -> None:
    emoji = few_emoji().data
    m = hetviz.embed(emoji, "graph-axes")
    settings = FigureSettings(names="regions")
    file = hetviz.write_report(emoji, m, tmp_path / "r.html", settings=settings)
    text = file.read_text(encoding="utf-8")
    linked = set(re.findall(r'href="#(rows-[a-z-]+)"', text))
    present = re.findall(r'id="(rows-[a-z-]+)"', text)
    assert sorted(linked) == sorted(present)
    assert {"rows-links", "rows-comparisons", "rows-neighbours", "rows-regions"} <= linked
    stated = re.search(r'href="#rows-links">[^<]*?(\d+ %) of the links are close', text)
    assert stated is not None
    assert f'<h3 id="rows-links">{stated[1]} of the links are close.</h3>' in text


def test_cli_exports_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, model = str(tmp_path / "a"), tmp_path / "model.zip"
    embed = ["embed", "digit-views", "--method", "pca", "--out", out, "--model", str(model)]
    assert main(embed) == 0
    assert hetviz.load_model(model).embedding_.n_rows == 240
    capsys.readouterr()
    files = [str(tmp_path / name) for name in ("map.png", "map.html", "c.parquet")]
    assert main(["export", out, *files, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [entry["file"] for entry in result["files"]] == files
    assert main(["report", out, "--out", str(tmp_path / "r.html"), "--json"]) == 0
    assert main(["export", out, str(tmp_path / "x.gif")]) == 1
    assert "map as gif" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "nothing"), files[0]]) == 1


def test_export_reports_unwritable_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be written"):
        hetviz.export(sheep(), flock(), tmp_path / "file" / "c.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hetviz.export(sheep(), flock(), tmp_path / "new" / "c.csv")


def test_chosen_swatches_are_in_pictures_and_pages() -> None:
    data = hetviz.load("emoji")
    usual = colouring(data)
    colours = replace(usual, swatches=((usual.categories[1], "#0a0b0c"),))
    for theme in ("light", "dark"):
        expected = list(usual.colours(theme))
        expected[1] = "#0a0b0c"
        assert list(colours.colours(theme)) == expected
    embedding = hetviz.embed(data, "pca")
    assert "#0a0b0c" in interactive_map(data, embedding, colours)
    assert b"#0a0b0c" in map_bytes(data, embedding, form="svg", colours=colours)


def test_chosen_palette_colours_follow_the_theme() -> None:
    usual = colouring(hetviz.load("emoji"))
    dark = tokens("dark").categories[9]
    colours = replace(usual, swatches=((usual.categories[0], dark),))
    assert colours.colours("dark")[0] == dark
    assert colours.colours("light")[0] == tokens("light").categories[9]


def test_palette_is_in_exported_files_and_recipes(tmp_path: Path) -> None:
    data = hetviz.load("emoji")
    embedding = hetviz.embed(data, "pca")
    choice: dict[str, Any] = {"colour": "Group of emoji", "palette": {"Food drink": "#0a0b0c"}}
    for name in ("map.svg", "map.html"):
        file = hetviz.export(data, embedding, tmp_path / name, **choice)
        assert "#0a0b0c" in file.read_text(encoding="utf-8")
    recipe = hetviz.export(data, embedding, tmp_path / "r.zip", "recipe", **choice)
    with zipfile.ZipFile(recipe) as archive:
        archive.extractall(tmp_path / "r")
    figures = read_recipe(tmp_path / "r" / "recipe.toml").figures
    assert FigureSettings.from_dict(figures).palette == choice["palette"]
    assert "#0a0b0c" in (tmp_path / "r" / "reproduce.py").read_text(encoding="utf-8")
    for palette, message in (({"Food": "#0a0b0c"}, "Food drink"), ({"Food drink": "red"}, "#1d5")):
        with pytest.raises(ParameterError, match=message):
            hetviz.export(data, embedding, tmp_path / "m.svg", palette=palette)


@pytest.mark.parametrize("what", ["map", "curves"])
def test_slide_has_its_pixels(what: str, tmp_path: Path) -> None:
    for dpi, pixels in ((None, (1920, 1080)), (384, (3840, 2160))):
        file = hetviz.export(sheep(), flock(), tmp_path / "s.png", what, size="slide", dpi=dpi)
        with Image.open(file) as picture:
            assert picture.size == pixels


def test_recipe_and_command_make_the_same_slide(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    assert main(["embed", "digit-views", "--method", "pca", "--out", run]) == 0
    command, recipe, again = (tmp_path / name for name in ("command.svg", "recipe", "again"))
    assert main(["export", run, str(command), "--size", "slide"]) == 0
    data, embedding = hetviz.load_run(run)
    file = hetviz.export(data, embedding, tmp_path / "recipe.zip", "recipe", size="slide")
    with zipfile.ZipFile(file) as archive:
        archive.extractall(recipe)
    assert main(["run", str(recipe), "--out", str(again), "--figures", "svg"]) == 0
    assert 'viewBox="0 0 720 405"' in command.read_text(encoding="utf-8")
    assert (again / "map.svg").read_bytes() == command.read_bytes()


def test_recipe_of_a_project_leaves_out_colours_of_unknown_categories() -> None:
    data = hetviz.load("emoji")
    fitted = fit_run(data, "pca", {}, 0)
    key = json.dumps(["emoji", "group"])
    settings = FigureSettings(colour=key, palette={"food-drink": "#0a0b0c", "new": "#112233"})
    origin = MapOrigin(data, fitted.result)
    with zipfile.ZipFile(io.BytesIO(map_recipe(origin, settings))) as archive:
        text = archive.read("recipe.toml").decode()
    assert "#0a0b0c" in text
    assert "#112233" not in text
