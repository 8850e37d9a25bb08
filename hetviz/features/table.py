"""Features of a table: which columns are used, as what, and the same for new rows by a recipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import pandas as pd

from hetviz._pandas import is_missing
from hetviz._types import MAX_MAGNITUDE, Floats
from hetviz.errors import DataError, Problem
from hetviz.features.columns import block as blocks
from hetviz.features.columns import categories, images, redundant
from hetviz.features.columns.categories import separator_of_counts
from hetviz.features.columns.geographic import latlong_pairs
from hetviz.features.columns.options import (
    PICTURES,
    FeatureRecipe,
    LeftOut,
    Options,
    Step,
    check_kind,
    complete_options,
    merge_options,
    option_problems,
)
from hetviz.features.columns.types import (
    MAX_CATEGORIES,
    MISSING,
    Column,
    infer,
    number,
    numbers,
    why_unusable,
)
from hetviz.progress import Progress, ignore_progress

_UNUSABLE_KINDS = ("constant", "empty")
_CODES_OF_USED = ("many-categories", "log-negative")
_REASONS = {
    "constant": "every row has the same value",
    "empty": "it is empty",
    "unique": "every row has another short text",
}

RECIPE_FORMAT = 2
_STRICT_CODES = ("unknown-column", "not-numbers")


class _Entry(TypedDict):
    """A column, or some that become features together, of which nothing was learned yet."""

    column: str
    columns: list[str]
    kind: str
    share_missing: float


@dataclass(frozen=True, eq=False)
class ColumnChoice:
    """What was said of the columns of a table.

    Attributes
    ----------
    where : str
        For messages.
    named : sequence of str or None
        Columns to use; None for all.
    asked : mapping of str to mapping
        Column to what is to be different, see `hetviz.features.table.fit`.
    reasons : mapping of str to str
        Columns not used unless `asked` says so, and why.
    texts : collection of str
        Columns declared as free text; one that holds none is taken for what it holds.
    """

    where: str
    named: Sequence[str] | None
    asked: Options
    reasons: Mapping[str, str]
    texts: Collection[str]

    def pairs(self, columns: Mapping[str, Column]) -> dict[str, str]:
        """Return latitude to longitude, for each two columns that give places on earth.

        Raises
        ------
        hetviz.errors.DataError
            If a column that is said to be of such a pair is of none.
        """
        free = [
            column
            for name, column in columns.items()
            if self.asked.get(name, {}).get("kind", "latlong") == "latlong" and self._wants(name)
        ]
        pairs = dict(latlong_pairs(free))
        for name, fields in self.asked.items():
            if fields.get("kind") == "latlong" and name not in {*pairs, *pairs.values()}:
                what = "no other column gives the place on earth together with this one"
                remedy = "Name the two latitude and longitude, in degrees."
                raise DataError(
                    Problem("bad-option", f"{self.where}, column {name}", what, "latlong", remedy)
                )
        return pairs

    def kind(self, column: Column) -> str:
        """Return what a column is taken as.

        Raises
        ------
        hetviz.errors.DataError
            If it cannot be taken as what was asked for.
        """
        kind = column.kind
        if kind in ("category", "text", "unique") and separator_of_counts(column.uses):
            kind = "list"
        wanted = self.asked.get(column.name, {}).get("kind")
        if wanted is None or kind in _UNUSABLE_KINDS or wanted == "latlong":
            return kind
        if column.name in self.texts and kind not in ("category", "list", "text", "unique"):
            return kind
        return check_kind(self.where, column.name, kind, str(wanted))

    def fields(self, names: Sequence[str]) -> dict[str, object]:
        """Return what was said of columns that become features together."""
        found: dict[str, object] = {}
        for name in names:
            found |= self.asked.get(name, {})
        return found

    def why_not(self, name: str, kind: str, fields: Mapping[str, object]) -> str | None:
        """Return why a column is not used, for people; None where it is."""
        if kind in _UNUSABLE_KINDS:
            return _REASONS[kind]
        if fields.get("use") is False:
            return "switched off"
        if fields.get("use"):
            return None
        kept_out = self._kept_out(name)
        return _REASONS.get(kind) if kept_out is None else kept_out

    def free(self, columns: Collection[str], paired: Collection[str]) -> list[str]:
        """Return the columns of which nobody said whether they are features."""
        if self.named is not None:
            return []
        said = [name for name, fields in self.asked.items() if "use" in fields or "kind" in fields]
        never = {*paired, *self.reasons, *self.texts, *said}
        return [name for name in columns if name not in never]

    def is_told(self, name: str, fields: Mapping[str, object]) -> bool:
        """Whether notes on a column are of interest."""
        return bool(fields.get("use")) or self._kept_out(name) is None

    def _kept_out(self, name: str) -> str | None:
        if name in self.reasons:
            return self.reasons[name]
        return "not chosen" if self.named is not None and name not in self.named else None

    def _wants(self, name: str) -> bool:
        use = self.asked.get(name, {}).get("use")
        return self._kept_out(name) is None if use is None else bool(use)


def check_columns_exist(where: str, table: pd.DataFrame, names: Sequence[str]) -> None:
    """Refuse names of columns that there are not.

    Raises
    ------
    hetviz.errors.DataError
    """
    unknown = [name for name in dict.fromkeys(names) if name not in table.columns]
    if unknown:
        raise DataError(missing_column_problem(where, name, table, "error") for name in unknown)


def check_unique_columns(where: str, table: pd.DataFrame) -> None:
    """Refuse a table in which two columns have one name.

    Raises
    ------
    hetviz.errors.DataError
    """
    double = table.columns[table.columns.duplicated()].unique()
    if len(double):
        what = "two columns have this name"
        raise DataError(
            Problem("duplicate-column", where, what, str(name), "Rename one.") for name in double
        )


def missing_column_problem(where: str, name: str, table: pd.DataFrame, severity: str) -> Problem:
    """Return what is told of a column that there is not: an error, or a note where it may lack."""
    there = f"There are: {', '.join(map(str, table.columns[:20]))}."
    what = "there is no such column"
    what += "; all its cells count as missing" if severity == "note" else ""
    return Problem("unknown-column", where, what, name, there, severity)


def column_notes(
    where: str, column: Column, fields: Mapping[str, object], asked: bool, decimal: str
) -> list[Problem]:
    """Return what was left out or filled in of a column, and why.

    Parameters
    ----------
    where : str
        For messages.
    column : Column
    fields : mapping
        What was said of it.
    asked : bool
        Whether the columns to use were named.
    decimal : {".", ","}
    """
    place = f"{where}, column {column.name}"
    found: list[tuple[str, str, str]] = []
    if column.kind == "constant":
        found.append(("constant-column", "every row has the same value, so it is no feature", ""))
    elif column.kind == "empty":
        found.append(("empty-column", "the column is empty, so it is no feature", ""))
    elif column.kind == "unique" and asked:
        found.append(("unique-column", "every row has another short text, so it is no feature", ""))
    elif column.n_missing:
        impute = str(fields.get("impute", ""))
        filled = {"number": "the mean", "date": "the mean"}.get(column.kind, "no value")
        filled = {"": filled, "none": "no value"}.get(
            impute, f"the {impute}".replace("the own", "a")
        )
        marks = f" (written {', '.join(column.markers)})" if column.markers else ""
        what = f"{column.n_missing:,} of {len(column.values):,} cells are missing{marks}"
        found.append(("missing", f"{what}; they count as {filled}", ""))
    if column.kind in ("category", "unique", "text"):
        present = Counter(column.uses)
        is_number = np.isfinite(numbers(list(present), decimal))
        counts = np.fromiter(present.values(), int, len(present))
        n_others = int(counts[~is_number].sum())
        if 0 < n_others <= present.total() / 2:
            other = list(present)[int(np.argmin(is_number))]
            what = f"it counts as text: {n_others:,} of {present.total():,} cells hold no number"
            found.append(("mixed-column", what, other[:60]))
    if column.kind == "category":
        n_levels = len(column.levels)
        if n_levels > MAX_CATEGORIES:
            what = f"{n_levels:,} different values; the {MAX_CATEGORIES} most frequent are used"
            found.append(("many-categories", what, ""))
    if fields.get("log") and column.kind == "number":
        lowest = np.nanmin(column.values)
        if lowest < 0:
            what = "it has negative numbers, so the logarithm is not taken"
            found.append(("log-negative", what, f"{lowest:g}"))
    return [Problem(code, place, what, value, severity="note") for code, what, value in found]


@dataclass(frozen=True, eq=False)
class TableFeatures:
    """Features made from a table.

    Attributes
    ----------
    X : array of shape (n, p) or None
        None where no column is of use.
    feature_names : tuple of str, length p
    recipe : dict
        JSON-ready; `hetviz.features.table.transform` applies it to other rows. ``columns``
        has a step for each column that is used, ``left_out`` the others and why, ``options`` what
        was said of them.
    columns : tuple of Column
        What each column holds, of all that were looked at.
    notes : tuple of Problem
        What was left out or filled in, and why.
    """

    X: Floats | None
    feature_names: tuple[str, ...]
    recipe: FeatureRecipe
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
    media: Sequence[object] | None = None,
    progress: Progress = ignore_progress,
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
    progress : callable
        See `hetviz.progress`.

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
    said = merge_options(
        {name: {"log": True} for name in log}, {name: {"kind": "text"} for name in text}
    )
    # A column declared as text that holds none is taken for what it holds.
    said = {name: fields for name, fields in said.items() if name in table.columns or name in log}
    problems = option_problems(where, options or {})
    if problems:
        raise DataError(problems)
    asked = merge_options(said, options or {})
    check_unique_columns(where, table)
    check_columns_exist(
        where, table, [*(columns or ()), *(name for name in asked if name != PICTURES)]
    )
    reasons = dict(exclude) if isinstance(exclude, Mapping) else {}
    reasons |= {name: reasons.get(name, "left out") for name in exclude}
    choice = ColumnChoice(where, columns, asked, reasons, frozenset(text))
    fitting = _FeatureFit(table, choice, known or {}, decimal, random_state, text_model)
    fitting.all_columns(progress)
    if media is not None:
        fitting.pictures(media)
    return fitting.result()


class _FeatureFit:
    """The steps of making features of one table, which share what was said and what was found."""

    def __init__(
        self,
        table: pd.DataFrame,
        choice: ColumnChoice,
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
        self.steps: list[Step] = []
        self.left_out: list[LeftOut] = []
        self.names: list[str] = []
        self.notes: list[Problem] = []

    def all_columns(self, progress: Progress = ignore_progress) -> None:
        """Make features of each column that is to be used, and note why others are not."""
        pairs = self.choice.pairs(self.columns)
        free = self.choice.free(self.columns, {*pairs, *pairs.values()})
        doubts = redundant.exclusion_reasons(self.columns, free)
        for at, (name, column) in enumerate(self.columns.items()):
            if name in pairs.values():
                continue
            progress(at / len(self.columns), f"Making features of {name}")
            pair = pairs.get(name)
            names = (name,) if pair is None else (name, pair)
            kind = "latlong" if pair is not None else self.choice.kind(column)
            fields = self.choice.fields(names)
            n_missing = max(self.columns[one].n_missing for one in names)
            entry: _Entry = {
                "column": name,
                "columns": list(names),
                "kind": kind,
                "share_missing": n_missing / len(self.table) if len(self.table) else 0.0,
            }
            why = self.choice.why_not(name, kind, fields) or doubts.get(name)
            if self.choice.is_told(name, fields):
                asked = self.choice.named is not None
                told = column_notes(self.where, column, fields, asked, self.decimal)
                # Of what is left out nothing is used.
                self.notes += [one for one in told if why is None or one.code not in _CODES_OF_USED]
            if why is not None:
                self.left_out.append({**entry, "why": why})
                continue
            if kind == "unique":
                kind = entry["kind"] = "text"
            self._step(entry, fields, self._values(names, kind))

    def _values(self, names: tuple[str, ...], kind: str) -> object:
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
            None if lacks else text_of(cell) for cell, lacks in zip(cells, lacking, strict=True)
        ]

    def _step(self, entry: _Entry, fields: Mapping[str, object], values: object) -> None:
        name, kind = entry["column"], entry["kind"]
        step: Step = {**entry, "use": True, **complete_options(self.where, name, kind, fields)}
        if kind in ("number", "date"):
            step["decimal"] = self.decimal
        model = str(fields.get("model", self.text_model))
        with np.errstate(over="ignore", invalid="ignore"):
            learned = blocks.learn(step, values, model, self.random_state)
        if learned is None:
            what = "all pictures look alike" if kind == "picture" else "it has no words to learn"
            self.left_out.append({**entry, "why": what})
            return
        step = {**step, **learned}
        with np.errstate(over="ignore", invalid="ignore"):
            made = blocks.parts(step, values)
            found = blocks.part_factors(step, made)
        if found is None:
            what = "the values are too large or too alike to compute with, so it is no feature"
            place = f"{self.where}, column {name}"
            self.notes.append(Problem("range", place, what, severity="note"))
            self.left_out.append({**entry, "why": "too large or too alike to compute with"})
            return
        step["factors"] = found
        self.blocks.append(blocks.combine_parts(step, made))
        self.steps.append(step)
        self.names += blocks.names(step)

    def pictures(self, media: Sequence[object]) -> None:
        """Make features of the pictures of the rows."""
        fields = self.choice.fields([PICTURES])
        lacking = sum(one is None for one in media)
        entry: _Entry = {
            "column": PICTURES,
            "columns": [],
            "kind": "picture",
            "share_missing": lacking / len(media) if len(media) else 0.0,
        }
        if not fields.get("use", self.choice.named is None):
            why = "switched off" if "use" in fields else "not chosen"
            self.left_out.append({**entry, "why": why})
            return
        self._step(entry, fields, images.describe_all(media))

    def result(self) -> TableFeatures:
        """Return what was made."""
        sizes = [float(block.var(axis=0).sum()) if len(block) else 0.0 for block in self.blocks]
        for step, size in zip(self.steps, sizes, strict=True):
            step["share"] = size / sum(sizes) if sum(sizes) else 0.0
        named = self.choice.named
        recipe: FeatureRecipe = {
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


def cell_numbers(step: Step, name: str, cells: pd.Series, problems: list[Problem]) -> Floats:
    """Return the numbers, or days since 1970, that cells hold: (n,), NaN where missing.

    What is neither counts as missing, and is told. Numbers that cannot be computed with are missing
    too, as they are in `hetviz.features.columns.types.infer`.
    """
    if pd.api.types.is_numeric_dtype(cells.dtype) and not pd.api.types.is_bool_dtype(cells.dtype):
        values = np.asarray(cells.to_numpy(np.float64, na_value=np.nan))
        return np.where(np.abs(values) <= MAX_MAGNITUDE, values, np.nan)
    days = step["kind"] == "date"
    if pd.api.types.is_datetime64_any_dtype(cells.dtype):
        return np.asarray(infer(name, cells).values, dtype=np.float64)
    out = np.full(len(cells), np.nan)
    bad: list[object] = []
    decimal = step.get("decimal", ".")
    for row, cell in enumerate(cells.tolist()):
        if _is_missing_cell(cell) or (not days and _unusable(cell, decimal)):
            continue
        value = _day(cell) if days else _number(cell, decimal)
        if value is None:
            bad.append(cell)
        else:
            out[row] = value
    if bad:
        words = "dates" if days else "numbers"
        what = f"the column held {words} when the features were made; {len(bad):,} cells hold none"
        place = f"table, column {name}"
        remedy = "They count as missing. Give the same kind of values."
        problems.append(
            Problem("not-numbers", place, what, str(bad[0])[:60], remedy, "note", count=len(bad))
        )
    return out


def cell_texts(name: str, cells: pd.Series, levels: frozenset[str]) -> list[str | None]:
    """Return the text of cells, None where missing; what is a level is never missing."""
    is_amount = pd.api.types.is_numeric_dtype(cells.dtype)
    as_text = text_of if is_amount and not pd.api.types.is_bool_dtype(cells.dtype) else str
    return [_text(cell, as_text, levels) for cell in cells.tolist()]


def text_of(cell: object) -> str:
    """Return a cell as text; a whole number has no decimals."""
    if isinstance(cell, int | float | np.number) and not isinstance(cell, bool):
        value = float(cell)
        return str(int(value)) if value.is_integer() else repr(value)
    return str(cell)


def _text(cell: object, as_text: Callable[[object], str], levels: frozenset[str]) -> str | None:
    if is_missing(cell):
        return None
    for text in (as_text(cell), text_of(cell)):
        if text in levels:
            return text
    text = as_text(cell)
    stripped = text.strip()
    return None if stripped.lower() in MISSING and stripped not in levels else text


def _is_missing_cell(cell: object) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return is_missing(cell)


def _unusable(cell: object, decimal: str) -> bool:
    if isinstance(cell, int | float | np.number):
        return not abs(float(cell)) <= MAX_MAGNITUDE
    return why_unusable(str(cell), decimal) is not None


def _number(cell: object, decimal: str) -> float | None:
    if isinstance(cell, bool | np.bool_):
        return None
    if isinstance(cell, int | float | np.number):
        return float(cell)
    return number(str(cell), decimal)


def _day(cell: object) -> float | None:
    column = infer("", pd.Series([cell]))
    is_date = column.kind in ("number", "constant") and column.values.dtype != object
    return float(column.values[0]) if is_date and np.isfinite(column.values[0]) else None


def transform(recipe: Mapping[str, object], table: pd.DataFrame) -> Floats:
    """Make the same features from the rows of another table.

    Parameters
    ----------
    recipe : dict
        From `hetviz.features.table.fit`.
    table : DataFrame of n rows
        With the columns that the recipe names; values never seen count as missing.

    Returns
    -------
    array of shape (n, p)

    Raises
    ------
    hetviz.errors.DataError
        If a column is missing, or holds something that is no number where one is needed.
    """
    problems: list[Problem] = []
    X = transform_leniently(recipe, table, None, problems)
    refused = [problem for problem in problems if problem.code in _STRICT_CODES]
    if refused:
        raise DataError(refused)
    return X


def transform_leniently(
    recipe: Mapping[str, object],
    table: pd.DataFrame,
    media: Sequence[object] | None,
    problems: list[Problem],
) -> Floats:
    """Make the same features; what does not fit counts as missing, and is told in `problems`.

    Returns
    -------
    array of shape (n, p)
    """
    out = [np.zeros((len(table), 0))]
    for step in blocks.upgrade_recipe(recipe)["columns"]:
        values = _step_values(step, table, media, problems)
        with np.errstate(over="ignore", invalid="ignore"):
            out.append(blocks.apply(step, values))
    return np.hstack(out)


def _step_values(
    step: Step,
    table: pd.DataFrame,
    media: Sequence[object] | None,
    problems: list[Problem],
) -> Floats | list[str | None]:
    kind = step["kind"]
    if kind == "picture":
        return images.describe_all([None] * len(table) if media is None else media)
    cells = []
    for name in step["columns"]:
        if name not in table.columns:
            problems.append(missing_column_problem("table", name, table, "note"))
        gone = pd.Series([None] * len(table), dtype=object)
        cells.append(table[name] if name in table.columns else gone)
    if kind in ("number", "date", "latlong"):
        found = [
            cell_numbers(step, name, column, problems)
            for name, column in zip(step["columns"], cells, strict=True)
        ]
        return found[0] if kind != "latlong" else np.column_stack(found)
    name = step["columns"][0]
    of_levels = kind in ("category", "list", "ordered")
    levels = step["order"] if kind == "ordered" else step["levels"] if of_levels else []
    texts = cell_texts(name, cells[0], frozenset(levels))
    if of_levels:
        problems += _unknown_values({**step, "levels": levels}, texts)
    return texts


def _unknown_values(step: Step, texts: list[str | None]) -> list[Problem]:
    found = categories.unknown_entries(step, texts)
    if not found:
        return []
    what = f"{len(found):,} values were not there when the features were made; they count as none"
    row, value = found[0]
    place = f"table, column {step['column']}"
    return [
        Problem("unknown-category", place, what, value[:60], "", "note", row=row, count=len(found))
    ]
