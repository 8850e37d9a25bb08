"""Tests of the places of visitors."""

from __future__ import annotations

from hetviz.serve.visitors import KEEP_PLACE_S, Visitors


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_place_is_taken_with_the_page_and_kept_for_its_tabs() -> None:
    clock = Clock()
    visitors = Visitors(2, clock)
    assert visitors.admit("ada") and visitors.enter("ada") and visitors.enter("ada")
    assert visitors.admit("bob")
    assert not visitors.admit("cleo") and not visitors.enter("cleo")
    # Who is there opens further tabs.
    assert visitors.admit("ada") and visitors.enter("ada")
    # The page of Bob opened no tab.
    clock.now += KEEP_PLACE_S
    assert visitors.enter("cleo")
    assert not visitors.admit("bob")
    clock.now += 100 * KEEP_PLACE_S
    assert not visitors.admit("bob") and visitors.n_present == 2


def test_place_is_free_soon_after_the_last_tab() -> None:
    clock = Clock()
    visitors = Visitors(1, clock)
    for _ in range(2):
        assert visitors.enter("ada")
    visitors.leave("ada")
    clock.now += 2 * KEEP_PLACE_S
    assert not visitors.admit("bob")
    # A reload keeps the place.
    visitors.leave("ada")
    clock.now += KEEP_PLACE_S / 2
    assert not visitors.admit("bob") and visitors.enter("ada")
    visitors.leave("ada")
    clock.now += KEEP_PLACE_S
    assert visitors.admit("bob") and not visitors.enter("ada")


def test_any_number_of_visitors_without_a_limit() -> None:
    visitors = Visitors()
    assert all(visitors.enter(str(k)) for k in range(100))
    assert visitors.n_present == 100


def test_work_of_a_visitor_is_counted_while_there() -> None:
    clock = Clock()
    visitors = Visitors(1, clock)
    visitors.upload_bytes = lambda: {"ada": 7, "gone": 9}
    assert visitors.enter("ada")
    visitors.count_message("ada")
    visitors.count_job("ada", 1.5)
    visitors.count_job("ada", 2.0)
    assert not visitors.admit("bob")
    visitors.count_job("bob", 5.0)
    (visit,) = visitors.visits().values()
    assert (visit.tabs, visit.messages, visit.jobs, visit.job_seconds) == (1, 1, 2, 3.5)
    assert visit.upload_bytes == 7 and visitors.n_refused == 1
    visitors.leave("ada")
    clock.now += KEEP_PLACE_S
    assert visitors.visits() == {}
    # A returned visitor begins at zero.
    assert visitors.enter("ada") and visitors.visits()["ada"].jobs == 0
