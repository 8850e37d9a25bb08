"""Runs with selected rows, weights and held-out links, equal from app and recipe."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz import Comparisons, Dataset, HeteroData, Links
from hetviz.errors import DataError, ParameterError
from hetviz.jobs.tasks.maps import make_map
from hetviz.progress import ignore_progress
from hetviz.runs.embed.run import fit_run
from hetviz.runs.embed.scope import read_rows, rows_table, scope_of
from hetviz.runs.recipe import read_recipe, run_recipe, write_run

SPECIAL = {"a|b|link": 0.25, "a|c|near": 0.0}


@pytest.fixture
def data() -> HeteroData:
    rng = np.random.default_rng(0)
    a, b, c = (
        Dataset(name, [f"{name}{k}" for k in range(20)], rng.normal(size=(20, 4))) for name in "abc"
    )
    return HeteroData(
        [a, b, c],
        [
            Links("a", "b", np.arange(20), np.arange(20)),
            Links("a", "c", np.arange(20), rng.permutation(20), kind="near"),
        ],
    )


@pytest.fixture
def some_rows() -> list[int]:
    return [*range(12), *range(20, 34)]


def test_scope_of_everything_passes_data_unchanged(data: HeteroData) -> None:
    scope = scope_of(data)
    assert scope.measured is data
    assert scope.seen is data
    assert scope.held_out is None


def test_scope_scales_weights_only_for_the_method(data: HeteroData, some_rows: list[int]) -> None:
    scope = scope_of(data, {"a|b|link": 0.5, "a|c|near": 0.5}, some_rows, 0.25, 3)
    assert {name: len(part) for name, part in scope.seen.datasets.items()} == {"a": 12, "b": 14}
    assert scope.held_out is not None
    assert sum(map(len, scope.held_out.links)) == 3
    (seen,), (shown,) = scope.seen.links, scope.measured.links
    assert set(seen.weight) == {0.5}
    assert set(shown.weight) == {1.0}


def test_scope_holds_out_comparisons(data: HeteroData) -> None:
    compared = Comparisons([[k, k + 1, k + 2] for k in range(10)])
    scope = scope_of(HeteroData(data.datasets, data.links, compared), hold_out=0.2, seed=3)
    assert scope.seen.comparisons is not None
    assert scope.held_out is not None
    assert scope.held_out.comparisons is not None
    assert len(scope.seen.comparisons) == 8
    assert len(scope.held_out.comparisons) == 2
    # Comparisons do not change the split of the links.
    alone = scope_of(data, hold_out=0.2, seed=3).held_out
    assert alone is not None
    assert [group.i.tolist() for group in scope.held_out.links] == [
        group.i.tolist() for group in alone.links
    ]


def test_fit_run_leaves_excluded_rows_unplaced(data: HeteroData, some_rows: list[int]) -> None:
    fitted = fit_run(data, "guided-projection", only=some_rows)
    placed = fitted.result.embedding.stacked_placed()
    assert np.flatnonzero(placed).tolist() == some_rows
    assert list(fitted.result.embedding.coordinates) == ["a", "b", "c"]
    alone = fit_run(fitted.scope.seen, "guided-projection").result.embedding
    assert np.array_equal(fitted.result.embedding.stacked()[some_rows], alone.stacked())


def test_fit_run_with_weight_zero_equals_no_links(data: HeteroData) -> None:
    without = HeteroData(data.datasets, data.links[:1])
    params = {"features": "linear"}
    with pytest.warns(hetviz.errors.DataWarning):
        left_out = fit_run(
            data, "guided-projection", params, weights={"a|c|near": 0}
        ).result.embedding
    with pytest.warns(hetviz.errors.DataWarning):
        expected = fit_run(without, "guided-projection", params).result.embedding
    assert np.array_equal(left_out.stacked(), expected.stacked(), equal_nan=True)


def test_fit_run_ignores_parameters_of_excluded_datasets(
    data: HeteroData, some_rows: list[int]
) -> None:
    params = {"features": {"a": "rbf", "c": "rbf"}}
    fitted = fit_run(data, "guided-projection", params, only=some_rows)
    # The record keeps them for the same run on other rows.
    assert fitted.result.params["features"] == {"a": "rbf", "c": "rbf"}
    with pytest.raises(ParameterError, match="unknown datasets"):
        fit_run(data, "guided-projection", {"features": {"fish": "rbf"}}, only=some_rows)


@pytest.mark.parametrize("lazy", [False, True])
def test_scope_progress_extends_layouts_to_all_rows(
    data: HeteroData, some_rows: list[int], lazy: bool
) -> None:
    reports: list[Any] = []
    report = scope_of(data, only=some_rows).progress(
        lambda fraction, message="", **figures: reports.append((fraction, message, figures))
    )
    Y = np.arange(2.0 * len(some_rows), dtype=np.float32).reshape(-1, 2)
    report(0.5, "Moving", layout=(lambda: Y) if lazy else Y, loss=1.0)
    report(0.6)
    (fraction, message, figures), last = reports
    layout = figures["layout"]()
    assert (fraction, message, figures["loss"]) == (0.5, "Moving", 1.0)
    assert layout.shape == (60, 2)
    assert layout.dtype == np.float32
    assert np.array_equal(layout[some_rows], Y)
    assert np.isnan(np.delete(layout, some_rows, axis=0)).all()
    assert last == (0.6, "", {})


@pytest.mark.parametrize(
    "special",
    [
        {},
        {"weights": SPECIAL},
        {"only": "some"},
        {"hold_out": 0.3},
        {"weights": SPECIAL, "only": "some", "hold_out": 0.3},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::hetviz.errors.DataWarning")
def test_run_recipe_equals_the_map_task(
    data: HeteroData, some_rows: list[int], special: dict[str, Any], tmp_path: Path
) -> None:
    special = {**special, "only": some_rows} if "only" in special else dict(special)
    hetviz.save(data, tmp_path / "data.zip")
    map_result = make_map(
        data=data,
        method="guided-projection",
        params={"gamma": 0.2},
        seed=4,
        progress=ignore_progress,
        **{"hold_out": 0.0, **special},
    )
    fitted = fit_run(data, "guided-projection", {"gamma": 0.2}, 4, **special)
    record = write_run(tmp_path / "first", str(tmp_path / "data.zip"), data, fitted)
    repeated_folder = run_recipe(tmp_path / "first", tmp_path / "second")
    assert (tmp_path / "first" / "only.csv").exists() == ("only" in special)
    for path in (tmp_path / "first").iterdir():
        if path.name != "scores.json":
            assert (repeated_folder / path.name).read_bytes() == path.read_bytes()
    repeated = json.loads((repeated_folder / "scores.json").read_text())
    assert repeated["scores"] == record["scores"] == map_result.figures["scores"]
    assert ("guidance_area_held_out" in record["scores"]) == ("hold_out" in special)
    stacked = map_result.embedding.stacked()
    assert np.array_equal(fitted.result.embedding.stacked(), stacked, equal_nan=True)
    recipe = read_recipe(repeated_folder)
    assert recipe.run.weights == special.get("weights", {})
    assert recipe.run.hold_out == special.get("hold_out", 0.0)
    rows = recipe.rows(data)
    assert (None if rows is None else rows.tolist()) == special.get("only")


def test_plain_recipe_omits_defaults(data: HeteroData, tmp_path: Path) -> None:
    write_run(tmp_path, "somewhere", data, fit_run(data, "pca"))
    document = tomllib.loads((tmp_path / "recipe.toml").read_text())
    assert not {"weights", "only", "hold_out"} & set(document)


def test_write_run_restricts_held_out_links_to_rows(
    data: HeteroData, some_rows: list[int], tmp_path: Path
) -> None:
    held_out = HeteroData(data.datasets, [Links("b", "c", [0, 1], [2, 3]), data.links[0]])
    record = write_run(tmp_path, "x", data, fit_run(data, "pca", only=some_rows), held_out)
    assert "guidance_area_held_out" in record["scores"]


@pytest.mark.parametrize(
    ("special", "words"),
    [
        ({"weights": {"a|b|lnk": 1}}, "Did you mean"),
        ({"weights": {"a|b|link": 2}}, "between 0 and 1"),
        ({"only": []}, "no items are selected"),
        ({"only": [60]}, "this row does not exist"),
    ],
)
def test_fit_run_rejects_bad_scopes(data: HeteroData, special: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        fit_run(data, "pca", **special)
    with pytest.raises(ParameterError, match="share"):
        fit_run(data, "pca", hold_out=1.0)


@pytest.mark.parametrize(
    "line", ['hold_out = "much"', "only = 3", "weights = 3", '[weights]\n"a|b|link" = "x"']
)
def test_run_recipe_rejects_bad_scopes(data: HeteroData, tmp_path: Path, line: str) -> None:
    hetviz.save(data, tmp_path / "data")
    (tmp_path / "recipe.toml").write_text(f'format = 1\ndata = "data"\nmethod = "pca"\n{line}\n')
    with pytest.raises(DataError):
        run_recipe(tmp_path)


def test_rows_table_round_trip(data: HeteroData, some_rows: list[int]) -> None:
    text = rows_table(data, np.array(some_rows))
    assert text.splitlines()[:2] == ["dataset,id", "a,a0"]
    assert read_rows("only.csv", text.encode(), data).tolist() == some_rows
    single = HeteroData([data["a"]])
    assert read_rows("only.csv", b"id,note\na3,x\na1,y\na3,z\n", single).tolist() == [1, 3]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"dataset,id\na,a99\nb,b1\nfish,x\n", "no item with this id"),
        (b"dataset,name\na,a1\n", "needs the columns"),
        (b"id\na1\n", "needs the columns"),
    ],
)
def test_read_rows_rejects_unknown_rows(data: HeteroData, content: bytes, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_rows("only.csv", content, data)
