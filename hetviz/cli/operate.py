"""Commands for servers and stored projects."""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hetviz._text import count
from hetviz.cli.arguments import app_command, need_app, print_result, run_app
from hetviz.errors import HetvizError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from hetviz.serve.config import ServerSettings


def add_serve(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `serve`."""
    command.add_argument("--config", metavar="FILE", type=Path, help="settings file (TOML)")
    command.add_argument(
        "--processes",
        metavar="N",
        help="server processes behind one address; each has a part of the projects (default: 1)",
    )
    command.add_argument("--check", action="store_true", help="only check and print the settings")


def _serve(args: argparse.Namespace) -> int:
    from hetviz.serve.config import LOW_MEMORY_ENV, as_environment, read_settings

    named = args.config or os.environ.get("HETVIZ_CONFIG")
    environment = {**os.environ}
    if args.processes is not None:
        environment["HETVIZ_PROCESSES"] = args.processes
    config = read_settings(Path(named) if named else None, environment)
    _check_log_in(config.auth)
    settings = as_environment(config)
    visible = {name: "set" if "SECRET" in name else text for name, text in settings.items()}
    isolation = _isolation_text()
    if args.check:
        lines = [f"{name}={text}" for name, text in visible.items()]
        print_result(args, visible | {"confined": isolation}, [*lines, f"# {isolation}"])
        return 0
    need_app("The server")
    sys.stderr.write(f"{isolation}\n")
    # Secrets go through the environment, because command lines are public.
    env = {**LOW_MEMORY_ENV, **os.environ, **settings}
    env.pop("HETVIZ_CONFIG", None)
    if config.oidc.cookie_secret:
        env["STREAMLIT_SERVER_COOKIE_SECRET"] = config.oidc.cookie_secret
    if config.processes == 1 or config.process:
        if sys.platform == "linux":
            # Otherwise a killed command would leave a server that holds the port and the projects.
            env["HETVIZ_PARENT"] = str(os.getpid())
        return run_app(_app_options(config), env)
    return _serve_processes(config, env)


def _app_options(config: ServerSettings) -> list[str]:
    flags = {
        "server.address": config.address,
        "server.port": config.port,
        "server.baseUrlPath": config.base_path,
        "server.headless": "true",
    }
    options = [f"--{name}={value}" for name, value in flags.items() if value != ""]
    return options + [f"--server.allowedHosts={host}" for host in config.hosts]


def _serve_processes(config: ServerSettings, env: Mapping[str, str]) -> int:
    """Serve with several processes behind one address."""
    import asyncio

    from hetviz.serve.config import read_settings
    from hetviz.serve.front import Front

    def start(variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        own = {**env, **variables}
        command = app_command(_app_options(read_settings(None, own)))
        # Streamlit would print the address of this process only.
        return subprocess.Popen(command, env=own, stdout=subprocess.DEVNULL)  # noqa: S603 - our own interpreter and script

    address = f"http://{config.address}:{config.port}{config.base}/"
    sys.stderr.write(f"{config.processes} processes serve {address}\n")
    try:
        return asyncio.run(Front(config, start).run())
    except OSError as error:
        raise HetvizError(f"Port {config.port} cannot be opened: {error.strerror}.") from None


def _isolation_text() -> str:
    """Describe the isolation of readers and workers on this system."""
    from hetviz.workers.confine import available_limits

    try:
        available = available_limits()
    except (OSError, ValueError, subprocess.SubprocessError):
        available = {"network": False, "calls": False}
    descriptions = {
        "network": "a separate network namespace",
        "calls": "a filter of system calls (no sockets, no programs, no other processes)",
    }
    present = [words for name, words in descriptions.items() if available[name]]
    missing = [words for name, words in descriptions.items() if not available[name]]
    kinds = "Processes that read files or make maps"
    text = (
        f"{kinds} have {' and '.join(present)}" if present else f"{kinds} have resource limits only"
    )
    return (
        f"{text}. This system does not support {' or '.join(missing)}." if missing else f"{text}."
    )


def _check_log_in(auth: str) -> None:
    if auth == "none":
        return
    if importlib.util.find_spec("authlib") is None:
        raise HetvizError('Login needs the server packages: pip install "hetviz[server]".')


def add_mcp(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `mcp`."""
    command.add_argument("folder", metavar="FOLDER", type=Path, help="the files of the agent")


def _mcp(args: argparse.Namespace) -> int:
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtraError("A server for agents", "mcp")
    if not args.folder.is_dir():
        raise ParameterError(f"{args.folder} is no folder.")
    from hetviz.serve.agent import make_server

    make_server(args.folder).run("stdio")
    return 0


def add_admin(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `admin`."""
    command.add_argument(
        "task",
        choices=tuple(_TASKS),
        help="list, size, verify, back-up TO, restore FROM, migrate, prune, revoke PROJECT, "
        "delete PROJECT, give PROJECT PERSON, costs, export-person PERSON, "
        "sign-out PERSON, forget-person PERSON or health",
    )
    command.add_argument("names", nargs="*", metavar="NAME", help="arguments of the task")
    command.add_argument("--home", type=Path, help="folder of the projects (HETVIZ_HOME)")
    command.add_argument(
        "--keys", action="store_true", help="list: also show the ids that open projects"
    )
    command.add_argument(
        "--days", type=int, help="prune: also remove projects not opened for this many days"
    )
    command.add_argument(
        "--yes", action="store_true", help="prune: remove what is listed without it"
    )


def _admin(args: argparse.Namespace) -> int:
    from hetviz.workspace.store import files

    n_names = _N_NAMES.get(args.task, (0, 0))
    if not n_names[0] <= len(args.names) <= n_names[1]:
        raise HetvizError(f"admin {args.task} takes {n_names[0]} to {n_names[1]} names.")
    home = args.home or files.home()
    if args.task != "health":
        _check_home(home, may_be_new=args.task == "restore")
    result = _TASKS[args.task](home, args)
    if isinstance(result, list):
        print_result(args, result, _table(result))
        return int(args.task == "verify" and bool(result))
    print_result(args, result, [f"{key}: {value}" for key, value in result.items()])
    return int(result.get("status") == "failing" or result.get("with damage", "none") != "none")


def _check_home(home: Path, may_be_new: bool) -> None:
    """Refuse a wrong folder, of which a backup would be empty; warn of another owner."""
    if not home.is_dir():
        if may_be_new:
            return
        raise HetvizError(f"There is no folder {home}. --home or HETVIZ_HOME names it.")
    owner = home.stat().st_uid
    if hasattr(os, "geteuid") and os.geteuid() != owner:
        sys.stderr.write(
            f"{home} belongs to another user (id {owner}). Run this as that user, or the server "
            "may not be able to read what is written here.\n"
        )


def _table(rows: list[dict[str, object]]) -> list[str]:
    """Return rows as lines with headings."""
    from hetviz.serve.records import one_line

    if not rows:
        return ["none"]
    # Titles and names of people are texts of visitors.
    lines = [list(rows[0]), *([one_line(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _verify(home: Path, args: argparse.Namespace) -> list[dict[str, object]]:
    from hetviz.serve import upkeep

    problems, n_projects = upkeep.verify(home)
    sys.stderr.write(f"Read {count(n_projects, 'project')}, {len(problems)} with damage.\n")
    return problems


def _list(home: Path, args: argparse.Namespace) -> list[dict[str, object]]:
    from hetviz.serve import upkeep

    return upkeep.to_rows(upkeep.list_projects(home), args.keys)


def _size(home: Path, args: argparse.Namespace) -> Mapping[str, object]:
    from hetviz.serve import upkeep

    projects = upkeep.list_projects(home)
    return {
        "projects": len(projects),
        "megabytes": round(sum(project.megabytes for project in projects), 1),
    }


def _back_up(home: Path, args: argparse.Namespace) -> Mapping[str, object]:
    from hetviz.serve import upkeep

    target = Path(args.names[0])
    summary = upkeep.back_up(home, target)
    if summary["with damage"] != "none":
        sys.stderr.write(
            "Projects with damage were copied as they are; an earlier backup may have them whole. "
            f"`hetviz admin verify --home {target}` says what is damaged.\n"
        )
    return summary


def _restore(home: Path, args: argparse.Namespace) -> Mapping[str, object]:
    from hetviz.serve import upkeep

    return upkeep.restore(Path(args.names[0]), home, *args.names[1:])


def _migrate(home: Path, args: argparse.Namespace) -> Mapping[str, object]:
    from hetviz.serve import upkeep

    return upkeep.migrate(home)


def _prune(home: Path, args: argparse.Namespace) -> list[dict[str, object]]:
    from dataclasses import asdict

    from hetviz.serve import upkeep

    if args.days is not None and args.days < 0:
        raise ParameterError("--days must be at least 0.")
    removals = upkeep.prune(home, args.days, dry_run=not args.yes)
    if args.days is not None:
        sys.stderr.write("Projects that are open now stay.\n")
    megabytes = sum(removal.megabytes for removal in removals)
    listed = f"{count(len(removals), 'line')} ({megabytes:,.1f} MB)"
    if args.yes:
        sys.stderr.write(f"Removed what is listed: {listed}.\n")
    elif removals:
        sys.stderr.write(f"Nothing was removed. --yes removes what is listed: {listed}.\n")
    return [asdict(removal) for removal in removals]


def _revoke(home: Path, args: argparse.Namespace) -> Mapping[str, object]:
    from hetviz.serve import upkeep
    from hetviz.serve.people import People
    from hetviz.serve.records import Audit

    project = upkeep.find_project(home, args.names[0]).name
    n = People(home).revoke(project)
    Audit(home).note("revoke", "operator", project, links=n)
    return {"links revoked": n}


def _delete(home: Path, args: argparse.Namespace) -> Mapping[str, object]:
    from hetviz.serve import upkeep

    folder = upkeep.find_project(home, args.names[0])
    if not upkeep.remove_project(folder):
        raise HetvizError(
            f"The project {args.names[0]!r} is open in a running app. Delete it there, or stop "
            "the app first."
        )
    upkeep.forget_project(home, folder.name)
    return {"deleted": args.names[0]}


def _give(home: Path, args: argparse.Namespace) -> Mapping[str, object]:
    from hetviz.serve import upkeep
    from hetviz.serve.people import People
    from hetviz.serve.records import Audit

    project, person = upkeep.find_project(home, args.names[0]).name, args.names[1]
    people = People(home)
    people.delete_project(project)
    people.set_owner(person, project)
    Audit(home).note("give", "operator", project, to=person)
    return {"owner": person}


def _costs(home: Path, args: argparse.Namespace) -> list[dict[str, object]]:
    from hetviz.serve.records import Audit

    return Audit(home).costs()


def _export_person(home: Path, args: argparse.Namespace) -> Mapping[str, object]:
    from hetviz.serve.people import People

    return People(home).export_person(args.names[0])


def _sign_out(home: Path, args: argparse.Namespace) -> Mapping[str, object]:
    from hetviz.serve.people import People
    from hetviz.serve.records import Audit

    n = People(home).end_logins(args.names[0])
    Audit(home).note("sign-out", "operator", of=args.names[0], logins=n)
    return {"logins ended": n}


def _forget_person(home: Path, args: argparse.Namespace) -> Mapping[str, object]:
    from hetviz.serve import upkeep
    from hetviz.serve.people import People
    from hetviz.serve.records import Audit

    projects = People(home).delete_person(args.names[0])
    folders = [home / upkeep.SESSIONS / project for project in projects]
    removed = sum(upkeep.remove_project(folder) for folder in folders if folder.is_dir())
    Audit(home).note("forget-person", "operator", person_gone=args.names[0], projects=removed)
    return {"projects removed": removed, "in use, so not removed": len(folders) - removed}


def _health(home: Path, args: argparse.Namespace) -> Mapping[str, object]:
    import http.client
    import json

    from hetviz.serve.config import settings

    config = settings()
    connection = http.client.HTTPConnection("127.0.0.1", config.port, timeout=10)
    try:
        connection.request("GET", f"{config.base}/healthz")
        response = connection.getresponse()
        return dict(json.loads(response.read()))
    except (OSError, ValueError) as error:
        return {"status": "failing", "reason": str(error)}
    finally:
        connection.close()


_AdminResult = Mapping[str, object] | list[dict[str, object]]
_TASKS: dict[str, Callable[[Path, argparse.Namespace], _AdminResult]] = {
    "list": _list,
    "size": _size,
    "verify": _verify,
    "back-up": _back_up,
    "restore": _restore,
    "migrate": _migrate,
    "prune": _prune,
    "revoke": _revoke,
    "delete": _delete,
    "give": _give,
    "costs": _costs,
    "export-person": _export_person,
    "sign-out": _sign_out,
    "forget-person": _forget_person,
    "health": _health,
}
_N_NAMES = {
    "back-up": (1, 1),
    "restore": (1, 2),
    "revoke": (1, 1),
    "delete": (1, 1),
    "give": (2, 2),
    "export-person": (1, 1),
    "sign-out": (1, 1),
    "forget-person": (1, 1),
}
