"""Types of columns, proposed from their cells, and cells converted to them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._text import count
from hetviz._types import Floats
from hetviz.errors import Problem
from hetviz.features.columns.categories import separator_of
from hetviz.features.columns.geographic import LATITUDE, LONGITUDE
from hetviz.features.columns.levels import (
    complete_order,
    is_increasing,
    natural_order,
    proposed_order,
)
from hetviz.features.columns.names import label_reason, words_of
from hetviz.features.columns.number_parsing import (
    SYMBOL_UNITS,
    detect_decimal,
    is_plain_numbers,
    number_column,
)
from hetviz.features.columns.types import (
    MAX_CATEGORIES,
    MISSING,
    encode_texts,
    infer,
    missing_texts,
    plain_columns,
    why_unusable,
)
from hetviz.io.infer.dates import (
    FIRST_DAY,
    LAST_DAY,
    are_dates,
    complete_years,
    convert_dates,
    may_be_counts,
)
from hetviz.io.infer.durations import are_durations, text_of_seconds
from hetviz.io.infer.ids import guess_id_column
from hetviz.io.infer.marks import convert_marks, mark_of
from hetviz.io.infer.parsed import Table
from hetviz.io.infer.recipe import NUMBERS, SAMPLE_ROWS, ColumnRecipe, TableRecipe
from hetviz.io.infer.row_names import choose_title
from hetviz.io.infer.vocabulary import PICTURE_NAME, YES_NO

_MAX_ORDER_VALUES = 30
_MIN_SCALE_VALUES = 3
_MIN_MARKS = 2
_ENDS = frozenset({"dataset", "source", "target"})


def read_columns(
    table: Table,
    recipe: TableRecipe | None = None,
    units: Mapping[str, str] | None = None,
    keep: Collection[str] = (),
) -> Table:
    """Return a text table with its columns read by a recipe."""
    frame, decimal = table.frame, table.decimal
    recipe_of = {} if recipe is None else {column.name: column for column in recipe.columns}
    unlisted = [column for column in frame.columns if column not in recipe_of]
    ids = None if len(unlisted) < frame.shape[1] else guess_id_column(frame)
    titled = any(column.type == "title" for column in recipe_of.values())
    plain = plain_columns(frame, decimal)
    wants_title = bool(unlisted) and not titled
    titles = choose_title(table.name, frame, [ids or ""], plain) if wants_title else ()
    column_recipes, notes = [], []
    is_changed = not all(isinstance(dtype, pd.StringDtype) for dtype in frame.dtypes)
    out: dict[str, pd.Series] = {}
    for column, cells in frame.items():
        column = str(column)
        column_recipe = recipe_of.get(column)
        if column_recipe is None:
            unit = (units or {}).get(column, "")
            column_recipe = (
                _propose_number_column(column, cells, plain[column], unit, decimal)
                if column in plain and column != ids
                else _propose_column(column, cells, unit, decimal, column == ids, column in titles)
            )
            # In a table of links, a cell without a number is an error to report.
            is_odd = (
                column_recipe.type == "number with the rest missing"
                and "source_id" in frame.columns
            )
            if is_odd or (
                column_recipe.type in NUMBERS and (column in keep or _is_id_name(column))
            ):
                column_recipe = replace(column_recipe, type="category")
        if column_recipe.type == "ordered category":
            values = [text for cell in encode_texts(cells)[1] if (text := cell.strip())]
            gaps = missing_texts(values)
            values = [text for text in dict.fromkeys(values) if text not in gaps]
            order = complete_order(column_recipe.order or proposed_order(values), values)
            if not column_recipe.said and len(order) > len(column_recipe.order):
                # A word outside the scale, below the sampled rows.
                column_recipe = replace(column_recipe, type="category", order=(), why="")
            else:
                column_recipe = replace(column_recipe, order=order[:MAX_CATEGORIES])
        column_recipes.append(column_recipe)
        if column_recipe.type == "leave out" and column_recipe.said:
            is_changed = True
            continue
        column_notes: list[Problem] = []
        is_unchanged = column in plain and (
            column_recipe.type == "yes/no"
            or (column_recipe.type in (*NUMBERS, "place") and column_recipe.decimal == decimal)
        )
        if column not in keep and not is_unchanged:
            where, original = f"{table.where}, column {column}", cells
            if column_recipe.type == "date":
                cells, column_notes = complete_years(where, cells, frame)
            cells, more_notes = _convert_column(where, cells, column_recipe, decimal)
            column_notes += more_notes
            is_changed |= cells is not original
        out[column] = cells
        notes += column_notes
    # Building a wide table takes as long as reading it.
    if is_changed:
        frame = pd.DataFrame(out, index=range(len(frame)), dtype=TEXT)
    else:
        frame = frame.set_axis(list(out), axis=1).reset_index(drop=True)
    base = TableRecipe((0,), None, 1, None, ()) if recipe is None else recipe
    full_recipe = replace(base, columns=tuple(column_recipes))
    return replace(
        table, frame=frame, recipe=full_recipe, problems=(*table.problems, *notes), cells=None
    )


def _is_id_name(name: str) -> bool:
    lower = name.strip().lower()
    return lower == "id" or lower.endswith("_id")


def _propose_column(
    name: str, cells: pd.Series, unit: str, decimal: str, is_id: bool, is_title: bool
) -> ColumnRecipe:
    """Return the proposed type of a column, from at most 1,000 cells."""
    if is_id:
        return ColumnRecipe(name, "id", why="different in every row")
    if is_title:
        return ColumnRecipe(name, "title")
    step = max(1, len(cells) // SAMPLE_ROWS)
    cells = cells if step == 1 else cells.iloc[::step]
    texts = cells.tolist()
    filled = [cell for text in texts if (cell := text.strip())]
    if not filled:
        return ColumnRecipe(name, "leave out", unit, why="empty")
    gaps = missing_texts(filled)
    present = [cell for cell in filled if cell not in gaps]
    distinct = {cell.lower() for cell in present}
    mark = mark_of(list(dict.fromkeys(texts)))
    # Tables of links name datasets, which may be called x.
    is_reference = _is_id_name(name) or bool(_ENDS & set(words_of(name)[-1:]))
    if mark is not None and len(present) >= _MIN_MARKS and not is_reference:
        return ColumnRecipe(name, "yes/no", why=f"blank or “{mark}”, blank means no")
    if present and are_durations(present):
        return ColumnRecipe(name, "number", unit or "s", decimal, why="durations, in seconds")
    if present and are_dates(present) and not may_be_counts(present):
        return ColumnRecipe(name, "date")
    sign = detect_decimal(filled, decimal)
    if (parsed_numbers := number_column(texts, sign)) is not None:
        words = words_of(name)
        is_place = bool((LATITUDE | LONGITUDE) & set(words)) and not parsed_numbers.others
        if is_place:
            return ColumnRecipe(name, "place", unit, sign)
        if distinct <= {"0", "1"}:
            return ColumnRecipe(name, "yes/no")
        n_others = count(sum(parsed_numbers.others.values()), "cell")
        unit = unit or parsed_numbers.unit
        if parsed_numbers.others:
            examples = ", ".join(list(parsed_numbers.others)[:3])
            why = f"{n_others} without a number: {examples}"
            return ColumnRecipe(name, "number with the rest missing", unit, sign, why=why)
        whole = all(value is None or value == round(value) for value in parsed_numbers.values)
        return ColumnRecipe(name, "whole number" if whole else "number", unit, sign)
    if present and all(PICTURE_NAME.fullmatch(cell) for cell in present):
        return ColumnRecipe(name, "picture")
    if len(distinct) == 2 and distinct in YES_NO:
        return ColumnRecipe(name, "yes/no")
    if separator_of(filled):
        return ColumnRecipe(name, "list")
    kind = infer(name, cells, decimal).kind
    if kind in ("text", "unique"):
        return ColumnRecipe(name, "text")
    # Longer lists are counts, not scales.
    order = natural_order(dict.fromkeys(present)) if len(distinct) <= _MAX_ORDER_VALUES else None
    why = label_reason(name) or ""
    if order is not None and not why:
        why = f"has an order: {' < '.join(order[:4])}{' ...' * (len(order) > 4)}"
    if order is not None and _order_of_scale(order):
        return ColumnRecipe(name, "ordered category", order=order, why=why)
    return ColumnRecipe(name, "category", why=why)


def find_scales(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the columns with words of a known scale, and their order."""
    orders = {}
    for name, cells in frame.items():
        first = _distinct_texts(cells.head(SAMPLE_ROWS))
        if sum(text.lower() not in MISSING for text in first) > _MAX_ORDER_VALUES:
            continue
        values = _distinct_texts(cells)
        gaps = missing_texts(values)
        values = [text for text in values if text not in gaps]
        # A column that differs in every row contains names.
        if len(values) < len(frame) and (order := _order_of_scale(values)):
            orders[str(name)] = order
    return orders


