"""Conflicts of statements and their fixes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hetviz
from hetviz import Comparisons, Dataset, HeteroData, Links
from hetviz.metrics.conflicts.conflicts import find_new_conflicts
from hetviz.metrics.conflicts.guidance_report import coverage
from hetviz.workspace import State, from_dict
from hetviz.workspace.commands.command import Context
from hetviz.workspace.store.blobs import BlobStore


def kin(weights: list[float], role: str = "guidance") -> HeteroData:
    """Oak-kite, kite-ash and oak-ash with the given weights, and a second view of the plants."""
    plants = Dataset("plants", ["oak", "ash"], [[0.0], [1.0]], entity="plant")
    leaves = Dataset("leaves", ["oak", "ash"], [[0.0], [1.0]], entity="plant")
    birds = Dataset("birds", ["kite"])
    links = [
        Links("plants", "birds", [0], [0], [weights[0]], kind="said", role=role),
        Links("leaves", "birds", [1], [0], [weights[1]], kind="said"),
        Links("plants", "plants", [0], [1], [weights[2]], kind="said"),
    ]
    return HeteroData([plants, leaves, birds], links)


def after(data: HeteroData, command: dict[str, Any], blobs: BlobStore) -> HeteroData:
    return from_dict(command).apply(State(data=data), Context(blobs)).opened()


def test_chain_conflict_and_its_fixes(tmp_path: Path) -> None:
    data = kin([1, 0.5, -1])
    report = hetviz.guidance_report(data)
    (conflict,) = report.conflicts
    assert report.n_conflicts == 1
    assert conflict.keys == (
        "link|plants|oak|plants|ash|said",
        "link|plants|oak|birds|kite|said",
        "link|leaves|ash|birds|kite|said",
    )
    assert conflict.sentence == (
        "“oak” and “ash” are linked as apart, but also as together through “kite”."
    )
    assert "1 contradiction:" in str(report)
    ended = {
        words: hetviz.guidance_report(after(data, command, BlobStore(tmp_path))).n_conflicts == 0
        for words, command in conflict.fixes
    }
    assert ended == {
        "Remove “oak is not like ash”": True,
        "Remove “ash is like kite”": True,
        "Remove “oak is like kite”": True,
        "Change to “oak is like ash”": True,
        "Reduce the weight of “ash is like kite” to a quarter": False,
    }


@pytest.mark.parametrize("weights", [[1, 1, 1], [1, -1, -1], [-1, -1, -1]])
def test_consistent_links_have_no_conflict(weights: list[float]) -> None:
    assert hetviz.guidance_report(kin(weights)).conflicts == ()


def test_observed_links_conflict_only_directly() -> None:
    assert hetviz.guidance_report(kin([1, 1, -1], role="relation")).n_conflicts == 0
    data = kin([1, -1, 1], role="relation")
    opposed = data.edit().add(Links("plants", "birds", [0], [0], [-0.5], kind="said"))
    (conflict,) = hetviz.guidance_report(opposed).conflicts
    assert len(conflict.keys) == 2


def test_negative_link_of_one_object_is_a_conflict() -> None:
    data = kin([1, 1, 1]).edit().add(Links("plants", "leaves", [0], [0], [-1.0]))
    (conflict,) = hetviz.guidance_report(data).conflicts
    assert conflict.keys == ("link|plants|oak|leaves|oak|link",)
    assert "are the same item" in conflict.sentence


def test_duplicate_links_and_their_fix(tmp_path: Path) -> None:
    data = kin([1, 1, 1]).edit().add(Links("plants", "plants", [1, 0], [0, 1], kind="said"))
    report = hetviz.guidance_report(data)
    first = "link|plants|oak|plants|ash|said"
    assert report.repeated == ((first, "link|plants|ash|plants|oak|said", f"{first}#2"),)
    fixed = after(data, report.repeated_fix, BlobStore(tmp_path))
    assert first in set(hetviz.statements(fixed)["key"])
    assert hetviz.guidance_report(fixed).repeated == ()


def test_comparison_cycle_and_its_fixes(tmp_path: Path) -> None:
    items = Dataset("x", list("abcd"))
    comparisons = Comparisons([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 2, 3]], [1, 2, 3, 1])
    data = HeteroData([items], [], comparisons)
    report = hetviz.guidance_report(data)
    (conflict,) = report.conflicts
    assert sorted(conflict.keys) == [
        "comparison|x|a|x|b|x|c",
        "comparison|x|a|x|c|x|d",
        "comparison|x|a|x|d|x|b",
    ]
    assert "“a” is closer to “b” than to “c”" in conflict.sentence
    blobs = BlobStore(tmp_path)
    for words, command in conflict.fixes:
        ends = hetviz.guidance_report(after(data, command, blobs)).n_conflicts == 0
        assert ends == (not words.startswith("Reduce the weight")), words
    assert json.loads(json.dumps(report.to_dict()))["conflicts"][0]["kind"] == "comparisons"


def test_find_new_conflicts_of_links() -> None:
    data = kin([1, 1, 1])
    assert find_new_conflicts(data, Links("plants", "birds", [1], [0], [0.5])) == []
    (chain,) = find_new_conflicts(data, Links("leaves", "leaves", [0], [1], [-1]))
    assert len(chain.keys) == 2
    (chain,) = find_new_conflicts(kin([1, -1, 1]), Links("plants", "birds", [1], [0], [1]))
    assert len(chain.keys) == 2
    # Existing conflicts are not reported.
    assert find_new_conflicts(kin([1, 1, -1]), Links("plants", "plants", [1], [0], [-0.5])) != []
    assert (
        find_new_conflicts(
            kin([1, 1, -1]).edit().add(Dataset("other", ["p", "q"])),
            Links("other", "other", [0], [1], [-1]),
        )
        == []
    )


def test_find_new_conflicts_of_comparisons() -> None:
    items = Dataset("x", list("abcd"))
    data = HeteroData([items], [], Comparisons([[0, 1, 2], [0, 2, 3]]))
    assert find_new_conflicts(data, Comparisons([[0, 1, 3]])) == []
    (circle,) = find_new_conflicts(data, Comparisons([[0, 3, 1]]))
    assert len(circle.keys) == 3


def test_coverage_counts_items_and_finds_the_hub() -> None:
    data = kin([1, 1, -1])
    rows = coverage(data).set_index(["source", "target"])
    assert rows.loc[("plants", "plants"), ["together", "apart", "source_linked"]].tolist() == [
        0, 1, 2,
    ]  # fmt: skip
    assert rows.loc[("plants", "leaves"), ["together", "hub_links", "hub_id"]].tolist() == [
        0,
        0,
        "",
    ]
    reached = rows.loc[("leaves", "birds")]
    assert (reached["source_linked"], reached["source_items"], reached["target_linked"]) == (
        1,
        2,
        1,
    )
    assert len(rows) == 4
