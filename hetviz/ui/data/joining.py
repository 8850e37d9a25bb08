"""The Data page's part on joining: proposals, ways by hand, whom links reach, the same things."""

from __future__ import annotations

import streamlit as st

from hetviz._text import rounded, short
from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.join import Join, share_linked
from hetviz.data.joins.keys import cells_of
from hetviz.data.joins.lists import SEPARATORS, separator_of
from hetviz.data.joins.matching import Match
from hetviz.data.joins.places import place_columns
from hetviz.data.joins.proposals import Proposal, spread
from hetviz.data.model.checks import MAX_NAME_LENGTH
from hetviz.data.queries.reach import Reach, reach
from hetviz.errors import HetvizError
from hetviz.plots.palette import shape_of
from hetviz.ui.guidance.order import bars
from hetviz.ui.map import away, warned
from hetviz.ui.shell import background, session, theme
from hetviz.ui.widgets import failed, item_chip
from hetviz.workspace import Command, JoinTables, SetEntity, State
from hetviz.workspace.commands.joining import command_for

_SHOWN = 8
_NAME = 44

_IDS = ""
_TOLD = 5
_NAMES = {";": "; semicolon", "|": "| bar", "\n": "line end", ",": ", comma", "/": "/ slash"}
_MAKE = None
_CARDS = 3
_STRONG, _FAIR = 0.7, 0.4


def pairs(data: HeteroData, match: Match, most: int = _SHOWN) -> None:
    """Show some of the pairs, from the first to the last."""
    at = spread(len(match.i), most)
    lines = [
        f'<div class="hv-pair"><div>{_side(data, match, match.source, int(match.i[k]))}'
        f"<em>with</em>{_side(data, match, match.target, int(match.j[k]))}{_weight(match, int(k))}"
        "</div></div>"
        for k in at
    ]
    st.html("".join(lines))
    if len(match.i) > len(at):
        theme.quiet(f"{len(at):,} of {len(match.i):,} pairs, evenly from all of them.")


def popover(data: HeteroData, match: Match, key: str) -> None:
    """Offer to show the pairs."""
    with (
        st.popover("Show the pairs", type="tertiary", key=f"pairs-{key}"),
        st.container(width=360, key=f"pairs-of-{key}"),
    ):
        pairs(data, match)
        told(match.told)


def coverage(reach: Reach) -> None:
    """Show for each dataset how many of its items have a link."""
    bars(
        [
            (
                f"{reach.linked[name]:,} of {n:,} {name}",
                reach.linked[name] / n,
                rounded(reach.linked[name] / n),
                "items with a link",
            )
            for name, n in reach.items.items()
        ],
        full=1.0,
    )


def told(words: tuple[str, ...] | list[str]) -> None:
    """Show what must be said of the pairs, one line each."""
    if words:
        lines = "".join(f"<li>{theme.esc(line)}</li>" for line in words)
        st.html(f'<ul class="hv-reasons">{lines}</ul>')


def _side(data: HeteroData, match: Match, name: str, row: int) -> str:
    if match.made is not None and name == match.made.name:
        # Not among the data yet: it has no pictures, and the next shape.
        title, source = str(match.made.titles[row]), None
        glyph = shape_of(len(data.datasets))[1]
    else:
        item = item_chip.item_at(data, data.offsets[name].start + row)
        title, source, glyph = item.title, item_chip.picture_of(data, item), item.glyph
    face = (
        f'<img src="{theme.esc(source)}" alt="" loading="lazy">'
        if source
        else f'<i aria-hidden="true">{glyph}</i>'
    )
    return f'<span title="{theme.esc(title)}">{face}{theme.esc(short(title, _NAME))}</span>'


def _weight(match: Match, place: int) -> str:
    if match.weight is None:
        return ""
    return f'<b title="weight">{match.weight[place]:.2g}</b>'


def by_hand(data: HeteroData) -> None:
    """Offer each way to join datasets."""
    ways = {"Key": _by_key} if len(data.datasets) > 1 else {}
    ways["List"] = _by_list
    if sum(place_columns(part) is not None for part in data.datasets.values()) > 1:
        ways["Places"] = _by_places
    with st.expander("Link by hand"):
        way = st.segmented_control(
            "How",
            list(ways),
            default=next(iter(ways)),
            required=True,
            label_visibility="collapsed",
            key=f"join-way-{len(ways)}",
        )
        ways[way or next(iter(ways))](data)


