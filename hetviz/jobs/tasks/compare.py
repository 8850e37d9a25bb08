"""Tasks of the Compare page: compare methods, search settings, measure times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hetviz.algorithms.cost import measure_seconds, store_times
from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData
from hetviz.errors import Cancelled
from hetviz.progress import Progress, ProgressPart
from hetviz.runs.compare.compare import compare
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.compare.search import SettingsResult, search_settings
from hetviz.runs.embed.run import MapResult, versions
from hetviz.runs.findings import Findings

_STILL_DOTS = 1200


def compare_methods(
    data: HeteroData,
    methods: Sequence[str],
    seeds: int,
    hold_out: float,
    progress: Progress,
    new_items: float = 0.0,
) -> Findings:
    """Compare methods; the findings hold `Comparison.to_dict` and a map of each method."""
    try:
        comparison = compare(
            data, methods, seeds=seeds, hold_out=hold_out, new_items=new_items, progress=progress
        )
    except Cancelled as stopped:
        partial = stopped.partial
        has_fits = isinstance(partial, Comparison) and bool(partial.fits)
        stopped.partial = _comparison_findings(data, partial) if has_fits else None
        raise
    _keep_times(data, comparison)
    return _comparison_findings(data, comparison)


def search(
    data: HeteroData,
    method: str,
    settings: Mapping[str, Sequence[object]],
    seeds: int,
    grows: bool,
    most: int,
    progress: Progress,
) -> Findings:
    """Search the settings of a method."""

    def as_findings(settings_found: SettingsResult) -> Findings:
        stills = _stills(data, settings_found.tried.embeddings)
        return Findings("sweep", {**settings_found.to_dict(), **stills, "settings": list(settings)})

    try:
        settings_found = search_settings(
            data, method, settings, seeds=seeds, grows=grows, most=most, progress=progress
        )
    except Cancelled as stopped:
        partial = stopped.partial
        stopped.partial = as_findings(partial) if isinstance(partial, SettingsResult) else None
        raise
    _keep_times(data, settings_found.tried)
    return as_findings(settings_found)


def measure_costs(data: HeteroData, methods: Sequence[str], progress: Progress) -> Findings:
    """Estimate the times of methods on these data from small fits, and store them."""
    seconds: dict[str, float | None] = {}
    titles = {key: get_method(key).card.title for key in methods}
    for place, key in enumerate(methods):
        parts = [
            (title, float(other in seconds), "done" if other in seconds else "waiting")
            for other, title in titles.items()
        ]
        parts[place] = (titles[key], 0.0, "running")
        low, high = place / len(methods), (place + 1) / len(methods)
        progress(low, titles[key], parts=parts)
        seconds[key] = measure_seconds(get_method(key), data, _without_layout(progress, low, high))
    progress(1.0, "Done")
    return Findings("costs", {"seconds": seconds})


def _keep_times(data: HeteroData, comparison: Comparison) -> None:
    for key in {candidate.method for candidate in comparison.candidates}:
        seconds = [
            fit.seconds for fit in comparison.fits if comparison.candidate(fit.key).method == key
        ]
        if seconds:
            store_times(key, data, {data.n_rows: float(np.median(seconds))})


def _comparison_findings(data: HeteroData, comparison: Comparison) -> Findings:
    fingerprint = data.fingerprint()
    # Data without guidance are not split.
    is_split = bool(data.links) or (data.comparisons is not None and len(data.comparisons) > 0)
    hold_out = comparison.hold_out if is_split else 0.0
    maps = tuple(
        _comparison_map(fingerprint, comparison, key, hold_out) for key in comparison.embeddings
    )
    return Findings("compare", comparison.to_dict() | {"maps": list(comparison.embeddings)}, maps)


def _comparison_map(
    fingerprint: str, comparison: Comparison, key: str, hold_out: float
) -> MapResult:
    candidate = comparison.candidate(key)
    fit = next(fit for fit in comparison.fits if fit.key == key)
    figures = {
        "scores": dict(fit.scores),
        "curves": {kind: [list(part) for part in curve] for kind, curve in fit.curves.items()},
        "notes": list(comparison.notes.get(key, ())),
    }
    return MapResult(
        fingerprint,
        candidate.method,
        dict(candidate.params),
        fit.seed,
        versions(),
        hold_out=hold_out,
        title=candidate.title,
        embedding=comparison.embeddings[key],
        figures=figures,
    )


def _stills(data: HeteroData, embeddings: Mapping[str, Embedding]) -> dict[str, object]:
    """Return positions of the same sample of rows on each map, for small pictures."""
    step = max(1, -(-data.n_rows // _STILL_DOTS))
    rows = np.arange(0, data.n_rows, step)
    stills = {}
    for key, embedding in embeddings.items():
        Y = embedding.planar().stacked()[rows]
        size = float(np.nanmax(np.abs(Y))) if np.isfinite(Y).any() else 1.0
        at = np.round(Y / (size or 1.0), 4)
        stills[key] = [[None if np.isnan(v) else float(v) for v in axis] for axis in at.T]
    return {"still_rows": rows.tolist(), "stills": stills}


def _without_layout(progress: Progress, low: float, high: float) -> Progress:
    part = ProgressPart(progress, low, high)

    def report(fraction: float, message: str = "", **figures: object) -> None:
        # The layout of a part must not be shown as the layout of the data.
        part(fraction, message)

    return report
