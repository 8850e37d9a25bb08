"""Agreement of people on pairs, comparisons and labels."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import hetviz
from hetviz import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz.core.measures.agreement import nominal_alpha

ITEMS = Dataset("x", list("abcdefgh"))
OTHER_VIEW = Dataset("y", list("abcdefgh"), entity="x")


def links(who: str, *pairs: str, weight: float = 1.0) -> Links:
    i, j = ([ord(pair[k]) - ord("a") for pair in pairs] for k in range(2))
    meta = pd.DataFrame({"who": [who] * len(pairs)})
    return Links("x", "x", i, j, weight, kind="said", meta=meta)


def comparisons(**rows: list[list[int]]) -> Comparisons:
    who = [name for name, entries in rows.items() for _ in entries]
    objects = [row for entries in rows.values() for row in entries]
    return Comparisons(objects, meta=pd.DataFrame({"who": who}))


def test_agreement_on_pairs() -> None:
    data = HeteroData(
        [ITEMS],
        [
            links("Ada", "ab", "bc", "cd", "de"),
            links("Ada", "ef", "ah", weight=-1),
            links("Bob", "ba", "bc", "cd"),
            links("Bob", "de", "ef", weight=-0.5),
            # Without an author: not a judgement.
            links("", "ab", weight=-1),
            Links("x", "x", [0], [1], -1.0),
        ],
    )
    result = hetviz.agreement(data)
    assert result.people.to_numpy().tolist() == [["Ada", 6, 0, 0], ["Bob", 5, 0, 0]]
    (row,) = result.alpha.to_dict("records")
    expected = nominal_alpha([0, 1, 2, 3, 4] * 2, [1, 1, 1, 1, 0, 1, 1, 1, 0, 0]).alpha
    assert row["alpha"] == pytest.approx(expected)
    assert (row["units"], row["people"], row["disagreements"]) == (5, 2, 1)
    (difference,) = result.disagreements
    assert difference.rows == (3, 4)
    assert difference.judgements == {"Ada": "together", "Bob": "apart"}
    assert difference.keys == {"Ada": ("link|x|d|x|e|said",), "Bob": ("link|x|d|x|e|said#2",)}
    assert difference.sentence == "“d” and “e”. Ada: together. Bob: apart."
    assert difference.effect == "All weights add up to +0.5: together."
    assert "alpha 0.57, from 5 pairs judged by both people. They differ on 1." in str(result)
    json.dumps(result.to_dict(), allow_nan=False)


def test_sum_of_weights_includes_links_of_tables() -> None:
    table_link = Links("x", "x", [0], [1], -0.5)
    stated = [links("Ada", "ab"), links("Bob", "ab", weight=-1)]
    (difference,) = hetviz.agreement(HeteroData([ITEMS], [*stated, table_link])).disagreements
    assert difference.effect == "All weights add up to −0.5: apart."
    (difference,) = hetviz.agreement(HeteroData([ITEMS], stated)).disagreements
    assert difference.effect == "All weights add up to 0: neither together nor apart."


def test_two_views_of_an_item_are_one() -> None:
    meta = pd.DataFrame({"who": ["Bob"]})
    across = Links("x", "y", [0], [1], -1.0, kind="said", meta=meta)
    result = hetviz.agreement(HeteroData([ITEMS, OTHER_VIEW], [links("Ada", "ab"), across]))
    assert len(result.disagreements) == 1


def test_person_who_states_both_has_no_judgement() -> None:
    both = [links("Ada", "ab"), links("Ada", "ab", weight=-1), links("Bob", "ab")]
    result = hetviz.agreement(HeteroData([ITEMS], both))
    assert result.alpha.empty
    assert result.people["links"].tolist() == [2, 1]


def test_agreement_on_comparisons() -> None:
    # Of each triple, the pair in the middle is the nearer one for Ada.
    ada = [[0, 1, 2], [1, 2, 3], [4, 3, 2], [5, 6, 7], [0, 6, 7]]
    bob = [[0, 1, 2], [1, 2, 3], [4, 3, 2], [5, 6, 7], [0, 7, 6]]
    result = hetviz.agreement(HeteroData([ITEMS], comparisons=comparisons(Ada=ada, Bob=bob)))
    (row,) = result.alpha.to_dict("records")
    # 10 judgements, half of them expected on each side: 1 - (2 / 10) / (50 / 90).
    assert row["alpha"] == pytest.approx(1 - 0.2 * 90 / 50)
    (difference,) = result.disagreements
    assert difference.judgements == {
        "Ada": "“a” is closer to “g” than to “h”",
        "Bob": "“a” is closer to “h” than to “g”",
    }
    assert difference.rows == (0, 6, 7)


def test_agreement_on_labels() -> None:
    annotations = [("tree", "Ada"), ("bush", "Bob"), ("tree", "Cem")]
    label = Labels("x", "kind", [None] * 8).annotated(
        (row, value if row < 2 else "bush", who, "")
        for row in range(6)
        for value, who in annotations
    )
    result = hetviz.agreement(HeteroData([ITEMS], labels=[label]))
    (row,) = result.alpha.to_dict("records")
    unit = [row for row in range(6) for _ in range(3)]
    value = [0, 1, 0] * 2 + [1] * 12
    assert row["alpha"] == pytest.approx(nominal_alpha(unit, value).alpha)
    first = result.disagreements[0]
    assert first.sentence == "kind of “a”. Ada and Cem: “tree”. Bob: “bush”."
    assert first.effect == "The last label counts: “tree”."
    assert first.label == ("x", "kind", "a")
    limited = hetviz.agreement(HeteroData([ITEMS], labels=[label]), max_disagreements=1)
    assert len(limited.disagreements) == 1
    assert limited.alpha["disagreements"].tolist() == [2]


def test_agreement_without_people_or_common_units() -> None:
    nothing = hetviz.agreement(HeteroData([ITEMS]))
    assert str(nothing) == "No statement has an author."
    assert nothing.alpha.empty
    apart = hetviz.agreement(HeteroData([ITEMS], [links("Ada", "ab"), links("Bob", "cd")]))
    assert str(apart).splitlines()[-1] == "No two people judged the same pair, comparison or item."
    same = hetviz.agreement(
        HeteroData([ITEMS], [links(n, "ab", "bc", "cd", "de", "ef") for n in "AB"])
    )
    assert same.alpha["alpha"].isna().all()
    assert "all judgements are equal" in str(same)
