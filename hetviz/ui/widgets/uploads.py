"""Fields for files that are stored until the visitor has reviewed them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from hetviz.io import gate
from hetviz.ui.shell.page_state import page_state


def show_field(
    label: str,
    key: str,
    on_files: Callable[[Mapping[str, bytes]], None],
    *,
    multiple: bool = False,
    has_label: bool = False,
    disabled: bool = False,
) -> None:
    """Show a field for files of any type; `on_files` gets their unpacked contents by name."""
    # All file types: the content decides, and the review explains why a file cannot be read. A list
    # of extensions would refuse files without an explanation.
    key = f"{key}-{page_state().n_uploads}"
    st.file_uploader(
        label,
        accept_multiple_files=multiple,
        key=key,
        on_change=_on_upload,
        args=(key, on_files),
        label_visibility="visible" if has_label else "collapsed",
        disabled=disabled,
    )


def _on_upload(key: str, on_files: Callable[[Mapping[str, bytes]], None]) -> None:
    uploads = st.session_state.get(key) or []
    contents: dict[str, bytes] = {}
    for upload in uploads if isinstance(uploads, list) else [uploads]:
        uploaded = upload.name, upload.getvalue()
        name, content = gate.unpack_gzip(*uploaded)
        contents |= [uploaded if name in contents else (name, content)]
    if contents:
        # A new key frees the memory of the field.
        page_state().n_uploads += 1
        on_files(contents)
