import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import hetviz
from hetviz import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz._pandas import TEXT
from hetviz.errors import DataError, HetvizError
from hetviz.io import read_bundle, read_coordinates, read_tables
from hetviz.io.bundle import saving
from tests.data.strategies import heterodata


def picture(colour):
    buffer = io.BytesIO()
    Image.new("RGB", (4, 3), colour).save(buffer, "PNG")
    return buffer.getvalue()


def everything():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "name": ['a "b"', "c\r\nd", " e ", "", None],
            " odd, name": [1, 2, 3, 4, 5],
            "x": [0.1, np.nan, 1e300, -0.0, 3.0],
            "flag": [True, False, True, True, False],
            "when": pd.to_datetime(["2020-01-01", None, "2021-02-03", None, "1999-12-31"]),
            "mixed": [1, "1", None, 2.5, True],
        }
    )
    table[7] = np.arange(5, dtype=np.int8)
    ids = ["007", "NA", "1e5", " spaced ", "game::board:chess"]
    a = Dataset(
        "März/a",
        ids,
        rng.normal(size=(5, 3)),
        feature_names=["f", "g", "h"],
        table=table,
        media=[picture("red"), None, picture("blue"), None, None],
        recipe={"title": "name", "features": {"format": 1, "columns": []}},
    )
    K = rng.normal(size=(3, 3)).astype(np.float32)
    b = Dataset("b", ["=1+1", "ß", "z"], sp.csr_array(np.eye(3)), kernel=K @ K.T, entity="thing")
    c = Dataset("c", ["ß", "q"], distance=np.array([[0.0, 1.0], [1.0, 0.0]]), entity="thing")
    d = Dataset("d", ["only"])
    meta = pd.DataFrame({"note": ["x", None], "who": ["=me", ""]})
    links = [
        Links("März/a", "b", [0, 1], [2, 0], [0.3, -1.0], meta=meta, role="relation"),
        Links("b", "b", [0, 1, 0], [1, 0, 2], score=[0.0, 2.0, -3.0], complete=True, kind="sim"),
        Links("c", "d", [1], [0]),
        Links("c", "März/a", [], []),
    ]
    compared = Comparisons([[0, 1, 2, 3], [5, 6, 7, 8]], [1.0, 0.25])
    labels = [
        Labels("März/a", "name", table["name"]),
        Labels("b", "kind", ["x", None, 3]),
        Labels("März/a", "x", table["x"]),
    ]
    return HeteroData([a, b, c, d], links, compared, labels)


def assert_same(one, two):
    assert two.fingerprint() == one.fingerprint()
    for name, dataset in one.datasets.items():
        assert list(two[name].ids) == list(dataset.ids)
        assert two[name].media == dataset.media
        assert two[name].recipe == dataset.recipe
        assert (two[name].table is None) == (dataset.table is None)
        if dataset.table is not None:
            pd.testing.assert_frame_equal(two[name].table, dataset.table)
    for first, second in zip(one.links, two.links, strict=True):
        assert second.weight_given == first.weight_given
        if first.meta is not None:
            pd.testing.assert_frame_equal(second.meta, first.meta)


@pytest.mark.parametrize("file", ["bundle", "bundle.zip"])
def test_bundle_round_trip_is_exact(tmp_path, file):
    data = everything()
    assert_same(data, hetviz.load(hetviz.save(data, tmp_path / file)))


@given(heterodata())
def test_bundle_round_trip_of_random_data(data):
    with tempfile.TemporaryDirectory() as folder:
        assert_same(data, hetviz.load(hetviz.save(data, Path(folder) / "b.zip")))


def test_bundle_bytes_are_deterministic(tmp_path):
    first = hetviz.save(everything(), tmp_path / "one" / "b.zip").read_bytes()
    assert hetviz.save(everything(), tmp_path / "two" / "b.zip").read_bytes() == first


def test_bundle_with_zero_matrix_is_not_refused(tmp_path):
    data = HeteroData([Dataset("a", [str(n) for n in range(2000)], np.zeros((2000, 200)))])
    assert_same(data, hetviz.load(hetviz.save(data, tmp_path / "b.zip")))


