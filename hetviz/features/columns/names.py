"""What the name of a column says of it: that it holds ids, or a measurement."""

from __future__ import annotations

import re

_PARTS = re.compile(r"[^\W\d_]+|\d+|#")
_CAMEL = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])")
_ID_WORDS = frozenset(
    {"id", "ids", "key", "code", "codes", "nr", "uid", "uuid", "guid", "index", "idx", "pk", "sku",
     "isbn", "issn", "ean", "gtin", "doi", "identifier", "accession", "barcode", "rownames",
     "kennung", "kennziffer", "kennzahl", "schlüssel", "schluessel", "nummer", "clé", "cle",
     "clave", "código", "codigo", "codice", "chiave", "unnamed", "#"}
)  # fmt: skip
# Words that mean a count as often as a number given to something: only with another word beside
# them, as in "Order No.", do they name an id.
_NUMBER_WORDS = frozenset({"no", "num", "number", "numéro", "numero", "número"})
_COUNT_WORDS = frozenset({"of", "total", "count", "mean", "avg", "average", "n", "sum", "anzahl"})
# Words of what is measured, which a column is of even where no two of its cells are alike.
_MEASURE_WORDS = frozenset(
    {"year", "jahr", "année", "annee", "age", "alter", "time", "zeit", "date", "datum", "day",
     "tag", "month", "monat", "hour", "minute", "second", "week", "price", "preis", "cost",
     "kosten", "income", "value", "wert", "amount", "betrag", "size"}
)  # fmt: skip


def words_of(name: str) -> list[str]:
    """Return the words of a column's name, in small letters: player and id of playerID."""
    return [word.lower() for word in _PARTS.findall(_CAMEL.sub(" ", str(name)))]


def is_named_id(name: str) -> bool:
    """Whether a column is named as one of ids: id, playerID, Order No., Mst-Nr., key."""
    words = words_of(name)
    if not words or _COUNT_WORDS & set(words):
        return False
    if words[-1] in _ID_WORDS or words[0] in ("id", "rownames", "unnamed"):
        return True
    lower = str(name).strip().lower()
    if lower.endswith(("_id", ".id", "schlüssel", "nummer")) or lower in ("row.names", "row names"):
        return True
    return words[-1] in _NUMBER_WORDS and (len(words) > 1 or lower in ("no.", "num."))


def is_measured(name: str) -> bool:
    """Whether a column is named as a measurement or a time."""
    return bool(_MEASURE_WORDS & set(words_of(name)))
