"""The map as a widget: selection both ways, colours, and statements that move it."""

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
from hetviz.algorithms.base import Capability
from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData, Links
from hetviz.data.edits.adding import add_all
from hetviz.data.edits.by_id import row_by_id
from hetviz.errors import DataError, HetvizError, ParameterError, Problem
from hetviz.exports.page import picture_address
from hetviz.features.relations.grouping import links_between
from hetviz.metrics.fit.consequences import Consequences, consequences
from hetviz.plots.colour import ColourOption, colour_options
from hetviz.runs.embed.run import fit_run
from hetviz.ui.map import description, layers, selection_codec
from hetviz.ui.map.answers import ANSWERS, Answer, Asked, Open, Refused, array
from hetviz.ui.map.array_cache import SHELVES, Packed
from hetviz.ui.map.component.assets import asset_version, text_assets
from hetviz.ui.map.item import item_at
from hetviz.workspace import Run, State
from hetviz.workspace.state import View

_HERE = Path(__file__).parent
_MOST_COLOURS = 6

Named = Mapping[str, Iterable[object]] | pd.DataFrame
"""Items: ids by dataset, or a table with the columns dataset and id."""


def _script() -> str:
    """Return the module that anywidget loads: the files of the map's component as they are."""
    files = {name: text for name, text in text_assets().items() if name.endswith(".js")}
    # "</" would end the script of a page that a notebook is exported to.
    modules = json.dumps(files).replace("</", "<\\/")
    own = (_HERE / "widget.js").read_text(encoding="utf-8")
    return f"const VERSION = {json.dumps(asset_version())};\nconst MODULES = {modules};\n{own}"


def _style() -> str:
    """Return the style sheet of the map, and what it needs outside the app."""
    own = (_HERE / "widget.css").read_text(encoding="utf-8")
    return text_assets()["map.css"] + own


