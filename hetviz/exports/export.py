"""Export of a map to any supported file format."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from hetviz.data import Embedding, HeteroData, SavedView
from hetviz.errors import ParameterError
from hetviz.exports.containers import anndata_bytes, projector_bytes
from hetviz.exports.figures import (
    FIGURE_FORMATS,
    FigureSettings,
    colouring_of,
    curve_bytes,
    map_bytes,
    settings_for,
)
from hetviz.exports.interactive import interactive_map
from hetviz.exports.networks import GRAPH_FORMATS, network_bytes
from hetviz.exports.project import project_bytes
from hetviz.exports.reproduce import embedding_recipe
from hetviz.exports.stories import load_views, resolve_views
from hetviz.exports.tables import (
    TABLE_FORMATS,
    atlas_table,
    coordinates_table,
    neighbors_table,
    selection_table,
    table_bytes,
)
from hetviz.exports.writing import write_file
from hetviz.features.spaces.pins import all_pinned_rows
from hetviz.io.intake.guidance import guidance_csv
from hetviz.metrics.trust.spread import SPREAD, Spread
from hetviz.runs.embed.run import EmbeddingOrigin

EXPORT_FORMS = {
    "map": (*FIGURE_FORMATS, "html"),
    "curves": FIGURE_FORMATS,
    "coordinates": TABLE_FORMATS,
    "neighbors": TABLE_FORMATS,
    "selection": TABLE_FORMATS,
    "atlas": ("parquet",),
    "guidance": ("csv",),
    "graph": GRAPH_FORMATS,
    "anndata": ("h5ad",),
    "projector": ("zip",),
    "project": ("hetviz",),
    "recipe": ("zip",),
}
"""File formats by kind of export."""

_CONTAINERS = {"anndata": anndata_bytes, "projector": projector_bytes}


def export(
    data: HeteroData,
    embedding: Embedding,
    path: str | Path,
    what: str | None = None,
    *,
    kind: str | None = None,
    colour: str = "",
    size: str | None = None,
    width: float | None = None,
    height: float | None = None,
    dpi: int | None = None,
    font_size: float | None = None,
    names: str = "groups",
    hidden: Collection[str] = (),
    caption: bool = False,
    terrain: bool = True,
    palette: Mapping[str, str] | None = None,
    title: str = "",
    held_out: HeteroData | None = None,
    rows: ArrayLike | None = None,
    k: int = 10,
    exact: bool = False,
    spread: Spread | None = None,
    views: Sequence[SavedView] | str | Path = (),
) -> Path:
    """Write a figure, a table or an interactive page of a map.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Rows are matched by dataset and id.
    path : str or path
        A file. Its extension gives the format.
    what : str, optional
        "map", "curves", "coordinates", "neighbors", "selection", "atlas", "guidance", "graph",
        "anndata", "projector", "project" or "recipe".
        By default a picture of the map or its coordinates, as the format allows. "curves" are
        satisfaction curves of the links (of the comparisons if there are no links). "atlas" is
        the Parquet file that Embedding Atlas opens with
        ``embedding-atlas FILE --x x --y y --text text --neighbors neighbors``. "graph" is the map
        with its links as GraphML, GEXF (Gephi) or Cytoscape JSON (``.cyjs``), "anndata" an
        ``.h5ad`` with the map as ``obsm["X_hetviz"]``, "projector" a zip for the TensorBoard
        embedding projector, "project" a project file (``.hetviz``), which the app opens, "recipe"
        a zip with the data, a recipe and a script that give the same map again. It needs a map of
        `hetviz.embed` or `hetviz.load_run`, as it was returned.
    kind : str, optional
        The format, instead of the extension.
    colour : str
        Column that colours the map: ``"dataset"``, the title of an option such as
        ``"Group of emoji"``, or its key. If empty, the column whose groups the map
        separates best.
    size : {"one column", "two columns", "slide"}, optional
        Size of figures by their use: 85 mm (the default), 174 mm, or a slide of 16:9 with larger
        text, as a PNG of 1920 x 1080 pixels. The next four change parts of it.
    width, height : float, optional
        Size of figures in millimetres. By default the height follows from the plot.
    dpi : int, optional
        Resolution of a PNG, by default 300.
    font_size : float, optional
        Size of text in points. Dots follow it. By default it follows from the width.
    names : {"groups", "groups and items", "items", "none", "regions", "regions and items"}
        Names written on the map: of the groups of the colour, of regions as `hetviz.regions` finds
        them, and of items.
    hidden : collection of str
        Datasets to leave out of pictures.
    caption : bool
        Whether to write a caption below the map.
    terrain : bool
        Whether to draw densities, or lines of equal numbers, below the items.
    palette : mapping of str to str, optional
        Colours of some categories in figures and pages, such as ``{"Food drink": "#e46e1b"}``.
        The others keep theirs.
    title : str
        Method of the map, for captions and pages.
    held_out : HeteroData, optional
        For curves: links hidden from the method.
    rows : array of int, optional
        Global rows for "selection".
    k : int
        Number of nearest items of each dataset, for "neighbors" and "atlas".
    exact : bool
        CSV only: write texts unchanged, even if a spreadsheet would read them as a formula.
    spread : Spread, optional
        Result of `hetviz.spread`: "coordinates" and "selection" get a column of it.
    views : sequence of SavedView, or path
        Views that the interactive page presents one after the other, and that a project or recipe
        keeps. A path is read by `hetviz.load_views`.

    Returns
    -------
    path

    Raises
    ------
    hetviz.errors.ParameterError
        For an unknown format, or one that `what` does not have.
    hetviz.errors.DataError
        If the file cannot be written, or the data have nothing to export.
    """
    form = (kind or Path(path).suffix.removeprefix(".")).lower()
    chosen = what or next((name for name, forms in EXPORT_FORMS.items() if form in forms), "map")
    if chosen not in EXPORT_FORMS:
        raise ParameterError(f"what = {what!r} must be one of {', '.join(EXPORT_FORMS)}.")
    if form not in EXPORT_FORMS[chosen]:
        allowed = ", ".join(EXPORT_FORMS[chosen])
        raise ParameterError(
            f"{chosen} as {form or 'a file without an extension'} is not supported. Use {allowed}."
        )
    settings = settings_for(
        size,
        width=width,
        height=height,
        dpi=dpi,
        font_size=font_size,
        colour=colour,
        names=names,
        hidden=tuple(hidden),
        caption=caption,
        terrain=terrain,
        palette=dict(palette or {}),
    )
    saved_views = load_views(views) if isinstance(views, (str, Path)) else views
    if chosen == "map" and form == "html":
        colours = colouring_of(data, embedding, colour, settings.palette)
        resolved = resolve_views(data, embedding, saved_views, colours, hidden)
        made = embedding.made
        pins = made.run.params.get("pins") if isinstance(made, EmbeddingOrigin) else None
        page = interactive_map(
            data,
            embedding,
            colours,
            title=title,
            hidden=hidden,
            names=names,
            views=resolved,
            pins=all_pinned_rows(data, pins).tolist(),
        )
        return write_file(path, page.encode())
    if chosen == "map":
        return write_file(path, map_bytes(data, embedding, settings, form, title=title))
    if chosen == "curves":
        return write_file(path, _curves(data, embedding, held_out, settings, form))
    if chosen == "graph":
        return write_file(path, network_bytes(data, embedding, form))
    if chosen == "project":
        return write_file(path, project_bytes(data, embedding, Path(path).stem, saved_views))
    if chosen == "recipe":
        return write_file(path, embedding_recipe(embedding, settings, title, saved_views))
    if chosen in _CONTAINERS:
        return write_file(path, _CONTAINERS[chosen](data, embedding))
    if chosen == "guidance":
        return write_file(path, guidance_csv(data).encode())
    codes = {} if spread is None else {SPREAD: spread.share}
    tables: dict[str, Any] = {
        "coordinates": lambda: coordinates_table(data, embedding, codes),
        "neighbors": lambda: neighbors_table(data, embedding, k),
        "selection": lambda: selection_table(data, embedding, () if rows is None else rows, codes),
        "atlas": lambda: atlas_table(data, embedding, k),
    }
    return write_file(path, table_bytes(tables[chosen](), form, exact=exact))


def _curves(
    data: HeteroData,
    embedding: Embedding,
    held_out: HeteroData | None,
    settings: FigureSettings,
    form: str,
) -> bytes:
    from hetviz.metrics.fit.curves import curves

    curves_by_kind = curves(data, embedding, held_out)
    kind = next(
        (name for name in ("links", "comparisons", "apart") if name in curves_by_kind), None
    )
    if kind is None:
        raise ParameterError("A curve needs links or comparisons, and the data have none.")
    return curve_bytes(curves_by_kind[kind], kind, settings, form)
