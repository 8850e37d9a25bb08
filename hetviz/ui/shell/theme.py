"""Shared HTML elements and style sheet of all pages.

Texts of users go through `escape_html` for HTML or `escape_markdown` for labels.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache

import streamlit as st

from hetviz._text import count, join_units, join_words
from hetviz.plots.colour import Colouring
from hetviz.plots.palette import tokens
from hetviz.ui.shell.evidence_key import evidence_key
from hetviz.ui.shell.paths import CSS, ICON

# Pages use these as `theme.count` and so on.
__all__ = ["count", "evidence_key", "join_words"]
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:<>^&@/])")


@cache
def icon_address() -> str:
    """Return the icon of the pages as an address that needs no request."""
    return f"data:image/png;base64,{base64.b64encode(ICON.read_bytes()).decode()}"


def escape_html(text: object) -> str:
    """Return text escaped for HTML, numbers and units joined by no-break spaces."""
    return html.escape(join_units(str(text)))


def escape_markdown(text: object) -> str:
    """Return text escaped for labels, which Streamlit reads as markdown."""
    return _MARKDOWN.sub(r"\\\1", join_units(" ".join(str(text).split())))


@cache
def style_sheet() -> str:
    """Return the style sheet with the colours of both themes."""
    light, dark = asdict(tokens("light")), asdict(tokens("dark"))
    declared = [
        f"--hv-{name.replace('_', '-')}:light-dark({value},{dark[name]})"
        for name, value in light.items()
        if isinstance(value, str)
    ]
    declared += [
        f"--hv-c{slot}:light-dark({light_colour},{dark_colour})"
        for slot, (light_colour, dark_colour) in enumerate(
            zip(light["categories"], dark["categories"], strict=True)
        )
    ]
    declared.append("--hv-shadow:0 8px 30px rgb(0 0 0/7%)")
    # Elements outside the app follow the system theme until the map reports the theme.
    return f":root{{color-scheme:light dark;{';'.join(declared)}}}{CSS.read_text(encoding='utf-8')}"


def category_colours(colouring: Colouring) -> list[str]:
    """Return the colour of each category as CSS for both themes."""
    both = zip(colouring.colours("light"), colouring.colours("dark"), strict=True)
    return [f"light-dark({light},{dark})" for light, dark in both]


def evidence_html(inner: str, key: str) -> str:
    """Return HTML that shows, on a click, what it was computed from; unchanged without a key."""
    if not key:
        return inner
    return (
        f'<span class="hv-show" role="button" tabindex="0" data-hv-show="{html.escape(key)}" '
        f'title="Show what this was computed from">{inner}</span>'
    )


def show_headline(title: str, text: str = "", evidence: str = "") -> None:
    """Show a headline with an optional second line."""
    second = f"<p>{escape_html(text)}</p>" if text else ""
    first = evidence_html(escape_html(title), evidence)
    st.html(f'<div class="hv-head"><h1>{first}</h1>{second}</div>')


def show_section(title: str, aside: str = "", evidence: str = "") -> None:
    """Show the heading of a section; `aside` is grey and at the right."""
    texts = [escape_html(title), escape_html(aside)]
    # A number stands in the aside, if there is one.
    at = 1 if aside else 0
    texts[at] = evidence_html(texts[at], evidence)
    st.html(f'<div class="hv-section-head"><span>{texts[0]}</span><small>{texts[1]}</small></div>')


def show_note(text: str, evidence: str = "") -> None:
    """Show a grey line of text."""
    st.html(f'<p class="hv-quiet">{evidence_html(escape_html(text), evidence)}</p>')


def show_pairs(rows: Sequence[tuple[str, str] | tuple[str, str, str]]) -> None:
    """Show names with their values at the right; a third text is a key of evidence."""
    cells = "".join(
        f"<span>{escape_html(row[0])}</span>"
        f"<b>{evidence_html(escape_html(row[1]), row[2] if len(row) > 2 else '')}</b>"
        for row in rows
    )
    st.html(f'<div class="hv-key-values">{cells}</div>')


def show_table(
    head: list[str], rows: list[list[str]], is_text: bool = False, evidence: Sequence[str] = ()
) -> None:
    """Show a table of plain text; its first column names, the others hold values, or `is_text`.

    `evidence`: key of each row, or empty.
    """
    top = "".join(f'<th scope="col">{escape_html(cell)}</th>' for cell in head)
    keys = evidence or [""] * len(rows)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{evidence_html(escape_html(cell), key if at == 0 else '')}</td>"
            for at, cell in enumerate(row)
        )
        + "</tr>"
        for row, key in zip(rows, keys, strict=True)
    )
    kind = "hv-table hv-words" if is_text else "hv-table"
    inner = f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
    # Scrolling regions need keyboard focus.
    scrolls = ' class="hv-scroll" tabindex="0" role="region" aria-label="Table"' if is_text else ""
    st.html(f"<div{scrolls}>{inner}</div>")


def svg_image(svg: str, alt: str) -> str:
    """Return an image tag for SVG text."""
    code = base64.b64encode(svg.encode()).decode()
    source = f"data:image/svg+xml;base64,{code}"
    return f'<img class="hv-thumbnail" src="{source}" alt="{escape_html(alt)}">'


def add_css(css: str) -> None:
    """Add CSS to the page; it must not contain texts of users."""
    st.html(f"<style>{css}</style>")
