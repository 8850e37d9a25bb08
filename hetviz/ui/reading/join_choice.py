"""Choice of how dropped tables are joined, by a drawing of the tables and checkboxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st

from hetviz._text import (
    capital,
    count_rows,
    finish_sentence,
    join_first,
    join_words,
    round_percent,
    shorten,
)
from hetviz._types import JsonObject
from hetviz.data import HeteroData
from hetviz.data.joins.join import Join
from hetviz.data.joins.proposals import Proposal, check_join
from hetviz.data.joins.similar_rows import SIMILAR
from hetviz.data.model.statements import set_names
from hetviz.errors import HetvizError
from hetviz.features.link_values import LinkValue
from hetviz.features.table_joins import ROWS, DetailTable, detail_tables, join_tables
from hetviz.ui.map import map_warnings
from hetviz.ui.reading import compare_rows, guide, join_map, judge_pairs
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.page_state import state_of
from hetviz.ui.widgets import set_switches
from hetviz.workspace import JoinTables, State, SwitchSet

# Larger data are joined without a preview.
_MAX_PREVIEW_ROWS = 60_000
_MAX_COLUMNS = 3
_MAX_PILLS = 20
# More certain joins than that are folded in the steps of a first project.
_MAX_UNFOLDED = 4


@dataclass(frozen=True)
class ChosenJoins:
    """The chosen joins, and what the rows of each table become (see `hetviz.join_tables`)."""

    joins: tuple[Join, ...] = ()
    rows: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, JsonObject | None] = field(default_factory=dict)
    include: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def command(self) -> JoinTables | None:
        """Command that makes the chosen joins, or None without any."""
        if not self.joins:
            return None
        joins = [join.to_dict() for join in self.joins]
        include = {name: list(columns) for name, columns in self.include.items()}
        return JoinTables(joins, dict(self.rows), dict(self.values), include)


@dataclass
class DrawnJoins:
    """Joins that the user made of two columns, for the tables that are being reviewed."""

    joins: tuple[Join, ...] = ()
    # The earlier joins, with the ticks and answers at that time.
    history: tuple[tuple[tuple[Join, ...], Mapping[str, object]], ...] = ()
    # What the rows and values of tables were said to be when the page was last drawn.
    answers: Mapping[str, object] = field(default_factory=dict)

    def of(self, data: HeteroData) -> list[Join]:
        """Return the joins whose columns exist in the data."""
        return [
            join
            for join in self.joins
            if _has_columns(data, join.source, join.source_columns)
            and _has_columns(data, join.target, join.target_columns)
        ]


def _has_columns(data: HeteroData, name: str, columns: Sequence[str]) -> bool:
    return name in data.datasets and all(column in column_options(data, name) for column in columns)


def column_options(data: HeteroData, name: str) -> list[str]:
    """Return the columns of a dataset that a join can use, "" for the ids."""
    table = data[name].table
    return ["", *([] if table is None else map(str, table.columns))]


def id_column(data: HeteroData, name: str) -> str:
    """Return the name of the id column of a dataset, "row number" if it has none."""
    return str((data[name].recipe or {}).get("id", "")) or "row number"


def choose_joins(
    data: HeteroData,
    proposals: Sequence[Proposal],
    key: str,
    stated: Sequence[Join] = (),
    map_box: AbstractContextManager[object] | None = None,
    is_guided: bool = False,
    unlinked: Sequence[tuple[str, str]] = (),
) -> ChosenJoins:
    """Show the join proposals, the certain ones ticked, and return the choice.

    `stated`: joins of columns that the user declared as keys of another table. `map_box`: the
    container of the drawing of the tables; default: here. `is_guided`: fold what rarely changes.
    `unlinked`: tables that are offered to be compared by their rows.
    """
    if not proposals and len(data.datasets) < 2:
        return ChosenJoins()
    proposals = judge_pairs.with_answers(data, proposals)
    proposals = [*_drawn_proposals(data, proposals, stated), *proposals]
    n_sure = sum(proposal.sure for proposal in proposals)
    aside = f"{n_sure} of {len(proposals)} ticked" if n_sure else ""
    theme.show_section("Links between tables", aside)
    diagram_box = map_box or st.container()
    ticks = {f"tick-{key}-{_tick_name(proposal.join)}": proposal for proposal in proposals}
    ticked = []
    # What is certain comes first, then what is asked.
    for is_sure in (True, False):
        part = {tick: one for tick, one in ticks.items() if one.sure is is_sure}
        if part and not is_sure:
            theme.show_section("Are these right, too?", f"{len(part):,} to check")
        is_folded = is_guided and is_sure and len(part) > _MAX_UNFOLDED
        with st.expander(f"All {len(part):,} matches") if is_folded else st.container(gap="small"):
            ticked += [
                proposal.join
                for tick, proposal in part.items()
                if _join_checkbox(data, proposal, tick, list(ticks))
            ]
    compare_rows.show_offer(data, unlinked, key)
    line_tables = detail_tables(data, ticked)
    answers: dict[str, object] = {}
    is_folded = is_guided and bool(line_tables)
    with st.expander("What rows become") if is_folded else st.container(gap="small"):
        rows = {
            lines.dataset: _choose_row_meaning(data, lines, key, list(ticks), answers)
            for lines in line_tables
        }
        values = {
            lines.dataset: _choose_value(lines, key, list(ticks), answers)
            for lines in line_tables
            if rows[lines.dataset] in ("links", "both") and lines.values
        }
        include = {
            lines.dataset: columns
            for lines in line_tables
            if rows[lines.dataset] in ("summary", "both")
            and (columns := _choose_left_out(lines, key))
        }
        examples = st.container(gap="small")
    state_of(DrawnJoins).answers = answers
    chosen = ChosenJoins(
        tuple(ticked),
        {name: meaning for name, meaning in rows.items() if meaning != "items"},
        {name: None if value is None else value.to_dict() for name, value in values.items()},
        include,
    )
    with diagram_box:
        _show_join_map(data, ticks, ticked, key, is_guided)
    _show_preview(data, chosen, line_tables, list(ticks), examples if is_folded else None)
    return chosen


def _tick_name(join: Join) -> str:
    return repr((join.kind, *_ends_of(join)))


def _show_join_map(
    data: HeteroData,
    ticks: Mapping[str, Proposal],
    ticked: Sequence[Join],
    key: str,
    is_guided: bool,
) -> None:
    drawn = state_of(DrawnJoins)
    infos = [
        (tick, proposal_sentence(data, one), one, one.join in ticked, one.join in drawn.joins)
        for tick, one in ticks.items()
    ]
    map_key = f"join-map-{key}"

    def act() -> None:
        apply_act(data, ticks, st.session_state[map_key].act)

    # The steps list the joins next to the drawing already.
    join_map.draw_join_map(map_key, data, infos, bool(drawn.history), act, has_list=not is_guided)


def apply_act(data: HeteroData, ticks: Mapping[str, Proposal], action: object) -> None:
    """Apply an action of the drawing, ignoring invalid ones."""
    if not isinstance(action, Mapping):
        return
    drawn = state_of(DrawnJoins)
    proposal = ticks.get(str(action.get("key")))
    match action:
        case {"do": "undo"}:
            _undo_join()
        case {
            "do": "join",
            "source": str(source),
            "column": str(column),
            "target": str(target),
            "other": str(other),
        } if (source, column) != (target, other):
            join = Join("key", source, target, column, other, loose=True)
            ends = [(source, join.source_columns), (target, join.target_columns)]
            if all(_has_columns(data, *end) for end in ends):
                _add_join(join, list(ticks))
                replaced = ticks.get(str(action.get("instead_of")))
                if replaced is not None and isinstance(_checked_join(data, join), Proposal):
                    _leave_out(replaced.join, str(action["instead_of"]))
        case {"do": "set", "key": str(key), "on": bool(on)} if proposal is not None:
            remember(list(ticks))
            st.session_state[key] = on
        case {"do": "remove", "key": str(key)} if proposal and proposal.join in drawn.joins:
            remember(list(ticks))
            _leave_out(proposal.join, key)
        case {"do": "reverse", "key": str(key)} if proposal is not None:
            join = proposal.join
            if join.kind != "key" or join.also:
                return
            turned = replace(
                join,
                source=join.target,
                target=join.source,
                source_column=join.target_column,
                target_column=join.source_column,
            )
            _add_join(turned, list(ticks))
            if isinstance(_checked_join(data, turned), Proposal):
                _leave_out(join, key)


def _leave_out(join: Join, tick: str) -> None:
    """Remove a join of the user's, and untick a proposed one."""
    drawn = state_of(DrawnJoins)
    drawn.joins = tuple(one for one in drawn.joins if one != join)
    st.session_state[tick] = False


