"""Asking a map about something new: what lies nearest to it, without adding it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._json import records
from hetviz._types import Floats, Ints, JsonObject
from hetviz.algorithms.base import BaseEmbedder, Capability
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import HetvizError, ParameterError
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.runs.embed.run import FittedRun
from hetviz.runs.place.new_item import NewItem, from_picture, from_row, from_text
from hetviz.runs.predict.pair_scores import ScoresLinks


@dataclass(frozen=True, eq=False)
class Answer:
    """Where something new belongs on a map, and what is nearest to it.

    Attributes
    ----------
    dataset : str
        The dataset that it is taken for an item of.
    place : array of shape (k,)
        On the axes of the map.
    matched : DataFrame
        Columns id and score, the best first: items of its own dataset that it was found alike, and
        how alike (0 to 1); empty where the method placed it by its features.
    nearest : DataFrame
        Columns dataset, id, score and rank (from 1 in each dataset): the share of the dataset that
        lies farther away, or what the method itself scores links with.
    how : str
        What was compared and how it was placed, in one or two sentences.
    """

    dataset: str
    place: Floats
    matched: pd.DataFrame
    nearest: pd.DataFrame
    how: str

    def to_dict(self) -> JsonObject:
        """Return the answer as JSON-ready values."""
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
) -> Answer:
    """Find the items nearest to something that is not in the data.

    Parameters
    ----------
    data : HeteroData
    fitted_run : FittedRun, fitted method, or Embedding
        The map to ask. Only a method can place new rows itself; see Notes.
    dataset : str
        Which dataset it would be an item of.
    text : str, optional
        Words. Where the features of the dataset were made from columns of text, they get the
        features that such a column would have given; elsewhere they are matched, word by word,
        with the titles of the items and the columns declared as text.
    picture : bytes, optional
        PNG, JPEG or WEBP; compared with the pictures of the items by shapes and colours.
    row : mapping of str to object, optional
        Values of columns, as many as are known.
    top : int
        How many items of each dataset.

    Returns
    -------
    Answer

    Raises
    ------
    hetviz.errors.ParameterError
        Unless exactly one of `text`, `picture` and `row` is given, and `top` is 1 or more.
    hetviz.errors.DataError
        For an unknown dataset or column, a picture that cannot be read, words that no item has, or
        a dataset that has nothing to compare with.
    hetviz.errors.HetvizError
        If none of the items like it has a place on the map.

    Notes
    -----
    With features of its own, and a method that places new items, it lies where
    ``transform`` puts it. Otherwise its place is the weighted median of the items of its dataset
    that are most alike: axis by axis (see `hetviz.core.layout.placement`), of words the place of an
    item that has just these, or else of the most central of the items that share them; `Answer.how`
    says what was compared. Nothing is added and no other item moves. Costs O(n p) for n items of p
    features.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("emoji")
    >>> model = hetviz.get_method("cdmca")().fit(data)
    >>> answer = hetviz.nearest_to(data, model, dataset="keywords", text="cat", top=3)
    >>> answer.matched["id"].tolist()
    ['k_cat']
    """
    given = [value is not None for value in (text, picture, row)]
    if sum(given) != 1:
        raise ParameterError("nearest_to: give one of text, picture and row.")
    if top < 1:
        raise ParameterError(f"nearest_to: top = {top}; it must be 1 or more.")
    owner = data[dataset]
    if text is not None:
        item = from_text(owner, text)
    elif picture is not None:
        item = from_picture(owner, picture)
    else:
        item = from_row(owner, dict(row or {}))
    model = fitted_run.model if isinstance(fitted_run, FittedRun) else fitted_run
    if isinstance(model, BaseEmbedder):
        if not hasattr(model, "embedding_"):
            raise HetvizError(f"{model.card.title}: call fit before nearest_to.")
        embedding = model.embedding_
    else:
        embedding, model = model, None
    places = coordinates_of(data, embedding)
    place = None if model is None else _by_method(model, item)
    matched = pd.DataFrame({"id": np.empty(0, object), "score": np.empty(0)})
    if place is not None and model is not None:
        how = f"{item.how} {model.card.title} placed it by its features."
    else:
        place, rows, alike = item.among(owner, places[owner.name])
        if place is None:
            raise HetvizError(
                f"None of the {owner.name} like it has a place on this map, so it has none either."
            )
        matched = pd.DataFrame({"id": owner.ids[rows], "score": alike})
        how = f"{item.how} It lies in the middle of the {owner.name} most like it."
    nearest = _nearest(data, places, place, top, model, item)
    return Answer(owner.name, place, matched, nearest, how)


def _by_method(model: BaseEmbedder, item: NewItem) -> Floats | None:
    """Return where the method puts it; None where it cannot."""
    if item.rows is None or Capability.OUT_OF_SAMPLE not in model.card.capabilities:
        return None
    if item.rows.name not in model.embedding_.coordinates:
        return None
    placed = model.transform(item.rows).coordinates[item.rows.name][0]
    return placed if np.isfinite(placed).all() else None


def _nearest(
    data: HeteroData,
    places: Mapping[str, Floats],
    place: Floats,
    top: int,
    model: BaseEmbedder | None,
    item: NewItem,
) -> pd.DataFrame:
    found = []
    for name, Y in places.items():
        there = np.flatnonzero(np.isfinite(Y).all(axis=1))
        if not len(there):
            continue
        squared = ((Y[there] - place) ** 2).sum(axis=1)
        score = _share_farther(squared)
        own = _own_scores(model, item, data[name], there, place, Y)
        if own is not None:
            score = own
        order = np.lexsort((squared, -score))[:top]
        found.append(
            pd.DataFrame(
                {
                    "dataset": name,
                    "id": data[name].ids[there[order]],
                    "score": score[order],
                    "rank": np.arange(1, len(order) + 1),
                }
            )
        )
    return pd.concat(found, ignore_index=True)


def _share_farther(squared: Floats) -> Floats:
    ordered = np.sort(squared)
    return np.asarray(1.0 - np.searchsorted(ordered, squared, side="right") / len(ordered))


def _own_scores(
    model: BaseEmbedder | None,
    item: NewItem,
    other: Dataset,
    there: Ints,
    place: Floats,
    Y: Floats,
) -> Floats | None:
    """Return the method's own scores of links with items of another dataset, where it has any."""
    if item.rows is None or model is None or not isinstance(model, ScoresLinks):
        return None
    if other.name == item.rows.name:
        return None
    fitted = other.find(model.embedding_.ids[other.name])
    rows = other.as_new(there, fitted)
    return np.asarray(model.link_scores(item.rows, rows, place[None], Y[there])[0])
