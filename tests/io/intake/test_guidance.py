"""Guidance goes to one file and comes back; what cannot be read is accounted for row by row."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from hypothesis import given, settings

import hetviz
from hetviz import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz.data.edits.adding import add_statements
from hetviz.data.edits.by_id import links_by_id, pairs_by_id
from hetviz.data.edits.statement_edits import drop_statements, edit_statements
from hetviz.data.queries.groups import named_groups
from hetviz.errors import DataError, ParameterError
from hetviz.io import guidance_csv, guidance_template, read_guidance
from tests.data.strategies import heterodata
from tests.depth import examples


def odd() -> HeteroData:
    """Ids that a spreadsheet would reckon with, notes, scores, and both sorts of comparisons."""
    a = Dataset("=sum", ["-1", "'x", "'=y", 'z, "q"'])
    b = Dataset("b", ["1", "2", "@3"])
    meta = pd.DataFrame({"note": ["=1+1", ""], "set": ["lasso", ""], "who": ["", "Ada"]})
    return HeteroData(
        [a, b],
        [
            Links("=sum", "b", [0, 1], [0, 2], [1, -0.25], meta=meta),
            Links("=sum", "b", [2], [0], score=[3.5], kind="rated", role="relation"),
            Links("b", "b", [0], [1], [0.5], kind="said"),
            Links("b", "b", [0], [1], [-1], kind="said"),
        ],
        Comparisons([[0, 1, 0, 2], [0, 1, 5, 6]], [1, 2.5]),
    )


def bare(data: HeteroData) -> HeteroData:
    return HeteroData(data.datasets, labels=data.labels)


def told(data: HeteroData) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row)) for row in hetviz.statements(data).to_numpy().tolist())


def test_guidance_csv_round_trip() -> None:
    data = odd()
    read = read_guidance("mine.csv", guidance_csv(data).encode(), data).strict()
    assert (read.n_rows, read.n_good, read.has_sets) == (7, 7, True)
    again = add_statements(bare(data), read.parts).data
    left, right = (table.drop(columns="key") for table in map(hetviz.statements, (data, again)))
    assert sorted(map(str, left.to_numpy().tolist())) == sorted(map(str, right.to_numpy().tolist()))


def test_guidance_csv_escapes_formulas() -> None:
    rows = guidance_csv(odd()).splitlines()[1:]
    assert "'=sum" in rows[0]
    assert "'-1" in rows[0]
    assert "'=1+1" in rows[0]
    assert ",-0.25," in rows[1]


def test_read_guidance_of_existing_statements_changes_nothing() -> None:
    data = odd()
    met = add_statements(data, read_guidance("m.csv", guidance_csv(data).encode(), data).parts)
    assert (met.added, met.updated, met.n_same) == ((), (), 7)
    assert met.data.fingerprint() == data.fingerprint()


@settings(max_examples=examples(40), deadline=None)
@given(heterodata())
def test_guidance_csv_round_trip_of_random_guidance(data: HeteroData) -> None:
    once = add_statements(
        bare(data), [*data.links, *([data.comparisons] if data.comparisons else [])]
    ).data
    read = read_guidance("m.csv", guidance_csv(once).encode(), once)
    if not len(hetviz.statements(once)):
        return
    assert told(add_statements(bare(data), read.strict().parts).data) == told(once)


def test_guidance_csv_writes_only_chosen_keys() -> None:
    data = odd()
    keys = hetviz.statements(data)["key"].tolist()[2:4]
    assert len(guidance_csv(data, keys).splitlines()) == 3


def test_read_guidance_lists_bad_rows() -> None:
    data = odd()
    lines = guidance_csv(data).splitlines()
    lines[1] = lines[1].replace("'-1", "-7")
    lines[2] = lines[2].replace("-0.25", "much")
    lines[3] = lines[3].replace("link,", "chain,", 1)
    lines[7] = lines[7].replace("2.5", "-2.5")
    read = read_guidance("m.csv", "\n".join(lines).encode(), data)
    assert [(problem.code, problem.row) for problem in read.errors] == [
        ("unknown-id", 0),
        ("not-a-number", 1),
        ("bad-form", 2),
        ("weight-range", 6),
    ]
    assert all(problem.where.startswith("m.csv, row") for problem in read.errors)
    assert all(problem.remedy and problem.value for problem in read.errors)
    assert (read.n_rows, read.n_good) == (7, 3)
    with pytest.raises(DataError, match="much"):
        read.strict()


def test_read_guidance_accepts_plain_tables() -> None:
    data = odd()
    text = "source_dataset,source_id,target_dataset,target_id,who\nb,1,b,2,Bo\n"
    read = read_guidance("l.csv", text.encode(), data).strict()
    assert not read.has_sets
    (links,) = read.parts
    assert links.meta is not None
    assert links.meta["who"].tolist() == ["Bo"]
    with pytest.raises(DataError, match="download a template"):
        read_guidance("x.csv", b"one,two\n1,2\n", data)


def called() -> HeteroData:
    """Instruments by code, of which two are called drum, and words."""
    table = pd.DataFrame({"name": ["guitar", "violin", "drum", "drum", "horn"]})
    instruments = Dataset("instruments", ["1a", "1b", "1c", "1d", "1e"], table=table)
    return HeteroData([instruments, Dataset("words", ["string", "loud"])])


def test_read_guidance_recognises_links_by_titles() -> None:
    data = called()
    text = (
        "Thing;words;Weight\nguitar;string;0,5\n1b;string;high\ndrum;loud;1\nhrn;loud;1\n"
        "horn;loud;-1\nviolin;loud;1\n1d;loud;1\n1c;loud;0,25\n"
    )
    read = read_guidance("mine.csv", text.encode(), data)
    (links,) = read.parts
    assert (links.source, links.target) == ("instruments", "words")
    assert links.i.tolist() == [0, 4, 1, 3, 2]
    assert links.weight is not None
    assert links.weight.tolist() == [0.5, -1, 1, 1, 0.25]
    twins, typo, word = sorted(read.errors, key=lambda problem: problem.code, reverse=True)
    assert (twins.row, typo.row, word.row) == (2, 3, 1)
    assert "(1c, 1d)" in twins.remedy
    assert typo.remedy == "Did you mean 'horn'?"
    assert typo.where == "mine.csv, row 4, column Thing"
    assert word.value == "high"
    assert "each row is a link between Thing (of instruments) and words" in {
        problem.what for problem in read.problems
    }


def test_read_guidance_recognises_comparisons_and_labels() -> None:
    data = called()
    text = "item,near,far\nguitar,violin,horn\n"
    (compared,) = read_guidance("c.csv", text.encode(), data).strict().parts
    assert isinstance(compared, Comparisons)
    assert compared.objects.tolist() == [[0, 1, 4]]
    text = "instrument,kind,made of\nguitar,,wood\nhorn,,brass\n1d,,\n"
    read = read_guidance("l.csv", text.encode(), data).strict()
    assert read.labels == {
        ("instruments", "made of"): {("1a", ""): ("wood", ""), ("1e", ""): ("brass", "")}
    }
    assert hetviz.io.read_guidance("l.csv", text.encode(), data).n_good == 2


def test_read_guidance_ignores_numbers_that_equal_ids() -> None:
    data = HeteroData([Dataset("b", ["1", "2", "3"])])
    with pytest.raises(DataError, match="by id or by name"):
        read_guidance("ages.csv", b"age,height\n1,2\n2,3\n", data)
    read = read_guidance("ends.csv", b"from,to\n1,2\n2,3\n", data).strict()
    assert read.n_good == 2


@pytest.mark.parametrize("form", ["links", "comparisons"])
def test_guidance_template_reads_back(form: str) -> None:
    data = hetviz.load("world")
    read = read_guidance("t.csv", guidance_template(data, form).encode(), data).strict()
    assert read.n_good == {"links": 2, "comparisons": 1}[form]
    with pytest.raises(ParameterError, match="form"):
        guidance_template(data, "poem")


def test_guidance_csv_keeps_labels_and_number_labels() -> None:
    items = Dataset("a", ["x", "=y", "z"])
    labels = [Labels("a", "year", [1999, 2001, None]), Labels("a", "=my", ["'odd", None, "=1+1"])]
    data = HeteroData([items], [Links("a", "a", [0], [1])], None, labels)
    text = guidance_csv(data)
    read = read_guidance("m.csv", text.encode(), data).strict()
    assert read.labels[("a", "year")] == {("x", ""): (1999, ""), ("=y", ""): (2001, "")}
    assert read.labels[("a", "=my")]["x", ""] == ("'odd", "")
    assert read.labelled(data).fingerprint() == data.fingerprint()
    # Without the columns they are made anew.
    again = read.labelled(HeteroData([items], data.links)).labels
    assert [one.name for one in again] == ["year", "=my"]
    assert "label," not in guidance_csv(data, labels=False)


def test_read_guidance_reports_label_of_unknown_item() -> None:
    data = HeteroData([Dataset("a", ["x", "y"])], [Links("a", "a", [0], [1])], None,
                      [Labels("a", "c", ["p", "q"])])  # fmt: skip
    text = guidance_csv(data).replace("label,a,y", "label,a,gone").replace(",p", ",")
    read = read_guidance("m.csv", text.encode(), data)
    assert [(one.code, one.value) for one in read.errors] == [
        ("no-label", ""),
        ("unknown-id", "gone"),
    ]
    assert read.labels == {}


def grouped(weight: float = 1.0, **noted: str) -> HeteroData:
    """Four items of two datasets of which all pairs were said in one go."""
    data = HeteroData([Dataset("a", ["x", "y", "z"]), Dataset("b", ["1", "2"])])
    items = [["a", "x"], ["a", "z"], ["b", "1"], ["b", "2"]]
    pairs = list(itertools.combinations(items, 2))
    meta = pd.DataFrame({"set": "four", **noted}, index=range(len(pairs)))
    return add_statements(data, pairs_by_id(data, pairs, weight, meta=meta)).data


@pytest.mark.parametrize("weight", [1.0, -0.4])
def test_guidance_csv_writes_group_as_one_row_per_item(weight: float) -> None:
    data = grouped(weight, note="said at noon")
    (group,) = named_groups(data)
    assert (group.name, group.weight, len(group.keys), group.whole) == ("four", weight, 6, True)
    assert group.rows.tolist() == [0, 2, 3, 4]
    text = guidance_csv(data)
    assert len(text.splitlines()) == 1 + 4
    read = read_guidance("mine.csv", text.encode(), data).strict()
    assert (read.n_rows, read.n_good) == (4, 4)
    assert told(add_statements(bare(data), read.parts).data) == told(data)
    assert not add_statements(data, read.parts).added


def test_read_guidance_extra_group_row_adds_item() -> None:
    data = grouped()
    lines = guidance_csv(data).splitlines()
    with_y = "\n".join([*lines, lines[1].replace(",x,", ",y,")])
    met = add_statements(data, read_guidance("mine.csv", with_y.encode(), data).strict().parts)
    assert len(met.added) == 4
    (group,) = named_groups(met.data)
    assert group.rows.tolist() == [0, 1, 2, 3, 4]


def test_guidance_csv_keeps_incomplete_groups_as_pairs() -> None:
    data = grouped()
    keys = list(hetviz.statements(data)["key"])
    other_weight = edit_statements(data, {keys[0]: {"weight": 0.5}})
    assert not named_groups(other_weight)
    assert not named_groups(drop_statements(data, keys[:1]))
    noted = edit_statements(data, {keys[0]: {"note": "this one"}})
    assert [group.whole for group in named_groups(noted)] == [False]
    for some in (other_weight, noted):
        assert len(guidance_csv(some).splitlines()) == 1 + 6
    assert len(guidance_csv(data, keys[:3]).splitlines()) == 1 + 3


def test_guidance_csv_group_with_repeated_pair() -> None:
    data = grouped()
    again = links_by_id(data, "a", "a", [("x", "z")], meta=pd.DataFrame({"set": ["two"]}))
    (group,) = named_groups(add_statements(data, [again]).data)
    assert (group.name, len(group.keys), group.whole) == ("four", 5, False)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (",guidance,,,,four", ",guidance,,,,", "no-group"),
        (",x,", ",q,", "unknown-id"),
        ("group,a,", "group,c,", "unknown-dataset"),
        (",1.0,", ",much,", "bad-weight"),
        (",1.0,", ",0,", "bad-weight"),
    ],
)
def test_read_guidance_reports_bad_group_row(old: str, new: str, code: str) -> None:
    data = grouped()
    lines = guidance_csv(data).splitlines()
    assert old in lines[1]
    lines[1] = lines[1].replace(old, new)
    read = read_guidance("mine.csv", "\n".join(lines).encode(), data)
    assert [problem.code for problem in read.errors] == [code]
    assert read.n_good == 3


def test_read_guidance_reports_group_with_two_weights_or_one_item() -> None:
    data = grouped()
    head, *rows = guidance_csv(data).splitlines()
    two = "\n".join([head, *rows[:3], rows[3].replace(",1.0,", ",0.5,")])
    read = read_guidance("mine.csv", two.encode(), data)
    assert [problem.code for problem in read.errors] == ["two-weights"]
    alone = read_guidance("mine.csv", f"{head}\n{rows[0]}".encode(), data)
    assert [problem.code for problem in alone.errors] == ["small-group"]
