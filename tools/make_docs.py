"""Build of the documentation site: pages, methods, reference.

``python tools/make_docs.py`` writes build/docs; open build/docs/index.html in a browser. No server
and no network are needed. ``--source`` only writes the pages that the site is built of.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import hetviz
from hetviz.algorithms.base import LinearEmbedder
from hetviz.algorithms.contract import MethodCard, Reference
from hetviz.exports.mathml import mathml
from hetviz.io.formats.registry import file_formats
from hetviz.params import Choice, Param, PerDataset

ROOT = Path(__file__).resolve().parents[1]
# The public names, the errors they raise, and the contract for authors of methods.
API = (
    "hetviz",
    "hetviz.errors",
    "hetviz.algorithms.base",
    "hetviz.algorithms.contract",
    "hetviz.algorithms.needs",
    "hetviz.params",
    "hetviz.ui.notebook.widget",
)
# Pages of the library by file name: title, and modules of `hetviz._MODULES`.
TASKS = {
    "library-data": (
        "Read, join and save data",
        ("data", "io", "_samples", "features.recipe", "features.table_joins"),
    ),
    "library-statements": (
        "State what belongs together",
        ("features.relations", "data.queries.groups", "metrics.conflicts", "runs.ask"),
    ),
    "library-maps": (
        "Make maps",
        ("algorithms", "runs", "features.map_columns"),
    ),
    "library-judge": (
        "Judge and explain maps",
        ("metrics", "features", "runs.cluster", "runs.evidence", "runs.place"),
    ),
    "library-predict": ("Predict", ("runs.predict", "runs.place.place_rows")),
    "library-share": ("Share and export", ("exports", "ui", "data.queries.saved_views")),
}
METHOD_CALLS = (
    "fit", "fit_transform", "transform", "score", "set_output", "get_feature_names_out",
    "components_", "mean_", "inverse_transform", "attraction_graph", "bytes_for",
)  # fmt: skip
# What is new is rarely what a reader searches for.
_CHANGELOG_HEAD = "---\nsearch:\n  boost: 0.3\n---\n\n"
SOURCE, SITE = ROOT / "build" / "docs-source", ROOT / "build" / "docs"


def text(words: str) -> str:
    """Return words for a page of Markdown, read as words only."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(words.split()))


def listed(texts: list[str]) -> str:
    """Return a list of texts."""
    return "\n".join(f"- {text(words)}" for words in texts)


def method_page(card: MethodCard, params: dict[str, Param], about: dict[str, str]) -> str:
    """Return the page of a method."""
    needs = [str(need) for need in card.needs] or ["nothing in particular"]
    uses = sorted(str(capability) for capability in card.capabilities)
    picture = (
        f"![A map of part of the sample {about['sample']}]({card.key}.svg)\n\n"
        f"*At most 200 items of each dataset of the sample "
        f"{about['sample']}, with the default settings.*"
    )
    parts = [
        f"# {text(card.title)}",
        f"`{card.key}` · {text(card.family)}",
        text(card.summary),
        picture,
        f"**Take it when** {_began(about['when'])}",
        f"**Do not when** {_began(about['not'])}",
        "## It needs",
        listed(needs),
        "## It makes use of, or can do",
        listed(uses),
        "## When to be careful",
        listed(list(card.caveats)),
        "## Objective",
        f'<div class="equation">{mathml(card.equation)}</div>',
        "## Reference",
        "\n".join(f"- {reference(paper)}" for paper in card.papers),
        "## Parameters",
        param_table(params),
        "## Time and memory",
        text(card.cost),
        "## How to run it",
        f'```py\nembedding = hetviz.embed(data, "{card.key}")\n```',
        f"```sh\nhetviz embed DATA --method {card.key} --out result\n```",
    ]
    return "\n\n".join(parts) + "\n"


def reference(paper: Reference) -> str:
    """Return a reference, with a link where it is known where it lies."""
    if not paper.url:
        return text(str(paper))
    messages = text(str(paper).removesuffix(f", {paper.number}"))
    return f"{messages}, [{paper.number}]({paper.url})"


def _began(words: str) -> str:
    """Return a sentence as it goes on after a colon."""
    return words[0].lower() + words[1:] if not words.startswith(("UMAP",)) else words


def param_table(params: dict[str, Param]) -> str:
    """Return a table of parameters: name, default, what it takes, what it does."""
    if not params:
        return "None."
    rows = ["| Name | Default | Takes | What it does |", "| --- | --- | --- | --- |"]
    for name, param in params.items():
        inner = param.inner if isinstance(param, PerDataset) else param
        does = f"**{text(param.label)}**. " if param.label else ""
        does += text(param.help)
        if isinstance(inner, Choice):
            messages = [
                f"`{option!r}`: {text(words)}" for option, words in inner.options.items() if words
            ]
            does += "<br>" + "<br>".join(messages) if messages else ""
        rows.append(
            f"| `{name}` | `{param.default!r}` | {text(param.describe_allowed())} | {does} |"
        )
    return "\n".join(rows)


