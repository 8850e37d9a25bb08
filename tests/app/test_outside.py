"""The server asks nobody outside, whatever it is asked."""

from __future__ import annotations

import pytest
from streamlit import net_util
from streamlit.web.server import server_util

from hetviz.ui.app import lifespan


def test_a_request_of_another_site_makes_the_server_ask_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, timeout: asked.append(url))
    monkeypatch.setattr(net_util, "_external_ip", None)
    before = net_util.get_external_ip
    monkeypatch.setattr(net_util, "get_external_ip", before)
    assert not server_util.is_url_from_allowed_origins("https://evil.example")
    assert asked  # As Streamlit does by itself.
    asked.clear()
    lifespan.disable_external_ip_lookup()
    assert not server_util.is_url_from_allowed_origins("https://evil.example")
    assert asked == []
