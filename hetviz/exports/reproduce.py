"""Reproducible map: recipe, Python script and data in one zip."""

from __future__ import annotations

from collections.abc import Mapping
from pprint import pformat

from hetviz._samples import MANIFEST
from hetviz._version import __version__
from hetviz.data import HeteroData
from hetviz.io import toml
from hetviz.io.bundle.saving import contents, to_zip
from hetviz.runs.embed.run import Run
from hetviz.runs.embed.scope import rows_table
from hetviz.runs.recipe import ONLY, RECIPE, recipe_text

SCRIPT, DATA, README = "reproduce.py", "data", "README.txt"


def recipe_zip(
    data: HeteroData,
    run: Run,
    *,
    sha256: str = "",
    figures: Mapping[str, object] | None = None,
    title: str = "",
) -> bytes:
    """Return a zip with everything needed to reproduce a map."""
    document, files = contents(data, "data")
    manifest = toml.encode(toml.dumps(document), MANIFEST)
    archive_files = {
        RECIPE: toml.encode(recipe_text(DATA, run, sha256, figures), RECIPE),
        SCRIPT: script_text(run, figures).encode(),
        README: _readme_text(title).encode(),
        f"{DATA}/{MANIFEST}": manifest,
        **{f"{DATA}/{name}": content for name, content in files.items()},
    }
    if run.only is not None:
        archive_files[ONLY] = rows_table(data, run.only).encode()
    return to_zip(archive_files)


def script_text(run: Run, figures: Mapping[str, object] | None = None) -> str:
    """Return a Python script that reproduces the map and its figure."""
    figure_settings = {
        key: value for key, value in (figures or {}).items() if value not in ("", None, [])
    }
    plain = not run.weights and run.only is None and not run.hold_out
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
            "# The run used a part of the data or weights, which the recipe lists.",
            f'folder = hetviz.run_recipe(HERE / "{RECIPE}", HERE / "run")',
            "data, embedding = hetviz.load_run(folder)",
            'hetviz.export(data, embedding, HERE / "map.pdf", **FIGURE)',
        ]
    return "\n".join(lines) + "\n"


def _readme_text(title: str) -> str:
    name = " ".join(title.split())
    return (
        f"Map made with hetviz {__version__}{f': {name}' if name else ''}\n\n"
        "To reproduce it:\n\n"
        f"    python -m hetviz run {RECIPE} --figures\n\n"
        "The command reports whether the coordinates are bit-equal to the original ones.\n"
        "They are on the same machine with the same versions, which the recipe lists.\n"
        "Elsewhere they may differ slightly.\n"
        f"{SCRIPT} does the same in Python. The data are in {DATA}/.\n"
    )
