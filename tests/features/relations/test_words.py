"""Which words tell of items."""

from __future__ import annotations

from hetviz.data import Dataset, HeteroData, Links
from hetviz.features.relations.words import item_words


def test_item_words_skip_file_extensions() -> None:
    numbered = Dataset("scans", [f"p{k:03d}.png" for k in range(5)])
    named = Dataset("photos", [f"red car {k}.JPG" for k in range(5)])
    words, M = item_words(HeteroData([numbered, named]))
    assert words == ["car", "red"]
    assert M.sum(axis=1).tolist() == [0] * 5 + [2] * 5


def test_item_words_include_names_of_linked_items() -> None:
    tags = Dataset("tags", ["hot air balloon", "sun shade"])
    things = Dataset("things", [f"{k}" for k in range(3)])
    data = HeteroData([tags, things], [Links("things", "tags", [0, 1, 2], [0, 0, 0], [1, 1, -1])])
    words, M = item_words(data)
    whole = words.index("hot air balloon")
    assert M[:, [whole]].toarray().ravel().tolist() == [1, 0, 1, 1, 0]
