"""Top bar of every page: project, pages, search, running job, undo, redo and help."""

from __future__ import annotations

import math
from functools import cache

import streamlit as st

from hetviz._version import __version__
from hetviz.errors import HetvizError
from hetviz.io import limits
from hetviz.jobs import Job
from hetviz.ui.app import help_texts
from hetviz.ui.evidence import dialog
from hetviz.ui.jobs.jobs import JOBS, Kind
from hetviz.ui.map.component import component
from hetviz.ui.map_data import worker_results
from hetviz.ui.shell import background, navigation, people, session, sharing, theme
from hetviz.ui.shell.page_state import page_state, project_id
from hetviz.workers import reader as process
from hetviz.workspace import SESSIONS, EndJob, PendingJob, SetTitle, Workspace
from hetviz.workspace.store.blobs import MAX_BYTES, MAX_CACHE_BYTES

_REFRESH_S, _FAST_REFRESH_S, _BUSY_REFRESH_S = 4.0, 0.5, 2.0
_MAX_JOBS_FAST = 4
"""With more jobs on the server, pages ask less often, because asking takes time from the jobs."""
# Times left are rounded up to these, in seconds.
_STEP_S, _MINUTE_S = 5, 60
# The style sheet shows the same text on a slow page.
_WORKING = (
    '<div class="hv-job hv-job-state">'
    '<span class="at-work now" role="status">Working …</span></div>'
)
_OUTCOME_TEXTS = {"interrupted": "was interrupted", "failed": "failed", "cancelled": "stopped"}


PLACES = ("data", "map", "compare", "export")
PLACE_OF = {
    "home": "start",
    "": "start",
    **{name: name for name in PLACES},
    **dict.fromkeys(("guidance", "clusters", "predict"), "map"),
}
_REVIEW_PLACES = ("start", "data")
_ABOUT = (
    "hetviz shows the items of several datasets on one map. Links and other guidance from you "
    "move the map, and a curve next to it shows how many links are close."
)
_STORAGE = (
    "Every step is saved on the computer that runs hetviz, in its data folder or in the folder of "
    "the variable HETVIZ_HOME. Nothing is sent anywhere else.",
    "The address of this page is the key to the project. Anyone with the address can open and "
    "change it. Your browser stores the list of your projects, and only you can see it.",
)


def show_top_bar(place: str) -> list[tuple[str, str]]:
    """Show the bar and the messages; return the messages shown."""
    workspace = session.workspace()
    page_state().drawn = _page_inputs(workspace)
    # The style sheet reads the page from this.
    st.html(f'<i class="hv-at hv-at-{place}" hidden></i>')
    with st.container(horizontal=True, vertical_alignment="center", key="top", gap="small"):
        is_review = _reviews_new_files(place)
        _show_project(workspace, is_review)
        with st.container(horizontal=True, key="places", gap=None, width="content"):
            for name in PLACES:
                with st.container(key=f"place-{name}", width="content"):
                    navigation.show_link(name, name.capitalize())
        st.html('<div class="hv-find-host"></div>', width="content")
        soon = (
            background.running_job()
            or JOBS.active(project_id(), Kind.PREVIEW)
            or worker_results.is_working(project_id())
        )
        beat = _fast_refresh_s() if soon else _REFRESH_S
        with st.container(key="state", width="content"):
            st.fragment(run_every=beat)(_show_status)(is_review)
        _show_steps(workspace)
        sharing.show_menu(project_id())
        with st.popover("Help", icon=":material/help:", type="tertiary", key="help"):
            _show_help()
    if workspace.state.data is not None:
        dialog.show_requested()
    messages = list(page_state().messages)
    pending = workspace.state.pending
    # Also without messages: if the map came at another place of the page, it would be drawn again.
    with st.container(key="messages", gap="small"):
        for kind, message in messages:
            if kind == "error":
                st.error(theme.escape_markdown(message), icon=":material/error:")
            else:
                st.info(theme.escape_markdown(message), icon=":material/info:")
        if pending is not None and pending.outcome is not None:
            _show_outcome(pending)
    return messages


def _fast_refresh_s() -> float:
    _, running, waiting = JOBS.load()
    return min(_BUSY_REFRESH_S, _FAST_REFRESH_S * max(1.0, (running + waiting) / _MAX_JOBS_FAST))


