"""Data model: datasets, links, comparisons and labels of their items, and embeddings."""

from hetviz.data.model.comparisons import Comparisons
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.embedding import Embedding
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.labels import Labels
from hetviz.data.model.links import Links
from hetviz.data.model.statements import statements
from hetviz.data.queries.filters import Filter, passing

__all__ = [
    "Comparisons",
    "Dataset",
    "Embedding",
    "Filter",
    "HeteroData",
    "Labels",
    "Links",
    "passing",
    "statements",
]
