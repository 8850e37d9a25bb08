"""Tests of the task registry."""

from __future__ import annotations

import inspect

import pytest

from hetviz.jobs.registry import TASKS
from hetviz.workers.worker import load_function

RECORDED = {"MapResult", "Findings"}


@pytest.mark.parametrize("id", TASKS)
def test_task_has_data_progress_and_a_result_that_is_recorded(id: str) -> None:
    spec = TASKS[id]
    signature = inspect.signature(load_function(spec.function))
    assert {"data", "progress"} <= set(signature.parameters)
    assert (signature.return_annotation in RECORDED) == spec.restartable
    assert spec.title