def _reviews_new_files(place: str) -> bool:
    """Return whether the page shows files of a new project, before its map is made."""
    if place not in _REVIEW_PLACES:
        return False
    from hetviz.ui.reading import upload

    return upload.is_new_project()


def _show_project(workspace: Workspace, is_review: bool) -> None:
    title = workspace.state.title or "No project"
    shown = "New project" if is_review else title
    with st.popover(theme.escape_markdown(shown), type="tertiary", key="project"):
        if is_review:
            theme.show_note(f"It begins with its map. Until then “{title}” stays open.")
        else:
            # The key holds the title, since another tab may change it.
            key = f"title-{title}"
            st.text_input(
                "Project name",
                value=title,
                max_chars=80,
                key=key,
                on_change=_rename_project,
                args=(key,),
            )
        navigation.show_link("start", "Start: all projects, or a new one")
        navigation.show_link("export", "Save as a file")
        if SESSIONS.is_durable:
            saved = '<span class="hv-saved" title="Every step is saved on disk.">'
            st.html(f"{saved}Saved</span>")
    if not SESSIONS.is_durable:
        lost = '<span class="hv-saved no" title="hetviz cannot write to its folder, so this '
        st.html(f'{lost}project is lost when the server stops.">Not saved</span>', width="content")


def _show_steps(workspace: Workspace) -> None:
    undo, redo = workspace.undo_name, workspace.redo_name
    # The step that opened the first data cannot be undone.
    can_undo = undo is not None and workspace.steps > 1
    st.button(
        f"Undo {undo}" if can_undo else "Undo",
        icon=":material/undo:",
        type="tertiary",
        disabled=not can_undo,
        key="undo",
        on_click=_undo,
        args=(workspace.steps, undo),
    )
    if redo is not None:
        st.button(
            f"Redo {redo}",
            icon=":material/redo:",
            type="tertiary",
            key="redo",
            on_click=_redo,
            args=(workspace.steps, redo),
        )
    # The browser waits for this before it sends the next key.
    st.html(f'<i class="hv-steps" data-steps="{workspace.steps}" hidden></i>', width="content")


def _page_inputs(workspace: Workspace) -> tuple[object, ...]:
    """Return the state that the page depends on, except the progress of jobs."""
    job = background.running_job()
    growing = workspace.state.run is None and job is not None and job.seq > 0
    n_results = worker_results.n_arrived(project_id())
    return workspace.version, session.theme(), background.last_preview()[0], growing, n_results


def _show_status(is_review: bool) -> None:
    """Show the running job or the state of the map, on a timer."""
    # The timer reconnects a tab after a server restart. The page runs again when another tab, a job
    # or the system theme changed something, or when a download failed.
    is_closed = people.get_role(project_id()) is None
    if (
        is_closed
        or session.take_late_messages()
        or _page_inputs(session.workspace()) != page_state().drawn
    ):
        st.rerun()
    job = background.running_job()
    with st.container(
        horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"
    ):
        if job is not None:
            st.html(_progress_html(job), width="content")
            st.button(
                "Cancel",
                type="tertiary",
                key="cancel",
                on_click=JOBS.cancel_job,
                args=(job.id, project_id()),
            )
        else:
            st.html(_status_html(is_review), width="content")


def _progress_html(job: Job) -> str:
    title = (
        f"{job.title}, preview"
        if job.note.get("task") == "make-first-map" and job.seq
        else job.title
    )
    if job.state == "waiting":
        text = f"waiting, {theme.count(job.ahead, 'map')} ahead" if job.ahead else "starting"
    else:
        left = job.seconds_left
        text = f"{job.fraction:.0%}".replace("%", " %")
        if left is not None:
            text += f", {_duration(left)} left"
    return (
        f'<div class="hv-job" role="status">'
        f'<span class="title" title="{theme.escape_html(title)}">{theme.escape_html(title)}</span>'
        f'<span class="bar"><i style="width:{job.fraction:.0%}"></i></span>'
        f"{theme.escape_html(text)}</div>"
    )


def _duration(seconds: float) -> str:
    """Return a rounded time, so that it does not change all the time."""
    if seconds > _MINUTE_S:
        return f"{math.ceil(seconds / _MINUTE_S)} min"
    return f"{max(1, math.ceil(seconds / _STEP_S)) * _STEP_S} s"


