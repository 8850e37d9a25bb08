"""Meta columns of statements: note, author, time and set."""

from __future__ import annotations

import pandas as pd

from hetviz._pandas import TEXT

META_COLUMNS = ("note", "who", "when", "set")
"""Optional text columns that the app writes."""


def make_meta(n: int, **texts: str) -> pd.DataFrame | None:
    """Return `n` equal rows of the non-empty texts, or None if there are none."""
    columns = {name: text for name, text in texts.items() if text}
    return pd.DataFrame(columns, index=range(n)) if columns else None


def meta_text(meta: pd.DataFrame | None, column: str, n: int) -> pd.Series:
    """Return a column as plain text, empty where missing."""
    if meta is None or column not in meta.columns:
        return pd.Series([""] * n, dtype=TEXT)
    cells = meta[column].astype(object)
    return cells.where(cells.notna(), "").astype(TEXT).reset_index(drop=True)


def concat_meta(
    first: pd.DataFrame | None, n_first: int, second: pd.DataFrame | None, n_second: int
) -> pd.DataFrame | None:
    """Return both tables concatenated, with the columns of either."""
    if first is None and second is None:
        return None
    upper = pd.DataFrame(index=range(n_first)) if first is None else first
    lower = pd.DataFrame(index=range(n_second)) if second is None else second
    columns = list(dict.fromkeys([*upper.columns, *lower.columns]))
    parts = {}
    for name in columns:
        if name in META_COLUMNS:
            both = [meta_text(upper, name, n_first), meta_text(lower, name, n_second)]
            parts[name] = pd.concat(both, ignore_index=True)
        else:
            both = [
                part[name] if name in part.columns else pd.Series([None] * n, dtype=object)
                for part, n in ((upper, n_first), (lower, n_second))
            ]
            # Empty parts are skipped, so that number types without a missing value are kept.
            parts[name] = pd.concat([cells for cells in both if len(cells)], ignore_index=True)
    return pd.DataFrame(parts, index=range(n_first + n_second))