def remember(ticks: Sequence[str], changed: str = "") -> None:
    """Keep the joins and ticks for undo; `changed`: a tick that was just changed."""
    drawn = state_of(DrawnJoins)
    values: dict[str, object] = {
        tick: bool(st.session_state.get(tick)) ^ (tick == changed) for tick in ticks
    }
    values |= drawn.answers
    drawn.history = (*drawn.history, (drawn.joins, values))


def forget_edits() -> None:
    """Forget the joins of the tables that were reviewed."""
    drawn = state_of(DrawnJoins)
    drawn.joins, drawn.history, drawn.answers = (), (), {}
    compare_rows.stop_all()


def _drawn_proposals(
    data: HeteroData, proposals: Sequence[Proposal], stated: Sequence[Join]
) -> list[Proposal]:
    """Return the joins of the user's that are no proposals, with their counts."""
    known = {_ends_of(proposal.join) for proposal in proposals}
    out = []
    for join in dict.fromkeys([*stated, *state_of(DrawnJoins).of(data)]):
        if _ends_of(join) in known:
            continue
        checked = _checked_join(data, join)
        if isinstance(checked, Proposal):
            out.append(checked)
        else:
            theme.show_note(checked)
    return out


def _ends_of(join: Join) -> tuple[object, ...]:
    return join.source, join.source_columns, join.target, join.target_columns


