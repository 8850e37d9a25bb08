"""When to stop asking: how far the next answers would still move the map."""

from __future__ import annotations

from collections.abc import Sequence

AHEAD = 20
LEAST = 10


def stopping_hint(history: Sequence[tuple[int, float]]) -> str | None:
    """Say how much of the map more answers would move, going by what the last ones moved.

    Parameters
    ----------
    history : sequence of (int, float)
        For each map made again, the oldest first: how many answers were new to it, and the share
        of items that it moved noticeably (`hetviz.metrics.fit.moved`, more than 5 % of the width).

    Returns
    -------
    str or None
        A sentence; None before 10 answers have gone into maps: there is nothing to go by.

    Notes
    -----
    The rate of the latest maps that together took in 10 answers or more, times twenty. It takes
    later answers to move as much as these did, which is more than they mostly do: a hint to stop
    comes late rather than early.

    Examples
    --------
    >>> stopping_hint([(5, 0.2), (5, 0.004), (5, 0.0)])
    'Going by the last 10, twenty more answers would move under 1 % of the items.'
    """
    answers, share = 0, 0.0
    for number, moved in reversed(history):
        answers += number
        share += moved
        if answers >= LEAST:
            break
    if answers < LEAST:
        return None
    ahead = min(1.0, share * AHEAD / answers)
    much = "under 1 %" if ahead < 0.01 else f"about {ahead:.0%}".replace("%", " %")
    return f"Going by the last {answers}, twenty more answers would move {much} of the items."
