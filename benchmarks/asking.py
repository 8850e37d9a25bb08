"""Benefit of sixty answers: suggested questions, a link predictor, and random questions.

A simulated analyst knows a class of every item and every link of a sample. Half of the links are
known at first; a tenth of the links and a third of the items are never asked about.

Labels: twenty items have a label at first, drawn. Which label another has is asked of those that
*Ask me* puts first, ten at a time; of those of which `hetviz.predict_labels` is surest, twenty at
a time; and of items drawn. Measured after each twenty: how many labels of items never asked about
`hetviz.predict_labels` gets right.

Groups: five groups of four items of a class are named at first, and it is asked who else belongs to
them, and which links hold. Twenty questions are put, the joint map is made again with the answers,
three times over. Measured after each twenty: held-out links (how often one is shorter than the line
from its source to the end of another, .5 by chance); labels, of those never asked about that
belong to one of the five: the share of the ten nearest of the same class, and the share of which
`hetviz.predict_labels` says the right group. At first and at last also how often
`hetviz.fit_link_predictor` puts a held-out link before its source with the end of another.

The ways of asking were chosen on emoji and digits, with other seeds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

import hetviz
from benchmarks.harness import report
from benchmarks.teaching import SHOWN, auc_of, label_of, rows_of, spread, write
from hetviz import HeteroData, Links
from hetviz.features.spaces.learned_groups import GroupSummary
from hetviz.runs.ask.questions import Question
from tests.samples import with_labels

SAMPLES = ("emoji", "world", "debian", "digits")
LABELLED = SHOWN | {"emoji": ("emoji", "group")}
"""The label that is asked for: emoji have 90 subgroups, more than anybody would be asked about."""
BY_CLASS = ("digits",)
"""Samples in which items of two datasets belong together when their class is the same."""
GROUPS, NAMED = 5, 4
KNOWN, HIDDEN, UNASKED = 0.5, 0.1, 1 / 3
EVERY, ANSWERS = 20, 60
LABELS_AT_FIRST, BATCH = 20, 10
COLUMN = "my label 1"
NEAREST = 10
SEEDS = range(200, 205)
"""Not those by which the way of asking was chosen."""
Pairs = np.ndarray[Any, np.dtype[np.int64]]


class Analyst:
    """Somebody who knows the class of every item and every link of a sample."""

    def __init__(self, sample: str, seed: int) -> None:
        whole = hetviz.load(sample)
        self.rng = np.random.default_rng(seed)
        self.dataset, column = SHOWN[sample]
        self.start = whole.offsets[self.dataset].start
        self.label = label_of(whole, self.dataset, column)
        self.hidden, expected, every = [], [], []
        for links in whole.links:
            together = links.weight > 0
            drawn = self.rng.random(len(links))
            out = (drawn < HIDDEN) & together
            self.hidden.append((links.source, links.target, links.i[out], links.j[out]))
            expected.append(links.take(np.flatnonzero(~out & (drawn < HIDDEN + KNOWN))))
            i = links.i[together & ~out] + whole.offsets[links.source].start
            j = links.j[together & ~out] + whole.offsets[links.target].start
            every.append(np.column_stack([i, j]))
        self.classes = None
        if sample in BY_CLASS:
            names = np.concatenate([column.values for column in whole.labels]).astype(str)
            self.classes = names
        self.n = whole.n_rows
        self.spans = whole.offsets
        self.part = np.repeat(np.arange(len(self.spans)), [len(d) for d in whole.datasets.values()])
        self.true = self.code(np.concatenate(every))
        self.aside = self.code(
            np.concatenate(
                [
                    np.column_stack([i + self.spans[s].start, j + self.spans[t].start])
                    for s, t, i, j in self.hidden
                ]
            )
        )
        self.unasked = self.rng.random(len(self.label)) < UNASKED
        self.groups = self._named()
        self.group_of = {int(row): self.label[row] for group in self.groups for row in group}
        stated = [self.label[group[0]] for group in self.groups]
        self.judged = self.unasked & np.isin(self.label, stated)
        data = HeteroData(list(whole.datasets.values()), expected)
        self.data = told(
            data, [(pair, 1.0) for group in self.groups for pair in _pairs(group + self.start)]
        )

    def _named(self) -> list[Pairs]:
        can = self.label[~self.unasked]
        classes, count = np.unique(can[can != ""], return_counts=True)
        subset = self.rng.permutation(classes[count >= 3 * NAMED])[:GROUPS]
        return [
            self.rng.choice(np.flatnonzero(~self.unasked & (self.label == c)), NAMED, False)
            for c in subset
        ]

    def code(self, pairs: Pairs) -> Pairs:
        """Return a number for each pair of global rows, the same both ways round."""
        return np.asarray(pairs.min(axis=-1) * self.n + pairs.max(axis=-1))

    def answer(self, rows: tuple[int, ...]) -> bool | None:
        """Say whether a row and the next belong together; None where that is held out."""
        pair = np.array(rows[:2])
        own_values = self.spans[self.dataset]
        if any(
            self.unasked[row - own_values.start]
            for row in pair
            if own_values.start <= row < own_values.stop
        ):
            return None
        if ((pair >= own_values.start) & (pair < own_values.stop)).all():
            entry, other = self.label[pair - own_values.start]
            yes = bool(entry == other and entry != "")
            if yes and set(rows := (pair - own_values.start).tolist()) & set(self.group_of):
                self.group_of |= dict.fromkeys(rows, entry)
            return yes
        code = self.code(pair)
        if code in self.aside:
            return None
        if self.classes is not None:
            return bool(self.classes[pair[0]] == self.classes[pair[1]])
        return bool(code in self.true)

    def measure(self, data: HeteroData) -> tuple[Any, dict[str, float]]:
        """Make the map, and return it with its figures."""
        model = hetviz.get_method("joint-map")(random_state=0).fit(data)
        figures = {}
        for where, inputs in (("map", model.embedding_), ("space", model.axes_)):
            Y = np.nan_to_num(inputs.coordinates[self.dataset])
            index = NearestNeighbors(n_neighbors=NEAREST).fit(Y).kneighbors(return_distance=False)
            same = (self.label[index] == self.label[:, None]).mean(axis=1)
            figures[f"links, {where}"] = auc_of(inputs.coordinates, self.hidden)
            figures[f"labels, {where}"] = float(same[self.judged].mean())
        statements = predicted(data, self.dataset, self.group_of)[0]
        figures["labels, predicted"] = float((statements == self.label)[self.judged].mean())
        return model, figures

    def links_predicted(self, data: HeteroData) -> float:
        """Return how often a held-out link scores above its source with the end of another."""
        rng = np.random.default_rng(0)
        wins, total = 0.0, 0
        for source, target in sorted({(x.source, x.target) for x in data.links}):
            every = [(i, j) for s, t, i, j in self.hidden if (s, t) == (source, target)]
            i, j = map(np.concatenate, zip(*every, strict=True)) if every else ([], [])
            if source == target or len(i) < 2:
                continue
            model = hetviz.fit_link_predictor(data, source, target)
            mine = model.pair_scores(i, j)
            for _ in range(10):
                against = model.pair_scores(i, rng.permutation(j))
                wins += float((mine > against).sum() + 0.5 * (mine == against).sum())
                total += len(i)
        return wins / total if total else float("nan")


Ask = Callable[[Analyst, HeteroData, Any, set[str]], Iterator[tuple[int, ...]]]


def by_asking(
    analyst: Analyst,
    data: HeteroData,
    model: Any,
    skip: set[str],
) -> Iterator[tuple[int, ...]]:
    """Yield what *Ask me* asks: of members and of likely links, then of what is in doubt."""
    own_values = data.offsets[analyst.dataset]
    can = np.ones(data.n_rows, dtype=bool)
    can[own_values] = ~analyst.unasked
    asked: list[Question] = hetviz.suggest_questions(
        data,
        model.embedding_,
        2 * EVERY,
        only=np.flatnonzero(can),
        skip=skip,
        kinds=("member", "link", "pair"),
        learned=[GroupSummary.from_dict(group) for group in model.diagnostics_["learned"]],
        candidates=likely(data, 5 * EVERY),
    )
    for question in asked:
        skip.add(question.key)
        yield question.rows


def by_list(
    analyst: Analyst, data: HeteroData, model: Any, skip: set[str]
) -> Iterator[tuple[int, ...]]:
    """Yield the likeliest links, whatever they are about."""
    for entry, other, _ in likely(data, 5 * ANSWERS):
        yield entry, other


def by_chance(
    analyst: Analyst, data: HeteroData, model: Any, skip: set[str]
) -> Iterator[tuple[int, ...]]:
    """Yield an item with a named one, and a pair of two datasets (or of the one), in turn."""
    spans = list(analyst.spans.values())
    own_values = analyst.spans[analyst.dataset]
    while True:
        group = analyst.groups[analyst.rng.integers(len(analyst.groups))]
        yield (
            int(analyst.rng.integers(own_values.start, own_values.stop)),
            int(group[0] + own_values.start),
        )
        left, right = analyst.rng.permutation(len(spans))[:2] if len(spans) > 1 else (0, 0)
        yield tuple(int(analyst.rng.integers(s.start, s.stop)) for s in (spans[left], spans[right]))


def likely(data: HeteroData, n: int) -> list[tuple[int, int, float]]:
    """Return the links that the predictor finds likeliest, by global rows."""
    result: list[tuple[int, int, float]] = []
    for source, target in {(x.source, x.target) for x in data.links if x.source != x.target}:
        table = hetviz.predict_links(data, source, target, n, evidence=0)
        p = data[source].find(table["source_id"]) + data.offsets[source].start
        q = data[target].find(table["target_id"]) + data.offsets[target].start
        result += zip(p.tolist(), q.tolist(), table["score"].tolist(), strict=True)
    return sorted(result, key=lambda entry: -entry[2])[:n]


def predicted(
    data: HeteroData, dataset: str, expected: dict[int, str]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the label that is predicted of each item by those of some rows, and how surely."""
    ids = data[dataset].ids
    inputs = {str(ids[row]): label for row, label in expected.items()}
    messages = with_labels(data, dataset, COLUMN, inputs)
    table = hetviz.predict_labels(messages, dataset, COLUMN, repeats=0).table
    return table["label"].to_numpy().astype(str), table["probability"].to_numpy(np.float64)


