from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hetviz
from hetviz.algorithms.guided_projection import GuidedProjection
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import (
    DataWarning,
    NotApplicableError,
    ParameterError,
    UnboundedProblemError,
)
from hetviz.metrics.fit.summary import evaluate

FIXTURES = Path(__file__).parents[1] / "fixtures"


def ids(n: int, letter: str = "r") -> list[str]:
    return [f"{letter}{k}" for k in range(n)]


def test_identity_links_on_two_views_give_canonical_correlations() -> None:
    with np.load(FIXTURES / "mfeat_fou_zer.npz") as file:
        fou, zer = (np.asarray(file[name], dtype=np.float64) for name in ("fou", "zer"))
    fou, zer = ((X - X.mean(0)) / X.std(0) for X in (fou, zer))
    n = len(fou)
    data = HeteroData(
        [Dataset("fou", ids(n), fou), Dataset("zer", ids(n), zer)],
        [Links("fou", "zer", np.arange(n), np.arange(n))],
    )
    model = GuidedProjection(n_components=5, gamma=0.0).fit(data)
    expected = [0.949179, 0.885352, 0.838363, 0.810261, 0.765685]
    np.testing.assert_allclose(model.agreement_[0], expected, atol=1e-6)


def test_tied_views_equal_identity_links() -> None:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 2))
    first, second = Z @ rng.normal(size=(2, 4)), Z @ rng.normal(size=(2, 3))
    first, second = (X + 0.1 * rng.normal(size=X.shape) for X in (first, second))
    views = HeteroData(
        [Dataset("a", ids(50), first, entity="e"), Dataset("b", ids(50)[::-1], second, entity="e")]
    )
    linked = HeteroData(
        [Dataset("a", ids(50), first), Dataset("b", ids(50)[::-1], second)],
        [Links("a", "b", np.arange(50), np.arange(50)[::-1])],
    )
    tied = GuidedProjection().fit(views).embedding_
    with_links = GuidedProjection().fit(linked).embedding_
    np.testing.assert_allclose(tied.stacked(), with_links.stacked(), atol=1e-9)
    with pytest.raises(NotApplicableError, match="needs links"):
        GuidedProjection(tie_views=False).fit(views)


def test_two_points_per_dataset_exactly() -> None:
    data = HeteroData(
        [Dataset("x", ids(2), [[1.0], [-1.0]]), Dataset("y", ids(2, "s"), [[2.0], [-2.0]])],
        [Links("x", "y", [0, 1], [0, 1])],
    )
    with pytest.warns(DataWarning, match="Only 1 of 2 axes"):
        model = GuidedProjection(gamma=0.0).fit(data)
    np.testing.assert_allclose(model.agreement_[0], [1.0], atol=1e-12)
    Y = model.embedding_.coordinates
    np.testing.assert_allclose(Y["x"], Y["y"], atol=1e-12)
    np.testing.assert_allclose(np.abs(Y["x"]), 0.5, atol=1e-12)


def three_datasets() -> HeteroData:
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(60, 2))
    parts = [
        Dataset(name, ids(60, name), Z @ rng.normal(size=(2, d)) + 0.2 * rng.normal(size=(60, d)))
        for name, d in (("a", 5), ("b", 4), ("c", 3))
    ]
    chain = [Links("a", "b", range(60), range(60)), Links("b", "c", range(60), range(60))]
    return HeteroData(parts, chain)


def test_indirectly_linked_datasets_are_aligned() -> None:
    data = three_datasets()
    train, held_out = data.holdout(links=0.3)
    embedding = GuidedProjection().fit(train).embedding_
    scores = evaluate(train, embedding, held_out).to_dict()
    assert scores["guidance_area"] > 0.9
    assert scores["guidance_area_held_out"] > 0.85
    through = HeteroData(data.datasets, [Links("a", "c", range(60), range(60))])
    assert evaluate(through, embedding).to_dict()["guidance_area"] > 0.85


