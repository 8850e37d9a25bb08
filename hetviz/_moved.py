"""Current names of modules, classes and fields that saved files know by an earlier name."""

from __future__ import annotations

_MOVED = {
    "hetviz.core.growing": "hetviz.core.grid_search",
    "hetviz.core.layout.holding": "hetviz.core.layout.attraction",
    "hetviz.core.layout.picture": "hetviz.core.layout.axes_map",
    "hetviz.core.blocks": "hetviz.core.spectral.blocks",
    "hetviz.core.boosted": "hetviz.core.prediction.boosting",
    "hetviz.core.coca": "hetviz.core.spectral.coca",
    "hetviz.core.code": "hetviz.core.prediction.code",
    "hetviz.core.constant_shift": "hetviz.core.ordinal.constant_shift",
    "hetviz.core.eigen": "hetviz.core.spectral.eigen",
    "hetviz.core.gbc": "hetviz.core.prediction.gbc",
    "hetviz.core.gbc_fit": "hetviz.core.prediction.gbc",
    "hetviz.core.gbc_held_out": "hetviz.core.prediction.gbc",
    "hetviz.core.gbc_output": "hetviz.core.prediction.gbc",
    "hetviz.core.guided": "hetviz.core.spectral.guided",
    "hetviz.core.guided_cv": "hetviz.core.spectral.guided_cv",
    "hetviz.core.hemap": "hetviz.core.spectral.hemap",
    "hetviz.core.kbmf2k": "hetviz.core.prediction.kbmf2k",
    "hetviz.core.kernel_regression": "hetviz.core.kernels.regression",
    "hetviz.core.kernels": "hetviz.core.kernels.kernels",
    "hetviz.core.laplacian": "hetviz.core.graph.laplacian",
    "hetviz.core.mkpe": "hetviz.core.kernels.mkpe",
    "hetviz.core.mkpe_scores": "hetviz.core.kernels.mkpe",
    "hetviz.core.must_cannot": "hetviz.core.ordinal.must_cannot",
    "hetviz.core.neighbors": "hetviz.core.graph.neighbors",
    "hetviz.core.measures.out_of_sample": "hetviz.core.layout.out_of_sample",
    "hetviz.core.newcomers": "hetviz.core.layout.out_of_sample",
    "hetviz.core.ordinal_choice": "hetviz.core.ordinal.fixed_rank",
    "hetviz.core.ordinal_diagonal": "hetviz.core.ordinal.fixed_rank",
    "hetviz.core.ordinal_embedding": "hetviz.core.ordinal.embedding",
    "hetviz.core.ordinal_flat": "hetviz.core.ordinal.fixed_rank",
    "hetviz.core.ordinal_hinge": "hetviz.core.ordinal.embedding",
    "hetviz.core.partial_order": "hetviz.core.ordinal.partial_order",
    "hetviz.core.partition_choice": "hetviz.core.clustering.partition_choice",
    "hetviz.core.pmvge": "hetviz.core.prediction.pmvge",
    "hetviz.core.pmvge_fit": "hetviz.core.prediction.pmvge",
    "hetviz.core.procrustes": "hetviz.core.layout.procrustes",
    "hetviz.core.ranking": "hetviz.core.measures.ranking",
    "hetviz.core.satisfaction": "hetviz.core.measures.satisfaction",
    "hetviz.core.sne": "hetviz.core.layout.sne",
    "hetviz.core.sne_grid": "hetviz.core.layout.sne_loops",
    "hetviz.core.sources": "hetviz.core.spectral.sources",
    "hetviz.core.spaces": "hetviz.core.graph.distances",
    "hetviz.core.streamed": "hetviz.core.spectral.blocks",
    "hetviz.core.surroundings": "hetviz.core.measures.neighborhoods",
    "hetviz.core.transfer": "hetviz.core.prediction.transfer",
    "hetviz.core.umap_layout": "hetviz.core.layout.umap",
    "hetviz.data.adding": "hetviz.data.edits.adding",
    "hetviz.data.checks": "hetviz.data.model.checks",
    "hetviz.data.comparisons": "hetviz.data.model.comparisons",
    "hetviz.data.dataset": "hetviz.data.model.dataset",
    "hetviz.data.edit": "hetviz.data.model.heterodata",
    "hetviz.data.embedding": "hetviz.data.model.embedding",
    "hetviz.data.filters": "hetviz.data.queries.filters",
    "hetviz.data.heterodata": "hetviz.data.model.heterodata",
    "hetviz.data.joins": "hetviz.data.joins.join",
    "hetviz.data.key_columns": "hetviz.data.joins.proposals",
    "hetviz.data.keys": "hetviz.data.joins.keys",
    "hetviz.data.labels": "hetviz.data.model.labels",
    "hetviz.data.links": "hetviz.data.model.links",
    "hetviz.data.matching": "hetviz.data.joins.matching",
    "hetviz.data.new_rows": "hetviz.data.model.out_of_sample",
    "hetviz.data.proposals": "hetviz.data.joins.proposals",
    "hetviz.data.reach": "hetviz.data.queries.reach",
    "hetviz.data.touching": "hetviz.data.queries.rows",
    "hetviz.features.basis": "hetviz.features.spaces.basis",
    "hetviz.features.columns": "hetviz.features.columns.types",
    "hetviz.features.compared": "hetviz.features.problems.comparison_problems",
    "hetviz.features.compared_problems": "hetviz.features.problems.comparison_problems",
    "hetviz.features.compared_solution": "hetviz.features.problems.comparison_problems",
    "hetviz.features.comparing": "hetviz.features.relations.comparisons",
    "hetviz.features.grouping": "hetviz.features.relations.grouping",
    "hetviz.features.inputs": "hetviz.features.spaces.inputs",
    "hetviz.features.labelled": "hetviz.features.problems.label_problems",
    "hetviz.features.link_scores": "hetviz.features.problems.link_scores",
    "hetviz.features.neighbor_map": "hetviz.features.spaces.neighbor_map",
    "hetviz.features.pairing": "hetviz.features.relations.pairing",
    "hetviz.features.profiles": "hetviz.features.problems.profiles",
    "hetviz.features.projection": "hetviz.features.spaces.projection",
    "hetviz.features.scored_pairs": "hetviz.features.problems.link_scores",
    "hetviz.features.similarity": "hetviz.features.spaces.similarity",
    "hetviz.features.sources": "hetviz.features.spaces.sources",
    "hetviz.jobs.cluster_task": "hetviz.jobs.tasks.cluster",
    "hetviz.jobs.compare_task": "hetviz.jobs.tasks.compare",
    "hetviz.jobs.label_task": "hetviz.jobs.tasks.predict",
    "hetviz.jobs.place_task": "hetviz.jobs.tasks.place",
    "hetviz.jobs.predict_task": "hetviz.jobs.tasks.predict",
    "hetviz.jobs.tasks": "hetviz.jobs.tasks.maps",
    "hetviz.predictor": "hetviz.algorithms.predictor",
    "hetviz.core.kernels.mkpe_scores": "hetviz.core.kernels.mkpe",
    "hetviz.core.ordinal.hinge": "hetviz.core.ordinal.embedding",
    "hetviz.core.ordinal.strength": "hetviz.core.ordinal.fixed_rank",
    "hetviz.core.prediction.gbc_fit": "hetviz.core.prediction.gbc",
    "hetviz.core.prediction.gbc_held_out": "hetviz.core.prediction.gbc",
    "hetviz.core.prediction.gbc_output": "hetviz.core.prediction.gbc",
    "hetviz.core.prediction.pmvge_fit": "hetviz.core.prediction.pmvge",
    "hetviz.features.relations.compared_problems": "hetviz.features.problems.comparison_problems",
    "hetviz.features.relations.compared_solution": "hetviz.features.problems.comparison_problems",
    "hetviz.features.relations.compared": "hetviz.features.problems.comparison_problems",
    "hetviz.features.relations.labelled": "hetviz.features.problems.label_problems",
    "hetviz.features.spaces.taught": "hetviz.features.spaces.learned_groups",
    "hetviz.features.relations.scored_pairs": "hetviz.features.problems.link_scores",
    "hetviz.exports.model_task": "hetviz.exports.model",
    "hetviz.jobs.tasks.labels": "hetviz.jobs.tasks.predict",
    "hetviz.features.relations.comparison_problems": "hetviz.features.problems.comparison_problems",
    "hetviz.features.relations.label_problems": "hetviz.features.problems.label_problems",
    "hetviz.features.relations.link_scores": "hetviz.features.problems.link_scores",
    "hetviz.features.relations.profiles": "hetviz.features.problems.profiles",
    "hetviz.metrics.fit.consequences": "hetviz.metrics.trust.consequences",
}

