"""Tests of the package metadata."""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import hetviz

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def names(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w-]+", requirement).group().lower() for requirement in requirements}  # type: ignore[union-attr]


def test_library_needs_no_app_packages() -> None:
    assert not names(PROJECT["dependencies"]) & names(EXTRAS["app"])
    assert {"streamlit", "plotly"} <= names(EXTRAS["app"])


def test_weekly_workflow_tries_the_oldest_streamlit() -> None:
    (bounds,) = (Requirement(one).specifier for one in EXTRAS["app"] if "streamlit" in one)
    workflow = (ROOT / ".github/workflows/streamlit.yml").read_text("utf-8")
    (oldest,) = re.findall(r'"streamlit==([\d.]+)"', workflow)
    assert f">={oldest.removesuffix('.0')}" in str(bounds) and oldest in bounds


def test_all_extra_is_complete() -> None:
    # PyTorch takes gigabytes, the multilingual model 91 MB, and nothing needs them.
    large = ("gpu", "multilingual")
    parts = [EXTRAS[name] for name in EXTRAS if name not in ("all", "dev", *large)]
    assert sorted(EXTRAS["all"]) == sorted({entry for part in parts for entry in part})
    assert {*EXTRAS["figures"], *EXTRAS["files"]} <= set(EXTRAS["app"])
    assert names(EXTRAS["all"]) - names(EXTRAS["app"]) <= names(EXTRAS["dev"])
    assert names(EXTRAS["gpu"]) == {"torch"}
    assert not names(EXTRAS["gpu"]) & (names(EXTRAS["dev"]) | names(PROJECT["dependencies"]))


def pins(file: str) -> dict[str, Version]:
    """Return the version of each package that a file of pins names."""
    lines = re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / file).read_text("utf-8"), flags=re.M)
    return {canonicalize_name(name): Version(version) for name, version in lines}


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        (
            ["requirements.txt", "requirements-dev.txt"],
            PROJECT["dependencies"] + EXTRAS["app"] + EXTRAS["dev"],
        ),
        (
            ["requirements-server.txt"],
            PROJECT["dependencies"]
            + EXTRAS["app"]
            + EXTRAS["server"]
            + PYPROJECT["build-system"]["requires"],
        ),
    ],
)
def test_pins_meet_bounds(files: list[str], wanted: list[str]) -> None:
    versions = {name: version for file in files for name, version in pins(file).items()}
    unmet = []
    for requirement in map(Requirement, wanted):
        version = versions.get(canonicalize_name(requirement.name))
        if version is None or version not in requirement.specifier:
            unmet.append(f"{requirement}: {version}")
    assert unmet == []


def test_server_lock_has_versions_of_tests() -> None:
    server, app = pins("requirements-server.txt"), pins("requirements.txt")
    assert app.items() <= server.items()
    tested = app | pins("requirements-dev.txt")
    assert {name: server[name] for name in server.keys() & tested} == {
        name: tested[name] for name in server.keys() & tested
    }


def test_server_lock_has_all_that_its_packages_need() -> None:
    server, missing = pins("requirements-server.txt"), []
    # The lock is made for this.
    linux = {"extra": "", "python_version": "3.11", "python_full_version": "3.11.0"}
    linux |= {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64"}
    for name, version in server.items():
        with suppress(PackageNotFoundError):
            package = distribution(name)
            if Version(package.version) != version:
                continue
            for need in map(Requirement, package.requires or []):
                if need.marker is None or need.marker.evaluate(linux):
                    found = server.get(canonicalize_name(need.name))
                    if found is None or found not in need.specifier:
                        missing.append(f"{name}: {need}")
    assert missing == []


def test_server_lock_is_hashed() -> None:
    text = (ROOT / "requirements-server.txt").read_text("utf-8").replace("\\\n", "")
    entries = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(entries) == len(pins("requirements-server.txt"))
    pinned = re.compile(r"[\w.-]+==\S+( ;[^#]*?)?(\s+--hash=sha256:[0-9a-f]{64})+\s*")
    # Nor does a line name an index or a file of this machine.
    assert [line for line in entries if not pinned.fullmatch(line)] == []


def test_versions_agree() -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {hetviz.__version__}\n" in cited
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.*)$", changes, flags=re.M)
    assert heads[0] == "[Unreleased]"
    released = re.fullmatch(r"\[(.+)\] - (\d{4}-\d\d-\d\d)", heads[1])
    assert released is not None and released[1] == hetviz.__version__
    assert f"date-released: {released[2]}\n" in cited


def test_package_readme_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # hatchling is there when a package is built, not where tests run.
    interface = SimpleNamespace(MetadataHookInterface=object)
    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", interface)
    created = runpy.run_path(str(ROOT / "tools" / "package_readme.py"))["plain"]
    text = created((ROOT / "README.md").read_text(encoding="utf-8"))
    assert re.findall(r"\]\((?!https?:)|src=|srcset=", text) == []
    assert "ten minutes with the app" in text and "m = hetviz.embed(data)" in text
    assert created("[a](https://b.example/c) [d](e.md)") == "[a](https://b.example/c) d"
