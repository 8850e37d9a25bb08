"""A workspace as somebody sees it who may look at it and not change it."""

from __future__ import annotations

from typing import NoReturn

from hetviz.errors import HetvizError
from hetviz.workspace.commands.command import Command
from hetviz.workspace.state import State
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.workspace import Workspace

LOOK_ONLY = "You may look at this project, but not change it. Ask its owner for a link to edit it."


class Looking(Workspace):
    """Follows another workspace; has its own selection and camera, which are kept nowhere.

    Parameters
    ----------
    other : Workspace
    """

    def __init__(self, other: Workspace) -> None:
        super().__init__(_ReadOnly(other.blobs.folder))
        self._other = other
        self.follow(other)

    def follow(self, other: Workspace) -> None:
        """Take over what the other workspace holds now."""
        moment = other.moment()
        self._other = other
        if moment.state is not self.state:
            # Told apart by what fingerprints tell apart, so that a selection of other rows goes.
            self.log, self.state = list(moment.log), moment.state
            if self._fingerprint != moment.glance.fingerprint:
                self._fingerprint = moment.glance.fingerprint
                self.selection_version += 1

    def do(self, command: Command) -> State:
        """Refuse it."""
        _refuse()

    def undo(self) -> State:
        """Refuse it."""
        _refuse()

    def redo(self) -> State:
        """Refuse it."""
        _refuse()


class _ReadOnly(BlobStore):
    def put(self, content: bytes) -> str:
        _refuse()


def _refuse() -> NoReturn:
    raise HetvizError(LOOK_ONLY)
