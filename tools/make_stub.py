"""Write ``hetviz/__init__.pyi``: the public names with the types of each method's parameters.

Type checkers read it, so that they know the methods by name, and their parameters in `embed`. It
follows from `hetviz._MODULES` and the declarations of the methods:

    python tools/make_stub.py
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import hetviz
from hetviz.algorithms.registry import method_classes
from hetviz.params import Choice, Param, PerDataset

STUB = Path(hetviz.__file__).with_suffix(".pyi")
_OVERLOADED = ("embed", "get_method")
_HEAD = '''"""Public names and their types. Written by tools/make_stub.py."""

from collections.abc import Mapping, Sequence
from typing import Literal, overload

from hetviz._types import RandomSeed
from hetviz._version import __version__ as __version__
from hetviz.progress import Progress
'''
_SHARED = """    random_state: RandomSeed = 0,
    progress: Progress | bool | None = None,
    start: Embedding | None = None,
    n_jobs: int | None = None,
"""


def stub() -> str:
    """Return the text of the stub."""
    classes = method_classes()
    lines = [_HEAD]
    for module, names in hetviz._MODULES.items():
        for name in names:
            if name not in _OVERLOADED:
                home = getattr(importlib.import_module(f"hetviz.{module}"), name).__module__
                lines.append(f"from {home} import {name} as {name}")
    lines += [f"from {kind.__module__} import {name} as {name}" for name, kind in classes.items()]
    lines.append(f"__all__ = {[*hetviz.__all__]!r}")
    keys = ", ".join(repr(kind.card.key) for kind in classes.values())
    lines += [f"MethodName = Literal[{keys}]", "@overload", _embed("method: None = None,", [])]
    for kind in classes.values():
        params = [
            f"{key}: {_type_of(param, kind._types[key])} = ...,"
            for key, param in kind.params.items()
            if key != "random_state"
        ]
        lines += ["@overload", _embed(f'method: Literal["{kind.card.key}"],', params)]
    for name, kind in classes.items():
        lines += [
            "@overload",
            f'def get_method(key: Literal["{kind.card.key}"]) -> type[{name}]: ...',
        ]
    return _formatted("\n".join(lines))


def _embed(method: str, params: list[str]) -> str:
    rest = "".join(f"    {param}\n" for param in params)
    first = f"def embed(\n    data: HeteroData,\n    {method}\n    *,\n"
    return f"{first}{_SHARED}{rest}) -> Embedding: ..."


def _type_of(param: Param, declared: object) -> str:
    """Return the type of a parameter, with the names of its options."""
    text = declared.__name__ if isinstance(declared, type) else str(declared)
    text = text.replace("collections.abc.", "")
    inner = param.inner if isinstance(param, PerDataset) else param
    names = [] if not isinstance(inner, Choice) else [*inner.options, *inner.also]
    names = [option for option in names if isinstance(option, str)]
    if names:
        literal = f"Literal[{', '.join(map(repr, names))}]"
        text = text.replace("Mapping[str, str]", f"Mapping[str, {literal}]")
        first, *others = text.split(" | ")
        text = " | ".join([literal if first == "str" else first, *others])
    return text


def _formatted(text: str) -> str:
    for arguments in (("check", "--select", "I", "--fix", "-q"), ("format", "-q")):
        command = ["ruff", *arguments, "--stdin-filename", str(STUB), "-"]
        ruff = [str(Path(sys.executable).with_name("ruff")), *command[1:]]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
