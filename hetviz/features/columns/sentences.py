"""Features of free text by a small sentence embedding model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetviz._types import Floats
from hetviz.core.sentence_vectors import text_vectors
from hetviz.features.columns.options import Fields
from hetviz.features.columns.principal import fit_principal_axes, project_rows

N_COMPONENTS = 32


def learn(texts: Sequence[str | None]) -> Fields | None:
    """Fit principal components of text embeddings; None if all texts are equal."""
    V = text_vectors(texts)
    present = V[V.any(axis=1)]
    fitted = fit_principal_axes(present, N_COMPONENTS) if len(present) > 1 else None
    return None if fitted is None else {**fitted, "model": "sentences"}


def apply(step: Fields, texts: Sequence[str | None]) -> Floats:
    """Return the components of texts, (n, k); 0 for missing text."""
    V = text_vectors(texts)
    has_text = np.asarray(V.any(axis=1))
    return np.where(has_text[:, None], project_rows(step, V), 0.0)
