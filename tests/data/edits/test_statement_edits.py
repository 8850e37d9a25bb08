"""Statements of any data: keys that last, edits that can be taken back, additions that add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetviz
from hetviz import Comparisons, Dataset, HeteroData, Links
from hetviz.data.edits.adding import add_statements
from hetviz.data.edits.statement_edits import (
    drop_statements,
    edit_statements,
    rename_set,
    without_sets,
)
from hetviz.data.model import heterodata as model
from hetviz.data.model.statements import (
    link_keys_at,
    set_mask,
    set_names,
    statement_keys,
    statement_positions,
    statement_rows,
    statements,
)
from tests.data.strategies import heterodata
from tests.depth import examples

FEW = settings(max_examples=examples(60), deadline=None)


@FEW
@given(heterodata())
def test_statement_keys_are_unique(data: HeteroData) -> None:
    table = hetviz.statements(data)
    n = sum(map(len, data.links)) + (0 if data.comparisons is None else len(data.comparisons))
    assert len(table) == n == table["key"].nunique()
    assert statement_positions(data, table["key"]).tolist() == list(range(n))
    rows = statement_rows(data)
    for row, messages in zip(rows.tolist(), table.to_dict("records"), strict=True):
        ends = (
            [("source", 0), ("target", 1)] if messages["form"] == "link" else [("a", 0), ("b", 1)]
        )
        for end, at in ends:
            name = messages[end if messages["form"] == "link" else f"{end}_dataset"]
            assert data.position(name, messages[f"{end}_id"]) == row[at]


@FEW
@given(heterodata(), st.data())
def test_edits_keep_keys_and_are_reversible(data: HeteroData, draw: st.DataObject) -> None:
    table = hetviz.statements(data)
    if table.empty:
        return
    chosen = draw.draw(st.lists(st.sampled_from(table["key"].tolist()), min_size=1, unique=True))
    after = edit_statements(data, {key: {"weight": 0.625, "note": "why"} for key in chosen})
    assert statement_keys(after).tolist() == statement_keys(data).tolist()
    changed = hetviz.statements(after).set_index("key").loc[chosen]
    assert set(changed["weight"]) == {0.625}
    assert set(changed["note"]) == {"why"}
    before = table.set_index("key").loc[chosen]
    if (before["weight"] == 0).any():
        return
    back = {
        key: {"weight": before.loc[key, "weight"], "note": before.loc[key, "note"]}
        for key in chosen
    }
    again = hetviz.statements(edit_statements(after, back))
    assert again.astype(str).equals(table.astype(str))


@FEW
@given(heterodata(), st.data())
def test_dropped_statements_can_be_added_again(data: HeteroData, draw: st.DataObject) -> None:
    once = add_statements(
        HeteroData(data.datasets), [*data.links, *([data.comparisons] if data.comparisons else [])]
    ).data
    keys = statement_keys(once).tolist()
    if not keys:
        return
    chosen = draw.draw(st.lists(st.sampled_from(keys), unique=True))
    left = drop_statements(once, chosen)
    assert len(statement_keys(left)) == len(keys) - len(chosen)
    others = drop_statements(once, set(keys) - set(chosen))
    parts = [*others.links, *([others.comparisons] if others.comparisons else [])]
    met = add_statements(left, parts)
    assert len(met.added) == len(chosen)
    assert len(statement_keys(met.data)) == len(keys)


def test_statement_keys_escape_separators() -> None:
    names = ["x", "x|x", "x\\", "#2", "|"]
    data = HeteroData([Dataset(name, names) for name in names])
    links = [
        Links(a, b, [i], [j])
        for a in names
        for b in names
        for i in range(5)
        for j in range(5)
        if (a, i) != (b, j)
    ]
    keys = statement_keys(data.edit().add(*links))
    assert len(set(keys)) == len(links)
    assert not any("#" in key.replace("\\#", "") for key in keys)


def test_sets_are_excluded_and_renamed() -> None:
    data = HeteroData(
        [Dataset("x", list("abc"))],
        [Links("x", "x", [0, 1], [1, 2]), Links("x", "x", [0], [2], kind="said")],
        Comparisons([[0, 1, 2]]),
    )
    assert set_names(data).tolist() == ["link", "link", "said", "comparisons"]
    assert set_mask(data, "said").tolist() == [False, False, True, False]
    less = without_sets(data, {"link", "comparisons"})
    assert without_sets(data, frozenset({"comparisons", "link"})) is less
    assert [len(group) for group in less.links] == [1]
    assert less.comparisons is None
    assert without_sets(data, {"other"}) is data
    named = rename_set(data, "comparisons", "asked")
    assert set_names(named).tolist()[-1] == "asked"
    assert set_mask(named, "asked").tolist() == [False, False, False, True]
    assert np.array_equal(statement_keys(named), statement_keys(data))


def test_link_keys_of_few_links_match_all_keys() -> None:
    parts = [Dataset("a|b", ["x#", "y", "z"]), Dataset("c", ["u\\", "v"])]
    groups = [
        Links("a|b", "c", [0, 1, 0, 0], [0, 1, 0, 1], kind="k"),
        Links("c", "a|b", [0], [0], kind="k"),
        Links("a|b", "c", [1, 0], [1, 0], kind="k", role="relation"),
        Links("a|b", "a|b", [0, 1], [1, 2]),
    ]
    data = HeteroData(parts, groups)
    places = [(number, row) for number, links in enumerate(groups) for row in range(len(links))]
    result = link_keys_at(data, places)
    assert result == statement_keys(data).tolist() == statements(data)["key"].tolist()
    assert sum(key.endswith("#3") for key in result) == 1
    assert len(set(result)) == len(result)


def test_fingerprint_of_plain_and_other_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    def prints() -> list[str]:
        odd = ["it's", "a\\b", "é", "t\tb", '"']
        named = [[f"p {k}~!" for k in range(30)], [*odd, "x"], ["1", "2"]]
        return [HeteroData([Dataset("a", ids)]).fingerprint() for ids in named]

    slow = prints()
    monkeypatch.setattr(model, "_MIN_BATCH_ROWS", 0)
    assert prints() == slow
