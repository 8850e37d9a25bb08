"""Command that finds clusters on a map."""

from __future__ import annotations

import argparse
from pathlib import Path

import hetviz
from hetviz.cli.arguments import (
    AddCommand,
    add_data,
    add_parameters,
    make_progress,
    parse_params,
    print_result,
)


def add_clusters(add: AddCommand) -> None:
    """Add the command `clusters`."""
    clusters = add(
        "clusters",
        _clusters,
        "Find clusters on a map and describe each of them.",
        "clusters emoji --coordinates result/coordinates.csv --by hdbscan --out clusters.csv",
    )
    add_data(clusters)
    source = clusters.add_mutually_exclusive_group()
    source.add_argument("--coordinates", metavar="FILE", help="CSV with dataset, id and axes")
    source.add_argument("--method", metavar="KEY", help="fit a map first; see `methods`")
    add_parameters(clusters)
    clusters.add_argument(
        "--by", default="k-means", help="k-means, hdbscan, agglomerative or label (k-means)"
    )
    clusters.add_argument(
        "--number", type=int, metavar="N", help="number of clusters (default: chosen automatically)"
    )
    clusters.add_argument("--label", metavar="COLUMN", help="with --by label")
    clusters.add_argument(
        "--out", metavar="FILE", help="write dataset, id, cluster and name as CSV"
    )


def _clusters(given: argparse.Namespace) -> int:
    from hetviz.errors import ParameterError
    from hetviz.io import gate, read_bundle, read_coordinates

    loaded = read_bundle(given.data).strict()
    embedding = loaded.map
    if given.coordinates is not None:
        file = Path(given.coordinates)
        embedding = read_coordinates(file.name, gate.read_file(file), loaded.data)
    elif given.method is not None:
        params = parse_params(given)
        embedding = hetviz.embed(loaded.data, given.method, random_state=given.seed, **params)
    if embedding is None:
        raise ParameterError("These data have no map. Use --coordinates or --method.")
    result = hetviz.clusters(
        loaded.data,
        embedding,
        method=given.by,
        n_clusters=given.number,
        label=given.label,
        held_out=loaded.held_out,
        random_state=given.seed,
        progress=make_progress(),
    )
    if given.out is not None:
        result.frame().to_csv(given.out, index=False)
    lines = [f"{card.number:>3}  {card.name}: {card.sentence}" for card in result.cards]
    print_result(given, result.to_dict(), lines)
    return 0
