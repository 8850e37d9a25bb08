"""Commands that open samples, bundles and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hetviz.errors import DataError
from hetviz.io import Loaded
from hetviz.memo import cached_while_alive
from hetviz.runs.embed.run import MapOrigin, MapResult
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.state import ORIGINAL_MAP, State
from hetviz.workspace.commands.view import MAX_TITLE, validate_title
from hetviz.workspace.store.content import StoredFiles, read_files, read_sample, read_zip


@dataclass(frozen=True)
class OpenSample(Command, op="open-sample", label="open sample"):
    """Open a sample in place of the current data."""

    name: str

    def apply(self, state: State, context: Context) -> State:
        return _initial_state(state, read_sample(self.name), f"sample:{self.name}")


@dataclass(frozen=True)
class OpenBundle(Command, op="open-bundle", label="open file"):
    """Open a bundle (zip) from a blob in place of the current data."""

    blob: str
    filename: str
    leave_out: bool = False

    def apply(self, state: State, context: Context) -> State:
        loaded = read_zip(context.blobs.get(self.blob), self.filename, context.blobs.read_cache)
        _refuse_errors(loaded, self.leave_out)
        return _initial_state(state, loaded, f"file:{self.filename}")


@dataclass(frozen=True)
class AddTables(Command, op="add-tables", label="add files"):
    """Read tables from blobs, as datasets or links."""

    files: Mapping[str, str]  # Blob by file name.
    # Choices of the user on how to read each file.
    choices: Mapping[str, Any] = field(default_factory=dict)
    leave_out: bool = False  # Skip invalid rows.
    fresh: bool = False  # Replace the open data instead of adding to them.
    # Key of the parsed cells in the read cache, "" in older journals. Without them, the blobs are
    # parsed again.
    container: str = ""

    def apply(self, state: State, context: Context) -> State:
        files = StoredFiles(context.blobs, self.files)
        base = None if self.fresh else state.data
        cache = context.blobs.read_cache
        loaded = read_files(files, self.choices, base, cache, container=self.container)
        _refuse_errors(loaded, self.leave_out)
        if base is None:
            return _initial_state(state, loaded, "files")
        return replace(
            state,
            data=loaded.data,
            problems=state.problems + loaded.problems,
            understood=state.understood + loaded.understood,
        )


def _initial_state(before: State, loaded: Loaded, source: str) -> State:
    original = _original_map(loaded)
    runs = () if original is None else (original,)
    return State(
        title=validate_title((loaded.title or loaded.name)[:MAX_TITLE]),
        description=loaded.description,
        source=source,
        data=loaded.data,
        held_out=loaded.held_out,
        problems=loaded.problems,
        understood=loaded.understood,
        runs=runs,
        chosen=ORIGINAL_MAP if runs else None,
        pending=before.pending,
    )


@cached_while_alive
def _original_map(loaded: Loaded) -> MapResult | None:
    """Return the map of the data, one for all projects that share them, as are its results."""
    if loaded.map is None:
        return None
    original = MapResult(
        loaded.data.fingerprint(),
        loaded.map_method or "",
        dict(loaded.map_params),
        loaded.map_seed,
        title="Original map",
        embedding=loaded.map,
        id=ORIGINAL_MAP,
    )
    return replace(original, origin=MapOrigin(loaded.data, original))


def _refuse_errors(loaded: Loaded, leave_out: bool) -> None:
    if loaded.errors and not leave_out:
        raise DataError(loaded.errors)
