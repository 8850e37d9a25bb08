"""Tasks that predict missing links and labels, with tests on held-out ones."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData
from hetviz.errors import ParameterError
from hetviz.progress import Progress, ProgressPart
from hetviz.runs.embed.run import FittedRun, MapResult, fit_run, notes_of, versions
from hetviz.runs.findings import Findings
from hetviz.runs.predict.held_out_links import CHANCE, KNOWN_LINKS, HeldOutRanking, rank_held_out
from hetviz.runs.predict.label_blend import BLEND
from hetviz.runs.predict.label_blend import TITLE as BLEND_TITLE
from hetviz.runs.predict.labels import predict_labels
from hetviz.runs.predict.link_judging import with_chosen_axes
from hetviz.runs.predict.link_predictor import LinkPredictor, fit_link_predictor
from hetviz.runs.predict.link_settings import STACK
from hetviz.runs.predict.link_settings import TITLE as STACK_TITLE
from hetviz.runs.predict.links import predict_links
from hetviz.runs.predict.pair_scores import PROFILES, PROFILES_TITLE, FittedPredictor

LINKS = "links"
TOP = 200
_ITEMS = 0.2


def find_links(
    data: HeteroData,
    source: str,
    target: str,
    method: str,
    params: Mapping[str, object],
    seeds: Sequence[int],
    hold_out: float,
    progress: Progress,
    top: int = TOP,
    start: Embedding | None = None,
    quick: bool = False,
) -> Findings:
    """Rank unlinked pairs, and test the ranking on held-out links."""
    if not seeds:
        raise ParameterError("find_links: give at least one seed.")
    plain = method in (PROFILES, STACK)
    titles = {PROFILES: PROFILES_TITLE, STACK: STACK_TITLE}
    title = titles.get(method) or get_method(method).card.title
    tests: list[HeldOutRanking] = []
    unseen: list[HeldOutRanking] = []
    predictor: LinkPredictor | None = None
    runs: list[FittedRun] = []
    fits = start is None and not plain
    steps = (len(seeds) if fits else 0) + (2 * len(seeds) if hold_out else 0) + 1
    done = 0

    def part() -> ProgressPart:
        nonlocal done
        done += 1
        return ProgressPart(progress, (done - 1) / steps, done / steps)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if fits:
            chosen = with_chosen_axes(data, method, source, target, params, seeds[0])
            runs = [fit_run(data, method, chosen, seed, part()) for seed in seeds]
        for items, results in ((0.0, tests), (_ITEMS, unseen)):
            if not hold_out:
                break
            rankings = [
                rank_held_out(
                    data,
                    None if method == PROFILES else method,
                    params,
                    source,
                    target,
                    hold_out,
                    seed,
                    part(),
                    items=items,
                    quick=quick,
                )
                for seed in seeds
            ]
            results += [ranking for ranking in rankings if ranking is not None]
        progress((steps - 1) / steps, "Ranking pairs")
        models = [run.model for run in runs]
        by: str | FittedPredictor | Sequence[FittedPredictor] = models if start is None else start
        if method == STACK:
            by = predictor = fit_link_predictor(
                data, source, target, quick=quick, random_state=seeds[0], progress=part()
            )
        elif plain:
            by = PROFILES
        table = predict_links(data, source, target, top, by=by)
    progress(1.0, "Done")
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
        "test": _summary(tests, unseen),
        "weights": {} if predictor is None else dict(predictor.weights),
        "once": [False, False] if predictor is None else list(predictor.once),
        "quick": quick,
        "notes": sorted(notes_of(caught)["notes"]),
    }
    maps = tuple(replace(run.result, title=f"{title}, links") for run in runs[:1])
    return Findings(LINKS, content, maps)


def _plain(record: Mapping[Hashable, Any]) -> dict[str, object]:
    """Return a record with JSON values."""
    out: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, tuple):
            out[str(key)] = [
                list(element) if isinstance(element, tuple) else element for element in value
            ]
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


def _summary(
    tests: Sequence[HeldOutRanking], unseen: Sequence[HeldOutRanking] = ()
) -> dict[str, object] | None:
    """Return means and standard errors over the tests, or None without tests."""
    if not tests:
        return None
    auc = {
        name: _mean([test.auc[name] for test in tests if name in test.auc]) for name in tests[0].auc
    }
    precise = {
        name: _mean([test.average_precision[name] for test in tests]) for name in tests[0].auc
    }
    precision = {
        name: [
            [k, *_mean([test.precision[name][k] for test in tests if k in test.precision[name]])]
            for k in tests[0].precision[name]
        ]
        for name in tests[0].precision
    }
    chance = float(np.mean([test.n_links / test.n_pairs for test in tests]))
    return {
        "auc": auc | {CHANCE: [0.5, 0.0]},
        "average_precision": precise | {CHANCE: [chance, None]},
        "precision": precision,
        "n_links": round(float(np.mean([test.n_links for test in tests]))),
        "n_pairs": round(float(np.mean([test.n_pairs for test in tests]))),
        "repeats": len(tests),
        "own_scores": tests[0].own_scores,
        "by_known_links": _summary_by_known_links(tests),
        "unseen": _summary(unseen),
    }


def _summary_by_known_links(tests: Sequence[HeldOutRanking]) -> list[dict[str, object]]:
    """Return means and standard errors for each group of pairs, over the tests that have it."""
    rows: list[dict[str, object]] = []
    for name, _ in KNOWN_LINKS:
        groups = [group for test in tests for group in test.by_known_links]
        groups = [group for group in groups if group.known_links == name]
        if not groups:
            continue
        names = groups[0].auc
        rows.append(
            {
                "known_links": name,
                "auc": {key: _mean([group.auc[key] for group in groups]) for key in names},
                "average_precision": {
                    key: _mean([group.average_precision[key] for group in groups]) for key in names
                },
                "n_links": round(float(np.mean([group.n_links for group in groups]))),
                "n_pairs": round(float(np.mean([group.n_pairs for group in groups]))),
            }
        )
    return rows


def _mean(values: Sequence[float]) -> list[float | None]:
    error = None if len(values) < 2 else float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return [float(np.mean(values)), error]


# Missing labels.


LABELS = "labels"


def find_labels(
    data: HeteroData,
    dataset: str,
    label: str,
    progress: Progress,
    method: str | None = None,
    sources: Sequence[str] | None = None,
    training_share: float | None = None,
    repeats: int = 3,
    source: Sequence[str] | None = None,
    seed: int = 0,
    **params: object,
) -> Findings:
    """Predict missing labels of a column."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        prediction = predict_labels(
            data,
            dataset,
            label,
            method=method,
            sources=sources,
            training_share=training_share,
            repeats=repeats,
            source=None if source is None else (source[0], source[1]),
            random_state=seed,
            progress=progress,
            **params,
        )
    content = prediction.to_dict() | {
        "title": BLEND_TITLE
        if prediction.method == BLEND
        else get_method(prediction.method).card.title,
        "params": dict(params),
        "seed": seed,
        "training_share": training_share,
        "repeats": repeats,
        "notes": sorted(notes_of(caught)["notes"]),
    }
    maps: tuple[MapResult, ...] = ()
    if prediction.embedding is not None:
        result = MapResult(
            data.fingerprint(),
            prediction.method,
            _of_map(prediction.method, content),
            seed,
            versions(),
            # The method saw other labels than the data have, or only some of the datasets.
            unrepeatable="The map was made to predict labels.",
            title=f"{get_method(prediction.method).card.title}, {label}",
            embedding=prediction.embedding,
        )
        maps = (result,)
    return Findings(LABELS, content, maps)


def _of_map(method: str, content: Mapping[str, Any]) -> dict[str, object]:
    """Return the parameters that reproduce the map."""
    where = {"label": f"{content['dataset']}:{content['label']}"} if method == "gbc" else {}
    return {**content["params"], **where}