def index_page(cards: list[MethodCard]) -> str:
    """Return the page that leads to the methods: a gallery, then what each needs."""
    faces = "\n\n".join(
        f"[![{text(card.title)}]({card.key}.svg)]({card.key}.md)<br>[{text(card.title)}]({card.key}.md)"
        for card in cards
    )
    rows = "\n".join(
        f"| [`{card.key}`]({card.key}.md) | {text(card.summary)} "
        f"| {text(', '.join(map(str, card.needs)) or 'nothing in particular')} |"
        for card in cards
    )
    return (
        "# Methods\n\nEach method on a sample; the same colours mean different things in "
        "different pictures. [Which one to take](../explanation/choosing.md).\n\n"
        f'<div class="gallery" markdown>\n\n{faces}\n\n</div>\n\n'
        f"| | what it does | needs |\n| --- | --- | --- |\n{rows}\n"
    )


def library_pages() -> dict[str, str]:
    """Return the reference of the public names by file name: an index, and a page for each task."""
    modules = {name: module for module, names in hetviz._MODULES.items() for name in names}
    named: dict[str, list[str]] = {title: [] for title, _ in TASKS.values()}
    for name in hetviz.__all__:
        homes = {
            title: len(prefix)
            for title, prefixes in TASKS.values()
            for prefix in prefixes
            if f"{modules[name]}.".startswith(f"{prefix}.")
        }
        named[max(homes, key=lambda title: homes[title])].append(name)
    pages = {}
    index = [
        "# The library\n\nThe public names by task, with shapes, units, errors and costs. "
        "Beside them the [errors](../api/hetviz/errors.html), the [contract for "
        "methods](../api/hetviz/algorithms/base.html) and the "
        "[widget](../api/hetviz/ui/notebook/widget.html).\n"
    ]
    for file, (title, _) in TASKS.items():
        index.append(f"\n## {title}\n\n| name | what it is |\n| --- | --- |")
        sections = [f"# The library: {title[0].lower()}{title[1:]}\n"]
        for name in named[title]:
            value = getattr(hetviz, name)
            first = inspect.cleandoc(value.__doc__).partition("\n\n")[0]
            index.append(f"| [`{name}`]({file}.md#{name.lower()}) | {text(first)} |")
            sections += api_sections(name, value)
        if file == "library-maps":
            index.append("| [methods](library-maps.md#methods_1) | Calls of all methods. |")
            sections.append(
                "## Methods\n\nCalls of all methods, whose parameters are on their pages.\n"
            )
            for key in METHOD_CALLS:
                sections += api_sections(
                    f"Method.{key}", inspect.getattr_static(LinearEmbedder, key)
                )
        pages[f"{file}.md"] = "\n".join(sections)
    return {"library.md": "\n".join(index) + "\n"} | pages


def api_sections(name: str, value: object) -> list[str]:
    """Return the sections of a name and its public members; none for names without a text."""
    import pdoc.docstrings

    words = inspect.getdoc(value)
    if not words or name.rpartition(".")[2].startswith("_"):
        return []
    head = f"{'##' if '.' not in name else '###'} {name.replace('Method.', '')}\n"
    call = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    signature = ""
    if callable(call) and not isinstance(value, property):
        parts = [
            each.replace(annotation=each.empty)
            for each in inspect.signature(call).parameters.values()
        ]
        shown = inspect.Signature(parts)
        signature = f"```text\n{name.replace('Method.', '')}{shown}\n```\n"
    body = pdoc.docstrings.convert(words, "numpy", None)
    body = re.sub(r"^#+ (.*)$", r"**\1**\n", body, flags=re.M)
    body = re.sub(
        r"((?:^>>> .*\n?(?:^(?!\n|\*\*).+\n?)*)+)", r"```text\n\1\n```\n", body, flags=re.M
    )
    sections = [head, signature, body]
    if inspect.isclass(value):
        for key, member in vars(value).items():
            if callable(getattr(member, "__func__", member)) or isinstance(member, property):
                sections += api_sections(f"{name}.{key}", member)
    return [part for part in sections if part]


def input_page() -> str:
    """Return the page of file formats, with a table of their extensions."""
    page = (ROOT / "docs" / "reference" / "input.md").read_text(encoding="utf-8")
    rows = "\n".join(
        f"| {text(each.label)} | {', '.join(f'`{extension}`' for extension in each.extensions)} |"
        for each in file_formats()
    )
    return f"{page}\n## Extensions\n\n| contents | extensions |\n| --- | --- |\n{rows}\n"


