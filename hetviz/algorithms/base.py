"""The contract of every method: a card that describes it, and the template that runs it.

An author of a method writes a card, a field for each parameter, and ``_fit``; where the card says
OUT_OF_SAMPLE, also ``_transform``. Everything else (the constructor, checking, seeding,
suitability, shapes, finiteness, new rows and their links) happens here once.
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

Given: TypeAlias = Any
"""HeteroData, HoldoutSplits, or a table or matrix of one dataset's rows."""

__all__ = ["BaseEmbedder", "Capability", "Fit", "MethodCard", "Need", "Reference", "note"]

PICTURED = 2
"""Up to so many axes are drawn as they are."""
_SHARE_OF_AXES = 0.6
MOST_AXES, TOP_OF_AXIS = 2, 5
"""Of so many axes the meaning is told, by so many features of each dataset."""
_LEAST_CORRELATION = 0.1
_INITIALS = re.compile(r"^(?:\S+\. ?)+")


class Capability(StrEnum):
    """What a method can make use of, or do."""

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
    """Once fitted, ``axes_`` is an Embedding of all items on many axes."""


@dataclass(frozen=True)
class Reference:
    """Where a method is published.

    Attributes
    ----------
    authors : str
        Initials and surnames: ``"X. He and P. Niyogi"``.
    title : str
    place : str
        Journal with volume and pages, conference, or kind of thesis; may be empty.
    year : int
    doi, arxiv : str
        Empty where there is none, or none that is certain.
    part : str
        The part of it that is meant, or what it is cited for.
    """

    authors: str
    title: str
    place: str
    year: int
    doi: str = ""
    arxiv: str = ""
    part: str = ""

    def cited(self, part: str) -> Reference:
        """Return it with the part that is meant."""
        return replace(self, part=part)

    @property
    def surnames(self) -> list[str]:
        """The authors without their initials."""
        names = self.authors.replace(" and ", ", ").split(", ")
        return [_INITIALS.sub("", name) for name in names]

    @property
    def brief(self) -> str:
        """The reference as it is named in running text: ``"He and Niyogi 2003"``."""
        names = self.surnames
        said = f"{names[0]} et al." if len(names) > 3 else join_words(names)
        return f"{said} {self.year}"

    @property
    def address(self) -> str:
        """Where it is found, empty where that is not certain."""
        if self.doi:
            return f"https://doi.org/{self.doi}"
        return f"https://arxiv.org/abs/{self.arxiv}" if self.arxiv else ""

    @property
    def number(self) -> str:
        """Its DOI or arXiv number, as it is written in references."""
        return f"doi:{self.doi}" if self.doi else f"arXiv:{self.arxiv}" if self.arxiv else ""

    def __str__(self) -> str:
        told = (self.authors, self.title, self.place, str(self.year), self.part, self.number)
        return ", ".join(part for part in told if part)


