"""Runs: data, method, parameters and seed to a result that can be repeated."""

from hetviz.runs.asking import Answer, nearest_to
from hetviz.runs.label_result import LabelPrediction
from hetviz.runs.labels import predict_labels
from hetviz.runs.prediction import predict_links
from hetviz.runs.questions import Question, suggest_questions
from hetviz.runs.recipe import Recipe, read_recipe, run_recipe, write_run
from hetviz.runs.run import FittedRun, Run, embed, fit_run
from hetviz.runs.stopping import stopping_hint

__all__ = [
    "Answer",
    "FittedRun",
    "LabelPrediction",
    "Question",
    "Recipe",
    "Run",
    "embed",
    "fit_run",
    "nearest_to",
    "predict_labels",
    "predict_links",
    "read_recipe",
    "run_recipe",
    "stopping_hint",
    "suggest_questions",
    "write_run",
]
