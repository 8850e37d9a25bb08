"""Tests of the server settings."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from hetviz.errors import DataError
from hetviz.serve.config import ServerSettings, as_environment, read_settings
from tests.browser.harness import ROOT

OIDC = """
auth = "oidc"
address = "0.0.0.0"
hosts = ["maps.lab.org", "*.inner.lab.org"]
base_path = "tools/hetviz"
[oidc]
metadata_url = "https://id.lab.org/.well-known/openid-configuration"
client_id = "hetviz"
client_secret = "hush"
redirect_uri = "https://maps.lab.org/tools/hetviz/oauth2callback"
cookie_secret = "0123456789abcdef0123456789abcdef"
[work]
workers = 3
"""


def config_file(folder: Path, text: str) -> Path:
    path = folder / "server.toml"
    path.write_text(text)
    return path


def problems(folder: Path, text: str, **environment: str) -> str:
    with pytest.raises(DataError) as caught:
        read_settings(config_file(folder, text), environment)
    return "\n".join(map(str, caught.value.problems))


def test_default_settings_are_local() -> None:
    result = read_settings(None, {})
    assert result == ServerSettings()
    assert (result.auth, result.address, result.metrics) == ("none", "127.0.0.1", False)
    # As the app itself, which shows no path of the server either.
    own = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert own["server"]["address"] == result.address
    assert own["server"]["allowedHosts"] == list(result.hosts)
    assert own["server"]["enableXsrfProtection"] and own["client"]["showErrorDetails"] == "none"
    assert not own["browser"]["gatherUsageStats"]


def test_settings_without_effect_are_ignored(tmp_path: Path) -> None:
    path = config_file(tmp_path, '[oidc]\nadmin_role = "hetviz-admin"\n')
    assert read_settings(path, {"HETVIZ_OIDC_ADMIN_ROLE": "x"}) == ServerSettings()


def test_environment_overrides_file(tmp_path: Path) -> None:
    path = config_file(tmp_path, OIDC)
    result = read_settings(
        path, {"HETVIZ_WORK_WORKERS": "5", "HETVIZ_HOSTS": "a.org, b.org", "PATH": "x"}
    )
    assert result.work.workers == 5
    assert result.hosts == ("a.org", "b.org")
    assert result.base == "/tools/hetviz"


def test_settings_environment_round_trip(tmp_path: Path) -> None:
    result = read_settings(config_file(tmp_path, OIDC), {})
    assert read_settings(None, as_environment(result)) == result
    assert read_settings(None, as_environment(ServerSettings(metrics=True))) == ServerSettings(
        metrics=True
    )


def test_all_errors_are_listed(tmp_path: Path) -> None:
    messages = problems(
        tmp_path,
        'autth = "none"\nport = 0\nlog = "xml"\nbase_path = "/a/../b"\nhosts = ["a b", "x:80"]\n'
        'metrics = "yes"\noidc = 3\n[work]\nworkers = -1\nmemory = 3\n',
        HETVIZ_QUOTA_PROJECT="3",
        HETVIZ_QUOTA_MEGABYTES="many",
    )
    for words in (
        "Did you mean 'auth'?",
        "port must be between 1 and 65,535",
        "log must be one of quiet, text, json",
        "base_path is not a valid path",
        "a b",
        "x:80",
        "metrics must be true or false",
        "Write [oidc].",
        "workers must be between",
        "Did you mean 'memory_mb'?",
        "Did you mean HETVIZ_QUOTA_PROJECTS?",
        "megabytes must be a whole number",
    ):
        assert words in messages


def test_public_address_needs_hosts(tmp_path: Path) -> None:
    assert "hosts only has names of this machine" in problems(tmp_path, 'address = "0.0.0.0"\n')
    assert "hosts is empty" in problems(tmp_path, "hosts = []\n")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('cookie_secret = "short-and-seen"', "fewer than 32 characters"),
        ('redirect_uri = "http://maps.lab.org/tools/hetviz/oauth2callback"', "begin with https"),
        ('redirect_uri = "https://maps.lab.org/oauth2callback"', "end in /tools/hetviz/oauth2"),
        ('client_id = ""', "client_id is missing"),
    ],
)
def test_incomplete_oidc_is_error(tmp_path: Path, line: str, words: str) -> None:
    key = line.split(" =", maxsplit=1)[0]
    text = "\n".join(line if old.startswith(f"{key} =") else old for old in OIDC.splitlines())
    messages = problems(tmp_path, text)
    assert words in messages
    assert "short-and-seen" not in messages


def test_secrets_are_not_printed(tmp_path: Path) -> None:
    result = read_settings(config_file(tmp_path, OIDC), {})
    assert "hush" not in repr(result) and result.oidc.cookie_secret not in repr(result)


def test_bad_file_is_error(tmp_path: Path) -> None:
    assert "not valid TOML" in problems(tmp_path, "port = = 3")
    with pytest.raises(DataError, match="cannot be read"):
        read_settings(tmp_path / "none.toml", {})
