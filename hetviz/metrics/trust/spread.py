"""Spread of the positions of items over refits of a map, see `hetviz.spread`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hetviz._text import round_percent
from hetviz._types import Bools, Floats, Ints, Texts

SPREAD = "spread"
"""Kind of the findings."""
UNSTABLE_SHARE = 0.2
"""Share of the distance of two random items from which a position counts as unstable."""


@dataclass(frozen=True, eq=False, repr=False)
class Spread:
    """How much the position of each item varies over refits of a map.

    Attributes
    ----------
    share : array of shape (n_rows,)
        Mean distance between the position of the row on the map and in the refits, relative to the
        longer side of the map. NaN for rows without a position.
    error : array of shape (n_rows,)
        Standard error of `share` over the refits.
    n_placed : array of int, shape (n_rows,)
        In how many refits the row has a position.
    n_refits : int
    chance : float
        Mean distance between two random items of the map, relative to its longer side.
    resampled : bool
        Whether there were links to resample.
    ids : mapping of str to array
        Ids of the rows of each dataset.
    """

    share: Floats
    error: Floats
    n_placed: Ints
    n_refits: int
    chance: float
    resampled: bool
    ids: Mapping[str, Texts]

    def __repr__(self) -> str:
        median = "none" if self._median is None else f"{self._median:.3f}"
        return f"Spread({self.n_refits} refits, median {median}, by chance {self.chance:.3f})"

    def frame(self) -> pd.DataFrame:
        """Return dataset, id, spread, its error and the number of refits with a position."""
        return pd.DataFrame(
            {
                "dataset": np.repeat(list(self.ids), [len(ids) for ids in self.ids.values()]),
                "id": np.concatenate([np.asarray(ids, dtype=object) for ids in self.ids.values()]),
                "spread": self.share,
                "error": self.error,
                "refits": self.n_placed,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the number of refits, the median, and the chance level, JSON-ready."""
        return {
            "refits": self.n_refits,
            "links_resampled": self.resampled,
            "median": self._median,
            "chance": None if np.isnan(self.chance) else self.chance,
        }

    def rows_to_dict(self) -> dict[str, Any]:
        """Return `to_dict` with the values of all rows, for `from_dict`."""
        shares, errors = (
            [None if np.isnan(value) else round(float(value), 6) for value in values]
            for values in (self.share, self.error)
        )
        return self.to_dict() | {
            "share": shares,
            "error": errors,
            "placed": self.n_placed.tolist(),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], ids: Mapping[str, Texts]) -> Spread:
        """Return the spread from `rows_to_dict` and the ids of the rows."""
        return cls(
            np.array(content["share"], dtype=np.float64),
            np.array(content["error"], dtype=np.float64),
            np.array(content["placed"], dtype=np.int64),
            int(content["refits"]),
            float("nan") if content["chance"] is None else float(content["chance"]),
            bool(content["links_resampled"]),
            ids,
        )

    @property
    def limit(self) -> float:
        """Spread from which a position counts as unstable: a fifth of the chance level."""
        return UNSTABLE_SHARE * self.chance

    @property
    def is_unstable(self) -> Bools:
        """Whether the spread of each row is above `limit`, shape (n_rows,)."""
        return np.asarray(np.nan_to_num(self.share) > self.limit)

    def sentence_of(self, row: int) -> str:
        """Return the spread of a row in a sentence, empty if it has none."""
        share = self.share[row]
        if np.isnan(share):
            return ""
        others = self.share[np.isfinite(self.share)]
        error = "" if np.isnan(self.error[row]) else f" ± {100 * self.error[row]:.1f}"
        text = (
            f"In {self.n_refits} refits{self._links_text}, it was on average "
            f"{100 * share:.1f}{error} % of the map's longer side away from here. "
            f"{round_percent(float((others < share).sum()) / max(len(others) - 1, 1))} of the "
            "other items vary less."
        )
        n_without = self.n_refits - int(self.n_placed[row])
        return text + (f" In {n_without} of them it had no position." if n_without else "")

    @property
    def _links_text(self) -> str:
        return " with resampled links" if self.resampled else ""

    @property
    def _median(self) -> float | None:
        placed = self.share[np.isfinite(self.share)]
        return float(np.median(placed)) if len(placed) else None

    @property
    def sentence(self) -> str:
        median = self._median
        if median is None:
            return "No item has a position in the refits."
        return (
            f"In {self.n_refits} refits{self._links_text}, half of the items were on average at "
            f"most {round_percent(median, 1)} of the map's longer side away from "
            f"their position on the map. Two random items are {round_percent(self.chance)} apart."
        )
