"""The interface of scikit-learn: tables as input, output types, scores and tags."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.utils import Tags, TransformerTags

from hetviz._types import Array, is_sparse
from hetviz.algorithms.contract import Capability, MethodCard
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.splits import HoldoutSplits
from hetviz.errors import (
    DataError,
    DataWarning,
    HetvizError,
    MissingExtraError,
    ParameterError,
    RowsError,
    UnfittedError,
)
from hetviz.progress import Progress

if TYPE_CHECKING:
    from pandas import DataFrame

    class BaseEstimator:
        """Typed, as type checkers report no unknown parameters of a class with an untyped base."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: object) -> Self: ...
        def __sklearn_tags__(self) -> Tags: ...
else:
    from sklearn.base import BaseEstimator

FitInput: TypeAlias = Any
"""HeteroData, HoldoutSplits, or a table or matrix of the rows of one dataset."""


class SklearnInterface(BaseEstimator):
    """What pipelines and searches of scikit-learn call, apart from fit and transform."""

    card: ClassVar[MethodCard]
    embedding_: Embedding
    # Default for loaded models: only a fit in this process can have rows without names.
    _of_rows = False

    def fit(
        self,
        data: FitInput,
        progress: Progress | bool | None = None,
        start: Embedding | None = None,
    ) -> Self:
        raise NotImplementedError

    def fit_transform(self, data: FitInput, y: object = None, **fit_params: Any) -> Any:
        """Fit the method and return the map.

        Parameters
        ----------
        data : HeteroData, HoldoutSplits, or a table or matrix of n rows
        y : object
            Not used, with a warning. The pipelines of scikit-learn pass it.
        **fit_params
            ``progress`` and ``start``, see `fit`.

        Returns
        -------
        Embedding
            For a table or matrix an array of shape (n, k), or a DataFrame after
            ``set_output(transform="pandas")`` or "polars".
        """
        self._warn_of_target(y)
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
        transform : {"default", "pandas", "polars"}, optional
            "pandas" and "polars" give `Embedding.frame`. For a table or matrix they give its rows,
            one column per axis; polars has no names of rows.
        """
        if transform not in (None, "default", "pandas", "polars"):
            allowed = "'default', 'pandas' or 'polars'"
            raise ParameterError(f"set_output: transform = {transform!r}; {allowed}.")
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

    def _warn_of_target(self, y: object) -> None:
        """Warn that a target, which scikit-learn passes to fit, is not used."""
        if y is not None and not isinstance(y, bool) and not callable(y):
            message = (
                f"{self.card.title}: y is not used. Give classes as labels, as links by "
                "hetviz.links_from_labels, or as comparisons by hetviz.comparisons_from_label."
            )
            warnings.warn(message, DataWarning, stacklevel=4)

    def _check_fitted(self, call: str) -> None:
        if not hasattr(self, "embedding_"):
            raise UnfittedError(f"{self.card.title}: call fit before {call}.")

    def _to_output(self, embedding: Embedding) -> Any:
        """Return the map in the output type that was set. Rows without names give an array."""
        output = getattr(self, "_output", "default")
        as_table = output != "default"
        if not self._of_rows:
            return _to_table(embedding.frame(), output) if as_table else embedding
        Y = next(iter(embedding.coordinates.values()))
        if not as_table:
            return np.array(Y)
        import pandas as pd

        index = next(iter(embedding.ids.values())).tolist()
        frame = pd.DataFrame(Y, index=index, columns=self.get_feature_names_out())
        return _to_table(frame, output)


def _to_table(frame: DataFrame, output: str) -> object:
    if output == "pandas":
        return frame
    try:
        import polars
    except ImportError:
        raise MissingExtraError("set_output(transform='polars')", package="polars") from None
    return polars.from_pandas(frame)


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
        raise DataError.of("not-data", "fit", needed, kind, remedy)
    try:
        return HeteroData.from_frames({"items": value}, labels={}), True
    except DataError as error:
        raise RowsError(error.problems) from None