def _checked_join(data: HeteroData, join: Join) -> Proposal | str:
    """Return a join with its counts, or why it is not possible."""

    def check() -> Proposal | str:
        try:
            return check_join(data, join)
        except HetvizError as error:
            return str(error)

    return session.get_or_compute(("join", id(data), _ends_of(join)), data, check)


def _add_join(join: Join, ticks: Sequence[str]) -> None:
    remember(ticks)
    drawn = state_of(DrawnJoins)
    same = next((tick for tick in ticks if tick.endswith(_tick_name(join))), None)
    if same is not None:
        st.session_state[same] = True
        return
    drawn.joins = tuple(dict.fromkeys([*drawn.joins, join]))


def _undo_join() -> None:
    drawn = state_of(DrawnJoins)
    if drawn.history:
        *earlier, (drawn.joins, values) = drawn.history
        drawn.history = tuple(earlier)
        for tick, value in values.items():
            st.session_state[tick] = value


def _choose_value(
    lines: DetailTable, key: str, ticks: Sequence[str], answers: dict[str, object]
) -> LinkValue | None:
    """Ask what the values of rows mean for their links, and return the answer."""
    options: list[LinkValue | None] = [*lines.values, None]
    name = f"value-{key}-{lines.dataset}-{len(options)}"
    at = answers[name] = st.selectbox(
        theme.escape_markdown(f"What counts in {lines.dataset}"),
        range(len(options)),
        index=options.index(lines.value),
        format_func=lambda at: _value_text(options[at]),
        key=name,
        on_change=remember,
        args=(ticks,),
        help=theme.escape_markdown(
            " ".join([*(value.question for value in lines.values[:1]), _VALUE_HELP])
        ),
    )
    return options[at]


