"""Projects: commands, state, log with undo and redo."""

from hetviz.runs.embed.run import MapResult
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
    RecordMap,
    RenameRun,
    StarRun,
    StartJob,
)
from hetviz.workspace.commands.state import (
    ORIGINAL_MAP,
    ClusterAssignment,
    DisplaySettings,
    Finding,
    PendingJob,
    State,
)
from hetviz.workspace.commands.view import SetFilters, SetTitle, SetView
from hetviz.workspace.project_file import Summary, is_project, open_project, save_project, summarize
from hetviz.workspace.sessions import SESSIONS, Sessions
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.view_state import ViewState
from hetviz.workspace.workspace import READ_ONLY_MESSAGE, ReadOnlyWorkspace, Workspace

__all__ = [
    "ORIGINAL_MAP",
    "READ_ONLY_MESSAGE",
    "SESSIONS",
    "Act",
    "AddComparisons",
    "AddLinks",
    "AddPairs",
    "AddTables",
    "BlobStore",
    "ChooseRun",
    "ClusterAssignment",
    "Command",
    "DisplaySettings",
    "DropDataset",
    "DropRun",
    "DropStatements",
    "EditStatements",
    "EndJob",
    "Finding",
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
    "MapResult",
    "MergeClusters",
    "OpenBundle",
    "OpenSample",
    "PendingJob",
    "ReadOnlyWorkspace",
    "RecordMap",
    "RenameCluster",
    "RenameDataset",
    "RenameRun",
    "RenameSet",
    "ReplaceDataset",
    "ReverseComparisons",
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
    "ViewState",
    "Workspace",
    "from_dict",
    "is_project",
    "open_project",
    "save_project",
    "summarize",
]