def test_save_does_not_overwrite_other_files(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(DataError, match="the folder contains other files"):
        hetviz.save(everything(), tmp_path)


def test_save_refuses_values_that_cannot_be_written(tmp_path):
    text = pd.Series(["\0"], dtype=TEXT)
    for table in (pd.DataFrame({"x": text}), pd.DataFrame({"x": [{1}]})):
        with pytest.raises(DataError):
            hetviz.save(HeteroData([Dataset("a", ["r"], table=table)]), tmp_path / "b")


MANIFEST = """
format = 1
name = "small"
[[dataset]]
name = "drugs"
table = "drugs.csv"
id = "id"
[[dataset]]
name = "targets"
table = "targets.csv"
features = "targets_x.csv"
[[links]]
file = "links.csv"
[[labels]]
dataset = "drugs"
column = "group"
"""
HEADER = "source_dataset,source_id,target_dataset,target_id,weight"
FILES = {
    "hetviz.toml": MANIFEST,
    "drugs.csv": "id,mass,group\n007,1.5,a\nNA,2.5,b\n1e5,4.5,a\n",
    "targets.csv": "id,note\nt1,x\nt2,y\n",
    "targets_x.csv": "id,f,g\nt2,3,4\nt1,1,2\n",
    "links.csv": f"{HEADER}\ndrugs,007,targets,t1,1\ndrugs,NA,targets,t2,-0.5\n",
}


def bundle(folder, **changed):
    for name, text in {**FILES, **{k.replace("__", "."): v for k, v in changed.items()}}.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_read_bundle_written_by_hand(tmp_path):
    data = hetviz.load(bundle(tmp_path))
    assert list(data["drugs"].ids) == ["007", "NA", "1e5"]
    assert data["drugs"].feature_names == ("mass",)
    np.testing.assert_array_equal(data["targets"].X, [[1, 2], [3, 4]])
    assert data.labels[0].classes == ["a", "b"]
    assert data.links[0].weight.tolist() == [1.0, -0.5]
    assert hetviz.load(tmp_path / "hetviz.toml").fingerprint() == data.fingerprint()


BAD_LINKS = f"""{HEADER}
drugs,007,targets,t1,1
drugs,008,targets,t1,1
drug,007,targets,t2,1
drugs,NA,targets,T1,1
drugs,1e5,targets,t1,2
drugs,1e5,targets,t1,0
drugs,1e5,targets,t1,high
drugs,007,drugs,007,1
drugs,007,targets,t1,.5
drugs,007,targets,t1,-1
drugs,NA,targets
"""


def test_load_lists_all_bad_links(tmp_path):
    bundle(tmp_path, links__csv=BAD_LINKS)
    with pytest.raises(DataError) as caught:
        hetviz.load(tmp_path)
    problems = {problem.row: problem for problem in caught.value.problems}
    assert {row: problem.code for row, problem in problems.items()} == {
        1: "unknown-id",
        2: "unknown-dataset",
        3: "unknown-id",
        4: "weight-range",
        5: "zero-weight",
        6: "not-a-number",
        7: "self-link",
        8: "duplicate-link",
        9: "contradiction",
        10: "ragged-row",
    }
    assert problems[1].where == "links.csv, row 2, column source_id"
    assert problems[1].value == "008"
    assert problems[2].remedy == "Did you mean 'drugs'?"
    assert problems[3].remedy == "Did you mean 't1'?"


def test_read_bundle_leaves_out_bad_rows(tmp_path):
    loaded = read_bundle(bundle(tmp_path, links__csv=BAD_LINKS))
    assert len(loaded.errors) == 10
    assert sum(map(len, loaded.data.links)) == 1
    assert loaded.understood[0].id_column == "id"


def test_read_links_merges_both_directions():
    rows = ["a,b,0.5", "b,a,1", "b,c,1", "c,b,-1", "a,c,1", "a,c,.5"]
    links = "source_id,target_id,weight,source_dataset\n"
    links += "".join(f"{row},nodes\n" for row in rows)
    files = [("nodes.csv", b"name,x\na,1\nb,2\nc,4\n"), ("uses.csv", links.encode())]
    loaded = read_tables(files)
    (result,) = loaded.data.links
    assert (result.i.tolist(), result.j.tolist()) == ([0, 1, 0], [1, 2, 2])
    assert result.weight.tolist() == [0.75, 1.0, 1.0]
    wrong = [(problem.code, problem.row, problem.where) for problem in loaded.errors]
    assert wrong == [
        ("contradiction", 3, "uses.csv, row 4, column target_id"),
        ("duplicate-link", 5, "uses.csv, row 6, column target_id"),
    ]
    notes = [problem.what for problem in loaded.problems if problem.code == "both-directions"]
    assert len(notes) == 1
    assert notes[0].startswith("1 row joins two items")


def test_read_links_counts_repeated_link_once():
    nodes = ("nodes.csv", b"name,x\na,1\nb,2\nc,4\n")
    for uses in (
        "source_id,target_id,source_dataset\na,b,nodes\na,c,nodes\na,b,nodes\na,b,nodes\n",
        "source_id,target_id,weight,source_dataset\na,b,,nodes\na,c,1,nodes\na,b,1,nodes\n"
        "a,b,1,nodes\n",
    ):
        loaded = read_tables([nodes, ("uses.csv", uses.encode())])
        (result,) = loaded.data.links
        assert (result.i.tolist(), result.j.tolist()) == ([0, 0], [1, 2])
        assert not loaded.errors
        (note,) = [problem.what for problem in loaded.problems if problem.code == "repeated-link"]
        assert note.startswith("2 rows repeat an earlier row")


def test_load_list_of_files_joins_them(tmp_path):
    (tmp_path / "there").mkdir()
    files = {"nodes.csv": "name,x\na,1\nb,2\nc,3\n", "uses.csv": "user,used\na,b\nb,c\na,c\n"}
    paths = []
    for name, text in files.items():
        paths.append(tmp_path / name)
        paths[-1].write_text(text)
    data = hetviz.load(paths)
    assert list(data.datasets) == ["nodes"]
    assert [len(links) for links in data.links] == [3]
    for wrong, word in (
        ([*paths, tmp_path / "there"], "must be an existing file"),
        ([paths[0], paths[0]], "two files have this name"),
    ):
        with pytest.raises(DataError, match=word):
            hetviz.load(wrong)


def test_read_bundle_duplicate_and_empty_ids(tmp_path):
    drugs = "id,mass\n007,1\n007,2\n,3\nNA,4\n1e5,9\n"
    manifest = MANIFEST.partition("[[labels]]")[0]
    bundle(tmp_path, drugs__csv=drugs, hetviz__toml=manifest)
    with pytest.raises(DataError) as caught:
        hetviz.load(tmp_path)
    assert [(p.code, p.row) for p in caught.value.problems] == [
        ("duplicate-id", 1),
        ("empty-id", 2),
    ]
    assert list(read_bundle(tmp_path).data["drugs"].ids) == ["007", "NA", "1e5"]


def test_feature_tables_match_by_id_and_list_bad_cells(tmp_path):
    bundle(tmp_path, targets_x__csv="id,f\nt1,nan\nother,1\n")
    with pytest.raises(DataError) as caught:
        hetviz.load(tmp_path)
    assert {p.code for p in caught.value.problems} >= {"not-numbers", "no-features"}


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"hetviz__toml": MANIFEST.replace("format = 1", "format = 2")}, "a newer version"),
        ({"hetviz__toml": MANIFEST.replace("format = 1", "format = 0")}, "format = 1"),
        ({"hetviz__toml": MANIFEST.replace("[[links]]", "[[lnks]]")}, "Did you mean 'links'"),
        ({"hetviz__toml": MANIFEST.replace('table = "drugs', 'tabel = "drugs')}, "'table'"),
        ({"hetviz__toml": MANIFEST.replace("drugs.csv", "none.csv")}, "does not exist"),
        ({"hetviz__toml": MANIFEST.replace("drugs.csv", "../x.csv")}, "points outside the folder"),
        ({"hetviz__toml": MANIFEST.replace('"group"', '"grp"')}, "column does not exist"),
        ({"hetviz__toml": "format ="}, "not valid TOML"),
        ({"links__csv": "a,b\n1,2\n"}, "source_id"),
        ({"drugs__csv": b""}, "empty"),
        ({"drugs__csv": "id,mass\n"}, "no row"),
    ],
)
def test_bad_manifest_errors(tmp_path, changed, word):
    with pytest.raises(DataError, match=word):
        hetviz.load(bundle(tmp_path, **changed))


