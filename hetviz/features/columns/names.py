"""Column types by name: ids and measurements."""

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
# Words for counts or id numbers: they mark an id only together with another word ("Order No.").
_NUMBER_WORDS = frozenset({"no", "num", "number", "numéro", "numero", "número"})
_COUNT_WORDS = frozenset({"of", "total", "count", "mean", "avg", "average", "n", "sum", "anzahl"})
# Words of measured quantities: such columns are no ids, even if all cells differ.
_MEASURE_WORDS = frozenset(
    {"year", "jahr", "année", "annee", "age", "alter", "time", "zeit", "date", "datum", "day",
     "tag", "month", "monat", "hour", "minute", "second", "week", "price", "preis", "cost",
     "kosten", "income", "value", "wert", "amount", "betrag", "size"}
)  # fmt: skip


def words_of(name: str) -> list[str]:
    """Return the lower-case words of a column name: player and id for playerID."""
    return [word.lower() for word in _PARTS.findall(_CAMEL.sub(" ", str(name)))]


def is_named_id(name: str) -> bool:
    """Return whether the name denotes ids: id, playerID, Order No., Mst-Nr., key."""
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
    """Return whether the name denotes a measurement or a time."""
    return bool(_MEASURE_WORDS & set(words_of(name)))
