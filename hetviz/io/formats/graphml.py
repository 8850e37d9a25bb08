"""GraphML: the nodes of a graph are the rows of a dataset, its edges are links among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import ParseError

import pandas as pd

from hetviz.errors import Problem, listed
from hetviz.features.columns.types import number
from hetviz.io import gate, limits
from hetviz.io.formats.edges import links_piece
from hetviz.io.piece import Choices, Piece, stem

MAX_EDGES = 10_000_000
_MAX_DEPTH = 64
_MAX_TEXT = 1_000_000
_MAX_VALUES = 20_000_000
_CHUNK = 1 << 20
_NUMBERS = {"int", "long", "float", "double"}
_DRAWN_LABEL = "NodeLabel"
_LEFT_OUT = "The value counts as missing."


def read_graphml(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read a GraphML file: a dataset of its nodes, and links.

    What is said of a node is a column; the name of an edge's weight or score is its strength; see
    `hetviz.io.formats.edges.links_piece`. Direction is told and not kept.

    Raises
    ------
    hetviz.errors.DataError
        If it is no well-formed XML, declares entities or a DOCTYPE, or is too large.
    """
    graph = _parsed(name, content)
    if not graph.nodes:
        raise gate.refusal("no-rows", name, "there are no nodes in the graph")
    called = choices.name or stem(name)
    frame = pd.DataFrame({"id": graph.nodes}, dtype=str)
    for column, cells in _columns(graph.node_values, len(graph.nodes)).items():
        frame[f"{column} (value)" if column == "id" else column] = cells
    facts = {
        "graph": f"{len(graph.nodes):,} nodes, {len(graph.sources):,} edges, "
        + ("with direction" if graph.is_directed else "without direction")
    }
    nodes = Piece(
        called,
        name,
        "dataset",
        frame,
        tuple(range(len(frame))),
        id_column="id",
        facts=facts,
        problems=(*listed(graph.problems), *_notes(name, graph)),
    )
    if not graph.sources:
        return [nodes]
    ends = pd.DataFrame({"source": graph.sources, "target": graph.targets}, dtype=str)
    others = _columns(graph.edge_values, len(ends))
    return [nodes, links_piece(called, name, ends, others, range(len(ends)))]


@dataclass
class _Key:
    """A <key>: what is said of nodes or edges, and as which type."""

    name: str
    of: str
    kind: str
    default: str = ""


