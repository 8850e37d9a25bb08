"""SIF (nodes and their relations) and GMT (sets and their members): plain text, known by name."""

from __future__ import annotations

import re

import pandas as pd

from hetviz._pandas import TEXT
from hetviz.errors import DataError, Problem, limit_problems
from hetviz.io.formats.graphs import Graph, graph_pieces
from hetviz.io.infer import encodings
from hetviz.io.parsed import Choices, Piece, stem

NAMES = (".sif", ".gmt")
_ADDRESS = re.compile(rb"\s*(?:\[InternetShortcut\]|(?:https?|ftp)://\S+\s*$)")


def is_address(content: bytes) -> bool:
    """Whether a file holds the address of something on the web, and nothing else."""
    return len(content) < 5_000 and _ADDRESS.match(content) is not None


def read_network(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read a file called .sif or .gmt.

    Raises
    ------
    hetviz.errors.DataError
        If it holds something else.
    """
    notes: list[Problem] = []
    text, _ = encodings.decode(name, content, choices.encoding, notes)
    lines = [(at, line) for at, line in enumerate(re.split(r"\r\n|\r|\n", text)) if line.strip()]
    if name.lower().endswith(".gmt"):
        return _sets(name, lines, choices, notes)
    return _relations(name, lines, choices, notes)


def _relations(
    name: str, lines: list[tuple[int, str]], choices: Choices, notes: list[Problem]
) -> list[Piece]:
    """Read lines of a node, a relation, and the nodes that it holds to."""
    # Names may hold blanks where tabs stand between them.
    separator = "\t" if any("\t" in line for _, line in lines) else None
    graph = Graph(name, problems=notes)
    seen: set[str] = set()

    def meet(node: str) -> None:
        if node not in seen:
            seen.add(node)
            graph.node(node)

    wrong: list[Problem] = []
    for at, line in lines:
        parts = [part.strip() for part in line.split(separator) if part.strip()]
        if len(parts) == 2:
            message = "two words; a line is a node, or a node, a relation and other nodes"
            wrong.append(Problem("bad-sif", f"{name}, line {at + 1}", message, line[:80], row=at))
            continue
        source, relation, *targets = parts if len(parts) > 1 else [parts[0], ""]
        meet(source)
        for target in targets:
            meet(target)
            graph.value("edge", graph.edge(source, target), "interaction", relation)
    if not graph.sources:
        remedy = "Give lines such as: A activates B. Or rename a table to .csv."
        said = Problem("bad-sif", name, "no line holds a relation of two nodes", "", remedy)
        raise DataError([said, *wrong[:5]])
    graph.problems += wrong
    return graph_pieces(name, choices, graph.checked())


def _sets(
    name: str, lines: list[tuple[int, str]], choices: Choices, notes: list[Problem]
) -> list[Piece]:
    """Read lines of a set, what is said of it, and its members, with tabs between them."""
    sets: dict[str, str] = {}
    row: list[int] = []
    members: dict[str, None] = {}
    pairs: dict[tuple[str, str], int] = {}
    wrong: list[Problem] = []
    for at, line in lines:
        called, *rest = (part.strip() for part in line.split("\t"))
        where = f"{name}, line {at + 1}"
        if len(rest) < 2 or not called:
            message = "a line is a set, what is said of it, and its members, with tabs between them"
            wrong.append(Problem("bad-gmt", where, message, line[:80], row=at))
            continue
        if called in sets:
            message = "a set of this name is there already, and gets these members too"
            notes.append(Problem("repeated-set", where, message, called[:60], severity="note"))
        else:
            sets[called] = rest[0]
            row.append(at)
        # Some programs write a member as "name,1.0".
        for member in filter(None, rest[1:]):
            members.setdefault(member)
            pairs.setdefault((called, member), at)
    if not pairs:
        remedy = "Give lines of a set, a description and members, with tabs between them."
        said = Problem("bad-gmt", name, "no line holds a set with members", "", remedy)
        raise DataError([said, *wrong[:5]])
    called = choices.name or stem(name)
    of_members = f"{called} members"
    frame = pd.DataFrame({"id": list(sets), "description": list(sets.values())}, dtype=TEXT)
    said_of_each = [cell for cell in sets.values() if cell not in ("", "na", "NA")]
    frame = frame if said_of_each else frame[["id"]]
    facts = {"sets": f"{len(sets):,} sets of {len(members):,} members"}
    problems = (*limit_problems(wrong), *notes)
    links = pd.DataFrame(
        {
            "source_dataset": called,
            "source_id": [of for of, _ in pairs],
            "target_dataset": of_members,
            "target_id": [member for _, member in pairs],
            "role": "relation",
        },
        dtype=TEXT,
    )
    rows = pd.DataFrame({"id": list(members)}, dtype=TEXT)
    where = f"{name}, members"
    return [
        Piece(called, name, "dataset", frame, tuple(row), id_column="id", facts=facts,
              problems=problems),
        Piece(of_members, where, "dataset", rows, tuple(range(len(rows))), id_column="id"),
        Piece(f"{called} links", f"{name}, links", "links", links, tuple(pairs.values())),
    ]  # fmt: skip
