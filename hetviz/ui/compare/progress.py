"""The progress of each method while a comparison runs."""

from __future__ import annotations

import streamlit as st

from hetviz.ui.shell import background, theme

_BEAT_S = 0.5
_WORDS = {"waiting": "waits", "done": "done", "failed": "failed"}


def show() -> None:
    """Show the parts of the running job, if it has several; they follow it by themselves."""
    job = background.live()
    if job is not None and job.parts:
        st.fragment(run_every=_BEAT_S)(_parts)()
    elif job is not None:
        # The first report brings the parts.
        st.fragment(run_every=_BEAT_S)(_wait)()


def _wait() -> None:
    job = background.live()
    if job is None or job.parts:
        st.rerun()
    theme.quiet(f"{job.title}: {job.message.lower() or 'waiting'}.")


def _parts() -> None:
    job = background.live()
    if job is None:
        return
    rows = []
    for title, fraction, state in job.parts:
        share = f"{100 * fraction:.0f} %"
        words = _WORDS.get(state, share) if state != "waiting" or fraction == 0 else share
        kind = ' class="now"' if state == "running" else ""
        rows.append(
            f"<li{kind}><span>{theme.esc(title)}</span>"
            f'<span class="bar"><i style="width:{100 * fraction:.0f}%"></i></span>'
            f"<b>{theme.esc(words)}</b></li>"
        )
    st.html(f'<ul class="hv-parts" aria-label="Progress of each method">{"".join(rows)}</ul>')
    theme.quiet("Cancel, at the top right, keeps what is complete by then.")
