"""Joining panel of the Data page: proposals, manual joins, coverage by links."""

from __future__ import annotations

import streamlit as st

from hetviz._text import capital, round_percent, shorten
from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.join import Join, share_linked
from hetviz.data.joins.keys import cell_texts
from hetviz.data.joins.lists import SEPARATORS, separator_of
from hetviz.data.joins.matching import Match
from hetviz.data.joins.places import place_columns
from hetviz.data.joins.proposals import Proposal, spread_positions
from hetviz.data.joins.similar_rows import SIMILAR
from hetviz.data.model.checks import MAX_NAME_LENGTH
from hetviz.data.queries.reach import Reach, link_reach
from hetviz.errors import HetvizError
from hetviz.plots.palette import shape_of
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import find_item
from hetviz.ui.map import map_warnings
from hetviz.ui.map_data import worker_results
from hetviz.ui.reading import compare_rows, join_choice, judge_pairs
from hetviz.ui.shell import background, session, theme
from hetviz.ui.shell.page_state import project_id
from hetviz.ui.widgets import charts, failure
from hetviz.workspace import Command, JoinTables, SetEntity, State
from hetviz.workspace.commands.joining import command_for

_MAX_PAIRS = 8
_NAME_CHARS = 44

_ID_COLUMN = ""
_MAX_NAMED = 5
_SEPARATOR_NAMES = {
    ";": "; semicolon",
    "|": "| bar",
    "\n": "line end",
    ",": ", comma",
    "/": "/ slash",
}
_NEW_DATASET = None
_MAX_CARDS = 3
_STRONG_SCORE, _FAIR_SCORE = 0.7, 0.4


def show_pairs(data: HeteroData, match: Match, max_pairs: int = _MAX_PAIRS) -> None:
    """Show pairs spread evenly over the whole match."""
    positions = spread_positions(len(match.i), max_pairs)
    lines = [
        f'<div class="hv-pair"><div>{_end_html(data, match, match.source, int(match.i[k]))}'
        f"<em>with</em>{_end_html(data, match, match.target, int(match.j[k]))}"
        f"{_weight_html(match, int(k))}</div></div>"
        for k in positions
    ]
    st.html("".join(lines))
    if len(match.i) > len(positions):
        theme.show_note(f"{len(positions):,} of {len(match.i):,} pairs, spread evenly.")


def pairs_popover(data: HeteroData, match: Match, key: str) -> None:
    """Show a button that opens the pairs."""
    with (
        st.popover("Show the pairs", type="tertiary", key=f"pairs-{key}"),
        st.container(width=360, key=f"pairs-of-{key}"),
    ):
        show_pairs(data, match)
        show_notes(match.messages)


def show_coverage(reach: Reach) -> None:
    """Show for each dataset how many of its items have a link."""
    charts.show_bars(
        [
            (
                f"{reach.linked[name]:,} of {n:,} {name}",
                reach.linked[name] / n,
                round_percent(reach.linked[name] / n),
                "items with a link",
            )
            for name, n in reach.items.items()
        ],
        full=1.0,
    )


def show_notes(notes: tuple[str, ...] | list[str]) -> None:
    """Show notes about the pairs, one line each."""
    if notes:
        lines = "".join(f"<li>{theme.escape_html(line)}</li>" for line in notes)
        st.html(f'<ul class="hv-reasons">{lines}</ul>')


def _end_html(data: HeteroData, match: Match, name: str, row: int) -> str:
    if match.new_dataset is not None and name == match.new_dataset.name:
        # The new dataset is not in the data: it has no pictures and gets the next shape.
        title, picture = str(match.new_dataset.display_names[row]), None
        glyph = shape_of(len(data.datasets))[1]
    else:
        item = find_item(data, data.offsets[name].start + row)
        title, picture, glyph = item.title, item_chip.picture_of(data, item), item.glyph
    face = (
        f'<img src="{theme.escape_html(picture)}" alt="" loading="lazy">'
        if picture
        else f'<i aria-hidden="true">{glyph}</i>'
    )
    name_html = theme.escape_html(shorten(title, _NAME_CHARS))
    return f'<span title="{theme.escape_html(title)}">{face}{name_html}</span>'