def test_load_unknown_source_suggests_sample():
    with pytest.raises(DataError, match="Did you mean 'emoji'"):
        hetviz.load("emojis")


def test_read_comparisons_of_four_and_unknown_items(tmp_path):
    manifest = MANIFEST + '[[comparisons]]\nfile = "c.csv"\n'
    ends = ",".join(f"{item}_dataset,{item}_id" for item in "abcd")
    rows = "drugs,007,targets,t1,drugs,NA,targets,t2\n"
    bundle(tmp_path, hetviz__toml=manifest, c__csv=f"{ends}\n{rows}")
    assert hetviz.load(tmp_path).comparisons.objects.tolist() == [[0, 3, 1, 4]]
    bundle(tmp_path, hetviz__toml=manifest, c__csv=f"{ends}\n{rows.replace('t2', 't9')}")
    with pytest.raises(DataError, match="no item with this id"):
        hetviz.load(tmp_path)


def test_lookup_matches_other_unicode_form(tmp_path):
    bundle(
        tmp_path,
        drugs__csv="id,mass,group\nZoe\u0308,1,a\nb,2,b\nc,3,a\n",
        links__csv=f"{HEADER}\ndrugs,Zo\u00eb,targets,t1,1\n",
    )
    loaded = read_bundle(tmp_path)
    assert loaded.data["drugs"].ids[0] == "Zoe\u0308"
    assert [problem.code for problem in loaded.notes] == ["unicode-form"]
    assert not loaded.errors


