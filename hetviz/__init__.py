"""Joint maps of heterogeneous datasets, guided by links, comparisons and labels.

The names below load on first use, which keeps ``import hetviz`` fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hetviz._version import __version__ as __version__

__all__ = [
    "Comparisons",
    "Dataset",
    "Embedding",
    "HeteroData",
    "HoldoutSplits",
    "Labels",
    "Links",
    "alike_by",
    "clusters",
    "compare",
    "comparison_table",
    "comparisons_from_hierarchy",
    "comparisons_from_label",
    "comparisons_from_rating",
    "consequences",
    "dataset_from_list",
    "embed",
    "evaluate",
    "evidence",
    "export",
    "find_items",
    "fit_link_predictor",
    "gains_ahead",
    "get_method",
    "guidance_curve",
    "guidance_report",
    "join_tables",
    "learned_from",
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
    "most_alike",
    "named_groups",
    "nearest_to",
    "place_rows",
    "predict_labels",
    "predict_links",
    "price",
    "propose_joins",
    "propose_links",
    "recognise_views",
    "regions",
    "run_recipe",
    "samples",
    "save",
    "save_model",
    "search_cost",
    "search_settings",
    "spread",
    "statements",
    "stopping_hint",
    "suggest",
    "suggest_questions",
    "sweep",
    "transform_features",
    "trust",
    "why",
    "write_report",
]

_MODULES = {
    "data": ("Comparisons", "Dataset", "Embedding", "HeteroData", "Labels", "Links", "statements"),
    "data.model.splits": ("HoldoutSplits",),
    "data.queries.groups": ("named_groups",),
    "data.joins.lists": ("dataset_from_list", "links_by_list"),
    "data.joins.matching": ("links_by_key",),
    "data.joins.places": ("links_by_nearness",),
    "data.joins.proposals": ("propose_joins", "recognise_views"),
    "data.joins.similar_rows": ("propose_links",),
    "exports.export": ("export",),
    "exports.model": ("load_model", "save_model"),
    "exports.report": ("write_report",),
    "exports.result": ("load_run",),
    "features.item_search": ("find_items",),
    "features.similar_columns": ("alike_by",),
    "features.table_joins": ("join_tables",),
    "features.relations.comparisons": (
        "comparison_table",
        "comparisons_from_hierarchy",
        "comparisons_from_label",
        "comparisons_from_rating",
    ),
    "features.relations.grouping": ("links_between",),
    "features.relations.label_links": ("links_from_labels",),
    "features.recipe": ("make_features", "transform_features"),
    "io": ("load", "save"),
    "_samples": ("samples",),
    "metrics.trust.alike": ("most_alike",),
    "metrics.trust.consequences": ("consequences",),
    "metrics.fit.guidance": ("guidance_curve",),
    "metrics.fit.summary": ("evaluate",),
    "metrics.conflicts.guidance_report": ("guidance_report",),
    "metrics.trust.trust": ("trust",),
    "metrics.conflicts.merging": ("merge_guidance",),
    "metrics.conflicts.pricing": ("price",),
    "algorithms.registry": ("get_method", "methods", "suggest"),
    "runs.cluster.clusters": ("clusters",),
    "runs.cluster.regions": ("regions",),
    "runs.compare.compare": ("compare",),
    "runs.evidence.about": ("evidence",),
    "runs.place.place_rows": ("place_rows",),
    "runs.ask.learned": ("learned_from",),
    "runs.ask.questions": ("suggest_questions",),
    "runs.ask.active_learning": ("stopping_hint",),
    "runs.ask.gain": ("gains_ahead",),
    "runs.compare.search": ("search_cost", "search_settings"),
    "runs.compare.sweep": ("sweep",),
    "runs.first_map": ("embed",),
    "runs.recipe": ("run_recipe",),
    "runs.place.nearest_to": ("nearest_to",),
    "runs.place.spread": ("spread",),
    "runs.place.why": ("why",),
    "runs.predict.labels": ("predict_labels",),
    "runs.predict.link_predictor": ("fit_link_predictor",),
    "runs.predict.links": ("predict_links",),
}

if TYPE_CHECKING:
    from hetviz._samples import samples
    from hetviz.algorithms.registry import get_method, methods, suggest
    from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Labels, Links
    from hetviz.data.joins.lists import dataset_from_list, links_by_list
    from hetviz.data.joins.matching import links_by_key
    from hetviz.data.joins.places import links_by_nearness
    from hetviz.data.joins.proposals import propose_joins, recognise_views
    from hetviz.data.joins.similar_rows import propose_links
    from hetviz.data.model.splits import HoldoutSplits
    from hetviz.data.model.statements import statements
    from hetviz.data.queries.groups import named_groups
    from hetviz.exports.export import export
    from hetviz.exports.model import load_model, save_model
    from hetviz.exports.report import write_report
    from hetviz.exports.result import load_run
    from hetviz.features.item_search import find_items
    from hetviz.features.recipe import make_features, transform_features
    from hetviz.features.relations.comparisons import (
        comparison_table,
        comparisons_from_hierarchy,
        comparisons_from_label,
        comparisons_from_rating,
    )
    from hetviz.features.relations.grouping import links_between
    from hetviz.features.relations.label_links import links_from_labels
    from hetviz.features.similar_columns import alike_by
    from hetviz.features.table_joins import join_tables
    from hetviz.io import load, save
    from hetviz.metrics.conflicts.guidance_report import guidance_report
    from hetviz.metrics.conflicts.merging import merge_guidance
    from hetviz.metrics.conflicts.pricing import price
    from hetviz.metrics.fit.guidance import guidance_curve
    from hetviz.metrics.fit.summary import evaluate
    from hetviz.metrics.trust.alike import most_alike
    from hetviz.metrics.trust.consequences import consequences
    from hetviz.metrics.trust.trust import trust
    from hetviz.runs.ask.active_learning import stopping_hint
    from hetviz.runs.ask.gain import gains_ahead
    from hetviz.runs.ask.questions import suggest_questions
    from hetviz.runs.cluster.clusters import clusters
    from hetviz.runs.cluster.regions import regions
    from hetviz.runs.compare.compare import compare
    from hetviz.runs.compare.search import search_cost, search_settings
    from hetviz.runs.compare.sweep import sweep
    from hetviz.runs.evidence.about import evidence
    from hetviz.runs.first_map import embed
    from hetviz.runs.place.nearest_to import nearest_to
    from hetviz.runs.place.place_rows import place_rows
    from hetviz.runs.place.spread import spread
    from hetviz.runs.place.why import why
    from hetviz.runs.predict.labels import predict_labels
    from hetviz.runs.predict.link_predictor import fit_link_predictor
    from hetviz.runs.predict.links import predict_links
    from hetviz.runs.recipe import run_recipe


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"hetviz.{module}"), name)
    raise AttributeError(f"module 'hetviz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
