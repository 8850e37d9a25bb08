"""Networks as text: SIF, Pajek, and GMT (sets and members)."""

from __future__ import annotations

import re
from functools import partial

import pandas as pd

from hetviz._pandas import TEXT
from hetviz.errors import DataError, Problem, limit_problems
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.delimited import read_text
from hetviz.io.formats.graphs import Graph, graph_tables
from hetviz.io.infer import encodings
from hetviz.io.infer.parsed import Choices, Table, stem


def read_network(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read a .sif or .gmt file; one with a chosen separator is a table."""
    if choices.separator is not None:
        return read_text(name, content, choices)
    notes: list[Problem] = []
    text, _ = encodings.decode(name, content, choices.encoding, notes)
    lines = [(at, line) for at, line in enumerate(re.split(r"\r\n|\r|\n", text)) if line.strip()]
    if name.lower().endswith(".gmt"):
        return _sets(name, lines, choices, notes)
    return _relations(name, lines, choices, notes)


def _relations(
    name: str, lines: list[tuple[int, str]], choices: Choices, notes: list[Problem]
) -> list[Table]:
    """Read lines of a node, a relation and its target nodes."""
    # Tab-separated names may contain spaces.
    separator = "\t" if any("\t" in line for _, line in lines) else None
    graph = Graph(name, problems=notes)
    known_nodes: set[str] = set()

    def add_node(node: str) -> None:
        if node not in known_nodes:
            known_nodes.add(node)
            graph.node(node)

    wrong: list[Problem] = []
    for at, line in lines:
        parts = [part.strip() for part in line.split(separator) if part.strip()]
        if len(parts) == 2:
            message = "the line has only two words"
            remedy = "Write a node, or a node, a relation and other nodes."
            where = f"{name}, line {at + 1}"
            wrong.append(Problem("bad-sif", where, message, line[:80], remedy, row=at))
            continue
        source, relation, *targets = parts if len(parts) > 1 else [parts[0], ""]
        add_node(source)
        for target in targets:
            add_node(target)
            graph.value("edge", graph.edge(source, target), "interaction", relation)
    if not graph.sources:
        remedy = "Give lines such as: A activates B. Or rename a table to .csv."
        problem = Problem("bad-sif", name, "no line contains a relation of two nodes", "", remedy)
        raise DataError([problem, *wrong[:5]])
    graph.problems += wrong
    return graph_tables(name, choices, graph.checked())


def _sets(
    name: str, lines: list[tuple[int, str]], choices: Choices, notes: list[Problem]
) -> list[Table]:
    """Read tab-separated lines of a set, a description and members."""
    sets: dict[str, str] = {}
    row: list[int] = []
    members: dict[str, None] = {}
    pairs: dict[tuple[str, str], int] = {}
    wrong: list[Problem] = []
    for at, line in lines:
        set_name, *other_cells = (part.strip() for part in line.split("\t"))
        where = f"{name}, line {at + 1}"
        if len(other_cells) < 2 or not set_name:
            message = "a line must have a set name, a description and members, separated by tabs"
            wrong.append(Problem("bad-gmt", where, message, line[:80], row=at))
            continue
        if set_name in sets:
            message = "a set with this name already exists, so the members are added to it"
            notes.append(Problem("repeated-set", where, message, set_name[:60], severity="note"))
        else:
            sets[set_name] = other_cells[0]
            row.append(at)
        # Some programs write a member as "name,1.0".
        for member in filter(None, other_cells[1:]):
            members.setdefault(member)
            pairs.setdefault((set_name, member), at)
    if not pairs:
        remedy = "Write a set name, a description and members in each line, separated by tabs."
        problem = Problem("bad-gmt", name, "no line contains a set with members", "", remedy)
        raise DataError([problem, *wrong[:5]])
    set_name = choices.name or stem(name)
    of_members = f"{set_name} members"
    frame = pd.DataFrame({"id": list(sets), "description": list(sets.values())}, dtype=TEXT)
    descriptions = [cell for cell in sets.values() if cell not in ("", "na", "NA")]
    frame = frame if descriptions else frame[["id"]]
    facts = {"sets": f"{len(sets):,} sets of {len(members):,} members"}
    problems = (*limit_problems(wrong), *notes)
    links = pd.DataFrame(
        {
            "source_dataset": set_name,
            "source_id": [owner for owner, _ in pairs],
            "target_dataset": of_members,
            "target_id": [member for _, member in pairs],
            "role": "relation",
        },
        dtype=TEXT,
    )
    rows = pd.DataFrame({"id": list(members)}, dtype=TEXT)
    where = f"{name}, members"
    return [
        Table(set_name, name, "dataset", frame, tuple(row), id_column="id", facts=facts,
              problems=problems),
        Table(of_members, where, "dataset", rows, tuple(range(len(rows))), id_column="id"),
        Table(f"{set_name} links", f"{name}, links", "links", links, tuple(pairs.values())),
    ]  # fmt: skip


def read_pajek(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read a Pajek file: numbered vertices, then arcs and edges, or lists of them."""
    notes: list[Problem] = []
    text, _ = encodings.decode(name, content, choices.encoding, notes)
    graph = Graph(name, problems=notes)
    section, wrong = "", []
    for at, line in enumerate(re.split(r"\r\n|\r|\n", text)):
        words = [quoted or word for quoted, word in _PAJEK_WORD.findall(line)]
        if not words or words[0].startswith("%"):
            continue
        if words[0].startswith("*"):
            section = words[0][1:].lower()
            graph.is_directed |= section.startswith("arcs")
        elif section == "vertices":
            graph.value("node", graph.node(words[0]), "label", words[-1 if len(words) < 3 else 1])
        elif section in _PAJEK_PAIRS and len(words) > 1:
            edge = graph.edge(words[0], words[1])
            graph.value("edge", edge, "weight", words[2] if len(words) > 2 else "")
        elif section in _PAJEK_LISTS and len(words) > 1:
            for target in words[1:]:
                graph.edge(words[0], target)
        else:
            message = "the line belongs to no part that can be read"
            remedy = "Save the network with *Vertices, *Arcs and *Edges."
            where = f"{name}, line {at + 1}"
            wrong.append(Problem("bad-pajek", where, message, line[:80], remedy, row=at))
    graph.problems += wrong
    return graph_tables(name, choices, graph.checked(), "label")


def _is_pajek(content: bytes) -> bool:
    return _PAJEK_START.match(content[:4_000].removeprefix(b"\xef\xbb\xbf")) is not None


_PAJEK_START = re.compile(rb"(?:\s*(?:%|\*network)[^\r\n]*[\r\n])*\s*\*vertices\s+\d", re.I)
_PAJEK_WORD = re.compile(r'"([^"]*+)"|([^\s"]++)')
_PAJEK_PAIRS = ("arcs", "edges")
_PAJEK_LISTS = ("arcslist", "edgeslist")

_network_text = partial(
    FileFormat,
    kind="network",
    read=read_network,
    is_plain_text=True,
    is_typed=False,
    own_options=("separator", "encoding"),
)
FORMATS = (
    _network_text("sif", "a SIF network", extensions=(".sif",)),
    _network_text("gmt", "a GMT list of sets", extensions=(".gmt",)),
    FileFormat(
        "pajek", "a Pajek network", "network", (".net", ".paj"), read_pajek,
        detect_text=_is_pajek
    ),
)  # fmt: skip
