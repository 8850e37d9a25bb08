"""Proposed links between the rows of two tables that say the same in similar words or meaning."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import get_args

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._types import Array, Bools, Floats, Ints, Sparse
from hetviz.core.measures.mutual_rows import mutual_rows
from hetviz.core.measures.specific_rows import (
    RowVectors,
    mutual_pairs,
    nearest_within,
    relative_similarity,
    without_dense,
)
from hetviz.core.sentence_vectors import Model, text_vectors
from hetviz.core.threads import one_thread
from hetviz.data.joins.judged_links import judge_links, usable_links
from hetviz.data.joins.keys import cell_texts
from hetviz.data.joins.matching import PROBABILITY, Match, make_match
from hetviz.data.joins.near_rows import (
    NEAR,
    PROPOSED_KINDS,
    SIMILAR_MEANING,
    SIMILAR_WORDS,
    By,
    Limits,
    days_apart,
    km_apart,
    reasons_of,
)
from hetviz.data.joins.quantities_and_initials import quantities, short_names, without_quantities
from hetviz.data.model.dataset import ITEM_RESULTS, Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.errors import DataError, ParameterError

SIMILAR: Mapping[str, str] = dict(zip(get_args(By), PROPOSED_KINDS, strict=True))
"""Kind of the links that were proposed in each way."""
MAX_CHANCE = 0.2
_MIN_PAIRS, _MIN_SHARE = 5, 0.02
# By meaning: proposals of a row, and least cosine of the texts of the English model. By words and
# meaning: least relative similarity of two tables, see benchmarks/links.md.
PER_ROW, _MIN_COSINE, _MIN_RELATIVE = 3, 0.4, 0.64
# Longer texts take the model ten times as long.
_MAX_CHARS = 800
_MIN_LETTERS = 3
_WORD = re.compile(r"[^\W_]+")
_MIN_SPLIT = 4
_FRACTIONS = str.maketrans({"\u00bc": " 1/4", "\u00bd": " 1/2", "\u00be": " 3/4"})
_N_SHARED = 3


def propose_links(
    data: HeteroData,
    source: str,
    target: str,
    *,
    by: By = "words",
    columns: Mapping[str, Sequence[str]] | None = None,
    per_row: int = PER_ROW,
    model: Model = "english",
    km: float | None = None,
    days: float | None = None,
    max_chance: float = MAX_CHANCE,
    answers: pd.DataFrame | None = None,
    random_state: int = 0,
) -> pd.DataFrame:
    r"""Propose links between rows of two datasets that have no key in common.

    By words, a pair is proposed if each row is the other's most similar one, where a row that is
    similar to many others needs more similarity. Rows are compared by the words and by all three
    neighbouring characters of their texts, so that other spellings, other orders of words and
    abbreviations count as well. Quantities are compared in base units (1.5 kg is 1500 g), and names
    of people also by initials (J. Smith is John Smith). By meaning, the sentence model compares
    them, too, and a pair is proposed if each row is among the three most similar ones of the other,
    as for pictures and keywords. By pictures, place or date, a pair is proposed if each row is the
    other's only nearest one. Pairs do not depend on which dataset is the source. None of these
    shows whether pairs are right, so a probability needs answers.

    Parameters
    ----------
    data : HeteroData
    source, target : str
        Two different datasets with text.
    by : {"words", "meaning", "pictures", "place", "date"}
        "words" suits names of the same things. "meaning" suits texts about the same topics in other
        words or languages. "pictures" compares them by what the Data page says. "place" needs
        columns of latitude and longitude, "date" a column of dates.
    columns : mapping of str to sequence of str, optional
        Dataset -> columns of its table to compare. Default: its columns of text, names and
        categories, and its ids if they are its names or there is no other text.
    per_row : int
        By meaning: the most proposals of a row of the larger dataset. A row of the smaller one has
        as many times more as this has fewer rows.
    model : {"english", "multilingual"}
        By meaning: the sentence model. "english" needs the extra ``text``, "multilingual" the extra
        ``multilingual``.
    km, days : float, optional
        Largest distance of a pair in kilometres and in days. By place, `km` must be given; by date,
        the default is the same day. By words, meaning or pictures, pairs farther apart are left
        out.
    max_chance : float, 0 to 1
        Pairs with a higher `chance` are left out.
    answers : DataFrame, optional
        Pairs that were judged, see `hetviz.judge_links`, which judges pairs that were proposed
        before.
    random_state : int
        Seed of the scrambled rows.

    Returns
    -------
    DataFrame
        A pair per row, the most similar first; empty if there are hardly more similar pairs than by
        chance. `HeteroData.from_frames` and ``data.edit().add`` accept it as links. Columns:

        - ``source_dataset``, ``source_id``, ``target_dataset``, ``target_id``.
        - ``weight``: the probability if there is one, else the similarity.
        - ``kind``: "similar words", "similar meaning", "similar pictures", "near places" or
          "near dates"; ``role``: "relation".
        - ``similarity``: cosine, 0 to 1. By meaning the mean of that of the words and that of the
          sentence model. By place and date 2^(-d / h) at a distance d, for half of the largest one
          as h.
        - ``chance``: share of pairs at least this similar that scrambled rows would give, 0 to 1.
          A pair above it is similar for a reason, which need not be that it is right.
        - ``probability``: that the pair is right. NaN with fewer than 10 answers.
        - ``shared``: up to three words that both rows have, the rarest first, and quantities as
          `source` writes them. Empty if only other spellings or the meaning are similar.
        - ``reason``: as in "both have kettle, steel", "1.2 km apart" or "same day".

    Raises
    ------
    hetviz.errors.DataError
        If a dataset or column does not exist, there is no text, place, date or picture to compare,
        or most rows share their date with others, so that a date shows nothing.
    hetviz.errors.ParameterError
        If both datasets are the same, or `by`, `per_row`, `model`, `km`, `days` or `max_chance` is
        out of range.
    hetviz.errors.MissingExtraError
        If the sentence model is not installed and `by` is "meaning".

    Notes
    -----
    The texts of a row have TF-IDF vectors of words and of three neighbouring characters, each of
    length :math:`\sqrt{1/2}`, fitted on both tables. Partners are ranked by cross-domain similarity
    local scaling (Conneau et al. 2018). Scrambled rows are made of the words of a column in a
    random order, in which the ends of the words that occur once are exchanged. They have the
    frequent words of a table, and no row is about a thing. If :math:`n(t)` pairs have at least
    similarity t, and :math:`n_0(t)` pairs after scrambling (mean of scrambling either table), then
    chance is :math:`\min_{s \le t} n_0(s) / n(s)`. Nothing is proposed if fewer than 5 pairs or 2 %
    of the smaller table have a `chance` of at most `max_chance`. The probability is a logistic
    function of the logit of the similarity and of whether a pair is the most similar one of its
    rows, fitted to the answers with normal priors. On 11 public pairs of tables, the stated share
    of right pairs was off by .06 on average after 10 answers that were spread over the list, and by
    .05 after 20.

    By meaning, vectors of the first 800 characters of a row, minus the mean of their table, are
    compared as well (of all-MiniLM-L6-v2, or of multilingual-e5-small), and partners are ranked in
    the same way, so that no row is everyone's partner. Scrambled rows have vectors whose principal
    components have random signs. Pairs with a cosine of the original vectors of the English model
    below .4 are left out.

    Different rows of one table are about different things, so they show which similarities two
    tables about the same topics have by themselves: let r be the sum of the median similarities of
    the rows of either table to their most similar row of the other one, divided by the sum of those
    to another row of their own table. If r < .64, tables are about different things: by meaning,
    nothing is proposed then, and by words only pairs that are more similar to each other than
    either row is to a different row of its own table. With `max_chance` = 1 this is left out.

    By place and date, chance is that of five copies of a dataset whose places move three times `km`
    in any direction, and whose dates move three times `days` and up to a week, earlier or later.
    By pictures it is that of the smaller dataset with its own other pictures. Rows with the same
    place or date as another row of their dataset have no partner.

    By words, costs O(n log n) and memory O(n) for n rows, with about a tenth of a millisecond per
    row. By meaning, 5 to 60 ms for each text that is not cached, and O(n m) for n and m rows.

    Examples
    --------
    >>> from hetviz import HeteroData, propose_links
    >>> names = ["Kettle, steel 2 l", "Toaster four slots", "Hand mixer red", "Iron with steam",
    ...          "Rice cooker small", "Waffle maker round"]
    >>> other = ["steel kettle (2 l)", "4 slot toaster", "red handmixer", "steam iron",
    ...          "small ricecooker", "round waffle-maker"]
    >>> data = HeteroData.from_frames({"shop": {"name": names}, "store": {"name": other}})
    >>> proposed = propose_links(data, "shop", "store", max_chance=1.0)
    >>> dict(zip(proposed["source_id"], proposed["target_id"]))["Iron with steam"]
    'steam iron'
    """
    if by not in get_args(By):
        raise ParameterError(f"propose_links: by = {by!r}; it is one of {', '.join(get_args(By))}.")
    if model not in get_args(Model):
        allowed = ", ".join(get_args(Model))
        raise ParameterError(f"propose_links: model = {model!r}; it is one of {allowed}.")
    if per_row < 1:
        raise ParameterError(f"propose_links: per_row = {per_row}; it is at least 1.")
    limits = Limits(km, days)
    limits.check()
    # In the order of their names, so that it does not matter which dataset is the source.
    a, b = sorted((source, target))
    if by == "words":
        pairs = similar_rows(data, a, b, columns, max_chance, random_state)
    elif by == "meaning":
        options = per_row, model, max_chance, random_state
        pairs = close_rows(data, a, b, columns, *options)
    else:
        pairs = _near_rows(data, a, b, by, limits, max_chance, random_state)
    if a != source:
        pairs = pairs.turned()
    frame = _within(data, _frame(data, source, target, pairs), by, limits)
    return frame if answers is None else judge_links(frame, answers)


def _within(data: HeteroData, frame: pd.DataFrame, by: By, limits: Limits) -> pd.DataFrame:
    """Return the pairs that are near enough in other respects, with these as reasons."""
    for limit, name, measure in ((limits.km, "place", km_apart), (limits.days, "date", days_apart)):
        if limit is None or by == name or frame.empty:
            continue
        first, second = (data[frame[f"{side}_dataset"].iloc[0]] for side in ("source", "target"))
        rows = first.find(frame["source_id"]), second.find(frame["target_id"])
        distance, texts = measure(first, second, *rows)
        frame = frame.assign(
            reason=[", ".join(both) for both in zip(frame["reason"], texts, strict=True)]
        )
        frame = frame[distance <= limit].reset_index(drop=True)
    return frame


def _frame(data: HeteroData, source: str, target: str, pairs: SimilarRows) -> pd.DataFrame:
    # Rounding brings equal texts above 1.
    similarity = np.minimum(pairs.similarity, 1.0)
    shared = pairs.shared_words()
    return pd.DataFrame(
        {
            "source_dataset": source,
            "source_id": data[source].ids[pairs.i],
            "target_dataset": target,
            "target_id": data[target].ids[pairs.j],
            "weight": similarity,
            "kind": pairs.kind,
            "role": "relation",
            "similarity": similarity,
            "chance": pairs.chance,
            "probability": np.nan,
            "shared": shared,
            "reason": pairs.reasons or _text_reasons(shared, pairs.kind),
        }
    )


def _text_reasons(shared: Sequence[str], kind: str) -> list[str]:
    alone = "similar spelling" if kind == SIMILAR_WORDS else "similar meaning"
    return [f"both have {words}" if words else alone for words in shared]


@dataclass(frozen=True, eq=False)
class SimilarRows:
    """Pairs of similar rows, the most similar first.

    `reasons` (k,): Why they belong together; empty if that is in the texts.
    """

    i: Ints
    j: Ints
    similarity: Floats
    chance: Floats
    texts: tuple[list[str], list[str]]
    kind: str = SIMILAR_WORDS
    reasons: Sequence[str] = ()

    def sorted(self, kept: Bools) -> SimilarRows:
        """Return the kept pairs, the most similar first."""
        order = np.lexsort((self.j, self.i, -self.similarity))
        order = order[kept[order]]
        pairs = self.i[order], self.j[order], self.similarity[order], self.chance[order]
        reasons = [self.reasons[at] for at in order] if self.reasons else ()
        return SimilarRows(*pairs, self.texts, self.kind, reasons)

    def turned(self) -> SimilarRows:
        """Return the pairs with the datasets in the other order."""
        pairs = self.j, self.i, self.similarity, self.chance, self.texts[::-1]
        turned = SimilarRows(*pairs, self.kind, self.reasons)
        return turned.sorted(np.ones(len(self.i), dtype=bool))

    def shared_words(self) -> list[str]:
        """Return up to three words that the rows of each pair have in common, (k,)."""
        words_of = [
            [{word: word for word in _WORD.findall(text)} | quantities(text) for text in texts]
            for texts in self.texts
        ]
        uses = Counter(word for rows in words_of for words in rows for word in words)
        out = []
        for a, b in zip(self.i.tolist(), self.j.tolist(), strict=True):
            first = words_of[0][a]
            shared = first.keys() & words_of[1][b].keys()
            rarest = sorted(shared, key=lambda word: (uses[word], -len(word), word))
            out.append(", ".join(first[word] for word in rarest[:_N_SHARED]))
        return out


def match_similar(
    data: HeteroData,
    source: str,
    target: str,
    by: str = "words",
    answers: Sequence[tuple[str, str, bool]] = (),
    pairs: Sequence[tuple[str, str, float]] = (),
) -> Match:
    """Match rows of two datasets that `propose_links` proposes.

    `answers`, `pairs`: see `judged_pairs`. The weight of a pair is its similarity, or with enough
    answers its probability, and `usable_links` leaves out the least likely ones.
    """
    frame = usable_links(judged_pairs(data, source, target, answers, by, pairs))
    i, j = data[source].find(frame["source_id"]), data[target].find(frame["target_id"])
    order = np.lexsort((j, i))
    weight = np.clip(frame["weight"].to_numpy()[order], np.finfo(float).tiny, 1.0)
    probability = frame[PROBABILITY].to_numpy()[order]
    return make_match(
        data, source, target, i[order], j[order], weight=weight, kind=SIMILAR[by],
        probability=None if np.isnan(probability).any() else probability,
    )  # fmt: skip


def judged_pairs(
    data: HeteroData,
    source: str,
    target: str,
    answers: Sequence[tuple[str, str, bool]] = (),
    by: str = "words",
    pairs: Sequence[tuple[str, str, float]] = (),
) -> pd.DataFrame:
    """Return the pairs of `propose_links` after answers; the pairs are computed once."""

    def propose() -> pd.DataFrame:
        if not pairs:
            return propose_links(data, source, target, by=by)  # type: ignore[arg-type]
        first, second, similarity = zip(*pairs, strict=True)
        i, j = data[source].find(first), data[target].find(second)
        exist = (i >= 0) & (j >= 0)
        similar = SimilarRows(
            i[exist], j[exist], np.array(similarity)[exist], np.full(exist.sum(), np.nan),
            ([""] * len(data[source]), [""] * len(data[target])), SIMILAR[by],
            reasons_of(by, data[source], data[target], i[exist], j[exist]),
        )  # fmt: skip
        return _frame(data, source, target, similar)

    key = ("similar rows", by, source, target, pairs)
    frame = ITEM_RESULTS.get_or_compute((data[source], data[target]), key, propose).copy()
    judged = pd.DataFrame(answers, columns=["source_id", "target_id", "right"])
    return judge_links(frame, judged) if answers else frame


@one_thread()
def similar_rows(
    data: HeteroData,
    source: str,
    target: str,
    columns: Mapping[str, Sequence[str]] | None = None,
    max_chance: float = MAX_CHANCE,
    random_state: int = 0,
) -> SimilarRows:
    """Return the pairs of `propose_links` by words."""
    tables = _tables(data, source, target, columns, max_chance)
    rows, (X, Y, scrambled_x, scrambled_y) = _word_vectors(tables, random_state)
    i, j, similarity = mutual_rows(X, Y)
    null = [mutual_rows(scrambled_x, Y)[2], mutual_rows(X, scrambled_y)[2]]
    chance = _chance(similarity, np.concatenate(null), len(null))
    kept = chance <= max_chance
    if max_chance < 1 and kept.any():
        first, second = without_dense(X), without_dense(Y)
        if not _are_related(first, second):
            at = np.flatnonzero(kept)
            own = [nearest_within(*of) for of in ((first, i[at]), (second, j[at]))]
            # Similarities are half of cosines if dense vectors are missing.
            kept[at] = similarity[at] > 2 * np.maximum(*own)
    if kept.sum() < max(_MIN_PAIRS, _MIN_SHARE * min(X.shape[0], Y.shape[0])):
        kept[:] = False
    return SimilarRows(i, j, similarity, chance, rows).sorted(kept)


def _are_related(first: RowVectors, second: RowVectors) -> bool:
    """Return whether rows are about as similar to the other table as to rows of their own."""
    return relative_similarity(first, second) >= _MIN_RELATIVE


@one_thread()
def close_rows(
    data: HeteroData,
    source: str,
    target: str,
    columns: Mapping[str, Sequence[str]] | None = None,
    per_row: int = PER_ROW,
    model: Model = "english",
    max_chance: float = MAX_CHANCE,
    random_state: int = 0,
) -> SimilarRows:
    """Return the pairs of `propose_links` by meaning."""
    tables = _tables(data, source, target, columns, max_chance)
    originals = [text_vectors(_read_texts(table), model) for table in tables]
    rows, (X, Y, scrambled_x, scrambled_y) = _word_vectors(tables, random_state)
    rng = np.random.default_rng(random_state)
    V, U = (_centred(vectors) for vectors in originals)
    first, second = (V, X), (U, Y)
    i, j, similarity = mutual_pairs(first, second, per_row)
    scrambled: list[tuple[RowVectors, RowVectors]] = [
        ((_flipped(V, rng), scrambled_x), second),
        (first, (_flipped(U, rng), scrambled_y)),
    ]
    null = [mutual_pairs(*pair, per_row)[2] for pair in scrambled]
    chance = _chance(similarity, np.concatenate(null), len(null))
    kept = (chance <= max_chance) & (similarity > 0)
    if model == "english":
        kept &= np.einsum("ij,ij->i", originals[0][i], originals[1][j]) >= _MIN_COSINE
    n_found = min(len(np.unique(i[kept])), len(np.unique(j[kept])))
    are_many = n_found >= max(_MIN_PAIRS, _MIN_SHARE * min(len(V), len(U)))
    if max_chance < 1 and not (are_many and _are_related(first, second)):
        kept[:] = False
    return SimilarRows(i, j, similarity, chance, rows, SIMILAR_MEANING).sorted(kept)


@one_thread()
def _near_rows(
    data: HeteroData,
    source: str,
    target: str,
    by: str,
    limits: Limits,
    max_chance: float,
    seed: int,
) -> SimilarRows:
    """Return the pairs of `propose_links` by place, date or pictures."""
    _check_ends(source, target, max_chance)
    find, kind = NEAR[by]
    near = find(data[source], data[target], limits, np.random.default_rng(seed))
    chance = _chance(near.similarity, near.null, near.n_nulls)
    kept = chance <= max_chance
    if kept.sum() < _MIN_PAIRS and max_chance < 1:
        kept[:] = False
    texts = [""] * len(data[source]), [""] * len(data[target])
    pairs = SimilarRows(near.i, near.j, near.similarity, chance, texts, kind, near.reasons)
    return pairs.sorted(kept)


def texts_to_read(data: HeteroData, name: str) -> list[str]:
    """Return the text of each row of a dataset that the sentence model reads; cached."""
    dataset = data[name]
    return ITEM_RESULTS.get_or_compute(
        dataset, "texts to read", lambda: _read_texts(_texts_of(dataset, None))
    )


def _read_texts(table: list[list[str]]) -> list[str]:
    return [", ".join(filter(None, row))[:_MAX_CHARS] for row in zip(*table, strict=True)]


def _centred(V: Floats) -> Array:
    """Return the vectors minus their mean, of length 1; 0 for missing text."""
    present = np.asarray(V.any(axis=1))
    centred = np.where(present[:, None], V - V[present].mean(axis=0), 0.0) if present.any() else V
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    out = centred / np.where(length > 1e-9, length, 1.0)
    return np.asarray(out * (length > 1e-9), dtype=np.float32)


def _flipped(V: Array, rng: np.random.Generator) -> Array:
    """Return vectors of the same covariances and lengths whose components have random signs."""
    _, axes = np.linalg.eigh((V.T @ V).astype(np.float64))
    signs = rng.choice([-1.0, 1.0], V.shape)
    return np.asarray((V @ axes * signs) @ axes.T, dtype=np.float32)


def _tables(
    data: HeteroData,
    source: str,
    target: str,
    columns: Mapping[str, Sequence[str]] | None,
    max_chance: float,
) -> list[list[list[str]]]:
    """Return the cells of each column with text of both datasets."""
    _check_ends(source, target, max_chance)
    return [_texts_of(data[name], (columns or {}).get(name)) for name in (source, target)]


def _check_ends(source: str, target: str, max_chance: float) -> None:
    if source == target:
        raise ParameterError(f"propose_links needs two datasets, not {source!r} twice.")
    if not 0 <= max_chance <= 1:
        raise ParameterError(f"propose_links: max_chance = {max_chance}; it is between 0 and 1.")


def _word_vectors(
    tables: Sequence[list[list[str]]], random_state: int
) -> tuple[tuple[list[str], list[str]], list[Sparse]]:
    """Return the texts of the rows, and the vectors of both tables and of them scrambled."""
    rng = np.random.default_rng(random_state)
    scrambled = [[_scramble(cells, rng) for cells in table] for table in tables]
    rows = [
        [_plain(" ".join(cells)) for cells in zip(*table, strict=True)]
        for table in (*tables, *scrambled)
    ]
    people = [*short_names(tables), *short_names(scrambled)]
    return (rows[0], rows[1]), _vectors(rows, people, n_fitted=2)


def _texts_of(dataset: Dataset, columns: Sequence[str] | None) -> list[list[str]]:
    """Return the cells of each column with text, as text; the ids if there is none."""
    if columns:
        return [cell_texts(dataset, column) for column in columns]
    names = [] if dataset.table is None else list(map(str, dataset.table.columns))
    # Without a title, the ids may be the names of the rows.
    names += [""] if dataset.title_column is None else []
    for of in (names, [""]):
        texts = [cells for name in of if _has_words(cells := cell_texts(dataset, name))]
        if texts:
            return texts
    remedy = "Choose columns of its table with text."
    where = f"dataset {dataset.name!r}"
    raise DataError.of("no-text", where, "there is no text to compare", "", remedy)


def _has_words(cells: Sequence[str]) -> bool:
    """Return whether most cells have a word of letters."""
    filled = [cell for cell in cells if cell.strip()]
    letters = sum(sum(map(str.isalpha, cell)) >= _MIN_LETTERS for cell in filled)
    return 2 * letters > len(filled)


def _plain(text: str) -> str:
    folded = text.casefold()
    if folded.isascii():
        return folded
    parts = unicodedata.normalize("NFKD", folded.translate(_FRACTIONS))
    return "".join(part for part in parts if not unicodedata.combining(part))


def _vectors(
    tables: Sequence[list[str]], people: Sequence[list[list[str]]], n_fitted: int
) -> list[Sparse]:
    """Return the vectors of the texts and people of each table, fitted on the first tables."""
    texts = [text for table in tables for text in table]
    ends = np.cumsum([len(table) for table in tables])
    n = int(ends[n_fitted - 1])
    names = [row for table in people for row in table]
    # Quantities are whole: 15 kg looks more like 1.5 kg than 1500 g does.
    amounts = [list(quantities(text)) for text in texts]
    texts = [without_quantities(text) for text in texts]
    words, _ = _counts(
        [
            [*_WORD.findall(text), *more, *row]
            for text, more, row in zip(texts, amounts, names, strict=True)
        ]
    )
    # Characters of words with their punctuation, as in product codes.
    tokens, distinct = _counts(
        [[*text.split(), *more] for text, more in zip(texts, amounts, strict=True)]
    )
    trigrams, _ = _counts([_trigrams(token) for token in distinct])
    X = sp.csr_array(sp.hstack([_weighted(words, n), _weighted(tokens @ trigrams, n)]))
    return [X[start:end] for start, end in pairwise([0, *ends])]


def _trigrams(token: str) -> list[str]:
    """Return the neighbouring characters of a word, or a quantity as a whole."""
    if " " in token:
        return [token]
    padded = f" {token} "
    return [padded[k : k + 3] for k in range(len(token))]


def _counts(rows: Sequence[Sequence[str]]) -> tuple[Sparse, Sequence[str]]:
    """Return how often each row has each part, and the parts."""
    parts = np.array([part for row in rows for part in row], dtype=object)
    codes, distinct = pd.factorize(parts)
    at_row = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    shape = len(rows), len(distinct)
    counts = sp.csr_array((np.ones(len(codes), np.float32), (at_row, codes)), shape=shape)
    counts.sum_duplicates()
    return counts, distinct.tolist()


def _weighted(counts: Sparse, n: int) -> Sparse:
    """Return TF-IDF weights with rows of length sqrt(1/2) or 0, fitted on the first n rows."""
    n_rows = np.bincount(counts[:n].indices, minlength=counts.shape[1])
    rarity = np.log((1 + n) / (1 + n_rows)) + 1
    out = counts.copy()
    out.data = ((1 + np.log(counts.data)) * rarity[counts.indices]).astype(np.float32)
    length = np.sqrt(2 * np.asarray(out.multiply(out).sum(axis=1)).ravel())
    out.data /= np.repeat(np.where(length > 0, length, 1), np.diff(out.indptr))
    return out


def _scramble(cells: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Return cells with the words of a column in random order, rare ones with ends of others."""
    words_of = [cell.split() for cell in cells]
    words = [word for row in words_of for word in row]
    uses = Counter(word.casefold() for word in words)
    rare = [
        at
        for at, word in enumerate(words)
        if uses[word.casefold()] == 1 and len(word) >= _MIN_SPLIT
    ]
    ends = [words[at][len(words[at]) // 2 :] for at in rare]
    for at, end in zip(rare, rng.permutation(len(ends)), strict=True):
        words[at] = words[at][: len(words[at]) // 2] + ends[end]
    shuffled = iter(rng.permutation(len(words)))
    return [" ".join(words[next(shuffled)] for _ in row) for row in words_of]


def _chance(similarity: Floats, null: Floats, n_nulls: int) -> Floats:
    """Return the expected share of pairs by chance among those at least as similar, (k,)."""
    order = np.argsort(similarity, kind="stable")
    n_pairs = len(similarity) - np.searchsorted(similarity[order], similarity)
    n_null = (len(null) - np.searchsorted(np.sort(null), similarity)) / n_nulls
    chance = np.minimum(1.0, n_null / n_pairs)
    chance[order] = np.minimum.accumulate(chance[order])
    return np.asarray(chance)
