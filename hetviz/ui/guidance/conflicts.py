"""What cannot all be true, each conflict with its statements and fixes of one click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from hetviz.data import HeteroData
from hetviz.metrics.conflicts.conflicts import Conflict
from hetviz.metrics.conflicts.guidance_report import GuidanceReport
from hetviz.ui.guidance import sentences
from hetviz.ui.guidance.ledger import Ledger, by_key
from hetviz.ui.map import away
from hetviz.ui.shell import background, session, theme
from hetviz.ui.widgets import failed
from hetviz.workspace import from_dict

_FIRST, _MOST = 2, 20
_FIXES, _LINES = 1, 4


def report_of(data: HeteroData) -> GuidanceReport | None:
    """Return the look at what was said, taken once for the data; None while it is not there."""
    try:
        return _report(data)
    except away.Failed:
        # It is told where the conflicts would stand.
        return None


def _report(data: HeteroData) -> GuidanceReport | None:
    task = "hetviz.jobs.tasks.look:report"
    found: GuidanceReport | None = away.found(background.owner(), data, "report", task, {})
    return found


def show(data: HeteroData, ledger: Ledger) -> None:
    """Show the conflicts among links and among comparisons, the smallest first."""
    with failed.told("conflicts"):
        _shown(data, ledger)


def _shown(data: HeteroData, ledger: Ledger) -> None:
    report = _report(data)
    if report is None:
        theme.section("Conflicts")
        theme.quiet("What was said is being looked through.")
        return
    found = report.conflicts
    theme.section("Conflicts", f"{report.n_conflicts:,} open" if found else "none")
    if not found:
        theme.quiet("Nothing that was said contradicts anything else.")
    rows = by_key(ledger, {key for conflict in found[:_MOST] for key in conflict.keys})
    for number, conflict in enumerate(found[:_FIRST]):
        one(data, conflict, rows, f"conflict-{number}")
    if len(found) > _FIRST:
        with st.expander(f"{report.n_conflicts - _FIRST:,} more"):
            for number, conflict in enumerate(found[_FIRST:_MOST], _FIRST):
                one(data, conflict, rows, f"conflict-{number}")
            if report.n_conflicts > _MOST:
                theme.quiet("The others appear here as these are settled.")
    again = sum(len(keys) - 1 for keys in report.repeated)
    if again:
        theme.quiet(f"{theme.count(again, 'link')} repeat what was said before.")
        _button("Keep the first of each", "keep-first", report.repeated_fix)


def one(
    data: HeteroData, conflict: Conflict, rows: Mapping[str, Mapping[str, object]], key: str
) -> None:
    """Show one conflict with its fixes."""
    told = [rows[name] for name in conflict.keys if name in rows]
    with st.container(key=key, gap="xsmall"):
        lines = "".join(f"<p>{sentences.sentence(data, row)}</p>" for row in told[:_LINES])
        more = f"<p>… and {len(told) - _LINES:,} more</p>" if len(told) > _LINES else ""
        st.html(
            f'<div class="hv-conflict" title="{theme.esc(conflict.sentence)}">{lines}{more}'
            "<small>These cannot all be true.</small></div>"
        )
        _fixes(conflict.fixes, key)
        with st.container(horizontal=True, gap="small"):
            if len(conflict.fixes) > _FIXES:
                with st.popover("Other ways", type="tertiary", key=f"{key}-more"):
                    _fixes(conflict.fixes, key, _FIXES, None)
            st.button(
                "Show on the map",
                type="tertiary",
                key=f"{key}-show",
                on_click=sentences.show_on_map,
                args=(conflict.rows,),
            )


def _fixes(
    fixes: Sequence[tuple[str, Mapping[str, object]]],
    key: str,
    start: int = 0,
    stop: int | None = _FIXES,
) -> None:
    for place, (words, command) in list(enumerate(fixes))[start:stop]:
        _button(words, f"{key}-fix-{place}", command)


def _button(words: str, key: str, command: Mapping[str, object]) -> None:
    st.button(theme.plain(words), key=key, on_click=_fix, args=(command,))


def _fix(command: Mapping[str, object]) -> None:
    session.do(from_dict(command))