def _by_key(data: HeteroData) -> None:
    theme.quiet("Items are linked whose values are the same text in the two columns.")
    names = list(data.datasets)
    source = st.selectbox("First dataset", names, key="key-source")
    source_column = _column(data[source], "Its key", "key-source")
    others = [name for name in names if name != source]
    target = st.selectbox("Second dataset", others, key=f"key-target-{source}")
    target_column = _column(data[target], "Its key", "key-target")
    join = Join("key", source, target, source_column, target_column)
    exact, loose = _match(data, join), _match(data, _loosely(join))
    gain = 0 if exact is None or loose is None else len(loose.i) - len(exact.i)
    loosely = st.toggle(
        "Upper and lower case, blanks and forms of letters do not count", key="key-loose"
    )
    if gain > 0:
        theme.quiet(f"{gain:,} more {'pair' if gain == 1 else 'pairs'} where they do not count.")
    join = _loosely(join) if loosely else join
    kind = _kind("same id" if not source_column else f"same {short(source_column, 100)}", "key")
    _offer(data, join, kind, "link")


def _by_list(data: HeteroData) -> None:
    listing = {name: _listing(data, name) for name in data.datasets}
    places = [name for name, columns in listing.items() if columns]
    if not places:
        theme.quiet("No dataset has a column of text whose cells could list something.")
        return
    # Columns that list something come first, and so do their datasets.
    places.sort(key=lambda name: _sign(data, name, listing[name][0]) is None)
    theme.quiet("Each cell lists ids, names or tags, as in “red; round”.")
    source = st.selectbox("Dataset", places, key="list-source")
    column = str(st.selectbox("Its column", listing[source], key=f"list-column-{source}"))
    found = _sign(data, source, column)
    sign = st.selectbox(
        "Between the entries",
        SEPARATORS,
        index=SEPARATORS.index(found or ";"),
        format_func=lambda one: _NAMES[one],
        key=f"list-sign-{source}-{column}",
    )
    others = [name for name in data.datasets if name != source]
    target = st.selectbox(
        "The entries are",
        [_MAKE, *others],
        format_func=lambda name: "tags, a new dataset" if name is _MAKE else str(name),
        key=f"list-target-{source}",
    )
    rare = st.toggle("What many list counts for less", value=True, key="list-rare")
    weight = "rare" if rare else "same"
    if target is _MAKE:
        name = st.text_input(
            "Name of the new dataset", value=short(column, 100), max_chars=MAX_NAME_LENGTH,
            key=f"list-name-{source}-{column}",
        ).strip()  # fmt: skip
        join = Join("tags", source, name, column, "", sign, True, weight)
    else:
        named = _column(data[target], "Which they name by", "list-target")
        join = Join("list", source, target, column, named, sign, True, weight)
    _offer(data, join, column, "list")


def _by_places(data: HeteroData) -> None:
    names = [name for name, part in data.datasets.items() if place_columns(part) is not None]
    theme.quiet("Each item is linked with those that lie nearest on the globe.")
    source = st.selectbox("Each of", names, key="near-source")
    others = [name for name in names if name != source]
    target = st.selectbox("With the nearest", others, key=f"near-target-{source}")
    how = st.radio("How near", ["The nearest", "Within"], horizontal=True, key="near-how")
    if how == "Within":
        km = st.number_input("Kilometres", 0.1, 20_100.0, 100.0, key="near-km")
        join = Join("near", source, target, km=float(km))
    else:
        k = st.number_input("How many", 1, 100, 3, key="near-k")
        join = Join("near", source, target, k=int(k))
    _offer(data, join, "near", "near")


def _offer(data: HeteroData, join: Join, kind: str, key: str) -> None:
    """Show what a join would link, and the button that does it."""
    command = command_for(join, kind.strip(), "")
    match = _match(data, join, tell=True)
    number = 0
    if match is not None and not len(match.i):
        theme.quiet("No value of the one occurs in the other. Choose other columns.")
    elif match is not None:
        number = len(match.i)
        _preview(data, match, command, key)
    there = bool(match is not None and number and _there(data, match, kind))
    if there:
        theme.quiet("These links are there already.")
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(key=f"primary_{key}", width="content"):
            st.button(
                f"Add {theme.count(number, 'link')}" if number else "Add links",
                type="primary",
                key=f"do-{key}",
                disabled=not number or not kind.strip() or there,
                on_click=_do,
                args=(command,),
            )
        if match is not None and number:
            popover(data, match, key)


