"""Tests of the public API."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import hetviz
from hetviz import Comparisons, Dataset, Embedding, HeteroData, Labels, Links
from hetviz.cli import main
from hetviz.errors import (
    ConvergenceWarning,
    DataError,
    DataWarning,
    HetvizError,
    NotApplicableError,
    ParameterError,
)
from tests.data.strategies import heterodata
from tests.depth import examples
from tests.samples import sample
from tests.waits import PATIENCE_S

N_PEOPLE, N_BOOKS = 30, 20


def library() -> HeteroData:
    """People in two views, books with a kernel, tags without features, all that can be said."""
    rng = np.random.default_rng(11)
    Z = rng.normal(size=(N_PEOPLE, 3))
    people = [f"p{k:02d}" for k in range(N_PEOPLE)]
    books = [f"b{k:02d}" for k in range(N_BOOKS)]
    taste = Z[:N_BOOKS] + 0.1 * rng.normal(size=(N_BOOKS, 3))
    datasets = [
        Dataset(
            "survey",
            people,
            Z @ rng.normal(size=(3, 5)),
            feature_names=list("vwxyz"),
            table=pd.DataFrame({"name": people, "age": np.arange(N_PEOPLE)}),
            entity="person",
        ),
        Dataset("face", people[5:], sp.csr_array(Z[5:] @ rng.normal(size=(3, 4))), entity="person"),
        Dataset("books", books, kernel=taste @ taste.T),
        Dataset("tags", ["007", "NA", "1e5"]),
    ]
    links = [
        Links("survey", "books", range(20), range(20)),
        Links("survey", "books", [20, 21, 22, 23, 24], [0, 1, 2, 3, 4], weight=-0.5),
        Links("survey", "tags", range(30), np.arange(30) % 3, role="relation", kind="likes"),
        Links("books", "books", [0, 1, 2], [3, 4, 5], score=[2.0, 0.0, -4.0], complete=True),
    ]
    compared = Comparisons([[0, 1, 2], [3, 4, 60]], weight=[1.0, 2.0])
    labels = [Labels("survey", "side", np.where(Z[:, 0] > 0, "left", "right"))]
    return HeteroData(datasets, links, comparisons=compared, labels=labels)


DATA = library()


def quiet(call: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return call()


def test_public_signatures() -> None:
    promised = {
        Dataset: "name ids X=None *feature_names=None *kernel=None *distance=None *table=None "
        "*media=None *entity=None *recipe=None",
        Links: "source target i j weight=None *score=None *complete=False *kind='link' "
        "*role='guidance' *meta=None",
        Comparisons: "objects weight=None",
        Labels: "dataset name values",
        HeteroData: "datasets links=() comparisons=None labels=()",
        HeteroData.holdout: "self links=0.2 comparisons=0.0 objects=None random_state=0",
        HeteroData.adjacency: "self sign=None",
        HeteroData.position: "self name id",
        Embedding: "coordinates ids=None entity=None placed=None components=None",
        Embedding.planar: "self how='auto'",
        hetviz.embed: "data method=None *random_state=0 *progress=None *start=None *n_jobs=None "
        "**params",
        hetviz.evaluate: "data embedding held_out=None",
        hetviz.guidance_curve: "embedding data_or_links",
        hetviz.run_recipe: "path out=None",
        hetviz.get_method("pca").fit: "self data progress=None",
        hetviz.get_method("pca").transform: "self new links=()",
    }
    for call, text in promised.items():
        result = []
        for name, parameter in inspect.signature(call).parameters.items():
            star = {parameter.KEYWORD_ONLY: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind)
            bare = parameter.default is parameter.empty
            result.append(f"{star or ''}{name}" + ("" if bare else f"={parameter.default!r}"))
        words = text.split()
        # more may follow, as long as it has a default
        assert result[: len(words)] == words, call
        assert all("=" in word for word in result[len(words) :]), call


def test_rows_entities_and_positions() -> None:
    assert list(DATA.datasets) == ["survey", "face", "books", "tags"]
    assert DATA.n_rows == 30 + 25 + 20 + 3
    assert DATA.n_objects == 30 + 20 + 3
    assert DATA.object_of.shape == (DATA.n_rows,)
    assert DATA.offsets["books"] == slice(55, 75)
    assert DATA.position("face", "p05") == 30
    assert DATA.object_of[DATA.position("face", "p05")] == DATA.object_of[5]
    assert tuple(DATA.views("person")) == ("survey", "face")
    assert DATA.fingerprint() == library().fingerprint() != DATA.edit().drop("tags").fingerprint()
    scored = DATA.links[3]
    assert scored.weight.tolist() == [0.5, 0.0, -1.0]
    assert scored.complete


def test_adjacency_is_signed() -> None:
    W, attracts, repels = DATA.adjacency(), DATA.adjacency(1), DATA.adjacency(-1)
    assert W.shape == (DATA.n_rows, DATA.n_rows)
    assert W.format == "csr"
    assert attracts.data.min() > 0
    assert repels.data.min() > 0
    assert abs(attracts - repels - W).max() == 0
    assert W[20, 55] == -0.5 == W[55, 20]
    assert W[55, 58] == 0.5


def test_edits_do_not_change_original() -> None:
    before = DATA.fingerprint()
    more = DATA.edit().add(Dataset("new", ["x"]), Links("new", "tags", [0], [1]))
    assert more.position("new", "x") == DATA.n_rows
    assert DATA.edit().rename("books", "novels").links[0].target == "novels"
    assert [group.kind for group in DATA.edit().drop("books").links] == ["likes"]
    half = DATA.edit().subset({"survey": [f"p{k:02d}" for k in range(0, 30, 2)]})
    assert half.links[0].i.tolist() == list(range(10))
    assert half.links[0].j.tolist() == list(range(0, 20, 2))
    turned = DATA.edit().reorder(["tags", "books", "face", "survey"])
    assert turned.position("tags", "007") == 0
    assert turned.comparisons.objects[0].tolist() == [48, 49, 50]
    assert before == library().fingerprint() == DATA.fingerprint()


def test_holdout_of_entities_includes_links() -> None:
    train, content = DATA.holdout(objects={"survey": 0.2})
    assert len(train["survey"]) == 24
    gone = set(DATA["survey"].ids) - set(train["survey"].ids)
    assert gone <= set(content["survey"].ids)
    assert gone.isdisjoint(train["face"].ids)
    # links between rows that stayed are held out too, a fifth by default
    assert any(text not in gone for text in content["survey"].ids)
    unsaid = HeteroData(DATA.datasets, DATA.links)
    left, alone = unsaid.holdout(links=0.0, objects={"survey": 0.2})
    assert set(alone["survey"].ids) == set(DATA["survey"].ids) - set(left["survey"].ids)
    total = sum(map(len, DATA.links))
    for part in (DATA.holdout(), DATA.holdout(objects={"survey": 0.2})):
        assert sum(len(group) for side in part for group in side.links) == total


def test_held_out_items_are_placed_and_scored() -> None:
    train, content = DATA.holdout(objects={"survey": 0.2, "books": 0.25}, random_state=2)
    assert content["books"].kernel.shape == (len(content["books"]), len(train["books"]))
    model = quiet(lambda: hetviz.get_method("guided-projection")().fit(train))
    placed = model.transform(content)
    for name, Y in placed.coordinates.items():
        assert set(placed.ids[name]) == set(DATA[name].ids) - set(train[name].ids)
        assert np.isfinite(Y).all()
    whole = model.embedding_.joined(placed)
    scores = hetviz.evaluate(DATA, whole, content).to_dict()
    assert scores["guidance_area_held_out"] > 0.6
    assert hetviz.evaluate(DATA, whole).blocks["n_unplaced"].sum() == 0


def test_new_tag_is_placed_by_links() -> None:
    model = quiet(lambda: hetviz.get_method("guided-projection")().fit(DATA))
    new = model.transform(
        Dataset("tags", ["008"]),
        links=[("survey", "p01", "tags", "008"), ("tags", "008", "books", "b01", 0.5)],
    )
    assert new.placed["tags"].tolist() == [True]
    with pytest.raises(DataError, match="p99"):
        model.transform(Dataset("tags", ["008"]), links=[("tags", "008", "survey", "p99")])


def test_embedding_positions() -> None:
    embedding = quiet(lambda: hetviz.embed(DATA, "guided-projection", n_components=3))
    assert embedding.stacked().shape == (DATA.n_rows, 3)
    frame = embedding.frame()
    assert len(frame) == DATA.n_rows
    assert frame["id"].tolist()[-3:] == ["007", "NA", "1e5"]
    flat = embedding.planar()
    assert flat.stacked().shape == (DATA.n_rows, 2)
    assert "principal" in flat.note
    bare = quiet(lambda: hetviz.embed(DATA, "pca"))
    assert not bare.placed["tags"].any()
    assert np.isnan(bare.coordinates["tags"]).all()


def max_scores(measure: str) -> float:
    """Return the largest value of a measure: a quotient and a mean count are no shares."""
    return np.inf if measure == "variance_ratio" or measure.startswith("metric_2") else 1.0


def test_scores_have_applicable_measures() -> None:
    guidance = {"guidance_area", "link_auc"}
    neighbors = {"trustworthiness", "continuity"}
    negative, compared = {"negative_guidance_area"}, {"comparison_accuracy"}
    embedding = quiet(lambda: hetviz.embed(DATA, "guided-projection"))
    train, content = DATA.holdout(comparisons=0.5)
    everything = guidance | negative | compared
    assert everything | neighbors <= set(hetviz.evaluate(DATA, embedding).to_dict())
    both = set(hetviz.evaluate(train, embedding, content).to_dict())
    assert everything | {f"{name}_held_out" for name in everything} <= both
    silent = set(hetviz.evaluate(HeteroData(DATA.datasets), embedding).to_dict())
    assert silent.isdisjoint(everything)
    bare = HeteroData([DATA["survey"], DATA["tags"]], DATA.links[2])
    assert negative.isdisjoint(hetviz.evaluate(bare, embedding).to_dict())
    scores = hetviz.evaluate(train, embedding, content)
    assert isinstance(scores.blocks, pd.DataFrame)
    for name, value in scores.to_dict().items():
        assert type(value) is float
        assert 0 <= value <= max_scores(name)
    json.dumps(scores.to_dict())


def test_guidance_curve_accepts_data_or_links() -> None:
    embedding = quiet(lambda: hetviz.embed(DATA, "guided-projection"))
    for message in (DATA, DATA.links[0], list(DATA.links)):
        pairs, satisfied = hetviz.guidance_curve(embedding, message)
        assert pairs.shape == satisfied.shape
        assert (pairs[0], pairs[-1], satisfied[-1]) == (0.0, 1.0, 1.0)
        assert (np.diff(satisfied) >= 0).all()
    area = hetviz.evaluate(HeteroData(DATA.datasets, DATA.links[0]), embedding).to_dict()
    pairs, satisfied = hetviz.guidance_curve(embedding, DATA.links[0])
    assert np.trapezoid(satisfied, pairs) == pytest.approx(area["guidance_area"], abs=2e-3)


@pytest.mark.parametrize("key", [card.key for card in hetviz.methods()])
def test_methods_are_sklearn_estimators(key: str) -> None:
    model = hetviz.get_method(key)(n_components=1)
    assert model.get_params()["n_components"] == 1
    assert clone(model).set_params(n_components=2).get_params()["n_components"] == 2
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(colour="red")
    assert quiet(lambda: clone(model).fit(DATA)).embedding_.n_components == 1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: Dataset("a", ["x"], [[np.nan]]), DataError),
        (lambda: Dataset("a", ["x"], [[np.inf]]), DataError),
        (lambda: Dataset("a", ["x", "x"]), DataError),
        (lambda: Dataset("a", [7]), DataError),
        (lambda: Dataset("a", ["x"], distance=[0.0, 1.0]), DataError),
        (lambda: Links("a", "b", [0], [0], 0.0), DataError),
        (lambda: Links("a", "b", [0], [0], 1.5), DataError),
        (lambda: Links("a", "b", [0.5], [0]), DataError),
        (lambda: Links("a", "b", [0], [0], role="rumour"), DataError),
        (lambda: Links("a", "b", [0], [0], score=[np.nan]), DataError),
        (lambda: Comparisons([[0, 1]]), DataError),
        (lambda: HeteroData([]), DataError),
        (lambda: HeteroData([Dataset("a", ["x"])], Links("a", "b", [0], [0])), DataError),
        (lambda: DATA.position("books", "b99"), DataError),
        (lambda: DATA.holdout(links=1.0), ParameterError),
        (lambda: DATA.holdout(links=float("nan")), ParameterError),
        (lambda: DATA.holdout(links="half"), ParameterError),
        (lambda: DATA.holdout(random_state=-1), ParameterError),
        (lambda: DATA.edit().reorder(["books", 3]), DataError),
        (lambda: DATA.edit().subset({"books": [99]}), DataError),
        (lambda: DATA.edit().subset({"books": [True]}), DataError),
        (lambda: DATA.edit().add("books"), DataError),
        (lambda: DATA.adjacency([1]), DataError),
        (lambda: hetviz.embed(DATA, "pca", colour="red"), ParameterError),
        (lambda: hetviz.embed(DATA, "PCA"), ParameterError),
        (lambda: hetviz.embed(DATA, "guided-projection", gamma="much"), ParameterError),
        (lambda: hetviz.embed(DATA, "guided-projection", random_state=-1), ParameterError),
        (lambda: hetviz.embed(HeteroData([Dataset("a", ["x"])]), "pca"), NotApplicableError),
        (lambda: hetviz.load("no such sample"), DataError),
        (lambda: hetviz.run_recipe("no such file.toml"), DataError),
    ],
)
def test_invalid_input_is_error(call: Any, error: type[HetvizError]) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value)


def test_unusual_data_have_map() -> None:
    X = np.column_stack([np.arange(6.0), np.full(6, 3.0)])
    X[5] = X[4]
    a = Dataset("a", ["007", "NA", "7", "é", "x,y", "z"], X)
    b = Dataset("b", ["u", "v"], [[1.0], [2.0]])
    data = HeteroData([a, b], Links("a", "b", range(6), [0, 0, 0, 1, 1, 1]))
    with pytest.warns(DataWarning, match="Only 1 of 2"):
        embedding = hetviz.embed(data, "guided-projection")
    Y = embedding.coordinates["a"]
    np.testing.assert_allclose(Y[4], Y[5])
    assert hetviz.evaluate(data, embedding).to_dict()["guidance_area"] > 0.7
    assert embedding.ids["a"].tolist() == ["007", "NA", "7", "é", "x,y", "z"]
    apart = HeteroData([a, b], Links("a", "b", [0], [0], -1.0))
    with pytest.raises(NotApplicableError, match="All links keep items apart"):
        hetviz.embed(apart, "guided-projection")


def test_save_load_round_trip(tmp_path: Path) -> None:
    for place in (tmp_path / "folder", tmp_path / "file.zip"):
        hetviz.save(DATA, place)
        again = hetviz.load(place)
        assert again.fingerprint() == DATA.fingerprint()
        first, second = (
            quiet(lambda data=data: hetviz.embed(data, "guided-projection", kernel="rbf"))
            for data in (DATA, again)
        )
        np.testing.assert_array_equal(first.stacked(), second.stacked())


@pytest.mark.parametrize("name", hetviz.samples())
def test_samples_have_suggestions(name: str) -> None:
    data = hetviz.load(name)
    assert isinstance(data, HeteroData)
    assert sample(name).fingerprint() == data.fingerprint()
    assert hetviz.suggest(data)[0].suits


def digests_of_maps() -> list[str]:
    settings: list[tuple[str, dict[str, Any]]] = [
        ("pca", {}),
        ("guided-projection", {"kernel": "rbf"}),
    ]
    maps = [quiet(lambda key=key, p=p: hetviz.embed(DATA, key, **p)) for key, p in settings]
    return [*(hashlib.sha256(made.stacked().tobytes()).hexdigest() for made in maps),
            DATA.fingerprint()]  # fmt: skip


def test_processes_are_bit_equal() -> None:
    root = Path(__file__).resolve().parents[1]
    program = "from tests.test_public_api import digests_of_maps as of\nprint(*of())"
    # This process has another seed of hashes.
    other = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        # The environment may choose other kernels of the linear algebra library.
        env={
            **os.environ,
            "PYTHONPATH": str(root),
            "PYTHONHASHSEED": "1",
            "OPENBLAS_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.split() == digests_of_maps()


def test_emoji_and_digits_scores() -> None:
    emoji, digits = sample("emoji"), sample("digits")
    bent = hetviz.embed(emoji, "guided-projection", kernel="rbf")
    assert hetviz.evaluate(emoji, bent).to_dict()["guidance_area"] >= 0.80
    flat = hetviz.embed(digits, "guided-projection", kernel="linear")
    assert hetviz.evaluate(digits, flat).to_dict()["guidance_area"] >= 0.85


def test_embed_recipe_is_reproducible(tmp_path: Path) -> None:
    out, again = tmp_path / "out", tmp_path / "again"
    file = hetviz.save(DATA, tmp_path / "data.zip")
    words = ["embed", str(file), "--method", "guided-projection", "--out", str(out)]
    # One process of its own, and this one: both give the same bytes.
    subprocess.run([sys.executable, "-m", "hetviz", *words], check=True, timeout=PATIENCE_S)
    assert main(["run", str(out / "recipe.toml"), "--out", str(again)]) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "coordinates.csv",
        "recipe.toml",
        "scores.json",
    ]
    digests = [
        hashlib.sha256((folder / "coordinates.csv").read_bytes()).hexdigest()
        for folder in (out, again)
    ]
    assert digests[0] == digests[1]
    scores = json.loads((out / "scores.json").read_text())["scores"]
    embedding = quiet(lambda: hetviz.embed(hetviz.load(file), "guided-projection"))
    assert scores["guidance_area"] == hetviz.evaluate(DATA, embedding).values["guidance_area"]


METHODS = st.sampled_from(
    [("pca", {}), ("pca", {"standardize": True})]
    + [
        ("guided-projection", {"kernel": kernel, "signed": signed, "variant": variant, "gamma": g})
        for kernel in (None, "rbf")
        for signed in ("ratio", "similarity", "paper")
        for variant in ("block", "anchor", "printed")
        for g in (0.1, 0.0)
    ]
)


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
@given(heterodata(), METHODS, st.integers(0, 5))
def test_any_data_give_result_or_error(
    data: HeteroData, method: tuple[str, dict[str, Any]], seed: int
) -> None:
    key, params = method
    before = data.fingerprint()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            share = {next(iter(data.datasets)): 0.5}
            train, content = data.holdout(
                links=0.4, comparisons=0.5, objects=share, random_state=seed
            )
            model = hetviz.get_method(key)(**params).fit(train)
            whole = model.embedding_.joined(model.transform(content))
        except HetvizError:
            return
        for name, Y in whole.coordinates.items():
            assert np.isfinite(Y[whole.placed[name]]).all()
        scores = hetviz.evaluate(data, whole, content).to_dict()
        assert all(-1e-9 <= value <= max_scores(name) + 1e-9 for name, value in scores.items())
        assert whole.planar().n_unplaced == whole.n_unplaced
    parts = data.datasets, data.links, data.comparisons, data.labels
    assert HeteroData(*parts).fingerprint() == before


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: hetviz.evaluate(m, DATA), "embedding: an Embedding is needed"),
        (lambda m: hetviz.evaluate(DATA, None), "embedding: an Embedding is needed .*hetviz.embed"),
        (lambda m: hetviz.embed(DATA, "umap", start=np.zeros((9, 2))), "Embedding is needed"),
        (lambda m: hetviz.embed(DATA, hetviz.PCA), "by its key, not by PCA. Give 'pca'"),
        (lambda m: hetviz.get_method(3), "by its key, not by int"),
        (lambda m: hetviz.embed(DATA, "pca", progress="yes"), "must be True, a function, or None"),
        (lambda m: DATA[0], "this dataset does not exist"),
        (lambda m: hetviz.load(None), "a file, folder, sample or a list of files is needed"),
        (lambda m: hetviz.save(m, "x"), "data: a HeteroData is needed"),
        (hetviz.statements, "data: a HeteroData is needed"),
        (lambda m: hetviz.find_items(m, "x"), "data: a HeteroData is needed"),
        (lambda m: hetviz.suggest(pd.DataFrame({"x": [1.0]})), "data: a HeteroData is needed"),
        (lambda m: hetviz.make_features(DATA), "dataset: a Dataset is needed .*data\\['name'\\]"),
        (lambda m: hetviz.save_model(m, "x"), "save_model: a BaseEmbedder is needed"),
        (
            lambda m: hetviz.write_report(m, "x.html"),
            "data: a HeteroData, or the folder",
        ),
        (lambda m: hetviz.save(DATA, None), "path: the name of a file or folder is needed"),
        (lambda m: hetviz.write_report(DATA, m, None), "path: the name of a file or folder"),
        (lambda m: Dataset("a", range(30)), r"^dataset 'a': the ids are int, .*\)\. 007[^\n]*$"),
        (lambda m: hetviz.find_items(DATA, None), "query: a str is needed"),
        (hetviz.join_tables, "data: a HeteroData is needed"),
        (lambda m: hetviz.map_input(DATA), "embedding: an Embedding is needed"),
        (lambda m: hetviz.most_linked(DATA, "a1"), "must be row numbers"),
        (lambda m: hetviz.gains_ahead(DATA, None), "learned: a list of learned groups is needed"),
        (hetviz.gains_ahead, "data: a HeteroData is needed"),
        (lambda m: Embedding([[1.0, 2.0]]), "a dictionary of coordinates by dataset is needed"),
    ],
)
def test_arguments_of_another_type_are_named(call: Any, says: str) -> None:
    embedding = quiet(lambda: hetviz.embed(DATA, "pca"))
    with pytest.raises(HetvizError, match=says):
        call(embedding)


def test_scores_print_as_a_table() -> None:
    scores = hetviz.evaluate(DATA, quiet(lambda: hetviz.embed(DATA, "pca")))
    title, *lines = repr(scores).splitlines()
    assert title == "Scores"
    names = {line.split()[0]: float(line.split()[1]) for line in lines[: len(scores.values)]}
    assert names == {name: round(value, 3) for name, value in scores.values.items()}
