"""Date, versions and machine of a run, in words."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from datetime import date

import matplotlib
import numpy
import scipy
import sklearn

import hetviz


@dataclass(frozen=True)
class Surroundings:
    """When, with what and on what.

    Attributes
    ----------
    date : str
        Of today, ISO.
    versions : dict of str to str
    machine : str
    """

    date: str
    versions: dict[str, str]
    machine: str


def surroundings() -> Surroundings:
    """Look around."""
    cores = os.cpu_count() or 1
    graphics = "a graphics card, unused" if shutil.which("nvidia-smi") else "no GPU"
    return Surroundings(
        date.today().isoformat(),
        {
            "hetviz": hetviz.__version__,
            "python": platform.python_version(),
            "numpy": numpy.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "matplotlib": matplotlib.__version__,
        },
        f"{cores} core{'s' if cores != 1 else ''} ({platform.machine()}), {graphics}, "
        "one thread for linear algebra",
    )
