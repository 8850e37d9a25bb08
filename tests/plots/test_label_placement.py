"""Names of groups as they are drawn on maps."""

from __future__ import annotations

from hetviz.plots.label_placement import drawn_name


def test_long_name_of_two_parts_is_drawn_by_its_first() -> None:
    assert drawn_name("Western Europe") == "Western Europe"
    assert drawn_name("Germanic · Europe") == "Germanic · Europe"
    assert drawn_name("Germanic · Northern America") == "Germanic"
    assert drawn_name("Cross-domain matching analysis") == "Cross-domain matching…"
