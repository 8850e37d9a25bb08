"""The catalogue of methods, found by looking into `hetviz.algorithms`."""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from functools import cache

from hetviz import algorithms
from hetviz.algorithms.base import BaseEmbedder, Capability, MethodCard
from hetviz.algorithms.cost import known_seconds
from hetviz.data import HeteroData
from hetviz.data.model.views import identity_links
from hetviz.errors import ParameterError


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
        How long a fit with the defaults is estimated to take on this machine, from small fits that
        were made before (`hetviz.algorithms.cost.measure_seconds`); None where none were.
    """

    card: MethodCard
    suits: bool
    reasons: tuple[str, ...]
    uses: int
    seconds: float | None = None


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

    A method ranks by how many of the kinds of things known of these data it makes use of. Nothing
    is fitted here: the cost is what was measured before on data of this kind, if it was.
    """
    present = _present(data)
    verdicts = []
    for card in methods():
        against = card.reasons_against(data)
        used = {word: text for word, text in present.items() if word in card.capabilities}
        unused = [text for word, text in present.items() if word not in card.capabilities]
        reasons = against or [f"Uses {text}." for text in used.values()]
        if not against and unused:
            reasons.append(f"Does not use {', '.join(unused)}.")
        seconds = None if against else known_seconds(card.key, data)
        verdicts.append(Verdict(card, not against, tuple(reasons), len(used), seconds))
    return sorted(verdicts, key=lambda verdict: (not verdict.suits, -verdict.uses))


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
