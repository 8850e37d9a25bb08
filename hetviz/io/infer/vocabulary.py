"""Words and patterns by which rows and columns are recognised."""

from __future__ import annotations

import re

TOTALS = re.compile(
    r"(grand |sub)?totals?|sum(me)?n?|gesamt(summe)?|mittel(wert)?|mean|average|durchschnitt|"
    r"somme|moyenne|totale|suma|insgesamt",
    re.I,
)
NOTES = re.compile(
    r"(quellen?|sources?|notes?|anmerkung(en)?|fu(ß|ss)noten?|hinweise?|stand|legende|remarks?|"
    r"fuente|datenquelle)\s*[:=]|\*|©|copyright\b",
    re.I,
)
YES_NO = (
    {"yes", "no"}, {"y", "n"}, {"true", "false"}, {"ja", "nein"}, {"j", "n"}, {"t", "f"},
    {"oui", "non"}, {"si", "no"}, {"sí", "no"}, {"0", "1"}, {"x", ""},
)  # fmt: skip
PICTURE_NAME = re.compile(r".+\.(png|jpe?g|webp|gif|bmp|tiff?)", re.I)


def are_words(cells: list[str]) -> bool:
    """Whether nearly all cells are words, not codes."""
    words = sum(len(re.findall(r"[^\W\d_]", cell)) >= max(4, 0.7 * len(cell)) for cell in cells)
    return words >= 0.7 * len(cells)
