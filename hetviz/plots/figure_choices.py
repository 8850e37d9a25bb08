"""Formats of figures and choices of names, known also where matplotlib is not installed."""

from __future__ import annotations

from typing import Literal

Form = Literal["png", "svg", "pdf"]
FIGURE_FORMATS: tuple[Form, ...] = ("png", "svg", "pdf")
NAME_CHOICES = (
    "groups", "groups and items", "items", "none", "regions", "regions and items",
)  # fmt: skip
