"""Which columns of a table are used, and as what: by what they hold and what was said of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hetviz.errors import DataError, Problem
from hetviz.features.columns.categories import separator_of
from hetviz.features.columns.geographic import pairs_of
from hetviz.features.columns.options import Options, turned
from hetviz.features.columns.types import Column

_NEVER = ("constant", "empty")
_WHY = {
    "constant": "every row has the same value",
    "empty": "it is empty",
    "unique": "every row has another short text",
}


@dataclass(frozen=True, eq=False)
class Choice:
    """What was said of the columns of a table.

    Attributes
    ----------
    where : str
        For messages.
    named : sequence of str or None
        Columns to use; None for all.
    asked : mapping of str to mapping
        Column to what is to be different, see `hetviz.features.table.fit`.
    reasons : mapping of str to str
        Columns not used unless `asked` says so, and why.
    texts : collection of str
        Columns declared as free text; one that holds none is taken for what it holds.
    """

    where: str
    named: Sequence[str] | None
    asked: Options
    reasons: Mapping[str, str]
    texts: Collection[str]

    def pairs(self, columns: Mapping[str, Column]) -> dict[str, str]:
        """Return latitude to longitude, for each two columns that give places on earth.

        Raises
        ------
        hetviz.errors.DataError
            If a column that is said to be of such a pair is of none.
        """
        free = [
            column
            for name, column in columns.items()
            if self.asked.get(name, {}).get("kind", "latlong") == "latlong" and self._wants(name)
        ]
        pairs = dict(pairs_of(free))
        for name, fields in self.asked.items():
            if fields.get("kind") == "latlong" and name not in {*pairs, *pairs.values()}:
                what = "no other column gives the place on earth together with this one"
                remedy = "Name the two latitude and longitude, in degrees."
                raise DataError(
                    Problem("bad-option", f"{self.where}, column {name}", what, "latlong", remedy)
                )
        return pairs

    def kind(self, column: Column) -> str:
        """Return what a column is taken as.

        Raises
        ------
        hetviz.errors.DataError
            If it cannot be taken as what was asked for.
        """
        kind = column.kind
        if kind in ("category", "text", "unique") and separator_of(column.values.tolist()):
            kind = "list"
        wanted = self.asked.get(column.name, {}).get("kind")
        if wanted is None or kind in _NEVER or wanted == "latlong":
            return kind
        if column.name in self.texts and kind not in ("category", "list", "text", "unique"):
            return kind
        return turned(self.where, column.name, kind, str(wanted))

    def fields(self, names: Sequence[str]) -> dict[str, Any]:
        """Return what was said of columns that become features together."""
        found: dict[str, Any] = {}
        for name in names:
            found |= self.asked.get(name, {})
        return found

    def why_not(self, name: str, kind: str, fields: Mapping[str, Any]) -> str | None:
        """Return why a column is not used, for people; None where it is."""
        if kind in _NEVER:
            return _WHY[kind]
        if fields.get("use") is False:
            return "switched off"
        if fields.get("use"):
            return None
        kept_out = self._kept_out(name)
        return _WHY.get(kind) if kept_out is None else kept_out

    def is_told(self, name: str, fields: Mapping[str, Any]) -> bool:
        """Whether notes on a column are of interest."""
        return bool(fields.get("use")) or self._kept_out(name) is None

    def _kept_out(self, name: str) -> str | None:
        if name in self.reasons:
            return self.reasons[name]
        return "not chosen" if self.named is not None and name not in self.named else None

    def _wants(self, name: str) -> bool:
        use = self.asked.get(name, {}).get("use")
        return self._kept_out(name) is None if use is None else bool(use)