class MapWidget(anywidget.AnyWidget):
    """A map in a notebook, to look at and to work with.

    Move it by dragging, zoom with the wheel, point at an item for its card, and draw around items
    with the lasso (or with Shift held down). ``Embedding.widget`` makes one.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Of the items of these data.
    method : str, optional
        Key of the method that `say` fits again; that of the embedding where it was made by
        `hetviz.embed`.
    params : mapping of str to object, optional
        Of the method.
    seed : int
    colour : str, optional
        What the colours mean; see `colours`.
    height : int
        Of the widget, in pixels.

    Attributes
    ----------
    selection : dict of str to list
        What is selected: ids by dataset, as they were given. Set it to select; ``observe`` it to
        hear of what is selected on the map.
    colour : str or None
        What the colours mean. Set it to change them.

    Raises
    ------
    hetviz.errors.DataError
        If the embedding is not of the items of the data.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("digit-views")
    >>> widget = hetviz.embed(data, "pca").widget()
    >>> widget.selection = {"pixels": ["d0004", "d0005"]}
    >>> widget.selected()["id"].tolist()
    ['d0004', 'd0005']
    """

    _esm = _script()
    _css = _style()
    _spec = traitlets.Dict().tag(sync=True)
    # What the browser says.
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
        _check_same(data, embedding)
        self._rows: Ints = np.empty(0, dtype=np.int64)
        self._version = 0
        self._height = int(height)
        self._method, self._params, self._seed = method, dict(params or {}), int(seed)
        self._earlier: list[tuple[HeteroData, Embedding]] = []
        self._take(data, embedding)
        super().__init__(selection={}, colour=colour)
        self._tell()
        self.on_msg(self._heard)

    @property
    def data(self) -> HeteroData:
        """The data with all that was said."""
        return self._data

    @property
    def embedding(self) -> Embedding:
        """The map that is shown."""
        return self._embedding

    @property
    def colours(self) -> list[str]:
        """What the items can be coloured by."""
        return [option.title for option in self._options()]

    def selected(self) -> pd.DataFrame:
        """Return what is selected: dataset, id and title of each item."""
        items = [item_at(self._data, int(row)) for row in self._rows]
        return pd.DataFrame(
            {
                "dataset": [item.dataset.name for item in items],
                "id": [item.dataset.key(str(item.dataset.ids[item.row])) for item in items],
                "title": [item.title for item in items],
            }
        )

    def say(
        self,
        together: Named | tuple[Named, Named] | bool = False,
        apart: tuple[Named, Named] | None = None,
        *,
        weight: float = 1.0,
        progress: Any = None,
    ) -> Consequences:
        """Say what belongs together or apart, fit the method again, and let the map move.

        Parameters
        ----------
        together : mapping of str to ids, table, pair of those, or True
            Items that belong together; of a pair, each of the first with each of the second; True
            means what is selected.
        apart : pair of mappings or tables, optional
            Two groups that belong apart.
        weight : float
            How strongly, above 0 to 1.
        progress : callable, optional
            See `hetviz.progress.Progress`.

        Returns
        -------
        Consequences
            What it did to the map, also in words.

        Raises
        ------
        hetviz.errors.ParameterError
            If nothing is said, or the method of the map is not known.
        hetviz.errors.DataError
            If an item is not there.
        """
        if self._method is None:
            raise ParameterError(
                "say: which method made this map is not known; "
                "call embedding.widget(data, method='mr-sne')."
            )
        if not 0 < weight <= 1:
            raise ParameterError(f"weight = {weight!r}; it must be above 0 and at most 1.")
        found: list[Links] = []
        if together is not False and together is not None:
            first, second = self._groups(together)
            found += links_between(self._data, first, second, weight, in_turn=True)
        if apart is not None:
            if not isinstance(apart, tuple):
                raise ParameterError("apart: two groups are needed: apart=(these, those).")
            first, second = self._groups(apart)
            found += links_between(self._data, first, second, -weight, in_turn=True)
        if not found:
            raise ParameterError("say: name what belongs together, or apart.")
        stated = add_all(self._data, found)
        can = get_method(self._method).card.capabilities
        before = self._embedding
        start = before if Capability.WARM_START in can else None
        fitted = fit_run(stated.data, self._method, self._params, self._seed, progress, start=start)
        self._earlier.append((self._data, before))
        self._take(stated.data, fitted.embedding)
        self._tell()
        said = [*stated.added, *stated.updated]
        return consequences(stated.data, before, fitted.embedding, said)

    def take_back(self) -> None:
        """Take back what was said last, and its map.

        Raises
        ------
        hetviz.errors.ParameterError
            If nothing was said.
        """
        if not self._earlier:
            raise ParameterError("take_back: nothing was said on this map.")
        self._take(*self._earlier.pop())
        self._tell()

    def _take(self, data: HeteroData, embedding: Embedding) -> None:
        self._data, self._embedding = data, embedding
        title = "" if self._method is None else get_method(self._method).card.title
        run = Run(uuid4().hex, self._method or "", title, embedding, data.fingerprint())
        self._state = State(data=data, runs=(run,), chosen=run.id)

    def _tell(self) -> None:
        """Send the description of what is to be drawn."""
        hidden = tuple(name for name in self._hidden if name in self._data.datasets)
        view = View(colour=self.colour, hidden=hidden)
        runs, chosen = self._state.runs, self._state.chosen
        self._state = State(data=self._data, runs=runs, chosen=chosen, view=view)
        spec = description.spec(
            self._state,
            self._state.run,
            session=self._session,
            selection=self._rows,
            version=self._version,
        )
        own = {"name": "map", "height": f"{self._height}px", "plotly": "", "regions": True}
        if spec["renderer"] == "plotly":
            own["renderer"] = "auto"
        self._spec = {**spec, **own}

    def _options(self) -> list[ColourOption]:
        own = layers.options(self._state, self._state.run)
        return [*colour_options(self._data), *own]

    def _groups(self, named: object) -> tuple[Ints, Ints | None]:
        if named is True:
            return self._rows, None
        if isinstance(named, tuple):
            if len(named) != 2:
                raise ParameterError(f"two groups are needed, not {len(named)}.")
            return self._rows_of(named[0]), self._rows_of(named[1])
        return self._rows_of(named), None

    def _rows_of(self, named: object) -> Ints:
        """Return global rows of items given by dataset and id, in order."""
        if named is None:
            named = {}
        if isinstance(named, pd.DataFrame):
            if not {"dataset", "id"} <= set(named.columns):
                raise DataError(
                    Problem(
                        "no-columns",
                        "selection",
                        "a table of items needs the columns dataset and id",
                        ", ".join(map(str, named.columns)),
                    )
                )
            named = {str(name): part["id"].tolist() for name, part in named.groupby("dataset")}
        if not isinstance(named, Mapping):
            raise DataError(
                Problem(
                    "bad-selection",
                    "selection",
                    "items are given as {'dataset': [ids]}",
                    type(named).__name__,
                )
            )
        found = [
            row_by_id(self._data, str(name), list(ids), "selection")
            + self._data.offsets[str(name)].start
            for name, ids in named.items()
        ]
        rows = np.concatenate(found) if found else np.empty(0, dtype=np.int64)
        return np.unique(rows).astype(np.int64)

    def _keys_of(self, rows: Ints) -> dict[str, list[object]]:
        found: dict[str, list[object]] = {}
        for row in rows.tolist():
            item = item_at(self._data, row)
            key = item.dataset.key(str(item.dataset.ids[item.row]))
            found.setdefault(item.dataset.name, []).append(key)
        return found

    @traitlets.validate("selection")
    def _valid_selection(self, proposal: traitlets.Bunch) -> dict[str, list[object]]:
        return self._keys_of(self._rows_of(proposal["value"]))

    @traitlets.validate("colour")
    def _valid_colour(self, proposal: traitlets.Bunch) -> str | None:
        wanted = proposal["value"]
        for option in self._options():
            if wanted in (option.key, option.title):
                return option.key
        if wanted is None:
            return None
        among = get_close_matches(str(wanted), self.colours, _MOST_COLOURS, 0.3) or self.colours
        names = ", ".join(map(repr, among[:_MOST_COLOURS]))
        raise ParameterError(
            f"colour = {wanted!r}; there is {names}; widget.colours has all {len(self.colours)}."
        )

    @traitlets.observe("selection")
    def _selection_set(self, change: traitlets.Bunch) -> None:
        rows = self._rows_of(change["new"])
        if np.array_equal(rows, self._rows):
            return
        self._rows, self._version = rows, self._version + 1
        self._tell()

    @traitlets.observe("colour")
    def _colour_set(self, change: object) -> None:
        self._tell()

    @traitlets.observe("_hidden")
    def _hidden_set(self, change: object) -> None:
        self._tell()

    @traitlets.observe("_selection")
    def _selected_there(self, change: traitlets.Bunch) -> None:
        try:
            rows = selection_codec.rows_of_message(change["new"], self._data)
        except HetvizError:
            # Made on a map that has gone: the browser is told what is selected now.
            self._version += 1
            self._tell()
            return
        self._rows = rows
        self._version = max(self._version, int(change["new"].get("version", 0)))
        self.selection = self._keys_of(rows)

    def _heard(self, _: object, message: object, buffers: list[bytes]) -> None:
        if not isinstance(message, dict):
            return
        if "ask" in message:
            body = bytes(buffers[0]) if buffers else b""
            self._answer(message["ask"], str(message.get("path", "")), body)
        elif message.get("trigger") == "colour":
            known = {option.key for option in self._options()}
            if message.get("value") in known:
                self.colour = message["value"]
        elif message.get("trigger") == "missing":
            self._tell()

    def _answer(self, ask: object, path: str, body: bytes) -> None:
        try:
            found = self._found(path, body)
        except Refused as refused:
            self.send({"answer": ask, "status": refused.status})
            return
        whole, kind = found.content, found.kind
        if isinstance(whole, Packed):
            whole, kind = whole.content, "application/octet-stream"
        elif not isinstance(whole, bytes):
            whole = json.dumps(whole, separators=(",", ":"), allow_nan=False).encode("ascii")
        self.send({"answer": ask, "status": 200, "kind": kind}, [whole])

    def _found(self, path: str, body: bytes) -> Answer:
        url = urlsplit(path)
        parts = [unquote(part) for part in url.path.split("/")]
        if len(parts) not in (3, 4) or parts[0] != "hv" or parts[2] != self._session:
            raise Refused
        what, part = parts[1], "".join(parts[3:])
        if what == "array":
            return Answer(array(self._session, part), "")
        if what not in ANSWERS:
            raise Refused
        opened = Open(self._session, self._state, self._data)
        found = ANSWERS[what](opened, Asked(part, dict(parse_qsl(url.query)), body))
        if what == "item" and found.content["picture"] is not None:
            found.content["picture"] = self._picture(int(part))
        return found

    def _picture(self, row: int) -> str | None:
        item = item_at(self._data, row)
        media = item.dataset.media
        return None if media is None else picture_address(media[item.row])

    def close(self) -> None:
        """Take the widget away, and what was kept for it."""
        SHELVES.clear(self._session)
        super().close()


def _check_same(data: HeteroData, embedding: Embedding) -> None:
    known = [name for name in data.datasets if name in embedding.coordinates]
    if not any(np.isin(data[name].ids, embedding.ids[name]).any() for name in known):
        raise DataError(
            Problem(
                "other-data",
                "widget",
                "the map is of other items than the data",
                ", ".join(embedding.coordinates),
                "Call embedding.widget(data) with the data that it was made of.",
            )
        )
