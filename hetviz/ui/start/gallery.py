"""What is open, in words; and the samples as cards with a still map each."""

from __future__ import annotations

import streamlit as st

from hetviz._samples import samples
from hetviz.data import HeteroData
from hetviz.errors import DataError
from hetviz.io.bundle.samples import sample_card
from hetviz.plots.colour import colour_options
from hetviz.plots.palette import shape_of
from hetviz.plots.still import recoloured
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import charts, filters
from hetviz.workspace import OpenSample, State


def headline(state: State) -> tuple[str, str]:
    """Return what the open map tells, where that is known, and of what it is; else the latter."""
    data, run = state.data, state.run
    if data is None:
        return (
            "Nothing is open yet",
            "Drop your own files at the right, or open one of the samples.",
        )
    whole, joined = found(data, run is not None), joined_by(data)
    # Only of what is kept with the map: the first page waits for no measuring.
    best = None if run is None else (run.figures or {}).get("colour")
    titles = {} if best is None else {one.key: one.title for one in colour_options(data)}
    if best not in titles:
        return whole, joined
    return f"Neighbours on this map are alike in “{titles[best]}”", f"{whole}. {joined}"


def found(data: HeteroData, mapped: bool) -> str:
    """Say what is open: "1,273 emoji and 621 keywords on one map", the end where there is one."""
    end = " on one map" if mapped else ""
    if data.n_objects < data.n_rows:
        views = len(data.datasets) - len(data.entities) + 1
        if len(data.entities) == 1:
            return (
                f"{data.n_objects:,} {data.entities[0]}, seen {views} ways,{end or ' no map yet'}"
            )
    parts = [f"{len(dataset):,} {name}" for name, dataset in data.datasets.items()]
    return theme.listed(parts) + end


def joined_by(data: HeteroData) -> str:
    """Say what holds the map together."""
    links = sum(map(len, data.links))
    apart = sum(int((group.weight < 0).sum()) for group in data.links)
    if not links:
        return "Nothing links the items yet; each dataset is placed by its own features."
    words = f"{theme.count(links, 'link')} say which items belong together"
    if apart:
        words = f"{links - apart:,} links say together, {apart:,} say apart"
    return f"{words}; linked items lie close."


def legend(state: State, said: list[str]) -> None:
    """Say what shapes and colours mean, and what else must be said of the map."""
    data = state.data
    if data is None:
        return
    shapes = [
        f"<span><b>{shape_of(place)[1]}</b> {theme.esc(name)}</span>"
        for place, name in enumerate(data.datasets)
    ]
    if state.filters:
        said = [*said, f"A filter shows {filters.shown(state):,} of {data.n_rows:,} items."]
    words = " ".join([colour_words(state), *said])
    st.html(f'<div class="hv-told">{"".join(shapes)}<span>{theme.esc(words)}</span></div>')


def colour_words(state: State) -> str:
    """Say what the colour is."""
    colours = charts.colours(state)
    words = f"Colour: {colours.option.title}"
    if colours.n_other:
        words += f" (7 largest; {colours.n_other:,} others in grey)"
    return " ".join([f"{words}.", *borrowed_words(state)])


def borrowed_words(state: State) -> list[str]:
    """Say which datasets have their colour from another one, if any."""
    borrowed = charts.colours(state).borrowed
    if not borrowed:
        return []
    data = state.opened()
    source = (
        "the same items in the other dataset" if data.n_objects < data.n_rows else "their links"
    )
    return [f"{theme.listed(list(borrowed))}: coloured by {source}."]


def cards() -> None:
    """Show the samples, a row for each with its still map; a click anywhere on it opens it."""
    names = samples()
    if not names:
        theme.quiet("No samples were installed with this copy of hetviz.")
        return
    opened = session.workspace().state.source
    with st.container(key="gallery", gap=None):
        for name in names:
            _card(name, opened == f"sample:{name}")


def _card(name: str, is_open: bool) -> None:
    try:
        card = sample_card(name)
    except DataError as error:
        theme.quiet(f"{name}: {error}")
        return
    still = recoloured(card.still, session.theme())
    image = theme.svg_image(still, f"Still map of {card.title}") if still else ""
    size = "" if card.n_items is None else f"{card.n_items:,}"
    with st.container(key=f"sample-{name}", gap=None):
        st.html(
            f'<div class="hv-sample">{image}<div><h3>{theme.esc(card.title)}</h3>'
            f"<p>{theme.esc(', '.join(card.datasets))}</p></div>"
            f'<span title="Items">{theme.esc(size)}</span></div>'
        )
        # It lies over the whole row.
        st.button(
            f"{'Opened' if is_open else 'Open'}: {theme.plain(card.title)}",
            key=f"open-{name}",
            type="tertiary",
            disabled=is_open,
            width="stretch",
            on_click=_open,
            args=(name,),
        )


def _open(name: str) -> None:
    session.do(OpenSample(name))
