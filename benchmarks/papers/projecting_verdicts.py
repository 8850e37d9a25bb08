"""What became of paper 000's claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.papers.judging import FAILS, HOLDS, IN_PART, TOO_SMALL, judged, seen
from benchmarks.papers.out import Out
from benchmarks.papers.projecting import AXES, EXPONENTS, FOLDS, GAMMAS, SHARES
from benchmarks.papers.projecting_figures import CLUSTERS, Found, Results
from benchmarks.papers.stats import above, told

LAST = len(AXES) - 1
HOW = (
    f"Ridge from {', '.join(f'{g:g}' for g in GAMMAS)} on, past the ends while the best is at one, "
    f"and number of axes up to {max(AXES)} by NDCG on {FOLDS} parts of the training objects in "
    f"turn; with hetviz's form also the exponent of the axes' scale from "
    f"{', '.join(f'{e:g}' for e in EXPONENTS)}; Gaussian kernel of median width; test objects used "
    "once, at the end."
)


def judge(out: Out, results: Results, clusters: Sequence[dict[str, Any]]) -> None:
    """Set each claim beside what was found."""
    found = Found(results)
    _satisfaction(out, found)
    _prediction(out, found)
    _clusters(out, found, clusters)


def beside(found: Found, say: Callable[[str], str]) -> str:
    """Say a thing of every source."""
    return "; ".join(f"{source}: {say(source)}" for source in found.sources)


def _satisfaction(out: Out, found: Found) -> None:
    half = int(np.searchsorted(SHARES, 0.5))

    def at_half(source: str, method: str) -> Any:
        return found.values(source, method, "given", half)

    out.verdict(
        "Over 90 % of the guidance given is kept by the closest half of the pairs (Fig. 6, left).",
        paper="over 90 %",
        ours=beside(
            found,
            lambda s: ", ".join(
                f"{told(100 * at_half(s, m), 1)} % ({n} datasets)"
                for m, n in (("paper 2", "two"), ("paper 3", "three"))
            ),
        ),
        verdict=judged(
            [at_half(s, m).mean() > 0.9 for s in found.sources for m in ("paper 2", "paper 3")]
        ),
        how_chosen=HOW,
    )
    for place, part in enumerate(("given", "of unseen objects")):
        out.verdict(
            f"Links {part} are kept significantly better than by CCA of duplicated pairs (Fig. 6, "
            f"{('left', 'right')[place]}).",
            paper="drawn only: well above CCA's curve",
            ours="area under the curve, ours against CCA: "
            + beside(found, lambda s, at=place: _against(found, s, "area", at)),
            verdict=judged(
                [
                    seen(*(found.values(s, m, "area", place) for m in ("paper 2", "cca")))
                    for s in found.sources
                ]
            ),
            how_chosen=HOW,
        )
    out.verdict(
        "A third dataset with its links does not lessen how well the guidance is kept (Fig. 6).",
        paper="does not diminish",
        ours="area, links of objects and tags given, three against two datasets: "
        + beside(found, lambda s: _against(found, s, "area", 0, ("paper 3", "paper 2"))),
        verdict=judged(
            [
                above(*(found.values(s, m, "area", 0) for m in ("paper 3", "paper 2"))) >= 0
                for s in found.sources
            ]
        ),
        how_chosen=HOW,
    )


def _against(
    found: Found,
    source: str,
    measure: str,
    place: int,
    pair: tuple[str, str] = ("paper 2", "cca"),
    share: float | None = None,
) -> str:
    ours, theirs = (told(found.values(source, m, measure, place, share)) for m in pair)
    return f"{ours} against {theirs}"


def _prediction(out: Out, found: Found) -> None:
    def marks(method: str, other: str) -> list[int]:
        return [
            above(*(found.values(s, m, "ndcg", at) for m in (method, other)))
            for s in found.sources
            for at in range(len(AXES))
        ]

    for method, name in (("paper 2", "the paper's form"), ("hetviz 2", "hetviz's form")):
        won = marks(method, "cca")
        out.verdict(
            f"Tags of unseen objects are predicted better than by CCA, whatever the most vectors "
            f"allowed (Fig. 7), {name}.",
            paper="drawn only: significantly better than CCA at every number",
            ours=f"NDCG with up to {max(AXES)} axes: "
            + beside(found, lambda s, m=method: _against(found, s, "ndcg", LAST, (m, "cca")))
            + f". Better at {won.count(1)} of {len(won)} (data, most axes), worse at "
            f"{won.count(-1)}, by more than two standard errors of the difference.",
            verdict=judged(won)
            if won.count(1) > won.count(-1)
            else FAILS
            if won.count(-1)
            else TOO_SMALL,
            how_chosen=HOW,
        )

    def needed(source: str, method: str) -> int | None:
        goal = found.values(source, "cca", "ndcg", LAST).mean()
        reached = [
            most
            for at, most in enumerate(AXES)
            if found.values(source, method, "ndcg", at).mean() >= goal
        ]
        return reached[0] if reached else None

    def fewer(source: str, method: str) -> str:
        axes = needed(source, method)
        return "never" if axes is None else str(axes)

    out.verdict(
        "Fewer vectors reach what CCA reaches with all of them (Fig. 7).",
        paper="drawn only",
        ours=f"axes at which the mean NDCG reaches CCA's with up to {max(AXES)}: "
        + beside(
            found,
            lambda s: f"{fewer(s, 'paper 2')} (paper's form), {fewer(s, 'hetviz 2')} (hetviz's)",
        ),
        verdict=judged([(needed(s, "paper 2") or max(AXES)) < max(AXES) for s in found.sources]),
        how_chosen=HOW,
    )
    first, last = found.shares[0], found.shares[-1]

    def lead(source: str, share: float) -> Any:
        ours, theirs = (found.values(source, m, "ndcg", LAST, share) for m in ("paper 2", "cca"))
        return ours - theirs

    out.verdict(
        "More training objects widen the lead over CCA (Fig. 8).",
        paper="drawn only: alike with few, significantly better with many",
        ours=f"lead in NDCG at {first:.0%} and {last:.0%} for training: "
        + beside(found, lambda s: f"{told(lead(s, first))}, {told(lead(s, last))}"),
        verdict=judged(
            [
                min(
                    seen(lead(s, last), np.zeros_like(lead(s, last))),
                    seen(lead(s, last), lead(s, first)),
                )
                for s in found.sources
            ]
        ),
        how_chosen=HOW,
    )
    out.verdict(
        "CCA is only marginally better than answering with the most frequent tags (Fig. 8).",
        paper="drawn only: marginally better",
        ours="NDCG of CCA against the guess: "
        + beside(found, lambda s: _against(found, s, "ndcg", LAST, ("cca", "guess"))),
        verdict=judged(
            [
                found.values(s, "cca", "ndcg", LAST).mean()
                < 1.25 * found.values(s, "guess", "ndcg", LAST).mean()
                for s in found.sources
            ]
        ),
        how_chosen=HOW + " Marginally: by less than a quarter.",
    )


def _clusters(out: Out, found: Found, clusters: Sequence[dict[str, Any]]) -> None:
    out.verdict(
        "Clusters of the joint map mix all three kinds of items, and are meaningful (Fig. 9).",
        paper="three of ten clusters shown",
        ours="; ".join(
            f"{c['source']}: {c['mixed']} of 10 hold all three kinds; agreement with groups that "
            f"were not seen (NMI) {c['nmi']:.3f}, shuffled {c['nmi_chance']:.3f} (one run)"
            for c in clusters
        ),
        verdict=judged([c["mixed"] >= 8 and c["nmi"] > 2 * c["nmi_chance"] for c in clusters]),
        how_chosen=HOW + " Ten clusters as in the paper; k-means, ten starts.",
    )
    sizes = range(len(CLUSTERS))

    def compared(pair: tuple[str, str]) -> list[int]:
        return [
            above(*(found.values(s, m, "rand", at, share) for m in pair))
            for s in found.sources
            for at in sizes
            for share in found.shares
        ]

    def rand(source: str, method: str) -> str:
        return ", ".join(told(found.values(source, method, "rand", at)) for at in sizes)

    def lift(source: str, method: str) -> Any:
        above_shuffled = [
            found.values(source, method, "rand", at)
            - found.values(source, method, "rand_chance", at)
            for at in sizes
        ]
        return np.mean(above_shuffled, axis=0)

    won = compared(("paper 2", "cca"))
    out.verdict(
        "Rand index of clustered unseen objects and tags: better than CCA or alike, at any number "
        "of clusters (Fig. 10).",
        paper="drawn only",
        ours=f"at {', '.join(map(str, CLUSTERS))} clusters, ours against CCA: "
        + beside(found, lambda s: f"{rand(s, 'paper 2')} against {rand(s, 'cca')}")
        + f". Better in {won.count(1)}, alike in {won.count(0)}, worse in {won.count(-1)} of "
        f"{len(won)} (data, clusters, training sizes).",
        verdict=HOLDS if won.count(-1) == 0 else IN_PART if won.count(-1) < len(won) / 2 else FAILS,
        how_chosen=HOW + " k-means, ten starts.",
    )
    out.verdict(
        "The same, counted from what shuffled clusters of the same sizes reach: the index alone "
        "grows as clusters become alike in size, whatever is in them.",
        paper="not looked at",
        ours="mean over the numbers of clusters, ours against CCA: "
        + beside(found, lambda s: f"{told(lift(s, 'paper 2'))} against {told(lift(s, 'cca'))}"),
        verdict=judged([above(lift(s, "paper 2"), lift(s, "cca")) >= 0 for s in found.sources]),
        how_chosen=HOW + " k-means, ten starts.",
    )
    won = compared(("paper 3", "paper 2"))
    out.verdict(
        "More guidance and objects, from a third dataset, give better Rand indices (Fig. 10).",
        paper="drawn only: even better",
        ours=f"at {', '.join(map(str, CLUSTERS))} clusters, three against two datasets: "
        + beside(found, lambda s: f"{rand(s, 'paper 3')} against {rand(s, 'paper 2')}")
        + f". Better in {won.count(1)}, alike in {won.count(0)}, worse in {won.count(-1)} of "
        f"{len(won)}.",
        verdict=HOLDS if won.count(1) > len(won) / 2 else judged(won),
        how_chosen=HOW + " k-means, ten starts.",
    )
