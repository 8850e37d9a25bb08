"""Upper bounds for the gain from more answers, compared with the standard error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetviz._text import count
from hetviz.data import HeteroData
from hetviz.errors import DataError, check_type
from hetviz.features.spaces.learned_groups import GroupSummary
from hetviz.runs.ask.labels import columns_to_ask

ANSWERS_AHEAD = 60
"""Number of answers to look ahead."""
_HELD_OUT = 0.2
_MIN_HELD_OUT = 20
_CHANCE = 0.5
_OUTCOMES = {
    "labels": "a hidden label is predicted correctly",
    "groups": "a left-out item of your groups is found again",
    "links": "a hidden link is found again",
    "comparisons": "the map agrees with a hidden comparison",
}
KINDS = {
    "labels": ("label",),
    "groups": ("member",),
    "links": ("link", "pair"),
    "comparisons": ("comparison",),
}
"""The kinds of questions that could improve each, see `hetviz.suggest_questions`."""


@dataclass(frozen=True)
class Gain:
    """The largest possible gain from more answers.

    `what` {"labels", "groups", "links", "comparisons"}
    `answers`: Number of further answers.
    `most`: Upper bound for the rise of the chance that a held-out statement is found again.
    `error`: The standard error of that chance. A smaller gain is indistinguishable from none.
    """

    what: str
    answers: int
    most: float
    error: float

    @property
    def worth(self) -> bool:
        """Whether the gain could be larger than its error."""
        return self.most >= self.error

    def __str__(self) -> str:
        return (
            f"{count(self.answers, 'more answer')} could raise how often {_OUTCOMES[self.what]} by "
            f"at most {self.most:.2g}. The standard error is {self.error:.2g}."
        )


def gains_ahead(
    data: HeteroData,
    learned: Sequence[GroupSummary] = (),
    *,
    links_auc: float = _CHANCE,
    labels_right: float = _CHANCE,
    answers: int = ANSWERS_AHEAD,
) -> list[Gain]:
    """Return upper bounds for the gain from more answers.

    Parameters
    ----------
    data : HeteroData
    learned : sequence of LearnedGroup
        Named groups with their learned followers, see `hetviz.learned_from`. Groups without items
        left to ask about do not count.
    links_auc : float
        How often a hidden link is ranked before a pair without a link; .5 if unknown.
    labels_right : float
        How often a hidden label is predicted correctly; .5 if unknown.
    answers : int

    Returns
    -------
    list of Gain
        One for each label column that a person filled in part ("my label 1" and so on), and one
        each for named groups, links and comparisons where these exist. Without links and
        comparisons there is one for links, with everything to gain.

    Notes
    -----
    With n known statements and accuracy a, m more reduce the error 1 - a to n / (n + m) of it if it
    falls as 1 / n. It usually falls more slowly, so asking stops late rather than early. The
    standard error is sqrt(a (1 - a) / t) with t held out: a fifth of the labels, links and
    comparisons, but at least twenty, or all of fewer. Of a group, each of the n named items is left
    out in turn. Their ranks spread about as far as their mean, so the standard error is
    (1 - a) / sqrt(n). There m counts the answers expected to be yes, by the mean certainty of the
    items left to ask about.

    Examples
    --------
    >>> import hetviz
    >>> [links, *_] = hetviz.gains_ahead(hetviz.load("emoji"))
    >>> links.worth
    False
    """
    check_type(data, HeteroData, "data")
    given: object = learned
    if not isinstance(given, Sequence) or not all(isinstance(x, GroupSummary) for x in given):
        message, remedy = "a list of learned groups is needed", "Give hetviz.learned_from(data)."
        raise DataError.of("wrong-type", "learned", message, type(given).__name__, remedy)
    gains = []
    for column in columns_to_ask(data):
        n_labelled = int(column.known.sum())
        more = min(answers, len(column) - n_labelled)
        gains.append(_gain("labels", labels_right, n_labelled, more))
    open_ = [group for group in learned if group.to_ask]
    if open_:
        a = float(np.mean([group.auc for group in open_]))
        n = sum(len(group.named) for group in open_)
        yes = answers * float(np.mean([sure for group in open_ for _, sure in group.to_ask]))
        gains.append(
            Gain("groups", answers, (1 - a) * yes / (n + yes), (1 - a) / float(np.sqrt(n)))
        )
    n_compared = 0 if data.comparisons is None else len(data.comparisons)
    n_links = sum(map(len, data.links))
    if n_links or not n_compared:
        gains.append(_gain("links", links_auc, n_links, answers))
    if n_compared:
        gains.append(_gain("comparisons", _CHANCE, n_compared, answers))
    return gains


def _gain(kind: str, accuracy: float, n_answered: int, answers: int) -> Gain:
    max_gain = (1.0 - accuracy) * answers / (n_answered + answers)
    held_out = max(_HELD_OUT * n_answered, min(n_answered, _MIN_HELD_OUT))
    error = float(np.sqrt(accuracy * (1.0 - accuracy) / held_out)) if n_answered else 0.0
    return Gain(kind, answers, max_gain, error)
