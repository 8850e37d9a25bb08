"""The bar above every page: project, places, find, what is being worked on, undo, redo, help."""

from __future__ import annotations

import streamlit as st

from hetviz._version import __version__
from hetviz.errors import HetvizError
from hetviz.io import limits
from hetviz.io.sandbox import process
from hetviz.jobs import Job
from hetviz.ui.map import worker_results
from hetviz.ui.map.component import component
from hetviz.ui.shell import background, help_texts, session, sharing, theme
from hetviz.ui.shell.paths import PAGES
from hetviz.workspace import SESSIONS, PendingJob, SetTitle, Workspace
from hetviz.workspace.store.blobs import MAX_BYTES, MAX_CACHE_BYTES

_REFRESH_S, _FAST_REFRESH_S = 4.0, 0.5
# The style sheet says the same of a page that takes a while.
_WORKING = (
    '<div class="hv-job hv-rest"><span class="at-work now" role="status">Working …</span></div>'
)
_OUTCOME_TEXTS = {"interrupted": "was interrupted", "failed": "failed", "cancelled": "stopped"}


PLACES = ("data", "map", "compare", "export")
PLACE_OF = {
    "home": "start",
    "": "start",
    **{name: name for name in PLACES},
    **dict.fromkeys(("guidance", "clusters", "predict"), "map"),
}
_ABOUT = (
    "hetviz puts the items of several unlike datasets on one map. What you know of how they "
    "relate moves the map, and the curve beside it shows how far the map keeps it."
)
_STORAGE = (
    "Every step is saved on the computer that runs hetviz, in its own data folder, or where the "
    "variable HETVIZ_HOME says. Nothing is sent anywhere else.",
    "The address of this page is the key to the project: who has it can open and change it. Your "
    "browser keeps a list of your projects; no one else can see that list.",
)


def show_top_bar(place: str) -> list[tuple[str, str]]:
    """Show the bar, and whatever must be told; return what was told."""
    workspace = session.workspace()
    st.session_state["drawn"] = _page_state(workspace)
    # By this the style sheet knows where we are.
    st.html(f'<i class="hv-at hv-at-{place}" hidden></i>')
    with st.container(horizontal=True, vertical_alignment="center", key="top", gap="small"):
        st.page_link(PAGES / "start.py", label="Start", query_params=session.url_params())
        _show_project(workspace)
        with st.container(horizontal=True, key="places", gap=None, width="content"):
            for name in PLACES:
                with st.container(key=f"place-{name}", width="content"):
                    st.page_link(
                        PAGES / f"{name}.py",
                        label=name.capitalize(),
                        query_params=session.url_params(),
                    )
        st.html('<div class="hv-find-host"></div>', width="content")
        soon = (
            background.running_job()
            or background.is_previewing()
            or worker_results.is_working(background.job_owner())
        )
        beat = _FAST_REFRESH_S if soon else _REFRESH_S
        with st.container(key="state", width="content"):
            st.fragment(run_every=beat)(_show_status)()
        _show_steps(workspace)
        sharing.show_menu(str(st.session_state["sid"]))
        with st.popover("Help", icon=":material/help:", type="tertiary", key="help"):
            _show_help()
    messages = session.pending_messages()
    pending = workspace.state.pending
    ended = pending is not None and pending.outcome is not None
    if messages or ended:
        with st.container(key="told", gap="small"):
            for kind, message in messages:
                if kind == "error":
                    st.error(theme.escape_markdown(message), icon=":material/error:")
                else:
                    st.info(theme.escape_markdown(message), icon=":material/info:")
            if pending is not None and ended:
                _show_outcome(pending)
    return messages


def _show_project(workspace: Workspace) -> None:
    title = workspace.state.title or "No project"
    with st.popover(theme.escape_markdown(title), type="tertiary", key="project"):
        # A key for each title: another tab may have given it another one meanwhile.
        key = f"title-{title}"
        st.text_input(
            "Project name",
            value=title,
            max_chars=80,
            key=key,
            on_change=_rename_project,
            args=(key,),
        )
        here = session.url_params()
        st.page_link(PAGES / "start.py", label="All projects, or a new one", query_params=here)
        st.page_link(PAGES / "export.py", label="Save it as a file", query_params=here)
        if SESSIONS.is_durable:
            saved = '<span class="hv-saved" title="Every step is on the disk before you see it.">'
            st.html(f"{saved}Saved</span>")
    if not SESSIONS.is_durable:
        lost = '<span class="hv-saved no" title="hetviz may not write to its folder, so this '
        st.html(f'{lost}project ends with the server.">Not saved</span>', width="content")


def _show_steps(workspace: Workspace) -> None:
    undo, redo = workspace.undo_name, workspace.redo_name
    # What opened the first data is no step to go back behind.
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
    # By this the browser knows that the next press can be sent.
    st.html(f'<i class="hv-steps" data-steps="{workspace.steps}" hidden></i>', width="content")


def _page_state(workspace: Workspace) -> tuple[object, ...]:
    """Return what the page shows, but for what is being worked on, and whether a map grows."""
    job = background.running_job()
    growing = workspace.state.run is None and job is not None and job.seq > 0
    n_results = worker_results.n_arrived(background.job_owner())
    return workspace.version, session.theme(), background.last_preview()[0], growing, n_results


def _show_status() -> None:
    """Show the running job, or the state of the map; its timer also keeps a tab alive.

    A tab without a timer stays unconnected after the server restarts, and swallows a click. The
    page runs again when another tab, a job or the system's light and dark changed something, and
    when a file could not be made that a button was pressed for.
    """
    if (
        session.take_late_messages()
        or _page_state(session.workspace()) != st.session_state["drawn"]
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
                on_click=background.cancel_job,
                args=(job.id,),
            )
        else:
            st.html(_status_html(), width="content")


