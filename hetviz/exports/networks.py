"""Map and links as a graph in GraphML, GEXF or Cytoscape JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd

from hetviz.data import Embedding, HeteroData
from hetviz.metrics.fit.rows import coordinates_of

GRAPH_FORMATS = ("graphml", "gexf", "cyjs")
# Programs place nodes in pixels, so a map of unit size would be a dot.
_EXTENT = 1_000.0
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_RESERVED_KEYS = ("dataset", "id", "title", "x", "y")


@dataclass(frozen=True, eq=False)
class Network:
    """Nodes and edges with their attributes."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    types: Mapping[str, str]


def network_bytes(data: HeteroData, embedding: Embedding, form: str) -> bytes:
    """Return a map and its links as GraphML, GEXF 1.3 or Cytoscape JSON."""
    network = _build_network(data, embedding)
    if form == "cyjs":
        return _cytoscape(network)
    root = _graphml(network) if form == "graphml" else _gexf(network)
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content


def _build_network(data: HeteroData, embedding: Embedding) -> Network:
    flat = embedding if embedding.n_components == 2 else embedding.planar()
    places = coordinates_of(data, flat)
    nodes: list[dict[str, Any]] = []
    types: dict[str, str] = {"x": "double", "y": "double"}
    for name, dataset in data.datasets.items():
        columns: dict[str, list[Any]] = {}
        if dataset.table is not None:
            for column in dataset.table.columns:
                key = f"{column} (column)" if str(column) in _RESERVED_KEYS else str(column)
                numeric = pd.api.types.is_numeric_dtype(dataset.table[column])
                kind = "double" if numeric and types.get(key) != "string" else "string"
                types[key] = kind
                columns[key] = dataset.table[column].tolist()
        for label in data.labels:
            if label.dataset == name and label.name not in columns:
                columns[label.name], types[label.name] = list(label.values), "string"
        for row, text in enumerate(dataset.ids.tolist()):
            facts = {"dataset": name, "id": text, "title": str(dataset.titles[row])}
            x, y = places[name][row]
            if math.isfinite(x):
                facts |= {"x": float(x), "y": float(y)}
            facts |= {
                key: values[row] for key, values in columns.items() if not _is_missing(values[row])
            }
            nodes.append(facts)
    return Network(nodes, list(_iter_edges(data)), types)


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or value != value


def _iter_edges(data: HeteroData) -> Iterator[dict[str, object]]:
    for links in data.links:
        source, target = data[links.source].ids, data[links.target].ids
        for i, j, weight in zip(links.i, links.j, links.weight.tolist(), strict=True):
            yield {
                "source": f"{links.source}|{source[i]}",
                "target": f"{links.target}|{target[j]}",
                "weight": weight,
                "kind": links.kind,
            }


def _xml_text(value: object) -> str:
    """Return a value as text without characters that XML forbids."""
    if isinstance(value, np.generic):
        value = value.item()
    return _NOT_XML.sub("\ufffd", repr(value) if isinstance(value, float) else str(value))


def _typed_value(value: Any, kind: str) -> object:
    if kind == "double":
        return float(value)
    return _xml_text(value)


def _graphml(network: Network) -> ET.Element:
    root = ET.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    keys: dict[str, str] = {}
    names = dict.fromkeys(name for node in network.nodes for name in node)
    for at, name in enumerate(names):
        keys[name] = f"n{at}"
        kind = network.types.get(name, "string")
        attributes = {
            "id": f"n{at}",
            "for": "node",
            "attr.name": _xml_text(name),
            "attr.type": kind,
        }
        ET.SubElement(root, "key", attributes)
    for name, kind in (("weight", "double"), ("kind", "string")):
        attributes = {"id": f"e_{name}", "for": "edge", "attr.name": name, "attr.type": kind}
        ET.SubElement(root, "key", attributes)
    graph = ET.SubElement(root, "graph", edgedefault="undirected")
    for node in network.nodes:
        item = ET.SubElement(graph, "node", id=_xml_text(f"{node['dataset']}|{node['id']}"))
        for name, value in node.items():
            ET.SubElement(item, "data", key=keys[name]).text = _xml_text(value)
    for edge in network.edges:
        ends = {"source": _xml_text(edge["source"]), "target": _xml_text(edge["target"])}
        item = ET.SubElement(graph, "edge", ends)
        for name in ("weight", "kind"):
            ET.SubElement(item, "data", key=f"e_{name}").text = _xml_text(edge[name])
    return root


def _gexf(network: Network) -> ET.Element:
    root = ET.Element(
        "gexf",
        {"xmlns": "http://gexf.net/1.3", "xmlns:viz": "http://gexf.net/1.3/viz", "version": "1.3"},
    )
    graph = ET.SubElement(root, "graph", defaultedgetype="undirected", mode="static")
    attributes = ET.SubElement(graph, "attributes", {"class": "node"})
    names = [
        name
        for name in dict.fromkeys(name for node in network.nodes for name in node)
        if name not in ("title", "x", "y")
    ]
    for at, name in enumerate(names):
        fields = {
            "id": str(at),
            "title": _xml_text(name),
            "type": network.types.get(name, "string"),
        }
        ET.SubElement(attributes, "attribute", fields)
    size = _size(network)
    nodes = ET.SubElement(graph, "nodes")
    for node in network.nodes:
        fields = {
            "id": _xml_text(f"{node['dataset']}|{node['id']}"),
            "label": _xml_text(node["title"]),
        }
        item = ET.SubElement(nodes, "node", fields)
        values = ET.SubElement(item, "attvalues")
        for at, name in enumerate(names):
            if name in node:
                ET.SubElement(values, "attvalue", {"for": str(at), "value": _xml_text(node[name])})
        if "x" in node:
            x, y = (_xml_text(_EXTENT / size * node[axis]) for axis in ("x", "y"))
            ET.SubElement(item, "viz:position", x=x, y=y, z="0.0")
    edges = ET.SubElement(graph, "edges")
    for at, edge in enumerate(network.edges):
        fields = {
            "id": str(at),
            "source": _xml_text(edge["source"]),
            "target": _xml_text(edge["target"]),
            "weight": _xml_text(edge["weight"]),
            "kind": _xml_text(edge["kind"]),
        }
        ET.SubElement(edges, "edge", fields)
    return root


def _cytoscape(network: Network) -> bytes:
    size = _size(network)
    nodes = []
    for node in network.nodes:
        facts = {
            name: _typed_value(value, network.types.get(name, "string"))
            for name, value in node.items()
            if name not in ("id", "x", "y")
        }
        entry: dict[str, Any] = {
            "data": {"id": f"{node['dataset']}|{node['id']}", "name": node["title"], **facts}
        }
        if "x" in node:
            # Cytoscape's y axis points down.
            scale = _EXTENT / size
            entry["position"] = {"x": scale * node["x"], "y": -scale * node["y"]}
        nodes.append(entry)
    edges = [
        {
            "data": {
                "id": f"link {at + 1}",
                "source": edge["source"],
                "target": edge["target"],
                "weight": edge["weight"],
                "interaction": edge["kind"],
            }
        }
        for at, edge in enumerate(network.edges)
    ]
    record = {"data": {"name": "hetviz"}, "elements": {"nodes": nodes, "edges": edges}}
    return json.dumps(record, ensure_ascii=False).encode()


def _size(network: Network) -> float:
    placed = [(node["x"], node["y"]) for node in network.nodes if "x" in node]
    return float(np.ptp(np.array(placed), axis=0).max()) or 1.0 if placed else 1.0
