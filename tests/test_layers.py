"""Tests of the layer order and of rules for modules, from syntax trees.

A module imports only from layers before its own (or from its own), whether the import stands at
the top, inside a function, under TYPE_CHECKING or in a name that is imported later; and no modules
import each other in a circle.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path

import networkx
import pytest

from hetviz import _higher_layers as doors

ROOT = Path(__file__).resolve().parents[1]

# One entry per layer, from the bottom up. `hetviz` itself is the lazy public face in __init__.py.
LAYERS: tuple[frozenset[str], ...] = tuple(
    frozenset(layer.split())
    for layer in (
        "_higher_layers _html _json _moved _pandas _samples _text _types _version codec errors "
        "memo params progress",
        "core",
        "workers",
        "data",
        "features",
        "io",
        "metrics",
        "algorithms",
        "runs",
        "jobs",
        "workspace",
        "plots",
        "exports",
        "serve",
        "hetviz",
        "ui",
        "pages app cli",
        "__main__",
    )
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
# The packages of hetviz/ui in the same order. Those in one entry do not import each other.
UI_LAYERS: tuple[frozenset[str], ...] = tuple(
    frozenset(layer.split())
    for layer in (
        "jobs",
        "map_data",
        "shell",
        "widgets",
        "item",
        "map",
        "statements",
        "reading",
        "clusters compare data export guidance notebook predict start",
        "host",
        "evidence",
        "app",
    )
)
UI_RANK = {name: rank for rank, layer in enumerate(UI_LAYERS) for name in layer}

# Modules of hetviz/algorithms that are not methods.
CONTRACT = frozenset(
    {"base", "comparison_order", "contract", "cost", "diagnostics", "landmark_start", "memory"}
    | {"needs", "neighbor_map", "papers", "pictures", "predictor", "ranking", "registry"}
    | {"shared_params", "sklearn_interface"}
)

# Modules that use the library by its public names. All others import from the defining modules.
PUBLIC_USERS = frozenset({"cli", "__main__", "pages"})

SCREEN = frozenset({"ui", "pages", "app"})
ONLY_IN: dict[str, frozenset[str]] = {
    "streamlit": SCREEN,
    "plotly": SCREEN | {"plots"},
    "matplotlib": frozenset({"plots"}),
}
BANNED_MODULES = frozenset({"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"})
BANNED_CALLS = frozenset(
    {"eval", "exec", "extractall", "read_pickle", "to_pickle", "unpack_archive", "yaml.load"}
    | {"yaml.unsafe_load", "joblib.load", "joblib.dump"}
)
LAST_NAMES = frozenset(name.rpartition(".")[2] for name in BANNED_CALLS)
# Keywords that may only have the value given here.
SAFE_KEYWORDS = {"allow_pickle": False, "unsafe_allow_html": False, "resolve_entities": False}
MAX_PAGE_LINES = 79
# A third of those that there were when they were first counted.
MAX_ANY = 232
# Methods of a class of the data that are written in a higher layer: the only way around the order,
# and the only names that no circle is made of.
HIGHER_LAYERS = "hetviz._higher_layers"
MAY_CALL_HIGHER_LAYERS = frozenset(
    {
        "hetviz/data/joins/near_rows.py",
        "hetviz/data/model/embedding.py",
        "hetviz/data/model/heterodata.py",
    }
)


@lru_cache(maxsize=1)
def nodes_of(source: str) -> list[ast.AST]:
    """Return all nodes of a source, which is read in several ways."""
    return list(ast.walk(ast.parse(source)))


def sources() -> list[Path]:
    app = ROOT / "app.py"
    result = [*sorted((ROOT / "hetviz").rglob("*.py")), *sorted((ROOT / "pages").rglob("*.py"))]
    return [*result, app] if app.exists() else result


def layer_of(path: Path) -> str:
    """Name the layer of a file, given relative to the repository."""
    first = path.parts[0]
    if first != "hetviz":
        return path.stem if len(path.parts) == 1 else first
    if path.parts[1] == "__init__.py":
        return "hetviz"
    return path.parts[1].removesuffix(".py")


def find_violations(path: Path, source: str) -> list[str]:
    """List what a file does against the rules; `path` is relative to the repository."""
    layer = layer_of(path)
    if layer not in RANK:
        return [f"{path}: {layer!r} is in no layer: give it its place in LAYERS"]
    result = []
    for node in nodes_of(source):
        for module in imported_modules(node, path):
            if fault := import_violation(layer, path, module):
                result.append(f"{path}:{node.lineno}: {fault}")
        if isinstance(node, ast.Call):
            result += [f"{path}:{node.lineno}: {fault}" for fault in call_violations(node)]
    return result


def imported_modules(node: ast.AST, path: Path) -> Iterator[str]:
    """Yield the full names of the modules that an import statement may load."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        if node.level:
            folder = path.with_suffix("").parts[: -node.level]
            module = ".".join([*folder, *([module] if module else [])])
        for alias in node.names:
            # `from hetviz import core` loads hetviz.core, `from hetviz.core import x` maybe no x.
            packages = ("hetviz", "hetviz.algorithms")
            yield f"{module}.{alias.name}" if module in packages else module


