"""The look shared by all pages: our own classes, and the few pieces of text built from them.

Text of a user goes through `escape_html` (into HTML) or `escape_markdown` (into labels, which
Streamlit reads as markdown).
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
    """Return text for HTML."""
    return html.escape(_UNIT.sub(_NO_BREAK, str(text)))


def escape_markdown(text: object) -> str:
    """Return text for a label: shown as it is, never read as markdown."""
    return _MARKDOWN.sub(r"\\\1", _UNIT.sub(_NO_BREAK, " ".join(str(text).split())))


def apply_style() -> None:
    """Put our rules on the page, after Streamlit's own."""
    add_css(style_sheet())


def style_sheet() -> str:
    """Return our classes and both themes' colours; the browser chooses, without asking."""
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
    # Until the map says which theme is seen, what hangs beside the app has that of the system.
    return f":root{{color-scheme:light dark;{';'.join(declared)}}}{CSS.read_text(encoding='utf-8')}"


def category_colours(colouring: Colouring) -> list[str]:
    """Return the colour of each category as CSS: the browser takes the one of its theme."""
    both = zip(colouring.colours("light"), colouring.colours("dark"), strict=True)
    return [f"light-dark({light},{dark})" for light, dark in both]


def show_headline(title: str, text: str = "") -> None:
    """Say what was found, and in a second line what it means; both plain text."""
    second = f"<p>{escape_html(text)}</p>" if text else ""
    st.html(f'<div class="hv-head"><h1>{escape_html(title)}</h1>{second}</div>')


def show_section(title: str, aside: str = "") -> None:
    """Head a section; `aside` stands at the right in grey."""
    st.html(
        f'<div class="hv-sec"><span>{escape_html(title)}</span><small>{escape_html(aside)}</small></div>'
    )


def show_note(text: str) -> None:
    """Show a grey line of plain text."""
    st.html(f'<p class="hv-quiet">{escape_html(text)}</p>')


def show_pairs(rows: list[tuple[str, str]]) -> None:
    """Show names with values, the values at the right."""
    cells = "".join(
        f"<span>{escape_html(name)}</span><b>{escape_html(value)}</b>" for name, value in rows
    )
    st.html(f'<div class="hv-kv">{cells}</div>')


def show_table(head: list[str], rows: list[list[str]], is_text: bool = False) -> None:
    """Show a table of plain text; its first column names, the others hold values, or `is_text`."""
    top = "".join(f'<th scope="col">{escape_html(cell)}</th>' for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape_html(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    kind = "hv-table hv-words" if is_text else "hv-table"
    inner = f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
    # What scrolls must be reached by the keyboard.
    scrolls = ' class="hv-scroll" tabindex="0" role="region" aria-label="Table"' if is_text else ""
    st.html(f"<div{scrolls}>{inner}</div>")


def svg_image(svg: str, alt: str) -> str:
    """Return an image tag for SVG text."""
    code = base64.b64encode(svg.encode()).decode()
    return f'<img class="hv-still" src="data:image/svg+xml;base64,{code}" alt="{escape_html(alt)}">'


def add_css(css: str) -> None:
    """Put rules of our own on the page; no text of a user may be in them."""
    st.html(f"<style>{css}</style>")