def _choose_left_out(lines: DetailTable, key: str) -> tuple[str, ...]:
    """List the columns that a summary leaves out, and return those to use anyway."""
    left_out = [column for column in lines.columns if column.reason]
    reasons = {column.name: column.reason for column in left_out if column.can_be_used}
    unusable = [f"{column.name} ({column.reason})" for column in left_out if not column.can_be_used]
    chosen: Sequence[str] = ()
    if reasons:
        # A long list is searched, not read. Its options are plain text.
        is_short = len(reasons) <= _MAX_PILLS
        choose = partial(st.pills, selection_mode="multi") if is_short else st.multiselect
        escape = theme.escape_markdown if is_short else str
        chosen = choose(
            theme.escape_markdown(f"Left out of the summary of {lines.dataset}"),
            list(reasons),
            format_func=lambda name: escape(f"{name}: {reasons[name]}"),
            key=f"include-{key}-{lines.dataset}",
            help="Click a column to use it anyway.",
        )
    if unusable:
        theme.show_note(f"Not used in the summary of {lines.dataset}: {join_words(unusable)}.")
    return tuple(chosen)


_VALUE_HELP = (
    "Positive values pull what a row links together, negative ones push it apart. Without a value, "
    "every row counts the same."
)


def _value_text(value: LinkValue | None) -> str:
    if value is None:
        return "every row the same"
    if value.meaning == "sign":
        together = [f"“{word}”" for word, weight in value.levels.items() if weight > 0]
        apart = [f"“{word}”" for word, weight in value.levels.items() if weight < 0]
        others = [f"“{word}”" for word, weight in value.levels.items() if weight == 0]
        words = [
            f"{join_words(together) or 'positive'} together",
            f"{join_words(apart) or 'negative'} apart",
            *([f"{join_words(others)} nothing"] if others else []),
        ]
        return f"{value.column}: {', '.join(words)}"
    if value.meaning == "rating":
        return f"{value.column}: high together, low apart"
    return f"{value.column}: the more, the stronger"


_SIMILARITY = {
    "words": "have similar words",
    "meaning": "have similar meanings",
    "pictures": "have similar pictures",
    "place": "have close places",
    "date": "have close dates",
}


def proposal_sentence(data: HeteroData, proposal: Proposal) -> str:
    """Return a proposal in words."""
    join = proposal.join
    column = join_words([name or id_column(data, join.source) for name in join.source_columns])
    if join.kind == "views":
        return f"{join.source} and {join.target} show the same items"
    if join.kind == "tags":
        return f"The entries of {column} in {join.source} become a dataset"
    if join.kind == "near":
        return f"{join.source} are linked with the nearest {join.target}"
    if join.kind in SIMILAR:
        return f"Rows of {join.source} and {join.target} {_SIMILARITY[join.kind]}"
    verb = "lists" if join.kind == "list" else "match" if join.also else "matches"
    return f"{column} in {join.source} {verb} {join.target}"


def show_link_kinds(state: State) -> None:
    """Show the links between datasets, with a checkbox that switches each set on or off."""
    data = state.opened()
    if not data.links:
        return
    theme.show_section("Links between tables")
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
            partners.append(f"<i>{'itself' if verb == 'matches' else 'each other'}</i>")
        lines.append(f"<li>{_box_html(data, name)}<i>{verb}</i>{''.join(partners)}</li>")
    joined = {*names, *(target for targets in names.values() for target in targets)}
    unjoined = [name for name in data.datasets if name not in joined]
    if unjoined:
        boxes = "".join(_box_html(data, name) for name in unjoined)
        lines.append(f"<li>{boxes}<i>{unjoined_text}</i></li>")
    return f'<ul class="hv-join-list">{"".join(lines)}</ul>'


def _box_html(data: HeteroData, name: str, suffix: str = "") -> str:
    return f"<b>{theme.escape_html(name)}{suffix}<small>{len(data[name]):,}</small></b>"


