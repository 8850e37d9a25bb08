"""The Clusters page: regions of the map, clusters and their actions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from hetviz._text import is_name, round_percent
from hetviz._types import Ints
from hetviz.core.clustering.partition import choose_exemplars
from hetviz.plots.colour import Colouring, display_name
from hetviz.runs.cluster.cards import ClusterCard
from hetviz.runs.cluster.regions import RegionLevel
from hetviz.ui.clusters import actions, find
from hetviz.ui.clusters import cards as clusters_cards
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import find_item
from hetviz.ui.map_data import layers
from hetviz.ui.map_data import parts as map_parts
from hetviz.ui.map_data.array_cache import RESULTS
from hetviz.ui.shell import background, theme
from hetviz.ui.shell.page_state import project_id
from hetviz.ui.widgets import progress
from hetviz.ui.widgets.select_buttons import show_select_button
from hetviz.workspace import MapResult, State

_MAX_PICTURES, _MAX_NAMES, _SAMPLE_SIZE = 7, 4, 400
_COARSE_LABEL, _FINE_LABEL = "large", "small"
_REGION_METHOD = {"method": "agglomerative", "space": "on the map itself", "asked": "map"}


def show(state: State) -> None:
    """Show the clusters of the shown map."""
    if state.run is None:
        theme.show_headline("No clusters yet", "Clusters are found on a map. Make one first.")
        return
    cards: tuple[ClusterCard, ...] = ()
    if state.clustering is None:
        if not _show_regions(state, state.run):
            theme.show_headline(
                "No clusters yet", "Find groups of close items, and what is typical of each."
            )
            find.show_form(state)
    else:
        with st.spinner("Finding what is typical of the clusters"):
            cards = clusters_cards.cards_of(state)
        clusters_cards.show_headline(state, cards)
        find.show_form(state)
    if background.running_job() is not None:
        progress.show_progress()
    if cards:
        actions.show_actions(state, cards)
    clusters_cards.show_cards(state, cards)


@dataclass(frozen=True, eq=False)
class ListedRegion:
    """A region as it is listed."""

    name: str
    account: str  # What the name rests on; empty without a name.
    rows: Ints
    inside: float
    typical: Ints
    code: int


def _show_regions(state: State, run: MapResult) -> bool:
    """List the regions of the shown map, tightest first, False if it has none."""
    with st.spinner("Finding the areas of the map"):
        levels = layers.find_regions(state, run, project_id())
    if levels is None:
        theme.show_headline("Finding the areas of the map", "They are listed here soon.")
        _show_folded_form(state)
        return True
    if not levels:
        return False
    titles = {
        f"{len(level.names)} {name}": level
        for name, level in zip((_COARSE_LABEL, _FINE_LABEL), levels, strict=True)
    }
    level_shown = titles[str(st.session_state.get("quick-level") or next(iter(titles)))]
    regions = _listed_regions(state, run, level_shown)
    level_number = levels.index(level_shown)
    _show_headline(regions)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="quick-head"):
        st.segmented_control(
            "How many regions",
            list(titles),
            default=next(iter(titles)),
            required=True,
            key="quick-level",
            persist_state="session",
            label_visibility="collapsed",
        )
        with st.container(key="primary_keep", width="content"):
            st.button(
                "Keep as clusters",
                type="primary",
                key="quick-keep",
                on_click=_keep_as_clusters,
                args=(level_shown,),
                help="Rename, merge and split them, colour the map by them, turn them into "
                "guidance.",
            )
    _show_folded_form(state)
    colours = layers.colours_of(state, run)
    for number, region in enumerate(regions):
        with st.container(key=f"quick-{number}", gap=None):
            st.html(_region_html(state, region, colours, f"regions/{level_number}/{region.code}"))
            show_select_button(
                state,
                f"Select {region.name}",
                f"quick-select-{number}",
                region.rows.tolist(),
                kind="tertiary",
            )
    return True


def _show_folded_form(state: State) -> None:
    with st.expander("Find clusters in more detail"):
        theme.show_note("Tries many numbers of clusters and shows how reliable each is.")
        find.show_form(state)


def _listed_regions(state: State, run: MapResult, level: RegionLevel) -> tuple[ListedRegion, ...]:
    data = state.opened()

    def make() -> tuple[ListedRegion, ...]:
        Y = map_parts.get_geometry(state, run).points.astype(np.float64)
        A = data.adjacency("+").astype(bool).astype(np.float64)
        regions = []
        for code, name in enumerate(level.details):
            member = (level.codes == code).astype(np.float64)
            rows = np.flatnonzero(member)
            touching = float(np.asarray(A @ member).sum())
            within = float(member @ np.asarray(A @ member).ravel())
            sample = rows[:: max(1, len(rows) // _SAMPLE_SIZE)]
            regions.append(
                ListedRegion(
                    name.text or f"Region {code + 1}",
                    name.account.partition(": ")[2],
                    rows,
                    within / touching if touching else float("nan"),
                    sample[choose_exemplars(Y[sample], 2 * _MAX_PICTURES)],
                    code,
                )
            )
        return tuple(
            sorted(regions, key=lambda region: (-np.nan_to_num(region.inside), -len(region.rows)))
        )

    return RESULTS.get_or_compute(data, ("quick clusters", id(run), id(level)), make, (run, level))


def _show_headline(regions: tuple[ListedRegion, ...]) -> None:
    tightest = regions[0]
    text = ""
    if not np.isnan(tightest.inside):
        share = round_percent(tightest.inside)
        text = (
            f"The tightest is “{tightest.name}”, as {share} of its links stay inside. "
            "Each area shows its items and this share."
        )
    theme.show_headline("Which areas does this map have?", text)


def _region_html(state: State, region: ListedRegion, colours: Colouring, where: str) -> str:
    inside = "" if np.isnan(region.inside) else f" · {round_percent(region.inside)}"
    level = where.split("/")[1]
    name_html = theme.evidence_html(
        theme.escape_html(region.name), theme.evidence_key("region", level, region.code)
    )
    inside_html = theme.evidence_html(
        inside, theme.evidence_key("region-links", level, region.code) if inside else ""
    )
    account = ""
    if region.account:
        account_html = theme.evidence_html(
            f"True of {theme.escape_html(region.account)}.",
            theme.evidence_key("region", level, region.code),
        )
        account = f"<p>{account_html}</p>"
    return (
        f'<div class="hv-cluster hv-quick" data-hv-cluster="{where}" '
        f'data-hv-name="{theme.escape_html(region.name)}"><h2>{name_html}'
        f"<span>{len(region.rows):,}{inside_html}</span></h2>"
        f"{account}{_pictures_html(state, region)}"
        f"{_mix_html(region, colours)}</div>"
    )


def _pictures_html(state: State, region: ListedRegion) -> str:
    """Return typical members by their pictures, else by their names."""
    data = state.opened()
    items = [find_item(data, row) for row in region.typical.tolist()]
    pictures = [
        f'<img src="{theme.escape_html(source)}" alt="" title="{theme.escape_html(item.title)}">'
        for item in items
        if (source := item_chip.picture_of(data, item))
    ]
    if pictures:
        return f'<div class="hv-pictures">{"".join(pictures[:_MAX_PICTURES])}</div>'
    names = [
        member.title
        for member in items
        if is_name(member.title, str(member.dataset.ids[member.row]))
    ]
    # File names and running ids do not describe the area.
    return f"<p>{' · '.join(map(theme.escape_html, names[:_MAX_NAMES]))}</p>" if names else ""


def _mix_html(region: ListedRegion, colours: Colouring) -> str:
    """Return a bar of the categories of the members, in the colours of the map."""
    if not colours.categories:
        return ""
    codes = colours.code[region.rows]
    sizes = np.bincount(codes[codes >= 0], minlength=len(colours.categories))
    order = [int(code) for code in np.argsort(-sizes, kind="stable") if sizes[code]]
    palette = theme.category_colours(colours)
    pieces = "".join(
        f'<i style="flex:{sizes[code]};background:{palette[code]}"></i>' for code in order
    )
    is_own = np.ones(len(codes), dtype=bool)
    if colours.is_borrowed is not None:
        is_own = ~colours.is_borrowed[region.rows]
    own_sizes = np.bincount(codes[is_own & (codes >= 0)], minlength=len(colours.categories))
    first = [_mix_text(colours, code, int(sizes[code]), int(own_sizes[code])) for code in order[:3]]
    label = theme.escape_html(", ".join(first))
    return f'<div class="hv-mix" role="img" aria-label="{label}">{pieces}</div>'


def _mix_text(colours: Colouring, code: int, size: int, own_size: int) -> str:
    text = f"{display_name(colours.categories[code])} {size}"
    return text if own_size == size else f"{text} ({size - own_size} by links)"


def _keep_as_clusters(level: RegionLevel) -> None:
    names = [name or f"Region {code + 1}" for code, name in enumerate(level.names)]
    find.set_clusters(level.codes, names, _REGION_METHOD)
