"""Report on a map: data, method, quality and how to reproduce it, on one HTML page."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from hetviz._text import count, join_words, round_percent
from hetviz._version import __version__
from hetviz.algorithms.contract import MethodCard
from hetviz.algorithms.registry import get_method
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.diagnostics import Diagnostic, from_json, without_repeated_text
from hetviz.errors import DataError, ParameterError
from hetviz.exports.figures import DEFAULT_SETTINGS, FigureSettings, colouring_of
from hetviz.exports.mathml import mathml
from hetviz.exports.page import escape_html, html_page, read_asset
from hetviz.exports.report_evidence import (
    REGIONS_ANCHOR,
    anchor_of,
    appendix_html,
    link_html,
    regions_table_html,
)
from hetviz.exports.result import RunResult, read_result
from hetviz.exports.writing import write_file
from hetviz.metrics.fit.curves import curves
from hetviz.metrics.fit.summary import evaluate
from hetviz.metrics.measure_names import MEASURE_TEXTS, REPEATED, MeasureText, measure_text
from hetviz.metrics.trust.spread import Spread
from hetviz.plots.colour import Colouring, map_alt
from hetviz.plots.curve import Curve, chance_of, curve_alt, pair_share_of, share_close_at
from hetviz.plots.planar import proposed_text
from hetviz.plots.predicted_links import known_links_table
from hetviz.runs.cluster.regions import RegionLevel
from hetviz.runs.embed.run import MACHINE, Run, versions
from hetviz.runs.recipe import coordinates_hash

_N_UNSTABLE = 10
_CURVES = {
    "links": "Links that pull together",
    "apart": "Links that push apart",
    "comparisons": "Comparisons",
}


def write_report(
    data: HeteroData | str | Path,
    embedding: Embedding | None = None,
    path: str | Path = "report.html",
    *,
    run: Run | None = None,
    held_out: HeteroData | None = None,
    clusters: pd.DataFrame | None = None,
    title: str = "",
    notes: Sequence[str] = (),
    settings: FigureSettings = DEFAULT_SETTINGS,
    spread: Spread | None = None,
    link_test: Mapping[str, Any] | None = None,
) -> Path:
    """Write a report on a map as one self-contained HTML page.

    Parameters
    ----------
    data : HeteroData, str or path
        Data of the map, or the result folder of a run.
    embedding : Embedding, optional
        The map. Not needed with a folder.
    path : str or path
    run : Run, optional
        Run that made the map.
    held_out : HeteroData, optional
        Data hidden from the method.
    clusters : DataFrame, optional
        Table with one row per cluster.
    title : str
        Plain text.
    notes : sequence of str
        Warnings, one sentence each.
    settings : FigureSettings
        Settings of the map figure.
    spread : Spread, optional
        Result of `hetviz.spread`.
    link_test : mapping, optional
        Test of predicted links: "test" in the JSON of ``hetviz predict links``.

    Returns
    -------
    path

    Raises
    ------
    hetviz.errors.HetvizError
    """
    if not isinstance(data, HeteroData):
        given: object = data
        if not isinstance(given, str | Path):
            message = "a HeteroData, or the folder of a run, is needed"
            raise DataError.of("wrong-type", "data", message, type(given).__name__)
        return write_file(path, report_of_run(read_result(data), title).encode())
    if embedding is None:
        raise ParameterError("write_report needs an embedding or the result folder of a run.")
    text = report_page(
        data,
        embedding,
        run=run,
        held_out=held_out,
        clusters=clusters,
        title=title,
        notes=notes,
        settings=settings,
        spread=spread,
        link_test=link_test,
    )
    return write_file(path, text.encode())


def report_of_run(result: RunResult, title: str = "") -> str:
    """Return the report on the result folder of a run."""
    scope = result.scope
    return report_page(
        result.data,
        result.embedding,
        run=result.recipe.run,
        held_out=scope.held_out if scope.held_out is not None else result.judged,
        measured_data=scope.measured,
        title=title or f"{result.recipe.data}, {result.title}",
        settings=FigureSettings.from_dict(result.recipe.figures),
        spread=result.spread,
    )


def report_page(
    data: HeteroData,
    embedding: Embedding,
    *,
    run: Run | None = None,
    held_out: HeteroData | None = None,
    measured_data: HeteroData | None = None,
    figures: Mapping[str, Any] | None = None,
    clusters: pd.DataFrame | None = None,
    title: str = "",
    notes: Sequence[str] = (),
    settings: FigureSettings = DEFAULT_SETTINGS,
    colours: Colouring | None = None,
    spread: Spread | None = None,
    regions: Sequence[RegionLevel] | None = None,
    link_test: Mapping[str, Any] | None = None,
) -> str:
    """Return the report as HTML."""
    from hetviz.plots.paper import figure_bytes
    from hetviz.plots.paper_charts import paper_curve
    from hetviz.plots.paper_map import paper_map

    measured = data if measured_data is None else measured_data
    curves_by_kind: Mapping[str, Mapping[str, Curve]] = (
        figures["kinds"] if figures else curves(measured, embedding, held_out)
    )
    # Data without guidance have kinds without curves.
    kinds = {
        kind: curves_of_kind for kind, curves_of_kind in curves_by_kind.items() if curves_of_kind
    }
    scores = figures["scores"] if figures else evaluate(measured, embedding, held_out).to_dict()
    best = str(figures.get("best", "")) if figures else ""
    card = None if run is None else get_method(run.method).card
    method_title = "" if card is None else card.title
    colouring = colouring_of(data, embedding, settings.colour) if colours is None else colours
    map_picture = paper_map(
        data,
        embedding,
        colouring,
        width=174,
        names=settings.names,
        hidden=settings.hidden,
        has_terrain=settings.terrain,
        title=method_title,
        regions=regions,
    )
    used = dict(versions()) if run is None or not run.versions else dict(run.versions)
    charts = "".join(
        _figure_html(
            figure_bytes(paper_curve(kinds[kind], kind), "svg"), curve_alt(kinds[kind], kind), words
        )
        for kind, words in _CURVES.items()
        if kind in kinds
    )
    region_rows = regions_table_html(data, map_picture.regions)
    picture = _figure_html(
        figure_bytes(map_picture.figure, "svg"), map_alt(data, colouring), map_picture.caption
    )
    if region_rows:
        rows_link = link_html("What the names of the regions rest on", REGIONS_ANCHOR)
        picture += f"<p>{rows_link}</p>"
    notes_listed = [*notes]
    if embedding.n_unplaced:
        notes_listed.append(
            f"{embedding.n_unplaced:,} of {embedding.n_rows:,} items could not be placed."
        )
    parts = [
        f"<header><h1>{escape_html(title or 'Joint map')}</h1>"
        f'<p class="line">{_headline_html(data, kinds, scores, best)}</p></header>',
        f"<div class='two'><div>{picture}</div><div>{charts}</div></div>",
        "<h2>Data</h2>" + _datasets_html(data) + _guidance_html(data),
    ]
    if run is not None and card is not None:
        parts.append(_method_html(run))
        notes_listed += card.caveats
    parts.append("<h2>Quality of the map</h2>" + _scores_html(scores))
    if spread is not None:
        parts.append("<h2>Spread of positions</h2>" + _spread_html(data, spread))
    by_known_links = known_links_table(link_test or {})
    if len(by_known_links):
        parts.append("<h2>Predicted links</h2>" + _predicted_links_html(by_known_links))
    diagnostics = embedding.diagnostics
    if figures and figures.get("diagnostics"):
        diagnostics = from_json(figures["diagnostics"])
    if diagnostics:
        parts.append("<h2>Diagnostics of the method</h2>" + _diagnostics(diagnostics))
    if clusters is not None and len(clusters):
        parts.append("<h2>Clusters</h2>" + _table_html(clusters))
    if notes_listed:
        parts.append("<h2>Limits and warnings</h2>" + _list_html(notes_listed))
    if run is not None and card is not None:
        words = methods_paragraph(data, card, run.params, run.seed, used, kinds, run.hold_out)
        parts.append(f"<h2>Text for a methods section</h2><p>{escape_html(words)}</p>")
        parts.append(f"<h2>Citations</h2><pre>{escape_html(citations(card))}</pre>")
    parts.append(appendix_html(measured, embedding, held_out, scores, region_rows))
    hashes = [("Data", data.fingerprint()), ("Coordinates (SHA-256)", coordinates_hash(embedding))]
    parts.append("<h2>Versions and hashes</h2>" + _pairs_html([*used.items(), *hashes]))
    return html_page(title or "Joint map", "\n".join(parts), read_asset("report.css"))


def _headline_html(
    data: HeteroData,
    kinds: Mapping[str, Mapping[str, Curve]],
    scores: Mapping[str, float],
    best: str,
) -> str:
    """Return the first sentences, linked to the rows of their numbers."""
    text = _headline(data, kinds, best)
    shown = ("links_kept", "links_kept_held_out", "comparison_accuracy")
    key = next((key for key in shown if key in scores), "")
    return link_html(text, anchor_of(key)) if key else escape_html(text)


def _headline(data: HeteroData, kinds: Mapping[str, Mapping[str, Curve]], best: str = "") -> str:
    sizes = join_words([f"{len(part):,} {name}" for name, part in data.datasets.items()])
    if "links" in kinds:
        shares = {
            key: round_percent(share_close_at(curve)) for key, curve in kinds["links"].items()
        }
        which = "links" if "given" in shares else "hidden links"
        chance = round_percent(chance_of(next(iter(kinds["links"].values()))))
        sentences = [
            f"{next(iter(shares.values()))} of the {which} are close.",
            f"By chance it would be {chance}.",
            best,
            f"Of the hidden links it is {shares['held_out']}." if len(shares) > 1 else "",
        ]
        return " ".join([f"{sizes}.", *filter(None, sentences)])
    if "comparisons" in kinds:
        key = "held_out" if "held_out" in kinds["comparisons"] else "given"
        share = round_percent(share_close_at(kinds["comparisons"][key], 1.0))
        which = "hidden comparisons" if key == "held_out" else "comparisons"
        return f"{sizes}. The map agrees with {share} of the {which}."
    return f"{sizes}."


def _figure_html(svg: bytes, alt: str, caption: str) -> str:
    code = base64.b64encode(svg).decode()
    return (
        f'<figure><img src="data:image/svg+xml;base64,{code}" alt="{escape_html(alt)}">'
        f"<figcaption>{escape_html(caption)}</figcaption></figure>"
    )


def _datasets_html(data: HeteroData) -> str:
    rows = []
    for name, part in data.datasets.items():
        described_by = [] if part.X is None else [count(part.X.shape[1], "feature")]
        described_by += [word for word in ("kernel", "distance") if getattr(part, word) is not None]
        if part.media is not None and any(media is not None for media in part.media):
            described_by.append("pictures")
        view = "" if part.entity == name else f", a view of {part.entity}"
        rows.append([name, f"{len(part):,}", (join_words(described_by) or "no features") + view])
    return _table_html(pd.DataFrame(rows, columns=["Dataset", "Items", "Described by"]))


def _guidance_html(data: HeteroData) -> str:
    rows = []
    for links in data.links:
        apart = int((links.weight < 0).sum())
        count = f"{len(links):,}" + (f" ({apart:,} apart)" if apart else "")
        rows.append([f"{links.source} and {links.target}", links.kind, count])
    if data.comparisons is not None:
        rows.append(["comparisons", "", f"{len(data.comparisons):,}"])
    if not rows:
        return "<p>There are no links and no comparisons.</p>"
    return _table_html(pd.DataFrame(rows, columns=["Guidance", "Kind", "Count"]))


def _method_html(run: Run) -> str:
    card = get_method(run.method).card
    rows: list[tuple[str, object]] = [("Paper", card.paper), ("Random seed", run.seed)]
    rows += [(name, value) for name, value in run.params.items()]
    if run.hold_out:
        rows.append(
            ("Hidden from the method", f"{round_percent(run.hold_out)} of links and comparisons")
        )
    rows += [(f"Weight of {key}", factor) for key, factor in run.weights.items()]
    if run.period is not None:
        rows.append((f"Period by {run.period['by']}", run.period["name"]))
    if run.only is not None:
        rows.append(("Items used", f"{len(run.only):,}"))
    return (
        f"<h2>Method: {escape_html(card.title)}</h2><p>{escape_html(card.summary)}</p>"
        f"<p>{mathml(card.equation)}</p>{_pairs_html(rows)}"
    )


def _diagnostics(diagnostics: Mapping[str, Diagnostic]) -> str:
    parts = []
    for diagnostic, text in without_repeated_text(diagnostics.values()):
        words = f"<p>{escape_html(text)}</p>" if text else ""
        parts.append(
            f"<h3>{escape_html(diagnostic.title)}</h3>{words}{_pairs_html(diagnostic.lines)}"
        )
        if diagnostic.left_out:
            parts.append(f"<p>{diagnostic.left_out:,} smaller values are not listed.</p>")
    return "".join(parts)


def _scores_html(scores: Mapping[str, float]) -> str:
    if not scores:
        return "<p>There is no guidance and there are no features to measure the map by.</p>"
    titled_keys = [
        key for name in MEASURE_TEXTS for key in (name, f"{name}_held_out") if key in scores
    ]
    rows = []
    for key in dict.fromkeys([*titled_keys, *scores]):
        if key.removesuffix("_held_out") in REPEATED:
            continue
        text = measure_text(key) or MeasureText(key, "")
        value = f"{100 * scores[key]:.1f} %" if text.percent else f"{scores[key]:.3f}"
        rows.append(
            f"<tr><td>{escape_html(text.name)}</td><td>{link_html(value, anchor_of(key))}</td>"
            f"<td>{escape_html(text.meaning)}</td></tr>"
        )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Measure", "Value", "Meaning"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _spread_html(data: HeteroData, spread: Spread) -> str:
    """Describe how much positions vary, with the items that vary most."""
    titles = [title for part in data.datasets.values() for title in part.display_names]
    frame = spread.frame().assign(title=titles).dropna(subset=["spread"])
    most = frame.nlargest(_N_UNSTABLE, "spread", keep="first")
    table = pd.DataFrame(
        {
            "Varies most": most["title"],
            "Id": most["id"],
            "Dataset": most["dataset"],
            "Distance": [round_percent(value, 1) for value in most["spread"]],
            "Standard error": [
                "" if pd.isna(value) else round_percent(value, 1) for value in most["error"]
            ],
        }
    )
    note = "Distances are means over the refits, in % of the longer side of the map."
    return f"<p>{escape_html(spread.sentence)} {note}</p>" + _table_html(table)


def _predicted_links_html(by_known_links: pd.DataFrame) -> str:
    note = (
        "Some links were hidden and predicted from the others. The last two columns are how often "
        "a hidden link was ranked above another pair of the same row, in %."
    )
    return f"<p>{escape_html(note)}</p>" + _table_html(by_known_links)


def _table_html(table: pd.DataFrame) -> str:
    head = "".join(f'<th scope="col">{escape_html(name)}</th>' for name in table.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape_html(cell)}</td>" for cell in row) + "</tr>"
        for row in table.itertuples(index=False)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _pairs_html(rows: Sequence[tuple[str, object]]) -> str:
    body = "".join(
        f'<tr><th scope="row">{escape_html(name)}</th><td>{escape_html(value)}</td></tr>'
        for name, value in rows
    )
    return f"<table><tbody>{body}</tbody></table>"


def _list_html(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape_html(line)}</li>" for line in lines) + "</ul>"


def methods_paragraph(
    data: HeteroData,
    card: MethodCard,
    params: Mapping[str, object],
    seed: int,
    versions: Mapping[str, str],
    kinds: Mapping[str, Mapping[str, Curve]],
    hold_out: float = 0.0,
) -> str:
    """Return a paragraph for a paper on how a map was made and judged."""
    sizes = join_words([f"{len(part):,} {name}" for name, part in data.datasets.items()])
    guidance = [_links_text(data), _comparisons_text(data)]
    using = join_words([words for words in guidance if words])
    sentences = [
        f"We placed {sizes} together by {card.title} ({_short_citations(card)}), "
        f"as implemented in hetviz {versions.get('hetviz', __version__)}"
        f"{f', using {using}' if using else ''}."
    ]
    settings = ", ".join(f"{name} = {value!r}" for name, value in params.items())
    sentences.append(f"Parameters were {settings}, and the random seed was {seed}." if settings
                else f"The random seed was {seed}.")  # fmt: skip
    if proposed := proposed_text(data):
        sentences.append(f"{proposed.replace('Made', 'The map was made', 1)}.")
    if hold_out:
        sentences.append(
            f"{round_percent(hold_out)} of the links and comparisons were held out of the fit "
            "and used to judge the map."
        )
    judged = [
        _close_sentence(kind, kinds[kind])
        for kind in ("links", "apart", "comparisons")
        if kind in kinds
    ]
    sentences += judged
    others = [
        f"{name} {version}"
        for name, version in versions.items()
        if name != "hetviz" and name not in MACHINE
    ]
    if others:
        sentences.append(f"Computed with {join_words(others)}.")
    return " ".join(sentences)


def _links_text(data: HeteroData) -> str:
    n = sum(map(len, data.links))
    apart = sum(int((links.weight < 0).sum()) for links in data.links)
    words = f"{n:,} links" if n != 1 else "1 link"
    return "" if not n else f"{words} ({apart:,} of them apart)" if apart else words


def _comparisons_text(data: HeteroData) -> str:
    n = 0 if data.comparisons is None else len(data.comparisons)
    return f"{n:,} comparisons" if n else ""


def _close_sentence(kind: str, curves: Mapping[str, Curve]) -> str:
    read_at = 1.0 if kind == "comparisons" else None
    shares = {key: round_percent(share_close_at(curve, read_at)) for key, curve in curves.items()}
    names = {"given": "given", "held_out": "held-out"}
    parts = join_words([f"{share} of the {names[key]} ones" for key, share in shares.items()])
    if kind == "comparisons":
        return f"The map agrees with comparisons: {parts} (50 % by chance)."
    closest = round_percent(pair_share_of(curves, kind))
    chance = round_percent(chance_of(next(iter(curves.values()))))
    if kind == "apart":
        return (
            f"Of the apart links, {parts} are not close: not among the closest {closest} of all "
            f"pairs of items with links ({chance} by chance)."
        )
    return (
        f"Of the together links, {parts} are close: among the closest {closest} of all pairs of "
        f"items with links ({chance} by chance)."
    )


def citations(card: MethodCard) -> str:
    """Return BibTeX entries for the method and for hetviz."""
    hetviz_entry = {
        "title": "hetviz: joint maps of unlike datasets",
        "note": f"Version {__version__}",
    }
    entries = [
        _entry(
            card.key if len(card.papers) == 1 else f"{card.key}-{k}",
            {
                "author": paper.authors.replace(" and ", ", ").replace(", ", " and "),
                "title": f"{{{paper.title}}}",
                "howpublished": paper.place,
                "year": str(paper.year),
                "doi": paper.doi,
                "eprint": paper.arxiv,
                "archiveprefix": "arXiv" if paper.arxiv else "",
                "note": f"Method {card.key} of hetviz" + (f", {paper.part}" if paper.part else ""),
            },
        )
        for k, paper in enumerate(card.papers, start=1)
    ]
    return "\n\n".join([*entries, _entry("hetviz", hetviz_entry)])


def _short_citations(card: MethodCard) -> str:
    return "; ".join(paper.short_citation for paper in card.papers)


def _entry(key: str, fields: Mapping[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])
