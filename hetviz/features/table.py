"""Columns of a table to one matrix, by what they hold and what was said of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Floats
from hetviz.errors import DataError, Problem
from hetviz.features.columns import block as blocks
from hetviz.features.columns import cells as given
from hetviz.features.columns import images
from hetviz.features.columns.options import PICTURES, Options, merged, option_problems, settled
from hetviz.features.columns.types import Column, infer
from hetviz.features.table_choice import Choice
from hetviz.features.table_notes import check_known, column_notes, refuse_doubles

RECIPE_FORMAT = 2


@dataclass(frozen=True, eq=False)
class TableFeatures:
    """Features made from a table.

    Attributes
    ----------
    X : array of shape (n, p) or None
        None where no column is of use.
    feature_names : tuple of str, length p
    recipe : dict
        JSON-ready; `hetviz.features.table_rows.transform` applies it to other rows. ``columns``
        has a step for each column that is used, ``left_out`` the others and why, ``options`` what
        was said of them.
    columns : tuple of Column
        What each column holds, of all that were looked at.
    notes : tuple of Problem
        What was left out or filled in, and why.
    """

    X: Floats | None
    feature_names: tuple[str, ...]
    recipe: dict[str, Any]
    columns: tuple[Column, ...]
    notes: tuple[Problem, ...]


def fit(
    table: pd.DataFrame,
    *,
    where: str = "table",
    columns: Sequence[str] | None = None,
    exclude: Collection[str] | Mapping[str, str] = (),
    log: Collection[str] = (),
    text: Collection[str] = (),
    decimal: str = ".",
    random_state: int = 0,
    known: Mapping[str, Column] | None = None,
    options: Options | None = None,
    text_model: str = "words",
    media: Sequence[Any] | None = None,
) -> TableFeatures:
    r"""Make features from the columns of a table.

    Parameters
    ----------
    table : DataFrame of n rows
        Cells as text, or typed.
    where : str
        For messages.
    columns : sequence of str, optional
        Which to use; all when absent.
    exclude : collection of str, or mapping of str to str
        Columns not used unless `options` say so, and why.
    log, text : collection of str
        Numbers to take the logarithm of; columns to treat as free text.
    decimal : {".", ","}
    random_state : int
        Seed of the decomposition of free text.
    known : mapping of str to Column, optional
        Columns of this table that `infer` has looked at already.
    options : mapping of str to mapping, optional
        Column to any of ``use``, ``kind``, ``scale``, ``log``, ``weight``, ``impute``, ``cyclic``
        and ``model``, see `hetviz.make_features`; pictures go by the name ``(pictures)``.
    text_model : {"words", "sentences"}
        What free text goes through.
    media : sequence of n bytes, paths or None, optional
        Pictures of the rows, used where `columns` is absent.

    Returns
    -------
    TableFeatures

    Raises
    ------
    hetviz.errors.DataError
        If a column named in `columns`, `log` or `options` does not exist, or an option does not
        suit what its column holds.
    hetviz.errors.MissingExtraError
        If the sentence model is asked for and not installed.

    Notes
    -----
    Numbers: the mean where missing, then :math:`(x - \mu)/\sigma`, of log(1 + x) on request.
    Dates: days, like numbers. Categories: one column for each value (the `MAX_CATEGORIES` most
    frequent), centred. Lists in a cell ("red; round"): one column for each entry. Latitude and
    longitude: the point on the unit sphere. Free text: TF-IDF and its leading singular vectors, or
    the leading directions of sentence vectors. Pictures: the leading directions of edges and
    colours. Constant columns and columns of names that differ in every row give none.

    Every column of the table, whatever it holds, gets the total variance of its weight, 1 unless
    said otherwise, so that no kind drowns another: a one-hot block or a block of text weighs as
    much as one number. That is given up for a column that is scaled "robust" or "none".
    """
    said = merged({name: {"log": True} for name in log}, {name: {"kind": "text"} for name in text})
    # A column declared as text that holds none is taken for what it holds.
    said = {name: fields for name, fields in said.items() if name in table.columns or name in log}
    problems = option_problems(where, options or {})
    if problems:
        raise DataError(problems)
    asked = merged(said, options or {})
    refuse_doubles(where, table)
    check_known(where, table, [*(columns or ()), *(name for name in asked if name != PICTURES)])
    reasons = dict(exclude) if isinstance(exclude, Mapping) else {}
    reasons |= {name: reasons.get(name, "left out") for name in exclude}
    choice = Choice(where, columns, asked, reasons, frozenset(text))
    fitting = _Fitting(table, choice, known or {}, decimal, random_state, text_model)
    fitting.all_columns()
    if media is not None:
        fitting.pictures(media)
    return fitting.result()


class _Fitting:
    """The steps of making features of one table, which share what was said and what was found."""

    def __init__(
        self,
        table: pd.DataFrame,
        choice: Choice,
        known: Mapping[str, Column],
        decimal: str,
        random_state: int,
        text_model: str,
    ) -> None:
        self.table, self.choice, self.where = table, choice, choice.where
        self.decimal, self.random_state, self.text_model = decimal, random_state, text_model
        first = list(choice.named or ())
        # Features stand in the order in which columns were named.
        self.columns = {
            name: known.get(name) or infer(name, table[name], decimal)
            for name in [*first, *(name for name in table.columns if name not in first)]
        }
        self.blocks: list[Floats] = []
        self.steps: list[dict[str, Any]] = []
        self.left_out: list[dict[str, Any]] = []
        self.names: list[str] = []
        self.notes: list[Problem] = []

    def all_columns(self) -> None:
        """Make features of each column that is to be used, and note why others are not."""
        pairs = self.choice.pairs(self.columns)
        for name, column in self.columns.items():
            if name in pairs.values():
                continue
            pair = pairs.get(name)
            names = (name,) if pair is None else (name, pair)
            kind = "latlong" if pair is not None else self.choice.kind(column)
            fields = self.choice.fields(names)
            n_missing = max(self.columns[one].n_missing for one in names)
            entry = {
                "column": name,
                "columns": list(names),
                "kind": kind,
                "share_missing": n_missing / len(self.table) if len(self.table) else 0.0,
            }
            if self.choice.is_told(name, fields):
                asked = self.choice.named is not None
                self.notes += column_notes(self.where, column, fields, asked, self.decimal)
            why = self.choice.why_not(name, kind, fields)
            if why is not None:
                self.left_out.append({**entry, "why": why})
                continue
            if kind == "unique":
                kind = entry["kind"] = "text"
            self._step(entry, fields, self._values(names, kind))

    def _values(self, names: tuple[str, ...], kind: str) -> Any:
        found = [self.columns[name].values for name in names]
        if kind == "latlong":
            return np.column_stack(found).astype(np.float64)
        if kind in ("number", "date"):
            return np.asarray(found[0], dtype=np.float64)
        values = found[0]
        if values.dtype == object:
            return values.tolist()
        cells = self.table[names[0]].tolist()
        # Numbers or dates taken as categories, as they were written.
        lacking = np.isnan(values)
        return [
            None if lacks else given.text_of(cell)
            for cell, lacks in zip(cells, lacking, strict=True)
        ]

    def _step(self, entry: dict[str, Any], fields: Mapping[str, Any], values: Any) -> None:
        name, kind = str(entry["column"]), str(entry["kind"])
        step = {**entry, "use": True, **settled(self.where, name, kind, fields)}
        if kind in ("number", "date"):
            step["decimal"] = self.decimal
        model = str(fields.get("model", self.text_model))
        with np.errstate(over="ignore", invalid="ignore"):
            learned = blocks.learn(step, values, model, self.random_state)
        if learned is None:
            what = "all pictures look alike" if kind == "picture" else "it has no words to learn"
            self.left_out.append({**entry, "why": what})
            return
        step |= learned
        with np.errstate(over="ignore", invalid="ignore"):
            found = blocks.weighed(step, blocks.parts(step, values))
        if found is None:
            what = "the values are too large or too alike to compute with, so it is no feature"
            place = f"{self.where}, column {name}"
            self.notes.append(Problem("range", place, what, severity="note"))
            self.left_out.append({**entry, "why": "too large or too alike to compute with"})
            return
        step["factors"] = found
        self.blocks.append(blocks.apply(step, values))
        self.steps.append(step)
        self.names += blocks.names(step)

    def pictures(self, media: Sequence[Any]) -> None:
        """Make features of the pictures of the rows."""
        fields = self.choice.fields([PICTURES])
        lacking = sum(one is None for one in media)
        entry = {
            "column": PICTURES,
            "columns": [],
            "kind": "picture",
            "share_missing": lacking / len(media) if len(media) else 0.0,
        }
        if not fields.get("use", self.choice.named is None):
            why = "switched off" if "use" in fields else "not chosen"
            self.left_out.append({**entry, "why": why})
            return
        self._step(entry, fields, images.described(media))

    def result(self) -> TableFeatures:
        """Return what was made."""
        sizes = [float(block.var(axis=0).sum()) if len(block) else 0.0 for block in self.blocks]
        for step, size in zip(self.steps, sizes, strict=True):
            step["share"] = size / sum(sizes) if sum(sizes) else 0.0
        named = self.choice.named
        recipe = {
            "format": RECIPE_FORMAT,
            "decimal": self.decimal,
            "text_model": self.text_model,
            "chosen": None if named is None else list(named),
            "options": {name: dict(fields) for name, fields in self.choice.asked.items()},
            "columns": self.steps,
            "left_out": self.left_out,
        }
        X = np.hstack(self.blocks) if self.blocks else None
        looked_at = tuple(self.columns.values())
        return TableFeatures(X, tuple(self.names), recipe, looked_at, tuple(self.notes))