def test_gaussian_kernel_fits_nonlinear_links() -> None:
    angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    rng = np.random.default_rng(0)
    radius = np.where(np.arange(80) % 2 == 0, 1.0, 3.0)
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    ring += 0.05 * rng.normal(size=ring.shape)
    data = HeteroData(
        [Dataset("points", ids(80), ring), Dataset("ring", ["inner", "outer"])],
        [Links("points", "ring", np.arange(80), np.arange(80) % 2)],
    )
    area = {
        kernel: evaluate(
            data, GuidedProjection(kernel=kernel, n_components=1).fit(data).embedding_
        ).to_dict()["guidance_area"]
        for kernel in ("linear", "rbf")
    }
    assert area["rbf"] > 0.7 > area["linear"]


def test_linear_features_equal_linear_kernel() -> None:
    data = three_datasets()
    kernels = HeteroData(
        [
            Dataset(name, part.ids, kernel=np.asarray(part.X) @ np.asarray(part.X).T)
            for name, part in data.datasets.items()
        ],
        data.links,
    )
    plain = GuidedProjection(gamma=1e-6).fit(data).embedding_.stacked()
    through = GuidedProjection(gamma=1e-6, kernel="precomputed").fit(kernels).embedding_.stacked()
    signs = np.sign((plain * through).sum(axis=0))
    np.testing.assert_allclose(plain, through * signs, atol=1e-3)


def test_negative_links_separate_their_pairs() -> None:
    data = three_datasets()
    apart = Links("a", "b", [0, 1], [0, 1], [-1.0, -1.0])
    positive = Links("a", "b", range(2, 60), range(2, 60))
    more = HeteroData(data.datasets, [positive, apart, data.links[1]])
    without = HeteroData(data.datasets, [positive, data.links[1]])
    pushed, plain = (GuidedProjection().fit(part).embedding_ for part in (more, without))
    with_apart, judged = (evaluate(more, part).to_dict() for part in (pushed, plain))
    assert with_apart["negative_guidance_area"] > judged["negative_guidance_area"]
    assert abs(with_apart["guidance_area"] - judged["guidance_area"]) < 0.02


def test_few_negative_links_hardly_change_the_map() -> None:
    data = hetviz.load("emoji")
    without = HeteroData(data.datasets, [g for g in data.links if (g.weight > 0).all()])
    areas = [
        evaluate(data, GuidedProjection().fit(part).embedding_).to_dict()["guidance_area"]
        for part in (data, without)
    ]
    assert min(areas) > 0.65
    assert abs(areas[0] - areas[1]) < 0.02


def test_only_negative_links_are_refused() -> None:
    data = three_datasets()
    negative = HeteroData(data.datasets, [Links("a", "b", [0, 1], [1, 0], -1.0)])
    with pytest.raises(NotApplicableError, match=r"All links keep items apart.*belong together"):
        GuidedProjection().fit(negative)


def test_unbounded_anchor_variant_is_refused() -> None:
    rng = np.random.default_rng(0)
    parts = [Dataset(name, ids(60, name), rng.normal(size=(60, 4))) for name in "ab"]
    links = [
        Links("a", "b", range(30), range(30)),
        Links("b", "b", range(0, 59), range(1, 60), -1.0),
    ]
    with pytest.raises(UnboundedProblemError, match=r"\bb\b"):
        GuidedProjection(variant="anchor", signed="paper").fit(HeteroData(parts, links))


def test_dataset_without_links_is_left_off_with_a_warning() -> None:
    data = three_datasets()
    lone = HeteroData(data.datasets, data.links[:1])
    with pytest.warns(DataWarning, match="c has no links"):
        model = GuidedProjection().fit(lone)
    assert not model.embedding_.placed["c"].any()
    assert model.embedding_.components["c"] != model.embedding_.components["a"]
    assert model.diagnostics_["unguided"] == ["c"]


