"""Static fonts for figures, hetviz/plots/fonts/HetvizSans-*.ttf.

``python tools/make_fonts.py`` takes the variable Source Sans that Streamlit brings, at the two
weights that figures use. It needs the package brotli, which nothing else here does.
"""

from __future__ import annotations

from pathlib import Path

import streamlit
from fontTools import subset  # type: ignore[import-untyped]
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from fontTools.varLib import instancer  # type: ignore[import-untyped]

MEDIA = Path(streamlit.__file__).parent / "static" / "static" / "media"
FONTS = Path(__file__).resolve().parents[1] / "hetviz" / "plots" / "fonts"
# Its licence keeps the name Source for the font as Adobe made it.
FAMILY = "Hetviz Sans"
WEIGHTS = {"Regular": 400, "Bold": 700}
BOLD = "Bold"


def made(source: Path, style: str) -> TTFont:
    """Return the font at one weight, with all its letters and nothing that figures do not use."""
    face = instancer.instantiateVariableFont(TTFont(source), {"wght": WEIGHTS[style]})
    options = subset.Options(hinting=False, layout_features=[], notdef_outline=True)
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    options.recalc_timestamp = False
    cut = subset.Subsetter(options)
    cut.populate(unicodes=list(face.getBestCmap()))
    cut.subset(face)
    names = {1: FAMILY, 2: style, 3: f"{FAMILY} {style}", 4: f"{FAMILY} {style}"}
    names[6] = f"{FAMILY.replace(' ', '')}-{style}"
    for record in face["name"].names:
        record.string = names.get(record.nameID, record.toUnicode())
    face["OS/2"].usWeightClass = WEIGHTS[style]
    if style == BOLD:
        face["OS/2"].fsSelection = (face["OS/2"].fsSelection & ~0x40) | 0x20
        face["head"].macStyle |= 1
    face.flavor = None
    return face


def main() -> None:
    """Write the files."""
    source = next(MEDIA.glob("SourceSansVF-Upright*.woff2"))
    for style in WEIGHTS:
        made(source, style).save(FONTS / f"{FAMILY.replace(' ', '')}-{style}.ttf")


if __name__ == "__main__":
    main()
