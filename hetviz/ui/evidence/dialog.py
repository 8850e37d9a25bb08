"""Dialog with the rows, rule, sample and chance level behind a statement."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from hetviz._text import count
from hetviz.errors import HetvizError
from hetviz.exports.tables import table_bytes
from hetviz.runs.evidence.evidence import Evidence
from hetviz.ui.map.component import component
from hetviz.ui.map_data import worker_results
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.shell.page_state import carry, project_id, state_of

_LISTENER = "show-me"
_MAX_ROWS_SHOWN = 5_000
_ROW_PX, _MAX_HEIGHT = 35, 420


@dataclass
class ShownEvidence:
    """Key of the evidence that is open, or empty."""

    key: str = ""


def show_requested() -> None:
    """Listen for clicks on statements, and open the evidence of the last one."""
    component.listen_for_evidence(_LISTENER, _on_show)
    if state_of(ShownEvidence).key:
        _show_dialog()


def _on_show() -> None:
    result = st.session_state.get(_LISTENER)
    key = None if result is None else result.get("show")
    if isinstance(key, str):
        state_of(ShownEvidence).key = key


def _close() -> None:
    state_of(ShownEvidence).key = ""


@st.dialog("What this was computed from", width="large", on_dismiss=_close)
def _show_dialog() -> None:
    # Imported late: it loads the numerical libraries.
    from hetviz.ui.evidence import find_evidence

    workspace = session.workspace()
    key, state = state_of(ShownEvidence).key, workspace.state
    about = (project_id(), "evidence", key, workspace.version, workspace.selection_version)
    work = carry(lambda: find_evidence(state, key))
    try:
        with st.spinner("Collecting the rows"):
            evidence: Evidence | None = worker_results.compute_in_thread(
                project_id(), state.opened(), about, work, state.run, "Collecting the rows"
            )
    except worker_results.WorkerError as failed:
        theme.show_note(failed.reason)
        return
    except HetvizError as error:
        theme.show_note(str(error))
        return
    if evidence is None:
        theme.show_note("Collecting the rows …")
        return
    st.html(_text_html(evidence))
    _show_table(evidence)


def _text_html(evidence: Evidence) -> str:
    terms = [("Rule", evidence.rule), ("Sample", evidence.sample), ("Chance", evidence.chance)]
    lines = "".join(
        f"<dt>{name}</dt><dd>{theme.escape_html(text)}</dd>" for name, text in terms if text
    )
    statement = theme.escape_html(evidence.statement)
    return f'<div class="hv-evidence"><p>{statement}</p><dl>{lines}</dl></div>'


def _show_table(evidence: Evidence) -> None:
    table = evidence.table
    if not len(table):
        return
    st.dataframe(
        table.head(_MAX_ROWS_SHOWN),
        hide_index=True,
        height=min(_ROW_PX * (len(table) + 1) + 3, _MAX_HEIGHT),
        key="evidence-table",
    )
    if len(table) > _MAX_ROWS_SHOWN:
        theme.show_note(f"The first {_MAX_ROWS_SHOWN:,} of {len(table):,} rows. The CSV has all.")
    with st.container(horizontal=True, gap="small"):
        if len(evidence.rows) and st.button(
            f"Select {count(len(evidence.rows), 'item')} on the map", key="evidence-select"
        ):
            _close()
            selection.show_on_map(evidence.rows.tolist())
            st.rerun()
        st.download_button(
            "Download CSV",
            data=lambda: table_bytes(table),
            file_name="evidence.csv",
            mime="text/csv",
            key="evidence-csv",
            on_click="ignore",
        )
