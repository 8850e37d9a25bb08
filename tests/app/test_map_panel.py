"""Tests of the map panel: items, groups, filters and the list of maps."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from hetviz.data import Filter
from hetviz.data.model.statements import statement_rows
from hetviz.data.queries.rows import links_touching
from hetviz.metrics.fit.nearest import comparison_closeness, link_closeness
from hetviz.plots.filter_text import filter_words
from hetviz.ui.map import filters
from hetviz.ui.map.new_map import MapForm
from hetviz.ui.map.panel_view import TABS, PanelView, note_tab
from hetviz.ui.shell import background
from hetviz.workspace import RenameRun, SetFilters, SetView, StarRun
from tests.app.asking import ask
from tests.app.conftest import Visit, go, html_of, page_of, unfold, workspace_of
from tests.workspace.helpers import record_map

HOSTILE = "<img src=x onerror=alert(1)> $x$ [l](j) 🦊 " + "long name " * 15
PLANTS = "id,name,kind,size,note\n" + "".join(
    f'p{k},"{HOSTILE if k == 3 else f"Oak {k}"}",{"<b>tree</b>" if k < 8 else "moss"},'
    f"{k * 7 % 11 + 0.5},{'' if k % 4 else 'old' if k % 8 else 'new'}\n"
    for k in range(20)
)
BIRDS = "id,name,span,mass\n" + "".join(
    f"b{k},Kite {k},{k * 3 % 7},{k * 4 % 9}\n" for k in range(9)
)
LINKS = "source_dataset,source_id,target_dataset,target_id,weight\n" + "".join(
    f"plants,p{k},birds,b{k % 9},{-1 if k == 5 else 1}\n" for k in range(20)
)


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    assert not app.error
    return app


def own(visit: Visit) -> AppTest:
    """Open hostile files on the Map page."""
    app = visit()
    given = {"plants.csv": PLANTS, "birds.csv": BIRDS, "links.csv": LINKS}
    app.file_uploader[0].set_value([(n, t.encode(), "text/csv") for n, t in given.items()]).run()
    return go(press(app, "go-on"), "map")


def chip(app: AppTest, key: str) -> str:
    """Return what a visitor reads on a button, whose label is escaped markdown."""
    return re.sub(r"\\(.)", r"\1", app.button(key=key).label)


def pick(app: AppTest, *rows: int) -> AppTest:
    workspace_of(app).set_view_state(selection=list(rows))
    app.run()
    assert not app.exception
    return app


def test_drawn_tabs_stay_ready_until_change(visit: Visit) -> None:
    app = visit("map")
    view = page_of(app).part(PanelView)
    workspace_of(app).set_view_state(selection=[1400])
    for tab in TABS:
        assert note_tab(view.token, tab)
        app.run()
        assert not app.exception
    assert set(view.drawn_states) == set(TABS)
    text = html_of(app)
    assert "hv-item-head" in text
    assert "hv-quick" in text
    assert note_tab(view.token, "Guidance")
    pick(app, 1)
    # The selection changes only the Item tab, which is not open.
    assert set(view.drawn_states) == {"Guidance", "Clusters", "Predict"}
    press(app, "ask-yes")
    assert set(view.drawn_states) == {"Guidance"}
    assert view.tab == "Guidance"


def test_tab_switch_needs_view_token(visit: Visit) -> None:
    view = page_of(visit("map")).part(PanelView)
    assert ask(f"/hv/tab/{view.token}/Clusters", method="POST").status == 204
    assert view.tab == "Clusters"
    assert ask(f"/hv/tab/{view.token}/Nothing", method="POST").status == 404
    assert ask("/hv/tab/another/Item", method="POST").status == 404
    assert view.tab == "Clusters"


def test_empty_selection_shows_hints_and_keys(visit: Visit) -> None:
    text = html_of(visit("map"))
    assert "Click an item to see what is close and linked." in text
    assert "<kbd>Esc</kbd>" in text


def test_item_panel_shows_columns_neighbours_and_links(visit: Visit) -> None:
    app = visit("map")
    data = workspace_of(app).state.opened()
    titles = data["emoji"].titles.tolist()
    text = html_of(pick(app, titles.index("birthday cake")))
    assert "<h2>birthday cake</h2>" in text
    assert "<span>Subgroup</span><b>Food sweet</b>" in text
    assert "<span>Nearest emoji</span><small>on the map<" in text
    assert "<span>Nearest keywords</span><small>on the map, outline: linked" in text
    assert '<li class="on" title="pastry">' in text
    # Every link by name with its rank. Links beyond the mark are not close.
    assert re.search(r"<span>Linked with</span><small>[3-6] of 7 close</small>", text)
    mark = re.search(
        r"The number of keywords that are closer. Up to the mark, (\d+) count as close.", text
    )
    assert mark
    ranks = [int(n) for n in re.findall(r"</u><b>([\d,]+)</b>", text)]
    assert len(ranks) == 7
    assert ranks == sorted(ranks)
    assert text.count("<li class=not>") == sum(rank >= int(mark[1]) for rank in ranks)
    assert "<p>emoji · Food drink</p>" in text


def test_neighbours_and_linked_items_can_be_selected(visit: Visit) -> None:
    app = pick(visit("map"), 0)
    press(app, "pick-near")
    assert len(workspace_of(app).view_state.selection) == 1 + 10 + 10
    press(app, "clear")
    assert len(workspace_of(app).view_state.selection) == 0
    press(pick(app, 1500), "pick-linked")
    rows = workspace_of(app).view_state.selection
    # The linked items without the item itself.
    assert 1500 not in rows
    assert (rows < 1273).sum() > 0


def test_item_panel_counts_guidance_the_map_follows(visit: Visit) -> None:
    app = visit("map")
    state = workspace_of(app).state
    data, run = state.opened(), state.run
    assert run is not None
    near = link_closeness(data, run.embedding)
    together = np.concatenate([links.weight for links in data.links]) > 0
    agrees = comparison_closeness(data, run.embedding) > 0.5
    right = np.concatenate([together == (near >= 0.95), agrees])
    # Comparisons are a person's, links of these tables are not.
    is_given = np.arange(len(right)) >= len(near)
    item = int(statement_rows(data)[np.flatnonzero(is_given & ~right)[0], 0])
    mine = (statement_rows(data) == item).any(axis=1) & is_given
    words = f"{(right & mine).sum()} of {mine.sum()} statement"
    assert f"Your guidance about it: {words}" in html_of(pick(app, item))


def test_group_panel_shows_counts_and_differences(visit: Visit) -> None:
    app = visit("map")
    data = workspace_of(app).state.opened()
    assert data["emoji"].table is not None
    food = (data["emoji"].table["group"] == "food-drink").to_numpy().nonzero()[0].tolist()
    text = html_of(pick(app, *food, 1300))
    assert f"<b>● {len(food)}</b> of 1,273 emoji" in text
    assert "<b>◆ 1</b> of 621 keywords" in text
    assert "<td>Group: Food drink</td><td>100 %</td><td>0 %</td>" in text
    assert "<span>Links to other items</span>" in text
    # Items of several datasets count on their own; one keyword has no item with two links.
    assert '<th scope="col">emoji: keywords</th>' in text
    of_food = html_of(pick(app, *food))
    assert "What they link to most" in of_food
    assert '<th scope="col">keywords</th>' in of_food
    assert text.count('<div title="') == 30


def test_only_these_adds_filter_and_can_be_undone(visit: Visit) -> None:
    app = press(pick(visit("map"), 0, 1, 1500), "only-these")
    state = workspace_of(app).state
    assert [(one.dataset, one.kind, len(one.values)) for one in state.filters] == [
        ("emoji", "rows", 2),
        ("keywords", "rows", 1),
    ]
    assert "Shown 3 of 1,894" in html_of(app)
    assert app.button(key="unfilter-rows").label.startswith("only 3 selected items")
    assert "A filter shows 3 of 1,894 items." in html_of(go(app, "start"))
    press(app, "undo")
    assert workspace_of(app).state.filters == ()


def test_selection_becomes_label_in_one_press(visit: Visit) -> None:
    app = press(pick(visit("map"), 0, 1, 2), "label-selection")
    app.text_input(key="label-value").set_value("first ones").run()
    press(app, "act-label")
    values = [one.values for one in workspace_of(app).state.opened().labels]
    (own_values,) = [one for one in values if "first ones" in one]
    assert np.flatnonzero(np.asarray(own_values) == "first ones").tolist() == [0, 1, 2]


def test_selections_become_clusters_named_by_their_filters(visit: Visit) -> None:
    app = visit("map")
    workspace = workspace_of(app)
    workspace.do(SetFilters([Filter("emoji", "group", values=("food-drink",))]))
    app = go(app, "map")
    food = np.flatnonzero(filters.shown_rows(workspace.state))[:130].tolist()
    press(pick(app, *food), "cluster-selection")
    workspace.do(SetFilters([]))
    press(pick(app, *food[:3]), "cluster-selection")
    clustering = workspace.state.clustering
    assert clustering is not None
    assert clustering.names == ("emoji: group is Food drink", "Selection")
    codes = clustering.of(workspace.state.opened())
    assert np.flatnonzero(codes == 1).tolist() == food[:3]
    assert np.flatnonzero(codes == 0).tolist() == food[3:]
    assert workspace.state.view.colour == "cluster"


def test_map_of_selection_places_only_selection(visit: Visit) -> None:
    app = own(visit)
    press(pick(app, *range(12), *range(20, 29)), "map-only-these")
    app.run()
    run = workspace_of(app).state.run
    assert run is not None
    assert run.only is not None
    assert run.only.tolist() == [*range(12), *range(20, 29)]
    assert run.embedding.n_unplaced == 8
    assert "no position on this map" in html_of(pick(app, 15))


def test_filter_by_values_is_added_and_removed(visit: Visit) -> None:
    app = visit("map")
    app.selectbox(key="filter-column-emoji").set_value("group").run()
    assert "class=hv-unmarked" not in html_of(app)
    app.multiselect(key="filter-emoji-group-values").set_value(["food-drink", "symbols"]).run()
    assert html_of(app).count("class=hv-unmarked") == 6
    press(app, "add-filter")
    (made,) = workspace_of(app).state.filters
    assert made == Filter("emoji", "group", values=("food-drink", "symbols"))
    assert "emoji: group is Food drink or Symbols" in chip(app, "unfilter-0")
    assert "Shown " in html_of(app)
    press(app, "unfilter-0")
    assert workspace_of(app).state.filters == ()
    assert "Shown " not in html_of(app)


def test_filters_by_number_and_by_text(visit: Visit) -> None:
    app = visit("map")
    app.selectbox(key="filter-column-emoji").set_value("n_keywords").run()
    assert app.button(key="add-filter").disabled
    assert "<u " not in html_of(app)
    app.slider(key="filter-emoji-n_keywords-range").set_range(4, 9).run()
    # From the fifth to the tenth of 15 bars.
    assert '<u style="left:26.7%;right:33.3%">' in html_of(app)
    ends = [app.number_input(key=f"filter-emoji-n_keywords-{label}") for label in ("From", "To")]
    assert [end.value for end in ends] == [4, 9]
    ends[1].set_value(2).run()
    assert "The upper end is below the lower one." in html_of(app)
    assert app.button(key="add-filter").disabled
    app.number_input(key="filter-emoji-n_keywords-To").set_value(99).run()
    assert app.slider(key="filter-emoji-n_keywords-range").value == (4, 14)
    app.number_input(key="filter-emoji-n_keywords-To").set_value(9).run()
    press(app, "add-filter")
    app.selectbox(key="filter-column-emoji").set_value("name").run()
    app.text_input(key="filter-emoji-name-text").set_value("FACE").run()
    press(app, "add-filter")
    first, second = workspace_of(app).state.filters
    assert (first.kind, first.low, first.high) == ("range", 4, 9)
    assert (second.kind, second.text) == ("text", "FACE")
    assert "emoji: number of keywords from 4 to 9" in chip(app, "unfilter-0")
    press(app, "unfilter")
    assert workspace_of(app).state.filters == ()


def test_filter_by_days_counts_both_ends(visit: Visit) -> None:
    app = visit()
    sent = "id,sent,pages\n" + "".join(
        f"l{k},1997-{1 + k // 28:02d}-{1 + k % 28:02d},{k % 7}\n" for k in range(84)
    )
    app.file_uploader[0].set_value([("letters.csv", sent.encode(), "text/csv")]).run()
    app = go(press(app, "go-on"), "map")
    app.selectbox(key="filter-column-letters").set_value("sent").run()
    assert app.button(key="add-filter").disabled
    app.date_input(key="filter-letters-sent-From").set_value(date(1997, 2, 1)).run()
    app.date_input(key="filter-letters-sent-To").set_value(date(1997, 1, 1)).run()
    assert "The last day is before the first." in html_of(app)
    assert app.button(key="add-filter").disabled
    # The press leaves the field, so both arrive together.
    app.date_input(key="filter-letters-sent-To").set_value(date(1997, 2, 10)).run()
    press(app, "add-filter")
    assert "Shown 10 of 84" in html_of(app)
    assert "sent from 1997-02-01 to 1997-02-10" in chip(app, "unfilter-0")


def test_filter_finds_missing_values(visit: Visit) -> None:
    app = own(visit)
    app.selectbox(key="filter-dataset").set_value("plants").run()
    app.selectbox(key="filter-column-plants").set_value("note").run()
    assert "20 items, 15 without a value" in html_of(app)
    app.checkbox(key="filter-plants-note-missing").check().run()
    press(app, "add-filter")
    assert "Shown 24 of 29" in html_of(app)
    assert "plants: note is missing" in chip(app, "unfilter-0")


def test_filter_form_begins_with_the_column_of_the_colours(visit: Visit) -> None:
    app = visit("map")
    assert app.selectbox(key="filter-column-emoji").value == "group"
    workspace_of(app).do(SetView(colour='["keywords", "purity"]'))
    app.run()
    assert app.selectbox(key="filter-dataset").value == "keywords"
    assert app.selectbox(key="filter-column-keywords").value == "purity"
    # Other columns can be chosen.
    app.selectbox(key="filter-dataset").set_value("emoji").run()
    app.selectbox(key="filter-column-emoji").set_value("version").run()
    assert app.selectbox(key="filter-column-emoji").value == "version"


def test_filter_texts(visit: Visit) -> None:
    data = workspace_of(visit()).state.opened()
    said = {
        filter_words(data, Filter("emoji", "version", "range", low=2.0)): "version at least 2",
        filter_words(data, Filter("emoji", "version", "range", high=0.7)): "version at most 0.7",
        filter_words(data, Filter("emoji", "version", "range")): "version has a value",
        filter_words(data, Filter("emoji", "group", values=("a", "b", "c", "d"))): (
            "group is A, B or 2 more"
        ),
        filter_words(data, Filter("emoji", "name", "text", text="x", missing=True)): (
            "name contains “x”, or missing"
        ),
        filter_words(data, Filter("emoji", "unitsInStock", "text", text="x")): (
            "unitsInStock contains “x”"
        ),
    }
    assert list(said) == [f"emoji: {words}" for words in said.values()]


def with_runs(app: AppTest, number: int) -> AppTest:
    workspace = workspace_of(app)
    state = workspace.state
    assert state.run is not None
    for k in range(number):
        workspace.do(
            record_map(
                workspace,
                state.run.embedding,
                fingerprint=state.opened().fingerprint(),
                method="guided-projection",
                params={"kernel": "rbf", "gamma": 0.1},
                seed=k,
                weights={"emoji|keywords|tagged": 0.5, "keywords|keywords|antonym": 0.0},
                hold_out=0.2,
                title=f"Map {k}",
                figures={"scores": {"guidance_area": 0.8}, "curves": {}},
            )
        )
    app.run()
    assert not app.exception
    return app


def test_map_list_works_with_thirty_maps(visit: Visit) -> None:
    app = with_runs(visit("map"), 30)
    workspace_of(app).do(StarRun("4", True))
    unfold(app, "maker-0")
    shows = [button.key for button in app.button if str(button.key).startswith("show-")]
    assert shows[:3] == ["show-4", "show-30", "show-29"]
    assert shows[-1] == "show-shipped"
    assert app.button(key="show-30").disabled
    text = html_of(app)
    assert "compare items by: a Gaussian kernel (curved maps)" in text
    assert "20 % of the links hidden" in text
    assert "tagged, emoji – keywords × 0.5" in text
    assert "without antonym, within keywords" in text
    assert "seed 7" in text


def test_map_is_chosen_renamed_starred_and_removed(visit: Visit) -> None:
    app = unfold(with_runs(visit("map"), 2), "maker-0")
    press(app, "show-1")
    assert workspace_of(app).state.chosen == "1"
    app.text_input(key="map-name-1-Map 0").set_value(HOSTILE[:80]).run()
    assert not app.exception
    press(app, "star-1")
    run = workspace_of(app).state.run
    assert run is not None
    assert (run.title, run.starred) == (" ".join(HOSTILE[:80].split()), True)
    press(app, "drop-1")
    assert [run.id for run in workspace_of(app).state.runs] == ["shipped", "2"]
    press(app, "undo")
    assert len(workspace_of(app).state.runs) == 3


def test_empty_map_name_is_refused(visit: Visit) -> None:
    app = unfold(with_runs(visit("map"), 1), "maker-0")
    app.text_input(key="map-name-1-Map 0").set_value(" ").run()
    assert not app.exception
    assert "name of the map" in app.error[0].value
    assert workspace_of(app).state.runs[-1].title == "Map 0"


def test_link_weights_are_used_and_listed(visit: Visit) -> None:
    app = unfold(own(visit), "maker-0", "map-weights")
    app.slider(key="weigh-plants|birds|link").set_value(0.5).run()
    press(app, "run")
    app.run()
    run = workspace_of(app).state.run
    assert run is not None
    assert run.weights == {"plants|birds|link": 0.5}
    assert "link, plants – birds × 0.5" in html_of(app)


def test_hostile_names_are_escaped(visit: Visit) -> None:
    app = own(visit)
    workspace_of(app).do(RenameRun("1", "<script>alert(1)</script>"))
    workspace_of(app).do(SetFilters([Filter("plants", "kind", values=("<b>tree</b>",))]))
    for rows in ([3], range(8), []):
        text = html_of(pick(app, *rows))
        for bad in ("<img src=x", "<b>tree</b>", "<script>"):
            assert bad not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in html_of(pick(app, 3))
    assert "<b>" not in app.button(key="unfilter-0").label
    assert "kind is <b>tree</b>" in chip(app, "unfilter-0")


def test_dataset_weights_are_shown_if_supported(visit: Visit) -> None:
    app = unfold(own(visit), "maker-0", "map-weights")
    app.selectbox(key="method").set_value("coca").run()
    assert not app.exception
    how = app.selectbox(key="weigh-coca-how")
    assert how.value == "equal"
    how.set_value("set by hand").run()
    app.slider(key="weigh-coca-1-birds").set_value(0.5).run()
    assert page_of(app).part(MapForm).recipe["params"]["weights"] == {"plants": 1.0, "birds": 0.5}
    app.selectbox(key="weigh-coca-how").set_value("learned").run()
    assert page_of(app).part(MapForm).recipe["params"]["weights"] == "learned"
    app.selectbox(key="method").set_value("hemap").run()
    assert "weights" not in page_of(app).part(MapForm).recipe["params"]
    assert "This method gives all datasets the same weight." in html_of(app)


def test_hidden_items_are_compared_and_added_only_on_request(visit: Visit) -> None:
    app = visit("map")
    workspace = workspace_of(app)
    workspace.do(SetFilters((Filter("emoji", "group", values=("food-drink", "symbols")),)))
    data = workspace.state.opened()
    food = np.flatnonzero(data["emoji"].table["group"].to_numpy() == "food-drink")
    workspace.set_view_state(selection=food.tolist())
    app.run()
    page = html_of(app)
    assert "here and among the others shown" in page
    shares = re.findall(r"<td>([^<]*: [^<]*)</td><td>([^<]*)</td><td>([^<]*)</td>", page)
    assert shares
    toggle = app.toggle(key="compare-with-hidden")
    assert toggle.label.startswith("Compare with the ") and "hidden items too" in toggle.label
    toggle.set_value(True).run()
    assert "here and elsewhere" in html_of(app)


def test_buttons_select_what_is_shown_and_offer_hidden_items(visit: Visit) -> None:
    app = visit("map")
    workspace = workspace_of(app)
    data = workspace.state.opened()
    row = data["keywords"].position("k_cat") + 1273
    linked = links_touching(data, [row]).leads_to().tolist()
    chosen = [other for other in linked if other < 1273][:2]
    ids = tuple(data["emoji"].ids[chosen])
    workspace.do(SetFilters((Filter("emoji", kind="rows", values=ids),)))
    pick(app, row)
    shown = [other for other in linked if other in chosen or other >= 1273]
    n_hidden = len(linked) - len(shown)
    assert n_hidden > 1
    assert app.button(key="pick-linked-hidden").label == f"Add {n_hidden} hidden linked items"
    press(app, "pick-linked")
    assert workspace.view_state.selection.tolist() == shown
    press(pick(app, row), "pick-linked-hidden")
    assert workspace.view_state.selection.tolist() == linked
    press(pick(app, row), "pick-near")
    selected = workspace.view_state.selection
    assert row in selected
    assert set(selected[selected < 1273]) <= set(chosen)
    # Items of a hidden dataset are not shown either.
    workspace.do(SetFilters(()))
    workspace.do(SetView(hidden=["emoji"]))
    press(pick(app, row), "pick-near")
    assert (workspace.view_state.selection >= 1273).all()
    assert len(workspace.view_state.selection) == 11


def test_group_is_mapped_with_the_best_method_before_the_form_is_opened(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[dict[str, Any]] = []
    monkeypatch.setattr(background, "make_map", lambda **recipe: started.append(recipe))
    app = visit("map")
    workspace_of(app).set_view_state(selection=[0, 3, 4])
    press(app.run(), "map-only-these")
    unfold(app, "maker-1")
    best = app.selectbox(key="method").value
    workspace_of(app).set_view_state(selection=[0, 3, 5])
    press(app.run(), "map-only-these")
    assert [recipe["method"] for recipe in started] == [best, best]
    assert [recipe["seed"] for recipe in started] == [0, 0]
    assert [recipe["only"].tolist() for recipe in started] == [[0, 3, 4], [0, 3, 5]]
