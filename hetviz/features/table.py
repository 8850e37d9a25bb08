"""Features of a table, with a recipe that applies to new rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, cast

import numpy as np
import pandas as pd

from hetviz._pandas import is_missing
from hetviz._text import count
from hetviz._types import MAX_MAGNITUDE, Floats
from hetviz.errors import DataError, Problem
from hetviz.features.columns import block as blocks
from hetviz.features.columns import categories, images, language, redundant
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
    "constant": "it has only one value",
    "empty": "it is empty",
    "unique": "every row has a different short text",
}

RECIPE_FORMAT = 2
_STRICT_CODES = ("unknown-column", "not-numbers")


class _Entry(TypedDict):
    """Column or columns of one feature block before fitting."""

    column: str
    columns: list[str]
    kind: str
    share_missing: float


@dataclass(frozen=True, eq=False)
class ColumnChoice:
    """Selection and options of the columns of a table."""

    where: str
    named: Sequence[str] | None
    asked: Options
    reasons: Mapping[str, str]
    texts: Collection[str]

    def pairs(self, columns: Mapping[str, Column]) -> dict[str, str]:
        """Return latitude -> longitude columns; raise if a requested pair is incomplete."""
        free = [
            column
            for name, column in columns.items()
            if self.asked.get(name, {}).get("kind", "latlong") == "latlong" and self._wants(name)
        ]
        pairs = dict(latlong_pairs(free))
        for name, fields in self.asked.items():
            if fields.get("kind") == "latlong" and name not in {*pairs, *pairs.values()}:
                message = "there is no matching column of latitude or longitude"
                remedy = "Name the two columns latitude and longitude, in degrees."
                raise DataError.of(
                    "bad-option", f"{self.where}, column {name}", message, "latlong", remedy
                )
        return pairs

    def kind(self, column: Column) -> str:
        """Return the type a column is used as; raise if the requested type is not possible."""
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
        """Return the options of the columns of one feature block."""
        options: dict[str, object] = {}
        for name in names:
            options |= self.asked.get(name, {})
        return options

    def why_not(self, name: str, kind: str, fields: Mapping[str, object]) -> str | None:
        """Return the reason why a column is not used, or None."""
        if kind in _UNUSABLE_KINDS:
            return _REASONS[kind]
        if fields.get("use") is False:
            return "switched off"
        if fields.get("use"):
            return None
        exclusion_reason = self._exclusion_reason(name)
        return _REASONS.get(kind) if exclusion_reason is None else exclusion_reason

    def free(self, columns: Collection[str], paired: Collection[str]) -> list[str]:
        """Return the columns that the user neither selected nor excluded."""
        if self.named is not None:
            return []
        decided = [
            name for name, fields in self.asked.items() if "use" in fields or "kind" in fields
        ]
        excluded = {*paired, *self.reasons, *self.texts, *decided}
        return [name for name in columns if name not in excluded]

    def is_reported(self, name: str, fields: Mapping[str, object]) -> bool:
        return bool(fields.get("use")) or self._exclusion_reason(name) is None

    def _exclusion_reason(self, name: str) -> str | None:
        if name in self.reasons:
            return self.reasons[name]
        return "not chosen" if self.named is not None and name not in self.named else None

    def _wants(self, name: str) -> bool:
        use = self.asked.get(name, {}).get("use")
        return self._exclusion_reason(name) is None if use is None else bool(use)


def check_columns_exist(where: str, table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise a `DataError` of all columns that do not exist."""
    unknown = [name for name in dict.fromkeys(names) if name not in table.columns]
    if unknown:
        raise DataError(missing_column_problem(where, name, table, "error") for name in unknown)


def check_unique_columns(where: str, table: pd.DataFrame) -> None:
    """Raise a `DataError` of all repeated column names."""
    double = table.columns[table.columns.duplicated()].unique()
    if len(double):
        message = "two columns have this name"
        raise DataError(
            Problem("duplicate-column", where, message, str(name), "Rename one.") for name in double
        )


def missing_column_problem(where: str, name: str, table: pd.DataFrame, severity: str) -> Problem:
    """Return the problem of a column that does not exist, as an error or a note."""
    hint = f"Available: {', '.join(map(str, table.columns[:20]))}."
    message = "this column does not exist"
    message += ", so all its cells count as missing" if severity == "note" else ""
    return Problem("unknown-column", where, message, name, hint, severity)


