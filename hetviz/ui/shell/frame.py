"""The bar above every page: project, places, find, what is being worked on, undo, redo, help."""

from __future__ import annotations

import streamlit as st

from hetviz._version import __version__
from hetviz.errors import HetvizError
from hetviz.io import limits
from hetviz.io.sandbox import process
from hetviz.jobs import Job
from hetviz.ui.map import away
from hetviz.ui.map.component import component
from hetviz.ui.shell import background, session, sharing, theme, words
from hetviz.ui.shell.paths import PAGES
from hetviz.workspace import SESSIONS, Pending, SetTitle, Workspace
from hetviz.workspace.store.blobs import MAX_BYTES, MOST_CACHED

_BEAT, _FAST_BEAT = 4.0, 0.5
# The style sheet says the same of a page that takes a while.
_WORKING = (
    '<div class="hv-job hv-rest"><span class="at-work now" role="status">Working …</span></div>'
)
_ENDED = {"interrupted": "was interrupted", "failed": "failed", "cancelled": "stopped"}


PLACES = ("data", "map", "compare", "export")
PLACE_OF = {
    "home": "start",
    "": "start",
    **{name: name for name in PLACES},
    **dict.fromkeys(("guidance", "clusters", "predict"), "map"),
}
_DOES = (
    "hetviz puts the items of several unlike datasets on one map. What you know of how they "
    "relate moves the map, and the curve beside it shows how far the map keeps it."
)
_KEPT = (
    "Every step is saved on the computer that runs hetviz, in its own data folder, or where the "
    "variable HETVIZ_HOME says. Nothing is sent anywhere else.",
    "The address of this page is the key to the project: who has it can open and change it. Your "
    "browser keeps a list of your projects; no one else can see that list.",
)


def show(place: str) -> list[tuple[str, str]]:
    """Show the bar, and whatever must be told; return what was told."""
    workspace = session.workspace()
    st.session_state["drawn"] = _drawn(workspace)
    # By this the style sheet knows where we are.
    st.html(f'<i class="hv-at hv-at-{place}" hidden></i>')
    with st.container(horizontal=True, vertical_alignment="center", key="top", gap="small"):
        st.page_link(PAGES / "start.py", label="Start", query_params=session.address())
        _project(workspace)
        with st.container(horizontal=True, key="places", gap=None, width="content"):
            for name in PLACES:
                with st.container(key=f"place-{name}", width="content"):
                    st.page_link(
                        PAGES / f"{name}.py",
                        label=name.capitalize(),
                        query_params=session.address(),
                    )
        st.html('<div class="hv-find-host"></div>', width="content")
        soon = background.live() or background.foreseeing() or away.at_work(background.owner())
        beat = _FAST_BEAT if soon else _BEAT
        with st.container(key="state", width="content"):
            st.fragment(run_every=beat)(_strip)()
        _steps(workspace)
        sharing.menu(str(st.session_state["sid"]))
        with st.popover("Help", icon=":material/help:", type="tertiary", key="help"):
            _help()
    told = session.messages()
    pending = workspace.state.pending
    ended = pending is not None and pending.outcome is not None
    if told or ended:
        with st.container(key="told", gap="small"):
            for kind, message in told:
                if kind == "error":
                    st.error(theme.plain(message), icon=":material/error:")
                else:
                    st.info(theme.plain(message), icon=":material/info:")
            if pending is not None and ended:
                _ending(pending)
    return told


def _project(workspace: Workspace) -> None:
    title = workspace.state.title or "No project"
    with st.popover(theme.plain(title), type="tertiary", key="project"):
        # A key for each title: another tab may have given it another one meanwhile.
        key = f"title-{title}"
        st.text_input(
            "Project name", value=title, max_chars=80, key=key, on_change=_retitle, args=(key,)
        )
        here = session.address()
        st.page_link(PAGES / "start.py", label="All projects, or a new one", query_params=here)
        st.page_link(PAGES / "export.py", label="Save it as a file", query_params=here)
        if SESSIONS.durable:
            saved = '<span class="hv-saved" title="Every step is on the disk before you see it.">'
            st.html(f"{saved}Saved</span>")
    if not SESSIONS.durable:
        lost = '<span class="hv-saved no" title="hetviz may not write to its folder, so this '
        st.html(f'{lost}project ends with the server.">Not saved</span>', width="content")


def _steps(workspace: Workspace) -> None:
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


def _drawn(workspace: Workspace) -> tuple[object, ...]:
    """Return what the page shows, but for what is being worked on, and whether a map grows."""
    job = background.live()
    growing = workspace.state.run is None and job is not None and job.seq > 0
    found = away.arrived(background.owner())
    return workspace.version, session.theme(), background.foreseen()[0], growing, found


def _strip() -> None:
    """Show the running job, or the state of the map; its timer also keeps a tab alive.

    A tab without a timer stays unconnected after the server restarts, and swallows a click. The
    page runs again when another tab, a job or the system's light and dark changed something, and
    when a file could not be made that a button was pressed for.
    """
    if session.heard_late() or _drawn(session.workspace()) != st.session_state["drawn"]:
        st.rerun()
    job = background.live()
    with st.container(
        horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"
    ):
        if job is not None:
            st.html(_progress(job), width="content")
            st.button(
                "Cancel", type="tertiary", key="cancel", on_click=background.cancel, args=(job.id,)
            )
        else:
            st.html(_state(), width="content")


