"""JSON records of tables."""

from __future__ import annotations

import pandas as pd

from hetviz._types import JsonObject


def records(table: pd.DataFrame) -> list[JsonObject]:
    """Return the rows of a table, each as column to value."""
    if not table.shape[1]:
        # pandas 2 drops rows without columns.
        return [{} for _ in range(len(table))]
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