def column_notes(
    where: str, column: Column, fields: Mapping[str, object], is_selection: bool, decimal: str
) -> list[Problem]:
    """Return notes on excluded and imputed values of a column."""
    place = f"{where}, column {column.name}"
    notes: list[tuple[str, str, str]] = []
    if column.kind == "constant":
        rows = "all cells that are not empty have" if column.n_missing else "every row has"
        notes.append(("constant-column", f"{rows} the same value, so it is not used", ""))
    elif column.kind == "empty":
        notes.append(("empty-column", "the column is empty, so it is not used", ""))
    elif column.kind == "unique" and is_selection:
        message = "every row has a different short text, so it is not used"
        notes.append(("unique-column", message, ""))
    elif column.n_missing:
        impute = str(fields.get("impute", ""))
        filled = {"number": "the mean", "date": "the mean"}.get(column.kind, "no value")
        filled = {"": filled, "none": "no value"}.get(
            impute, f"the {impute}".replace("the own", "a")
        )
        gaps = f"empty or written {' or '.join(column.markers)}" if column.markers else "missing"
        message = f"{column.n_missing:,} of {len(column.values):,} cells are {gaps}"
        notes.append(("missing", f"{message}, so {filled} is used instead", ""))
    if column.kind in ("category", "unique", "text"):
        present = Counter(column.uses)
        is_number = np.isfinite(numbers(list(present), decimal))
        counts = np.fromiter(present.values(), int, len(present))
        n_others = int(counts[~is_number].sum())
        if 0 < n_others <= present.total() / 2:
            other = list(present)[int(np.argmin(is_number))]
            message = (
                f"it is used as text: {n_others:,} of {present.total():,} cells are not numbers"
            )
            notes.append(("mixed-column", message, other[:60]))
    if column.kind == "category":
        n_levels = len(column.levels)
        if n_levels > MAX_CATEGORIES:
            message = (
                f"{n_levels:,} different values, only the {MAX_CATEGORIES} most frequent are used"
            )
            notes.append(("many-categories", message, ""))
    if fields.get("log") and column.kind == "number":
        lowest = np.nanmin(column.values)
        if lowest < 0:
            message = "it has negative numbers, so no logarithm is used"
            notes.append(("log-negative", message, f"{lowest:g}"))
    return [Problem(code, place, message, value, severity="note") for code, message, value in notes]


@dataclass(frozen=True, eq=False)
class TableFeatures:
    """Features of a table."""

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
    inferred: Mapping[str, Column] | None = None,
    options: Options | None = None,
    text_model: str = "words",
    media: Sequence[object] | None = None,
    progress: Progress = ignore_progress,
) -> TableFeatures:
    r"""Make features from the columns of a table.

    `table`: Cells as text, or typed.
    `columns`: Columns to use; default: all.
    `exclude`: Columns that are excluded unless `options` select them, with reasons.
    `log`, `text`: Numbers to take the logarithm of; columns to use as free text.
    `decimal` {".", ","}
    `inferred`: Columns of this table with types inferred before.
    `options`: Column -> any of ``use``, ``kind``, ``scale``, ``log``, ``weight``, ``impute``,
        ``cyclic`` and ``model``, see `hetviz.make_features`; the name of pictures is
        ``(pictures)``.
    `text_model` {"words", "sentences"}: Model of free text.
    `media`: Pictures of the rows, used if `columns` is absent.

    Raises DataError: If a column in `columns`, `log` or `options` does not exist, or an option does
        not fit the type of its column.
    Raises MissingExtraError: If the sentence model is requested but not installed.

    Numbers: the mean where missing, then :math:`(x - \mu)/\sigma`, of log(1 + x) on request.
    Dates: days, like numbers. Categories: one column for each value (the `MAX_CATEGORIES` most
    frequent), centred. Lists in a cell ("red; round"): one column for each entry. Latitude and
    longitude: the point on the unit sphere. Free text: TF-IDF and its leading singular vectors, or
    the leading directions of sentence vectors. Pictures: the leading directions of edges and
    colours. Constant columns and columns of names that differ in every row give none.

    The total variance of every column is its weight (default 1), so that no type dominates: a
    one-hot block or a block of text weighs as much as one number. Columns with scale "robust" or
    "none" are exceptions.
    """
    implied = merge_options(
        {name: {"log": True} for name in log}, {name: {"kind": "text"} for name in text}
    )
    # The declaration of a column as text is ignored for columns of other types.
    implied = {
        name: fields for name, fields in implied.items() if name in table.columns or name in log
    }
    if problems := option_problems(where, options or {}):
        raise DataError(problems)
    requested = merge_options(implied, options or {})
    check_unique_columns(where, table)
    check_columns_exist(
        where, table, [*(columns or ()), *(name for name in requested if name != PICTURES)]
    )
    reasons = dict(exclude) if isinstance(exclude, Mapping) else {}
    reasons |= {name: reasons.get(name, "left out") for name in exclude}
    choice = ColumnChoice(where, columns, requested, reasons, frozenset(text))
    fitting = _FeatureFit(table, choice, inferred or {}, decimal, random_state, text_model)
    fitting.all_columns(progress)
    if media is not None:
        fitting.pictures(media)
    return fitting.result()


