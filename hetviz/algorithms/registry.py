"""Registry of all methods in `hetviz.algorithms`."""

from __future__ import annotations

import difflib
import importlib
import inspect
import math
import pkgutil
from dataclasses import dataclass
from functools import cache

from hetviz import algorithms
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Capability, MethodCard
from hetviz.algorithms.cost import stored_seconds
from hetviz.algorithms.needs import Need
from hetviz.algorithms.ranking import expected_seconds, standings, stored_choice
from hetviz.data import HeteroData
from hetviz.data.model.views import identity_links
from hetviz.errors import ParameterError, check_type

_NEEDS_USER_INPUT = (Need.LABELS, Need.COMPARISONS)


@dataclass(frozen=True)
class Verdict:
    """Suitability of a method for some data.

    Attributes
    ----------
    card : MethodCard
    suits : bool
    reasons : tuple of str
        Why the method does not suit the data, or what it uses, one sentence each.
    uses : int
        How many kinds of available data the method uses.
    seconds : float or None
        Estimated time of a fit with default parameters, from small fits on this machine
        (`hetviz.algorithms.cost.measure_seconds`) or else from the benchmarks. None if unknown.
    n_bytes : float or None
        Upper estimate of the memory of such a fit. None if the method does not suit.
    """

    card: MethodCard
    suits: bool
    reasons: tuple[str, ...]
    uses: int
    seconds: float | None = None
    n_bytes: float | None = None


@cache
def _classes() -> dict[str, type[BaseEmbedder]]:
    classes: dict[str, type[BaseEmbedder]] = {}
    for info in pkgutil.iter_modules(algorithms.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{algorithms.__name__}.{info.name}")
        for _, value in inspect.getmembers(module, inspect.isclass):
            if (
                issubclass(value, BaseEmbedder)
                and value.__module__ == module.__name__
                and "card" in vars(value)
            ):
                if value.card.key in classes:
                    raise ImportError(f"Two methods have the key {value.card.key!r}.")
                classes[value.card.key] = value
    return dict(sorted(classes.items()))


def method_classes() -> dict[str, type[BaseEmbedder]]:
    """Return the classes of all methods by their names, which are names of `hetviz`, too."""
    return {kind.__name__: kind for kind in _classes().values()}


def methods() -> list[MethodCard]:
    """Return the cards of all methods, by key."""
    return [kind.card for kind in _classes().values()]


def is_method(key: str) -> bool:
    """Return whether there is a method with this key. Imported maps have none."""
    return key in _classes()


def get_method(key: str) -> type[BaseEmbedder]:
    """Return the class of a method.

    Raises
    ------
    hetviz.errors.ParameterError
        If the key is unknown. The message names similar keys.
    """
    classes = _classes()
    if key not in classes:
        wanted: object = key
        if not isinstance(wanted, str):
            kind = wanted if isinstance(wanted, type) else type(wanted)
            own = getattr(getattr(kind, "card", None), "key", None)
            hint = f" Give {own!r}, or call {kind.__name__}(...).fit(data)." if own else ""
            raise ParameterError(
                f"A method is named by its key, not by {kind.__name__}.{hint} "
                f"Methods: {', '.join(classes)}."
            )
        similar = difflib.get_close_matches(key, classes, n=2)
        hint = f" Did you mean {' or '.join(similar)}?" if similar else ""
        raise ParameterError(f"Unknown method {key!r}.{hint} Methods: {', '.join(classes)}.")
    return classes[key]


def suggest(data: HeteroData) -> list[Verdict]:
    """Return a verdict on each method for the data, the most suitable first.

    Parameters
    ----------
    data : HeteroData

    Returns
    -------
    list of Verdict
        `hetviz.embed` uses the first one by default.

    Notes
    -----
    Nothing is fitted. Methods are in the order of an earlier trial by `hetviz.embed` or the app on
    the same data. Otherwise they are in the order of benchmarks on data of this shape
    (`hetviz.algorithms.ranking`), the simpler one first if two differ by less than .01. Methods
    without benchmarks follow, by the number of kinds of available data that they use. Methods that
    need a label or comparisons come after others.
    """
    check_type(data, HeteroData, "data")
    available = _available_data(data)
    distance_to_best: dict[str, float] = {}
    for standing in standings(data):
        distance_to_best.setdefault(standing.method, standing.behind)
    trial_rank = {key: place for place, key in enumerate(stored_choice(data))}
    ranked: list[tuple[tuple[float, ...], Verdict]] = []
    for kind in _classes().values():
        card = kind.card
        reasons_against = card.reasons_against(data)
        used_data = {
            capability: text
            for capability, text in available.items()
            if capability in card.capabilities
        }
        unused_data = [
            text for capability, text in available.items() if capability not in card.capabilities
        ]
        reasons = reasons_against or [f"Uses {text}." for text in used_data.values()]
        if not reasons_against and unused_data:
            reasons.append(f"Does not use {', '.join(unused_data)}.")
        seconds = None
        if not reasons_against:
            seconds = stored_seconds(card.key, data) or expected_seconds(card.key, data.n_rows)
        n_bytes = None if reasons_against else kind.memory_estimate.total_bytes(data)
        verdict = Verdict(
            card, not reasons_against, tuple(reasons), len(used_data), seconds, n_bytes
        )
        order = (
            bool(reasons_against),
            trial_rank.get(card.key, len(trial_rank)),
            any(need in card.needs for need in _NEEDS_USER_INPUT),
            round(distance_to_best.get(card.key, 1.0), 2),
            0 if card.key in distance_to_best else -len(used_data),
            *simplicity(kind),
            math.inf if seconds is None else seconds,
        )
        ranked.append((order, verdict))
    return [verdict for _, verdict in sorted(ranked, key=lambda pair: pair[0])]


def simplicity(kind: type[BaseEmbedder]) -> tuple[int, int]:
    """Return a sort key, smaller for simpler methods: iterative (0 or 1), then parameters."""
    return int(Capability.ITERATIVE in kind.card.capabilities), len(kind.params)


def _available_data(data: HeteroData) -> dict[Capability, str]:
    """Return the kinds of available data, with a phrase for each."""
    n_together = sum(int((group.weight > 0).sum()) for group in data.links if not group.within)
    n_apart = sum(int((group.weight < 0).sum()) for group in data.links)
    n_within = sum(int((group.weight > 0).sum()) for group in data.links if group.within)
    n_comparisons = 0 if data.comparisons is None else len(data.comparisons)
    n_view_pairs = sum(map(len, identity_links(data)))
    counts = {
        Capability.LINKS: (n_together, "links between datasets"),
        Capability.WITHIN_LINKS: (n_within, "links within a dataset"),
        Capability.CANNOT_LINKS: (n_apart, "apart links"),
        Capability.COMPARISONS: (n_comparisons, "comparisons"),
        Capability.VIEWS: (n_view_pairs, "pairs of rows of one object"),
    }
    return {
        capability: f"{count:,} {text}" for capability, (count, text) in counts.items() if count
    }