def _progress_html(job: Job) -> str:
    # What is to be seen by then goes on moving.
    title = (
        f"{job.title}, preview"
        if job.title == background.FIRST_MAP_TITLE and job.seq
        else job.title
    )
    if job.state == "waiting":
        help_texts = f"waiting, {theme.count(job.ahead, 'map')} ahead" if job.ahead else "starting"
    else:
        left = job.seconds_left
        help_texts = f"{job.fraction:.0%}".replace("%", " %")
        if left is not None:
            help_texts += f", {max(1, round(left))} s left"
    return (
        f'<div class="hv-job" role="status">'
        f'<span class="title" title="{theme.escape_html(title)}">{theme.escape_html(title)}</span>'
        f'<span class="bar"><i style="width:{job.fraction:.0%}"></i></span>{theme.escape_html(help_texts)}</div>'
    )


def _status_html() -> str:
    workspace = session.workspace()
    state = workspace.state
    # A job is noted before it waits anywhere, and until what it made is kept.
    if (
        workspace.is_busy
        or background.is_previewing()
        or worker_results.is_working(background.job_owner())
    ):
        return _WORKING
    if state.run is None:
        return _idle_html("old", "No map yet")
    if state.is_current(state.run):
        return _idle_html("", "Map up to date")
    return _idle_html("old", "Data changed since this map")


def _idle_html(dot: str, text: str) -> str:
    """Say how things stand; the style sheet says *Working* instead once a page takes a while."""
    return (
        f'<div class="hv-job hv-rest"><span class="dot {dot}"></span>'
        f'<span class="at-rest">{help_texts}</span><span class="at-work" role="status">Working …</span>'
        "</div>"
    )


def _show_outcome(pending: PendingJob) -> None:
    """Say how the last job ended that gave no map, until the user has seen it."""
    help_texts = f"{pending.title} {_OUTCOME_TEXTS[str(pending.outcome)]}. {pending.message}"
    with st.container(horizontal=True, vertical_alignment="center", key="ending", gap="small"):
        if pending.outcome == "failed":
            st.error(theme.escape_markdown(help_texts), icon=":material/error:")
        else:
            st.info(theme.escape_markdown(help_texts), icon=":material/info:")
        if pending.note:
            st.button("Start again", key="again", on_click=background.restart_job, args=(pending,))
        st.button(
            "Dismiss",
            type="tertiary",
            key="dismiss",
            on_click=background.dismiss_job,
            args=(pending,),
        )


def _rename_project(key: str) -> None:
    title = str(st.session_state[key]).strip()
    # Enter and leaving the field may both tell of the same change.
    if title != session.workspace().state.title:
        session.run_command(SetTitle(title))


def _undo(steps: int, name: str) -> None:
    """Take back the step that the button named: one press takes back no other."""
    workspace = session.workspace()
    if (workspace.steps, workspace.undo_name) != (steps, name):
        return
    try:
        workspace.undo()
    except HetvizError as error:
        session.add_message(str(error))


def _redo(steps: int, name: str) -> None:
    """Do the step again that the button named."""
    workspace = session.workspace()
    if (workspace.steps, workspace.redo_name) != (steps, name):
        return
    try:
        workspace.redo()
    except HetvizError as error:
        session.add_message(str(error))


def _show_help() -> None:
    """Show the help; meant for the inside of a popover."""
    with st.container(key="help-body", width=430, gap="small"):
        component.show_finder("help-finder", "help-body")
        st.html(
            "".join(
                (
                    _texts_html("What this is", (_ABOUT,)),
                    _terms_html("Places", help_texts.PAGES_HELP),
                    _terms_html("Keys on the map", help_texts.KEYS),
                    _terms_html("Words", help_texts.GLOSSARY),
                    _texts_html("Where things are kept", _STORAGE),
                    _terms_html("Limits", [(limit.words, str(limit)) for limit in limits.LIMITS]),
                    _texts_html("More on limits", _limit_texts()),
                )
            )
        )
        st.html(f'<p class="hv-now">hetviz {theme.escape_html(__version__)}</p>')


def _limit_texts() -> tuple[str, str]:
    return (
        f"Reading one file may take {process.MAX_PROCESSOR_S} seconds of work and "
        f"{process.MAX_RESIDENT_BYTES // limits.MB:,} MB of memory. Larger data: take a sample of the rows.",
        f"A project may hold {MAX_BYTES // limits.MB} MB. Up to {MAX_CACHE_BYTES // limits.MB} MB "
        "of it are what was read from large files, so that they need not be read again; that goes "
        "first where its files and maps need the room.",
    )


def _terms_html(title: str, pairs: tuple[tuple[str, str], ...] | list[tuple[str, str]]) -> str:
    lines = "".join(
        f'<div class="hv-found-row"><dt>{theme.escape_html(name)}</dt><dd>{theme.escape_html(meaning)}</dd></div>'
        for name, meaning in pairs
    )
    return f'<section class="hv-help"><h3>{theme.escape_html(title)}</h3><dl>{lines}</dl></section>'


def _texts_html(title: str, texts: tuple[str, ...]) -> str:
    lines = "".join(f'<p class="hv-found-row">{theme.escape_html(text)}</p>' for text in texts)
    return f'<section class="hv-help"><h3>{theme.escape_html(title)}</h3>{lines}</section>'
