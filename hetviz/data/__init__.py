"""Data model: datasets, links, comparisons and labels of their items, and embeddings."""

from hetviz.data.model.comparisons import Comparisons as Comparisons
from hetviz.data.model.dataset import Dataset as Dataset
from hetviz.data.model.embedding import Embedding as Embedding
from hetviz.data.model.heterodata import HeteroData as HeteroData
from hetviz.data.model.labels import Labels as Labels
from hetviz.data.model.links import Links as Links
from hetviz.data.model.statements import statements as statements
from hetviz.data.queries.filters import Filter as Filter
from hetviz.data.queries.filters import passing as passing
from hetviz.data.queries.saved_views import SavedView as SavedView
