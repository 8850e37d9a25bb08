"""HeMap: shared axes of a target and a source dataset with different features."""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np
from sklearn.cluster import KMeans

from hetviz._text import join_words, round_percent
from hetviz._types import Floats, Ints, Rng
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import ANY_FEATURES, Capability, Fit, MethodCard, Reference
from hetviz.algorithms.diagnostics import warn_about_data
from hetviz.algorithms.needs import Need
from hetviz.algorithms.papers import SHI_2013
from hetviz.algorithms.shared_params import DrawnBy, FeatureKinds, NComponents, RandomState
from hetviz.core.arrays import as_dense
from hetviz.core.prediction.transfer import select_sources
from hetviz.core.spectral.blocks import LinearMap
from hetviz.core.spectral.hemap import HemapSolution, hemap
from hetviz.core.spectral.prepare import MAX_SPARSE_COLUMNS, make_block
from hetviz.core.spectral.sources import prepare_source
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, make_diagnostic, number_values
from hetviz.errors import NotApplicableError, ParameterError
from hetviz.features.relations.pairing import (
    Pairing,
    labelled_pairs,
    linked_pairs,
    random_pairs,
    shared_labels,
)
from hetviz.features.spaces.basis import chosen_kind, fit_basis
from hetviz.params import Choice, DatasetName, Integer, Real
from hetviz.progress import Progress

AT_RANDOM = "items were paired at random, so close items need not be related"


