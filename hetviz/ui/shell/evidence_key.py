"""Keys of evidence, also where there is no Streamlit."""

from __future__ import annotations

from urllib.parse import quote


def evidence_key(kind: str, *about: object) -> str:
    """Return the key of evidence, see `hetviz.ui.evidence.sources`."""
    return "/".join((kind, *(quote(str(part), safe="") for part in about)))