def import_violation(layer: str, path: Path, module: str) -> str | None:
    first, _, others = module.partition(".")
    if first in BANNED_MODULES:
        return f"imports {first}, which can run what it reads"
    if first in ONLY_IN and layer not in ONLY_IN[first]:
        return f"imports {first}, which only {sorted(ONLY_IN[first])} may"
    if first in ("pages", "app"):
        target = first
    elif first == "hetviz":
        target = others.partition(".")[0]
        if target not in RANK:
            target = "hetviz"
    else:
        return None
    if RANK[target] > RANK[layer]:
        return f"imports {module}: {layer} comes before {target}"
    if target == "hetviz" and layer not in PUBLIC_USERS:
        return f"imports {module} through hetviz/__init__.py; name the module it is in"
    if target == layer == "algorithms" and path.stem not in CONTRACT:
        named = others.removeprefix("algorithms").strip(".").partition(".")[0]
        if named not in CONTRACT | {path.stem}:
            return f"imports {module}: methods do not import each other"
    return None


def call_violations(node: ast.Call) -> Iterator[str]:
    if getattr(node.func, "attr", getattr(node.func, "id", "")) in LAST_NAMES:
        name = ast.unparse(node.func)
        for banned in BANNED_CALLS:
            # Plain names are banned as functions and methods, dotted names literally.
            if name == banned or ("." not in banned and name.endswith(f".{banned}")):
                yield f"calls {name}"
    for keyword in node.keywords:
        if keyword.arg in SAFE_KEYWORDS:
            value = keyword.value
            safe = SAFE_KEYWORDS[keyword.arg]
            if not (isinstance(value, ast.Constant) and value.value is safe):
                yield f"passes {keyword.arg}={ast.unparse(value)}"


def module_name(path: Path) -> str:
    """Return the full name of a module; `path` is relative to the repository."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def module_graph(sources: Mapping[str, str]) -> networkx.DiGraph:
    """Return which module names which other one, however late it imports it."""
    graph = networkx.DiGraph()
    for name, source in sources.items():
        add_imports(graph, name, source, sources)
    return graph


def add_imports(graph: networkx.DiGraph, name: str, source: str, modules: Collection[str]) -> None:
    graph.add_node(name)
    if name != HIGHER_LAYERS:
        nodes = nodes_of(source)
        named = {*stated_imports(nodes, modules), *late_imports(nodes, modules)}
        graph.add_edges_from((name, other) for other in named - {name})


@cache
def read_sources() -> tuple[list[str], networkx.DiGraph, int]:
    """Return all violations, imports within hetviz, and the number of signatures with `Any`."""
    paths = [path.relative_to(ROOT) for path in sources()]
    modules = {path: module_name(path) for path in paths if path.parts[0] == "hetviz"}
    names = frozenset(modules.values())
    violations, graph, n_any = [], networkx.DiGraph(), 0
    for path in paths:
        source = (ROOT / path).read_text(encoding="utf-8")
        violations += find_violations(path, source)
        if path in modules:
            add_imports(graph, modules[path], source, names)
            n_any += signatures_with_any(source) if "Any" in source else 0
    return violations, graph, n_any


def package_graph() -> networkx.DiGraph:
    return read_sources()[1]


def stated_imports(nodes: list[ast.AST], modules: Collection[str]) -> Iterator[str]:
    """Yield the modules in import statements, at the top or inside functions."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in modules else node.module


