"""Tests of the deployment files."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from hetviz.cli import main
from hetviz.serve.config import (
    OidcSettings,
    QuotaSettings,
    ServerSettings,
    WorkSettings,
    as_environment,
    read_settings,
)
from hetviz.workers import confine
from tests.browser.harness import ROOT, free_port
from tests.waits import PATIENCE_S, wait_until

DEPLOY = ROOT / "deploy"


def test_example_settings_are_valid_and_complete() -> None:
    path = DEPLOY / "server.toml"
    result = read_settings(path, {})
    assert result.home == "/var/lib/hetviz" and result.log == "json"
    document = tomllib.loads(path.read_text())
    for section, kind in (
        ("", ServerSettings),
        ("work", WorkSettings),
        ("oidc", OidcSettings),
        ("quota", QuotaSettings),
    ):
        statements = set(document if not section else document[section])
        expected = {entry.name for entry in fields(kind) if "secret" not in entry.name}
        assert statements == expected


def test_container_commands_exist() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    service = compose["services"]["hetviz"]
    expected = set(as_environment(ServerSettings())) | {
        f"HETVIZ_OIDC_{setting.name.upper()}" for setting in fields(OidcSettings)
    }
    assert set(service["environment"]) <= expected | {"HETVIZ_BASE_PATH"}
    assert service["volumes"] == ["projects:/var/lib/hetviz"] and "projects" in compose["volumes"]
    assert service["ports"][0].startswith("127.0.0.1:")
    text = (DEPLOY / "Containerfile").read_text()
    assert "USER hetviz" in text and f"VOLUME {service['volumes'][0].partition(':')[2]}" in text
    installs = re.findall(r"pip install --no-cache-dir (.*)$", text, re.M)
    assert installs == [
        "--require-hashes -r requirements-server.txt",
        "--no-deps --no-build-isolation .",
    ]
    for name in re.findall(r"HETVIZ_[A-Z_]+", text):
        assert name in expected | {"HETVIZ_HOME"}
    assert main(["serve", "--check"]) == 0


def _container_instructions() -> dict[str, str]:
    """Return the variables of the image, and of compose with only the host named."""
    image = (DEPLOY / "Containerfile").read_text()
    env = dict(re.findall(r"(HETVIZ_[A-Z_]+)=(\S+)", image))
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["hetviz"]
    for name, text in service["environment"].items():
        needed, default = re.fullmatch(r"\$\{\w+:([?-])(.*)\}", text).groups()  # type: ignore[union-attr]
        env[name] = "maps.example.org" if needed == "?" else default
    return env


@pytest.mark.timeout(180)
def test_container_command_is_healthy(tmp_path: Path) -> None:
    image = (DEPLOY / "Containerfile").read_text()
    command = json.loads(re.findall(r"^CMD (.*)$", image, re.M)[-1])
    healthy = json.loads(re.findall(r"^    CMD (.*)$", image, re.M)[0])
    assert command[0] == healthy[0] == "hetviz"
    port = free_port()
    env = {**os.environ, **_container_instructions(), "HETVIZ_HOME": str(tmp_path)}
    # A container has its port to itself.
    env |= {"HETVIZ_PORT": str(port), "HETVIZ_ADDRESS": "127.0.0.1", "PYTHONPATH": str(ROOT)}
    hetviz = [sys.executable, "-m", "hetviz"]
    server = subprocess.Popen([*hetviz, *command[1:]], env=env, cwd=tmp_path)
    try:
        assert wait_until(lambda: _answer(port, "maps.example.org") == 200)
        assert _answer(port, "elsewhere.example.org") in (400, 403, 421)
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
        if children.exists():
            inputs = Path(f"/proc/{children.read_text().split()[0]}/environ").read_bytes()
            assert b"PYTHONMALLOC=malloc" in inputs.split(b"\0")
        assert subprocess.run([*hetviz, *healthy[1:]], env=env, check=False).returncode == 0
    finally:
        server.terminate()
        assert server.wait(30) == 0
    assert subprocess.run([*hetviz, *healthy[1:]], env=env, check=False).returncode != 0


def _answer(port: int, host: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        # The page; health is answered under any name.
        connection.request("GET", "/", headers={"Host": host})
        with connection.getresponse() as answer:
            answer.read()
            return answer.status
    except OSError:
        return 0
    finally:
        connection.close()


def test_check_states_how_processes_are_confined(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(confine, "available_limits", lambda: {"network": True, "calls": False})
    assert main(["serve", "--check"]) == 0
    said = capsys.readouterr().out
    assert "make maps have a separate network namespace. This system does not support a fil" in said


def test_proxies_forward_host_and_websockets() -> None:
    nginx = (DEPLOY / "nginx.conf").read_text()
    for line in ("Host $http_host", "Upgrade $http_upgrade", "proxy_read_timeout 1d"):
        assert line in nginx
    assert nginx.count("{") == nginx.count("}")
    caddy = (DEPLOY / "Caddyfile").read_text()
    assert "reverse_proxy 127.0.0.1:8501" in caddy and caddy.count("{") == caddy.count("}")
    unit = (DEPLOY / "hetviz.service").read_text()
    assert "hetviz serve --config" in unit and "NoNewPrivileges=true" in unit


def test_recipes_of_several_processes_name_each_process() -> None:
    nginx = (DEPLOY / "nginx-processes.conf").read_text()
    assert nginx.count("{") == nginx.count("}")
    found = re.findall(r"~\^/n(\d)/\s+hetviz_(\d);", nginx)
    assert found == [("1", "1"), ("2", "2")]
    caddy = (DEPLOY / "Caddyfile-processes").read_text()
    assert caddy.count("{") == caddy.count("}") and "path /n2/*" in caddy
    parts = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    of_kind = {
        kind: [part for part in parts if part["kind"] == kind]
        for kind in ("StatefulSet", "Service", "Ingress")
    }
    pods = of_kind["StatefulSet"][0]["spec"]
    variables = {entry["name"]: entry for entry in pods["template"]["spec"]["containers"][0]["env"]}
    n = pods["replicas"]
    assert set(variables) <= set(as_environment(ServerSettings(process=1)))
    assert variables["HETVIZ_PROCESSES"]["value"] == str(n) and pods["ordinals"]["start"] == 1
    names = {part["metadata"]["name"] for part in of_kind["Service"]}
    rules = of_kind["Ingress"][0]["spec"]["rules"][0]["http"]["paths"]
    leads = {rule["path"]: rule["backend"]["service"]["name"] for rule in rules}
    assert leads == {"/": "hetviz", **{f"/n{k}": f"hetviz-{k}" for k in range(1, n + 1)}}
    assert set(leads.values()) == names


def test_security_page_names_existing_tests() -> None:
    named = re.findall(r"`([a-z_/]*test_\w+\.py)`", (ROOT / "SECURITY.md").read_text("utf-8"))
    assert len(named) > 30
    assert [name for name in named if not (ROOT / "tests" / name).is_file()] == []
