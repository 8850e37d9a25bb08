"""How dropped tables belong together: a diagram, ticks for the joins, what rows are taken as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from hetviz._text import listed, rounded, short
from hetviz.data import HeteroData
from hetviz.data.joins.join import Join
from hetviz.data.joins.proposals import Proposal
from hetviz.data.model.statements import set_names
from hetviz.errors import HetvizError
from hetviz.features.joined_tables import ROWS, Lines, join_tables, lines_among
from hetviz.ui.map import warned
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import set_switches
from hetviz.workspace import JoinTables, State, SwitchSet

# Above this, what comes of the ticks is not worked out before it is asked for.
_MOST_ROWS = 60_000
_TOLD = 3


@dataclass(frozen=True)
class Belonging:
    """What was ticked.

    Attributes
    ----------
    joins : tuple of Join
    rows : mapping of str to str
        See `hetviz.join_tables`.
    """

    joins: tuple[Join, ...] = ()
    rows: Mapping[str, str] = field(default_factory=dict)

    @property
    def command(self) -> JoinTables | None:
        """The command that carries it out, if anything was ticked."""
        if not self.joins:
            return None
        return JoinTables([join.to_dict() for join in self.joins], dict(self.rows))


def ask(data: HeteroData, proposals: Sequence[Proposal], key: str) -> Belonging:
    """Show the proposals, those that are sure ticked, and return what is ticked."""
    if not proposals:
        return Belonging()
    sure = sum(one.sure for one in proposals)
    aside = f"{sure} of {len(proposals)} ticked" if sure else ""
    theme.section("How they belong together", aside)
    drawn = st.container()
    ticked = [one.join for place, one in enumerate(proposals) if _tick(data, one, f"{key}-{place}")]
    found = lines_among(data, ticked)
    rows = {lines.dataset: _rows(data, lines, key) for lines in found}
    chosen = Belonging(tuple(ticked), {name: how for name, how in rows.items() if how != "items"})
    with drawn:
        st.html(diagram(data, ticked))
    ticks = [f"tick-{key}-{place}" for place in range(len(proposals))]
    _outcome(data, chosen, found, ticks)
    return chosen


def sentence(proposal: Proposal) -> str:
    """Say what a proposal means, as one says it of the tables."""
    join = proposal.join
    column = listed([name or "id" for name in join.source_columns])
    if join.kind == "views":
        return f"{join.source} and {join.target} show the same things"
    if join.kind == "tags":
        return f"{join.source}: what {column} lists becomes a dataset"
    if join.kind == "near":
        return f"{join.source}: linked with the nearest {join.target}"
    verb = "lists" if join.kind == "list" else "together name" if join.also else "names"
    return f"{join.source}: {column} {verb} {join.target}"


def linked(state: State) -> None:
    """Show which datasets of a project are linked, with a tick for each sort of links.

    Without its tick no map goes by it; the links are kept.
    """
    data = state.opened()
    if not data.links:
        return
    theme.section("How they belong together")
    drawn = st.container()
    ticked: list[tuple[str, str]] = []
    sets = session.cached(("sets", id(data)), data, lambda: _by_set(data))
    ticks = st.container(gap=None, key="linked-ticks")
    for name, (number, pairs) in sets.items():
        between = list(dict.fromkeys(pairs))
        words = theme.listed([f"{a} – {b}" if a != b else f"within {a}" for a, b in between])
        on = name not in state.off
        # A key for each state: undo has to move the tick too.
        key = f"linked-{name}-{on}"
        ticks.checkbox(
            theme.plain(f"{words}: {name} ({theme.count(number, 'link')})"),
            value=on,
            key=key,
            on_change=set_switches.turned,
            args=(key, name, on, _switch),
        )
        ticked += between if on else []
    with drawn:
        pairs = list(dict.fromkeys(ticked))
        st.html(boxes(data, pairs, "linked with", "linked with nothing"))


def _switch(name: str, on: bool) -> None:
    session.do(SwitchSet(name, on))


def _by_set(data: HeteroData) -> dict[str, tuple[int, list[tuple[str, str]]]]:
    """Return how many links each set of statements has, and between which datasets."""
    names, start = set_names(data), 0
    found: dict[str, tuple[int, list[tuple[str, str]]]] = {}
    for group in data.links:
        for name, number in Counter(names[start : start + len(group)].tolist()).items():
            before, between = found.get(str(name), (0, []))
            found[str(name)] = (before + number, [*between, (group.source, group.target)])
        start += len(group)
    return found


def diagram(data: HeteroData, joins: Sequence[Join]) -> str:
    """Return boxes of the datasets, each with those that it names beside it, as HTML."""
    pairs = [(join.source, join.target) for join in joins if join.target in data.datasets]
    return boxes(data, pairs, "names", "joined with nothing")


def boxes(data: HeteroData, pairs: Sequence[tuple[str, str]], verb: str, alone_words: str) -> str:
    """Return boxes of the datasets, each with its partners beside it, as HTML."""
    names: dict[str, list[str]] = {}
    for source, target in pairs:
        names.setdefault(source, []).append(target)
    lines = []
    for name, targets in names.items():
        there = [
            _box(data, target, " twice" if targets.count(target) > 1 else "")
            for target in dict.fromkeys(targets)
            if target != name
        ]
        if name in targets:
            there.append("<i>each other</i>")
        lines.append(f"<li>{_box(data, name)}<i>{verb}</i>{''.join(there)}</li>")
    found = {*names, *(target for targets in names.values() for target in targets)}
    alone = [name for name in data.datasets if name not in found]
    if alone:
        rest = "".join(_box(data, name) for name in alone)
        lines.append(f"<li>{rest}<i>{alone_words}</i></li>")
    return f'<ul class="hv-belong">{"".join(lines)}</ul>'


def _box(data: HeteroData, name: str, more: str = "") -> str:
    return f"<b>{theme.esc(name)}{more}<small>{len(data[name]):,}</small></b>"


def _tick(data: HeteroData, proposal: Proposal, key: str) -> bool:
    match = proposal.match
    with st.container(gap=None, key=f"belongs-{key}"):
        ticked = st.checkbox(
            theme.plain(sentence(proposal)),
            value=proposal.sure,
            key=f"tick-{key}",
            help=theme.plain(" ".join(proposal.evidence)),
        )
        _share(proposal)
        words = f"{theme.count(len(match.i), 'link')}, such as "
        words += "; ".join(
            f"{short(one, 30)} – {short(other, 30)}" for one, other in proposal.examples(data)[:2]
        )
        theme.quiet(f"{proposal.doubt} {words}." if proposal.doubt else f"{words}.")
    return ticked


def _share(proposal: Proposal) -> None:
    """Show how many rows of the source find one that they name."""
    source = proposal.join.source
    if source not in proposal.reach.linked:
        return
    found, of = proposal.reach.linked[source], max(proposal.reach.items[source], 1)
    st.html(
        f'<div class="hv-match"><span><i style="width:'
        f'{found / of:.1%}"></i></span><b title="{found:,} of {of:,} {theme.esc(source)}">'
        f"{theme.esc(rounded(found / of))}</b></div>"
    )


def _rows(data: HeteroData, lines: Lines, key: str) -> str:
    named = len(lines.named)
    ways = [way for way in ROWS if named > 1 or way in ("items", "summary")]
    return st.selectbox(
        theme.plain(f"The {len(data[lines.dataset]):,} {lines.dataset} are"),
        ways,
        index=ways.index(lines.take),
        format_func=lambda way: ROWS[way],
        key=f"rows-{key}-{lines.dataset}-{named}",
        help=theme.plain(
            f"{lines.sentence} As items each is a point of the map. As links they draw together "
            "what they name, the more of them the closer. As a summary, what they name gets their "
            "number, means and shares as columns."
        ),
    )


def _outcome(
    data: HeteroData, chosen: Belonging, found: Sequence[Lines], ticks: Sequence[str]
) -> None:
    """Say what will come of it."""
    if not chosen.joins or data.n_rows > _MOST_ROWS:
        return
    key = ("belonging", id(data), chosen.joins, tuple(sorted(chosen.rows.items())))

    def make() -> HeteroData | HetvizError:
        try:
            return join_tables(data, chosen.joins, chosen.rows)
        except HetvizError as error:
            return error

    with st.spinner("Joining them to see what comes of it …"):
        made = session.cached(key, data, make)
    if isinstance(made, HetvizError):
        warned.show([warned.not_joined(str(made), ticks)])
        return
    links = theme.count(sum(map(len, made.links)), "link")
    items = listed([f"{len(part):,} {name}" for name, part in made.datasets.items()])
    theme.quiet(f"On the map: {items}, with {links}.")
    for lines in found:
        told = _told(made, lines, chosen.rows.get(lines.dataset, "items"))
        if told:
            theme.quiet(told)


def _told(made: HeteroData, lines: Lines, how: str) -> str:
    """Say by an example what rows become."""
    name, parts = lines.dataset, []
    if how in ("links", "both"):
        groups = [group for group in made.links if group.kind.startswith(name) and len(group)]
        for group in groups[:1]:
            top = int(group.weight.argmax())
            ends = made[group.source].titles[group.i[top]], made[group.target].titles[group.j[top]]
            parts.append(f"the strongest link is {short(ends[0], 30)} – {short(ends[1], 30)}")
    if how in ("summary", "both"):
        table: Any = made[lines.named[0]].table
        new = [str(column) for column in table.columns if str(column).startswith(f"{name}")]
        shown = listed([f"“{column}”" for column in new[:_TOLD]])
        more = f" and {len(new) - _TOLD:,} more" if len(new) > _TOLD else ""
        parts.append(f"{lines.named[0]} get the columns {shown}{more}")
    if how == "items":
        titles = made[name].titles
        parts.append(f"the first is called {short(str(titles[0]), 60)}")
    return f"{name[:1].upper()}{name[1:]}: {'; '.join(parts)}."