def _status_html(is_review: bool) -> str:
    workspace = session.workspace()
    state = workspace.state
    # The workspace is busy from the start of a job until its result is recorded.
    if (
        workspace.is_busy
        or JOBS.active(project_id(), Kind.PREVIEW)
        or worker_results.is_working(project_id())
    ):
        return _WORKING
    if is_review:
        return _idle_html("old", "No map of these files yet")
    if state.run is None:
        return _idle_html("old", "No map yet")
    if state.is_current(state.run):
        return _idle_html("", "Map up to date")
    return _idle_html("old", "Data changed since this map")


def _idle_html(dot: str, text: str) -> str:
    """Return the idle text; the style sheet shows *Working* instead on a slow page."""
    return (
        f'<div class="hv-job hv-job-state"><span class="dot {dot}"></span>'
        f'<span class="at-rest">{text}</span>'
        '<span class="at-work" role="status">Working …</span>'
        "</div>"
    )


def _show_outcome(pending: PendingJob) -> None:
    """Show how the last job without a result ended, until the user dismisses it."""
    text = f"{pending.title} {_OUTCOME_TEXTS[str(pending.outcome)]}. {pending.message}"
    with st.container(horizontal=True, vertical_alignment="center", key="ending", gap="small"):
        if pending.outcome == "failed":
            st.error(theme.escape_markdown(text), icon=":material/error:")
        else:
            st.info(theme.escape_markdown(text), icon=":material/info:")
        if pending.note:
            st.button("Start again", key="again", on_click=background.restart_job, args=(pending,))
        st.button(
            "Dismiss",
            type="tertiary",
            key="dismiss",
            on_click=session.on_command,
            args=(EndJob(pending.job),),
        )


def _rename_project(key: str) -> None:
    title = str(st.session_state[key]).strip()
    # Enter and leaving the field may report the same change twice.
    if title != session.workspace().state.title:
        session.run_command(SetTitle(title))


def _undo(steps: int, name: str) -> None:
    """Undo the step that the button named and no other."""
    workspace = session.workspace()
    if (workspace.steps, workspace.undo_name) == (steps, name):
        session.undo()


def _redo(steps: int, name: str) -> None:
    workspace = session.workspace()
    if (workspace.steps, workspace.redo_name) != (steps, name):
        return
    try:
        workspace.redo()
    except HetvizError as error:
        session.add_message(str(error))


def _show_help() -> None:
    """Show the help inside a popover."""
    with st.container(key="help-body", width=370, gap="small"):
        component.show_finder("help-finder", "help-body")
        st.html(_help_html())
        st.html(f'<p class="hv-status-line">hetviz {theme.escape_html(__version__)}</p>')


@cache
def _help_html() -> str:
    return "".join(
        (
            _texts_html("About hetviz", (_ABOUT,)),
            _terms_html("Pages", help_texts.PAGES_HELP),
            _terms_html("Keys on the map", help_texts.KEYS),
            _terms_html("Words", help_texts.GLOSSARY),
            _texts_html("Where data is stored", _STORAGE),
            _terms_html("Limits", [(limit.words, str(limit)) for limit in limits.LIMITS]),
            _texts_html("More about limits", _limit_texts()),
        )
    )


def _limit_texts() -> tuple[str, str]:
    return (
        f"Reading one file may take {process.MAX_PROCESSOR_S} seconds of processor time and "
        f"{process.MAX_RESIDENT_BYTES // limits.MB:,} MB of memory. For larger data, "
        "take a sample of the rows.",
        f"A project may hold {MAX_BYTES // limits.MB} MB. Up to {MAX_CACHE_BYTES // limits.MB} MB "
        "of it are a cache of large files, which is deleted first when space is needed.",
    )


def _terms_html(title: str, pairs: tuple[tuple[str, str], ...] | list[tuple[str, str]]) -> str:
    lines = "".join(
        f'<div class="hv-help-row"><dt>{theme.escape_html(name)}</dt>'
        f"<dd>{theme.escape_html(meaning)}</dd></div>"
        for name, meaning in pairs
    )
    return f'<section class="hv-help"><h3>{theme.escape_html(title)}</h3><dl>{lines}</dl></section>'


def _texts_html(title: str, texts: tuple[str, ...]) -> str:
    lines = "".join(f'<p class="hv-help-row">{theme.escape_html(text)}</p>' for text in texts)
    return f'<section class="hv-help"><h3>{theme.escape_html(title)}</h3>{lines}</section>'
