"""Types of table columns: numbers, categories, dates, free text or unusable values."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._types import MAX_MAGNITUDE, Array, Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
# Words for nothing, which can also be a value or a surname.
_NOTHING = frozenset({"none", "null"})
_NAMES_SHARE = 0.9
_MIN_WORDS_BESIDE = 2
_MIN_ANSWERS = 3
MAX_CATEGORIES = 50
_MIN_WIDE_COLUMNS = 200
_CELLS_PER_BLOCK = 1_000_000
# Plain numbers without leading zeros, exponents or surrounding characters.
_PLAIN_CELL = {sign: rf"^(?:-?(?:0|[1-9][0-9]*)(?:{re.escape(sign)}[0-9]+)?)?$" for sign in ".,"}

# Possessive quantifiers (++) avoid backtracking, which is several times faster on long columns.
_NUMBER = r"[+-]?+(?:[0-9]++(?:{0}[0-9]*+)?+|{0}[0-9]++)(?:[eE][+-]?+[0-9]++)?+"
_NUMBER_FORMS = {sign: re.compile(_NUMBER.format(re.escape(sign))) for sign in ".,"}
# Matching all cells joined by line ends is many times faster than matching each cell.
_COLUMN_FORMS = {
    sign: re.compile(rf"(?:{one.pattern}(?:\n|\Z))++") for sign, one in _NUMBER_FORMS.items()
}
# Texts that programs write for missing or failed numbers.
_UNUSABLE_PATTERNS = {
    "infinite": r"[+-]?(?:inf(?:inity)?|∞|1[.,]#inf0*)",
    "no number": r"[+-]?(?:nan(?:\([a-z]*\))?|1[.,]#(?:ind|qnan|snan)0*)",
    "failed formula": r"#(?:n/a|div/0!|value!|ref!|name\?|num!|null!|spill!|calc!)",
}
_UNUSABLE_FORMS = {
    word: re.compile(pattern, re.IGNORECASE) for word, pattern in _UNUSABLE_PATTERNS.items()
}
_NUMBER_OR_UNUSABLE = {
    sign: re.compile(
        rf"(?:(?:{one.pattern}|(?i:{'|'.join(_UNUSABLE_PATTERNS.values())}))(?:\n|\Z))++"
    )
    for sign, one in _NUMBER_FORMS.items()
}
_LONG_INTEGER = re.compile(r"^-?[0-9]{16,}$")
_LEADING_ZERO = re.compile(r"^0[0-9]+$", re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?Z?")
_CODE = re.compile(r"[A-Za-z]{2,3}")


@dataclass(frozen=True, eq=False)
class Column:
    """Column of a table with its inferred type.

    `kind` {"number", "category", "date", "text", "unique", "constant", "empty"}: "unique" is short
        text that differs in every row (a name or a code).
    `unusable`: Rows of a number column whose cells, such as ``inf`` or ``1e999``, are no usable
        numbers, see `why_unusable`. They count as missing.
    """

    name: str
    kind: str
    values: Array
    n_missing: int
    markers: tuple[str, ...] = ()
    whole: bool = False
    unusable: tuple[int, ...] = ()
    codes: Ints | None = None
    levels: tuple[str, ...] = ()

    @cached_property
    def uses(self) -> dict[str, int]:
        """Number of rows of each value of a text column."""
        if self.codes is None:
            return {}
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels))
        return dict(zip(self.levels, counts.tolist(), strict=True))


def infer(name: str, cells: Sequence[object] | pd.Series, decimal: str = ".") -> Column:
    """Infer the type of a column.

    A column has numbers (or dates as year-month-day) if every cell that is not missing is one.
    Infinity, error texts of programs and numbers beyond `MAX_MAGNITUDE` count as missing
    then. Numbers with leading zeros are codes, that is text. "NA" or "nan" counts as missing except
    in a column of codes of the same two or three letters, where it is Namibia or Min Nan, and "-"
    except next to "+".
    """
    series = pd.Series(cells)
    if pd.api.types.is_bool_dtype(series.dtype):
        codes, texts = encode_texts(series.astype(object))
        counts = np.bincount(codes[codes >= 0], minlength=len(texts))
        return _text_column(name, texts, codes, counts, [])
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return _date_column(name, pd.to_datetime(series, utc=True), [])
    if pd.api.types.is_timedelta64_dtype(series.dtype):
        series = series.dt.total_seconds()
    if pd.api.types.is_numeric_dtype(series.dtype):
        return _number_column(name, np.asarray(series.to_numpy(np.float64, na_value=np.nan)), [])
    if (quick := _arrow_numbers(name, series, decimal)) is not None:
        return quick
    # Only distinct texts are tested; most columns have few.
    codes, texts = encode_texts(series)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    blank = missing_texts(texts)
    markers = sorted({text.strip() for text in texts if text in blank} - {""})
    present_texts = [None if text in blank else text for text in texts]
    stripped = [text.strip() for text in present_texts if text is not None]
    if (numbers := _plain_numbers(stripped, decimal)) is not None:
        values = np.full(len(present_texts) + 1, np.nan)
        values[[*(text is not None for text in present_texts), False]] = numbers
        return _number_column(name, values[codes], markers)
    mixed = _numbers_with_unusable(name, present_texts, codes, markers, decimal)
    if mixed is not None:
        return mixed
    if stripped and all(_DATE.fullmatch(text) for text in stripped):
        dates = pd.to_datetime(
            pd.Series([*present_texts, None], dtype=object),
            utc=True,
            errors="coerce",
            format="ISO8601",
        )
        if dates.notna().sum() == len(stripped):
            return _date_column(name, dates.iloc[codes].reset_index(drop=True), markers)
    return _text_column(name, present_texts, codes, counts, markers)


def encode_texts(cells: Sequence[object] | pd.Series) -> tuple[Ints, list[str]]:
    """Return the code of the text of each cell, (n,), -1 for missing, and the distinct texts."""
    series = pd.Series(cells)
    if not isinstance(series.dtype, pd.StringDtype):
        texts = [None if lacks else str(cell) for cell, lacks in
                 zip(series.tolist(), series.isna().tolist(), strict=True)]  # fmt: skip
        series = pd.Series(texts, dtype=object)
    codes, distinct = pd.factorize(series)
    return codes, list(map(str, distinct))


def arrow_texts(series: pd.Series) -> pa.ChunkedArray:
    """Return a text column as an Arrow column of large strings, without a copy if possible."""
    import pyarrow as pa

    if not isinstance(series.dtype, pd.StringDtype):
        series = series.astype(TEXT)
    arrow_column = pa.chunked_array(series.array.__arrow_array__())
    return (
        arrow_column
        if arrow_column.type == pa.large_string()
        else arrow_column.cast(pa.large_string())
    )


def plain_numbers(series: pd.Series, decimal: str = ".") -> Floats | None:
    """Return a text column of plain numbers and empty cells as numbers, NaN for empty cells."""
    import pyarrow.compute as pc

    if not isinstance(series.dtype, pd.StringDtype) or not len(series):
        return None
    cells = arrow_texts(series)
    empty = pc.equal(cells, "")
    if pc.any(empty).as_py():
        cells = pc.if_else(empty, None, cells)
    return _cast_numbers(cells, decimal)


def plain_columns(frame: pd.DataFrame, decimal: str = ".") -> dict[Any, Floats]:
    """Return the columns of plain numbers of a text table with at least 200 columns, by name.

    Many columns are tested at once, because testing each one is slow. Empty cells are NaN.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    n, width = frame.shape
    if n == 0 or width < _MIN_WIDE_COLUMNS or not frame.columns.is_unique:
        return {}
    if not all(isinstance(dtype, pd.StringDtype) for dtype in frame.dtypes):
        return {}
    columns: dict[Any, Floats] = {}
    step = max(1, _CELLS_PER_BLOCK // n)
    for start in range(0, width, step):
        block = frame.iloc[:, start : start + step]
        texts = block.to_numpy(dtype=object).ravel(order="F")
        cells = pa.array(texts, pa.large_string(), from_pandas=True)
        fits = pc.fill_null(pc.match_substring_regex(cells, _PLAIN_CELL[decimal]), False)
        good = fits.to_numpy(zero_copy_only=False).reshape(-1, n).all(axis=1)
        cells = cells.filter(pa.array(np.repeat(good, n)))
        if decimal == ",":
            cells = pc.replace_substring(cells, ",", ".")
        values = pc.if_else(pc.equal(cells, ""), None, cells).cast(pa.float64())
        for name, column in zip(
            block.columns[good], values.to_numpy(zero_copy_only=False).reshape(-1, n), strict=True
        ):
            if not np.isnan(column).all() and np.nanmax(np.abs(column)) < 2**53:
                columns[name] = column
    return columns


def infer_all(frame: pd.DataFrame, decimal: str = ".") -> dict[Any, Column]:
    """Infer the type of each column of a table, see `infer`."""
    plain = plain_columns(frame, decimal)
    return {
        name: _number_column(str(name), plain[name], [])
        if name in plain
        else infer(name, frame[name], decimal)
        for name in frame.columns
    }


def _cast_numbers(cells: pa.ChunkedArray, decimal: str) -> Floats | None:
    """Return an Arrow column as numbers, NaN for null; None if a cell is no finite number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if cells.null_count == len(cells):
        return None
    if decimal == ",":
        if pc.any(pc.match_substring(cells, ".")).as_py():
            return None
        cells = pc.replace_substring(cells, ",", ".")
    try:
        values = cells.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    # Arrow accepts "inf" and "nan" too, which need a separate treatment.
    usable = pc.all(pc.less_equal(pc.abs(values), MAX_MAGNITUDE)).as_py()
    if not usable or pc.any(pc.is_nan(values)).as_py():
        return None
    result: Floats = values.to_numpy()
    return result


def _arrow_numbers(name: str, series: pd.Series, decimal: str) -> Column | None:
    """Return a column of plain numbers parsed by Arrow, or None if it may be something else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(series.dtype, pd.StringDtype) or not len(series):
        return None
    cells = arrow_texts(series)
    markers: list[str] = []
    values = plain_numbers(series, decimal)
    if values is None:
        is_missing = pc.is_in(pc.ascii_lower(cells), pa.array(sorted(MISSING), pa.large_string()))
        is_missing = pc.or_kleene(is_missing, pc.is_null(cells))
        if not pc.any(is_missing).as_py():
            return None
        marker_texts = pc.unique(pc.drop_null(cells.filter(is_missing))).to_pylist()
        markers = sorted(set(marker_texts) - {""})
        values = _cast_numbers(pc.if_else(is_missing, None, cells), decimal)
        if values is None:
            return None
    codes = cells.filter(pc.starts_with(cells, "0"))
    if pc.any(pc.match_substring_regex(codes, "^0[0-9]")).as_py():
        return None
    is_long = _are_beyond_floats(values)
    if is_long and pc.any(pc.match_substring_regex(cells, _LONG_INTEGER.pattern)).as_py():
        return None
    return _number_column(name, values, markers)


def numbers(texts: Sequence[str], decimal: str = ".") -> Floats:
    """Return the number of each cell, NaN if it is no finite number."""
    stripped = [text.strip() for text in texts]
    if (parsed := _all_numbers(stripped, decimal)) is not None:
        return parsed
    parsed_cells = (number(text, decimal) for text in stripped)
    return np.array([np.nan if value is None else value for value in parsed_cells])


def why_unusable(text: str, decimal: str = ".") -> str | None:
    """Return why a cell of a number column is unusable, or None for numbers and other text."""
    cell = text.strip()
    if _NUMBER_FORMS[decimal].fullmatch(cell):
        return None if abs(float(cell.replace(",", "."))) <= MAX_MAGNITUDE else "too large"
    return next((word for word, form in _UNUSABLE_FORMS.items() if form.fullmatch(cell)), None)


def _numbers_with_unusable(
    name: str, texts: Sequence[str | None], codes: Ints, markers: Sequence[str], decimal: str
) -> Column | None:
    """Return a number column with some unusable cells, or None if it has other text."""
    present = [text.strip() for text in texts if text is not None]
    if not present or not _NUMBER_OR_UNUSABLE[decimal].fullmatch("\n".join(present)):
        return None
    unusable = [text is not None and why_unusable(text, decimal) is not None for text in texts]
    usable = [
        None if text is None or bad else text.strip()
        for text, bad in zip(texts, unusable, strict=True)
    ]
    usable_texts = [text for text in usable if text is not None]
    values = np.full(len(texts) + 1, np.nan)
    if usable_texts:
        usable_values = _plain_numbers(usable_texts, decimal)
        if usable_values is None:
            return None
        values[[*(text is not None for text in usable), False]] = usable_values
    rows = np.flatnonzero(np.array([*unusable, False])[codes])
    return replace(_number_column(name, values[codes], markers), unusable=tuple(rows.tolist()))


def _plain_numbers(texts: Sequence[str], decimal: str) -> Floats | None:
    """Return the numbers of a column, or None if a cell is no number or looks like a code.

    Whole numbers beyond 2^53 are codes, because floats would make different ones equal.
    """
    parsed = _all_numbers(texts, decimal)
    if parsed is None or _LEADING_ZERO.search("\n".join(texts)):
        return None
    is_long = _are_beyond_floats(parsed) and any(map(_LONG_INTEGER.fullmatch, texts))
    return None if is_long else parsed


def _are_beyond_floats(values: Floats) -> bool:
    return bool(np.nanmax(np.abs(values), initial=0) >= 2**53)


def _all_numbers(texts: Sequence[str], decimal: str) -> Floats | None:
    """Return the numbers of stripped cells, or None unless all are usable."""
    if not texts or not _COLUMN_FORMS[decimal].fullmatch("\n".join(texts)):
        return None
    plain = texts if decimal == "." else [text.replace(",", ".") for text in texts]
    try:
        values = np.array(plain, dtype=np.float64)
    except ValueError:
        # A cell with a line end matched as two cells.
        return None
    return values if (np.abs(values) <= MAX_MAGNITUDE).all() else None


def number(text: str, decimal: str = ".") -> float | None:
    """Return the finite number of a cell, or None."""
    cell = text.strip()
    if not _NUMBER_FORMS[decimal].fullmatch(cell):
        return None
    value = float(cell.replace(",", "."))
    return value if math.isfinite(value) else None


def missing_texts(texts: Sequence[str | None]) -> set[str]:
    """Return the distinct texts of a column that mark missing values."""
    distinct = {text for text in texts if text is not None}
    missing = {text for text in distinct if text.strip().lower() in MISSING}
    others = {text for text in distinct - missing if text.strip()}
    if others and all(_CODE.fullmatch(text) for text in others):
        lengths = {len(text) for text in others}
        missing = {text for text in missing if not _CODE.fullmatch(text) or lengths != {len(text)}}
    if {text.strip() for text in others} == {"+"}:
        # The strands of a gene.
        missing = {text for text in missing if text.strip() != "-"}
    return {text for text in missing if not _is_word_among(text.strip(), others)}


def _is_word_among(marker: str, others: set[str]) -> bool:
    """Whether a word such as None is a value as the other words of its column are."""
    if marker == "Nan":
        # A province of Thailand. Programs write nan and NaN.
        names = [text for text in map(str.strip, others) if text[0].isupper()]
        return len(names) >= max(_MIN_WORDS_BESIDE, _NAMES_SHARE * len(others))
    if marker.lower() not in _NOTHING or len(others) < _MIN_WORDS_BESIDE:
        return False
    words = [text.strip() for text in others]
    if not all(len(word) > 1 and word.replace(" ", "").isalpha() for word in words):
        return False
    if marker.islower():
        # A missing value is rarely written as none, but often as null.
        return marker == "none" and all(map(str.islower, words))
    return all(word[0].isupper() and word.isupper() == marker.isupper() for word in words)


def _number_column(name: str, values: Array, markers: Sequence[str]) -> Column:
    values = np.where(np.abs(values) <= MAX_MAGNITUDE, values, np.nan)
    present = values[~np.isnan(values)]
    kind = "number"
    if len(present) == 0:
        kind = "empty"
    elif (present == present[0]).all():
        kind = "constant"
    whole = bool((present == np.round(present)).all()) and bool((np.abs(present) < 2**53).all())
    return Column(name, kind, values, len(values) - len(present), tuple(markers), whole)


def _date_column(name: str, dates: pd.Series, markers: Sequence[str]) -> Column:
    days = (dates - pd.Timestamp("1970-01-01", tz="UTC")) / pd.Timedelta(days=1)
    column = _number_column(name, days.to_numpy(dtype=np.float64, na_value=np.nan), markers)
    kind = "date" if column.kind == "number" else column.kind
    return Column(name, kind, column.values, column.n_missing, column.markers)


def _text_column(
    name: str, cell_texts: Sequence[str | None], codes: Ints, counts: Ints, markers: Sequence[str]
) -> Column:
    """Return a text column; cell r is ``known[codes[r]]``, and `counts` has the uses."""
    texts = np.empty(len(cell_texts) + 1, dtype=object)
    texts[: len(cell_texts)] = cell_texts
    values = texts[codes]
    distinct = [
        (text, n) for text, n in zip(cell_texts, counts.tolist(), strict=True) if text is not None
    ]
    n_present = sum(n for _, n in distinct)
    n_missing = len(values) - n_present
    if not distinct:
        kind = "empty"
    elif len(distinct) == 1:
        # Of several answers that a form offers, each has a column with the answer or nothing.
        is_answer = min(n_present, n_missing) >= _MIN_ANSWERS
        kind = "category" if is_answer else "constant"
    elif (
        len(distinct) > n_present / 2
        and sum(n * len(text.split()) for text, n in distinct) >= 3 * n_present
    ):
        kind = "text"
    elif len(distinct) <= MAX_CATEGORIES and len(distinct) <= max(2, 0.9 * n_present):
        kind = "category"
    elif len(distinct) == n_present:
        kind = "unique"
    else:
        kind = "category"
    levels = tuple(text for text, _ in distinct)
    places = np.full(len(cell_texts) + 1, -1, dtype=np.int64)
    places[[*(text is not None for text in cell_texts), False]] = np.arange(len(levels))
    return Column(name, kind, values, n_missing, tuple(markers), codes=places[codes], levels=levels)
