"""New rows placed on a fitted map, with uncertainty and neighbours; no other item moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Floats, Ints
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import methods
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.layout.out_of_sample import PlaceUncertainty, place_uncertainty, usual_distance
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.out_of_sample import NewLink
from hetviz.errors import DataError, HetvizError, ParameterError, Problem
from hetviz.features.new_rows import make_new_rows
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.runs.embed.run import FittedRun

_BLOCK_ROWS = 256


@dataclass(frozen=True, eq=False)
class RowPlacement:
    """New rows of a dataset on a map.

    `rows`: The new rows, with their features.
    `embedding`: Of the new rows only.
    `doubt`: Uncertainty of each row: id, doubt (0 to 1, the greater of the next two), elsewhere
        (share of the most similar items that are not close on the map), unlike (0 where it is as
        similar to the existing items as these are to each other, up to 1), why (a sentence). NaN
        without a place or anything to compare.
    `neighbours`: The closest items of each dataset for each row: id, dataset, neighbour, title,
        rank, distance (on the axes of the map).
    """

    rows: Dataset
    embedding: Embedding
    doubt: pd.DataFrame
    neighbours: pd.DataFrame
    problems: tuple[Problem, ...]

    def frame(self) -> pd.DataFrame:
        """Return a row for each item: dataset, id, axes, placed, doubt, why, nearest_<dataset>."""
        table = self.embedding.frame()
        table["doubt"], table["why"] = self.doubt["doubt"], self.doubt["why"]
        first = self.neighbours[self.neighbours["rank"] == 1]
        for name in first["dataset"].unique():
            nearest = first[first["dataset"] == name].set_index("id")["neighbour"]
            table[f"nearest_{name}"] = table["id"].map(nearest)
        return table


@one_thread()
def place_rows(
    data: HeteroData,
    fitted_run: FittedRun | BaseEmbedder,
    rows: pd.DataFrame | Dataset,
    dataset: str,
    *,
    media: Sequence[object] | None = None,
    links: Iterable[NewLink] = (),
    k: int = 5,
) -> RowPlacement:
    """Place new rows of a dataset on a fitted map without moving other items.

    Parameters
    ----------
    data : HeteroData
        The data of the fit.
    fitted_run : FittedRun or fitted method
        Also a method read by `hetviz.load_model`.
    rows : DataFrame or Dataset
        A table with a column ``id`` and columns as in the table of the dataset. A column with the
        name of another dataset lists ids or titles of its items as links, as in ``"red; round"``.
        Or a dataset with features, or a kernel of shape (n_new, n_fitted).
    dataset : str
        The dataset that the rows belong to.
    media : sequence of bytes, paths or None, optional
        Pictures of the rows of a table.
    links : iterable of (dataset, id, dataset, id[, weight])
        Further links of new rows.
    k : int
        Number of neighbours in each dataset.

    Returns
    -------
    Placed
        Without rows whose id exists already; `problems` lists them.

    Raises
    ------
    hetviz.errors.HetvizError
        If the method cannot place new items; the message names some that can.
    hetviz.errors.DataError
        If there are no rows, none of them is new, or they do not match the dataset.
    hetviz.errors.ParameterError
        If `k` is below 1.

    Notes
    -----
    Costs the same as ``transform``, plus O(m n (p + d)) for m new and n other rows.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("world")
    >>> model = hetviz.get_method("pca")().fit(data)
    >>> table = data["countries"].table.iloc[:1].assign(id="new")
    >>> placed = hetviz.place_rows(data, model, table, "countries")
    >>> placed.neighbours["neighbour"][0] == data["countries"].ids[0]
    True
    """
    if k < 1:
        raise ParameterError(f"place_rows: k = {k} must be 1 or more.")
    model = fitted_run.model if isinstance(fitted_run, FittedRun) else fitted_run
    check_places(model, data)
    owner = data[dataset]
    problems: list[Problem] = []
    new, column_links = new_rows_of(data, owner, rows, media, problems)
    embedding = model.transform(new, [*column_links, *links])
    places = coordinates_of(data, model.embedding_)
    Y = embedding.coordinates[owner.name]
    problems += [
        Problem("no-place", f"new rows of {owner.name!r}", "it has no place", str(text))
        for text in new.ids[~embedding.placed[owner.name]]
    ]
    uncertainty = _row_uncertainty(owner, new, Y, places[owner.name])
    return RowPlacement(
        new,
        embedding,
        _uncertainty_table(owner, new, uncertainty),
        _neighbours(data, places, new, Y, k),
        tuple(dict.fromkeys(problems)),
    )


def check_places(model: BaseEmbedder, data: HeteroData) -> None:
    """Raise HetvizError for a method that cannot place new items; name methods that can."""
    if Capability.OUT_OF_SAMPLE in model.card.capabilities:
        if not hasattr(model, "embedding_"):
            raise HetvizError(f"{model.card.title}: call fit before place_rows.")
        return
    raise HetvizError(cannot_place(model.card.title, data))


def cannot_place(title: str, data: HeteroData) -> str:
    """Return a message that a method cannot place new items, with the methods that can."""
    alternatives = [
        card.title
        for card in methods()
        if Capability.OUT_OF_SAMPLE in card.capabilities and not card.reasons_against(data)
    ]
    message = f"{title} cannot place new items without moving the others."
    return (
        f"{message} For these data, these can: {', '.join(alternatives)}."
        if alternatives
        else message
    )


def new_rows_of(
    data: HeteroData,
    owner: Dataset,
    rows: pd.DataFrame | Dataset,
    media: Sequence[object] | None,
    problems: list[Problem],
) -> tuple[Dataset, list[NewLink]]:
    """Return the rows with new ids and the links listed in their columns."""
    where = f"new rows of {owner.name!r}"
    if isinstance(rows, Dataset):
        new_rows = rows if rows.name == owner.name else replace(rows, name=owner.name)
        new_positions = _new_ids(where, owner, list(new_rows.ids), problems)
        all_new = len(new_positions) == len(new_rows)
        return (new_rows if all_new else new_rows.as_new(new_positions, np.arange(len(owner)))), []
    if not len(rows):
        raise DataError.of("no-rows", where, "there are no rows", remedy="Give at least one row.")
    if "id" not in rows.columns:
        remedy = f"Available: {', '.join(map(str, rows.columns[:20]))}."
        raise DataError.of("unknown-column", where, "there is no id column", "id", remedy)
    new_positions = _new_ids(where, owner, [str(text) for text in rows["id"]], problems)
    table = rows.iloc[new_positions].reset_index(drop=True)
    ids = [str(text) for text in table.pop("id")]
    column_links: list[NewLink] = []
    for name in table.columns:
        if name in data.datasets and name != owner.name:
            column_links += _links_of_column(
                data[str(name)], owner.name, ids, table[name], where, problems
            )
    known_columns = [] if owner.table is None else list(owner.table.columns)
    known_columns += [*(owner.feature_names or ()), *data.datasets]
    problems += [
        Problem(
            "unused-column",
            where,
            "the dataset has no such column, so it is ignored",
            str(name),
            severity="note",
        )
        for name in table.columns
        if name not in known_columns
    ]
    new_media = None if media is None else [media[row] for row in new_positions]
    return make_new_rows(owner, ids, table, new_media, problems), column_links


def _new_ids(where: str, owner: Dataset, ids: list[str], problems: list[Problem]) -> Ints:
    """Return the positions of ids that do not exist yet."""
    is_known = owner.find(ids) >= 0
    if not ids or is_known.all():
        message = "all ids already exist" if ids else "there are no rows"
        example = ids[0] if ids else ""
        raise DataError.of("no-rows", where, message, example, "Give at least one new row.")
    problems += [
        Problem(
            "known-id",
            where,
            "the id already exists and its item stays unchanged",
            text,
            severity="note",
        )
        for text, exists in zip(ids, is_known, strict=True)
        if exists
    ]
    return np.flatnonzero(~is_known)


def _links_of_column(
    other: Dataset, name: str, ids: list[str], cells: pd.Series, where: str, problems: list[Problem]
) -> list[NewLink]:
    """Return links to the items that the cells of a column list."""
    by_title = {str(title): str(id) for id, title in zip(other.ids, other.titles, strict=True)}
    links: list[NewLink] = []
    for text, cell in zip(ids, cells, strict=True):
        parts = [] if not isinstance(cell, str) else [part.strip() for part in cell.split(";")]
        for part in dict.fromkeys(filter(None, parts)):
            target = part if other.find([part])[0] >= 0 else by_title.get(part)
            if target is None:
                message = f"no item of {other.name!r} has this name, so the link is left out"
                place = f"{where}, id {text}, column {other.name}"
                problems.append(Problem("unknown-id", place, message, part, severity="note"))
            else:
                links.append((name, text, other.name, target))
    return links


def _row_uncertainty(
    owner: Dataset, new: Dataset, Y_new: Floats, Y: Floats
) -> PlaceUncertainty | None:
    """Return the uncertainty of the rows; None where nothing describes them."""
    usual = 0.0
    if new.X is not None and owner.X is not None:
        usual = usual_distance(owner.X, np.random.default_rng(0))
    elif new.kernel is None and new.distance is None:
        return None
    parts = []
    for start in range(0, len(new), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        if new.X is not None and owner.X is not None:
            squared = cross_squared_distances(new.X[rows], owner.X)
        elif new.distance is not None:
            squared = np.asarray(new.distance[rows] ** 2, dtype=np.float64)
        else:
            squared = -np.asarray(new.kernel, dtype=np.float64)[rows]
        parts.append(place_uncertainty(squared, Y_new[rows], Y, usual))
    return PlaceUncertainty(
        np.concatenate([part.elsewhere for part in parts]),
        np.concatenate([part.unlike for part in parts]),
        parts[0].k,
    )


def _uncertainty_table(
    owner: Dataset, new: Dataset, uncertainty: PlaceUncertainty | None
) -> pd.DataFrame:
    missing: Floats = np.full(len(new), np.nan)
    elsewhere = missing if uncertainty is None else uncertainty.elsewhere
    unlike = missing if uncertainty is None else uncertainty.unlike
    total = (
        missing if uncertainty is None else np.where(np.isnan(elsewhere), np.nan, uncertainty.total)
    )
    k = 0 if uncertainty is None else uncertainty.k
    why = [_uncertainty_reason(owner.name, a, b, k) for a, b in zip(elsewhere, unlike, strict=True)]
    return pd.DataFrame(
        {"id": new.ids, "doubt": total, "elsewhere": elsewhere, "unlike": unlike, "why": why}
    )


def _uncertainty_reason(name: str, elsewhere: float, unlike: float, k: int) -> str:
    if k == 0:
        return "It has only links, so its place cannot be checked."
    if np.isnan(elsewhere):
        return "It has no place."
    if unlike >= max(elsewhere, 0.1):
        times = 1.0 / (1.0 - unlike) if unlike < 1.0 else np.inf
        return (
            f"It is unlike all {name}. The most similar one is {times:.1f} times as far as usual."
        )
    if n := round(elsewhere * k):
        return f"{n} of the {k} most similar {name} are elsewhere on the map."
    return f"The most similar {name} are close to it."


def _neighbours(
    data: HeteroData, places: Mapping[str, Floats], new: Dataset, Y_new: Floats, k: int
) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {
        name: [] for name in ("id", "dataset", "neighbour", "title", "rank", "distance")
    }
    placed = {name: np.flatnonzero(np.isfinite(Y).all(axis=1)) for name, Y in places.items()}
    for row in np.flatnonzero(np.isfinite(Y_new).all(axis=1)):
        for name, Y in places.items():
            distances = np.sqrt(((Y[placed[name]] - Y_new[row]) ** 2).sum(axis=1))
            order = np.argsort(distances, kind="stable")[:k]
            nearest = placed[name][order]
            columns["id"] += [new.ids[row]] * len(nearest)
            columns["dataset"] += [name] * len(nearest)
            columns["neighbour"] += data[name].ids[nearest].tolist()
            columns["title"] += data[name].titles[nearest].tolist()
            columns["rank"] += range(1, len(nearest) + 1)
            columns["distance"] += distances[order].tolist()
    return pd.DataFrame(columns)
