"""Names of rows that two columns make together: given and family name, a team and its year."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import pandas as pd

from hetviz._pandas import TEXT
from hetviz.features.columns.names import words_of

_GIVEN_NAME_WORDS = frozenset(
    {"first", "given", "forename", "fore", "firstname", "vorname", "prenom"}
)
_FAMILY_NAME_WORDS = frozenset(
    {"last", "family", "surname", "sur", "lastname", "nachname", "apellido"}
)
_TIME_WORDS = frozenset({"year", "season", "edition", "volume", "jahr", "saison", "annee"})
# Below this share of different names another column may tell rows apart, and from this on it does.
_MAX_DISTINCT_SHARE, _MIN_DISTINCT_SHARE = 0.9, 0.95
# 2019 and 2019/2020, not a day.
_MAX_TIME_CHARS = 9


def full_name(columns: Iterable[str]) -> tuple[str, str] | None:
    """Return the columns of given and family names, in this order, if there is one of each.

    Their names say so: nameFirst and nameLast, Vorname and Nachname.
    """
    given_columns: dict[frozenset[str], str] = {}
    family_columns: dict[frozenset[str], str] = {}
    for name in map(str, columns):
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        words = frozenset(words_of(plain))
        if words & _GIVEN_NAME_WORDS and not words & _FAMILY_NAME_WORDS:
            # Beside a first name, the given ones are all of them.
            other_words = words - _GIVEN_NAME_WORDS
            given_columns[other_words] = (
                given_columns[other_words]
                if "given" in words and other_words in given_columns
                else name
            )
        elif words & _FAMILY_NAME_WORDS and not words & _GIVEN_NAME_WORDS:
            family_columns.setdefault(words - _FAMILY_NAME_WORDS, name)
    # "First game" and "last game" are no names: what is left of a name is "name", or nothing.
    has_name, no_words = frozenset({"name"}), frozenset[str]()
    return next(
        (
            (given_columns[of_given], family_columns[of_family])
            for of_given, of_family in (
                (has_name, has_name),
                (no_words, no_words),
                (has_name, no_words),
            )
            if of_given in given_columns and of_family in family_columns
        ),
        None,
    )


def find_time_column(frame: pd.DataFrame, title: str) -> str | None:
    """Return the column of years or seasons that tells apart rows of the same name, if one does.

    Parameters
    ----------
    frame : DataFrame
        Cells as text.
    title : str
    """
    names = frame[title].str.strip()
    if names.nunique() >= _MAX_DISTINCT_SHARE * len(names):
        return None
    for column in map(str, frame.columns):
        cells = frame[column].str.strip()
        if column == title or not set(words_of(column)) & _TIME_WORDS or cells.eq("").any():
            continue
        if (names + " " + cells).nunique() >= _MIN_DISTINCT_SHARE * len(
            names
        ) and cells.str.len().max() <= _MAX_TIME_CHARS:
            return column
    return None


def joined_cells(frame: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Return the text of several columns as one; cells that say nothing are left out."""
    parts = [frame[column].astype(str).str.strip().tolist() for column in columns]
    words = [" ".join(filter(None, row)) for row in zip(*parts, strict=True)]
    return pd.Series(words, index=frame.index, dtype=TEXT)
