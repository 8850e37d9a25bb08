"""Saved views of a map for its page, and as files."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

from hetviz._types import Bools
from hetviz.data import Embedding, HeteroData, SavedView
from hetviz.data.queries.saved_views import digest_of_map
from hetviz.errors import DataError, ParameterError
from hetviz.exports.figures import colouring_of
from hetviz.io import gate
from hetviz.plots.colour import Colouring
from hetviz.plots.planar import points_to_draw
from hetviz.plots.saved_views import ResolvedView, resolve_view
from hetviz.workspace import Sessions, is_project, open_project


def load_views(path: str | Path) -> list[SavedView]:
    """Read the saved views of a project file, or of a JSON file.

    Parameters
    ----------
    path : str or path
        A project of the app (``.hetviz``), or a JSON list of `SavedView.to_dict`.

    Returns
    -------
    list of SavedView
        In the order in which they are presented.

    Raises
    ------
    hetviz.errors.DataError
        If the file cannot be read, or has no views.
    """
    path = Path(path)
    content = gate.read_file(path)
    if is_project(path.name, content):
        with tempfile.TemporaryDirectory() as folder:
            sessions = Sessions(Path(folder))
            try:
                state = sessions.get(open_project(content, path.name, sessions)).state
            finally:
                sessions.close()
        return list(state.saved_views)
    try:
        return [SavedView.from_dict(entry) for entry in json.loads(content)]
    except (ValueError, TypeError, RecursionError):
        message = "it is neither a project nor a JSON list of views"
        raise DataError.of("bad-view", path.name, message) from None


def placed_rows(data: HeteroData, embedding: Embedding, hidden: Collection[str]) -> Bools:
    """Return which rows a page has, shape (n_rows,)."""
    placed = points_to_draw(embedding).placed.copy()
    for name in hidden:
        placed[data.offsets[name]] = False
    return placed


def resolve_views(
    data: HeteroData,
    embedding: Embedding,
    views: Sequence[SavedView],
    usual: Colouring,
    hidden: Collection[str] = (),
) -> list[ResolvedView]:
    """Return views as the page of a map shows them."""
    placed = placed_rows(data, embedding, hidden)
    map = digest_of_map(embedding), ""

    def colour_of(key: str) -> Colouring | None:
        try:
            return colouring_of(data, embedding, key)
        except ParameterError:
            return None

    return [resolve_view(data, view, map, placed, colour_of, usual) for view in views]
