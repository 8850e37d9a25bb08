"""New rows on a fitted map: where they lie, how sure that is, and what is near; nothing moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Floats, Ints
from hetviz.algorithms.base import BaseEmbedder, Capability
from hetviz.algorithms.registry import methods
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.measures.out_of_sample import Doubt, doubt, usual_distance
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.data.model.out_of_sample import NewLink
from hetviz.errors import DataError, HetvizError, ParameterError, Problem
from hetviz.features.rows_like import rows_like
from hetviz.metrics.fit.rows import coordinates_of
from hetviz.runs.embed.run import FittedRun

_BLOCK = 256


@dataclass(frozen=True, eq=False)
class Placed:
    """New rows of a dataset on a map.

    Attributes
    ----------
    rows : Dataset
        The new rows, with their features.
    embedding : Embedding
        Of the new rows only.
    doubt : DataFrame
        For each row: id, doubt (0 to 1, the greater of the next two), elsewhere (share of the
        items most like it that are not near it on the map), unlike (0 where it is as like the
        items that are there as they are among each other, towards 1 the less it is), why (in
        words). NaN where it has no place, or nothing to compare by.
    neighbours : DataFrame
        For each row the nearest items of each dataset: id, dataset, neighbour, title, rank,
        distance (on the axes of the map).
    problems : tuple of Problem
        What was passed over, and notes.
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
            near = first[first["dataset"] == name].set_index("id")["neighbour"]
            table[f"nearest_{name}"] = table["id"].map(near)
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
) -> Placed:
    """Place new rows of a dataset on a fitted map; what is on it stays where it is.

    Parameters
    ----------
    data : HeteroData
        What the method was fitted to.
    fitted_run : FittedRun or fitted method
        Also one read by `hetviz.load_model`.
    rows : DataFrame or Dataset
        A table with a column ``id`` and columns as in the table of the dataset; a column with the
        name of another dataset lists ids or titles of its items, as in ``"red; round"``, as
        links. Or rows with features (or a kernel of shape (n_new, n_fitted)) of their own.
    dataset : str
        Which dataset they are rows of.
    media : sequence of bytes, paths or None, optional
        Pictures of the rows of a table.
    links : iterable of (dataset, id, dataset, id[, weight])
        Further links of new rows.
    k : int
        How many neighbours in each dataset.

    Returns
    -------
    Placed
        Without the rows whose id is there already; these are among the problems.

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
    Costs what ``transform`` costs, and O(m n (p + d)) for m new and n other rows.

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
        raise ParameterError(f"place_rows: k = {k}; it must be 1 or more.")
    model = fitted_run.model if isinstance(fitted_run, FittedRun) else fitted_run
    check_places(model, data)
    owner = data[dataset]
    problems: list[Problem] = []
    new, listed = new_rows_of(data, owner, rows, media, problems)
    embedding = model.transform(new, [*listed, *links])
    places = coordinates_of(data, model.embedding_)
    Y = embedding.coordinates[owner.name]
    problems += [
        Problem("no-place", f"new rows of {owner.name!r}", "nothing gives it a place", str(text))
        for text in new.ids[~embedding.placed[owner.name]]
    ]
    found = _doubt(owner, new, Y, places[owner.name])
    return Placed(
        new,
        embedding,
        _table(owner, new, found),
        _neighbours(data, places, new, Y, k),
        tuple(dict.fromkeys(problems)),
    )


def check_places(model: BaseEmbedder, data: HeteroData) -> None:
    """Refuse methods that cannot place new items, with the names of those that could.

    Raises
    ------
    hetviz.errors.HetvizError
    """
    if Capability.OUT_OF_SAMPLE in model.card.capabilities:
        if not hasattr(model, "embedding_"):
            raise HetvizError(f"{model.card.title}: call fit before place_rows.")
        return
    raise HetvizError(cannot_place(model.card.title, data))


def cannot_place(title: str, data: HeteroData) -> str:
    """Say that a method cannot place new items, and which could with these data."""
    able = [
        card.title
        for card in methods()
        if Capability.OUT_OF_SAMPLE in card.capabilities and not card.reasons_against(data)
    ]
    words = f"{title} cannot place new items without moving the others."
    return f"{words} With these data these can: {', '.join(able)}." if able else words


def new_rows_of(
    data: HeteroData,
    owner: Dataset,
    rows: pd.DataFrame | Dataset,
    media: Sequence[object] | None,
    problems: list[Problem],
) -> tuple[Dataset, list[NewLink]]:
    """Return the rows that are not there yet, and the links that columns list.

    Raises
    ------
    hetviz.errors.DataError
        If there are none, or they do not match the dataset.
    """
    where = f"new rows of {owner.name!r}"
    if isinstance(rows, Dataset):
        given = rows if rows.name == owner.name else replace(rows, name=owner.name)
        fresh = _fresh(where, owner, list(given.ids), problems)
        whole = len(fresh) == len(given)
        return (given if whole else given.as_new(fresh, np.arange(len(owner)))), []
    if not len(rows):
        raise DataError(Problem("no-rows", where, "there are no rows", remedy="Give at least one."))
    if "id" not in rows.columns:
        remedy = f"There are: {', '.join(map(str, rows.columns[:20]))}."
        raise DataError(Problem("unknown-column", where, "there is no column of ids", "id", remedy))
    fresh = _fresh(where, owner, [str(text) for text in rows["id"]], problems)
    table = rows.iloc[fresh].reset_index(drop=True)
    ids = [str(text) for text in table.pop("id")]
    listed: list[NewLink] = []
    for name in table.columns:
        if name in data.datasets and name != owner.name:
            listed += _listed(data[str(name)], owner.name, ids, table[name], where, problems)
    known = [] if owner.table is None else list(owner.table.columns)
    known += [*(owner.feature_names or ()), *data.datasets]
    problems += [
        Problem(
            "unused-column",
            where,
            "the dataset has no such column; it is passed over",
            str(name),
            severity="note",
        )
        for name in table.columns
        if name not in known
    ]
    shown = None if media is None else [media[row] for row in fresh]
    return rows_like(owner, ids, table, shown, problems), listed


def _fresh(where: str, owner: Dataset, ids: list[str], problems: list[Problem]) -> Ints:
    """Return which ids are not there yet."""
    known = owner.find(ids) >= 0
    if not ids or known.all():
        what = "every id is there already" if ids else "there are no rows"
        first = ids[0] if ids else ""
        raise DataError(Problem("no-rows", where, what, first, "Give at least one new row."))
    problems += [
        Problem("known-id", where, "it is there already and stays", text, severity="note")
        for text, there in zip(ids, known, strict=True)
        if there
    ]
    return np.flatnonzero(~known)


def _listed(
    other: Dataset,
    name: str,
    ids: list[str],
    cells: pd.Series,
    where: str,
    problems: list[Problem],
) -> list[NewLink]:
    """Return links to the items that the cells of a column list."""
    by_title = {str(title): str(id) for id, title in zip(other.ids, other.titles, strict=True)}
    found: list[NewLink] = []
    for text, cell in zip(ids, cells, strict=True):
        parts = [] if not isinstance(cell, str) else [part.strip() for part in cell.split(";")]
        for part in dict.fromkeys(filter(None, parts)):
            target = part if other.find([part])[0] >= 0 else by_title.get(part)
            if target is None:
                what = f"no item of {other.name!r} is called so; the link is left out"
                place = f"{where}, id {text}, column {other.name}"
                problems.append(Problem("unknown-id", place, what, part, severity="note"))
            else:
                found.append((name, text, other.name, target))
    return found


def _doubt(owner: Dataset, new: Dataset, Y_new: Floats, Y: Floats) -> Doubt | None:
    """Return the doubt of the rows; None where nothing describes them."""
    usual = 0.0
    if new.X is not None and owner.X is not None:
        usual = usual_distance(owner.X, np.random.default_rng(0))
    elif new.kernel is None and new.distance is None:
        return None
    found = []
    for start in range(0, len(new), _BLOCK):
        rows = slice(start, start + _BLOCK)
        if new.X is not None and owner.X is not None:
            away = cross_squared_distances(new.X[rows], owner.X)
        elif new.distance is not None:
            away = np.asarray(new.distance[rows] ** 2, dtype=np.float64)
        else:
            away = -np.asarray(new.kernel, dtype=np.float64)[rows]
        found.append(doubt(away, Y_new[rows], Y, usual))
    return Doubt(
        np.concatenate([part.elsewhere for part in found]),
        np.concatenate([part.unlike for part in found]),
        found[0].k,
    )


def _table(owner: Dataset, new: Dataset, found: Doubt | None) -> pd.DataFrame:
    nothing: Floats = np.full(len(new), np.nan)
    elsewhere = nothing if found is None else found.elsewhere
    unlike = nothing if found is None else found.unlike
    total = nothing if found is None else np.where(np.isnan(elsewhere), np.nan, found.total)
    k = 0 if found is None else found.k
    why = [_why(owner.name, a, b, k) for a, b in zip(elsewhere, unlike, strict=True)]
    return pd.DataFrame(
        {"id": new.ids, "doubt": total, "elsewhere": elsewhere, "unlike": unlike, "why": why}
    )


def _why(name: str, elsewhere: float, unlike: float, k: int) -> str:
    if k == 0:
        return "It has only links: nothing else to judge its place by."
    if np.isnan(elsewhere):
        return "It has no place."
    if unlike >= max(elsewhere, 0.1):
        times = 1.0 / (1.0 - unlike) if unlike < 1.0 else np.inf
        return f"It is unlike all {name}: the nearest is {times:.1f} times as far as is usual."
    n = round(elsewhere * k)
    if n:
        return f"{n} of the {k} {name} most like it lie elsewhere on the map."
    return f"The {name} most like it lie around it."


def _neighbours(
    data: HeteroData, places: Mapping[str, Floats], new: Dataset, Y_new: Floats, k: int
) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {
        name: [] for name in ("id", "dataset", "neighbour", "title", "rank", "distance")
    }
    there = {name: np.flatnonzero(np.isfinite(Y).all(axis=1)) for name, Y in places.items()}
    for row in np.flatnonzero(np.isfinite(Y_new).all(axis=1)):
        for name, Y in places.items():
            away = np.sqrt(((Y[there[name]] - Y_new[row]) ** 2).sum(axis=1))
            order = np.argsort(away, kind="stable")[:k]
            near = there[name][order]
            columns["id"] += [new.ids[row]] * len(near)
            columns["dataset"] += [name] * len(near)
            columns["neighbour"] += data[name].ids[near].tolist()
            columns["title"] += data[name].titles[near].tolist()
            columns["rank"] += range(1, len(near) + 1)
            columns["distance"] += away[order].tolist()
    return pd.DataFrame(columns)
