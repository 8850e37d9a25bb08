"""Public names and their types. Written by tools/make_stub.py."""

from collections.abc import Mapping, Sequence
from typing import Literal, overload

from hetviz._samples import samples as samples
from hetviz._types import RandomSeed
from hetviz._version import __version__ as __version__
from hetviz.algorithms.cca import CCA as CCA
from hetviz.algorithms.cdmca import CDMCA as CDMCA
from hetviz.algorithms.coca import CoCA as CoCA
from hetviz.algorithms.code import CODE as CODE
from hetviz.algorithms.gbc import GBC as GBC
from hetviz.algorithms.gnmds import GNMDS as GNMDS
from hetviz.algorithms.graph_axes import GraphAxes as GraphAxes
from hetviz.algorithms.guided_projection import GuidedProjection as GuidedProjection
from hetviz.algorithms.hemap import HeMap as HeMap
from hetviz.algorithms.joint_map import JointMap as JointMap
from hetviz.algorithms.joint_spectral import JointSpectral as JointSpectral
from hetviz.algorithms.kbmf2k import KBMF2K as KBMF2K
from hetviz.algorithms.kernel_cdmca import KernelCDMCA as KernelCDMCA
from hetviz.algorithms.lpp import LPP as LPP
from hetviz.algorithms.mkpe import MKPE as MKPE
from hetviz.algorithms.mkpoe import MKPOE as MKPOE
from hetviz.algorithms.mr_sne import MRSNE as MRSNE
from hetviz.algorithms.multiview_lpp import MultiviewLPP as MultiviewLPP
from hetviz.algorithms.partial_order import PartialOrderEmbedding as PartialOrderEmbedding
from hetviz.algorithms.pca import PCA as PCA
from hetviz.algorithms.pmvge import PMvGE as PMvGE
from hetviz.algorithms.registry import methods as methods
from hetviz.algorithms.registry import suggest as suggest
from hetviz.algorithms.umap import UMAP as UMAP
from hetviz.data.joins.judged_links import judge_links as judge_links
from hetviz.data.joins.lists import dataset_from_list as dataset_from_list
from hetviz.data.joins.lists import links_by_list as links_by_list
from hetviz.data.joins.matching import links_by_key as links_by_key
from hetviz.data.joins.places import links_by_nearness as links_by_nearness
from hetviz.data.joins.proposals import propose_joins as propose_joins
from hetviz.data.joins.proposals import recognise_views as recognise_views
from hetviz.data.joins.similar_rows import propose_links as propose_links
from hetviz.data.model.comparisons import Comparisons as Comparisons
from hetviz.data.model.dataset import Dataset as Dataset
from hetviz.data.model.embedding import Embedding as Embedding
from hetviz.data.model.heterodata import HeteroData as HeteroData
from hetviz.data.model.labels import Labels as Labels
from hetviz.data.model.links import Links as Links
from hetviz.data.model.splits import HoldoutSplits as HoldoutSplits
from hetviz.data.model.statements import statements as statements
from hetviz.data.queries.groups import named_groups as named_groups
from hetviz.data.queries.saved_views import SavedView as SavedView
from hetviz.exports.export import export as export
from hetviz.exports.model import load_model as load_model
from hetviz.exports.model import save_model as save_model
from hetviz.exports.report import write_report as write_report
from hetviz.exports.result import load_run as load_run
from hetviz.exports.stories import load_views as load_views
from hetviz.features.item_search import find_items as find_items
from hetviz.features.item_search import find_values as find_values
from hetviz.features.map_columns import map_from_columns as map_from_columns
from hetviz.features.recipe import make_features as make_features
from hetviz.features.recipe import transform_features as transform_features
from hetviz.features.relations.comparisons import comparison_table as comparison_table
from hetviz.features.relations.comparisons import (
    comparisons_from_hierarchy as comparisons_from_hierarchy,
)
from hetviz.features.relations.comparisons import comparisons_from_label as comparisons_from_label
from hetviz.features.relations.comparisons import comparisons_from_rating as comparisons_from_rating
from hetviz.features.relations.grouping import links_between as links_between
from hetviz.features.relations.label_links import links_from_labels as links_from_labels
from hetviz.features.relations.most_linked import most_linked as most_linked
from hetviz.features.similar_columns import alike_by as alike_by
from hetviz.features.table_joins import join_tables as join_tables
from hetviz.io.bundle.saving import save as save
from hetviz.io.intake.reading import load as load
from hetviz.metrics.conflicts.agreement import agreement as agreement
from hetviz.metrics.conflicts.guidance_report import guidance_report as guidance_report
from hetviz.metrics.conflicts.merging import merge_guidance as merge_guidance
from hetviz.metrics.conflicts.pin_prices import price_pins as price_pins
from hetviz.metrics.conflicts.pricing import price as price
from hetviz.metrics.fit.guidance import guidance_curve as guidance_curve
from hetviz.metrics.fit.summary import evaluate as evaluate
from hetviz.metrics.trust.alike import most_alike as most_alike
from hetviz.metrics.trust.consequences import consequences as consequences
from hetviz.metrics.trust.trust import trust as trust
from hetviz.progress import Progress
from hetviz.runs.ask.active_learning import stopping_hint as stopping_hint
from hetviz.runs.ask.gain import gains_ahead as gains_ahead
from hetviz.runs.ask.learned import learned_from as learned_from
from hetviz.runs.ask.questions import suggest_questions as suggest_questions
from hetviz.runs.cluster.clusters import clusters as clusters
from hetviz.runs.cluster.regions import regions as regions
from hetviz.runs.compare.compare import compare as compare
from hetviz.runs.compare.search import search_cost as search_cost
from hetviz.runs.compare.search import search_settings as search_settings
from hetviz.runs.compare.sweep import sweep as sweep
from hetviz.runs.evidence.about import evidence as evidence
from hetviz.runs.periods import embed_periods as embed_periods
from hetviz.runs.place.nearest_to import nearest_to as nearest_to
from hetviz.runs.place.place_rows import place_rows as place_rows
from hetviz.runs.place.spread import spread as spread
from hetviz.runs.place.why import why as why
from hetviz.runs.predict.labels import predict_labels as predict_labels
from hetviz.runs.predict.link_predictor import fit_link_predictor as fit_link_predictor
from hetviz.runs.predict.links import predict_links as predict_links
from hetviz.runs.recipe import run_recipe as run_recipe
from hetviz.ui.host.component import map_input as map_input
from hetviz.ui.host.component import save_map_component as save_map_component
from hetviz.ui.host.streamlit_map import streamlit_map as streamlit_map

