"""Progress of each method while a comparison runs."""

from __future__ import annotations

import streamlit as st

from hetviz.ui.shell import background, theme

_REFRESH_S = 0.5
_STATE_TEXTS = {"waiting": "waiting", "done": "done", "failed": "failed"}


def show_progress() -> None:
    """Show the parts of the running job, refreshed automatically."""
    job = background.running_job()
    if job is not None and job.parts:
        st.fragment(run_every=_REFRESH_S)(_show_parts)()
    elif job is not None:
        # The first report creates the parts.
        st.fragment(run_every=_REFRESH_S)(_wait_for_parts)()


def _wait_for_parts() -> None:
    job = background.running_job()
    if job is None or job.parts:
        st.rerun()
    theme.show_note(f"{job.title}: {job.message.lower() or 'waiting'}.")


def _show_parts() -> None:
    job = background.running_job()
    if job is None:
        return
    rows = []
    for title, fraction, state in job.parts:
        share = f"{100 * fraction:.0f} %"
        text = _STATE_TEXTS.get(state, share) if state != "waiting" or fraction == 0 else share
        css_class = ' class="now"' if state == "running" else ""
        rows.append(
            f"<li{css_class}><span>{theme.escape_html(title)}</span>"
            f'<span class="bar"><i style="width:{100 * fraction:.0f}%"></i></span>'
            f"<b>{theme.escape_html(text)}</b></li>"
        )
    st.html(f'<ul class="hv-share-bars" aria-label="Progress of each method">{"".join(rows)}</ul>')
    theme.show_note("Cancel at the top right keeps the finished fits.")