def told(data: HeteroData, statements: list[tuple[tuple[int, ...], float]]) -> HeteroData:
    """Return the data with pairs of global rows said to belong together or apart."""
    part = np.searchsorted(
        [s.stop for s in data.offsets.values()], [p for p, _ in statements], "right"
    )
    links = []
    names = list(data.datasets)
    for block in np.unique(part, axis=0):
        mine = np.flatnonzero((part == block).all(axis=1))
        source, target = (names[number] for number in block)
        rows = np.array([statements[m][0] for m in mine])
        i, j = rows[:, 0] - data.offsets[source].start, rows[:, 1] - data.offsets[target].start
        weight = np.array([statements[m][1] for m in mine])
        links.append(Links(source, target, i, j, weight, kind="said"))
    return data.edit().add(*links)


def _pairs(rows: Pairs) -> list[tuple[int, ...]]:
    return [(int(a), int(b)) for n, a in enumerate(rows) for b in rows[n + 1 :]]


@lru_cache(maxsize=1)
def _start(sample: str, seed: int) -> tuple[Any, dict[str, float]]:
    """Return the first map and its figures, which all ways of asking begin with."""
    analyst = Analyst(sample, seed)
    model, figures = analyst.measure(analyst.data)
    return model, figures | {"links, predicted": analyst.links_predicted(analyst.data)}


