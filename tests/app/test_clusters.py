"""Tests of the Clusters page: search, number, rename, merge, split, guidance and undo."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from hetviz.core.clustering import partition_choice
from hetviz.ui.clusters import cards
from hetviz.workspace import OpenSample, State
from tests.app.conftest import Visit, go, html_of, workspace_of
from tests.app.evidence import check_all


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETVIZ_HOME", str(tmp_path))
    # Three numbers of clusters suffice for the page.
    monkeypatch.setattr("hetviz.runs.cluster.search.sizes_to_try", lambda n, method: [4, 6, 9])
    monkeypatch.setattr(partition_choice, "_N_SPLITS", 1)


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    assert not app.error
    return app


def state_of(app: AppTest) -> State:
    return workspace_of(app).state


def names_of(app: AppTest) -> tuple[str, ...]:
    found = state_of(app).clustering
    return () if found is None else found.names


def pick(app: AppTest, *numbers: int) -> AppTest:
    found = state_of(app).clustering
    assert found is not None
    for number in numbers:
        app.checkbox(key=f"pick-{cards.clustering_key(found)}-{number}").check()
    app.run()
    assert not app.exception
    return app


def find_clusters(visit: Visit) -> AppTest:
    app = visit("clusters")
    assert "Which areas does this map have?" in html_of(app)
    return press(app, "primary_find-clusters")


def test_clusters_are_found_and_described(visit: Visit) -> None:
    app = find_clusters(visit)
    names = names_of(app)
    assert len(names) in (4, 6, 9)
    text = html_of(app)
    assert f"The clearest of {len(names)} clusters: " in text
    assert "Found by k-means on the map itself" in text
    assert len([box for box in app.checkbox if str(box.key).startswith("pick-")]) == len(names)
    assert "emoji" in text and "keywords" in text and "hv-pictures" in text


def test_other_number_comes_from_trials(visit: Visit) -> None:
    app = find_clusters(visit)
    slider = app.select_slider[0]
    other = next(k for k in (4, 6, 9) if k != len(names_of(app)))
    slider.set_value(other).run()
    assert not app.exception
    assert len(names_of(app)) == other
    assert app.select_slider[0].value == other
    press(app, "undo")
    assert len(names_of(app)) != other


def test_rename_merge_split_and_undo(visit: Visit) -> None:
    app = find_clusters(visit)
    before = names_of(app)
    pick(app, 1)
    field = next(one for one in app.text_input if str(one.key).startswith("cluster-name-"))
    field.set_value("My own name").run()
    press(app, "rename-cluster")
    assert names_of(app)[0] == "My own name"
    pick(app, 1)
    press(app, "split")
    # Two parts by default.
    assert len(names_of(app)) == len(before) + 1
    assert "Edited by hand." in html_of(app)
    pick(app, 1, 2)
    press(app, "merge")
    merged = len(names_of(app))
    press(app, "undo")
    assert len(names_of(app)) == merged + 1
    press(app, "undo")
    assert names_of(app)[0] == "My own name"
    press(app, "undo")
    assert names_of(app) == before
    press(app, "undo")
    assert names_of(app) == ()
    assert "Which areas does this map have?" in html_of(app)


def test_cluster_becomes_guidance(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hetviz.ui.statements.actions.is_auto_refit", lambda: False)
    app = find_clusters(visit)
    data = state_of(app).data
    assert data is not None
    before = sum(map(len, data.links))
    pick(app, 2)
    press(app, "cluster-guidance")
    after = state_of(app).data
    assert after is not None
    said = [links for links in after.links if links.kind == "said"]
    assert 0 < sum(map(len, after.links)) - before <= 16 * 15 // 2
    assert all((links.weight == 1.0).all() for links in said)
    # The clusters still have the same items.
    assert state_of(app).clustering is not None
    press(app, "undo")
    assert sum(map(len, state_of(app).opened().links)) == before


def test_label_clusters_colour_the_map(visit: Visit) -> None:
    app = visit("start")
    workspace_of(app).do(OpenSample("digits"))
    go(app, "clusters")
    app.selectbox(key="clusters-by").set_value("label").run()
    press(app, "primary_label-clusters")
    assert names_of(app)[:2] == ("Digit 0", "Digit 1")
    assert "The values of “digit” as clusters." in html_of(app)
    press(app, "clusters-to-map")
    assert state_of(app).view.colour == "cluster"
    assert not app.exception


def test_empty_page_shows_next_step(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hetviz.ui.shell.session.FIRST_SAMPLE", "no such sample")
    assert "Nothing to map yet" in html_of(visit("clusters"))


def test_cluster_cards_open_their_rows(visit: Visit) -> None:
    check_all(find_clusters(visit), {"cluster", "cluster-label"})
