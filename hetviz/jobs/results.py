"""What tasks return: a map, or findings about the data with the maps behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # The server imports this module and leaves numerics to the worker.
    from hetviz.data import Embedding


@dataclass(frozen=True, eq=False)
class MadeMap:
    """A fitted map.

    Attributes
    ----------
    method, title : str
    params : dict
    embedding : Embedding
    figures : dict or None
        As from `hetviz.jobs.tasks.maps.figures_of`, with ``notes`` and, where the method weighs
        views, ``views``: name to weight; None where the map was not measured.
    seed : int or None
        None where the caller knows it.
    hold_out : float
        Share of the links that the method did not see.
    """

    method: str
    title: str
    params: dict[str, Any]
    embedding: Embedding
    figures: dict[str, Any] | None
    seed: int | None = None
    hold_out: float = 0.0


@dataclass(frozen=True, eq=False)
class Findings:
    """What a task found out, other than one map to show.

    Attributes
    ----------
    kind : str
        The app keeps the latest of each kind.
    content : dict
        JSON-ready.
    maps : tuple of MadeMap
        Maps that were made on the way; kept beside, not shown.
    """

    kind: str
    content: dict[str, Any]
    maps: tuple[MadeMap, ...] = field(default=())