def test_unconnected_datasets_each_get_all_axes() -> None:
    data = three_datasets()
    fourth = Dataset("d", ids(60, "d"), np.asarray(data["a"].X)[:, :2])
    links = [Links("a", "b", range(60), range(60)), Links("c", "d", range(60), range(60))]
    embedding = GuidedProjection().fit(HeteroData([*data.datasets.values(), fourth], links))
    for Y in embedding.embedding_.coordinates.values():
        assert (Y.std(axis=0) > 0).all()
    components = embedding.embedding_.components
    assert components["a"] == components["b"] != components["c"] == components["d"]


def test_new_tag_is_placed_by_its_links() -> None:
    data = three_datasets()
    tags = Dataset("tags", ["t0", "t1", "t2"])
    # t1 and t2 have the same links, so a new tag with these links is a twin.
    rows = np.r_[np.arange(30), np.arange(30, 60), np.arange(30, 60)]
    tagged = Links("a", "tags", rows, np.repeat([0, 1, 2], 30))
    model = GuidedProjection().fit(data.edit().add(tags, tagged))
    new = model.transform(
        Dataset("tags", ["fresh", "lonely"]),
        links=[("tags", "fresh", "a", f"a{k}") for k in range(30, 60)],
    )
    old = model.embedding_.coordinates["tags"]
    np.testing.assert_allclose(new.coordinates["tags"][0], old[2], atol=1e-8)
    assert new.placed["tags"].tolist() == [True, False]


def test_feature_scale_and_dataset_order_do_not_matter() -> None:
    data = three_datasets()
    plain = GuidedProjection().fit(data).embedding_
    scaled = HeteroData(
        [
            Dataset(name, part.ids, 1e3 * np.asarray(part.X) + 7.0)
            for name, part in data.datasets.items()
        ],
        data.links,
    )
    again = GuidedProjection().fit(scaled).embedding_
    turned = GuidedProjection().fit(data.edit().reorder(["c", "a", "b"])).embedding_
    for name in data.datasets:
        for other in (again, turned):
            Y, Z = plain.coordinates[name], other.coordinates[name]
            np.testing.assert_allclose(Y, Z * np.sign((Y * Z).sum(axis=0)), atol=1e-6)


def test_features_parameter_by_dataset() -> None:
    data = three_datasets()
    model = GuidedProjection(features={"a": "rbf", "b": "featureless"}).fit(data)
    assert model.diagnostics_["features"] == {"a": "rbf", "b": "featureless", "c": "linear"}
    with pytest.raises(ParameterError, match="dataset 'a' has none"):
        GuidedProjection(features={"a": "precomputed"}).fit(data)
    with pytest.raises(ParameterError, match="unknown datasets"):
        GuidedProjection(features={"z": "rbf"}).fit(data)


def test_cross_validation_chooses_ridge_and_axes() -> None:
    data = three_datasets()
    model = GuidedProjection(gamma="cv", n_components="cv").fit(data)
    chosen = model.diagnostics_["chosen"]
    areas = model.diagnostics_["held_out_area"]
    best = max((area, key, k) for key, row in areas.items() for k, area in row.items())
    assert areas[f"{chosen['gamma']:g}"][str(chosen["n_components"])] == pytest.approx(best[0])
    diagnostic = model.embedding_.diagnostics["chosen"]
    assert next(iter(diagnostic.values.values())) == pytest.approx(best[0])
    by_hand = GuidedProjection(gamma=chosen["gamma"], n_components=chosen["n_components"])
    np.testing.assert_array_equal(
        by_hand.fit(data).embedding_.stacked(), model.embedding_.stacked()
    )
    only_ridge = GuidedProjection(gamma="cv").fit(data)
    assert only_ridge.embedding_.n_components == 2
    with pytest.raises(ParameterError, match="variant='block'"):
        GuidedProjection(gamma="cv", variant="anchor").fit(data)
