"""GEXF graphs (Gephi): nodes become a dataset, edges become links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hetviz.errors import Problem
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.graphs import Graph, XmlGraph, graph_tables, parsed_xml
from hetviz.io.infer.parsed import Choices, Table

_ATTRIBUTES = {"node": ("label",), "edge": ("weight", "label", "kind")}
_DRAWING_TAGS = {"color", "position", "size", "shape", "thickness"}


def read_gexf(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read a GEXF file, see `hetviz.io.formats.graphs.graph_tables`."""
    return graph_tables(name, choices, parsed_xml(name, content, _Gexf(name)), "label")


@dataclass
class _Gexf(XmlGraph):
    _of: str = "node"
    _names: dict[tuple[str, str], str] = field(default_factory=dict)
    _defaults: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _attribute: tuple[str, str] | None = None
    _in_default: bool = False
    _changes: bool = False

    def open(self, word: str, tag: str, attributes: Mapping[str, str]) -> None:
        if word == "graph":
            self.is_directed |= attributes.get("defaultedgetype") == "directed"
        elif word == "attributes":
            self._of = attributes.get("class", "node")
        elif word == "attribute":
            self._attribute = (self._of, attributes.get("id", ""))
            self._names[self._attribute] = attributes.get("title") or attributes.get("id", "")
        elif word == "default":
            self._in_default = True
        elif word in _ATTRIBUTES:
            self.is_directed |= word == "edge" and attributes.get("type") == "directed"
            for name in _ATTRIBUTES[word]:
                self.value(*self.owners[-1], name, attributes.get(name, "").strip())
        elif word == "attvalue" and self.owners:
            owner, at = self.owners[-1]
            key = attributes.get("for") or attributes.get("id", "")
            self._changes |= any(
                time_key in attributes for time_key in ("start", "end", "timestamp")
            )
            name = self._names.get((owner, key), key)
            self.value(owner, at, name or "value", attributes.get("value", "").strip())
        elif word in _DRAWING_TAGS and "viz" in tag:
            self.skip_tag(f"viz:{word}")

    def data(self, text: str) -> None:
        if self._in_default and self._attribute is not None:
            texts = self._defaults.setdefault(self._attribute, [])
            texts.append(text)
            if sum(map(len, texts)) > 10_000:
                raise self.too_long()

    def leave(self, word: str) -> None:
        if word == "attribute":
            self._attribute = None
        elif word == "default":
            self._in_default = False

    def close(self) -> Graph:
        """Fill in the default values of nodes and edges."""
        for (owner, key), texts in self._defaults.items():
            self.default(owner, self._names[owner, key], "".join(texts).strip())
        if self._changes:
            message = "some values change over time, so only the last one is used"
            self.problems.append(Problem("dynamic", self.where, message, severity="note"))
        return self.checked()


FORMATS = (FileFormat("gexf", "a GEXF graph", "network", (".gexf",), read_gexf, xml_tag=b"<gexf"),)
