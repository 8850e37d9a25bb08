"""Settings of the default link predictor, and the names of its scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TITLE = "Links and similarity combined"
STACK = "stack"
FEATURES, MIXED, LINKS_ALONE = "features", "features and links", "links alone"
# The same for the plain ridge: items without links keep an empty profile.
PLAIN = "features and links, plain"
TWO_SIDED = "two-sided ridge"
TWO_SIDED_SOURCE, TWO_SIDED_TARGET = "two-sided ridge of source", "two-sided ridge of target"
NEAREST_SOURCE, NEAREST_TARGET = "nearest profiles of source", "nearest profiles of target"
WALKS, SIMILARITY = "walks", "likeness"
LINKS_OF_SOURCE, LINKS_OF_TARGET = "links of source", "links of target"
ALL = "all"
FACTORISATIONS = ("kbmf2k", "pmvge")
AXES_CHOSEN = ("kbmf2k", "pmvge", "mkpe")


@dataclass(frozen=True)
class LinkSettings:
    """What the predictor chooses from, and how much it computes."""

    # `ridges`, `axes`: strengths of ridges and numbers of axes to choose from.
    ridges: tuple[float, ...] = (0.1, 1.0, 10.0)
    two_sided_ridge: float = 0.5
    axes: tuple[int, ...] = (2, 5, 10, 20)
    # Parameters of members, which are fitted many times.
    member_params: Mapping[str, Mapping[str, object]] = field(
        default_factory=lambda: {"kbmf2k": {"n_iter": 60}}
    )
    perplexity: float = 5.0
    # `max_exact_neighbors`, `max_walk_items`: more items get approximate neighbours and no walks.
    max_exact_neighbors: int = 8_000
    max_walk_items: int = 12_000
    # How often links are hidden, by the number of links below which it holds. Once for more.
    rounds: tuple[tuple[int, int], ...] = ((500, 5), (5_001, 3), (50_001, 2))
    hidden_share: float = 0.2
    # Share of all links that probabilities assume to be missing from the data.
    missing_share: float = 0.2
    # `min_links`, `min_cold_links`: fewer links are not hidden, fewer links of items without
    # others teach nothing.
    min_links: int = 10
    min_cold_links: int = 5
    cold_prior: float = 100.0  # Precision of the prior of weights for items without links.
    # Items whose usual rate of links is mixed into that of items without links.
    prior_items: int = 5
    max_judged_rows: int = 1_500
    max_judged_pairs: int = 20_000
    max_top_pairs: int = 10_000  # Pairs with the best scores of a ridge that are judged as well.
    max_judged_links: int = 5_000
    block_entries: int = 4_000_000  # Entries of a block of scores.

    def n_rounds(self, n_links: int) -> int:
        """Return how often links are hidden."""
        return next((rounds for below, rounds in self.rounds if n_links < below), 1)

    @property
    def missing_per_known(self) -> float:
        """Number of missing links for each known one, as assumed."""
        return self.missing_share / (1.0 - self.missing_share)


SETTINGS = LinkSettings()
