"""Authors of statements and labels: recorded, kept side by side, switched off, and saved."""

from __future__ import annotations

from pathlib import Path

import pytest

import hetviz
from hetviz import HeteroData
from hetviz.data.model.statements import people_of
from hetviz.errors import DataError
from hetviz.io import guidance_csv
from hetviz.workspace import (
    Act,
    AddLinks,
    AddPairs,
    DropStatements,
    EditorWorkspace,
    EditStatements,
    ImportGuidance,
    ReverseComparisons,
    Sessions,
    SetLabels,
    SwitchPerson,
    Workspace,
    open_project,
    save_project,
)
from hetviz.workspace.commands.guidance import AddComparisons, JudgeLink
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.journal import Journal
from tests.workspace.helpers import add_all, opened

KEY = "link|plants|9|birds|b3|said"
TOGETHER = AddLinks("plants", "birds", [["9", "b3"]])
APART = AddLinks("plants", "birds", [["9", "b3"]], -1)
COMPARE = AddComparisons([[["plants", "007"], ["plants", "NA"], ["birds", "b1"]]])
COMPARED = "comparison|plants|007|plants|NA|birds|b1"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened(BlobStore(tmp_path / "blobs"))


def authors(data: HeteroData | None) -> dict[str, tuple[str, float]]:
    """Author and weight of each statement that has an author, by key."""
    assert data is not None
    table = hetviz.statements(data)
    table = table[table["who"] != ""]
    pairs = zip(table["who"], table["weight"], strict=True)
    return dict(zip(table["key"], pairs, strict=True))


def labels(data: HeteroData | None) -> tuple[object, list[tuple[object, str]]]:
    """Label of the first plant, and all labels that people gave it."""
    assert data is not None
    (label,) = data.labels
    return label.values[0], [(value, who) for row, value, who, _ in label.entries() if not row]


def label(value: str | None, who: str = "") -> SetLabels:
    return SetLabels("plants", "leaf", {"007": value}, who=who)


def test_opposite_and_equal_statements_of_two_people_both_stay(workspace: Workspace) -> None:
    workspace.do(TOGETHER, "Ada")
    workspace.do(APART, "Bob")
    workspace.do(TOGETHER, "Cem")
    expected = {KEY: ("Ada", 1.0), f"{KEY}#2": ("Bob", -1.0), f"{KEY}#3": ("Cem", 1.0)}
    assert authors(workspace.state.data) == expected
    # The weights of a pair are summed.
    assert workspace.state.opened().adjacency()[2, 6] == 1.0
    # Who repeats a statement changes the own one.
    workspace.do(AddLinks("plants", "birds", [["9", "b3"]], 0.5), "Ada")
    assert authors(workspace.state.data) == expected | {KEY: ("Ada", 0.5)}
    assert hetviz.guidance_report(workspace.state.opened()).repeated == ()
    workspace.undo()
    workspace.undo()
    assert list(authors(workspace.state.data)) == [KEY, f"{KEY}#2"]
    workspace.redo()
    assert authors(workspace.state.data)[f"{KEY}#3"] == ("Cem", 1.0)


def test_comparisons_of_two_people_both_stay(workspace: Workspace) -> None:
    workspace.do(COMPARE, "Ada")
    workspace.do(COMPARE, "Bob")
    opposite = AddComparisons([[["plants", "007"], ["birds", "b1"], ["plants", "NA"]]])
    added = opposite.added_to(workspace.state.opened(), who="Bob")
    assert [key for _, key in added.opposite] == [COMPARED, f"{COMPARED}#2"]
    assert authors(workspace.state.data) == {
        COMPARED: ("Ada", 1.0),
        f"{COMPARED}#2": ("Bob", 1.0),
    }
    workspace.do(ReverseComparisons([COMPARED]), "Cem")
    assert sorted(who for who, _ in authors(workspace.state.data).values()) == ["Bob", "Cem"]


def test_new_sign_is_statement_of_its_editor(workspace: Workspace) -> None:
    workspace.do(TOGETHER, "Ada")
    workspace.do(EditStatements({KEY: {"weight": 0.5, "note": "sure"}}), "Bob")
    assert authors(workspace.state.data) == {KEY: ("Ada", 0.5)}
    workspace.do(EditStatements({KEY: {"weight": -0.5}}), "Bob")
    assert authors(workspace.state.data) == {KEY: ("Bob", -0.5)}
    workspace.do(JudgeLink("link|plants|007|birds|b1|link", right=True), "Cem")
    assert authors(workspace.state.data)["link|plants|007|birds|b1|said"] == ("Cem", 1.0)


def test_labels_of_people_stay_and_last_one_counts(workspace: Workspace) -> None:
    workspace.do(label("oval"))
    workspace.do(label("lobed"), "Ada")
    workspace.do(label("round"), "Bob")
    assert labels(workspace.state.data) == (
        "round",
        [("oval", ""), ("lobed", "Ada"), ("round", "Bob")],
    )
    workspace.do(label("lobed"), "Bob")
    assert labels(workspace.state.data)[1][1:] == [("lobed", "Ada"), ("lobed", "Bob")]
    workspace.undo()
    # Without Bob's, the label before it counts.
    workspace.do(label(None, who="Bob"), "Ada")
    assert labels(workspace.state.data) == ("lobed", [("oval", ""), ("lobed", "Ada")])
    workspace.do(label(None), "Ada")
    assert labels(workspace.state.data) == (None, [])


def test_labels_without_names_have_no_annotations(workspace: Workspace) -> None:
    workspace.do(label("oval"))
    workspace.do(label("round"))
    assert workspace.state.opened().labels[0].annotations is None
    assert labels(workspace.state.data) == ("round", [("round", "")])


