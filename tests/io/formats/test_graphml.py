import io
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hetviz.errors import DataError, HetvizError
from hetviz.io.formats import graphs
from hetviz.io.formats.edges import join_graphs
from hetviz.io.formats.graphml import read_graphml
from hetviz.io.infer.parsed import Choices, Table
from tests.depth import examples

nx = pytest.importorskip("networkx")

HEAD = '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'


def written(graph):
    buffer = io.BytesIO()
    nx.write_graphml(graph, buffer)
    return buffer.getvalue()


def read(content, choices=None):
    if isinstance(content, str):
        content = content.encode()
    return read_graphml("club.graphml", content, choices or Choices())


def codes(piece):
    return [problem.code for problem in piece.problems]


def graph_of(keys="", inside=""):
    return f'{HEAD}{keys}<graph edgedefault="undirected">{inside}</graph></graphml>'


def test_graphml_nodes_and_edges():
    club = nx.Graph()
    club.add_node("007", name="James", age=40, spy=True)
    club.add_node("b", name="Ann & <Bob>", height=1.5)
    club.add_node("c", name="Zoë")
    club.add_edge("007", "b", weight=0.5, since="1999")
    club.add_edge("b", "c", weight=-1.0)
    nodes, links = read(written(club))
    assert nodes.frame.to_dict("list") == {
        "id": ["007", "b", "c"],
        "name": ["James", "Ann & <Bob>", "Zoë"],
        "age": ["40", "", ""],
        "spy": ["true", "", ""],
        "height": ["", "1.5", ""],
    }
    assert (nodes.name, nodes.id_column, nodes.role, links.role) == (
        "club", "id", "dataset", "links"
    )  # fmt: skip
    assert links.frame["source_dataset"].unique().tolist() == ["club"]
    assert links.frame[["source_id", "target_id", "weight", "since"]].to_numpy().tolist() == [
        ["007", "b", "0.5", "1999"],
        ["b", "c", "-1.0", ""],
    ]
    assert read(written(club), Choices(name="spies"))[1].frame["target_dataset"][0] == "spies"


@pytest.mark.parametrize(
    ("weights", "column"),
    [((0.2, 1.0), "weight"), ((3, -7), "score"), ((0.0, 1.0), "score"), ((None, None), None)],
)
def test_graphml_strengths_above_one_are_scores(weights, column):
    club = nx.Graph()
    for at, weight in enumerate(weights):
        club.add_edge("a", f"b{at}", **({} if weight is None else {"weight": weight}))
    links = read(written(club))[1]
    assert [name for name in ("weight", "score") if name in links.frame] == [column] * bool(column)
    if column:
        assert links.frame[column].astype(float).tolist() == list(weights)


def test_graphml_direction_loop_and_repeat_notes():
    club = nx.MultiDiGraph()
    club.add_edge("a", "b", weight=1.0)
    club.add_edge("b", "a", weight=0.5)
    club.add_edge("b", "b", weight=1.0)
    club.add_edge("b", "c", weight=1.0)
    club.add_edge("c", "b", weight=-1.0)
    club.add_node("d")
    nodes, links = read(written(club))
    assert codes(nodes) == ["directed", "no-links"]
    assert codes(links) == ["self-link", "repeated-edges"]
    assert links.frame["weight"].tolist() == ["0.75", "1.0", "-1.0"]


def test_graphml_hub_note():
    star = nx.star_graph(40)
    links = read(written(nx.relabel_nodes(star, str)))[1]
    assert codes(links) == ["hubs"]
    assert links.facts["most links of one node"] == "40 (0)"


def test_graphml_defaults_and_invalid_numbers():
    keys = (
        '<key id="k" for="node" attr.name="colour" attr.type="string"><default>red</default></key>'
        '<key id="n" for="node" attr.name="size" attr.type="double"/>'
        '<key id="y" for="node" yfiles.type="nodegraphics"/>'
    )
    inside = (
        '<node id="a"><data key="k">blue</data><data key="n">big</data></node>'
        '<node id="b"><data key="n">2.5</data><data key="y"><ShapeNode><NodeLabel> Berta'
        " </NodeLabel></ShapeNode></data></node><node id='c'><port name='p'/></node>"
    )
    (nodes,) = read(graph_of(keys, inside))
    assert nodes.frame["colour"].tolist() == ["blue", "red", "red"]
    assert nodes.frame["size"].tolist() == ["", "2.5", ""]
    assert nodes.frame["label"].tolist() == ["", "Berta", ""]
    assert codes(nodes) == ["not-a-number", "passed-over"]


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
    "<graphml><graph><node id='&b;'/></graph></graphml>"
)
OUTSIDE = (
    '<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    "<graphml><graph><node id='a'><data key='k'>&x;</data></node></graph></graphml>"
)
BARE = '<!DOCTYPE graphml SYSTEM "http://example.org/graphml.dtd"><graphml/>'


