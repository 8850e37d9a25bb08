"""Projection of datasets into one space by the eigenproblem of the spectral methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._types import Floats, JsonObject, Sparse
from hetviz.core.spectral.blocks import LinearMap
from hetviz.core.spectral.guided import GuidedSolution, axis_scale, guided_projection
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, Diagnostic, make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.data.model.views import with_identity_links
from hetviz.features.interpretation import coefficients, feature_names
from hetviz.features.spaces.basis import Basis, chosen_kind, fit_basis
from hetviz.progress import Progress

MAX_AXES = 5
"""Number of axes in the agreement diagnostic."""


@dataclass(frozen=True, eq=False)
class Projection:
    """Fitted maps of all datasets, and coordinates of their rows."""

    bases: Mapping[str, Basis]
    guided: GuidedSolution
    coordinates: Mapping[str, Floats]
    scale: Floats

    @property
    def names(self) -> list[str]:
        return list(self.bases)

    @property
    def unguided(self) -> list[str]:
        """Datasets without usable links, whose rows are not placed."""
        placed_mask = self.guided.placed
        return [
            name for name, is_placed in zip(self.names, placed_mask, strict=True) if not is_placed
        ]

    @property
    def components(self) -> dict[str, int]:
        """Connected component of each dataset; axes are comparable within a component."""
        return dict(zip(self.names, self.guided.component.tolist(), strict=True))

    @property
    def diagnostics(self) -> JsonObject:
        """Agreement, ridge and kind of features by dataset, JSON-ready."""
        maps = self.guided.maps
        return {
            "agreement": dict(zip(self.names, self.guided.mu.tolist(), strict=True)),
            "ridge": dict(zip(self.names, (fitted.ridge for fitted in maps), strict=True)),
            "features": {name: basis.kind for name, basis in self.bases.items()},
            "unguided": self.unguided,
        }

    def messages(self, data: HeteroData) -> list[Diagnostic]:
        agreement = [
            (f"{name}, axis {c + 1}", float(mu))
            for name, row in zip(self.names, self.guided.mu, strict=True)
            if name not in self.unguided
            for c, mu in enumerate(row[:MAX_AXES])
        ]
        diagnostics = [
            make_diagnostic(
                "agreement",
                "Agreement with the links",
                "How close the items of each dataset are to their linked items along each axis. 1 "
                "is the same position, 0 is chance level. For two paired datasets it is their "
                "canonical correlation.",
                agreement,
            )
        ]
        # The effect of one standard deviation is measured on the scaled axes.
        moved = {
            name: np.linalg.norm(table, axis=1) for name, table in self.coefficients(data).items()
        }
        whole = {name: float(np.square(length).sum()) for name, length in moved.items()}
        diagnostics += [
            make_diagnostic(
                f"features of {name}",
                f"Weight of features of {name}",
                "Share of each feature in the movement of an item, when every feature changes by "
                "one standard deviation. Redundant features share their weight.",
                zip(feature_names(data[name]), np.square(length) / whole[name], strict=True),
                SHARE,
            )
            for name, length in moved.items()
            if whole[name] > 0
        ]
        return diagnostics

    def coefficients(self, data: HeteroData) -> dict[str, pd.DataFrame]:
        """Return the effect of each feature, see `hetviz.features.interpretation`; no kernels."""
        k = self.guided.mu.shape[1]
        axes = [f"axis {number + 1}" for number in range(k)]
        return {
            name: coefficients(data[name], self.guided.maps[v], self.scale[v], axes)
            for v, (name, basis) in enumerate(self.bases.items())
            if basis.kind == "linear"
        }

    def linear_maps(self) -> dict[str, LinearMap]:
        """Return the map of each placed dataset with plain features, with scaled axes."""
        return {
            name: replace(fitted, coefficients=fitted.coefficients * self.scale[v])
            for v, (name, fitted) in enumerate(zip(self.names, self.guided.maps, strict=True))
            if self.bases[name].kind == "linear" and self.guided.placed[v]
        }

    def enlarged(self, factors: Mapping[str, float]) -> Projection:
        """Return the projection with the coordinates of each dataset times a factor."""
        coordinates = {name: Y * factors[name] for name, Y in self.coordinates.items()}
        scale = self.scale * np.array([[factors[name]] for name in self.names])
        return replace(self, coordinates=coordinates, scale=scale)

    def place(self, new: Mapping[str, NewRows]) -> dict[str, Floats]:
        """Return coordinates of new rows, by features, or by links for featureless rows."""
        out = {}
        for name, rows in new.items():
            v = self.names.index(name)
            features = self.bases[name].of_new(rows.dataset)
            if not self.guided.placed[v]:
                placed = np.full((len(rows.dataset), self.guided.mu.shape[1]), np.nan)
            elif features is None:
                placed = self._by_links(v, rows)
            else:
                placed = self.guided.maps[v](features)
            out[name] = placed * self.scale[v]
        return out

    def _by_links(self, v: int, new: NewRows) -> Floats:
        """Place featureless rows by their row of the eigenproblem.

        mu (sum_j w_ij + gamma) y_i = sum_j w_ij y_j over linked rows j; negative links are not
        used.
        """
        mu = self.guided.mu[v]
        total = np.zeros((len(new.dataset), len(mu)))
        degree = np.zeros(len(new.dataset))
        for u, name in enumerate(self.names):
            ends = np.flatnonzero((new.to == name) & (new.weight > 0))
            targets = self.guided.embeddings[u][new.to_row[ends]]
            is_finite = np.isfinite(targets).all(axis=1)
            ends, targets = ends[is_finite], targets[is_finite]
            np.add.at(total, new.row[ends], new.weight[ends, None] * targets)
            np.add.at(degree, new.row[ends], new.weight[ends])
        with np.errstate(divide="ignore", invalid="ignore"):
            placed = total / (np.outer(degree + self.guided.maps[v].ridge, mu))
        placed[:, mu == 0] = 0.0
        placed[degree == 0] = np.nan
        return placed


def default_spread(n_components: int) -> float:
    """Return the exponent of "auto": 0 (equal spread) for up to three axes, else 1."""
    return 0.0 if n_components <= 3 else 1.0


def fit_bases(
    data: HeteroData,
    progress: Progress,
    features: str | Mapping[str, str] = "auto",
    kernel: str | None = None,
    random_state: int = 0,
    *,
    penalty: str = "rkhs",
    W: Sparse | None = None,
) -> dict[str, Basis]:
    """Compute the features of every dataset."""
    degrees = (
        None if W is None else np.asarray(abs(sp.csr_array(W)).sum(axis=1), np.float64).ravel()
    )
    bases = {}
    for step, (name, dataset) in enumerate(data.datasets.items()):
        progress(0.6 * step / len(data.datasets), f"Preparing {name}")
        bases[name] = fit_basis(
            dataset,
            chosen_kind(dataset, features, kernel),
            random_state,
            penalty=penalty,
            weights=None if degrees is None else degrees[data.offsets[name]],
        )
    return bases


def project(
    bases: Mapping[str, Basis],
    W: Sparse,
    *,
    title: str,
    n_components: int,
    gamma: float,
    spread: float | str = "auto",
    random_state: int = 0,
    **options: Any,
) -> Projection:
    """Fit one map per dataset to guidance, and scale the axes.

    `spread` ("auto" or float): Axis c is multiplied by agreement_c ** spread; "auto" is 0 for up
        to three axes, else 1.
    """
    guided = guided_projection(
        [basis.features for basis in bases.values()],
        W,
        n_components=n_components,
        gamma=gamma,
        nominal=[basis.nominal for basis in bases.values()],
        symmetric=True,
        names=list(bases),
        title=title,
        random_state=random_state,
        **options,
    )
    if isinstance(spread, str):
        spread = default_spread(n_components)
    coordinates = dict(zip(bases, guided.scaled(spread), strict=True))
    for name, placed in zip(bases, guided.placed, strict=True):
        if not placed:
            coordinates[name] = np.full_like(coordinates[name], np.nan)
    return Projection(bases, guided, coordinates, axis_scale(guided.mu, spread))


def guidance_of(
    data: HeteroData,
    *,
    sign: int | None = None,
    tie_views: bool = True,
    within: bool = True,
    between: bool = True,
    weights: float | Mapping[str, float] = 1.0,
) -> Sparse:
    """Return the guidance matrix of all rows, weighted by dataset."""
    W = (with_identity_links(data) if tie_views else data).adjacency(sign)
    if not (within and between):
        owner = np.repeat(np.arange(len(data.datasets)), [len(d) for d in data.datasets.values()])
        entries = W.tocoo()
        inside = owner[entries.coords[0]] == owner[entries.coords[1]]
        mask = (within & inside) | (between & ~inside)
        p, q = entries.coords[0][mask], entries.coords[1][mask]
        W = sp.csr_array((entries.data[mask], (p, q)), shape=W.shape)
    return weighted(W, data, weights)


def weighted(W: Sparse, data: HeteroData, weights: float | Mapping[str, float]) -> Sparse:
    """Return guidance with links of datasets u and v multiplied by sqrt(weight_u weight_v)."""
    root = np.ones(data.n_rows)
    if isinstance(weights, Mapping):
        for name, weight in weights.items():
            root[data.offsets[name]] = np.sqrt(weight)
    # A common weight only changes the size of the map.
    if (root == 1.0).all():
        return W
    W = sp.csr_array(sp.diags_array(root) @ W @ sp.diags_array(root))
    W.eliminate_zeros()
    return W
