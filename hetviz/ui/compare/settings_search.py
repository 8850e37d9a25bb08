"""Search over the settings of one method, with a small map and a score for each."""

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
from hetviz.runs.compare.search import SettingsResult, search_cost, search_values, searched_names
from hetviz.runs.compare.sweep import value_words
from hetviz.ui.compare.method_table import held_out_kinds
from hetviz.ui.map import new_map
from hetviz.ui.map_data import layers
from hetviz.ui.shell import background, session
from hetviz.ui.shell import theme as look
from hetviz.ui.shell.comparison_results import SWEEP, is_current
from hetviz.workspace import Finding, State

_SPLIT_OPTIONS = (1, 2, 3)
_MAX_FITS, _MAX_FITS_ONE_SETTING, _MAX_VALUES = 40, 16, 12


def show_search(state: State) -> None:
    """Show the search form and the maps of the last search."""
    # Imported late: the registry loads the numerical libraries.
    from hetviz.algorithms.registry import get_method

    suitable = {v.card.key: v.card.title for v in new_map.rank_methods(state) if v.suits}
    data = state.guided
    if not suitable or data is None:
        look.show_note("No method suits these data yet.")
        return
    method_column, settings_column = st.columns([1, 1.6], vertical_alignment="top")
    with method_column:
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
        look.show_note("This method has no settings to try.")
        return
    with settings_column:
        names = st.multiselect(
            "Settings",
            list(declared),
            default=_default_settings(declared),
            format_func=lambda name: declared[name].label or name,
            key=f"sweep-settings-{method}",
            placeholder="Choose what to search",
        )
    settings = _choose_values(method, {name: declared[name] for name in names})
    _start_form(data, method, settings, {name: declared[name].help for name in names})
    finding = state.findings.get(SWEEP)
    if finding is not None:
        _show_result(state, finding)


def _default_settings(declared: Mapping[str, Param]) -> list[str]:
    """Return the settings searched by default, without the number of axes."""
    usual = [name for name in searched_names(declared) if name != "n_components"]
    basic = [name for name in usual if not declared[name].advanced]
    return (basic or usual or list(declared))[:2]


def _choose_values(method: str, chosen: Mapping[str, Param]) -> dict[str, list[object]]:
    """Ask for the values of each setting and return them, or {} if any is invalid."""
    settings: dict[str, list[object]] = {}
    if not chosen:
        return settings
    with st.container(key="sweep-values"):
        for name, param in chosen.items():
            with st.container():
                settings[name] = _choose_setting_values(method, name, param)
    return settings if all(settings.values()) else {}


def _start_form(
    data: HeteroData, method: str, settings: dict[str, list[object]], helps: Mapping[str, str]
) -> None:
    """Show the search options, the estimated cost and the button."""
    kinds = held_out_kinds(data)
    hidden = f", each time with another fifth of the {kinds} hidden" if kinds else ""
    can_grow = any(len(values) > 1 and _are_numbers(values) for values in settings.values())
    with st.container(horizontal=True, vertical_alignment="bottom", key="sweep-start"):
        splits = st.segmented_control(
            "Splits",
            _SPLIT_OPTIONS,
            default=2,
            required=True,
            key="sweep-splits",
            help=f"How often each setting is fitted{hidden}.",
        )
        grows = st.toggle(
            "Extend beyond the ends",
            value=True,
            key="sweep-grows",
            disabled=bool(settings) and not can_grow,
            help="While the best value is the first or the last of the list, also try values "
            "beyond it.",
        )
        st.space("stretch")
        with st.container(key="primary_sweep", width="content"):
            st.button(
                "Search",
                key="sweep-run",
                type="primary",
                disabled=not settings or background.running_job() is not None,
                on_click=_run_search,
                args=(method, settings, int(splits), bool(grows and can_grow)),
            )
    if settings:
        max_fits = _max_fits(settings, bool(grows and can_grow))
        cost = search_cost(
            data, method, settings, seeds=int(splits), most=max_fits, grows=bool(grows and can_grow)
        )
        judge_note = " The result is tested on another hidden fifth that the search never uses."
        look.show_note(f"{cost.sentence}{judge_note if kinds else ''}")
    help_text = " ".join(dict.fromkeys(filter(None, helps.values())))
    if help_text and len(helps) == 1:
        look.show_note(help_text)


def _are_numbers(values: Sequence[object]) -> bool:
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def _max_fits(settings: Mapping[str, Sequence[object]], grows: bool) -> int:
    n_listed = 1 + sum(map(len, settings.values()))
    if len(settings) == 1:
        return max(n_listed, _MAX_FITS_ONE_SETTING) if grows else n_listed
    return max(n_listed, _MAX_FITS)


