"""Settings of the default link predictor, and the names of its scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TITLE = "Links and similarity combined"
STACK = "stack"
FEATURES, MIXED, LINKS_ALONE = "features", "features and links", "links alone"
NEAREST_SOURCE, NEAREST_TARGET = "nearest profiles of source", "nearest profiles of target"
WALKS, SIMILARITY = "walks", "likeness"
LINKS_OF_SOURCE, LINKS_OF_TARGET = "links of source", "links of target"
ALL = "all"
FACTORISATIONS = ("kbmf2k", "pmvge")
AXES_CHOSEN = ("kbmf2k", "pmvge", "mkpe")


@dataclass(frozen=True)
class LinkSettings:
    """What the predictor chooses from, and how much it computes."""

    # Weight of the link profiles in the kernel of each ridge.
    profile_shares: Mapping[str, float] = field(
        default_factory=lambda: {FEATURES: 0.0, MIXED: 0.5, LINKS_ALONE: 1.0}
    )
    # `ridges`, `axes`: strengths of ridges and numbers of axes to choose from.
    ridges: tuple[float, ...] = (0.1, 1.0, 10.0)
    axes: tuple[int, ...] = (2, 5, 10, 20)
    # Parameters of members, which are fitted many times.
    member_params: Mapping[str, Mapping[str, object]] = field(
        default_factory=lambda: {"kbmf2k": {"n_iter": 60}}
    )
    perplexity: float = 5.0
    # `max_exact_neighbors`, `max_walk_items`, `max_member_pairs`: more items get approximate
    # neighbours, no walks, and no members.
    max_exact_neighbors: int = 8_000
    max_walk_items: int = 12_000
    max_member_pairs: int = 30_000
    # How often links are hidden, by the number of links below which it holds. Once for more.
    rounds: tuple[tuple[int, int], ...] = ((500, 5), (5_001, 3), (50_001, 2))
    hidden_share: float = 0.2
    # `min_links`, `min_cold_links`: fewer links are not hidden, fewer links of items without
    # others teach nothing.
    min_links: int = 10
    min_cold_links: int = 5
    # Items whose usual rate of links is mixed into that of items without links.
    prior_items: int = 5
    max_judged_rows: int = 1_500
    max_judged_pairs: int = 20_000
    max_judged_links: int = 5_000
    block_entries: int = 4_000_000  # Entries of a block of scores.

    def n_rounds(self, n_links: int) -> int:
        """Return how often links are hidden."""
        return next((rounds for below, rounds in self.rounds if n_links < below), 1)


SETTINGS = LinkSettings()
