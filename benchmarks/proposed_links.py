"""Links proposed between two tables without a common key, against known pairs.

``--data FOLDER`` holds the public sets of pyJedAI (``D1_rest1.csv`` and so on, each with its
``_gt.csv``) and ``country_en.csv`` with other languages of umpirsky/country-list. By words, up to
1,000 rows a side of each set are compared. By meaning and on maps it is a sample of 100, so that
reading the texts and fitting six maps takes seconds. Answers are the truth, given in the order in
which the review of new files asks.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

import hetviz
from benchmarks.harness import report
from hetviz.core import multilingual_vectors
from hetviz.core.threads import one_thread
from hetviz.data import HeteroData
from hetviz.data.joins.judged_links import judging_order, usable_links
from hetviz.errors import NotApplicableError

DATA = "needs"
N_ROWS, N_ON_MAP = 1_000, 100
N_ANSWERS = (20, 60)
# For calibration: samples, their rows by meaning, numbers of answers and least number of others.
SEEDS, N_BY_MEANING, N_FEW, MIN_REST = range(3), 300, (10, 20, 60), 10
SAMPLES = Path(__file__).parents[1] / "sample_data"
Truth = set[tuple[str, str]]


@dataclass(frozen=True)
class Tables:
    """Two tables, and the pairs of ids that belong together."""

    a: pd.DataFrame
    b: pd.DataFrame
    truth: Truth

    def sample(self, n: int, seed: int = 0) -> Tables:
        """Return n rows of `a`, their partners, and other rows of `b` up to n."""
        rng = np.random.default_rng(seed)
        a = self.a.iloc[np.sort(rng.permutation(len(self.a))[:n])]
        partners = [b for x, b in sorted(self.truth) if x in a.index]
        first = dict.fromkeys(rng.permutation(partners).tolist())
        others = dict.fromkeys(rng.permutation(self.b.index.to_numpy()).tolist())
        b = self.b.loc[list(first | others)[:n]]
        b = b.iloc[rng.permutation(len(b))]
        kept = {(x, y) for x, y in self.truth if x in a.index and y in b.index}
        return Tables(a, b, kept)

    @property
    def data(self) -> HeteroData:
        return HeteroData.from_frames({"a": self.a, "b": self.b}, labels={})


def _matching(first: str, second: str, truth: str, separator: str) -> Callable[[Path], Tables]:
    def read(folder: Path) -> Tables:
        def table(name: str) -> pd.DataFrame:
            frame = pd.read_csv(
                folder / f"{name}.csv", sep=separator, dtype=str, keep_default_na=False,
                engine="python", on_bad_lines="skip", encoding_errors="replace",
            )  # fmt: skip
            # The names of some columns are addresses.
            frame.columns = [str(column).rsplit("/")[-1].rsplit("#")[-1] for column in frame]
            return frame.loc[:, ~frame.columns.duplicated()]

        a, b, pairs = table(first), table(second), table(truth)
        ends = [f"a{x}" for x in pairs.iloc[:, 0]], [f"b{y}" for y in pairs.iloc[:, 1]]
        a, b = (
            frame.set_axis([f"{side}{id}" for id in frame["id"]]).drop(columns="id")
            for side, frame in (("a", a), ("b", b))
        )
        known = set(a.index) | set(b.index)
        matched = {pair for pair in zip(*ends, strict=True) if known.issuperset(pair)}
        return Tables(a, b, matched)

    return read


def _countries(language: str) -> Callable[[Path], Tables]:
    def read(folder: Path) -> Tables:
        frames = [
            pd.read_csv(folder / f"country_{of}.csv", dtype=str, keep_default_na=False)
            for of in ("en", language)
        ]
        ids = sorted(set(frames[0]["id"]) & set(frames[1]["id"]))
        a, b = (
            frame.set_axis([f"{side}{id}" for id in frame["id"]])[["value"]]
            for side, frame in zip("ab", frames, strict=True)
        )
        return Tables(a, b, {(f"a{id}", f"b{id}") for id in ids})

    return read


def _sample(
    name: str, first: str, second: str, columns: Sequence[str], others: Sequence[str]
) -> Callable[[Path], Tables]:
    """Return two tables of a sample, without columns that were computed from the links."""

    def read(_: Path) -> Tables:
        a, b, links = (
            pd.read_csv(SAMPLES / name / f"{file}.csv", dtype=str, keep_default_na=False)
            for file in (first, second, "links")
        )
        a = a.set_index("id")
        b = b.set_index("id")
        kept = links[(links["source_dataset"] == first) & (links["target_dataset"] == second)]
        pairs = set(zip(kept["source_id"], kept["target_id"], strict=True))
        return Tables(a[list(columns)], b[list(others)], pairs)

    return read


SETS: dict[str, Callable[[Path], Tables]] = {
    "restaurants": _matching("D1_rest1", "D1_rest2", "D1_gt", "|"),
    "Abt, Buy": _matching("D2_abt", "D2_buy", "D2_gt", "|"),
    "Amazon, Google": _matching("D3_amazon", "D3_gp", "D3_gt", "#"),
    "DBLP, ACM": _matching("D4_dblp", "D4_acm", "D4_gt", "%"),
    "IMDb, TMDb": _matching("D5_imdb", "D5_tmdb", "D5_gt", "|"),
    "TMDb, TVDb": _matching("D5_tmdb", "D6_tvdb", "D7_gt", "|"),
    "Walmart, Amazon": _matching("D8_walmart", "D8_amazon", "D8_gt", "|"),
    "English, German": _countries("de"),
    "English, French": _countries("fr"),
    "emoji, keywords": _sample(
        "emoji", "emoji", "keywords", ["name", "group", "subgroup"], ["keyword"]
    ),
    "programs, tags": _sample(
        "debian",
        "programs",
        "tags",
        [
            "synopsis",
            "description",
            "section",
            "installed_kb",
            "n_depends",
            "language",
            "interface",
        ],
        ["facet", "name", "description"],
    ),
}
CHOSEN_ON = ("emoji, keywords", "programs, tags")
# Sides of sets that have nothing to do with each other.
UNRELATED = (
    ("TMDb, TVDb", "b", "restaurants", "b"),
    ("TMDb, TVDb", "a", "Abt, Buy", "b"),
    ("TMDb, TVDb", "b", "English, French", "b"),
    ("Walmart, Amazon", "a", "DBLP, ACM", "a"),
    ("Walmart, Amazon", "b", "programs, tags", "b"),
    ("Walmart, Amazon", "b", "emoji, keywords", "b"),
    ("restaurants", "b", "English, German", "a"),
    ("Amazon, Google", "b", "programs, tags", "b"),
    ("IMDb, TMDb", "a", "programs, tags", "a"),
    ("DBLP, ACM", "b", "emoji, keywords", "a"),
)  # fmt: skip


class Clock:
    """CPU seconds between its two ends."""

    def __enter__(self) -> Clock:
        self.start = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.process_time() - self.start


def is_right(frame: pd.DataFrame, truth: Truth) -> np.ndarray:
    """Return which pairs are true."""
    pairs = zip(frame["source_id"], frame["target_id"], strict=True)
    return np.array([pair in truth for pair in pairs], dtype=bool)


@one_thread()
def auc(data: HeteroData, links: pd.DataFrame | None, truth: Truth, of: Truth) -> float:
    """Return the AUC of some true pairs by distance on the default map, against untrue pairs.

    Items that are not on the map are at its median distance. NaN if there is no map, as names alone
    are no features.
    """
    linked = data if links is None or links.empty else data.edit().add(links)
    try:
        coordinates = hetviz.embed(linked).coordinates
    except NotApplicableError:
        return float("nan")
    A, B = coordinates["a"], coordinates["b"]
    distance = np.sqrt(((A[:, None] - B[None]) ** 2).sum(axis=-1))
    if np.isnan(distance).all():
        return float("nan")
    distance = np.where(np.isnan(distance), np.nanmedian(distance), distance)
    sides = [{id: k for k, id in enumerate(data[name].ids.tolist())} for name in "ab"]
    label = np.zeros(distance.shape, dtype=np.int8)
    for pairs, value in ((truth, -1), (of, 1)):
        rows = np.array([(sides[0][a], sides[1][b]) for a, b in sorted(pairs)])
        label[rows[:, 0], rows[:, 1]] = value
    used = label >= 0
    return float(roc_auc_score(label[used], -distance[used]))


def propose(
    data: HeteroData, by: str, answers: pd.DataFrame | None = None, **how: Any
) -> pd.DataFrame:
    """Return the proposals as the app would use them: without the least likely ones."""
    return usable_links(hetviz.propose_links(data, "a", "b", by=by, answers=answers, **how))  # type: ignore[arg-type]


def answered(frame: pd.DataFrame, n: int, truth: Truth) -> pd.DataFrame:
    """Return n true answers in the order of the app."""
    asked = frame.iloc[judging_order(len(frame), n)]
    return asked[["source_id", "target_id"]].assign(right=is_right(asked, truth))


def given_fifths(truth: Truth, seed: int = 0) -> tuple[pd.DataFrame, Truth]:
    """Return four fifths of the true pairs as links, and the others."""
    pairs = sorted(truth)
    order = np.random.default_rng(seed).permutation(len(pairs))
    held = {pairs[k] for k in order[: max(1, len(pairs) // 5)]}
    given = pd.DataFrame(sorted(truth - held), columns=["source_id", "target_id"])
    return given.assign(source_dataset="a", target_dataset="b", kind="given"), held


def by_words_and_meaning(name: str, read: Tables, n: int, n_small: int) -> list[dict[str, Any]]:
    """Return precision and recall by words and by meaning, and the stated share after answers."""
    ways: list[tuple[str, int, dict[str, Any]]] = [("words", n, {}), ("meaning", n_small, {})]
    if multilingual_vectors.is_installed() and name.startswith("English"):
        ways.append(("meaning", n_small, {"model": "multilingual"}))
    rows = []
    for by, size, how in ways:
        tables = read.sample(size)
        data, truth = tables.data, tables.truth
        with Clock() as clock:
            frame = propose(data, by, **how)
        right = is_right(frame, truth)
        best = ~frame["source_id"].duplicated().to_numpy()
        row = {
            "tables": name + (" *" if name in CHOSEN_ON else ""),
            "rows": f"{len(tables.a)}, {len(tables.b)}",
            "true pairs": len(truth),
            "by": ", ".join([by, *how.values()]),
            "n": len(frame),
            "precision": _mean(right),
            "recall": right.sum() / len(truth),
            "precision of first": _mean(right[best]),
            "CPU s": clock.seconds,
        }
        for count in N_ANSWERS:
            row |= dict.fromkeys((f"stated {count}", f"true {count}"), float("nan"))
            if len(frame) > count:
                answers = answered(frame, count, truth)
                judged = hetviz.propose_links(data, "a", "b", by=by, answers=answers, **how)  # type: ignore[arg-type]
                asked = set(zip(answers["source_id"], answers["target_id"], strict=True))
                rest = judged[~is_right(judged, asked)]
                row |= {
                    f"stated {count}": _mean(rest["probability"]),
                    f"true {count}": _mean(is_right(rest, truth)),
                }
        rows.append(row)
    return rows


def calibration(name: str, read: Tables, by: str, n: int) -> dict[str, Any]:
    """Return how far stated shares of right pairs are off, mean of samples, after few answers."""
    errors: dict[str, list[float]] = {}
    for seed in SEEDS:
        tables = read.sample(n, seed)
        proposed = hetviz.propose_links(tables.data, "a", "b", by=by)  # type: ignore[arg-type]
        for count in N_FEW:
            if len(proposed) < count + MIN_REST:
                continue
            answers = answered(proposed, count, tables.truth)
            judged = hetviz.judge_links(proposed, answers)
            asked = set(zip(answers["source_id"], answers["target_id"], strict=True))
            rest = judged[~is_right(judged, asked)]
            error = rest["probability"].to_numpy() - is_right(rest, tables.truth)
            quarters = [abs(_mean(part)) for part in np.array_split(error, 4)]
            for measure, value in (
                ("share", abs(error.mean())),
                ("quarters", _mean(quarters)),
                ("Brier", _mean(error**2)),
            ):
                errors.setdefault(f"{measure} {count}", []).append(value)
    worst = max(errors.get(f"share {N_FEW[0]}", [float("nan")]))
    row = {"tables": name, "by": by, "rows": n, f"worst share {N_FEW[0]}": worst}
    return row | {measure: _mean(values) for measure, values in sorted(errors.items())}


def on_maps(name: str, tables: Tables) -> dict[str, Any]:
    """Return the AUC of the true pairs on maps with proposed and with given links."""
    data, truth = tables.data, tables.truth
    found = {by: propose(data, by) for by in ("words", "meaning")}
    by = "words" if len(found["words"]) else "meaning"
    given, held = given_fifths(truth)
    with Clock() as clock:
        row = {
            "tables": name + (" *" if name in CHOSEN_ON else ""),
            "rows": f"{len(tables.a)}, {len(tables.b)}",
            "no links": auc(data, None, truth, truth),
            "words": auc(data, found["words"], truth, truth),
            "meaning": auc(data, found["meaning"], truth, truth),
            "answers by": by,
        }
        for count in N_ANSWERS:
            judged = propose(data, by, answered(found[by], count, truth))
            row[f"after {count}"] = auc(data, judged, truth, truth)
        row["four fifths given"] = auc(data, given, truth, held)
    return row | {"CPU s of six maps": clock.seconds}


def on_map_of_emoji(tables: Tables) -> list[dict[str, Any]]:
    """Return the AUC of the true pairs of all emoji and keywords, also without a common word."""
    data, truth = tables.data, tables.truth
    words = {
        name: {
            str(id): _words(" ".join(map(str, (id, *row))))
            for id, row in zip(table.index, table.to_numpy(), strict=True)
        }
        for name, table in (("a", tables.a), ("b", tables.b))
    }
    found = propose(data, "meaning")
    pairs = zip(found["source_id"], found["target_id"], strict=True)
    differ = [not words["a"][a] & words["b"][b] for a, b in pairs]
    given, held = given_fifths(truth)
    ways = {
        "words": (propose(data, "words"), truth),
        "meaning": (found, truth),
        "meaning, no common word": (found[differ], truth),
        "four fifths given": (given, held),
    }
    return [
        {
            "links": way,
            "n": len(links),
            "right": float("nan") if way == "four fifths given" else _mean(is_right(links, truth)),
            "AUC": auc(data, links, truth, of),
        }
        for way, (links, of) in ways.items()
    ]


def _words(text: str) -> set[str]:
    """Return the first five letters of each word."""
    return {word[:5] for word in re.findall("[a-z]+", text.lower())}


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def unrelated(sets: dict[str, Tables]) -> list[dict[str, Any]]:
    """Return the numbers of proposals between tables that have nothing to do with each other."""
    rows: list[dict[str, Any]] = []
    for first, side, second, other in UNRELATED:
        a, b = getattr(sets[first], side), getattr(sets[second], other)
        data = Tables(a, b, set()).data
        rows.append({"first": f"{first} ({side})", "second": f"{second} ({other})"})
        rows[-1] |= {by: len(propose(data, by)) for by in ("words", "meaning")}
    return rows


def made_names(n: int, seed: int = 0) -> Tables:
    """Return n made-up names, and the same in another order, half of them with a part missing."""
    rng = np.random.default_rng(seed)
    syllables = [first + second for first in "bcdfghklmnprstvwz" for second in "aeiou"]
    words = ["".join(rng.choice(syllables, rng.integers(2, 5))) for _ in range(20_000)]
    shares = 1 / np.arange(1, len(words) + 1) ** 0.8
    drawn = rng.choice(words, (n, 5), p=shares / shares.sum()).tolist()
    names, others = [], []
    for row in drawn:
        name = row[: rng.integers(3, 6)]
        other = rng.permutation(name).tolist()
        if rng.random() < 0.5:
            other[0] = other[0][:-1]
        names.append(" ".join(name))
        others.append(" ".join(other if rng.random() < 0.5 else other[:-1]))
    a, b = (
        pd.DataFrame({"name": texts}, index=[f"{side}{k}" for k in range(n)])
        for side, texts in (("a", names), ("b", others))
    )
    return Tables(a, b.sample(frac=1, random_state=seed), {(f"a{k}", f"b{k}") for k in range(n)})


def of_large_tables(by: str, n: int) -> dict[str, Any]:
    """Return time, precision and recall of proposals between large tables."""
    tables = made_names(n)
    data = tables.data
    with Clock() as clock:
        frame = hetviz.propose_links(data, "a", "b", by=by)  # type: ignore[arg-type]
    right = is_right(frame, tables.truth)
    recall = right.sum() / n
    counts = {"by": by, "rows": n, "n": len(frame), "precision": _mean(right), "recall": recall}
    return counts | {"CPU s": clock.seconds}


def run(out: Path, quick: bool, data: Path) -> None:
    """Print tables of pairs, calibration, large tables, unrelated tables and maps."""
    n, n_small = (200, 60) if quick else (N_ROWS, N_ON_MAP)
    sets = {name: read(data) for name, read in SETS.items()}
    pairs = []
    for name, tables in sets.items():
        pairs += by_words_and_meaning(name, tables, n, n_small)
        report("proposed_links", pairs, out, "* settings were chosen on these")
    few = [
        calibration(name, tables, by, rows)
        for name, tables in sets.items()
        for by, rows in (("words", n), ("meaning", min(n, N_BY_MEANING)))
    ]
    report("proposed_links_calibration", few, out, "errors of stated shares after few answers")
    sizes = [("words", 2_000)] if quick else [("words", 100_000), ("meaning", 10_000)]
    large = [of_large_tables(by, rows) for by, rows in sizes]
    report("proposed_links_large", large, out, "made-up names")
    samples = {name: tables.sample(n_small) for name, tables in sets.items()}
    report("proposed_links_unrelated", unrelated(samples), out, "numbers of proposals")
    maps = []
    for name, tables in samples.items():
        maps.append(on_maps(name, tables))
        report("proposed_links_maps", maps, out, "AUC of true pairs by distance on the map")
    if not quick:
        report(
            "proposed_links_emoji", on_map_of_emoji(sets["emoji, keywords"]), out, "whole sample"
        )
