"""Guided projection: one linear map per dataset, fitted to positive and negative links."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar

from hetviz._types import Rng, Sparse
from hetviz.algorithms.base import ProjectionEmbedder
from hetviz.algorithms.contract import LINKED_FEATURES, Capability, Fit, MethodCard
from hetviz.algorithms.diagnostics import warn_about_data
from hetviz.algorithms.needs import Need
from hetviz.algorithms.papers import GRESS_2014
from hetviz.algorithms.shared_params import (
    AXES,
    COMPARED_BY,
    LINKED_SMOOTHING,
    SMOOTHING,
    AxisScale,
    DatasetWeights,
    DrawnBy,
    FeatureKinds,
    KernelPenalty,
    RandomState,
    TieViews,
)
from hetviz.core.spectral import guided_cv
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import Diagnostic, make_diagnostic
from hetviz.errors import ParameterError
from hetviz.features.spaces.basis import Basis
from hetviz.features.spaces.projection import default_spread, fit_bases, guidance_of, project
from hetviz.params import Changed, Choice, Real
from hetviz.progress import Progress


class GuidedProjection(ProjectionEmbedder):
    """Linear or kernel maps of several datasets into one space, fitted to signed links.

    Attributes
    ----------
    agreement_ : array of shape (n_datasets, n_components)
        mu of each axis, by dataset in order: 1 if linked rows coincide, 0 without agreement.
    coefficients_ : dict of str to DataFrame
        By dataset with plain features: how far one standard deviation of each feature moves an
        item along each axis.

    Notes
    -----
    Maximises p'Z'SZp subject to p'(Z'MZ + gamma)p = 1. With kernels p is theta = [a_1 .. a_m], Z
    is blockdiag(K_v) and the ridge is gamma a'Ka. The paper prints min theta'KLK theta subject to
    a'(KDK + gamma I)a = 1: ``kernel_penalty="paper"`` uses its ridge gamma a'a, and
    ``variant="printed"`` uses it only in the constraint, for all datasets. Cost: O(n d^2 + d^3)
    for d features in all; a kernel of n rows adds O(n^3 / 3), above 5,000 rows O(n) with 1,000
    landmarks.

    References
    ----------
    A. Gress and I. Davidson, A flexible framework for projecting heterogeneous data, CIKM 2014:
    equations 2, 7 and 8, with the ridge on both sides of the problem, which the printed form lacks.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="guided-projection",
        title="Guided projection",
        family="Projection",
        papers=(GRESS_2014,),
        equation=(
            r"\min_{A_1..A_m} \sum_{ij} w_{ij}\,\lVert A_{u(i)}^\top x_i -"
            r" A_{v(j)}^\top x_j \rVert^2"
        ),
        needs=(Need.POSITIVE_LINKS, Need.SOME_FEATURES),
        capabilities=LINKED_FEATURES | {Capability.CANNOT_LINKS, Capability.WITHIN_LINKS},
        summary=(
            "Turns the features of each dataset into shared axes, so that linked items are close "
            "and apart links are far. It is fast, and new items do not move old ones."
        ),
        caveats=(
            "Linear maps can only follow links that the features express. Try the Gaussian kernel "
            "if too few links are close.",
            "Apart links act on their own pairs and say little about others.",
            "Datasets without links are left off the map.",
            "The paper fixes the scale by the first dataset and smooths kernel coefficients on one "
            "side of the problem. Here all datasets count and curves are smoothed on both sides, "
            "which finds more hidden links. The forms of the paper are settings.",
        ),
        cost="Seconds to 5,000 items with kernels. Grows with items times features squared.",
    )
    n_components: Annotated[
        int | str,
        AXES,
        Changed(
            also=("cv",),
            details=(
                'Fewer are returned if fewer have any agreement. "cv" chooses by '
                "cross-validated links among `hetviz.core.spectral.guided_cv.AXES`, and "
                "tries more while the largest number is best."
            ),
        ),
    ] = 2
    kernel: Annotated[
        str | None,
        COMPARED_BY,
        Changed(
            options={
                None: "as set for each dataset",
                **{key: COMPARED_BY.options[key] for key in ("linear", "rbf", "precomputed")},
            }
        ),
    ] = None
    gamma: Annotated[
        float | str,
        SMOOTHING,
        Changed(
            help=LINKED_SMOOTHING["help"],
            also=("cv",),
            details=(
                LINKED_SMOOTHING["details"] + ' "cv" chooses by cross-validated links among '
                "`hetviz.core.spectral.guided_cv.GAMMAS`, and tries smaller or larger ones while "
                "the best is the last."
            ),
        ),
    ] = 0.1
    nu: Annotated[
        float | None,
        Real(
            "Strength of apart links",
            "How hard apart links push.",
            low=0.0,
            high=100.0,
            also=(None,),
            details="None means 0.3, or 1 for the form of the paper.",
        ),
    ] = None
    tie_views: TieViews = True
    signed: Annotated[
        str,
        Choice(
            "Apart links",
            "How apart links are used.",
            options={
                "ratio": "spread them relative to all linked pairs",
                "similarity": "count them as negative similarity",
                "paper": "as in the paper",
            },
            advanced=True,
            details="See `hetviz.core.spectral.guided.guided_projection`.",
        ),
    ] = "ratio"
    variant: Annotated[
        str,
        Choice(
            "Scale fixed by",
            "Which datasets fix the scale of the map.",
            options={
                "block": "all datasets",
                "anchor": "the first dataset only, as in the paper",
                "printed": "as printed, with smoothing on one side only",
            },
            advanced=True,
            details="The constraint, and the place of the ridge.",
        ),
    ] = "block"
    kernel_penalty: KernelPenalty = "rkhs"
    weights: DatasetWeights = 1.0
    features: FeatureKinds = "auto"
    axis_scale: AxisScale = "auto"
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        W = guidance_of(data, tie_views=self.tie_views, weights=self.weights)
        bases = fit_bases(
            data,
            progress,
            self.features,
            self.kernel,
            self._seed,
            penalty=self.kernel_penalty,
            W=W,
        )
        choice = self._choose_settings(bases, W, progress)
        n_components = int(self.n_components) if choice is None else choice.n_components
        gamma = float(self.gamma) if choice is None else choice.gamma
        progress(0.6 if choice is None else 0.9, "Solving for the shared axes")
        self._projection = project(
            bases,
            W,
            title=self.card.title,
            n_components=n_components,
            gamma=gamma,
            spread=self.axis_scale,
            random_state=self._seed,
            signed=self.signed,
            nu=self.nu,
            variant=self.variant,
        )
        self.agreement_ = self._projection.guided.mu
        self.coefficients_ = self._projection.coefficients(data)
        fit = self._projected(data, "no links")
        return replace(
            fit,
            diagnostics={**fit.diagnostics, **_choice_diagnostics(choice)},
            messages=[*fit.messages, *_choice_messages(choice)],
        )

    def _choose_settings(
        self, bases: Mapping[str, Basis], W: Sparse, progress: Progress
    ) -> guided_cv.ProjectionChoice | None:
        """Return the choice by cross-validated links. None if ridge and axes are set."""
        n_components, gamma = self.n_components, self.gamma
        if not isinstance(n_components, str) and not isinstance(gamma, str):
            return None
        if self.variant != "block":
            raise ParameterError(
                f"guided-projection: variant = {self.variant!r} cannot choose by cross-validation. "
                "Set gamma and n_components to numbers, or use variant='block'."
            )
        spread = self.axis_scale
        choice = guided_cv.choose_projection(
            [basis.features for basis in bases.values()],
            W,
            gammas=guided_cv.GAMMAS if isinstance(gamma, str) else (gamma,),
            axes=guided_cv.AXES if isinstance(n_components, str) else (n_components,),
            signed=self.signed,
            nu=self.nu,
            exponent=lambda k: default_spread(k) if isinstance(spread, str) else spread,
            nominal=[basis.nominal for basis in bases.values()],
            title=self.card.title,
            random_state=self._seed,
            progress=lambda share: progress(0.6 + 0.3 * share, "Testing on hidden links"),
        )
        for names, remark in (
            (choice.cut_off, "A value beyond may be better"),
            (choice.at_limit, "No value beyond is allowed"),
        ):
            for name in names:
                quantity = "smoothing" if name == "gamma" else "number of axes"
                warn_about_data(
                    f"The best {quantity} by hidden links is the last value tried. {remark}."
                )
        return choice


def _choice_diagnostics(choice: guided_cv.ProjectionChoice | None) -> dict[str, object]:
    if choice is None:
        return {}
    areas = {
        f"{ridge:g}": {
            str(k): float(area) for k, area in zip(choice.axes, row, strict=True) if area == area
        }
        for ridge, row in zip(choice.gammas, choice.areas, strict=True)
    }
    chosen = {"gamma": choice.gamma, "n_components": choice.n_components}
    return {"chosen": chosen, "held_out_area": areas}


def _choice_messages(choice: guided_cv.ProjectionChoice | None) -> list[Diagnostic]:
    if choice is None:
        return []
    areas: dict[str, float] = {
        f"smoothing {ridge:g}, {k} {'axis' if k == 1 else 'axes'}": float(area)
        for ridge, row in zip(choice.gammas, choice.areas, strict=True)
        for k, area in zip(choice.axes, row, strict=True)
    }
    return [
        make_diagnostic(
            "chosen",
            "Chosen by held-out links",
            "How close hidden links are with each setting, as the area under their curve: 0.5 is "
            "chance, 1 is best. The map uses the first setting.",
            sorted(areas.items(), key=operator.itemgetter(1), reverse=True),
        )
    ]
