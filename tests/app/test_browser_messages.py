"""Both sides of the messages between Python and the browser declare the same fields."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NotRequired, get_origin, get_type_hints, is_typeddict

import pytest

from hetviz.ui.map.component import messages

SCRIPT = Path(messages.__file__).parent / "assets" / "messages.js"
TYPES = {name: value for name, value in vars(messages).items() if is_typeddict(value)}


def declared_in_script() -> dict[str, tuple[set[str], set[str]]]:
    """Return the required and optional fields of each typedef."""
    found = {}
    for block in re.findall(r"/\*\*(.*?)\*/", SCRIPT.read_text(encoding="utf-8"), re.S):
        name = re.search(r"@typedef \{object\} (\w+)", block)
        if name:
            fields = re.findall(r"@property \{.*\} (\[?\w+\]?)(?: |$)", block, re.M)
            optional = {field.strip("[]") for field in fields if field.startswith("[")}
            found[name[1]] = (set(fields) - {f"[{field}]" for field in optional}, optional)
    return found


@pytest.mark.parametrize("name", TYPES)
def test_message_has_same_fields_in_browser(name: str) -> None:
    hints = get_type_hints(TYPES[name], include_extras=True)
    optional = {field for field, hint in hints.items() if get_origin(hint) is NotRequired}
    assert declared_in_script()[name] == (set(hints) - optional, optional)


def test_browser_declares_no_other_messages() -> None:
    assert set(declared_in_script()) - {"Component"} == set(TYPES)