def test_switched_off_person_is_not_used(workspace: Workspace) -> None:
    workspace.do(TOGETHER, "Ada")
    workspace.do(APART, "Bob")
    workspace.do(label("lobed"), "Ada")
    workspace.do(label("round"), "Bob")
    workspace.do(SwitchPerson("Bob", on=False))
    guided = workspace.state.guided
    assert authors(guided) == {KEY: ("Ada", 1.0)}
    assert labels(guided) == ("lobed", [("lobed", "Ada")])
    assert len(authors(workspace.state.data)) == 2
    workspace.do(SwitchPerson("Ada", on=False))
    assert authors(workspace.state.guided) == {}
    workspace.undo()
    workspace.do(SwitchPerson("Bob", on=True))
    assert workspace.state.guided is workspace.state.data
    with pytest.raises(DataError, match=r"Cem.*Available: Ada, Bob"):
        workspace.do(SwitchPerson("Cem", on=False))
    # A person without statements is switched on again.
    workspace.do(SwitchPerson("Bob", on=False))
    workspace.do(DropStatements([f"{KEY}#2"]))
    assert workspace.state.off_people == {"Bob"}
    workspace.do(label(None, who="Bob"))
    assert workspace.state.off_people == frozenset()


def test_authors_are_in_journal_project_file_and_bundle(tmp_path: Path) -> None:
    workspace = Workspace(BlobStore(tmp_path / "blobs"), Journal(tmp_path / "journal"))
    workspace.do(add_all(workspace.blobs, fresh=True))
    pair = [[["plants", "007"], ["plants", "9"]]]
    workspace.do(Act([AddPairs(pair, set="pair"), label("lobed")], "both"), "Ada “A” <b>")
    workspace.do(APART, "Bob")
    workspace.do(label("round"), "Bob")
    workspace.undo()
    workspace.redo()
    data = workspace.state.opened()
    assert people_of(data) == ["Ada “A” <b>", "Bob"]
    assert workspace.log[1]["by"] == "Ada “A” <b>"
    assert "by" not in workspace.log[0]
    workspace.close()
    replayed = Workspace(BlobStore(tmp_path / "blobs"), Journal(tmp_path / "journal"))
    sessions = Sessions(tmp_path / "home")
    sid = open_project(save_project(replayed), "p.hetviz", sessions)
    hetviz.save(data, tmp_path / "bundle")
    for copy in (
        replayed.state.data,
        sessions.get(sid).state.data,
        hetviz.load(tmp_path / "bundle"),
    ):
        assert authors(copy) == authors(data)
        assert labels(copy) == ("round", [("lobed", "Ada “A” <b>"), ("round", "Bob")])
    replayed.close()
    sessions.close()


def test_guidance_file_has_authors(workspace: Workspace) -> None:
    workspace.do(TOGETHER, "Ada")
    workspace.do(APART, "Bob")
    workspace.do(label("lobed"), "Ada")
    workspace.do(label("round"), "Bob")
    data = workspace.state.opened()
    text = guidance_csv(data)
    assert "author" in text.splitlines()[0].split(",")
    blob = workspace.blobs.put(text.encode())
    workspace.do(DropStatements([KEY, f"{KEY}#2"]))
    workspace.do(label(None))
    state = workspace.do(ImportGuidance(blob, "all.csv"), "Cem")
    assert authors(state.data) == authors(data)
    assert labels(state.data) == labels(data)
    of_bob = guidance_csv(data, author="Bob").splitlines()[1:]
    assert [line.split(",")[0] for line in of_bob] == ["link", "label"]


@pytest.mark.parametrize(("column", "who"), [("", "Cem"), (",author", "Ada"), (",Author", "Ada")])
def test_imported_statements_without_author_are_of_importer(
    workspace: Workspace, column: str, who: str
) -> None:
    cell = ",Ada" if column else ""
    text = f"source_dataset,source_id,target_dataset,target_id{column}\nplants,9,birds,b3{cell}\n"
    blob = workspace.blobs.put(text.encode())
    data = workspace.do(ImportGuidance(blob, "m.csv"), "Cem").data
    assert authors(data) == {"link|plants|9|birds|b3|link": (who, 1.0)}


def test_labels_follow_their_rows(workspace: Workspace) -> None:
    workspace.do(label("lobed"), "Ada")
    workspace.do(label("round"), "Bob")
    data = workspace.state.opened()
    turned = data.edit().reorder({"plants": [3, 2, 1, 0]})
    assert [entry[:3] for entry in turned.labels[0].entries()] == [
        (3, "lobed", "Ada"),
        (3, "round", "Bob"),
    ]
    smaller = data.edit().subset({"plants": ["9", "007"]}).labels[0]
    assert [entry[0] for entry in smaller.entries()] == [1, 1]
    assert data.edit().subset({"plants": ["9"]}).labels[0].annotations is None


def test_editor_has_own_view_of_a_workspace(workspace: Workspace) -> None:
    workspace.set_view_state(selection=[0])
    editor = EditorWorkspace(workspace)
    editor.do(TOGETHER, "Bob")
    editor.set_view_state(selection=[1, 2])
    assert workspace.log[-1]["by"] == "Bob"
    assert (editor.undo_name, editor.steps, editor.version) == ("links", 2, 2)
    assert workspace.view_state.selection.tolist() == [0]
    assert editor.snapshot().view_state.selection.tolist() == [1, 2]
    assert authors(editor.undo().data) == {}
    assert editor.redo_name == "links"
    assert authors(editor.redo().data) == authors(workspace.state.data) == {KEY: ("Bob", 1.0)}
    workspace.do(APART, "Ada")
    editor.follow(workspace)
    assert len(authors(editor.state.data)) == 2
    assert editor.view_state.selection.tolist() == [1, 2]
    assert editor.blobs is workspace.blobs
