"""Base class of all methods, and the card that describes a method.

A method has a card, a field for each parameter, and ``_fit``. If the card lists OUT_OF_SAMPLE, it
also has ``_transform``. This module does the rest: constructor, parameter checks, seeds,
suitability, shapes, new rows and their links.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, TransformerTags

from hetviz import params as parameters
from hetviz._html import html_table
from hetviz._text import join_words
from hetviz._types import Array, Bools, Floats, is_sparse
from hetviz.algorithms.memory import MemoryEstimate, memory_refusal
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
from hetviz.core.layout.axes_map import AxesMap, make_axes_map
from hetviz.core.measures.out_of_sample import PlacementError, placement_error
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.diagnostics import SHARE, Diagnostic, by_key, make_diagnostic
from hetviz.data.model.out_of_sample import NewLink, NewRows, new_rows
from hetviz.data.model.splits import HoldoutSplits
from hetviz.data.model.views import identity_links
from hetviz.data.queries.rows import select_rows
from hetviz.errors import (
    Cancelled,
    DataError,
    DataWarning,
    HetvizError,
    NotApplicableError,
    ParameterError,
    Problem,
    RowsError,
    UnfittedError,
)
from hetviz.features.interpretation import columns_along
from hetviz.features.spaces.joint_axes import leading_features
from hetviz.features.spaces.landmarks import MIN_ROWS, landmarks, place_by_landmarks
from hetviz.features.spaces.projection import Projection
from hetviz.metrics.fit.rows import coordinates_of, drawn_of
from hetviz.params import HasParams
from hetviz.progress import Progress, ProgressPart, ignore_progress

FitInput: TypeAlias = Any
"""HeteroData, HoldoutSplits, or a table or matrix of the rows of one dataset."""

__all__ = [
    "BaseEmbedder",
    "Capability",
    "Fit",
    "MethodCard",
    "Need",
    "Reference",
    "warn_about_data",
]

MAX_PLOTTED_AXES = 2
"""Maps with at most this many axes are plotted directly."""
_AXES_PROGRESS_SHARE = 0.6
MAX_DESCRIBED_AXES, N_FEATURES_PER_AXIS = 2, 5
"""Axes that are described by features, and features listed for each axis and dataset."""
_MIN_CORRELATION = 0.1
_INITIALS = re.compile(r"^(?:\S+\. ?)+")


class Capability(StrEnum):
    """Inputs that a method uses, and extra abilities."""

    LINKS = "links"
    CANNOT_LINKS = "cannot-links"
    WITHIN_LINKS = "links within a dataset"
    SCORES = "scores"
    COMPARISONS = "comparisons"
    LABELS = "labels"
    VIEWS = "views"
    KERNELS = "kernels"
    DISTANCES = "distances"
    FEATURELESS = "items without features"
    SPARSE = "sparse features"
    OUT_OF_SAMPLE = "new items"
    ITERATIVE = "partial layouts"
    WARM_START = "going on from an earlier map"
    SHARED_SPACE = "more axes than the map"
    """The fitted ``axes_`` is an Embedding of all items in the shared space."""


@dataclass(frozen=True)
class Reference:
    """A publication of a method.

    Attributes
    ----------
    authors : str
        Initials and surnames: ``"X. He and P. Niyogi"``.
    title : str
    place : str
        Journal with volume and pages, conference, or type of thesis. May be empty.
    year : int
    doi, arxiv : str
        Empty if there is none or it is uncertain.
    part : str
        The cited part, or the reason for the citation.
    """

    authors: str
    title: str
    place: str
    year: int
    doi: str = ""
    arxiv: str = ""
    part: str = ""

    def with_part(self, part: str) -> Reference:
        """Return the reference with the cited part."""
        return replace(self, part=part)

    @property
    def surnames(self) -> list[str]:
        """Surnames of the authors."""
        names = self.authors.replace(" and ", ", ").split(", ")
        return [_INITIALS.sub("", name) for name in names]

    @property
    def short_citation(self) -> str:
        """Short citation: ``"He and Niyogi 2003"``."""
        names = self.surnames
        names_text = f"{names[0]} et al." if len(names) > 3 else join_words(names)
        return f"{names_text} {self.year}"

    @property
    def url(self) -> str:
        """Link to the publication. Empty if unknown."""
        if self.doi:
            return f"https://doi.org/{self.doi}"
        return f"https://arxiv.org/abs/{self.arxiv}" if self.arxiv else ""

    @property
    def number(self) -> str:
        """DOI or arXiv number, as written in references."""
        return f"doi:{self.doi}" if self.doi else f"arXiv:{self.arxiv}" if self.arxiv else ""

    def __str__(self) -> str:
        fields = (self.authors, self.title, self.place, str(self.year), self.part, self.number)
        return ", ".join(field_text for field_text in fields if field_text)


@dataclass(frozen=True)
class MethodCard:
    """Description of a method.

    Attributes
    ----------
    key : str
        Name in code, recipes and on the command line.
    title, family : str
        Title on the screen, and group of methods.
    papers : tuple of Reference
    equation : str
        Objective, as LaTeX.
    needs : tuple of Need
        Requirements on the data.
    capabilities : frozenset of Capability
    summary : str
        One or two sentences in plain words.
    caveats : tuple of str
        Limitations, in plain words.
    cost : str
        Time and memory.
    former_titles : tuple of str
        Earlier titles. They identify maps that were saved under an earlier title.
    """

    key: str
    title: str
    family: str
    papers: tuple[Reference, ...]
    equation: str
    needs: tuple[Need, ...]
    capabilities: frozenset[Capability]
    summary: str
    caveats: tuple[str, ...]
    cost: str
    former_titles: tuple[str, ...] = ()

    @property
    def paper(self) -> str:
        """The papers as text."""
        return "; ".join(map(str, self.papers))

    def _repr_html_(self) -> str:
        rows = [("needs", ", ".join(map(str, self.needs)) or "nothing in particular")]
        rows += [("can", ", ".join(sorted(map(str, self.capabilities))))]
        rows += [("careful", caveat) for caveat in self.caveats]
        rows += [("cost", self.cost), ("paper", self.paper)]
        return html_table(f"{self.title} ({self.key})", rows, foot=self.summary)

    def reasons_against(self, data: HeteroData) -> list[str]:
        """Return reasons why the method does not suit the data. Empty if it does."""
        return [reason for need in self.needs if (reason := unmet_reason(need, data)) is not None]


@dataclass(frozen=True)
class Fit:
    """Result of ``_fit``.

    Attributes
    ----------
    coordinates : mapping of str to array of shape (n_i, k)
        NaN in rows without a place.
    n_iter : int
        Number of iterations. 0 for closed forms.
    loss_history : list of float
        Objective by iteration.
    stopping_reason : str
        A sentence.
    diagnostics : dict
        Details for programmers, JSON-ready.
    messages : sequence of Diagnostic
        Diagnostics shown with the map. See `hetviz.data.model.diagnostics`.
    components : mapping of str to int, optional
        Component of the dataset graph of each dataset.
    note : str
        Caution to show with every picture of the map. Empty if none.
    drawn : mapping of str to array of shape (n_i, 2), optional
        2-D layout of maps with more axes. Set by `BaseEmbedder.fit`.
    """

    coordinates: Mapping[str, Floats]
    n_iter: int = 0
    loss_history: list[float] = field(default_factory=list)
    stopping_reason: str = "closed form"
    diagnostics: dict[str, Any] = field(default_factory=dict)
    messages: Sequence[Diagnostic] = ()
    components: Mapping[str, int] | None = None
    note: str = ""
    drawn: Mapping[str, Floats] | None = None


def too_few_axes_reason(params: Mapping[str, object]) -> str:
    """Return why the axes are too few for a neighbour map. Empty if they are enough."""
    k = params.get("n_components")
    if params.get("drawn_by") != "neighbors" or not isinstance(k, int) or k > MAX_PLOTTED_AXES:
        return ""
    return (
        f"A neighbour map needs more than {MAX_PLOTTED_AXES} axes, but n_components = {k}. Use 10 "
        "axes, or set drawn_by to 'axes'."
    )


def axes_map_messages(picture: AxesMap, k: int) -> list[Diagnostic]:
    """Return diagnostics of a neighbour map of k axes."""
    return [
        make_diagnostic(
            "picture",
            f"How well the picture shows the {k} axes",
            f"Share of the 10 nearest items on all {k} axes that are also among the 10 nearest in "
            "the picture: 1 is all. Closeness, similarity and clusters are measured on the axes.",
            {"neighbours in both": picture.share_preserved},
        ),
        make_diagnostic(
            "picture divergence",
            "What the picture cannot show",
            "How far distances in the picture differ from distances on the axes "
            "(Kullback-Leibler divergence, in nats): 0 means not at all.",
            {"divergence": picture.divergence},
        ),
    ]


class BaseEmbedder(HasParams, BaseEstimator):  # type: ignore[misc]
    """Base class of all methods.

    Attributes
    ----------
    embedding_ : Embedding
    n_iter_ : int
    loss_history_ : list of float
    stopping_reason_ : str
    diagnostics_ : dict
    """

    card: ClassVar[MethodCard]
    memory_estimate: ClassVar[MemoryEstimate] = MemoryEstimate()
    # Default for loaded models: only a fit in this process can have rows without names.
    _of_rows = False

    @one_thread()
    def fit(
        self, data: FitInput, progress: Progress | None = None, start: Embedding | None = None
    ) -> Self:
        """Fit the method and keep the embedding.

        Parameters
        ----------
        data : HeteroData, HoldoutSplits, or a table or matrix of n rows
            A table or matrix becomes one dataset, "items", without links.
        progress : callable, optional
            See `hetviz.progress.Progress`. A value that is not callable is the target of
            scikit-learn and is ignored.
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
        parameters.check(self.card.key, self.params, self.get_params(deep=False))
        data, self._of_rows = to_heterodata(data)
        self._check_per_dataset(data)
        reasons = [*self.card.reasons_against(data), *self._reasons_against(data)]
        if reasons:
            raise NotApplicableError(self.card.title, reasons)
        _check_square(data)
        if (memory_reason := memory_refusal(self.bytes_for(data), data.n_rows)) is not None:
            raise NotApplicableError(self.card.title, [memory_reason])
        device = device_by_name(self._device_name())
        if device is None and self._device_name() == AUTO:
            warn_about_data(f"{reason_for_no_card()}, so the map is computed on the processor.")
        rng = np.random.default_rng(getattr(self, "random_state", 0))
        # Set if the map starts from landmarks.
        self._placement: PlacementError | None = None
        # scikit-learn passes a target here. No method learns from it.
        report = progress if callable(progress) else ignore_progress
        report(0.0, "Starting")
        by_neighbors = self._drawn_by_neighbors()
        with collect_recalls() as recall_by_dataset, compute_on(device):
            try:
                axes_progress = (
                    ProgressPart(report, 0.0, _AXES_PROGRESS_SHARE) if by_neighbors else report
                )
                fit = self._fit_from(data, rng, axes_progress, start)
                if by_neighbors:
                    fit = self._with_axes_map(
                        data, fit, ProgressPart(report, _AXES_PROGRESS_SHARE, 1.0), start
                    )
            except Cancelled as stopped:
                if isinstance(stopped.partial, Fit):
                    self._store_fit(data, stopped.partial, recall_by_dataset, device)
                    stopped.partial = self.embedding_
                raise
        self._store_fit(data, fit, recall_by_dataset, device)
        report(1.0, "Done")
        return self

    def _device_name(self) -> str:
        return str(getattr(self, "device", PROCESSOR))

    def _drawn_by_neighbors(self) -> bool:
        """Whether the axes are drawn as a neighbour map. Raises if there are too few of them."""
        params = self.get_params(deep=False)
        if reason := too_few_axes_reason(params):
            raise ParameterError(f"{self.card.key}: drawn_by = 'neighbors'. {reason}")
        return bool(params.get("drawn_by") == "neighbors")

    def _with_axes_map(
        self, data: HeteroData, fit: Fit, progress: Progress, start: Embedding | None
    ) -> Fit:
        """Return the fit with a 2-D neighbour map of its axes."""
        axes = {name: np.asarray(fit.coordinates[name], np.float64) for name in data.datasets}
        k = next(iter(axes.values())).shape[1]
        if k <= MAX_PLOTTED_AXES:
            warn_about_data(f"The result has only {k} axes, so they are drawn directly.")
            return fit
        Y = np.vstack(list(axes.values()))
        placed: Bools = np.asarray(np.isfinite(Y).all(axis=1), dtype=bool)
        placed_index = np.cumsum(placed) - 1
        components = fit.components or {}
        groups = []
        for component in sorted({components.get(name, 0) for name in axes}):
            spans = [data.offsets[name] for name in axes if components.get(name, 0) == component]
            rows = np.concatenate([np.r_[span] for span in spans])
            groups.append(placed_index[rows[placed[rows]]])
        start_map = None if start is None else drawn_of(data, start)
        start_places = None if start_map is None else np.vstack(list(start_map.values()))[placed]

        def all_rows(Z: Floats) -> Floats:
            out = np.full((len(Y), 2), np.nan)
            out[placed] = Z
            return out

        def with_drawing(picture: AxesMap) -> Fit:
            Z = all_rows(picture.positions)
            return replace(
                fit,
                drawn={name: Z[span] for name, span in data.offsets.items()},
                messages=[*fit.messages, *axes_map_messages(picture, k)],
                diagnostics={
                    **fit.diagnostics,
                    "picture": {"kl": picture.divergence, "kept": picture.share_preserved},
                },
            )

        progress(0.0, f"Neighbours on {k} axes")
        seed = int(getattr(self, "random_state", 0))
        try:
            return with_drawing(
                make_axes_map(
                    Y[placed],
                    groups,
                    np.random.default_rng(seed),
                    start=start_places,
                    progress=progress,
                    layout=all_rows,
                )
            )
        except Cancelled as stopped:
            if isinstance(stopped.partial, AxesMap):
                stopped.partial = with_drawing(stopped.partial)
            elif stopped.partial is None:
                stopped.partial = fit
            raise

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
                    *_neighbor_search_messages(recall_by_dataset),
                    *_landmark_messages(self._placement),
                    *self._axis_messages(data, fit.coordinates),
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
        reasons = [*self.card.reasons_against(data), *self._reasons_against(data)]
        if reasons:
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

    def _axis_messages(self, data: HeteroData, places: Mapping[str, Floats]) -> list[Diagnostic]:
        """Return the features that correlate with each axis, for methods with a closed form."""
        if Capability.ITERATIVE in self.card.capabilities or self.has_attraction_graph():
            return []
        messages = []
        for name, dataset in data.datasets.items():
            if dataset.X is None or not np.isfinite(places[name]).all(axis=1).any():
                continue
            k = places[name].shape[1]
            for axis in range(min(k, MAX_DESCRIBED_AXES)):
                along = columns_along(dataset, places[name], np.eye(k)[axis], N_FEATURES_PER_AXIS)
                messages.append(
                    make_diagnostic(
                        f"axis {axis + 1} of {name}",
                        f"Axis {axis + 1} for {name}",
                        "Correlation of features with this axis: 1 means that a feature grows "
                        "along the axis, -1 that it shrinks, 0 that it is unrelated.",
                        [
                            (column, messages)
                            for column, messages in zip(
                                along["column"], along["correlation"].tolist(), strict=True
                            )
                            if abs(messages) >= _MIN_CORRELATION
                        ],
                    )
                )
        return messages

    @classmethod
    def has_attraction_graph(cls) -> bool:
        """Whether the method has an `attraction_graph`."""
        return cls._attraction_graph is not BaseEmbedder._attraction_graph

    def fit_transform(self, data: FitInput, y: object = None, **fit_params: Any) -> Any:
        """Fit the method and return the map.

        Parameters
        ----------
        data : HeteroData, HoldoutSplits, or a table or matrix of n rows
        y : object
            Ignored. The pipelines of scikit-learn pass it.
        **fit_params
            ``progress`` and ``start``, see `fit`.

        Returns
        -------
        Embedding
            For a table or matrix an array of shape (n, k), or a DataFrame after
            ``set_output(transform="pandas")``.
        """
        return self.fit(data, **fit_params)._to_output(self.embedding_)

    def score(self, held_out: FitInput, y: object = None) -> float:
        """Return how well the map predicts held-out links or comparisons.

        Parameters
        ----------
        held_out : HeteroData or HoldoutSplits
            Second part of `HeteroData.holdout`, with held-out links or comparisons.
        y : object
            Ignored.

        Returns
        -------
        float
            From 0 to 1. For links: how often a linked item is closer than an unlinked one (chance
            level 0.5). For comparisons without links: the share that the map agrees with.

        Raises
        ------
        hetviz.errors.HetvizError
            If the method is not fitted, or nothing was held out.
        """
        from hetviz.metrics.fit.summary import evaluate

        self._check_fitted("score")
        scores = evaluate(to_heterodata(held_out)[0], self.embedding_).to_dict()
        for measure in ("link_auc", "comparison_accuracy"):
            if measure in scores:
                return float(scores[measure])
        raise HetvizError(
            f"{self.card.title}: score needs held-out links or comparisons. Call "
            "train, held_out = data.holdout(links=0.2), fit(train), and score(held_out)."
        )

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set the output type of `transform` and `fit_transform`.

        Parameters
        ----------
        transform : {"default", "pandas"}, optional
            "pandas" is `Embedding.frame`. For a table or matrix: its rows, one column per axis.
        """
        if transform not in (None, "default", "pandas"):
            raise ParameterError(f"set_output: transform = {transform!r}; 'default' or 'pandas'.")
        if transform is not None:
            self._output = transform
        return self

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Return names of the axes in the style of scikit-learn: ``umap0``, ``umap1``."""
        self._check_fitted("get_feature_names_out")
        prefix = type(self).__name__.lower()
        k = self.embedding_.n_components
        return np.array([f"{prefix}{axis}" for axis in range(k)], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        tags.target_tags.required = False
        tags.input_tags.sparse = Capability.SPARSE in self.card.capabilities
        return tags

    def _check_fitted(self, call: str) -> None:
        if not hasattr(self, "embedding_"):
            raise UnfittedError(f"{self.card.title}: call fit before {call}.")

    def _to_output(self, embedding: Embedding) -> Any:
        """Return the map in the output type that was set. Rows without names give an array."""
        as_table = getattr(self, "_output", "default") == "pandas"
        if not self._of_rows:
            return embedding.frame() if as_table else embedding
        Y = next(iter(embedding.coordinates.values()))
        if not as_table:
            return np.array(Y)
        import pandas as pd

        index = next(iter(embedding.ids.values())).tolist()
        return pd.DataFrame(Y, index=index, columns=self.get_feature_names_out())

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
            raise DataError(
                Problem(
                    "no-rows",
                    "new rows",
                    "all ids are already fitted",
                    remedy="Give at least one new row.",
                )
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

    def _fit(self, data: HeteroData, rng: np.random.Generator, progress: Progress) -> Fit:
        raise NotImplementedError

    def _fit_from(
        self,
        data: HeteroData,
        rng: np.random.Generator,
        progress: Progress,
        start: Embedding | None,
    ) -> Fit:
        """Fit from an earlier map. A method with WARM_START overrides this instead of `_fit`."""
        return self._fit(data, rng, progress)

    def _is_own_map(self, start: Embedding | None) -> bool:
        """Whether a map to continue from was made by the same method."""
        titles = (self.card.title, *self.card.former_titles)
        return start is not None and start.note in titles

    def _landmark_map(
        self,
        data: HeteroData,
        progress: Progress,
    ) -> Embedding | None:
        """Return a map of a few thousand landmarks of a large dataset, to start from.

        `progress` gets partial layouts of the landmarks, then a layout of all items that places
        each by its landmarks. None for small data. The ``note`` is not the title of a method, so
        the method makes all its iterations. If `progress` raises Cancelled, its ``partial`` is a
        Fit of the landmarks.
        """
        if data.n_rows <= MIN_ROWS:
            return None
        rows = landmarks(data)
        part = select_rows(data, rows)
        method = clone(self)
        params = {
            name: {key: inner for key, inner in value.items() if key in part.datasets}
            for name, value in self.get_params(deep=False).items()
            if isinstance(value, Mapping)
        }

        def all_rows(Y: Floats) -> Floats:
            out = np.full((data.n_rows, Y.shape[1]), np.nan)
            out[rows] = Y
            return out

        def report(fraction: float, message: str = "", **figures: object) -> None:
            layout = figures.get("layout")
            if layout is not None:
                figures["layout"] = lambda: all_rows(
                    np.asarray(layout() if callable(layout) else layout)
                )
            progress(
                0.8 * fraction, f"Landmarks, {len(rows):,} of {data.n_rows:,} items", **figures
            )

        try:
            with warnings.catch_warnings():
                # The fit of all items shows these warnings.
                warnings.simplefilter("ignore", DataWarning)
                embedding = method.set_params(**params).fit(part, report).embedding_
        except NotApplicableError:
            return None
        except Cancelled as stopped:
            if isinstance(stopped.partial, Embedding):
                Y = coordinates_of(data, stopped.partial)
                reason = "stopped while landmarks were placed"
                stopped.partial = Fit(Y, stopping_reason=reason)
            raise
        places = np.vstack([embedding.coordinates[name] for name in part.datasets])
        seed = int(getattr(self, "random_state", 0))
        self._placement = placement_error(
            [dataset.X for dataset in part.datasets.values()],
            [embedding.coordinates[name] for name in part.datasets],
            random_state=seed,
        )
        progress(
            0.8,
            "Placing all items by their landmarks",
            layout=lambda: place_by_landmarks(
                data,
                rows,
                places,
                leading_features(data, getattr(self, "features", "auto"), seed),
                seed,
            ),
        )
        return Embedding(
            coordinates_of(data, embedding),
            {name: dataset.ids for name, dataset in data.datasets.items()},
            {name: dataset.entity for name, dataset in data.datasets.items()},
            note="landmarks",
        )

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


class ProjectionEmbedder(BaseEmbedder):
    """Base class of methods that map the features of each dataset linearly.

    ``_fit`` sets ``_projection`` and returns ``_projected``.
    """

    _projection: Projection

    def _projected(self, data: HeteroData) -> Fit:
        return Fit(
            self._projection.coordinates,
            diagnostics=self._projection.diagnostics,
            messages=self._projection.messages(data),
            components=self._projection.components,
        )

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return self._projection.place(new)


def _neighbor_search_messages(recall_by_dataset: Mapping[str, float]) -> list[Diagnostic]:
    """Return the recall of an approximate neighbour search."""
    if not recall_by_dataset:
        return []
    return [
        make_diagnostic(
            "neighbours found",
            "Nearest neighbours found",
            "Share of the true nearest neighbours that the search found: 1 is all. Large datasets "
            "use an approximate search, and the share is measured on a sample.",
            dict(recall_by_dataset),
            SHARE,
        )
    ]


def _landmark_messages(error: PlacementError | None) -> list[Diagnostic]:
    """Return the placement error of a map that starts from landmarks."""
    if error is None or not error.n:
        return []
    return [
        make_diagnostic(
            "placement error",
            "Placement error of landmarks",
            "The map started from a few thousand items, the landmarks. All other items were placed "
            "by them before all moved together. This is how far landmarks land from their own "
            "place "
            "when placed the same way, as a share of the usual distance between two items.",
            {"half of them, at most": error.median, "nine in ten, at most": error.most},
            SHARE,
        )
    ]


def to_heterodata(value: FitInput) -> tuple[HeteroData, bool]:
    """Return the input as data, and whether it was a table or matrix without row names."""
    if isinstance(value, HeteroData):
        return value, False
    if isinstance(value, HoldoutSplits):
        return value.data, False
    if value is None or (isinstance(value, Mapping | str) and not is_sparse(value)):
        kind = type(value).__name__
        needed = "HeteroData, a table or a matrix is needed"
        remedy = "Call fit(HeteroData.from_frames({'name': table, ...}, links=pairs))."
        raise DataError(Problem("not-data", "fit", needed, kind, remedy))
    try:
        return HeteroData.from_frames({"items": value}, labels={}), True
    except DataError as error:
        raise RowsError(error.problems) from None


def warn_about_data(message: str) -> None:
    """Warn about a problem in the data that the user should check."""
    warnings.warn(message, DataWarning, stacklevel=3)


def left_off_message(datasets: Sequence[str], lack: str) -> str:
    """Return the warning about datasets that are left off the map."""
    has, is_ = ("has", "is") if len(datasets) == 1 else ("have", "are")
    return f"{join_words(list(datasets))} {has} {lack} and {is_} left off the map."


def _check_square(data: HeteroData) -> None:
    problems = []
    for name, dataset in data.datasets.items():
        for kind in ("kernel", "distance"):
            matrix = getattr(dataset, kind)
            if matrix is None:
                continue
            where = f"dataset {name!r}, {kind}"
            if matrix.shape != (len(dataset), len(dataset)):
                problems.append(
                    Problem(
                        "bad-shape",
                        where,
                        f"shape ({len(dataset)}, {len(dataset)}) is needed",
                        str(matrix.shape),
                        "Give one row and one column for each item.",
                    )
                )
                continue
            largest = float(np.abs(matrix).max()) or 1.0
            asymmetry = float(np.abs(matrix - matrix.T).max())
            if asymmetry > 1e-6 * largest:
                row, column = np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape)
                problems.append(
                    Problem(
                        "not-symmetric",
                        f"{where}, rows {row + 1} and {column + 1}",
                        "the matrix is not symmetric",
                        f"{matrix[row, column]:g} and {matrix[column, row]:g}",
                        "Use the mean of the matrix and its transpose.",
                    )
                )
    if problems:
        raise DataError(problems)


class Need(StrEnum):
    """Requirements of methods on the data."""

    FEATURES = "features"
    SOME_FEATURES = "some features"
    FEATURES_OR_LINKS = "features or links"
    JOINED_DATASETS = "joined datasets"
    POSITIVE_LINKS = "positive links"
    LINKED_DATASETS = "positive links between datasets"
    SEVERAL_SOURCES = "several descriptions of the same items"
    TWO_WITH_FEATURES = "two datasets with features"
    DESCRIBED = "features, or links within a dataset"
    COMPARISONS = "comparisons"
    LABELS = "labels"


def unmet_reason(need: Need, data: HeteroData) -> str | None:
    """Return why the data do not meet a need, or None if they do."""
    return _UNMET_REASONS[need](data)


def _missing_features_reason(data: HeteroData) -> str | None:
    featureless = [name for name, dataset in data.datasets.items() if dataset.is_featureless]
    if featureless:
        has = "has" if len(featureless) == 1 else "have"
        return f"It needs features in every dataset, but {join_words(featureless)} {has} none."
    return None


def _no_features_reason(data: HeteroData) -> str | None:
    if all(dataset.is_featureless for dataset in data.datasets.values()):
        return "It needs features in at least one dataset, but no dataset has any."
    return None


def _no_features_or_links_reason(data: HeteroData) -> str | None:
    if _no_features_reason(data) is None:
        return None
    if any((group.weight > 0).any() for group in data.links) or identity_links(data):
        return None
    return "It needs features in at least one dataset, or links between items that belong together."


def _not_joined_reason(data: HeteroData) -> str | None:
    if len(data.datasets) == 1 or any(not group.within for group in data.links):
        return None
    if identity_links(data):
        return None
    return "The datasets are not connected. Link some of their items."


def _no_positive_links_reason(data: HeteroData) -> str | None:
    if any((group.weight > 0).any() for group in data.links) or identity_links(data):
        return None
    if any((group.weight < 0).any() for group in data.links):
        return (
            "All links keep items apart, so every direction is equally good. "
            "Link some pairs that belong together."
        )
    return "It needs links between items that belong together, but there are none."


def _not_linked_reason(data: HeteroData) -> str | None:
    if len(data.datasets) == 1:
        return "It relates datasets to each other, but there is only one dataset."
    if any((group.weight > 0).any() for group in data.links if not group.within):
        return None
    if identity_links(data):
        return None
    return "It needs links between items of different datasets."


def _single_source_reason(data: HeteroData) -> str | None:
    for entity in data.entities:
        names = data.views(entity)
        graphs = {
            group.kind
            for group in data.links
            if group.source in names and group.target in names and (group.weight > 0).any()
        }
        if sum(not data[name].is_featureless for name in names) + len(graphs) > 1:
            return None
    return (
        "It combines several descriptions of the same items, such as two sets of features with "
        "the same ids, or features and links within one dataset. Here each item has only one "
        "description."
    )


def _fewer_than_two_featured_reason(data: HeteroData) -> str | None:
    featured = [name for name, dataset in data.datasets.items() if not dataset.is_featureless]
    if len(featured) > 1:
        return None
    if featured:
        return f"It compares two datasets by their features, but only {featured[0]} has any."
    return "It compares two datasets by their features, but no dataset has any."


def _undescribed_reason(data: HeteroData) -> str | None:
    within = any(group.within and (group.weight > 0).any() for group in data.links)
    return None if within else _no_features_reason(data)


def _no_comparisons_reason(data: HeteroData) -> str | None:
    if data.comparisons is not None and len(data.comparisons):
        return None
    return 'It needs comparisons such as "a is closer to b than to c", but there are none.'


def _no_labels_reason(data: HeteroData) -> str | None:
    if any(bool(column.known.any()) for column in data.labels):
        return None
    return "It needs a label with known values for some items, but there is none."


_UNMET_REASONS: Mapping[Need, Callable[[HeteroData], str | None]] = {
    Need.FEATURES: _missing_features_reason,
    Need.SOME_FEATURES: _no_features_reason,
    Need.FEATURES_OR_LINKS: _no_features_or_links_reason,
    Need.JOINED_DATASETS: _not_joined_reason,
    Need.POSITIVE_LINKS: _no_positive_links_reason,
    Need.LINKED_DATASETS: _not_linked_reason,
    Need.SEVERAL_SOURCES: _single_source_reason,
    Need.TWO_WITH_FEATURES: _fewer_than_two_featured_reason,
    Need.DESCRIBED: _undescribed_reason,
    Need.COMPARISONS: _no_comparisons_reason,
    Need.LABELS: _no_labels_reason,
}