def _weight_html(match: Match, position: int) -> str:
    if match.weight is None:
        return ""
    return f'<b title="weight">{match.weight[position]:.2g}</b>'


def show_manual_joins(data: HeteroData) -> None:
    """Show the forms that join datasets by hand."""
    methods = {"Key": _join_by_key} if len(data.datasets) > 1 else {}
    methods["List"] = _join_by_list
    if sum(place_columns(part) is not None for part in data.datasets.values()) > 1:
        methods["Places"] = _join_by_place
    with st.expander("Link by hand"):
        method = st.segmented_control(
            "How",
            list(methods),
            default=next(iter(methods)),
            required=True,
            label_visibility="collapsed",
            key=f"join-way-{len(methods)}",
        )
        methods[method or next(iter(methods))](data)


def _join_by_key(data: HeteroData) -> None:
    theme.show_note("Links items whose two columns hold the same text.")
    names = list(data.datasets)
    source = st.selectbox("First dataset", names, key="key-source")
    source_column = _choose_column(data[source], "Its key column", "key-source")
    others = [name for name in names if name != source]
    target = st.selectbox("Second dataset", others, key=f"key-target-{source}")
    target_column = _choose_column(data[target], "Its key column", "key-target")
    join = Join("key", source, target, source_column, target_column)
    exact, normalised = _find_match(data, join), _find_match(data, _normalised(join))
    gain = 0 if exact is None or normalised is None else len(normalised.i) - len(exact.i)
    is_normalised = st.toggle("Ignore case, spaces and letter variants", key="key-loose")
    if gain > 0:
        theme.show_note(f"{gain:,} more {'pair' if gain == 1 else 'pairs'} if these are ignored.")
    join = _normalised(join) if is_normalised else join
    kind = _choose_kind(
        "same id" if not source_column else f"same {shorten(source_column, 100)}", "key"
    )
    _offer_join(data, join, kind, "link")


def _join_by_list(data: HeteroData) -> None:
    text_columns = {name: _list_columns(data, name) for name in data.datasets}
    datasets = [name for name, columns in text_columns.items() if columns]
    if not datasets:
        theme.show_note("No text column has lists in its cells.")
        return
    # Columns with lists come first, and so do their datasets.
    datasets.sort(key=lambda name: _separator_of(data, name, text_columns[name][0]) is None)
    theme.show_note("Each cell lists ids, names or tags, as in “red; round”.")
    source = st.selectbox("Dataset", datasets, key="list-source")
    column = str(st.selectbox("Its column", text_columns[source], key=f"list-column-{source}"))
    separator = _separator_of(data, source, column)
    separator_choice = st.selectbox(
        "Separator",
        SEPARATORS,
        index=SEPARATORS.index(separator or ";"),
        format_func=lambda sign: _SEPARATOR_NAMES[sign],
        key=f"list-sign-{source}-{column}",
    )
    targets = [name for name in data.datasets if name != source]
    target = st.selectbox(
        "The entries are",
        [_NEW_DATASET, *targets],
        format_func=lambda name: "tags, a new dataset" if name is _NEW_DATASET else str(name),
        key=f"list-target-{source}",
    )
    is_weighted = st.toggle("Weight rare entries more", value=True, key="list-rare")
    weight = "rare" if is_weighted else "same"
    if target is _NEW_DATASET:
        name = st.text_input(
            "Name of the new dataset", value=shorten(column, 100), max_chars=MAX_NAME_LENGTH,
            key=f"list-name-{source}-{column}",
        ).strip()  # fmt: skip
        join = Join("tags", source, name, column, "", separator_choice, True, weight)
    else:
        target_column = _choose_column(data[target], "Matching column", "list-target")
        join = Join("list", source, target, column, target_column, separator_choice, True, weight)
    _offer_join(data, join, column, "list")


