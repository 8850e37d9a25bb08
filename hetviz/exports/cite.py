"""Words for a paper: how a map was made, and whom to cite."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hetviz._text import listed
from hetviz._version import __version__
from hetviz.algorithms.base import MethodCard
from hetviz.data import HeteroData
from hetviz.plots.curve import kept_at, usual_place

_YEAR = re.compile(r"(?:18|19|20)\d\d")


def methods_paragraph(
    data: HeteroData,
    card: MethodCard,
    params: Mapping[str, object],
    seed: int,
    versions: Mapping[str, str],
    kinds: Mapping[str, Any],
    hold_out: float = 0.0,
) -> str:
    """Return a paragraph on how a map was made and judged, ready for a paper.

    Parameters
    ----------
    data : HeteroData
    card : MethodCard
    params, seed, versions, hold_out
        Of the run.
    kinds : mapping
        Curves, as from `hetviz.metrics.fit.curves`.
    """
    sizes = listed([f"{len(part):,} {name}" for name, part in data.datasets.items()])
    known = [_links(data), _comparisons(data)]
    using = listed([words for words in known if words])
    said = [
        f"We placed {sizes} together by {card.title} ({card.paper}), as implemented in hetviz "
        f"{versions.get('hetviz', __version__)}{f', using {using}' if using else ''}."
    ]
    settings = ", ".join(f"{name} = {value!r}" for name, value in params.items())
    said.append(f"Parameters were {settings}; the random seed was {seed}." if settings
                else f"The random seed was {seed}.")  # fmt: skip
    if hold_out:
        said.append(
            f"Of the links and comparisons, {hold_out:.0%} were held out of the fit "
            "and used to judge the map."
        )
    judged = [
        _kept(sort, kinds[sort]) for sort in ("links", "apart", "comparisons") if sort in kinds
    ]
    said += judged
    others = [f"{name} {version}" for name, version in versions.items() if name != "hetviz"]
    if others:
        said.append(f"Computed with {listed(others)}.")
    return " ".join(said)


def _links(data: HeteroData) -> str:
    n = sum(map(len, data.links))
    apart = sum(int((links.weight < 0).sum()) for links in data.links)
    words = f"{n:,} links" if n != 1 else "1 link"
    return "" if not n else f"{words} ({apart:,} of them say apart)" if apart else words


def _comparisons(data: HeteroData) -> str:
    n = 0 if data.comparisons is None else len(data.comparisons)
    return f"{n:,} comparisons" if n else ""


def _kept(sort: str, curves: Mapping[str, Any]) -> str:
    at = usual_place(sort)
    shares = {key: f"{kept_at(curve, at):.0%}" for key, curve in curves.items()}
    names = {"given": "given", "held_out": "held-out"}
    parts = listed([f"{share} of the {names[key]} ones" for key, share in shares.items()])
    if sort == "comparisons":
        return f"The map agrees with comparisons: {parts} (50% by chance)."
    if sort == "apart":
        return f"Of links that say apart, {parts} are not among the nearest {at:.0%} of all pairs."
    return (
        f"Of links that say together, {parts} are among the nearest {at:.0%} of all pairs of their "
        f"datasets ({at:.0%} by chance)."
    )


def citations(card: MethodCard) -> str:
    """Return BibTeX entries of the method and of hetviz."""
    year = _YEAR.search(card.paper)
    method = {
        "title": f"{{{card.paper}}}",
        "year": year.group() if year else "",
        "note": f"Method {card.key} of hetviz",
    }
    own = {"title": "hetviz: joint maps of unlike datasets", "note": f"Version {__version__}"}
    return "\n\n".join([_entry(card.key, method), _entry("hetviz", own)])


def _entry(key: str, fields: Mapping[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])
