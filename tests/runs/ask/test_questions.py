"""Questions: settled pairs are skipped, uncertain ones are found, and items are spread out."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import hetviz
from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Labels, Links
from hetviz.data.joins.similar_rows import SIMILAR_MEANING, SIMILAR_WORDS
from hetviz.errors import ParameterError
from hetviz.features.spaces.learned_groups import GroupSummary
from hetviz.runs.ask.active_learning import SettledPairs, stopping_hint
from hetviz.runs.ask.questions import still_open, suggest_questions
from hetviz.workspace.commands.command import Context, from_dict
from hetviz.workspace.commands.guidance import AddComparisons, AddLinks
from hetviz.workspace.commands.state import State
from hetviz.workspace.store.blobs import BlobStore
from tests.samples import sample, with_labels


def embedding_of(data: HeteroData, Y: np.ndarray) -> Embedding:
    parts = {name: Y[rows] for name, rows in data.offsets.items()}
    return Embedding(parts, {name: d.ids for name, d in data.datasets.items()})


def single_dataset(n: int, links: list[tuple[int, int, float]], kind: str = "said") -> HeteroData:
    X = np.random.default_rng(0).normal(size=(n, 3))
    items = Dataset("a", [f"a{k}" for k in range(n)], X)
    if not links:
        return HeteroData([items])
    i, j, weight = zip(*links, strict=True)
    return HeteroData([items], [Links("a", "a", i, j, weight, kind=kind)])


def two_datasets_in_groups(n: int = 60, seed: int = 0) -> tuple[HeteroData, np.ndarray]:
    """Two datasets of three clear groups each; 6 links within the groups."""
    rng = np.random.default_rng(seed)
    group = np.tile(np.arange(3), n // 3)
    X = np.eye(3)[group] * 10 + rng.normal(size=(n, 3))
    Z = np.eye(3)[group] * 10 + rng.normal(size=(n, 3))
    a = Dataset("a", [f"a{k}" for k in range(n)], X)
    b = Dataset("b", [f"b{k}" for k in range(n)], Z)
    return HeteroData([a, b], [Links("a", "b", np.arange(6), np.arange(6))]), group


def test_settled_pairs_follow_transitively() -> None:
    data = single_dataset(5, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, -1.0)])
    pairs = np.array(list(combinations(range(5), 2)))
    known = SettledPairs(data).is_known(pairs[:, 0], pairs[:, 1])
    assert {tuple(pair) for pair in pairs[~known].tolist()} == {(0, 4), (1, 4), (2, 4), (3, 4)}


def test_settled_pairs_ignores_a_shared_link() -> None:
    a, b = Dataset("a", ["x", "y"]), Dataset("b", ["w", "v"])
    data = HeteroData([a, b], [Links("a", "b", [0, 1, 1], [0, 0, 1])])
    assert SettledPairs(data).is_known(np.array([0, 0]), np.array([1, 3])).tolist() == [
        False,
        False,
    ]


def test_suggest_questions_skips_views_of_one_object() -> None:
    X = np.random.default_rng(0).normal(size=(4, 2))
    ids = [f"x{k}" for k in range(4)]
    views = [Dataset(name, ids, X, entity="thing") for name in ("front", "back")]
    data = HeteroData(views)
    asked = suggest_questions(data, embedding_of(data, np.vstack([X, X])), 50)
    assert asked
    objects = data.object_of
    assert all(objects[q.rows[0]] != objects[q.rows[1]] for q in asked)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_suggest_questions_skips_settled_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    links = [
        (i, j, float(s))
        for (i, j), s in zip(
            combinations(range(9), 2), rng.choice([-1, 0, 1], 36, p=[0.2, 0.6, 0.2]), strict=True
        )
        if s
    ]
    data = single_dataset(9, links)
    settled = SettledPairs(data)
    asked = suggest_questions(
        data, embedding_of(data, rng.normal(size=(9, 2))), 40, random_state=seed, kinds=("pair",)
    )
    for question in asked:
        p, q = question.rows
        assert not settled.is_known(np.array([p]), np.array([q]))[0]


def test_suggest_questions_finds_the_last_open_pair() -> None:
    # All but one pair of four is linked.
    links = [(i, j, -1.0) for i, j in combinations(range(4), 2) if (i, j) != (1, 3)]
    data = single_dataset(4, links)
    asked = suggest_questions(
        data, embedding_of(data, np.random.default_rng(1).normal(size=(4, 2))), 5, kinds=("pair",)
    )
    assert [question.rows for question in asked] == [(1, 3)]
    complete = single_dataset(4, [*links, (1, 3, -1.0)])
    assert (
        suggest_questions(complete, embedding_of(complete, np.zeros((4, 2))), 5, kinds=("pair",))
        == []
    )


def test_comparison_question_is_the_nearest_tie_and_not_repeated() -> None:
    # Row 0 has rows 1 and 2 at the same distance on opposite sides.
    Y = np.array([[0.0, 0], [1, 0], [-1, 0], [7, 1], [7, 3.1], [11, 9]])
    data = single_dataset(6, [])
    asked = suggest_questions(data, embedding_of(data, Y), 1, kinds=("comparison",))
    assert asked[0].rows[0] == 0
    assert set(asked[0].rows[1:]) == {1, 2}
    known = HeteroData(data.datasets.values(), [], Comparisons([[0, 2, 1]]))
    again = suggest_questions(known, embedding_of(known, Y), 9, kinds=("comparison",))
    assert all(question.rows[0] != 0 or set(question.rows[1:]) != {1, 2} for question in again)


def test_link_question_follows_links_of_similar_items() -> None:
    data, group = two_datasets_in_groups()
    Y = np.random.default_rng(3).normal(size=(data.n_rows, 2))
    asked = suggest_questions(data, embedding_of(data, Y), 10, kinds=("link",))
    assert len(asked) >= 3
    truth = np.tile(group, 2)
    likely = [q for q in asked if q.why.startswith("Items similar to them are linked")]
    assert likely
    # The map is noise, so only links of similar items can tell.
    assert all(truth[q.rows[0]] == truth[q.rows[1]] for q in likely)


@pytest.fixture(scope="module")
def digits() -> tuple[HeteroData, Embedding]:
    data = sample("digits")
    return data, hetviz.embed(data, "guided-projection")


def test_suggest_questions_uses_each_item_once_per_kind(
    digits: tuple[HeteroData, Embedding],
) -> None:
    asked = suggest_questions(*digits, 30)
    assert len(asked) == 30
    for kind in ("pair", "link", "comparison"):
        rows = [row for question in asked if question.kind == kind for row in question.rows]
        assert rows
        assert len(rows) == len(set(rows))


def test_suggest_questions_depends_on_seed_and_skip(
    digits: tuple[HeteroData, Embedding],
) -> None:
    data, embedding = digits
    first = suggest_questions(data, embedding, 10)
    assert suggest_questions(data, embedding, 10) == first
    assert suggest_questions(data, embedding, 10, random_state=1) != first
    skipped = {question.key for question in first[:4]}
    assert skipped.isdisjoint(q.key for q in suggest_questions(data, embedding, 10, skip=skipped))


def test_suggest_questions_respects_only() -> None:
    data, _ = two_datasets_in_groups()
    Y = np.random.default_rng(0).normal(size=(data.n_rows, 2))
    only = np.r_[10:20, 70:80]
    asked = suggest_questions(data, embedding_of(data, Y), 10, only=only)
    assert asked
    assert set(only.tolist()).issuperset(row for question in asked for row in question.rows)


def test_suggest_questions_handles_items_without_place_or_features() -> None:
    a, b = Dataset("a", [f"a{k}" for k in range(5)]), Dataset("b", [f"b{k}" for k in range(4)])
    data = HeteroData([a, b], [Links("a", "b", [0], [0])])
    asked = suggest_questions(data, embedding_of(data, np.full((9, 2), np.nan)), 5)
    assert asked
    assert {question.kind for question in asked} <= {"link", "pair"}


def test_suggest_questions_forms_no_full_distance_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    from hetviz.runs.ask import active_learning

    looked: list[int] = []
    real = active_learning.neighbor_similarity

    def counting(space, queries, k):  # type: ignore[no-untyped-def]
        looked.append(len(queries))
        return real(space, queries, k)

    monkeypatch.setattr(active_learning, "neighbor_similarity", counting)
    n = 6_000
    rng = np.random.default_rng(0)
    a, b = (
        Dataset(name, [f"{name}{k}" for k in range(n)], rng.normal(size=(n, 3))) for name in "ab"
    )
    i = rng.permutation(n)
    data = HeteroData([a, b], [Links("a", "b", i, np.arange(n))])
    suggest_questions(data, embedding_of(data, rng.normal(size=(2 * n, 2))), 10)
    assert max(looked) <= 2_000
    assert sum(looked) <= 6_000


def test_question_answer_returns_a_command() -> None:
    data, _ = two_datasets_in_groups()
    Y = np.random.default_rng(0).normal(size=(data.n_rows, 2))
    for question in suggest_questions(data, embedding_of(data, Y), 20):
        names = [list(item) for item in question.items]
        yes, no = (from_dict(json.loads(json.dumps(question.answer(s)))) for s in ("yes", "no"))
        assert yes.set == no.set == "asked"
        if isinstance(yes, AddComparisons):
            assert [list(row) for row in yes.rows] == [names]
            assert [list(row) for row in no.rows] == [[names[0], names[2], names[1]]]
        else:
            assert isinstance(yes, AddLinks)
            assert (yes.weight, no.weight) == (1.0, -1.0)
            assert [[yes.source, yes.pairs[0][0]], [yes.target, yes.pairs[0][1]]] == names


def test_still_open_drops_answered_questions() -> None:
    data, _ = two_datasets_in_groups()
    Y = np.random.default_rng(0).normal(size=(data.n_rows, 2))
    asked = suggest_questions(data, embedding_of(data, Y), 6, kinds=("link",))
    first = asked[0]
    i, j = first.rows[0], first.rows[1] - data.offsets["b"].start
    answered = data.edit().add(Links("a", "b", [i], [j], -1.0, kind="said"))
    assert still_open(answered, asked) == asked[1:]
    assert still_open(answered, asked, {asked[1].key}) == asked[2:]


def test_suggest_questions_rejects_bad_arguments() -> None:
    data = single_dataset(4, [])
    with pytest.raises(ParameterError, match="n = 0"):
        suggest_questions(data, embedding_of(data, np.zeros((4, 2))), 0)
    with pytest.raises(ParameterError, match="riddle"):
        suggest_questions(data, embedding_of(data, np.zeros((4, 2))), kinds=("riddle",))
    with pytest.raises(ParameterError, match="perhaps"):
        suggest_questions(data, embedding_of(data, np.eye(4)[:, :2]), 1)[0].answer("perhaps")


def test_stopping_hint_needs_ten_answers() -> None:
    assert stopping_hint([]) is None
    assert stopping_hint([(5, 0.1)]) is None
    # 1 % moved by 10 answers: 2 % by twenty
    assert "the last 10" in str(stopping_hint([(5, 0.0), (5, 0.01)]))
    assert "about 2 %" in str(stopping_hint([(5, 0.0), (5, 0.01)]))
    assert "under 1 %" in str(stopping_hint([(5, 0.5), (5, 0.0), (5, 0.004)]))
    assert "about 100 %" in str(stopping_hint([(10, 0.9)]))


def test_suggest_questions_returns_n_after_many_skips() -> None:
    data, _ = two_datasets_in_groups(30)
    embedding = embedding_of(data, np.random.default_rng(0).normal(size=(60, 2)))
    skip: set[str] = set()
    for _ in range(8):
        asked = suggest_questions(data, embedding, 10, skip=skip, kinds=("link",))
        assert len(asked) == 10
        assert skip.isdisjoint(question.key for question in asked)
        skip |= {question.key for question in asked}


def test_member_questions_are_similar_to_the_named_group() -> None:
    data, group = two_datasets_in_groups()
    named = np.flatnonzero(group == 0)[[0, 2, 4, 6, 8]]
    i, j = np.triu_indices(5, 1)
    data = data.edit().add(Links("a", "a", named[i], named[j], kind="said"))
    Y = np.random.default_rng(0).normal(size=(data.n_rows, 2))
    asked = suggest_questions(data, embedding_of(data, Y), 8, kinds=("member",))
    assert asked
    assert all(group[question.rows[0]] == 0 for question in asked)
    assert not {question.rows[0] for question in asked} & set(named.tolist())
    first = asked[0]
    assert first.rows[1:] == tuple(named[:3].tolist())
    assert first.text.endswith("belong with “a0”, “a6”, “a12” and 2 more?")
    command = first.answer("no")
    assert command["pairs"] == [[first.items[0][1], f"a{row}"] for row in named[:3]]
    assert command["weight"] == -1.0
    answered = from_dict(command)
    assert isinstance(answered, AddLinks)
    after = data.edit().add(Links("a", "a", [first.rows[0]] * 3, named[:3], -1.0, kind="said"))
    assert first.key not in {question.key for question in still_open(after, asked)}
    # Groups that a map has learned already are not learned again.
    assert suggest_questions(data, embedding_of(data, Y), 8, kinds=("member",), learned=[]) == []


def test_member_question_of_a_label_records_the_label() -> None:
    data, group = two_datasets_in_groups()
    first, second = np.flatnonzero(group == 0), np.flatnonzero(group == 1)
    values: list[str | None] = [None] * 60
    for row in first[:5]:
        values[row] = "zero"
    for row in second[:5]:
        values[row] = "one"
    data = HeteroData(data.datasets.values(), data.links, None, [Labels("a", "mine", values)])
    learned = hetviz.learned_from(data, label="mine")
    assert {learned_group.label for learned_group in learned} == {("mine", "zero"), ("mine", "one")}
    for learned_group in learned:
        rows = [data["a"].position(id_) for id_ in learned_group.followers]
        assert set(group[rows]) <= {0 if learned_group.label[1] == "zero" else 1}
        assert not {values[row] for row in rows} - {None}
        reread = GroupSummary.from_dict(json.loads(json.dumps(learned_group.to_dict())))
        assert reread == learned_group
    assert any(learned_group.followers for learned_group in learned)
    Y = np.random.default_rng(0).normal(size=(data.n_rows, 2))
    asked = suggest_questions(data, embedding_of(data, Y), 4, kinds=("member",), learned=learned)
    assert "also “" in asked[0].text
    command = asked[0].answer("yes")
    assert command == {
        "op": "set-labels",
        "dataset": "a",
        "column": "mine",
        "values": {asked[0].items[0][1]: asked[0].label[1]},
    }
    after = with_labels(data, "a", "mine", {asked[0].items[0][1]: asked[0].label[1]})
    assert asked[0].key not in {question.key for question in still_open(after, asked)}
    assert still_open(data, asked, {asked[0].key}) == asked[1:]
    with pytest.raises(ParameterError, match="Available: mine"):
        hetviz.learned_from(data, label="yours")
    assert hetviz.learned_from(with_labels(data, "a", "few", {"a0": "x"}), label="few") == []


def test_pair_questions_need_common_links_or_similar_features() -> None:
    # Items of a and b have random features; those of a share two of twelve words.
    rng = np.random.default_rng(0)
    word = np.repeat(np.arange(6), 10)
    a = Dataset("a", [f"a{k}" for k in range(60)], rng.normal(size=(60, 4)))
    b = Dataset("b", [f"b{k}" for k in range(40)], rng.normal(size=(40, 4)))
    names = ["sun", "sea", "cat", "car", "red", "tea", "day", "fish", "fur", "road", "rose", "cup"]
    words = Dataset("words", [*names, "one", "two", "three"])
    # One common item is no evidence, nor are two that many link to.
    row = np.arange(60)
    i = np.concatenate([row, row, [1, 3, 57, 59], row[::2], row[::2]])
    j = np.concatenate([word, word + 6, np.full(4, 12), np.full(30, 13), np.full(30, 14)])
    data = HeteroData([a, b, words], [Links("a", "words", i, j)])
    place = embedding_of(data, rng.normal(size=(data.n_rows, 2)))
    pairs = suggest_questions(data, place, 40, kinds=("pair",))
    of_a = [pair for pair in pairs if pair.rows[1] < 60]
    assert len(of_a) > 3
    for question in of_a:
        p, q = question.rows
        assert word[p] == word[q]
        assert f"“{words.ids[word[p]]}”" in question.why
    # Without links the features tell which items are similar.
    of_b = [pair for pair in pairs if pair.rows[0] >= 60 and pair.rows[1] < 100]
    near = np.argsort(np.linalg.norm(b.X[:, None] - b.X[None], axis=2), axis=1)[:, 1:16]
    assert of_b
    for question in of_b:
        p, q = np.array(question.rows) - 60
        assert q in near[p] or p in near[q]
    for question in suggest_questions(data, place, 20, kinds=("comparison",)):
        if max(question.rows) < 60:
            assert len(set(word[list(question.rows)])) == 1


def test_link_candidates_come_first_with_each_item_once() -> None:
    data, _ = two_datasets_in_groups()
    Y = np.random.default_rng(0).normal(size=(data.n_rows, 2))
    # Linked already, likely, an item that was asked about already, likely.
    candidates = [(0, 60, 0.99), (10, 75, 0.9), (10, 80, 0.8), (30, 81, 0.7)]
    asked = suggest_questions(
        data, embedding_of(data, Y), 6, kinds=("link",), candidates=candidates
    )
    assert [question.rows for question in asked[:2]] == [(10, 75), (30, 81)]
    assert "90 %" in asked[0].why
    assert [question.rows for question in asked[2:]] == [(10, 80)]
    # Uncertain links of the map follow when no likely link is left.
    skip = [question.key for question in asked]
    more = suggest_questions(
        data, embedding_of(data, Y), 6, kinds=("link",), candidates=candidates[:2], skip=skip
    )
    assert len(more) == 6
    assert not {question.rows for question in asked} & {question.rows for question in more}


def partly_labelled_groups(n: int = 60) -> tuple[HeteroData, np.ndarray]:
    """Return three clear groups; two items of one and one of another have a label."""
    data, group = two_datasets_in_groups(n)
    labels = {"a0": "x", "a3": "x", "a1": "y"}
    return with_labels(data, "a", "my label 1", labels), group


def test_label_questions_start_with_the_unlabelled_group() -> None:
    data, group = partly_labelled_groups()
    Y = embedding_of(data, np.zeros((data.n_rows, 2)))
    asked = suggest_questions(data, Y, 6, kinds=("label",))
    # The third group has no label yet.
    assert group[asked[0].rows[0]] == 2
    assert len({question.rows for question in asked}) == 6
    assert asked[0].label == ("my label 1", "")
    assert set(asked[0].options) == {"x", "y"}
    assert "or another?" in asked[0].text
    command = from_dict(asked[0].answer("z"))
    after = with_labels(data, command.dataset, command.column, command.values)
    assert still_open(after, asked) == asked[1:]
    assert asked[0].rows not in {q.rows for q in suggest_questions(after, Y, 6, kinds=("label",))}
    with pytest.raises(ParameterError, match="no label"):
        asked[0].answer(" ")
    more = suggest_questions(
        data, Y, 60, kinds=("label",), skip=[q.key for q in asked], only=range(30)
    )
    assert {question.rows[0] for question in more} <= set(range(30)) - {0, 1, 3}
    assert not {question.rows for question in asked} & {question.rows for question in more}


def test_label_questions_need_a_request_for_labels_of_the_data() -> None:
    data, _ = partly_labelled_groups()
    values = ["x", "y", 3] + [None] * 57
    data = HeteroData(data.datasets, data.links, None, [Labels("a", "class", values)])
    Y = embedding_of(data, np.zeros((data.n_rows, 2)))
    assert suggest_questions(data, Y, 6, kinds=("label",)) == []
    (asked,) = suggest_questions(data, Y, 1, kinds=("label",), labels=[("a", "class")])
    # A number stays a number, also when the answer is text.
    assert asked.answer("3")["values"] == {asked.items[0][1]: 3}
    assert asked.to_dict()["options"] == list(asked.options)
    with pytest.raises(ParameterError, match="Available: a:class"):
        suggest_questions(data, Y, 1, labels=[("a", "kind")])
    one_label = with_labels(data, "a", "my label 1", {"a0": "x"})
    assert suggest_questions(one_label, Y, 6, kinds=("label",)) == []
    with pytest.raises(ParameterError, match="'a:my label 1' cannot be asked for"):
        suggest_questions(one_label, Y, 1, labels=[("a", "my label 1")])


@pytest.mark.parametrize("kind", [SIMILAR_WORDS, SIMILAR_MEANING])
def test_proposed_links_are_asked_first_and_answers_keep_or_remove_them(
    kind: str, tmp_path: Path
) -> None:
    data, _ = two_datasets_in_groups()
    weight = [0.9, 0.52, 0.2, 0.64]
    proposed = Links("a", "b", [0, 1, 2, 3], [14, 15, 16, 17], weight, kind=kind)
    data = HeteroData([*data.datasets.values()], [*data.links, proposed])
    embedding = embedding_of(data, np.random.default_rng(1).normal(size=(data.n_rows, 2)))
    asked = suggest_questions(data, embedding, 3, kinds=["link"], candidates=[(0, 70, 0.5)])
    assert [one.items[0][1] for one in asked] == ["a1", "a3", "a2"]
    assert asked[0].why.startswith(kind.capitalize())
    assert "0.52" in asked[0].why
    state, context = State(data=data), Context(BlobStore(tmp_path))
    for question, answer in ((asked[0], "yes"), (asked[1], "no")):
        state = from_dict(question.answer(answer)).apply(state, context)
    after = state.opened()
    [proposed] = state.proposed.values()
    assert proposed.removed == (("a3", asked[1].items[1][1]),)
    [left] = [links for links in after.links if links.kind == kind]
    assert left.i.tolist() == [0, 2]
    [kept] = [links for links in after.links if links.kind == "said"]
    assert (kept.i.tolist(), kept.j.tolist(), kept.weight.tolist()) == ([1], [15], [1.0])
    assert still_open(after, asked) == asked[2:]
    only = suggest_questions(after, embedding, 3, kinds=["link"], only=[2, 76])
    assert [one.statement for one in only] == [asked[2].statement]
