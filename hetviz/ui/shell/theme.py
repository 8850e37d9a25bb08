"""Shared HTML elements and style sheet of all pages.

Texts of users go through `escape_html` for HTML or `escape_markdown` for labels.
"""

from __future__ import annotations

import base64
import html
import re
from dataclasses import asdict

import streamlit as st

from hetviz._text import count, join_words
from hetviz.plots.colour import Colouring
from hetviz.plots.palette import tokens
from hetviz.ui.shell.paths import CSS

# Pages use `theme.count` and `theme.join_words`.
__all__ = ["count", "join_words"]
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:<>^&@/])")
# A number and its unit stay on one line.
_UNIT = re.compile(r"(?<=\d) (?=(?:%|ms|s|min|h|kB|MB|GB)(?!\w))")
_NO_BREAK = "\N{NO-BREAK SPACE}"


def escape_html(text: object) -> str:
    """Return text escaped for HTML, numbers and units joined by no-break spaces."""
    return html.escape(_UNIT.sub(_NO_BREAK, str(text)))


def escape_markdown(text: object) -> str:
    """Return text escaped for labels, which Streamlit reads as markdown."""
    return _MARKDOWN.sub(r"\\\1", _UNIT.sub(_NO_BREAK, " ".join(str(text).split())))


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
    # Elements outside the app follow the system theme until the map reports the theme.
    return f":root{{color-scheme:light dark;{';'.join(declared)}}}{CSS.read_text(encoding='utf-8')}"


def category_colours(colouring: Colouring) -> list[str]:
    """Return the colour of each category as CSS for both themes."""
    both = zip(colouring.colours("light"), colouring.colours("dark"), strict=True)
    return [f"light-dark({light},{dark})" for light, dark in both]


def show_headline(title: str, text: str = "") -> None:
    """Show a headline with an optional second line."""
    second = f"<p>{escape_html(text)}</p>" if text else ""
    st.html(f'<div class="hv-head"><h1>{escape_html(title)}</h1>{second}</div>')


def show_section(title: str, aside: str = "") -> None:
    """Show the heading of a section; `aside` is grey and at the right."""
    texts = f"<span>{escape_html(title)}</span><small>{escape_html(aside)}</small>"
    st.html(f'<div class="hv-section-head">{texts}</div>')


def show_note(text: str) -> None:
    """Show a grey line of text."""
    st.html(f'<p class="hv-quiet">{escape_html(text)}</p>')


def show_pairs(rows: list[tuple[str, str]]) -> None:
    """Show names with their values at the right."""
    cells = "".join(
        f"<span>{escape_html(name)}</span><b>{escape_html(value)}</b>" for name, value in rows
    )
    st.html(f'<div class="hv-key-values">{cells}</div>')


def show_table(head: list[str], rows: list[list[str]], is_text: bool = False) -> None:
    """Show a table of plain text; its first column names, the others hold values, or `is_text`."""
    top = "".join(f'<th scope="col">{escape_html(cell)}</th>' for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape_html(cell)}</td>" for cell in row) + "</tr>" for row in rows
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