def _join_by_place(data: HeteroData) -> None:
    names = [name for name, part in data.datasets.items() if place_columns(part) is not None]
    theme.show_note("Links each item with the nearest ones on the globe.")
    source = st.selectbox("Each of", names, key="near-source")
    others = [name for name in names if name != source]
    target = st.selectbox("With the nearest", others, key=f"near-target-{source}")
    limit = st.radio("Which ones", ["The nearest", "Within"], horizontal=True, key="near-how")
    if limit == "Within":
        km = st.number_input("Kilometres", 0.1, 20_100.0, 100.0, key="near-km")
        join = Join("near", source, target, km=float(km))
    else:
        k = st.number_input("How many", 1, 100, 3, key="near-k")
        join = Join("near", source, target, k=int(k))
    _offer_join(data, join, "near", "near")


def _offer_join(data: HeteroData, join: Join, kind: str, key: str) -> None:
    """Show what a join would link, with the button that adds the links."""
    command = command_for(join, kind.strip(), "")
    match = _find_match(data, join, show_errors=True)
    n_links = 0
    if match is not None and not len(match.i):
        theme.show_note("The two columns have no value in common. Choose other columns.")
    elif match is not None:
        n_links = len(match.i)
        _show_match(data, match, command, key)
    are_linked = bool(match is not None and n_links and _are_linked(data, match, kind))
    if are_linked:
        theme.show_note("These links already exist.")
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(key=f"primary_{key}", width="content"):
            st.button(
                f"Add {theme.count(n_links, 'link')}" if n_links else "Add links",
                type="primary",
                key=f"do-{key}",
                disabled=not n_links or not kind.strip() or are_linked,
                on_click=_accept,
                args=(command,),
            )
        if match is not None and n_links:
            pairs_popover(data, match, key)


def _show_match(data: HeteroData, match: Match, command: Command, key: str) -> None:
    theme.show_note(f"{theme.count(len(match.i), 'pair')}:")
    joined = session.get_or_compute(
        ("joined", id(data), id(match)), (data, match), lambda: match.add_to(data)
    )
    linked_shares = link_reach(joined, joined.links[-1:])
    show_coverage(linked_shares)
    for name, rows in (
        (match.source, match.unmatched_source),
        (match.target, match.unmatched_target),
    ):
        if len(rows):
            dataset = joined[name]
            titles = [shorten(str(dataset.display_names[row]), 40) for row in rows[:_MAX_NAMED]]
            others = f" and {len(rows) - _MAX_NAMED:,} more" if len(rows) > _MAX_NAMED else ""
            theme.show_note(f"{capital(name)} without a partner: {', '.join(titles)}{others}.")
    map_warnings.show_warnings(map_warnings.join_warnings(command, linked_shares, key))


def _are_linked(data: HeteroData, match: Match, kind: str) -> bool:
    return share_linked(data, match, [group for group in data.links if group.kind == kind]) == 1


def _find_match(data: HeteroData, join: Join, show_errors: bool = False) -> Match | None:
    """Return the cached pairs of a join, or None if they cannot be found."""

    def find() -> Match | HetvizError:
        try:
            return join.match(data)
        except HetvizError as error:
            return error

    match = session.get_or_compute(("match", id(data), join), data, find)
    if isinstance(match, Match):
        return match
    if show_errors:
        st.warning(theme.escape_markdown(match), icon=":material/warning:")
    return None


def _choose_column(dataset: Dataset, label: str, key: str) -> str:
    columns = [] if dataset.table is None else list(map(str, dataset.table.columns))
    return str(
        st.selectbox(
            label,
            [_ID_COLUMN, *columns],
            format_func=lambda column: column or "the ids",
            key=f"{key}-column-{dataset.name}",
        )
    )


