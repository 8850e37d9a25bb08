"""What items link to most, in the library and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz.cli import main
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import DataError, ParameterError


def shop() -> HeteroData:
    """Six customers with orders of two products, and shops that all visit alike."""
    days = ["2020-02-29", "2020-03-01", "2020-12-31", "2021-12-31", "2022-01-01", None]
    ages = pd.DataFrame(
        {"age": [70, 65, 61, 30, 20, 25], "town": list("ababab"), "since": pd.to_datetime(days)}
    )
    datasets = [
        Dataset("customers", [f"c{k}" for k in range(6)], table=ages),
        Dataset("shops", ["s0", "s1"]),
        Dataset("orders", [f"o{k}" for k in range(6)]),
        Dataset("products", ["tea", "coffee"]),
    ]
    ones = np.arange(6)
    links = [
        Links("customers", "shops", np.repeat(ones, 2), np.tile([0, 1], 6)),
        Links("orders", "customers", ones, ones),
        Links("orders", "products", ones, [0, 0, 1, 1, 1, 1]),
        Links("customers", "products", [0], [1], kind="said"),
    ]
    return HeteroData(datasets, links)


def test_most_linked_lists_the_clearest_difference_first() -> None:
    found = hetviz.most_linked(shop(), [0, 1, 2])
    # Orders are left out, as each has one customer.
    assert found[["linked_dataset", "through", "id", "n_links"]].values.tolist() == [
        ["products", "orders", "tea", 2],
        ["products", "orders", "coffee", 1],
        ["shops", "", "s0", 3],
        ["shops", "", "s1", 3],
    ]
    assert found["share"].tolist() == pytest.approx([2 / 3, 1 / 3, 0.5, 0.5])
    assert found["share_elsewhere"].tolist() == pytest.approx([0.0, 1.0, 0.5, 0.5])
    assert len(hetviz.most_linked(shop(), [0, 1, 2], n=1)) == 2


def test_most_linked_counts_each_dataset_on_its_own() -> None:
    data = shop()
    found = hetviz.most_linked(data, [0, 1, data.position("products", "tea")])
    assert set(zip(found["dataset"], found["linked_dataset"], strict=True)) == {
        ("customers", "shops"),
        ("customers", "products"),
        ("products", "shops"),
    }
    # Without others there is nothing to compare with.
    assert hetviz.most_linked(data, range(6))["share_elsewhere"].isna().all()


def test_most_linked_of_nothing_and_of_wrong_rows() -> None:
    assert hetviz.most_linked(shop(), []).empty
    with pytest.raises(DataError, match="99"):
        hetviz.most_linked(shop(), [99])
    with pytest.raises(ParameterError):
        hetviz.most_linked(shop(), [0], n=0)


@pytest.mark.parametrize(
    ("arguments", "n_items"),
    [(["c0", "c1"], 2), (["--where", "age=61.."], 3), (["--where", "age=..30"], 3)],
)
def test_linked_command_chooses_items(
    arguments: list[str], n_items: int, tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    hetviz.save(shop(), f"{tmp_path}/shop")
    main(["linked", f"{tmp_path}/shop", "customers", *arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["n_items"] == n_items
    tea = [item["n_links"] for item in found["linked"] if item["id"] == "tea"]
    assert tea == [] if "age=..30" in arguments else tea == [2]
    main(["linked", f"{tmp_path}/shop", "customers", "--where", "town=a", "--where", "age=..50"])
    assert "1 of 6 customers" in capsys.readouterr().out
    main(["linked", f"{tmp_path}/shop", "customers", "--where", "since=2020-03..2021"])
    assert "3 of 6 customers" in capsys.readouterr().out
    assert main(["linked", f"{tmp_path}/shop", "customers", "--where", "since=2020-13"]) != 0
    assert "write a date as 2020, 2020-03 or 2020-03-15" in capsys.readouterr().err
    assert main(["linked", f"{tmp_path}/shop", "customers"]) != 0
    assert main(["linked", f"{tmp_path}/shop", "customers", "--where", "age"]) != 0
