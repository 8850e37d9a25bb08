"""GEXF, the graphs of Gephi: nodes are the rows of a dataset, edges are links among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hetviz.errors import Problem
from hetviz.io.formats.graphs import Graph, check_depth, graph_pieces, parsed_xml
from hetviz.io.parsed import Choices, Piece

_EDGE_ATTRIBUTES = ("weight", "label", "kind", "type")
_DRAWING_TAGS = {"color", "position", "size", "shape", "thickness"}


def read_gexf(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read a GEXF file, see `hetviz.io.formats.graphs.graph_pieces`.

    Of values that change with time the last is read. How nodes are drawn is passed over.

    Raises
    ------
    hetviz.errors.DataError
        If it is no well-formed XML, declares entities or a DOCTYPE, or is too large.
    """
    return graph_pieces(name, choices, parsed_xml(name, content, _Gexf(name)), "label")


@dataclass
class _Gexf(Graph):
    """Takes the events of a parser; no tree of the document is ever built."""

    _of: str = "node"
    _names: dict[tuple[str, str], str] = field(default_factory=dict)
    _defaults: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _attribute: tuple[str, str] | None = None
    _in_default: bool = False
    _owners: list[tuple[str, int]] = field(default_factory=list)
    _depth: int = 0
    _changes: bool = False

    def start(self, tag: str, given: Mapping[str, str]) -> None:
        self._depth += 1
        check_depth(self.where, self._depth)
        word = tag.rpartition("}")[2]
        if word == "graph":
            self.n_graphs += 1
            self.is_directed |= given.get("defaultedgetype") == "directed"
        elif word == "attributes":
            self._of = given.get("class", "node")
        elif word == "attribute":
            self._attribute = (self._of, given.get("id", ""))
            self._names[self._attribute] = given.get("title") or given.get("id", "")
        elif word == "default":
            self._in_default = True
        elif word == "node":
            at = self.node(given.get("id", ""))
            self._owners.append(("node", at))
            self.value("node", at, "label", given.get("label", "").strip())
        elif word == "edge":
            at = self.edge(given.get("source", ""), given.get("target", ""))
            self._owners.append(("edge", at))
            self.is_directed |= given.get("type") == "directed"
            for said in _EDGE_ATTRIBUTES:
                if said != "type":
                    self.value("edge", at, said, given.get(said, "").strip())
        elif word == "attvalue" and self._owners:
            of, at = self._owners[-1]
            key = given.get("for") or given.get("id", "")
            self._changes |= any(moment in given for moment in ("start", "end", "timestamp"))
            called = self._names.get((of, key), key)
            self.value(of, at, called or "value", given.get("value", "").strip())
        elif word in _DRAWING_TAGS and "viz" in tag:
            self.skip_tag(f"viz:{word}")

    def data(self, text: str) -> None:
        if self._in_default and self._attribute is not None:
            texts = self._defaults.setdefault(self._attribute, [])
            texts.append(text)
            if sum(map(len, texts)) > 10_000:
                raise self.too_long()

    def end(self, tag: str) -> None:
        self._depth -= 1
        word = tag.rpartition("}")[2]
        if word in ("node", "edge") and self._owners:
            self._owners.pop()
        elif word == "attribute":
            self._attribute = None
        elif word == "default":
            self._in_default = False

    def close(self) -> Graph:
        """Fill in the values that nodes and edges have unless they say otherwise."""
        for (owner, key), texts in self._defaults.items():
            self.default(owner, self._names[owner, key], "".join(texts).strip())
        if self._changes:
            message = "some values change with time, and the last of each is read"
            self.problems.append(Problem("dynamic", self.where, message, severity="note"))
        return self.checked()
