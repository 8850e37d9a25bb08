"""Steps of the library and the command line; run by themselves on Windows, by a test elsewhere.

``python tests/windows/steps.py FOLDER [--as-windows]``. The option takes away what Windows lacks.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from pathlib import Path

_LOADED_BEFORE = (
    "joblib", "lightgbm", "matplotlib.figure", "pyarrow.parquet", "scipy.optimize", "scipy.stats",
    "sklearn.cluster", "sklearn.decomposition", "sklearn.linear_model", "sklearn.manifold", "umap",
)  # fmt: skip
_MODULES = ("fcntl", "resource", "pwd", "grp", "termios")
_CALLS = ("nice", "sched_getaffinity", "fork", "setsid", "killpg", "getuid", "memfd_create")
_SIGNALS = ("SIGKILL", "SIGXCPU", "SIGHUP", "SIGCHLD", "SIGALRM", "SIGUSR1")


def look_like_windows() -> None:
    """Take away what Windows lacks; other packages are loaded first, since they look, too."""
    for name in _LOADED_BEFORE:
        import_module(name)
    for name in _MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for holder, names in ((os, _CALLS), (signal, _SIGNALS)):
        for name in names:
            if hasattr(holder, name):
                delattr(holder, name)
    sys.platform = "win32"


def main(folder: str, *options: str) -> None:
    """Read files, make maps, predict and export; print what the app says."""
    if options:
        look_like_windows()
    import numpy as np
    import pandas as pd

    import hetviz
    from hetviz.cli import main as command

    os.chdir(folder)
    Path("tables").mkdir()
    rng = np.random.default_rng(0)
    for name in "ab":
        table = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("xyz"))
        table.insert(0, "id", [f"{name}{k}" for k in range(40)])
        table.to_csv(f"tables/{name}.csv", index=False)
    pairs = pd.DataFrame({name: [f"{name}{k}" for k in range(30)] for name in "ab"})
    pairs.to_csv("tables/links.csv", index=False)
    data = hetviz.load("tables")
    assert len(data.links[0]) == 30
    m = hetviz.embed(data, "joint-map")
    for file in ("map.html", "map.png", "coordinates.csv", "project.hetviz"):
        hetviz.export(data, m, file)
    assert command(["embed", "tables", "--method", "pca", "--out", "r"]) == 0
    assert command(["run", "r/recipe.toml", "--out", "again"]) == 0
    assert command(["report", "r", "--out", "report.html"]) == 0
    expected = {"map.html", "map.png", "coordinates.csv", "project.hetviz", "again", "report.html"}
    assert expected <= {path.name for path in Path().iterdir()}
    # The app reads files of strangers in confined processes, so it does not start.
    for words in (["app"], ["serve"]):
        assert command(words) != 0


if __name__ == "__main__":
    main(*sys.argv[1:])
