"""Command that finds clusters on a map."""

from __future__ import annotations

import argparse
from pathlib import Path

import hetviz
from hetviz.cli.arguments import add_data, add_parameters, make_progress, parse_params, print_result


def add_clusters(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `clusters`."""
    add_data(command)
    source = command.add_mutually_exclusive_group()
    source.add_argument("--coordinates", metavar="FILE", help="CSV with dataset, id and axes")
    source.add_argument(
        "--method", metavar="KEY", help="fit a map with this method first, see `methods`"
    )
    add_parameters(command)
    command.add_argument(
        "--by", default="k-means", help="k-means, hdbscan, agglomerative or label (k-means)"
    )
    command.add_argument(
        "--number", type=int, metavar="N", help="number of clusters (default: chosen automatically)"
    )
    command.add_argument("--label", metavar="COLUMN", help="with --by label")
    command.add_argument("--out", metavar="FILE", help="write dataset, id, cluster and name as CSV")


def _clusters(args: argparse.Namespace) -> int:
    from hetviz.errors import ParameterError
    from hetviz.io import gate, read_bundle, read_coordinates

    loaded = read_bundle(args.data).strict()
    embedding = loaded.map
    if args.coordinates is not None:
        file = Path(args.coordinates)
        embedding = read_coordinates(file.name, gate.read_file(file), loaded.data)
    elif args.method is not None:
        params = parse_params(args)
        embedding = hetviz.embed(loaded.data, args.method, random_state=args.seed, **params)
    if embedding is None:
        raise ParameterError("These data have no map. Use --coordinates or --method.")
    result = hetviz.clusters(
        loaded.data,
        embedding,
        method=args.by,
        n_clusters=args.number,
        label=args.label,
        held_out=loaded.held_out,
        random_state=args.seed,
        progress=make_progress(),
    )
    if args.out is not None:
        frame = result.frame()
        parts = loaded.data.datasets.values()
        frame.insert(2, "title", [title for part in parts for title in part.titles])
        frame.to_csv(args.out, index=False)
    lines = [f"{card.number:>3}  {card.name}: {card.sentence}" for card in result.cards]
    print_result(args, result.to_dict(), lines)
    return 0
