"""Fitted models as a zip of JSON and arrays, and back; never pickled."""

from __future__ import annotations

import base64
import io
import json
import tokenize
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hetviz._types import Array, Ints
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.registry import get_method
from hetviz.data import HeteroData
from hetviz.errors import HetvizError
from hetviz.exports.graph import Reader, Writer, check_field, damaged
from hetviz.exports.writing import write
from hetviz.io import gate, limits
from hetviz.io.bundle.saving import zipped
from hetviz.io.files import Archive
from hetviz.jobs.results import Findings
from hetviz.progress import Part, Progress
from hetviz.runs.embed.run import fit_run, versions

FORMAT = 1
_GRAPH = "model.json"
# What a damaged file makes of reading it. NumPy reads the head of an array as Python source.
_UNREADABLE = (
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,
)


def save_model(model: BaseEmbedder, path: str | Path) -> Path:
    """Save a fitted model.

    Parameters
    ----------
    model : BaseEmbedder
        Fitted.
    path : str or path
        A file, usually ending in ``.zip``.

    Returns
    -------
    path

    Raises
    ------
    hetviz.errors.HetvizError
        If the model is not fitted, or holds what cannot be written.
    hetviz.errors.DataError
        If the file cannot be written, or would be too large to be read back.

    Notes
    -----
    A zip of ``model.json`` and one ``.npy`` for each array. It holds ids, features and links of the
    fitted rows, as far as places of new rows are computed from them, and neither tables nor
    pictures.
    """
    return write(path, model_bytes(model))


def model_bytes(model: BaseEmbedder) -> bytes:
    """Return a fitted model as `save_model` writes it; the same model gives the same bytes."""
    if not hasattr(model, "embedding_"):
        raise HetvizError(f"{model.card.title}: call fit before saving.")
    writer = Writer()
    fields = {name: writer.value(value, name) for name, value in vars(model).items()}
    document = {
        "format": FORMAT,
        "method": model.card.key,
        "versions": dict(versions()),
        "fields": fields,
        "objects": writer.objects,
    }
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    files = {_GRAPH: text.encode()}
    for number, array in enumerate(writer.arrays):
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        files[f"{number}.npy"] = buffer.getvalue()
    content = zipped(files)
    gate.check_size("saved model", len(content))
    return content


def load_model(path: str | Path | bytes) -> BaseEmbedder:
    """Read a fitted model.

    Parameters
    ----------
    path : str, path or bytes
        What `save_model` wrote, or its content.

    Returns
    -------
    BaseEmbedder
        Its ``transform`` gives what that of the saved one gives.

    Raises
    ------
    hetviz.errors.DataError
        If it is no saved model, damaged, or of a version that does not fit.

    Notes
    -----
    Nothing in the file is run. The trees of gradient boosting are read by LightGBM, which does not
    check them closely: take those from people you trust.
    """
    name = "model" if isinstance(path, bytes) else Path(path).name
    content = path if isinstance(path, bytes) else gate.read_file(Path(path))
    archive = Archive(name, content)
    if _GRAPH not in archive.names():
        raise damaged(f"{name} holds no {_GRAPH}")

    def array(number: int) -> Array:
        # A copy of its own: what is read from bytes cannot be written to.
        stored = io.BytesIO(archive.read(f"{number}.npy"))
        return np.array(np.load(stored, allow_pickle=False))

    try:
        document = json.loads(archive.read(_GRAPH))
        gate.check_format(name, document["format"], FORMAT)
        if document["format"] != FORMAT:
            raise damaged(f"its format is {document['format']!r}, not {FORMAT}")
        method = get_method(str(document["method"]))
        model: BaseEmbedder = object.__new__(method)
        reader = Reader(list(document["objects"]), array)
        for field, value in dict(document["fields"]).items():
            check_field(field)
            setattr(model, field, reader.value(value))
    except _UNREADABLE as error:
        raise damaged(f"it cannot be read ({type(error).__name__})") from error
    if not hasattr(model, "embedding_"):
        raise damaged("it is not fitted")
    return model


# Fitting a method again to save it, as a task of the worker.


MODEL = "model"
MOST_BYTES = 50 * limits.MB


def fit_model(
    data: HeteroData,
    method: str,
    params: Mapping[str, object],
    seed: int,
    hold_out: float,
    progress: Progress,
    weights: Mapping[str, float] | None = None,
    only: Ints | None = None,
) -> Findings:
    """Fit a method and return it as it is saved.

    Returns
    -------
    Findings
        Of kind "model": ``method``, ``bytes`` and the file as base64 under ``zip``.

    Raises
    ------
    hetviz.errors.HetvizError
        As the fit, or above 50 MB, which a project does not keep.
    hetviz.errors.Cancelled
    """
    fitted = fit_run(
        data,
        method,
        params,
        seed,
        Part(progress, 0.0, 0.9),
        weights=weights,
        only=only,
        hold_out=hold_out,
    )
    progress(0.9, "Writing the method")
    content = model_bytes(fitted.model)
    gate.check_size("fitted method", len(content), MOST_BYTES)
    progress(1.0, "Done")
    held = base64.b64encode(content).decode()
    return Findings(MODEL, {"method": method, "bytes": len(content), "zip": held})
