"""The data model: datasets, what is known of how their items relate, and embeddings of them."""

from hetviz.data.comparisons import Comparisons
from hetviz.data.dataset import Dataset
from hetviz.data.embedding import Embedding
from hetviz.data.filters import Filter, passing
from hetviz.data.heterodata import HeteroData
from hetviz.data.labels import Labels
from hetviz.data.links import Links
from hetviz.data.statements import statements

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
