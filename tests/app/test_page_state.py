"""Tests of the state of pages."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

import hetviz.ui
from hetviz.ui.shell import page_state
from hetviz.ui.shell.page_state import PageState, project_id, replace_page_state, state_of


@dataclass
class Part:
    n: int = 0


def constant_keys(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the literal keys of the session, and those of widgets with True."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "st.session_state":
            used = [node.slice]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("st.session_state."):
            used = node.args[:1]
        else:
            used = []
        for key in used:
            if isinstance(key, ast.Constant):
                yield str(key.value), False
        if (
            isinstance(node, ast.keyword)
            and node.arg == "key"
            and isinstance(node.value, ast.Constant)
        ):
            yield str(node.value.value), True


def test_session_holds_only_page_state_and_widgets() -> None:
    sources = [path for folder in hetviz.ui.__path__ for path in Path(folder).rglob("*.py")]
    keys = {key for path in sources for key in constant_keys(ast.parse(path.read_text("utf-8")))}
    widgets = {key for key, is_widget in keys if is_widget}
    assert "undo" in widgets
    assert {key for key, is_widget in keys if not is_widget} <= widgets


def test_project_switch_replaces_state(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, object] = {"a-widget": 1}
    monkeypatch.setattr(page_state, "st", SimpleNamespace(session_state=kept))
    first = page_state.page_state()
    assert first is page_state.page_state() and first.sid is None
    first.sid, first.n_uploads = "one", 3
    state_of(Part).n = 5
    assert (state_of(Part).n, project_id()) == (5, "one")
    replace_page_state("two")
    assert (state_of(Part).n, project_id()) == (0, "two")
    # The browser still holds the files of the upload fields.
    assert page_state.page_state().n_uploads == 3
    assert list(kept) == ["page-state"] and isinstance(kept["page-state"], PageState)


def test_carried_work_has_the_page_state_of_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_state.st, "session_state", {})
    state_of(Part).n = 7
    seen: list[int] = []
    work = page_state.carry(lambda: seen.append(state_of(Part).n))
    monkeypatch.setattr(page_state.st, "session_state", None)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [7]
    with pytest.raises(AttributeError):
        page_state.page_state()
