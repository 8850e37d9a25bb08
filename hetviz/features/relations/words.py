"""Words of items, from titles, texts and names of linked items."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats
from hetviz.data import Dataset, HeteroData

_WORD = re.compile(r"[^\W_]+", re.UNICODE)


def description_columns(dataset: Dataset) -> list[str]:
    """Return the columns with words of an item: its title and its text columns."""
    if dataset.table is None:
        return []
    declared = [str(name) for name in (dataset.recipe or {}).get("text", ())]
    title = [] if dataset.title_column is None else [dataset.title_column]
    return [name for name in dict.fromkeys([*title, *declared]) if name in dataset.table.columns]


def match_words(dataset: Dataset, text: str) -> Floats | None:
    r"""Return how well the words of each item match a text, shape (n,); None without a match.

    The cosine of TF-IDF vectors of the item's title (or id) and its text columns:

    .. math:: s_i = \frac{\sum_w q_w t_{iw}}{|q| |t_i|}, \qquad t_{iw} = (1 + \log n_{iw})
        (1 + \log(n / n_w))

    where n_w of n items have word w, and q is the vector of the words of the text that any item
    has. Case is ignored.
    """
    query_words = set(_words(text))
    words = [_words(" ".join(parts)) for parts in zip(*_cells(dataset), strict=True)]
    n = len(words)
    spread = Counter(word for item_words in words for word in set(item_words))
    rare = {word: 1.0 + np.log(n / count) for word, count in spread.items()}
    query_weights = {word: rare[word] for word in query_words if word in rare}
    if not query_weights:
        return None
    length = np.sqrt(sum(weight**2 for weight in query_weights.values()))
    scores = np.zeros(n)
    for row, item_words in enumerate(words):
        t = {
            word: (1.0 + np.log(count)) * rare[word] for word, count in Counter(item_words).items()
        }
        shared = sum(weight * t.get(word, 0.0) for word, weight in query_weights.items())
        if shared:
            scores[row] = shared / (length * np.sqrt(sum(weight**2 for weight in t.values())))
    return scores


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _cells(dataset: Dataset) -> list[list[str]]:
    columns = [list(map(str, dataset.titles))]
    if dataset.table is not None:
        columns += [
            dataset.table[name].fillna("").astype(str).tolist()
            for name in description_columns(dataset)
            if name != dataset.title_column
        ]
    return columns


_TOKEN = re.compile(r"[^\W\d_]{3,}|[\u3040-\u9fff\uac00-\ud7af]{2,}")
_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3040-\u9fff\uac00-\ud7af]")
# File extensions are no words of an item.
_FILE_EXTENSION = re.compile(
    r"\.(png|jpe?g|gif|webp|bmp|tiff?|svg|txt|md|csv|json|pdf|npy)$", re.IGNORECASE
)
_MAX_NAME_LENGTH, _MAX_NAME_WORDS = 28, 4
_MAX_WORDS = 5_000
_N_SAMPLED_TITLES = 200


def item_words(data: HeteroData) -> tuple[list[str], sp.csr_array]:
    """Return words and the items that have them.

    Returns `M` csr (n_rows, number of words): 1 if an item has the word in its name or text
        columns, or is linked (together) to an item of this name. Of two linked datasets the
        smaller one describes the other, if its names are short texts.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words_of: list[set[str]] = [set() for _ in range(data.n_rows)]
    keys: dict[str, str] = {}
    n_uses: Counter[str] = Counter()

    def note(row: int, word: str) -> None:
        key = keys.get(word)
        if key is None:
            key = keys[word] = word.casefold()
        if key not in ENGLISH_STOP_WORDS:
            words_of[row].add(key)
            n_uses[word] += 1

    named = {name: _has_names(dataset) for name, dataset in data.datasets.items()}
    for name, dataset in data.datasets.items():
        start = data.offsets[name].start
        columns = _texts(dataset)
        if named[name]:
            columns = [_titles(dataset), *columns]
        for texts in columns:
            for row, text in enumerate(texts):
                for word in _TOKEN.findall(text):
                    note(start + row, word)
        if named[name] and _describes_others(data, name):
            for row, title in enumerate(_titles(dataset)):
                if _is_name(title):
                    note(start + row, title)
    for row, title in _linked_names(data, named):
        note(row, title)
    counts = Counter(word for words in words_of for word in words)
    frequent = [word for word, count in counts.most_common(_MAX_WORDS) if count >= 2]
    place = {word: at for at, word in enumerate(sorted(frequent))}
    pairs = [
        (row, place[word]) for row, words in enumerate(words_of) for word in words if word in place
    ]
    i, j = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    M = sp.csr_array((np.ones(len(i)), (i, j)), shape=(data.n_rows, len(place)))
    M.sort_indices()
    spellings: dict[str, str] = {}
    for word, _ in n_uses.most_common():
        spellings.setdefault(keys[word], word)
    return [spellings[word] for word in place], M


def _has_names(dataset: Dataset) -> bool:
    """Return whether most titles of a dataset contain words."""
    sample = _titles(dataset)[:: max(1, len(dataset) // _N_SAMPLED_TITLES)]
    n_with_words = sum(_LETTERS.search(title) is not None for title in sample)
    return n_with_words > len(sample) / 2 and len(set(sample)) > 1


def _titles(dataset: Dataset) -> list[str]:
    return [_FILE_EXTENSION.sub("", str(title)) for title in dataset.titles]


def _is_name(title: str) -> bool:
    return len(title) <= _MAX_NAME_LENGTH and len(title.split()) <= _MAX_NAME_WORDS


def _texts(dataset: Dataset) -> list[list[str]]:
    table = dataset.table
    declared = (dataset.recipe or {}).get("text") or []
    names = [declared] if isinstance(declared, str) else list(declared)
    if table is None:
        return []
    return [
        ["" if value is None or value != value else str(value) for value in table[name]]
        for name in names
        if name in table.columns and name != dataset.title_column
    ]


def _describing_dataset(data: HeteroData, source: str, target: str) -> str:
    return source if len(data[source]) <= len(data[target]) else target


def _describes_others(data: HeteroData, name: str) -> bool:
    return any(
        name in (links.source, links.target)
        and not links.within
        and _describing_dataset(data, links.source, links.target) == name
        for links in data.links
    )


def _linked_names(data: HeteroData, named: dict[str, bool]) -> list[tuple[int, str]]:
    """Return (row, name of the linked item) for links to a describing dataset."""
    names = []
    for links in data.links:
        describing_dataset = _describing_dataset(data, links.source, links.target)
        if links.within or not named[describing_dataset]:
            continue
        other, item_rows, describing_rows = (
            (links.target, links.j, links.i)
            if describing_dataset == links.source
            else (links.source, links.i, links.j)
        )
        start, titles = data.offsets[other].start, _titles(data[describing_dataset])
        is_name = np.array([_is_name(title) for title in titles], dtype=bool)
        counted = (links.weight > 0) & is_name[describing_rows]
        names += [
            (start + row, titles[describing])
            for row, describing in zip(
                item_rows[counted].tolist(), describing_rows[counted].tolist(), strict=True
            )
        ]
    return names
