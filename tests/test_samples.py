"""Tests that the samples match their READMEs and their maps are reproducible."""

import csv
import importlib.util
import zipfile
from pathlib import Path

import pytest

import hetviz
from hetviz._samples import sample_path, sample_root
from hetviz.io import read_bundle, read_coordinates
from hetviz.io.bundle.samples import sample_card

SAMPLES = ("emoji", "world", "digits", "debian", "digit-views")
TOOLS = Path(__file__).parents[1] / "tools"


def tool(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=SAMPLES)
def sample(request):
    return read_bundle(request.param)


def test_samples_are_listed():
    assert hetviz.samples() == list(SAMPLES)


def test_sample_is_complete(sample):
    assert not sample.errors
    assert sample.title
    assert sample.description
    assert (sample_path(sample.name) / "README.md").is_file()
    assert {info.dataset for info in sample.understood} == set(sample.data.datasets)
    assert {labels.dataset for labels in sample.data.labels} == set(sample.data.datasets)
    assert not any(dataset.is_featureless for dataset in sample.data.datasets.values())


def test_sample_map_has_all_rows(sample):
    assert sample.map.n_unplaced == 0
    assert sample.map.n_rows == sample.data.n_rows
    assert hetviz.get_method(sample.map_method)(**sample.map_params)


def test_sample_map_beats_chance(sample):
    if sample.data.links:
        assert hetviz.evaluate(sample.data, sample.map).to_dict()["guidance_area"] > 0.6


def test_samples_are_small():
    files = [path for path in sample_root().rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 8_000_000


@pytest.mark.parametrize(
    ("name", "dataset", "id"),
    [
        ("world", "countries", "NA"),
        ("world", "languages", "nan"),
        ("debian", "libraries", "libstdc++6"),
        ("debian", "tags", "game::board:chess"),
        ("digit-views", "shape", "d0004"),
    ],
)
def test_samples_have_unusual_ids(name, dataset, id):
    with (sample_path(name) / f"{dataset}.csv").open(encoding="utf-8", newline="") as file:
        written = [row["id"] for row in csv.DictReader(file)]
    assert id in written
    assert list(hetviz.load(name)[dataset].ids) == written


def test_thumbnails():
    emoji = hetviz.load("emoji")["emoji"]
    assert len(emoji.media) == 1273
    assert all(item[8:12] == b"WEBP" for item in emoji.media)
    with zipfile.ZipFile(sample_path("emoji") / "thumbs.zip") as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}


def test_digits_has_held_out_links():
    digits = read_bundle("digits")
    assert sum(map(len, digits.held_out.links)) == 1047
    assert sum(map(len, digits.data.links)) == 453
    assert ("pixels", "shape") in {(g.source, g.target) for g in digits.held_out.links}
    assert ("pixels", "shape") not in {(g.source, g.target) for g in digits.data.links}


def test_digit_views_share_entity():
    data = hetviz.load("digit-views")
    assert data.entities == ("digit",)
    assert not data.links
    displayed = [set(dataset.ids) for dataset in data.datasets.values()]
    assert 0 < len(set.intersection(*displayed)) < 700
    assert data.n_objects == len(set.union(*displayed))


def test_original_map_is_reproducible():
    folder = sample_path("digits")
    section, coordinates, still = tool("make_sample_maps").make(folder)
    assert (folder / "hetviz.toml").read_text(encoding="utf-8").endswith(section)
    shipped = read_bundle("digits")
    created = read_coordinates("map.csv", coordinates.encode(), shipped.data)
    assert still.startswith("<svg")
    assert sample_card("digits").n_items == shipped.data.n_objects
    # An iterated map takes another way on another processor, and ends as good.
    before = hetviz.evaluate(shipped.data, shipped.map).to_dict()
    after = hetviz.evaluate(shipped.data, created).to_dict()
    for measure in ("guidance_area", "trustworthiness"):
        assert after[measure] == pytest.approx(before[measure], abs=0.04)


def test_digit_views_match_digits(tmp_path):
    created = tool("make_samples")
    created.make_views(sample_path("digits"), tmp_path)
    for name in ("pixels.csv", "fourier.csv", "shape.csv", "thumbs.zip"):
        assert (tmp_path / name).read_bytes() == (sample_path("digit-views") / name).read_bytes()
