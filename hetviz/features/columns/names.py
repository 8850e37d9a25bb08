"""Column types by name: ids and measurements."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from hetviz._types import Floats

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


_PHONE = re.compile(
    r"(home|work|cell)?(phone|fax|telefon|telephone|mobile|durchwahl|handy)(nr|no)?"
)
_POSTAL = re.compile(r"(postal|zip|post)(code)?|postleitzahl|plz|postcode|zipcode|codigo ?postal")
# Registers of companies, securities, places, ships, texts, films and genes.
_REGISTERS = frozenset(
    {"cik", "isin", "cusip", "sedol", "wkn", "ein", "duns", "siren", "siret", "naics", "nace",
     "npi", "fips", "geoid", "geonameid", "uprn", "wban", "imo", "mmsi", "pmid", "pmcid", "oclc",
     "lccn", "viaf", "gnd", "orcid", "upc", "asin", "tconst", "nconst", "entrez", "abn", "acn"}
)  # fmt: skip
# Plural hours and minutes are durations.
_CLOCK_PART = re.compile(r".*(hour|minute|second|stunde|sekunde)")
_LABEL_NUMBER = re.compile(r".*(number|nummer|code|kennzahl)|nr|no|num|id|key")
_CLOCK_TIME = re.compile(r".*(time|zeit|heure|hora)|departure|arrival")
_WEB_ADDRESS = re.compile(r"(?:https?|ftp)://|www\.", re.IGNORECASE)
_MAX_CLOCK_TIME = 2400
_MIN_CLOCK_VALUES = 5


def are_web_addresses(texts: Iterable[object]) -> bool:
    """Return whether all values of a column are web addresses, which only label."""
    found = [str(text) for text in texts if text is not None]
    return bool(found) and all(map(_WEB_ADDRESS.match, found))


def label_reason(name: str, numbers: Floats | None = None) -> str | None:
    """Return why a column only labels rows and measures nothing, or None."""
    words = words_of(name)
    if not words or _COUNT_WORDS & set(words):
        return None
    last = words[-1]
    entity = words[-2] if len(words) > 1 and last in ("number", "no", "nr", "num") else last
    if _PHONE.fullmatch(entity) or words == ["extension"]:
        return "a phone number"
    is_code = any(_POSTAL.fullmatch(word) and after == "code" for word, after in pairwise(words))
    if _POSTAL.fullmatch(last) or is_code:
        return "a postal code"
    if numbers is None:
        return None
    if _CLOCK_PART.fullmatch(last):
        return "part of a clock time"
    if _CLOCK_TIME.fullmatch(last) and _are_clock_times(numbers):
        return "clock times such as 1545"
    # A column that is only called number may be a count.
    is_label = _LABEL_NUMBER.fullmatch(last) and (len(words) > 1 or last not in _NUMBER_WORDS)
    if last in _REGISTERS:
        return "a number in a register"
    if not is_measured(name) and (is_named_id(name) or is_label):
        return "a key, code or number that only labels"
    return None


def _are_clock_times(numbers: Floats) -> bool:
    """Return whether whole numbers are hours and minutes, such as 1545."""
    present = np.unique(numbers[np.isfinite(numbers)])
    return (
        len(present) >= _MIN_CLOCK_VALUES
        and 100 < float(present[-1]) <= _MAX_CLOCK_TIME
        and float(present[0]) >= 0
        and bool((present % 100 < 60).all())
    )


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
