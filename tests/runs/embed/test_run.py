import tomllib

import numpy as np
import pytest

import hetviz
from hetviz import Dataset, HeteroData, Links
from hetviz.errors import DataError, DataWarning, NotApplicableError, ParameterError
from hetviz.runs.embed.run import fit_run
from hetviz.runs.recipe import read_recipe, run_recipe, write_run


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    a = Dataset("a", [f"a{n}" for n in range(12)], rng.normal(size=(12, 4)))
    b = Dataset("b", [f"b{n}" for n in range(12)], rng.normal(size=(12, 3)))
    return HeteroData([a, b], Links("a", "b", np.arange(10), np.arange(10)))


def test_fit_run_records_the_run(data):
    fitted = fit_run(data, "guided-projection", {"gamma": 0.5}, seed=3)
    assert fitted.result.fingerprint == data.fingerprint()
    assert fitted.result.params["gamma"] == 0.5
    assert "random_state" not in fitted.result.params
    assert fitted.result.seed == 3
    assert fitted.model.random_state == 3
    assert {"python", "hetviz", "numpy"} <= set(fitted.result.versions)
    assert fitted.result.embedding is fitted.model.embedding_


def test_embed_ignores_random_state_without_a_seed(data):
    embedding = hetviz.embed(data, "pca", random_state=5)
    assert embedding.n_rows == 24


def test_embed_reports_progress(data):
    fractions = []
    hetviz.embed(
        data, "pca", progress=lambda fraction, message="", **figures: fractions.append(fraction)
    )
    assert fractions[-1] == 1.0
    assert fractions == sorted(fractions)


def test_embed_suggests_names_for_typos(data):
    with pytest.raises(ParameterError, match="guided-projection"):
        hetviz.embed(data, "guided-projecton")
    with pytest.raises(ParameterError, match="Did you mean gamma"):
        hetviz.embed(data, "guided-projection", gama=1)


def test_embed_rejects_only_negative_guidance(data):
    apart = HeteroData(data.datasets, Links("a", "b", [0, 1], [0, 1], -1.0))
    with pytest.raises(NotApplicableError, match="All links keep items apart"):
        hetviz.embed(apart, "guided-projection")


def test_run_recipe_repeats_the_run(tmp_path, data):
    hetviz.save(data, tmp_path / "data.zip")
    fitted = fit_run(data, "guided-projection", {"kernel": "rbf", "gamma": 0.2}, seed=7)
    write_run(tmp_path / "first", str(tmp_path / "data.zip"), data, fitted)
    again = run_recipe(tmp_path / "first" / "recipe.toml", tmp_path / "second")
    for name in ("coordinates.csv", "recipe.toml"):
        assert (again / name).read_bytes() == (tmp_path / "first" / name).read_bytes()
    recipe = read_recipe(again)
    assert recipe.run.seed == 7
    assert dict(recipe.run.params) == dict(fitted.result.params)


def test_run_recipe_finds_data_in_its_folder(tmp_path, data):
    hetviz.save(data, tmp_path / "things")
    (tmp_path / "recipe.toml").write_text('format = 1\ndata = "things"\nmethod = "pca"\n')
    folder = run_recipe(tmp_path / "recipe.toml")
    assert folder == tmp_path / "run"
    assert tomllib.loads((folder / "recipe.toml").read_text())["fingerprint"] == data.fingerprint()


def test_run_recipe_warns_of_changed_data(tmp_path, data):
    hetviz.save(data, tmp_path / "things")
    text = 'format = 1\ndata = "things"\nmethod = "pca"\nfingerprint = "other"\n'
    (tmp_path / "recipe.toml").write_text(text)
    with pytest.warns(DataWarning, match="may differ"):
        run_recipe(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "format = 2",
        'format = 1\ndata = "emoji"',
        'format = 1\ndata = 3\nmethod = "pca"',
        'format = 1\ndata = "emoji"\nmethod = "pca"\nextra = 1',
        "format = [",
    ],
)
def test_read_recipe_rejects_bad_files(tmp_path, text):
    (tmp_path / "recipe.toml").write_text(text)
    with pytest.raises(DataError):
        read_recipe(tmp_path)


def test_read_recipe_rejects_bad_parameters(tmp_path):
    text = 'format = 1\ndata = "emoji"\nmethod = "pca"\n[params]\nn_components = -1\n'
    (tmp_path / "recipe.toml").write_text(text)
    with pytest.raises(ParameterError, match="n_components"):
        read_recipe(tmp_path)
