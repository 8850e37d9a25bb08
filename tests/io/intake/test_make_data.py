import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetviz
from hetviz.errors import DataError, HetvizError
from hetviz.io import Choices, read_tables

DRUGS = b"id,mass,group\n007,1.5,a\nNA,2.5,b\n1e5,4.5,a\n008,1,a\n009,2,b\n010,3,b\n"
TARGETS = "id;länge\nt1;1,5\nt2;2,5\nt3;9,5\n".encode("latin-1")


def test_read_tables_recognises_files_by_columns():
    links = b"source_id,target_id,weight\n007,t1,1\nNA,t2,-1\n"
    loaded = read_tables([("links.csv", links), ("drugs.csv", DRUGS), ("targets.csv", TARGETS)])
    assert {file.name: file.role for file in loaded.files} == {
        "links.csv": "links",
        "drugs.csv": "dataset",
        "targets.csv": "dataset",
    }
    data = loaded.data
    assert list(data["drugs"].ids)[:3] == ["007", "NA", "1e5"]
    np.testing.assert_array_equal(data["targets"].table["länge"], [1.5, 2.5, 9.5])
    assert data.links[0].weight.tolist() == [1.0, -1.0]
    assert [label.name for label in data.labels] == ["group"]
    assert [problem.code for problem in loaded.problems] == ["encoding"]
    assert loaded.understood[0].columns[0].role == "id"


def test_join_tables_turns_two_id_columns_into_links():
    targets = b"id,size\nt1,3\nt2,4\nt3,9\n"
    pairs = b"drug,target\n007,t1\nNA,t2\n1e5,t1\n007,t2\n007,t3\nNA,t3\n"
    loaded = read_tables([("drugs.csv", DRUGS), ("targets.csv", targets), ("pairs.csv", pairs)])
    assert not loaded.data.links
    (links,) = hetviz.join_tables(loaded.data).links
    assert (links.source, links.target, len(links)) == ("drugs", "targets", 6)


def test_join_tables_turns_two_title_columns_into_links():
    fruits = b"id,name,sugar,acid\nF1,apple,10,3\nF2,pear,11,2\nF3,lemon,2,9\n"
    dishes = b"code,title,minutes\nD1,apple pie,60\nD2,lemon tart,50\nD3,salad,15\n"
    uses = b"fruit,dish\napple,apple pie\nlemon,lemon tart\npear,salad\napple,salad\n"
    loaded = read_tables([("uses.csv", uses), ("fruits.csv", fruits), ("dishes.csv", dishes)])
    (links,) = hetviz.join_tables(loaded.data).links
    assert (links.source, links.target) == ("fruits", "dishes")
    assert list(zip(links.i.tolist(), links.j.tolist(), strict=True)) == [
        (0, 0), (0, 2), (1, 2), (2, 1)
    ]  # fmt: skip


def test_read_tables_small_other_table_is_dataset():
    loaded = read_tables([("d.csv", DRUGS), ("x.csv", b"name,age\nann,3\nbob,4\n")])
    assert list(loaded.data["x"].ids) == ["ann", "bob"]


def test_read_tables_comparisons():
    compared = b"anchor_id,near_id,far_id\n007,NA,1e5\n"
    loaded = read_tables([("c.csv", compared), ("d.csv", DRUGS)])
    assert loaded.data.comparisons.objects.tolist() == [[0, 1, 2]]


def test_read_tables_choices():
    choices = {"d.csv": Choices(name="medicine", id="mass", labels=())}
    loaded = read_tables([("d.csv", DRUGS)], choices)
    assert loaded.data["medicine"].ids[0] == "1.5"
    assert not loaded.data.labels


def test_read_tables_adds_to_base():
    base = read_tables([("d.csv", DRUGS)]).data
    more = [("t.csv", TARGETS), ("l.csv", b"source_id,target_id\n007,t1\n")]
    loaded = read_tables(more, base=base)
    assert list(loaded.data.datasets) == ["d", "t"]
    assert len(loaded.data.links) == 1


def test_read_tables_bad_file_does_not_stop_others():
    loaded = read_tables(
        [("d.csv", DRUGS), ("empty.csv", b""), ("book.xlsx", b"\xd0\xcf\x11\xe0\0")]
    )
    assert list(loaded.data.datasets) == ["d"]
    assert {file.name for file in loaded.files if file.role == "refused"} == {
        "empty.csv",
        "book.xlsx",
    }
    assert len(loaded.errors) == 2


def test_read_tables_refuses_unusable_files():
    with pytest.raises(DataError, match="the file is empty"):
        read_tables([("empty.csv", b"")])
    with pytest.raises(DataError):
        read_tables([])


def test_read_tables_single_row_and_constant_columns():
    loaded = read_tables([("d.csv", b"id,x\n007,1\n")])
    assert list(loaded.data["d"].ids) == ["007"]
    assert loaded.data["d"].is_featureless
    assert {problem.code for problem in loaded.problems} == {"constant-column", "no-features"}


def test_load_csv_file_and_folder(tmp_path):
    (tmp_path / "d.csv").write_bytes(DRUGS)
    (tmp_path / "t.csv").write_bytes(TARGETS)
    assert list(hetviz.load(tmp_path / "d.csv").datasets) == ["d"]
    assert list(hetviz.load(tmp_path).datasets) == ["d", "t"]


@given(st.lists(st.binary(max_size=60), max_size=3), st.binary(max_size=60))
def test_read_tables_random_files_give_data_or_error(contents, links):
    files = [(f"{n}.csv", content) for n, content in enumerate(contents)]
    try:
        read_tables([*files, ("links.csv", b"source_id,target_id,weight\n" + links)])
    except HetvizError:
        return


def test_read_tables_is_independent_of_file_order():
    drugs, targets = b"drug,mass\n007,1\nN,2\nX,4\n", b"target,size\nt1,3\nt2,4\nt3,5\n"
    pairs = b"drug,target\n007,t1\nN,t2\n007,t2\nX,t3\nN,t1\n"
    files = [("d.csv", drugs), ("pairs.csv", pairs), ("t.csv", targets)]
    for order in (files, files[::-1]):
        data = hetviz.join_tables(read_tables(order).data)
        assert set(data.datasets) == {"d", "t"}
        assert len(data.links[0]) == 5


@pytest.mark.parametrize("other", ["A", " a", "a "])
def test_similar_ids_note(other):
    loaded = read_tables([("d.csv", f"id,x\na,1\n{other},2\nb,3\n".encode())])
    assert list(loaded.data["d"].ids) == ["a", other, "b"]
    assert [problem.code for problem in loaded.problems] == ["ids-alike"]
