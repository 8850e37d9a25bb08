"""Pictures or texts with words that are linked to them: samples in the shape of paper 003's data.

There, 1,000 photographs had 613 tags given as indicators (Flickr), and 2,500 photographs of 50
kinds of animals had 85 attributes given as word vectors (AwA2).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import hetviz
from hetviz import Dataset, HeteroData, Links


@dataclass(frozen=True, eq=False)
class Related:
    """Two datasets and their links.

    Attributes
    ----------
    name : str
    items, words : Dataset
    W : csr_array of shape (n, m)
        ``W[i, t]`` is 1 where item i has word t.
    """

    name: str
    items: Dataset
    words: Dataset
    W: Any

    @property
    def data(self) -> HeteroData:
        """The two datasets with their links."""
        pairs = self.W.tocoo()
        links = Links(self.items.name, self.words.name, pairs.row, pairs.col)
        return HeteroData([self.items, self.words], [links])

    def drawn(self, n: int, rng: np.random.Generator) -> Related:
        """Return n of the items at random, and the words that they have."""
        rows = np.sort(rng.permutation(len(self.items))[:n])
        W = sp.csr_array(self.W[rows])
        kept = np.flatnonzero(np.asarray(W.sum(axis=0)).ravel())
        W = sp.csr_array(W[:, kept])
        return Related(self.name, self.items.subset(rows), self.words.subset(kept), W)

    def wanted(self) -> Any:
        """Return true partners of items among all rows, shape (n + m, n + m).

        Its words, and the items with which it shares one; words ask for nothing.
        """
        shared = sp.csr_array(self.W @ self.W.T)
        shared.setdiag(0)
        shared.eliminate_zeros()
        n, m = self.W.shape
        below = sp.csr_array((m, n + m))
        found = sp.csr_array(sp.vstack([sp.hstack([shared, self.W]), below]))
        found.data[:] = 1.0
        found.sort_indices()
        return found


def keywords() -> Related:
    """Emoji by how they look, and their keywords as indicators, as Flickr's tags were."""
    data = hetviz.load("emoji")
    tagged = next(links for links in data.links if links.kind == "tagged")
    words = Dataset("keywords", data["keywords"].ids)
    return _made("emoji and keywords", data["emoji"], words, tagged.i, tagged.j)


def tags() -> Related:
    """Debian's programs by their descriptions, and tags by theirs."""
    data = hetviz.load("debian")
    tagged = next(links for links in data.links if links.kind == "tagged")
    return _made("programs and tags", data["programs"], data["tags"], tagged.i, tagged.j)


def group_words() -> Related:
    """Emoji by how they look, and the words of their group's name: few words, given to kinds.

    As AwA2's attributes were: 65 words, with vectors, for over 1,000 pictures.
    """
    data = hetviz.load("emoji")
    emoji, known = data["emoji"], data["keywords"]
    assert emoji.table is not None
    names = emoji.table["group"].astype(str) + " " + emoji.table["subgroup"].astype(str)
    said = [set(re.split(r"[-& ]+", name)) for name in names]
    vocabulary = sorted(set().union(*said) & {str(title) for title in known.titles})
    row_of = {str(title): row for row, title in enumerate(known.titles)}
    place = {word: at for at, word in enumerate(vocabulary)}
    pairs = [
        (i, place[word]) for i, own in enumerate(said) for word in sorted(own) if word in place
    ]
    i, j = np.array(pairs).T
    words = known.subset(np.array([row_of[word] for word in vocabulary]))
    return _made("emoji and group words", emoji, words, i, j)


def _made(
    name: str, items: Dataset, words: Dataset, i: NDArray[np.int64], j: NDArray[np.int64]
) -> Related:
    W = sp.csr_array((np.ones(len(i)), (i, j)), shape=(len(items), len(words)))
    W.sum_duplicates()
    W.data[:] = 1.0
    rows = np.flatnonzero(np.asarray(W.sum(axis=1)).ravel())
    return Related(name, items.subset(rows), words, sp.csr_array(W[rows]))


SOURCES: Mapping[str, Callable[[], Related]] = {
    "emoji and keywords": keywords,
    "programs and tags": tags,
    "emoji and group words": group_words,
}
