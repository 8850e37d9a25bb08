"""Base class of methods that predict a label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from hetviz._types import Floats, Ints, Texts
from hetviz.algorithms.base import BaseEmbedder
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.out_of_sample import NewRows, new_rows
from hetviz.errors import HetvizError


@dataclass(frozen=True, eq=False)
class LabelPredictions:
    """Predicted labels of rows.

    `label` (n,): Text of a class, or a number.
    `probability` (n,): Probability of that class. NaN for numbers.
    `spread` (n,): Difference between the sources: standard deviation of their numbers, or of their
        probabilities of that class. NaN if fewer than two sources have the row.
    `by_class` (array of shape (n, K) or None): Probability of each class, in the order of
        ``classes_``.
    """

    label: Texts
    probability: Floats
    spread: Floats
    by_class: Floats | None

    def frame(self, dataset: str, ids: Texts, classes: tuple[str, ...]) -> pd.DataFrame:
        """Return a table with a row for each id of a dataset."""
        table = pd.DataFrame(
            {
                "dataset": dataset,
                "id": ids,
                "label": self.label,
                "probability": self.probability,
                "spread": self.spread,
            }
        )
        if self.by_class is not None:
            for name, column in zip(classes, self.by_class.T, strict=True):
                table[f"p_{name}"] = column
        return table

    def take(self, rows: Ints) -> LabelPredictions:
        return LabelPredictions(
            self.label[rows],
            self.probability[rows],
            self.spread[rows],
            None if self.by_class is None else self.by_class[rows],
        )


class BasePredictor(BaseEmbedder):
    """Base class of methods that predict a label.

    A method has ``_fit``, which calls `_keep_predictions`, and ``_predict``.

    Attributes
    ----------
    predictions_ : dict of str to Predicted
        Predictions of the fitted rows of each dataset of the labelled entity.
    classes_ : tuple of str
        Empty if the label is a number.
    """

    @one_thread()
    def predict(self, data: HeteroData | Dataset) -> pd.DataFrame:
        """Predict the label of rows, fitted or new.

        Parameters
        ----------
        data : HeteroData or Dataset
            Rows of any fitted datasets, with the fitted columns. Kernels of new rows have shape
            (n_new, n_fitted). Rows with the same id in several views are one item.

        Returns
        -------
        DataFrame
            Columns dataset, id, label, probability, spread, and p_<class> for each class, see
            `LabelPredictions`. Datasets of other entities have no rows.

        Raises
        ------
        hetviz.errors.HetvizError
            If the method is not fitted.
        hetviz.errors.DataError
            If a dataset or a column does not match what was fitted.
        """
        if not hasattr(self, "predictions_"):
            raise HetvizError(f"{self.card.title}: call fit before predict.")
        input_data = HeteroData([data]) if isinstance(data, Dataset) else data
        new_rows_by_dataset = {
            name: rows
            for name, rows in new_rows(self._fitted, input_data).items()
            if name in self.predictions_
        }
        new_predictions = self._predict(new_rows_by_dataset)
        frames = []
        for name, dataset in input_data.datasets.items():
            if name not in self.predictions_:
                continue
            fitted_rows = self._fitted[name].find(dataset.ids)
            ids = dataset.ids[fitted_rows >= 0]
            fitted = self.predictions_[name].take(fitted_rows[fitted_rows >= 0])
            frames.append(fitted.frame(name, ids, self.classes_))
            if name in new_predictions:
                ids = new_rows_by_dataset[name].dataset.ids
                frames.append(new_predictions[name].frame(name, ids, self.classes_))
        if not frames:
            columns = ["dataset", "id", "label", "probability", "spread"]
            return pd.DataFrame(columns=[*columns, *(f"p_{name}" for name in self.classes_)])
        frames = [frame for frame in frames if len(frame)] or frames[:1]
        return pd.concat(frames, ignore_index=True)

    def _keep_predictions(
        self, classes: tuple[str, ...], predictions: Mapping[str, LabelPredictions]
    ) -> None:
        self.classes_: tuple[str, ...] = classes
        self.predictions_: dict[str, LabelPredictions] = dict(predictions)

    def _predict(self, new: Mapping[str, NewRows]) -> Mapping[str, LabelPredictions]:
        raise NotImplementedError
