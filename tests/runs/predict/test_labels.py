"""Label prediction: tables, held-out errors, transfer, decisions and rejected input."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz import Dataset, HeteroData, Labels, Links
from hetviz.errors import DataError, NotApplicableError, ParameterError
from hetviz.jobs.tasks.predict import find_labels
from hetviz.progress import ignore_progress
from hetviz.runs.predict.label_scores import error_of, joined_source, split_labels

pytestmark = pytest.mark.filterwarnings("ignore::hetviz.errors.DataWarning")


def two_views(n: int = 120, seed: int = 0) -> HeteroData:
    """Return two views of one entity, a relation within, and a whole number as label."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2))
    ids = [f"i{k}" for k in range(n)]
    a = Dataset("a", ids, Z @ rng.normal(size=(2, 4)), entity="thing")
    b = Dataset("b", ids[30:], Z[30:] @ rng.normal(size=(2, 3)), entity="thing")
    digit = [None if k % 3 == 0 else int(Z[k, 0] > 0) + 3 for k in range(n)]
    near = Links("a", "a", np.arange(n - 1), np.arange(1, n), kind="near", role="relation")
    return HeteroData([a, b], [near], None, [Labels("a", "digit", digit)])


def source_and_target(n: int = 200, seed: int = 0, *, linked: bool = True) -> HeteroData:
    """Return two datasets of the same clouds in other features, labels 0-2 and letters."""
    rng = np.random.default_rng(seed)
    centre = np.array([[4.0, 0, 0], [0, 4, 0], [0, 0, 4]])
    kind = rng.integers(0, 3, n)
    Z = centre[kind] + rng.normal(size=(n, 3))
    target = Dataset("target", [f"t{k}" for k in range(n)], Z @ rng.normal(size=(3, 6)))
    source = Dataset("source", [f"s{k}" for k in range(n)], Z @ rng.normal(size=(3, 5)))
    links = [Links("target", "source", np.arange(n), np.arange(n))] if linked else []
    own = Labels("target", "kind", kind)
    letters = Labels("source", "letter", np.array(["a", "b", "c"])[kind])
    return HeteroData([target, source], links, None, [own, letters])


def test_predict_labels_table_keeps_known_labels() -> None:
    data = two_views()
    prediction = hetviz.predict_labels(data, "a", "digit", n_rounds=15, repeats=2)
    table = prediction.table
    given = data.labels[0].values
    known = np.array([value is not None for value in given])
    assert table["id"].tolist() == list(data["a"].ids)
    assert table["known"].tolist() == known.tolist()
    assert [type(value) for value in table["label"]] == [int] * len(table)
    assert (table["label"][known] == given[known].astype(int)).all()
    np.testing.assert_allclose(table["doubt"], 1 - table["probability"])
    held_out = prediction.held_out.set_index("model")
    assert list(held_out.index) == ["gbc", "a alone", "b alone", "vote", "joined features", "guess"]
    assert held_out.loc["gbc", "error"] < held_out.loc["guess", "error"]
    assert (held_out["repeats"] == 2).all()
    assert held_out.loc["b alone", "n"] < held_out.loc["gbc", "n"]
    assert prediction.weights["round"].max() == 15
    assert set(prediction.weights["source"]) == {"a", "b", "links: near"}
    assert prediction.embedding is not None
    assert prediction.decision is None
    told = json.loads(json.dumps(prediction.to_dict()))
    assert len(told["table"]["label"]) == len(table)
    assert told["held_out"]["model"] == list(held_out.index)


def test_predict_labels_respects_sources_and_seed() -> None:
    data = two_views()

    def run(**more: Any) -> Any:
        return hetviz.predict_labels(data, "a", "digit", n_rounds=8, repeats=1, **more)

    first, second = run(random_state=3), run(random_state=3)
    assert first.to_dict() == second.to_dict()
    only = run(sources=["a"])
    assert set(only.weights["source"]) == {"a"}
    assert only.held_out["model"].tolist() == ["gbc", "a alone", "guess"]
    assert set(run(sources=["b", "near"]).weights["source"]) == {"b", "links: near"}
    assert run(training_share=0.3).held_out["n"][0] > only.held_out["n"][0]


def test_predict_labels_of_a_table_column() -> None:
    world = hetviz.load("world")
    prediction = hetviz.predict_labels(
        world, "countries", "life_expectancy", n_rounds=20, repeats=0
    )
    assert prediction.task == "number"
    assert len(prediction.held_out) == 0
    unknown = prediction.table[~prediction.table["known"]]
    assert len(unknown) == 16
    assert unknown["label"].between(40, 90).all()


def test_split_labels_keeps_every_class() -> None:
    y = np.r_[np.zeros(10), np.ones(5), [2.0]]
    shown, hidden = split_labels(y, np.arange(16), 0.6, "classes", 0)
    assert len(set(shown) & set(hidden)) == 0
    assert sorted([*shown, *hidden]) == list(range(16))
    assert set(y[shown]) == {0, 1, 2}
    assert np.bincount(y[shown].astype(int)).tolist() == [6, 3, 1]
    assert error_of("number", np.array([[1.0], [3.0]]), np.array([1.0, 0.0])) == np.sqrt(4.5)
    assert error_of("classes", np.array([[1.0], [-1.0]]), np.array([1.0, 1.0])) == 0.5


