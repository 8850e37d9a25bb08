"""How well a map does: guidance kept, neighbours kept."""

from hetviz.metrics.guidance import guidance_curve
from hetviz.metrics.summary import Scores, evaluate

__all__ = ["Scores", "evaluate", "guidance_curve"]
