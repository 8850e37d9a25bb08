"""Datasets whose titles are names of people."""

from __future__ import annotations

import re

from hetviz.data.model.dataset import Dataset

_MAX_TITLES = 500
_MIN_SHARE = 0.8  # of the titles that look like names
_NAME = re.compile(r"[^\W\d_]+(?:[ .'’-]+[^\W\d_]+){0,4}\.?")
_WORD = re.compile(r"[^\W\d_]+")
_PEOPLE = frozenset(
    _WORD.findall("""
    actor artist author client colleague contact customer director doctor driver employee
    friend guest human inventor lecturer legislator manager member musician owner painter
    participant passenger patient people person pilot player poet politician pupil
    researcher respondent scientist senator singer speaker staff student subject teacher
    user visitor volunteer voter worker writer
    """)
)
_COLUMNS = frozenset(
    _WORD.findall("""
    birth birthdate birthday dob firstname gender lastname nationality surname
    """)
)
_COLUMN_PAIRS = ({"first", "name"}, {"last", "name"}, {"full", "name"}, {"given", "name"})


def names_people(dataset: Dataset) -> bool:
    """Whether titles of a dataset are names of people."""
    titles = [str(t) for t in dataset.titles[:: max(1, len(dataset) // _MAX_TITLES)]]
    n_names = sum(bool(_NAME.fullmatch(t)) and not t.islower() for t in titles)
    if n_names < _MIN_SHARE * len(titles) or not titles:
        return False
    if any(word in _PEOPLE for word in _stems(dataset.name)):
        return True
    if dataset.table is None:
        return False
    columns = [set(_stems(str(name))) for name in dataset.table.columns]
    return any(
        words & _COLUMNS or any(pair <= words for pair in _COLUMN_PAIRS) for words in columns
    )


def _stems(text: str) -> list[str]:
    words = [word.lower() for word in _WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))]
    return [word[:-1] if word.endswith("s") and word not in _PEOPLE else word for word in words]
