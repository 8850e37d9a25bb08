"""Paper 002: one view, their sum, and several learned together, judged by unseen objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.manifold import TSNE

from benchmarks.papers.data import ZAPPOS, sample
from benchmarks.papers.drawing import COLOURS, MARKS, legend_below, panels
from benchmarks.papers.judging import judged, seen
from benchmarks.papers.ordering import AXES, BETAS, Compared, is_noise, numerals, shoes
from benchmarks.papers.out import Out
from benchmarks.papers.settings import settled
from benchmarks.papers.stats import above, mean_and_error, told

TITLE = "Paper 002: multi-modal similarity, views one by one and together"
NEEDS = (
    sample("digit-views", "numerals in three views, in the place of pictures of objects"),
    ZAPPOS,
)

SETTLED = settled("p002_views")
SPLITS, QUICK_SPLITS = SETTLED["splits"], 2
COMPARISONS, QUICK_COMPARISONS = SETTLED["comparisons"], 300
NATIVE, DIAGONAL, FULL = "native", "diagonal", "full"
SUM_OF_ALL = "sum of all, then learned"
NEAREST = 10
HOW = (
    f"Strength of comparisons: the best of {', '.join(f'{beta:g}' for beta in BETAS)} times the "
    "critical one, and on past these while the best is at an end, by a quarter of the training "
    f"objects held out; {AXES} axes throughout; the "
    "median distance as the width of Gaussian kernels. The test objects took no part."
)

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Group:
    """Views learned from together, and whether their kernels are summed first."""

    title: str
    views: tuple[str, ...]
    summed: bool = False


def run(out: Out, quick: bool, data: Path | None) -> None:
    """Measure all groups of views of both sets, then look into the space of all."""
    splits = QUICK_SPLITS if quick else SPLITS
    count = QUICK_COMPARISONS if quick else COMPARISONS
    sets = [numerals()]
    if ZAPPOS.there(data) and data is not None:
        sets.append(shoes(data))
    planned = {compared.name: groups_of(compared, quick) for compared in sets}
    out.plan(sum(len(groups) for groups in planned.values()) * splits + 2)
    for compared in sets:
        found = {
            group.title: [
                out.step(
                    f"{compared.name}, {group.title}, split {seed}",
                    partial(measured, compared, group, count, seed, quick),
                )
                for seed in range(splits)
            ]
            for group in planned[compared.name]
        }
        list_all(out, compared, planned[compared.name], found, count)
        judge(out, compared, planned[compared.name], found)
    weights = out.step("landmarks of numerals", partial(landmarks, sets[0], count, quick))
    draw_weights(out, weights)
    space = out.step("the space of numerals", partial(shown, sets[0], count, quick))
    draw_space(out, sets[0], space)


def groups_of(compared: Compared, quick: bool) -> list[Group]:
    """Return single views, groups of them, and all."""
    real, noise = compared.real, [name for name in compared.views if is_noise(name)]
    singles = [*real, *noise[: 1 if quick else 2]]
    groups = [Group(name, (name,)) for name in singles]
    groups += [
        Group(" + ".join(real[1:]), tuple(real[1:])),
        Group(" + ".join(real), tuple(real)),
        Group(f"{real[-1]} + noise", (real[-1], *noise)),
        Group("all, with noise", tuple(compared.views)),
        Group(SUM_OF_ALL, tuple(compared.views), summed=True),
    ]
    return groups


def measured(
    compared: Compared, group: Group, count: int, seed: int, quick: bool
) -> dict[str, Any]:
    """Return the share of comparisons of unseen objects that each space keeps."""
    train, test = compared.split(seed)
    triplets = compared.messages(train, count, seed)
    names = list(group.views)
    found: dict[str, Any] = {
        NATIVE: compared.kept(compared.native(names), train, test, seed),
        "comparisons": len(triplets),
    }
    for how in (FULL,) if group.summed else (DIAGONAL, FULL):
        params: dict[str, Any] = {"diagonal": how == DIAGONAL}
        if group.summed:
            params["combine"] = "sum"
        beta = compared.chosen_beta(names, train, triplets, seed, quick=quick, **params)
        model, seconds = compared.fitted(names, train, triplets, beta=beta, **params)
        Y = compared.placed(model, names, train, test)
        found[how] = compared.kept(Y, train, test, seed)
        found[f"{how} beta"], found[f"{how} seconds"] = beta, seconds
        found[f"{how} noise"] = sum(
            share for name, share in model.view_weights_.items() if is_noise(name)
        )
    return found


def values(runs: list[dict[str, Any]], key: str) -> list[float]:
    """Return a figure of all runs; NaN where it was not measured."""
    return [float(one.get(key, np.nan)) for one in runs]


def said(runs: list[dict[str, Any]], key: str) -> str:
    """Return its mean and standard error, or nothing."""
    return told(values(runs, key)) if key in runs[0] else ""


def list_all(
    out: Out,
    compared: Compared,
    groups: Sequence[Group],
    found: dict[str, list[dict[str, Any]]],
    count: int,
) -> None:
    """Write and draw the shares kept."""
    rows = []
    for group in groups:
        runs = found[group.title]
        several = any(is_noise(name) for name in group.views) and len(group.views) > 1
        rows.append(
            {
                "views": group.title,
                **{how: said(runs, how) for how in (NATIVE, DIAGONAL, FULL)},
                "share of noise, diagonal": said(runs, "diagonal noise") if several else "",
                "share of noise, full": said(runs, "full noise") if several else "",
                **{
                    f"CPU s, {how}": f"{np.median(values(runs, f'{how} seconds')):.2f}"
                    if f"{how} seconds" in runs[0]
                    else ""
                    for how in (DIAGONAL, FULL)
                },
            }
        )
    splits = len(next(iter(found.values())))
    what = (
        f"{compared.size} {compared.name}, {count:,} comparisons of four fifths of them; share "
        "kept of comparisons of the other fifth with these, which nothing was learned from: mean "
        f"± standard error over {splits} splits. Native: by the kernels as they are, summed; "
        "diagonal: one weight for each landmark (or feature), which the sum of all does not have "
        "here; full: a matrix for each view."
    )
    out.table(f"{compared.name}", pd.DataFrame(rows), what)
    figure, (ax,) = panels(1, width=6.0, height=0.36 * len(groups) + 1.2)
    at = np.arange(len(groups))[::-1]
    for place, how in enumerate((NATIVE, DIAGONAL, FULL)):
        means, errors = zip(
            *(mean_and_error(values(found[group.title], how)) for group in groups), strict=True
        )
        ax.errorbar(
            means,
            at + 0.18 * (1 - place),
            xerr=np.nan_to_num(errors),
            fmt=MARKS[place],
            color=COLOURS[place],
            markersize=5,
            capsize=2,
            label=how,
        )
    ax.axvline(0.5, color="#999999", linewidth=0.8, linestyle=":")
    ax.set_yticks(at, [group.title for group in groups])
    ax.set_xlabel("comparisons of unseen objects kept (share; 0.5 is guessing)")
    legend_below(figure, ax, 3)
    out.figure(f"{compared.name}-views", figure, what, front=compared.classes is not None)


def judge(
    out: Out,
    compared: Compared,
    groups: Sequence[Group],
    found: dict[str, list[dict[str, Any]]],
) -> None:
    """Compare native with learned, diagonal with full, sum with several."""
    where = f" ({compared.name})"
    real = compared.real
    gained = {
        (name, how): seen(values(found[name], how), values(found[name], NATIVE))
        for name in real
        for how in (DIAGONAL, FULL)
    }

    def three(name: str) -> str:
        return f"{name}: " + ", ".join(
            f"{how} {told(values(found[name], how))}" for how in (NATIVE, DIAGONAL, FULL)
        )

    out.verdict(
        "A learned metric keeps more comparisons of unseen objects than the view as it is" + where,
        paper="artists .464 to .752 native, .594 to .796 full (Table 3); objects .862 to .951 for "
        "the best kernel (Table 2)",
        ours="; ".join(three(name) for name in real),
        verdict=judged(list(gained.values())),
        how_chosen=HOW,
    )
    out.verdict(
        "A full matrix keeps more than weights of landmarks" + where,
        paper="in all but one of five kernels: biography .760 against .629 (Table 3)",
        ours="; ".join(
            f"{name}: full {told(values(found[name], FULL))}, diagonal "
            f"{told(values(found[name], DIAGONAL))}"
            for name in real
        ),
        verdict=judged(
            [seen(values(found[name], FULL), values(found[name], DIAGONAL)) for name in real]
        ),
        how_chosen=HOW,
    )
    all_views, summed = found["all, with noise"], found[SUM_OF_ALL]
    best = max(real, key=lambda name: mean_and_error(values(found[name], FULL))[0])
    out.verdict(
        "Views learned together keep more than their sum, though some are noise, and than the "
        "best single one" + where,
        paper="objects, diagonal: together .984, sum .861, best single .951, sum as it is .718 "
        "(Table 2); artists: together .779 and .801, sum .711 and .764, best single .773 and .796 "
        "(Table 4)",
        ours=f"full: together {told(values(all_views, FULL))}, sum {told(values(summed, FULL))}, "
        f"best single ({best}) {told(values(found[best], FULL))}; diagonal: together "
        f"{told(values(all_views, DIAGONAL))}, best single {told(values(found[best], DIAGONAL))}; "
        f"sum as it is {told(values(all_views, NATIVE))}",
        verdict=judged(
            [
                seen(values(all_views, FULL), values(summed, FULL)),
                seen(values(all_views, FULL), values(found[best], FULL)),
                seen(values(all_views, DIAGONAL), values(found[best], DIAGONAL)),
            ]
        ),
        how_chosen=HOW + " The best single view is told by the test objects, against the claim.",
    )
    noisy = next(group for group in groups if group.title == "all, with noise")
    clean = found[" + ".join(real)]
    count = sum(map(is_noise, noisy.views))
    out.verdict(
        "Views of noise get next to no weight and do no harm" + where,
        paper="negligible weight (5 of noise; Table 2, Fig. 5)",
        ours=f"{count} of {len(noisy.views)} views are noise; their share of the weight: diagonal "
        f"{told(values(all_views, 'diagonal noise'))}, full "
        f"{told(values(all_views, 'full noise'))}; kept with them {told(values(all_views, FULL))}, "
        f"without {told(values(clean, FULL))} (full)",
        verdict=judged(
            [
                mean_and_error(values(all_views, "diagonal noise"))[0] < 0.05,
                mean_and_error(values(all_views, "full noise"))[0] < 0.05,
                above(values(clean, FULL), values(all_views, FULL)) <= 0,
            ]
        ),
        how_chosen=HOW + " Negligible is taken as below .05 of the sum.",
    )


def landmarks(compared: Compared, count: int, quick: bool) -> dict[str, Any]:
    """Return the weight of each landmark of each view, learned from all views of one split."""
    train, _ = compared.split(0)
    triplets = compared.messages(train, count, 0)
    names = list(compared.views)
    beta = compared.chosen_beta(names, train, triplets, 0, quick=quick, diagonal=True)
    model, _ = compared.fitted(names, train, triplets, beta=beta, diagonal=True)
    return {
        "landmarks": len(train),
        "weights": {
            name: sorted(model.column_weights_.get(name, {}).values(), reverse=True)
            for name in names
        },
    }


def draw_weights(out: Out, found: dict[str, Any]) -> None:
    """Draw the weights, largest first."""
    weights, n = found["weights"], found["landmarks"]
    total = sum(map(sum, weights.values()))
    top = 100.0 * max(max(kept, default=0.0) for kept in weights.values()) / total
    figure, axes = panels(len(weights) // 2, 2, width=1.7, height=1.7, sharey=True)
    used = {}
    for ax, (name, kept) in zip(axes, weights.items(), strict=True):
        heights = 100.0 * np.array([*kept, *[0.0] * (n - len(kept))]) / total
        used[name] = int((heights > 1e-3 * top).sum())
        colour = COLOURS[7] if is_noise(name) else COLOURS[0]
        ax.bar(np.arange(n), heights, width=1.0, color=colour)
        ax.set_title(f"{name}: {heights.sum():.0f} %", fontsize=8)
        ax.set_xlim(-0.5, 60.5)
    for ax in axes[len(weights) // 2 :]:
        ax.set_xlabel("landmark by rank")
    for ax in axes[:: len(weights) // 2]:
        ax.set_ylabel("weight (%)")
    caption = (
        f"Weights of landmarks learned from all views of numerals, largest first, the first 60 of "
        f"{n} in each view, in percent of the sum of all; five of the views are noise. Share of "
        "each view above its panel. One split."
    )
    out.figure("landmark-weights", figure, caption)
    zero = 1.0 - sum(used.values()) / (n * len(weights))
    shares = {name: 100.0 * sum(kept) / total for name, kept in weights.items()}
    out.verdict(
        "Learned landmark weights are sparse and differ between views; a poor view is left out "
        "(numerals)",
        paper="many weights are 0, MFCC eliminated, most weight on social tags (Fig. 5)",
        ours=f"{100 * zero:.0f} % of {n * len(weights):,} weights are 0 (below a thousandth of "
        "the largest); shares of views: "
        + ", ".join(f"{name} {share:.0f} %" for name, share in shares.items())
        + " (one split)",
        verdict=judged(
            [zero > 0.5, all(share < 5.0 for name, share in shares.items() if is_noise(name))]
        ),
        how_chosen=HOW,
    )


def shown(compared: Compared, count: int, quick: bool) -> dict[str, Any]:
    """Return t-SNE of the native and the learned space of all views, and how pure they are."""
    train, test = compared.split(0)
    triplets = compared.messages(train, count, 0)
    names = list(compared.views)
    beta = compared.chosen_beta(names, train, triplets, 0, quick=quick, diagonal=False)
    model, _ = compared.fitted(names, train, triplets, beta=beta, diagonal=False)
    spaces = {
        NATIVE: compared.native(names),
        "learned": compared.placed(model, names, train, test),
    }
    found: dict[str, Any] = {"test": test}
    for name, Y in spaces.items():
        flat = TSNE(perplexity=15, init="pca", random_state=0).fit_transform(Y)
        D = ((flat[:, None] - flat[None]) ** 2).sum(axis=2)
        np.fill_diagonal(D, np.inf)
        near = np.argsort(D, axis=1)[:, :NEAREST]
        same = (compared.classes[near] == compared.classes[:, None]).mean(axis=1)
        found[name] = {"flat": flat, "same": same[test]}
    return found


def draw_space(out: Out, compared: Compared, found: dict[str, Any]) -> None:
    """Draw both pictures."""
    figure, axes = panels(2, width=3.4, height=3.4)
    test = np.isin(np.arange(compared.size), found["test"])
    names = sorted(set(compared.classes))
    colours = [*COLOURS, "#882255", "#44AA99"]
    for ax, (title, kind) in zip(
        axes, (("views as they are", NATIVE), ("learned", "learned")), strict=True
    ):
        flat = found[kind]["flat"]
        for number, name in enumerate(names):
            here = compared.classes == name
            for unseen, style in ((False, {"alpha": 0.55, "s": 12}), (True, {"s": 34})):
                rows = here & (test == unseen)
                edge = {"edgecolors": "black", "linewidths": 0.7} if unseen else {}
                ax.scatter(
                    *flat[rows].T,
                    color=colours[number],
                    label=None if unseen else name,
                    **style,
                    **edge,
                )
        ax.set_title(title)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.grid(visible=False)
    legend_below(figure, axes[0], 10)
    caption = (
        f"t-SNE (perplexity 15) of the {AXES} axes learned from all views of numerals, five of "
        "them noise, and of the sum of the views as they are. Colour: digit. Black edges: objects "
        "that nothing was learned from. One split; axes have no unit."
    )
    out.figure("space", figure, caption)
    native, learned = found[NATIVE]["same"], found["learned"]["same"]
    out.verdict(
        "The learned space, shown by t-SNE, has the structure that comparisons tell of (numerals)",
        paper="genres apart, as drawn in Fig. 6; no figure",
        ours=f"of the {NEAREST} nearest of an unseen numeral in the picture the same digit: "
        f"{100 * mean_and_error(learned)[0]:.0f} ± {100 * mean_and_error(learned)[1]:.0f} %, of "
        f"the views as they are {100 * mean_and_error(native)[0]:.0f} ± "
        f"{100 * mean_and_error(native)[1]:.0f} % ({len(native)} unseen objects of one split)",
        verdict=judged([seen(learned, native)]),
        how_chosen=HOW + " Perplexity 15 was not varied.",
    )
