"""Row names from two columns: given and family name, or team and year."""

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
# A second column is used below the first share of distinct names and above the second.
_MAX_DISTINCT_SHARE, _MIN_DISTINCT_SHARE = 0.9, 0.95
# "2019" and "2019/2020", but no dates.
_MAX_TIME_CHARS = 9


def full_name(columns: Iterable[str]) -> tuple[str, str] | None:
    """Return the columns of given and family names, if both exist."""
    given_columns: dict[frozenset[str], str] = {}
    family_columns: dict[frozenset[str], str] = {}
    for name in map(str, columns):
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        words = frozenset(words_of(plain))
        if words & _GIVEN_NAME_WORDS and not words & _FAMILY_NAME_WORDS:
            # Next to a first name, "given" means all given names.
            other_words = words - _GIVEN_NAME_WORDS
            given_columns[other_words] = (
                given_columns[other_words]
                if "given" in words and other_words in given_columns
                else name
            )
        elif words & _FAMILY_NAME_WORDS and not words & _GIVEN_NAME_WORDS:
            family_columns.setdefault(words - _FAMILY_NAME_WORDS, name)
    # "First game" and "last game" are not names: only "name" or nothing may remain.
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
    """Return the year or season column that distinguishes rows of the same name, or None."""
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
    """Return the joined text of several columns without empty cells."""
    parts = [frame[column].astype(str).str.strip().tolist() for column in columns]
    words = [" ".join(filter(None, row)) for row in zip(*parts, strict=True)]
    return pd.Series(words, index=frame.index, dtype=TEXT)
