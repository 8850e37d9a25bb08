"""Tests of the package metadata."""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import hetviz

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def names(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w-]+", requirement).group().lower() for requirement in requirements}  # type: ignore[union-attr]


def test_library_needs_no_app_packages() -> None:
    assert not names(PROJECT["dependencies"]) & names(EXTRAS["app"])
    assert {"streamlit", "plotly"} <= names(EXTRAS["app"])


def test_all_extra_is_complete() -> None:
    # PyTorch takes gigabytes, the multilingual model 91 MB, and nothing needs them.
    large = ("gpu", "multilingual")
    parts = [EXTRAS[name] for name in EXTRAS if name not in ("all", "dev", *large)]
    assert sorted(EXTRAS["all"]) == sorted(entry for part in parts for entry in part)
    assert names(EXTRAS["all"]) - names(EXTRAS["app"]) <= names(EXTRAS["dev"])
    assert names(EXTRAS["gpu"]) == {"torch"}
    assert not names(EXTRAS["gpu"]) & (names(EXTRAS["dev"]) | names(PROJECT["dependencies"]))


def test_pins_meet_bounds() -> None:
    pins = {}
    for file in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
            if "==" in line:
                name, _, version = line.partition("==")
                pins[name.lower()] = version.split(";")[0].strip()
    wanted = [*PROJECT["dependencies"], *EXTRAS["app"], *EXTRAS["dev"]]
    lacking = [name for name in names(wanted) if name not in pins]
    assert lacking == []
    early = []
    for entry in wanted:
        bound = re.match(r"([\w-]+)>=([\w.]+)", entry)
        if bound:
            least = [int(part) for part in re.findall(r"\d+", bound[2])]
            present = [int(part) for part in re.findall(r"\d+", pins[bound[1].lower()])]
            if present < least:
                early.append(entry)
    assert early == []


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