def _choose_kind(value: str, key: str) -> str:
    label = "Name of these links"
    return str(st.text_input(label, value=value, max_chars=150, key=f"{key}-kind-{value}"))


def _list_columns(data: HeteroData, name: str) -> list[str]:
    """Return the text columns of a dataset, those with lists first."""

    def find() -> list[str]:
        table = data[name].table
        columns = [] if table is None else list(table.select_dtypes(exclude="number").columns)
        texts = list(map(str, columns))
        return sorted(texts, key=lambda column: _separator_of(data, name, column) is None)

    return session.get_or_compute(("listing", id(data), name), data, find)


def _separator_of(data: HeteroData, name: str, column: str) -> str | None:
    key = ("sign", id(data), name, column)
    return session.get_or_compute(key, data, lambda: separator_of(cell_texts(data[name], column)))


def _normalised(join: Join) -> Join:
    return Join("key", join.source, join.target, join.source_column, join.target_column, loose=True)


@failure.show_failure("joins")
def show_proposals(data: HeteroData) -> None:
    """Show the join proposals, the best first."""
    proposals = find_proposals(data)
    if proposals is None:
        theme.show_note("Looking for ways to join the datasets.")
        return
    # Rows are compared on request, and what was proposed is judged, as in the review of files.
    proposals = judge_pairs.with_answers(data, compare_rows.with_proposals(data, proposals))
    unlinked = compare_rows.tables_to_compare(data, proposals)
    if not proposals and not unlinked:
        text = (
            "A single dataset has nothing to join. Add a second file, or links between its items."
            if len(data.datasets) < 2
            else "No further links found in ids, columns or places."
            if data.links or len(data.entities) < len(data.datasets)
            else "No ids, columns or places match beyond chance. Link datasets by hand below, or "
            "add a CSV file with source_id and target_id."
        )
        theme.show_note(text)
        return
    for number, proposal in enumerate(proposals[:_MAX_CARDS]):
        _show_proposal(data, proposal, number)
    if len(proposals) > _MAX_CARDS:
        with st.expander(theme.count(len(proposals) - _MAX_CARDS, "weaker proposal")):
            for number, proposal in enumerate(proposals[_MAX_CARDS:], start=_MAX_CARDS):
                _show_proposal(data, proposal, number)
    compare_rows.show_offer(data, unlinked, "data")


def find_proposals(data: HeteroData) -> list[Proposal] | None:
    """Return the join proposals for these data, or None while a worker looks for them."""
    names = theme.join_words([theme.escape_markdown(name) for name in data.datasets])
    with st.spinner(f"Comparing the ids, columns and places of {names}", show_time=True):
        proposals: list[Proposal] | None = worker_results.fetch_from_worker(
            project_id(), data, "proposals", "find-joins", {}
        )
        return proposals