@dataclass(frozen=True)
class MethodCard:
    """What there is to know about a method before running it.

    Attributes
    ----------
    key : str
        Its name in code, recipes and the command line.
    title, family : str
        What people call it, and what it belongs to.
    papers : tuple of Reference
        Where it is published.
    equation : str
        Its objective, as LaTeX.
    needs : tuple of Need
        Without these it does not apply.
    capabilities : frozenset of Capability
    summary : str
        One or two sentences in plain words.
    caveats : tuple of str
        When to be careful, in plain words.
    cost : str
        Time and memory.
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

    @property
    def paper(self) -> str:
        """Where it is published, as text."""
        return "; ".join(map(str, self.papers))

    def _repr_html_(self) -> str:
        rows = [("needs", ", ".join(map(str, self.needs)) or "nothing in particular")]
        rows += [("can", ", ".join(sorted(map(str, self.capabilities))))]
        rows += [("careful", words) for words in self.caveats]
        rows += [("cost", self.cost), ("paper", self.paper)]
        return html_table(f"{self.title} ({self.key})", rows, foot=self.summary)

    def reasons_against(self, data: HeteroData) -> list[str]:
        """Return why the method does not suit these data, one sentence each; empty if it does."""
        return [reason for need in self.needs if (reason := unmet(need, data)) is not None]


@dataclass(frozen=True)
class Fit:
    """What ``_fit`` hands back.

    Attributes
    ----------
    coordinates : mapping of str to array of shape (n_i, k)
        NaN rows have no place.
    n_iter : int
        Iterations made; 0 for closed forms.
    loss_history : list of float
        Objective by iteration.
    stopping_reason : str
        A sentence.
    diagnostics : dict
        Anything a programmer may want to look at, JSON-ready.
    told : sequence of Diagnostic
        What people are shown of it, with every map: see `hetviz.data.model.diagnostics`.
    components : mapping of str to int, optional
        Component of the dataset graph of each dataset.
    note : str
        What must be said with every picture of the result; empty when nothing must.
    drawn : mapping of str to array of shape (n_i, 2), optional
        How axes are drawn where not as they are: filled in by `BaseEmbedder.fit`.
    """

    coordinates: Mapping[str, Floats]
    n_iter: int = 0
    loss_history: list[float] = field(default_factory=list)
    stopping_reason: str = "closed form"
    diagnostics: dict[str, Any] = field(default_factory=dict)
    told: Sequence[Diagnostic] = ()
    components: Mapping[str, int] | None = None
    note: str = ""
    drawn: Mapping[str, Floats] | None = None


def too_few_axes(params: Mapping[str, object]) -> str:
    """Say that there are too few axes to be drawn as a neighbour map; empty where there are not."""
    k = params.get("n_components")
    if params.get("drawn_by") != "neighbors" or not isinstance(k, int) or k > PICTURED:
        return ""
    return (
        f"A neighbour map of axes needs more than {PICTURED} of them, and n_components = {k}: give "
        "10, or draw by the axes."
    )


def picture_told(picture: AxesMap, k: int) -> list[Diagnostic]:
    """Return what people are shown of a neighbour map of k axes."""
    return [
        make_diagnostic(
            "picture",
            f"How true the picture is to the {k} axes",
            f"Share of the 10 nearest on all {k} axes that are among the 10 nearest in the "
            "picture, of 1. What is near, alike or clustered is measured on the axes.",
            {"neighbours kept": picture.share_preserved},
        ),
        make_diagnostic(
            "picture divergence",
            "What the picture cannot show",
            "How far nearness in the picture differs from nearness on the axes "
            "(Kullback-Leibler divergence, in nats): 0 is not at all.",
            {"divergence": picture.divergence},
        ),
    ]


class BaseEmbedder(HasParams, BaseEstimator):  # type: ignore[misc]
    """Template of all methods that place items.

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
    # What an opened model is: only a fit in this process may have been of rows without names.
    _of_rows = False

    @one_thread()
    def fit(
        self, data: Given, progress: Progress | None = None, start: Embedding | None = None
    ) -> Self:
        """Fit the method and keep the embedding.

        Parameters
        ----------
        data : HeteroData, HoldoutSplits, or a table or matrix of n rows
            A table or matrix is taken as one dataset, "items", without links.
        progress : callable, optional
            See `hetviz.progress.Progress`. What cannot be called is the target that scikit-learn
            passes in this place, and is not used.
        start : Embedding, optional
            An earlier map to go on from, rows matched by dataset and id. Methods without
            WARM_START take no notice of it.

        Raises
        ------
        hetviz.errors.ParameterError, hetviz.errors.NotApplicableError, hetviz.errors.DataError
        hetviz.errors.Cancelled
            When `progress` raises it. Methods with partial layouts are then fitted as far as they
            got, and the embedding is the error's ``partial``.

        Notes
        -----
        A fit that would take more memory than there is (`bytes_for`) is refused before it begins.
        """
        parameters.check(self.card.key, self.params, self.get_params(deep=False))
        data, self._of_rows = as_data(data)
        self._check_per_dataset(data)
        reasons = [*self.card.reasons_against(data), *self._reasons_against(data)]
        if reasons:
            raise NotApplicableError(self.card.title, reasons)
        _check_square(data)
        if (too_much := memory_refusal(self.bytes_for(data), data.n_rows)) is not None:
            raise NotApplicableError(self.card.title, [too_much])
        device = device_by_name(self._device_name())
        if device is None and self._device_name() == AUTO:
            note(f"{reason_for_no_card()}, so the map is computed on the processor.")
        rng = np.random.default_rng(getattr(self, "random_state", 0))
        # How well landmarks placed others, where the map begins with some.
        self._placement: PlacementError | None = None
        # scikit-learn passes a target in this place, which no method learns from
        report = progress if callable(progress) else ignore_progress
        report(0.0, "Starting")
        by_neighbors = self._drawn_by_neighbors()
        with collect_recalls() as heard, compute_on(device):
            try:
                first = ProgressPart(report, 0.0, _SHARE_OF_AXES) if by_neighbors else report
                fit = self._fit_from(data, rng, first, start)
                if by_neighbors:
                    fit = self._with_picture(
                        data, fit, ProgressPart(report, _SHARE_OF_AXES, 1.0), start
                    )
            except Cancelled as stopped:
                if isinstance(stopped.partial, Fit):
                    self._keep(data, stopped.partial, heard, device)
                    stopped.partial = self.embedding_
                raise
        self._keep(data, fit, heard, device)
        report(1.0, "Done")
        return self

    def _device_name(self) -> str:
        return str(getattr(self, "device", PROCESSOR))

    def _drawn_by_neighbors(self) -> bool:
        """Whether its axes are drawn as a neighbour map; refuses axes that can be looked at."""
        given = self.get_params(deep=False)
        if too_few := too_few_axes(given):
            raise ParameterError(f"{self.card.key}: drawn_by = 'neighbors'. {too_few}")
        return bool(given.get("drawn_by") == "neighbors")

    def _with_picture(
        self, data: HeteroData, fit: Fit, progress: Progress, start: Embedding | None
    ) -> Fit:
        """Return the fit with its axes drawn by who is near whom on them."""
        axes = {name: np.asarray(fit.coordinates[name], np.float64) for name in data.datasets}
        k = next(iter(axes.values())).shape[1]
        if k <= PICTURED:
            note(f"{k} axes hold anything here, so these are drawn as they are.")
            return fit
        Y = np.vstack(list(axes.values()))
        there: Bools = np.asarray(np.isfinite(Y).all(axis=1), dtype=bool)
        number = np.cumsum(there) - 1
        components = fit.components or {}
        groups = []
        for part in sorted({components.get(name, 0) for name in axes}):
            mates = [data.offsets[name] for name in axes if components.get(name, 0) == part]
            rows = np.concatenate([np.r_[span] for span in mates])
            groups.append(number[rows[there[rows]]])
        earlier = None if start is None else drawn_of(data, start)
        begun = None if earlier is None else np.vstack(list(earlier.values()))[there]

        def whole(Z: Floats) -> Floats:
            out = np.full((len(Y), 2), np.nan)
            out[there] = Z
            return out

        def drawn(picture: AxesMap) -> Fit:
            Z = whole(picture.positions)
            return replace(
                fit,
                drawn={name: Z[span] for name, span in data.offsets.items()},
                told=[*fit.told, *picture_told(picture, k)],
                diagnostics={
                    **fit.diagnostics,
                    "picture": {"kl": picture.divergence, "kept": picture.share_preserved},
                },
            )

        progress(0.0, f"Neighbours on {k} axes")
        seed = int(getattr(self, "random_state", 0))
        try:
            return drawn(
                make_axes_map(
                    Y[there],
                    groups,
                    np.random.default_rng(seed),
                    start=begun,
                    progress=progress,
                    layout=whole,
                )
            )
        except Cancelled as stopped:
            if isinstance(stopped.partial, AxesMap):
                stopped.partial = drawn(stopped.partial)
            elif stopped.partial is None:
                stopped.partial = fit
            raise

    def bytes_for(self, data: HeteroData) -> float:
        """Return about how many bytes of memory a fit to data takes, from above."""
        return self.memory_estimate.total_bytes(data)

    def _keep(
        self, data: HeteroData, fit: Fit, heard: Mapping[str, float], device: ComputeDevice | None
    ) -> None:
        self.embedding_ = Embedding(
            {name: fit.coordinates[name] for name in data.datasets},
            {name: dataset.ids for name, dataset in data.datasets.items()},
            {name: dataset.entity for name, dataset in data.datasets.items()},
            components=fit.components,
            note=f"{self.card.title}: {fit.note}" if fit.note else self.card.title,
            diagnostics=by_key(
                [
                    *fit.told,
                    *_of_search(heard),
                    *_of_landmarks(self._placement),
                    *self._axes_told(data, fit.coordinates),
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
        only = next(iter(data.datasets.values()))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        if len(data.datasets) == 1 and only.X is not None:
            self.n_features_in_ = int(only.X.shape[1])
            if only.feature_names is not None:
                self.feature_names_in_ = np.array(only.feature_names, dtype=object)

    @one_thread()
    def pulls(self, data: HeteroData) -> AttractionGraph | None:
        """Return the graph whose attraction holds the items of a neighbour map; nothing is drawn.

        Parameters
        ----------
        data : HeteroData

        Returns
        -------
        Pulls, or None
            None for methods that draw no graph.

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
            # The map was made where there is a card, and is asked about where there is none.
            device = None
        with warnings.catch_warnings(), compute_on(device):
            # They were told when the map was made.
            warnings.simplefilter("ignore", DataWarning)
            return self._pulls(data)

    def _pulls(self, data: HeteroData) -> AttractionGraph | None:
        return None

    def _axes_told(self, data: HeteroData, places: Mapping[str, Floats]) -> list[Diagnostic]:
        """Return which features go with each axis, where axes mean something: of closed forms."""
        if Capability.ITERATIVE in self.card.capabilities or self.pulls_known():
            return []
        found = []
        for name, dataset in data.datasets.items():
            if dataset.X is None or not np.isfinite(places[name]).all(axis=1).any():
                continue
            k = places[name].shape[1]
            for axis in range(min(k, MOST_AXES)):
                along = columns_along(dataset, places[name], np.eye(k)[axis], TOP_OF_AXIS)
                found.append(
                    make_diagnostic(
                        f"axis {axis + 1} of {name}",
                        f"Axis {axis + 1} for {name}",
                        "Features that grow or shrink along this axis, by correlation: 1 grows "
                        "with it exactly, -1 shrinks, 0 has nothing to do with it.",
                        [
                            (column, found)
                            for column, found in zip(
                                along["column"], along["correlation"].tolist(), strict=True
                            )
                            if abs(found) >= _LEAST_CORRELATION
                        ],
                    )
                )
        return found

    @classmethod
    def pulls_known(cls) -> bool:
        """Whether the method draws a graph that `pulls` can give."""
        return cls._pulls is not BaseEmbedder._pulls

    def fit_transform(self, data: Given, y: object = None, **fit_params: Any) -> Any:
        """Fit, and return where the items lie.

        Parameters
        ----------
        data : HeteroData, HoldoutSplits, or a table or matrix of n rows
        y : object
            Not used; scikit-learn's pipelines pass it.
        **fit_params
            ``progress`` and ``start``, see `fit`.

        Returns
        -------
        Embedding
            For a table or matrix an array of shape (n, k); after ``set_output(transform="pandas")``
            a DataFrame.
        """
        return self.fit(data, **fit_params)._handed_out(self.embedding_)

    def score(self, held_out: Given, y: object = None) -> float:
        """Return how well the map foresees what it was not shown.

        Parameters
        ----------
        held_out : HeteroData or HoldoutSplits
            The second part of `HeteroData.holdout`: links, or else comparisons, not fitted to.
        y : object
            Not used.

        Returns
        -------
        float
            Of held-out links that say together, how often the linked item lies nearer than one not
            linked (chance 0.5); of comparisons, the share kept. 0 to 1.

        Raises
        ------
        hetviz.errors.HetvizError
            If the method is not fitted, or nothing was held out.
        """
        from hetviz.metrics.fit.summary import evaluate

        self._check_fitted("score")
        found = evaluate(as_data(held_out)[0], self.embedding_).to_dict()
        for measure in ("link_auc", "comparison_accuracy"):
            if measure in found:
                return float(found[measure])
        raise HetvizError(
            f"{self.card.title}: score needs held-out links or comparisons. Call "
            "train, held_out = data.holdout(links=0.2), fit(train), and score(held_out)."
        )

    def set_output(self, *, transform: str | None = None) -> Self:
        """Say what `transform` and `fit_transform` return.

        Parameters
        ----------
        transform : {"default", "pandas"}, optional
            "pandas" is `Embedding.frame`; for a table or matrix, its rows and one column an axis.
        """
        if transform not in (None, "default", "pandas"):
            raise ParameterError(f"set_output: transform = {transform!r}; 'default' or 'pandas'.")
        if transform is not None:
            self._output = transform
        return self

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Return the names of the axes, as scikit-learn names them: ``umap0``, ``umap1``."""
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

    def _handed_out(self, found: Embedding) -> Any:
        """Return places as they were asked for, of rows without names as an array."""
        as_table = getattr(self, "_output", "default") == "pandas"
        if not self._of_rows:
            return found.frame() if as_table else found
        Y = next(iter(found.coordinates.values()))
        if not as_table:
            return np.array(Y)
        import pandas as pd

        index = next(iter(found.ids.values())).tolist()
        return pd.DataFrame(Y, index=index, columns=self.get_feature_names_out())

    @one_thread()
    def transform(self, new: Given | Dataset, links: Iterable[NewLink] = ()) -> Any:
        """Place new rows of fitted datasets; rows already placed do not move.

        Parameters
        ----------
        new : HeteroData or Dataset, or a table or matrix where one was fitted
            New rows: same dataset names and columns; kernels of shape (n_new, n_fitted). Rows whose
            id was fitted are skipped; links in `new` may lead to such rows.
        links : iterable of (dataset, id, dataset, id[, weight])
            Further links of new rows to fitted ones.

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
            raise HetvizError(f"{self.card.title} cannot place new items; fit all items together.")
        self._check_fitted("transform")
        if isinstance(new, Dataset):
            data = HeteroData([new])
        else:
            data, of_rows = as_data(new)
            if of_rows:
                # Rows without names are new ones, whatever their numbers.
                only = next(iter(data.datasets.values()))
                ids = np.array([f"new {text}" for text in only.ids], dtype=object)
                fresh = replace(only, ids=ids, keys=None)
                data = HeteroData([fresh])
        try:
            rows = new_rows(self._fitted, data, links)
        except DataError as error:
            raise RowsError(error.problems) if self._of_rows else error from None
        if not rows:
            raise DataError(
                Problem(
                    "no-rows",
                    "new rows",
                    "every id was fitted already",
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
        return self._handed_out(placed)

    def _fit(self, data: HeteroData, rng: np.random.Generator, progress: Progress) -> Fit:
        raise NotImplementedError

    def _fit_from(
        self,
        data: HeteroData,
        rng: np.random.Generator,
        progress: Progress,
        start: Embedding | None,
    ) -> Fit:
        """Fit from an earlier map; a method with WARM_START overrides it instead of `_fit`."""
        return self._fit(data, rng, progress)

    def _landmark_map(
        self,
        data: HeteroData,
        progress: Progress,
    ) -> Embedding | None:
        """Return a map of a few thousand of very many items, for a method to go on from.

        `progress` gets its partial layouts, then one of all items, each placed by its landmarks and
        by what the parameter ``features`` compares. None of data that are not so many. Its ``note``
        is no method's, so that all iterations are made from it. When `progress` raises Cancelled,
        its ``partial`` is a Fit of that map.
        """
        if data.n_rows <= MIN_ROWS:
            return None
        rows = landmarks(data)
        part = select_rows(data, rows)
        method = clone(self)
        here = {
            name: {key: inner for key, inner in value.items() if key in part.datasets}
            for name, value in self.get_params(deep=False).items()
            if isinstance(value, Mapping)
        }

        def widened(Y: Floats) -> Floats:
            out = np.full((data.n_rows, Y.shape[1]), np.nan)
            out[rows] = Y
            return out

        def report(fraction: float, message: str = "", **figures: object) -> None:
            shown = figures.get("layout")
            if shown is not None:
                figures["layout"] = lambda: widened(
                    np.asarray(shown() if callable(shown) else shown)
                )
            progress(
                0.8 * fraction, f"Landmarks, {len(rows):,} of {data.n_rows:,} items", **figures
            )

        try:
            with warnings.catch_warnings():
                # What there is to be said is said of all items.
                warnings.simplefilter("ignore", DataWarning)
                made = method.set_params(**here).fit(part, report).embedding_
        except NotApplicableError:
            return None
        except Cancelled as stopped:
            if isinstance(stopped.partial, Embedding):
                Y = coordinates_of(data, stopped.partial)
                reason = "stopped while landmarks were placed"
                stopped.partial = Fit(Y, stopping_reason=reason)
            raise
        places = np.vstack([made.coordinates[name] for name in part.datasets])
        seed = int(getattr(self, "random_state", 0))
        self._placement = placement_error(
            [dataset.X for dataset in part.datasets.values()],
            [made.coordinates[name] for name in part.datasets],
            random_state=seed,
        )
        progress(
            0.8,
            "All items by their landmarks",
            layout=lambda: place_by_landmarks(
                data,
                rows,
                places,
                leading_features(data, getattr(self, "features", "auto"), seed),
                seed,
            ),
        )
        return Embedding(
            coordinates_of(data, made),
            {name: dataset.ids for name, dataset in data.datasets.items()},
            {name: dataset.entity for name, dataset in data.datasets.items()},
            note="landmarks",
        )

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        raise NotImplementedError

    def _reasons_against(self, data: HeteroData) -> list[str]:
        """Return further reasons that depend on the parameters; a method may override it."""
        return []

    def _check_per_dataset(self, data: HeteroData) -> None:
        for key, value in self.get_params(deep=False).items():
            if isinstance(value, Mapping):
                unknown = [name for name in value if name not in data.datasets]
                if unknown:
                    raise ParameterError(
                        f"{self.card.key}: {key} names unknown datasets {unknown}; there are: "
                        f"{', '.join(data.datasets)}."
                    )


class ProjectionEmbedder(BaseEmbedder):
    """Template of methods that map the features of each dataset by a matrix.

    ``_fit`` leaves the matrices in ``_projection``, and returns ``_projected``.
    """

    _projection: Projection

    def _projected(self, data: HeteroData) -> Fit:
        return Fit(
            self._projection.coordinates,
            diagnostics=self._projection.diagnostics,
            told=self._projection.told(data),
            components=self._projection.components,
        )

    def _transform(self, new: Mapping[str, NewRows]) -> Mapping[str, Floats]:
        return self._projection.place(new)


def _of_search(heard: Mapping[str, float]) -> list[Diagnostic]:
    """Return what is told of the search for neighbours of very many items."""
    if not heard:
        return []
    return [
        make_diagnostic(
            "neighbours found",
            "Nearest neighbours found",
            "Share of the truly nearest that were found, of 1: where there are too many items to "
            "compare each with each other, they are searched, and this is measured on a sample.",
            dict(heard),
            SHARE,
        )
    ]


def _of_landmarks(error: PlacementError | None) -> list[Diagnostic]:
    """Return what is told of a map that began with landmarks."""
    if error is None or not error.n:
        return []
    return [
        make_diagnostic(
            "placement error",
            "Error of placing by landmarks",
            "The map began with a few thousand items, by which the others were placed before all "
            "moved on together. Some of these, placed likewise, landed this far from where they "
            "lay, as a share of the usual distance of two items.",
            {"half of them, at most": error.median, "nine in ten, at most": error.most},
            SHARE,
        )
    ]


def as_data(given: Given) -> tuple[HeteroData, bool]:
    """Return what is fitted as data, and whether it was rows without names: a table or matrix."""
    if isinstance(given, HeteroData):
        return given, False
    if isinstance(given, HoldoutSplits):
        return given.data, False
    if given is None or (isinstance(given, Mapping | str) and not is_sparse(given)):
        kind = type(given).__name__
        what = "HeteroData are needed, or one table or matrix"
        call = "Call fit(HeteroData.from_frames({'name': table, ...}, links=pairs))."
        raise DataError(Problem("not-data", "fit", what, kind, call))
    try:
        return HeteroData.from_frames({"items": given}, labels={}), True
    except DataError as error:
        raise RowsError(error.problems) from None


def note(message: str) -> None:
    """Warn about something in the data that the user should look at."""
    warnings.warn(message, DataWarning, stacklevel=3)


def _check_square(data: HeteroData) -> None:
    problems = []
    for name, dataset in data.datasets.items():
        for word in ("kernel", "distance"):
            matrix = getattr(dataset, word)
            if matrix is None:
                continue
            where = f"dataset {name!r}, {word}"
            if matrix.shape != (len(dataset), len(dataset)):
                problems.append(
                    Problem(
                        "bad-shape",
                        where,
                        f"shape ({len(dataset)}, {len(dataset)}) is needed",
                        str(matrix.shape),
                        "One row and one column for each item.",
                    )
                )
                continue
            size = float(np.abs(matrix).max()) or 1.0
            worst = float(np.abs(matrix - matrix.T).max())
            if worst > 1e-6 * size:
                row, column = np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape)
                problems.append(
                    Problem(
                        "not-symmetric",
                        f"{where}, rows {row + 1} and {column + 1}",
                        "the two directions differ",
                        f"{matrix[row, column]:g} and {matrix[column, row]:g}",
                        "Use the mean of the matrix and its transpose.",
                    )
                )
    if problems:
        raise DataError(problems)


# What data must have before a method applies, and in plain words why it does not.


class Need(StrEnum):
    """What data must have before a method applies."""

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


def unmet(need: Need, data: HeteroData) -> str | None:
    """Return why data do not meet a need, or None where they do."""
    return _UNMET[need](data)


def _no_features(data: HeteroData) -> str | None:
    bare = [name for name, dataset in data.datasets.items() if dataset.is_featureless]
    if bare:
        return f"It needs features in every dataset; {', '.join(bare)} has none."
    return None


def _no_features_at_all(data: HeteroData) -> str | None:
    if all(dataset.is_featureless for dataset in data.datasets.values()):
        return "It needs features in at least one dataset; none has any."
    return None


def _no_features_or_links(data: HeteroData) -> str | None:
    if _no_features_at_all(data) is None:
        return None
    if any((group.weight > 0).any() for group in data.links) or identity_links(data):
        return None
    return "It needs features in some dataset, or links that say what belongs together."


def _not_joined(data: HeteroData) -> str | None:
    if len(data.datasets) == 1 or any(not group.within for group in data.links):
        return None
    return None if identity_links(data) else "Nothing joins the datasets: link some of their items."


def _no_positive_links(data: HeteroData) -> str | None:
    if any((group.weight > 0).any() for group in data.links) or identity_links(data):
        return None
    if any((group.weight < 0).any() for group in data.links):
        return (
            "All guidance says apart, which leaves every direction equally good; "
            "say of some pairs that they belong together."
        )
    return "It needs links that say what belongs together; there are none."


def _not_linked(data: HeteroData) -> str | None:
    if len(data.datasets) == 1:
        return "It relates datasets to each other; there is only one."
    if any((group.weight > 0).any() for group in data.links if not group.within):
        return None
    if identity_links(data):
        return None
    return "It needs links that say which items of different datasets belong together."


def _one_source(data: HeteroData) -> str | None:
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
        "the same ids, or features and links within one dataset; here each item has only one."
    )


def _fewer_than_two_featured(data: HeteroData) -> str | None:
    featured = [name for name, dataset in data.datasets.items() if not dataset.is_featureless]
    if len(featured) > 1:
        return None
    return f"It compares two datasets by their features; {len(featured) or 'none'} has any."


def _undescribed(data: HeteroData) -> str | None:
    within = any(group.within and (group.weight > 0).any() for group in data.links)
    return None if within else _no_features_at_all(data)


def _no_comparisons(data: HeteroData) -> str | None:
    if data.comparisons is not None and len(data.comparisons):
        return None
    return 'It needs comparisons, such as "a is nearer to b than to c"; there are none.'


def _no_labels(data: HeteroData) -> str | None:
    if any(bool(column.known.any()) for column in data.labels):
        return None
    return "It needs a label that is known of some items; there is none."


_UNMET: Mapping[Need, Callable[[HeteroData], str | None]] = {
    Need.FEATURES: _no_features,
    Need.SOME_FEATURES: _no_features_at_all,
    Need.FEATURES_OR_LINKS: _no_features_or_links,
    Need.JOINED_DATASETS: _not_joined,
    Need.POSITIVE_LINKS: _no_positive_links,
    Need.LINKED_DATASETS: _not_linked,
    Need.SEVERAL_SOURCES: _one_source,
    Need.TWO_WITH_FEATURES: _fewer_than_two_featured,
    Need.DESCRIBED: _undescribed,
    Need.COMPARISONS: _no_comparisons,
    Need.LABELS: _no_labels,
}
