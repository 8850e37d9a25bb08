"""What all small charts share: no box, no legend, the page's own colour and type."""

from __future__ import annotations

from collections.abc import Mapping

from hetviz.plots.palette import Theme, tokens


def plain_layout(theme: Theme, height: int, margin: Mapping[str, int]) -> dict[str, object]:
    """Return a Plotly layout of that height in pixels."""
    token = tokens(theme)
    return {
        "height": height,
        "margin": dict(margin),
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "font": {"family": "Source Sans, sans-serif", "size": 12.5, "color": token.mute},
        "hoverlabel": {
            "bgcolor": token.card,
            "bordercolor": token.line,
            "font": {"color": token.ink},
        },
    }
