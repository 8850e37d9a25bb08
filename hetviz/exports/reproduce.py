"""Reproducible map: recipe, Python script and data in one zip."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pprint import pformat

from hetviz._samples import MANIFEST
from hetviz._version import __version__
from hetviz.algorithms.registry import is_method
from hetviz.data import Embedding, HeteroData, SavedView
from hetviz.errors import ParameterError
from hetviz.exports.figures import FigureSettings
from hetviz.io import toml
from hetviz.io.bundle.saving import contents, to_zip
from hetviz.plots.colour import colouring, find_option
from hetviz.runs.embed.run import EmbeddingOrigin, MapOrigin, Run
from hetviz.runs.recipe import RECIPE, coordinates_hash, files_of_run, recipe_text

SCRIPT, DATA, README, VIEWS = "reproduce.py", "data", "README.txt", "views.json"


def reason_against_recipe(origin: MapOrigin | None) -> str:
    """Return why a map cannot be reproduced, as a sentence; empty if it can."""
    if origin is None:
        return "It is not known which data the map was made from."
    if not is_method(origin.result.method):
        return "The method of the map is not known here."
    if origin.result.fingerprint != origin.data.fingerprint():
        return "The features are computed differently on this computer."
    return origin.result.unrepeatable


def map_recipe(
    origin: MapOrigin,
    settings: FigureSettings | None = None,
    title: str = "",
    is_exact: bool = True,
    views: Sequence[SavedView] = (),
) -> bytes:
    """Return `recipe_zip` of a map of a project, as it was when it was made."""
    data, result = origin.data, origin.result
    digest = coordinates_hash(result.embedding) if is_exact else ""
    figure = settings or FigureSettings()
    # Colours and datasets may be newer than the map.
    option = find_option(data, figure.colour)
    categories = colouring(data, option.key).categories if option and figure.palette else ()
    figure = replace(
        figure,
        colour=figure.colour if option else "",
        hidden=tuple(name for name in figure.hidden if name in data.datasets),
        palette={name: figure.palette[name] for name in categories if name in figure.palette},
    )
    return recipe_zip(
        data, result, sha256=digest, figures=figure.to_dict(), title=title, views=views
    )


def embedding_recipe(
    embedding: Embedding,
    settings: FigureSettings | None = None,
    title: str = "",
    views: Sequence[SavedView] = (),
) -> bytes:
    """Return `recipe_zip` of a map that knows its data and run."""
    made = embedding.made
    if not isinstance(made, EmbeddingOrigin):
        raise ParameterError(
            "A recipe needs a map of hetviz.embed or hetviz.load_run, as it was returned. It is "
            "not known how this one was made."
        )
    figures = (settings or FigureSettings()).to_dict()
    digest = coordinates_hash(embedding)
    return recipe_zip(made.data, made.run, sha256=digest, figures=figures, title=title, views=views)


def recipe_zip(
    data: HeteroData,
    run: Run,
    *,
    sha256: str = "",
    figures: Mapping[str, object] | None = None,
    title: str = "",
    views: Sequence[SavedView] = (),
) -> bytes:
    """Return a zip with everything needed to reproduce a map."""
    document, files = contents(data, "data")
    manifest = toml.encode(toml.dumps(document), MANIFEST)
    archive_files = {
        RECIPE: toml.encode(recipe_text(DATA, run, sha256, figures), RECIPE),
        SCRIPT: script_text(run, figures, has_views=bool(views)).encode(),
        README: _readme_text(title, bool(sha256)).encode(),
        f"{DATA}/{MANIFEST}": manifest,
        **{name: text.encode() for name, text in files_of_run(data, run).items()},
        **{f"{DATA}/{name}": content for name, content in files.items()},
    }
    if views:
        archive_files[VIEWS] = json.dumps([view.to_dict() for view in views], indent=1).encode()
    return to_zip(archive_files)


def script_text(
    run: Run, figures: Mapping[str, object] | None = None, *, has_views: bool = False
) -> str:
    """Return a Python script that reproduces the map and its figure."""
    figure_settings = {
        key: value for key, value in (figures or {}).items() if value not in ("", None, [], {})
    }
    plain = not run.weights and run.only is None and not run.hold_out and run.start is None
    lines = [
        f'"""Reproduce a map with hetviz {__version__}: coordinates, measures and the figure."""',
        "",
        "from pathlib import Path",
        "",
        "import hetviz",
        "",
        "HERE = Path(__file__).resolve().parent",
        f"FIGURE = {pformat(figure_settings)}",
        "",
    ]
    if plain:
        lines += [
            f"PARAMETERS = {pformat(dict(run.params))}",
            "",
            f'data = hetviz.load(HERE / "{DATA}")',
            f"METHOD, SEED = {run.method!r}, {run.seed}",
            "embedding = hetviz.embed(data, METHOD, random_state=SEED, **PARAMETERS)",
            "print(hetviz.evaluate(data, embedding).to_dict())",
            'hetviz.export(data, embedding, HERE / "coordinates.csv", exact=True)',
            'hetviz.export(data, embedding, HERE / "map.pdf", **FIGURE)',
        ]
    else:
        lines += [
            "# The recipe lists what else the map depends on: items, weights, hidden links, start.",
            f'folder = hetviz.run_recipe(HERE / "{RECIPE}", HERE / "run")',
            'print((folder / "scores.json").read_text(encoding="utf-8"))',
            "data, embedding = hetviz.load_run(folder)",
            'hetviz.export(data, embedding, HERE / "map.pdf", **FIGURE)',
        ]
    if has_views:
        lines.append(f'hetviz.export(data, embedding, HERE / "map.html", views=HERE / "{VIEWS}")')
    return "\n".join(lines) + "\n"


def _readme_text(title: str, is_exact: bool) -> str:
    name = " ".join(title.split())
    comparison = (
        "The command reports whether the coordinates are bit-equal to the original ones.\n"
        "They are on the same kind of machine with the same versions, which the recipe lists.\n"
        "Elsewhere they may differ slightly.\n"
        if is_exact
        else "The original map came with the data, so the new one may differ from it.\n"
    )
    return (
        f"Map made with hetviz {__version__}{f': {name}' if name else ''}\n\n"
        "To reproduce it:\n\n"
        f"    python -m hetviz run {RECIPE} --figures\n\n"
        f"{comparison}"
        f"{SCRIPT} does the same in Python. The data are in {DATA}/.\n"
    )
