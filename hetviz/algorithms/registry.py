"""The catalogue of methods, found by looking into `hetviz.algorithms`."""

from __future__ import annotations

import difflib
import importlib
import inspect
import math
import pkgutil
from dataclasses import dataclass
from functools import cache

from hetviz import algorithms
from hetviz.algorithms.base import BaseEmbedder, Capability, MethodCard, Need
from hetviz.algorithms.cost import known_seconds
from hetviz.algorithms.ranking import expected_seconds, known_choice, standings
from hetviz.data import HeteroData
from hetviz.data.model.views import identity_links
from hetviz.errors import ParameterError

_ASKED_FOR = (Need.LABELS, Need.COMPARISONS)


@dataclass(frozen=True)
class Verdict:
    """Whether a method suits some data.

    Attributes
    ----------
    card : MethodCard
    suits : bool
    reasons : tuple of str
        Why not, or what it makes use of, one sentence each.
    uses : int
        How many kinds of what is known the method makes use of.
    seconds : float or None
        How long a fit with the defaults is estimated to take: on this machine, from small fits
        that were made before (`hetviz.algorithms.cost.measure_seconds`), else from what was
        measured elsewhere; None where it never was.
    n_bytes : float or None
        How much memory such a fit is estimated to take, from above; None where it does not suit.
    """

    card: MethodCard
    suits: bool
    reasons: tuple[str, ...]
    uses: int
    seconds: float | None = None
    n_bytes: float | None = None


@cache
def _classes() -> dict[str, type[BaseEmbedder]]:
    found: dict[str, type[BaseEmbedder]] = {}
    for info in pkgutil.iter_modules(algorithms.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{algorithms.__name__}.{info.name}")
        for _, item in inspect.getmembers(module, inspect.isclass):
            if (
                issubclass(item, BaseEmbedder)
                and item.__module__ == module.__name__
                and "card" in vars(item)
            ):
                if item.card.key in found:
                    raise ImportError(f"Two methods have the key {item.card.key!r}.")
                found[item.card.key] = item
    return dict(sorted(found.items()))


def methods() -> list[MethodCard]:
    """Return the cards of all methods, by key."""
    return [item.card for item in _classes().values()]


def get_method(key: str) -> type[BaseEmbedder]:
    """Return the class of a method.

    Raises
    ------
    hetviz.errors.ParameterError
        If there is no such key; the message names the nearest ones.
    """
    classes = _classes()
    if key not in classes:
        near = difflib.get_close_matches(key, classes, n=2)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ParameterError(f"There is no method {key!r}.{hint} There are: {', '.join(classes)}.")
    return classes[key]


def suggest(data: HeteroData) -> list[Verdict]:
    """Return a verdict on each method for these data, the most suitable first.

    Parameters
    ----------
    data : HeteroData

    Returns
    -------
    list of Verdict
        The first is what `hetviz.embed` takes where no method is named.

    Notes
    -----
    Nothing is fitted here. Methods stand in the order that `hetviz.embed` or the app found when it
    tried them on these very data, else in the order of what was measured of other data of this
    shape (`hetviz.algorithms.ranking`), where the simpler of two that are less than .01 apart
    comes first. Those that were never measured follow, by how many of the kinds of things known
    of the data they make use of. Methods that must be given a label or comparisons come after
    those that need nothing. Seconds are those measured before on this machine, else elsewhere.
    """
    present = _present(data)
    behind: dict[str, float] = {}
    for standing in standings(data):
        behind.setdefault(standing.method, standing.behind)
    tried = {key: place for place, key in enumerate(known_choice(data))}
    found: list[tuple[tuple[float, ...], Verdict]] = []
    for item in _classes().values():
        card = item.card
        against = card.reasons_against(data)
        used = {word: text for word, text in present.items() if word in card.capabilities}
        unused = [text for word, text in present.items() if word not in card.capabilities]
        reasons = against or [f"Uses {text}." for text in used.values()]
        if not against and unused:
            reasons.append(f"Does not use {', '.join(unused)}.")
        expected = None
        if not against:
            expected = known_seconds(card.key, data) or expected_seconds(card.key, data.n_rows)
        n_bytes = None if against else item.memory_estimate.total_bytes(data)
        verdict = Verdict(card, not against, tuple(reasons), len(used), expected, n_bytes)
        order = (
            bool(against),
            tried.get(card.key, len(tried)),
            any(need in card.needs for need in _ASKED_FOR),
            round(behind.get(card.key, 1.0), 2),
            0 if card.key in behind else -len(used),
            *simplicity(item),
            math.inf if expected is None else expected,
        )
        found.append((order, verdict))
    return [verdict for _, verdict in sorted(found, key=lambda pair: pair[0])]


def simplicity(kind: type[BaseEmbedder]) -> tuple[int, int]:
    """Return what the simpler of two methods has less of: steps (0 or 1), then parameters."""
    return int(Capability.ITERATIVE in kind.card.capabilities), len(kind.params)


def _present(data: HeteroData) -> dict[Capability, str]:
    """Return the kinds of things known of these data, with a phrase for each."""
    together = sum(int((group.weight > 0).sum()) for group in data.links if not group.within)
    apart = sum(int((group.weight < 0).sum()) for group in data.links)
    within = sum(int((group.weight > 0).sum()) for group in data.links if group.within)
    compared = 0 if data.comparisons is None else len(data.comparisons)
    tied = sum(map(len, identity_links(data)))
    counts = {
        Capability.LINKS: (together, "links between datasets"),
        Capability.WITHIN_LINKS: (within, "links within a dataset"),
        Capability.CANNOT_LINKS: (apart, "links that say apart"),
        Capability.COMPARISONS: (compared, "comparisons"),
        Capability.VIEWS: (tied, "pairs of rows that show one object"),
    }
    return {word: f"{count:,} {text}" for word, (count, text) in counts.items() if count}
