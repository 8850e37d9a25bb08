"""What more answers could gain at most, against what can be told from nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetviz._text import count
from hetviz.data import HeteroData
from hetviz.features.spaces.taught import LearnedGroup
from hetviz.runs.ask.labels import columns_to_ask

AHEAD = 60
"""So many answers are looked ahead."""
_HELD_OUT = 0.2
_LEAST_HELD_OUT = 20
_CHANCE = 0.5
_WHAT = {
    "labels": "a hidden label is predicted right",
    "groups": "a left-out item of your groups is found",
    "links": "a hidden link is found",
    "comparisons": "a hidden comparison is agreed with",
}
KINDS = {
    "labels": ("label",),
    "groups": ("member",),
    "links": ("link", "pair"),
    "comparisons": ("comparison",),
}
"""The kinds of questions that could gain each, see `hetviz.suggest_questions`."""


@dataclass(frozen=True)
class Gain:
    """What more answers could gain.

    Attributes
    ----------
    what : {"labels", "groups", "links", "comparisons"}
    answers : int
        How many more.
    most : float
        By how much they could raise the chance that what is held out is found.
    error : float
        The standard error of that chance: what is less cannot be told from nothing.
    """

    what: str
    answers: int
    most: float
    error: float

    @property
    def worth(self) -> bool:
        """Whether they could gain more than its error."""
        return self.most >= self.error

    def __str__(self) -> str:
        return (
            f"{count(self.answers, 'more answer')} could raise how often {_WHAT[self.what]} by "
            f"{self.most:.2g} at most; its standard error is {self.error:.2g}."
        )


def gains_ahead(
    data: HeteroData,
    learned: Sequence[LearnedGroup] = (),
    *,
    links_auc: float = _CHANCE,
    labels_right: float = _CHANCE,
    answers: int = AHEAD,
) -> list[Gain]:
    """Return what more answers could gain at most.

    Parameters
    ----------
    data : HeteroData
    learned : sequence of LearnedGroup
        What was learned of groups that somebody named, see `hetviz.learned_from`. Those of which
        nobody is left to ask about do not count.
    links_auc : float
        How often a hidden link is ranked before a pair without one; .5 where that is not known.
    labels_right : float
        How often a hidden label is predicted right; .5 where that is not known.
    answers : int

    Returns
    -------
    list of Gain
        For each label column that a person filled in part ("my label 1" and so on), for groups that
        were named, links and comparisons, as far as there are any; where there are neither links
        nor comparisons, for links: there is everything to gain.

    Notes
    -----
    With n known an error of 1 - a falls to n / (n + m) of it by m more, if it falls as 1 / n, which
    is faster than it mostly does: so asking stops late rather than early. The standard error is
    sqrt(a (1 - a) / t) with t held out: a fifth of labels, links and comparisons, or twenty, or all
    of fewer. Of groups n are named, each left out in turn; their ranks spread about as far as their
    mean, so that the standard error
    is (1 - a) / sqrt(n). There m counts the answers expected to be yes, by the mean certainty of
    those that are left to ask about.

    Examples
    --------
    >>> import hetviz
    >>> [links, *_] = hetviz.gains_ahead(hetviz.load("emoji"))
    >>> links.worth
    False
    """
    found = []
    for column in columns_to_ask(data):
        n_known = int(column.known.sum())
        more = min(answers, len(column) - n_known)
        found.append(_gain("labels", labels_right, n_known, more))
    open_ = [group for group in learned if group.to_ask]
    if open_:
        a = float(np.mean([group.auc for group in open_]))
        n = sum(len(group.named) for group in open_)
        yes = answers * float(np.mean([sure for group in open_ for _, sure in group.to_ask]))
        found.append(
            Gain("groups", answers, (1 - a) * yes / (n + yes), (1 - a) / float(np.sqrt(n)))
        )
    n_compared = 0 if data.comparisons is None else len(data.comparisons)
    n_links = sum(map(len, data.links))
    if n_links or not n_compared:
        found.append(_gain("links", links_auc, n_links, answers))
    if n_compared:
        found.append(_gain("comparisons", _CHANCE, n_compared, answers))
    return found


def _gain(what: str, a: float, n: int, answers: int) -> Gain:
    most = (1.0 - a) * answers / (n + answers)
    held_out = max(_HELD_OUT * n, min(n, _LEAST_HELD_OUT))
    error = float(np.sqrt(a * (1.0 - a) / held_out)) if n else 0.0
    return Gain(what, answers, most, error)
