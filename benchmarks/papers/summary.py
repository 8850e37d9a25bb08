"""The summary page of all experiments kept in a folder, as Markdown and HTML."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pandas as pd

from benchmarks.papers import keep
from benchmarks.papers.judging import VERDICTS
from benchmarks.papers.out import RECORD

TITLE = "The papers' experiments, run again"
INTRODUCTION = (
    "Every line sets a claim of a paper beside what was found with hetviz on data that can be had. "
    "Figures after ± are standard errors. The data differ from the papers' own, so a verdict says "
    "whether the claim carries over, not whether the paper was right on its data."
)
LONGEST_TABLE = 40
REMARKS = Path(__file__).with_name("remarks.md")
"""What changed since the experiments were run before, and what was tried where a claim fails."""
NOT_AGAIN = (
    "Not run again with the others: the figures are of this earlier run, the verdicts of its rule, "
    'which had no "too small to tell".'
)
_COLUMNS = ("Claim", "The paper", "Here", "Verdict", "Chosen")
_FIELDS = ("claim", "paper", "ours", "verdict")


@dataclass(frozen=True)
class Kept:
    """What one experiment left."""

    folder: Path
    record: dict[str, Any]

    @property
    def made(self) -> str:
        """When, how long, with what and on what, in one sentence."""
        record = self.record
        kind = "Quick run" if record["quick"] else "Whole run"
        versions = ", ".join(f"{name} {value}" for name, value in record["versions"].items())
        minutes = record["cpu_seconds"] / 60
        return (
            f"{kind} of {record['date']}: {minutes:.1f} minutes of CPU on {record['machine']}; "
            f"{versions}."
        )


def experiments(folder: Path) -> list[Kept]:
    """Return what the experiments of a folder left, by name."""
    return [Kept(path.parent, keep.read(path)) for path in sorted(folder.glob(f"*/{RECORD}"))]


def write_summary(folder: Path) -> list[Path]:
    """Write ``summary.md`` and ``summary.html`` of all experiments kept in a folder."""
    kept = experiments(folder)
    pages = {"summary.md": _markdown(kept, folder), "summary.html": _html(kept)}
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in pages]


def write_page(folder: Path, page: Path) -> Path:
    """Write ``summary.md`` with the verdicts and front figures only, figures beside it."""
    kept = experiments(folder)
    page.mkdir(parents=True, exist_ok=True)
    for one in kept:
        for figure in one.record["figures"]:
            if figure["front"]:
                source = one.folder / f"{figure['stem']}.png"
                shutil.copyfile(source, page / _front_name(one, figure))
    file = page / "summary.md"
    earlier = _earlier(file, {one.record["title"] for one in kept})
    file.write_text(_markdown(kept, None, earlier), encoding="utf-8")
    return file


def _earlier(file: Path, titles: set[str]) -> dict[str, str]:
    """Return the sections of a page about experiments that were not run again, by title."""
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    found = {}
    for section in text.split("\n## ")[1:]:
        title, _, body = section.partition("\n")
        if title.startswith("Paper ") and title not in titles:
            body = body.strip().removeprefix(NOT_AGAIN).strip()
            found[title] = f"{NOT_AGAIN}\n\n{body}"
    return found


def _front_name(one: Kept, figure: dict[str, Any]) -> str:
    return f"{one.folder.name.split('_')[0]}-{figure['stem']}.png"


def _markdown(kept: list[Kept], folder: Path | None, earlier: dict[str, str] | None = None) -> str:
    lines = [f"# {TITLE}", "", INTRODUCTION, "", *_counted(kept, (earlier or {}).values())]
    lines += ["", "Written by `python -m benchmarks.papers`; what it runs is described in "
              "`benchmarks/papers/README.md`."]  # fmt: skip
    if folder is None:
        lines += ["", REMARKS.read_text(encoding="utf-8").strip()]
    sections = [(one.record["title"], "\n".join(_section(one, folder))) for one in kept]
    for title, section in sorted([*sections, *(earlier or {}).items()], key=lambda pair: pair[0]):
        lines += ["", f"## {title}", "", section]
    return "\n".join(lines) + "\n"


def _section(one: Kept, folder: Path | None) -> list[str]:
    """Return the lines about one experiment, below its title."""
    record = one.record
    lines = [one.made, *_gaps(record)]
    if record["verdicts"]:
        body, notes = _verdicts(record)
        lines += ["", *_pipes(_COLUMNS, body), "", "How parameters were chosen:", ""]
        lines += [f"- {note}" for note in notes]
    for figure in record["figures"]:
        if folder is None and not figure["front"]:
            continue
        place = _front_name(one, figure)
        if folder is not None:
            place = f"{one.folder.name}/{figure['stem']}.png"
        lines += ["", f"![{_alt(figure['caption'])}]({place})", "", figure["caption"]]
    for table in record["tables"] if folder is not None else ():
        lines += ["", f"**{table['caption']}** ([CSV]({one.folder.name}/{table['file']}))"]
        if table["rows"] <= LONGEST_TABLE:
            lines += ["", *_pipes(*_cells(one.folder / table["file"]))]
    return lines


def _html(kept: list[Kept]) -> str:
    def rows(head: Any, body: Any) -> str:
        top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        rest = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in body
        )
        return f"<div class=wide><table><tr>{top}</tr>{rest}</table></div>"

    parts = [f"<h1>{TITLE}</h1>", f"<p>{html.escape(INTRODUCTION)}</p>"]
    parts += [f"<p>{html.escape(line)}</p>" for line in _counted(kept)]
    for one in kept:
        record = one.record
        parts += [f"<h2>{html.escape(record['title'])}</h2>", f"<p>{html.escape(one.made)}</p>"]
        parts += [f"<p>{html.escape(line)}</p>" for line in _gaps(record) if line]
        if record["verdicts"]:
            body, notes = _verdicts(record)
            parts += [rows(_COLUMNS, body), "<p>How parameters were chosen:</p><ul>"]
            parts += [*(f"<li>{html.escape(note)}</li>" for note in notes), "</ul>"]
        for figure in record["figures"]:
            caption = html.escape(figure["caption"])
            source = f"{one.folder.name}/{figure['stem']}.svg"
            parts.append(
                f'<figure><img src="{source}" alt="{caption}"><figcaption>{caption}</figcaption>'
                "</figure>"
            )
        for table in record["tables"]:
            source = f"{one.folder.name}/{table['file']}"
            parts.append(
                f'<p><b>{html.escape(table["caption"])}</b> (<a href="{source}">CSV</a>)</p>'
            )
            if table["rows"] <= LONGEST_TABLE:
                parts.append(rows(*_cells(one.folder / table["file"])))
    style = (
        "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;"
        "color:#1d1d1f;background:#fff}table{border-collapse:collapse;font-size:13px}"
        "th,td{border-bottom:1px solid #ddd;padding:4px 8px;text-align:left;vertical-align:top}"
        "figure{margin:1.5rem 0}img{max-width:100%}figcaption{font-size:13px;color:#555}"
        ".wide{overflow-x:auto}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{TITLE}</title>'
        f"<style>{style}</style><body>" + "\n".join(parts) + "</body></html>\n"
    )


def _counted(kept: list[Kept], earlier: Iterable[str] = ()) -> list[str]:
    said = [verdict["verdict"] for one in kept for verdict in one.record["verdicts"]]
    for section in earlier:
        said += re.findall(rf"\| ({'|'.join(VERDICTS)}) \| \([a-z]\) \|$", section, re.MULTILINE)
    counts = {word: said.count(word) for word in dict.fromkeys(said)}
    told = ", ".join(f"{word}: {n}" for word, n in sorted(counts.items(), key=lambda c: -c[1]))
    return [f"{len(said)} claims. {told}."] if said else ["No claim was looked at yet."]


def _verdicts(record: dict[str, Any]) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the table of verdicts, and each way of choosing once, by letter."""
    ways = list(dict.fromkeys(verdict["how_chosen"] for verdict in record["verdicts"]))
    letter = {way: f"({ascii_lowercase[number % 26]})" for number, way in enumerate(ways)}
    body = [
        [*(verdict[field] for field in _FIELDS), letter[verdict["how_chosen"]]]
        for verdict in record["verdicts"]
    ]
    return body, [f"{letter[way]} {way}" for way in ways]


def _gaps(record: dict[str, Any]) -> list[str]:
    lines = []
    for source in record["missing"]:
        lines += ["", f"Left out: {source['name']}, not in the data folder ({source['where']})."]
    if record["failure"]:
        lines += ["", f"It stopped early: {record['failure']}"]
    return lines


def _pipes(head: Any, body: Any) -> list[str]:
    def line(cells: Any) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    return [line(head), line("---" for _ in head), *map(line, body)]


def _cells(path: Path) -> tuple[list[str], list[list[str]]]:
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return list(frame.columns), frame.to_numpy().tolist()


def _alt(caption: str) -> str:
    return caption.replace("[", "(").replace("]", ")")
