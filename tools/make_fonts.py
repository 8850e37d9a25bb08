"""Static fonts for figures, hetviz/plots/fonts/Hetviz*.ttf.

``python tools/make_fonts.py`` takes the variable Source Sans and Source Serif that Streamlit
brings, at the weights that figures use. It needs the package brotli, which nothing else here does.
"""

from __future__ import annotations

from pathlib import Path

import streamlit
from fontTools import subset  # type: ignore[import-untyped]
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from fontTools.varLib import instancer  # type: ignore[import-untyped]

MEDIA = Path(streamlit.__file__).parent / "static" / "static" / "media"
FONTS = Path(__file__).resolve().parents[1] / "hetviz" / "plots" / "fonts"
# Families, their sources, styles and weights. The licence keeps the name Source for the fonts as
# Adobe made them.
FACES = (
    ("Hetviz Sans", "SourceSansVF-Upright*.woff2", "Regular", 400),
    ("Hetviz Serif", "SourceSerifVariable-Roman*.woff2", "Semibold", 600),
)
# Size in points that the serif is drawn for, if it has such an axis.
TEXT_SIZE = 14


def made(source: Path, family: str, style: str, weight: int) -> TTFont:
    """Return the font at one weight, with all its letters and nothing that figures do not use."""
    face = TTFont(source)
    wanted = {"wght": weight, "opsz": TEXT_SIZE}
    axes = {axis.axisTag: wanted[axis.axisTag] for axis in face["fvar"].axes}
    face = instancer.instantiateVariableFont(face, axes)
    options = subset.Options(hinting=False, layout_features=[], notdef_outline=True)
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    options.recalc_timestamp = False
    cut = subset.Subsetter(options)
    cut.populate(unicodes=list(face.getBestCmap()))
    cut.subset(face)
    names = {1: family, 2: style, 3: f"{family} {style}", 4: f"{family} {style}"}
    names[6] = f"{family.replace(' ', '')}-{style}"
    for record in face["name"].names:
        record.string = names.get(record.nameID, record.toUnicode())
    face["OS/2"].usWeightClass = weight
    face.flavor = None
    return face


def main() -> None:
    """Write the files."""
    for family, pattern, style, weight in FACES:
        source = next(MEDIA.glob(pattern))
        made(source, family, style, weight).save(FONTS / f"{family.replace(' ', '')}-{style}.ttf")


if __name__ == "__main__":
    main()
