"""Links: pairs of items with signed weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from hetviz._types import Array, Floats, Ints
from hetviz.data.model import checks
from hetviz.data.model.checks import ProblemCollector
from hetviz.data.model.immutable import Immutable

ROLES = ("guidance", "relation")


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Links(Immutable):
    """Links from items of one dataset to items of another, or of the same.

    Parameters
    ----------
    source, target : str
        Dataset names, possibly equal.
    i, j : array of int, shape (m,)
        Row positions: link l joins row ``i[l]`` of `source` to row ``j[l]`` of `target`.
    weight : array of shape (m,) or number, optional
        Weight in [-1, 1]: positive for together, negative for apart. 0 is only allowed for links
        with score 0. Default: score / max |score|, or 1 without scores.
    score : array of shape (m,), optional
        Observed strength, any finite number, for methods that fit scores.
    complete : bool
        Whether unlisted pairs are known zeros (True) or unknown (False).
    kind : str
        Kind of the links; each kind within a dataset is one graph for methods that use graphs.
    role : {"guidance", "relation"}
        Given by a person, or observed.
    meta : DataFrame of m rows, optional
        Columns such as note, who and when.

    Attributes
    ----------
    weight_given : bool
        False if the weights were derived.

    Raises
    ------
    hetviz.errors.DataError
        Listing all bad links.
    """

    source: str
    target: str
    i: Ints
    j: Ints
    weight: Floats
    score: Floats | None
    complete: bool
    kind: str
    role: str
    meta: pd.DataFrame | None
    weight_given: bool = field(init=False)

    def __init__(
        self,
        source: str,
        target: str,
        i: ArrayLike,
        j: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        score: ArrayLike | None = None,
        complete: bool = False,
        kind: str = "link",
        role: str = "guidance",
        meta: pd.DataFrame | None = None,
    ) -> None:
        gate = ProblemCollector()
        source = checks.check_name(gate, "links, source", source)
        target = checks.check_name(gate, "links, target", target)
        kind = checks.check_name(gate, "links, kind", kind)
        where = f"links {source} - {target}" + ("" if kind == "link" else f" ({kind})")
        if role not in ROLES:
            gate.refuse("bad-role", where, "role must be guidance or relation", role)
        rows_i = checks.check_positions(
            gate, f"{where}, source", np.atleast_1d(np.asarray(i)), None
        )
        rows_j = checks.check_positions(
            gate, f"{where}, target", np.atleast_1d(np.asarray(j)), None
        )
        if rows_i.shape != rows_j.shape or rows_i.ndim != 1:
            gate.refuse(
                "bad-shape",
                where,
                "i and j must be two lists of the same length",
                f"{rows_i.shape} and {rows_j.shape}",
            )
            gate.close()
        m = len(rows_i)
        scores = None
        if score is not None:
            scores = checks.read_only(checks.check_numbers(gate, f"{where}, score", score, m))
        if weight is not None:
            weights = checks.check_numbers(gate, f"{where}, weight", weight, m)
            may_be_zero = np.zeros(m, dtype=bool) if scores is None else scores == 0
            for row in np.flatnonzero((weights == 0) & ~may_be_zero):
                gate.refuse(
                    "zero-weight",
                    f"{where}, row {row + 1}",
                    "a weight of 0 has no effect",
                    "0",
                    "Remove the link, or use above 0 for together and below 0 for apart.",
                    int(row),
                )
            for row in np.flatnonzero(np.abs(weights) > 1):
                gate.refuse(
                    "weight-range",
                    f"{where}, row {row + 1}",
                    "weights must be between -1 (apart) and 1 (together)",
                    f"{weights[row]:g}",
                    "Divide by the largest weight, or give the numbers as scores.",
                    int(row),
                )
        else:
            weights = weights_from_scores(scores) if scores is not None else np.ones(m)
        if source == target:
            for row in np.flatnonzero(rows_i == rows_j):
                gate.refuse(
                    "self-link",
                    f"{where}, row {row + 1}",
                    "the link connects an item with itself",
                    int(rows_i[row]),
                    "Remove it.",
                    int(row),
                )
        meta = checks.check_meta(gate, where, meta, m)
        gate.close()
        fields = {
            "source": source,
            "target": target,
            "i": rows_i,
            "j": rows_j,
            "weight": checks.read_only(weights),
            "score": scores,
            "complete": bool(complete),
            "kind": kind,
            "role": role,
            "meta": meta,
            "weight_given": weight is not None,
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    def __len__(self) -> int:
        return len(self.i)

    def __repr__(self) -> str:
        apart = int((self.weight < 0).sum())
        words = f"{len(self):,} {self.source} - {self.target}, kind {self.kind!r}, {self.role}"
        return f"Links({words}{f', {apart:,} apart' if apart else ''})"

    @property
    def within(self) -> bool:
        """Whether the links are within one dataset."""
        return self.source == self.target

    @property
    def strength(self) -> Floats:
        """Scores if given, else weights, shape (m,)."""
        return self.weight if self.score is None else self.score

    def take(self, rows: Array) -> Links:
        """Return the links at the given positions, or selected by a mask."""
        index = np.arange(len(self))[rows]
        return self.moved(self.i[index], self.j[index], index)

    def moved(self, i: Ints, j: Ints, rows: Ints) -> Links:
        """Return the links `rows` with new row positions ``i, j``."""
        return self.replaced(
            i=i,
            j=j,
            weight=self.weight[rows] if self.weight_given else None,
            score=None if self.score is None else self.score[rows],
            meta=None if self.meta is None else self.meta.iloc[rows],
        )

    def weighed(self, factor: float) -> Links:
        """Return the links with weights times `factor` (above 0, at most 1); scores stay."""
        weight = self.weight * factor
        # Links whose weight underflows to 0 are dropped.
        nonzero = np.flatnonzero((weight != 0) | (self.weight == 0))
        return self.take(nonzero).replaced(weight=weight[nonzero])

    def noting(self, meta: pd.DataFrame | None) -> Links:
        """Return the same links with another meta table."""
        return self.replaced(meta=meta)

    def between(self, source: str, target: str) -> Links:
        """Return the same links under other dataset names."""
        return self.replaced(source=source, target=target)

    def replaced(self, **changes: Any) -> Links:
        """Return the links with other values of some fields; derived weights are derived again."""
        fields = {name: getattr(self, name) for name in _COPIED_FIELDS}
        weight = self.weight if self.weight_given else None
        return Links(**(fields | {"weight": weight} | changes))


_COPIED_FIELDS = ("source", "target", "i", "j", "score", "complete", "kind", "role", "meta")


def kind_key(links: Links) -> str:
    """Return the key of a kind of links: ``"<source>|<target>|<kind>"``."""
    return f"{links.source}|{links.target}|{links.kind}"


def weights_from_scores(score: Floats) -> Floats:
    """Return weights score / max |score|."""
    top = float(np.abs(score).max(initial=0.0))
    return np.zeros_like(score) if top == 0 else score / top
