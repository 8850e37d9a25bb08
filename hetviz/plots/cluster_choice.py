"""Chart of silhouette, stability and link fit by number of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from hetviz.plots.palette import Theme, plain_layout, tokens

MEASURE_NAMES = {
    "stability": "stability",
    "silhouette": "silhouette",
    "rand_given": "links that fit",
    "rand_held_out": "hidden links that fit",
}
_DASH = {
    "stability": "solid",
    "silhouette": "dot",
    "rand_given": "dash",
    "rand_held_out": "longdashdot",
}


def choice_figure(
    choice: Sequence[Mapping[str, float | None]], chosen: int | None, theme: Theme = "light"
) -> go.Figure:
    """Draw the measures of each number of clusters."""
    token = tokens(theme)
    colours = dict(
        zip(MEASURE_NAMES, (token.accent, token.mute, token.plus, token.minus), strict=True)
    )
    figure = go.Figure()
    for key, words in MEASURE_NAMES.items():
        points = [(row["k"], row[key]) for row in choice if row.get(key) is not None]
        if not points:
            continue
        figure.add_scatter(
            x=[k for k, _ in points],
            y=[value for _, value in points],
            name=words,
            mode="lines+markers",
            line={"color": colours[key], "dash": _DASH[key], "width": 2},
            marker={"size": 5, "color": colours[key]},
            hovertemplate=f"{words}: %{{y:.2f}} with %{{x}} clusters<extra></extra>",
        )
    layout = plain_layout(theme, 230, {"l": 34, "r": 8, "t": 6, "b": 38})
    figure.update_layout(layout)
    figure.update_xaxes(title={"text": "clusters"}, type="log", tickvals=[2, 3, 5, 10, 20, 40, 60])
    figure.update_yaxes(range=[0, 1.03], tickvals=[0, 0.5, 1])
    figure.update_layout(
        showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    )
    if chosen:
        figure.add_vline(x=chosen, line={"color": token.line, "width": 1.5})
    return figure


def choice_alt(choice: Sequence[Mapping[str, float | None]], chosen: int | None) -> str:
    """Return the text alternative of the chart."""
    ks = [row["k"] for row in choice]
    summary = f"Measures for {len(ks)} numbers of clusters"
    return f"{summary}. {chosen} clusters are shown." if chosen else f"{summary}."
