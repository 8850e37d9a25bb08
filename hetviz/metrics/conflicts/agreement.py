"""Agreement of the people who gave guidance, and what they disagree about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from hetviz._json import records
from hetviz._text import count, join_words
from hetviz._types import Floats, Ints, JsonObject, Texts
from hetviz.core.measures.agreement import MIN_UNITS, NominalAlpha, nominal_alpha
from hetviz.core.threads import one_thread
from hetviz.data import HeteroData, Labels
from hetviz.data.model.statements import author_names, people_of
from hetviz.metrics.conflicts.conflicts import StatementArrays

TOGETHER, APART = "together", "apart"
_UNITS = {"link": "pair", "comparison": "comparison", "label": "item"}


@dataclass(frozen=True, eq=False)
class Disagreement:
    """A pair, comparison or item that people judge differently.

    Attributes
    ----------
    form : str
        "link", "comparison" or "label".
    rows : tuple of int
        Global rows of its items.
    about : str
        What it is about, in words.
    judgements : mapping of str to str
        Judgement in words, by name.
    keys : mapping of str to tuple of str
        Keys of the statements by name, see `hetviz.statements`; empty for labels.
    label : (dataset, column, id) or None
        The label that it is about.
    effect : str
        What the data have now, in a sentence.
    """

    form: str
    rows: tuple[int, ...]
    about: str
    judgements: dict[str, str]
    effect: str
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    label: tuple[str, str, str] | None = None

    @property
    def sentence(self) -> str:
        """Subject, and the judgements with names."""
        names_of: dict[str, list[str]] = {}
        for name, judgement in self.judgements.items():
            names_of.setdefault(judgement, []).append(name)
        texts = [f"{join_words(names)}: {text}" for text, names in names_of.items()]
        return f"{self.about}. {'. '.join(texts)}."

    def to_dict(self) -> JsonObject:
        """Return all fields, JSON-ready."""
        return {
            "form": self.form,
            "about": self.about,
            "judgements": dict(self.judgements),
            "keys": {name: list(keys) for name, keys in self.keys.items()},
            "label": None if self.label is None else list(self.label),
            "effect": self.effect,
        }


@dataclass(frozen=True, eq=False)
class PeopleAgreement:
    """People, how far they agree, and what they disagree about.

    Attributes
    ----------
    people : DataFrame
        One row per person, in order of their names: name, links, comparisons, labels.
    alpha : DataFrame
        Krippendorff's alpha of links, of comparisons and of each label column that two people or
        more judged: form, about, alpha, low, high, units, people, disagreements. Alpha, and the
        bounds low and high of its 95 % interval, are NaN where there are too few units.
    disagreements : tuple of Disagreement
    """

    people: pd.DataFrame
    alpha: pd.DataFrame
    disagreements: tuple[Disagreement, ...]

    def to_dict(self) -> JsonObject:
        """Return all fields, JSON-ready."""
        alpha = self.alpha.astype(object).where(self.alpha.notna(), None)
        return {
            "people": records(self.people),
            "alpha": records(alpha),
            "disagreements": [item.to_dict() for item in self.disagreements],
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def sentences(self) -> list[str]:
        """Return one sentence for each row of `alpha`."""
        return [_alpha_text(row) for row in records(self.alpha)]

    def _lines(self) -> Iterator[str]:
        if self.people.empty:
            yield "No statement has an author."
        for row in records(self.people):
            parts = [
                count(int(str(row[name])), name.removesuffix("s"))
                for name in ("links", "comparisons", "labels")
                if row[name]
            ]
            yield f"{row['name']}: {join_words(parts)}."
        if len(self.people) > 1 and self.alpha.empty:
            yield "No two people judged the same pair, comparison or item."
        yield from self.sentences()
        for item in self.disagreements:
            yield f"{item.sentence} {item.effect}"


def _alpha_text(row: JsonObject) -> str:
    units, people = int(str(row["units"])), int(str(row["people"]))
    judged_by = "both people" if people == 2 else f"two or more of {people:,} people"
    basis = f"{count(units, _UNITS[str(row['form'])])} judged by {judged_by}"
    alpha, low, high = (float(str(row[name])) for name in ("alpha", "low", "high"))
    about = str(row["about"])
    n_differ = int(str(row["disagreements"]))
    if np.isnan(alpha):
        reason = f"fewer than {MIN_UNITS}" if units < MIN_UNITS else "all judgements are equal"
        return f"{about}: no alpha for {basis}: {reason}. They differ on {n_differ:,}."
    interval = "" if np.isnan(low) else f" (95 % interval {low:.2f} to {high:.2f})"
    coefficient = f"{alpha:.2f}{interval}".replace("-", "−")
    return (
        f"{about}: Krippendorff's alpha {coefficient}, from {basis}. They differ on {n_differ:,}."
    )


@one_thread()
def agreement(data: HeteroData, *, max_disagreements: int = 100) -> PeopleAgreement:
    """Compare what people stated about the same pairs, comparisons and items.

    Parameters
    ----------
    data : HeteroData
        Statements have an author in the column `who` of their meta table, and labels in
        `Labels.annotations`. Statements without an author are ignored.
    max_disagreements : int
        Maximum number of listed disagreements, 1 or more. The counts have all.

    Returns
    -------
    PeopleAgreement

    Notes
    -----
    Judgements are nominal. A person judges a pair of items as together or apart, by the sign of the
    sum of the weights of their links. Of two pairs that a comparison relates, a person judges which
    one is closer. Views of one object count as one. Krippendorff's alpha is 1 for full agreement
    and 0 for agreement as by chance, where chance has the shares of all judgements of the same
    form. For comparisons both answers have the share 0.5, since their order is arbitrary. See
    `hetviz.core.measures.agreement.nominal_alpha` for the equation. O(1,000 statements).

    References
    ----------
    Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of Pennsylvania.

    Examples
    --------
    >>> import pandas as pd
    >>> import hetviz
    >>> from hetviz import Dataset, HeteroData, Links
    >>> people = pd.DataFrame({"who": ["Ada", "Bob"]})
    >>> link = Links("x", "x", [0, 0], [1, 1], [1, -1], kind="said", meta=people)
    >>> print(hetviz.agreement(HeteroData([Dataset("x", ["a", "b"])], [link])))
    Ada: 1 link.
    Bob: 1 link.
    Pairs: no alpha for 1 pair judged by both people: fewer than 5. They differ on 1.
    “a” and “b”. Ada: together. Bob: apart. All weights add up to 0: neither together nor apart.
    """
    parts = []
    if people_of(data):
        arrays, who = StatementArrays(data), author_names(data)
        parts = [_links(arrays, who), _comparisons(arrays, who)]
        parts += [_labels(data, label) for label in data.labels if label.annotations is not None]
    found = [part for part in parts if part.n_units]
    people = sorted({name for part in parts for name in part.count_of})
    numbers = pd.DataFrame({"name": people})
    for form, column in (("link", "links"), ("comparison", "comparisons"), ("label", "labels")):
        forms = [part.count_of for part in parts if part.form == form]
        numbers[column] = [sum(counts.get(name, 0) for counts in forms) for name in people]
    columns = ["form", "about", "alpha", "low", "high", "units", "people", "disagreements"]
    table = pd.DataFrame([part.row() for part in found], columns=columns)
    disagreements: list[Disagreement] = []
    for part in found:
        disagreements += part.disagreements(max_disagreements - len(disagreements))
    return PeopleAgreement(numbers, table, tuple(disagreements))


@dataclass(frozen=True, eq=False)
class _Judgements:
    """Judgements of one form: unit, person and value of each, as codes."""

    form: str
    about: str
    unit: Ints
    name: Ints
    value: Ints
    count_of: dict[str, int]  # Statements by name, also those that add up to 0.
    describe: Callable[[Ints], Disagreement]  # Of the judgements of one unit.

    @property
    def paired(self) -> Ints:
        """Positions of the judgements of units with two or more, by unit."""
        if not len(self.unit):
            return self.unit
        positions = np.flatnonzero(np.bincount(self.unit)[self.unit] > 1)
        return positions[np.argsort(self.unit[positions], kind="stable")]

    @property
    def n_units(self) -> int:
        return len(np.unique(self.unit[self.paired]))

    def row(self) -> tuple[object, ...]:
        alpha: NominalAlpha = nominal_alpha(
            self.unit, self.value, exchangeable=self.form == "comparison"
        )
        numbers = [np.nan if x is None else x for x in (alpha.alpha, alpha.low, alpha.high)]
        n_people = len(np.unique(self.name[self.paired]))
        return (self.form, self.about, *numbers, alpha.n_units, n_people, len(self._differing()))

    def _differing(self) -> list[Ints]:
        paired = self.paired
        starts = np.flatnonzero(np.diff(self.unit[paired])) + 1
        return [rows for rows in np.split(paired, starts) if len(set(self.value[rows])) > 1]

    def disagreements(self, limit: int) -> list[Disagreement]:
        return [self.describe(rows) for rows in self._differing()[: max(limit, 0)]]


def _net(unit: Ints, who: Texts, weight: Floats) -> tuple[Ints, Ints, Ints, list[str]]:
    """Return unit, name, whether the sum is positive, and the names; sums of 0 are left out."""
    code, names = pd.factorize(pd.Series(who, dtype=object), sort=True)
    table = pd.DataFrame({"unit": unit, "name": code, "weight": weight})
    sums = table.groupby(["unit", "name"], sort=True)["weight"].sum()
    sums = sums[sums != 0]
    ends = [sums.index.get_level_values(k).to_numpy(dtype=np.int64) for k in range(2)]
    return ends[0], ends[1], np.asarray(sums > 0, dtype=np.int64), [str(name) for name in names]


def _counts(who: Texts) -> dict[str, int]:
    return {str(name): int(n) for name, n in pd.Series(who, dtype=object).value_counts().items()}


def _links(arrays: StatementArrays, who: Texts) -> _Judgements:
    at = np.flatnonzero((who[: arrays.n_links] != "").astype(bool))
    codes, unit = np.unique(arrays.pair_code[at], return_inverse=True)
    units, name, value, names = _net(unit, who[at], arrays.weight[at])

    def describe(rows: Ints) -> Disagreement:
        links = at[unit == units[rows[0]]]
        total = float(
            np.clip(
                arrays.weight[: arrays.n_links][arrays.pair_code == codes[units[rows[0]]]].sum(),
                -1,
                1,
            )
        )
        if total:
            effect = f"All weights add up to {total:+.2g}: {TOGETHER if total > 0 else APART}."
        else:
            effect = "All weights add up to 0: neither together nor apart."
        return Disagreement(
            "link",
            tuple(arrays.rows[links[0], :2].tolist()),
            arrays.pair_text(int(links[0])),
            {names[name[k]]: TOGETHER if value[k] else APART for k in rows},
            effect.replace("-", "−"),
            _keys_by_name(arrays, links, who, [names[name[k]] for k in rows]),
        )

    about = "Pairs"
    return _Judgements("link", about, units, name, value, _counts(who[at]), describe)


def _keys_by_name(
    arrays: StatementArrays, at: Ints, who: Texts, names: list[str]
) -> dict[str, tuple[str, ...]]:
    return {name: tuple(str(arrays.keys[k]) for k in at if who[k] == name) for name in names}


def _comparisons(arrays: StatementArrays, who: Texts) -> _Judgements:
    data, n = arrays.data, arrays.n_links
    at = n + np.flatnonzero((who[n:] != "").astype(bool))
    pairs = np.sort(data.object_of[arrays.rows[at]].reshape(-1, 2, 2), axis=2)
    near, far = (pairs[:, k, 0] * data.n_objects + pairs[:, k, 1] for k in range(2))
    ends = np.column_stack([np.minimum(near, far), np.maximum(near, far)])
    unit = np.unique(ends, axis=0, return_inverse=True)[1].ravel()
    is_first = near < far
    units, name, value, names = _net(unit, who[at], np.where(is_first, 1, -1) * arrays.weight[at])

    def describe(rows: Ints) -> Disagreement:
        in_unit = unit == units[rows[0]]
        text_of = {
            bool(is_first[k]): arrays.comparison_text(int(at[k] - n))
            for k in np.flatnonzero(in_unit)
        }
        return Disagreement(
            "comparison",
            tuple(dict.fromkeys(arrays.rows[at[in_unit][0]].tolist())),
            "A comparison",
            {names[name[k]]: text_of[bool(value[k])] for k in rows},
            "By default, methods leave out both of two opposite comparisons.",
            _keys_by_name(arrays, at[in_unit], who, [names[name[k]] for k in rows]),
        )

    about = "Comparisons"
    return _Judgements("comparison", about, units, name, value, _counts(who[at]), describe)


def _labels(data: HeteroData, label: Labels) -> _Judgements:
    entries = [entry for entry in label.entries() if entry[2]]
    rows = np.array([row for row, *_ in entries], dtype=np.int64)
    texts = [str(value) for _, value, _, _ in entries]
    who = np.array([name for _, _, name, _ in entries], dtype=object)
    code, names = pd.factorize(who, sort=True)
    items, start = data[label.dataset], data.offsets[label.dataset].start

    def describe(at: Ints) -> Disagreement:
        row = int(rows[at[0]])
        return Disagreement(
            "label",
            (start + row,),
            f"{label.name} of “{items.display_names[row]}”",
            {str(names[code[k]]): f"“{texts[k]}”" for k in at},
            f"The last label counts: “{label.values[row]}”.",
            label=(label.dataset, label.name, str(items.ids[row])),
        )

    about = f"Labels {label.name} of {label.dataset}"
    value = pd.factorize(pd.Series(texts, dtype=object))[0]
    return _Judgements("label", about, rows, code, value, _counts(who), describe)