def simulate(sample: str, seed: int, ask: Ask) -> tuple[list[dict[str, float]], list[bool]]:
    """Ask and answer; return the figures after each twenty answers, and the answers."""
    analyst = Analyst(sample, seed)
    data, skip = analyst.data, set[str]()
    answered: set[int] = set()
    answers: list[bool] = []
    model, figures = _start(sample, seed)
    rounds = [figures]
    while len(answers) < ANSWERS:
        statements = []
        for rows in ask(analyst, data, model, skip):
            yes, code = analyst.answer(rows), int(analyst.code(np.array(rows[:2])))
            if yes is None or code in answered or rows[0] == rows[1]:
                continue
            answered.add(code)
            answers.append(yes)
            # of a group asked about, what holds for the item holds for all who were shown
            statements += [((rows[0], other), 1.0 if yes else -1.0) for other in rows[1:]]
            if len(answers) % EVERY == 0:
                break
        if not statements:
            break
        data = told(data, statements)
        model, figures = analyst.measure(data)
        rounds.append(figures)
    rounds[-1] |= {"links, predicted": analyst.links_predicted(data)}
    return rounds, answers


def simulate_labels(sample: str, seed: int, way: str) -> list[dict[str, float]]:
    """Ask for labels and answer; return what is predicted right after each twenty answers."""
    analyst = Analyst(sample, seed)
    dataset, column = LABELLED[sample]
    label = label_of(hetviz.load(sample), dataset, column)
    links = [links for links in analyst.data.links if links.kind != "said"]
    data = HeteroData(list(analyst.data.datasets.values()), links)
    own_values = data.offsets[dataset]
    rng = np.random.default_rng([seed, 7])
    can = ~analyst.unasked & (label != "")
    judged = analyst.unasked & (label != "")
    expected = {
        int(row): label[row] for row in rng.permutation(np.flatnonzero(can))[:LABELS_AT_FIRST]
    }
    embedding = hetviz.get_method("joint-map")(random_state=0).fit(data).embedding_
    statements, sure = predicted(data, dataset, expected)
    rounds = [{"labels": float((statements == label)[judged].mean())}]
    while len(expected) < LABELS_AT_FIRST + ANSWERS:
        open_ = np.setdiff1d(np.flatnonzero(can), list(expected))
        if way == "chance":
            rows = rng.permutation(open_)[:EVERY]
        elif way == "the predictor's list":
            rows = open_[np.argsort(-sure[open_], kind="stable")][:EVERY]
        else:
            ids = data[dataset].ids
            inputs = {str(ids[row]): value for row, value in expected.items()}
            asked = hetviz.suggest_questions(
                with_labels(data, dataset, COLUMN, inputs),
                embedding,
                BATCH,
                kinds=("label",),
                only=np.flatnonzero(can) + own_values.start,
            )
            rows = np.array([question.rows[0] - own_values.start for question in asked])
        expected |= {int(row): label[row] for row in rows}
        if (len(expected) - LABELS_AT_FIRST) % EVERY == 0:
            statements, sure = predicted(data, dataset, expected)
            rounds.append({"labels": float((statements == label)[judged].mean())})
    return rounds


