"""Own files: take them in, say what was understood and what was wrong, go on or leave it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from hetviz.data.joins.proposals import Proposal
from hetviz.errors import HetvizError, Problem
from hetviz.io import DatasetInfo, FileInfo, Loaded, gate
from hetviz.io.formats.anndata import OTHERS
from hetviz.io.infer.recipe import Recipe
from hetviz.io.intake.looking import Look
from hetviz.io.intake.unzipped import tables_of_zip
from hetviz.io.sandbox.process import Heard
from hetviz.ui.data import belonging, reading, sheets
from hetviz.ui.data.reading import Said
from hetviz.ui.shell import background, session, theme
from hetviz.workspace import AddTables, OpenBundle, is_project
from hetviz.workspace.store.content import (
    StoredFiles,
    look_at_files,
    proposals_of,
    read_files,
    read_zip,
)

PROJECT = "project-file"
"""Where in the session a project file lies that was dropped and waits to be opened."""
_SHOWN = 200
_SHAPING = ("encoding", "separator", "decimal", "header", "skip", "sheet", "role")
_NO_ITEMS = ("links", "comparisons")


@dataclass(frozen=True, eq=False)
class Staged:
    """Files that were handed in and not yet opened.

    Attributes
    ----------
    files : mapping of str to str
        File name to blob.
    fresh : bool
        Open them instead of what is open, or add them to it.
    choices : mapping of str to mapping
        How to read each file, where the user said so.
    before : tuple of such mappings
        What was said before, the last at the end.
    looks : tuple of Look or None
        What stands in the tables; None before they were looked at.
    loaded : Loaded or None
        None where nothing could be used.
    problems : tuple of Problem
    message : str
        Why nothing could be used.
    read : bool
        Whether they have been read.
    proposals : tuple of Proposal
        How they seem to belong together.
    looked : tuple of (looks, choices), or None
        What stood in the tables when they were looked at before, and what had been said then.
    """

    files: Mapping[str, str]
    fresh: bool
    choices: Said = field(default_factory=dict)
    before: tuple[Said, ...] = ()
    looks: tuple[Look, ...] | None = None
    loaded: Loaded | None = None
    problems: tuple[Problem, ...] = ()
    message: str = ""
    read: bool = False
    proposals: tuple[Proposal, ...] = ()
    looked: tuple[tuple[Look, ...], Said] | None = None

    @property
    def is_bundle(self) -> bool:
        """Whether it is one zip."""
        return len(self.files) == 1 and next(iter(self.files)).lower().endswith((".zip", ".hetviz"))


def drop_zone(label: str, fresh: bool) -> None:
    """Show where files are dropped."""
    # A new key after each upload gives back the memory that the widget holds.
    key = f"files-{fresh}-{st.session_state.get('uploads', 0)}"
    # Any file: its content shows what it is, and why it cannot be read is told in words. By a list
    # of endings it would be left out with a red box that says nothing.
    with st.container(key=f"own-files-{fresh}"):
        st.file_uploader(
            label,
            accept_multiple_files=True,
            key=key,
            on_change=_stage,
            args=(key, fresh),
            label_visibility="collapsed",
        )


def is_staged() -> bool:
    """Whether files wait for a decision, or to be looked at before that."""
    return st.session_state.get("staged") is not None


def staged() -> Staged | None:
    """Return the files that wait for a decision, if any; they have been looked at by then."""
    found: Staged | None = st.session_state.get("staged")
    if found is not None and found.looks is None:
        # Here and not where the files arrive, so that the page can say what it waits for.
        with _waiting("Looking at the files", "stop-looking") as heard:
            found = replace(found, looks=_looks(found, heard))
        st.session_state["staged"] = found
    return found


@contextmanager
def _waiting(words: str, key: str) -> Iterator[Heard]:
    """Say what the page waits for, how far it has come, and let it be left.

    Only what is read in a process of its own tells anything, half a second after it began.
    What is told is drawn at once; where a click waits meanwhile, drawing ends this run of the page,
    and with it that process.
    """
    place = st.empty()
    bars: list[Any] = []

    def heard(fraction: float, message: str) -> None:
        said = f"{theme.plain(message or words)} …"
        if bars:
            bars[0].progress(fraction, said)
            return
        with place.container(key=f"{key}-wait"):
            bars.append(st.progress(fraction, said))
            st.button("Cancel", key=key, on_click=_forget)

    yield heard
    place.empty()


def _looks(waiting: Staged, heard: Heard) -> tuple[Look, ...]:
    if waiting.is_bundle:
        return ()
    workspace = session.workspace()
    try:
        contents = StoredFiles(workspace.blobs, waiting.files)
        cache = workspace.blobs.read_cache
        return look_at_files(contents, waiting.choices, cache, waiting.looked, heard)
    except HetvizError:
        # The reading says why.
        return ()


def _stage(key: str, fresh: bool) -> None:
    uploads = st.session_state.get(key) or []
    if not uploads:
        return
    contents: dict[str, bytes] = {}
    for upload in uploads:
        given = upload.name, upload.getvalue()
        name, content = gate.ungzipped(*given)
        contents |= [given if name in contents else (name, content)]
    st.session_state["uploads"] = st.session_state.get("uploads", 0) + 1
    name, content = next(iter(contents.items()))
    if fresh and len(contents) == 1 and is_project(name, content):
        _forget()
        st.session_state[PROJECT] = (name, content)
    else:
        stage(contents, fresh)


def stage(contents: Mapping[str, bytes], fresh: bool) -> None:
    """Have files wait for a decision."""
    st.session_state.pop("opening", None)
    workspace = session.workspace()
    try:
        unpacked = [
            tables_of_zip(name, content) or {name: content} for name, content in contents.items()
        ]
        # Of two files of one name each stays in its zip.
        together = {name: content for files in unpacked for name, content in files.items()}
        contents = together if len(together) == sum(map(len, unpacked)) else contents
        files = {name: workspace.blobs.put(content) for name, content in contents.items()}
    except HetvizError as error:
        session.tell(str(error))
        return
    # Whoever drops files wants a map next: the worker gets ready while they are looked at.
    background.RUNNER.warm()
    st.session_state["staged"] = Staged(files, fresh)


def _read(waiting: Staged, heard: Heard) -> Staged:
    workspace = session.workspace()
    loaded: Loaded | None = None
    problems: tuple[Problem, ...] = ()
    message = ""
    try:
        contents = StoredFiles(workspace.blobs, waiting.files)
        if waiting.is_bundle and waiting.fresh:
            name, content = next(iter(contents.items()))
            loaded = read_zip(content, name, workspace.blobs.read_cache, heard)
        else:
            base = None if waiting.fresh else workspace.state.data
            cache = workspace.blobs.read_cache
            loaded = read_files(contents, waiting.choices, base, cache, heard)
        problems = loaded.problems
    except HetvizError as error:
        problems = tuple(getattr(error, "problems", ()))
        message = "" if problems else str(error)
    return replace(waiting, loaded=loaded, problems=problems, message=message, read=True)


def _proposals(waiting: Staged) -> tuple[Proposal, ...]:
    """Return how the files seem to belong together, and to what they are added to."""
    loaded = waiting.loaded
    # What comes as a bundle was joined by who made it.
    if loaded is None or loaded.map is not None:
        return ()
    base = None if waiting.fresh else session.workspace().state.data
    old = set() if base is None else set(base.datasets)
    return tuple(
        one
        for one in proposals_of(loaded)
        if one.join.source not in old or (one.match.made is None and one.join.target not in old)
    )


def account(waiting: Staged) -> None:
    """Say what was understood and what was wrong, and ask how to go on."""
    head = st.container(key="staged-head")
    with st.container(key="reading"):
        left, side = st.columns([2.6, 1], gap="large")
    with side:
        right = st.container(key="reading-side")
    with left:
        if waiting.looks:
            can_undo = bool(waiting.before)
            known = () if waiting.loaded is None else waiting.loaded.files
            roles = {info.name: info.role for info in known}
            sheets.show(waiting.looks, waiting.choices, can_undo, _say, _take_back, roles)
        if not waiting.read:
            # Below the tables, which can be worked on meanwhile.
            with _waiting("Reading the files", "stop-reading") as heard:
                waiting = _read(waiting, heard)
                waiting = replace(waiting, proposals=_proposals(waiting))
            st.session_state["staged"] = waiting
            if waiting.loaded and any(info.role in _NO_ITEMS for info in waiting.loaded.files):
                # Their tabs said what the tables would be as datasets.
                st.rerun()
    loaded = waiting.loaded
    errors = [problem for problem in waiting.problems if problem.severity == "error"]
    notes = [problem for problem in waiting.problems if problem.severity != "error"]
    with head:
        if loaded is None:
            theme.headline(
                "These files could not be read",
                "Nothing was changed: what you had open is still there.",
            )
        else:
            theme.headline(found(loaded, waiting.proposals), _second_line(loaded, waiting, errors))
    with right:
        # The button stands before the ticks, which nobody needs to change.
        decide = st.container()
        chosen = belonging.Belonging()
        if loaded is not None:
            chosen = belonging.ask(loaded.data, waiting.proposals, "door")
        with decide:
            _decide(waiting, errors, chosen)
        if loaded is not None:
            for info in loaded.files:
                st.html(
                    f'<div class="hv-told"><b>{theme.esc(info.name)}</b>'
                    f"<span>{theme.esc(info.words)}{_how_read(info)}</span></div>"
                )
        theme.section("Other files", "instead of these")
        drop_zone("Other files", waiting.fresh)
    with left:
        reading.choices_form(
            waiting.files, waiting.choices, _reread, _sheets(waiting), _matrices(waiting)
        )
        if waiting.message:
            st.error(theme.plain(waiting.message))
        if errors:
            theme.section(
                "What was wrong", theme.count(sum(problem.count for problem in errors), "problem")
            )
            problem_table(errors)
        if notes:
            theme.section("Worth knowing", theme.count(len(notes), "note"))
            problem_table(notes)


def _decide(waiting: Staged, errors: list[Problem], chosen: belonging.Belonging) -> None:
    with st.container(horizontal=True, key="decide"):
        if waiting.loaded is not None:
            with st.container(key="primary_go", width="content"):
                st.button(
                    _go_label(waiting, errors),
                    type="primary",
                    key="go-on",
                    on_click=_go_on,
                    args=(waiting, chosen),
                )
        st.button("Cancel" if waiting.loaded else "Back", key="leave", on_click=_forget)


def _sheets(waiting: Staged) -> dict[str, list[str]]:
    """Return the sheets that messages name, by workbook."""
    told = [problem.where for problem in waiting.problems]
    told += [] if waiting.loaded is None else [info.name for info in waiting.loaded.files]
    found: dict[str, list[str]] = {}
    for name in waiting.files:
        start = f"{name}, sheet "
        sheets = [where.removeprefix(start) for where in told if where.startswith(start)]
        found[name] = list(dict.fromkeys(re.split(r", (?:row|column) ", s)[0] for s in sheets))
    return found


def _matrices(waiting: Staged) -> dict[str, list[str]]:
    """Return the matrices of an AnnData file that could be its features, by file."""
    found: dict[str, list[str]] = {}
    for info in () if waiting.loaded is None else waiting.loaded.files:
        told = [info.facts.get("features", ""), *info.facts.get(OTHERS, "").split(", ")]
        named = [re.split(r"[ ,]", words)[0] for words in told if words]
        found[info.file] = sorted({*found.get(info.file, ()), *named})
    return found


def _how_read(info: FileInfo) -> str:
    """Say how a file was read, as HTML."""
    if not info.facts:
        return ""
    told = "; ".join(f"{what}: {value}" for what, value in info.facts.items())
    return f'<br><span class="hv-quiet">Read with {theme.esc(told)}.</span>'


def summary(loaded: Loaded) -> str:
    """Say what data hold: datasets with their rows, and links."""
    parts = [f"{len(dataset):,} {name}" for name, dataset in loaded.data.datasets.items()]
    links = sum(map(len, loaded.data.links))
    return theme.listed(parts) + (f", joined by {theme.count(links, 'link')}" if links else "")


def found(loaded: Loaded, proposals: Sequence[Proposal]) -> str:
    """Say which tables belong together; how many rows there are, where none do."""
    sure = [one for one in proposals if one.sure]
    joined = {name for one in sure for name in one.ends}
    together = [name for name in loaded.data.datasets if name in joined]
    if len(together) < 2:
        return summary(loaded)
    alone = [name for name in loaded.data.datasets if name not in joined]
    words = f"{theme.listed(together)} belong together"
    return (
        f"{words}; {theme.listed(alone)} {'stands' if len(alone) == 1 else 'stand'} alone"
        if alone
        else words
    )


def problem_table(problems: list[Problem]) -> None:
    """Show problems as a table: place, problem, value, what to do."""
    head = ["Place", "Problem", "Value", "What to do"]
    rows = [
        [problem.where, problem.what, str(problem.value or ""), problem.remedy]
        for problem in problems[:_SHOWN]
    ]
    filled = [k for k in range(len(head)) if any(row[k] for row in rows)]
    theme.table([head[k] for k in filled], [[row[k] for k in filled] for row in rows], words=True)
    if len(problems) > _SHOWN:
        theme.quiet(f"… and {len(problems) - _SHOWN:,} more")


def feature_words(info: DatasetInfo) -> str:
    """Say where the features of a dataset come from."""
    return info.features or "no features"


def _second_line(loaded: Loaded, waiting: Staged, errors: list[Problem]) -> str:
    if not errors:
        all_used = "Everything in these files can be used."
        rows = summary(loaded)
        return all_used if found(loaded, waiting.proposals) == rows else f"{rows}. {all_used}"
    n = sum(problem.count for problem in errors)
    row, rows = _left_out(waiting, errors, "row"), _left_out(waiting, errors, "rows")
    some = theme.count(n, row, rows)
    are = "it is" if n == 1 else "they are"
    return f"{some} cannot be used as {are}; the table says why. Nothing has been opened yet."


def _left_out(waiting: Staged, errors: list[Problem], rows: str) -> str:
    """Return what errors are about: rows, whole files, or some of both."""
    whole = [problem.where in waiting.files for problem in errors]
    files = rows.replace("row", "file")
    return rows if not any(whole) else files if all(whole) else f"{rows} or {files}"


def _go_label(waiting: Staged, errors: list[Problem]) -> str:
    if errors:
        one = sum(problem.count for problem in errors) == 1
        what = _left_out(waiting, errors, "row" if one else "rows").replace(" or ", " and ")
        return f"Leave {'this' if one else 'these'} {what} out and go on"
    return "Map them" if waiting.fresh else "Add them"


def _go_on(waiting: Staged, chosen: belonging.Belonging) -> None:
    if waiting.is_bundle and waiting.fresh:
        name, blob = next(iter(waiting.files.items()))
        done = session.do(OpenBundle(blob, name, leave_out=True))
    else:
        done = session.do(
            AddTables(
                dict(waiting.files), dict(waiting.choices), leave_out=True, fresh=waiting.fresh
            )
        )
    if not done:
        return
    _forget()
    if chosen.command is not None:
        session.do(chosen.command)
    if session.workspace().state.run is None:
        background.make_first_map()
    if waiting.fresh:
        st.session_state["go-to"] = "map"


def _reread(choices: Said) -> None:
    waiting: Staged | None = st.session_state.get("staged")
    if waiting is None:
        return
    kept = {}
    for name, fields in choices.items():
        before = waiting.choices.get(name, {})
        # What was said of rows and columns holds as long as these stay the same.
        same = all(fields.get(field) == before.get(field) for field in _SHAPING)
        recipes = before.get("recipes", {}) if same else {}
        kept[name] = {**fields, "recipes": recipes} if recipes else dict(fields)
    _change(waiting, kept)


def _say(look: Look, edit: sheets.Edit | None) -> None:
    """Read a table in another way from now on; None for as proposed."""
    waiting: Staged | None = st.session_state.get("staged")
    if waiting is None:
        return
    fields = dict(waiting.choices.get(look.file, {}))
    recipes = {name: one for name, one in fields.pop("recipes", {}).items() if name != look.sheet}
    if edit is not None:
        # What was said a moment ago may not have been looked at yet.
        now = waiting.choices.get(look.file, {}).get("recipes", {}).get(look.sheet)
        recipe = edit(look.recipe if now is None else Recipe.from_dict(now))
        recipes[look.sheet] = recipe.to_dict()
    if recipes:
        fields["recipes"] = recipes
    _change(waiting, {**waiting.choices, look.file: fields})


def _change(waiting: Staged, choices: Said) -> None:
    before = (*waiting.before, waiting.choices)
    st.session_state["staged"] = Staged(
        waiting.files, waiting.fresh, choices, before, looked=_looked(waiting)
    )


def _take_back() -> None:
    waiting: Staged | None = st.session_state.get("staged")
    if waiting is not None and waiting.before:
        *before, last = waiting.before
        st.session_state["staged"] = Staged(
            waiting.files, waiting.fresh, last, tuple(before), looked=_looked(waiting)
        )


def _looked(waiting: Staged) -> tuple[tuple[Look, ...], Said] | None:
    """Return the last looks; of several clicks in quick succession only the first has some."""
    return (waiting.looks, waiting.choices) if waiting.looks else waiting.looked


def _forget() -> None:
    st.session_state.pop("staged", None)
