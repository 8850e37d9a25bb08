"""Tests of the values of items as text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hetviz.features.columns.types import Column
from hetviz.ui.item.item_text import cell_text


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        ("2019-03-23 20:50:49", "2019-03-23 20:50:49"),
        ("2019-03-23", "2019-03-23"),
        ("1969-12-31 23:59:59", "1969-12-31 23:59:59"),
    ],
)
def test_date_is_shown_with_its_time(moment: str, text: str) -> None:
    days = (pd.Timestamp(moment) - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    column = Column("pickup", "date", np.array([days, np.nan]), n_missing=1)
    assert [cell_text(column, row) for row in (0, 1)] == [text, ""]
