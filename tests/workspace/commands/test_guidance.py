"""Tests of guidance commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hetviz
from hetviz.data.model.statements import statement_keys
from hetviz.errors import DataError
from hetviz.io import guidance_csv
from hetviz.workspace import (
    AddLinks,
    AddPairs,
    Command,
    DropStatements,
    EditStatements,
    ImportGuidance,
    RenameSet,
    ReverseComparisons,
    SetLabels,
    SwitchSet,
    Workspace,
    from_dict,
)
from hetviz.workspace.commands.guidance import AddComparisons
from hetviz.workspace.store.blobs import BlobStore
from tests.depth import examples
from tests.workspace.helpers import opened, record, try_command, workspace_essence

OAK_KITE = "link|plants|007|birds|b1|link"
ASH_WREN = "link|plants|NA|birds|b2|link"
SAID = "link|plants|9|birds|b3|said"
COMPARED = "comparison|plants|007|plants|NA|birds|b1"

SAY = AddLinks("plants", "birds", [["9", "b3"], ["10", "b3"]], 0.5, note="alike", set="lasso 1")
COMPARE = AddComparisons([[["plants", "007"], ["plants", "NA"], ["birds", "b1"]]], set="asked")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return opened(BlobStore(tmp_path / "blobs"))


def table(workspace: Workspace) -> dict[str, dict[str, object]]:
    frame = hetviz.statements(workspace.state.opened()).set_index("key")
    frame["score"] = frame["score"].astype(object).where(frame["score"].notna(), None)
    return {str(key): dict(row) for key, row in frame.to_dict("index").items()}


def test_statements_have_time_and_note(workspace: Workspace) -> None:
    workspace.do(from_dict(replace(SAY, who="Ada").to_dict()))
    row = table(workspace)[SAID]
    assert {field: row[field] for field in ("weight", "note", "set", "who", "when")} == {
        "weight": 0.5,
        "note": "alike",
        "set": "lasso 1",
        "who": "Ada",
        "when": workspace.log[-1]["at"],
    }
    assert workspace.undo_name == "links"
    workspace.undo()
    assert list(table(workspace)) == [OAK_KITE, ASH_WREN]


def test_actions_share_link_groups(workspace: Workspace) -> None:
    for id in ("b1", "b2", "b3"):
        workspace.do(AddLinks("plants", "birds", [["10", id]], note=f"for {id}"))
    groups = workspace.state.opened().links
    assert [(group.kind, len(group)) for group in groups] == [("link", 2), ("said", 3)]


def test_repeated_and_opposite_statements(
    workspace: Workspace,
) -> None:
    workspace.do(SAY)
    again = AddLinks("birds", "plants", [["b3", "9"]], 0.25)
    met = again.added_to(workspace.state.opened())
    assert (met.added, met.updated, met.n_same, met.opposite) == ((), (SAID,), 0, ())
    workspace.do(again)
    assert table(workspace)[SAID]["weight"] == 0.25
    assert table(workspace)[SAID]["set"] == "said"
    against = AddLinks("plants", "birds", [["9", "b3"]], -1)
    met = against.added_to(workspace.state.opened())
    assert met.opposite == ((f"{SAID}#2", SAID),)
    workspace.do(against)
    assert [table(workspace)[key]["weight"] for key in (SAID, f"{SAID}#2")] == [0.25, -1]
    assert against.added_to(workspace.state.opened()).n_same == 1


def test_comparisons_add_reverse_repeat(workspace: Workspace) -> None:
    workspace.do(COMPARE)
    assert table(workspace)[COMPARED]["c_id"] == "b1"
    turned = AddComparisons(
        [[["plants", "NA"], ["plants", "007"], ["birds", "b1"], ["plants", "007"]]]
    )
    assert turned.added_to(workspace.state.opened()).updated == (COMPARED,)
    far = AddComparisons([[["plants", "007"], ["birds", "b1"], ["plants", "NA"]]])
    assert far.added_to(workspace.state.opened()).opposite[0][1] == COMPARED
    workspace.do(ReverseComparisons([COMPARED]))
    assert list(table(workspace))[-1] == "comparison|plants|007|birds|b1|plants|NA"
    with pytest.raises(DataError, match="cannot be reversed"):
        workspace.do(ReverseComparisons([OAK_KITE]))


def test_comparisons_of_three_and_four_items(workspace: Workspace) -> None:
    workspace.do(COMPARE)
    four = [["plants", "007"], ["plants", "9"], ["birds", "b1"], ["birds", "b2"]]
    workspace.do(AddComparisons([four], 2))
    rows = table(workspace)
    assert rows[COMPARED]["d_id"] == ""
    assert rows["comparison|plants|007|plants|9|birds|b1|birds|b2"]["weight"] == 2
    workspace.do(ReverseComparisons([COMPARED]))
    assert "comparison|plants|007|birds|b1|plants|NA" in table(workspace)


def test_edit_statements_changes_given_fields(workspace: Workspace) -> None:
    workspace.do(SAY)
    workspace.do(COMPARE)
    before = table(workspace)
    workspace.do(
        EditStatements(
            {
                OAK_KITE: {"weight": -0.25},
                SAID: {"kind": "met", "note": "x"},
                COMPARED: {"weight": 3},
            }
        )
    )
    after = table(workspace)
    moved = SAID.replace("said", "met")
    assert after[OAK_KITE]["weight"] == -0.25
    assert (after[moved]["note"], after[moved]["set"]) == ("x", "lasso 1")
    assert after[COMPARED]["weight"] == 3
    assert SAID not in after
    untouched = before.keys() & after.keys() - {OAK_KITE, COMPARED}
    assert len(untouched) == 2
    assert all(before[key] == after[key] for key in untouched)
    workspace.undo()
    assert table(workspace) == before


def test_switch_set(workspace: Workspace) -> None:
    workspace.do(SAY)
    whole = workspace.state.opened()
    workspace.do(record(workspace))
    state = workspace.do(SwitchSet("lasso 1", False))
    assert state.data is whole
    assert state.guided is not None
    assert [group.kind for group in state.guided.links] == ["link"]
    assert state.run is not None
    assert not state.is_current(state.run)
    on = workspace.do(SwitchSet("lasso 1", True))
    assert on.guided is on.data
    workspace.undo()
    assert workspace.state.off == {"lasso 1"}
    workspace.undo()
    assert workspace.state.off == frozenset()
    with pytest.raises(DataError, match="this set does not exist"):
        workspace.do(SwitchSet("lasso 2", False))


def test_data_without_set_are_cached(workspace: Workspace) -> None:
    workspace.do(SAY)
    off = workspace.do(SwitchSet("lasso 1", False))
    starred = workspace.do(record(workspace))
    assert starred.guided is off.guided


def test_adding_switches_set_on(workspace: Workspace) -> None:
    workspace.do(SAY)
    workspace.do(SwitchSet("lasso 1", False))
    state = workspace.do(replace(SAY, pairs=[["007", "b3"]]))
    assert state.off == frozenset()


def test_removed_set_is_not_off(workspace: Workspace) -> None:
    workspace.do(SAY)
    workspace.do(SwitchSet("lasso 1", False))
    keys = [key for key in statement_keys(workspace.state.opened()) if key.endswith("|said")]
    assert workspace.do(DropStatements(keys)).off == frozenset()


def test_names_and_notes_keep_map_current(workspace: Workspace) -> None:
    workspace.do(SAY)
    workspace.do(SwitchSet("link", False))
    guided = workspace.state.guided
    assert guided is not None
    workspace.do(record(workspace, fingerprint=guided.fingerprint()))
    workspace.do(RenameSet("lasso 1", "circled"))
    workspace.do(RenameSet("link", "from the file"))
    workspace.do(EditStatements({SAID: {"note": "why"}}))
    state = workspace.do(SetLabels("plants", "sort", {"007": "tall", "9": None}))
    assert state.off == {"from the file"}
    assert state.run is not None
    assert state.is_current(state.run)
    assert not (after := workspace.do(EditStatements({SAID: {"weight": 1}}))).is_current(
        next(iter(after.runs))
    )


def test_set_labels(workspace: Workspace) -> None:
    state = workspace.do(SetLabels("plants", "sort", {"007": "tall", "10": 3}))
    column = state.opened().label("sort")
    assert column is not None
    assert column.values.tolist() == ["tall", None, None, 3]
    state = workspace.do(SetLabels("plants", "sort", {"007": None, "NA": "small"}))
    column = state.opened().label("sort")
    assert column is not None
    assert column.values.tolist() == [None, "small", None, 3]
    state = workspace.do(SetLabels("plants", "name", {"007": "Beech"}))
    column = state.opened().label("name")
    assert column is not None
    assert column.values.tolist() == ["Beech", "Ash", "Elm", "Fir"]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            AddLinks("plants", "birds", [["b1", "007"]]),
            "'birds' has this id. Are source and target swapped",
        ),
        (AddLinks("plants", "birds", [["nobody", "b1"]]), "no such id.*nobody"),
        (AddLinks("plant", "birds", [["007", "b1"]]), "Did you mean 'plants'"),
        (AddLinks("plants", "birds", [["007", "b1"]], 1.5), "between -1"),
        (AddLinks("plants", "birds", [["007", "b1"]], 0), "has no effect"),
        (AddLinks("plants", "plants", [["007", "007"]]), "itself"),
        (AddLinks("plants", "birds", [["007"]]), "pair 1: 2 entries"),
        (AddLinks("plants", "birds", ["007"]), "pair 1: 2 entries"),
        (AddComparisons([[["plants", "007"], ["plants", "NA"]]]), "row 1: 3 or 4 entries"),
        (AddComparisons([[["plants", "x"], ["plants", "NA"], ["plants", "9"]]]), "no such id"),
        (replace(COMPARE, weight=-1), "above 0"),
        (EditStatements({OAK_KITE: {"weight": 2}}), "between -1"),
        (EditStatements({OAK_KITE: {"weight": 0}}), "Remove the statement"),
        (EditStatements({OAK_KITE: {"weight": "much"}}), "a number is needed"),
        (EditStatements({OAK_KITE: {"colour": "red"}}), "this field does not exist"),
        (EditStatements({OAK_KITE: {"when": "now"}}), "set automatically"),
        (EditStatements({OAK_KITE: {"kind": " "}}), "text is needed"),
        (EditStatements({"link|a": {"weight": 1}}), "this statement does not exist"),
        (DropStatements([ASH_WREN, "x"]), "this statement does not exist"),
        (RenameSet("link", " "), "empty"),
        (RenameSet("lasso", "x"), "Available: link"),
        (SetLabels("plants", "sort", {"b1": "tall"}), "has this id"),
        (SetLabels("plants", "sort", {"007": ["tall"]}), "text or a number"),
        (SetLabels("plants", " ", {"007": "tall"}), "not empty"),
    ],
)
def test_invalid_guidance_changes_nothing(
    workspace: Workspace, command: Command, told: str
) -> None:
    before = workspace.state
    with pytest.raises(DataError, match=told):
        workspace.do(command)
    assert workspace.state is before


WHERE = st.sampled_from(["plants", "birds"])
IDS = {"plants": ["007", "NA", "9", "10"], "birds": ["b1", "b2", "b3"]}
ITEM = WHERE.flatmap(lambda name: st.tuples(st.just(name), st.sampled_from(IDS[name])).map(list))
WEIGHT = st.sampled_from([-1.0, -0.5, 0.5, 1.0])
SET = st.sampled_from(["", "one", "two"])
KEYS = st.integers(0, 5)


@st.composite
def links(draw: st.DrawFn) -> AddLinks:
    source, target = draw(WHERE), draw(WHERE)
    pair = st.tuples(st.sampled_from(IDS[source]), st.sampled_from(IDS[target])).map(list)
    pairs = draw(st.lists(pair, min_size=1, max_size=3))
    kind = draw(st.sampled_from(["said", "link"]))
    return AddLinks(source, target, pairs, draw(WEIGHT), kind, set=draw(SET))


COMPARISONS = st.builds(
    AddComparisons,
    st.lists(st.lists(ITEM, min_size=3, max_size=4), min_size=1, max_size=2),
    set=SET,
)
STEPS = st.lists(
    st.one_of(
        links(),
        COMPARISONS,
        st.builds(SwitchSet, SET, st.booleans()),
        st.builds(RenameSet, SET, SET),
        st.sampled_from(["undo", "redo", "drop", "edit", "turn", "record"]),
    ),
    max_size=10,
)


def apply_step(workspace: Workspace, step: object, at: int) -> None:
    keys = list(statement_keys(workspace.state.opened()))
    key = keys[at % len(keys)] if keys else "none"
    created = {
        "drop": DropStatements([key]),
        "edit": EditStatements({key: {"weight": 0.75, "note": "n", "kind": "k"}}),
        "turn": ReverseComparisons([key]),
    }
    try_command(workspace, created.get(step, step) if isinstance(step, str) else step, at)


@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS, seed=st.integers(0, 20))
def test_any_guidance_replay_undo_save(
    steps: list[object], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("guided")
    workspace = opened(BlobStore(folder / "blobs"))
    for at, step in enumerate(steps):
        if step != "undo" or workspace.steps > 1:
            apply_step(workspace, step, seed + at)
    keys = statement_keys(workspace.state.opened())
    assert len(set(keys)) == len(keys)
    again = Workspace.replay(workspace.log, workspace.blobs)
    assert (workspace_essence(again.state), again.state.off) == (
        workspace_essence(workspace.state),
        workspace.state.off,
    )
    data = workspace.state.opened()
    saved = hetviz.load(hetviz.save(data, folder / "data.zip"))
    columns = [*hetviz.statements(data).columns.drop(["key"])]
    assert sorted(
        map(tuple, hetviz.statements(saved)[columns].astype(str).values.tolist())
    ) == sorted(map(tuple, hetviz.statements(data)[columns].astype(str).values.tolist()))
    while workspace.undo_name is not None:
        workspace.undo()
    assert workspace.state.data is None


def test_add_pairs_is_one_step(workspace: Workspace) -> None:
    pairs = [
        [["plants", "9"], ["birds", "b3"]],
        [["plants", "9"], ["plants", "10"]],
        [["birds", "b1"], ["plants", "10"]],
    ]
    workspace.do(AddPairs(pairs, [1, -0.5, 0.25], set="lasso 1"))
    rows = [row for row in table(workspace).values() if row["set"] == "lasso 1"]
    assert sorted(float(str(row["weight"])) for row in rows) == [-0.5, 0.25, 1]
    workspace.undo()
    assert list(table(workspace)) == [OAK_KITE, ASH_WREN]
    with pytest.raises(DataError, match="3 weights are needed"):
        workspace.do(AddPairs(pairs, [1, 1]))


def test_imported_file_is_own_set(workspace: Workspace) -> None:
    text = (
        b"source_dataset,source_id,target_dataset,target_id\nplants,9,birds,b1\nplants,9,birds,x\n"
    )
    blob = workspace.blobs.put(text)
    before = workspace.state
    with pytest.raises(DataError, match=r"row 2.*'x'"):
        workspace.do(ImportGuidance(blob, "mine.csv"))
    assert workspace.state is before
    state = workspace.do(ImportGuidance(blob, "mine.csv", leave_out=True))
    assert [problem.value for problem in state.problems if problem.severity == "error"] == ["x"]
    row = table(workspace)["link|plants|9|birds|b1|link"]
    assert (row["set"], row["when"]) == ("mine", workspace.log[-1]["at"])
    again = Workspace.replay(workspace.log, workspace.blobs)
    assert workspace_essence(again.state) == workspace_essence(workspace.state)


def test_export_import_changes_nothing(workspace: Workspace) -> None:
    workspace.do(SAY)
    workspace.do(COMPARE)
    data = workspace.state.opened()
    blob = workspace.blobs.put(guidance_csv(data).encode())
    assert (
        workspace.do(ImportGuidance(blob, "out.csv")).opened().fingerprint() == data.fingerprint()
    )
