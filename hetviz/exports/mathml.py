"""Equations of methods as MathML, which browsers draw without scripts or fonts."""

from __future__ import annotations

import re
from html import escape

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\.\.+|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_SPACES = {",": "0.17em", " ": "0.4em", "quad": "1.2em"}
_LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "lambda": "λ", "mu": "μ", "omega": "ω", "sigma": "σ",
    "tau": "τ", "Delta": "Δ", "Lambda": "Λ", "Sigma": "Σ", "ell": "ℓ", "top": "⊤", "infty": "∞",
}  # fmt: skip
_SIGNS = {
    "cdot": "·", "ge": "≥", "in": "∈", "le": "≤", "ne": "≠", "prec": "≺", "propto": "∝", "sim": "∼",
    "succeq": "⪰", "times": "×", "-": "−", "'": "′",
}  # fmt: skip
_FUNCTIONS = {"exp", "log", "max", "min"}
_ACCENTS = {"bar": "¯", "hat": "^", "tilde": "~"}
_FENCES = {"lVert": "‖", "rVert": "‖", "Vert": "‖", "{": "{", "}": "}", "|": "|"}
_SIZES = {"big": "1.3em", "Big": "1.8em"}


def mathml(latex: str) -> str:
    """Return an equation as a block of MathML."""
    try:
        reader = _Reader(latex)
        inner = reader.parse_row()
        if reader.next_token is not None:
            raise ValueError(reader.next_token)
    except ValueError:
        return f"<code>{escape(latex)}</code>"
    return f'<math display="block">{inner}</math>'


class _Reader:
    """Parser of an equation from left to right."""

    def __init__(self, latex: str) -> None:
        self._tokens = _TOKEN.findall(latex)
        self._next = 0

    @property
    def next_token(self) -> str | None:
        while self._next < len(self._tokens) and self._tokens[self._next].isspace():
            self._next += 1
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def take(self, wanted: str = "") -> str:
        part = self.next_token
        if part is None or (wanted and part != wanted):
            raise ValueError(f"{wanted or 'more'} expected, {part} found")
        self._next += 1
        return part

    def take_text(self) -> str:
        """Return the text of a group, with its spaces."""
        self.take("{")
        end = self._tokens.index("}", self._next)
        text = "".join(self._tokens[self._next : end])
        self._next = end + 1
        return escape(text)

    def parse_row(self, ends: tuple[str, ...] = ()) -> str:
        parts = []
        while (part := self.next_token) is not None and part not in (*ends, "}"):
            parts.append(self.parse_term())
        return f"<mrow>{''.join(parts)}</mrow>"

    def parse_term(self) -> str:
        """Return an atom with its subscript and superscript."""
        name = (self.next_token or "").removeprefix("\\")
        base = self.parse_atom()
        below = above = ""
        while self.next_token in ("_", "^"):
            if self.take() == "_":
                below = self.parse_atom()
            else:
                above = self.parse_atom()
        wide = name in _FUNCTIONS or name == "sum"
        tags = ("munder", "mover", "munderover") if wide else ("msub", "msup", "msubsup")
        if below and above:
            base = f"<{tags[2]}>{base}{below}{above}</{tags[2]}>"
        elif below:
            base = f"<{tags[0]}>{base}{below}</{tags[0]}>"
        elif above:
            base = f"<{tags[1]}>{base}{above}</{tags[1]}>"
        return base + '<mspace width="0.17em"/>' if name in _FUNCTIONS else base

    def parse_atom(self) -> str:
        part = self.take()
        if part == "{":
            inner = self.parse_row()
            self.take("}")
            return inner
        if part.startswith("\\"):
            return self.parse_command(part[1:])
        if part[0].isdigit():
            return f"<mn>{part}</mn>"
        if part.isalpha():
            return f"<mi>{part}</mi>"
        if part.startswith(".."):
            return "<mo>…</mo>"
        if part in "&^_}":
            raise ValueError(part)
        if part in "()[]|":
            return _fence(part)
        return f"<mo>{escape(_SIGNS.get(part, part))}</mo>"

    def parse_command(self, name: str) -> str:
        if name in _SPACES:
            return f'<mspace width="{_SPACES[name]}"/>'
        if name in _LETTERS:
            return f"<mi>{_LETTERS[name]}</mi>"
        if name in _SIGNS:
            return f"<mo>{_SIGNS[name]}</mo>"
        if name in _FUNCTIONS:
            return f"<mi>{name}</mi>"
        if name in _FENCES:
            return _fence(_FENCES[name], between=name == "Vert")
        if name in _ACCENTS:
            # With the accent attribute it touches the letter if there is no maths font.
            return f"<mover>{self.parse_atom()}<mo>{_ACCENTS[name]}</mo></mover>"
        if name in _SIZES:
            size = _SIZES[name]
            return f'<mo stretchy="true" minsize="{size}" maxsize="{size}">{self.take()}</mo>'
        if name == "sum":
            return "<mo>∑</mo>"
        if name in ("mathrm", "operatorname"):
            return f'<mi mathvariant="normal">{self.take_text()}</mi>'
        if name == "text":
            return f"<mtext>{self.take_text()}</mtext>"
        if name in ("frac", "tfrac"):
            fraction = f"<mfrac>{self.parse_atom()}{self.parse_atom()}</mfrac>"
            return (
                fraction if name == "frac" else f'<mstyle displaystyle="false">{fraction}</mstyle>'
            )
        if name == "left":
            opening = self.take()
            inner = self.parse_row(ends=("\\right",))
            self.take("\\right")
            return f"<mrow><mo>{opening}</mo>{inner}<mo>{self.take()}</mo></mrow>"
        if name == "begin" and self.take_text() == "pmatrix":
            return self.parse_matrix()
        raise ValueError(name)

    def parse_matrix(self) -> str:
        rows, cells = [], []
        while True:
            cell = self.parse_row(ends=("&", "\\\\", "\\end"))
            cells.append(f"<mtd>{cell}</mtd>")
            end = self.take()
            if end != "&":
                rows.append(f"<mtr>{''.join(cells)}</mtr>")
                cells = []
            if end == "\\end":
                self.take_text()
                return f"<mrow><mo>(</mo><mtable>{''.join(rows)}</mtable><mo>)</mo></mrow>"


def _fence(sign: str, *, between: bool = False) -> str:
    # Space around an operator between two terms, none around a fence.
    space = "0.22em" if between else "0"
    return f'<mo stretchy="false" lspace="{space}" rspace="{space}">{escape(sign)}</mo>'