def test_read_coordinates_round_trip_and_bad_rows():
    data = everything()
    rng = np.random.default_rng(1)
    places = {name: rng.normal(size=(len(d), 2)) for name, d in data.datasets.items()}
    places["b"][1] = np.nan
    made = hetviz.Embedding(places, {name: d.ids for name, d in data.datasets.items()})
    text = hetviz.io.coordinates_csv(made)
    back = read_coordinates("map.csv", text.encode(), data)
    np.testing.assert_array_equal(back.stacked(), made.stacked())
    assert back.n_unplaced == 1
    assert "'=1+1" in hetviz.io.coordinates_csv(made, safe=True)
    with pytest.raises(DataError) as caught:
        read_coordinates("m.csv", b"dataset,id,x\nd,only,one\nd,other,1\nd,only,2\n", data)
    assert {p.code for p in caught.value.problems} == {"not-a-number", "unknown-id", "duplicate-id"}


@given(st.data())
def test_damaged_bundle_is_read_or_refused(data):
    texts = dict(FILES)
    name = data.draw(st.sampled_from(sorted(texts)))
    text = texts[name]
    at = data.draw(st.integers(0, len(text)))
    until = data.draw(st.integers(at, len(text)))
    texts[name] = text[:at] + data.draw(st.text(max_size=8)) + text[until:]
    with tempfile.TemporaryDirectory() as folder:
        for file, content in texts.items():
            Path(folder, file).write_bytes(content.encode("utf-8", "ignore"))
        try:
            loaded = read_bundle(folder)
        except HetvizError:
            return
        assert loaded.data.n_rows >= 1


def test_long_problem_list_is_cut_with_count(tmp_path):
    rows = "".join(f"drugs,x{n},targets,t1,1\n" for n in range(3000))
    loaded = read_bundle(bundle(tmp_path, links__csv=f"{HEADER}\n{rows}"))
    assert len(loaded.errors) < 3000
    assert sum(problem.count for problem in loaded.errors) == 3000
    with pytest.raises(DataError, match=r"and 2,980 more"):
        loaded.strict()


def npy(array, **how):
    buffer = io.BytesIO()
    np.save(buffer, array, **how)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (npy(np.eye(2)), "2 rows, but drugs.csv has 3"),
        (npy(np.ones((3, 2))), "as many columns as rows"),
        (npy(np.triu(np.ones((3, 3)))), "row 1, column 2: the matrix is not symmetric"),
        (npy(np.full((3, 3), np.nan)), "missing or infinite"),
        (npy(np.ones(3)), "rows and columns is needed"),
        (
            npy(np.array([{}, 1, 2], dtype=object), allow_pickle=True),
            "does not contain plain numbers",
        ),
    ],
    ids=["rows", "columns", "not symmetric", "nan", "one dimension", "pickled"],
)
def test_read_bundle_reports_bad_kernel(tmp_path, content, word):
    with_kernel = MANIFEST.replace('id = "id"', 'kernel = "k.npy"')
    (tmp_path / "k.npy").write_bytes(content)
    with pytest.raises(DataError, match=word):
        hetviz.load(bundle(tmp_path, hetviz__toml=with_kernel))


