"""Tests of documentation pages, the reference and example scripts."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import shlex
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import hetviz
from hetviz.exports.mathml import mathml
from hetviz.runs.predict import label_models
from tests.samples import read_once, try_once

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_docs", ROOT / "tools" / "make_docs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_method_pages_match_cards(tmp_path: Path) -> None:
    created = tool()
    files = created.write_methods(tmp_path)
    cards = hetviz.methods()
    assert len(files) == len(cards) + 4 + len(created.TASKS)
    index = (tmp_path / "methods" / "index.md").read_text(encoding="utf-8")
    for card in cards:
        page = (tmp_path / "methods" / f"{card.key}.md").read_text(encoding="utf-8")
        assert f"({card.key}.md)" in index
        assert (ROOT / "docs" / "methods" / f"{card.key}.svg").is_file()
        messages = [card.title, card.summary, card.cost, *card.caveats]
        for paper in card.papers:
            messages += [paper.authors, paper.title, paper.place]
            if paper.url:
                assert f", [{paper.number}]({paper.url})" in page
        messages += [str(need) for need in card.needs]
        for param in hetviz.get_method(card.key).params.values():
            messages += [param.label, param.help, param.describe_allowed()]
        assert [words for words in messages if created.text(words) not in page] == []
        assert mathml(card.equation) in page


def test_site_lists_all_pages() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    named = set(re.findall(r"[\w/-]+\.md", settings)) - {"reference/changelog.md"}
    assert named == pages
    about = tomllib.loads((DOCS / "methods.toml").read_text(encoding="utf-8"))
    assert set(about) == {card.key for card in hetviz.methods()}


def test_page_links_are_valid() -> None:
    created = ("api/", "methods/index.md", "reference/library", "reference/changelog.md")
    lost = []
    for page in [*DOCS.rglob("*.md"), ROOT / "README.md"]:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
            if target.startswith("http") or any(part in target for part in created):
                continue
            if not (page.parent / target).exists():
                lost.append(f"{page.name}: {target}")
    assert lost == []


def test_claim_counts_agree() -> None:
    summary = (DOCS / "papers" / "summary.md").read_text(encoding="utf-8")
    counts = re.search(
        r"(\d+) claims\. holds in part: (\d+), holds: (\d+), does not hold here: (\d+), "
        r"too small to tell: (\d+)\.",
        summary,
    )
    assert counts is not None
    claims, part, holds, fails, small = counts.groups()
    limits = (DOCS / "explanation" / "limits.md").read_text(encoding="utf-8")
    assert f"Of {claims} claims of the five papers, {holds} hold on available data" in limits
    assert f"{part} hold in part and {fails} do not. For the other {small} the effect" in limits


# Pages whose blocks run, and what they find in the folder they run in.
SHOWN = {
    page.relative_to(ROOT).as_posix(): text
    for page in [*DOCS.rglob("*.md"), ROOT / "README.md"]
    if re.search(r"^```(python|console)$", text := page.read_text(encoding="utf-8"), flags=re.M)
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hetviz.errors.DataWarning")
@pytest.mark.filterwarnings("ignore::hetviz.errors.ConvergenceWarning")
@pytest.mark.parametrize("page", sorted(SHOWN))
def test_page_code_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # What a page shows does not depend on how many digits and trees there are.
    read_once(monkeypatch, subset=True)
    try_once(monkeypatch)
    monkeypatch.setattr(label_models, "_TREES", 20)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    if page == "README.md":
        # It shows three lines; the tables are those of the tutorial.
        tutorial = (DOCS / "tutorial" / "python.md").read_text(encoding="utf-8")
        exec(blocks(tutorial)[0][1], names)
    displayed = blocks(SHOWN[page])
    for kind, code in displayed:
        if kind == "python":
            exec(compile(code, page, "exec"), names)
            continue
        for line in code.splitlines():
            command = shlex.split(line.removeprefix("$ "))
            assert command[0] == "hetviz", line
            ended = cli(command[1:])
            assert ended == 0, f"{line}\n{capsys.readouterr().err}"


def blocks(text: str) -> list[tuple[str, str]]:
    """Return the blocks that run: python, and console."""
    return re.findall(r"^```(python|console)\n(.*?)^```$", text, flags=re.M | re.S)


def cli(arguments: list[str]) -> int:
    from hetviz.cli import main

    try:
        return main(arguments) or 0
    except SystemExit as ended:
        return int(ended.code or 0)


def test_shown_commands_exist() -> None:
    from hetviz.cli import COMMANDS

    unknown = []
    for page in DOCS.rglob("*.md"):
        for code in re.findall(r"^```sh\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S):
            for line in code.splitlines():
                words = line.split()
                if words and words[0] == "hetviz" and words[1] not in COMMANDS:
                    unknown.append(line)
    assert unknown == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hetviz.errors.DataWarning")
def test_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = json.loads((ROOT / "examples" / "ten_things.ipynb").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "notebook"}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    assert (tmp_path / "map.svg").is_file()
    heads = [c for c in book["cells"] if "".join(c["source"]).startswith("## ")]
    assert len(heads) == 11  # the three lines, and ten more things


def test_reference_is_complete() -> None:
    pdoc = pytest.importorskip("pdoc.doc")
    for name in hetviz.__all__:
        assert getattr(hetviz, name).__doc__
        setattr(hetviz, name, getattr(hetviz, name))
    members = pdoc.Module(hetviz).members
    assert set(hetviz.__all__) <= set(members)


@pytest.mark.parametrize(
    ("script", "says"),
    [("emoji_map", "written: "), ("own_tables", "wines near the stew: w")],
)
def test_example_runs(
    script: str,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [script, str(tmp_path / "out")])
    runpy.run_path(str(ROOT / "examples" / f"{script}.py"), run_name="__main__")
    assert says in capsys.readouterr().out
    if script == "emoji_map":
        assert (tmp_path / "out" / "map.png").read_bytes().startswith(b"\x89PNG")


# What newcomers search for, and pages that answer it.
SEARCHES = {
    "from_frames": "reference/library-data.md", "triplet": "reference/glossary.md",
    "changelog": "reference/changelog.md", "CSV": "reference/input.md",
    "colour": "tutorial/app.md", "color": "tutorial/app.md",
    "AnnData": "how-to/coming-from.md", "transform": "how-to/place-new-rows.md",
    "scikit-learn": "how-to/coming-from.md", "install": "reference/packages.md",
    "missing values": "reference/column-types.md", "save model": "how-to/place-new-rows.md",
    "GPU": "how-to/graphics-card.md", "labels": "how-to/predict-labels.md",
    "n_jobs": "reference/library-maps.md", "Streamlit": "how-to/own-page.md",
    "dates": "reference/column-types.md", "inverse_transform": "reference/library-maps.md",
    "export": "how-to/export.md", "notebook": "how-to/notebook.md",
    "predict links": "how-to/predict-links.md", "Parquet": "reference/input.md",
}  # fmt: skip


def test_search_finds_the_page(tmp_path: Path) -> None:
    """By the weights of the site's search: tags, then titles, then how often a text has a word."""
    created = tool()
    created.write_methods(tmp_path)
    pages = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8").lower()
        for folder in (DOCS, tmp_path)
        for path in folder.rglob("*.md")
    }

    def score(text: str, word: str) -> float:
        tags = re.match(r"---\ntags: \[(.*?)\]", text)
        titles = " ".join(re.findall(r"^#+ (.*)$", text, flags=re.M))
        found = re.compile(rf"\b{re.escape(word)}")
        boost = 0.3 if "boost: 0.3" in text else 1.0
        counts = [len(found.findall(part)) for part in (tags[1] if tags else "", titles, text)]
        return boost * (1e6 * counts[0] + 1e3 * min(counts[1], 1) + counts[2] / len(text))

    lost = []
    for words, page in SEARCHES.items():
        total = {
            name: sum(score(text, word) for word in words.lower().split())
            for name, text in pages.items()
        }
        best = sorted(total, key=lambda name: -total[name])[:3]
        if page not in best:
            lost.append((words, best))
    assert lost == []


