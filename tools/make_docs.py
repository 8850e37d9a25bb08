"""Write the documentation: a page for each method, made of its card, and the reference of the API.

``python tools/make_docs.py OUT`` writes OUT/index.html, OUT/methods/KEY.html and, unless
``--no-api`` is given, OUT/api/*.html. Open OUT/index.html in a browser; no server is needed.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import hetviz
from hetviz.algorithms.base import MethodCard
from hetviz.params import Choice, Param, PerDataset

# The public names, the errors they raise, and the contract for authors of methods.
API = ("hetviz", "hetviz.errors", "hetviz.algorithms.base", "hetviz.params")
STYLE = """
body{font:16px/1.55 system-ui,sans-serif;max-width:860px;margin:2rem auto;padding:0 1rem;
color:#1b1d22;background:#fff}
a{color:#1f5fbf}h1{font-size:1.7rem;line-height:1.25}h2{font-size:1.15rem;margin-top:2rem}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.4rem .7rem .4rem 0;border-bottom:1px solid #ddd}
code,pre{font:14px/1.5 ui-monospace,monospace}pre{overflow-x:auto;padding:.6rem;background:#f3f4f6}
.quiet{color:#5a5f69}.wide{overflow-x:auto}
@media(prefers-color-scheme:dark){body{color:#e6e7ea;background:#15171b}a{color:#8ab4f8}
td,th{border-color:#333}pre{background:#20232a}.quiet{color:#a2a7b1}}
"""


def page(title: str, body: str) -> str:
    """Return a page of HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def listed(texts: list[str]) -> str:
    """Return a list of texts."""
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def method_page(card: MethodCard, params: dict[str, Param]) -> str:
    """Return the page of a method."""
    needs = [str(need) for need in card.needs] or ["nothing in particular"]
    uses = sorted(str(one) for one in card.capabilities)
    parts = [
        '<p class="quiet"><a href="../index.html">All methods</a></p>',
        f"<h1>{escape(card.title)}</h1>",
        f'<p class="quiet"><code>{escape(card.key)}</code> · {escape(card.family)}</p>',
        f"<p>{escape(card.summary)}</p>",
        "<h2>It needs</h2>",
        listed(needs),
        "<h2>It makes use of, or can do</h2>",
        listed(uses),
        "<h2>When to be careful</h2>",
        listed(list(card.caveats)),
        "<h2>Parameters</h2>",
        param_table(params),
        "<h2>Time and memory</h2>",
        f"<p>{escape(card.cost)}</p>",
        "<h2>Paper and objective</h2>",
        f"<p>{escape(card.paper)}</p>",
        f"<pre>{escape(card.equation)}</pre>",
        "<h2>How to run it</h2>",
        "<pre>"
        + escape(f'embedding = hetviz.embed(data, "{card.key}")\n')
        + escape(f"python -m hetviz embed DATA --method {card.key} --out result")
        + "</pre>",
    ]
    return page(f"{card.title} - hetviz", "\n".join(parts))


def param_table(params: dict[str, Param]) -> str:
    """Return a table of parameters: name, default, what it takes, what it does."""
    if not params:
        return "<p>None.</p>"
    rows = []
    for name, param in params.items():
        inner = param.inner if isinstance(param, PerDataset) else param
        does = f"<b>{escape(param.label)}</b>. " if param.label else ""
        does += escape(param.help)
        if isinstance(inner, Choice):
            told = [f"{option!r}: {words}" for option, words in inner.options.items() if words]
            does += listed(told) if told else ""
        cells = [
            f"<code>{escape(name)}</code>",
            f"<code>{escape(repr(param.default))}</code>",
            escape(param.wanted()),
            does,
        ]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{name}</th>" for name in ("Name", "Default", "Takes", "What it does"))
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def index_page(cards: list[MethodCard], api: bool) -> str:
    """Return the page that leads to all others."""
    rows = "".join(
        f'<tr><td><a href="methods/{card.key}.html">{escape(card.title)}</a><br>'
        f"<code>{escape(card.key)}</code></td><td>{escape(card.summary)}</td></tr>"
        for card in cards
    )
    reference = '<p><a href="api/hetviz.html">Reference of the library</a></p>' if api else ""
    body = (
        f"<h1>hetviz {escape(hetviz.__version__)}</h1>"
        "<p>One joint map of several unlike datasets, moved by what is known of their items.</p>"
        f"{reference}<h2>Methods</h2>"
        f'<div class="wide"><table>{rows}</table></div>'
    )
    return page("hetviz", body)


def write_methods(out: Path, api: bool) -> list[Path]:
    """Write the index and a page for each method; return the files."""
    (out / "methods").mkdir(parents=True, exist_ok=True)
    cards = hetviz.methods()
    texts = {out / "index.html": index_page(cards, api)}
    for card in cards:
        params = dict(hetviz.get_method(card.key).params)
        texts[out / "methods" / f"{card.key}.html"] = method_page(card, params)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return list(texts)


def write_api(out: Path) -> list[Path]:
    """Write the reference of the public names; return the files."""
    import pdoc
    import pdoc.doc
    import pdoc.render

    # They load on first use, which the reference does not know of.
    for name in hetviz.__all__:
        setattr(hetviz, name, getattr(hetviz, name))
    pdoc.render.configure(docformat="numpy", show_source=False, footer_text="hetviz")
    modules = {name: pdoc.doc.Module(importlib.import_module(name)) for name in API}
    (out / "api").mkdir(parents=True, exist_ok=True)
    files = []
    for name, module in modules.items():
        path = out / "api" / Path(*name.split(".")).with_suffix(".html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pdoc.render.html_module(module, modules), encoding="utf-8")
        files.append(path)
    return files


def main() -> None:
    """Write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder to write into")
    parser.add_argument("--no-api", action="store_true", help="only the pages of the methods")
    given = parser.parse_args()
    files = write_methods(given.out, not given.no_api)
    if not given.no_api:
        files += write_api(given.out)
    sys.stdout.write(f"{len(files)} pages; open {given.out / 'index.html'}\n")


if __name__ == "__main__":
    main()
