"""Datasets projected into one space by the eigenproblem that the spectral methods share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._types import Floats, JsonObject, Sparse
from hetviz.core.spectral.guided import GuidedSolution, axis_scale, guided_projection
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, Diagnostic, make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.data.model.views import with_identity_links
from hetviz.features.interpretation import coefficients, feature_names
from hetviz.features.spaces.basis import Basis, chosen_kind, fit_basis
from hetviz.progress import Progress

MAX_AXES = 5
"""Axes of which the agreement is told."""


@dataclass(frozen=True, eq=False)
class Projection:
    """Fitted maps of all datasets, and where they put rows.

    Attributes
    ----------
    bases : mapping of str to Basis
        What was used of each dataset.
    guided : Guided
        The solution; datasets in the order of `bases`.
    coordinates : mapping of str to array of shape (n_v, k)
        Scaled; NaN for rows without a place.
    scale : array of shape (m, k)
        Factor of each axis, by dataset.
    """

    bases: Mapping[str, Basis]
    guided: GuidedSolution
    coordinates: Mapping[str, Floats]
    scale: Floats

    @property
    def names(self) -> list[str]:
        """The datasets, in order."""
        return list(self.bases)

    @property
    def unguided(self) -> list[str]:
        """Datasets without any usable link; none of their rows has a place."""
        placed = self.guided.placed
        return [name for name, there in zip(self.names, placed, strict=True) if not there]

    @property
    def components(self) -> dict[str, int]:
        """Which datasets share the meaning of their axes."""
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
        """Return what people are shown of it."""
        agreement = [
            (f"{name}, axis {c + 1}", float(mu))
            for name, row in zip(self.names, self.guided.mu, strict=True)
            if name not in self.unguided
            for c, mu in enumerate(row[:MAX_AXES])
        ]
        found = [
            make_diagnostic(
                "agreement",
                "Agreement with the links",
                "How closely the items of each dataset lie to those that they are linked with, "
                "along each axis: 1 is at the same place, 0 no closer than any two items. With two "
                "paired datasets it is their canonical correlation.",
                agreement,
            )
        ]
        # For the length of what a standard deviation moves, the axes count as they are drawn.
        moved = {
            name: np.linalg.norm(table, axis=1) for name, table in self.coefficients(data).items()
        }
        whole = {name: float(np.square(length).sum()) for name, length in moved.items()}
        found += [
            make_diagnostic(
                f"features of {name}",
                f"Weight of features of {name}",
                "Share of each feature in what moves an item of this dataset, when every feature "
                "changes by one standard deviation. Features that say the same thing share their "
                "weight.",
                zip(feature_names(data[name]), np.square(length) / whole[name], strict=True),
                SHARE,
            )
            for name, length in moved.items()
            if whole[name] > 0
        ]
        return found

    def coefficients(self, data: HeteroData) -> dict[str, pd.DataFrame]:
        """Return what each feature does, see `hetviz.features.interpretation`; not for kernels."""
        k = self.guided.mu.shape[1]
        axes = [f"axis {number + 1}" for number in range(k)]
        return {
            name: coefficients(data[name], self.guided.maps[v], self.scale[v], axes)
            for v, (name, basis) in enumerate(self.bases.items())
            if basis.kind == "linear"
        }

    def enlarged(self, factors: Mapping[str, float]) -> Projection:
        """Return the same maps with the coordinates of each dataset times its factor."""
        coordinates = {name: Y * factors[name] for name, Y in self.coordinates.items()}
        scale = self.scale * np.array([[factors[name]] for name in self.names])
        return replace(self, coordinates=coordinates, scale=scale)

    def place(self, new: Mapping[str, NewRows]) -> dict[str, Floats]:
        """Return coordinates of new rows: by their features, or by their links without any."""
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
        """Place featureless rows where their own line of the eigenproblem puts them.

        mu (sum_j w_ij + gamma) y_i = sum_j w_ij y_j over linked rows j; links that say apart are
        not used.
        """
        mu = self.guided.mu[v]
        total = np.zeros((len(new.dataset), len(mu)))
        degree = np.zeros(len(new.dataset))
        for u, name in enumerate(self.names):
            ends = np.flatnonzero((new.to == name) & (new.weight > 0))
            targets = self.guided.embeddings[u][new.to_row[ends]]
            there = np.isfinite(targets).all(axis=1)
            ends, targets = ends[there], targets[there]
            np.add.at(total, new.row[ends], new.weight[ends, None] * targets)
            np.add.at(degree, new.row[ends], new.weight[ends])
        with np.errstate(divide="ignore", invalid="ignore"):
            placed = total / (np.outer(degree + self.guided.maps[v].ridge, mu))
        placed[:, mu == 0] = 0.0
        placed[degree == 0] = np.nan
        return placed


def default_spread(n_components: int) -> float:
    """Return the exponent "auto" stands for: 0, equal spread, for pictures; 1 for more axes."""
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
    """Compute the features of every dataset.

    Parameters
    ----------
    data : HeteroData
    progress : callable
        Told once per dataset, from 0 to 0.6.
    features, kernel
        See `hetviz.features.spaces.basis.chosen_kind`.
    random_state : int
    penalty : {"rkhs", "paper"}
    W : sparse array of shape (n_rows, n_rows), optional
        Guidance whose degrees centre a kernel under the paper's penalty.
    """
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

    Parameters
    ----------
    bases : mapping of str to Basis
        From `fit_bases`.
    W : sparse array of shape (n_rows, n_rows)
        Signed guidance, symmetric.
    title : str
        Of the method, for messages.
    n_components, gamma, random_state
        See `hetviz.core.spectral.guided.guided_projection`.
    spread : "auto" or float
        Axis c is multiplied by agreement_c ** spread; "auto" is 0 for up to three axes, else 1.
    **options
        Further ones of `hetviz.core.spectral.guided.guided_projection`.

    Raises
    ------
    hetviz.errors.NotApplicableError
        When the guidance leaves no axis.
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
    """Return the guidance matrix of all rows, its datasets weighted.

    Parameters
    ----------
    data : HeteroData
    sign : {None, 1, -1}
        See `HeteroData.adjacency`.
    tie_views : bool
        Add a link of weight 1 between the rows of one object in different views.
    within, between : bool
        Keep links within a dataset, and links between datasets.
    weights : float or mapping of str to float
        A link of datasets u and v counts sqrt(weight_u weight_v) times.

    Returns
    -------
    csr_array of shape (n_rows, n_rows)
    """
    W = (with_identity_links(data) if tie_views else data).adjacency(sign)
    if not (within and between):
        owner = np.repeat(np.arange(len(data.datasets)), [len(d) for d in data.datasets.values()])
        entries = W.tocoo()
        inside = owner[entries.coords[0]] == owner[entries.coords[1]]
        kept = (within & inside) | (between & ~inside)
        p, q = entries.coords[0][kept], entries.coords[1][kept]
        W = sp.csr_array((entries.data[kept], (p, q)), shape=W.shape)
    return weighted(W, data, weights)


def weighted(W: Sparse, data: HeteroData, weights: float | Mapping[str, float]) -> Sparse:
    """Return guidance in which a link of datasets u and v counts sqrt(weight_u weight_v) times."""
    root = np.ones(data.n_rows)
    if isinstance(weights, Mapping):
        for name, weight in weights.items():
            root[data.offsets[name]] = np.sqrt(weight)
    # one weight for all changes nothing but the size of the map
    if (root == 1.0).all():
        return W
    W = sp.csr_array(sp.diags_array(root) @ W @ sp.diags_array(root))
    W.eliminate_zeros()
    return W