__all__ = [
    "Comparisons",
    "Dataset",
    "Embedding",
    "HeteroData",
    "HoldoutSplits",
    "Labels",
    "Links",
    "SavedView",
    "agreement",
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
    "embed_periods",
    "evaluate",
    "evidence",
    "export",
    "find_items",
    "find_values",
    "fit_link_predictor",
    "gains_ahead",
    "get_method",
    "guidance_curve",
    "guidance_report",
    "join_tables",
    "judge_links",
    "learned_from",
    "links_between",
    "links_by_key",
    "links_by_list",
    "links_by_nearness",
    "links_from_labels",
    "load",
    "load_model",
    "load_run",
    "load_views",
    "make_features",
    "map_from_columns",
    "map_input",
    "merge_guidance",
    "methods",
    "most_alike",
    "most_linked",
    "named_groups",
    "nearest_to",
    "place_rows",
    "predict_labels",
    "predict_links",
    "price",
    "price_pins",
    "propose_joins",
    "propose_links",
    "recognise_views",
    "regions",
    "run_recipe",
    "samples",
    "save",
    "save_map_component",
    "save_model",
    "search_cost",
    "search_settings",
    "spread",
    "statements",
    "stopping_hint",
    "streamlit_map",
    "suggest",
    "suggest_questions",
    "sweep",
    "transform_features",
    "trust",
    "why",
    "write_report",
]
MethodName = Literal[
    "cca",
    "cdmca",
    "coca",
    "code",
    "gbc",
    "gnmds",
    "graph-axes",
    "guided-projection",
    "hemap",
    "joint-map",
    "joint-spectral",
    "kbmf2k",
    "kernel-cdmca",
    "lpp",
    "mkpe",
    "mkpoe",
    "mr-sne",
    "multiview-lpp",
    "partial-order",
    "pca",
    "pmvge",
    "umap",
]

