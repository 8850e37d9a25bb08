"""Joins that are drawn, reversed, removed and undone in the drawing of the tables."""

from __future__ import annotations

import pandas as pd
import pytest

from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.join import Join
from hetviz.data.joins.proposals import Proposal, check_join
from hetviz.ui.reading import join_choice
from hetviz.ui.reading.join_choice import DrawnJoins, apply_act
from hetviz.ui.reading.join_map import _drawn_columns

TICK = "tick-door-one"
DRAW = {"do": "join", "source": "games", "column": "who", "target": "people", "other": ""}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> DrawnJoins:
    state = DrawnJoins()
    monkeypatch.setattr(join_choice, "state_of", lambda _: state)
    monkeypatch.setattr(join_choice.st, "session_state", {TICK: True})
    monkeypatch.setattr(join_choice, "_checked_join", check_join)
    return state


def games() -> tuple[HeteroData, dict[str, Proposal]]:
    table = pd.DataFrame({"who": ["ann", "bob", "cem", "ann"]})
    people = Dataset("people", ["ann", "bob", "cem"])
    data = HeteroData([people, Dataset("games", ["1", "2", "3", "4"], table=table)])
    return data, {TICK: check_join(data, Join("key", "games", "people", "who", "", loose=True))}


def test_drawn_join_is_added_and_undone(drawn: DrawnJoins) -> None:
    data, _ = games()
    apply_act(data, {}, DRAW)
    assert [(join.source, join.target) for join in drawn.joins] == [("games", "people")]
    apply_act(data, {}, {"do": "undo"})
    assert drawn.joins == ()


def test_join_is_left_out_reversed_and_undone(drawn: DrawnJoins) -> None:
    data, ticks = games()
    apply_act(data, ticks, {"do": "set", "key": TICK, "on": False})
    assert not join_choice.st.session_state[TICK]
    apply_act(data, ticks, {"do": "undo"})
    assert join_choice.st.session_state[TICK]
    apply_act(data, ticks, {"do": "reverse", "key": TICK})
    assert [(join.source, join.target_column) for join in drawn.joins] == [("people", "who")]
    assert not join_choice.st.session_state[TICK]


def test_end_of_a_join_is_changed_in_one_step(drawn: DrawnJoins) -> None:
    data, ticks = games()
    other = Dataset("friends", ["ann", "bob", "cem", "dan"])
    data = HeteroData([*data.datasets.values(), other])
    apply_act(data, ticks, {**DRAW, "target": "friends", "instead_of": TICK})
    assert [(join.source, join.target) for join in drawn.joins] == [("games", "friends")]
    assert not join_choice.st.session_state[TICK]
    apply_act(data, ticks, {"do": "undo"})
    assert drawn.joins == () and join_choice.st.session_state[TICK]


@pytest.mark.parametrize(
    "action", [None, {"do": "set", "key": "no", "on": True}, {**DRAW, "column": "gone"}]
)
def test_invalid_actions_change_nothing(drawn: DrawnJoins, action: object) -> None:
    data, ticks = games()
    apply_act(data, ticks, action)
    assert drawn == DrawnJoins()


def test_similar_words_are_drawn_between_titles() -> None:
    data = HeteroData(
        [
            Dataset(
                "shop", ["1", "2"], table=pd.DataFrame({"price": ["1", "2"], "name": ["a", "b"]})
            ),
            Dataset("store", ["3", "4"], table=pd.DataFrame({"words": ["a", "b"]})),
        ]
    )
    join = Join("words", "shop", "store")
    assert _drawn_columns(data, join, "shop", join.source_columns) == ["name"]
    assert _drawn_columns(data, join, "store", join.target_columns) == [""]
    by_key = Join("key", "shop", "shop", "price", "name")
    assert _drawn_columns(data, by_key, "shop", by_key.target_columns) == ["name"]
    assert _drawn_columns(data, by_key, "shop", by_key.source_columns) == ["price"]
