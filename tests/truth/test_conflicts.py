"""Conflicts of planted statements, known by construction."""

from __future__ import annotations

import numpy as np
import pytest

import hetviz
from hetviz import Dataset, HeteroData, Links


def votes(role: str, n_voters: int = 30, n_motions: int = 80) -> HeteroData:
    """Two blocs that vote yes and no, so that many no votes lie across chains of yes votes."""
    rng = np.random.default_rng(4)
    i, j = np.divmod(np.arange(n_voters * n_motions), n_motions)
    agrees = (i % 2 == j % 2) ^ (rng.random(len(i)) < 0.1)
    weight = np.where(agrees, 1.0, -1.0)
    datasets = [
        Dataset("voters", [f"v{k}" for k in range(n_voters)]),
        Dataset("motions", [f"m{k}" for k in range(n_motions)]),
    ]
    return HeteroData(datasets, [Links("voters", "motions", i, j, weight, kind="vote", role=role)])


@pytest.mark.parametrize("role", ["guidance", "relation"])
def test_votes_of_a_two_sided_table_do_not_conflict(role: str) -> None:
    assert hetviz.guidance_report(votes(role)).n_conflicts == 0


@pytest.mark.parametrize("role", ["guidance", "relation"])
def test_only_opposite_links_of_one_pair_conflict(role: str) -> None:
    data = votes(role)
    (given,) = data.links
    doubled = np.arange(0, len(given), 97)
    opposite = Links(
        "voters", "motions", given.i[doubled], given.j[doubled], -given.weight[doubled],
        kind="recount", role=role,
    )  # fmt: skip
    report = hetviz.guidance_report(data.edit().add(opposite))
    assert report.n_conflicts == len(doubled)
    assert {len(conflict.keys) for conflict in report.conflicts} == {2}


def test_chains_count_within_a_dataset() -> None:
    # Three chains of five items, of which the ends of the first two are apart.
    i = np.concatenate([np.arange(5 * c, 5 * c + 4) for c in range(3)])
    items = Dataset("items", [f"x{k}" for k in range(15)])
    together = Links("items", "items", i, i + 1, kind="synonym")
    apart = Links("items", "items", [0, 5, 4], [4, 9, 10], -1.0, kind="antonym")
    report = hetviz.guidance_report(HeteroData([items], [together, apart]))
    assert report.n_conflicts == 2
    assert sorted(len(conflict.keys) for conflict in report.conflicts) == [5, 5]


@pytest.mark.parametrize(("kind", "n_conflicts"), [("said", 1), ("tagged", 0)])
def test_chains_across_datasets_count_for_statements_only(kind: str, n_conflicts: int) -> None:
    words, pictures = Dataset("words", ["up", "down"]), Dataset("pictures", ["arrows"])
    links = [
        Links("pictures", "words", [0, 0], [0, 1], kind=kind),
        Links("words", "words", [0], [1], -1.0, kind="antonym"),
    ]
    report = hetviz.guidance_report(HeteroData([words, pictures], links))
    assert report.n_conflicts == n_conflicts
