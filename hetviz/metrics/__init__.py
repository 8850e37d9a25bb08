"""How well a map does: guidance kept, neighbours kept."""

from hetviz.metrics.conflicts import Conflict, would_contradict
from hetviz.metrics.curves import curves
from hetviz.metrics.guidance import guidance_curve
from hetviz.metrics.guidance_report import GuidanceReport, guidance_report
from hetviz.metrics.ranking import roc_curve
from hetviz.metrics.stability import stability
from hetviz.metrics.summary import Scores, evaluate
from hetviz.metrics.trust import Trust, trust

__all__ = [
    "Conflict",
    "GuidanceReport",
    "Scores",
    "Trust",
    "curves",
    "evaluate",
    "guidance_curve",
    "guidance_report",
    "roc_curve",
    "stability",
    "trust",
    "would_contradict",
]
