"""Names of rows that two columns make together: given and family name, a team and its year."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import pandas as pd

from hetviz._pandas import TEXT
from hetviz.features.columns.names import words_of

_GIVEN = frozenset({"first", "given", "forename", "fore", "firstname", "vorname", "prenom"})
_FAMILY = frozenset({"last", "family", "surname", "sur", "lastname", "nachname", "apellido"})
_TIMES = frozenset({"year", "season", "edition", "volume", "jahr", "saison", "annee"})
# Below this share of different names another column may tell rows apart, and from this on it does.
_REPEATED, _APART = 0.9, 0.95
# 2019 and 2019/2020, not a day.
_LONGEST = 9


def full_name(columns: Iterable[str]) -> tuple[str, str] | None:
    """Return the columns of given and family names, in this order, if there is one of each.

    Their names say so: nameFirst and nameLast, Vorname and Nachname.
    """
    given: dict[frozenset[str], str] = {}
    family: dict[frozenset[str], str] = {}
    for name in map(str, columns):
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        words = frozenset(words_of(plain))
        if words & _GIVEN and not words & _FAMILY:
            # Beside a first name, the given ones are all of them.
            rest = words - _GIVEN
            given[rest] = given[rest] if "given" in words and rest in given else name
        elif words & _FAMILY and not words & _GIVEN:
            family.setdefault(words - _FAMILY, name)
    # "First game" and "last game" are no names: what is left of a name is "name", or nothing.
    named, alone = frozenset({"name"}), frozenset[str]()
    return next(
        (
            (given[of_given], family[of_family])
            for of_given, of_family in ((named, named), (alone, alone), (named, alone))
            if of_given in given and of_family in family
        ),
        None,
    )


def with_time(frame: pd.DataFrame, title: str) -> str | None:
    """Return the column of years or seasons that tells apart rows of the same name, if one does.

    Parameters
    ----------
    frame : DataFrame
        Cells as text.
    title : str
    """
    names = frame[title].str.strip()
    if names.nunique() >= _REPEATED * len(names):
        return None
    for column in map(str, frame.columns):
        cells = frame[column].str.strip()
        if column == title or not set(words_of(column)) & _TIMES or cells.eq("").any():
            continue
        if (names + " " + cells).nunique() >= _APART * len(
            names
        ) and cells.str.len().max() <= _LONGEST:
            return column
    return None


def joined_cells(frame: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Return the text of several columns as one; cells that say nothing are left out."""
    parts = [frame[column].astype(str).str.strip().tolist() for column in columns]
    words = [" ".join(filter(None, row)) for row in zip(*parts, strict=True)]
    return pd.Series(words, index=frame.index, dtype=TEXT)
