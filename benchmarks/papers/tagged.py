"""Objects with tags and with places: samples in the shape of paper 000's photographs.

There, 500 photographs were tagged with some of 590 words, and each was taken at one of 99 places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import hetviz
from hetviz import Dataset
from hetviz.features.spaces.basis import Basis, fit_basis

Ints = NDArray[np.int64]

# The paper leaves its five most common tags out, since most photographs have them.
COMMON = 5
LEAST_USES = 3
# About as many as the paper has photographs; more take longer and show the same.
MOST_PICTURES = 450


@dataclass(frozen=True, eq=False)
class Tagged:
    """Objects, tags and a third kind of item.

    Attributes
    ----------
    name : str
    objects : Dataset
        With features, which become a Gaussian kernel.
    tags : tuple of str
        Of the n_t columns of `W`; tags have no features (indicator vectors, as in the paper).
    W : csr_array of shape (n, n_t)
        ``W[i, t]`` is 1 where object i has tag t.
    places : Dataset
        The third kind of item.
    V : csr_array of shape (n, n_v)
        ``V[i, v]`` is 1 where object i belongs to place v.
    group : array of shape (n,)
        A class of each object that no method sees.
    words : tuple of three str
        What objects, tags and places are.
    """

    name: str
    objects: Dataset
    tags: tuple[str, ...]
    W: Any
    places: Dataset
    V: Any
    group: NDArray[np.object_]
    words: tuple[str, str, str]

    def take(self, rows: Ints) -> Tagged:
        """Return some of the objects, with all tags and places."""
        return Tagged(
            self.name,
            self.objects.subset(rows),
            self.tags,
            sp.csr_array(self.W[rows]),
            self.places,
            sp.csr_array(self.V[rows]),
            self.group[rows],
            self.words,
        )

    def guidance(self, n_kinds: int) -> Any:
        """Return the symmetric guidance of objects and tags, or of all three, stacked."""
        if n_kinds == 2:
            return sp.csr_array(sp.block_array([[None, self.W], [self.W.T, None]]))
        empty = sp.csr_array((self.W.shape[1], self.V.shape[1]))
        return sp.csr_array(
            sp.block_array(
                [[None, self.W, self.V], [self.W.T, None, empty], [self.V.T, empty.T, None]]
            )
        )

    def basis_of_places(self) -> Basis:
        """Return the kernel of places with features, none of those without."""
        return fit_basis(self.places, "featureless" if self.places.X is None else "rbf")


def programs() -> Tagged:
    """Debian's programs by the words of their descriptions, their tags and libraries."""
    data = hetviz.load("debian")
    tagged, depends = (
        next(links for links in data.links if (links.kind, links.target) == wanted)
        for wanted in (("tagged", "tags"), ("depends", "libraries"))
    )
    return _made(
        "programs",
        data["programs"],
        data["tags"].ids,
        _matrix(tagged, len(data["programs"]), len(data["tags"])),
        data["libraries"],
        _matrix(depends, len(data["programs"]), len(data["libraries"])),
        "section",
        ("programs", "tags", "libraries"),
    )


def pictures() -> Tagged:
    """Emoji by how they look, their keywords, and the subgroup of Unicode that each is in.

    450 of them, drawn once.
    """
    data = hetviz.load("emoji")
    emoji = data["emoji"]
    assert emoji.table is not None
    tagged = next(links for links in data.links if links.kind == "tagged")
    subgroups, at = np.unique(emoji.table["subgroup"].astype(str), return_inverse=True)
    rows = np.arange(len(emoji))
    V = sp.csr_array((np.ones(len(emoji)), (rows, at)), shape=(len(emoji), len(subgroups)))
    made = _made(
        "emoji",
        emoji,
        data["keywords"].titles,
        _matrix(tagged, len(emoji), len(data["keywords"])),
        Dataset("subgroups", subgroups.tolist()),
        V,
        "group",
        ("emoji", "keywords", "subgroups"),
    )
    drawn = np.random.default_rng(0).permutation(len(made.objects))[:MOST_PICTURES]
    return made.take(np.sort(drawn))


def _matrix(links: Any, n: int, m: int) -> Any:
    return sp.csr_array((np.ones(len(links)), (links.i, links.j)), shape=(n, m))


def _made(
    name: str,
    objects: Dataset,
    tags: Any,
    W: Any,
    places: Dataset,
    V: Any,
    group: str,
    words: tuple[str, str, str],
) -> Tagged:
    uses = np.asarray(W.sum(axis=0)).ravel()
    order = np.argsort(-uses, kind="stable")[COMMON:]
    kept = np.sort(order[uses[order] >= LEAST_USES])
    W = sp.csr_array(W[:, kept])
    rows = np.flatnonzero(np.asarray(W.sum(axis=1)).ravel())
    assert objects.table is not None
    made = Tagged(
        name,
        objects,
        tuple(str(tags[t]) for t in kept),
        W,
        places,
        V,
        objects.table[group].to_numpy(object),
        words,
    )
    return made.take(rows)
