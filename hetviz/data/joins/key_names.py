"""Words in the names of tables and columns, and how they refer to each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_WORDS = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-ZÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-zäöü])")
_UMLAUTS = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "é": "e", "è": "e", "ß": "ss"})
# Words that mark a column as a key without naming the entity.
ID_WORDS = frozenset(
    {"id", "ids", "key", "code", "no", "nr", "num", "number", "nummer", "numero", "ref", "uid",
     "uuid", "guid", "pk", "fk", "identifier", "ident", "kennung", "idx", "schlussel", "clave",
     "codigo", "cle", "ssn", "isbn", "sku", "ean"}
)  # fmt: skip
NAME_WORDS = frozenset(
    {"name", "title", "titel", "label", "bezeichnung", "nom", "nombre", "titre", "titulo"}
)
# Words of a table name that say nothing about its rows.
_FILLERS = frozenset({"raw", "tbl", "table", "dim", "fact", "the", "of", "stg", "tab"})
# Columns that name another row of the same kind by the part that it plays.
_ROLES = frozenset(
    {"manager", "parent", "report", "supervisor", "boss", "head", "chef", "leiter", "mentor",
     "predecessor", "successor", "prerequisite", "friend", "freund", "vorgesetzter", "evolve",
     "reply", "superior", "ancestor", "jefe", "padre"}
)  # fmt: skip
END_WORDS = frozenset(
    {"source", "target", "from", "to", "src", "dst", "a", "b", "i", "j", "node", "head", "tail",
     "start", "end", "origin", "destination", "sender", "receiver", "von", "nach"}
)  # fmt: skip
TIME_WORDS = frozenset(
    {"year", "jahr", "yr", "season", "saison", "semester", "term", "quarter", "month", "monat",
     "week", "day", "date", "datum", "ano", "annee"}
)  # fmt: skip
_MEASURES = frozenset(
    {"year", "jahr", "yr", "day", "tag", "month", "monat", "hour", "stunde", "minute", "second",
     "date", "datum", "time", "zeit", "age", "alter", "count", "quantity", "qty", "amount",
     "price", "preis", "cost", "total", "score", "rating", "bewertung", "rank", "rang",
     "position", "order", "slot", "seq", "sequence", "stop", "lap", "grade", "weight", "height",
     "duration", "dauer", "length", "size", "value", "level", "round", "index", "stint",
     "session", "point", "win", "priority", "rate", "percent", "prozent", "population",
     "distance", "seat", "min", "max", "mean", "linenumber", "extension", "credit", "capacity",
     "kapazitat", "budget", "millisecond", "byte", "postal", "zip", "plz", "phone", "telefon",
     "fax", "url", "description", "version", "status", "kind", "type", "row"}
)  # fmt: skip
_COMPOUND = re.compile(r"([^\W\d_]{3,})(nummer|schlussel|kennung|key|id)")
_NOT_COMPOUND = frozenset(
    {"paid", "unpaid", "prepaid", "valid", "invalid", "grid", "hybrid", "solid", "liquid", "fluid",
     "acid", "covid", "void", "rapid", "humid", "centroid", "android", "monkey", "turkey",
     "whiskey", "hockey", "jockey"}
)  # fmt: skip
_MIN_PART_CHARS = 4


@lru_cache(maxsize=4096)
def words_of_name(name: str) -> tuple[str, ...]:
    """Return the words of a name in the singular and without umlauts: order, id for Orders_ID."""
    words: list[str] = []
    for word in _WORDS.findall(_CAMEL.sub(" ", name)):
        word = _singular(word.lower().translate(_UMLAUTS))
        compound = _COMPOUND.fullmatch(word)
        words += [word] if compound is None or word in _NOT_COMPOUND else compound.groups()
    return tuple(words)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if re.search("(us|ss|x|ch|sh)es$", word):
        return word[:-2]
    is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3
    return word[:-1] if is_plural else word


def column_words(columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the words of the columns of a table, without a beginning that all of them share."""
    words = [words_of_name(name) for name in columns]
    has_prefix = len(words) > 2 and all(len(of) > 1 for of in words)
    if has_prefix and len({of[0] for of in words}) == 1:
        return [of[1:] for of in words]
    return words


def table_words(name: str, others: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a table name that tell it from the other tables: order for raw_orders."""
    words = [word for word in words_of_name(name) if word not in _FILLERS]
    names = [words_of_name(other) for other in others]
    common = {word for word in words if len(names) > 2 and all(word in of for of in names)}
    return tuple(word for word in words if word not in common) or tuple(words)


def without_id_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words that name the entity of a key."""
    return tuple(word for word in words if word not in ID_WORDS)


def is_named_key(words: Sequence[str]) -> bool:
    """Return whether a column name marks a key."""
    return bool(words) and (words[-1] in ID_WORDS or words[0] in ("id", "codigo", "code", "cod"))


def is_named_measure(words: Sequence[str]) -> bool:
    """Return whether a column name denotes a measurement, a time, an order or an attribute."""
    is_key = is_named_key(words) and words[-1] not in ("no", "nr", "num", "number", "index")
    return bool(_MEASURES & set(words)) and not is_key


def is_named_role(words: Sequence[str], in_same_table: bool) -> bool:
    """Return whether a column name is a part that a row plays for another: parent, reports to."""
    return bool((_ROLES if in_same_table else _ROLES | END_WORDS) & set(words))


def similarity(first: str, second: str) -> float:
    """Return the share of common trigrams of two words, from 0 to 1."""
    a, b = _trigrams(first), _trigrams(second)
    return len(a & b) / max(1, len(a | b))


@lru_cache(maxsize=4096)
def _trigrams(word: str) -> frozenset[str]:
    word = f"^{word}$"
    return frozenset(word[at : at + 3] for at in range(len(word) - 2))


def has_common_part(words: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether a word contains one of the others, or is contained in it.

    Of two names of several words each, only the last words count, which say what it is.
    """
    if len(words) > 1 and len(others) > 1:
        words, others = words[-1:], others[-1:]
    return any(
        len(word) >= _MIN_PART_CHARS
        and len(other) >= _MIN_PART_CHARS
        and (word in other or other in word)
        for word in words
        for other in others
    )
