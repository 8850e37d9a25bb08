"""Browser tests of the Guidance page: edits, contradictions, files and curves."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.harness import Picture, each_look
from tests.browser.test_app import serious_barriers, settled, stage, until

WEIGHT = 3
BROKEN = "source_dataset,source_id,target_dataset,target_id,weight\nemoji,nobody,keywords,k_dog,1\n"
OPPOSED = (
    "source_dataset,source_id,target_dataset,target_id,weight\n"
    "emoji,1f600,keywords,k_grin,-1\nemoji,1f600,keywords,k_happy,-1\n"
)


# The first row of the table has been the same for a while: it is drawn anew when the panel has
# grown as wide as a table, and what was chosen in it is chosen no more.
POLL_MS = 150  # or each frame lays out the table anew
STEADY = """() => {
  const row = [1, 3].map((c) => document.querySelector(`#glide-cell-${c}-0`)?.innerText).join();
  const width = document.querySelector('[data-testid="stDataFrame"]')?.clientWidth;
  const now = `${row} ${width}`;
  if (window.steadyRow !== now) Object.assign(window, { steadyRow: now, steadySince: Date.now() });
  return Date.now() - window.steadySince > 1200;
}"""

# Nobody types before the table has taken the click.
FOCUSED = "() => document.activeElement?.closest('[data-testid=\"stDataFrame\"]') !== null"


def opened(page: Page) -> None:
    page.goto("/guidance")
    expect(page.get_by_text("Links 4,130")).to_be_visible()
    expect(page.get_by_test_id("glide-cell-1-0")).to_be_attached()
    expect(page.get_by_role("tab", name="Guidance")).to_be_visible()
    settled(page)
    page.wait_for_function(STEADY, polling=POLL_MS)


def write(page: Page, column: int, text: str) -> None:
    """Write into a cell of the first row, by the keyboard once the table has the focus."""
    box = page.get_by_test_id("stDataFrame").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 90, box["y"] + 55)
    page.wait_for_function(FOCUSED)
    for at in range(1, column + 1):
        expect(page.get_by_test_id(f"glide-cell-{at}-0")).to_have_attribute("aria-selected", "true")
        if at < column:
            page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    field = page.locator("#portal input")
    expect(field).to_be_visible()
    field.fill(text)
    page.keyboard.press("Enter")


def hand_in(page: Page, name: str, content: str) -> None:
    page.get_by_role("button", name="File", exact=True).click()
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
    )


def test_guidance_page(page: Page, picture: Picture) -> None:
    opened(page)
    expect(page.get_by_text("Links still far")).to_be_visible()
    assert serious_barriers(page) == set()
    for look in each_look(page):
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= look.width
        picture(page, "guidance", look)


def test_weight_is_edited_undone_redone_and_never_zero(page: Page) -> None:
    opened(page)
    cell = page.get_by_test_id(f"glide-cell-{WEIGHT}-0")
    before = cell.inner_text()
    name = page.get_by_test_id("glide-cell-1-0").inner_text()
    question = page.locator(".st-key-ask .hv-question-items")
    expect(question).to_be_visible()
    asked = question.inner_text()
    write(page, WEIGHT, "0.9")
    expect(page.get_by_role("button", name="Undo edit guidance")).to_be_enabled()
    expect(page.get_by_text("Data changed since this map")).to_be_visible()
    expect(page.get_by_role("button", name="Refit the map")).to_be_visible()
    settled(page)
    # The keys that were pressed in the table answered no question.
    expect(page.get_by_text("1 answered")).to_have_count(0)
    expect(question).to_have_text(asked, use_inner_text=True)
    expect(cell).to_have_text("0.9")
    # The row stays where it is.
    expect(page.get_by_test_id("glide-cell-1-0")).to_have_text(name)
    page.get_by_role("button", name="Undo edit guidance").click()
    expect(cell).to_have_text(before)
    page.get_by_role("button", name="Redo edit guidance").click()
    expect(cell).to_have_text("0.9")
    settled(page)
    # A weight of nothing is refused, and the cell goes back.
    page.wait_for_function(STEADY, polling=POLL_MS)
    write(page, WEIGHT, "0")
    expect(page.get_by_text("a weight of 0 has no effect")).to_be_visible()
    expect(cell).to_have_text("0.9")
    settled(page)


def test_contradiction_is_resolved_with_one_click(page: Page, picture: Picture) -> None:
    opened(page)
    hand_in(page, "opposed.csv", OPPOSED)
    page.get_by_role("button", name="Add them").click()
    expect(page.get_by_text("Links 4,132")).to_be_visible()
    expect(page.get_by_text("2 open")).to_be_visible()
    page.get_by_role("button", name="Remove “grinning face is not like grin”").click()
    expect(page.get_by_text("1 open")).to_be_visible()
    expect(page.get_by_text("Links 4,131")).to_be_visible()
    settled(page)
    picture(page, "guidance-settled")
    # An address typed without a project is of the last one.
    page.wait_for_function("() => localStorage.getItem('hetviz-projects')?.includes('id')")
    assert {one["name"] for one in page.context.cookies()} <= {"_streamlit_xsrf"}
    page.goto("/guidance")
    expect(page.get_by_text("Links 4,131")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Undo remove guidance").click()
    expect(page.get_by_text("2 open")).to_be_visible()
    settled(page)
    page.goto("/start")
    expect(page.get_by_role("heading", name="What do you want to map?")).to_be_visible()
    settled(page)
    assert "/start" not in page.url


def test_broken_file_changes_nothing(page: Page, picture: Picture) -> None:
    opened(page)
    hand_in(page, "broken.csv", "no,guidance\n1,2\n")
    expect(page.get_by_role("heading", name="broken.csv has no guidance")).to_be_visible()
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page.get_by_text("Links 4,130")).to_be_visible()
    settled(page)
    hand_in(page, "some.csv", BROKEN + "emoji,1f408-200d-2b1b,keywords,k_dog,-1\n")
    expect(page.get_by_role("heading", name="some.csv: 1 of 2 rows can be added")).to_be_visible()
    expect(page.get_by_text("nobody")).to_be_visible()
    settled(page)
    picture(page, "guidance-account")
    page.get_by_role("button", name="Add the other rows").click()
    expect(page.get_by_text("Links 4,131")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Undo import guidance").click()
    expect(page.get_by_text("Links 4,130")).to_be_visible()
    settled(page)


def test_curve_leads_to_unmet_statements_and_map(page: Page) -> None:
    opened(page)
    plot = page.locator(".stPlotlyChart .nsewdrag").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    spot = box["x"] + 0.8 * box["width"], box["y"] + 0.4 * box["height"]
    page.mouse.move(*spot)
    page.mouse.click(*spot)
    share = page.get_by_label("Closest pairs, in %", exact=True)
    expect(share).not_to_have_value("5")
    settled(page)
    expect(page.get_by_text(f"Links still far at {share.input_value()} %")).to_be_visible()
    page.locator(".st-key-broken-link-show-0 button").first.click()
    stage(page)
    until(page, "map.scene.count === 2")
    settled(page)
