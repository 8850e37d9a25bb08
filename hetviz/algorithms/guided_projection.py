"""Guided projection: one linear map per dataset, so that guided pairs end up as they should."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hetviz.base import BaseEmbedder, Capability, Fit, MethodCard, Need, note
from hetviz.core.guided import axis_scale, guided_projection
from hetviz.data import Dataset, HeteroData
from hetviz.data.new_rows import NewRows
from hetviz.data.views import tied
from hetviz.features.basis import KINDS, Basis, fit_basis
from hetviz.params import Choice, Flag, Integer, Param, PerDataset, Real
from hetviz.progress import Progress


class GuidedProjection(BaseEmbedder):
    """Linear or kernel maps of several datasets into one space under signed guidance.

    Parameters
    ----------
    n_components : int
        Axes wanted; fewer come back when fewer hold any agreement.
    features : str or mapping of str to str
        What to use of each dataset, see `hetviz.features.basis.KINDS`.
    kernel : {None, "linear", "rbf", "precomputed"}
        The same for all datasets that `features` leaves on "auto" and that have what it needs.
    gamma : float
        Ridge, relative to the mean variance of the guided features.
    signed : {"ratio", "similarity", "paper"}
        What links that say apart do, see `hetviz.core.guided.guided_projection`.
    nu : float or None
        Strength of links that say apart; None is 0.3, or 1 for the paper's form.
    variant : {"block", "anchor", "printed"}
        Which constraint and where the ridge enters.
    axis_scale : "auto" or float
        Axis c is multiplied by agreement_c ** axis_scale; "auto" is 0 for up to three axes
        and 1 above.
    tie_views : bool
        Add a link of weight 1 between the rows of one object in different views.
    random_state : int
        Seeds kernel landmarks and iterative solvers.

    Attributes
    ----------
    agreement_ : array of shape (n_datasets, n_components)
        mu of each axis, by dataset in order: 1 where linked rows coincide, 0 for none.

    Notes
    -----
    Maximises p'Z'SZp subject to p'(Z'MZ + gamma)p = 1. Cost: O(n d^2 + d^3) for d features in
    all; a kernel of n rows adds O(n^3 / 3), above 5,000 rows O(n) with 1,000 landmarks.

    References
    ----------
    A flexible framework for projecting heterogeneous data, CIKM 2014: equations 2, 7 and 8, with
    the ridge on both sides of the problem, which the printed form lacks.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="guided-projection",
        title="Guided projection",
        family="Projection",
        paper="A flexible framework for projecting heterogeneous data, CIKM 2014",
        equation=(
            r"\min_{A_1..A_m} \sum_{ij} w_{ij}\,\lVert A_{u(i)}^\top x_i -"
            r" A_{v(j)}^\top x_j \rVert^2"
        ),
        needs=(Need.POSITIVE_LINKS, Need.SOME_FEATURES),
        capabilities=frozenset(
            {
                Capability.LINKS,
                Capability.CANNOT_LINKS,
                Capability.WITHIN_LINKS,
                Capability.VIEWS,
                Capability.KERNELS,
                Capability.DISTANCES,
                Capability.FEATURELESS,
                Capability.SPARSE,
                Capability.OUT_OF_SAMPLE,
            }
        ),
        summary=(
            "Turns each dataset's features into axes that all datasets share, chosen so that "
            "linked items lie together and items said to be apart do not. Quick, and new items "
            "can be added without moving the old ones."
        ),
        caveats=(
            "Linear maps can honour only what the features can express; try the Gaussian kernel "
            "when too few links are kept.",
            "Links that say apart are honoured for the pairs named, and teach little about others.",
            "A dataset that no link reaches is left off the map.",
        ),
        cost="Seconds to 5,000 items with kernels; grows with items times features squared.",
    )
    params: ClassVar[Mapping[str, Param]] = {
        "n_components": Integer(2, "Axes", "How many axes to compute.", low=1, high=500),
        "kernel": Choice(
            None,
            "Compare items by",
            "How items of one dataset are compared.",
            options={
                None: "as each dataset comes",
                "linear": "the features themselves",
                "rbf": "a Gaussian kernel (curved maps)",
                "precomputed": "the kernel or distances given",
            },
        ),
        "gamma": Real(
            0.1,
            "Smoothing",
            "Larger values trust single features less; use more with few links.",
            low=0.0,
            high=1e6,
            log=True,
        ),
        "nu": Real(
            None,
            "Strength of apart",
            "How hard links that say apart push.",
            low=0.0,
            high=100.0,
            also=(None,),
        ),
        "tie_views": Flag(
            True, "Join views", "Draw the rows that show one object in different datasets together."
        ),
        "signed": Choice(
            "ratio",
            "Links that say apart",
            "How they are taken into account.",
            options={
                "ratio": "spread them relative to all guided pairs",
                "similarity": "count them as negative similarity",
                "paper": "as in the paper",
            },
            advanced=True,
        ),
        "variant": Choice(
            "block",
            "Scale fixed by",
            "Which datasets fix the scale of the map.",
            options={
                "block": "every dataset",
                "anchor": "the first dataset only, as in the paper",
                "printed": "as printed, with smoothing on one side only",
            },
            advanced=True,
        ),
        "features": PerDataset(
            "auto",
            "Features",
            "What to use of each dataset.",
            inner=Choice("auto", options=KINDS),
            advanced=True,
        ),
        "axis_scale": Real(
            "auto",
            "Spread of axes",
            "0 gives all axes the same spread, 1 makes those that keep links better wider.",
            low=0.0,
            high=4.0,
            also=("auto",),
            advanced=True,
        ),
        "random_state": Integer(0, "Seed", "Same seed, same map.", low=0, advanced=True),
    }

    agreement_: NDArray[np.float64]

    def __init__(
        self,
        n_components: int = 2,
        kernel: str | None = None,
        gamma: float = 0.1,
        nu: float | None = None,
        tie_views: bool = True,
        signed: str = "ratio",
        variant: str = "block",
        features: str | Mapping[str, str] = "auto",
        axis_scale: float | str = "auto",
        random_state: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.nu = nu
        self.tie_views = tie_views
        self.signed = signed
        self.variant = variant
        self.features = features
        self.axis_scale = axis_scale
        self.random_state = random_state

    def _fit(self, data: HeteroData, rng: np.random.Generator, progress: Progress) -> Fit:
        bases: dict[str, Basis] = {}
        for step, (name, dataset) in enumerate(data.datasets.items()):
            progress(0.6 * step / len(data.datasets), f"Preparing {name}")
            bases[name] = fit_basis(dataset, self._kind(dataset), self.random_state)
        progress(0.6, "Solving for the shared axes")
        names = list(data.datasets)
        guided = guided_projection(
            [basis.features for basis in bases.values()],
            (tied(data) if self.tie_views else data).adjacency(),
            n_components=self.n_components,
            signed=self.signed,
            nu=self.nu,
            variant=self.variant,
            gamma=self.gamma,
            nominal=[basis.nominal for basis in bases.values()],
            names=names,
            random_state=self.random_state,
        )
        exponent = self._exponent()
        coordinates = dict(zip(names, guided.scaled(exponent), strict=True))
        unguided = [name for name, placed in zip(names, guided.placed, strict=True) if not placed]
        for name in unguided:
            coordinates[name] = np.full_like(coordinates[name], np.nan)
        if unguided:
            note(f"No link reaches {', '.join(unguided)}; these datasets are left off the map.")
        self.agreement_ = guided.mu
        self._bases, self._guided = bases, guided
        self._scale = dict(zip(names, axis_scale(guided.mu, exponent), strict=True))
        return Fit(
            coordinates,
            diagnostics={
                "agreement": dict(zip(names, guided.mu.tolist(), strict=True)),
                "ridge": dict(zip(names, (fitted.ridge for fitted in guided.maps), strict=True)),
                "features": {name: basis.kind for name, basis in bases.items()},
                "unguided": unguided,
            },
            components=dict(zip(names, guided.component.tolist(), strict=True)),
        )

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, NDArray[np.float64]]:
        out = {}
        for name, rows in new.items():
            v = list(self._fitted).index(name)
            features = self._bases[name].of_new(rows.dataset)
            if not self._guided.placed[v]:
                placed = np.full((len(rows.dataset), self._guided.mu.shape[1]), np.nan)
            elif features is None:
                placed = self._by_links(v, rows)
            else:
                placed = self._guided.maps[v](features)
            out[name] = placed * self._scale[name]
        return out

    def _by_links(self, v: int, new: NewRows) -> NDArray[np.float64]:
        """Place featureless rows where their own line of the eigenproblem puts them.

        mu (sum_j w_ij + gamma) y_i = sum_j w_ij y_j over linked rows j; links that say apart are
        not used.
        """
        mu = self._guided.mu[v]
        total = np.zeros((len(new.dataset), len(mu)))
        degree = np.zeros(len(new.dataset))
        for u, name in enumerate(self._fitted):
            ends = np.flatnonzero((new.to == name) & (new.weight > 0))
            targets = self._guided.embeddings[u][new.to_row[ends]]
            there = np.isfinite(targets).all(axis=1)
            ends, targets = ends[there], targets[there]
            np.add.at(total, new.row[ends], new.weight[ends, None] * targets)
            np.add.at(degree, new.row[ends], new.weight[ends])
        with np.errstate(divide="ignore", invalid="ignore"):
            placed = total / (np.outer(degree + self._guided.maps[v].ridge, mu))
        placed[:, mu == 0] = 0.0
        placed[degree == 0] = np.nan
        return placed

    def _kind(self, dataset: Dataset) -> str:
        chosen = self.features
        kind = chosen.get(dataset.name, "auto") if isinstance(chosen, Mapping) else chosen
        if kind != "auto" or self.kernel is None:
            return kind
        has: dict[str, Any] = {
            "linear": dataset.X,
            "rbf": dataset.X if dataset.X is not None else dataset.distance,
            "precomputed": dataset.kernel if dataset.kernel is not None else dataset.distance,
        }
        return "auto" if has[self.kernel] is None else self.kernel

    def _exponent(self) -> float:
        if isinstance(self.axis_scale, str):
            return 0.0 if self.n_components <= 3 else 1.0
        return self.axis_scale
