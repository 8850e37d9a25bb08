"""From dropped tables to a named, titled figure: two clicks to the map, eight to the figure."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.test_app import drop

PATIENCE = 90_000
YEARS, TEAMS, PEOPLE = (2019, 2020, 2021), ("ARI", "BOS", "SEA", "TOR"), 60


def tables() -> dict[str, str]:
    """Return four tables as people keep them: no key of one column leads from lines to teams."""
    franchises = "franchID,name\n" + "".join(f"{code}F,Franchise {code}\n" for code in TEAMS)
    teams = "yearID,teamID,franchID,name,wins\n" + "".join(
        f"{year},{code},{code}F,{code} of {year},{60 + 7 * at + year % 5}\n"
        for year in YEARS
        for at, code in enumerate(TEAMS)
    )
    people = "playerID,name,height,born\n" + "".join(
        f"play{k:02},Player {k},{170 + 7 * k % 30},{1980 + 3 * k % 19}\n" for k in range(PEOPLE)
    )
    lines = [
        f"play{k:02},{year},{TEAMS[k % 4]},{part},{(5 * k + year + part) % 40},{k % 7 * part}\n"
        for k in range(PEOPLE)
        for year in YEARS
        for part in range(6)
    ]
    batting = "playerID,yearID,teamID,stint,hits,runs\n" + "".join(lines)
    return {
        "franchises_csv": franchises,
        "teams_csv": teams,
        "people_csv": people,
        "batting_csv": batting,
    }


class Hand:
    """Clicks, and counts them."""

    def __init__(self) -> None:
        self.clicks = 0

    def click(self, what: Locator) -> None:
        what.click(timeout=PATIENCE)
        self.clicks += 1


def test_four_tables_become_a_joint_map_in_two_clicks_and_a_figure_in_eight(page: Page) -> None:
    hand = Hand()
    page.goto("/")
    drop(page, **tables())
    hand.clicks += 1
    ticks = page.locator("[class*=st-key-belongs-door]").get_by_role("checkbox")
    expect(ticks).to_have_count(3, timeout=PATIENCE)
    for at in range(3):
        expect(ticks.nth(at)).to_be_checked()
    expect(page.locator(".hv-belong li").first).to_contain_text("batting")
    expect(page.get_by_text("yearID and teamID together name teams")).to_be_visible()
    expect(page.get_by_text("On the map: ")).to_contain_text("60 people")
    hand.click(page.get_by_role("button", name="Map them"))
    assert hand.clicks <= 2
    expect(page.get_by_text("Map up to date")).to_be_visible(timeout=PATIENCE)
    datasets = page.get_by_role("region", name="Legend").get_by_role("group", name="Datasets")
    expect(datasets).to_contain_text("teams", timeout=PATIENCE)
    # Lines are links by now, and no points.
    expect(datasets).not_to_contain_text("batting")
    hand.click(page.locator(".st-key-project button").first)
    name = page.get_by_label("Project name")
    name.fill("Who played where")
    name.press("Enter")
    expect(page.locator(".st-key-project")).to_contain_text("Who played where", timeout=PATIENCE)
    page.keyboard.press("Escape")
    hand.click(page.get_by_role("link", name="Export", exact=True))
    expect(page.locator(".st-key-export-preview img")).to_be_visible(timeout=PATIENCE)
    with page.expect_download(timeout=PATIENCE) as figure:
        hand.click(page.get_by_role("button", name="PDF of the map"))
    assert hand.clicks <= 8
    made = figure.value
    assert re.search("who.played.where", made.suggested_filename, re.I)
    content = made.path().read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/Title (Who played where)" in content
