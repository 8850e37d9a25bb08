"""What sixty answers teach a map: questions as *Ask me* puts them, the predictor's list, chance.

A simulated analyst knows a class of every item and every link of a sample. At first half of the
links are known and five groups of four items of a class are named; a tenth of the links and a
third of the items are never asked about. Twenty questions are put, the joint map is made again with
the answers, three times over. Measured after each twenty: held-out links (how often one is shorter
than the line from its source to the end of another, .5 by chance) and labels (share of the ten
nearest of the same class, of those never asked about that belong to one of the five).

`EMOJI` and `DIGITS` are where the way of asking was chosen; the others took no part.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

import hetviz
from benchmarks.harness import report
from benchmarks.teaching import SHOWN, auc_of, label_of, rows_of, spread, write
from hetviz import HeteroData, Links
from hetviz.features.spaces.taught import LearnedGroup
from hetviz.runs.ask.active_learning import value
from hetviz.runs.ask.questions import Question

SAMPLES = ("emoji", "digits", "world", "debian")
BY_CLASS = ("digits",)
"""Samples in which items of two datasets belong together when their class is the same."""
GROUPS, NAMED = 5, 4
KNOWN, HIDDEN, UNASKED = 0.5, 0.1, 1 / 3
EVERY, ANSWERS = 20, 60
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
        self.hidden, known, every = [], [], []
        for links in whole.links:
            together = links.weight > 0
            drawn = self.rng.random(len(links))
            out = (drawn < HIDDEN) & together
            self.hidden.append((links.source, links.target, links.i[out], links.j[out]))
            known.append(links.take(np.flatnonzero(~out & (drawn < HIDDEN + KNOWN))))
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
        stated = [self.label[group[0]] for group in self.groups]
        self.judged = self.unasked & np.isin(self.label, stated)
        data = HeteroData(list(whole.datasets.values()), known)
        self.data = told(
            data, [(pair, 1.0) for group in self.groups for pair in _pairs(group + self.start)]
        )

    def _named(self) -> list[Pairs]:
        can = self.label[~self.unasked]
        classes, count = np.unique(can[can != ""], return_counts=True)
        some = self.rng.permutation(classes[count >= 3 * NAMED])[:GROUPS]
        return [
            self.rng.choice(np.flatnonzero(~self.unasked & (self.label == c)), NAMED, False)
            for c in some
        ]

    def code(self, pairs: Pairs) -> Pairs:
        """Return a number for each pair of global rows, the same both ways round."""
        return np.asarray(pairs.min(axis=-1) * self.n + pairs.max(axis=-1))

    def answer(self, rows: tuple[int, ...]) -> bool | None:
        """Say whether a row and the next belong together; None where that is held out."""
        pair = np.array(rows[:2])
        own = self.spans[self.dataset]
        if any(self.unasked[row - own.start] for row in pair if own.start <= row < own.stop):
            return None
        if ((pair >= own.start) & (pair < own.stop)).all():
            one, other = self.label[pair - own.start]
            return bool(one == other and one != "")
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
        for where, given in (("map", model.embedding_), ("space", model.axes_)):
            Y = np.nan_to_num(given.coordinates[self.dataset])
            index = NearestNeighbors(n_neighbors=NEAREST).fit(Y).kneighbors(return_distance=False)
            same = (self.label[index] == self.label[:, None]).mean(axis=1)
            figures[f"links, {where}"] = auc_of(given.coordinates, self.hidden)
            figures[f"labels, {where}"] = float(same[self.judged].mean())
        return model, figures


Ask = Callable[[Analyst, HeteroData, Any, set[str]], Iterator[tuple[int, ...]]]


def by_asking(
    analyst: Analyst,
    data: HeteroData,
    model: Any,
    skip: set[str],
    candidates: list[tuple[int, int, float]] | None = None,
) -> Iterator[tuple[int, ...]]:
    """Yield what *Ask me* asks: of members and of likely links, then of what is in doubt."""
    own = data.offsets[analyst.dataset]
    can = np.ones(data.n_rows, dtype=bool)
    can[own] = ~analyst.unasked
    asked: list[Question] = hetviz.suggest_questions(
        data,
        model.embedding_,
        2 * EVERY,
        only=np.flatnonzero(can),
        skip=skip,
        kinds=("member", "link", "pair"),
        learned=[LearnedGroup.from_dict(group) for group in model.diagnostics_["learned"]],
        candidates=likely(data, EVERY) if candidates is None else candidates,
    )
    for question in asked:
        skip.add(question.key)
        yield question.rows


def by_worth(
    analyst: Analyst, data: HeteroData, model: Any, skip: set[str]
) -> Iterator[tuple[int, ...]]:
    """Yield the same, of the likely links those first whose answer is open and would move most."""
    found = likely(data, 10 * EVERY)
    p, q = np.array([pair[:2] for pair in found]).T
    chance = np.clip([pair[2] for pair in found], 0.0, 1.0)
    Y = np.vstack(list(model.embedding_.coordinates.values()))
    far = np.linalg.norm(Y[p] - Y[q], axis=1)
    far = np.argsort(np.argsort(far)) / len(far)
    together = data.adjacency("+")
    said = np.diff(together.indptr).astype(float)
    worth = value(chance, far, said[p], said[q])
    order = np.argsort(-worth, kind="stable")[:EVERY]
    yield from by_asking(analyst, data, model, skip, [found[k] for k in order])


def by_list(
    analyst: Analyst, data: HeteroData, model: Any, skip: set[str]
) -> Iterator[tuple[int, ...]]:
    """Yield the likeliest links, whatever they are about."""
    for one, other, _ in likely(data, 5 * ANSWERS):
        yield one, other


def by_chance(
    analyst: Analyst, data: HeteroData, model: Any, skip: set[str]
) -> Iterator[tuple[int, ...]]:
    """Yield an item with a named one, and a pair of two datasets (or of the one), in turn."""
    spans = list(analyst.spans.values())
    own = analyst.spans[analyst.dataset]
    while True:
        group = analyst.groups[analyst.rng.integers(len(analyst.groups))]
        yield int(analyst.rng.integers(own.start, own.stop)), int(group[0] + own.start)
        left, right = analyst.rng.permutation(len(spans))[:2] if len(spans) > 1 else (0, 0)
        yield tuple(int(analyst.rng.integers(s.start, s.stop)) for s in (spans[left], spans[right]))


def likely(data: HeteroData, n: int) -> list[tuple[int, int, float]]:
    """Return the links that the predictor finds likeliest, by global rows."""
    found: list[tuple[int, int, float]] = []
    for source, target in {(x.source, x.target) for x in data.links if x.source != x.target}:
        table = hetviz.predict_links(data, source, target, n, evidence=0)
        p = data[source].find(table["source_id"]) + data.offsets[source].start
        q = data[target].find(table["target_id"]) + data.offsets[target].start
        found += zip(p.tolist(), q.tolist(), table["score"].tolist(), strict=True)
    return sorted(found, key=lambda one: -one[2])[:n]


def told(data: HeteroData, said: list[tuple[tuple[int, ...], float]]) -> HeteroData:
    """Return the data with pairs of global rows said to belong together or apart."""
    part = np.searchsorted([s.stop for s in data.offsets.values()], [p for p, _ in said], "right")
    links = []
    names = list(data.datasets)
    for block in np.unique(part, axis=0):
        mine = np.flatnonzero((part == block).all(axis=1))
        source, target = (names[number] for number in block)
        rows = np.array([said[m][0] for m in mine])
        i, j = rows[:, 0] - data.offsets[source].start, rows[:, 1] - data.offsets[target].start
        weight = np.array([said[m][1] for m in mine])
        links.append(Links(source, target, i, j, weight, kind="said"))
    return data.edit().add(*links)


def _pairs(rows: Pairs) -> list[tuple[int, ...]]:
    return [(int(a), int(b)) for n, a in enumerate(rows) for b in rows[n + 1 :]]


def simulate(sample: str, seed: int, ask: Ask) -> tuple[list[dict[str, float]], list[bool]]:
    """Ask and answer; return the figures after each twenty answers, and the answers."""
    analyst = Analyst(sample, seed)
    data, skip = analyst.data, set[str]()
    answered: set[int] = set()
    answers: list[bool] = []
    model, figures = analyst.measure(data)
    rounds = [figures]
    while len(answers) < ANSWERS:
        said = []
        for rows in ask(analyst, data, model, skip):
            yes, code = analyst.answer(rows), int(analyst.code(np.array(rows[:2])))
            if yes is None or code in answered or rows[0] == rows[1]:
                continue
            answered.add(code)
            answers.append(yes)
            # of a group asked about, what holds for the item holds for all who were shown
            said += [((rows[0], other), 1.0 if yes else -1.0) for other in rows[1:]]
            if len(answers) % EVERY == 0:
                break
        if not said:
            break
        data = told(data, said)
        model, figures = analyst.measure(data)
        rounds.append(figures)
    return rounds, answers


WAYS: dict[str, Ask] = {
    "ask me": by_asking,
    "by worth": by_worth,
    "the predictor's list": by_list,
    "chance": by_chance,
}


def _once(
    file: Path, sample: str, way: str, seed: int, ask: Ask
) -> tuple[list[dict[str, float]], list[bool]]:
    """Return a simulation that was written down, or make it and write it down."""
    for row in rows_of(file):
        if (row["sample"], row["way"], row["seed"]) == (sample, way, seed):
            return row["rounds"], row["answers"]
    rounds, answers = simulate(sample, seed, ask)
    setting = {"sample": sample, "way": way, "seed": seed}
    write(file, setting | {"rounds": rounds, "answers": answers})
    return rounds, answers


def run(out: Path, quick: bool) -> None:
    """Compare ways of asking over seeds; what is in ``asking.jsonl`` is not asked again."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "asking.jsonl"
    rows: list[dict[str, Any]] = []
    seeds = list(SEEDS)[: 1 if quick else None]
    for sample in SAMPLES:
        gains: dict[str, dict[str, np.ndarray[Any, Any]]] = {}
        for name, ask in WAYS.items():
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                runs = [_once(file, sample, name, seed, ask) for seed in seeds]
            last = {m: np.array([r[-1][m] - r[0][m] for r, _ in runs]) for m in runs[0][0][0]}
            gains[name] = last
            row: dict[str, Any] = {"sample": sample, "questions": name}
            row["answers"] = float(np.mean([len(a) for _, a in runs]))
            row["yes"] = float(np.mean([np.mean(a) if a else 0.0 for _, a in runs]))
            for measure, values in last.items():
                row[f"{measure} at first"] = float(np.mean([r[0][measure] for r, _ in runs]))
                row[f"{measure} gained"] = spread(values)
            rows.append(row)
        for row in rows[-len(WAYS) :]:
            for measure in gains["ask me"]:
                ahead = gains["ask me"][measure] - gains[row["questions"]][measure]
                own = row["questions"] == "ask me"
                row[f"ask me ahead, {measure}"] = "" if own else spread(ahead)
        print(rows[-len(WAYS) :], flush=True)
    report("asking", rows, out, f"{len(seeds)} seeds; gains after {ANSWERS} answers")
