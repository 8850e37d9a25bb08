"""Finding links that nobody has given yet, and how far to trust what was found."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData
from hetviz.errors import ConvergenceWarning, DataWarning, ParameterError
from hetviz.jobs.results import Findings, MadeMap
from hetviz.progress import Part, Progress
from hetviz.runs.embed.run import fit_run
from hetviz.runs.predict.held_out_links import CHANCE, PROFILES, HeldOutRanking, rank_held_out
from hetviz.runs.predict.links import predict_links
from hetviz.runs.predict.pair_scores import PROFILES_TITLE, Fitted, PairScorer

LINKS = "links"
TOP = 200


def find_links(
    data: HeteroData,
    source: str,
    target: str,
    method: str,
    params: Mapping[str, Any],
    seeds: Sequence[int],
    hold_out: float,
    progress: Progress,
    top: int = TOP,
    start: Embedding | None = None,
) -> Findings:
    """Rank pairs that no link tells of, and test the ranking on links held out.

    Parameters
    ----------
    data : HeteroData
    source, target : str
        Datasets; they may be the same.
    method : str
        Its key, or "profiles": what the items most alike by their features are linked with.
    params : mapping
    seeds : sequence of int
        One start of the method for each, and one test.
    hold_out : float
        Share of the links held out in each test; 0 tests nothing.
    progress : callable
    top : int
        How many pairs.
    start : Embedding, optional
        A map to rank by, instead of new starts of the method; the tests still fit the method.

    Returns
    -------
    Findings
        Of kind "links". ``candidates`` is a list of records as from `hetviz.predict_links`;
        ``test`` is None or has ``auc`` and ``precision`` by "method", "profiles" and "chance",
        each a list of mean and standard error (of the mean over the seeds; None with one seed).
        The map of the first start comes with it.

    Raises
    ------
    hetviz.errors.HetvizError
    hetviz.errors.Cancelled
        When `progress` raises it.
    """
    if not seeds:
        raise ParameterError("find_links: give at least one seed.")
    plain = method == PROFILES
    title = PROFILES_TITLE if plain else get_method(method).card.title
    tests: list[HeldOutRanking] = []
    models: list[BaseEmbedder] = []
    fits = start is None and not plain
    steps = (len(seeds) if fits else 0) + (len(seeds) if hold_out else 0) + 1
    done = 0

    def part() -> Part:
        nonlocal done
        done += 1
        return Part(progress, (done - 1) / steps, done / steps)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if fits:
            models = [fit_run(data, method, params, seed, part()).model for seed in seeds]
        if hold_out:
            found = [
                rank_held_out(
                    data, None if plain else method, params, source, target, hold_out, seed, part()
                )
                for seed in seeds
            ]
            tests = [one for one in found if one is not None]
        progress((steps - 1) / steps, "Ranking pairs")
        by: Fitted | Sequence[Fitted] = models if start is None else start
        if plain:
            by = PairScorer.of_profiles(data, source, target)
        table = predict_links(data, by, source, target, top)
    progress(1.0, "Done")
    ours = (DataWarning, ConvergenceWarning)
    content = {
        "source": source,
        "target": target,
        "method": method,
        "title": title,
        "params": dict(params),
        "seeds": list(seeds),
        "hold_out": hold_out,
        "by_map": start is not None,
        "candidates": [_plain(record) for record in table.to_dict("records")],
        "n_known": _n_together(data, source, target),
        "test": _summary(tests),
        "notes": sorted({str(one.message) for one in told if issubclass(one.category, ours)}),
    }
    maps = [
        MadeMap(method, f"{title}, links", dict(params), model.embedding_, None, seed)
        for model, seed in zip(models[:1], seeds, strict=False)
    ]
    return Findings(LINKS, content, tuple(maps))


def _plain(record: Mapping[Hashable, Any]) -> dict[str, object]:
    """Return a record with values that JSON has."""
    out: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, tuple):
            out[str(key)] = list(value)
        elif isinstance(value, str):
            out[str(key)] = value
        else:
            out[str(key)] = float(value) if key == "score" else int(value)
    return out


def _n_together(data: HeteroData, source: str, target: str) -> int:
    return sum(
        int((links.weight > 0).sum())
        for links in data.links
        if {links.source, links.target} == {source, target}
    )


def _summary(tests: Sequence[HeldOutRanking]) -> dict[str, object] | None:
    """Return means and standard errors over the tests; None without any."""
    if not tests:
        return None
    auc = {
        name: _mean([one.auc[name] for one in tests if name in one.auc]) for name in tests[0].auc
    }
    precision = {
        name: [
            [k, *_mean([one.precision[name][k] for one in tests if k in one.precision[name]])]
            for k in tests[0].precision[name]
        ]
        for name in tests[0].precision
    }
    return {
        "auc": auc | {CHANCE: [0.5, 0.0]},
        "precision": precision,
        "n_links": round(float(np.mean([one.n_links for one in tests]))),
        "n_pairs": round(float(np.mean([one.n_pairs for one in tests]))),
        "repeats": len(tests),
    }


def _mean(values: Sequence[float]) -> list[float | None]:
    error = None if len(values) < 2 else float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return [float(np.mean(values)), error]