@pytest.mark.parametrize("content", [LAUGHS, OUTSIDE, BARE])
def test_graphml_refuses_entities_and_doctypes(content):
    with pytest.raises(DataError) as caught:
        read(content)
    assert caught.value.problems[0].code == "doctype"


def test_graphml_refuses_deep_damaged_and_empty_files():
    deep = graph_of(inside="<node id='a'><graph>" * 200)
    for content, code in (
        (deep, "too-deep"),
        (graph_of(inside="<node id='a'>"), "bad-xml"),
        (graph_of(), "no-rows"),
        ('<?xml version="1.0" encoding="no-such"?><graphml/>', "bad-xml"),
        (HEAD, "bad-xml"),
    ):
        with pytest.raises(DataError) as caught:
            read(content)
        assert caught.value.problems[0].code == code


def test_graphml_value_limit(monkeypatch):
    monkeypatch.setattr(graphs, "_MAX_VALUES", 30)
    keys = "".join(
        f'<key id="k{at}" for="node" attr.name="k{at}"><default>x</default></key>'
        for at in range(10)
    )
    nodes = "".join(f"<node id='{at}'/>" for at in range(4))
    with pytest.raises(DataError, match="40 values"):
        read(graph_of(keys, nodes))


def table(**columns):
    frame = pd.DataFrame(columns, dtype=str)
    return Table("net", "net.csv", None, frame, tuple(range(len(frame))))


@pytest.mark.parametrize(
    "names",
    [
        ("source", "target"),
        ("From", "To"),
        ("source_id", "target_id"),
        ("# FromNodeId", "ToNodeId"),
    ],
)
def test_edge_list_alone_is_graph(names):
    ends = (["a", "b", "", "c"], ["b", "c", "d", "a"], ["1", "-1", "1", ""])
    nodes, links = join_graphs([table(**dict(zip((*names, "sign"), ends, strict=True)))])
    assert nodes.frame["id"].tolist() == ["a", "b", "c"]
    assert links.frame["weight"].tolist() == ["1.0", "-1.0", ""]
    assert tuple(links.row) == (0, 1, 3)


def test_edge_list_separated_by_spaces():
    nodes, links = join_graphs([table(**{"1 2": ["2 3", "3 1"]})])
    assert nodes.frame["id"].tolist() == ["1", "2", "3"]
    assert tuple(links.row) == (0, 1, 2)
    named = join_graphs([table(**{"target source": ["b c", "c a", "a b"]})])
    assert named[1].frame["source_id"].tolist() == ["c", "a", "b"]
    weighed = join_graphs([table(column_1=["a b 0.5", "b c 1", "c a 1"])])
    assert weighed[1].frame["weight"].tolist() == ["0.5", "1.0", "1.0"]


def test_edge_list_with_node_table():
    nodes = replace(table(Id=["a", "b", "c"], Label=["A", "B", "C"]), name="people")
    edges = table(
        Source=["a", "b"],
        Target=["b", "c"],
        Type=["likes", "likes"],
        Id=["0", "1"],
        Weight=["2", "5"],
    )
    first, links = join_graphs([nodes, edges])
    assert first is nodes
    assert links.role == "links"
    assert links.frame[["source_dataset", "source_id", "score", "kind"]].to_numpy().tolist() == [
        ["people", "a", "2.0", "likes"],
        ["people", "b", "5.0", "likes"],
    ]
    others = table(id=["x", "y"], mass=["1", "2"])
    assert join_graphs([others, edges]) == [others, edges]


def test_other_tables_are_not_edge_lists():
    for other in (
        table(id=["a"], mass=["1"]),
        table(words=["one two", "three"]),
        table(name=["Ann Smith", "Bob Smith", "Ann Jones"]),
        table(source=[], target=[]),
        table(source=[""], target=[""]),
        table(source=["good day", "thanks"], target=["guten Tag", "danke"]),
    ):
        assert join_graphs([other]) == [other]


GOOD = written(nx.karate_club_graph().subgraph(range(5)))


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, len(GOOD)), st.binary(max_size=30), st.integers(0, 30))
def test_damaged_graphml_is_read_or_refused(at, noise, skip):
    for content in (GOOD[:at] + noise + GOOD[at + skip :], noise, GOOD[:at]):
        try:
            pieces = read_graphml("g", content, Choices())
        except HetvizError:
            continue
        assert all(len(piece.frame) == len(piece.row) for piece in pieces)
