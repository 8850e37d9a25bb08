"""Shared graph model of the readers: nodes and edges with values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import ParseError

import pandas as pd

from hetviz._pandas import TEXT
from hetviz.errors import Problem, limit_problems
from hetviz.io import gate, limits
from hetviz.io.formats.edges import links_table
from hetviz.io.infer.parsed import Choices, Table, stem

MAX_EDGES = 10_000_000
MAX_TEXT = 1_000_000
_MAX_DEPTH = 64
_MAX_VALUES = 20_000_000
_CHUNK = 1 << 20


@dataclass
class Graph:
    """A graph while it is read, within budgets."""

    where: str
    nodes: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    node_values: dict[str, dict[int, str]] = field(default_factory=dict)
    edge_values: dict[str, dict[int, str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    is_directed: bool = False
    n_graphs: int = 0
    skipped_tags: dict[str, int] = field(default_factory=dict)
    _n_values: int = 0

    def node(self, name: str) -> int:
        """Add a node; return its place."""
        if len(self.nodes) >= limits.MAX_ROWS:
            raise gate.refusal("too-large", self.where, f"more than {limits.MAX_ROWS:,} nodes")
        self.nodes.append(name)
        return len(self.nodes) - 1

    def edge(self, source: str, target: str) -> int:
        """Add an edge; return its place."""
        if len(self.sources) >= MAX_EDGES:
            raise gate.refusal("too-large", self.where, f"more than {MAX_EDGES:,} edges")
        self.sources.append(source)
        self.targets.append(target)
        return len(self.sources) - 1

    def value(self, of: str, at: int, name: str, text: str) -> None:
        """Set a value of a node or edge; an empty text is ignored."""
        if not text:
            return
        if len(text) > MAX_TEXT:
            raise self.too_long()
        values = self.node_values if of == "node" else self.edge_values
        if name not in values and len(values) >= limits.MAX_COLUMNS:
            raise gate.refusal(
                "too-large", self.where, f"more than {limits.MAX_COLUMNS:,} attributes"
            )
        self._n_values += 1
        self.check(self._n_values, _MAX_VALUES, "values")
        values.setdefault(name, {})[at] = text

    def skip_tag(self, word: str) -> None:
        """Count an unsupported element."""
        self.skipped_tags[word] = self.skipped_tags.get(word, 0) + 1

    def default(self, of: str, name: str, text: str) -> None:
        """Set a default value for all nodes or edges."""
        for word, values, n in self.tables():
            if of in (word, "all") and n and text:
                self.check(n * len(text), limits.MAX_UNPACKED_BYTES, "characters")
                values[name] = dict.fromkeys(range(n), text) | values.get(name, {})

    def checked(self) -> Graph:
        """Check the sizes after reading and return the graph."""
        for _, values, n in self.tables():
            self.check(n * len(values), _MAX_VALUES, "values")
        return self

    def tables(self) -> list[tuple[str, dict[str, dict[int, str]], int]]:
        """Return the values and the number of nodes and of edges."""
        return [
            ("node", self.node_values, len(self.nodes)),
            ("edge", self.edge_values, len(self.sources)),
        ]

    def check(self, n: int, limit: int, of: str) -> None:
        """Raise an error if a limit is exceeded."""
        unit = f"{of} of nodes or edges"
        gate.check_count(self.where, n, limit, unit, "Give fewer attributes.")

    def too_long(self) -> Exception:
        """Return the error about a too long value."""
        message = f"a value of more than {MAX_TEXT:,} characters"
        return gate.refusal("too-large", self.where, message, remedy="Shorten it.")


@dataclass
class XmlGraph(Graph):
    """A graph filled by parser events, without a document tree."""

    owners: list[tuple[str, int]] = field(default_factory=list)
    _depth: int = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Add a node or edge, and pass the element on to `open`."""
        self._depth += 1
        check_depth(self.where, self._depth)
        word = tag.rpartition("}")[2]
        self.n_graphs += word == "graph"
        if word == "node":
            self.owners.append((word, self.node(attributes.get("id", ""))))
        elif word == "edge":
            ends = attributes.get("source", ""), attributes.get("target", "")
            self.owners.append((word, self.edge(*ends)))
        self.open(word, tag, attributes)

    def end(self, tag: str) -> None:
        """Leave an element."""
        self._depth -= 1
        word = tag.rpartition("}")[2]
        if word in ("node", "edge") and self.owners:
            self.owners.pop()
        self.leave(word)

    def open(self, word: str, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element."""

    def leave(self, word: str) -> None:
        """Handle the end of an element."""


def check_depth(where: str, depth: int) -> None:
    """Raise an error for too deep nesting."""
    if depth > _MAX_DEPTH:
        raise gate.refusal("too-deep", where, f"more than {_MAX_DEPTH} levels of nesting")


def graph_tables(
    name: str, choices: Choices, graph: Graph, title_column: str | None = None
) -> list[Table]:
    """Return a dataset of the nodes, and links."""
    if not graph.nodes:
        raise gate.refusal("no-rows", name, "the graph has no nodes")
    dataset_name = choices.name or stem(name)
    frame = pd.DataFrame({"id": graph.nodes}, dtype=TEXT)
    for column, cells in _columns(graph.node_values, len(graph.nodes)).items():
        frame[f"{column} (value)" if column == "id" else column] = cells
    facts = {
        "graph": f"{len(graph.nodes):,} nodes, {len(graph.sources):,} edges, "
        + ("with direction" if graph.is_directed else "without direction")
    }
    nodes = Table(
        dataset_name,
        name,
        "dataset",
        frame,
        tuple(range(len(frame))),
        id_column="id",
        title_column=title_column if title_column in frame.columns else None,
        facts=facts,
        problems=(*limit_problems(graph.problems), *_notes(name, graph)),
    )
    if not graph.sources:
        return [nodes]
    ends = pd.DataFrame({"source": graph.sources, "target": graph.targets}, dtype=TEXT)
    others = _columns(graph.edge_values, len(ends))
    return [nodes, links_table(dataset_name, name, ends, others, range(len(ends)))]


def parsed_xml(name: str, content: bytes, target: object) -> Any:
    """Parse XML with a target object and return its result."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import XMLParser

    parser: Any = XMLParser(target=target, forbid_dtd=True)
    try:
        for start in range(0, len(content), _CHUNK):
            parser.feed(content[start : start + _CHUNK])
        return parser.close()
    except DefusedXmlException:
        raise gate.refusal(
            "doctype",
            name,
            "the file declares a DOCTYPE or entities, which are not allowed",
            remedy="Delete the line that begins with <!DOCTYPE.",
        ) from None
    except (ParseError, LookupError, ValueError) as error:
        line = getattr(error, "position", (0, 0))[0]
        where = f"{name}, line {line}" if line else name
        raise gate.refusal(
            "bad-xml", where, "the XML is damaged", remedy="Save it again."
        ) from None


def _columns(values: Mapping[str, Mapping[int, str]], n: int) -> dict[str, list[str]]:
    return {
        " ".join(name.split()) or "value": [cells.get(row, "") for row in range(n)]
        for name, cells in values.items()
    }


def _notes(name: str, graph: Graph) -> list[Problem]:
    messages: list[tuple[str, str]] = []
    if graph.is_directed:
        messages.append(
            ("directed", "edges have a direction, which is ignored because links have none")
        )
    if graph.n_graphs > 1:
        messages.append(("several-graphs", f"{graph.n_graphs:,} graphs are merged into one"))
    for word, n in graph.skipped_tags.items():
        messages.append(("passed-over", f"{n:,} <{word}> elements skipped"))
    joined = {*graph.sources, *graph.targets}
    n_unlinked = sum(node not in joined for node in graph.nodes)
    if n_unlinked and graph.sources:
        subject = "1 node has" if n_unlinked == 1 else f"{n_unlinked:,} nodes have"
        messages.append(("no-links", f"{subject} no edge"))
    return [Problem(code, name, message, severity="note") for code, message in messages]