class _FeatureFit:
    """Fit of the features of one table, step by step."""

    def __init__(
        self,
        table: pd.DataFrame,
        choice: ColumnChoice,
        inferred: Mapping[str, Column],
        decimal: str,
        random_state: int,
        text_model: str,
    ) -> None:
        self.table, self.choice, self.where = table, choice, choice.where
        self.decimal, self.random_state, self.text_model = decimal, random_state, text_model
        first = list(choice.named or ())
        # Features are in the order of the given columns.
        self.columns = {
            name: inferred.get(name) or infer(name, table[name], decimal)
            for name in [*first, *(name for name in table.columns if name not in first)]
        }
        self.blocks: list[Floats] = []
        self.steps: list[Step] = []
        self.left_out: list[LeftOut] = []
        self.names: list[str] = []
        self.notes: list[Problem] = []

    def all_columns(self, progress: Progress = ignore_progress) -> None:
        """Make the features of all used columns, and note the reasons for the others."""
        pairs = self.choice.pairs(self.columns)
        free = self.choice.free(self.columns, {*pairs, *pairs.values()})
        reasons = redundant.exclusion_reasons(self.columns, free)
        for at, (name, column) in enumerate(self.columns.items()):
            if name in pairs.values():
                continue
            progress(at / len(self.columns), f"Making features of {name}")
            pair = pairs.get(name)
            names = (name,) if pair is None else (name, pair)
            kind = "latlong" if pair is not None else self.choice.kind(column)
            fields = self.choice.fields(names)
            n_missing = max(self.columns[entry_name].n_missing for entry_name in names)
            entry: _Entry = {
                "column": name,
                "columns": list(names),
                "kind": kind,
                "share_missing": n_missing / len(self.table) if len(self.table) else 0.0,
            }
            why = self.choice.why_not(name, kind, fields) or reasons.get(name)
            if self.choice.is_reported(name, fields):
                is_selection = self.choice.named is not None
                notes = column_notes(self.where, column, fields, is_selection, self.decimal)
                # Notes on the use of a column do not apply to an excluded one.
                self.notes += [
                    entry_name
                    for entry_name in notes
                    if why is None or entry_name.code not in _CODES_OF_USED
                ]
            if why is not None:
                self.left_out.append({**entry, "why": why})
                continue
            if kind == "unique":
                kind = entry["kind"] = "text"
            self._step(entry, fields, self._values(names, kind))

    def _values(self, names: tuple[str, ...], kind: str) -> object:
        values_of = [self.columns[name].values for name in names]
        if kind == "latlong":
            return np.column_stack(values_of).astype(np.float64)
        if kind in ("number", "date"):
            return np.asarray(values_of[0], dtype=np.float64)
        values = values_of[0]
        if values.dtype == object:
            return values.tolist()
        cells = self.table[names[0]].tolist()
        # Numbers or dates as categories keep their original text.
        is_missing = np.isnan(values)
        return [
            None if is_gap else text_of(cell)
            for cell, is_gap in zip(cells, is_missing, strict=True)
        ]

    def _step(self, entry: _Entry, fields: Mapping[str, object], values: object) -> None:
        name, kind = entry["column"], entry["kind"]
        step: Step = {**entry, "use": True, **complete_options(self.where, name, kind, fields)}
        if kind in ("number", "date"):
            step["decimal"] = self.decimal
        model = str(fields.get("model", self.text_model))
        if kind == "text" and (foreign := language.foreign_language(cast("list[str]", values))):
            step["language"] = foreign
            if "model" not in fields and foreign not in language.WITHOUT_SPACES:
                # The sentence model reads English. Words of other languages do better.
                model = "words"
        with np.errstate(over="ignore", invalid="ignore"):
            learned = blocks.learn(step, values, model, self.random_state)
        if learned is None:
            message = "all pictures are equal" if kind == "picture" else "it has no words"
            self.left_out.append({**entry, "why": message})
            return
        step = {**step, **learned}
        if kind == "picture" and model == "encoder":
            step["model"] = model
        with np.errstate(over="ignore", invalid="ignore"):
            parts = blocks.parts(step, values)
            factors = blocks.part_factors(step, parts)
        if factors is None:
            message = "the values are too large or too similar for computation, so it is not used"
            place = f"{self.where}, column {name}"
            self.notes.append(Problem("range", place, message, severity="note"))
            self.left_out.append({**entry, "why": "too large or too similar for computation"})
            return
        step["factors"] = factors
        self.blocks.append(blocks.combine_parts(step, parts))
        self.steps.append(step)
        self.names += blocks.names(step)

    def pictures(self, media: Sequence[object]) -> None:
        fields = self.choice.fields([PICTURES])
        n_missing = sum(picture is None for picture in media)
        entry: _Entry = {
            "column": PICTURES,
            "columns": [],
            "kind": "picture",
            "share_missing": n_missing / len(media) if len(media) else 0.0,
        }
        if not fields.get("use", self.choice.named is None):
            why = "switched off" if "use" in fields else "not chosen"
            self.left_out.append({**entry, "why": why})
            return
        model = str(fields.get("model", "edges"))
        self._step(entry, fields, images.describe_all(media, model))

    def result(self) -> TableFeatures:
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
    """Return the numbers, or days since 1970, of cells, (n,); NaN for missing ones.

    Other values are missing and reported as a problem. Unusable numbers are missing too, see
    `hetviz.features.columns.types.infer`.
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
        n_cells = count(len(bad), "cell")
        message = f"the column had {words} when the features were made, but now not in {n_cells}"
        place = f"table, column {name}"
        remedy = "They count as missing. Give values of the same type."
        problems.append(
            Problem("not-numbers", place, message, str(bad[0])[:60], remedy, "note", count=len(bad))
        )
    return out


def cell_texts(name: str, cells: pd.Series, levels: frozenset[str]) -> list[str | None]:
    """Return the text of cells, None for missing ones; a level is never missing."""
    is_amount = pd.api.types.is_numeric_dtype(cells.dtype)
    as_text = text_of if is_amount and not pd.api.types.is_bool_dtype(cells.dtype) else str
    return [_text(cell, as_text, levels) for cell in cells.tolist()]


def text_of(cell: object) -> str:
    """Return a cell as text; whole numbers have no decimals."""
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
    """Make the same features from the rows of another table."""
    problems: list[Problem] = []
    X = transform_leniently(recipe, table, None, problems)
    errors = [problem for problem in problems if problem.code in _STRICT_CODES]
    if errors:
        raise DataError(errors)
    return X


def transform_leniently(
    recipe: Mapping[str, object],
    table: pd.DataFrame,
    media: Sequence[object] | None,
    problems: list[Problem],
) -> Floats:
    """Return the features, (n, p); invalid cells count as missing and are added to `problems`."""
    out = [np.zeros((len(table), 0))]
    for step in blocks.upgrade_recipe(recipe)["columns"]:
        values = _step_values(step, table, media, problems)
        with np.errstate(over="ignore", invalid="ignore"):
            out.append(blocks.apply(step, values))
    return np.hstack(out)


def _step_values(
    step: Step, table: pd.DataFrame, media: Sequence[object] | None, problems: list[Problem]
) -> Floats | list[str | None]:
    kind = step["kind"]
    if kind == "picture":
        pictures = [None] * len(table) if media is None else media
        return images.describe_all(pictures, step.get("model", "edges"))
    cells = []
    for name in step["columns"]:
        if name not in table.columns:
            problems.append(missing_column_problem("table", name, table, "note"))
        missing = pd.Series([None] * len(table), dtype=object)
        cells.append(table[name] if name in table.columns else missing)
    if kind in ("number", "date", "latlong"):
        columns = [
            cell_numbers(step, name, column, problems)
            for name, column in zip(step["columns"], cells, strict=True)
        ]
        return columns[0] if kind != "latlong" else np.column_stack(columns)
    name = step["columns"][0]
    of_levels = kind in ("category", "list", "ordered")
    levels = step["order"] if kind == "ordered" else step["levels"] if of_levels else []
    texts = cell_texts(name, cells[0], frozenset(levels))
    if of_levels:
        problems += _unknown_values({**step, "levels": levels}, texts)
    return texts


def _unknown_values(step: Step, texts: list[str | None]) -> list[Problem]:
    unknown = categories.unknown_entries(step, texts)
    if not unknown:
        return []
    message = f"{count(len(unknown), 'new value')} since the features were made, treated as missing"
    row, value = unknown[0]
    place = f"table, column {step['column']}"
    return [
        Problem(
            "unknown-category", place, message, value[:60], "", "note", row=row, count=len(unknown)
        )
    ]
