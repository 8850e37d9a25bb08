"""A newer version of a file keeps what was said, and says what is different."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hetviz import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz.errors import DataError
from hetviz.io import read_new_version, read_tables
from hetviz.workspace import ReplaceDataset, SetLabels, Workspace
from hetviz.workspace.store.blobs import BlobStore
from tests.workspace.helpers import opened, record, workspace_essence

TREES = (
    b"id,name,sort,size,weight\n"
    b"1,Oak,leaf,3,1\n2,Ash,leaf,2,4\n3,Fir,needle,5,2\n4,Yew,needle,1,9\n"
)
NEWER = (
    b"id,name,sort,size,weight,age\n"
    b"3,Fir,needle,5,2,7\n5,Elm,leaf,4,4,8\n1,Oak,tree,6,1,9\n2,Ash,leaf,2,4,1\n"
)


def trees() -> HeteroData:
    data = read_tables([("trees.csv", TREES)]).strict().data
    nests = Dataset("nests", ["a", "b"])
    data = data.edit().add(nests, Links("trees", "nests", [0, 3, 2], [0, 0, 1], [1, 0.5, -1]))
    return data.edit().add(Comparisons([[0, 1, 2], [0, 1, 3]]))


def test_new_version_lists_all_differences() -> None:
    data = trees()
    newer = read_new_version(data, "trees", NEWER, "trees2.csv")
    assert (newer.added, newer.gone) == (("5",), ("4",))
    assert newer.columns_added == ("age",)
    assert sorted(newer.changed.itertuples(index=False, name=None)) == [
        ("1", "size", "3", "6"),
        ("1", "sort", "leaf", "tree"),
    ]
    assert newer.statements_gone == (
        "link|trees|4|nests|a|link",
        "comparison|trees|1|trees|2|trees|4",
    )
    assert (
        newer.sentence
        == "Items of trees: 1 new, 1 gone, 1 changed. 2 statements about them would be removed."
    )
    after = newer.data
    assert after["trees"].ids.tolist() == ["3", "5", "1", "2"]
    (links,) = after.links
    assert sorted(zip(links.i.tolist(), links.j.tolist(), links.weight.tolist(), strict=True)) == [
        (0, 1, -1.0),
        (2, 0, 1.0),
    ]
    assert after.comparisons is not None
    assert after.comparisons.objects.tolist() == [[2, 3, 0]]
    # a value of sort is new; age is no feature, as features are of the same columns
    assert after["trees"].feature_names == (
        "sort=leaf", "sort=needle", "sort=tree", "size", "weight",
    )  # fmt: skip
    assert after["trees"].X is not None
    assert after["trees"].X.shape[0] == 4


def test_new_version_of_same_file_changes_nothing() -> None:
    data = trees()
    newer = read_new_version(data, "trees", TREES, "trees.csv")
    assert (newer.added, newer.gone, len(newer.changed)) == ((), (), 0)
    assert newer.data.fingerprint() == data.fingerprint()


def test_new_version_keeps_labels_changed_by_hand(tmp_path: Path) -> None:
    data = trees()
    label = data.label("sort") or Labels("trees", "sort", data["trees"].table["sort"])  # type: ignore[index]
    values = list(label.values)
    values[1] = "mine"
    marked = HeteroData(data.datasets, labels=[Labels("trees", "sort", values)])
    column = read_new_version(marked, "trees", NEWER, "t.csv").data.label("sort")
    assert column is not None
    assert column.values.tolist() == ["needle", "leaf", "tree", "mine"]


def test_new_version_matrices_follow_ids() -> None:
    D = np.abs(np.subtract.outer(range(3), range(3))).astype(float)
    data = HeteroData([Dataset("d", ["x", "y", "z"], distance=D, media=[b"1", None, b"3"])])
    turned = read_new_version(data, "d", b"id,size\nz,1\nx,2\n", "d.csv").data["d"]
    assert turned.distance is not None
    assert turned.distance.tolist() == [[0, 2], [2, 0]]
    assert turned.media == (b"3", b"1")
    with pytest.raises(DataError, match="no distance for 1 new item, because the distance came"):
        read_new_version(data, "d", b"id,size\nz,1\nw,2\n", "d.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"id,name,sort,weight\n1,Oak,leaf,1\n",
            r"this column is used as a feature but is missing.*size",
        ),
        (
            NEWER.replace(b"\n3,", b"\n9,").replace(b"\n1,", b"\n8,").replace(b"\n2,", b"\n7,"),
            "no id of the file",
        ),
    ],
)
def test_new_version_refuses_other_file(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_new_version(trees(), "trees", content, "t.csv")


def test_new_version_command_undo_and_replay(tmp_path: Path) -> None:
    workspace = opened(BlobStore(tmp_path / "blobs"))
    workspace.do(record(workspace))
    before = workspace.state
    new = b"id,name,size,weight\n9,Elm,5,2\nx,New,2,2\n007,Oak,3,3\n"
    blob = workspace.blobs.put(new)
    bad = workspace.blobs.put(new + b"9,Elm,1,1\n")
    with pytest.raises(DataError, match="already used"):
        workspace.do(ReplaceDataset("plants", bad, "p.csv"))
    state = workspace.do(ReplaceDataset("plants", blob, "p.csv"))
    assert state.opened()["plants"].ids.tolist() == ["9", "x", "007"]
    assert [links.weight.tolist() for links in state.opened().links] == [[1.0]]
    assert state.run is not None
    assert not state.is_current(state.run)
    embedding = state.embedding(state.run)
    assert embedding is not None
    assert np.isnan(embedding.coordinates["plants"][1]).all()
    assert workspace.undo_name == "new version"
    workspace.do(SetLabels("plants", "sort", {"x": "new"}))
    again = Workspace.replay(workspace.log, workspace.blobs)
    assert workspace_essence(again.state) == workspace_essence(workspace.state)
    workspace.undo()
    workspace.undo()
    assert workspace.state.data is before.data
