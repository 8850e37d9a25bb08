"""Base class of all methods: the template of a fit.

A method has a card, a field for each parameter, and ``_fit``. If the card lists OUT_OF_SAMPLE, it
also has ``_transform``. The base class does the rest: constructor, parameter checks, seeds,
suitability, shapes, new rows and their links.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, overload

import numpy as np

from hetviz import params as parameters
from hetviz._text import join_words
from hetviz._types import Floats, Rng, Sparse
from hetviz.algorithms.contract import Capability, Fit
from hetviz.algorithms.diagnostics import (
    axis_messages,
    landmark_messages,
    left_off_message,
    neighbor_search_messages,
    warn_about_data,
)
from hetviz.algorithms.landmark_start import landmark_start
from hetviz.algorithms.memory import MemoryEstimate, memory_refusal
from hetviz.algorithms.needs import check_square
from hetviz.algorithms.pictures import too_few_axes_reason, with_axes_map
from hetviz.algorithms.sklearn_interface import FitInput, SklearnInterface, to_heterodata
from hetviz.core.device import (
    AUTO,
    PROCESSOR,
    ComputeDevice,
    compute_on,
    device_by_name,
    reason_for_no_card,
)
from hetviz.core.graph.neighbors import collect_recalls
from hetviz.core.layout.attraction import AttractionGraph
from hetviz.core.layout.out_of_sample import PlacementError
from hetviz.core.spectral.blocks import LinearMap
from hetviz.core.threads import limit_threads, one_thread
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.diagnostics import Diagnostic, by_key
from hetviz.data.model.out_of_sample import NewLink, NewRows, new_rows
from hetviz.errors import (
    Cancelled,
    DataError,
    DataWarning,
    HetvizError,
    NotApplicableError,
    ParameterError,
    RowsError,
)
from hetviz.features.spaces.basis import Basis
from hetviz.features.spaces.projection import Projection, project
from hetviz.params import HasParams, option
from hetviz.progress import Progress, ProgressPart, as_progress

_AXES_PROGRESS_SHARE = 0.6


class BaseEmbedder(HasParams, SklearnInterface):
    """Base class of all methods.

    Attributes
    ----------
    embedding_ : Embedding
    n_iter_ : int
    loss_history_ : list of float
    stopping_reason_ : str
    diagnostics_ : dict
    """

    n_jobs: int | None = option(default=None, kw_only=True)
    _options: ClassVar[Mapping[str, str]] = {
        "n_jobs": (
            "Threads of layouts; -1 for all cores, -2 for all but one. By default the cores of the "
            "process, at most OMP_NUM_THREADS and 8. The map is the same for any number, as linear "
            "algebra has one thread."
        )
    }

    memory_estimate: ClassVar[MemoryEstimate] = MemoryEstimate()
    # How many fits from an own map take at most three times as long as the first fit, 0 if few.
    n_short_refits: ClassVar[int] = 0

    @classmethod
    def start_seconds(cls, data: HeteroData) -> float:
        """Return how long a new process needs before it can fit, such as for compiling."""
        return 0.0

    def prepare_refits(self, data: HeteroData) -> None:
        """Prepare fits to nearly equal data, which reuse what hardly changes. May do nothing."""

    @one_thread()
    def fit(
        self,
        data: FitInput,
        progress: Progress | bool | None = None,
        start: Embedding | None = None,
    ) -> Self:
        """Fit the method and keep the embedding.

        Parameters
        ----------
        data : HeteroData, HoldoutSplits, or a table or matrix of n rows
            A table or matrix becomes one dataset, "items", without links.
        progress : callable, optional
            See `hetviz.progress.Progress`; True shows a bar. Another value is the target of
            scikit-learn, which is not used, with a warning.
        start : Embedding, optional
            An earlier map to continue from. Rows are matched by dataset and id. Methods without
            WARM_START ignore it.

        Raises
        ------
        hetviz.errors.ParameterError, hetviz.errors.NotApplicableError, hetviz.errors.DataError
        hetviz.errors.Cancelled
            If `progress` raises it. Methods with partial layouts keep the layout so far, which is
            also the ``partial`` of the error.

        Notes
        -----
        A fit that needs more memory than available (`bytes_for`) raises NotApplicableError.
        """
        parameters.check(
            self.card.key, self.params, {name: getattr(self, name) for name in self.params}
        )
        data, self._of_rows = to_heterodata(data)
        self._check_per_dataset(data)
        if reasons := [*self.card.reasons_against(data), *self._reasons_against(data)]:
            raise NotApplicableError(self.card.title, reasons)
        check_square(data)
        if (memory_reason := memory_refusal(self.bytes_for(data), data.n_rows)) is not None:
            raise NotApplicableError(self.card.title, [memory_reason])
        device = device_by_name(self._device_name())
        if device is None and self._device_name() == AUTO:
            warn_about_data(f"{reason_for_no_card()}, so the map is computed on the processor.")
        self._drawn_seed = parameters.seed_of(getattr(self, "random_state", 0))
        rng = np.random.default_rng(self._seed)
        # Set if the map starts from landmarks.
        self._placement: PlacementError | None = None
        # scikit-learn passes a target here. No method learns from it.
        self._warn_of_target(progress)
        report = as_progress(progress)
        report(0.0, "Starting")
        by_neighbors = self._drawn_by_neighbors()
        with (
            limit_threads(self.n_jobs),
            collect_recalls() as recall_by_dataset,
            compute_on(device),
        ):
            try:
                axes_progress = (
                    ProgressPart(report, 0.0, _AXES_PROGRESS_SHARE) if by_neighbors else report
                )
                fit = self._fit_from(data, rng, axes_progress, start)
                if by_neighbors:
                    fit = with_axes_map(
                        data,
                        fit,
                        self._seed,
                        ProgressPart(report, _AXES_PROGRESS_SHARE, 1.0),
                        start,
                    )
            except Cancelled as stopped:
                if isinstance(stopped.partial, Fit):
                    self._store_fit(data, stopped.partial, recall_by_dataset, device)
                    stopped.partial = self.embedding_
                raise
        self._store_fit(data, fit, recall_by_dataset, device)
        report(1.0, "Done")
        return self

    @property
    def _seed(self) -> int:
        """The seed, or the one that the last fit drew for None or a generator."""
        seed = getattr(self, "random_state", 0)
        return int(seed) if isinstance(seed, int | np.integer) else self._drawn_seed

    def _device_name(self) -> str:
        return str(getattr(self, "device", PROCESSOR))

    def _drawn_by_neighbors(self) -> bool:
        """Whether the axes are drawn as a neighbour map. Raises if there are too few of them."""
        params = self.get_params(deep=False)
        if reason := too_few_axes_reason(params):
            raise ParameterError(f"{self.card.key}: drawn_by = 'neighbors'. {reason}")
        return bool(params.get("drawn_by") == "neighbors")

    def bytes_for(self, data: HeteroData) -> float:
        """Return an upper estimate of the memory of a fit, in bytes."""
        return self.memory_estimate.total_bytes(data)

    def _store_fit(
        self,
        data: HeteroData,
        fit: Fit,
        recall_by_dataset: Mapping[str, float],
        device: ComputeDevice | None,
    ) -> None:
        self.embedding_ = Embedding(
            {name: fit.coordinates[name] for name in data.datasets},
            {name: dataset.ids for name, dataset in data.datasets.items()},
            {name: dataset.entity for name, dataset in data.datasets.items()},
            components=fit.components,
            note=f"{self.card.title}: {fit.note}" if fit.note else self.card.title,
            diagnostics=by_key(
                [
                    *fit.messages,
                    *neighbor_search_messages(recall_by_dataset),
                    *landmark_messages(self._placement),
                    *self._axis_messages(data, fit),
                ]
            ),
            drawn=fit.drawn,
        )
        for name, dataset in data.datasets.items():
            if len(self.embedding_.ids[name]) != len(dataset):
                raise HetvizError(f"{self.card.key}: wrong number of rows for {name!r}.")
        self.n_iter_ = fit.n_iter
        self.loss_history_ = list(fit.loss_history)
        self.stopping_reason_ = fit.stopping_reason
        self.diagnostics_ = dict(fit.diagnostics)
        if device is not None:
            self.diagnostics_["device"] = device.title
        self._fitted: dict[str, Dataset] = dict(data.datasets)
        first_dataset = next(iter(data.datasets.values()))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        if len(data.datasets) == 1 and first_dataset.X is not None:
            self.n_features_in_ = int(first_dataset.X.shape[1])
            if first_dataset.feature_names is not None:
                self.feature_names_in_ = np.array(first_dataset.feature_names, dtype=object)

    @one_thread()
    def attraction_graph(self, data: HeteroData) -> AttractionGraph | None:
        """Return the attraction graph of a neighbour map, without a layout.

        Parameters
        ----------
        data : HeteroData

        Returns
        -------
        Pulls, or None
            None for methods without a graph.

        Raises
        ------
        hetviz.errors.NotApplicableError

        Notes
        -----
        Costs a fit without its layout.
        """
        if reasons := [*self.card.reasons_against(data), *self._reasons_against(data)]:
            raise NotApplicableError(self.card.title, reasons)
        try:
            device = device_by_name(self._device_name())
        except HetvizError:
            # The map was made on a machine with a graphics card.
            device = None
        with warnings.catch_warnings(), compute_on(device):
            # The fit has shown these warnings.
            warnings.simplefilter("ignore", DataWarning)
            return self._attraction_graph(data)

    def _attraction_graph(self, data: HeteroData) -> AttractionGraph | None:
        return None

    @classmethod
    def has_attraction_graph(cls) -> bool:
        """Whether the method has an `attraction_graph`."""
        return cls._attraction_graph is not BaseEmbedder._attraction_graph

    @one_thread()
    def transform(self, new: FitInput | Dataset, links: Iterable[NewLink] = ()) -> Any:
        """Place new rows of fitted datasets. Fitted rows do not move.

        Parameters
        ----------
        new : HeteroData or Dataset, or a table or matrix if one was fitted
            New rows with the fitted dataset names and columns. Kernels have shape
            (n_new, n_fitted). Fitted ids are skipped, but links in `new` may refer to them.
        links : iterable of (dataset, id, dataset, id[, weight])
            More links between new and fitted rows.

        Returns
        -------
        Embedding
            Of the new rows only.

        Raises
        ------
        hetviz.errors.HetvizError
            If the method cannot place new rows, or is not fitted.
        hetviz.errors.DataError
            If a dataset, column or link does not match what was fitted.
        """
        if Capability.OUT_OF_SAMPLE not in self.card.capabilities:
            raise HetvizError(
                f"{self.card.title} cannot place new items. Fit old and new items together."
            )
        self._check_fitted("transform")
        if isinstance(new, Dataset):
            data = HeteroData([new])
        else:
            data, of_rows = to_heterodata(new)
            if of_rows:
                # Rows without names are always new, even if their numbers were fitted.
                dataset = next(iter(data.datasets.values()))
                ids = np.array([f"new {text}" for text in dataset.ids], dtype=object)
                renamed = replace(dataset, ids=ids, keys=None)
                data = HeteroData([renamed])
        try:
            rows = new_rows(self._fitted, data, links)
        except DataError as error:
            raise RowsError(error.problems) if self._of_rows else error from None
        if not rows:
            raise DataError.of(
                "no-rows",
                "new rows",
                "all ids are already fitted",
                remedy="Give at least one new row.",
            )
        coordinates = self._transform(rows)
        placed = Embedding(
            coordinates,
            {name: part.dataset.ids for name, part in rows.items()},
            {name: part.dataset.entity for name, part in rows.items()},
            components=self.embedding_.components,
            note=f"placed by {self.card.title}",
            drawn=self.embedding_.drawn_beside(coordinates),
        )
        return self._to_output(placed)

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        raise NotImplementedError

    def _fit_from(
        self, data: HeteroData, rng: Rng, progress: Progress, start: Embedding | None
    ) -> Fit:
        """Fit from an earlier map. A method with WARM_START overrides this instead of `_fit`."""
        return self._fit(data, rng, progress)

    def _is_own_map(self, start: Embedding | None) -> bool:
        """Whether a map to continue from was made by the same method."""
        titles = (self.card.title, *self.card.former_titles)
        return start is not None and start.note in titles

    def _no_places(self, datasets: Mapping[str, Dataset]) -> dict[str, Floats]:
        """Return NaN for every row."""
        k = self.get_params(deep=False)["n_components"]
        return {name: np.full((len(part), k), np.nan) for name, part in datasets.items()}

    def _landmark_map(self, data: HeteroData, progress: Progress) -> Embedding | None:
        """Return a map of landmarks to start from, or None for small data."""
        start, self._placement = landmark_start(self, data, progress)
        return start

    def _axis_messages(self, data: HeteroData, fit: Fit) -> list[Diagnostic]:
        if Capability.ITERATIVE in self.card.capabilities or self.has_attraction_graph():
            return []
        return axis_messages(data, fit.coordinates)

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        raise NotImplementedError

    def _reasons_against(self, data: HeteroData) -> list[str]:
        """Return reasons that depend on the parameters. A method may override this."""
        return []

    def _check_per_dataset(self, data: HeteroData) -> None:
        for key, value in self.get_params(deep=False).items():
            if isinstance(value, Mapping):
                unknown = [name for name in value if name not in data.datasets]
                if unknown:
                    raise ParameterError(
                        f"{self.card.key}: {key} names unknown datasets {unknown}. The data have: "
                        f"{', '.join(data.datasets)}."
                    )


class LinearEmbedder(BaseEmbedder):
    """Base class of methods that can map features linearly: ``_linear_maps`` has these maps."""

    def _linear_maps(self) -> Mapping[str, LinearMap]:
        """Return the map of each dataset whose features are mapped linearly, without kernels."""
        raise NotImplementedError

    @property
    def components_(self) -> dict[str, Floats]:
        """Effect of each feature on each axis, shape (n_components, n_features), by dataset.

        A row is placed at ``components_[name] @ (x - mean_[name])`` by its features alone. Datasets
        with kernels, distances or free places have none.
        """
        self._check_fitted("components_")
        return {name: fitted.coefficients.T for name, fitted in self._linear_maps().items()}

    @property
    def mean_(self) -> dict[str, Floats]:
        """Features that are placed at 0, shape (n_features,), by dataset."""
        self._check_fitted("mean_")
        return {name: fitted.centre for name, fitted in self._linear_maps().items()}

    @overload
    def inverse_transform(self, Y: Embedding) -> dict[str, Floats]: ...

    @overload
    def inverse_transform(self, Y: Floats) -> Floats: ...

    def inverse_transform(self, Y: Embedding | Floats) -> dict[str, Floats] | Floats:
        """Return the features that are placed at `Y`, as near to the mean as possible.

        Parameters
        ----------
        Y : Embedding, or array of shape (n, n_components) if one dataset is mapped linearly

        Returns
        -------
        dict of str to array of shape (n, n_features)
            By dataset with a linear map. For an array one array.

        Raises
        ------
        hetviz.errors.DataError
            If no dataset is mapped linearly, or for an array of another shape.

        Notes
        -----
        ``mean_ + pinv(components_) @ y``. Features that the axes do not show stay at the mean. A
        position that no features have gives the features of the nearest one.
        """
        self._check_fitted("inverse_transform")
        maps = self._linear_maps()
        if not maps:
            message = "no dataset has features that are mapped linearly"
            raise DataError.of("not-linear", "inverse_transform", message, self.card.title)
        if isinstance(Y, Embedding):
            parts = Y.coordinates.items()
            return {name: maps[name].inverse(part) for name, part in parts if name in maps}
        if len(maps) > 1:
            message = f"an Embedding is needed, as {join_words(list(maps))} have features"
            raise DataError.of("not-embedding", "inverse_transform", message, type(Y).__name__)
        (fitted,) = maps.values()
        try:
            places = np.asarray(Y, dtype=np.float64)
        except (TypeError, ValueError):
            message = "an array of numbers or an Embedding is needed"
            kind = type(Y).__name__
            raise DataError.of("not-numbers", "inverse_transform", message, kind) from None
        if places.ndim != 2 or places.shape[1] != fitted.coefficients.shape[1]:
            message = f"an array of {fitted.coefficients.shape[1]} columns is needed, one per axis"
            raise DataError.of("shape", "inverse_transform", message, f"shape {places.shape}")
        return fitted.inverse(places)


class ProjectionEmbedder(LinearEmbedder):
    """Base class of methods that map the features of each dataset linearly.

    ``_fit`` sets ``_projection`` and returns ``_projected``.
    """

    _projection: Projection

    def _solve(self, bases: Mapping[str, Basis], W: Sparse) -> Projection:
        """Solve for the axes with the parameters that all projections share."""
        params = self.get_params(deep=False)
        return project(
            bases,
            W,
            title=self.card.title,
            n_components=params["n_components"],
            gamma=params["gamma"],
            spread=params["axis_scale"],
            random_state=self._seed,
        )

    def _projected(self, data: HeteroData, lack: str) -> Fit:
        """Return the fit, and warn about datasets that `lack` leaves off the map."""
        if unguided := self._projection.unguided:
            warn_about_data(left_off_message(unguided, lack))
        return Fit(
            self._projection.coordinates,
            diagnostics=self._projection.diagnostics,
            messages=self._projection.messages(data),
            components=self._projection.components,
        )

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return self._projection.place(new)

    def _linear_maps(self) -> Mapping[str, LinearMap]:
        return self._projection.linear_maps()