def late_imports(nodes: list[ast.AST], modules: Collection[str]) -> Iterator[str]:
    """Yield the modules in texts that are imported later, and all of a folder that is searched.

    Such texts are "module:function" anywhere, and, where import_module is used, names of modules
    and what is put into f"hetviz.folder.{...}".
    """
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    starts = []
    if any("import_module" in (getattr(n, "attr", ""), getattr(n, "id", "")) for n in nodes):
        starts = [""]
        for node in nodes:
            if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                starts.append(str(node.values[0].value))
    for text in texts:
        module, colon, _ = text.partition(":")
        whole = [module] if colon else [start + text for start in starts]
        yield from (name for name in whole if name in modules and "." in name)
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == "__path__":
            folder = f".{ast.unparse(node.value)}"
            yield from (name for name in modules if name.rpartition(".")[0].endswith(folder))


def find_cycles(graph: networkx.DiGraph) -> list[list[str]]:
    """Return the modules that import each other, in groups."""
    groups = networkx.strongly_connected_components(graph)
    return sorted(sorted(group) for group in groups if len(group) > 1)


def folder_cycles(modules: networkx.DiGraph) -> list[list[str]]:
    """Return the folders that import each other, directly or through others, in groups.

    A package's ``__init__`` may name what lies below it, and ``__main__`` what it starts.
    """
    packages = {name.rpartition(".")[0] for name in modules}
    folders = {name: name if name in packages else name.rpartition(".")[0] for name in modules}
    graph = networkx.DiGraph()
    for name, other in modules.edges:
        names_below = name in packages or name.endswith(".__main__")
        if folders[name] != folders[other] and not names_below:
            graph.add_edge(folders[name], folders[other])
    groups = networkx.strongly_connected_components(graph)
    return sorted(sorted(group) for group in groups if len(group) > 1)


def test_sources_follow_rules() -> None:
    assert ROOT / "hetviz/errors.py" in sources()
    assert read_sources()[0] == []


def find_ui_violations(graph: networkx.DiGraph) -> list[str]:
    """List the modules of hetviz/ui that import from a package after or next to their own."""
    result = []
    for module, other in graph.edges:
        if not (module.startswith("hetviz.ui.") and other.startswith("hetviz.ui.")):
            continue
        package, target = module.split(".")[2], other.split(".")[2]
        if package != target and UI_RANK[target] >= UI_RANK[package]:
            result.append(f"{module} imports {other}")
    return sorted(result)


def test_ui_packages_import_in_one_direction() -> None:
    graph = package_graph()
    packages = {name.split(".")[2] for name in graph if name.startswith("hetviz.ui.")}
    assert packages == set(UI_RANK)
    assert find_ui_violations(graph) == []


@pytest.mark.parametrize(
    ("module", "other"),
    [
        ("hetviz.ui.shell.session", "hetviz.ui.map.search"),
        ("hetviz.ui.data.upload", "hetviz.ui.start.gallery"),
        ("hetviz.ui.map.view", "hetviz.ui.app.frame"),
    ],
)
def test_ui_violation_is_detected(module: str, other: str) -> None:
    forward = module_graph({module: f"import {other}", other: ""})
    assert find_ui_violations(forward) == [f"{module} imports {other}"]
    backward = module_graph({other: f"import {module}", module: ""})
    assert find_ui_violations(backward) == (
        [f"{other} imports {module}"] if "start" in other else []
    )


def test_no_import_cycles() -> None:
    assert "hetviz.data.model.links" in package_graph()
    assert find_cycles(package_graph()) == []


def test_no_folder_cycles() -> None:
    assert folder_cycles(package_graph()) == []


