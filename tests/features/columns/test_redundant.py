import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz.features.columns.names import label_reason
from hetviz.features.table import fit

N = 60
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "size": RNG.normal(size=N).round(3),
        "hour": np.arange(N) * 7 % 24,
        "scheduled": np.arange(N) * 7 % 24 * 100 + RNG.integers(0, 60, N),
        "no_in_file": np.arange(1, N + 1),
        "customer_id": RNG.choice(np.arange(1000, 1030), N),
        "remark": ["late", "lost"] + [None] * (N - 2),
        "street": [f"street {k // 2}" if k < 20 else f"lane {k % 45}" for k in range(N)],
        "carrier": RNG.choice(["UA", "AA", "DL"], N),
    }
)
TABLE["airline"] = TABLE["carrier"].map({"UA": "United", "AA": "American", "DL": "Delta"})
TABLE["street"] = [f"street {k % 58}" for k in range(N)]
WHY = {
    "hour": "part of a clock time",
    "no_in_file": "it only counts the rows",
    "customer_id": "a key, code or number",
    "remark": "only 2 of 60 rows have a value",
    "airline": "same information as carrier",
}


def left_out(result):
    return {first["column"]: first["why"] for first in result.recipe["left_out"]}


def test_redundant_columns_are_excluded_with_reasons():
    result = left_out(fit(TABLE))
    assert set(result) == set(WHY)
    for name, why in WHY.items():
        assert result[name].startswith(why)


def test_category_with_many_values_is_excluded():
    table = TABLE.assign(street=[f"street {k % 290}" for k in range(N)])
    many = pd.concat([table.assign(street=[f"s{k}-{at}" for k in range(N)]) for at in range(5)])
    many.loc[many.index == 0, "street"] = "s0"
    assert left_out(fit(many.reset_index(drop=True)))["street"].startswith(
        "too many different values"
    )


@pytest.mark.parametrize("name", sorted(WHY))
def test_use_option_includes_excluded_column(name):
    result = fit(TABLE, options={name: {"use": True}})
    assert name not in left_out(result)
    assert any(step["column"] == name for step in result.recipe["columns"])


def test_given_columns_are_used():
    result = fit(TABLE, columns=["hour", "scheduled", "no_in_file"])
    assert [step["column"] for step in result.recipe["columns"]] == [
        "hour",
        "scheduled",
        "no_in_file",
    ]


def test_days_of_the_month_are_excluded_next_to_months():
    days = RNG.integers(1, 32, N)
    table = TABLE[["size"]].assign(birthMonth=RNG.integers(1, 13, N), birthDay=days)
    assert left_out(fit(table)) == {"birthDay": "a day of the month"}
    # Days of an experiment, and days of something else, are measures.
    assert left_out(fit(table.rename(columns={"birthMonth": "x"}))) == {}
    assert left_out(fit(table.rename(columns={"birthMonth": "deathMonth"}))) == {}
    assert left_out(fit(table.assign(birthDay=days + 20))) == {}


def test_years_and_small_tables_are_not_excluded():
    years = pd.DataFrame({"year": np.arange(1900, 1900 + N), "x": RNG.normal(size=N)})
    assert left_out(fit(years)) == {}
    assert left_out(fit(TABLE[["size", "no_in_file"]].iloc[:8])) == {}


def test_transform_without_excluded_columns():
    things = hetviz.Dataset("things", [f"t{k}" for k in range(N)], table=TABLE)
    result = hetviz.make_features(things)
    rows = TABLE.drop(columns=list(WHY)).iloc[:5]
    np.testing.assert_allclose(hetviz.transform_features(result, rows), result.X[:5])


@pytest.mark.parametrize(
    ("name", "numbers", "why"),
    [
        ("Home Phone", None, "a phone number"),
        ("Extension", [5467.0, 3457.0], "a phone number"),
        ("PostalCode", None, "a postal code"),
        ("In what ZIP code is your home?", None, "a postal code"),
        ("CIK", [66740, 91142, 1800], "a number in a register"),
        ("start_minute", [0.0, 30.0], "part of a clock time"),
        ("dep_time", [5.0, 517.0, 1545.0, 2359.0, 830.0], "clock times such as 1545"),
        ("l_linenumber", [1.0, 2.0], "a key, code or number that only labels"),
        ("GWcode", [2.0, 700.0], "a key, code or number that only labels"),
        ("number of rooms", [1.0, 2.0], None),
        ("minutes", [60.0, 50.0], None),
        ("air_time", [227.0, 160.0, 183.0, 99.0, 61.0], None),
        ("phone sales", [3.0, 4.0], None),
    ],
)
def test_label_reason(name, numbers, why):
    values = None if numbers is None else np.array(numbers)
    assert label_reason(name, values) == why
