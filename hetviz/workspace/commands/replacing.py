"""Carrying out that a dataset is replaced by its newer version."""

from __future__ import annotations

from dataclasses import replace

from hetviz.errors import DataError
from hetviz.io import Newer, newer_version
from hetviz.workspace.commands.guidance_commands import ReplaceDataset
from hetviz.workspace.state import State
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.content import keeping


def renewal(state: State, command: ReplaceDataset, blobs: BlobStore) -> Newer:
    """Return what a newer version of a dataset would change, before it is carried out.

    Raises
    ------
    hetviz.errors.DataError
        If the file cannot take the place of the dataset.
    """
    info = next((info for info in state.understood if info.dataset == command.name), None)
    content = blobs.get(command.blob)
    parse = keeping(blobs.kept)
    return newer_version(state.opened(), command.name, content, command.filename, info, parse)


def replaced(state: State, command: ReplaceDataset, blobs: BlobStore) -> State:
    """Return the state with a newer version of a dataset.

    Raises
    ------
    hetviz.errors.DataError
        If the file cannot take its place, or rows are wrong and not to be left out.
    """
    newer = renewal(state, command, blobs)
    if newer.errors and not command.leave_out:
        raise DataError(newer.errors)
    held_out = state.held_out
    if held_out is not None and command.name in held_out.datasets:
        held_out = held_out.edit().replace(newer.data[command.name])
    others = tuple(info for info in state.understood if info.dataset != command.name)
    return replace(
        state,
        data=newer.data,
        held_out=held_out,
        understood=(*others, newer.info),
        problems=state.problems + newer.problems,
    )
