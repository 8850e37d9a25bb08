"""Visitors of this server, each a browser."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping

import streamlit as st
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from hetviz.serve.config import settings
from hetviz.serve.visitors import Visitors

_HASH_KEY = secrets.token_bytes(16)

VISITORS = Visitors(settings().visitors)


def visitor_of(cookies: Mapping[str, str]) -> str:
    """Return a short hash of the browser that sent these cookies, empty without its token."""
    # Streamlit sends the same token with another mask on each page.
    token, _ = decode_xsrf_token_string(cookies.get(XSRF_COOKIE_NAME, ""))
    return hashlib.blake2b(token, key=_HASH_KEY, digest_size=5).hexdigest() if token else ""


def current_visitor() -> str:
    """Return the visitor of the page that runs."""
    return visitor_of(st.context.cookies)