def write_methods(out: Path) -> list[Path]:
    """Write the gallery, a page for each method, and the list of names; return the files."""
    (out / "methods").mkdir(parents=True, exist_ok=True)
    (out / "reference").mkdir(exist_ok=True)
    cards = hetviz.methods()
    about = tomllib.loads((ROOT / "docs" / "methods.toml").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    texts = {
        out / "methods" / "index.md": index_page(cards),
        out / "reference" / "changelog.md": _CHANGELOG_HEAD + changes,
        out / "reference" / "input.md": input_page(),
    }
    texts |= {out / "reference" / name: page for name, page in library_pages().items()}
    for card in cards:
        params = dict(hetviz.get_method(card.key).params)
        page = method_page(card, params, about[card.key])
        texts[out / "methods" / f"{card.key}.md"] = page
    for path, content in texts.items():
        path.write_text(content, encoding="utf-8")
    return list(texts)


def write_api(out: Path) -> list[Path]:
    """Write the reference of the public names; return the files."""
    import pdoc
    import pdoc.doc
    import pdoc.render

    # They load on first use, which the reference does not know of.
    for name in hetviz.__all__:
        setattr(hetviz, name, getattr(hetviz, name))
    pdoc.render.configure(docformat="numpy", show_source=False, footer_text="hetviz")
    modules = {name: pdoc.doc.Module(importlib.import_module(name)) for name in API}
    (out / "api").mkdir(parents=True, exist_ok=True)
    files = []
    for name, module in modules.items():
        path = out / "api" / Path(*name.split(".")).with_suffix(".html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pdoc.render.html_module(module, modules), encoding="utf-8")
        files.append(path)
    return files


def write_gallery(out: Path) -> None:
    """Run the code of the gallery as notebooks in a folder; put picture and notebook above it."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for title, text, code in re.findall(
        r"^## (.+?)\n(.*?)^```py\n(.*?)^```$", page, flags=re.M | re.S
    ):
        (name,) = re.findall(r'"(\w+)\.png"', code)
        picture, notebook = f"{name}.png", f"{name}.ipynb"
        content = executed_notebook(out, f"# {title}\n{text}", code, picture)
        (out / notebook).write_text(content, encoding="utf-8")
        links = (
            f"![Picture of the map]({picture})\n\n"
            f'[As a notebook]({notebook}){{ download="{notebook}" }}\n\n'
        )
        page = page.replace(f"```py\n{code}", f"{links}```py\n{code}", 1)
    (out / "gallery.md").write_text(page, encoding="utf-8")


def executed_notebook(folder: Path, text: str, code: str, picture: str) -> str:
    """Run code in a folder; return the notebook with the picture that it wrote."""
    import nbformat
    from nbclient import NotebookClient

    show = f'from IPython.display import Image\n\nImage("{picture}")'
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell(text.strip()),
            nbformat.v4.new_code_cell(code.strip()),
            nbformat.v4.new_code_cell(show),
        ]
    )
    paths = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    client = NotebookClient(
        notebook,
        timeout=None,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR"],
    )
    client.execute(env={**os.environ, "PYTHONPATH": paths})
    for cell in notebook.cells[1:]:
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    written: str = nbformat.writes(notebook)
    return written


def main() -> int:
    """Build the site."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", action="store_true", help="write the pages, build nothing")
    inputs = parser.parse_args()
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE)
    (SOURCE / "methods.toml").unlink()
    files = write_methods(SOURCE)
    # The pages link into the reference, which is copied as it is.
    files += write_api(SOURCE)
    keys = "".join(f"\n      - {card.title}: methods/{card.key}.md" for card in hetviz.methods())
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings = settings.replace(" METHODS\n", f"\n      - All methods: methods/index.md{keys}\n")
    tasks = "".join(
        f"\n          - {title}: reference/{file}.md" for file, (title, _) in TASKS.items()
    )
    settings = settings.replace(
        " LIBRARY\n", f"\n          - All names: reference/library.md{tasks}\n"
    )
    settings = settings.replace("hetviz VERSION", f"hetviz {hetviz.__version__}")
    settings = settings.replace("build/docs-source", str(SOURCE)).replace(
        " build/docs\n", f" {SITE}\n"
    )
    created = SOURCE.parent / "mkdocs.yml"
    created.write_text(settings, encoding="utf-8")
    if inputs.source:
        return 0
    write_gallery(SOURCE)
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-f", str(created)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, env=quiet, check=False).returncode
    if not built:
        pages = len(list(SITE.rglob("*.html")))
        sys.stdout.write(
            f"{pages} pages; open {SITE / 'index.html'}\n"
            f"Searching needs a server: {Path(sys.executable).name} -m http.server -d {SITE}\n"
        )
    return built


if __name__ == "__main__":
    sys.exit(main())
