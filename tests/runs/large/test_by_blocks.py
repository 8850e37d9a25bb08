"""Fits by blocks of data in files: equal to fits in memory and for all schedulers."""

from __future__ import annotations

import json
import os
import signal
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hetviz
from hetviz.cli import main
from hetviz.core.spectral.blocks import LinearMap
from hetviz.data import Dataset, HeteroData
from hetviz.errors import Cancelled, DataError, HetvizError, ParameterError
from hetviz.runs.large import steps
from hetviz.runs.large.judging import mann_whitney_area
from hetviz.runs.large.placers import LinearPlacer
from hetviz.runs.large.schedulers import (
    TLS,
    DaskScheduler,
    Scheduler,
    SerialScheduler,
    check_address,
    open_scheduler,
)
from hetviz.runs.recipe import large_recipe_at
from tests.runs.large.small_tables import Made, bytes_of, places
from tests.waits import PATIENCE_S, wait_until

METHODS = {
    "guided-projection": "",
    "guided-projection similarity": 'signed = "similarity"\nn_components = 3',
    "guided-projection paper": 'signed = "paper"\naxis_scale = 1.0',
    "guided-projection printed": 'variant = "printed"',
    "cca": "gamma = 0.05",
    "cdmca": "weights = {genes = 2.0, drugs = 1.0}",
    "coca": "",
    "coca plainly": 'scale = "norm"\ngraph_scale = "none"\nconstraint = "rescaled"',
    "pca": "standardize = true",
    "pca plain": "",
}


def aligned(ids: list[str], Y: np.ndarray, wanted: list[str]) -> np.ndarray:
    at = {text: k for k, text in enumerate(ids)}
    return Y[[at[text] for text in wanted]]


@pytest.mark.parametrize("case", METHODS)
def test_run_large_equals_in_memory_fit(case: str, tmp_path: Path) -> None:
    made, method = Made(), case.split(maxsplit=1)[0]
    out = hetviz.run_recipe(made.write(tmp_path, method, params=METHODS[case]), tmp_path / "out")
    params: dict[str, Any] = tomllib.loads(METHODS[case])
    data = made.data()
    model = hetviz.get_method(method)(**params).fit(data)
    for name in ("genes", "drugs"):
        ids, Y = places(out, name)
        expected = model.embedding_.coordinates[name]
        np.testing.assert_allclose(
            aligned(ids, Y, list(data[name].ids)), expected, rtol=1e-8, atol=1e-9
        )
    record = json.loads((out / "scores.json").read_text())
    assert record["n_unplaced"] == 0
    assert list(tmp_path.glob("out/.blocks*")) == []
    with np.load(out / "model.npz", allow_pickle=False) as saved:
        coefficients, centre, scale = (
            saved[f"genes/{part}"] for part in ("coefficients", "centre", "scale")
        )
    genes = LinearPlacer({"genes": LinearMap(coefficients, centre, 0.0)}, {"genes": scale})
    assert np.allclose(genes.place("genes", made.X), places(out, "genes")[1])


VIEWS = """format = 1
method = "coca"
[data.front]
path = "front.parquet"
id = "id"
entity = "thing"
[data.back]
path = "back.parquet"
id = "id"
entity = "thing"
[blocks]
rows = 37
[params]
"""


