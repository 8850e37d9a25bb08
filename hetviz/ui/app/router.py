"""Script of the app: page settings, navigation, top bar and the shared map."""

from __future__ import annotations

import streamlit as st

from hetviz.errors import HetvizError
from hetviz.ui.app import frame, panel, view
from hetviz.ui.shell import navigation, people, recent, session, theme
from hetviz.ui.shell.page_state import page_state
from hetviz.ui.statements import actions
from hetviz.workers import queue as reader_queue
from hetviz.workspace import SESSIONS

st.set_page_config(page_title="hetviz", page_icon=theme.icon_address(), layout="wide")


page = st.navigation(navigation.pages(), position="hidden")
people.require_login()
project = session.session_id(resumes=page.url_path != "")
if not SESSIONS.is_own(project):
    recent.load_page_of(project)
    st.stop()
reader_queue.set_visitor(project)
theme.add_css(theme.style_sheet())
try:
    session.workspace()
except HetvizError as error:
    session.show_error(error)
    st.stop()
place = frame.PLACE_OF.get(page.url_path, "start")
if page_state().at != page.url_path:
    page_state().at, page_state().arrived = page.url_path, True
target = page_state().go_to
if target is not None:
    # Dropped on arrival only: the run that switches the page may be interrupted.
    if frame.PLACE_OF.get(page.url_path) != target:
        navigation.go_to(target)
    if target == "map":
        panel.open_tab("Item")
    page_state().go_to = None
actions.refit_if_requested()
panel.note_drawn()
shown = frame.show_top_bar(place)
view.show_map(session.workspace().state, place)
with st.container(key="page" if place in ("data", "compare", "export") else "over"):
    page.run()
    # Scrolling pages appear when complete, so that their content does not move.
    st.html(f'<i class="hv-end hv-end-{place}" hidden></i>')
del page_state().messages[: len(shown)]
