"""Small HTML tables for notebooks, with all user text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(
    title: str, rows: Iterable[Sequence[object]], head: Sequence[str] = (), foot: str = ""
) -> str:
    """Return an HTML table with a title above and a line below it."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    parts = [f"<div><strong>{escape(title)}</strong></div>"]
    if body:
        parts.append(
            f"<table>{f'<thead><tr>{top}</tr></thead>' if top else ''}<tbody>{body}</tbody></table>"
        )
    if foot:
        parts.append(f"<div>{escape(foot)}</div>")
    return "".join(parts)