@dataclass
class _Graph:
    """Takes the events of a parser; no tree of the document is ever built."""

    where: str
    nodes: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    node_values: dict[str, dict[int, str]] = field(default_factory=dict)
    edge_values: dict[str, dict[int, str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    is_directed: bool = False
    n_graphs: int = 0
    passed_over: dict[str, int] = field(default_factory=dict)
    _keys: dict[str, _Key] = field(default_factory=dict)
    _key: _Key | None = None
    _owners: list[tuple[str, int]] = field(default_factory=list)
    _text: list[str] | None = None
    _n_text: int = 0
    _n_values: int = 0
    _label: list[str] | None = None
    _depth: int = 0

    def start(self, tag: str, given: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise gate.refusal("too-deep", self.where, f"more than {_MAX_DEPTH} levels of nesting")
        word = tag.rpartition("}")[2]
        if word == "key":
            called = given.get("attr.name", "")
            self._key = _Key(called, given.get("for", "all"), given.get("attr.type", "string"))
            self._keys[given.get("id", "")] = self._key
        elif word == "graph":
            self.n_graphs += 1
            self.is_directed |= given.get("edgedefault") == "directed"
        elif word == "node":
            self._node(given)
        elif word == "edge":
            self._edge(given)
        elif word == "data":
            self._key = self._keys.get(given.get("key", ""))
            self._text, self._n_text = [], 0
        elif word == "default":
            self._text, self._n_text = [], 0
        elif word == _DRAWN_LABEL and self._text is not None:
            self._label = []
        elif word in ("hyperedge", "port"):
            self.passed_over[word] = self.passed_over.get(word, 0) + 1

    def data(self, text: str) -> None:
        into = self._text if self._label is None else self._label
        if into is not None:
            self._n_text += len(text)
            if self._n_text > _MAX_TEXT:
                what = f"a value of more than {_MAX_TEXT:,} characters"
                raise gate.refusal("too-large", self.where, what, remedy="Shorten it.")
            into.append(text)

    def end(self, tag: str) -> None:
        self._depth -= 1
        word = tag.rpartition("}")[2]
        if word in ("node", "edge") and self._owners:
            self._owners.pop()
        elif word == _DRAWN_LABEL and self._label is not None:
            self._value("label", "".join(self._label).strip())
            self._label = None
        elif word == "default" and self._text is not None and self._key is not None:
            self._key.default = "".join(self._text).strip()
            self._text = None
        elif word == "data" and self._text is not None:
            if self._key is not None and self._key.name:
                self._value(self._key.name, self._typed("".join(self._text).strip()))
            self._text = self._key = None
        elif word == "key":
            self._key = None

    def close(self) -> _Graph:
        """Fill in the values that nodes and edges have unless they say otherwise."""
        for key in self._keys.values():
            if not key.name or not key.default:
                continue
            for word, values, n in self._tables():
                if key.of in (word, "all") and n:
                    self._check(n * len(key.default), limits.MAX_UNPACKED_BYTES, "characters")
                    values[key.name] = dict.fromkeys(range(n), key.default) | values.get(
                        key.name, {}
                    )
        for _, values, n in self._tables():
            self._check(n * len(values), _MAX_VALUES, "values")
        return self

    def _tables(self) -> list[tuple[str, dict[str, dict[int, str]], int]]:
        return [
            ("node", self.node_values, len(self.nodes)),
            ("edge", self.edge_values, len(self.sources)),
        ]

    def _check(self, n: int, limit: int, of: str) -> None:
        if n > limit:
            what = f"{n:,} {of} of nodes or edges; {limit:,} are allowed"
            raise gate.refusal("too-large", self.where, what, remedy="Give fewer attributes.")

    def _node(self, given: Mapping[str, str]) -> None:
        if len(self.nodes) >= limits.MAX_ROWS:
            raise gate.refusal("too-large", self.where, f"more than {limits.MAX_ROWS:,} nodes")
        self._owners.append(("node", len(self.nodes)))
        self.nodes.append(given.get("id", ""))

    def _edge(self, given: Mapping[str, str]) -> None:
        if len(self.sources) >= MAX_EDGES:
            raise gate.refusal("too-large", self.where, f"more than {MAX_EDGES:,} edges")
        self._owners.append(("edge", len(self.sources)))
        self.is_directed |= given.get("directed") == "true"
        self.sources.append(given.get("source", ""))
        self.targets.append(given.get("target", ""))

    def _value(self, name: str, text: str) -> None:
        if not self._owners or not text:
            return
        word, at = self._owners[-1]
        values = self.node_values if word == "node" else self.edge_values
        if name not in values and len(values) >= limits.MAX_COLUMNS:
            raise gate.refusal(
                "too-large", self.where, f"more than {limits.MAX_COLUMNS:,} attributes"
            )
        self._n_values += 1
        if self._n_values > _MAX_VALUES:
            raise gate.refusal("too-large", self.where, f"more than {_MAX_VALUES:,} values")
        values.setdefault(name, {})[at] = text

    def _typed(self, text: str) -> str:
        """Return a value as its type writes it; a number that is none is told of and missing."""
        kind = "string" if self._key is None else self._key.kind
        if kind == "boolean":
            return {"1": "true", "0": "false"}.get(text, text.lower())
        if kind in _NUMBERS and text and number(text) is None and self._owners:
            word, at = self._owners[-1]
            owner = self.nodes[at] if word == "node" else f"{at + 1}"
            assert self._key is not None  # noqa: S101
            place = f"{self.where}, {word} {owner}, {self._key.name}"
            what = f"this is no number, and the file says {kind}"
            self.problems.append(
                Problem("not-a-number", place, what, text[:80], _LEFT_OUT, severity="note")
            )
            return ""
        return text


def _parsed(name: str, content: bytes) -> _Graph:
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import XMLParser

    parser: Any = XMLParser(target=_Graph(name), forbid_dtd=True)
    try:
        for start in range(0, len(content), _CHUNK):
            parser.feed(content[start : start + _CHUNK])
        graph: _Graph = parser.close()
    except DefusedXmlException:
        raise gate.refusal(
            "doctype",
            name,
            "it declares a DOCTYPE or entities, which can make a small file huge or read others",
            remedy="Delete the line that begins with <!DOCTYPE.",
        ) from None
    except (ParseError, LookupError, ValueError) as error:
        line = getattr(error, "position", (0, 0))[0]
        where = f"{name}, line {line}" if line else name
        raise gate.refusal(
            "bad-xml", where, "the XML is damaged", remedy="Save it again."
        ) from None
    return graph


def _columns(values: Mapping[str, Mapping[int, str]], n: int) -> dict[str, list[str]]:
    return {
        " ".join(name.split()) or "value": [said.get(row, "") for row in range(n)]
        for name, said in values.items()
    }


def _notes(name: str, graph: _Graph) -> list[Problem]:
    said: list[tuple[str, str]] = []
    if graph.is_directed:
        said.append(("directed", "edges have a direction; a link has none, so it is not kept"))
    if graph.n_graphs > 1:
        said.append(("several-graphs", f"{graph.n_graphs:,} graphs are read as one"))
    for word, n in graph.passed_over.items():
        said.append(("passed-over", f"{n:,} of <{word}> cannot be read, and are passed over"))
    joined = {*graph.sources, *graph.targets}
    alone = sum(node not in joined for node in graph.nodes)
    if alone and graph.sources:
        many = "1 node has" if alone == 1 else f"{alone:,} nodes have"
        said.append(("no-links", f"{many} no edge"))
    return [Problem(code, name, what, severity="note") for code, what in said]
