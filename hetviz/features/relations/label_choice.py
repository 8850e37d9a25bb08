"""The label to learn, where it is named, named by its dataset only, or left to choose."""

from __future__ import annotations

from collections.abc import Mapping

from hetviz.data import HeteroData
from hetviz.errors import HetvizError, NotApplicableError, ParameterError
from hetviz.features.relations.labelled import LabelProblem, label_problem


def chosen_problem(
    data: HeteroData,
    label: str | None,
    *,
    key: str,
    title: str,
    task: str = "auto",
    features: str | Mapping[str, str] = "auto",
    random_state: int = 0,
) -> LabelProblem:
    """Gather what there is to learn a label from; of several labels the first that can be learned.

    Parameters
    ----------
    data : HeteroData
    label : str or None
        ``"dataset:column"``, a label or a column of the table; a dataset for its labels; None for
        all labels.
    key, title : str
        Of the method, for messages.
    task, features, random_state
        See `hetviz.features.relations.labelled.label_problem`.

    Raises
    ------
    hetviz.errors.DataError, hetviz.errors.ParameterError
        If `label` names nothing, or a column that cannot be learned.
    hetviz.errors.NotApplicableError
        If no label can be learned; it says why of each.
    """
    reasons: list[str] = []
    found = _labels(data, label, key)
    for dataset, column in found:
        try:
            return label_problem(
                data, dataset, column, task=task, features=features, random_state=random_state
            )
        except NotApplicableError as error:
            reasons += error.reasons
        except HetvizError as error:
            if label is not None and ":" in label:
                raise
            reasons.append(str(error))
    if not found:
        reasons = [f"Dataset {label} has no label."]
    raise NotApplicableError(title, dict.fromkeys(reasons))


def _labels(data: HeteroData, label: str | None, key: str) -> list[tuple[str, str]]:
    """Return the labels that are meant, as dataset and column."""
    if label is None or label in data.datasets:
        return [(c.dataset, c.name) for c in data.labels if label in (None, c.dataset)]
    named = [name for name in data.datasets if label.startswith(f"{name}:")]
    dataset = max(named, key=len, default="")
    column = label[len(dataset) + 1 :]
    if not dataset or not column:
        raise ParameterError(
            f"{key}: label = {label!r}; give dataset:column, or one of the datasets "
            f"{', '.join(data.datasets)}."
        )
    return [(dataset, column)]
