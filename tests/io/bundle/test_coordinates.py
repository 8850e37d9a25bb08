from __future__ import annotations

import pandas as pd

from hetviz.data import Dataset, HeteroData
from hetviz.io.bundle.coordinates import rows_csv


def test_ids_of_chosen_rows_are_safe_in_a_spreadsheet() -> None:
    table = pd.DataFrame({"name": ["=1+1", 'a "b", c', "d"]})
    data = HeteroData([Dataset("x", ["007", "+2", "3"], table=table), Dataset("y", ["u"])])
    assert rows_csv(data, [3, 1, 0]).splitlines() == [
        "dataset,id,title",
        "x,007,'=1+1",
        'x,\'+2,"a ""b"", c"',
        "y,u,u",
    ]
