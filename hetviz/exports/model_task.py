"""Fitting a method again to save it, as a task of the worker."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.exports.model import model_bytes
from hetviz.io import gate, limits
from hetviz.jobs.results import Findings
from hetviz.progress import Part, Progress
from hetviz.runs.embed.run import fit_run

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
