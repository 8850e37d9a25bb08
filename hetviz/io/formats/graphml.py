"""GraphML graphs: nodes become a dataset, edges become links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hetviz.errors import Problem
from hetviz.features.columns.types import number
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.graphs import MAX_TEXT, Graph, XmlGraph, graph_tables, parsed_xml
from hetviz.io.infer.parsed import Choices, Table

_NUMBERS = {"int", "long", "float", "double"}
_DRAWN_LABEL = "NodeLabel"
_LEFT_OUT = "The value counts as missing."


def read_graphml(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read a GraphML file, see `hetviz.io.formats.graphs.graph_tables`."""
    return graph_tables(name, choices, parsed_xml(name, content, _GraphML(name)))


@dataclass
class _Key:
    """A <key>: name, owner and type of an attribute."""

    name: str
    of: str
    kind: str
    default: str = ""


@dataclass
class _GraphML(XmlGraph):
    _keys: dict[str, _Key] = field(default_factory=dict)
    _key: _Key | None = None
    _text: list[str] | None = None
    _n_text: int = 0
    _label: list[str] | None = None

    def open(self, word: str, tag: str, attributes: Mapping[str, str]) -> None:
        if word == "key":
            name = attributes.get("attr.name", "")
            self._key = _Key(
                name, attributes.get("for", "all"), attributes.get("attr.type", "string")
            )
            self._keys[attributes.get("id", "")] = self._key
        elif word == "graph":
            self.is_directed |= attributes.get("edgedefault") == "directed"
        elif word == "edge":
            self.is_directed |= attributes.get("directed") == "true"
        elif word in ("data", "default"):
            if word == "data":
                self._key = self._keys.get(attributes.get("key", ""))
            self._text, self._n_text = [], 0
        elif word == _DRAWN_LABEL and self._text is not None:
            self._label = []
        elif word in ("hyperedge", "port"):
            self.skip_tag(word)

    def data(self, text: str) -> None:
        into = self._text if self._label is None else self._label
        if into is not None:
            self._n_text += len(text)
            if self._n_text > MAX_TEXT:
                raise self.too_long()
            into.append(text)

    def leave(self, word: str) -> None:
        if word == _DRAWN_LABEL and self._label is not None:
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

    def close(self) -> Graph:
        """Fill in the default values of nodes and edges."""
        for key in self._keys.values():
            if key.name:
                self.default(key.of, key.name, key.default)
        return self.checked()

    def _value(self, name: str, text: str) -> None:
        if self.owners:
            self.value(*self.owners[-1], name, text)

    def _typed(self, text: str) -> str:
        """Return a value as its type writes it. An invalid number becomes a note and is missing."""
        kind = "string" if self._key is None else self._key.kind
        if kind == "boolean":
            return {"1": "true", "0": "false"}.get(text, text.lower())
        if kind in _NUMBERS and text and number(text) is None and self.owners:
            word, at = self.owners[-1]
            owner = self.nodes[at] if word == "node" else f"{at + 1}"
            assert self._key is not None  # noqa: S101
            place = f"{self.where}, {word} {owner}, {self._key.name}"
            message = f"this is not a number, but the file declares {kind}"
            self.problems.append(
                Problem("not-a-number", place, message, text[:80], _LEFT_OUT, severity="note")
            )
            return ""
        return text


FORMATS = (
    FileFormat(
        "graphml", "a GraphML graph", "network", (".graphml", ".xml"), read_graphml,
        xml_tag=b"<graphml"
    ),
)  # fmt: skip
