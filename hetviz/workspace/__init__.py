"""What a user has open and did: commands, the reducer, the log with undo and redo."""

from hetviz.workspace.blobs import BlobStore
from hetviz.workspace.commands import (
    AddTables,
    ChooseRun,
    Command,
    DropDataset,
    DropRun,
    EndJob,
    KeepFindings,
    LinkByKey,
    OpenBundle,
    OpenSample,
    RecordRun,
    RenameDataset,
    RenameRun,
    SetEntity,
    SetFilters,
    SetTitle,
    SetView,
    StarRun,
    StartJob,
    from_dict,
)
from hetviz.workspace.glance import Glance
from hetviz.workspace.sessions import SESSIONS, Sessions
from hetviz.workspace.state import SHIPPED, Kept, Pending, Run, State, View
from hetviz.workspace.workspace import Workspace

__all__ = [
    "SESSIONS",
    "SHIPPED",
    "AddTables",
    "BlobStore",
    "ChooseRun",
    "Command",
    "DropDataset",
    "DropRun",
    "EndJob",
    "Glance",
    "KeepFindings",
    "Kept",
    "LinkByKey",
    "OpenBundle",
    "OpenSample",
    "Pending",
    "RecordRun",
    "RenameDataset",
    "RenameRun",
    "Run",
    "Sessions",
    "SetEntity",
    "SetFilters",
    "SetTitle",
    "SetView",
    "StarRun",
    "StartJob",
    "State",
    "View",
    "Workspace",
    "from_dict",
]
