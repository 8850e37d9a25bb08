"""Map widget for notebooks, with selection, colours and guidance."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import uuid4

import anywidget
import numpy as np
import pandas as pd
import traitlets

from hetviz._types import Ints
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData, Links
from hetviz.data.edits.adding import add_statements
from hetviz.data.edits.by_id import rows_by_id
from hetviz.errors import DataError, HetvizError, ParameterError
from hetviz.exports.page import picture_data_url
from hetviz.features.relations.grouping import links_between
from hetviz.metrics.color_choice import find_best_color
from hetviz.metrics.trust.consequences import Consequences, consequences
from hetviz.plots.colour import ColourOption, colour_options, find_option
from hetviz.runs.embed.run import fit_run
from hetviz.ui.item.item import find_item
from hetviz.ui.map import description
from hetviz.ui.map.component.assets import asset_version, text_assets
from hetviz.ui.map.map_requests import (
    HANDLERS,
    MapRequest,
    MapResponse,
    OpenProject,
    RequestError,
    find_array,
)
from hetviz.ui.map_data import layers, selection_codec
from hetviz.ui.map_data.array_cache import ARRAYS, PackedArray
from hetviz.ui.notebook.still import still_svg
from hetviz.workspace import MapResult, State
from hetviz.workspace.commands.state import DisplaySettings

_HERE = Path(__file__).parent
_MAX_SUGGESTIONS = 6

ItemSelection = Mapping[str, Iterable[object]] | pd.DataFrame
"""Items: ids by dataset, or a table with the columns dataset and id."""


def _widget_script() -> str:
    """Return the module that anywidget loads, with the files of the map component."""
    files = {name: text for name, text in text_assets().items() if name.endswith(".js")}
    # "</" would end the script when a notebook is exported as a page.
    modules = json.dumps(files).replace("</", "<\\/")
    widget_script = (_HERE / "widget.js").read_text(encoding="utf-8")
    version = json.dumps(asset_version())
    return f"const VERSION = {version};\nconst MODULES = {modules};\n{widget_script}"


def _widget_style() -> str:
    widget_style = (_HERE / "widget.css").read_text(encoding="utf-8")
    return text_assets()["map.css"] + widget_style


class MapWidget(anywidget.AnyWidget):
    """Interactive map for notebooks.

    Drag to move the map, scroll to zoom, hover over an item for its card, and draw around items
    with the lasso (or with Shift). ``Embedding.widget`` creates one.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Map of the items of these data.
    method : str, optional
        Key of the method that `say` fits again, by default the one of `hetviz.embed`.
    params : mapping of str to object, optional
        Parameters of the method.
    seed : int
        Seed of the method.
    colour : str, optional
        Initial colouring, one of `colours`.
    height : int
        Height of the widget, in pixels.

    Attributes
    ----------
    selection : dict of str to list
        Selected items as ids by dataset. Set it to select items, and ``observe`` it to be notified
        of selections on the map.
    colour : str or None
        Current colouring. Set it to change the colours.

    Raises
    ------
    hetviz.errors.DataError
        If the embedding and the data have no item in common.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("digit-views")
    >>> widget = hetviz.embed(data, "pca").widget()
    >>> widget.selection = {"pixels": ["d0004", "d0005"]}
    >>> widget.selected()["id"].tolist()
    ['d0004', 'd0005']
    """

    _esm = _widget_script()
    _css = _widget_style()
    _spec = traitlets.Dict().tag(sync=True)
    # Set by the browser.
    _selection = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    _hidden: traitlets.List[str] = traitlets.List().tag(sync=True)

    selection = traitlets.Any()
    colour = traitlets.Unicode(allow_none=True, default_value=None)

    def __init__(
        self,
        data: HeteroData,
        embedding: Embedding,
        *,
        method: str | None = None,
        params: Mapping[str, object] | None = None,
        seed: int = 0,
        colour: str | None = None,
        height: int = 520,
    ) -> None:
        self._session = f"notebook-{uuid4().hex}"
        _check_same_items(data, embedding)
        self._rows: Ints = np.empty(0, dtype=np.int64)
        self._version = 0
        self._height = int(height)
        self._method, self._params, self._seed = method, dict(params or {}), int(seed)
        self._history: list[tuple[HeteroData, Embedding]] = []
        self._first_colour = find_best_color(data, embedding)
        self._set_map(data, embedding)
        super().__init__(selection={}, colour=colour)
        self._send_spec()
        self.on_msg(self._on_message)

    def _repr_mimebundle_(
        self, **options: dict[str, object]
    ) -> tuple[dict[str, object], dict[str, object]] | None:
        """Return the widget with a still picture, which GitHub and nbconvert show."""
        shown = super()._repr_mimebundle_(**options)
        if shown is None:
            return None
        bundle, metadata = shown
        still = {"image/svg+xml": still_svg(self._data, self._embedding)}
        return {**bundle, "text/plain": repr(self._embedding), **still}, metadata

    @property
    def data(self) -> HeteroData:
        """Data with all guidance."""
        return self._data

    @property
    def embedding(self) -> Embedding:
        """Shown map."""
        return self._embedding

    @property
    def colours(self) -> list[str]:
        """Titles of the possible colourings."""
        return [option.title for option in self._colour_options()]

    def selected(self) -> pd.DataFrame:
        """Return the selected items with dataset, id and title."""
        items = [find_item(self._data, int(row)) for row in self._rows]
        return pd.DataFrame(
            {
                "dataset": [item.dataset.name for item in items],
                "id": [item.dataset.key(str(item.dataset.ids[item.row])) for item in items],
                "title": [item.title for item in items],
            }
        )

    def say(
        self,
        together: ItemSelection | tuple[ItemSelection, ItemSelection] | bool = False,
        apart: tuple[ItemSelection, ItemSelection] | None = None,
        *,
        weight: float = 1.0,
        progress: Any = None,
    ) -> Consequences:
        """Add guidance (together or apart), fit the method again and show the new map.

        Parameters
        ----------
        together : mapping of str to ids, table, pair of those, or True
            Items that belong together, or a pair of groups, of which each item of the first belongs
            with each of the second. True means the selected items.
        apart : pair of mappings or tables, optional
            Two groups that belong apart.
        weight : float
            Weight of each link, above 0 and up to 1.
        progress : callable, optional
            See `hetviz.progress.Progress`.

        Returns
        -------
        Consequences
            Changes of the map, also in words.

        Raises
        ------
        hetviz.errors.ParameterError
            If there are no items, or the method of the map is unknown.
        hetviz.errors.DataError
            If an item is not in the data.
        """
        if self._method is None:
            raise ParameterError(
                "say: the method of this map is unknown; "
                "call embedding.widget(data, method='mr-sne')."
            )
        if not 0 < weight <= 1:
            raise ParameterError(f"weight = {weight!r} must be above 0 and at most 1.")
        links: list[Links] = []
        if together is not False and together is not None:
            first, second = self._groups(together)
            links += links_between(self._data, first, second, weight, in_turn=True)
        if apart is not None:
            if not isinstance(apart, tuple):
                raise ParameterError(
                    "apart: two groups of items are needed, as apart=(these, those)."
                )
            first, second = self._groups(apart)
            links += links_between(self._data, first, second, -weight, in_turn=True)
        if not links:
            raise ParameterError("say: items are needed for together or apart.")
        updated = add_statements(self._data, links)
        capabilities = get_method(self._method).card.capabilities
        before = self._embedding
        start = before if Capability.WARM_START in capabilities else None
        fitted = fit_run(
            updated.data, self._method, self._params, self._seed, progress, start=start
        )
        self._history.append((self._data, before))
        self._set_map(updated.data, fitted.result.embedding)
        self._send_spec()
        new_links = [*updated.added, *updated.updated]
        return consequences(updated.data, before, fitted.result.embedding, new_links)

    def take_back(self) -> None:
        """Take back the last guidance and restore the map before it.

        Raises
        ------
        hetviz.errors.ParameterError
            If there is no guidance to take back.
        """
        if not self._history:
            raise ParameterError("take_back: there is no guidance to take back on this map.")
        self._set_map(*self._history.pop())
        self._send_spec()

    def _set_map(self, data: HeteroData, embedding: Embedding) -> None:
        self._data, self._embedding = data, embedding
        title = "" if self._method is None else get_method(self._method).card.title
        run = MapResult(
            data.fingerprint(),
            self._method or "",
            self._params,
            self._seed,
            title=title,
            embedding=embedding,
            id=uuid4().hex,
        )
        self._state = State(data=data, runs=(run,), chosen=run.id)

    def _send_spec(self) -> None:
        """Send the description of the map to the browser."""
        hidden = tuple(name for name in self._hidden if name in self._data.datasets)
        view = DisplaySettings(colour=self.colour or self._first_colour, hidden=hidden)
        runs, chosen = self._state.runs, self._state.chosen
        self._state = State(data=self._data, runs=runs, chosen=chosen, view=view)
        spec = description.map_spec(
            self._state,
            self._state.run,
            session=self._session,
            selection=self._rows,
            version=self._version,
        )
        overrides = {"name": "map", "height": f"{self._height}px", "regions": True, "notes": []}
        self._spec = {**spec, **overrides}

    def _colour_options(self) -> list[ColourOption]:
        map_options = layers.layer_options(self._state, self._state.run)
        return [*colour_options(self._data), *map_options]

    def _groups(self, items: object) -> tuple[Ints, Ints | None]:
        if items is True:
            return self._rows, None
        if isinstance(items, tuple):
            if len(items) != 2:
                raise ParameterError(f"two groups are needed, not {len(items)}.")
            return self._rows_of(items[0]), self._rows_of(items[1])
        return self._rows_of(items), None

    def _rows_of(self, items: object) -> Ints:
        """Return the sorted global rows of items given by dataset and id."""
        if items is None:
            items = {}
        if isinstance(items, pd.DataFrame):
            if not {"dataset", "id"} <= set(items.columns):
                raise DataError.of(
                    "no-columns",
                    "selection",
                    "a table of items needs the columns dataset and id",
                    ", ".join(map(str, items.columns)),
                )
            items = {str(name): part["id"].tolist() for name, part in items.groupby("dataset")}
        if not isinstance(items, Mapping):
            raise DataError.of(
                "bad-selection",
                "selection",
                "items are given as {'dataset': [ids]}",
                type(items).__name__,
            )
        rows_by_dataset = [
            rows_by_id(self._data, str(name), list(ids), "selection")
            + self._data.offsets[str(name)].start
            for name, ids in items.items()
        ]
        rows = np.concatenate(rows_by_dataset) if rows_by_dataset else np.empty(0, dtype=np.int64)
        return np.unique(rows).astype(np.int64)

    def _keys_of(self, rows: Ints) -> dict[str, list[object]]:
        keys: dict[str, list[object]] = {}
        for row in rows.tolist():
            item = find_item(self._data, row)
            key = item.dataset.key(str(item.dataset.ids[item.row]))
            keys.setdefault(item.dataset.name, []).append(key)
        return keys

    @traitlets.validate("selection")
    def _valid_selection(self, proposal: traitlets.Bunch) -> dict[str, list[object]]:
        return self._keys_of(self._rows_of(proposal["value"]))

    @traitlets.validate("colour")
    def _valid_colour(self, proposal: traitlets.Bunch) -> str | None:
        name = proposal["value"]
        for option in self._colour_options():
            if name in (option.key, option.title):
                return option.key
        if name is None or find_option(self._data, str(name)) is not None:
            return None if name is None else str(name)
        suggestions = (
            get_close_matches(str(name), self.colours, _MAX_SUGGESTIONS, 0.3) or self.colours
        )
        names = ", ".join(map(repr, suggestions[:_MAX_SUGGESTIONS]))
        raise ParameterError(
            f"colour = {name!r}; there is {names}; widget.colours has all {len(self.colours)}."
        )

    @traitlets.observe("selection")
    def _on_selection(self, change: traitlets.Bunch) -> None:
        rows = self._rows_of(change["new"])
        if np.array_equal(rows, self._rows):
            return
        self._rows, self._version = rows, self._version + 1
        self._send_spec()

    @traitlets.observe("colour")
    def _on_colour(self, change: object) -> None:
        self._send_spec()

    @traitlets.observe("_hidden")
    def _on_hidden(self, change: object) -> None:
        self._send_spec()

    @traitlets.observe("_selection")
    def _on_browser_selection(self, change: traitlets.Bunch) -> None:
        try:
            rows = selection_codec.read_selection(change["new"], self._data)
        except HetvizError:
            # Made on an earlier map: the browser gets the current selection.
            self._version += 1
            self._send_spec()
            return
        self._rows = rows
        self._version = max(self._version, int(change["new"].get("version", 0)))
        self.selection = self._keys_of(rows)

    def _on_message(self, _: object, message: object, buffers: list[bytes]) -> None:
        if not isinstance(message, dict):
            return
        if "request" in message:
            body = bytes(buffers[0]) if buffers else b""
            self._respond(message["request"], str(message.get("path", "")), body)
        elif message.get("trigger") == "colour":
            key = str(message.get("value"))
            keys = {option.key for option in self._colour_options()}
            if key in keys or find_option(self._data, key) is not None:
                self.colour = key
        elif message.get("trigger") == "missing":
            self._send_spec()

    def _respond(self, request: object, path: str, body: bytes) -> None:
        try:
            response = self._find_response(path, body)
        except RequestError as error:
            self.send({"response": request, "status": error.status})
            return
        content, kind = response.content, response.media_type
        if isinstance(content, PackedArray):
            content, kind = content.content, "application/octet-stream"
        elif not isinstance(content, bytes):
            content = json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")
        self.send({"response": request, "status": 200, "media_type": kind}, [content])

    def _find_response(self, path: str, body: bytes) -> MapResponse:
        url = urlsplit(path)
        parts = [unquote(part) for part in url.path.split("/")]
        if len(parts) not in (3, 4) or parts[0] != "hv" or parts[2] != self._session:
            raise RequestError
        request, part = parts[1], "".join(parts[3:])
        if request == "array":
            return MapResponse(find_array(self._session, part), "")
        if request not in HANDLERS:
            raise RequestError
        opened = OpenProject(self._session, self._state, self._data)
        response = HANDLERS[request](opened, MapRequest(part, dict(parse_qsl(url.query)), body))
        if request == "item" and response.content["picture"] is not None:
            response.content["picture"] = self._picture(int(part))
        return response

    def _picture(self, row: int) -> str | None:
        item = find_item(self._data, row)
        media = item.dataset.media
        return None if media is None else picture_data_url(media[item.row])

    def close(self) -> None:
        """Close the widget and clear its cache."""
        ARRAYS.clear(self._session)
        super().close()


def _check_same_items(data: HeteroData, embedding: Embedding) -> None:
    shared = [name for name in data.datasets if name in embedding.coordinates]
    if not any(np.isin(data[name].ids, embedding.ids[name]).any() for name in shared):
        raise DataError.of(
            "other-data",
            "widget",
            "the map and the data have no item in common",
            ", ".join(embedding.coordinates),
            "Call embedding.widget(data) with the data that the map was made from.",
        )
