"""Guided first project: the review of files in short steps, until it was finished or skipped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st

from hetviz._text import count_rows, finish_sentence, join_first, join_words, shorten
from hetviz.data import Dataset, HeteroData
from hetviz.features.recipe import recipe_of
from hetviz.features.table_joins import ROWS
from hetviz.plots.colour import display_name
from hetviz.plots.palette import shape_of
from hetviz.ui.shell import recent, theme
from hetviz.ui.shell.page_state import state_of

COLUMNS, LINKS, MAP = "columns", "links", "map"
_CURRENT = ' aria-current="step"'
_MAX_COLUMNS = 4
_focus_question = st.components.v2.component(
    "hetviz_guide",
    html="<i hidden></i>",
    js=(Path(__file__).parent / "guide.js").read_text(encoding="utf-8"),
)


@dataclass
class Guide:
    """Whether the visitor has no project of their own yet, and the step that is shown.

    Without a step, the review is on one page.
    """

    is_new: bool = False
    is_over: bool = False
    step: str = ""


def ask_browser() -> None:
    """Ask the browser whether the visitor has projects, or record the end of the guide there."""
    recent.watch_first_project(_flags, _set_new)


def _flags() -> tuple[bool, bool]:
    guide = state_of(Guide)
    return guide.is_new, guide.is_over


def _set_new(is_new: bool) -> None:
    state_of(Guide).is_new = is_new


def begin(is_new_project: bool) -> None:
    """Start with the first step for files of a first project, or show no steps."""
    guide = state_of(Guide)
    guide.step = COLUMNS if is_new_project and guide.is_new and not guide.is_over else ""


def current_step() -> str:
    """Return the step to show, "" for the review on one page."""
    return state_of(Guide).step


def mark_step(step: str) -> None:
    """Tell the style sheet which blocks of the review are in view."""
    st.html(f'<i class="hv-guide hv-guide-{step}" hidden></i>')


def show_steps(steps: Sequence[str], step: str) -> None:
    """Show the steps, the current one marked, with a button that skips them."""
    lines = "".join(
        f"<li{_CURRENT if name == step else ''}><b>{number}</b> {name.capitalize()}</li>"
        for number, name in enumerate(steps, 1)
    )
    with st.container(horizontal=True, vertical_alignment="center", key="guide-steps"):
        st.html(f'<ol class="hv-guide-list" aria-label="Steps to your map">{lines}</ol>')
        st.button(
            "Skip the steps",
            key="guide-skip",
            type="tertiary",
            help="Shows everything on one page, from now on.",
            on_click=_skip,
        )


def show_question(title: str, text: str, step: str) -> None:
    """Show the question of a step, which gets the keyboard focus when the step begins."""
    theme.show_headline(title, text)
    with st.container(key="guide-focus"):
        # After the heading, which it focuses.
        _focus_question(key="guide-question", data={"step": step})


def _skip() -> None:
    guide = state_of(Guide)
    guide.step, guide.is_over = "", True


def show_buttons(
    steps: Sequence[str], step: str, last: tuple[str, Callable[[], None]], leave: Callable[[], None]
) -> None:
    """Show Back or Cancel, and Next or at the end the `last` button."""
    at = steps.index(step)
    if at:
        st.button("Back", key="guide-back", on_click=_go, args=(steps[at - 1],))
    else:
        st.button("Cancel", key="leave", on_click=leave)
    with st.container(key="primary_go", width="content"):
        if step == steps[-1]:
            st.button(last[0], type="primary", key="go-on", on_click=last[1])
        else:
            following = steps[at + 1]
            # Each step has its own button, so that a double click goes one step.
            key = f"guide-next-{following}"
            st.button("Next", type="primary", key=key, on_click=_go, args=(following,))


def _go(step: str) -> None:
    state_of(Guide).step = step


def links_title(n_found: int) -> str:
    """Return the question of the second step."""
    return "Do these link your tables?" if n_found else "What links your tables?"


def links_text(n_certain: int, n_uncertain: int, n_own: int, ways: str = "") -> str:
    """Return what was found to link the tables, and what to do.

    `ways`: how tables without links can be compared, as in "meaning or place".
    """
    sentences = []
    if n_own:
        sentences.append(f"Your files name {theme.count(n_own, 'link')}.")
    if n_certain:
        matches = theme.count(n_certain, "match", "matches")
        sentences.append(f"{matches} found. Untick what is wrong.")
    if n_uncertain:
        verb = "is" if n_uncertain == 1 else "are"
        match = " more" if n_certain else " match" if n_uncertain == 1 else " matches"
        sentences.append(
            f"{n_uncertain:,}{match} {verb} uncertain. Look at some pairs, then tick what is right."
        )
    if not sentences:
        compare = f"Compare the rows by {ways}, drag" if ways else "Drag"
        sentences.append(f"No columns match. {compare} a column onto another, or go on without.")
    return " ".join(sentences)


def show_summary(
    data: HeteroData, unused: Sequence[str], is_joined: bool, rows: Mapping[str, str]
) -> None:
    """Show the items and links that will be on the map.

    `is_joined`: whether the tables are joined; large ones are only joined when the map is made.
    `rows`: dataset -> use of its rows, if they are not items.
    """
    gone = {} if is_joined else rows
    with st.container(key="guide-items", gap="small"):
        theme.show_section("Items", "each is a point")
        kept = {name: part for name, part in data.datasets.items() if name not in gone}
        linked = {name for group in data.links for name in (group.source, group.target)}
        lines = "".join(
            _line_html(
                shape_of(number)[1],
                count_rows(len(dataset), name),
                _dataset_text(dataset, is_joined, name in linked),
            )
            for number, (name, dataset) in enumerate(kept.items())
        )
        st.html(f'<ul class="hv-guide-summary">{lines}</ul>')
        for name, use in gone.items():
            verb = "are" if use == "none" else "become"
            theme.show_note(f"The {count_rows(len(data[name]), name)} {verb} {ROWS[use]}.")
    with st.container(key="guide-links", gap="small"):
        theme.show_section("Links", "they pull items together")
        if not is_joined:
            theme.show_note("They are counted when the map is made.")
        elif lines := _links_html(data):
            st.html(f'<ul class="hv-guide-summary">{lines}</ul>')
        else:
            is_placed = any(not dataset.is_featureless for dataset in kept.values())
            how = " Each table is placed by its own columns." if is_placed else ""
            theme.show_note(f"None.{how}")
    if unused:
        theme.show_note(f"Shown, but not used for the map: {join_first(unused, _MAX_COLUMNS)}.")


def _links_html(data: HeteroData) -> str:
    counts: dict[tuple[str, str], int] = {}
    for group in data.links:
        ends = group.source, group.target
        counts[ends] = counts.get(ends, 0) + len(group)
    linked = "".join(
        _line_html(
            "–",
            theme.count(number, "link"),
            f"within {source}" if source == target else f"between {source} and {target}",
        )
        for (source, target), number in counts.items()
    )
    return linked + "".join(
        _line_html("=", theme.count(number, "item"), where) for number, where in shared_items(data)
    )


def shared_items(data: HeteroData) -> list[tuple[int, str]]:
    """Return how many items several tables show, and which: "in both a and b"."""
    out = []
    for entity in data.entities:
        views = data.views(entity)
        rows = [data.object_of[data.offsets[name]] for name in views]
        _, uses = np.unique(np.concatenate(rows), return_counts=True)
        number = int((uses > 1).sum())
        if number:
            several = "both" if len(views) == 2 else "several of"
            out.append((number, f"in {several} {join_words(views)}"))
    return out


def _line_html(mark: str, title: str, text: str) -> str:
    return (
        f'<li><i aria-hidden="true">{mark}</i><b>{theme.escape_html(title)}</b>'
        f"<span>{theme.escape_html(text)}</span></li>"
    )


def _dataset_text(dataset: Dataset, is_joined: bool, is_linked: bool) -> str:
    """Return an example of the items, and the columns that place them; a join changes these."""
    example = ""
    if len(dataset):
        example = finish_sentence(f"Such as {shorten(str(dataset.display_names[0]), 40)}") + " "
    if not is_joined:
        return example.rstrip()
    if "features" in (dataset.recipe or {}):
        steps = recipe_of(dataset)["columns"]
        columns = dict.fromkeys(display_name(name) for step in steps for name in step["columns"])
        if columns:
            return f"{example}Placed by {join_first(list(columns), _MAX_COLUMNS)}."
    if not dataset.is_featureless:
        return example.rstrip()
    if is_linked:
        return f"{example}Placed by links only."
    remedy = "Go back to Columns, and choose what a column is."
    return f"{example}Nothing places them: no column can be used, and they have no links. {remedy}"
