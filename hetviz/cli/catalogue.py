"""Commands that list samples and methods, without loading heavy libraries."""

from __future__ import annotations

import argparse
import ast
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import hetviz
from hetviz._samples import MANIFEST, sample_root, samples
from hetviz.cli.arguments import DATA_HELP, print_result

if TYPE_CHECKING:
    from hetviz.algorithms.registry import Verdict

_METHODS = Path(__file__).resolve().parents[1] / "algorithms"
_FIELDS = ("key", "title", "family", "summary")


def add_samples(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `samples`."""


def _samples(args: argparse.Namespace) -> int:
    title_of = {}
    for name in samples():
        manifest = (sample_root() or Path()) / name / MANIFEST
        title_of[name] = str(tomllib.loads(manifest.read_text(encoding="utf-8")).get("title", name))
    print_result(args, title_of, [f"{name:<14}{title}" for name, title in title_of.items()])
    return 0


def add_methods(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `methods`."""
    command.add_argument("--suggest", metavar="DATA", help=f"list which methods suit {DATA_HELP}")
    command.add_argument(
        "--time",
        action="store_true",
        help="with --suggest: estimate the time of a fit from fits to 200 and 400 items",
    )


def _methods(args: argparse.Namespace) -> int:
    if args.suggest is None:
        cards = read_cards()
        print_result(args, cards, [f"{card['key']:<20}{card['summary']}" for card in cards])
        return 0
    from hetviz.algorithms.cost import measure_seconds

    data = hetviz.load(args.suggest)
    if args.time:
        for verdict in hetviz.suggest(data):
            if verdict.suits:
                measure_seconds(hetviz.get_method(verdict.card.key), data)
    suggestions = hetviz.suggest(data)
    verdicts = [
        {
            "key": v.card.key,
            "suits": v.suits,
            "reasons": list(v.reasons),
            "seconds": v.seconds,
            "bytes": v.n_bytes,
        }
        for v in suggestions
    ]
    lines = [
        f"{v.card.key:<20}{'suits' if v.suits else 'does not suit'}: {' '.join(v.reasons)}"
        + _cost_text(v)
        for v in suggestions
    ]
    print_result(args, verdicts, lines)
    return 0


def _cost_text(verdict: Verdict) -> str:
    """Return the estimated cost of a fit as a sentence."""
    from hetviz._text import format_seconds
    from hetviz.algorithms.memory import format_bytes

    seconds, n_bytes = verdict.seconds, verdict.n_bytes
    parts = [] if seconds is None else [format_seconds(seconds)]
    parts += [] if n_bytes is None else [f"at most {format_bytes(n_bytes)} of memory"]
    return f" About {' and '.join(parts)} a fit." if parts else ""


def read_cards() -> list[dict[str, str]]:
    """Return the cards of the methods, read from source files because importing takes seconds."""
    cards = []
    for path in sorted(_METHODS.glob("[!_]*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "MethodCard":
                fields = {word.arg: word.value for word in node.keywords}
                cards.append({name: _text(fields[name], texts) for name in _FIELDS})
    return sorted(cards, key=lambda card: card["key"])


def _text(node: ast.expr, texts: Mapping[str, object]) -> str:
    return str(texts[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node))
