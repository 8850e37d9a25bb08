"""Joint maps of heterogeneous datasets, guided by links, comparisons and labels.

The names below and the classes of the methods, such as ``hetviz.JointMap``, load on first use,
which keeps ``import hetviz`` fast. Their types are in ``__init__.pyi``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from hetviz._version import __version__ as __version__

_MODULES = {
    "data": ("Comparisons", "Dataset", "Embedding", "HeteroData", "Labels", "Links", "statements"),
    "data.model.splits": ("HoldoutSplits",),
    "data.queries.groups": ("named_groups",),
    "data.queries.saved_views": ("SavedView",),
    "data.joins.judged_links": ("judge_links",),
    "data.joins.lists": ("dataset_from_list", "links_by_list"),
    "data.joins.matching": ("links_by_key",),
    "data.joins.places": ("links_by_nearness",),
    "data.joins.proposals": ("propose_joins", "recognise_views"),
    "data.joins.similar_rows": ("propose_links",),
    "exports.export": ("export",),
    "exports.model": ("load_model", "save_model"),
    "exports.report": ("write_report",),
    "exports.result": ("load_run",),
    "exports.stories": ("load_views",),
    "features.item_search": ("find_items", "find_values"),
    "features.map_columns": ("map_from_columns",),
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
    "features.relations.most_linked": ("most_linked",),
    "features.recipe": ("make_features", "transform_features"),
    "io": ("load", "save"),
    "_samples": ("samples",),
    "metrics.trust.alike": ("most_alike",),
    "metrics.trust.consequences": ("consequences",),
    "metrics.fit.guidance": ("guidance_curve",),
    "metrics.fit.summary": ("evaluate",),
    "metrics.conflicts.agreement": ("agreement",),
    "metrics.conflicts.guidance_report": ("guidance_report",),
    "metrics.trust.trust": ("trust",),
    "metrics.conflicts.merging": ("merge_guidance",),
    "metrics.conflicts.pin_prices": ("price_pins",),
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
    "runs.periods": ("embed_periods",),
    "runs.recipe": ("run_recipe",),
    "runs.place.nearest_to": ("nearest_to",),
    "runs.place.spread": ("spread",),
    "runs.place.why": ("why",),
    "runs.predict.labels": ("predict_labels",),
    "runs.predict.link_predictor": ("fit_link_predictor",),
    "runs.predict.links": ("predict_links",),
    "ui.host.component": ("map_input", "save_map_component"),
    "ui.host.streamlit_map": ("streamlit_map",),
}

# The stub has the literal list.
__all__ = sorted(name for names in _MODULES.values() for name in names)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"hetviz.{module}"), name)
    if name[:1].isupper() and (kind := _method_classes().get(name)) is not None:
        return kind
    raise AttributeError(f"module 'hetviz' has no attribute {name!r}", name=name, obj=_itself())


def __dir__() -> list[str]:
    return sorted([*__all__, *_method_classes()])


def _itself() -> ModuleType:
    return sys.modules[__name__]


def _method_classes() -> Mapping[str, Any]:
    from hetviz.algorithms.registry import method_classes

    return method_classes()