WAYS: dict[str, Ask] = {
    "ask me": by_asking,
    "the predictor's list": by_list,
    "chance": by_chance,
}


def _once(
    file: Path, sample: str, about: str, way: str, seed: int
) -> tuple[list[dict[str, float]], list[bool]]:
    """Return a simulation that was written down, or make it and write it down."""
    setting = {"sample": sample, "about": about, "way": way, "seed": seed}
    for row in rows_of(file):
        if all(row.get(name) == value for name, value in setting.items()):
            return row["rounds"], row["answers"]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if about == "labels":
            rounds = simulate_labels(sample, seed, way)
            answers: list[bool] = []
        else:
            rounds, answers = simulate(sample, seed, WAYS[way])
    write(file, setting | {"rounds": rounds, "answers": answers})
    return rounds, answers


def run(out: Path, quick: bool) -> None:
    """Compare ways of asking over seeds; what is in ``asking.jsonl`` is not asked again."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "asking.jsonl"
    seeds = list(SEEDS)[: 1 if quick else None]
    for about in ("labels", "groups"):
        for seed in seeds:
            for sample in SAMPLES:
                for way in WAYS:
                    _once(file, sample, about, way, seed)
        rows = [row for sample in SAMPLES for row in _rows(file, sample, about, seeds)]
        report(f"asking_{about}", rows, out, f"{len(seeds)} seeds; gains by {ANSWERS} answers")


def _rows(file: Path, sample: str, about: str, seeds: list[int]) -> list[dict[str, Any]]:
    """Return the gains of each way, and how far *Ask me* is ahead."""
    rows: list[dict[str, Any]] = []
    gains: dict[str, dict[str, np.ndarray[Any, Any]]] = {}
    for way in WAYS:
        runs = [_once(file, sample, about, way, seed) for seed in seeds]
        row: dict[str, Any] = {"sample": sample, "questions": way}
        if about == "groups":
            row["answers"] = float(np.mean([len(a) for _, a in runs]))
            row["yes"] = float(np.mean([np.mean(a) if a else 0.0 for _, a in runs]))
        gains[way] = {m: np.array([r[-1][m] - r[0][m] for r, _ in runs]) for m in runs[0][0][0]}
        for measure, values in gains[way].items():
            row[f"{measure}, at first"] = float(np.mean([r[0][measure] for r, _ in runs]))
            row[f"{measure}, gained"] = spread(values)
            ahead = spread(gains["ask me"][measure] - values)
            row[f"{measure}, ask me ahead"] = "" if way == "ask me" else ahead
        rows.append(row)
    return rows
