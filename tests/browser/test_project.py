"""Browser tests of project files and the project list."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.browser.harness import Open, Server
from tests.browser.test_app import settled, stage
from tests.browser.test_export import open_files
from tests.browser.test_recovery import rename


def test_project_file_is_downloaded_and_opened(
    open_page: Open, server: Server, tmp_path: Path
) -> None:
    page = open_page(server.url)
    page.goto("/export")
    expect(page.locator(".st-key-export-preview img")).to_be_visible()
    rename(page, "Signs of feeling")
    open_files(page)
    with page.expect_download() as made:
        page.get_by_role("button", name="Project", exact=True).click()
    assert made.value.suggested_filename == "signs-of-feeling.hetviz"
    file = tmp_path / made.value.suggested_filename
    made.value.save_as(file)

    other = open_page(server.url)
    other.goto("/")
    expect(other.locator(".st-key-project").get_by_text("Emoji and the words")).to_be_visible()
    settled(other)
    other.locator(".st-key-own-files-True input[type=file]").set_input_files(file)
    opened = other.get_by_text("Opened “Signs of feeling”: 1,273 emoji, 621 keywords and 1 map")
    expect(opened).to_be_visible()
    expect(other.locator(".st-key-project").get_by_text("Signs of feeling")).to_be_visible()
    expect(other.locator(".hv-projects").get_by_text("Signs of feeling")).to_be_visible()
    settled(other)
    assert other.url != page.url
    other.get_by_role("button", name="Open this map").click()
    stage(other)
    settled(other)
    other.get_by_role("button", name="Undo project name").click()
    expect(other.locator(".st-key-project").get_by_text("Emoji and the words")).to_be_visible()
    expect(page.locator(".st-key-project").get_by_text("Signs of feeling")).to_be_visible()
    settled(other)


def test_second_project_of_a_name_gets_a_number(open_page: Open, server: Server) -> None:
    page = open_page(server.url)
    sent: list[str | bytes] = []

    def note(frame: str | bytes) -> None:
        sent.append(frame)

    page.on("websocket", lambda socket: socket.on("framesent", note))
    page.goto("/")
    settled(page)
    rename(page, "Twins")
    (first,) = parse_qs(urlsplit(page.url).query)["s"]
    listed, title = page.locator(".hv-projects"), page.locator(".st-key-project")
    for number in (2, 3):
        n_before = len(sent)
        page.get_by_role("button", name="New project").click()
        expect(title.get_by_text("Emoji and the words")).to_be_visible()
        settled(page)
        rename(page, "Twins")
        expect(title.get_by_text(f"Twins ({number})")).to_be_visible()
        said = f"Another project is called “Twins”, so this one is “Twins ({number})”."
        expect(page.get_by_text(said)).to_be_visible()
        settled(page)
    names = sorted(listed.locator(".name").all_inner_texts())
    assert names == ["Twins", "Twins (2)", "Twins (3)"]
    # The list stays in the browser: the third project made nothing of it known.
    assert len(sent) > n_before
    assert not any(
        first in (f if isinstance(f, str) else f.decode("latin-1")) for f in sent[n_before:]
    )
    # The name that the app chose is no step of its own.
    page.get_by_role("button", name="Undo project name").click()
    expect(title.get_by_text("Emoji and the words")).to_be_visible()
    settled(page)


def test_project_removal_is_undone_and_deletion_confirmed(open_page: Open, server: Server) -> None:
    page = open_page(server.url)
    page.goto("/")
    settled(page)
    rename(page, "To be kept")
    kept = page.url
    listed = page.locator(".hv-projects")
    page.get_by_role("button", name="New project").click()
    expect(page.locator(".st-key-project").get_by_text("Emoji and the words")).to_be_visible()
    settled(page)
    listed.get_by_role("button", name="Remove To be kept from this list").click()
    expect(
        listed.get_by_text("“To be kept” was removed from this list. Its files are still stored.")
    ).to_be_visible()
    listed.get_by_role("button", name="Put To be kept back on this list").click()
    expect(listed.get_by_role("link", name="To be kept")).to_be_visible()

    listed.get_by_role("button", name="Remove To be kept from this list").click()
    listed.get_by_role("button", name="Delete the files of To be kept").click()
    expect(listed.get_by_text("Delete “To be kept” for good")).to_be_visible()
    # The deletion can still be cancelled.
    listed.get_by_role("button", name="Put To be kept back on this list").click()
    listed.get_by_role("link", name="To be kept").click()
    expect(page.locator(".st-key-project").get_by_text("To be kept")).to_be_visible()
    settled(page)

    page.get_by_role("button", name="New project").click()
    expect(page.locator(".st-key-project").get_by_text("Emoji and the words")).to_be_visible()
    settled(page)
    listed.get_by_role("button", name="Remove To be kept from this list").click()
    listed.get_by_role("button", name="Delete the files of To be kept").click()
    listed.get_by_role("button", name="Delete To be kept for good").click()
    expect(listed.get_by_text("To be kept")).to_have_count(0)
    settled(page)
    page.goto(kept)
    # Nothing is there any more, so that its address is no key to anything.
    expect(page.locator(".st-key-project").get_by_text("Emoji and the words")).to_be_visible()
    assert page.url != kept
