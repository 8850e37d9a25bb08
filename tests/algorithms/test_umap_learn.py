"""Graph, engine and layout compared with umap-learn."""

from __future__ import annotations

import hashlib
import importlib
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.algorithms.umap import UMAP
from hetviz.core.layout.umap import fuzzy_graph
from hetviz.core.layout.umap_learn import learned_graph, umap_settings
from hetviz.data import Dataset, HeteroData, Labels, Links
from hetviz.errors import NotApplicableError, ParameterError
from hetviz.features.spaces.affinities import dataset_neighbors
from hetviz.metrics.fit.summary import evaluate

RNG = np.random.default_rng(3)
GROUP = np.arange(180) % 4
X = 4.0 * RNG.normal(size=(4, 8))[GROUP] + RNG.normal(size=(180, 8))
IDS = [f"i{k}" for k in range(180)]
ITEMS = Dataset("items", IDS, X)
DATA = HeteroData([ITEMS], labels=[Labels("items", "group", GROUP.tolist())])


@pytest.fixture(autouse=True)
def graph_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        umap = importlib.import_module("umap.umap_")
    for name in ("smooth_knn_dist", "compute_membership_strengths"):
        # To compile them takes longer than they do as plain Python.
        monkeypatch.setattr(umap, name, getattr(umap, name).py_func)


