"""Opening what the statements of a page were computed from."""

from __future__ import annotations

import re
from html import unescape

from streamlit.testing.v1 import AppTest

from hetviz.ui.evidence.dialog import ShownEvidence
from tests.app.conftest import html_of, marked_html_of, page_of

_KEY = re.compile(r'data-hv-show="([^"]+)"')


def keys_of(app: AppTest) -> list[str]:
    """Return the keys of all statements of the page, one of each kind."""
    by_kind: dict[str, str] = {}
    for key in map(unescape, _KEY.findall(marked_html_of(app))):
        kind = "/".join(key.split("/")[: 2 if key.startswith("measure") else 1])
        by_kind.setdefault(kind, key)
    return list(by_kind.values())


def open_evidence(app: AppTest, key: str) -> str:
    """Return the HTML of the page with the evidence of a key open."""
    page_of(app).part(ShownEvidence).key = key
    app.run()
    assert not app.exception, key
    shown = html_of(app)
    page_of(app).part(ShownEvidence).key = ""
    return shown


def check_all(app: AppTest, expected: set[str]) -> None:
    """Open the evidence of each kind of statement on the page."""
    keys = keys_of(app)
    assert expected <= {key.split("/")[0] for key in keys}
    for key in keys:
        shown = open_evidence(app, key)
        assert 'class="hv-evidence"' in shown, key
        assert "changed since" not in shown, key
        assert app.dataframe[0].value.shape[0] >= 1, key