def _join_checkbox(data: HeteroData, proposal: Proposal, tick: str, ticks: Sequence[str]) -> bool:
    match = proposal.match
    with st.container(gap=None, key=f"belongs-{tick.removeprefix('tick-')}"):
        # Not a default of the checkbox, as undo and the drawing change it too.
        st.session_state.setdefault(tick, proposal.sure)
        is_ticked = st.checkbox(
            theme.escape_markdown(proposal_sentence(data, proposal)),
            key=tick,
            on_change=remember,
            args=(ticks, tick),
            help=theme.escape_markdown(" ".join(proposal.evidence)),
        )
        if proposal.declared:
            return is_ticked
        _show_match_share(proposal)
        shown = proposal.examples(data)[: 1 if proposal.sure else 2]
        examples = " and ".join(
            " – ".join(shorten(title, 30) for title in dict.fromkeys(pair)) for pair in shown
        )
        note = finish_sentence(f"{theme.count(len(match.i), 'link')}, such as {examples}")
        theme.show_note(f"{proposal.doubt} {note}" if proposal.doubt else note)
        if proposal.join.kind in SIMILAR:
            judge_pairs.show_judging(data, proposal.join, tick)
            compare_rows.show_choice(data, proposal, tick)
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


def _choose_row_meaning(
    data: HeteroData, lines: DetailTable, key: str, ticks: Sequence[str], answers: dict[str, object]
) -> str:
    name, meanings = f"rows-{key}-{lines.dataset}-{len(lines.named)}", lines.uses
    meaning = answers[name] = st.selectbox(
        theme.escape_markdown(f"The {len(data[lines.dataset]):,} {lines.dataset} are"),
        meanings,
        index=meanings.index(lines.take),
        format_func=lambda way: ROWS[way],
        key=name,
        on_change=remember,
        args=(ticks,),
        help=theme.escape_markdown(
            f"{lines.sentence} As items, each is a point on the map. As links, they pull together "
            "what they refer to, more strongly the more of them there are. As a summary, what they "
            "refer to gets counts, means, shares and first and last dates as columns."
        ),
    )
    return meaning


def joined_data(data: HeteroData, chosen: ChosenJoins) -> HeteroData | HetvizError | None:
    """Return the data as they are mapped, why they cannot be, or None if they are too large."""
    if not chosen.joins:
        return data
    if data.n_rows > _MAX_PREVIEW_ROWS:
        return None
    values = tuple(sorted((name, str(value)) for name, value in chosen.values.items()))
    include = tuple(sorted(chosen.include.items()))
    rows = tuple(sorted(chosen.rows.items()))
    key = ("belonging", id(data), chosen.joins, rows, values, include)

    def join() -> HeteroData | HetvizError:
        try:
            return join_tables(data, chosen.joins, chosen.rows, chosen.values, chosen.include)
        except HetvizError as error:
            return error

    with st.spinner("Joining the tables …"):
        return session.get_or_compute(key, data, join)


def _show_preview(
    data: HeteroData,
    chosen: ChosenJoins,
    line_tables: Sequence[DetailTable],
    ticks: Sequence[str],
    examples: AbstractContextManager[object] | None,
) -> None:
    """Show what will be on the map; `examples`: the container of examples, default: here."""
    joined = joined_data(data, chosen) if chosen.joins else None
    if joined is None:
        return
    if isinstance(joined, HetvizError):
        map_warnings.show_warnings([map_warnings.unjoinable_warning(str(joined), ticks)])
        return
    links = theme.count(sum(map(len, joined.links)), "link")
    items = join_words([count_rows(len(part), name) for name, part in joined.datasets.items()])
    shared = [
        f" {theme.count(number, 'item')} {'is' if number == 1 else 'are'} {where}."
        for number, where in guide.shared_items(joined)
    ]
    theme.show_note(f"On the map: {items}, with {links}.{''.join(shared)}")
    with examples or st.container(gap="small"):
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
                joined[group.source].display_names[group.i[strongest]],
                joined[group.target].display_names[group.j[strongest]],
            )
            parts.append(f"the strongest link is {shorten(ends[0], 30)} – {shorten(ends[1], 30)}")
    if meaning in ("summary", "both"):
        table: Any = joined[lines.named[0]].table
        new_columns = [str(column) for column in table.columns if str(column).startswith(f"{name}")]
        column_names = join_first([f"“{column}”" for column in new_columns], _MAX_COLUMNS)
        parts.append(f"{capital(lines.named[0])} get the columns {column_names}")
    if meaning == "items":
        titles = joined[name].display_names
        parts.append(f"the first is called {shorten(str(titles[0]), 60)}")
    return f"{capital(name)}: {'. '.join(parts)}."