def _progress(job: Job) -> str:
    # What is to be seen by then goes on moving.
    title = f"{job.title}, preview" if job.title == background.FIRST and job.seq else job.title
    if job.state == "waiting":
        words = f"waiting, {theme.count(job.ahead, 'map')} ahead" if job.ahead else "starting"
    else:
        left = job.seconds_left
        words = f"{job.fraction:.0%}".replace("%", " %")
        if left is not None:
            words += f", {max(1, round(left))} s left"
    return (
        f'<div class="hv-job" role="status">'
        f'<span class="title" title="{theme.esc(title)}">{theme.esc(title)}</span>'
        f'<span class="bar"><i style="width:{job.fraction:.0%}"></i></span>{theme.esc(words)}</div>'
    )


def _state() -> str:
    workspace = session.workspace()
    state = workspace.state
    # A job is noted before it waits anywhere, and until what it made is kept.
    if workspace.is_busy or background.foreseeing() or away.at_work(background.owner()):
        return _WORKING
    if state.run is None:
        return _at_rest("old", "No map yet")
    if state.is_current(state.run):
        return _at_rest("", "Map up to date")
    return _at_rest("old", "Data changed since this map")


def _at_rest(dot: str, words: str) -> str:
    """Say how things stand; the style sheet says *Working* instead once a page takes a while."""
    return (
        f'<div class="hv-job hv-rest"><span class="dot {dot}"></span>'
        f'<span class="at-rest">{words}</span><span class="at-work" role="status">Working …</span>'
        "</div>"
    )


def _ending(pending: Pending) -> None:
    """Say how the last job ended that gave no map, until the user has seen it."""
    words = f"{pending.title} {_ENDED[str(pending.outcome)]}. {pending.message}"
    with st.container(horizontal=True, vertical_alignment="center", key="ending", gap="small"):
        if pending.outcome == "failed":
            st.error(theme.plain(words), icon=":material/error:")
        else:
            st.info(theme.plain(words), icon=":material/info:")
        if pending.note:
            st.button("Start again", key="again", on_click=background.again, args=(pending,))
        st.button(
            "Dismiss", type="tertiary", key="dismiss", on_click=background.dismiss, args=(pending,)
        )


def _retitle(key: str) -> None:
    title = str(st.session_state[key]).strip()
    # Enter and leaving the field may both tell of the same change.
    if title != session.workspace().state.title:
        session.do(SetTitle(title))


def _undo(steps: int, name: str) -> None:
    """Take back the step that the button named: one press takes back no other."""
    workspace = session.workspace()
    if (workspace.steps, workspace.undo_name) != (steps, name):
        return
    try:
        workspace.undo()
    except HetvizError as error:
        session.tell(str(error))


def _redo(steps: int, name: str) -> None:
    """Do the step again that the button named."""
    workspace = session.workspace()
    if (workspace.steps, workspace.redo_name) != (steps, name):
        return
    try:
        workspace.redo()
    except HetvizError as error:
        session.tell(str(error))


def _help() -> None:
    """Show the help; meant for the inside of a popover."""
    with st.container(key="help-body", width=430, gap="small"):
        component.finder("help-finder", "help-body")
        st.html(
            "".join(
                (
                    _texts("What this is", (_DOES,)),
                    _terms("Places", words.PLACES),
                    _terms("Keys on the map", words.KEYS),
                    _terms("Words", words.GLOSSARY),
                    _texts("Where things are kept", _KEPT),
                    _terms("Limits", [(one.words, str(one)) for one in limits.LIMITS]),
                    _texts("More on limits", _more()),
                )
            )
        )
        st.html(f'<p class="hv-now">hetviz {theme.esc(__version__)}</p>')


def _more() -> tuple[str, str]:
    return (
        f"Reading one file may take {process.PROCESSOR_S} seconds of work and "
        f"{process.RESIDENT // limits.MB:,} MB of memory. Larger data: take a sample of the rows.",
        f"A project may hold {MAX_BYTES // limits.MB} MB. Up to {MOST_CACHED // limits.MB} MB "
        "of it are what was read from large files, so that they need not be read again; that goes "
        "first where its files and maps need the room.",
    )


def _terms(title: str, pairs: tuple[tuple[str, str], ...] | list[tuple[str, str]]) -> str:
    lines = "".join(
        f'<div class="hv-found-row"><dt>{theme.esc(name)}</dt><dd>{theme.esc(said)}</dd></div>'
        for name, said in pairs
    )
    return f'<section class="hv-help"><h3>{theme.esc(title)}</h3><dl>{lines}</dl></section>'


def _texts(title: str, texts: tuple[str, ...]) -> str:
    lines = "".join(f'<p class="hv-found-row">{theme.esc(one)}</p>' for one in texts)
    return f'<section class="hv-help"><h3>{theme.esc(title)}</h3>{lines}</section>'
