"""Fitted models saved as documents of `hetviz.codec`, without pickle."""

from __future__ import annotations

import base64
import dataclasses
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Unpack

from hetviz import codec
from hetviz._moved import current_class, current_field
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.registry import get_method
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import DataError, HetvizError, check_type
from hetviz.exports import earlier_model
from hetviz.exports.writing import write_file
from hetviz.io import gate, limits
from hetviz.progress import Progress, ProgressPart
from hetviz.runs.embed.run import FitArguments, fit_run, versions
from hetviz.runs.findings import Findings

_OUR_PACKAGES = ("algorithms", "core", "data", "features", "predictor")
# Fields of a dataset that transform does not need.
_UNSAVED_DATASET_FIELDS = ("table", "media")


def save_model(model: BaseEmbedder, path: str | Path) -> Path:
    """Save a fitted model.

    Parameters
    ----------
    model : BaseEmbedder
        Fitted model.
    path : str or path
        A file, usually ending in ``.hetviz-model``.

    Returns
    -------
    path

    Raises
    ------
    hetviz.errors.HetvizError
        If the model is not fitted, or holds a value that cannot be saved.
    hetviz.errors.DataError
        If the file cannot be written, or would be too large to load.

    Notes
    -----
    The file holds ids, features and links of the fitted rows as far as `transform` needs them, but
    no tables or pictures.
    """
    return write_file(path, model_bytes(model))


def model_bytes(model: BaseEmbedder) -> bytes:
    """Return the bytes that `save_model` writes. Equal models give equal bytes."""
    check_type(model, BaseEmbedder, "save_model")
    if not hasattr(model, "embedding_"):
        raise HetvizError(f"{model.card.title}: call fit before saving.")
    document = {"method": model.card.key, "versions": dict(versions()), "fields": vars(model)}
    try:
        content = codec.encode(document, RECORDS, compress=True)
    except codec.CodecError as error:
        raise HetvizError(f"This model cannot be saved: {error}.") from error
    gate.check_size("saved model", len(content))
    return content


def load_model(path: str | Path | bytes) -> BaseEmbedder:
    """Read a fitted model.

    Parameters
    ----------
    path : str, path or bytes
        File written by `save_model`, or its content.

    Returns
    -------
    BaseEmbedder
        Its ``transform`` gives the same results as that of the saved model.

    Raises
    ------
    hetviz.errors.DataError
        If the file is not a saved model, is damaged, or comes from an unsupported version.

    Notes
    -----
    No code in the file is executed. LightGBM reads the trees of gradient boosting and checks them
    little, so load such models only from people you trust.
    """
    name = "model" if isinstance(path, bytes) else Path(path).name
    content = path if isinstance(path, bytes) else gate.read_file(Path(path))
    try:
        if codec.is_document(content):
            max_size = codec.Limits(body_bytes=limits.MAX_UNPACKED_BYTES)
            document = codec.decode(content, RECORDS, max_size, writable=True)
        else:
            document = earlier_model.read_document(name, content, RECORDS)
    except ValueError as error:
        raise damaged(f"it cannot be read ({error})") from error
    return _model_of(document)


def _model_of(document: object) -> BaseEmbedder:
    try:
        method = get_method(str(document["method"]))  # type: ignore[index]
        model: BaseEmbedder = object.__new__(method)
        for field, value in dict(document["fields"]).items():  # type: ignore[index]
            check_field(field)
            setattr(model, current_field(method, field), value)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise damaged(f"it cannot be read ({type(error).__name__})") from error
    if not hasattr(model, "embedding_"):
        raise damaged("it is not fitted")
    return model


# Task of the worker that fits a method again to save it.


MODEL = "model"
MAX_BYTES = 50 * limits.MB


def fit_model(
    data: HeteroData,
    progress: Progress,
    start: Embedding | None = None,
    **fit: Unpack[FitArguments],
) -> Findings:
    """Fit a method again, from the same `start` as its map, and return the saved model."""
    fitted = fit_run(data, progress=ProgressPart(progress, 0.0, 0.9), start=start, **fit)
    progress(0.9, "Writing the method")
    content = model_bytes(fitted.model)
    gate.check_size("fitted method", len(content), MAX_BYTES)
    progress(1.0, "Done")
    encoded = base64.b64encode(content).decode()
    return Findings(MODEL, {"method": fit["method"], "bytes": len(content), "zip": encoded})


class ModelRecords(codec.Records):
    """The classes of hetviz that models consist of, restored without their constructors."""

    def name_of(self, value: object) -> str | None:
        kind = type(value)
        is_ours = _is_ours(kind.__module__) and "<" not in kind.__qualname__
        return f"{kind.__module__}.{kind.__qualname__}" if is_ours else None

    def fields_of(self, value: object) -> Mapping[str, object]:
        if hasattr(value, "saved"):
            return {"saved": value.saved()}
        if not dataclasses.is_dataclass(value):
            return vars(value)
        fields = {
            field.name: getattr(value, field.name)
            for field in dataclasses.fields(value)
            if field.metadata.get("saved", True) and hasattr(value, field.name)
        }
        return fields | dict.fromkeys(_UNSAVED_DATASET_FIELDS if isinstance(value, Dataset) else ())

    def restore(
        self,
        name: str,
        read_fields: Callable[[], dict[str, Any]],
        register: Callable[[object], None],
    ) -> object:
        kind = _resolve_class(name)
        if hasattr(kind, "restored"):
            return kind.restored(read_fields()["saved"])
        instance = object.__new__(kind)
        register(instance)
        fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else None
        field_names = None if fields is None else {field.name for field in fields}
        for saved_name, value in read_fields().items():
            check_field(saved_name)
            field_name = current_field(kind, saved_name)
            if field_names is not None and field_name not in field_names:
                raise damaged(f"{name} has no field {field_name!r}")
            object.__setattr__(instance, field_name, value)
        return instance


RECORDS = ModelRecords()


def check_field(name: str) -> None:
    """Raise an error unless a name is a plain field."""
    if not name.isidentifier() or name.startswith("__"):
        raise damaged(f"{name!r} is not a field")


def damaged(problem: str) -> DataError:
    """Return the error for a file that is not a readable model."""
    remedy = "The file was changed or comes from another version of hetviz. Fit the model again."
    return DataError.of("bad-model", "saved model", problem, remedy=remedy)


def _is_ours(module: str) -> bool:
    first, _, path = module.partition(".")
    return first == "hetviz" and path.partition(".")[0] in _OUR_PACKAGES


def _resolve_class(name: str) -> Any:
    module, class_name = current_class(name)
    try:
        if not _is_ours(module):
            raise ImportError
        kind = getattr(importlib.import_module(module), class_name)
    except (ImportError, AttributeError):
        raise damaged(f"there is no class {name}") from None
    if not isinstance(kind, type) or kind.__module__ != module or issubclass(kind, BaseException):
        raise damaged(f"{name} is not part of a model")
    return kind
