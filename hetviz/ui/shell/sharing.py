"""Project actions of signed-in users: share, comment, sign out."""

from __future__ import annotations

import io
import json
import time
import zipfile

import streamlit as st

from hetviz.errors import HetvizError
from hetviz.serve.config import settings
from hetviz.serve.people import MAX_COMMENT_LENGTH, Comment, Permission, Person
from hetviz.ui.jobs.jobs import JOBS
from hetviz.ui.shell import deleting, people, session, theme
from hetviz.ui.shell.page_state import page_state
from hetviz.workspace import SESSIONS, save_project


def show_menu(project: str) -> None:
    """Show the menu of the signed-in user; nothing without login."""
    person = people.current_person()
    if person is None:
        return
    role = people.get_role(project)
    if role == "look":
        st.html('<span class="hv-saved">View only</span>', width="content")
    with st.popover("Comments", type="tertiary", key="comments"):
        _show_comments(person, project)
    with st.popover(theme.escape_markdown(person.name), type="tertiary", key="person"):
        if role == "own":
            _show_links(person, project)
        _show_shared(person)
        _show_own_data(person, project, role)
        st.button("Sign out", key="sign-out", on_click=people.sign_out_here)
        st.button("Sign out everywhere", key="sign-out-all", on_click=people.sign_out_everywhere)


def _show_links(person: Person, project: str) -> None:
    theme.show_section("Share this project")
    with st.container(horizontal=True):
        for can, text in (("look", "New view link"), ("edit", "New edit link")):
            st.button(text, key=f"share-{can}", on_click=_create_link, args=(person, project, can))
    fresh = page_state().new_link
    if fresh is not None and fresh[0] == project:
        theme.show_note("Copy this link now. It is shown only once.")
        st.code(fresh[1], language=None)
    for link in people.get_people().links(person.id, project):
        day = time.strftime("%d %B", time.localtime(link.made))
        text = (
            f"{'Edit' if link.permission == 'edit' else 'View'}, made {day}, used by {link.used_by}"
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            theme.show_note(text)
            st.button(
                "Revoke",
                key=f"take-back-{link.hash[:12]}",
                on_click=_revoke_link,
                args=(person, project, link.hash),
            )


def _create_link(person: Person, project: str, can: Permission) -> None:
    key = people.get_people().create_link(person.id, project, can)
    people.get_audit().note("share", person.id, project, can=can)
    base = settings().oidc.redirect_uri.removesuffix("/oauth2callback")
    page_state().new_link = (project, f"{base}/map?{people.SHARE_PARAM}={key}")


def _revoke_link(person: Person, project: str, link: str) -> None:
    people.get_people().revoke_link(person.id, project, link)
    page_state().new_link = None
    people.get_audit().note("take-back", person.id, project)


def _show_shared(person: Person) -> None:
    shared = {
        project: can
        for project, can in people.get_people().shared_with(person.id).items()
        if SESSIONS.exists(project)
    }
    if shared:
        theme.show_section("Shared with you")
    for project, can in shared.items():
        workspace = SESSIONS.find(project)
        title = None if workspace is None else workspace.state.title
        text = f"{title or 'A project'} ({can})"
        st.button(
            theme.escape_markdown(text),
            key=f"to-{project}",
            on_click=session.open_project,
            args=(project,),
        )


def _show_comments(person: Person, project: str) -> None:
    theme.show_section("Comments", "visible to all members of this project")
    about = st.text_input("Item", key="comment-item", placeholder="The whole map")
    text = st.text_area("Comment", key="comment-text", max_chars=MAX_COMMENT_LENGTH, height=90)
    st.button("Add", key="comment-add", on_click=_add_comment, args=(person, project, text, about))
    owns = people.get_role(project) == "own"
    for comment in people.get_people().comments(person.id, project)[:50]:
        _show_comment(person, project, comment, owns)


def _show_comment(person: Person, project: str, comment: Comment, owns: bool) -> None:
    about = f", of {comment.item}" if comment.item else ""
    day = time.strftime("%d %B, %H:%M", time.localtime(comment.at))
    theme.show_pairs([(f"{comment.name or 'Unknown'}{about}", day)])
    st.text(comment.text)
    if owns or comment.person == person.id:
        args = (person.id, project, comment.id)
        st.button(
            "Remove",
            key=f"unsay-{comment.id}",
            on_click=people.get_people().delete_comment,
            args=args,
        )


def _add_comment(person: Person, project: str, text: str, about: str) -> None:
    try:
        people.get_people().add_comment(person.id, project, text, about.strip())
    except HetvizError as error:
        session.add_message(str(error))
    else:
        people.get_audit().note("comment", person.id, project)
        st.session_state["comment-text"] = ""


def _show_own_data(person: Person, project: str, role: Permission | None) -> None:
    theme.show_section("Your data", "all data about you on this server")
    st.download_button(
        "Download all of it",
        data=lambda: export_own_data(person),
        file_name="hetviz-my-data.zip",
        mime="application/zip",
        on_click="ignore",
        key="take-along",
    )
    sure = st.checkbox("I want to delete permanently", key="delete-sure")
    if role == "own":
        st.button(
            "Delete this project",
            disabled=not sure,
            key="delete-project",
            on_click=deleting.delete_project,
            args=(project,),
        )
    st.button(
        "Delete my account and projects",
        disabled=not sure,
        key="delete-me",
        on_click=_delete_all,
        args=(person,),
    )


def export_own_data(person: Person) -> bytes:
    """Return the data and projects of a person as a zip file."""
    people.get_audit().note("take-along", person.id)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(
            "about-me.json", json.dumps(people.get_people().export_person(person.id), indent=1)
        )
        for number, project in enumerate(people.get_people().owned(person.id), 1):
            workspace = SESSIONS.find(project)
            if workspace is not None:
                packed.writestr(f"project-{number}.hetviz", save_project(workspace))
    return file.getvalue()


def _delete_all(person: Person) -> None:
    for project in people.get_people().delete_person(person.id):
        JOBS.cancel_all(project)
        SESSIONS.remove(project)
    people.get_audit().note("delete-me", person.id)
    people.sign_out_here()
