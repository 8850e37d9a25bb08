"""Warnings about data, joins and maps, their actions and undo."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from hetviz.algorithms.registry import get_method
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.errors import DataError, Problem
from hetviz.ui.map import map_warnings
from hetviz.ui.map.map_warnings import MapWarning, WarningKind
from hetviz.ui.reading import join_choice
from hetviz.ui.shell import background
from hetviz.workspace import MapResult, SetTitle, State
from hetviz.workspace.commands.state import DisplaySettings
from tests.app.conftest import Visit, go, html_of, workspace_of
from tests.app.test_map_panel import press
from tests.app.test_pages import upload
from tests.cli.test_join import CITIES, SHOPS

N = 60
SIDE = json.dumps(["goods", "side"])
TOSS = json.dumps(["goods", "toss"])


def goods(linked: int = N, shops: int = 3, hub: int = 20) -> HeteroData:
    """Return goods, the first of which are linked with shops, `hub` of them with the first."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"side": np.repeat(["left", "right"], N // 2), "toss": rng.permutation(N) % 2}
    ).astype(str)
    ids = [f"g{k}" for k in range(N)]
    parts = [
        Dataset("goods", ids, rng.normal(size=(N, 3)), table=table),
        Dataset("shops", [f"s{k}" for k in range(shops)], np.eye(shops)),
    ]
    to = np.where(np.arange(linked) < hub, 0, 1 + np.arange(linked) % (shops - 1))
    return HeteroData(parts, [Links("goods", "shops", np.arange(linked), to)])