def _choose_setting_values(method: str, name: str, param: Param) -> list[object]:
    options = search_values(param)
    key = f"sweep-values-{method}-{name}"
    label = f"{param.label or name}: values"
    inner = param.inner if isinstance(param, PerDataset) else param
    if isinstance(inner, Choice | Flag):
        meaning = dict(inner.options) if isinstance(inner, Choice) else {}
        picked = st.multiselect(
            label,
            range(len(options)),
            default=range(len(options)),
            format_func=lambda k: meaning.get(options[k]) or value_words(options[k]),
            key=key,
        )
        return [options[k] for k in picked]
    text = st.text_input(label, ", ".join(map(value_words, options)), key=key)
    values = []
    for word in filter(None, (piece.strip() for piece in text.split(","))):
        try:
            values.append(param.check(parameters.parse(param, word)))
        except ValueError:
            st.error(look.escape_markdown(f"{word}: it must be {param.describe_allowed()}."))
            return []
    return list(dict.fromkeys(values))[:_MAX_VALUES]


def _run_search(method: str, settings: dict[str, list[object]], splits: int, grows: bool) -> None:
    arguments = {
        "method": method,
        "settings": settings,
        "seeds": splits,
        "grows": grows,
        "most": _max_fits(settings, grows),
    }
    background.start_task("search-settings", arguments)


def search_of(finding: Finding) -> SettingsResult:
    """Return findings as a search, including older ones of a single setting."""

    def read() -> SettingsResult:
        content = finding.content
        if "tried" in content:
            return SettingsResult.from_dict(content)
        tried = Comparison.from_dict(content)
        return SettingsResult(content["method"], tried.decides or "", {}, tried, tried.best())

    return session.get_or_compute(("searched", id(finding)), finding, read)


def _show_result(state: State, finding: Finding) -> None:
    search, content = search_of(finding), finding.content
    comparison, measure = search.tried, search.measure
    data = state.opened()
    if search.best is None or measure not in MEASURES or not _is_known_method(search.method):
        look.show_note("The last search gave no result.")
        return
    look.show_section(_result_title(search.method))
    st.html(f'<p class="hv-advice">{look.escape_html(search.sentence)}</p>')
    look.show_note(f"{MEASURES[measure].label}, in %.  {comparison.limits(measure)}")
    if not is_current(state, finding):
        look.show_note("Found before the data changed.")
        if max(content["still_rows"], default=0) >= data.n_rows:
            return
    order = sorted(
        comparison.candidates, key=lambda fitted: _sort_key(comparison, measure, fitted.key)
    )
    with st.container(key="sweep-grid"):
        for candidate in order if len(search.spans) > 1 else comparison.candidates:
            number = comparison.candidates.index(candidate)
            _show_picture(state, data, finding, search, candidate.key, number)
    for title, reasons in (
        ("Settings that do not fit these data", comparison.refusals),
        ("Settings that failed", comparison.errors),
    ):
        if reasons:
            look.show_section(title)
            look.show_table(["Setting", "Reason"], [[k, v] for k, v in reasons.items()],
                       is_text=True)  # fmt: skip


def _sort_key(comparison: Comparison, measure: str, key: str) -> float:
    value = comparison.mean(key, measure)
    return -value if value == value else 1.0


def _is_known_method(method: str) -> bool:
    from hetviz.algorithms.registry import is_method

    return is_method(method)


def _result_title(method: str) -> str:
    from hetviz.algorithms.registry import get_method

    return f"Settings of {get_method(method).card.title}"


def _show_picture(
    state: State, data: HeteroData, finding: Finding, search: SettingsResult, key: str, number: int
) -> None:
    comparison, measure = search.tried, search.measure
    still = finding.content["stills"].get(key)
    if still is None:
        return
    theme = session.theme()
    svg = session.get_or_compute(
        ("sweep", id(finding), key, state.view.colour, theme),
        finding,
        lambda: still_map(
            data,
            _embedding_of_still(data, finding.content, still),
            layers.colours_of(state, state.run),
            theme,
            dot=2.6,
        ),
    )
    candidate = comparison.candidate(key)
    score = per_hundred(comparison.mean(key, measure))
    is_best = key == search.best
    with st.container(border=True, key=f"card-sweep-{number}", gap="xsmall"):
        caption = f"{candidate.title}, {score} %"
        st.html(
            f"{look.svg_image(svg, f'Still map with {caption}')}"
            f'<div class="hv-map-head{" best" if is_best else ""}">'
            f"<b>{look.escape_html(candidate.title)}</b><span>{look.escape_html(score)}</span></div>"
        )
        st.button(
            "Make this map",
            key=f"sweep-make-{number}",
            type="tertiary",
            disabled=background.running_job() is not None,
            on_click=_make_map,
            args=(candidate.method, dict(candidate.params)),
        )


def _embedding_of_still(
    data: HeteroData, content: Mapping[str, object], still: list[list[object]]
) -> Embedding:
    Y = np.full((data.n_rows, 2), np.nan)
    Y[np.asarray(content["still_rows"], dtype=np.int64)] = np.array(still, dtype=np.float64).T
    return Embedding(
        {name: Y[rows] for name, rows in data.offsets.items()},
        {name: dataset.ids for name, dataset in data.datasets.items()},
    )


def _make_map(method: str, params: dict[str, object]) -> None:
    from hetviz.algorithms.registry import get_method

    background.make_map(method, get_method(method).card.title, params, 0, 0.0)