def _do(command: Command) -> None:
    session.do(command)


def _preview(data: HeteroData, match: Match, command: Command, key: str) -> None:
    theme.quiet(f"{theme.count(len(match.i), 'pair')}:")
    after = session.cached(
        ("joined", id(data), id(match)), (data, match), lambda: match.added_to(data)
    )
    found = reach(after, after.links[-1:])
    coverage(found)
    for name, rows in ((match.source, match.source_alone), (match.target, match.target_alone)):
        if len(rows):
            dataset = after[name]
            named = [short(str(dataset.titles[row]), 40) for row in rows[:_TOLD]]
            more = f" and {len(rows) - _TOLD:,} more" if len(rows) > _TOLD else ""
            theme.quiet(f"Without a partner, {name}: {', '.join(named)}{more}.")
    warned.show(warned.of_join(command, found, key))


def _there(data: HeteroData, match: Match, kind: str) -> bool:
    return share_linked(data, match, [group for group in data.links if group.kind == kind]) == 1


def _match(data: HeteroData, join: Join, tell: bool = False) -> Match | None:
    """Return the pairs, worked out once, or None where they cannot be had."""

    def find() -> Match | HetvizError:
        try:
            return join.match(data)
        except HetvizError as error:
            return error

    found = session.cached(("match", id(data), join), data, find)
    if isinstance(found, Match):
        return found
    if tell:
        st.warning(theme.plain(found), icon=":material/warning:")
    return None


def _column(dataset: Dataset, label: str, key: str) -> str:
    columns = [] if dataset.table is None else list(map(str, dataset.table.columns))
    return str(
        st.selectbox(
            label,
            [_IDS, *columns],
            format_func=lambda column: column or "the ids",
            key=f"{key}-column-{dataset.name}",
        )
    )


def _kind(value: str, key: str) -> str:
    words = "What to call these links"
    return str(st.text_input(words, value=value, max_chars=150, key=f"{key}-kind-{value}"))


def _listing(data: HeteroData, name: str) -> list[str]:
    """Return the text columns of a dataset, those that list something first."""

    def find() -> list[str]:
        table = data[name].table
        columns = [] if table is None else list(table.select_dtypes(exclude="number").columns)
        texts = list(map(str, columns))
        return sorted(texts, key=lambda column: _sign(data, name, column) is None)

    return session.cached(("listing", id(data), name), data, find)


def _sign(data: HeteroData, name: str, column: str) -> str | None:
    key = ("sign", id(data), name, column)
    return session.cached(key, data, lambda: separator_of(cells_of(data[name], column)))


def _loosely(join: Join) -> Join:
    return Join("key", join.source, join.target, join.source_column, join.target_column, loose=True)


def cards(data: HeteroData) -> None:
    """Show the proposals, the best first."""
    with failed.told("joins"):
        _cards(data)


def _cards(data: HeteroData) -> None:
    found = proposals(data)
    if found is None:
        theme.quiet("What may join them is being looked for.")
        return
    if not found:
        words = (
            "One dataset has nothing to be joined with. Add a second file, or links that join its "
            "own items."
            if len(data.datasets) < 2
            else "Nothing more seems to join them: no ids, columns or places agree beyond what is "
            "linked and beyond chance."
            if data.links or len(data.entities) < len(data.datasets)
            else "No ids, columns or places agree beyond chance. Link them by hand below, or add a "
            "CSV with source_id and target_id."
        )
        theme.quiet(words)
        return
    for place, proposal in enumerate(found[:_CARDS]):
        _card(data, proposal, place)
    if len(found) > _CARDS:
        with st.expander(theme.count(len(found) - _CARDS, "weaker proposal")):
            for place, proposal in enumerate(found[_CARDS:], start=_CARDS):
                _card(data, proposal, place)


