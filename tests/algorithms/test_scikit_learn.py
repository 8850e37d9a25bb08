"""Methods behave as scikit-learn's estimators do, as far as that makes sense for several datasets.

The whole of `check_estimator` runs on principal components, the method of one table. What it asks
that makes no sense here is listed in `EXCUSED` with the reason, and each of these must still fail:
a reason that no longer holds is taken out. Checks that never fit run on every method.
"""

from __future__ import annotations

import contextlib
import inspect
import warnings
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd
import polars
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

import hetviz
from hetviz import Comparisons, Dataset, HeteroData, HoldoutSplits, Links
from hetviz.algorithms.base import BaseEmbedder
from hetviz.errors import DataError, DataWarning, HetvizError, ParameterError

KEYS = [card.key for card in hetviz.methods()]
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(40, 3))
DATA = HeteroData(
    [
        Dataset("a", [f"a{k}" for k in range(40)], Z @ RNG.normal(size=(3, 6))),
        Dataset("b", [f"b{k}" for k in range(40)], Z @ RNG.normal(size=(3, 5))),
    ],
    Links("a", "b", range(40), range(40)),
)

WITHOUT_FIT = (
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_set_params,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_valid_tag_types,
    estimator_checks.check_estimator_tags_renamed,
)


@pytest.mark.parametrize("key", KEYS)
def test_estimator_checks_without_fit(key: str) -> None:
    model = hetviz.get_method(key)()
    for check in WITHOUT_FIT:
        check(key, clone(model))


@pytest.mark.parametrize("key", KEYS)
def test_all_methods_have_estimator_methods(key: str) -> None:
    model = hetviz.get_method(key)()
    assert isinstance(model, BaseEmbedder)
    assert model.set_output(transform="default") is model
    for call in ("transform", "score"):
        with pytest.raises(HetvizError, match=r"call fit before|cannot place new"):
            getattr(model, call)(DATA)


def test_grid_search_by_held_out_links() -> None:
    splits = HoldoutSplits(DATA, 3, links=0.25)
    model = hetviz.get_method("guided-projection")()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GridSearchCV(model, {"gamma": [0.01, 10.0]}, cv=splits).fit(splits)
        alone = []
        for seed in range(3):
            train, held_out = DATA.holdout(links=0.25, random_state=seed)
            alone.append(clone(model).set_params(gamma=0.01).fit(train).score(held_out))
        scores = cross_val_score(clone(model).set_params(gamma=0.01), splits, cv=splits)
    np.testing.assert_array_equal(scores, alone)
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(alone))
    assert search.best_score_ > 0.8
    assert search.best_estimator_.embedding_.n_rows == 80


def test_splits_equal_holdout() -> None:
    compared = Comparisons([[0, 1, 2], [3, 4, 5], [6, 7, 8], [1, 2, 3]])
    data = HeteroData(DATA.datasets, DATA.links, compared)
    splits = HoldoutSplits(data, 2, links=0.3, comparisons=0.5, random_state=4)
    assert len(splits) == splits.shape[0] == 44
    assert splits.get_n_splits() == 2
    for seed, (train, held_out) in zip((4, 5), splits.split(), strict=True):
        first, second = data.holdout(0.3, 0.5, random_state=seed)
        assert splits[train].data.fingerprint() == first.fingerprint()
        assert splits[held_out, ...].data.fingerprint() == second.fingerprint()


def test_outputs_are_arrays_frames_or_embeddings() -> None:
    X = DATA["a"].X
    model = hetviz.get_method("pca")()
    Y = model.fit_transform(X)
    assert isinstance(Y, np.ndarray)
    assert Y.shape == (40, 2)
    assert model.n_features_in_ == 6
    np.testing.assert_allclose(model.transform(X[:3]), Y[:3])
    frame = model.set_output(transform="pandas").fit_transform(X)
    assert list(frame.columns) == list(model.get_feature_names_out()) == ["pca0", "pca1"]
    table = pd.DataFrame(X, columns=list("uvwxyz"), index=[f"r{k}" for k in range(40)])
    named = model.fit_transform(table)
    assert named.index.tolist() == table.index.tolist()
    assert model.feature_names_in_.tolist() == list("uvwxyz")
    both = hetviz.get_method("pca")()
    assert isinstance(both.fit_transform(DATA), hetviz.Embedding)
    assert not hasattr(both, "n_features_in_")
    assert isinstance(both.set_output(transform="pandas").fit_transform(DATA), pd.DataFrame)
    assert both.set_output(transform="polars").fit_transform(DATA).columns[:2] == ["dataset", "id"]
    rows = model.set_output(transform="polars").fit_transform(table)
    assert isinstance(rows, polars.DataFrame)
    np.testing.assert_array_equal(rows.to_numpy(), named.to_numpy())
    with pytest.raises(ParameterError, match="polars"):
        both.set_output(transform="arrow")


def test_pipeline_with_a_method_at_the_end() -> None:
    Y = make_pipeline(StandardScaler(), hetviz.get_method("pca")()).fit_transform(DATA["a"].X)
    assert Y.shape == (40, 2)


def test_score_and_fit_errors() -> None:
    model = hetviz.get_method("pca")().fit(DATA)
    with pytest.raises(HetvizError, match=r"data\.holdout"):
        model.score(HeteroData(DATA.datasets))
    with pytest.raises(DataError, match="from_frames"):
        model.fit({"a": DATA["a"].X})


EXCUSED = {
    "check_fit_score_takes_y": (
        "fit takes data, a callback and an earlier map; what scikit-learn passes as y is not used, "
        "and is only looked for by its name"
    ),
    "check_n_features_in_after_fitting": "the message is our own: columns, what was fitted, remedy",
    "check_complex_data": "refused with our own words: the values are not all numbers",
    "check_estimators_empty_data_messages": "refused with our own words: no rows, no columns",
    "check_fit2d_predict1d": "refused with our own words, which name the call to reshape",
    "check_dtype_object": "an object that is no number is refused in our own words",
    "check_pipeline_consistency": "score needs held-out links, and a table by itself has none",
}


def excused(estimator: Any) -> dict[str, str]:
    return EXCUSED


# scikit-learn 1.7 has no tag for it.
HAS_STRICT = (
    "xfail_strict" in inspect.signature(estimator_checks.parametrize_with_checks).parameters
)


@estimator_checks.parametrize_with_checks(
    [hetviz.get_method("pca")()],
    expected_failed_checks=excused,
    **({"xfail_strict": True} if HAS_STRICT else {}),
)
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(estimator: Any, check: Any) -> None:
    # Checks that do not apply raise SkipTest.
    with contextlib.suppress(SkipTest):
        check(estimator)


def test_target_and_missing_axes_are_named() -> None:
    X = np.arange(12.0).reshape(12, 1) ** 2
    for call in (lambda y: hetviz.PCA().fit(X, y), lambda y: hetviz.PCA().fit_transform(X, y)):
        with pytest.warns(DataWarning, match=r"y is not used.*links_from_labels"):
            call(np.repeat([0, 1], 6))
        call(None)
    note = hetviz.PCA().fit(X).embedding_.note
    assert note == "Principal components: 1 of 2 axes for items"
