"""Upper bounds for the gain from more answers, compared with the standard error."""

from __future__ import annotations

import numpy as np
import pytest

from hetviz.data import Comparisons, Dataset, HeteroData, Links
from hetviz.features.spaces.learned_groups import GroupSummary
from hetviz.runs.ask.gain import gains_ahead
from tests.samples import with_labels


def linked_data(n: int, compared: int = 0) -> HeteroData:
    ids = [str(k) for k in range(max(n, compared + 2, 4))]
    links = [Links("a", "b", range(n), range(n))] if n else []
    rows = np.column_stack(
        [np.arange(compared), np.roll(np.arange(compared), 1), np.zeros(compared)]
    )
    rows = rows[2:].astype(int) if compared else np.empty((0, 3), int)
    comparisons = Comparisons(rows) if compared else None
    return HeteroData([Dataset(name, ids, np.eye(len(ids))) for name in "ab"], links, comparisons)


def learned_group(auc: float, n: int, *sure: float) -> GroupSummary:
    named = tuple(map(str, range(n)))
    asked = tuple((f"x{k}", certainty) for k, certainty in enumerate(sure))
    return GroupSummary("a", named, auc, 0.7, (), (), 0, to_ask=asked)


def test_gain_of_links_shrinks_with_their_number() -> None:
    few, many = (gains_ahead(linked_data(n), links_auc=0.8, answers=60)[0] for n in (20, 2_000))
    assert few.most == pytest.approx(0.2 * 60 / 80)
    assert few.error == pytest.approx(np.sqrt(0.16 / 20))
    assert few.worth
    assert many.error == pytest.approx(np.sqrt(0.16 / 400))
    assert many.most == pytest.approx(0.2 * 60 / 2_060)
    assert (gains_ahead(linked_data(0))[0].worth, many.worth) == (True, False)
    assert str(many).startswith(
        "60 more answers could raise how often a hidden link is found again by at most 0.0058"
    )


def test_gain_of_a_group_depends_on_certainty_of_open_items() -> None:
    data = linked_data(2_000)
    likely, unlikely = learned_group(0.9, 9, 0.6, 0.4), learned_group(0.9, 9, 0.02, 0.0)
    gain = gains_ahead(data, [likely])[0]
    assert gain.most == pytest.approx(0.1 * 30 / 39)
    assert gain.error == pytest.approx(0.1 / 3)
    assert gain.worth
    assert not gains_ahead(data, [unlikely])[0].worth
    # No item is left to ask about.
    assert [gain.what for gain in gains_ahead(data, [learned_group(0.9, 9)])] == ["links"]


def test_gains_ahead_separates_comparisons_from_links() -> None:
    assert [gain.what for gain in gains_ahead(linked_data(0, 30))] == ["comparisons"]
    assert [gain.what for gain in gains_ahead(linked_data(10, 30))] == ["links", "comparisons"]


def test_gain_of_labels_ends_with_a_full_column() -> None:
    data = with_labels(
        linked_data(200), "a", "my label 1", {str(k): "xy"[k % 2] for k in range(180)}
    )
    gain = gains_ahead(data, labels_right=0.8)[0]
    assert (gain.what, gain.answers) == ("labels", 20)
    assert gain.most == pytest.approx(0.2 * 20 / 200)
    assert gain.error == pytest.approx(np.sqrt(0.16 / 36))
    full = with_labels(data, "a", "my label 1", {str(k): "x" for k in range(180, 200)})
    assert [gain.what for gain in gains_ahead(full)] == ["links"]
