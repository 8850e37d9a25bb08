"""Browser tests from dropped tables to a titled figure, with a limit on clicks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.dropped import beside_umap_learn
from benchmarks.keys import BASEBALL
from tests.browser.harness import Picture
from tests.browser.test_app import drop, settled, stage, until
from tests.browser.test_export import caption_below
from tests.browser.test_reading import OWNERS, WELLS
from tests.io.file_builders import workbook
from tests.messy import rows

EMOJI = 1_894  # items of the sample that is open at first
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
        what.click()
        self.clicks += 1


def test_four_tables_become_map_and_figure(page: Page) -> None:
    hand = Hand()
    page.goto("/")
    drop(page, **tables())
    hand.clicks += 1
    ticks = page.locator("[class*=st-key-belongs-door]").get_by_role("checkbox")
    expect(ticks).to_have_count(3)
    for at in range(3):
        expect(ticks.nth(at)).to_be_checked()
    expect(page.locator(".hv-join-map .join.on")).to_have_count(3)
    expect(page.get_by_text("yearID and teamID in batting match teams").first).to_be_visible()
    expect(page.get_by_text("On the map: ")).to_contain_text("60 people")
    mapped(page, hand)
    datasets = page.get_by_role("region", name="Legend").get_by_role("group", name="Datasets")
    expect(datasets).to_contain_text("teams")
    # Lines are links by now, and no points.
    expect(datasets).not_to_contain_text("batting")
    make_figure(page, hand, "Who played where")


def make_figure(page: Page, hand: Hand, title: str) -> None:
    """Name the project, and take the figure along."""
    hand.click(page.locator(".st-key-project button").first)
    name = page.get_by_label("Project name")
    name.fill(title)
    name.press("Enter")
    expect(page.locator(".st-key-project")).to_contain_text(title)
    page.keyboard.press("Escape")
    hand.click(page.get_by_role("link", name="Export", exact=True))
    caption_below(page)
    hand.click(page.get_by_role("button", name="All files"))
    with page.expect_download() as figure:
        hand.click(page.get_by_role("button", name="PDF of the map"))
    assert hand.clicks <= 8
    made = figure.value
    assert re.search(title.replace(" ", "."), made.suggested_filename, re.I)
    content = made.path().read_bytes()
    assert content.startswith(b"%PDF")
    assert f"/Title ({title})".encode() in content


def mapped(page: Page, hand: Hand) -> None:
    """Press the one button, and wait until nothing is being made."""
    project = page.locator(".st-key-project button").first
    before = project.inner_text()
    hand.click(page.get_by_role("button", name="Create map"))
    assert hand.clicks <= 2
    # Until then the page shows what was open before. A small map may be there before its job is
    # ever seen.
    expect(project).not_to_have_text(before)
    ran = page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
    expect(ran).to_have_count(1)
    expect(page.get_by_text("Map up to date")).to_be_visible()


def test_cancelled_first_map_can_be_restarted(page: Page) -> None:
    page.goto("/")
    drop(page, **tables())
    ticked(page)
    page.get_by_role("button", name="Create map").click()
    job = page.locator(".hv-job").filter(has_text="First map")
    expect(job).to_be_visible()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(job).to_have_count(0)
    # What was drawn by then stays; where nothing was, it can be started again. A quick machine may
    # be at the last figures, when the map itself is whole.
    stopped = page.get_by_text("First map stopped")
    there = page.get_by_text("Map up to date")
    expect(stopped.or_(there).first).to_be_visible()
    if stopped.is_visible():
        page.get_by_role("button", name="Start again").click()
        expect(page.get_by_text("Map up to date")).to_be_visible()
    expect(page.get_by_role("region", name="Legend")).to_be_visible()


def ticked(page: Page) -> Locator:
    """Return the ticks at the door, once they are there."""
    ticks = page.locator("[class*=st-key-belongs-door]").get_by_role("checkbox")
    expect(ticks.first).to_be_checked()
    return ticks


# All names that regions had at any time, by how many items the map had.
NAMED = """() => {
  const named = window.hvNamed = {};
  const look = () => {
    const map = document.querySelector(".st-key-map .hv-map")?.__hv?.map;
    if (map) {
      const names = named[map.scene.n] ??= {};
      for (const level of map.regions.levels) for (const name of level.names) names[name] = 1;
    }
    requestAnimationFrame(look);
  };
  look();
}"""


def named(page: Page) -> dict[int, set[str]]:
    found: dict[str, dict[str, int]] = page.evaluate("() => window.hvNamed")
    return {int(n): set(names) - {""} for n, names in found.items()}


def test_messy_workbook_becomes_titled_figure(page: Page) -> None:
    hand = Hand()
    page.goto("/")
    page.evaluate(NAMED)
    page.wait_for_function(f"() => Object.keys(window.hvNamed[{EMOJI}] ?? {{}}).length > 1")
    drop(page, wells_xlsx=workbook({"Wells": WELLS, "Owners": OWNERS}))
    hand.clicks += 1
    expect(page.get_by_role("heading", name="Wells and Owners belong together")).to_be_visible()
    expect(ticked(page)).to_have_count(1)
    expect(page.locator(".hv-join-map .join").first).to_contain_text("Wells")
    mapped(page, hand)
    datasets = page.get_by_role("region", name="Legend").get_by_role("group", name="Datasets")
    expect(datasets).to_contain_text("Owners")
    # No region of the map that was shown before gave its name to one of these.
    (sample, before), *others = sorted(named(page).items(), reverse=True)
    assert sample == EMOJI
    for n, names in others:
        assert not names & before, n
    make_figure(page, hand, "Wells and who owns them")


def many_travellers(n: int = 30_000) -> dict[str, str]:
    """Return travellers to the countries of a sample, each like the country but for noise."""
    rng = np.random.default_rng(0)
    countries = rows("world/countries.csv")
    wealth = np.log1p([float(row["gdp_per_head"] or 0) for row in countries])
    at = rng.integers(len(countries), size=n)
    spent = wealth[at] + rng.normal(size=n)
    stayed = at % 7 + 2.0 * rng.normal(size=n)
    lines = [
        f"t{k:05},Traveller {k},{countries[to]['id']},{spent[k]:.3f},{stayed[k]:.2f}\n"
        for k, to in enumerate(at.tolist())
    ]
    facts = [
        f'{row["id"]},"{row["name"]}",{row["region"]},{row["population"]}\n' for row in countries
    ]
    return {
        "travellers_csv": "traveller,name,country,spent,stayed\n" + "".join(lines),
        "countries_csv": "code,name,region,population\n" + "".join(facts),
    }


# More than a minute of work, and as long as it must be on a busy machine: `make soak` has it.
@pytest.mark.soak
@pytest.mark.timeout(2_000)
def test_thirty_thousand_rows_become_titled_figure(page: Page) -> None:
    hand = Hand()
    page.goto("/")
    tables = many_travellers()
    drop(page, **tables)
    hand.clicks += 1
    ticked(page)
    expect(page.get_by_text("country in travellers matches countries").first).to_be_visible()
    mapped(page, hand)
    datasets = page.get_by_role("region", name="Legend").get_by_role("group", name="Datasets")
    expect(datasets).to_contain_text("countries")
    make_figure(page, hand, "Thirty thousand travellers")
    # The same files once more without the app, with a fifth of the links hidden.
    files = {name.replace("_csv", ".csv"): text.encode() for name, text in tables.items()}
    ours, *_, plain = printed_figures(files)
    assert no_worse(ours, plain, "held AUC")
    assert no_worse(ours, plain, "trust")


def printed_figures(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Print and return what the map of some files keeps, and umap-learn's."""
    figures = beside_umap_learn(files)
    print()
    for one in figures:
        print(one)
    return figures