def views_of_things(folder: Path) -> HeteroData:
    """Write two tables that share 80 of 120 items, and return the same data in memory."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(120, 3))
    parts = []
    for name, rows, d in (
        ("front", np.arange(100), 5),
        ("back", rng.permutation(np.arange(20, 120)), 4),
    ):
        X = hidden[rows] @ rng.normal(size=(3, d)) + 0.3 * rng.normal(size=(100, d)) + d
        ids = [f"i{k}" for k in rows]
        columns = {f"{name}{c}": X[:, c] for c in range(d)}
        pq.write_table(pa.table({"id": ids, **columns}), folder / f"{name}.parquet")
        parts.append(Dataset(name, ids, X, entity="thing"))
    return HeteroData(parts)


@pytest.mark.parametrize(
    "params",
    [
        "",
        'agreement = "difference"\nalpha = 0.01\nweights = {front = 2.0}',
        'constraint = "block"\nweights = {back = 0.5}\nweights_in = "diagonal"',
        'weights = {front = 0.0}\nscale = "none"',
    ],
)
def test_run_large_places_views_together(params: str, tmp_path: Path) -> None:
    data = views_of_things(tmp_path)
    (tmp_path / "recipe.toml").write_text(VIEWS + params)
    out = hetviz.run_recipe(tmp_path / "recipe.toml", tmp_path / "out")
    model = hetviz.get_method("coca")(**tomllib.loads(params)).fit(data)
    for name, wanted in model.embedding_.coordinates.items():
        ids, Y = places(out, name)
        np.testing.assert_allclose(aligned(ids, Y, list(data[name].ids)), wanted, atol=1e-12)
    result = {name: dict(zip(*places(out, name), strict=True)) for name in data.datasets}
    for text in set(result["front"]) & set(result["back"]):
        np.testing.assert_allclose(result["front"][text], result["back"][text], atol=1e-14)
    # A tie of the same item is no guidance that a map could keep.
    assert "guidance_area" not in json.loads((out / "scores.json").read_text())["scores"]


def test_run_large_rejects_unsupported_coca_settings(tmp_path: Path) -> None:
    views_of_things(tmp_path)
    pq.write_table(pa.table({"i": ["i1"], "j": ["i2"]}), tmp_path / "said.parquet")
    said = '[guidance.said]\npath = "said.parquet"\nfrom = "{}"\nto = "{}"\ni = "i"\nj = "j"\n'
    for text, word in (
        (VIEWS + 'weights = "learned"', "Give a number for each table"),
        (VIEWS + 'output = "smoothed"', "output = 'smoothed' cannot be used"),
        (VIEWS + 'drawn_by = "neighbors"', "drawn_by = 'neighbors' cannot be used"),
        (
            VIEWS.replace("[blocks]", said.format("front", "back") + "[blocks]"),
            "Leave the links out",
        ),
        (VIEWS + "weights = {front = 0.0, back = 0.0}", "Give one above 0"),
    ):
        (tmp_path / "recipe.toml").write_text(text)
        with pytest.raises(ParameterError, match=word):
            hetviz.run_recipe(tmp_path / "recipe.toml", tmp_path / "out")


def test_run_large_does_not_depend_on_partitions(tmp_path: Path) -> None:
    made = Made()
    first = hetviz.run_recipe(made.write(tmp_path / "a"), tmp_path / "a" / "out")
    other = made.write(tmp_path / "b", rows=17, order=5, form="arrow")
    second = hetviz.run_recipe(other, tmp_path / "b" / "out")
    for name in ("genes", "drugs"):
        ids, Y = places(first, name)
        there, Z = places(second, name)
        assert ids != there
        np.testing.assert_allclose(aligned(there, Z, ids), Y, rtol=0, atol=1e-10)
    again = hetviz.run_recipe(first / "recipe.toml", tmp_path / "again")
    assert bytes_of(again) == bytes_of(first)


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Scheduler]:
    pytest.importorskip("distributed")
    # Processes begin with the program that started them: tests of pages leave their script there.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))
        with open_scheduler("local:2") as scheduler:
            yield scheduler


def test_run_large_is_byte_equal_for_all_schedulers(
    tmp_path: Path, two_workers: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Several parts of ids, as with millions of rows.
    monkeypatch.setattr("hetviz.runs.large.plan._IDS_PER_PART", 100)
    recipe = Made().write(tmp_path, rows=70)
    result = [
        bytes_of(hetviz.run_recipe(recipe, tmp_path / str(k), scheduler=scheduler))
        for k, scheduler in enumerate(("sync", "threads:3", two_workers))
    ]
    assert len(result[0]) == 2 + 2 + 1
    assert result[0] == result[1] == result[2]
    (tmp_path / "views").mkdir()
    views_of_things(tmp_path / "views")
    views = tmp_path / "views" / "recipe.toml"
    views.write_text(VIEWS)
    alike = [
        bytes_of(hetviz.run_recipe(views, tmp_path / f"views-{k}", scheduler=scheduler))
        for k, scheduler in enumerate(("sync", "threads:3", two_workers))
    ]
    assert alike[0] == alike[1] == alike[2]
    assert isinstance(two_workers, DaskScheduler) and two_workers.workers == 2
    record = json.loads((tmp_path / "2" / "scores.json").read_text())
    assert len(record["peak_mb"]) == 2 and record["scheduler"] == "local:2"
    # Nobody else on the network can reach them, and no page shows them.
    about = two_workers._client.scheduler_info()
    assert about["address"].startswith("tcp://127.0.0.1:")
    assert all(worker.startswith("tcp://127.0.0.1:") for worker in about["workers"])
    for path in ("status", "info/main/workers.html", "json/counts.json", "metrics"):
        page = f"http://127.0.0.1:{about['services']['dashboard']}/{path}"
        with pytest.raises(HTTPError, match="404"):
            urlopen(page, timeout=PATIENCE_S)


def test_run_large_survives_a_killed_worker(tmp_path: Path, two_workers: Scheduler) -> None:
    recipe = Made().write(tmp_path, rows=70)
    expected = bytes_of(hetviz.run_recipe(recipe, tmp_path / "whole"))
    assert isinstance(two_workers, DaskScheduler)
    killed: list[int] = []

    def progress(fraction: float, message: str = "", **figures: object) -> None:
        if message.startswith("Multiplying") and not killed:
            killed.extend(two_workers._client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    result = hetviz.run_recipe(recipe, tmp_path / "hurt", scheduler=two_workers, progress=progress)
    assert killed
    assert bytes_of(result) == expected
    assert wait_until(lambda: len(two_workers._client.nthreads()) == 2)


def test_remote_scheduler_uses_tls(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    from distributed import LocalCluster, Security

    security = Security.temporary()
    for name in ("tls_ca_file", "tls_client_cert", "tls_client_key"):
        (tmp_path / name).write_text(getattr(security, name))
    tls = TLS(*(tmp_path / n for n in ("tls_ca_file", "tls_client_cert", "tls_client_key")))
    recipe = Made().write(tmp_path, rows=130)
    expected = bytes_of(hetviz.run_recipe(recipe, tmp_path / "here"))
    with LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        host="127.0.0.1",
        protocol="tls://",
        security=security,
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        silence_logs=50,
    ) as cluster:
        there = cluster.scheduler_address
        assert there.startswith("tls://")
        with pytest.raises(ParameterError, match="--tls-ca"):
            hetviz.run_recipe(recipe, tmp_path / "no", scheduler=there)
        result = hetviz.run_recipe(
            recipe, tmp_path / "far", scheduler=there, tls=(tls.ca, tls.cert, tls.key)
        )
    assert bytes_of(result) == expected


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tcp://10.0.0.5:8786", "without TLS"),
        ("tcp://cluster.example:8786", "without TLS"),
        ("tls://cluster.example:8786", "needs --tls-ca"),
        ("ucx://10.0.0.5:8786", "must be sync"),
        ("http://127.0.0.1:8787", "must be sync"),
        ("tcp://127.0.0.1", "must be sync"),
        ("tls://:8786", "must be sync"),
        ("tcp://127.0.0.1:notaport", "must be sync"),
    ],
)
def test_open_scheduler_rejects_unsafe_addresses(address: str, words: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ParameterError, match=words), open_scheduler(address):
        pass
    nowhere = TLS(tmp_path / "ca", tmp_path / "cert", tmp_path / "key")
    if address.startswith("tls://cluster"):
        with pytest.raises(ParameterError, match="no such file"):
            check_address(address, nowhere)


@pytest.mark.parametrize("asked", ["", "dask", "threads", "local:0", "threads:9999", "local:-1"])
def test_open_scheduler_rejects_unknown_names(asked: str) -> None:
    with pytest.raises(ParameterError, match="must be"), open_scheduler(asked):
        pass


def test_recipe_rejects_a_scheduler_key(tmp_path: Path) -> None:
    recipe = Made().write(tmp_path)
    recipe.write_text('scheduler = "tls://elsewhere:8786"\n' + recipe.read_text())
    with pytest.raises(DataError, match="scheduler"):
        hetviz.run_recipe(recipe, tmp_path / "out")
    record = tmp_path / "small.toml"
    record.write_text('format = 1\ndata = "world"\nmethod = "pca"\n')
    with pytest.raises(ParameterError, match="recipes over files"):
        hetviz.run_recipe(record, tmp_path / "small", scheduler="threads:2")


def test_run_large_reports_unknown_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made()
    recipe = made.write(tmp_path)
    table = pq.read_table(tmp_path / "binds.parquet").to_pydict()
    for k in range(30):
        table["drug"][10 * k] = f"lost{k}"
    pq.write_table(pa.table(table), tmp_path / "binds.parquet")
    for parts in (1_000_000, 50):
        monkeypatch.setattr("hetviz.runs.large.plan._IDS_PER_PART", parts)
        with pytest.raises(DataError) as caught:
            hetviz.run_recipe(recipe, tmp_path / "out")
        words = str(caught.value)
        assert "30 of 305 links have ids" in words
        assert "lost0, lost1, " in words and "lost19" in words and "lost20" not in words
    recipe.write_text(
        recipe.read_text().replace('weight = "w"', 'weight = "w"\nunknown = "leave-out"')
    )
    out = hetviz.run_recipe(recipe, tmp_path / "out")
    assert json.loads((out / "scores.json").read_text())["left_out"] == {"binds": 30}


def test_run_large_reports_duplicate_ids(tmp_path: Path) -> None:
    made = Made()
    made.genes[100] = made.genes[3]
    with pytest.raises(DataError, match=f"two rows have this id.*{made.genes[3]}"):
        hetviz.run_recipe(made.write(tmp_path), tmp_path / "out")


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_run_large_reports_bad_features(bad: float, tmp_path: Path) -> None:
    made = Made()
    made.Z[47, 1] = bad
    with pytest.raises(DataError, match="drugs, row 48, column f1"):
        hetviz.run_recipe(made.write(tmp_path), tmp_path / "out")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('features = "x"', 'features = "y"', "no such column"),
        ('id = "gene"', 'id = "x"', "ids must be strings or whole numbers"),
        (
            'path = "binds.parquet"',
            'path = "https://h.example/b.parquet"',
            "only reads local files",
        ),
        ('path = "binds.parquet"', 'path = "recipe.toml"', "neither Parquet nor Arrow"),
        ('path = "genes/*.parquet"', 'path = "none/*.parquet"', "the file does not exist"),
        ('to = "drugs"', 'to = "dogs"', "is not the name of a table"),
        ("rows = 40", "rows = 0", "1 or more"),
        ("rows = 40", 'rows = "many"', "wrong kind"),
        ("rows = 40", "rows = 40\nrefine = -1", "refine must be 0 or more"),
        ("rows = 40", "rows = 40\nrefined_rows = 0", "refined_rows must be 1 or more"),
        ('method = "guided-projection"', 'method = "mkpe"\ntypo = 1', "typo"),
        ("[params]", '[limits]\nmax_memory = "lots"\n[params]', "max_memory must be like"),
        ('weight = "w"', "weight = 2", "between -1"),
    ],
)
def test_large_recipe_rejects_bad_content(
    before: str, after: str, words: str, tmp_path: Path
) -> None:
    recipe = Made().write(tmp_path)
    text = recipe.read_text()
    assert before in text
    recipe.write_text(text.replace(before, after, 1))
    with pytest.raises(DataError, match=words):
        hetviz.run_recipe(recipe, tmp_path / "out")


@pytest.mark.parametrize(
    ("method", "params", "words"),
    [
        ("guided-projection", 'gamma = "cv"', "cv"),
        ("guided-projection", 'kernel = "rbf"', "kernel"),
        ("guided-projection", 'variant = "anchor"', "anchor"),
        ("guided-projection", "n_components = 0", "n_components"),
        ("cca", 'features = "rbf"', "features"),
        ("umap", 'pins = [{place = "left", items = {drugs = ["d1"]}}]', "cannot pin items"),
    ],
)
def test_run_large_rejects_settings_that_need_all_rows(
    method: str, params: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ParameterError, match=words):
        hetviz.run_recipe(Made().write(tmp_path, method, params=params), tmp_path / "out")


def test_run_large_respects_limits(tmp_path: Path) -> None:
    more = '[limits]\nmax_memory = "100MB"\n'
    with pytest.raises(ParameterError, match="MB, and max_memory is 100 MB"):
        hetviz.run_recipe(Made().write(tmp_path, more=more), tmp_path / "out")
    more = '[limits]\nmax_time = "0s"\n'
    with pytest.raises(HetvizError, match="max_time"):
        hetviz.run_recipe(Made().write(tmp_path, more=more), tmp_path / "out")
    assert list(tmp_path.glob("out/.blocks*")) == []


@pytest.mark.parametrize("scheduler", ["sync", "threads:2"])
def test_cancelled_run_large_leaves_no_files(scheduler: str, tmp_path: Path) -> None:
    said = []

    def progress(fraction: float, message: str = "", **figures: object) -> None:
        said.append((fraction, message))
        if message.startswith("Multiplying"):
            raise Cancelled

    with pytest.raises(Cancelled):
        hetviz.run_recipe(
            Made().write(tmp_path), tmp_path / "out", progress=progress, scheduler=scheduler
        )
    shares = [fraction for fraction, _ in said]
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] <= 1
    assert list((tmp_path / "out").iterdir()) == []


def test_run_large_joins_views_by_ids(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 60
    Z = rng.normal(size=(n, 2))
    order = rng.permutation(n)
    views = {"a": (np.arange(n), Z @ rng.normal(size=(2, 4))), "b": (order, Z[order] * 2)}
    for name, (ids, X) in views.items():
        X = X + 0.1 * rng.normal(size=X.shape)
        views[name] = (ids, X)
        pq.write_table(
            pa.table({"id": ids, **{f"c{k}": X[:, k] for k in range(X.shape[1])}}),
            tmp_path / f"{name}.parquet",
        )
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        'format = 1\nmethod = "cca"\n[blocks]\nrows = 25\n'
        + "".join(f'[data.{n}]\npath = "{n}.parquet"\nid = "id"\nentity = "e"\n' for n in "ab")
    )
    out = hetviz.run_recipe(recipe, tmp_path / "out")
    data = hetviz.HeteroData(
        [hetviz.Dataset(n, list(map(str, ids)), X, entity="e") for n, (ids, X) in views.items()]
    )
    expected = hetviz.get_method("cca")().fit(data).embedding_.coordinates
    for name in "ab":
        np.testing.assert_allclose(places(out, name)[1], expected[name], atol=1e-9)


def test_run_large_by_landmarks_places_all_rows(tmp_path: Path) -> None:
    made = Made(n=400, m=300)
    recipe = made.write(tmp_path, "joint-spectral", rows=150)
    recipe.write_text(recipe.read_text().replace("landmarks = 60", "landmarks = 200"))
    spread: list[int] = []
    some_ids = steps.read_ids_of_block

    def listen(plan: Any, wanted: Any, number: int) -> list[str]:
        spread.extend([number] * len(wanted[number]))
        return some_ids(plan, wanted, number)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(steps, "read_ids_of_block", listen)
        first = hetviz.run_recipe(recipe, tmp_path / "a")
    second = hetviz.run_recipe(recipe, tmp_path / "b", scheduler="threads:2")
    for name in ("genes", "drugs"):
        assert np.array_equal(places(first, name)[1], places(second, name)[1])
        assert np.isfinite(places(first, name)[1]).all()
    record = json.loads((first / "scores.json").read_text())
    assert sum(record["landmarks"].values()) == 200
    # Landmarks come from everywhere: of three blocks of genes none has half of them.
    assert set(spread) == set(range(5)) and max(spread.count(k) for k in spread) < 70
    assert 0 < record["placement_error"]["median"] < 0.5
    assert record["scores"]["guidance_area"] > 0.6
    recipe.write_text(recipe.read_text().replace("joint-spectral", "lpp"))
    record = json.loads((hetviz.run_recipe(recipe, tmp_path / "c") / "scores.json").read_text())
    assert "placement_error" not in record and record["n_unplaced"] == 0


def write_linked_lines(folder: Path, blocks: str, method: str = "mr-sne") -> Path:
    """Write two tables of rows along lines, linked at equal positions."""
    rng = np.random.default_rng(0)
    n, links = 360, np.arange(0, 360, 2)
    line, place = np.repeat(np.arange(6), 60), np.tile(np.linspace(0, 3, 60), 6)
    for name in "ab":
        ways = rng.normal(size=(2, 6, 4))
        X = 6 * ways[0][line] + place[:, None] * ways[1][line] + 0.02 * rng.normal(size=(n, 4))
        order = rng.permutation(n)
        columns = {"id": order, **{f"x{c}": X[order, c] for c in range(4)}}
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    pq.write_table(pa.table({"i": links, "j": links}), folder / "links.parquet")
    tables = "".join(f'[data.{t}]\npath = "{t}.parquet"\nid = "id"\n' for t in "ab")
    recipe = folder / "recipe.toml"
    recipe.write_text(
        f'format = 1\nmethod = "{method}"\n{tables}[guidance.links]\npath = "links.parquet"\n'
        f'from = "a"\nto = "b"\ni = "i"\nj = "j"\n[blocks]\nrows = 150\nlandmarks = 120\n{blocks}\n'
    )
    return recipe


def record_of(folder: Path) -> Any:
    return json.loads((folder / "scores.json").read_text())


def test_refinement_keeps_more_neighbours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = {}
    for blocks in ("refine = 0", "", "refined_rows = 400"):
        recipe = write_linked_lines(tmp_path, blocks)
        assert main(["run", str(recipe), "--out", str(tmp_path / "out")]) == 0
        result[blocks] = record_of(tmp_path / "out")
    told = capsys.readouterr().out
    assert "50 iterations of 720 rows: median movement" in told
    assert "rows, other rows placed by them: median movement" in told
    _, embedding = hetviz.load_run(tmp_path / "out")
    assert "were then moved towards similar and linked rows" in embedding.note
    before, after, some = (one["scores"]["neighbors_kept"] for one in result.values())
    assert after > before + 0.1 and some > before + 0.05
    assert "refinement" not in result["refine = 0"]
    done = result[""]["refinement"]
    assert done["rows"] == {"a": 360, "b": 360} and done["iterations"] == 50
    assert done["recall"] == {"a": 1.0, "b": 1.0} and 0 < done["moved"] < 0.5
    assert done["placement_error"]["median"] < result[""]["placement_error"]["median"]
    few = result["refined_rows = 400"]
    assert sum(few["refinement"]["rows"].values()) == pytest.approx(400, abs=4)
    assert few["n_unplaced"] == 0


@pytest.mark.parametrize("method", ["mr-sne", "umap"])
def test_refinement_does_not_depend_on_scheduler(
    method: str, tmp_path: Path, two_workers: Scheduler
) -> None:
    recipe = write_linked_lines(tmp_path, "refine = 3\nrefined_rows = 300", method)
    one = hetviz.run_recipe(recipe, tmp_path / "one")
    two = hetviz.run_recipe(recipe, tmp_path / "two", scheduler=two_workers)
    assert record_of(one)["coordinates_sha256"] == record_of(two)["coordinates_sha256"]
    assert record_of(one)["refinement"]["iterations"] == 3


def test_refined_rows_follow_the_memory_limit(tmp_path: Path) -> None:
    recipe = write_linked_lines(tmp_path, "")
    text = recipe.read_text()
    assert large_recipe_at(recipe).refined_rows >= 720
    recipe.write_text(f'{text}[limits]\nmax_memory = "350.5MB"\n')
    less = large_recipe_at(recipe)
    assert 120 < less.refined_rows < 720
    recipe.write_text(f'{text}refined_rows = 700\n[limits]\nmax_memory = "350.5MB"\n')
    assert large_recipe_at(recipe).refined_rows == 700


def test_umap_is_refined_only_on_request(tmp_path: Path) -> None:
    record = record_of(
        hetviz.run_recipe(write_linked_lines(tmp_path, "", "umap"), tmp_path / "out")
    )
    assert "refinement" not in record and record["placement_error"]["median"] >= 0


def test_neighbors_kept_counts_neighbours_among_all_rows(tmp_path: Path) -> None:
    out = hetviz.run_recipe(write_linked_lines(tmp_path, "refine = 0"), tmp_path / "out")
    shares = []
    for name in "ab":
        table = pq.read_table(tmp_path / f"{name}.parquet")
        X = np.column_stack([table.column(f"x{c}") for c in range(4)])
        near = []
        for Z in (X, places(out, name)[1]):
            D = ((Z[:, None] - Z) ** 2).sum(axis=2)
            np.fill_diagonal(D, np.inf)
            near.append(np.argsort(D, axis=1)[:, :10])
        shares += [len(set(a) & set(b)) / 10 for a, b in zip(*near, strict=True)]
    record = record_of(out)
    error = record["standard_errors"]["neighbors_kept"]
    assert record["scores"]["neighbors_kept"] == pytest.approx(np.mean(shares), abs=3 * error)


def test_area_equals_mann_whitney() -> None:
    assert mann_whitney_area(np.array([1.0, 2.0]), np.array([3.0, 4.0]))[0] == 1.0
    assert mann_whitney_area(np.array([1.0, 5.0]), np.array([1.0, 4.0]))[0] == (0.5 + 1 + 0 + 0) / 4
    assert mann_whitney_area(np.array([1.0, 5.0]), np.array([1.0, 4.0]), -1)[0] == 1 - 1.5 / 4
    rng = np.random.default_rng(0)
    drawn = [
        mann_whitney_area(rng.normal(size=60), rng.normal(0.5, 1.0, size=80)) for _ in range(300)
    ]
    values, errors = np.array(drawn).T
    assert abs(values.std() / errors.mean() - 1) < 0.15


def test_sampled_scores_agree_with_all_pairs(tmp_path: Path) -> None:
    made = Made()
    out = hetviz.run_recipe(made.write(tmp_path), tmp_path / "out")
    record = json.loads((out / "scores.json").read_text())
    data = made.data()
    exact = hetviz.evaluate(data, hetviz.get_method("guided-projection")().fit(data).embedding_)
    error = record["standard_errors"]["guidance_area"]
    assert 0 < error < 0.05
    assert abs(record["scores"]["guidance_area"] - exact.values["guidance_area"]) < 4 * error


def test_command_line_runs_a_large_recipe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    recipe = Made().write(tmp_path)
    assert main(["run", str(recipe), "--check"]) == 0
    assert "genes: 130 rows of 5 features" in capsys.readouterr().out
    words = ["run", str(recipe), "--out", str(tmp_path / "out"), "--scheduler", "threads:2"]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "220 of 220 rows placed" in told and "guidance_area" in told and "peak memory of" in told
    assert main([*words[:4], "--scheduler", "tcp://10.1.2.3:8786"]) == 1
    assert "without TLS" in capsys.readouterr().err
    assert main([*words[:4], "--tls-ca", "ca.pem"]) == 1
    capsys.readouterr()
    assert main(["diagnostics", str(tmp_path / "out")]) == 1
    assert "coordinates/*/*.parquet" in capsys.readouterr().err


def test_serial_scheduler_adds_in_a_tree() -> None:
    beats: list[float] = []
    loop = SerialScheduler()
    assert loop.map(lambda k: k * k, range(5), beats.append) == [0, 1, 4, 9, 16]
    assert loop.sum(lambda k: k * k, range(5), sum, beats.append) == 30
    assert beats == [0.0, 0.2, 0.4, 0.6, 0.8] * 2
