"""Names of map regions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz import Dataset, Embedding, HeteroData, Labels, Links
from hetviz.runs.cluster.contrast import Contrasts
from hetviz.runs.cluster.names import is_plain_name
from hetviz.runs.cluster.regions import find_regions

N = 80


def data_with(words: list[str], things: list[str] | None = None) -> tuple[HeteroData, np.ndarray]:
    """Two heaps of things, each linked to its own half of the words, with words among them."""
    rng = np.random.default_rng(0)
    half = len(words) // 2
    side = np.repeat([0, 1], N // 2)
    i = np.repeat(np.arange(N), half)
    j = (side[:, None] * half + np.arange(half)).ravel()
    names = things or [f"t{k}" for k in range(N)]
    data = HeteroData(
        [Dataset("things", names), Dataset("words", words)], [Links("things", "words", i, j)]
    )
    where = np.concatenate([side, np.repeat([0, 1], half)])
    return data, np.c_[20.0 * where, np.zeros(len(where))] + rng.normal(size=(len(where), 2))


def heaps_by_name(data: HeteroData, Y: np.ndarray) -> dict[str, set[int]]:
    """Return the heaps of the regions by name."""
    heaps: dict[str, set[int]] = {}
    for level in find_regions(Contrasts(data), Y):
        for code, name in enumerate(level.names):
            at = np.flatnonzero(level.codes == code)
            heaps.setdefault(name, set()).update(np.unique(np.rint(Y[at, 0] / 20)).astype(int))
    return heaps


def test_region_names_are_words_with_links_inside() -> None:
    data, Y = data_with(["juice", "sweet", "iron", "work"])
    heaps_of = heaps_by_name(data, Y)
    assert {name for name in heaps_of if " · " in name} == {"Juice · Sweet", "Iron · Work"}
    for name, heaps in heaps_of.items():
        for word, heap in (("juice", 0), ("sweet", 0), ("iron", 1), ("work", 1)):
            if word in name.lower():
                assert heaps == {heap}


def test_region_names_do_not_combine_equal_stems() -> None:
    data, Y = data_with(["sweet", "sweets", "iron", "irons"])
    assert not [name for name in heaps_by_name(data, Y) if " · " in name]


def test_region_names_need_common_items() -> None:
    data, Y = data_with(["juice", "sweet", "iron", "work"])
    # Each thing of the first heap has one of its two words; those of the second have both.
    (links,) = data.links
    kept = (links.i >= N // 2) | (links.i % 2 == links.j % 2)
    parted = HeteroData(list(data.datasets.values()), [links.take(np.flatnonzero(kept))])
    names = heaps_by_name(parted, Y)
    assert {name for name in names if " · " in name} == {"Iron · Work"}
    assert {"Juice", "Sweet"} & set(names)


def test_region_names_are_not_file_names_or_ids() -> None:
    words = ["IMG_0233.png", "a/b/scan", "x41", "row_17"]
    data, Y = data_with(words, [f"photo{k}.jpg" for k in range(N)])
    assert not {word for word in words if any(word in name for name in heaps_by_name(data, Y))}


@pytest.mark.parametrize(
    ("called", "is_name"),
    [("Shop-{}", False), ("x{}", False), ("{}.png", False), ("Decade 19{}", True), ("{}s", False)],
)
def test_region_names_are_not_running_ids(called: str, is_name: bool) -> None:
    assert is_plain_name(called.format(80)) == is_name


@pytest.mark.parametrize(
    ("column", "name"), [("decade", "{}s"), ("born in", "Born in {}s"), ("Decade", "{}s")]
)
def test_decades_are_named_after_their_column_unless_it_says_no_more(
    column: str, name: str
) -> None:
    years = np.repeat([1960, 1970, 1980], N // 2)
    ids = [f"r{k}" for k in range(len(years))]
    decades = np.array([f"{year}s" for year in years], dtype=object)
    films = Dataset("films", ids)
    data = HeteroData([films], labels=[Labels("films", column, decades)])
    Y = np.c_[2.0 * years, np.zeros(len(years))] + np.random.default_rng(0).normal(
        size=(len(years), 2)
    )
    found = hetviz.regions(data, Embedding({"films": Y}, {"films": films.ids}))
    assert {name.format(year) for year in (1960, 1970, 1980)} <= set(found["name"])


@pytest.mark.parametrize(
    ("present", "absent"),
    [(1, 0), ("yes", "no"), ("Yes", "No")],
    ids=["numbers", "words", "capitals"],
)
def test_regions_are_named_by_what_their_items_have(present: object, absent: object) -> None:
    heap = np.repeat(np.arange(4), N // 2)
    names = ["snow", "BARN", "PALM_TREES", "sex"]
    table = pd.DataFrame(
        {name: [present if k == at else absent for k in heap] for at, name in enumerate(names)}
    )
    films = Dataset("films", [f"r{k}" for k in range(len(heap))], table=table)
    Y = np.c_[20.0 * heap, np.zeros(len(heap))] + np.random.default_rng(0).normal(
        size=(len(heap), 2)
    )
    m = Embedding({"films": Y}, {"films": films.ids})
    found = set(hetviz.regions(HeteroData([films]), m)["name"])
    assert {"Snow", "Barn", "Palm trees"} <= found
    # A number may be a code.
    assert ("Sex" in found) == isinstance(present, str)


def test_regions_do_not_depend_on_row_order() -> None:
    data, Y = data_with(["juice", "sweet", "iron", "work"])
    order = np.random.default_rng(1).permutation(N)
    things = data["things"]
    links = data.links[0]
    place = np.argsort(order)
    other = HeteroData(
        [Dataset("things", [things.ids[k] for k in order]), data["words"]],
        [Links("things", "words", place[links.i], links.j)],
    )
    moved = np.concatenate([Y[:N][order], Y[N:]])
    for one, two_ in zip(
        find_regions(Contrasts(data), Y), find_regions(Contrasts(other), moved), strict=True
    ):
        assert one.names == two_.names
        assert one.codes[:N][order].tolist() == two_.codes[:N].tolist()


def test_regions_skip_unplaced_rows_and_small_maps() -> None:
    data, Y = data_with(["juice", "sweet", "iron", "work"])
    Y[5] = np.nan
    for level in find_regions(Contrasts(data), Y):
        assert level.codes[5] == -1
        assert (np.delete(level.codes, 5) >= 0).all()
    Y[20:] = np.nan
    assert find_regions(Contrasts(data), Y) == ()


def test_account_says_by_which_columns_a_name_is_true() -> None:
    rng = np.random.default_rng(0)
    places = np.array(["Queens", "Bronx", "Brooklyn"])
    heap = np.repeat(np.arange(3), N // 2)
    other = rng.integers(3, size=len(heap))
    begins = rng.random(len(heap)) < 0.5
    table = pd.DataFrame(
        {
            "pickup_borough": places[np.where(begins, heap, other)],
            "dropoff_borough": places[np.where(begins, other, heap)],
        }
    )
    data = HeteroData([Dataset("rides", [f"r{k}" for k in range(len(heap))], table=table)])
    Y = np.c_[20.0 * heap, np.zeros(len(heap))] + rng.normal(size=(len(heap), 2))
    found = hetviz.regions(data, Embedding({"rides": Y}, {"rides": data["rides"].ids}))
    queens = found.set_index("name").loc["Queens"]
    members = queens["rows"]
    n = int((table == "Queens").any(axis=1)[members].sum())
    of = f"{n} of {len(members)} rides"
    assert queens["account"] == f"Queens: {of} by pickup borough or dropoff borough"