def test_joined_source_has_gaps() -> None:
    from hetviz.features.problems.label_problems import label_problem

    problem = label_problem(two_views(), "a", "digit")
    X = joined_source(problem.parts, len(problem.y)).X
    assert X.shape == (120, 7)
    np.testing.assert_array_equal(np.isnan(X[:, 4:]).all(axis=1), np.arange(120) < 30)
    assert not np.isnan(X[:, :4]).any()


def test_transfer_helps_with_few_labels() -> None:
    prediction = hetviz.predict_labels(
        source_and_target(),
        "target",
        "kind",
        method="hemap",
        source=("source", "letter"),
        training_share=0.05,
    )
    held_out = prediction.held_out.set_index("model")["error"]
    assert prediction.decision == "accept"
    assert held_out["hemap"] < 0.5 * held_out["10 nearest of its own"]
    assert prediction.figures["pairing"] == "links"
    # These have three axes in common, too many for one axis.
    assert prediction.figures["axes"] == 10
    assert {type(value) for value in prediction.table["label"]} == {int}
    json.dumps(prediction.to_dict())


def test_transfer_without_labels_uses_source_values() -> None:
    data = source_and_target()
    prediction = hetviz.predict_labels(
        data, "target", "new", method="hemap", source=("source", "letter")
    )
    truth = np.array(["a", "b", "c"])[data.labels[0].values.astype(int)]
    assert (prediction.table["label"].to_numpy() == truth).mean() > 0.9
    assert prediction.classes == ("a", "b", "c")
    assert len(prediction.held_out) == 0
    assert any("predictions are values of" in reason for reason in prediction.reasons)


def test_transfer_of_numbers() -> None:
    data = source_and_target()
    amounts = Labels("source", "size", np.asarray(data["source"].X)[:, 0])
    mine = Labels("target", "weight", 100 * np.asarray(data["source"].X)[:, 0])
    changed = HeteroData(data.datasets, data.links, None, [mine, amounts])
    prediction = hetviz.predict_labels(
        changed, "target", "weight", method="hemap", source=("source", "size"), repeats=2
    )
    held_out = prediction.held_out.set_index("model")["error"]
    assert held_out["hemap"] < 0.7 * held_out["guess"]
    assert prediction.task == "number"


def test_transfer_from_an_unrelated_source_is_too_risky() -> None:
    world = hetviz.load("world")
    prediction = hetviz.predict_labels(
        world, "countries", "region", method="hemap", source=("films", "decade"), repeats=1
    )
    assert prediction.decision == "too risky"
    assert prediction.figures["learned_from"] == 0
    assert "hemap" not in prediction.held_out["model"].tolist()
    assert prediction.table["label"].notna().all()
    nothing = hetviz.predict_labels(
        world, "countries", "mood", method="hemap", source=("films", "decade")
    )
    assert nothing.decision == "too risky"
    assert nothing.table["label"].isna().all()


def test_transfer_with_random_pairing_needs_caution() -> None:
    prediction = hetviz.predict_labels(
        source_and_target(linked=False),
        "target",
        "kind",
        method="hemap",
        source=("source", "letter"),
        pairing="random",
        repeats=0,
    )
    assert prediction.figures["pairing"] == "random"
    assert prediction.decision in ("caution", "too risky")


def test_find_labels_task_returns_findings_and_map() -> None:
    made = find_labels(two_views(), "a", "digit", ignore_progress, repeats=1, n_rounds=5)
    assert made.kind == "labels"
    assert made.content["title"] == "Gradient boosting consensus (GBC)"
    assert made.maps[0].params == {"n_rounds": 5, "label": "a:digit"}
    assert made.maps[0].embedding.n_components == 2
    json.dumps(made.content)
    moved = find_labels(
        source_and_target(),
        "target",
        "kind",
        ignore_progress,
        method="hemap",
        source=["source", "letter"],
        repeats=0,
    )
    assert moved.content["decision"] == "accept"


@pytest.mark.parametrize(
    ("words", "more", "error"),
    [
        ("one of: blend, gbc, hemap", {"method": "magic"}, ParameterError),
        ("training_share = 1.5", {"training_share": 1.5}, ParameterError),
        ("repeats = -1", {"repeats": -1}, ParameterError),
        ("Use one of: a, b, near", {"sources": ["c"]}, ParameterError),
        ("Did you mean lam", {"lam": 1}, ParameterError),
        ("learns from one other label", {"method": "hemap"}, ParameterError),
        ("does not exist", {"method": "hemap", "source": ("b", "size")}, DataError),
    ],
)
def test_predict_labels_rejects_bad_arguments(
    words: str, more: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error, match=words):
        hetviz.predict_labels(two_views(40), "a", "digit", **more)


def test_predict_labels_needs_features_or_links() -> None:
    data = HeteroData([Dataset("a", ["x", "y"])], [], None, [Labels("a", "kind", ["u", "v"])])
    with pytest.raises(NotApplicableError, match="features"):
        hetviz.predict_labels(data, "a", "kind")


@pytest.mark.parametrize("n_known", [4, 6])
@pytest.mark.parametrize("method", ["gbc", "blend"])
def test_predict_labels_learns_from_few_labels(method: str, n_known: int) -> None:
    X = np.random.default_rng(0).normal(size=(20, 4))
    values = [("a", "b")[k % 2] if k < n_known else None for k in range(20)]
    things = Dataset("things", [f"t{k}" for k in range(20)], X)
    data = HeteroData([things], labels=[Labels("things", "kind", values)])
    table = hetviz.predict_labels(data, "things", "kind", method=method, repeats=1).table
    assert len(table) == 20 and table["label"].isin(["a", "b"]).all()
