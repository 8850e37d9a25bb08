"""Items found by words and by meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple

import numpy as np
import pandas as pd

from hetviz._types import Floats, Ints
from hetviz.core import sentence_vectors
from hetviz.core.threads import one_thread
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.dataset import ITEM_RESULTS
from hetviz.data.queries.search import search_cells, search_names
from hetviz.errors import check_type
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
    """Find items by words of their names or columns, and by meaning if the model is installed.

    Parameters
    ----------
    data : HeteroData
    query : str
        What to look for, such as "something to drink", or "plot: island" for one column. Its
        first 100 characters count.
    n : int
        Largest number of items found by words, and of items found by meaning.
    by_meaning : bool
        Whether to compare meanings: extra ``text``, English, at most 20,000 items.

    Returns
    -------
    DataFrame
        Columns ``dataset``, ``id``, ``title``, ``by`` ("words" or "meaning"), ``similarity``
        (cosine, NaN for words) and ``column`` (the column with the words, empty if they are in
        the title or id). Items found in titles and ids come first, then those in columns.
        ``attrs["n_found"]`` is the number of all items found by words.

    Notes
    -----
    Words are looked up in titles, ids and columns of text (the first 300 characters of a cell),
    ignoring case and accents. `find_values` finds values that recur, such as categories, and
    `most_alike` the items most alike to one. Counting ends at 50,000 occurrences of a word in
    names, 5,000 in a column, and 1,000 cells. The meaning of an item is the
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
    check_type(data, HeteroData, "data")
    check_type(query, str, "query")
    names, cells = search_names(data, query, n), search_cells(data, query)
    named = set(names.rows.tolist())
    in_columns = {row: column for row, column in cells.columns.items() if row not in named}
    rows = [*names.best, *in_columns][:n]
    found = dict.fromkeys(rows, ("words", np.nan))
    if by_meaning and can_search(data):
        vectors = {name: item_vectors(dataset) for name, dataset in data.datasets.items()}
        for row, similarity in nearest_in_meaning(data, vectors, query, n):
            found.setdefault(row, ("meaning", similarity))
    lines = []
    for row, (by, similarity) in found.items():
        name, span = next((name, span) for name, span in data.offsets.items() if row < span.stop)
        dataset, position = data[name], row - span.start
        key, title = dataset.key(str(dataset.ids[position])), str(dataset.titles[position])
        column = in_columns.get(row, "") if by == "words" else ""
        lines.append((name, key, title, by, similarity, column))
    frame = pd.DataFrame(lines, columns=["dataset", "id", "title", "by", "similarity", "column"])
    frame.attrs["n_found"] = len(names.rows) + len(in_columns)
    return frame


def find_values(data: HeteroData, query: str) -> pd.DataFrame:
    """Find values of columns and labels that recur, such as categories.

    Parameters
    ----------
    data : HeteroData
    query : str
        Part of a value, such as "austria", or "country: austria" for the columns with a name.

    Returns
    -------
    DataFrame
        Columns ``dataset``, ``column``, ``value`` and ``n_items``, how many items have it. Equal
        values come first, then those that begin with the query, have a word that does, contain it.

    Notes
    -----
    Texts up to 60 characters that occur twice, all texts of columns where they do so on average,
    and numbers of columns with at most 50. Case and accents are ignored.

    Examples
    --------
    >>> import hetviz
    >>> hetviz.find_values(hetviz.load("emoji"), "group: fruit").values.tolist()
    [['emoji', 'subgroup', 'food-fruit', 20]]
    """
    values = search_cells(data, query).values
    return pd.DataFrame(map(astuple, values), columns=["dataset", "column", "value", "n_items"])


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
