"""What a user has open and did: commands, the reducer, the log with undo and redo."""

from hetviz.workspace.blobs import BlobStore
from hetviz.workspace.commands import (
    AddTables,
    ChooseRun,
    Command,
    DropDataset,
    OpenBundle,
    OpenSample,
    RecordRun,
    RenameDataset,
    SetTitle,
    SetView,
    from_dict,
)
from hetviz.workspace.sessions import SESSIONS, Sessions
from hetviz.workspace.state import SHIPPED, Run, State, View
from hetviz.workspace.workspace import Workspace

__all__ = [
    "SESSIONS",
    "SHIPPED",
    "AddTables",
    "BlobStore",
    "ChooseRun",
    "Command",
    "DropDataset",
    "OpenBundle",
    "OpenSample",
    "RecordRun",
    "RenameDataset",
    "Run",
    "Sessions",
    "SetTitle",
    "SetView",
    "State",
    "View",
    "Workspace",
    "from_dict",
]