def test_folder_cycle_is_detected() -> None:
    modules = {
        "hetviz": "import hetviz.one.a",
        "hetviz.one": "from hetviz.one.a import x",
        "hetviz.one.a": "from hetviz.two import b",
        "hetviz.two": "",
        "hetviz.two.b": "from hetviz.three.c import x",
        "hetviz.three": "",
        "hetviz.three.c": "",
    }
    assert folder_cycles(module_graph(modules)) == []
    modules["hetviz.three.c"] = "from hetviz.one.d import y"
    modules["hetviz.one.d"] = ""
    graph = module_graph(modules)
    assert find_cycles(graph) == []
    assert folder_cycles(graph) == [["hetviz.one", "hetviz.three", "hetviz.two"]]


@pytest.mark.parametrize(
    ("source", "other"),
    [
        ("from hetviz.two import name", "import hetviz.one"),
        ("def f():\n    from hetviz import two", "from hetviz.one import f"),
        ("if TYPE_CHECKING:\n    from hetviz.two import Name", "from hetviz.one import f"),
        ("import_module('hetviz.two')", "import hetviz.one"),
        ("for n in ('two',):\n    importlib.import_module(f'hetviz.{n}')", "import hetviz.one"),
        ("run('hetviz.two:task')", "import hetviz.one"),
    ],
)
def test_cycle_is_detected(source: str, other: str) -> None:
    modules = {"hetviz": "", "hetviz.one": source, "hetviz.two": other}
    assert find_cycles(module_graph(modules)) == [["hetviz.one", "hetviz.two"]]
    modules["hetviz.two"] = "import numpy"
    assert find_cycles(module_graph(modules)) == []


def test_searched_package_is_in_cycle() -> None:
    modules = {
        "hetviz.found": "from hetviz import some\npkgutil.iter_modules(some.__path__)",
        "hetviz.some": "",
        "hetviz.some.one": "import hetviz.found",
    }
    assert find_cycles(module_graph(modules)) == [["hetviz.found", "hetviz.some.one"]]


def test_higher_layer_implementations_exist() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for path in sources()
        if HIGHER_LAYERS in path.read_text(encoding="utf-8")
    }
    assert users == MAY_CALL_HIGHER_LAYERS
    for way in doors.IMPLEMENTATIONS.values():
        module, _, function = way.partition(":")
        assert callable(getattr(importlib.import_module(module), function)), way


def test_pages_are_thin() -> None:
    lines = {
        path.name: len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "pages").glob("*.py")
    }
    assert {name: n for name, n in lines.items() if n > MAX_PAGE_LINES} == {}


