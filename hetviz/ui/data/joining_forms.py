"""Joining datasets by hand: by a shared key, by a column that lists, by places."""

from __future__ import annotations

import streamlit as st

from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.geographic import place_columns
from hetviz.data.joins.join import Join, share_linked
from hetviz.data.joins.keys import cells_of
from hetviz.data.joins.list_columns import SEPARATORS, separator_of
from hetviz.data.joins.matching import Match
from hetviz.data.model.checks import MAX_NAME_LENGTH
from hetviz.data.queries.reach import reach
from hetviz.errors import HetvizError
from hetviz.plots.text import short
from hetviz.ui.data import joining_preview as preview
from hetviz.ui.shell import session, theme
from hetviz.workspace import Command
from hetviz.workspace.commands.joining import command_for

_IDS = ""
_TOLD = 5
_NAMES = {";": "; semicolon", "|": "| bar", "\n": "line end", ",": ", comma", "/": "/ slash"}
_MAKE = None


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
    rare = st.toggle("What many list draws less", value=True, key="list-rare")
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
    match = _match(data, join, tell=True)
    number = 0
    if match is not None and not len(match.i):
        theme.quiet("No value of the one occurs in the other. Choose other columns.")
    elif match is not None:
        number = len(match.i)
        _say(data, match)
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
                args=(command_for(join, kind.strip(), ""),),
            )
        if match is not None and number:
            preview.popover(data, match, key)


def _do(command: Command) -> None:
    session.do(command)


def _say(data: HeteroData, match: Match) -> None:
    theme.quiet(f"{theme.count(len(match.i), 'pair')}:")
    after = session.cached(
        ("joined", id(data), id(match)), (data, match), lambda: match.added_to(data)
    )
    found = reach(after, after.links[-1:])
    preview.coverage(found)
    for name, rows in ((match.source, match.source_alone), (match.target, match.target_alone)):
        if len(rows):
            dataset = after[name]
            named = [short(str(dataset.titles[row]), 40) for row in rows[:_TOLD]]
            more = f" and {len(rows) - _TOLD:,} more" if len(rows) > _TOLD else ""
            theme.quiet(f"Without a partner, {name}: {', '.join(named)}{more}.")
    preview.warned(found.crowded)


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
