from __future__ import annotations

import json

import hetviz
from hetviz import Comparisons, Dataset, HeteroData
from tests.samples import sample

IDS = ["a", "b", "c", "d"]


def data_with_comparisons(rows: list) -> HeteroData:
    first = Dataset("first", IDS, [[0.0], [1.0], [2.0], [3.0]], entity="thing")
    second = Dataset("second", IDS, entity="thing")
    return HeteroData([first, second], [], Comparisons(rows) if rows else None)


def test_opposite_comparisons_across_views_are_found() -> None:
    # Rows 4 to 7 are the same objects as rows 0 to 3.
    report = hetviz.guidance_report(
        data_with_comparisons([[0, 1, 2], [4, 6, 5], [0, 1, 3], [0, 3, 3]])
    )
    assert report.comparisons is not None
    assert report.rows["stage"].tolist() == ["contradicted", "contradicted", "kept", "impossible"]
    (conflict,) = report.comparisons.conflicts
    assert conflict.rows == ((0,), (1,))
    assert report.rows["near_b"].tolist()[:2] == ["first: b", "second: c"]
    assert report.missing == ()
    assert [conflict.kind for conflict in report.conflicts] == ["comparisons"]
    assert json.loads(json.dumps(report.to_dict()))["comparisons"]["n_conflicts"] == 1


def test_report_without_guidance() -> None:
    report = hetviz.guidance_report(data_with_comparisons([]))
    assert report.comparisons is None
    assert report.rows.empty
    assert "There are no comparisons." in str(report)
    assert "There are no contradictions." in str(report)
    json.dumps(report.to_dict())


def test_sample_comparisons_are_consistent() -> None:
    report = hetviz.guidance_report(sample("emoji"))
    assert report.comparisons is not None
    assert len(report.comparisons.fate) == 399
    assert report.comparisons.n_conflicts == 0
