"""Checkboxes that choose how dropped tables are joined, with a diagram."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from hetviz._text import join_words, round_percent, shorten
from hetviz.data import HeteroData
from hetviz.data.joins.join import Join
from hetviz.data.joins.proposals import Proposal
from hetviz.data.model.statements import set_names
from hetviz.errors import HetvizError
from hetviz.features.table_joins import ROWS, DetailTable, detail_tables, join_tables
from hetviz.ui.map import map_warnings
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import set_switches
from hetviz.workspace import JoinTables, State, SwitchSet

# Larger data are joined without a preview.
_MAX_PREVIEW_ROWS = 60_000
_MAX_COLUMNS = 3


@dataclass(frozen=True)
class ChosenJoins:
    """The chosen joins, and what the rows of each table become (see `hetviz.join_tables`)."""

    joins: tuple[Join, ...] = ()
    rows: Mapping[str, str] = field(default_factory=dict)

    @property
    def command(self) -> JoinTables | None:
        """Command that makes the chosen joins, or None without any."""
        if not self.joins:
            return None
        return JoinTables([join.to_dict() for join in self.joins], dict(self.rows))


def choose_joins(data: HeteroData, proposals: Sequence[Proposal], key: str) -> ChosenJoins:
    """Show the join proposals, the certain ones ticked, and return the choice."""
    if not proposals:
        return ChosenJoins()
    n_sure = sum(proposal.sure for proposal in proposals)
    aside = f"{n_sure} of {len(proposals)} ticked" if n_sure else ""
    theme.show_section("How they belong together", aside)
    diagram_box = st.container()
    ticked = [
        proposal.join
        for number, proposal in enumerate(proposals)
        if _join_checkbox(data, proposal, f"{key}-{number}")
    ]
    line_tables = detail_tables(data, ticked)
    rows = {lines.dataset: _choose_row_meaning(data, lines, key) for lines in line_tables}
    chosen = ChosenJoins(
        tuple(ticked), {name: meaning for name, meaning in rows.items() if meaning != "items"}
    )
    with diagram_box:
        st.html(diagram_html(data, ticked))
    ticks = [f"tick-{key}-{number}" for number in range(len(proposals))]
    _show_preview(data, chosen, line_tables, ticks)
    return chosen


def proposal_sentence(proposal: Proposal) -> str:
    """Return a proposal in words."""
    join = proposal.join
    column = join_words([name or "id" for name in join.source_columns])
    if join.kind == "views":
        return f"{join.source} and {join.target} show the same items"
    if join.kind == "tags":
        return f"The entries of {column} in {join.source} become a dataset"
    if join.kind == "near":
        return f"{join.source} are linked with the nearest {join.target}"
    verb = "lists" if join.kind == "list" else "match" if join.also else "matches"
    return f"{column} in {join.source} {verb} {join.target}"


def show_link_kinds(state: State) -> None:
    """Show the links between datasets, with a checkbox that switches each set on or off."""
    data = state.opened()
    if not data.links:
        return
    theme.show_section("How they belong together")
    diagram_box = st.container()
    active_pairs: list[tuple[str, str]] = []
    sets = session.get_or_compute(("sets", id(data)), data, lambda: _links_by_set(data))
    ticks = st.container(gap=None, key="linked-ticks")
    for name, (number, pairs) in sets.items():
        dataset_pairs = list(dict.fromkeys(pairs))
        words = theme.join_words(
            [f"{a} – {b}" if a != b else f"within {a}" for a, b in dataset_pairs]
        )
        is_on = name not in state.off
        # The state is part of the key, so that undo moves the tick too.
        key = f"linked-{name}-{is_on}"
        ticks.checkbox(
            theme.escape_markdown(f"{words}: {name} ({theme.count(number, 'link')})"),
            value=is_on,
            key=key,
            on_change=set_switches.on_toggle,
            args=(key, name, is_on, _switch_set),
        )
        active_pairs += dataset_pairs if is_on else []
    with diagram_box:
        pairs = list(dict.fromkeys(active_pairs))
        st.html(boxes_html(data, pairs, "linked with", "without links"))


def _switch_set(name: str, on: bool) -> None:
    session.run_command(SwitchSet(name, on))


def _links_by_set(data: HeteroData) -> dict[str, tuple[int, list[tuple[str, str]]]]:
    """Return the number of links in each set, and the pairs of datasets they connect."""
    names, start = set_names(data), 0
    sets: dict[str, tuple[int, list[tuple[str, str]]]] = {}
    for group in data.links:
        for name, number in Counter(names[start : start + len(group)].tolist()).items():
            n_before, pairs = sets.get(str(name), (0, []))
            sets[str(name)] = (n_before + number, [*pairs, (group.source, group.target)])
        start += len(group)
    return sets


def diagram_html(data: HeteroData, joins: Sequence[Join]) -> str:
    """Return HTML of the datasets as boxes, each with the datasets it is joined to."""
    pairs = [(join.source, join.target) for join in joins if join.target in data.datasets]
    return boxes_html(data, pairs, "matches", "not joined")


def boxes_html(
    data: HeteroData, pairs: Sequence[tuple[str, str]], verb: str, unjoined_text: str
) -> str:
    """Return HTML of the datasets as boxes, each with its partners."""
    names: dict[str, list[str]] = {}
    for source, target in pairs:
        names.setdefault(source, []).append(target)
    lines = []
    for name, targets in names.items():
        partners = [
            _box_html(data, target, " twice" if targets.count(target) > 1 else "")
            for target in dict.fromkeys(targets)
            if target != name
        ]
        if name in targets:
            partners.append("<i>each other</i>")
        lines.append(f"<li>{_box_html(data, name)}<i>{verb}</i>{''.join(partners)}</li>")
    joined = {*names, *(target for targets in names.values() for target in targets)}
    unjoined = [name for name in data.datasets if name not in joined]
    if unjoined:
        boxes = "".join(_box_html(data, name) for name in unjoined)
        lines.append(f"<li>{boxes}<i>{unjoined_text}</i></li>")
    return f'<ul class="hv-join-list">{"".join(lines)}</ul>'


def _box_html(data: HeteroData, name: str, suffix: str = "") -> str:
    return f"<b>{theme.escape_html(name)}{suffix}<small>{len(data[name]):,}</small></b>"


def _join_checkbox(data: HeteroData, proposal: Proposal, key: str) -> bool:
    match = proposal.match
    with st.container(gap=None, key=f"belongs-{key}"):
        is_ticked = st.checkbox(
            theme.escape_markdown(proposal_sentence(proposal)),
            value=proposal.sure,
            key=f"tick-{key}",
            help=theme.escape_markdown(" ".join(proposal.evidence)),
        )
        _show_match_share(proposal)
        examples = f"{theme.count(len(match.i), 'link')}, such as "
        examples += " and ".join(
            f"{shorten(first, 30)} – {shorten(other, 30)}"
            for first, other in proposal.examples(data)[:2]
        )
        theme.show_note(f"{proposal.doubt} {examples}." if proposal.doubt else f"{examples}.")
    return is_ticked


def _show_match_share(proposal: Proposal) -> None:
    """Show the share of source rows that match a target row."""
    source = proposal.join.source
    if source not in proposal.reach.linked:
        return
    n_linked, n_items = proposal.reach.linked[source], max(proposal.reach.items[source], 1)
    st.html(
        f'<div class="hv-match"><span><i style="width:'
        f'{n_linked / n_items:.1%}"></i></span><b title="{n_linked:,} of {n_items:,} '
        f'{theme.escape_html(source)}">'
        f"{theme.escape_html(round_percent(n_linked / n_items))}</b></div>"
    )


def _choose_row_meaning(data: HeteroData, lines: DetailTable, key: str) -> str:
    n_named = len(lines.named)
    meanings = [way for way in ROWS if n_named > 1 or way in ("items", "summary")]
    return st.selectbox(
        theme.escape_markdown(f"The {len(data[lines.dataset]):,} {lines.dataset} are"),
        meanings,
        index=meanings.index(lines.take),
        format_func=lambda way: ROWS[way],
        key=f"rows-{key}-{lines.dataset}-{n_named}",
        help=theme.escape_markdown(
            f"{lines.sentence} As items, each is a point on the map. As links, they pull together "
            "what they refer to, more strongly the more of them there are. As a summary, what they "
            "refer to gets counts, means and shares as columns."
        ),
    )


def _show_preview(
    data: HeteroData, chosen: ChosenJoins, line_tables: Sequence[DetailTable], ticks: Sequence[str]
) -> None:
    if not chosen.joins or data.n_rows > _MAX_PREVIEW_ROWS:
        return
    key = ("belonging", id(data), chosen.joins, tuple(sorted(chosen.rows.items())))

    def join() -> HeteroData | HetvizError:
        try:
            return join_tables(data, chosen.joins, chosen.rows)
        except HetvizError as error:
            return error

    with st.spinner("Joining the tables …"):
        joined = session.get_or_compute(key, data, join)
    if isinstance(joined, HetvizError):
        map_warnings.show_warnings([map_warnings.unjoinable_warning(str(joined), ticks)])
        return
    links = theme.count(sum(map(len, joined.links)), "link")
    items = join_words([f"{len(part):,} {name}" for name, part in joined.datasets.items()])
    theme.show_note(f"On the map: {items}, with {links}.")
    for lines in line_tables:
        example = _example_sentence(joined, lines, chosen.rows.get(lines.dataset, "items"))
        if example:
            theme.show_note(example)


def _example_sentence(joined: HeteroData, lines: DetailTable, meaning: str) -> str:
    """Return an example of what the rows become."""
    name, parts = lines.dataset, []
    if meaning in ("links", "both"):
        groups = [group for group in joined.links if group.kind.startswith(name) and len(group)]
        for group in groups[:1]:
            strongest = int(group.weight.argmax())
            ends = (
                joined[group.source].titles[group.i[strongest]],
                joined[group.target].titles[group.j[strongest]],
            )
            parts.append(f"the strongest link is {shorten(ends[0], 30)} – {shorten(ends[1], 30)}")
    if meaning in ("summary", "both"):
        table: Any = joined[lines.named[0]].table
        new_columns = [str(column) for column in table.columns if str(column).startswith(f"{name}")]
        column_names = join_words([f"“{column}”" for column in new_columns[:_MAX_COLUMNS]])
        others = (
            f" and {len(new_columns) - _MAX_COLUMNS:,} more"
            if len(new_columns) > _MAX_COLUMNS
            else ""
        )
        parts.append(f"{lines.named[0]} get the columns {column_names}{others}")
    if meaning == "items":
        titles = joined[name].titles
        parts.append(f"the first is called {shorten(str(titles[0]), 60)}")
    return f"{name[:1].upper()}{name[1:]}: {', '.join(parts)}."
