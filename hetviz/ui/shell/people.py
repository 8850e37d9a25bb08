"""Signed-in users and their permissions; without login everything is allowed."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

from hetviz.serve.config import OidcSettings, settings
from hetviz.serve.people import (
    People,
    Permission,
    PermissionDeniedError,
    Person,
    login_of,
    person_of,
    roles_of,
)
from hetviz.serve.records import Audit
from hetviz.serve.upkeep import size_of
from hetviz.ui.shell.page_state import page_state, project_id
from hetviz.workspace import SESSIONS, Workspace
from hetviz.workspace.store.blobs import MAX_BYTES, MB

SHARE_PARAM = "share"
MAX_AUTHOR_LENGTH = 60
_SIZE_CHECK_S = 30.0
_lock = threading.Lock()


@cache
def _stores(home: Path) -> tuple[People, Audit]:
    return People(home), Audit(home)


def get_people() -> People:
    """Return the user store of this server."""
    with _lock:
        return _stores(SESSIONS.home_folder)[0]


def get_audit() -> Audit:
    """Return the audit log."""
    with _lock:
        return _stores(SESSIONS.home_folder)[1]


def has_login() -> bool:
    """Return whether users sign in."""
    return settings().auth == "oidc"


def streamlit_secrets(oidc: OidcSettings) -> dict[str, object]:
    """Return the secrets of a login provider for Streamlit."""
    return {
        "auth": {
            "redirect_uri": oidc.redirect_uri,
            "cookie_secret": oidc.cookie_secret,
            "client_id": oidc.client_id,
            "client_secret": oidc.client_secret,
            "server_metadata_url": oidc.metadata_url,
        }
    }


def require_login() -> None:
    """Show the sign-in page and stop unless the user is signed in."""
    if not has_login():
        return
    oidc = settings().oidc
    claims = st.user.to_dict()
    person, login = person_of(claims), login_of(claims)
    if not st.user.is_logged_in or person is None or get_people().has_ended(login):
        page_state().person = None
        st.title("hetviz")
        st.text("One map of several datasets that you can correct.")
        st.button("Sign in", type="primary", key="sign-in", on_click=st.login)
        st.stop()
    if oidc.required_role and oidc.required_role not in roles_of(claims, oidc.roles_claim):
        st.error("Your account has no role that may use hetviz here.")
        st.button("Sign out", key="sign-out", on_click=sign_out_here)
        st.stop()
    page_state().login = login
    if page_state().person != person:
        page_state().person = person
        get_people().record_visit(person, login)
        get_audit().note("come", person.id)
    _accept_share_link(person)


def _accept_share_link(person: Person) -> None:
    """Accept the share link in the address and open its project."""
    key = st.query_params.get(SHARE_PARAM)
    if not isinstance(key, str):
        return
    try:
        project = get_people().accept_link(person.id, key)
    except PermissionDeniedError as error:
        get_audit().note("link-refused", person.id)
        page_state().messages.append(("error", str(error)))
    else:
        get_audit().note("link-used", person.id, project)
        st.query_params["s"] = project
    # The key is removed from the address so that it is not shared by mistake.
    del st.query_params[SHARE_PARAM]


def sign_out_here() -> None:
    """End the login of this browser, in all of its tabs."""
    claims = st.user.to_dict()
    person = person_of(claims)
    if person is not None:
        get_people().end_login(login_of(claims), person.id)
        get_audit().note("leave", person.id)
    st.logout()


def sign_out_everywhere() -> None:
    """End all logins of the user."""
    person = current_person()
    if person is not None:
        get_people().end_logins(person.id)
    sign_out_here()


def current_person() -> Person | None:
    """Return the signed-in user, or None without login."""
    state = page_state()
    if not has_login() or state.person is None or get_people().has_ended(state.login):
        return None
    return state.person


def name_in_records() -> str:
    """Return the id of the user in logs, empty without login."""
    person = current_person()
    return "" if person is None else person.id


def author_name() -> str:
    """Return the name under which statements are recorded, empty if there is none."""
    return _author(current_person(), page_state().name or "")


def _author(person: Person | None, chosen: str) -> str:
    # Accounts without a name are shown by their address, which members of a project need not know.
    name = chosen if person is None else person.name.partition("@")[0]
    return " ".join(name.split())[:MAX_AUTHOR_LENGTH]


def get_role(project: str) -> Permission | None:
    """Return the role of the user in a project."""
    if not has_login():
        return "own"
    person = current_person()
    return None if person is None else get_people().permission(person.id, project)


def may_open(project: str) -> bool:
    """Return whether the user may open a project."""
    return get_role(project) is not None


def newest_project() -> str | None:
    """Return the newest project of the signed-in user, for addresses without one."""
    person = current_person()
    if person is None:
        return None
    return next(filter(SESSIONS.exists, get_people().owned(person.id)), None)


def own_new_project(project: str) -> None:
    """Make the user the owner of a new project, unless the quota is reached."""
    person = current_person()
    if person is not None:
        get_people().set_owner(person.id, project, settings().quota.projects)
        get_audit().note("begin", person.id, project)


def forget_project(project: str) -> None:
    """Delete the ownership of a project that is being deleted."""
    person = current_person()
    if person is not None:
        get_people().delete_project(project)
        get_audit().note("delete-project", person.id, project)


def limit_size(workspace: Workspace) -> None:
    """Limit the size of a project to what is left of the owner's disk quota."""
    person = current_person()
    max_megabytes = settings().quota.megabytes
    if person is None or not max_megabytes or time.time() < page_state().measured_until:
        return
    page_state().measured_until = time.time() + _SIZE_CHECK_S
    sizes = {project: _project_size(project) for project in get_people().owned(person.id)}
    here = project_id()
    others = sum(size for project, size in sizes.items() if project != here)
    workspace.blobs.limit = max(0, min(MAX_BYTES, max_megabytes * MB - others))


def may_request(cookies: Mapping[str, str], project: str | None) -> bool:
    """Whether a request with these cookies may read a project, or is of someone signed in."""
    claims = _claims_of(cookies)
    person = person_of(claims)
    oidc = settings().oidc
    if person is None or get_people().has_ended(login_of(claims)):
        return False
    if oidc.required_role and oidc.required_role not in roles_of(claims, oidc.roles_claim):
        return False
    return project is None or get_people().permission(person.id, project) is not None


def author_of_request(cookies: Mapping[str, str], chosen: str) -> tuple[str, str]:
    """Return id and name of the person of a request; without login, no id and the chosen name."""
    person = person_of(_claims_of(cookies)) if has_login() else None
    return ("" if person is None else person.id), _author(person, chosen)


def may_look(person: str, project: str) -> bool:
    """Whether a person, by id, may open a project; without login everyone with its address."""
    return not has_login() or get_people().permission(person, project) is not None


def sign_out(cookies: Mapping[str, str]) -> None:
    """End the login that a request belongs to."""
    claims = _claims_of(cookies)
    person = person_of(claims)
    if person is not None:
        get_people().end_login(login_of(claims), person.id)


def _claims_of(cookies: Mapping[str, str]) -> dict[str, Any]:
    """Return the claims in the login cookie of a request, empty without one."""
    try:
        content = _get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
        claims = json.loads(content or b"null")
    except (ValueError, KeyError):
        return {}
    return claims if isinstance(claims, dict) and claims.get("is_logged_in") else {}


def _project_size(project: str) -> int:
    return size_of(SESSIONS.home_folder / "sessions" / project)
