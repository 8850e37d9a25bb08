"""Principal components of the features of each entity, with joined views, as a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from scipy.linalg import svd

from hetviz._text import join_words
from hetviz._types import Floats, Matrix, Rng
from hetviz.algorithms.base import LinearEmbedder
from hetviz.algorithms.contract import ANY_FEATURES, Capability, Fit, MethodCard, Reference
from hetviz.algorithms.diagnostics import left_off_message, warn_about_data
from hetviz.algorithms.needs import Need
from hetviz.algorithms.shared_params import DatasetWeights, DrawnBy, NComponents
from hetviz.core.arrays import as_dense
from hetviz.core.spectral.blocks import LinearMap
from hetviz.core.spectral.eigen import axis_signs
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, make_diagnostic
from hetviz.data.model.out_of_sample import NewRows
from hetviz.features.spaces.basis import Basis, fit_basis
from hetviz.params import Changed, Flag
from hetviz.progress import Progress


class PCA(LinearEmbedder):
    """Principal component analysis of each entity, with views scaled to equal size and joined.

    Notes
    -----
    Each view is centred and divided by its Frobenius norm, so that all views count the same
    whatever their number of features (multiple factor analysis divides by the first singular value
    instead). An object missing in some views is placed by its other views, scaled up by the number
    of views. Cost: O(n d^2) for d features, O(n^3) for a kernel of n rows.

    References
    ----------
    K. Pearson, On lines and planes of closest fit to systems of points in space, 1901.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="pca",
        title="Principal components",
        family="Baseline",
        papers=(
            Reference(
                "K. Pearson",
                "On lines and planes of closest fit to systems of points in space",
                "Philosophical Magazine 2, 559-572",
                1901,
                doi="10.1080/14786440109462720",
            ),
        ),
        equation=r"\max_{A^\top A = I} \lVert X A \rVert_F^2",
        needs=(Need.SOME_FEATURES,),
        capabilities=ANY_FEATURES | {Capability.OUT_OF_SAMPLE},
        summary=(
            "Shows the directions in which the items of each dataset differ most. It uses no links "
            "and is a baseline for other methods."
        ),
        caveats=(
            "Datasets of different kinds of objects share the picture, but their axes mean "
            "different things.",
            "Items without features are left off the map.",
        ),
        cost="A second to 100,000 items of 100 features.",
    )
    n_components: NComponents = 2
    standardize: Annotated[
        bool,
        Flag(
            "Equal spread",
            "Scale each feature to the same spread first. Suited to features in different units.",
            details="Has no effect on kernels and distances.",
        ),
    ] = False
    weights: Annotated[
        DatasetWeights,
        Changed(
            help=(
                "How much a view counts compared with other views of the same items. 0 "
                "leaves it out. Has no effect with one view for each kind of item."
            ),
            details="",
        ),
    ] = 1.0
    drawn_by: DrawnBy = "axes"

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        coordinates: dict[str, Floats] = {}
        components: dict[str, int] = {}
        explained: dict[str, list[float]] = {}
        self._views: dict[str, _View] = {}
        for number, entity in enumerate(data.entities):
            progress(number / len(data.entities), f"Principal components of {entity}")
            names = data.views(entity)
            components |= dict.fromkeys(names, number)
            featured = [
                name for name in names if not data[name].is_featureless and self._weight(name) > 0
            ]
            if not featured:
                warn_about_data(left_off_message(names, "no features that count"))
                shape = self.n_components
                coordinates |= {name: np.full((len(data[name]), shape), np.nan) for name in names}
                continue
            places, explained[entity] = self._fit_entity(data, names, featured)
            coordinates |= places
        shares = [
            (f"{entity}, axis {axis + 1}" if len(explained) > 1 else f"axis {axis + 1}", share)
            for entity, by_axis in explained.items()
            for axis, share in enumerate(by_axis)
        ]
        message = make_diagnostic(
            "explained",
            "Variance on each axis",
            "Share of the variance of the items along each axis. The rest is not visible here.",
            shares,
            SHARE,
        )
        few = [
            f"{len(by_axis)} of {self.n_components} axes for {entity}"
            for entity, by_axis in explained.items()
            if len(by_axis) < self.n_components
        ]
        return Fit(
            coordinates,
            diagnostics={"explained": explained},
            messages=[message],
            components=components,
            note=join_words(few) if few else "",
        )

    def _fit_entity(
        self, data: HeteroData, names: tuple[str, ...], featured: list[str]
    ) -> tuple[dict[str, Floats], list[float]]:
        mean = sum(map(self._weight, featured)) / len(featured)
        views = [
            _View.fit(data, name, self.standardize, float(np.sqrt(self._weight(name) / mean)))
            for name in featured
        ]
        objects = np.unique(np.concatenate([data.object_of[data.offsets[name]] for name in names]))
        joined = np.zeros((len(objects), sum(view.features.shape[1] for view in views)))
        n_views = np.zeros(len(objects))
        start = 0
        for name, view in zip(featured, views, strict=True):
            rows = np.searchsorted(objects, data.object_of[data.offsets[name]])
            joined[rows, start : start + view.features.shape[1]] = view.features
            n_views[rows] += 1
            start += view.features.shape[1]
        with np.errstate(divide="ignore"):
            joined *= np.where(n_views > 0, len(views) / n_views, 0.0)[:, None]
        _, singular, axes = svd(joined, full_matrices=False)
        k = min(self.n_components, len(singular))
        A = axes[:k].T
        A = A * axis_signs(A)
        A = np.hstack([A, np.zeros((len(A), self.n_components - k))])
        for name, view, part in zip(
            featured,
            views,
            np.split(A, np.cumsum([v.features.shape[1] for v in views])[:-1]),
            strict=True,
        ):
            self._views[name] = view
            view.axes = part * len(views)
        Y = joined @ A
        Y[n_views == 0] = np.nan
        total = float((singular**2).sum()) or 1.0
        places = {
            name: Y[np.searchsorted(objects, data.object_of[data.offsets[name]])] for name in names
        }
        return places, (singular[:k] ** 2 / total).tolist()

    def _weight(self, name: str) -> float:
        weights = self.weights
        return float(weights.get(name, 1.0)) if isinstance(weights, Mapping) else 1.0

    def _linear_maps(self) -> Mapping[str, LinearMap]:
        return {
            name: LinearMap(view.scale[:, None] * view.axes, view.mean, 0.0)
            for name, view in self._views.items()
            if view.basis.kind == "linear"
        }

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return {name: self._place(name, rows) for name, rows in new.items()}

    def _place(self, name: str, rows: NewRows) -> Floats:
        view = self._views.get(name)
        if view is None:
            return np.full((len(rows.dataset), self.n_components), np.nan)
        return view.of(view.basis.matrix_of(rows.dataset)) @ view.axes


@dataclass
class _View:
    """Centred features of one dataset, scaled to a Frobenius norm, and their part of the axes."""

    basis: Basis
    features: Floats
    mean: Floats
    scale: Floats
    axes: Floats

    @classmethod
    def fit(cls, data: HeteroData, name: str, standardize: bool, norm: float) -> _View:
        basis = fit_basis(data[name])
        raw = as_dense(basis.matrix)
        mean = raw.mean(axis=0)
        spread = raw.std(axis=0)
        varies = spread > 1e-12 * np.abs(raw).max(initial=0.0)
        divide = standardize and basis.kind == "linear"
        scale = np.where(varies, 1.0 / np.where(varies & divide, spread, 1.0), 0.0)
        view = cls(basis, np.empty((0, 0)), mean, scale, np.empty((0, 0)))
        size = float(np.linalg.norm(view.of(raw)))
        view.scale = scale * norm / size if size > 0 else scale
        view.features = view.of(raw)
        return view

    def of(self, raw: Matrix) -> Floats:
        return (as_dense(raw) - self.mean) * self.scale
