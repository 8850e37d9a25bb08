"""What a user has open and did: commands, the reducer, the log with undo and redo."""

from hetviz.workspace.commands.clusters import (
    MergeClusters,
    RenameCluster,
    SetClusters,
    SplitCluster,
)
from hetviz.workspace.commands.command import Act, Command, from_dict
from hetviz.workspace.commands.datasets import DropDataset, RenameDataset, ReplaceDataset
from hetviz.workspace.commands.features import SetFeatures
from hetviz.workspace.commands.guidance import (
    AddComparisons,
    AddLinks,
    AddPairs,
    DropStatements,
    EditStatements,
    ImportGuidance,
    RenameSet,
    ReverseComparisons,
    SetLabels,
    SwitchSet,
)
from hetviz.workspace.commands.joining import (
    JoinTables,
    LeaveLinks,
    LeaveUnlinked,
    LinkByKey,
    LinkByList,
    LinkByNearness,
    SetEntity,
)
from hetviz.workspace.commands.opening import AddTables, OpenBundle, OpenSample
from hetviz.workspace.commands.placing import KeepItems, LeaveItems
from hetviz.workspace.commands.runs import (
    ChooseRun,
    DropRun,
    EndJob,
    KeepFindings,
    RecordRun,
    RenameRun,
    StarRun,
    StartJob,
)
from hetviz.workspace.commands.view import SetFilters, SetTitle, SetView
from hetviz.workspace.state import SHIPPED, Clustering, Finding, Pending, Run, State, View
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.project_file import (
    Summary,
    is_project,
    open_project,
    save_project,
    summary_of,
)
from hetviz.workspace.store.selection import Glance
from hetviz.workspace.store.sessions import SESSIONS, Sessions
from hetviz.workspace.workspace import LOOK_ONLY, Looking, Workspace

__all__ = [
    "LOOK_ONLY",
    "SESSIONS",
    "SHIPPED",
    "Act",
    "AddComparisons",
    "AddLinks",
    "AddPairs",
    "AddTables",
    "BlobStore",
    "ChooseRun",
    "Clustering",
    "Command",
    "DropDataset",
    "DropRun",
    "DropStatements",
    "EditStatements",
    "EndJob",
    "Finding",
    "Glance",
    "ImportGuidance",
    "JoinTables",
    "KeepFindings",
    "KeepItems",
    "LeaveItems",
    "LeaveLinks",
    "LeaveUnlinked",
    "LinkByKey",
    "LinkByList",
    "LinkByNearness",
    "Looking",
    "MergeClusters",
    "OpenBundle",
    "OpenSample",
    "Pending",
    "RecordRun",
    "RenameCluster",
    "RenameDataset",
    "RenameRun",
    "RenameSet",
    "ReplaceDataset",
    "ReverseComparisons",
    "Run",
    "Sessions",
    "SetClusters",
    "SetEntity",
    "SetFeatures",
    "SetFilters",
    "SetLabels",
    "SetTitle",
    "SetView",
    "SplitCluster",
    "StarRun",
    "StartJob",
    "State",
    "Summary",
    "SwitchSet",
    "View",
    "Workspace",
    "from_dict",
    "is_project",
    "open_project",
    "save_project",
    "summary_of",
]
