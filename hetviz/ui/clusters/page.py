"""Which groups lie on the map, what each of them is, and what to do with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from hetviz._text import is_name, rounded
from hetviz._types import Ints
from hetviz.core.clustering.partition import exemplars
from hetviz.plots.colour import Colouring, spoken
from hetviz.runs.cluster.cards import ClusterCard
from hetviz.runs.cluster.regions import Level
from hetviz.ui.clusters import actions, find
from hetviz.ui.clusters import cards as clusters_cards
from hetviz.ui.compare import progress
from hetviz.ui.map import layers
from hetviz.ui.map import parts as map_parts
from hetviz.ui.map.array_cache import kept
from hetviz.ui.shell import background, selection, theme
from hetviz.ui.widgets import item_chip
from hetviz.workspace import Run, State

_FACES, _NAMES, _SAMPLE = 7, 4, 400
_COARSE, _FINE = "Few", "Many"
_HOW = {"method": "agglomerative", "space": "on the map itself", "asked": "map"}


def show(state: State) -> None:
    """Show the clusters of the shown map."""
    if state.run is None:
        theme.headline("No clusters yet", "Clusters are found on a map: make one first.")
        return
    cards: tuple[ClusterCard, ...] = ()
    if state.clustering is None:
        if not _quick(state, state.run):
            theme.headline(
                "No clusters yet",
                "Find groups of items that lie together, and what sets each of them apart.",
            )
        theme.section("Look closer")
        theme.quiet("Tries many numbers of clusters, and says how far each is to be trusted.")
    else:
        with st.spinner("Reading what sets the clusters apart"):
            cards = clusters_cards.cards_of(state)
        clusters_cards.headline(state, cards)
    find.show(state)
    if background.live() is not None:
        progress.show()
    if cards:
        actions.show(state, cards)
    clusters_cards.show(state, cards)


@dataclass(frozen=True, eq=False)
class Region:
    """A region as it is listed.

    Attributes
    ----------
    name : str
    rows : array of int
        Global rows of its members.
    inside : float
        Share of the links of its members that lie inside; NaN without any.
    typical : array of int
        Rows of typical members, unlike each other.
    code : int
        Its number at its level of regions.
    """

    name: str
    rows: Ints
    inside: float
    typical: Ints
    code: int


def _quick(state: State, run: Run) -> bool:
    """List the regions of the shown map, those that keep their links best first; False for none."""
    with st.spinner("Reading the regions of the map"):
        levels = layers.regions_of(state, run, background.owner())
    if levels is None:
        theme.headline("The regions of the map are being read", "They are listed here then.")
        return True
    if not levels:
        return False
    titles = {
        f"{name} {len(level.names)}": level
        for name, level in zip((_COARSE, _FINE), levels, strict=True)
    }
    shown = titles[str(st.session_state.get("quick-level") or next(iter(titles)))]
    regions = _regions(state, run, shown)
    level = levels.index(shown)
    _headline(regions)
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
        st.button(
            "Keep as clusters",
            key="quick-keep",
            on_click=_keep,
            args=(shown,),
            help="Rename, merge and split them, colour the map by them, turn them into guidance.",
        )
    colours = layers.colours_of(state, run)
    for place, region in enumerate(regions):
        with st.container(key=f"quick-{place}", gap=None):
            st.html(_body(state, region, colours, f"regions/{level}/{region.code}"))
            st.button(
                f"Select {region.name}",
                key=f"quick-select-{place}",
                type="tertiary",
                on_click=selection.choose,
                args=(region.rows.tolist(),),
            )
    return True


def _regions(state: State, run: Run, level: Level) -> tuple[Region, ...]:
    data = map_parts.data_of(state)

    def make() -> tuple[Region, ...]:
        Y = map_parts.geometry(state, run).points.astype(np.float64)
        A = data.adjacency("+").astype(bool).astype(np.float64)
        found = []
        for code, name in enumerate(level.names):
            member = (level.codes == code).astype(np.float64)
            rows = np.flatnonzero(member)
            touching = float(np.asarray(A @ member).sum())
            within = float(member @ np.asarray(A @ member).ravel())
            some = rows[:: max(1, len(rows) // _SAMPLE)]
            found.append(
                Region(
                    name or f"Region {code + 1}",
                    rows,
                    within / touching if touching else float("nan"),
                    some[exemplars(Y[some], 2 * _FACES)],
                    code,
                )
            )
        return tuple(sorted(found, key=lambda one: (-np.nan_to_num(one.inside), -len(one.rows))))

    return kept(data, ("quick clusters", id(run), id(level)), make, (run, level))


def _headline(regions: tuple[Region, ...]) -> None:
    best = regions[0]
    if np.isnan(best.inside):
        title = f"{len(regions)} regions of the map"
    else:
        share = rounded(best.inside)
        title = f"“{best.name}” holds best of {len(regions)}: {share} of its links stay inside"
    theme.headline(title, "Items, and their links that stay inside.")


def _body(state: State, region: Region, colours: Colouring, where: str) -> str:
    inside = "" if np.isnan(region.inside) else f" · {rounded(region.inside)}"
    return (
        f'<div class="hv-cluster hv-quick" data-hv-cluster="{where}" '
        f'data-hv-name="{theme.esc(region.name)}"><h3>{theme.esc(region.name)}'
        f"<span>{len(region.rows):,}{inside}</span></h3>{_faces(state, region)}"
        f"{_mix(region, colours)}</div>"
    )


def _faces(state: State, region: Region) -> str:
    """Show typical members by their pictures, else by their names."""
    data = map_parts.data_of(state)
    items = [item_chip.item_at(data, row) for row in region.typical.tolist()]
    pictures = [
        f'<img src="{theme.esc(source)}" alt="" title="{theme.esc(item.title)}">'
        for item in items
        if (source := item_chip.picture_of(data, item))
    ]
    if pictures:
        return f'<div class="hv-faces">{"".join(pictures[:_FACES])}</div>'
    names = [one.title for one in items if is_name(one.title, str(one.dataset.ids[one.row]))]
    # Files and running ids say nothing of what lies there.
    return f"<p>{' · '.join(map(theme.esc, names[:_NAMES]))}</p>" if names else ""


def _mix(region: Region, colours: Colouring) -> str:
    """Show what the members are, in the colours of the map."""
    if not colours.categories:
        return ""
    codes = colours.code[region.rows]
    sizes = np.bincount(codes[codes >= 0], minlength=len(colours.categories))
    order = [int(code) for code in np.argsort(-sizes, kind="stable") if sizes[code]]
    palette = theme.category_colours(colours)
    pieces = "".join(
        f'<i style="flex:{sizes[code]};background:{palette[code]}"></i>' for code in order
    )
    first = [f"{spoken(colours.categories[code])} {sizes[code]}" for code in order[:3]]
    return (
        f'<div class="hv-mix" role="img" aria-label="{theme.esc(", ".join(first))}">{pieces}</div>'
    )


def _keep(level: Level) -> None:
    names = [name or f"Region {code + 1}" for code, name in enumerate(level.names)]
    find.put(level.codes, names, _HOW)
