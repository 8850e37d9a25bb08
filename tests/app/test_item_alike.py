"""Items most alike to an item, next to its nearest items on the map."""

from __future__ import annotations

import re

import numpy as np
import pytest

import hetviz
from hetviz import Dataset, Embedding, HeteroData, Links
from hetviz._text import round_percent
from hetviz.metrics.trust.alike import AlikeItems
from hetviz.ui.item import item_alike
from tests.app.conftest import Visit, html_of, workspace_of


def lists_of(data: HeteroData, places: np.ndarray, row: int, nearest: list[int]):
    name = next(iter(data.datasets))
    embedding = Embedding({name: places}, {name: data[name].ids})
    return item_alike._make_lists(AlikeItems(data), embedding, row, nearest)


def test_panel_lists_alike_items_with_scores_and_marks(visit: Visit) -> None:
    app = visit("map")
    state = workspace_of(app).state
    data, run = state.opened(), state.run
    assert run is not None
    row = data["emoji"].position("1f408")
    workspace_of(app).set_view_state(selection=[row])
    app.run()
    assert not app.exception
    text = html_of(app)
    frames = {
        way: hetviz.most_alike(data, "1f408", way, embedding=run.embedding)
        for way in ("links", "features", "map")
    }
    for way in ("links", "features"):
        assert f"<span>Most alike by {way}</span>" in text
        section = text.split(f"Most alike by {way}")[1].split("hv-section-head")[0]
        section = section.split("</div>", 1)[1]
        rows = [int(other) for other in re.findall(r'data-hv-row="(\d+)"', section)]
        assert data["emoji"].ids[rows].tolist() == frames[way]["id"].tolist()
        shares = re.findall(r"<small>([\d.]+ %)", section)
        shown = frames[way]["score"].to_numpy()
        if way == "features":
            shown = AlikeItems(data).share_less_alike("emoji", shown)
        assert shares == [round_percent(share) for share in shown]
        is_far = (frames[way]["closer"] >= 0.05 * 1272).tolist()
        assert ["<small>far away</small>" in cell for cell in section.split("<li")[1:]] == is_far
    nearest = text.split("<span>Nearest emoji</span>")[1].split("hv-section-head")[0]
    marked = re.findall(r'<li class="weak" title="([^"]*): not linked', nearest)
    frame = frames["map"]
    listed = frame.head(nearest.count("<li"))
    assert marked == listed["title"][~listed["supported"]].tolist()
    assert nearest.count("<em>not similar</em>") == len(marked)


def test_unsupported_neighbours_are_marked() -> None:
    X = np.repeat([[0.0], [1.0]], 12, axis=0) + np.linspace(0, 0.01, 24)[:, None]
    data = HeteroData([Dataset("a", [f"a{k}" for k in range(24)], X)])
    found = lists_of(data, np.arange(24.0)[:, None] % 13, 0, [13, 1, 14, 2])
    assert found.unsupported.keys() == {13, 14}
    (by_features,) = found.lists
    assert by_features.way == "features"
    assert by_features.rows == list(range(1, 9))
    # Closer than the sixth are the five before it and six of the other group.
    assert by_features.far == {6, 7, 8}


def test_equally_alike_items_are_listed_together_or_counted() -> None:
    # The first item is like 3 others, and less like 9 others.
    X = np.array([[0.0]] * 4 + [[1.0]] * 9 + [[5.0]])
    data = HeteroData([Dataset("a", [f"a{k}" for k in range(14)], X)])
    (found,) = lists_of(data, np.zeros((14, 2)), 0, []).lists
    assert (found.rows, found.scores, found.n_tied) == ([1, 2, 3], [1.0] * 3, 9)
    # Of the 91 pairs 42 are alike, so all but 9 of these are among the most alike.
    assert found.shares == pytest.approx([1.0 - 42 / 91] * 3)
    assert found.tied_share == pytest.approx((91 - 42 - 36) / 91)
    # Of the most alike items at least some are listed.
    (found,) = lists_of(data, np.zeros((14, 2)), 4, []).lists
    assert (found.rows, found.n_tied, found.tied_share) == ([*range(5, 13)], 0, 1.0 - 42 / 91)
    X = np.array([[0.0]] * 12 + [[1.0]])
    data = HeteroData([Dataset("a", [f"a{k}" for k in range(13)], X)])
    (found,) = lists_of(data, np.zeros((13, 2)), 0, []).lists
    assert (found.rows, found.n_tied, found.tied_share) == ([*range(1, 9)], 3, 1.0 - 66 / 78)


def test_far_items_are_named() -> None:
    links = Links("a", "a", [0] * 3 + [29] * 3, [5, 6, 7] * 2)
    data = HeteroData([Dataset("a", [f"a{k}" for k in range(30)])], links)
    (found,) = lists_of(data, np.arange(30.0)[:, None], 0, [1, 2]).lists
    assert (found.way, found.rows, found.scores, found.far) == ("links", [29], [1.0], {29})


def test_unrelated_items_of_other_datasets_are_marked() -> None:
    # Each of a0 to a3 is linked with two of b0 to b3; b4 and a4 with each other, b5 with nothing.
    links = Links("a", "b", [0, 0, 1, 1, 2, 2, 3, 3, 4], [0, 1, 0, 1, 2, 3, 2, 3, 4])
    names = {"a": 5, "b": 6}
    data = HeteroData(
        [Dataset(n, [f"{n}{k}" for k in range(size)]) for n, size in names.items()], links
    )
    near = list(range(5, 11))
    found = lists_of(data, np.arange(5.0)[:, None], 0, near)
    assert {other: mark for other, (mark, _) in found.unsupported.items()} == {
        7: "not related", 8: "not related", 9: "not related",
    }  # fmt: skip