@overload
def embed(
    data: HeteroData,
    method: None = None,
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["cca"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    gamma: float = ...,
    weights: float | Mapping[str, float] = ...,
    features: Literal["auto", "linear", "rbf", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "rbf", "precomputed", "featureless"]] = ...,
    axis_scale: float | str = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["cdmca"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    gamma: float = ...,
    tie_views: bool = ...,
    weights: float | Mapping[str, float] = ...,
    features: Literal["auto", "linear", "rbf", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "rbf", "precomputed", "featureless"]] = ...,
    axis_scale: float | str = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["coca"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    alpha: float = ...,
    agreement: Literal["product", "difference"] = ...,
    weights: str | float | Mapping[str, float] = ...,
    learn_from: Literal["links", "labels"] = ...,
    scale: Literal["block", "norm", "zscore", "none"] = ...,
    weights_in: Literal["all", "diagonal"] = ...,
    constraint: Literal["joint", "rescaled", "block"] = ...,
    graph_scale: Literal["sym", "none"] = ...,
    output: Literal["mean", "smoothed"] = ...,
    features: Literal["auto", "linear", "rbf", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "rbf", "precomputed", "featureless"]] = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["code"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    model: Literal["MM", "UU", "CM", "CU", "MC", "UC"] = ...,
    within: Literal["auto", "kernel", "cosine", "rbf", "none"]
    | Mapping[str, Literal["auto", "kernel", "cosine", "rbf", "none"]] = ...,
    within_weight: float | Mapping[str, float] = ...,
    n_init: int = ...,
    n_iter: int = ...,
    tie_views: bool = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["gbc"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    label: str | None = ...,
    task: Literal["auto", "classes", "number"] = ...,
    n_rounds: int | str = ...,
    lam0: float | str = ...,
    lam1: float | str = ...,
    weights: Literal["holdout", "training", "equal"] = ...,
    consensus: Literal["soft", "paper"] = ...,
    sharpness: float = ...,
    connectivity: Literal["paper", "exact"] = ...,
    normalize: bool = ...,
    learner: Literal["auto", "trees", "forest", "linear"] = ...,
    learning_rate: float = ...,
    line_search: bool = ...,
    n_leaves: int = ...,
    min_leaf: int = ...,
    features: Literal["auto", "linear", "rbf", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "rbf", "precomputed", "featureless"]] = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["gnmds"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    beta: float = ...,
    loss: Literal["convex", "soft"] = ...,
    order: Literal["process", "contradictions", "none"] = ...,
    contradictions: Literal["prune", "majority", "keep"] = ...,
    tol: float = ...,
    polish: bool = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["graph-axes"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    n_axes: int = ...,
    perplexity: float = ...,
    features: Literal["auto", "linear", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "precomputed", "featureless"]] = ...,
    tie_views: bool = ...,
    device: Literal["cpu", "auto", "cuda", "mps"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["guided-projection"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int | str = ...,
    kernel: Literal["linear", "rbf", "precomputed"] | None = ...,
    gamma: float | str = ...,
    nu: float | None = ...,
    tie_views: bool = ...,
    signed: Literal["ratio", "similarity", "paper"] = ...,
    variant: Literal["block", "anchor", "printed"] = ...,
    kernel_penalty: Literal["rkhs", "paper"] = ...,
    weights: float | Mapping[str, float] = ...,
    features: Literal["auto", "linear", "rbf", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "rbf", "precomputed", "featureless"]] = ...,
    axis_scale: float | str = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["hemap"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    target: str | None = ...,
    source: str | None = ...,
    kind: Literal["linear", "nonlinear"] = ...,
    pairing: Literal["auto", "links", "labels", "random"] = ...,
    beta: float = ...,
    theta: float = ...,
    n_clusters: int | None = ...,
    constraint: Literal["joint", "block"] = ...,
    features: Literal["auto", "linear", "rbf", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "rbf", "precomputed", "featureless"]] = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["joint-map"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    link_strength: float = ...,
    perplexity: float = ...,
    own_share: float = ...,
    links_over_features: float | None = ...,
    n_axes: int = ...,
    weights: float | Mapping[str, float] = ...,
    features: Literal["auto", "linear", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "precomputed", "featureless"]] = ...,
    check_links: bool = ...,
    guidance_boost: float = ...,
    cannot_link_strength: float = ...,
    learn_groups: bool = ...,
    tie_views: bool = ...,
    pins: Sequence[Mapping[str, object]] | None = ...,
    pin_strength: float = ...,
    tie: float = ...,
    n_iter: int = ...,
    exaggeration: float = ...,
    device: Literal["cpu", "auto", "cuda", "mps"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["joint-spectral"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    perplexity: float = ...,
    features: Literal["auto", "linear", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "precomputed", "featureless"]] = ...,
    tie_views: bool = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["kbmf2k"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    likelihood: Literal["probit", "gaussian"] = ...,
    unlisted: Literal["apart", "unknown"] = ...,
    within: Literal["auto", "kernel", "cosine", "rbf", "none"]
    | Mapping[str, Literal["auto", "kernel", "cosine", "rbf", "none"]] = ...,
    margin: float = ...,
    sigma_g: float = ...,
    sigma_y: float = ...,
    rank: int | str | None = ...,
    n_iter: int = ...,
    tie_views: bool = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["kernel-cdmca"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    gamma: float = ...,
    kernel: Literal["rbf", "linear", "precomputed"] = ...,
    tie_views: bool = ...,
    kernel_penalty: Literal["rkhs", "paper"] = ...,
    weights: float | Mapping[str, float] = ...,
    features: Literal["auto", "linear", "rbf", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "rbf", "precomputed", "featureless"]] = ...,
    axis_scale: float | str = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["lpp"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    n_neighbors: int = ...,
    graph: Literal["both", "neighbors", "links"] = ...,
    gamma: float = ...,
    heat: bool = ...,
    features: Literal["auto", "linear", "rbf", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "rbf", "precomputed", "featureless"]] = ...,
    axis_scale: float | str = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["mkpe"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    variant: Literal["coordinates", "parametric"] = ...,
    link_score: float | str = ...,
    within: Literal["auto", "kernel", "cosine", "rbf", "none"]
    | Mapping[str, Literal["auto", "kernel", "cosine", "rbf", "none"]] = ...,
    within_weight: float | Mapping[str, float] = ...,
    inputs: Literal["similarities", "features"] = ...,
    directions: float | str | None = ...,
    sigma0: float | str | None = ...,
    equal_spread: bool = ...,
    n_init: int = ...,
    n_iter: int | None = ...,
    retraction: Literal["polar", "qr"] = ...,
    tie_views: bool = ...,
    paper: bool = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["mkpoe"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    beta: float | str = ...,
    diagonal: bool = ...,
    polish: bool = ...,
    join: bool = ...,
    combine: Literal["product", "sum"] = ...,
    features: Literal["auto", "linear", "cosine", "rbf", "precomputed"]
    | Mapping[str, Literal["auto", "linear", "cosine", "rbf", "precomputed"]] = ...,
    weights: float | Mapping[str, float] = ...,
    order: Literal["process", "contradictions", "none"] = ...,
    contradictions: Literal["prune", "majority", "keep"] = ...,
    reduce: bool = ...,
    absolute_beta: bool = ...,
    margin: float = ...,
    tol: float = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["mr-sne"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    perplexity: float = ...,
    link_strength: float = ...,
    balance: float | str = ...,
    normalization: Literal["unnorm", "norm", "pmi"] = ...,
    weights: float | Mapping[str, float] = ...,
    features: Literal["auto", "linear", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "precomputed", "featureless"]] = ...,
    degree_weight: float = ...,
    guidance_boost: float = ...,
    cannot_link_strength: float = ...,
    learn_groups: bool = ...,
    tie_views: bool = ...,
    pins: Sequence[Mapping[str, object]] | None = ...,
    pin_strength: float = ...,
    tie: float = ...,
    n_iter: int = ...,
    exaggeration: float = ...,
    paper: bool = ...,
    device: Literal["cpu", "auto", "cuda", "mps"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["multiview-lpp"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    n_neighbors: int = ...,
    pairing: float = ...,
    graph: Literal["both", "neighbors", "links"] = ...,
    gamma: float = ...,
    heat: bool = ...,
    weights: float | Mapping[str, float] = ...,
    features: Literal["auto", "linear", "rbf", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "rbf", "precomputed", "featureless"]] = ...,
    axis_scale: float | str = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["partial-order"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    contradictions: Literal["prune", "majority", "keep"] = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["pca"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    standardize: bool = ...,
    weights: float | Mapping[str, float] = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["pmvge"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    similarity: Literal["distance", "inner"] = ...,
    within: Literal["sn_graph", "second_order", "ignored"] = ...,
    within_weight: float = ...,
    hidden: int = ...,
    perplexity: float = ...,
    features: Literal["auto", "linear", "rbf", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "rbf", "precomputed", "featureless"]] = ...,
    bias: bool = ...,
    negatives: int = ...,
    decay: float = ...,
    n_iter: int = ...,
    tie_views: bool = ...,
    drawn_by: Literal["axes", "neighbors"] = ...,
) -> Embedding: ...
@overload
def embed(
    data: HeteroData,
    method: Literal["umap"],
    *,
    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
    n_components: int = ...,
    n_neighbors: int = ...,
    min_dist: float = ...,
    link_strength: float = ...,
    weights: float | Mapping[str, float] = ...,
    features: Literal["auto", "linear", "precomputed", "featureless"]
    | Mapping[str, Literal["auto", "linear", "precomputed", "featureless"]] = ...,
    cannot_link_strength: float = ...,
    learn_groups: bool = ...,
    pins: Sequence[Mapping[str, object]] | None = ...,
    pin_strength: float = ...,
    tie: float = ...,
    metric: Literal[
        "euclidean",
        "cosine",
        "correlation",
        "manhattan",
        "chebyshev",
        "canberra",
        "braycurtis",
        "hamming",
        "jaccard",
        "hellinger",
    ] = ...,
    target: str | None = ...,
    target_weight: float = ...,
    engine: Literal["hetviz", "umap-learn"] = ...,
    densmap: bool = ...,
    tie_views: bool = ...,
    n_epochs: int | None = ...,
) -> Embedding: ...
@overload
def get_method(key: Literal["cca"]) -> type[CCA]: ...
@overload
def get_method(key: Literal["cdmca"]) -> type[CDMCA]: ...
@overload
def get_method(key: Literal["coca"]) -> type[CoCA]: ...
@overload
def get_method(key: Literal["code"]) -> type[CODE]: ...
@overload
def get_method(key: Literal["gbc"]) -> type[GBC]: ...
@overload
def get_method(key: Literal["gnmds"]) -> type[GNMDS]: ...
@overload
def get_method(key: Literal["graph-axes"]) -> type[GraphAxes]: ...
@overload
def get_method(key: Literal["guided-projection"]) -> type[GuidedProjection]: ...
@overload
def get_method(key: Literal["hemap"]) -> type[HeMap]: ...
@overload
def get_method(key: Literal["joint-map"]) -> type[JointMap]: ...
@overload
def get_method(key: Literal["joint-spectral"]) -> type[JointSpectral]: ...
@overload
def get_method(key: Literal["kbmf2k"]) -> type[KBMF2K]: ...
@overload
def get_method(key: Literal["kernel-cdmca"]) -> type[KernelCDMCA]: ...
@overload
def get_method(key: Literal["lpp"]) -> type[LPP]: ...
@overload
def get_method(key: Literal["mkpe"]) -> type[MKPE]: ...
@overload
def get_method(key: Literal["mkpoe"]) -> type[MKPOE]: ...
@overload
def get_method(key: Literal["mr-sne"]) -> type[MRSNE]: ...
@overload
def get_method(key: Literal["multiview-lpp"]) -> type[MultiviewLPP]: ...
@overload
def get_method(key: Literal["partial-order"]) -> type[PartialOrderEmbedding]: ...
@overload
def get_method(key: Literal["pca"]) -> type[PCA]: ...
@overload
def get_method(key: Literal["pmvge"]) -> type[PMvGE]: ...
@overload
def get_method(key: Literal["umap"]) -> type[UMAP]: ...
