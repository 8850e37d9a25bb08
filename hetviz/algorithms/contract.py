"""What a method declares and returns: its card and the result of a fit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from hetviz._html import html_table
from hetviz._text import finish_sentence, join_words
from hetviz._types import Floats
from hetviz.algorithms.needs import Need, unmet_reason
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import Diagnostic

_INITIALS = re.compile(r"^(?:\S+\. ?)+")


class Capability(StrEnum):
    """Inputs that a method uses, and extra abilities."""

    LINKS = "links"
    CANNOT_LINKS = "cannot-links"
    WITHIN_LINKS = "links within a dataset"
    SCORES = "scores"
    COMPARISONS = "comparisons"
    LABELS = "labels"
    VIEWS = "views"
    KERNELS = "kernels"
    DISTANCES = "distances"
    FEATURELESS = "items without features"
    SPARSE = "sparse features"
    OUT_OF_SAMPLE = "new items"
    ITERATIVE = "partial layouts"
    WARM_START = "going on from an earlier map"
    SHARED_SPACE = "more axes than the map"
    """The fitted ``axes_`` is an Embedding of all items in the shared space."""


ANY_FEATURES = frozenset(
    {Capability.VIEWS, Capability.KERNELS, Capability.DISTANCES, Capability.SPARSE}
)
"""Features of any form, also of several views."""
LINKED_FEATURES = ANY_FEATURES | {
    Capability.LINKS,
    Capability.FEATURELESS,
    Capability.OUT_OF_SAMPLE,
}
"""Linked datasets with or without features of any form, and new items."""
NEIGHBOR_MAP = LINKED_FEATURES | {
    Capability.CANNOT_LINKS,
    Capability.WITHIN_LINKS,
    Capability.ITERATIVE,
    Capability.WARM_START,
}
"""Neighbour maps of linked datasets, which can start from another map."""


@dataclass(frozen=True)
class Reference:
    """A publication of a method.

    Attributes
    ----------
    authors : str
        Initials and surnames: ``"X. He and P. Niyogi"``.
    title : str
    place : str
        Journal with volume and pages, conference, or type of thesis. May be empty.
    year : int
    doi, arxiv : str
        Empty if there is none or it is uncertain.
    part : str
        The cited part, or the reason for the citation.
    """

    authors: str
    title: str
    place: str
    year: int
    doi: str = ""
    arxiv: str = ""
    part: str = ""

    def with_part(self, part: str) -> Reference:
        """Return the reference with the cited part."""
        return replace(self, part=part)

    @property
    def surnames(self) -> list[str]:
        """Surnames of the authors."""
        names = self.authors.replace(" and ", ", ").split(", ")
        return [_INITIALS.sub("", name) for name in names]

    @property
    def short_citation(self) -> str:
        """Short citation: ``"He and Niyogi 2003"``."""
        names = self.surnames
        names_text = f"{names[0]} et al." if len(names) > 3 else join_words(names)
        return f"{names_text} {self.year}"

    @property
    def url(self) -> str:
        """Link to the publication. Empty if unknown."""
        if self.doi:
            return f"https://doi.org/{self.doi}"
        return f"https://arxiv.org/abs/{self.arxiv}" if self.arxiv else ""

    @property
    def number(self) -> str:
        """DOI or arXiv number, as written in references."""
        return f"doi:{self.doi}" if self.doi else f"arXiv:{self.arxiv}" if self.arxiv else ""

    def __str__(self) -> str:
        fields = (self.authors, self.title, self.place, str(self.year), self.part, self.number)
        return ", ".join(field_text for field_text in fields if field_text)


@dataclass(frozen=True)
class MethodCard:
    """Description of a method.

    Attributes
    ----------
    key : str
        Name in code, recipes and on the command line.
    title, family : str
        Title on the screen, and group of methods.
    papers : tuple of Reference
    equation : str
        Objective, as LaTeX.
    needs : tuple of Need
        Requirements on the data.
    capabilities : frozenset of Capability
    summary : str
        One or two sentences in plain words.
    caveats : tuple of str
        Limitations, in plain words.
    cost : str
        Time and memory.
    former_titles : tuple of str
        Earlier titles. They identify maps that were saved under an earlier title.
    """

    key: Any  # a str, which calls that check the names of methods accept
    title: str
    family: str
    papers: tuple[Reference, ...]
    equation: str
    needs: tuple[Need, ...]
    capabilities: frozenset[Capability]
    summary: str
    caveats: tuple[str, ...]
    cost: str
    former_titles: tuple[str, ...] = ()

    @property
    def paper(self) -> str:
        """The papers as text."""
        return "; ".join(map(str, self.papers))

    @property
    def first_sentence(self) -> str:
        """The first sentence of the summary."""
        return finish_sentence(self.summary.split(". ")[0])

    def _repr_html_(self) -> str:
        rows = [("needs", ", ".join(map(str, self.needs)) or "nothing in particular")]
        rows += [("can", ", ".join(sorted(map(str, self.capabilities))))]
        rows += [("careful", caveat) for caveat in self.caveats]
        rows += [("cost", self.cost), ("paper", self.paper)]
        return html_table(f"{self.title} ({self.key})", rows, foot=self.summary)

    def reasons_against(self, data: HeteroData) -> list[str]:
        """Return reasons why the method does not suit the data. Empty if it does."""
        return [reason for need in self.needs if (reason := unmet_reason(need, data)) is not None]


@dataclass(frozen=True)
class Fit:
    """Result of ``_fit``.

    Attributes
    ----------
    coordinates : mapping of str to array of shape (n_i, k)
        NaN in rows without a place.
    n_iter : int
        Number of iterations. 0 for closed forms.
    loss_history : list of float
        Objective by iteration.
    stopping_reason : str
        A sentence.
    diagnostics : dict
        Details for programmers, JSON-ready.
    messages : sequence of Diagnostic
        Diagnostics shown with the map. See `hetviz.data.model.diagnostics`.
    components : mapping of str to int, optional
        Component of the dataset graph of each dataset.
    note : str
        Caution to show with every picture of the map. Empty if none.
    drawn : mapping of str to array of shape (n_i, 2), optional
        2-D layout of maps with more axes. Set by `BaseEmbedder.fit`.
    """

    coordinates: Mapping[str, Floats]
    n_iter: int = 0
    loss_history: list[float] = field(default_factory=list)
    stopping_reason: str = "closed form"
    diagnostics: dict[str, Any] = field(default_factory=dict)
    messages: Sequence[Diagnostic] = ()
    components: Mapping[str, int] | None = None
    note: str = ""
    drawn: Mapping[str, Floats] | None = None