# "module.EarlierClass", with today's module name -> today's class name.
_CLASSES: dict[str, str] = {
    "hetviz.core.graph.axes_affinities.Blend": "AxesBlend",
    "hetviz.core.graph.joint.Joint": "JointDistribution",
    "hetviz.core.graph.neighbors.Cells": "NeighborCells",
    "hetviz.core.kernels.mkpe.Result": "MkpeResult",
    "hetviz.core.kernels.mkpe.Scores": "ScoreBlock",
    "hetviz.core.kernels.mkpe.State": "DescentState",
    "hetviz.core.layout.procrustes.Similarity": "SimilarityTransform",
    "hetviz.core.layout.sne.Apart": "ApartPairs",
    "hetviz.core.layout.sne.Loose": "CappedPairs",
    "hetviz.core.layout.out_of_sample.Doubt": "PlaceUncertainty",
    "hetviz.core.measures.ranking.Ranked": "PartnerRanks",
    "hetviz.core.ordinal.constant_shift.Shifted": "ConstantShift",
    "hetviz.core.ordinal.embedding.Embedded": "OrderEmbedding",
    "hetviz.core.ordinal.fixed_rank.Chosen": "BetaChoice",
    "hetviz.core.ordinal.fixed_rank.Flat": "FixedRankEmbedding",
    "hetviz.core.ordinal.fixed_rank.Weighted": "ColumnWeights",
    "hetviz.core.ordinal.must_cannot.Chain": "ContradictionChain",
    "hetviz.core.ordinal.partial_order.Conflict": "OrderConflict",
    "hetviz.core.prediction.code.Block": "CooccurrenceBlock",
    "hetviz.core.prediction.code.Result": "CodeResult",
    "hetviz.core.prediction.gbc.Gbc": "GbcModel",
    "hetviz.core.prediction.gbc.Pull": "TargetLoss",
    "hetviz.core.prediction.kbmf2k.Inferred": "InferenceResult",
    "hetviz.core.prediction.kbmf2k.Links": "DomainLinks",
    "hetviz.core.prediction.link_ridge.LowRank": "LowRankScores",
    "hetviz.core.prediction.link_ridge.Scale": "ScoreScale",
    "hetviz.core.prediction.link_ridge.Stack": "ScoreStack",
    "hetviz.core.prediction.pmvge.Block": "LinkSampling",
    "hetviz.core.prediction.pmvge.Trained": "TrainingResult",
    "hetviz.core.spectral.coca.Coca": "CocaSolution",
    "hetviz.core.spectral.eigen.Solution": "SpectralSolution",
    "hetviz.core.spectral.evidence.Evidence": "LinkEvidence",
    "hetviz.core.spectral.group_axes.TaughtGroup": "LearnedGroup",
    "hetviz.core.spectral.guided.Guided": "GuidedSolution",
    "hetviz.core.spectral.guided_cv.Choice": "ProjectionChoice",
    "hetviz.core.spectral.hemap.Hemap": "HemapSolution",
    "hetviz.core.spectral.sources.Source": "FeatureSource",
    "hetviz.algorithms.predictor.Predicted": "LabelPredictions",
    "hetviz.features.problems.comparison_problems.OfBasis": "BasisFeatures",
    "hetviz.features.problems.comparison_problems.Part": "SolverView",
    "hetviz.features.problems.comparison_problems.Problem": "ComparisonProblem",
    "hetviz.features.problems.comparison_problems.Solution": "ComparisonSolution",
    "hetviz.features.problems.comparison_problems.View": "ComparisonView",
    "hetviz.features.problems.comparison_problems._OfLengthOne": "_UnitLengthFeatures",
    "hetviz.features.problems.comparison_problems._OfProjection": "_ProjectionPlaces",
    "hetviz.features.spaces.inputs.LikenessToFitted": "SimilarityToFitted",
    "hetviz.features.spaces.learned_groups.LearnedGroup": "GroupSummary",
    "hetviz.features.spaces.learned_groups.Taught": "LearnedGroups",
    "hetviz.features.spaces.neighbor_map.Placed": "PlacedRows",
    "hetviz.features.spaces.similarity.Similarity": "ItemSimilarity",
    "hetviz.features.relations.user_links.Bonds": "TableLinks",
}
# "module.Class" of today -> earlier field -> field today. Subclasses inherit it.
_FIELDS: dict[str, dict[str, str]] = {
    "hetviz.core.spectral.group_axes.LearnedGroup": {
        "belief": "membership",
        "heeded": "used",
        "refused": "excluded",
    },
}


def current_module(name: str) -> str:
    """Return the name under which a module is found today."""
    return _MOVED.get(name, name)


def current_task(name: str) -> str:
    """Return the name, as ``module:function``, under which a task is found today."""
    module, colon, function = name.partition(":")
    return current_module(module) + colon + function


def current_class(name: str) -> tuple[str, str]:
    """Return the module and the class name under which a saved class is found today."""
    module, _, class_name = name.rpartition(".")
    module = current_module(module)
    return module, _CLASSES.get(f"{module}.{class_name}", class_name)


def current_field(kind: type, field: str) -> str:
    """Return the name that a saved field of a class has today."""
    for base in kind.__mro__:
        renamed = _FIELDS.get(f"{base.__module__}.{base.__qualname__}", {})
        if field in renamed:
            return renamed[field]
    return field
