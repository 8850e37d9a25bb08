"""Saved views: saved from the map, presented in the app and in the exported page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import hetviz
from hetviz.data import Filter, SavedView
from hetviz.workspace import SaveView
from tests.browser.conftest import Open
from tests.browser.harness import Server, new_context
from tests.browser.projects import Projects
from tests.browser.test_app import serious_barriers, settled, stage, until
from tests.samples import sample

FOOD = Filter("emoji", "group", values=("food-drink",))
VIEWS = (
    SavedView("Emoji and the words people look them up by."),
    SavedView("Food and drink alone.", filters=[FOOD], hidden=["keywords"]),
    SavedView("Pizza among them.", colour="dataset", selection={"emoji": ["1f355", "gone"]}),
)


def open_list(page: Page) -> None:
    page.get_by_role("button", name="Tools", exact=True).click()
    page.locator(".hv-menu").get_by_role("button", name="Saved views").click()
    expect(page.locator(".st-key-stories-body")).to_be_visible()


@pytest.mark.parametrize("motion", [False, True])
def test_view_is_saved_and_presented(
    motion: bool, open_page: Open, server: Server, projects: Projects
) -> None:
    page = open_page(server.url, motion=motion)
    page.goto(f"/map?s={projects.make(SaveView(VIEWS[0]))}")
    stage(page)
    settled(page)
    page.evaluate(
        """() => {
          const { map } = document.querySelector('.st-key-map .hv-map').__hv;
          window.home = map.camera.home.s;
          map.camera.zoomBy(4);
        }"""
    )
    until(page, "!map.scene.flight")
    open_list(page)
    page.get_by_label("What does the map show now?").fill("The middle of the map.")
    page.get_by_role("button", name="Save view", exact=True).click()
    expect(page.locator(".st-key-view-2")).to_contain_text("Part of the map")
    page.get_by_role("button", name="Present", exact=True).click()
    sentence, count = page.locator(".hv-present-text"), page.locator(".hv-present-count")
    expect(sentence).to_have_text(VIEWS[0].text)
    expect(count).to_have_text("1 of 2")
    expect(page.locator(".st-key-top")).to_be_hidden()
    until(page, "!map.scene.flight && !map.scene.view.zoomed")
    page.evaluate(
        """() => {
          const { map } = document.querySelector('.st-key-map .hv-map').__hv;
          const { fly } = map.camera;
          window.flights = [];
          map.camera.fly = (...args) => {
            fly.apply(map.camera, args);
            window.flights.push(Boolean(map.scene.flight));
          };
        }"""
    )
    page.keyboard.press("ArrowRight")
    expect(sentence).to_have_text("The middle of the map.")
    expect(count).to_have_text("2 of 2")
    until(page, "!map.scene.flight && map.scene.view.s > 2 * window.home")
    assert page.evaluate("window.flights") == [motion]
    # There is no third one, and the keys of the map do nothing.
    page.keyboard.press("ArrowRight")
    page.keyboard.press("l")
    expect(count).to_have_text("2 of 2")
    until(page, "map.scene.tool === 'move'")
    page.get_by_role("button", name="Previous view").click()
    expect(sentence).to_have_text(VIEWS[0].text)
    page.keyboard.press("Escape")
    expect(page.locator(".hv-present")).to_be_hidden()
    expect(page.locator(".st-key-top")).to_be_visible()
    # The map is as it was before.
    until(page, "!map.scene.flight && map.scene.view.s > 2 * window.home")
    settled(page)


def test_presentation_shows_items_of_a_view_and_what_is_gone(
    page: Page, projects: Projects
) -> None:
    page.goto(f"/map?s={projects.make(*map(SaveView, VIEWS))}")
    stage(page)
    settled(page)
    open_list(page)
    page.get_by_role("button", name="Present", exact=True).click()
    expect(page.locator(".hv-present-text")).to_have_text(VIEWS[0].text)
    page.keyboard.press("End")
    expect(page.locator(".hv-present-text")).to_have_text(VIEWS[2].text)
    expect(page.locator(".hv-present-notes")).to_have_text("1 of 2 selected items were removed.")
    until(page, "map.scene.count === 1 && map.scene.data.colour.option === 'dataset'")
    assert serious_barriers(page) == set()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".hv-present-text")).to_have_text(VIEWS[1].text)
    until(page, "map.scene.count === 0 && map.scene.visible === 130")
    facts = page.locator(".hv-present-notes")
    expect(facts).to_have_text("130 of 1,894 items · emoji: group is Food drink")
    page.keyboard.press("Escape")
    until(page, "map.scene.visible === 1894")
    settled(page)


def test_exported_page_presents_the_views(browser: Browser, tmp_path: Path) -> None:
    page = new_context(browser, offline=True).new_page()
    data = sample("emoji")
    embedding = hetviz.embed(data, "pca")
    file = hetviz.export(data, embedding, tmp_path / "page.html", colour="group", views=VIEWS)
    page.goto(file.as_uri())
    legend = page.locator("#legend")
    expect(legend).to_contain_text("Food drink")
    page.get_by_role("button", name="Present 3 views").click()
    sentence, picture = page.locator(".hv-present-text"), page.locator("#map")
    expect(picture).to_have_attribute("aria-label", re.compile("Smileys"))
    expect(sentence).to_have_text(VIEWS[0].text)
    expect(page.locator("aside")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    expect(sentence).to_have_text(VIEWS[1].text)
    # Only names that are true of the items shown.
    expect(picture).not_to_have_attribute("aria-label", re.compile("Smileys|Objects"))
    expect(page.locator(".hv-present-notes")).to_contain_text("130 of 1,894 items")
    page.keyboard.press("ArrowRight")
    expect(sentence).to_have_text(VIEWS[2].text)
    expect(page.locator(".hv-present-notes")).to_have_text("1 of 2 selected items were removed.")
    expect(legend).not_to_contain_text("Food drink")
    page.keyboard.press("Escape")
    expect(page.locator(".hv-present")).to_be_hidden()
    expect(legend).to_contain_text("Food drink")
    expect(page.locator("aside")).to_be_visible()
    page.context.close()