def shown(app: AppTest, data: HeteroData, page: str = "map", **more: object) -> AppTest:
    """Open data with a map on which the goods of one side lie together."""
    workspace = workspace_of(app)
    rng = np.random.default_rng(1)
    places = {name: 4 * rng.normal(size=(len(part), 2)) for name, part in data.datasets.items()}
    if "goods" in places:
        places["goods"] += np.repeat([[0.0, 0.0], [20.0, 0.0]], N // 2, axis=0)
    places |= more.pop("places", {})  # type: ignore[call-overload]
    components = more.pop("components", dict.fromkeys(places, 0))
    ids = {name: part.ids for name, part in data.datasets.items()}
    entity = {name: part.entity for name, part in data.datasets.items()}
    figures = {"scores": {}, "curves": {}, **more.pop("figures", {})}  # type: ignore[dict-item]
    run = MapResult(
        str(more.pop("fingerprint", data.fingerprint())),
        "pca",
        {},
        0,
        title="A map",
        embedding=Embedding(places, ids, entity, components=components),  # type: ignore[arg-type]
        figures=figures,
        id="r1",
    )
    assert set(more) <= {"colour"}
    view = DisplaySettings(colour=more.get("colour"))  # type: ignore[arg-type]
    workspace.state = State(title="Goods", data=data, runs=(run,), chosen="r1", view=view)
    app.run()
    return go(app, page)


def stale(app: AppTest, _: pytest.MonkeyPatch) -> AppTest:
    return shown(app, goods(), fingerprint="of other data")


def unjoined(app: AppTest, _: pytest.MonkeyPatch) -> AppTest:
    return shown(app, goods(), components={"goods": 0, "shops": 1})


def unlinked(app: AppTest, _: pytest.MonkeyPatch) -> AppTest:
    return shown(app, goods(linked=30, hub=10))


def crowded(app: AppTest, _: pytest.MonkeyPatch) -> AppTest:
    return shown(app, goods(hub=50))


def crowded_join(app: AppTest, _: pytest.MonkeyPatch) -> AppTest:
    rows = [f"s{k},Shop {k},Town {'A' if k < 60 else 'BCDEF'[k % 5]}\n" for k in range(80)]
    app = upload(app, towns_csv=CITIES, shops_csv="id,title,town\n" + "".join(rows))
    for box in app.checkbox:
        box.uncheck()
    return go(press(app.run(), "go-on"), "data")


def not_joined(app: AppTest, patch: pytest.MonkeyPatch) -> AppTest:
    def refuse(*_: object) -> HeteroData:
        raise DataError(Problem("too-many", "join tables", "there would be too many links"))

    patch.setattr(join_choice, "join_tables", refuse)
    return upload(app, towns_csv=CITIES, shops_csv=SHOPS)


def unplaced(app: AppTest, _: pytest.MonkeyPatch) -> AppTest:
    return shown(app, goods(), places={"shops": np.array([[0.0, 0.0], [1.0, 1.0], [np.nan] * 2])})


def enlarged(app: AppTest, _: pytest.MonkeyPatch) -> AppTest:
    return shown(app, goods(), places={"shops": 1e-3 * np.eye(3)[:, :2]})


def weak_colour(app: AppTest, _: pytest.MonkeyPatch) -> AppTest:
    return shown(app, goods(), colour=TOSS, figures={"colour": SIDE})


NEIGHBOURS = {
    "method": "mr-sne",
    "title": "Neighbour map with links",
    "params": {},
    "score": 0.95,
    "chosen": 0.81,
    "kept": 0.08,
    "chosen_kept": 0.41,
    "offered": True,
}


def traded(app: AppTest, _: pytest.MonkeyPatch) -> AppTest:
    return shown(app, goods(), figures={"best_neighbours": NEIGHBOURS})


def note(app: AppTest, _: pytest.MonkeyPatch) -> AppTest:
    return shown(app, goods(), figures={"notes": ["Some goods are left off."]})


def unsettled(app: AppTest, _: pytest.MonkeyPatch) -> AppTest:
    said = ["It had not come to its end."]
    return shown(app, goods(), figures={"notes": said, "unsettled": said})


SCENES: dict[WarningKind, tuple[Callable[[AppTest, pytest.MonkeyPatch], AppTest], str, str]] = {
    "stale": (stale, "The data changed since this map was made.", "Make it again"),
    "unjoined": (unjoined, "Nothing connects goods and shops here", "Link them"),
    "unlinked": (unlinked, "30 of 60 goods have no links", "Leave 30 goods out"),
    "crowded": (crowded, "s0 (shops) alone has 50 of 60 links", "Remove its links"),
    "crowded-join": (crowded_join, "(towns) alone has 60 of 80 links", "Link all others"),
    "not-joined": (not_joined, "there would be too many links", "Clear all ticks"),
    "unplaced": (unplaced, "1 item has no position on this map.", "Select them"),
    "enlarged": (enlarged, "Shops is drawn", "Try another method"),
    "poor-colour": (
        weak_colour,
        "“Toss of goods” does not match this map",
        "Colour by “Side of goods”",
    ),
    "better-neighbours": (
        traded,
        "found 41 % of the hidden links again. The other one found 8 %.",
        "Make that map",
    ),
    "note": (note, "Some goods are left off.", "See the data"),
    "unsettled": (unsettled, "It had not come to its end.", "Try another method"),
}


def test_all_warning_kinds_are_tested() -> None:
    assert set(SCENES) == set(get_args(WarningKind))
    with pytest.raises(ValueError, match="either an action or a page"):
        MapWarning("note", "Something is amiss.", "Look")
    with pytest.raises(ValueError, match="either an action or a page"):
        MapWarning("note", "Something is amiss.", "Look", print, "data")


@pytest.mark.parametrize("kind", get_args(WarningKind))
def test_warning_action_runs_and_can_be_undone(
    kind: WarningKind, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene, words, label = SCENES[kind]
    app = scene(visit(), monkeypatch)
    assert not app.exception
    assert words in html_of(app)
    acts = [button for button in app.button if str(button.key).startswith(f"mend-{kind}")]
    acts = [one for one in acts if not str(one.key).startswith(f"mend-{kind}-join")]
    links = [one.proto for one in app.get("page_link")]
    if not acts:
        (link,) = [one for one in links if one.label == label and "mend" not in one.label]
        assert link.page
        return
    (act,) = acts
    assert act.label.replace("\\", "").startswith(label)
    workspace = workspace_of(app)
    before = workspace.state
    made: list[object] = []
    monkeypatch.setattr(background, "refit", lambda state, **_: bool(made.append(state) or True))
    monkeypatch.setattr(background, "make_map", lambda *how: made.append(how))
    act.click().run()
    assert not app.exception
    assert not app.error
    if kind in ("stale", "not-joined", "unplaced", "poor-colour", "better-neighbours"):
        # These actions do not change the data.
        picked = workspace.view_state.selection.tolist()
        is_done = {
            "stale": len(made) == 1,
            "not-joined": not any(box.value for box in app.checkbox),
            "unplaced": picked == [N + 2],
            "poor-colour": workspace.state.view.colour == SIDE,
            "better-neighbours": made == [("mr-sne", "Neighbour map with links", {}, 0, 0.0)],
        }
        assert is_done[kind]
        assert workspace.state.data is before.data
        return
    if kind == "crowded-join":
        # The rest is proposed again with its warning.
        assert [len(links) for links in workspace.state.opened().links] == [20]
    else:
        assert words not in html_of(app)
    workspace.undo()
    assert workspace.state.opened().fingerprint() == before.opened().fingerprint()
    assert words in html_of(app.run())


def test_better_neighbours_warning_makes_or_shows_map(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = traded(visit(), monkeypatch)
    workspace = workspace_of(app)
    state = workspace.state
    (run,) = state.runs

    def warnings_with(**other: object) -> list[MapWarning]:
        figures = {"best_neighbours": {**NEIGHBOURS, **other}}
        return [
            one
            for one in map_warnings.map_warnings(state, run, figures)
            if one.kind == "better-neighbours"
        ]

    assert warnings_with()
    assert not warnings_with(offered=False)
    # Maps of earlier versions lack the field.
    old = {"best_neighbours": {"title": "Neighbour map with links", "score": 0.95}}
    assert not [
        one for one in map_warnings.map_warnings(state, run, old) if one.kind == "better-neighbours"
    ]
    (bare,) = warnings_with(kept=None, chosen_kept=None)
    assert "hidden links" not in bare.text
    # An existing map is shown and not made again.
    # A made map has all parameters, the tried one only those that were changed.
    defaults = {name: param.default for name, param in get_method("mr-sne").params.items()}
    other = replace(
        run, id="r2", method="mr-sne", title="Neighbour map with links", params=defaults
    )
    workspace.state = replace(state, runs=(run, other), chosen="r1")
    app.run()
    (act,) = [one for one in app.button if str(one.key).startswith("mend-better-neighbours")]
    assert act.label == "Show that map"
    act.click().run()
    assert workspace.state.chosen == "r2"


def test_headline_names_best_colour_then_counts(visit: Visit) -> None:
    html = html_of(shown(visit(), goods(), page="start", figures={"colour": SIDE}))
    assert "<h1>Neighbours on this map are similar in “Side of goods”</h1>" in html
    assert "60 goods and 3 shops on one map. 60 links pull items together." in html
    # The best colour is unknown or its column was removed.
    gone = json.dumps(["goods", "gone"])
    for figures in ({}, {"colour": gone}):
        html = html_of(shown(visit(), goods(), page="start", figures=figures))
        assert "<h1>60 goods and 3 shops on one map</h1>" in html


def test_unplaced_items_are_reported_once(visit: Visit) -> None:
    data = goods(linked=30, hub=10)
    bare = data["goods"].ids
    data = HeteroData([Dataset("goods", bare), data["shops"]], data.links)
    off = np.arange(2 * N, dtype=float).reshape(N, 2)
    off[30:] = np.nan
    said = ["30 of goods have no features and no links, so they are left off the map."]
    app = shown(visit(), data, places={"goods": off}, figures={"notes": said})
    assert "30 of 60 goods have no links and cannot be placed" in html_of(app)
    assert "items have no position" not in html_of(app)
    assert said[0] not in html_of(app)


def test_unlinked_dataset_can_be_removed(visit: Visit) -> None:
    data = goods()
    data = data.edit().add(Dataset("parks", ["p", "q"], np.eye(2)))
    app = shown(visit(), data, page="data")
    assert "2 of 2 parks have no links" in html_of(app)
    (act,) = [one for one in app.button if str(one.key).startswith("mend-unlinked-parks")]
    assert act.label.replace("\\", "") == "Leave parks out"
    act.click().run()
    assert list(workspace_of(app).state.opened().datasets) == ["goods", "shops"]


def test_stale_map_of_unknown_method_chooses_method(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr(background, "refit", lambda state, **_: False)
    monkeypatch.setattr(background, "make_first_map", lambda: started.append("first"))
    app = stale(visit(), monkeypatch)
    press(app, "mend-stale")
    assert started == ["first"]
    # The warning is hidden while a map is made.
    monkeypatch.setattr(background, "running_job", lambda: SimpleNamespace(seq=0))
    state = workspace_of(app).state
    assert state.run is not None
    assert not [
        one for one in map_warnings.map_warnings(state, state.run, {}) if one.kind == "stale"
    ]


def test_unmappable_data_shows_links_to_pages(visit: Visit) -> None:
    app = visit()
    same = HeteroData([Dataset("same", list("abcdef"))])
    workspace_of(app).do(SetTitle("Same"))
    workspace_of(app).state = replace(workspace_of(app).state, data=same, runs=(), chosen=None)
    go(app.run(), "map")
    assert "cannot be mapped yet" in html_of(app)
    labels = [one.proto.label for one in app.get("page_link")]
    assert {"Add a file", "Open other data"} <= set(labels)