def _show_proposal(data: HeteroData, proposal: Proposal, number: int) -> None:
    join = proposal.join
    with st.container(border=True, gap="xsmall", key=f"join-{number}"):
        st.html(
            f'<div class="hv-card"><h2>{theme.escape_html(_proposal_title(data, proposal))}</h2>'
            f"{_score_html(proposal)}</div>"
        )
        show_coverage(proposal.reach)
        pairs = proposal.examples(data)
        examples = ", ".join(f"{shorten(a, 30)} with {shorten(b, 30)}" for a, b in pairs)
        theme.show_note(f"For example {examples}.")
        show_notes([*proposal.evidence, *([proposal.doubt] if join.kind in SIMILAR else [])])
        if join.kind in SIMILAR:
            judge_pairs.show_judging(data, join, f"tick-data-{number}")
            compare_rows.show_choice(data, proposal, f"tick-data-{number}")
        map_warnings.show_warnings(
            map_warnings.join_warnings(_accept_command(data, proposal), proposal.reach, str(number))
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.container(key=f"primary_join_{number}", width="content"):
                st.button(
                    "Make them views" if join.kind == "views" else "Link them",
                    type="primary",
                    key=f"do-join-{number}",
                    on_click=_accept,
                    args=(_accept_command(data, proposal),),
                )
            pairs_popover(data, proposal.match, f"join-{number}")


def _proposal_title(data: HeteroData, proposal: Proposal) -> str:
    join = proposal.join
    number = theme.count(len(proposal.match.i), "link")
    if join.kind == "views":
        return "These look like two views of the same items"
    if join.kind == "tags":
        return f"{join.source_column} of {join.source} as a dataset: {number}"
    if join.kind == "near":
        return f"{join.source} with the nearest {join.target}: {number}"
    if join.kind in SIMILAR:
        return f"{join_choice.proposal_sentence(data, proposal)}: {number}"
    ends = ((join.source, join.source_column), (join.target, join.target_column))
    return " = ".join(_end_title(name, column) for name, column in ends)


def _end_title(name: str, column: str) -> str:
    return f"{column} of {name}" if column else f"id of {name}"


def _score_html(proposal: Proposal) -> str:
    """Return the quality of a match; that of similar rows is judged by pairs."""
    if proposal.join.kind in SIMILAR:
        return ""
    score = proposal.score
    level = "Strong" if score >= _STRONG_SCORE else "Fair" if score >= _FAIR_SCORE else "Weak"
    return f"<p>{level} match ({score * 100:.0f} %)</p>"


def _accept(command: Command) -> None:
    """Join datasets; if they have no map so far, the links may allow one."""
    if session.run_command(command) and session.workspace().state.run is None:
        background.make_first_map()


def _accept_command(data: HeteroData, proposal: Proposal) -> Command:
    join = proposal.join
    if join.kind == "views":
        return command_for(join, proposal.match.kind, data[join.target].entity)
    return JoinTables([join.to_dict()])


def show_panel(state: State) -> None:
    """Show proposals, manual joins and warnings about the links."""
    data = state.data
    if data is None:
        return
    if not data.links:
        theme.show_section("Links between tables")
    show_proposals(data)
    show_manual_joins(data)
    if data.links:
        map_warnings.show_warnings(map_warnings.link_warnings(state))


def same_items_popover(data: HeteroData, name: str, number: int) -> None:
    """Show a form that makes a dataset a view of another one."""
    others = [other for other in data.datasets if other != name]
    if not others:
        return
    with (
        st.popover("Same items", type="tertiary", key=f"same-{number}"),
        st.container(width=340, key=f"same-form-{number}"),
    ):
        theme.show_note(
            "Two datasets can show the same items in two ways, such as a picture and a text of one "
            "product. Rows with the same id are then one item and need no links."
        )
        entity = data[name].entity
        current = next((other for other in others if data[other].entity == entity), None)
        other_dataset = st.selectbox(
            f"{theme.escape_markdown(name)}: the same items as",
            [None, *others],
            index=0 if current is None else 1 + others.index(current),
            format_func=lambda other: "no other dataset" if other is None else str(other),
            key=f"same-as-{number}-{name}-{current}",
        )
        if other_dataset is not None:
            n_shared = int((data[other_dataset].find(data[name].ids) >= 0).sum())
            theme.show_note(
                f"{n_shared:,} of {len(data[name]):,} {name} share an id with {other_dataset}."
            )
        entity = _unused_entity(data, name) if other_dataset is None else data[other_dataset].entity
        st.button(
            "Apply",
            key=f"do-same-{number}",
            disabled=other_dataset == current,
            on_click=session.on_command,
            args=(SetEntity(name, entity),),
        )


def _unused_entity(data: HeteroData, name: str) -> str:
    """Return an entity name that no other dataset has."""
    taken = {other.entity for other in data.datasets.values() if other.name != name}
    entity = name
    while entity in taken:
        entity += " alone"
    return entity