def no_worse(one: Mapping[str, Any], plain: Mapping[str, Any], measure: str) -> bool:
    """Whether a map is as good as umap-learn's, but for what one split differs by."""
    [key] = [name for name in plain if name.startswith(measure)]
    return bool(one[key] >= plain[key] - 0.02)


def beside_plain(files: Mapping[str, bytes]) -> None:
    """Assert that links are kept no worse by the first map, and neighbours too by one of two.

    Where links and features say different things the first map keeps the links, and the app offers
    the one with truer neighbours beside it, for one click.
    """
    *ours, plain = printed_figures(files)
    assert no_worse(ours[0], plain, "held AUC")
    assert any(no_worse(one, plain, "held AUC") and no_worse(one, plain, "trust") for one in ours)


# Two items that are far from each other and from all others, with their places in the window.
LONE_PAIR = """() => {
  const { map } = document.querySelector('.st-key-map .hv-map').__hv;
  const { view, n } = map.scene, box = map.stage.getBoundingClientRect();
  const { left, right, top, bottom } = view.clear;
  const at = [...Array(n).keys()].map((r) => map.scene.pixel(r));
  const lone = [...at.keys()].filter((r) => {
    const [x, y] = at[r];
    if (x < left || y < top || x > view.W - right || y > view.H - bottom) return false;
    if (map.overlay.rowAt(x, y) >= 0 || map.overlay.regionAt(x, y)) return false;
    if (!document.elementFromPoint(box.left + x, box.top + y).closest('.hv-stage')) return false;
    return at.every(([a, b], other) => other === r || Math.hypot(a - x, b - y) > 12);
  });
  return [lone[0], lone.at(-1)].map((r) => [r, box.left + at[r][0], box.top + at[r][1]]);
}"""