def _distinct_texts(cells: pd.Series) -> list[str]:
    texts = (str(cell).strip() for cell in encode_texts(cells)[1])
    return list(dict.fromkeys(filter(None, texts)))


def _order_of_scale(values: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a known scale in order, () for other words."""
    # Two words can be poles of anything. Months and days are cyclic.
    if not _MIN_SCALE_VALUES <= len(values) <= _MAX_ORDER_VALUES or not is_increasing(values):
        return ()
    return natural_order(values) or ()


def _propose_number_column(
    name: str, cells: pd.Series, values: Floats, unit: str, decimal: str
) -> ColumnRecipe:
    """Return the proposed type of a column of plain numbers."""
    numbers = values[~np.isnan(values)]
    if (LATITUDE | LONGITUDE) & set(words_of(name)):
        return ColumnRecipe(name, "place", unit, decimal)
    whole = bool((numbers == np.round(numbers)).all())
    if whole and FIRST_DAY <= numbers.min() <= numbers.max() <= LAST_DAY:
        # Such as 20231231.
        return _propose_column(name, cells, unit, decimal, is_id=False, is_title=False)
    if whole and 0 <= numbers.min() <= numbers.max() <= 1 and set(cells.tolist()) <= {"", "0", "1"}:
        return ColumnRecipe(name, "yes/no")
    return ColumnRecipe(name, "whole number" if whole else "number", unit, decimal)


def _convert_column(
    where: str, cells: pd.Series, column: ColumnRecipe, decimal: str
) -> tuple[pd.Series, list[Problem]]:
    if column.type in NUMBERS or column.type == "place":
        return _convert_numbers(where, cells, column, decimal)
    if column.type == "date":
        return convert_dates(where, cells)
    if column.type == "yes/no":
        return convert_marks(where, cells)
    if column.type == "ordered category":
        return cells.str.strip(), _marker_notes(where, cells)
    return cells, _marker_notes(where, cells) if column.type == "category" else []


def _marker_notes(where: str, cells: pd.Series) -> list[Problem]:
    """Return a note about a word such as None that is a value here and often means missing."""
    codes, distinct = encode_texts(cells)
    texts = [text.strip() for text in distinct]
    gaps = missing_texts(texts)
    words = [at for at, text in enumerate(texts) if text.lower() in MISSING and text not in gaps]
    if not words:
        return []
    n_cells = count(int(np.isin(codes, words).sum()), "cell")
    names = " and ".join(f"“{text}”" for text in dict.fromkeys(texts[at] for at in words))
    message = f"{n_cells} with {names} read as a value, as the other cells suggest"
    remedy = "If it means a missing value, leave these cells empty."
    return [Problem("marker-value", where, message, texts[words[0]], remedy, severity="note")]


def _convert_numbers(
    where: str, cells: pd.Series, column: ColumnRecipe, decimal: str
) -> tuple[pd.Series, list[Problem]]:
    if column.decimal == decimal and is_plain_numbers(cells, decimal):
        return cells, []
    texts = cells.tolist()
    present = [text for text in texts if text.strip() and text.strip().lower() not in MISSING]
    if present and are_durations(present[:SAMPLE_ROWS]):
        texts = [text_of_seconds(text, column.decimal) for text in texts]
        note = Problem(
            "durations", where, "durations are read in seconds", present[0], severity="note"
        )
        return pd.Series(texts, index=cells.index, dtype=TEXT), [note]
    parsed_numbers = number_column(texts, column.decimal, force=True)
    if parsed_numbers is None:
        message = "no cell contains a number, so all cells count as missing"
        note = Problem("no-numbers", where, message, severity="note")
        return pd.Series([""] * len(cells), index=cells.index, dtype=TEXT), [note]
    out, first = [], ""
    for text, value in zip(texts, parsed_numbers.values, strict=True):
        if value is not None:
            out.append(_plain_number(text.strip(), value, column.decimal, decimal))
            first = first or (text if out[-1] != text.strip() else "")
        else:
            # Feature extraction reports the markers for missing numbers.
            stays = text.strip().lower() in MISSING or why_unusable(text, decimal) is not None
            out.append(text if stays else "")
    notes: list[Problem] = []
    signs = [f"{parsed_numbers.unit} sign"] if parsed_numbers.unit in SYMBOL_UNITS else []
    signs += [f"unit {parsed_numbers.unit}"] if parsed_numbers.unit and not signs else []
    signs += ["thousands signs"] * parsed_numbers.grouped
    if signs:
        message = f"numbers are read without their {' and '.join(signs)}"
        notes.append(Problem("written-numbers", where, message, first, severity="note"))
    if parsed_numbers.magnitudes:
        message = f"numbers with {' and '.join(parsed_numbers.magnitudes)} are read in full"
        notes.append(Problem("magnitudes", where, message, first, severity="note"))
    if parsed_numbers.negative:
        n_cells = count(parsed_numbers.negative, "cell")
        message = f"{n_cells} in brackets or with a trailing minus: read as negative numbers"
        notes.append(Problem("negative-numbers", where, message, severity="note"))
    if n_limits := parsed_numbers.below + parsed_numbers.above:
        marks = " and ".join(
            ["<"] * bool(parsed_numbers.below) + [">"] * bool(parsed_numbers.above)
        )
        message = f"{count(n_limits, 'cell')} with {marks}: the limit is used as the value"
        notes.append(Problem("limits", where, message, severity="note"))
    words = {
        word: n
        for word, n in parsed_numbers.others.items()
        if word.lower() not in MISSING and why_unusable(word, decimal) is None
    }
    if words:
        examples = ", ".join(f"{word} ({n:,})" for word, n in list(words.items())[:4])
        message = f"{count(sum(words.values()), 'cell')} without a number treated as missing"
        notes.append(Problem("words-for-missing", where, message, examples, severity="note"))
    return pd.Series(out, index=cells.index, dtype=TEXT), notes


def _plain_number(text: str, value: float, sign: str, decimal: str) -> str:
    """Return a number as plain text, with its original digits where possible."""
    digits = re.sub(r"[^0-9.,eE+-]", "", text.replace("\u2212", "-").rstrip("*"))
    thousands = "," if sign == "." else "."
    digits = digits.replace(thousands, "").replace(sign, ".").lstrip("+")
    try:
        same = float(digits) == value
    except ValueError:
        same = False
    if not same:
        digits = str(int(value)) if value == round(value) and abs(value) < 2**53 else repr(value)
    return digits.replace(".", decimal)