class HeMap(BaseEmbedder):
    """Heterogeneous spectral mapping of a target and a source dataset.

    Attributes
    ----------
    target_, source_ : str
    pairing_ : Pairing
    selection_ : Selection
        The source rows that are similar enough to learn from, if any.

    Notes
    -----
    Rows in several pairs get the mean of their places. Rows without a pair get x pinv(P), with the
    loadings P of their dataset. Other datasets are left off the map. The pairing determines the
    result: the thesis ignores the order of the rows, but a different order gives a different map.
    Cost: O(m r^2) for m pairs and r features and clusters in all.

    References
    ----------
    X. Shi, Heterogeneous learning and its applications, PhD thesis, University of Illinois at
    Chicago, 2013, chapter 5 (HeMap): equations 5.1 to 5.20.
    """

    card: ClassVar[MethodCard] = MethodCard(
        key="hemap",
        title="Heterogeneous spectral mapping (HeMap)",
        family="Projection",
        papers=(
            SHI_2013.with_part("chapter 5"),
            Reference(
                "X. Shi, Q. Liu, W. Fan, P. S. Yu and R. Zhu",
                ("Transfer learning on heterogenous feature spaces via spectral transformation"),
                "IEEE International Conference on Data Mining (ICDM), 1049-1054",
                2010,
            ),
        ),
        equation=(
            r"\min\ \lVert T - B_T P_T \rVert^2 + \lVert S - B_S P_S \rVert^2 + \tfrac{\beta}{2}"
            r" (\lVert T - B_S P_T \rVert^2 + \lVert S - B_T P_S \rVert^2)"
        ),
        needs=(Need.TWO_WITH_FEATURES,),
        capabilities=ANY_FEATURES | {Capability.LINKS, Capability.LABELS},
        summary=(
            "Maps two datasets with different features onto shared axes, and checks whether one is "
            "similar enough to learn from for the other."
        ),
        caveats=(
            "Without links or common labels, items are paired at random. Then the two clouds "
            "overlap, but single items are not related.",
            "It maps two datasets. Others are left off the map.",
            "Guided projection and canonical correlations keep more links close. This method also "
            "shows the structure of each dataset.",
        ),
        cost="A second to 20,000 items of 200 features.",
        former_titles=("Heterogeneous mapping",),
    )
    n_components: NComponents = 2
    target: Annotated[
        str | None,
        DatasetName(
            "Target",
            "The dataset to understand better.",
            also=(None,),
            details="By default, target and source are the two datasets with most links.",
        ),
    ] = None
    source: Annotated[
        str | None, DatasetName("Source", "The dataset to learn from.", also=(None,))
    ] = None
    kind: Annotated[
        str,
        Choice(
            "Keep",
            "What the map preserves of each dataset.",
            options={"linear": "the features", "nonlinear": "the features and the clusters"},
        ),
    ] = "linear"
    pairing: Annotated[
        str,
        Choice(
            "Pair items by",
            "Which items of the two datasets belong together.",
            options={
                "auto": "links, else labels, else at random",
                "links": "links, or equal ids",
                "labels": "equal labels",
                "random": "at random, as in the thesis",
            },
            details='"auto" uses links, or else labels, or else random pairs.',
        ),
    ] = "auto"
    beta: Annotated[
        float,
        Real(
            "Similarity",
            "How close paired items must be. 0 leaves the two maps unrelated.",
            low=0.0,
            high=1e3,
        ),
    ] = 1.0
    theta: Annotated[
        float,
        Real(
            "Features against clusters",
            "1 keeps only the features, 0 only the clusters.",
            low=0.0,
            high=1.0,
            advanced=True,
            details="Only for the nonlinear kind.",
        ),
    ] = 0.5
    n_clusters: Annotated[
        int | None,
        Integer(
            "Clusters",
            "How many clusters to keep together.",
            low=2,
            high=1000,
            also=(None,),
            advanced=True,
            details=(
                "For datasets without labels. None means the number of classes of the labels of "
                "the source, or else 8."
            ),
        ),
    ] = None
    constraint: Annotated[
        str,
        Choice(
            "Size of axes fixed",
            "Which axes get a fixed length.",
            options={
                "joint": "over both datasets together, as in the thesis",
                "block": "for each dataset",
            },
            advanced=True,
            details="See `hetviz.core.spectral.hemap.hemap`.",
        ),
    ] = "joint"
    features: FeatureKinds = "auto"
    drawn_by: DrawnBy = "axes"
    random_state: RandomState = 0

    def _fit(self, data: HeteroData, rng: Rng, progress: Progress) -> Fit:
        self.target_, self.source_ = names = self._datasets(data)
        self.pairing_ = pairs = self._pairs(data, rng)
        progress(0.1, "Preparing the features")
        ends = (pairs.target, pairs.source)
        prepared = [
            self._prepare_rows(data, name, rows) for name, rows in zip(names, ends, strict=True)
        ]
        progress(0.5, "Solving for the common axes")
        clusters = self._clusters(data, [Z for Z, _ in prepared])
        T, S = (Z[rows] for (Z, _), rows in zip(prepared, ends, strict=True))
        C_T, C_S = (
            None if C is None else C[rows] - C[rows].mean(axis=0)
            for C, rows in zip(clusters, ends, strict=True)
        )
        solution = hemap(
            T,
            S,
            self.n_components,
            C_T=C_T,
            C_S=C_S,
            beta=self.beta,
            theta=self.theta,
            constraint=self.constraint,
        )
        places = self._places(solution, [Z for Z, _ in prepared])
        progress(0.8, "Comparing target and source")
        self.selection_ = select_sources(places[0], places[1], self._seed)
        return self._result(data, solution, places)

    def _datasets(self, data: HeteroData) -> tuple[str, str]:
        """Return target and source: as set, or else the pair with features and most links."""
        featured = [name for name, dataset in data.datasets.items() if not dataset.is_featureless]
        for role, name in (("target", self.target), ("source", self.source)):
            if name is not None and name not in featured:
                raise ParameterError(
                    f"hemap: {role} = {name!r} must be a dataset with features. "
                    f"Available: {', '.join(featured)}."
                )
        if self.target is not None and self.target == self.source:
            raise ParameterError(
                f"hemap: target and source are both {self.target!r}. Name two datasets."
            )
        options = [
            pair
            for a, b in combinations(featured, 2)
            for pair in ((a, b), (b, a))
            if self.target in (None, pair[0]) and self.source in (None, pair[1])
        ]
        return max(options, key=lambda pair: len(linked_pairs(data, *pair).target))

    def _pairs(self, data: HeteroData, rng: Rng) -> Pairing:
        names = (self.target_, self.source_)
        linked, labelled = linked_pairs(data, *names), labelled_pairs(data, *names, rng)
        if self.pairing == "links" or (self.pairing == "auto" and len(linked.target)):
            pairing, reason = linked, "they have no links and no common ids"
        elif self.pairing == "labels" or (self.pairing == "auto" and len(labelled.target)):
            pairing, reason = labelled, "their labels have no common class"
        else:
            pairing, reason = random_pairs(data, *names, rng), ""
        if not len(pairing.target):
            raise NotApplicableError(
                self.card.title,
                [f"{names[0]} and {names[1]} have no pairs by {self.pairing}: {reason}."],
            )
        return pairing

    def _prepare_rows(self, data: HeteroData, name: str, rows: Ints) -> tuple[Floats, LinearMap]:
        """Return all rows of a dataset, centred and scaled to size 1 over the paired rows."""
        basis = fit_basis(data[name], chosen_kind(data[name], self.features), self._seed)
        if isinstance(basis.features, int):
            raise ParameterError(
                f"hemap: {name!r} is set to be used without features, but the method needs some."
            )
        X = basis.features
        if X.shape[1] > MAX_SPARSE_COLUMNS and hasattr(X, "toarray"):
            block = make_block(X, np.ones(X.shape[0]), where=f"dataset {name!r}")
            X = block.dot(np.eye(block.r))
        X = as_dense(X)
        source = prepare_source(
            X[rows], np.ones(len(rows), dtype=bool), "block" if basis.kind == "linear" else "norm"
        )
        if source.r == 0:
            raise NotApplicableError(
                self.card.title, [f"All features of {name} are equal for its paired items."]
            )
        fitted = source.map(np.eye(source.r))
        return fitted(X), fitted

    def _clusters(self, data: HeteroData, rows: list[Floats]) -> list[Floats | None]:
        """Return cluster indicators (n, c) of both datasets: source labels, or else k-means."""
        if self.kind == "linear":
            return [None, None]
        shared = shared_labels(data, self.target_, self.source_)
        column = (
            shared[1]
            if shared is not None
            else next((c for c in data.labels if c.dataset == self.source_), None)
        )
        n_clusters = self.n_clusters or (8 if column is None else max(len(column.classes), 2))
        out: list[Floats | None] = []
        for Z, labels in zip(rows, (None, column), strict=True):
            if labels is not None:
                out.append(np.array([labels.values == c for c in labels.classes], float).T)
                continue
            n_distinct = len(np.unique(Z, axis=0))
            model = KMeans(min(n_clusters, n_distinct), n_init=3, random_state=self._seed)
            cluster = model.fit_predict(Z)
            out.append((cluster[:, None] == np.unique(cluster)).astype(np.float64))
        return out

    def _places(self, solution: HemapSolution, rows: list[Floats]) -> list[Floats]:
        """Return the place of each row: the mean over its pairs, or by its features."""
        places = []
        for Z, B, P, ends in (
            (rows[0], solution.B_T, solution.P_T, self.pairing_.target),
            (rows[1], solution.B_S, solution.P_S, self.pairing_.source),
        ):
            n_pairs = np.bincount(ends, minlength=len(Z))
            Y = Z @ np.linalg.pinv(P)
            total = np.zeros_like(Y)
            np.add.at(total, ends, B)
            paired = n_pairs > 0
            Y[paired] = total[paired] / n_pairs[paired, None]
            # B has unit columns over m pairs. Scale the map to places of about 1.
            Y = Y * np.sqrt(len(ends))
            n_missing_axes = self.n_components - Y.shape[1]
            places.append(np.hstack([Y, np.zeros((len(Y), n_missing_axes))]))
        return places

    def _result(self, data: HeteroData, solution: HemapSolution, places: list[Floats]) -> Fit:
        coordinates = self._no_places(data.datasets)
        coordinates[self.target_], coordinates[self.source_] = places
        left_out = [name for name in data.datasets if name not in (self.target_, self.source_)]
        if left_out:
            is_ = "is" if len(left_out) == 1 else "are"
            warn_about_data(
                f"{join_words(left_out)} {is_} left off the map, which has two datasets."
            )
        is_random = self.pairing_.how == "random"
        if is_random:
            warn_about_data(f"On this map {AT_RANDOM}.")
        selection = self.selection_
        if selection.decision == "too_risky":
            warn_about_data(
                f"Learning from {self.source_} for {self.target_} is too risky: only "
                f"{round_percent(selection.fraction)} of its items overlap with {self.target_}."
            )
        component = {name: place + 1 for place, name in enumerate(left_out)}
        return Fit(
            coordinates,
            n_iter=max(len(solution.history) - 1, 0),
            loss_history=solution.history,
            stopping_reason="closed form" if self.constraint == "joint" else "no further change",
            diagnostics={
                "target": self.target_,
                "source": self.source_,
                "pairing": self.pairing_.how,
                "pairs": len(self.pairing_.target),
                "eigenvalues": solution.values.tolist(),
                "objective": solution.history[-1],
                "bound": solution.bound,
                "transfer": {
                    "decision": selection.decision,
                    "fraction": selection.fraction,
                    "divergence": selection.divergence,
                    "chance": selection.chance,
                    "printed": selection.printed,
                },
            },
            messages=[
                make_diagnostic(
                    "share of source",
                    f"How much of {self.source_} is similar to {self.target_}",
                    f"Share of the items of {self.source_} that overlap with those of "
                    f"{self.target_}. From 30 % they are suited to learn from. From 10 % be "
                    "cautious. Below that do not use them.",
                    {self.source_: selection.fraction},
                    SHARE,
                ),
                make_diagnostic(
                    "divergence",
                    "How different the two are",
                    f"How differently {self.target_} and {self.source_} spread over the map "
                    "(Kullback-Leibler divergence, 0 is equal), and the value that 95 % of random "
                    "divisions of the same items stay below. Related datasets are often above it.",
                    {"these two": selection.divergence, "by chance": selection.chance},
                    "nats",
                ),
                make_diagnostic(
                    "eigenvalues",
                    "Weight of axes",
                    "How much of the two datasets each axis shows (its eigenvalue). Only the ratio "
                    "between axes matters. Axes of little weight can be left out.",
                    number_values(solution.values.tolist(), "axis"),
                ),
            ],
            components={name: component.get(name, 0) for name in data.datasets},
            note=AT_RANDOM if is_random else "",
        )