def test_item_dragged_onto_another_writes_the_sentence(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    until(page, "map.overlay.pieces.length > 0 && !map.scene.flight")
    (row, *start), (onto, *end) = page.evaluate(LONE_PAIR)
    page.keyboard.down("Alt")
    page.mouse.move(*start)
    page.mouse.down()
    until(page, "map.pointer.drag?.tool === 'carry'")
    page.mouse.move(*end, steps=5)
    # The item that it would be dropped onto is marked.
    until(page, f"map.scene.hovered === {onto}")
    page.mouse.up()
    page.keyboard.up("Alt")
    until(page, f"map.statements.groups.get('A').join() === '{row}'")
    until(page, f"map.statements.groups.get('B').join() === '{onto}'")
    until(page, "map.statements.pairs.length === 1")
    bar = page.locator(".st-key-statement-bar")
    expect(bar.locator(".hv-group-chip")).to_have_count(2)
    expect(bar.get_by_role("radio", name="belongs with", exact=True)).to_be_checked()
    expect(bar.get_by_role("button", name="Move the map")).to_be_enabled()


def test_name_typed_into_the_sentence_completes_it(page: Page) -> None:
    page.goto("/map")
    stage(page)
    settled(page)
    page.locator(".hv-find-host input").fill("birthday")
    page.get_by_role("option", name="birthday keywords").click()
    page.get_by_role("button", name="belongs with").click()
    bar = page.locator(".st-key-statement-bar")
    field = bar.get_by_label("Click an item, or type its name")
    field.fill("party")
    found = bar.get_by_role("option")
    picture = found.filter(has_text="party popper").get_by_role("presentation")
    expect(picture).to_be_visible()
    page.wait_for_function("(image) => image.naturalWidth > 0", arg=picture.element_handle())
    # The list lies at the field, in the window.
    box, at = bar.get_by_role("listbox").bounding_box(), field.bounding_box()
    assert box is not None and at is not None
    assert 0 < box["y"] < box["y"] + box["height"] <= at["y"]
    page.keyboard.press("Escape")
    expect(found.first).to_be_hidden()
    field.fill("party popper")
    expect(found.first).to_contain_text("party popper")
    page.keyboard.press("Enter")
    expect(bar.locator(".hv-group-chip")).to_have_text(
        [re.compile("birthday"), re.compile("party popper")]
    )
    until(page, "map.statements.pairs.length === 1")
    # The keyboard goes on with the statement.
    expect(page.get_by_role("application")).to_be_focused()
    expect(bar.get_by_role("button", name="Move the map")).to_be_enabled()


@pytest.mark.soak
@pytest.mark.timeout(2_000)
def test_six_real_tables_become_titled_figure(page: Page, picture: Picture, cases: Path) -> None:
    hand = Hand()
    files = {path.name: path.read_bytes() for path in (cases / "linked/baseball").glob("*.csv")}
    page.goto("/")
    drop(page, **{name.replace(".", "_"): content for name, content in files.items()})
    hand.clicks += 1
    ticks = ticked(page)
    expect(page.get_by_text("6 of 6 ticked")).to_be_visible()
    expect(ticks).to_have_count(len(BASEBALL))
    for at, (table, columns, other, _) in enumerate(sorted(BASEBALL)):
        expect(ticks.nth(at)).to_be_checked()
        # As in "batting: yearID and teamID in batting match teams".
        words = [table, *columns.split(" + "), other]
        said = page.locator("[class*=st-key-belongs-door] .stCheckbox")
        for word in words:
            said = said.filter(has_text=word)
        expect(said).to_have_count(1)
    picture(page, "baseball-door")
    mapped(page, hand)
    picture(page, "baseball-map")
    make_figure(page, hand, "Who played where and when")
    picture(page, "baseball-figure")
    print(hand.clicks, "clicks to the figure")
    beside_plain(files)


@pytest.mark.soak
@pytest.mark.timeout(2_000)
def test_real_workbook_becomes_titled_figure(page: Page, picture: Picture, cases: Path) -> None:
    hand = Hand()
    [book] = (cases / "messy").glob("*.xlsx")
    page.goto("/")
    drop(page, wells_xlsx=book.read_bytes())
    hand.clicks += 1
    expect(ticked(page)).to_have_count(1)
    picture(page, "messy-door")
    mapped(page, hand)
    picture(page, "messy-map")
    make_figure(page, hand, "Wells and who measures them")
    picture(page, "messy-figure")
    print(hand.clicks, "clicks to the figure")
    beside_plain({book.name: book.read_bytes()})
