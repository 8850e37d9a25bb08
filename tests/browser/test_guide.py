"""Browser test of the guided review of a first project."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.harness import Picture
from tests.browser.test_app import drop, serious_barriers, settled

PRODUCTS = "code,name,price\n" + "".join(f"P{k:02d},Tent {k},{k * 7 % 30}\n" for k in range(24))
BUYERS = "buyer,age,favourite\n" + "".join(
    f"B{k:02d},{20 + k % 40},P{k * 5 % 24:02d}\n" for k in range(50)
)


def forget_projects(page: Page) -> None:
    """Make the browser that of a visitor who comes for the first time."""
    page.goto("/")
    settled(page)
    page.evaluate("() => localStorage.clear()")
    with page.expect_websocket():
        page.reload()
    expect(page.locator(".st-key-start-side")).to_be_visible()
    # The browser reports it once its list of projects is drawn.
    expect(page.locator(".st-key-first-project .hv-projects[data-first='true']")).to_be_attached()
    settled(page)


def test_first_project_is_guided_until_skipped(page: Page, picture: Picture) -> None:
    forget_projects(page)
    drop(page, products_csv=PRODUCTS, buyers_csv=BUYERS)
    head = page.locator(".st-key-staged-head")
    expect(head.get_by_role("heading", name="Is this what your columns mean?")).to_be_focused()
    following = head.get_by_role("button", name="Next")
    expect(following).to_be_visible()
    settled(page)
    expect(head.locator("[aria-current=step]")).to_have_text("1 Columns")
    expect(page.locator(".hv-sheets")).to_be_visible()
    expect(page.locator(".hv-join-map")).to_be_hidden()
    page.get_by_label("Type of price").select_option("category")
    expect(page.locator("thead select.chosen")).to_have_count(1)
    settled(page)
    assert serious_barriers(page) == set()
    picture(page, "guide-columns")

    following.press("Enter")
    # The keyboard goes on from the new question.
    expect(head.get_by_role("heading", name="Do these link your tables?")).to_be_focused()
    expect(page.locator(".hv-join-map")).to_be_visible()
    expect(page.locator(".hv-sheets")).to_be_hidden()
    expect(page.get_by_text("50 links, such as")).to_be_visible()
    # The matches stand next to the drawing once, and what rarely changes is folded.
    expect(page.locator(".hv-join-map").get_by_role("list", name="Joins")).to_have_count(0)
    expect(page.get_by_label("The 50 buyers are", exact=True)).to_be_hidden()
    settled(page)
    assert serious_barriers(page) == set()
    picture(page, "guide-links")

    following.press("Enter")
    expect(head.get_by_role("heading", name="Is this what you want to map?")).to_be_focused()
    expect(head.get_by_role("button", name="Create map")).to_be_visible()
    expect(page.locator(".st-key-guide-items")).to_contain_text("24 products")
    expect(page.locator(".st-key-guide-links")).to_contain_text("50 links")
    expect(page.locator(".hv-join-map")).to_be_hidden()
    settled(page)
    assert serious_barriers(page) == set()
    picture(page, "guide-map")

    head.get_by_role("button", name="Back").press("Enter")
    expect(page.locator(".hv-join-map")).to_be_visible()
    settled(page)
    head.get_by_role("button", name="Skip the steps").press("Enter")
    expect(page.get_by_role("heading", name="products and buyers belong together")).to_be_visible()
    expect(page.locator(".hv-sheets")).to_be_visible()
    expect(page.get_by_label("The 50 buyers are", exact=True)).to_be_visible()
    # The choice of the first step is still there.
    expect(page.locator("thead select.chosen")).to_have_count(1)
    page.wait_for_function("() => localStorage.getItem('hetviz-guided') === '1'")

    page.reload()
    settled(page)
    drop(page, products_csv=PRODUCTS)
    expect(page.get_by_role("button", name="Create map")).to_be_visible()
    expect(page.get_by_role("button", name="Skip the steps")).to_have_count(0)
