"""Features of free text: latent semantic analysis of TF-IDF vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetviz._types import Floats
from hetviz.features.columns.options import Fields

N_COMPONENTS = 16
MAX_WORDS = 5000


def fit(texts: Sequence[str | None], random_state: int = 0) -> Fields | None:
    """Fit words, weights and leading directions; None if there are no words.

    `texts` (sequence of str or None, length n)

    Returns: words (length w), idf (w), components (k, w) and mean (k), JSON-ready.

    Latent semantic analysis in O(number of words in all texts) and a randomised SVD.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [text or "" for text in texts]
    rare = 2 if len(texts) > 20 else 1
    model = TfidfVectorizer(min_df=rare, max_features=MAX_WORDS, sublinear_tf=True)
    try:
        T = model.fit_transform(texts)
    except ValueError:
        return None
    k = min(N_COMPONENTS, T.shape[1] - 1, T.shape[0] - 1)
    if k < 1:
        return None
    # The explained variance, which is not used here, divides by 0 if all texts are equal.
    with np.errstate(divide="ignore", invalid="ignore"):
        svd = TruncatedSVD(k, random_state=random_state).fit(T)
    # Axes without variance are noise.
    keep = svd.singular_values_ > 1e-9 * svd.singular_values_.max(initial=1e-300)
    components = svd.components_[keep]
    if not len(components):
        return None
    return {
        "words": model.get_feature_names_out().tolist(),
        "idf": model.idf_.tolist(),
        "components": components.tolist(),
        "mean": (T @ components.T).mean(axis=0).tolist(),
    }


def apply(step: Fields, texts: Sequence[str | None]) -> Floats:
    """Return the features of texts, shape (n, k), centred as in the fit."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not len(texts):
        return np.zeros((0, len(step["components"])))
    vocabulary = {word: at for at, word in enumerate(step["words"])}
    model = TfidfVectorizer(vocabulary=vocabulary, sublinear_tf=True)
    model.idf_ = np.array(step["idf"])
    T = model.transform([text or "" for text in texts])
    return np.asarray(T @ np.array(step["components"]).T - np.array(step["mean"]))


def leading_words(step: Fields, max_words: int = 2) -> list[list[str]]:
    """Return the words with the largest weights in each direction; empty for sentence models."""
    if step.get("model") == "sentences":
        return [[] for _ in step["components"]]
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = step["words"]
    is_content = np.array([word not in ENGLISH_STOP_WORDS for word in words])
    words_of_axes = []
    for component in np.array(step["components"]):
        reach = component * np.sign(component[np.abs(component).argmax()])
        leading = np.argsort(np.where(is_content, -reach, 0.0), kind="stable")[:max_words]
        words_of_axes.append([words[at] for at in leading if is_content[at] and reach[at] > 0])
    return words_of_axes


def known_words(step: Fields, text: str) -> list[str]:
    """Return the fitted words of a text, or all words for sentence models."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    split = TfidfVectorizer().build_analyzer()
    text_words = set(split(text))
    return sorted(
        text_words if step.get("model") == "sentences" else text_words & set(step["words"])
    )


def content_words(step: Fields, text: str) -> set[str]:
    """Return the fitted words of a text without stop words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return {word for word in known_words(step, text) if word not in ENGLISH_STOP_WORDS}
