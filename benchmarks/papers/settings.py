"""What was settled before the experiments were run: `settings.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_suffix(".toml")


@cache
def _all() -> dict[str, dict[str, Any]]:
    return tomllib.loads(PATH.read_text(encoding="utf-8"))


def settled(experiment: str) -> dict[str, Any]:
    """Return the settings of an experiment, or the "rules" of all."""
    return _all()[experiment]
