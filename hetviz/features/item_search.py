"""Items found by words and by meaning."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from hetviz._types import Floats, Ints
from hetviz.core import sentence_vectors
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.dataset import ITEM_RESULTS
from hetviz.data.queries.search import search_items
from hetviz.features.columns.types import infer
from hetviz.features.table import cell_texts

MAX_ITEMS = 20_000
"""Items up to which texts are read by the sentence model."""
MIN_SIMILARITY = 0.45
"""Cosine that 1 in 100 random pairs of items of the samples reach."""
MAX_HITS = 8
_MAX_CHARS = 200


def find_items(
    data: HeteroData, query: str, n: int = 12, *, by_meaning: bool = True
) -> pd.DataFrame:
    """Find items by words, and by meaning if the sentence model is installed.

    Parameters
    ----------
    data : HeteroData
    query : str
        What to look for, such as "something to drink". Its first 100 characters count.
    n : int
        Largest number of items found by words, and of items found by meaning.
    by_meaning : bool
        Whether to compare meanings: extra ``text``, English, at most 20,000 items.

    Returns
    -------
    DataFrame
        Columns ``dataset``, ``id``, ``title``, ``by`` ("words" or "meaning") and ``similarity``
        (cosine, NaN for words). Items found by words come first.

    Notes
    -----
    Words are looked up in titles and ids, ignoring case and accents. The meaning of an item is the
    sentence vector of its title and columns of free text, up to 200 characters. Items with a cosine
    of at least .45 are found: 1 in 100 random pairs of items of the samples reach that. A query
    without a word that the model knows finds nothing by meaning.

    Vectors are computed once per dataset, about 3 to 8 ms per item.

    Examples
    --------
    >>> import hetviz
    >>> data = hetviz.load("emoji")
    >>> hetviz.find_items(data, "grinning cat", n=2)["title"].tolist()
    ['grinning cat', 'grinning cat with smiling eyes']
    """
    rows = dict.fromkeys(search_items(data, query, n), ("words", np.nan))
    if by_meaning and can_search(data):
        vectors = {name: item_vectors(dataset) for name, dataset in data.datasets.items()}
        for row, similarity in nearest_in_meaning(data, vectors, query, n):
            rows.setdefault(row, ("meaning", similarity))
    found = []
    for row, (by, similarity) in rows.items():
        name, span = next((name, span) for name, span in data.offsets.items() if row < span.stop)
        dataset, position = data[name], row - span.start
        key = dataset.key(str(dataset.ids[position]))
        found.append((name, key, str(dataset.titles[position]), by, similarity))
    return pd.DataFrame(found, columns=["dataset", "id", "title", "by", "similarity"])


def can_search(data: HeteroData) -> bool:
    """Return whether items can be found by meaning."""
    return data.n_rows <= MAX_ITEMS and sentence_vectors.is_installed()


@one_thread()
def item_vectors(dataset: Dataset) -> Floats:
    """Return the sentence vector of each item, (n, 384) in half precision; cached."""

    def make() -> Floats:
        return sentence_vectors.text_vectors(item_texts(dataset)).astype(np.float16)

    return ITEM_RESULTS.get_or_compute(dataset, "meaning", make)


def item_texts(dataset: Dataset) -> list[str]:
    """Return the title and free text of each item, up to 200 characters; empty without letters."""
    declared = set((dataset.recipe or {}).get("text", ()))
    table = pd.DataFrame() if dataset.table is None else dataset.table
    titles = [""] * len(dataset) if dataset.has_row_numbers else dataset.titles.astype(str).tolist()
    texts = [titles]
    for name in table.columns:
        is_text = name in declared or infer(str(name), table[name]).kind == "text"
        if is_text and name != dataset.title_column:
            cells = cell_texts(str(name), table[name], frozenset())
            texts.append([cell or "" for cell in cells])
    joined = (". ".join(filter(None, parts))[:_MAX_CHARS] for parts in zip(*texts, strict=True))
    return [text if any(map(str.isalpha, text)) else "" for text in joined]


def nearest_in_meaning(
    data: HeteroData, vectors: Mapping[str, Floats], query: str, max_hits: int = MAX_HITS
) -> list[tuple[int, float]]:
    """Return global rows similar in meaning to a query and their cosines, most similar first."""
    if not sentence_vectors.knows_words(query):
        return []
    q = sentence_vectors.text_vectors([query])[0].astype(np.float32)
    similarity = np.concatenate([V.astype(np.float32) @ q for V in vectors.values()])
    order: Ints = np.argsort(-similarity, kind="stable")[:max_hits]
    return [
        (int(row), float(similarity[row])) for row in order if similarity[row] >= MIN_SIMILARITY
    ]
