"""Settings of one method searched: small pictures of the maps, each with its score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from hetviz import params as parameters
from hetviz._text import per_hundred
from hetviz.data import Embedding, HeteroData
from hetviz.params import Choice, Flag, Param, PerDataset
from hetviz.plots import still_map
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.compare.measures import MEASURES
from hetviz.runs.compare.search import (
    SettingsFound,
    search_cost,
    search_values,
    searched,
)
from hetviz.runs.compare.sweep import value_words
from hetviz.ui.compare.results import SWEEP, is_current, kept_of
from hetviz.ui.map import new_map
from hetviz.ui.shell import background, session
from hetviz.ui.shell import theme as look
from hetviz.ui.widgets import charts
from hetviz.workspace import Finding, State

_SPLITS = (1, 2, 3)
_MOST, _MOST_ALONE, _MOST_VALUES = 40, 16, 12


def show(state: State) -> None:
    """Show the form, and the pictures of the last search."""
    # The catalogue loads the numerical libraries.
    from hetviz.algorithms.registry import get_method

    suitable = {v.card.key: v.card.title for v in new_map.verdicts(state) if v.suits}
    data = state.guided
    if not suitable or data is None:
        look.quiet("No method suits these data yet.")
        return
    one, two = st.columns([1, 1.6], vertical_alignment="top")
    with one:
        method = st.selectbox(
            "Method",
            list(suitable),
            format_func=lambda key: suitable[key],
            key="sweep-method",
            persist_state="session",
        )
    declared = {
        name: param
        for name, param in get_method(method).params.items()
        if name not in ("random_state", "device") and search_values(param)
    }
    if not declared:
        look.quiet("This method has no setting to try.")
        return
    with two:
        names = st.multiselect(
            "Settings",
            list(declared),
            default=_first(declared),
            format_func=lambda name: declared[name].label or name,
            key=f"sweep-settings-{method}",
            placeholder="Choose what to search",
        )
    settings = _all_values(method, {name: declared[name] for name in names})
    _start(data, method, settings, {name: declared[name].help for name in names})
    kept = kept_of(state, SWEEP)
    if kept is not None:
        _found(state, kept)


def _first(declared: Mapping[str, Param]) -> list[str]:
    """Return what is searched at first: the strengths; more axes make no better picture."""
    usual = [name for name in searched(declared) if name != "n_components"]
    plain = [name for name in usual if not declared[name].advanced]
    return (plain or usual or list(declared))[:2]


def _all_values(method: str, chosen: Mapping[str, Param]) -> dict[str, list[object]]:
    """Draw the values of each setting and return those that are allowed; {} where some are not."""
    settings: dict[str, list[object]] = {}
    if not chosen:
        return settings
    with st.grid(3, min_column_width=220, gap="small", key="sweep-values"):
        for name, param in chosen.items():
            with st.container():
                settings[name] = _values(method, name, param)
    return settings if all(settings.values()) else {}


def _start(
    data: HeteroData, method: str, settings: dict[str, list[object]], helps: Mapping[str, str]
) -> None:
    """Draw how to search, what it will take, and the button."""
    usable = any(len(values) > 1 and _numbers(values) for values in settings.values())
    with st.container(horizontal=True, vertical_alignment="bottom", key="sweep-start"):
        splits = st.segmented_control(
            "Splits",
            _SPLITS,
            default=2,
            required=True,
            key="sweep-splits",
            help="How often each setting is fitted, with another fifth of what is known held out.",
        )
        grows = st.toggle(
            "Go on past the ends",
            value=True,
            key="sweep-grows",
            disabled=bool(settings) and not usable,
            help="While the best value is the first or the last of the list, values beyond it are "
            "tried too.",
        )
        st.space("stretch")
        with st.container(key="primary_sweep", width="content"):
            st.button(
                "Search",
                key="sweep-run",
                type="primary",
                disabled=not settings or background.live() is not None,
                on_click=_run,
                args=(method, settings, int(splits), bool(grows and usable)),
            )
    if settings:
        most = _most(settings, bool(grows and usable))
        cost = search_cost(
            data, method, settings, seeds=int(splits), most=most, grows=bool(grows and usable)
        )
        judged = "Another fifth, which the search never sees, judges what it finds."
        look.quiet(f"{cost.sentence} {judged}")
    said = " ".join(dict.fromkeys(filter(None, helps.values())))
    if said and len(helps) == 1:
        look.quiet(said)


def _numbers(values: Sequence[object]) -> bool:
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def _most(settings: Mapping[str, Sequence[object]], grows: bool) -> int:
    first = 1 + sum(map(len, settings.values()))
    if len(settings) == 1:
        return max(first, _MOST_ALONE) if grows else first
    return max(first, _MOST)


def _values(method: str, name: str, param: Param) -> list[object]:
    """Draw the choice of values and return those that are allowed."""
    offered = search_values(param)
    key = f"sweep-values-{method}-{name}"
    label = f"{param.label or name}: values"
    inner = param.inner if isinstance(param, PerDataset) else param
    if isinstance(inner, Choice | Flag):
        meaning = dict(inner.options) if isinstance(inner, Choice) else {}
        picked = st.multiselect(
            label,
            range(len(offered)),
            default=range(len(offered)),
            format_func=lambda k: meaning.get(offered[k]) or value_words(offered[k]),
            key=key,
        )
        return [offered[k] for k in picked]
    text = st.text_input(label, ", ".join(map(value_words, offered)), key=key)
    found = []
    for word in filter(None, (piece.strip() for piece in text.split(","))):
        try:
            found.append(param.check(parameters.parse(param, word)))
        except ValueError:
            st.error(look.plain(f"{word}: it must be {param.wanted()}."))
            return []
    return list(dict.fromkeys(found))[:_MOST_VALUES]


def _run(method: str, settings: dict[str, list[object]], splits: int, grows: bool) -> None:
    arguments = {
        "method": method,
        "settings": settings,
        "seeds": splits,
        "grows": grows,
        "most": _most(settings, grows),
    }
    background.find("Search of settings", "hetviz.jobs.tasks.compare:search", arguments)


def searched_of(kept: Finding) -> SettingsFound:
    """Return findings as a search; those kept before there were any had one setting."""

    def read() -> SettingsFound:
        content = kept.content
        if "tried" in content:
            return SettingsFound.from_dict(content)
        tried = Comparison.from_dict(content)
        return SettingsFound(content["method"], tried.decides or "", {}, tried, tried.best())

    return session.cached(("searched", id(kept)), kept, read)


def _found(state: State, kept: Finding) -> None:
    search, content = searched_of(kept), kept.content
    found, measure = search.tried, search.measure
    data = state.opened()
    if search.best is None or measure not in MEASURES or not _known(search.method):
        look.quiet("The values tried last gave no result.")
        return
    look.section(_title(search.method))
    st.html(f'<p class="hv-advice">{look.esc(search.sentence)}</p>')
    look.quiet(f"{MEASURES[measure].label}, in 100. {found.limits(measure)}")
    if not is_current(state, kept):
        look.quiet("Tried before the data changed.")
        if max(content["still_rows"], default=0) >= data.n_rows:
            return
    order = sorted(found.candidates, key=lambda one: _rank(found, measure, one.key))
    with st.grid(6, min_column_width=170, gap="small", key="sweep-grid"):
        for candidate in order if len(search.spans) > 1 else found.candidates:
            place = found.candidates.index(candidate)
            _picture(state, data, kept, search, candidate.key, place)
    for title, said in (
        ("Settings that the method refuses for these data", found.refusals),
        ("Settings with which something went wrong", found.errors),
    ):
        if said:
            look.section(title)
            look.table(["Setting", "Why it gave no map"], [[k, v] for k, v in said.items()],
                       words=True)  # fmt: skip


def _rank(found: Comparison, measure: str, key: str) -> float:
    value = found.mean(key, measure)
    return -value if value == value else 1.0


def _known(method: str) -> bool:
    from hetviz.algorithms.registry import methods

    return method in {card.key for card in methods()}


def _title(method: str) -> str:
    from hetviz.algorithms.registry import get_method

    return f"Settings of {get_method(method).card.title}"


def _picture(
    state: State, data: HeteroData, kept: Finding, search: SettingsFound, key: str, place: int
) -> None:
    found, measure = search.tried, search.measure
    still = kept.content["stills"].get(key)
    if still is None:
        return
    theme = session.theme()
    svg = session.cached(
        ("sweep", id(kept), key, state.view.colour, theme),
        kept,
        lambda: still_map(
            data, _embedding(data, kept.content, still), charts.colours(state), theme, dot=2.6
        ),
    )
    candidate = found.candidate(key)
    score = per_hundred(found.mean(key, measure))
    best = key == search.best
    with st.container(border=True, key=f"card-sweep-{place}", gap="xsmall"):
        words = f"{candidate.title}, {score} in 100"
        st.html(
            f"{look.svg_image(svg, f'Still map with {words}')}"
            f'<div class="hv-map-head{" best" if best else ""}"><b>{look.esc(candidate.title)}</b>'
            f"<span>{look.esc(score)}</span></div>"
        )
        st.button(
            "Make this map",
            key=f"sweep-make-{place}",
            type="tertiary",
            disabled=background.live() is not None,
            on_click=_make,
            args=(candidate.method, dict(candidate.params)),
        )


def _embedding(
    data: HeteroData, content: Mapping[str, object], still: list[list[object]]
) -> Embedding:
    Y = np.full((data.n_rows, 2), np.nan)
    Y[np.asarray(content["still_rows"], dtype=np.int64)] = np.array(still, dtype=np.float64).T
    return Embedding(
        {name: Y[rows] for name, rows in data.offsets.items()},
        {name: dataset.ids for name, dataset in data.datasets.items()},
    )


def _make(method: str, params: dict[str, object]) -> None:
    from hetviz.algorithms.registry import get_method

    background.make_map(method, get_method(method).card.title, params, 0, 0.0)
