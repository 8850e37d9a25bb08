"""Scores of foreign keys: how likely the values of a column name rows of a dataset."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetviz.data.joins.key_columns import KeyColumn, chance_share, numbers_after_prefix
from hetviz.data.joins.key_names import has_common_part, is_named_role, similarity, table_words
from hetviz.data.joins.keys import column_keys
from hetviz.data.model.heterodata import HeteroData

MIN_SHARED_SHARE = 0.5
"""Smallest share of the distinct keys of a column that a key must have."""

NAMED = 0.55
"""Name evidence from which a column is named after its target."""

_ALL_ROWS = 0.99
_MAX_KEY_LENGTH = 80
_MIN_LETTER_SHARE = 0.2
# A column that differs in nearly every row does not name rows of its own table.
_MAX_OWN_DISTINCT = 0.9
_MAX_OWN_EQUAL = 0.3
# Decimal digits of improbability from which shared keys decide by themselves. Numbers run on, so
# their values do not agree independently.
_CERTAIN_DIGITS, _CERTAIN_NUMBER_DIGITS = 8.0, 25.0
_MIN_CHANCE = 1e-3
# The same letters in front of running numbers, as in p7 and p8.
_PREFIX_DIGITS = 2.5
_CERTAIN, _LIKELY = 0.9, 0.8


@dataclass(frozen=True)
class KeyEvidence:
    """Evidence that a column refers to a unique column of a dataset; shares are from 0 to 1."""

    keys_found: float  # Share of the distinct keys that the target has.
    rows_found: float  # Share of the rows with a key that the target has.
    coverage: float  # Share of the keys of the target that occur.
    name: float  # How clearly the name of the column refers to the target.
    same_name: bool  # Also if the column is called as the target's table.
    table_name: bool  # The name contains the name of the target's table.
    part_of_name: bool
    name_similarity: float
    to_id: float  # 1 for ids of the target, less for titles, 0 for other columns.
    chance: float  # Share of the keys expected by chance if both are whole numbers, else 0.
    span: float  # Range of the numbers relative to that of the target, at most 1.
    surprise: float  # Improbability of the shared keys, from 0 to 1.
    is_unique: bool  # The column differs in every row.
    is_own_id: bool
    names_other_table: float  # How clearly the name refers to another table.
    is_id_of_other: bool  # A third table has an id of this name.
    is_role: bool  # The name is a role, such as parent.
    is_same_table: bool
    few_targets: bool

    @property
    def score(self) -> float:
        """Probability-like score from 0 to 1; weights were chosen on databases with known keys."""
        named = self.name >= NAMED
        unnamed = not named
        log_odds = (
            -3.4
            + 0.6 * self.keys_found
            + 0.65 * self.rows_found
            + 1.2 * (self.rows_found >= _ALL_ROWS)
            + 0.45 * self.coverage
            + 1.1 * self.same_name
            + 0.5 * self.table_name
            + 0.15 * self.part_of_name
            + 0.6 * self.name_similarity
            + 0.7 * named
            + 0.4 * self.name
            + 1.2 * self.to_id
            + 0.8 * self.same_name * self.to_id
            - 1.8 * unnamed * self.chance
            - 1.7 * unnamed * (self.chance > 0) * (1 - self.span)
            + 0.65 * self.surprise
            + 1.9 * self.surprise * self.to_id
            - 0.5 * (self.is_unique and not self.same_name)
            - 0.5 * (self.is_own_id and not self.same_name)
            - 1.9 * self.names_other_table
            - 0.85 * self.is_id_of_other
            - 0.25 * self.few_targets
            + 2.3 * self.is_role
        )
        score = 1 / (1 + math.exp(-log_odds))
        is_reference = not self.is_unique and self.rows_found >= MIN_ROWS_FOUND
        # So many values do not agree by chance.
        is_no_chance = self.surprise >= 0.6 and self.chance < 0.2 and not self.is_same_table
        if self.to_id == 1 and is_reference and is_no_chance:
            return max(score, _CERTAIN)
        is_own_role = self.is_same_table and self.is_role and not self.names_other_table
        if is_own_role and not self.is_unique and self.rows_found >= _ALL_ROWS:
            return max(score, _LIKELY)
        return score


MIN_ROWS_FOUND = 0.9


class KeyJudge:
    """Judge of pairs of columns of some datasets."""

    def __init__(self, data: HeteroData, columns: Sequence[KeyColumn]) -> None:
        self._data = data
        names = list(data.datasets)
        self._table_words = {name: table_words(name, names) for name in names}
        self._ids = {column.dataset: column for column in columns if column.is_id}

    def may_refer(self, a: KeyColumn, b: KeyColumn) -> bool:
        """Return whether `a` can be a key of `b`: never measures, numbers of other tables' rows."""
        if a is b or b.separator is not None or not self._identifies(b):
            return False
        if any(
            column.has_fractions or column.is_date or column.mean_length > _MAX_KEY_LENGTH
            for column in (a, b)
        ):
            return False
        are_numbers = a.integers is not None, b.integers is not None
        if are_numbers[0] != are_numbers[1] and a.letter_share < _MIN_LETTER_SHARE:
            return False
        same_name = self._is_same_name(a, b)
        if a.is_measure and a.integers is not None and not same_name:
            return False
        own = set(self._table_words[a.dataset])
        if a.is_id and not same_name and (a.dataset == b.dataset or own & set(a.words)):
            return False
        if a.dataset == b.dataset:
            return b.is_id and self._may_refer_to_own_rows(a)
        if b.is_id:
            return len(a.keys) > 1 or same_name
        if b.is_title and b.letter_share > 0.5:
            # A name of rows of another table, such as a country, is no name of these rows.
            return all(
                b.words != words or table == b.dataset for table, words in self._table_words.items()
            )
        has_name = same_name or (
            bool(b.words) and a.words[-len(b.words) :] == b.words and not b.is_named_key
        )
        is_usable_number = b.integers is None or (same_name and not b.is_measure)
        return has_name and is_usable_number and (a.is_id or not a.is_unique)

    def is_reference_of_ids(self, a: KeyColumn, b: KeyColumn) -> bool:
        """Return whether the ids of `a` name rows of `b` rather than rows of their own kind."""
        own, words = set(self._table_words[a.dataset]), set(a.words)
        if not a.called or not words or own <= words:
            return False
        if set(self._table_words[b.dataset]) <= words:
            return True
        if not self._is_same_name(a, b):
            return has_common_part(a.entity_words, self._table_words[b.dataset])
        titles = [self._data[name].title_column for name in (a.dataset, b.dataset)]
        return titles[0] is None and titles[1] is not None

    def evidence(self, a: KeyColumn, b: KeyColumn, n_shared: int, n_rows: int) -> KeyEvidence:
        """Return the evidence for `a` as a key of `b`; they share keys in `n_rows` rows of `a`."""
        b_keys = set(b.keys.tolist()) if a.no_partner_keys else set()
        void = [key for key in a.no_partner_keys if key not in b_keys]
        void_rows = sum(int(a.uses[a.keys == key].sum()) for key in void)
        rows_found = min(1.0, n_rows / max(1, a.rows - void_rows))
        keys_found = n_shared / max(1, len(a.keys) - len(void))
        own, core = self._table_words[b.dataset], a.entity_words
        same_name = self._is_same_name(a, b)
        has_table = bool(own) and (core[-len(own) :] == own or set(own) <= set(core))
        joined = "".join(core)
        near = similarity(joined, "".join(own)) if joined else 0.0
        if b.entity_words:
            near = max(near, similarity(joined, "".join(b.entity_words)))
            near = max(near, similarity("".join(a.words[-2:]), "".join(b.words[-2:])))
        has_part = has_common_part(core, own)
        is_suffix = (
            bool(b.entity_words)
            and len(b.words) < len(a.words)
            and a.words[-len(b.words) :] == b.words
        )
        name = max(
            1.0 * same_name,
            0.95 * (bool(own) and core == own),
            0.8 * has_table,
            0.7 * is_suffix,
            0.6 * has_part,
            near,
        )
        x, y = a.integers, b.integers
        chance = span = 0.0
        if x is not None and y is not None:
            chance, span = _number_chance(x, y)
        odds = chance if chance else chance_share(a, b)
        to_id = 1.0 if b.is_id else 0.7 if b.is_title else 0.0
        digits = n_shared * -math.log10(min(1.0, max(odds, _MIN_CHANCE)))
        others = [
            similarity(joined, "".join(words))
            for table, words in self._table_words.items()
            if table not in (a.dataset, b.dataset)
        ]
        elsewhere = max(others, default=0.0)
        is_same_table = a.dataset == b.dataset
        if x is None and numbers_after_prefix(a, b) is not None and a.ends[0][0].isalpha():
            digits += _PREFIX_DIGITS
        enough = _CERTAIN_DIGITS if x is None else _CERTAIN_NUMBER_DIGITS
        surprise = min(1.0, digits / enough) * rows_found**4
        return KeyEvidence(
            keys_found=keys_found,
            rows_found=rows_found,
            coverage=n_shared / max(1, len(b.keys)),
            name=name,
            same_name=same_name or (bool(own) and core == own),
            table_name=has_table,
            part_of_name=is_suffix or has_part,
            name_similarity=near,
            to_id=to_id,
            chance=chance,
            span=span,
            surprise=surprise,
            is_unique=a.is_unique,
            is_own_id=a.is_id,
            names_other_table=elsewhere if elsewhere > near + 0.15 else 0.0,
            is_id_of_other=not same_name and self._is_id_of_third(a, b),
            is_role=is_named_role(a.words, is_same_table)
            and to_id == 1
            and (is_same_table or (surprise > 0.3 and chance < 0.5)),
            is_same_table=is_same_table,
            few_targets=len(b.keys) < 5,
        )

    def _identifies(self, column: KeyColumn) -> bool:
        """Return whether a column identifies the items: ids, titles, or distinct values."""
        if column.is_id or column.is_title:
            return column.distinct >= _MIN_TITLE_DISTINCT
        return column.distinct == 1.0

    def _is_same_name(self, a: KeyColumn, b: KeyColumn) -> bool:
        """Return whether both have the same name, and it is more than "id"."""
        return bool(a.words) and a.bare_name == b.bare_name and bool(b.entity_words)

    def _is_id_of_third(self, a: KeyColumn, b: KeyColumn) -> bool:
        return any(
            column.called.lower() == a.called.lower() and bool(a.called)
            for table, column in self._ids.items()
            if table not in (a.dataset, b.dataset)
        )

    def _may_refer_to_own_rows(self, a: KeyColumn) -> bool:
        is_many = len(a.keys) >= _MAX_OWN_DISTINCT * a.rows
        if a.is_id or (is_many and not is_named_role(a.words, in_same_table=True)):
            return False
        dataset = self._data[a.dataset]
        ids, refers = column_keys(dataset, "", loose=True), column_keys(dataset, a.column, True)
        own_ids = np.append(ids.distinct, "")[ids.at]
        own_refers = np.append(refers.distinct, "")[refers.at]
        return float(np.mean(own_ids == own_refers)) < _MAX_OWN_EQUAL


_MIN_TITLE_DISTINCT = 0.8


def _number_chance(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the expected share of `x` within `y` by chance, and the relative span of `x`."""
    low, high = int(x[0]), int(x[-1])
    width = high - low + 1
    inside = int(np.searchsorted(y, high, "right") - np.searchsorted(y, low, "left"))
    return min(1.0, inside / width), min(1.0, width / (int(y[-1]) - int(y[0]) + 1))
