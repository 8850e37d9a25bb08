"""Ids and titles of tables, chosen over all tables of the same files together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import pandas as pd

from hetviz.data.joins.key_names import (
    ID_WORDS,
    NAME_WORDS,
    column_words,
    has_common_part,
    is_named_key,
    is_named_measure,
    similarity,
    table_words,
    words_of_name,
)
from hetviz.data.joins.keys import normalise_spelling
from hetviz.io.infer.dates import is_date
from hetviz.io.infer.durations import are_durations
from hetviz.io.infer.ids import guess_id_column, holds_measurements, is_unique, joined_ids
from hetviz.io.infer.parsed import Table
from hetviz.io.infer.recipe import ColumnRecipe
from hetviz.io.infer.titles import full_name, joined_cells
from hetviz.io.infer.vocabulary import are_words

_GENERIC_IDS = frozenset({"id", "code", "key", "uid"})
# Link weights, kinds and values never identify rows.
_NEVER_IDS = frozenset({"weight", "score", "kind", "value", "rating", "vote"})
_MAX_MEAN_ID_CHARS = 60
_MIN_ID_SCORE = 0.25
_MAX_KEY_COLUMNS = 5
_MIN_INCLUDED_SHARE = 0.5
_MIN_CONTAINED_SHARE = 0.8
_SAMPLE_ROWS = 1_000
_MIN_TITLE_MERIT = 0.75
# Of rows that otherwise have only a number.
_MIN_TITLE_MERIT_OF_NUMBERS = 0.5
_MIN_FILLED_SHARE = 0.7
_MIN_DISTINCT_SHARE = 0.5
# Of rows that otherwise have only a code.
_MIN_FILLED_SHARE_OF_CODES = 0.5
_MIN_DISTINCT_SHARE_OF_CODES = 0.1
# A name that is filled less often than this share of another one is no second name.
_MIN_NAMES_RATIO = 0.8
_MIN_WORDS = 3
_MIN_CODE_SHARE = 0.8
_MIN_SLUG_SHARE = 0.8
_WORD = re.compile(r"[^\W\d_]{3}|[\u3040-\u9fff\uac00-\ud7af]")
_MAX_TITLE_CHARS = 80
_N_DATES_TESTED = 20
_TITLE_WORDS = NAME_WORDS | {"descr", "desc", "description", "beschreibung", "term", "descripcion"}
_REMARK_WORDS = frozenset({"note", "notes", "comment", "comments", "remark", "remarks"})
_POOR_TITLE_WORDS = frozenset(
    {"contact", "url", "email", "mail", "ref", "address", "file", "code", "phone", "street", "path"}
)


def choose_ids(frames: Mapping[str, pd.DataFrame]) -> dict[str, tuple[str, ...]]:
    """Return the id columns of each table, () for row numbers.

    An id is unique and filled. It is named as an id or after its table, or other tables repeat its
    name and its values. Several columns form an id together if another table refers to them.
    """
    words = {}
    for name, frame in frames.items():
        columns = list(map(str, frame.columns))
        words[name] = dict(zip(columns, column_words(columns), strict=True))
    n_tables_with = Counter(str(c).lower() for frame in frames.values() for c in frame.columns)
    out: dict[str, tuple[str, ...]] = {}
    for name, frame in frames.items():
        own = table_words(name, frames)
        others = [other for at, other in frames.items() if at != name]
        best, best_score = "", _MIN_ID_SCORE
        for at, column in enumerate(map(str, frame.columns)):
            is_shared, of_column = n_tables_with[column.lower()] > 1, words[name][column]
            is_named = is_named_key(of_column) or of_column == own
            if not (is_named or is_shared) or not _can_be_id(frame[column]):
                continue
            used = _uses_elsewhere(frame[column], others) if is_shared else (False, False)
            score = _id_score(column, of_column, own, at, used)
            if score > best_score:
                best, best_score = column, score
        if best:
            out[name] = (best,)
            continue
        guessed = guess_id_column(frame)
        if guessed is not None and set(words[name].get(guessed, ())) & _NEVER_IDS:
            guessed = None
        out[name] = _composite_id(frame, others) if guessed is None else (guessed,)
    return out


def _can_be_id(cells: pd.Series) -> bool:
    if str(cells.name).strip().lower() in _NEVER_IDS or not is_unique(cells):
        return False
    sample = cells.iloc[:: max(1, len(cells) // _SAMPLE_ROWS)]
    return not holds_measurements(cells) and sample.str.len().mean() <= _MAX_MEAN_ID_CHARS


def _uses_elsewhere(cells: pd.Series, others: Sequence[pd.DataFrame]) -> tuple[bool, bool]:
    """Return whether a column of the same name elsewhere has these values, and repeats them."""
    name, ids = str(cells.name).lower(), None
    is_used = is_repeated = False
    for other in others:
        for column in other.columns:
            if str(column).lower() != name:
                continue
            ids = set(cells) if ids is None else ids
            values = other[column]
            distinct = set(values) - {""}
            if len(distinct) > 1 and len(distinct & ids) >= _MIN_INCLUDED_SHARE * len(distinct):
                is_used = True
                is_repeated |= len(distinct) < int(values.ne("").sum())
    return is_used, is_repeated


def _id_score(
    column: str, words: Sequence[str], own: Sequence[str], at: int, used: tuple[bool, bool]
) -> float:
    """Return how clearly a unique column is the id of its table."""
    is_named = is_named_key(words)
    core = [word for word in words if word not in ID_WORDS]
    is_own = is_named and (
        not core or bool(set(own) & set(core)) or similarity("".join(core), "".join(own)) > 0.4
    )
    score = 2.0 * (column.strip().lower() in _GENERIC_IDS) + 1.5 * is_named + 1.0 * is_own
    score += 1.5 * (not is_named and tuple(words) == tuple(own))
    score += 0.5 * used[0] + 1.5 * used[1] + 0.6 * (at == 0)
    score -= 1.5 * is_named_measure(words) + 0.2 * min(at, 5)
    if not is_named:
        score -= 1.2 if not used[1] else 0.3
        score -= 0.8 * bool(NAME_WORDS & set(words))
    return score


def _composite_id(frame: pd.DataFrame, others: Sequence[pd.DataFrame]) -> tuple[str, ...]:
    """Return the columns that another table repeats and that identify rows only together."""
    if not len(frame):
        return ()
    for other in others:
        names = {str(column).lower(): str(column) for column in other.columns}
        common = [
            column
            for column in map(str, frame.columns)
            if column.lower() in names
            and frame[column].str.strip().ne("").all()
            and not holds_measurements(frame[column])
            and frame[column].nunique() > 1
        ][:_MAX_KEY_COLUMNS]
        # All common columns if they agree, since fewer can differ in all rows by accident.
        for n in range(len(common), 1, -1):
            for columns in combinations(common, n):
                cells = joined_ids(frame, columns)
                if not cells.is_unique:
                    continue
                refers = joined_ids(other, [names[column.lower()] for column in columns])
                if refers.isin(set(cells)).mean() >= _MIN_CONTAINED_SHARE:
                    return columns
    return ()


def choose_title(
    name: str, frame: pd.DataFrame, ids: Sequence[str], plain: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the columns with the names of the rows: words, mostly different, named as names.

    Rows that otherwise have only a code are named by the best text, even if it repeats or is
    sometimes missing.
    """
    sample = frame.iloc[:: max(1, len(frame) // _SAMPLE_ROWS)]
    words = column_words(list(map(str, frame.columns)))
    own = table_words(name, [name])
    # Ids that are names need no other title, unless that is called a name.
    are_ids_names = any(ids) and all(
        column in frame.columns and are_words([cell for cell in sample[column] if cell.strip()])
        for column in ids
    )
    if (
        are_ids_names
        and len(set(ids)) == 1
        and (written_out := _written_out(sample, ids[0], plain))
    ):
        return (written_out,)
    best, best_merit = "", _MIN_TITLE_MERIT if any(ids) else _MIN_TITLE_MERIT_OF_NUMBERS
    for at, (column, of_column) in enumerate(zip(map(str, frame.columns), words, strict=True)):
        if column in ids or column in plain:
            continue
        merit = _title_merit(sample[column], of_column, own) - 0.01 * at
        is_worse_than_id = are_ids_names and not NAME_WORDS & set(of_column)
        is_doubtful = merit <= _MIN_TITLE_MERIT and not are_words(sample[column].tolist())
        is_worse = is_worse_than_id or is_doubtful
        if merit > best_merit and not is_worse and _mostly_differ(frame[column]):
            best, best_merit = column, merit
    if not best and not are_ids_names:
        best = _best_repeated_text(
            sample, dict(zip(map(str, frame.columns), words, strict=True)), own, {*ids, *plain}
        )
    both = full_name(frame.columns)
    if both is not None and not set(both) & set(ids):
        names = joined_cells(sample, both)
        n_more = 0 if not best else names.nunique() - sample[best].nunique()
        is_name = bool(NAME_WORDS & set(words_of_name(best)))
        is_better = not best or best in both or n_more > 0 or (n_more == 0 and not is_name)
        if is_better and names.str.strip().ne("").mean() > 0.9:
            return both
    return (best,) if best else ()


def _written_out(sample: pd.DataFrame, ids: str, plain: Collection[str]) -> str:
    """Return the column with the names that ids such as karl-anthony-towns are made of, or ""."""
    keys = sample[ids].map(normalise_spelling)
    for column in map(str, sample.columns):
        is_copy = (sample[column] == sample[ids]).mean() > 1 - _MIN_SLUG_SHARE
        if column == ids or column in plain or is_copy:
            continue
        if (sample[column].map(normalise_spelling) == keys).mean() >= _MIN_SLUG_SHARE:
            return column
    return ""


def _mostly_differ(cells: pd.Series) -> bool:
    """Return whether at least half of the filled cells differ, which a sample overstates."""
    filled = cells[cells.str.strip().ne("")]
    return filled.nunique() >= _MIN_DISTINCT_SHARE * len(filled)


def _best_repeated_text(
    sample: pd.DataFrame,
    words: Mapping[str, Sequence[str]],
    own: Sequence[str],
    others: Collection[str],
) -> str:
    """Return the column with the best text for rows that have only codes, or ""."""
    best, best_merit = "", 0.0
    filled_names: dict[str, float] = {}
    for column, of_column in words.items():
        if column in others:
            continue
        cells = sample[column]
        is_filled = cells.str.strip().ne("")
        n_words = cells[is_filled].str.split().map(len).mean()
        if not (_is_title_name(of_column) or n_words >= _MIN_WORDS):
            continue
        if _POOR_TITLE_WORDS & set(of_column):
            continue
        merit = _title_merit(
            cells, of_column, own, _MIN_FILLED_SHARE_OF_CODES, _MIN_DISTINCT_SHARE_OF_CODES
        )
        if merit > 0 and NAME_WORDS & set(of_column):
            filled_names[column] = float(is_filled.mean())
        if merit > best_merit:
            best, best_merit = column, merit
    # Two names are those of two things, unless one of them is often missing.
    others_filled = [share for column, share in filled_names.items() if column != best]
    least = _MIN_NAMES_RATIO * filled_names.get(best, 0.0)
    is_alone = len(filled_names) < 2 or all(share < least for share in others_filled)
    return best if is_alone else ""


def _is_title_name(words: Sequence[str]) -> bool:
    """Return whether a column is named as a title: name, Bezeichnung, abteilungsname."""
    return bool(_TITLE_WORDS & set(words)) or "".join(words).endswith(tuple(NAME_WORDS))


def _is_code(text: str) -> bool:
    """Return whether a text is a code such as R/69/286: digits without a word."""
    return any(map(str.isdigit, text)) and _WORD.search(text) is None


def _title_merit(
    cells: pd.Series,
    words: Sequence[str],
    own: Sequence[str],
    min_filled: float = _MIN_FILLED_SHARE,
    min_distinct: float = _MIN_DISTINCT_SHARE,
) -> float:
    filled = [text for cell in cells if (text := cell.strip())]
    distinct = len(set(filled))
    if len(filled) < min_filled * len(cells) or not filled or (distinct < 2 and len(cells) > 3):
        return -1.0
    is_name = _is_title_name(words)
    if is_named_key(words) and (not is_name or words[-1] not in NAME_WORDS):
        return -1.0
    if (is_named_measure(words) or _REMARK_WORDS & set(words)) and not is_name:
        return -1.0
    with_letters = sum(any(map(str.isalpha, text)) for text in filled)
    if with_letters < 0.8 * len(filled) or holds_measurements(cells):
        return -1.0
    tested = filled[:_N_DATES_TESTED]
    if all(map(is_date, tested)) or are_durations(tested):
        return -1.0
    if not is_name and sum(map(_is_code, filled)) >= _MIN_CODE_SHARE * len(filled):
        return -1.0
    length = sum(map(len, filled)) / len(filled)
    is_own = tuple(words) == tuple(own) or has_common_part(words, own)
    merit = distinct / len(filled) + 1.0 * is_name + 0.5 * is_own
    merit += 0.3 * ("".join(words) in NAME_WORDS)
    merit -= 0.5 * (length > _MAX_TITLE_CHARS) + 0.4 * bool(_POOR_TITLE_WORDS & set(words))
    return merit if distinct >= min_distinct * len(filled) else -1.0


def ids_of_tables(tables: Sequence[Table]) -> dict[str, tuple[str, ...]]:
    """Return ids of tables by name: declared, of the user's recipe, or chosen by `choose_ids`."""
    plain = [table for table in tables if not table.has_matrix]
    chosen = choose_ids({table.name: table.frame for table in plain})
    for table in plain:
        if table.id_column is not None or table.id_columns:
            chosen[table.name] = table.id_columns or (str(table.id_column),)
    return chosen


def with_row_names(table: Table, ids: Sequence[str]) -> Table:
    """Return a table whose proposed recipe has these ids, and titles other than them."""
    recipe = table.recipe
    if recipe is None or tuple(ids) == recipe.of_type("id"):
        return table
    titles = choose_title(table.name, table.frame, ids)
    columns = tuple(_named_column(column, ids, titles, table) for column in recipe.columns)
    return replace(table, recipe=replace(recipe, columns=columns))


def _named_column(
    column: ColumnRecipe, ids: Sequence[str], titles: Sequence[str], table: Table
) -> ColumnRecipe:
    if column.name in ids:
        return replace(column, type="id", why="identifies the rows")
    if column.name in titles:
        return replace(column, type="title", why="")
    if column.type not in ("id", "title"):
        return column
    are_digits = bool(table.frame[column.name].str.fullmatch(r"-?\d*").all())
    return replace(column, type="whole number" if are_digits else "text", why="")
