"""How well a map does: guidance kept, neighbours kept."""

from hetviz.metrics.curves import curves
from hetviz.metrics.guidance import guidance_curve
from hetviz.metrics.guidance_report import GuidanceReport, guidance_report
from hetviz.metrics.ranking import roc_curve
from hetviz.metrics.summary import Scores, evaluate

__all__ = [
    "GuidanceReport",
    "Scores",
    "curves",
    "evaluate",
    "guidance_curve",
    "guidance_report",
    "roc_curve",
]
