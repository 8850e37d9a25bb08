"""Upload of files: reading, review of what was understood, and opening or discarding them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st

from hetviz._text import count_rows
from hetviz.data import HeteroData
from hetviz.data.joins.join import Join
from hetviz.data.joins.proposals import Proposal
from hetviz.errors import HetvizError, Problem
from hetviz.features.table_joins import notes_after_joining
from hetviz.io import FileInfo, Loaded
from hetviz.io.formats.anndata import OTHER_PARTS
from hetviz.io.formats.registry import extensions_of
from hetviz.io.infer.parsed import split_place
from hetviz.io.infer.recipe import TableRecipe
from hetviz.io.intake.preview import TablePreview
from hetviz.io.intake.zip_tables import tables_of_zip
from hetviz.ui.jobs.jobs import JOBS
from hetviz.ui.reading import compare_rows, guide, join_choice, reading_options, sheets
from hetviz.ui.reading.reading_options import FileChoices
from hetviz.ui.shell import background, session, theme
from hetviz.ui.shell.page_state import page_state, state_of
from hetviz.ui.widgets import failure, uploads
from hetviz.workers.reader import OnProgress
from hetviz.workspace import AddTables, OpenBundle, is_project
from hetviz.workspace.store.content import (
    StoredFiles,
    container_key,
    look_at_files,
    proposals_of,
    read_files,
    read_zip,
)

_TABLE_FIELDS = ("encoding", "separator", "decimal", "header", "skip", "sheet", "role")
_MAX_NAMED_COLUMNS = 3
_LINK_ROLES = ("links", "comparisons")


@dataclass(frozen=True, eq=False)
class StagedFiles:
    """Uploaded files that are not opened yet.

    `files` maps names to blobs, `fresh` files replace the open data, `choices` override how files
    are read, and `history` has the earlier choices for undo. `looks` (raw tables), `loaded`,
    `problems`, `message` and `proposals` are filled step by step; `last_looks` are the previous
    looks with their choices.
    """

    files: Mapping[str, str]
    fresh: bool
    choices: FileChoices = field(default_factory=dict)
    history: tuple[FileChoices, ...] = ()
    looks: tuple[TablePreview, ...] | None = None
    loaded: Loaded | None = None
    problems: tuple[Problem, ...] = ()
    message: str = ""
    read: bool = False
    proposals: tuple[Proposal, ...] = ()
    last_looks: tuple[tuple[TablePreview, ...], FileChoices] | None = None

    @property
    def is_bundle(self) -> bool:
        """Whether it is a single zip."""
        return len(self.files) == 1 and next(iter(self.files)).lower().endswith(
            extensions_of("archive")
        )


@dataclass
class ProjectUpload:
    """A dropped project file, the session it became, or the problems that prevented it."""

    name: str
    content: bytes
    sid: str = ""
    problems: tuple[Problem, ...] = ()


@dataclass
class Uploads:
    """Uploaded files that wait for a decision, and a project file that waits to be opened."""

    staged: StagedFiles | None = None
    project: ProjectUpload | None = None


def drop_zone(label: str, fresh: bool) -> None:
    """Show where files are dropped."""
    if fresh:
        guide.ask_browser()
    with st.container(key=f"own-files-{fresh}"):
        uploads.show_field(label, f"files-{fresh}", partial(_on_files, fresh), multiple=True)


def is_staged() -> bool:
    """Return whether uploaded files wait for a decision."""
    return state_of(Uploads).staged is not None


def is_new_project() -> bool:
    """Return whether uploaded files, which could be read, wait to replace the open data."""
    staged = state_of(Uploads).staged
    return staged is not None and staged.fresh and not (staged.read and staged.loaded is None)


def staged_files() -> StagedFiles | None:
    """Return the uploaded files that wait for a decision, with their looks, or None."""
    staged = state_of(Uploads).staged
    if staged is not None and staged.looks is None:
        # Done here and not on upload, so that the page can show its progress.
        with _progress_with_cancel("Looking at the files", "stop-looking") as on_progress:
            staged = replace(staged, looks=_look_at_files(staged, on_progress))
        state_of(Uploads).staged = staged
    return staged


@contextmanager
def _progress_with_cancel(text: str, key: str) -> Iterator[OnProgress]:
    """Show progress with a Cancel button while the block reads files in another process."""
    box = st.empty()
    bars: list[Any] = []

    def on_progress(fraction: float, message: str) -> None:
        label = f"{theme.escape_markdown(message or text)} …"
        if bars:
            bars[0].progress(fraction, label)
            return
        with box.container(key=f"{key}-wait"):
            bars.append(st.progress(fraction, label))
            st.button("Cancel", key=key, on_click=_discard)

    yield on_progress
    box.empty()


def _look_at_files(staged: StagedFiles, on_progress: OnProgress) -> tuple[TablePreview, ...]:
    if staged.is_bundle:
        return ()
    workspace = session.workspace()
    try:
        contents = StoredFiles(workspace.blobs, staged.files)
        cache = workspace.blobs.read_cache
        return look_at_files(contents, staged.choices, cache, staged.last_looks, on_progress)
    except HetvizError:
        # Reading the files reports the reason.
        return ()


def _on_files(fresh: bool, contents: Mapping[str, bytes]) -> None:
    name, content = next(iter(contents.items()))
    if fresh and len(contents) == 1 and is_project(name, content):
        _discard()
        state_of(Uploads).project = ProjectUpload(name, content)
    else:
        stage_files(contents, fresh)


def stage_files(contents: Mapping[str, bytes], fresh: bool) -> None:
    """Store files until the visitor decides to open them."""
    state_of(Uploads).project = None
    workspace = session.workspace()
    try:
        unpacked = [
            tables_of_zip(name, content) or {name: content} for name, content in contents.items()
        ]
        # Zips are not unpacked if two files have the same name.
        merged = {name: content for files in unpacked for name, content in files.items()}
        contents = merged if len(merged) == sum(map(len, unpacked)) else contents
        files = {name: workspace.blobs.put(content) for name, content in contents.items()}
    except HetvizError as error:
        session.add_message(str(error))
        return
    # A map is usually made next, so the worker starts up during the review.
    JOBS.warm()
    state_of(Uploads).staged = StagedFiles(files, fresh)
    guide.begin(fresh)


def _read_files(staged: StagedFiles, on_progress: OnProgress) -> StagedFiles:
    workspace = session.workspace()
    loaded: Loaded | None = None
    problems: tuple[Problem, ...] = ()
    message = ""
    try:
        contents = StoredFiles(workspace.blobs, staged.files)
        if staged.is_bundle and staged.fresh:
            name, content = next(iter(contents.items()))
            loaded = read_zip(content, name, workspace.blobs.read_cache, on_progress)
        else:
            base = None if staged.fresh else workspace.state.data
            cache = workspace.blobs.read_cache
            loaded = read_files(contents, staged.choices, base, cache, on_progress)
        problems = loaded.problems
    except HetvizError as error:
        problems = tuple(getattr(error, "problems", ()))
        message = "" if problems else str(error)
    return replace(staged, loaded=loaded, problems=problems, message=message, read=True)


def _join_proposals(staged: StagedFiles) -> tuple[Proposal, ...]:
    """Return proposals to join the files with each other and with the open data."""
    loaded = staged.loaded
    # A bundle has its own links.
    if loaded is None or loaded.map is not None:
        return ()
    open_names = _open_names(staged)
    return tuple(
        proposal
        for proposal in proposals_of(loaded)
        if proposal.join.source not in open_names
        or (proposal.match.new_dataset is None and proposal.join.target not in open_names)
    )


def _open_names(staged: StagedFiles) -> set[str]:
    """Return the datasets of the open project that the files are added to."""
    base = None if staged.fresh else session.workspace().state.data
    return set() if base is None else set(base.datasets)


def show_review(staged: StagedFiles) -> None:
    """Show what was understood and what was wrong, with buttons to accept or cancel.

    A first project is reviewed in steps: all blocks are drawn and the style sheet shows those of
    the step, so that no choice is lost between two steps.
    """
    # A zip with its own map, or unreadable files, have nothing to step through.
    step = guide.current_step() if staged.looks else ""
    mark = st.empty()
    if step:
        with mark:
            guide.mark_step(step)
    head = st.container(key="staged-head")
    with st.container(key="reading"):
        left, side = st.columns([2.6, 1], gap="large")
    with side:
        right = st.container(key="reading-side")
    with left:
        map_box = st.container(key="join-map", gap=None)
        with st.container(key="review-sheets", gap=None):
            if staged.looks:
                _show_sheets(staged, staged.looks)
        place = map_box.empty()
        if not staged.read:
            if len(staged.looks or ()) > 1 and not step:
                # Keeps the tables in place until their drawing is known.
                place.html('<div class="hv-join-map-place"></div>')
            # Drawn below the tables, which can be edited meanwhile.
            with _progress_with_cancel("Reading the files", "stop-reading") as on_progress:
                staged = _read_files(staged, on_progress)
                staged = replace(staged, proposals=_join_proposals(staged))
            place.empty()
            state_of(Uploads).staged = staged
            if staged.loaded and any(info.role in _LINK_ROLES for info in staged.loaded.files):
                # The tabs described these tables as datasets.
                st.rerun()
    loaded = staged.loaded
    if loaded is None and step:
        step = ""
        mark.empty()
    errors = [problem for problem in staged.problems if problem.severity == "error"]
    notes = [problem for problem in staged.problems if problem.severity != "error"]
    joins = join_choice.ChosenJoins()
    with right:
        # The button comes first, as the ticks rarely need a change.
        buttons = st.container()
        if loaded is not None:
            stated = _stated_keys(staged, loaded)
            # Rows are compared on request, after the files were read.
            proposals = compare_rows.with_proposals(loaded.data, staged.proposals)
            staged = replace(staged, proposals=tuple(proposals))
            unlinked = _tables_to_compare(staged, loaded)
            joins = join_choice.choose_joins(
                loaded.data, proposals, "door", stated, map_box, bool(step), unlinked
            )
            places = {info.dataset: info.file for info in loaded.understood}
            notes = notes_after_joining(notes, places, joins.joins, joins.rows)
        if not step:
            _show_files(staged)
    if not step:
        with head:
            _show_headline(staged, errors)
        with buttons:
            _show_buttons(staged, errors, joins)
    elif loaded is not None:
        with head:
            _show_guide(staged, loaded, errors, joins, step)
        with left, st.container(key="review-summary", gap="medium"):
            joined = join_choice.joined_data(loaded.data, joins)
            data = joined if isinstance(joined, HeteroData) else loaded.data
            unused = [column for _, column in _unused_columns(loaded, staged.proposals)]
            guide.show_summary(data, unused, data is joined, joins.rows)
    with left, st.container(key="review-files"):
        reading_options.show_options(
            staged.files,
            staged.choices,
            _apply_options,
            _sheet_names(staged),
            _matrix_names(staged),
        )
        if staged.message:
            st.error(theme.escape_markdown(staged.message))
        if errors:
            theme.show_section(
                "Errors", theme.count(sum(problem.count for problem in errors), "problem")
            )
            failure.show_problems(errors)
        if notes:
            theme.show_section("Notes", theme.count(len(notes), "note"))
            failure.show_problems(notes)


def _show_sheets(staged: StagedFiles, looks: Sequence[TablePreview]) -> None:
    files = () if staged.loaded is None else staged.loaded.files
    roles = {info.name: info.role for info in files}
    sheets.show_sheets(looks, staged.choices, bool(staged.history), _apply_edit, _undo_edit, roles)


def _show_headline(staged: StagedFiles, errors: list[Problem]) -> None:
    loaded = staged.loaded
    if loaded is None:
        theme.show_headline(
            "These files could not be read",
            "Nothing was changed. Your open project is still there.",
        )
        return
    theme.show_headline(tables_title(loaded, staged.proposals), _subtitle(loaded, staged, errors))


def _show_files(staged: StagedFiles) -> None:
    """Show how each file was read, and where other ones are dropped."""
    for info in () if staged.loaded is None else staged.loaded.files:
        st.html(
            f'<div class="hv-summary"><b>{theme.escape_html(info.name)}</b>'
            f"<span>{theme.escape_html(info.words)}{_reading_html(info)}</span></div>"
        )
    theme.show_section("Other files", "instead of these")
    drop_zone("Other files", staged.fresh)


def _show_guide(
    staged: StagedFiles,
    loaded: Loaded,
    errors: list[Problem],
    joins: join_choice.ChosenJoins,
    step: str,
) -> None:
    """Show the steps, the question of the current one, and its buttons."""
    has_links = bool(staged.proposals) or len(loaded.data.datasets) > 1
    steps = [guide.COLUMNS, guide.LINKS, guide.MAP] if has_links else [guide.COLUMNS, guide.MAP]
    step = step if step in steps else guide.MAP
    guide.show_steps(steps, step)
    with st.container(horizontal=True, vertical_alignment="bottom", key="guide-head"):
        guide.show_question(*_question(staged, loaded, errors, step), step)
        with st.container(horizontal=True, key="decide", width="content"):
            accept = (_accept_label(staged, errors), partial(_accept, staged, joins))
            guide.show_buttons(steps, step, accept, _discard)


def _question(
    staged: StagedFiles, loaded: Loaded, errors: list[Problem], step: str
) -> tuple[str, str]:
    """Return the question of a step, and a short text."""
    if step == guide.LINKS:
        n_certain = sum(proposal.sure for proposal in staged.proposals)
        n_uncertain = len(staged.proposals) - n_certain
        n_links = sum(map(len, loaded.data.links))
        ways = compare_rows.ways_text(loaded.data, _tables_to_compare(staged, loaded))
        text = guide.links_text(n_certain, n_uncertain, n_links, ways)
        return guide.links_title(len(staged.proposals) + n_links), text
    if step == guide.MAP:
        return "Is this what you want to map?", "You can switch links and columns on and off later."
    if errors:
        return "Is this what your columns mean?", _subtitle(loaded, staged, errors)
    text = f"{contents_text(loaded)}. Change what is wrong in the list over a column."
    return "Is this what your columns mean?", text


def _tables_to_compare(staged: StagedFiles, loaded: Loaded) -> list[tuple[str, str]]:
    names = _open_names(staged)
    return compare_rows.tables_to_compare(loaded.data, staged.proposals, names)


def _stated_keys(staged: StagedFiles, loaded: Loaded) -> list[Join]:
    """Return the columns that the user declared as keys of another table, as joins."""
    place_of = {info.dataset: split_place(info.file) for info in loaded.understood}
    out = []
    for name, (file, sheet) in place_of.items():
        fields = staged.choices.get(file, {}).get("recipes", {}).get(sheet)
        for column in () if fields is None else TableRecipe.from_dict(fields).columns:
            if not (column.said and column.type == "key of another table"):
                continue
            out += [
                Join("key", name, other, column.name, "", loose=True)
                for other, place in place_of.items()
                if other != name and column.of in (place[1] or place[0], other)
            ]
    return out


def _show_buttons(
    staged: StagedFiles, errors: list[Problem], joins: join_choice.ChosenJoins
) -> None:
    with st.container(horizontal=True, key="decide"):
        if staged.loaded is not None:
            with st.container(key="primary_go", width="content"):
                st.button(
                    _accept_label(staged, errors),
                    type="primary",
                    key="go-on",
                    on_click=_accept,
                    args=(staged, joins),
                )
        st.button("Cancel" if staged.loaded else "Back", key="leave", on_click=_discard)


def _sheet_names(staged: StagedFiles) -> dict[str, list[str]]:
    """Return the sheet names that messages mention, by workbook."""
    places = [problem.where for problem in staged.problems]
    places += [] if staged.loaded is None else [info.name for info in staged.loaded.files]
    names_by_file: dict[str, list[str]] = {}
    for name in staged.files:
        start = f"{name}, sheet "
        sheets = [where.removeprefix(start) for where in places if where.startswith(start)]
        names_by_file[name] = list(
            dict.fromkeys(re.split(r", (?:row|column) ", s)[0] for s in sheets)
        )
    return names_by_file


def _matrix_names(staged: StagedFiles) -> dict[str, list[str]]:
    """Return the matrices of an AnnData file that can be its features, by file."""
    names_by_file: dict[str, list[str]] = {}
    for info in () if staged.loaded is None else staged.loaded.files:
        facts = [info.facts.get("features", ""), *info.facts.get(OTHER_PARTS, "").split(", ")]
        names = [re.split(r"[ ,]", words)[0] for words in facts if words]
        names_by_file[info.file] = sorted({*names_by_file.get(info.file, ()), *names})
    return names_by_file


def _reading_html(info: FileInfo) -> str:
    if not info.facts:
        return ""
    facts = ", ".join(f"{fact}: {value}" for fact, value in info.facts.items())
    return f'<br><span class="hv-quiet">Read with {theme.escape_html(facts)}.</span>'


def contents_text(loaded: Loaded) -> str:
    """Return the datasets with their rows, and the number of links."""
    parts = [count_rows(len(dataset), name) for name, dataset in loaded.data.datasets.items()]
    links = sum(map(len, loaded.data.links))
    return theme.join_words(parts) + (f" with {theme.count(links, 'link')}" if links else "")


def tables_title(loaded: Loaded, proposals: Sequence[Proposal]) -> str:
    """Return which tables belong together, or else what they contain."""
    certain = [proposal for proposal in proposals if proposal.sure]
    joined = {name for proposal in certain for name in proposal.ends}
    joined_names = [name for name in loaded.data.datasets if name in joined]
    if len(joined_names) < 2:
        return contents_text(loaded)
    alone = [name for name in loaded.data.datasets if name not in joined]
    words = f"{theme.join_words(joined_names)} belong together"
    return (
        f"{words}, {theme.join_words(alone)} {'stands' if len(alone) == 1 else 'stand'} alone"
        if alone
        else words
    )


def usage_text(loaded: Loaded, proposals: Sequence[Proposal]) -> str:
    """Return whether everything in files without errors is used, in sentences."""
    shown = _unused_columns(loaded, proposals)
    is_certain = not loaded.problems and all(proposal.declared for proposal in proposals)
    if is_certain and not shown:
        return "Everything in these files can be used."
    sentences = ["No row was refused."]
    if shown:
        names = [column for _, column in shown[:_MAX_NAMED_COLUMNS]]
        more = len(shown) - len(names)
        names += [f"{more:,} more"] * bool(more)
        verb = "is" if len(shown) == 1 else "are"
        word = "Column" if len(shown) == 1 else "Columns"
        sentences.append(f"{word} {theme.join_words(names)} {verb} shown but not used for the map.")
    if not is_certain:
        sentences.append("Check what was guessed below.")
    return " ".join(sentences)


def _unused_columns(loaded: Loaded, proposals: Sequence[Proposal]) -> list[tuple[str, str]]:
    """Return the datasets and columns that neither place items nor link them."""
    keys = {
        (dataset, column)
        for proposal in proposals
        for dataset, columns in (
            (proposal.join.source, proposal.join.source_columns),
            (proposal.join.target, proposal.join.target_columns),
        )
        for column in columns
    }
    return [place for place in loaded.unused_columns if place not in keys]


def _subtitle(loaded: Loaded, staged: StagedFiles, errors: list[Problem]) -> str:
    if not errors:
        all_used = usage_text(loaded, staged.proposals)
        rows = contents_text(loaded)
        return all_used if tables_title(loaded, staged.proposals) == rows else f"{rows}. {all_used}"
    n = sum(problem.count for problem in errors)
    row, rows = _excluded_noun(staged, errors, "row"), _excluded_noun(staged, errors, "rows")
    affected = theme.count(n, row, rows)
    return f"{affected} cannot be used. The table says why. Nothing has been opened yet."


def _excluded_noun(staged: StagedFiles, errors: list[Problem], rows: str) -> str:
    """Return what the errors affect: rows, whole files, or both."""
    is_whole_file = [problem.where in staged.files for problem in errors]
    files = rows.replace("row", "file")
    return rows if not any(is_whole_file) else files if all(is_whole_file) else f"{rows} or {files}"


def _accept_label(staged: StagedFiles, errors: list[Problem]) -> str:
    if errors:
        is_single = sum(problem.count for problem in errors) == 1
        noun = _excluded_noun(staged, errors, "row" if is_single else "rows").replace(
            " or ", " and "
        )
        return f"Continue without {'this' if is_single else 'these'} {noun}"
    return "Create map" if staged.fresh else "Add to project"


def _accept(staged: StagedFiles, joins: join_choice.ChosenJoins) -> None:
    if staged.is_bundle and staged.fresh:
        name, blob = next(iter(staged.files.items()))
        done = session.run_command(OpenBundle(blob, name, leave_out=True))
    else:
        done = session.run_command(
            AddTables(
                dict(staged.files),
                dict(staged.choices),
                leave_out=True,
                fresh=staged.fresh,
                container=container_key(staged.files, staged.choices),
            )
        )
    if not done:
        return
    _discard()
    if joins.command is not None:
        session.run_command(joins.command)
    if session.workspace().state.run is None:
        background.make_first_map()
    if staged.fresh:
        page_state().go_to = "map"


def _apply_options(choices: FileChoices) -> None:
    staged = state_of(Uploads).staged
    if staged is None:
        return
    merged = {}
    for name, fields in choices.items():
        current = staged.choices.get(name, {})
        # Choices of rows and columns stay valid while these fields are unchanged.
        same_shape = all(fields.get(field) == current.get(field) for field in _TABLE_FIELDS)
        recipes = current.get("recipes", {}) if same_shape else {}
        merged[name] = {**fields, "recipes": recipes} if recipes else dict(fields)
    _set_choices(staged, merged)


def _apply_edit(look: TablePreview, edit: sheets.RecipeEdit | None) -> None:
    """Change how a table is read, None resets it to the proposal."""
    staged = state_of(Uploads).staged
    if staged is None:
        return
    fields = dict(staged.choices.get(look.file, {}))
    recipes = {
        name: recipe_fields
        for name, recipe_fields in fields.pop("recipes", {}).items()
        if name != look.sheet
    }
    if edit is not None:
        # The look may be older than the last choice.
        current = staged.choices.get(look.file, {}).get("recipes", {}).get(look.sheet)
        recipe = edit(look.recipe if current is None else TableRecipe.from_dict(current))
        recipes[look.sheet] = recipe.to_dict()
    if recipes:
        fields["recipes"] = recipes
    _set_choices(staged, {**staged.choices, look.file: fields})


def _set_choices(staged: StagedFiles, choices: FileChoices) -> None:
    history = (*staged.history, staged.choices)
    state_of(Uploads).staged = StagedFiles(
        staged.files, staged.fresh, choices, history, last_looks=_last_looks(staged)
    )


def _undo_edit() -> None:
    staged = state_of(Uploads).staged
    if staged is not None and staged.history:
        *history, choices = staged.history
        state_of(Uploads).staged = StagedFiles(
            staged.files, staged.fresh, choices, tuple(history), last_looks=_last_looks(staged)
        )


def _last_looks(staged: StagedFiles) -> tuple[tuple[TablePreview, ...], FileChoices] | None:
    """Return the last looks and choices, as after quick clicks only the first has looks."""
    return (staged.looks, staged.choices) if staged.looks else staged.last_looks


def _discard() -> None:
    join_choice.forget_edits()
    state_of(Uploads).staged = None
