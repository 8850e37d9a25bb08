"""Contradicting statements, with one-click fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from hetviz.data import HeteroData
from hetviz.metrics.conflicts.conflicts import StatementConflict
from hetviz.metrics.conflicts.guidance_report import GuidanceReport
from hetviz.ui.guidance import sentences
from hetviz.ui.guidance.ledger import Ledger, by_key
from hetviz.ui.map_data import worker_results
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.shell.page_state import project_id
from hetviz.ui.widgets import failure
from hetviz.workspace import from_dict

_N_OPEN, _MAX_CONFLICTS = 2, 20
_N_MAIN_FIXES, _MAX_LINES = 1, 4


def report_of(data: HeteroData) -> GuidanceReport | None:
    """Return the cached report on the guidance, or None until it is ready."""
    try:
        return _load_report(data)
    except worker_results.WorkerError:
        # The error shows in the list of conflicts.
        return None


def _load_report(data: HeteroData) -> GuidanceReport | None:
    report: GuidanceReport | None = worker_results.fetch_from_worker(
        project_id(), data, "report", "check-guidance", {}
    )
    return report


@failure.show_failure("conflicts")
def show_conflicts(data: HeteroData, ledger: Ledger) -> None:
    """Show the conflicts among links and among comparisons, the smallest first."""
    report = _load_report(data)
    if report is None:
        theme.show_note("Checking the guidance for contradictions.")
        return
    conflicts = report.conflicts
    if conflicts:
        theme.show_section("Conflicts", f"{report.n_conflicts:,} open")
    else:
        theme.show_note("No statements contradict each other.")
    rows = by_key(ledger, {key for conflict in conflicts[:_MAX_CONFLICTS] for key in conflict.keys})
    for number, conflict in enumerate(conflicts[:_N_OPEN]):
        show_conflict(data, conflict, rows, f"conflict-{number}")
    if len(conflicts) > _N_OPEN:
        with st.expander(f"{report.n_conflicts - _N_OPEN:,} more"):
            for number, conflict in enumerate(conflicts[_N_OPEN:_MAX_CONFLICTS], _N_OPEN):
                show_conflict(data, conflict, rows, f"conflict-{number}")
            if report.n_conflicts > _MAX_CONFLICTS:
                theme.show_note("More appear here once these are resolved.")
    n_repeated = sum(len(keys) - 1 for keys in report.repeated)
    if n_repeated:
        theme.show_note(f"{theme.count(n_repeated, 'link is', 'links are')} repeated.")
        _fix_button("Keep the first of each", "keep-first", report.repeated_fix)


def show_conflict(
    data: HeteroData,
    conflict: StatementConflict,
    rows: Mapping[str, Mapping[str, object]],
    key: str,
) -> None:
    """Show one conflict with its fixes."""
    statements = [rows[name] for name in conflict.keys if name in rows]
    with st.container(key=key, gap="xsmall"):
        lines = "".join(
            f"<p>{sentences.sentence_html(data, row)}{_author_html(row)}</p>"
            for row in statements[:_MAX_LINES]
        )
        others = (
            f"<p>… and {len(statements) - _MAX_LINES:,} more</p>"
            if len(statements) > _MAX_LINES
            else ""
        )
        st.html(
            '<div class="hv-conflict" '
            f'title="{theme.escape_html(conflict.sentence)}">{lines}{others}'
            "<small>These contradict each other.</small></div>"
        )
        _show_fixes(conflict.fixes, key)
        with st.container(horizontal=True, gap="small"):
            if len(conflict.fixes) > _N_MAIN_FIXES:
                with st.popover("Other fixes", type="tertiary", key=f"{key}-more"):
                    _show_fixes(conflict.fixes, key, _N_MAIN_FIXES, None)
            selection.show_map_button(conflict.rows, f"{key}-show")


def _author_html(row: Mapping[str, object]) -> str:
    who = str(row["who"] or "")
    return f" <small>by {theme.escape_html(who)}</small>" if who else ""


def _show_fixes(
    fixes: Sequence[tuple[str, Mapping[str, object]]],
    key: str,
    start: int = 0,
    stop: int | None = _N_MAIN_FIXES,
) -> None:
    for number, (label, command) in list(enumerate(fixes))[start:stop]:
        _fix_button(label, f"{key}-fix-{number}", command)


def _fix_button(words: str, key: str, command: Mapping[str, object]) -> None:
    label = theme.escape_markdown(words)
    st.button(label, key=key, on_click=session.on_command, args=(from_dict(command),))
