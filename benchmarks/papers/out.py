"""What an experiment writes: steps that are kept, tables, figures, and verdicts."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.papers import keep
from benchmarks.papers.bar import Bar
from benchmarks.papers.judging import VERDICTS
from benchmarks.papers.surroundings import Surroundings, surroundings

RECORD = "record.json"
_STEPS, _SETTINGS = "steps", "settings.json"


class Out:
    """Folder of one experiment.

    Parameters
    ----------
    folder : Path
        Made when needed.
    title : str
        Of the experiment.
    quick : bool
    resume : bool
        Take up the steps that an earlier run of the same kind and version kept there; otherwise
        all of them are made again.
    settings : dict, optional
        What else steps depend on, such as the data folder; steps made with others are not taken up.
    stream : text stream, optional
        For the progress bar, the error stream by default.
    """

    def __init__(
        self,
        folder: Path,
        title: str,
        *,
        quick: bool,
        resume: bool = False,
        settings: dict[str, Any] | None = None,
        stream: TextIO | None = None,
    ) -> None:
        self.folder, self.title, self.quick = folder, title, quick
        self.bar = Bar(folder.name, stream)
        self.tables: list[dict[str, Any]] = []
        self.figures: list[dict[str, Any]] = []
        self.verdicts: list[dict[str, str]] = []
        self.seconds = 0.0
        self._keys: dict[str, str] = {}
        self._open(resume, {"quick": quick, **surroundings().versions, **(settings or {})})

    def _open(self, resume: bool, settings: dict[str, Any]) -> None:
        path = self.folder / _SETTINGS
        same = path.is_file() and json.loads(path.read_text(encoding="utf-8")) == settings
        steps = self.folder / _STEPS
        if resume and steps.is_dir() and not same:
            self.bar.tell("kept steps were made with other settings or versions: all anew")
        if steps.is_dir() and not (resume and same):
            shutil.rmtree(steps)
        steps.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")

    def plan(self, steps: int) -> None:
        """Say that so many more steps are to come, for the progress bar."""
        self.bar.plan(steps)

    def step(self, key: str, work: Callable[[], Any]) -> Any:
        """Do a piece of work once, and return what came of it.

        Parameters
        ----------
        key : str
            Names the step; it must say all that tells it from others of this experiment.
        work : callable
            Returns JSON-ready values, arrays, tables, or lists and mappings of such. Arrays and
            tables come back as such, keys of mappings as text.

        Raises
        ------
        ValueError
            When two keys share a file name.
        """
        name = keep.file_name(key)
        if self._keys.setdefault(name, key) != key:
            raise ValueError(f"Steps {self._keys[name]!r} and {key!r} would share a file.")
        path = self.folder / _STEPS / f"{name}.json"
        kept = path.is_file()
        if not kept:
            self.bar.tell(key)
            started = time.process_time()
            keep.write(path, {"result": work(), "cpu_seconds": time.process_time() - started})
        found = keep.read(path)
        self.seconds += found["cpu_seconds"]
        self.bar.step(key, kept=kept)
        return found["result"]

    def table(self, name: str, frame: pd.DataFrame, caption: str) -> None:
        """Write ``<name>.csv`` and show it on the summary page."""
        path = self.folder / f"{keep.file_name(name)}.csv"
        frame.to_csv(path, index=False)
        self.tables.append({"file": path.name, "caption": caption, "rows": len(frame)})

    def figure(self, name: str, figure: Figure, caption: str, *, front: bool = False) -> None:
        """Write ``<name>.svg`` and ``<name>.png`` and show it on the summary page.

        Parameters
        ----------
        name : str
        figure : matplotlib.figure.Figure
            From `benchmarks.papers.drawing.panels`.
        caption : str
            In plain words: what is shown, with units, what the bars are, how many runs.
        front : bool
            Show it in the documentation too.
        """
        stem = keep.file_name(name)
        figure.savefig(self.folder / f"{stem}.svg", metadata={"Date": None})
        figure.savefig(self.folder / f"{stem}.png", dpi=130, metadata={"Software": None})
        self.figures.append({"stem": stem, "caption": caption, "front": front})

    def verdict(self, claim: str, *, paper: str, ours: str, verdict: str, how_chosen: str) -> None:
        """Say what became of a claim.

        Parameters
        ----------
        claim : str
            Of the paper, in plain words.
        paper : str
            The paper's figure; where it prints none, what it says or draws.
        ours : str
            Our figure with its standard error.
        verdict : one of `benchmarks.papers.judging.VERDICTS`
        how_chosen : str
            How each parameter was chosen; nothing may be chosen by test data.

        Raises
        ------
        ValueError
            On any other verdict.
        """
        if verdict not in VERDICTS:
            raise ValueError(f"A verdict is one of {VERDICTS}, not {verdict!r}.")
        self.verdicts.append(
            {
                "claim": claim,
                "paper": paper,
                "ours": ours,
                "verdict": verdict,
                "how_chosen": how_chosen,
            }
        )

    def close(self, missing: list[dict[str, str]] | None = None, failure: str = "") -> None:
        """Write the record that the summary page is made from."""
        made: Surroundings = surroundings()
        record = {
            "title": self.title,
            "quick": self.quick,
            "date": made.date,
            "versions": made.versions,
            "machine": made.machine,
            "cpu_seconds": self.seconds,
            "missing": missing or [],
            "failure": failure,
            "verdicts": self.verdicts,
            "figures": self.figures,
            "tables": self.tables,
        }
        keep.write(self.folder / RECORD, record)
        self.bar.close(f"{self.seconds:.0f} CPU s")
