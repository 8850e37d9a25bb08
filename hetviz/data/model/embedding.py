"""Embedding of the rows of several datasets in one space."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from hetviz._higher_layers import call_implementation
from hetviz._text import round_percent
from hetviz._types import Array, Bools, Floats, Texts
from hetviz.data.model import checks
from hetviz.data.model.diagnostics import Diagnostic
from hetviz.data.model.immutable import Immutable
from hetviz.errors import DataError, ParameterError

_AXES = ("x", "y", "z")
_MIN_POINTS_FOR_TSNE = 4
DRAWN_NOTE = "neighbour map"
"""Note of an embedding that is drawn by other coordinates than its axes."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Embedding(Immutable):
    """Coordinates of the rows of several datasets in one space.

    ``embedding["wines"]`` are the coordinates of one dataset, iteration gives the names, and
    ``np.asarray(embedding)`` all coordinates in order.

    Parameters
    ----------
    coordinates : mapping of str to array of shape (n_i, k)
        ``coordinates[name][r]`` are the coordinates of row r of the dataset; NaN if it has none.
    ids : mapping of str to sequence of str, optional
        Row ids; default: row numbers as text.
    entity : mapping of str to str, optional
        Entity of each dataset; default: its name.
    placed : mapping of str to array of bool, shape (n_i,), optional
        Whether each row has coordinates; default: derived from NaN.
    components : mapping of str to int, optional
        Connected component of each dataset in the graph of linked datasets. Coordinates of
        different components cannot be compared.
    note : str
        Origin of the coordinates, in words.
    diagnostics : mapping of str to Diagnostic, optional
        Diagnostics of the method, see `hetviz.data.model.diagnostics.Diagnostic`.
    drawn : mapping of str to array of shape (n_i, 2), optional
        2-D coordinates for drawing if the map is not drawn by its axes, see `planar`. Distances,
        similarities and clusters are measured on the axes in any case.

    Raises
    ------
    hetviz.errors.DataError
        If shapes are inconsistent, or coordinates of a placed row are not finite.
    """

    coordinates: Mapping[str, Floats]
    ids: Mapping[str, Texts]
    entity: Mapping[str, str]
    placed: Mapping[str, Bools]
    components: Mapping[str, int]
    note: str
    diagnostics: Mapping[str, Diagnostic]
    drawn: Mapping[str, Floats] | None = None
    # Source of an embedding by `hetviz.embed`; copies and saved embeddings have none.
    made: Any = field(init=False, default=None, metadata={"saved": False})

    def __init__(
        self,
        coordinates: Mapping[str, ArrayLike],
        ids: Mapping[str, Sequence[object] | Array] | None = None,
        entity: Mapping[str, str] | None = None,
        placed: Mapping[str, ArrayLike] | None = None,
        components: Mapping[str, int] | None = None,
        *,
        note: str = "",
        diagnostics: Mapping[str, Diagnostic] | None = None,
        drawn: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        given: object = coordinates
        if not isinstance(given, Mapping):
            message = "a dictionary of coordinates by dataset is needed"
            kind = type(given).__name__
            raise DataError.of("not-mapping", "embedding", message, kind, "Write {'name': Y}.")
        gate = checks.ProblemCollector()
        arrays: dict[str, Floats] = {}
        names: dict[str, Texts] = {}
        masks: dict[str, Bools] = {}
        width: int | None = None
        for name, values in coordinates.items():
            where = f"embedding of {name!r}"
            try:
                Y = np.array(values, dtype=np.float64)
            except (TypeError, ValueError):
                gate.refuse("not-numbers", where, "the coordinates are not all numbers")
                continue
            if Y.ndim != 2 or Y.shape[1] == 0 or (width is not None and Y.shape[1] != width):
                gate.refuse("bad-shape", where, f"shape (rows, {width or 'k'}) is needed", Y.shape)
                continue
            width = Y.shape[1]
            finite = np.isfinite(Y).all(axis=1)
            mask = finite
            if placed is not None and name in placed:
                mask = np.asarray(placed[name], dtype=bool)
            texts = _ids_of(ids, name, len(Y))
            if mask.shape != (len(Y),) or len(texts) != len(Y):
                gate.refuse("bad-shape", where, "ids and placed need one entry for each row")
                continue
            for row in np.flatnonzero(mask & ~finite):
                gate.refuse(
                    "not-finite", f"{where}, id {texts[row]}", "the coordinates are not finite"
                )
            Y[~mask] = np.nan
            arrays[name] = checks.read_only(Y)
            masks[name] = checks.read_only(mask)
            names[name] = checks.read_only(texts)
        if not coordinates:
            gate.refuse("no-datasets", "embedding", "there are no coordinates")
        picture = None if drawn is None else _check_picture(drawn, masks, gate)
        gate.close()
        store: dict[str, Any] = {
            "coordinates": MappingProxyType(arrays),
            "ids": MappingProxyType(names),
            "entity": MappingProxyType({name: (entity or {}).get(name, name) for name in arrays}),
            "placed": MappingProxyType(masks),
            "components": MappingProxyType(
                {name: int((components or {}).get(name, 0)) for name in arrays}
            ),
            "note": note,
            "diagnostics": MappingProxyType(dict(diagnostics or {})),
            "drawn": picture,
        }
        for key, value in store.items():
            object.__setattr__(self, key, value)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {len(Y):,}" for name, Y in self.coordinates.items())
        missing = f"; {self.n_unplaced:,} without a place" if self.n_unplaced else ""
        return f"Embedding({self.n_components}-D: {sizes}{missing})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.stacked(), dtype=dtype)

    def __getitem__(self, name: str) -> Floats:
        if name not in self.coordinates:
            similar = difflib.get_close_matches(str(name), self.coordinates, n=1)
            hint = f" Did you mean {similar[0]!r}?" if similar else ""
            names = ", ".join(map(repr, self.coordinates))
            raise KeyError(f"The map has no dataset {name!r}.{hint} Datasets: {names}.")
        return self.coordinates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.coordinates)

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object] | tuple[dict[str, object], dict[str, object]]:
        """Return the notebook display: a widget if possible, else a picture."""
        bundle: dict[str, Any] | tuple[dict[str, Any], dict[str, Any]] = call_implementation(
            "mimebundle", self
        )
        return bundle

    def widget(self, data: object = None, **options: object) -> Any:
        """Return the map as an interactive widget for a notebook.

        Without arguments, return the widget that displays the embedding.

        Parameters
        ----------
        data : HeteroData, optional
            Data of the map; known for an embedding that `hetviz.embed` returned.
        **options
            ``colour``, ``height`` and other options of `hetviz.ui.notebook.widget.MapWidget`.

        Returns
        -------
        MapWidget

        Raises
        ------
        hetviz.errors.MissingExtraError
            If anywidget is not installed: ``pip install "hetviz[notebook]"``.
        hetviz.errors.DataError
            If the data have other items.
        """
        return call_implementation("widget", self, data, **options)

    def with_made(self, made: object) -> Self:
        """Return the same embedding with its source."""
        copy = object.__new__(type(self))
        copy.__dict__.update(vars(self), made=made)
        return copy

    @property
    def n_components(self) -> int:
        """Number of axes k."""
        return int(next(iter(self.coordinates.values())).shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows of all datasets."""
        return sum(map(len, self.coordinates.values()))

    @property
    def n_unplaced(self) -> int:
        """Number of rows without coordinates."""
        return sum(int((~mask).sum()) for mask in self.placed.values())

    def stacked(self) -> Floats:
        """Return the coordinates of all datasets in order, shape (n_rows, k)."""
        return np.vstack(list(self.coordinates.values()))

    def stacked_placed(self) -> Bools:
        """Return a mask of the rows with coordinates, shape (n_rows,), datasets in order."""
        return np.concatenate(list(self.placed.values()))

    @property
    def axis_names(self) -> list[str]:
        """Names of the axes: x, y, z, or c1 .. ck for more than three."""
        k = self.n_components
        return list(_AXES[:k]) if k <= 3 else [f"c{axis + 1}" for axis in range(k)]

    def frame(self) -> pd.DataFrame:
        """Return a table with the columns dataset, id, one per axis, and placed."""
        frames = []
        for name, Y in self.coordinates.items():
            part = pd.DataFrame(Y, columns=self.axis_names)
            part.insert(0, "id", self.ids[name])
            part.insert(0, "dataset", name)
            part["placed"] = self.placed[name]
            frames.append(part)
        return pd.concat(frames, ignore_index=True)

    def moved(self, coordinates: Mapping[str, Any]) -> Embedding:
        """Return the same items with other coordinates; non-finite rows have none.

        Parameters
        ----------
        coordinates : mapping of str to array of shape (n, k)
            Coordinates of every dataset.
        """
        return Embedding(
            coordinates,
            self.ids,
            self.entity,
            components=self.components,
            note=self.note,
            diagnostics=self.diagnostics,
        )

    def drawn_beside(self, new: Mapping[str, Floats]) -> dict[str, Floats] | None:
        """Return drawing coordinates of new points, from their nearest neighbours on the axes.

        Parameters
        ----------
        new : mapping of str to array of shape (m, k)

        Returns
        -------
        dict of str to array of shape (m, 2), or None
            None if the map is drawn by its axes.
        """
        if self.drawn is None:
            return None
        from hetviz.core.layout.axes_map import place_new_points

        pictures = {}
        for name, Y in new.items():
            part = self.components.get(name, 0)
            mates = [other for other in self.coordinates if self.components[other] == part]
            fitted_names = mates or list(self.coordinates)
            fitted_places = np.vstack([self.coordinates[other] for other in fitted_names])
            places = np.vstack([self.drawn[other] for other in fitted_names])
            pictures[name] = place_new_points(
                np.asarray(Y, dtype=np.float64), fitted_places, places
            )
        return pictures

    def joined(self, new: Embedding) -> Embedding:
        """Return this embedding with the rows of `new` appended, dataset by dataset."""
        if new.n_components != self.n_components:
            raise DataError.of(
                "bad-shape", "embedding", "the numbers of axes differ", str(new.n_components)
            )
        drawn: dict[str, Any] | None = None if self.drawn is None else dict(self.drawn)
        if drawn is not None:
            for name, Z in (new.drawn or self.drawn_beside(new.coordinates) or {}).items():
                drawn[name] = np.vstack([drawn[name], Z]) if name in drawn else Z
        coordinates: dict[str, Any] = dict(self.coordinates)
        ids: dict[str, Any] = dict(self.ids)
        placed: dict[str, Any] = dict(self.placed)
        for name, Y in new.coordinates.items():
            if name in coordinates:
                coordinates[name] = np.vstack([coordinates[name], Y])
                ids[name] = np.concatenate([ids[name], new.ids[name]])
                placed[name] = np.concatenate([placed[name], new.placed[name]])
            else:
                coordinates[name], ids[name], placed[name] = Y, new.ids[name], new.placed[name]
        entity = {**new.entity, **self.entity}
        components = {**new.components, **self.components}
        return replace(
            self,
            coordinates=coordinates,
            ids=ids,
            placed=placed,
            entity=entity,
            components=components,
            drawn=drawn,
        )

    def planar(self, how: str = "auto") -> Embedding:
        """Return a 2-D embedding for drawing; its `note` names the projection.

        Parameters
        ----------
        how : {"auto", "axes", "pca", "tsne"}
            The first two axes, principal components, or t-SNE. "auto" uses `drawn` if present, one
            or two axes as they are, and principal components otherwise. t-SNE of fewer than four
            points, or of one axis, is replaced by principal components.

        Notes
        -----
        t-SNE costs O(n log n) per iteration and is seeded.
        """
        if how not in ("auto", "axes", "pca", "tsne"):
            raise ParameterError(f"planar: how = {how!r} must be one of auto, axes, pca, tsne.")
        k = self.n_components
        if how == "auto" and self.drawn is not None:
            full_note = (
                f"{self.note}; {DRAWN_NOTE} of {k} axes"
                if self.note
                else f"{DRAWN_NOTE} of {k} axes"
            )
            return replace(self, coordinates=self.drawn, note=full_note, drawn=None)
        if how == "auto":
            how = "axes" if k <= 2 else "pca"
        mask = self.stacked_placed()
        Y = self.stacked()
        flat = np.full((len(Y), 2), np.nan)
        points = Y[mask]
        if how == "tsne" and (len(points) < _MIN_POINTS_FOR_TSNE or k == 1):
            how = "pca"
        if how == "axes":
            flat[mask, : min(k, 2)] = points[:, :2]
            flat[mask, k:] = 0.0
            note = "the first two axes" if k > 2 else "the axes themselves"
        elif how == "pca":
            flat[mask], share = _principal(points)
            note = f"two principal components, {round_percent(share)} of the variance of {k} axes"
        else:
            flat[mask] = _tsne(points)
            note = f"t-SNE of {k} axes"
        sizes = np.cumsum([len(part) for part in self.coordinates.values()])[:-1]
        parts = dict(zip(self.coordinates, np.split(flat, sizes), strict=True))
        full_note = f"{self.note}; {note}" if self.note else note
        return replace(self, coordinates=parts, note=full_note, drawn=None)


def _check_picture(
    drawn: Mapping[str, ArrayLike], masks: Mapping[str, Bools], gate: checks.ProblemCollector
) -> Mapping[str, Floats] | None:
    """Return checked drawing coordinates; NaN for rows without coordinates."""
    pictures: dict[str, Floats] = {}
    for name, mask in masks.items():
        Z = np.array(drawn.get(name, np.empty((0, 2))), dtype=np.float64)
        if Z.shape != (len(mask), 2):
            gate.refuse(
                "bad-shape", f"picture of {name!r}", f"shape ({len(mask)}, 2) is needed", Z.shape
            )
            continue
        if not np.isfinite(Z[mask]).all():
            gate.refuse("not-finite", f"picture of {name!r}", "coordinates are not finite")
        Z[~mask] = np.nan
        pictures[name] = checks.read_only(Z)
    return MappingProxyType(pictures)


def _ids_of(ids: Mapping[str, Sequence[object] | Array] | None, name: str, n: int) -> Texts:
    out = np.empty(n, dtype=object)
    own_ids = None if ids is None else ids.get(name)
    values: Sequence[object] | Array = (
        [str(row) for row in range(n)] if own_ids is None else own_ids
    )
    if len(values) != n:
        return np.empty(0, dtype=object)
    out[:] = [str(text) for text in values]
    return out


def _principal(points: Floats) -> tuple[Floats, float]:
    out = np.zeros((len(points), 2))
    if len(points) == 0:
        return out, 1.0
    centred = points - points.mean(axis=0)
    _, singular, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes[:2]
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.where(axes[np.arange(len(axes)), largest] < 0, -1.0, 1.0)[:, None]
    out[:, : len(axes)] = centred @ axes.T
    energy = float((singular**2).sum())
    return out, float((singular[:2] ** 2).sum()) / energy if energy else 1.0


def _tsne(points: Floats) -> Floats:
    from sklearn.manifold import TSNE

    perplexity = min(30.0, max(1.0, (len(points) - 1) / 3))
    model = TSNE(n_components=2, perplexity=perplexity, init="pca", random_state=0)
    return np.asarray(model.fit_transform(points), dtype=np.float64)