def test_gallery_has_twelve_pictures_with_code() -> None:
    """The build of the site runs the code; here it is only read."""
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    codes = re.findall(r"^## .*?^```py\n(.*?)^```$", page, flags=re.M | re.S)
    assert len(codes) == page.count("\n## ") == 12
    pictures = [re.findall(r'"(\w+\.png)"', code) for code in codes]
    assert len({name for (name,) in pictures}) == 12
    for code in codes:
        compile(code, "gallery.md", "exec")


def test_gallery_shows_picture_and_notebook_above_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat = pytest.importorskip("nbformat")
    errors = pytest.importorskip("nbclient.exceptions")
    created = tool()
    docs = tmp_path / "docs"
    docs.mkdir()
    code = 'import hetviz\nfrom PIL import Image as Dot\n\nDot.new("L", (1, 1)).save("a.png")\n'
    (docs / "gallery.md").write_text(f"## A\n\nWords.\n\n```py\n{code}```\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(created.ROOT))
    monkeypatch.setattr(created, "ROOT", tmp_path)
    created.write_gallery(tmp_path)
    page = (tmp_path / "gallery.md").read_text(encoding="utf-8")
    assert page.index("(a.png)") < page.index("(a.ipynb)") < page.index('save("a.png")')
    notebook = nbformat.read(tmp_path / "a.ipynb", as_version=4)
    nbformat.validate(notebook)
    words, run, show = notebook.cells
    assert words.source == "# A\n\nWords."
    assert run.source == code.strip()
    assert run.execution_count == 1
    assert "image/png" in show.outputs[0].data
    (docs / "gallery.md").write_text('## c\n\n```py\nx = "c.png"\n```\n', encoding="utf-8")
    with pytest.raises(errors.CellExecutionError, match=r"c\.png"):
        created.write_gallery(tmp_path)
