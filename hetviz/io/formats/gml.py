"""GML graphs: nodes become a dataset, edges become links."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from hetviz.errors import Problem
from hetviz.io import gate
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.graphs import Graph, check_depth, graph_tables
from hetviz.io.infer import encodings
from hetviz.io.infer.parsed import Choices, Table

_TOKEN = re.compile(r'\s*(?:#[^\n]*|"([^"]*+)"|([\[\]])|([^\s\[\]"#]++))')
_START = re.compile(
    rb"(?:\s*(?:#[^\n]*\n|(?:creator|version|comment|label)\s[^\n\[]*\n))*\s*graph\s*\[", re.I
)
_ENDS = ("source", "target")


def read_gml(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read a GML file, see `hetviz.io.formats.graphs.graph_tables`."""
    notes: list[Problem] = []
    text, _ = encodings.decode(name, content, choices.encoding, notes)
    graph = Graph(name, problems=notes)
    _fill(graph, _tokens(name, text))
    return graph_tables(name, choices, graph.checked(), "label")


def _tokens(name: str, text: str) -> Iterator[tuple[str, bool]]:
    """Yield each word, bracket or quoted text, and whether it was quoted."""
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            line = text.count("\n", 0, at) + 1
            raise gate.refusal("bad-gml", f"{name}, line {line}", "a quoted text is not closed")
        at = match.end()
        quoted, bracket, word = match.groups()
        if quoted is not None:
            yield html.unescape(quoted), True
        elif bracket or word:
            yield bracket or word, False


def _fill(graph: Graph, tokens: Iterator[tuple[str, bool]]) -> None:
    """Read lists of keys and values, ignoring levels below nodes and edges."""
    inside: list[str] = []
    attributes: dict[str, str] = {}
    for key, is_quoted in tokens:
        if key == "]" and not is_quoted:
            if not inside:
                raise gate.refusal("bad-gml", graph.where, "a list is closed but was never opened")
            closed = inside.pop()
            if closed in ("node", "edge") and len(inside) == 1:
                _add(graph, closed, attributes)
            continue
        value, value_is_quoted = next(tokens, ("", False))
        if value == "[" and not value_is_quoted:
            inside.append(key.lower())
            check_depth(graph.where, len(inside))
            if inside == ["graph"]:
                graph.n_graphs += 1
            elif len(inside) == 2 and inside[-1] in ("node", "edge"):
                attributes = {}
            elif len(inside) > 2:
                graph.skip_tag(inside[-1])
        elif inside == ["graph"] and key.lower() == "directed":
            graph.is_directed = value == "1"
        elif len(inside) == 2 and inside[-1] in ("node", "edge"):
            attributes[key] = value.strip()
    if inside:
        raise gate.refusal(
            "bad-gml", graph.where, "the file ends inside a list", remedy="Save it again."
        )


def _add(graph: Graph, word: str, attributes: dict[str, str]) -> None:
    if word == "node":
        at = graph.node(attributes.get("id", attributes.get("label", "")))
    else:
        at = graph.edge(attributes.get("source", ""), attributes.get("target", ""))
    for key, value in attributes.items():
        if (word == "node" and key != "id") or (word == "edge" and key not in _ENDS):
            graph.value(word, at, key, value)


def _is_gml(content: bytes) -> bool:
    return _START.match(content[:4000].removeprefix(b"\xef\xbb\xbf")) is not None


FORMATS = (FileFormat("gml", "a GML graph", "network", (".gml",), read_gml, detect_text=_is_gml),)
