"""Asked questions against random ones: held-out satisfaction by the number of answers.

A simulated analyst knows which items of two datasets belong together: digits of one class, emoji
and keywords of one group, or emoji and the keywords they are tagged with. The map is made again
after every 20 answers and measured on pairs that were drawn beforehand and are never asked about:
the share of pairs that belong together and lie nearer than pairs that do not (area under the
curve, 0.5 by chance).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

import hetviz
from benchmarks.harness import report
from hetviz import HeteroData, Links
from hetviz.runs.ask.questions import suggest_questions

EVERY, ANSWERS = 20, 200
TEST_PAIRS = 40_000
METHOD = {"n_components": 8}
Pairs = np.ndarray[Any, np.dtype[np.int64]]


@dataclass
class Analyst:
    """What is said at first, and what an analyst would say of any pair."""

    data: HeteroData
    together: Callable[[Pairs], np.ndarray[Any, Any]]
    test: Pairs

    def measure(self, data: HeteroData) -> tuple[Any, float]:
        """Make the map, and return it with the area on the pairs kept aside."""
        embedding = hetviz.embed(data, "guided-projection", **METHOD)
        Y = embedding.stacked()
        areas = []
        part = np.searchsorted([s.stop for s in data.offsets.values()], self.test, side="right")
        for block in np.unique(part, axis=0):
            pairs = self.test[(part == block).all(axis=1)]
            away = ((Y[pairs[:, 0]] - Y[pairs[:, 1]]) ** 2).sum(axis=1)
            same = self.together(pairs)
            ranks, n = rankdata(-away), int(same.sum())
            areas.append((ranks[same].sum() - n * (n + 1) / 2) / (n * (len(same) - n)))
        return embedding, float(np.mean(areas))


def by_class(sample: str, start: int, seed: int) -> Analyst:
    """Start with some of the links of a sample; items of one class belong together."""
    data = hetviz.load(sample)
    rng = np.random.default_rng(seed)
    names = np.concatenate([column.values for column in data.labels]).astype(str)
    cross = [links for links in data.links if links.source != links.target]
    each = start // len(cross)
    said = [links.take(rng.permutation(len(links))[:each]) for links in cross]
    test = np.concatenate(list(drawn(data, rng, TEST_PAIRS)))
    return Analyst(
        HeteroData(data.datasets.values(), said), lambda p: names[p[:, 0]] == names[p[:, 1]], test
    )


def by_links(start: int, seed: int) -> Analyst:
    """Start with some of the tags of emoji; those tagged belong together."""
    data = hetviz.load("emoji")
    rng = np.random.default_rng(seed)
    tags = next(links for links in data.links if links.kind == "tagged")
    shift = data.offsets[tags.target].start
    every = np.column_stack([tags.i, tags.j + shift])
    codes = every @ [data.n_rows, 1]
    order = rng.permutation(len(tags))
    aside = every[order[: len(tags) // 3]]
    said = tags.take(order[len(tags) // 3 :][:start])

    def together(pairs: Pairs) -> np.ndarray[Any, Any]:
        return np.isin(pairs @ [data.n_rows, 1], codes)

    test = np.concatenate([aside, *drawn(data, rng, TEST_PAIRS)])
    return Analyst(HeteroData(data.datasets.values(), [said]), together, test)


def drawn(data: HeteroData, rng: np.random.Generator, n: int) -> Iterator[Pairs]:
    """Draw n pairs of each two datasets."""
    spans = list(data.offsets.values())
    for number, left in enumerate(spans):
        for right in spans[number + 1 :]:
            ends = [rng.integers(span.start, span.stop, n) for span in (left, right)]
            yield np.column_stack(ends)


def simulate(analyst: Analyst, seed: int, asked: bool, answers: int) -> tuple[list[float], float]:
    """Answer question by question; return the area after every 20, and the share of yes."""
    rng = np.random.default_rng(seed)
    data = analyst.data
    aside = set(map(tuple, analyst.test.tolist()))
    embedding, area = analyst.measure(data)
    areas, said, skip = [area], [], set()
    while len(said) < answers:
        if asked:
            found = suggest_questions(
                data, embedding, EVERY, skip=skip, random_state=seed, kinds=("link",)
            )
            skip |= {question.key for question in found}
            pairs = [question.rows for question in found]
        else:
            pairs = rng.permutation(np.concatenate(list(drawn(data, rng, EVERY))))[:EVERY].tolist()
        if not pairs:
            break
        fresh = [tuple(pair) for pair in pairs if tuple(pair) not in aside]
        said += fresh[: answers - len(said)]
        if len(said) // EVERY < len(areas):
            continue
        data = told(analyst, np.array(said))
        embedding, area = analyst.measure(data)
        areas.append(area)
    return areas, float(analyst.together(np.array(said)).mean())


def told(analyst: Analyst, said: Pairs) -> HeteroData:
    """Return the data with the answers."""
    data = analyst.data
    weight = np.where(analyst.together(said), 1.0, -1.0)
    part = np.searchsorted([s.stop for s in data.offsets.values()], said, side="right")
    links = []
    for block in np.unique(part, axis=0):
        mine = (part == block).all(axis=1)
        source, target = (list(data.datasets)[number] for number in block)
        i, j = said[mine].T - [[data.offsets[source].start], [data.offsets[target].start]]
        links.append(Links(source, target, i, j, weight[mine], kind="said"))
    return HeteroData(data.datasets.values(), [*data.links, *links])


SETTINGS: dict[str, Callable[[int], Analyst]] = {
    "digits, 150 links at first": partial(by_class, "digits", 150),
    "emoji groups, 80 links at first": partial(by_class, "emoji", 80),
    "emoji tags, 400 links at first": partial(by_links, 400),
}


def run(out: Path, quick: bool) -> None:
    """Compare both ways of asking over seeds; the strategy was chosen on other seeds (10 to 12)."""
    rows: list[dict[str, Any]] = []
    seeds = range(2 if quick else 5)
    for name, make in SETTINGS.items():
        curves: dict[bool, np.ndarray[Any, Any]] = {}
        for asked in (True, False):
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                runs = [simulate(make(seed), seed, asked, ANSWERS) for seed in seeds]
            length = min(len(areas) for areas, _ in runs)
            curves[asked] = np.array([areas[:length] for areas, _ in runs])
            row = {"sample": name, "asked": asked, "yes": float(np.mean([y for _, y in runs]))}
            for at in (0, 40, 100, 200):
                if at // EVERY < length:
                    values = curves[asked][:, at // EVERY]
                    error = values.std(ddof=1) / np.sqrt(len(values))
                    row[str(at)] = f"{values.mean():.4f} ± {error:.4f}"
                else:
                    row[str(at)] = "-"
            rows.append(row)
        rows[-2]["fewer"], rows[-1]["fewer"] = fewer(curves[True], curves[False]), "-"
    report("asking", rows, out, f"{len(seeds)} seeds; held-out area by number of answers")


def fewer(asked: np.ndarray[Any, Any], random: np.ndarray[Any, Any]) -> str:
    """Say how many times fewer asked answers reach, on the mean curve, what all random ones do."""
    goal, curve = random.mean(axis=0)[-1], asked.mean(axis=0)
    if goal <= random.mean(axis=0)[0]:
        return "random gains nothing"
    reached = np.flatnonzero(curve >= goal)
    if not len(reached):
        return "never reached"
    at = int(reached[0])
    before = curve[at - 1] if at else curve[0]
    step = at if at == 0 else at - 1 + (goal - before) / (curve[at] - before)
    return f"{(random.shape[1] - 1) / max(step, 1e-9):.2f}"
