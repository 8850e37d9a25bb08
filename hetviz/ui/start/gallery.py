"""Headline of the open data, and the gallery of samples."""

from __future__ import annotations

import streamlit as st

from hetviz._samples import samples
from hetviz._text import count_rows
from hetviz.data import HeteroData
from hetviz.errors import DataError
from hetviz.io.bundle.samples import sample_card
from hetviz.plots.colour import colour_options
from hetviz.plots.palette import shape_of
from hetviz.plots.still import recolour_still
from hetviz.ui.map import filters
from hetviz.ui.map_data import layers
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.page_state import page_state
from hetviz.workspace import OpenSample, State


def map_headline(state: State) -> tuple[str, str]:
    """Return headline and subtitle of the open data and its map."""
    data, run = state.data, state.run
    if data is None:
        return ("Nothing is open yet", "Drop your files on the right, or open a sample.")
    contents, links = contents_title(data, run is not None), links_text(data)
    # Stored figures only, so that the first page does not wait for measuring.
    colour_key = None if run is None else (run.figures or {}).get("colour")
    titles = (
        {} if colour_key is None else {option.key: option.title for option in colour_options(data)}
    )
    if colour_key not in titles:
        return contents, links
    return f"Neighbours on this map are similar in “{titles[colour_key]}”", f"{contents}. {links}"


def contents_title(data: HeteroData, has_map: bool) -> str:
    """Return what is open: "1,273 emoji and 621 keywords on one map"."""
    suffix = " on one map" if has_map else ""
    if data.n_objects < data.n_rows:
        views = len(data.datasets) - len(data.entities) + 1
        if len(data.entities) == 1:
            entities = f"{data.n_objects:,} {data.entities[0]}"
            return f"{entities} in {views} views{suffix or ', no map yet'}"
    parts = [count_rows(len(dataset), name) for name, dataset in data.datasets.items()]
    return theme.join_words(parts) + suffix


def links_text(data: HeteroData) -> str:
    """Return how links connect the items."""
    n_links = sum(map(len, data.links))
    n_apart = sum(int((group.weight < 0).sum()) for group in data.links)
    if not n_links:
        return "No links between items yet. Each dataset is placed by its own features."
    if n_apart:
        return f"{n_links - n_apart:,} links pull items together, {n_apart:,} push them apart."
    return f"{theme.count(n_links, 'link')} pull items together."


def show_legend(state: State, notes: list[str]) -> None:
    """Show what shapes and colours mean, and further notes on the map."""
    data = state.data
    if data is None:
        return
    shapes = [
        f"<span><b>{shape_of(number)[1]}</b> {theme.escape_html(name)}</span>"
        for number, name in enumerate(data.datasets)
    ]
    if state.filters:
        notes = [*notes, f"A filter shows {filters.count_shown(state):,} of {data.n_rows:,} items."]
    text = " ".join([colour_text(state), *notes])
    st.html(
        f'<div class="hv-summary">{"".join(shapes)}<span>{theme.escape_html(text)}</span></div>'
    )


def colour_text(state: State) -> str:
    """Return what the colours mean."""
    colouring = layers.colours_of(state, state.run)
    text = f"Colour: {colouring.option.title}"
    if colouring.n_other:
        text += f" (7 largest, {colouring.n_other:,} others in grey)"
    return " ".join([f"{text}.", *borrowed_colour_notes(state)])


def borrowed_colour_notes(state: State) -> list[str]:
    """Return notes on datasets that take their colour from another one."""
    note = layers.colours_of(state, state.run).borrowed_note(state.opened())
    return [note] if note else []


def show_samples() -> None:
    """Show the samples, one row each with a still map that opens on click."""
    names = samples()
    if not names:
        theme.show_note("This installation of hetviz has no samples.")
        return
    opened = session.workspace().state.source
    with st.container(key="gallery", gap=None):
        for name in names:
            _show_sample(name, opened == f"sample:{name}")


def _show_sample(name: str, is_open: bool) -> None:
    try:
        card = sample_card(name)
    except DataError as error:
        theme.show_note(f"{name}: {error}")
        return
    still = recolour_still(card.still, session.theme())
    image = theme.svg_image(still, f"Still map of {card.title}") if still else ""
    size = "" if card.n_items is None else f"{card.n_items:,}"
    with st.container(key=f"sample-{name}", gap=None):
        st.html(
            f'<div class="hv-sample">{image}<div><h3>{theme.escape_html(card.title)}</h3>'
            f"<p>{theme.escape_html(', '.join(card.datasets))}</p></div>"
            f'<span title="Items">{theme.escape_html(size)}</span></div>'
        )
        # A transparent button over the whole row.
        st.button(
            f"{'Opened' if is_open else 'Open'}: {theme.escape_markdown(card.title)}",
            key=f"open-{name}",
            type="tertiary",
            disabled=is_open,
            width="stretch",
            on_click=_open_sample,
            args=(name,),
        )


def _open_sample(name: str) -> None:
    if session.run_command(OpenSample(name)):
        page_state().go_to = "map"
