"""Browser tests of the review of dropped tables."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.harness import Picture
from tests.browser.test_app import drop, serious_barriers, settled, stage
from tests.io.file_builders import workbook

TOWNS = ["Altdorf", "Bergen", "Grünau"]
WELLS = [
    ["Groundwater 2023"],
    ["", "", "", "Measured (mean)", "", ""],
    ["Well", "Town", "Remark", "Nitrate", "pH", "Owner No."],
    ["", "", "", "mg/l", "", ""],
    *(
        [
            f"Well {k}",
            TOWNS[k % 3],
            "sampled again" if k % 4 else "",
            "n. d." if k % 9 == 4 else "<0,5" if k % 9 == 5 else f"{k * 7 % 31},{k % 10}",
            "-" if k % 11 == 3 else f"{6 + k % 2},{k % 10}",
            f"B{k % 8 + 1:02d}",
        ]
        for k in range(40)
    ),
    ["Mean", "", "", "14,2", "", ""],
    [],
    ["Source: own survey"],
]
OWNERS = [
    ["Owner No.", "Owner", "Staff", "Sales (T€)"],
    *(
        [f"B{k:02d}", f"Waterworks {k}", str(k * 37 % 90), f"{k * 3}.{k * 97 % 900 + 100},50"]
        for k in range(1, 9)
    ),
]


def test_workbook_is_corrected_with_two_clicks(page: Page, picture: Picture) -> None:
    page.goto("/")
    settled(page)
    drop(page, wells_xlsx=workbook({"Wells": WELLS, "Owners": OWNERS}))
    tables = page.locator(".hv-sheets")
    expect(page.get_by_role("heading", name="Wells and Owners belong together")).to_be_visible()
    settled(page)
    expect(tables.locator("tr.names")).to_have_count(2)
    expect(tables.locator("tr.units")).to_contain_text("mg/l")
    types = tables.locator("thead select")
    assert [one.input_value() for one in types.all()] == [
        *("id", "category", "category", "number with the rest missing"),
        *("number with the rest missing", "category"),
    ]
    expect(tables.get_by_text("8 of 8 values are ids of Owners")).to_be_visible()
    tables.get_by_label("Type of Owner No.").select_option("key of another table")
    tables.get_by_label("Type of Remark").select_option("text")
    expect(tables.locator("thead select.chosen")).to_have_count(2)
    settled(page)
    expect(page.get_by_text("Dataset 'Wells': 40 rows, ids from column 'Well'")).to_be_visible()

    # A wrong click is seen at once, and taken back.
    tables.get_by_role("button", name="Row 2, Names").click()
    expect(tables.locator("tr.names")).to_have_count(1)
    tables.get_by_role("button", name="Undo").click()
    expect(tables.locator("tr.names")).to_have_count(2)
    settled(page)
    tables.get_by_role("tab", name="Owners").press("ArrowRight")
    expect(tables.get_by_role("tab", name="Wells")).to_be_focused()
    tables.get_by_role("tab", name="Wells").press("ArrowRight")
    types = tables.locator("thead select")
    assert [one.input_value() for one in types.all()] == ["id", "title", "whole number", "number"]
    assert serious_barriers(page) == set()
    picture(page, "reading")


def test_wide_table_column_is_found_by_name(page: Page, picture: Picture) -> None:
    page.goto("/")
    settled(page)
    names = ["sample", *(f"gene_{k}" for k in range(200))]
    rows = [[f"s{r}", *(f"{(r * 37 + k * 11) % 97 / 10}" for k in range(200))] for r in range(30)]
    drop(page, genes_csv="\n".join(",".join(row) for row in [names, *rows]).encode())
    tables = page.locator(".hv-sheets")
    expect(tables.get_by_text("Columns 1 to 60 of 201")).to_be_visible()
    settled(page)
    find = tables.get_by_role("searchbox", name="Find a column")
    find.fill("gene_15")
    find.press("Enter")
    expect(tables.get_by_label("Type of gene_15", exact=True)).to_be_focused()
    find.fill("gene_150")
    find.press("Enter")
    wanted = tables.get_by_label("Type of gene_150", exact=True)
    expect(wanted).to_be_focused()
    expect(wanted).to_be_in_viewport()
    wanted.select_option("leave out")
    expect(tables.locator("thead select.chosen")).to_have_count(1)
    expect(tables.get_by_text("Columns 121 to 180 of 201")).to_be_visible()
    find.fill("protein")
    find.press("Enter")
    expect(tables.get_by_text("no such column")).to_be_visible()
    settled(page)
    picture(page, "reading-wide")


def test_open_dataset_column_is_found_by_name(page: Page) -> None:
    page.goto("/")
    settled(page)
    page.locator(".st-key-open-digits button").click()
    expect(page.locator(".hv-map-title")).to_contain_text("pixels")
    settled(page)
    page.locator(".st-key-place-data a").click()
    tables = page.locator(".hv-sheets")
    expect(tables.get_by_text("Columns 1 to 60 of 67")).to_be_visible()
    find = tables.get_by_label("Find a column")
    find.fill("kl63")
    find.press("Enter")
    expect(tables.get_by_text("Columns 61 to 67 of 67")).to_be_visible()
    wanted = tables.locator("thead").get_by_text("kl63")
    expect(wanted).to_be_in_viewport()
    tables.get_by_role("tab", name="fourier").click()
    expect(tables.locator("tbody tr").first).to_contain_text("f")
    # Nothing of these is to be changed here.
    expect(tables.locator("select, input[type=radio]")).to_have_count(0)
    assert serious_barriers(page) == set()


def test_start_page_shows_reading_progress(page: Page) -> None:
    rows = "\n".join(f"item {k},{k % 977},{k % 89 / 8},{k % 7},red" for k in range(250_000))
    page.goto("/")
    stage(page)
    settled(page)
    # A quick machine may be through before a test looks: the page notes what it shows meanwhile.
    page.evaluate("""() => {
        window.shown = [];
        const text = (place) => document.querySelector(place).textContent;
        new MutationObserver(() => {
            const wait = document.querySelector('.st-key-start-review .st-key-stop-looking-wait');
            const foot = document.querySelector('.st-key-start-foot');
            if (wait && wait.getBoundingClientRect().height) window.shown.push([
                wait.textContent.includes('Reading many.csv'),
                [...wait.querySelectorAll('button')].some(
                    (one) => one.textContent.includes('Cancel')),
                !foot || !foot.getBoundingClientRect().height,
                text('.st-key-project button').includes('New project'),
                !text('.st-key-state').includes('Map up to date'),
            ]);
        }).observe(document.body, { childList: true, subtree: true, characterData: true });
    }""")
    drop(page, many_csv=f"name,count,size,kind,colour\n{rows}\n")
    expect(page.get_by_role("button", name="Create map")).to_be_visible()
    shown = page.evaluate("window.shown")
    assert [True] * 5 in shown, shown


PEOPLE = "who,city\n" + "".join(f"p{k},City {k % 5}\n" for k in range(12))
GAMES = "game,played,won\n" + "".join(f"g{k},p{k % 12},p{(k + 5) % 12}\n" for k in range(30))
SEATS = "seat,guest\n" + "".join(f"s{k},p{k % 9}\n" for k in range(20))


def test_joins_are_drawn_changed_and_undone(page: Page) -> None:
    page.goto("/")
    settled(page)
    drop(page, people_csv=PEOPLE, games_csv=GAMES, seats_csv=SEATS)
    drawing = page.locator(".hv-join-map")
    joins = drawing.locator("ul .join.on")
    expect(page.get_by_role("button", name="Create map")).to_be_visible()
    settled(page)
    before = joins.count()

    def column(table: str, name: str) -> Locator:
        box = drawing.get_by_role("region", name=table, exact=True)
        return box.get_by_role("button", name=f"{name} of {table}")

    # By the keyboard: one column, then the other.
    column("seats", "guest").focus()
    page.keyboard.press("Enter")
    expect(drawing.get_by_role("status")).to_contain_text("Now choose the column")
    column("games", "played").focus()
    page.keyboard.press("Enter")
    expect(joins).to_have_count(before + 1)
    settled(page)
    column("seats", "guest").focus()
    page.keyboard.press("Control+z")
    expect(joins).to_have_count(before)
    settled(page)
    # By dragging.
    column("seats", "guest").drag_to(column("games", "won"))
    expect(joins).to_have_count(before + 1)
    settled(page)
    drawn = drawing.get_by_role("button", name="guest in seats matches games")
    drawn.click()
    drawing.get_by_role("button", name="Reverse").click()
    turned = drawing.get_by_role("button", name="won in games matches seats")
    expect(turned).to_be_visible()
    settled(page)
    turned.click()
    drawing.get_by_role("button", name="Remove").click()
    expect(turned).to_have_count(0)
    settled(page)
    drawing.get_by_role("button", name="Undo").click()
    expect(turned).to_be_visible()