def proposals(data: HeteroData) -> list[Proposal] | None:
    """Return the proposals for these data, worked out once; None while a worker is at it."""
    names = theme.listed([theme.plain(name) for name in data.datasets])
    with st.spinner(f"Comparing the ids, columns and places of {names}", show_time=True):
        found: list[Proposal] | None = away.found(
            background.owner(), data, "proposals", "hetviz.jobs.tasks.look:proposals", {}
        )
        return found


def _card(data: HeteroData, proposal: Proposal, place: int) -> None:
    join = proposal.join
    with st.container(border=True, gap="xsmall", key=f"join-{place}"):
        st.html(
            f'<div class="hv-card"><h3>{theme.esc(_title(proposal))}</h3>'
            f"<p>{theme.esc(_belief(proposal.score))}</p></div>"
        )
        coverage(proposal.reach)
        pairs = proposal.examples(data)
        named = "; ".join(f"{short(a, 30)} with {short(b, 30)}" for a, b in pairs)
        theme.quiet(f"For example {named}.")
        told(proposal.evidence)
        warned.show(warned.of_join(_command(data, proposal), proposal.reach, str(place)))
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.container(key=f"primary_join_{place}", width="content"):
                st.button(
                    "Make them views" if join.kind == "views" else "Link them",
                    type="primary",
                    key=f"do-join-{place}",
                    on_click=_do,
                    args=(_command(data, proposal),),
                )
            popover(data, proposal.match, f"join-{place}")


def _title(proposal: Proposal) -> str:
    join = proposal.join
    number = theme.count(len(proposal.match.i), "link")
    if join.kind == "views":
        return "These look like two views of the same things"
    if join.kind == "tags":
        return f"{join.source_column} of {join.source} as a dataset: {number}"
    if join.kind == "near":
        return f"{join.source} with the nearest {join.target}: {number}"
    return f"{_end(join.source, join.source_column)} = {_end(join.target, join.target_column)}"


def _end(name: str, column: str) -> str:
    return f"{column} of {name}" if column else f"id of {name}"


def _belief(score: float) -> str:
    words = "Strong" if score >= _STRONG else "Fair" if score >= _FAIR else "Weak"
    return f"{words}: score {score * 100:.0f} of 100"


def _command(data: HeteroData, proposal: Proposal) -> Command:
    """Return the command that accepts a proposal."""
    join = proposal.join
    if join.kind == "views":
        return command_for(join, proposal.match.kind, data[join.target].entity)
    return JoinTables([join.to_dict()])


def column(state: State) -> None:
    """Show what joins the datasets or may do so, and what is amiss with the links."""
    data = state.data
    if data is None:
        return
    theme.section("Join datasets", "by ids, lists or places")
    cards(data)
    by_hand(data)
    if data.links:
        warned.show(warned.of_links(state))


def same_things(data: HeteroData, name: str, place: int) -> None:
    """Ask whether a dataset shows the same things as another one."""
    others = [other for other in data.datasets if other != name]
    if not others:
        return
    with (
        st.popover("Same things", type="tertiary", key=f"same-{place}"),
        st.container(width=340, key=f"same-form-{place}"),
    ):
        theme.quiet(
            "Two datasets can show the same things in two ways, as a picture and a text of one "
            "product. Rows with the same id are then one thing, and need no links."
        )
        entity = data[name].entity
        now = next((other for other in others if data[other].entity == entity), None)
        chosen = st.selectbox(
            f"{theme.plain(name)}: the same things as",
            [None, *others],
            index=0 if now is None else 1 + others.index(now),
            format_func=lambda other: "none of the others" if other is None else str(other),
            key=f"same-as-{place}-{name}-{now}",
        )
        if chosen is not None:
            shared = int((data[chosen].find(data[name].ids) >= 0).sum())
            theme.quiet(
                f"{shared:,} of {len(data[name]):,} {name} have an id that {chosen} has too."
            )
        st.button(
            "Apply",
            key=f"do-same-{place}",
            disabled=chosen == now,
            on_click=_same_entity,
            args=(name, data[chosen].entity if chosen is not None else _alone(data, name)),
        )


def _alone(data: HeteroData, name: str) -> str:
    """Return an entity that no other dataset has."""
    taken = {other.entity for other in data.datasets.values() if other.name != name}
    entity = name
    while entity in taken:
        entity += " alone"
    return entity


def _same_entity(name: str, entity: str) -> None:
    session.do(SetEntity(name, entity))
