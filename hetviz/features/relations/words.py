"""Words that somebody typed, matched with what the items of a dataset are called and described as.

Not by meaning: an item matches as far as it shares words, each counted by how rare it is.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from hetviz._types import Floats
from hetviz.data import Dataset

_WORD = re.compile(r"[^\W_]+", re.UNICODE)


def described_by(dataset: Dataset) -> list[str]:
    """Return the columns whose words describe an item: its title, and those declared as text."""
    if dataset.table is None:
        return []
    declared = [str(name) for name in (dataset.recipe or {}).get("text", ())]
    title = [] if dataset.title_column is None else [dataset.title_column]
    return [name for name in dict.fromkeys([*title, *declared]) if name in dataset.table.columns]


def match_words(dataset: Dataset, text: str) -> Floats | None:
    r"""Return how well the words of each item match a text, shape (n,); None if none is shared.

    Notes
    -----
    The cosine of TF-IDF vectors over the item's title (or id) and its columns of text:

    .. math:: s_i = \frac{\sum_w q_w t_{iw}}{|q| |t_i|}, \qquad t_{iw} = (1 + \log n_{iw})
        (1 + \log(n / n_w))

    with n_w items of n that have word w, and q likewise over the words of the text that any item
    has. Capitals do not matter. Costs one reading of the texts.
    """
    asked = set(_words(text))
    words = [_words(" ".join(parts)) for parts in zip(*_cells(dataset), strict=True)]
    n = len(words)
    spread = Counter(word for own in words for word in set(own))
    rare = {word: 1.0 + np.log(n / count) for word, count in spread.items()}
    known = {word: rare[word] for word in asked if word in rare}
    if not known:
        return None
    length = np.sqrt(sum(weight**2 for weight in known.values()))
    scores = np.zeros(n)
    for row, own in enumerate(words):
        t = {word: (1.0 + np.log(count)) * rare[word] for word, count in Counter(own).items()}
        shared = sum(weight * t.get(word, 0.0) for word, weight in known.items())
        if shared:
            scores[row] = shared / (length * np.sqrt(sum(weight**2 for weight in t.values())))
    return scores


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _cells(dataset: Dataset) -> list[list[str]]:
    found = [list(map(str, dataset.titles))]
    if dataset.table is not None:
        found += [
            dataset.table[name].fillna("").astype(str).tolist()
            for name in described_by(dataset)
            if name != dataset.title_column
        ]
    return found