@pytest.mark.parametrize(
    ("path", "source", "fault"),
    [
        (
            "hetviz/core/kernels/kernels.py",
            "from hetviz.data.model.links import Links",
            "core comes before data",
        ),
        ("hetviz/core/kernels/kernels.py", "from ...data import links", "core comes before data"),
        ("hetviz/core/kernels/kernels.py", "from hetviz import data", "core comes before data"),
        (
            "hetviz/core/kernels/kernels.py",
            "def f():\n    import hetviz.ui",
            "core comes before ui",
        ),
        ("hetviz/core/kernels/kernels.py", "import hetviz", "core comes before hetviz"),
        ("hetviz/core/kernels/kernels.py", "from hetviz import load", "core comes before hetviz"),
        ("hetviz/runs/embed/run.py", "from hetviz import __version__", "runs comes before hetviz"),
        ("hetviz/ui/app/frame.py", "import hetviz", "through hetviz/__init__.py"),
        ("hetviz/errors.py", "from hetviz.core import eigen", "errors comes before core"),
        ("hetviz/__init__.py", "from hetviz.ui import router", "hetviz comes before ui"),
        ("hetviz/ui/state.py", "from pages import start", "ui comes before pages"),
        ("hetviz/algorithms/pca.py", "from hetviz.algorithms.cca import CCA", "each other"),
        ("hetviz/algorithms/pca.py", "from hetviz.algorithms import cca", "each other"),
        ("hetviz/algorithms/pca.py", "from . import cca", "each other"),
        ("hetviz/metrics/fit/summary.py", "import streamlit as st", "imports streamlit"),
        ("hetviz/plots/map.py", "from streamlit import cache_data", "imports streamlit"),
        ("hetviz/runs/store.py", "import plotly.express", "imports plotly"),
        ("pages/map.py", "import matplotlib.pyplot", "imports matplotlib"),
        ("hetviz/io/bundle/reading.py", "import pickle", "imports pickle"),
        ("hetviz/workers/protocol.py", "import pickle", "imports pickle"),
        ("hetviz/jobs/runner.py", "import dill", "imports dill"),
        ("hetviz/io/bundle/reading.py", "pd.read_pickle(path)", "calls pd.read_pickle"),
        ("hetviz/io/bundle/reading.py", "archive.extractall(folder)", "calls archive.extractall"),
        ("hetviz/io/bundle/reading.py", "yaml.load(text)", "calls yaml.load"),
        ("hetviz/io/bundle/reading.py", "np.load(path, allow_pickle=True)", "allow_pickle=True"),
        ("hetviz/io/bundle/reading.py", "np.load(path, allow_pickle=trust)", "allow_pickle=trust"),
        ("hetviz/params.py", "eval(text)", "calls eval"),
        ("app.py", "exec(text)", "calls exec"),
        ("pages/start.py", "st.markdown(text, unsafe_allow_html=True)", "unsafe_allow_html"),
        ("hetviz/helpers.py", "", "in no layer"),
    ],
)
def test_violation_is_detected(path: str, source: str, fault: str) -> None:
    result = find_violations(Path(path), source)
    assert len(result) == 1
    assert fault in result[0]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("hetviz/params.py", "from hetviz.errors import ParameterError"),
        ("hetviz/core/layout/sne.py", "from hetviz.core import affinities"),
        ("hetviz/core/layout/sne.py", "import numpy as np\nimport re\nre.compile('a')"),
        ("hetviz/algorithms/registry.py", "import hetviz.algorithms"),
        ("hetviz/runs/recipe.py", "from hetviz._version import __version__"),
        ("hetviz/io/bundle/reading.py", "np.load(path, allow_pickle=False)"),
        ("hetviz/io/bundle/reading.py", "np.load(path)\njson.load(file)\ntomllib.load(file)"),
        ("hetviz/ui/app/router.py", "import streamlit as st\nimport plotly.graph_objects as go"),
        ("hetviz/__init__.py", "from hetviz.runs.recipe import run_recipe"),
        ("pages/map.py", "import hetviz\nfrom hetviz.ui import state"),
    ],
)
def test_allowed_code_passes(path: str, source: str) -> None:
    assert find_violations(Path(path), source) == []


def test_architecture_page_lists_all_packages() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = text[text.index("## Folders") : text.index("## Rules checked by tests")]
    named = {
        row.split("|")[1]: set(re.findall(r"`(\w+)`", row.split("|")[2]))
        for row in rows.splitlines()
        if row.startswith("| `")
    }
    listed = {
        name: rooms for first, rooms in named.items() for name in re.findall(r"`(\w+)/`", first)
    }
    present = {
        folder.name: {part.name for part in folder.iterdir() if (part / "__init__.py").exists()}
        for folder in (ROOT / "hetviz").iterdir()
        if (folder / "__init__.py").exists()
    }
    assert listed == present


def signatures_with_any(source: str) -> int:
    """Count the functions that take or return `Any`, by itself or within another type."""
    return sum(
        any(
            isinstance(part, ast.Name) and part.id == "Any"
            for stated in annotations(node)
            for part in ast.walk(stated)
        )
        for node in nodes_of(source)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )


def annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    stated = [part.annotation for part in ast.walk(function.args) if isinstance(part, ast.arg)]
    yield from (entry for entry in [*stated, function.returns] if entry is not None)


def test_any_is_rare() -> None:
    assert signatures_with_any("def f(a: list[Any], b: int = Any) -> Any: ...") == 1
    assert signatures_with_any("def f(a: object) -> int:\n    b: Any = a") == 0
    assert 0 < read_sources()[2] <= MAX_ANY