def theirs(**params: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import umap

        return umap.UMAP(random_state=0, n_jobs=1, **params)


def fitted(data: HeteroData = DATA, **params: Any) -> np.ndarray:
    return UMAP(**params).fit(data).embedding_.coordinates["items"]


def test_graph_equals_umap_learn() -> None:
    ours = fuzzy_graph(dataset_neighbors(ITEMS, 14))
    learned = learned_graph(
        X, None, umap_settings(n_neighbors=15, metric="euclidean", random_state=0)
    )
    assert abs(ours - learned).max() < 1e-4
    assert learned.nnz > 1000


@pytest.mark.parametrize(
    "params", [{}, {"metric": "cosine"}, {"min_dist": 0.5, "n_neighbors": 8}, {"densmap": True}]
)
@pytest.mark.filterwarnings("ignore")
def test_engine_equals_umap_learn(params: dict[str, Any]) -> None:
    expected = theirs(n_epochs=50, **params).fit_transform(X)
    np.testing.assert_array_equal(fitted(engine="umap-learn", n_epochs=50, **params), expected)


@pytest.mark.filterwarnings("ignore")
def test_target_separates_classes_like_umap_learn() -> None:
    expected = theirs(n_epochs=50, target_weight=0.8).fit_transform(X, GROUP)
    engine_map = fitted(engine="umap-learn", n_epochs=50, target="items:group", target_weight=0.8)
    np.testing.assert_array_equal(engine_map, expected)
    # Classes that the features do not know.
    classes = np.random.default_rng(2).permutation(GROUP)
    data = HeteroData([ITEMS], labels=[Labels("items", "class", classes.tolist())])
    separated = fitted(data, n_epochs=50, target="items:class")
    plain = fitted(data, n_epochs=50)
    assert _apart(separated, classes) > 1.5 * _apart(plain, classes)


def _apart(Y: np.ndarray, classes: np.ndarray) -> float:
    middle = np.array([Y[g == classes].mean(axis=0) for g in range(4)])
    within = np.mean([np.linalg.norm(Y[g == classes] - middle[g], axis=1).mean() for g in range(4)])
    return float(np.linalg.norm(middle[:, None] - middle, axis=2).mean() / within)


def test_views_of_the_same_items_are_joined_by_id() -> None:
    turned = np.roll(np.arange(180), 7)
    two = HeteroData(
        [
            Dataset("items", IDS, X[:, :4], entity="thing"),
            Dataset("others", [IDS[k] for k in turned], X[turned][:, 4:], entity="thing"),
        ]
    )
    embedding = UMAP(engine="umap-learn", n_epochs=30).fit(two).embedding_
    np.testing.assert_array_equal(
        embedding.coordinates["items"][turned], embedding.coordinates["others"]
    )
    assert UMAP(n_epochs=30).fit(two).embedding_.n_unplaced == 0


def test_metric_is_used_with_links() -> None:
    lone = Dataset("tags", ["a", "b"])
    linked = HeteroData([ITEMS, lone], [Links("items", "tags", range(20), np.arange(20) % 2)])
    by = {m: fitted(linked, n_epochs=30, metric=m) for m in ("euclidean", "cosine")}
    assert np.abs(by["euclidean"] - by["cosine"]).max() > 1e-3


def test_hetviz_layout_shows_as_many_neighbours() -> None:
    ours = evaluate(DATA, UMAP().fit(DATA).embedding_).to_dict()
    learned = evaluate(DATA, UMAP(engine="umap-learn").fit(DATA).embedding_).to_dict()
    assert ours["trustworthiness"] > learned["trustworthiness"] - 0.02
    assert learned["trustworthiness"] > 0.85


def test_sparse_features_kernels_and_distances() -> None:
    near = np.linalg.norm(X[:, None] - X, axis=2)
    for dataset in (
        Dataset("items", IDS, sp.csr_array(np.maximum(X, 0))),
        Dataset("items", IDS, kernel=X @ X.T),
        Dataset("items", IDS, distance=near),
    ):
        assert np.isfinite(fitted(HeteroData([dataset]), n_epochs=20)).all()
    by_distance = fitted(
        HeteroData([Dataset("items", IDS, distance=near)]), n_epochs=20, engine="umap-learn"
    )
    assert np.isfinite(by_distance).all()


@pytest.mark.parametrize(
    ("data", "params", "error", "words"),
    [
        (DATA, {"densmap": True}, NotApplicableError, "engine"),
        (
            HeteroData([ITEMS], [Links("items", "items", [0], [1])]),
            {"engine": "umap-learn"},
            NotApplicableError,
            "cannot use links",
        ),
        (
            HeteroData([ITEMS, Dataset("b", ["x", "y"], np.eye(2))]),
            {"engine": "umap-learn"},
            NotApplicableError,
            "views of the same items",
        ),
        (DATA, {"target": "items:colour"}, ParameterError, "items:group"),
        (DATA, {"metric": "euclid"}, ParameterError, "metric"),
    ],
)
def test_umap_learn_engine_refusals(
    data: HeteroData, params: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        UMAP(**params).fit(data)


def test_new_items_are_placed_on_umap_learn_layouts() -> None:
    model = UMAP(engine="umap-learn", n_epochs=100).fit(DATA)
    placed = model.transform(Dataset("items", ["new"], X[:1] + 0.01)).coordinates["items"]
    Y = model.embedding_.coordinates["items"]
    assert np.linalg.norm(placed[0] - Y[0]) < 0.2 * np.ptp(Y)


def maps() -> list[str]:
    """Return the digests of a map by each engine."""
    X = np.random.default_rng(0).normal(size=(150, 30))
    data = HeteroData([Dataset("items", [str(k) for k in range(150)], X)])
    return [
        hashlib.sha256(fitted(data, engine=engine, n_epochs=40).tobytes()).hexdigest()
        for engine in ("hetviz", "umap-learn")
    ]


SCRIPT = """
import warnings
warnings.simplefilter("ignore")
import numba
from threadpoolctl import threadpool_limits
from tests.algorithms.test_umap_learn import maps
for n in (1, 2):
    numba.set_num_threads(n)
    with threadpool_limits(n):
        print(*maps())
"""


def test_map_does_not_depend_on_threads() -> None:
    """Compare in a process with two threads, so that only one compiles."""
    two = {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={"PATH": "", "PYTHONPATH": ".", **two},
        capture_output=True,
        text=True,
        check=True,
    )
    with_one, with_two = done.stdout.splitlines()
    assert with_one == with_two
    assert len(set(with_one.split())) == 2
