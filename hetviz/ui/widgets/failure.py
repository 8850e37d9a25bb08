"""Error messages of failed background work, and problems of files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from hetviz.errors import HetvizError, Problem
from hetviz.ui.map_data import worker_results
from hetviz.ui.shell import theme

_MAX_PROBLEMS = 200


@contextmanager
def show_failure(key: str) -> Iterator[None]:
    """Replace the rest of the block with an error message if background work failed."""
    try:
        yield
    except worker_results.WorkerError as failed:
        st.error(
            theme.escape_markdown(f"{failed.activity} failed: {failed.reason}"),
            icon=":material/error:",
        )
        st.button("Try again", key=f"again-{key}", on_click=failed.retry)


def show_refusal(error: HetvizError) -> None:
    """Show why a file was refused: its problems, else the message."""
    problems: list[Problem] = list(getattr(error, "problems", ()))
    if problems:
        show_problems(problems)
    else:
        st.error(theme.escape_markdown(error))


def show_problems(problems: list[Problem]) -> None:
    """Show problems as a table: place, problem, value, what to do."""
    head = ["Place", "Problem", "Value", "What to do"]
    rows = [
        [problem.where, problem.what, str(problem.value or ""), problem.remedy]
        for problem in problems[:_MAX_PROBLEMS]
    ]
    filled = [k for k in range(len(head)) if any(row[k] for row in rows)]
    theme.show_table(
        [head[k] for k in filled], [[row[k] for k in filled] for row in rows], is_text=True
    )
    if len(problems) > _MAX_PROBLEMS:
        theme.show_note(f"… and {len(problems) - _MAX_PROBLEMS:,} more")
