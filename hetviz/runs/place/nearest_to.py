"""Items closest to a new item, found without adding it to the map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._json import records
from hetviz._types import Floats, Ints, JsonObject
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Capability
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import HetvizError, ParameterError
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.runs.embed.run import FittedRun
from hetviz.runs.place.new_item import ComparableItem, from_picture, from_row, from_text
from hetviz.runs.predict.pair_scores import ScoresLinks


@dataclass(frozen=True, eq=False)
class NewItemNeighbors:
    """The place of a new item on a map and the items closest to it.

    `dataset`: The dataset of the new item.
    `place` (k,): Its coordinates on the axes of the map.
    `matched`: Columns id and score, the best first: similar items of its dataset and their
        similarity (0 to 1). Empty where the method placed it by its features.
    `nearest`: Columns dataset, id, score and rank (from 1 in each dataset). The score is the share
        of the dataset that is farther away, or the method's own score for a link.
    `how`: One or two sentences about what was compared and how it was placed.
    """

    dataset: str
    place: Floats
    matched: pd.DataFrame
    nearest: pd.DataFrame
    how: str

    def to_dict(self) -> JsonObject:
        """Return the result as JSON-ready values."""
        return {
            "dataset": self.dataset,
            "place": self.place.tolist(),
            "how": self.how,
            "matched": records(self.matched),
            "nearest": records(self.nearest),
        }


@one_thread()
def nearest_to(
    data: HeteroData,
    fitted_run: FittedRun | BaseEmbedder | Embedding,
    *,
    dataset: str,
    text: str | None = None,
    picture: bytes | None = None,
    row: Mapping[str, object] | None = None,
    top: int = 10,
) -> NewItemNeighbors:
    """Find the items closest to a new item.

    Parameters
    ----------
    data : HeteroData
    fitted_run : FittedRun, fitted method, or Embedding
        The map. Only a fitted method can place new rows itself; see Notes.
    dataset : str
        The dataset that the new item belongs to.
    text : str, optional
        Words. If the features of the dataset were made from text columns, the words are turned
        into the same features. Otherwise they are matched, word by word, with the titles of the
        items and the columns declared as text.
    picture : bytes, optional
        PNG, JPEG or WEBP; compared with the pictures of the items by shapes and colours.
    row : mapping of str to object, optional
        Values of columns; missing columns are allowed.
    top : int
        Number of items of each dataset.

    Returns
    -------
    Answer

    Raises
    ------
    hetviz.errors.ParameterError
        Unless exactly one of `text`, `picture` and `row` is given, and `top` is 1 or more.
    hetviz.errors.DataError
        For an unknown dataset or column, an unreadable picture, words that no item has, or a
        dataset without anything to compare.
    hetviz.errors.HetvizError
        If no similar item has a place on the map.

    Notes
    -----
    With features and a method that places new items, ``transform`` gives the place. Otherwise the
    place is the weighted median of the most similar items of its dataset, axis by axis (see
    `hetviz.core.layout.placement`). Words take the place of an item with exactly these words, else
    of the most central item that shares them. `NewItemNeighbors.how` describes the
    comparison. Nothing is added and no other item moves. Costs O(n p) for n items of p features.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("emoji")
    >>> model = hetviz.get_method("cdmca")().fit(data)
    >>> answer = hetviz.nearest_to(data, model, dataset="keywords", text="cat", top=3)
    >>> answer.matched["id"].tolist()
    ['k_cat']
    """
    is_given = [value is not None for value in (text, picture, row)]
    if sum(is_given) != 1:
        raise ParameterError("nearest_to: give exactly one of text, picture and row.")
    if top < 1:
        raise ParameterError(f"nearest_to: top = {top} must be 1 or more.")
    owner = data[dataset]
    if text is not None:
        item = from_text(owner, text)
    elif picture is not None:
        item = from_picture(owner, picture)
    else:
        item = from_row(owner, dict(row or {}))
    made = fitted_run.model if isinstance(fitted_run, FittedRun) else fitted_run
    model = made if isinstance(made, BaseEmbedder) else None
    if isinstance(made, BaseEmbedder):
        if not hasattr(made, "embedding_"):
            raise HetvizError(f"{made.card.title}: call fit before nearest_to.")
        embedding = made.embedding_
    else:
        embedding = made
    places = coordinates_of(data, embedding)
    place = None if model is None else _place_by_method(model, item)
    matched = pd.DataFrame({"id": np.empty(0, object), "score": np.empty(0)})
    if place is not None and model is not None:
        how = f"{item.summary} {model.card.title} placed it by its features."
    else:
        place, rows, similarity = item.locate(owner, places[owner.name])
        if place is None:
            raise HetvizError(
                f"None of the similar {owner.name} has a place on this map, so it has none either."
            )
        matched = pd.DataFrame({"id": owner.ids[rows], "score": similarity})
        how = f"{item.summary} It is placed in the middle of the most similar {owner.name}."
    # Distances between datasets that nothing connects mean nothing.
    component = embedding.components.get(owner.name)
    places = {name: Y for name, Y in places.items() if embedding.components.get(name) == component}
    nearest = _nearest_items(data, places, place, top, model, item)
    return NewItemNeighbors(owner.name, place, matched, nearest, how)


def _place_by_method(model: BaseEmbedder, item: ComparableItem) -> Floats | None:
    """Return the place that the method gives, or None where it cannot."""
    if item.rows is None or Capability.OUT_OF_SAMPLE not in model.card.capabilities:
        return None
    if item.rows.name not in model.embedding_.coordinates:
        return None
    placed = model.transform(item.rows).coordinates[item.rows.name][0]
    return placed if np.isfinite(placed).all() else None


def _nearest_items(
    data: HeteroData,
    places: Mapping[str, Floats],
    place: Floats,
    top: int,
    model: BaseEmbedder | None,
    item: ComparableItem,
) -> pd.DataFrame:
    tables = []
    for name, Y in places.items():
        placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
        if not len(placed):
            continue
        squared = ((Y[placed] - place) ** 2).sum(axis=1)
        score = _share_farther(squared)
        own_scores = _own_scores(model, item, data[name], placed, place, Y)
        if own_scores is not None:
            score = own_scores
        order = np.lexsort((squared, -score))[:top]
        tables.append(
            pd.DataFrame(
                {
                    "dataset": name,
                    "id": data[name].ids[placed[order]],
                    "score": score[order],
                    "rank": np.arange(1, len(order) + 1),
                }
            )
        )
    return pd.concat(tables, ignore_index=True)


def _share_farther(squared: Floats) -> Floats:
    ordered = np.sort(squared)
    return np.asarray(1.0 - np.searchsorted(ordered, squared, side="right") / len(ordered))


def _own_scores(
    model: BaseEmbedder | None,
    item: ComparableItem,
    other: Dataset,
    placed: Ints,
    place: Floats,
    Y: Floats,
) -> Floats | None:
    """Return the method's own scores of links to another dataset, or None."""
    if item.rows is None or model is None or not isinstance(model, ScoresLinks):
        return None
    if other.name == item.rows.name:
        return None
    fitted = other.find(model.embedding_.ids[other.name])
    rows = other.as_new(placed, fitted)
    return np.asarray(model.link_scores(item.rows, rows, place[None], Y[placed])[0])