def test_links_to_rejected_dataset_give_one_message(tmp_path):
    rows = "".join(f"drugs,007,targets,t{n},1\n" for n in range(50))
    loaded = read_bundle(bundle(tmp_path, targets__csv="id,note\n", links__csv=f"{HEADER}\n{rows}"))
    told = [problem for problem in loaded.errors if problem.code == "unknown-dataset"]
    assert [problem.count for problem in told] == [50]


def test_lookup_suggests_swapped_columns(tmp_path):
    bundle(tmp_path, links__csv=f"{HEADER}\ndrugs,t1,targets,007,1\n")
    with pytest.raises(DataError, match="two columns are swapped"):
        hetviz.load(tmp_path)


def test_read_bundle_in_subfolder_of_zip(tmp_path):
    file = tmp_path / "b.zip"
    for place in ("x/y/", ""):
        with zipfile.ZipFile(file, "w") as archive:
            for name, text in FILES.items():
                archive.writestr(place + name, text)
        assert len(hetviz.load(file).datasets) == 2
    with zipfile.ZipFile(file, "w") as archive:
        for folder in "ab":
            archive.writestr(f"{folder}/hetviz.toml", MANIFEST)
    with pytest.raises(DataError, match="not in the top folder"):
        hetviz.load(file)


def test_bundle_column_options_round_trip(tmp_path):
    content = "format = 1\nname = 'b'\n[[dataset]]\nname = 'things'\ntable = 'things.csv'\n"
    content += "[dataset.columns.size]\nscale = 'rank'\nweight = 2\n"
    content += "[dataset.columns.colour]\nuse = true\nimpute = 'own category'\n"
    table = "id,size,colour\na,1,red\nb,5,red\nc,9,blue\nd,9,\ne,2,blue\nf,3,red\n"
    (tmp_path / "hetviz.toml").write_text(content)
    (tmp_path / "things.csv").write_text(table)
    things = hetviz.load(tmp_path)["things"]
    assert things.feature_names == ("size", "colour=blue", "colour=red", "colour=(missing)")
    steps = things.recipe["features"]["columns"]
    assert [step["share"] for step in steps] == pytest.approx([2 / 3, 1 / 3])
    again = hetviz.load(hetviz.save(hetviz.HeteroData([things]), tmp_path / "again.zip"))["things"]
    assert again.recipe == things.recipe
    np.testing.assert_array_equal(hetviz.transform_features(again, things.table), things.X)
    (tmp_path / "hetviz.toml").write_text(content.replace("'rank'", "'large'") + "wait = 3\n")
    with pytest.raises(DataError, match="unknown value of scale") as refused:
        hetviz.load(tmp_path)
    assert {problem.code for problem in refused.value.problems} == {"bad-manifest"}
    assert len(refused.value.problems) == 2


def test_bundle_many_links_as_arrays(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "_MAX_TABLE_LINKS", 2)
    a, b = (Dataset(name, ["x", "y", "z"], np.eye(3)) for name in "ab")
    links = Links("a", "b", [0, 1, 2], [2, 2, 0], [0.5, -1.0, 1.0], score=[3.0, 0.0, 2.0], kind="k")
    data = HeteroData([a, b], [links, Links("a", "a", [0, 0, 1], [1, 2, 2], role="relation")])
    folder = hetviz.save(data, tmp_path / "bundle")
    assert not list(folder.glob("links*.csv"))
    assert hetviz.load(folder).fingerprint() == data.fingerprint()
    for wrong, word in (
        (np.array([[0, 3]], dtype="<i4"), "1 link with row numbers outside a or b"),
        (np.zeros((3, 3), dtype="<i4"), "two row numbers"),
        (np.zeros((3, 2)), "two row numbers"),
        (np.zeros((2, 2), dtype="<i4"), "2 values are needed"),
    ):
        np.save(folder / "links_0_ends.npy", wrong)
        with pytest.raises(DataError, match=word):
            hetviz.load(folder)
