"""Tests of the rows, rule, sample and chance level behind statements."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

import hetviz
from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Links
from hetviz.errors import DataError, ParameterError
from hetviz.features.item_columns import item_columns
from hetviz.metrics.contrast import find_differences
from hetviz.metrics.measure_names import MEASURES_WITH_ROWS, measure_text
from hetviz.runs.evidence import neighbors
from hetviz.runs.evidence.about import ABOUT
from hetviz.runs.evidence.groups import difference_evidence, links_inside_evidence
from hetviz.runs.evidence.guidance import changed_evidence, true_neighbor_evidence
from hetviz.runs.evidence.neighbors import why_evidence

N = 20


@pytest.fixture(scope="module")
def line() -> tuple[HeteroData, Embedding]:
    """Two datasets on one line: item k of each is at place k."""
    ids = [f"a{k}" for k in range(N)], [f"b{k}" for k in range(N)]
    places = np.column_stack([np.arange(N, dtype=float), np.zeros(N)])
    near = np.arange(N)
    data = HeteroData(
        [
            Dataset("first", ids[0], places),
            Dataset("second", ids[1], places),
        ],
        [
            # 19 pairs at one place, and one from end to end.
            Links("first", "second", near, np.r_[near[:-1], 0], np.ones(N)),
            Links("first", "second", [0], [N - 1], [-1.0]),
        ],
        comparisons=Comparisons(np.array([[0, 1, 5], [0, 9, 2]])),
    )
    m = Embedding({"first": places, "second": places}, {"first": ids[0], "second": ids[1]})
    return data, m


def test_links_are_sorted_by_closeness_and_counted(line: tuple[HeteroData, Embedding]) -> None:
    data, m = line
    found = hetviz.evidence(data, m, "links")
    assert found.statement == "95 % of the links are close."
    assert found.sample == "19 of 20 links."
    assert found.table["close"].tolist() == [True] * 19 + [False]
    assert found.table["title"].iloc[-1] == "a19"
    assert found.table["linked title"].iloc[-1] == "b0"
    scores = hetviz.evaluate(data, m).values
    assert found.table["close"].mean() == pytest.approx(scores["links_kept"])
    assert found.chance.startswith(
        f"By chance it would be {100 * scores['links_kept_chance']:.0f} %"
    )


def test_apart_links_are_far(line: tuple[HeteroData, Embedding]) -> None:
    found = hetviz.evidence(*line, "apart")
    assert found.statement == "100 % of the apart links are far."
    assert found.table["far"].tolist() == [True]


def test_comparisons_start_with_the_contradicted(line: tuple[HeteroData, Embedding]) -> None:
    found = hetviz.evidence(*line, "comparisons")
    assert found.statement == "The map agrees with 50 % of the comparisons."
    assert found.table["agrees"].tolist() == [False, True]
    assert found.table["close to"].tolist() == ["a9", "a1"]


def test_held_out_links_are_called_hidden(line: tuple[HeteroData, Embedding]) -> None:
    data, m = line
    found = hetviz.evidence(data, m, "links", held_out=data)
    assert found.statement == "95 % of the hidden links are close."


def test_item_links_give_the_rank(line: tuple[HeteroData, Embedding]) -> None:
    found = hetviz.evidence(*line, "item-links", item=("second", "b0"))
    # Linked with a0 at its place and with a19, which all others are closer than.
    assert found.table["title"].tolist() == ["a0", "a19"]
    assert found.table["closer first"].tolist() == [0, N - 1]
    assert found.statement.startswith("1 of 2 links of “b0” with first is close.")


def test_nearest_are_sorted_by_distance(line: tuple[HeteroData, Embedding]) -> None:
    found = hetviz.evidence(*line, "nearest", item=("first", "a3"), dataset="second")
    assert found.table["title"].tolist()[:2] == ["b3", "b2"]
    assert found.table["distance"].is_monotonic_increasing
    assert found.table["linked"].tolist()[0] is True


def test_map_of_the_features_has_no_false_neighbours(line: tuple[HeteroData, Embedding]) -> None:
    found = hetviz.evidence(*line, "reliability", item=("first", "a3"))
    assert "0 are not similar in the data" in found.statement
    assert (found.table["rank on the map"] == found.table["rank in the data"]).all()
    everyone = hetviz.evidence(*line, "neighbours")
    assert everyone.statement == "0 % of the neighbours on the map are not similar in the data."


def test_neighbours_of_many_items_are_those_of_a_sample(
    line: tuple[HeteroData, Embedding], monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = hetviz.evidence(*line, "neighbours")
    assert everyone.sample == "0 of 360 neighbours of 40 items."
    monkeypatch.setattr(neighbors, "_MAX_ROWS", 15)
    sample = hetviz.evidence(*line, "neighbours")
    assert sample.sample == "0 of 135 neighbours of 15 items, a sample."
    assert set(sample.rows) < set(everyone.rows)


def test_unlinked_and_unplaced_items() -> None:
    data = HeteroData(
        [Dataset("first", ["x", "y"]), Dataset("second", ["z"])],
        [Links("first", "second", [0], [0], [1.0])],
    )
    places = {"first": np.array([[0.0, 0.0], [np.nan, np.nan]]), "second": np.zeros((1, 2))}
    m = Embedding(places, {"first": ["x", "y"], "second": ["z"]})
    assert hetviz.evidence(data, m, "unlinked").table["id"].tolist() == ["y"]
    unplaced = hetviz.evidence(data, m, "unplaced")
    assert unplaced.statement == "1 item has no position on the map."
    assert unplaced.table["links"].tolist() == [0]


def test_region_members_start_with_those_the_name_is_true_of() -> None:
    emoji = hetviz.load("emoji")
    m = hetviz.embed(emoji, "graph-axes")
    regions = hetviz.regions(emoji, m)
    named = regions[regions["name"] != ""].iloc[0]
    found = hetviz.evidence(emoji, m, "region", region=named["name"])
    assert found.table["name is true"].sum() == named["true"]
    assert len(found.table) == named["members"]
    assert found.table["name is true"].is_monotonic_decreasing
    assert sorted(found.rows) == sorted(named["rows"])
    with pytest.raises(DataError, match="is no region of this map"):
        hetviz.evidence(emoji, m, "region", region="no such name")


def test_share_of_all_is_that_of_the_compared_items() -> None:
    world = hetviz.load("world")
    m = hetviz.embed(world, "graph-axes")
    label = world.label()
    assert label is not None
    found = hetviz.evidence(world, m, "labels")
    same = found.table["neighbours have the same label"].mean()
    assert same == pytest.approx(hetviz.evaluate(world, m).values["label_knn_accuracy"])


def test_difference_lists_the_group_first() -> None:
    emoji = hetviz.load("emoji")
    label = emoji.label("group")
    assert label is not None
    chosen = np.array(label.values == "food-drink")
    everyone = np.ones(len(chosen), dtype=bool)
    difference = find_differences(item_columns(emoji, "emoji"), chosen, among=everyone)[0]
    found = difference_evidence(emoji, "emoji", chosen, everyone, difference)
    inside = found.table["in the group"].to_numpy(dtype=bool)
    assert inside.sum() == chosen.sum()
    assert inside[: chosen.sum()].all()
    has = (found.table[difference.column] == difference.value).to_numpy()
    assert has[inside].mean() == pytest.approx(difference.inside)
    assert has[~inside].mean() == pytest.approx(difference.outside)


def test_links_inside_count_both_ends(line: tuple[HeteroData, Embedding]) -> None:
    data, _ = line
    # a0 to a4 with b0 to b4: five links inside, and one from a19 to b0.
    rows = np.r_[np.arange(5), N + np.arange(5)]
    found = links_inside_evidence(data, rows, "Five")
    assert found.sample == "10 of 11 ends of links."
    assert found.table["stays inside"].tolist() == [True] * 5 + [False]


@pytest.mark.parametrize("about", [name for name in ABOUT if name in ("item-links", "nearest")])
def test_statement_about_an_item_needs_the_item(
    line: tuple[HeteroData, Embedding], about: str
) -> None:
    with pytest.raises(ParameterError, match="needs item"):
        hetviz.evidence(*line, about)
    with pytest.raises(DataError, match="is no id"):
        hetviz.evidence(*line, about, item=("first", "none"))


def test_unknown_subject_is_refused(line: tuple[HeteroData, Embedding]) -> None:
    with pytest.raises(ParameterError, match="must be one of links, apart"):
        hetviz.evidence(*line, "love")


def test_changed_statements_and_links_are_those_of_the_consequences() -> None:
    items = Dataset("items", [f"i{k}" for k in range(40)], np.arange(40.0)[:, None])
    data = HeteroData(
        [items],
        [
            Links("items", "items", [1, 20], [2, 21], kind="known"),
            Links("items", "items", [0], [39], kind="said"),
        ],
        Comparisons(np.array([[0, 1, 0, 39]])),
    )
    places = np.column_stack([np.arange(40.0), np.zeros(40)])
    later = places.copy()
    later[0, 0], later[20, 0] = 39.2, -4.0
    before, after = (Embedding({"items": Y}, {"items": items.ids}) for Y in (places, later))
    said = hetviz.statements(data)["key"].iloc[[2, 3]].tolist()
    effects = hetviz.consequences(data, before, after, said)
    found = changed_evidence(data, before, after, said)
    own = found.table[found.table["statement"] == "yours"]
    assert own["says"].tolist() == ["together", "closer than i0 and i39"]
    assert own["followed before"].sum() == effects.kept_before
    assert own["followed now"].sum() == effects.kept_after
    together = own[own["says"] == "together"]
    assert together["distance before, % of the width"].mean() == 100 * effects.apart_before
    now = together["distance now, % of the width"].mean()
    assert now == pytest.approx(100 * effects.apart_after, abs=0.01)
    others = found.table[found.table["statement"] == "other link"]
    assert others[["id", "linked id"]].to_numpy().tolist() == [["i20", "i21"]]
    assert int(others["followed now"].sum()) == effects.links_won
    assert int(others["followed before"].sum()) == effects.links_lost
    neighbours = true_neighbor_evidence(data, before, after, said).table
    assert neighbours["similar before, %"].mean() == pytest.approx(100 * effects.true_before)
    assert neighbours["similar now, %"].mean() == pytest.approx(100 * effects.true_after, abs=0.1)


def test_reasons_list_what_holds_an_item() -> None:
    world = hetviz.load("world")
    m = hetviz.embed(world, "graph-axes")
    why = hetviz.why(world, m, "countries", world["countries"].ids[0])
    found = why_evidence(world, why)
    assert len(found.table) == why.n_reasons > 0
    shares = found.table["share, %"].to_numpy()[: len(why.holds)]
    assert shares.tolist() == [round(100 * reason.share, 2) for reason in why.holds]


# The column that a measure is the mean of, or from which value on an item counts.
_COUNTED = {
    "rand_index": ("fits", 0),
    "label_across_accuracy": ("same", 0),
    "ndcg": ("gain", 0),
    "ndcg_guess": ("gain of the guess", 0),
    "metric_1@1": ("linked among 1 nearest", 1),
    "metric_1@10": ("linked among 10 nearest", 1),
    "metric_2@10": ("linked among 10 nearest", 0),
    "metric_1_within@1": ("sharing a link among 1 nearest", 1),
    "metric_1_within@10": ("sharing a link among 10 nearest", 1),
    "metric_2_within@10": ("sharing a link among 10 nearest", 0),
}


@pytest.fixture(scope="module")
def measured_emoji() -> tuple[HeteroData, HeteroData, Embedding]:
    data, hidden = hetviz.load("emoji").holdout(links=0.2)
    return data, hidden, hetviz.embed(data, "graph-axes")


@pytest.mark.parametrize("about", MEASURES_WITH_ROWS)
def test_rows_of_a_measure_give_its_value(
    measured_emoji: tuple[HeteroData, HeteroData, Embedding], about: str
) -> None:
    data, hidden, m = measured_emoji
    scores = hetviz.evaluate(data, m, hidden).values
    for held_out, key in ((None, about), (hidden, f"{about}_held_out")):
        if key not in scores:
            assert held_out is not None or about == "label_across_accuracy"
            continue
        found = hetviz.evidence(data, m, about, held_out=held_out)
        text = measure_text(key)
        assert text is not None
        value = f"{100 * scores[key]:.0f} %" if text.percent else f"{scores[key]:.2f}"
        assert found.statement == f"{text.name}: {value}."
        if key in ("graph_auc", "rand_index_pairs", "nmi", "variance_ratio"):
            continue
        column, least = _COUNTED[about]
        counted = found.table[column]
        mean = (counted >= least).mean() if least else counted.mean()
        assert mean == pytest.approx(scores[key], abs=1e-3)


def test_pairs_and_labels_of_groups_add_up(
    measured_emoji: tuple[HeteroData, HeteroData, Embedding],
) -> None:
    data, _, m = measured_emoji
    scores = hetviz.evaluate(data, m).values
    pairs = hetviz.evidence(data, m, "rand_index_pairs").table
    n_all = pairs["items"].sum() * pairs["linked items"].sum()
    wrong = pairs["unlinked pairs inside"].sum() + pairs["linked pairs to other groups"].sum()
    assert 1 - wrong / n_all == pytest.approx(scores["rand_index_pairs"])
    groups = hetviz.evidence(data, m, "nmi").table
    labels = np.repeat(groups["label"], groups["items"])
    codes = np.repeat(groups["group"], groups["items"])
    assert normalized_mutual_info_score(labels, codes) == pytest.approx(scores["nmi"])
    spread = hetviz.evidence(data, m, "variance_ratio").table.set_index("dataset")["variance"]
    assert spread["emoji"] / spread["keywords"] == pytest.approx(scores["variance_ratio"])


def test_measure_of_nothing_says_so() -> None:
    world = hetviz.load("world")
    m = hetviz.embed(world, "graph-axes")
    with pytest.raises(DataError, match="nothing on this map to measure"):
        hetviz.evidence(world, m, "label_across_accuracy")
