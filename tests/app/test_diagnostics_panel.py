"""Tests of the diagnostics of a map."""

from __future__ import annotations

from hetviz.data.model.diagnostics import SHARE, by_key, make_diagnostic, to_json
from tests.app.conftest import Visit, html_of
from tests.app.test_map_warnings import goods, shown


def test_diagnostics_are_drawn_with_texts(visit: Visit) -> None:
    app = visit()
    found = by_key(
        [
            make_diagnostic(
                "w", "Weight of views", "How <much> counts.", {"a": 0.75, "b": 0.25}, SHARE
            ),
            make_diagnostic(
                "f", "Features", "By size.", {f"f{k}": float(k - 6) for k in range(12)}
            ),
            make_diagnostic("g", "Gap", "One number.", {"duality gap": 0.001}),
        ]
    )
    shown(app, goods(), figures={"diagnostics": to_json(found)})
    html = html_of(app)
    assert "Diagnostics of the method" in [one.label for one in app.expander]
    assert "Weight of views" in html and "75.0 %" in html and "How &lt;much&gt; counts." in html
    # The largest is as long as there is room, one below 0 is told apart.
    assert '<i style="width:100.0%">' in html and '<i style="width:33.3%">' in html
    assert '<u class="below">' in html
    assert "8 of 12" in html and "<span>f0</span>" in html and "<span>f6</span>" not in html
    assert "duality gap" in html


def test_map_without_diagnostics_has_no_section(visit: Visit) -> None:
    app = visit()
    shown(app, goods())
    assert "Diagnostics of the method" not in [one.label for one in app.expander]
