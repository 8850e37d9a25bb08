"""hetviz: one joint map of several unlike datasets, moved by what is known of their items.

The names below load on first use, so that ``import hetviz`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Comparisons",
    "Dataset",
    "Embedding",
    "HeteroData",
    "Labels",
    "Links",
    "clusters",
    "compare",
    "comparison_table",
    "comparisons_from_hierarchy",
    "comparisons_from_label",
    "comparisons_from_rating",
    "dataset_from_list",
    "embed",
    "evaluate",
    "export",
    "get_method",
    "guidance_curve",
    "guidance_report",
    "links_between",
    "links_by_key",
    "links_by_list",
    "links_by_nearness",
    "links_from_labels",
    "load",
    "load_model",
    "load_run",
    "make_features",
    "merge_guidance",
    "methods",
    "nearest_to",
    "place_rows",
    "predict_labels",
    "predict_links",
    "price",
    "propose_joins",
    "recognise_views",
    "run_recipe",
    "samples",
    "save",
    "save_model",
    "statements",
    "stopping_hint",
    "suggest",
    "suggest_questions",
    "sweep",
    "transform_features",
    "trust",
    "write_report",
]

_WHERE = {
    "data": ("Comparisons", "Dataset", "Embedding", "HeteroData", "Labels", "Links", "statements"),
    "data.listing": ("dataset_from_list", "links_by_list"),
    "data.matching": ("links_by_key",),
    "data.nearness_links": ("links_by_nearness",),
    "data.proposals": ("propose_joins", "recognise_views"),
    "exports.export": ("export",),
    "exports.model": ("load_model", "save_model"),
    "exports.report": ("write_report",),
    "exports.result": ("load_run",),
    "features.comparing": (
        "comparison_table",
        "comparisons_from_hierarchy",
        "comparisons_from_label",
        "comparisons_from_rating",
    ),
    "features.grouping": ("links_between",),
    "features.label_links": ("links_from_labels",),
    "features.recipe": ("make_features", "transform_features"),
    "io": ("load", "samples", "save"),
    "metrics": ("evaluate", "guidance_curve", "guidance_report", "trust"),
    "metrics.merging": ("merge_guidance",),
    "metrics.pricing": ("price",),
    "registry": ("get_method", "methods", "suggest"),
    "runs.clusters": ("clusters",),
    "runs.compare": ("compare",),
    "runs.place": ("place_rows",),
    "runs.questions": ("suggest_questions",),
    "runs.stopping": ("stopping_hint",),
    "runs.sweep": ("sweep",),
    "runs": ("embed", "nearest_to", "predict_labels", "predict_links", "run_recipe"),
}

if TYPE_CHECKING:
    from hetviz.data import (
        Comparisons,
        Dataset,
        Embedding,
        HeteroData,
        Labels,
        Links,
        statements,
    )
    from hetviz.data.listing import dataset_from_list, links_by_list
    from hetviz.data.matching import links_by_key
    from hetviz.data.nearness_links import links_by_nearness
    from hetviz.data.proposals import propose_joins, recognise_views
    from hetviz.exports.export import export
    from hetviz.exports.model import load_model, save_model
    from hetviz.exports.report import write_report
    from hetviz.exports.result import load_run
    from hetviz.features.comparing import (
        comparison_table,
        comparisons_from_hierarchy,
        comparisons_from_label,
        comparisons_from_rating,
    )
    from hetviz.features.grouping import links_between
    from hetviz.features.label_links import links_from_labels
    from hetviz.features.recipe import make_features, transform_features
    from hetviz.io import load, samples, save
    from hetviz.metrics import evaluate, guidance_curve, guidance_report, trust
    from hetviz.metrics.merging import merge_guidance
    from hetviz.metrics.pricing import price
    from hetviz.registry import get_method, methods, suggest
    from hetviz.runs import embed, nearest_to, predict_labels, predict_links, run_recipe
    from hetviz.runs.clusters import clusters
    from hetviz.runs.compare import compare
    from hetviz.runs.place import place_rows
    from hetviz.runs.questions import suggest_questions
    from hetviz.runs.stopping import stopping_hint
    from hetviz.runs.sweep import sweep


def __getattr__(name: str) -> Any:
    for module, names in _WHERE.items():
        if name in names:
            return getattr(importlib.import_module(f"hetviz.{module}"), name)
    raise AttributeError(f"module 'hetviz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
