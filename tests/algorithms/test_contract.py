"""Requirements on all registered methods."""

from __future__ import annotations

import copy
import html
import inspect
import json
import pickle
import re
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

import hetviz
from hetviz.algorithms import ranking
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.contract import Capability, Reference
from hetviz.algorithms.needs import Need
from hetviz.algorithms.registry import get_method, methods, suggest
from hetviz.cli.arguments import diagnostic_lines
from hetviz.data import Comparisons, Dataset, HeteroData, Labels, Links
from hetviz.data.model.diagnostics import from_json, to_json
from hetviz.errors import (
    Cancelled,
    DataError,
    DataWarning,
    HetvizError,
    NotApplicableError,
    ParameterError,
)
from hetviz.exports import report

KEYS = [card.key for card in methods()]


def rich_data() -> HeteroData:
    """Two views of one entity, a linked dataset and a featureless one, with all guidance."""
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(40, 2))
    ids = [f"i{k}" for k in range(40)]
    first = Dataset("first", ids, Z @ rng.normal(size=(2, 5)), entity="thing")
    second = Dataset("second", ids[10:], Z[10:] @ rng.normal(size=(2, 4)), entity="thing")
    Y = Z[:20] + 0.1 * rng.normal(size=(20, 2))
    other = Dataset("other", [f"o{k}" for k in range(20)], Y @ rng.normal(size=(2, 3)))
    tags = Dataset("tags", ["red", "blue", "NA"])
    together = Links("first", "other", np.arange(20), np.arange(20))
    tagged = Links("first", "tags", np.arange(40), (Z[:, 0] > 0).astype(int))
    apart = Links("first", "first", [0, 1, 2], [5, 6, 7], [-1.0, -0.5, -0.7])
    labels = Labels("first", "side", (Z[:, 0] > 0).astype(str))
    compared = Comparisons(closer(Z, rng.integers(0, 40, (60, 3))))
    more = Comparisons(70 + closer(Y, rng.integers(0, 20, (30, 3))))
    data = HeteroData([first, second, other, tags], [together, tagged, apart], compared, [labels])
    return data.edit().add(more)


def closer(Z: Any, rows: Any) -> Any:
    """Swap b and c in rows (a, b, c) if c is closer to a."""
    near, far = (((Z[rows[:, 0]] - Z[rows[:, end]]) ** 2).sum(axis=1) for end in (1, 2))
    turned = np.where((near > far)[:, None], rows[:, [0, 2, 1]], rows)
    return turned[near != far]


DATA = rich_data()


@cache
def fit_with_progress(key: str) -> tuple[BaseEmbedder, list[float]]:
    """Return a fitted method, and the shares of its work that it reported."""
    method, shares = get_method(key)(), []
    assert method.fit(DATA, progress=lambda share, *_, **__: shares.append(share)) is method
    return method, shares


@cache
def fit_on_two_threads(key: str) -> tuple[BaseEmbedder, list[set[int]]]:
    """Return a method fitted where there are two threads, and how many it used."""
    counts: list[set[int]] = []

    def count(*_: Any, **__: Any) -> None:
        if len(counts) < 3:
            counts.append({library["num_threads"] for library in threadpool_info()})

    with threadpool_limits(2):
        return get_method(key)().fit(DATA, progress=count), counts


def once_fitted(key: str) -> BaseEmbedder:
    return fit_with_progress(key)[0]


@pytest.fixture(autouse=True)
def _notes_are_expected() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=UserWarning)
        yield


def test_registry_finds_methods() -> None:
    assert {"pca", "guided-projection"} <= set(KEYS)
    with pytest.raises(ParameterError, match="Did you mean guided-projection"):
        get_method("guided-projecton")


@pytest.mark.parametrize("key", KEYS)
def test_card_is_complete(key: str) -> None:
    card = get_method(key).card
    texts = (card.title, card.family, card.paper, card.equation, card.summary, card.cost)
    assert all(text.strip() for text in (*texts, *card.caveats))
    assert card.summary.endswith(".")
    assert all(isinstance(need, Need) for need in card.needs)
    assert all(isinstance(word, Capability) for word in card.capabilities)


@pytest.mark.parametrize("key", KEYS)
def test_papers_are_full_references(key: str) -> None:
    papers = get_method(key).card.papers
    assert papers
    for paper in papers:
        assert paper.title and 1850 < paper.year < 2027
        # Each author has initials and a surname.
        for author in re.split(r", | and ", paper.authors):
            assert re.fullmatch(r"(?:[A-Z]\.(?:-[A-Z]\.)? )+(?:van der |de )?[A-Z]\w+", author)
        assert paper.doi == "" or re.fullmatch(r"10\.\d{4,}/\S+", paper.doi)
        assert paper.arxiv == "" or re.fullmatch(r"\d{4}\.\d{4,5}", paper.arxiv)
        assert not (paper.doi and paper.arxiv)
        assert paper.place or paper.arxiv


def test_reference_formats() -> None:
    paper = Reference(
        "L. van der Maaten and G. Hinton",
        "Maps",
        "J. 9, 1-2",
        2008,
        arxiv="1234.5678",
        part="2",
    )
    assert paper.surnames == ["van der Maaten", "Hinton"]
    assert paper.short_citation == "van der Maaten and Hinton 2008"
    assert str(paper) == (
        "L. van der Maaten and G. Hinton, Maps, J. 9, 1-2, 2008, 2, arXiv:1234.5678"
    )
    assert paper.url == "https://arxiv.org/abs/1234.5678"
    assert Reference("A. A, B. B, J.-C. C and D. D", "T", "P", 1).short_citation == "A et al. 1"
    assert Reference("A. A", "T", "P", 1).url == ""


@pytest.mark.parametrize("key", KEYS)
def test_parameters_are_declared_once(key: str) -> None:
    method = get_method(key)
    signature = inspect.signature(method.__init__).parameters
    defaults = {name: p.default for name, p in signature.items() if name != "self"}
    # No parameter of the method: it changes how long a fit takes, not the map.
    assert defaults.pop("n_jobs") is None
    assert defaults == {name: param.default for name, param in method.params.items()}
    assert {**defaults, "n_jobs": None} == method().get_params()
    assert all(
        f"\n{name} : {param.describe_allowed()}" in method.__doc__
        for name, param in method.params.items()
    )
    assert defaults["n_components"] == 2
    assert all(param.label and param.help for param in method.params.values())
    for param in method.params.values():
        assert param.check(param.default) == param.default


@pytest.mark.parametrize("key", KEYS)
def test_fit_sets_only_documented_attributes(key: str) -> None:
    method, shares = fit_with_progress(key)
    before = get_method(key)().get_params()
    assert method.get_params() == before
    parts = DATA.datasets, DATA.links, DATA.comparisons, DATA.labels
    assert HeteroData(*parts).fingerprint() == rich_data().fingerprint()
    assert method.embedding_.n_components == 2
    for name, dataset in DATA.datasets.items():
        Y = method.embedding_.coordinates[name]
        assert Y.shape == (len(dataset), 2)
        assert list(method.embedding_.ids[name]) == list(dataset.ids)
        assert np.isfinite(Y[method.embedding_.placed[name]]).all()
    assert method.n_iter_ >= 0
    assert method.stopping_reason_
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert clone(method).get_params() == before


@pytest.mark.parametrize("key", KEYS)
def test_fit_and_transform_use_one_thread(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, counts = fit_on_two_threads(key)
    assert counts == [{1}] * 3
    if Capability.OUT_OF_SAMPLE in method.card.capabilities:
        place, n_threads = method._transform, []

        def transform(rows: Any) -> Any:
            n_threads.append({library["num_threads"] for library in threadpool_info()})
            return place(rows)

        monkeypatch.setattr(method, "_transform", transform)
        with threadpool_limits(2):
            method.transform(Dataset("first", ["new"], np.asarray(DATA["first"].X)[:1]))
        assert n_threads and all(n == {1} for n in n_threads)


@pytest.mark.parametrize("key", ["umap", "mr-sne", "lpp", "hemap", "guided-projection"])
def test_map_does_not_depend_on_threads(key: str) -> None:
    """The data are large enough for multi-threaded linear algebra."""
    rng = np.random.default_rng(5)
    Z, ids = rng.normal(size=(240, 3)), [str(k) for k in range(240)]
    parts = [
        Dataset(name, ids, Z @ rng.normal(size=(3, d)) + 0.3 * rng.normal(size=(240, d)))
        for name, d in (("first", 130), ("other", 110))
    ]
    data = HeteroData(parts, [Links("first", "other", np.arange(120), np.arange(120))])
    maps = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            maps.append(get_method(key)().fit(data).embedding_.stacked())
    np.testing.assert_array_equal(*maps)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
@pytest.mark.parametrize("key", KEYS)
def test_fitted_method_can_be_copied_and_pickled(key: str, again: Callable[[Any], Any]) -> None:
    method = once_fitted(key)
    duplicate = again(method)
    np.testing.assert_array_equal(duplicate.embedding_.stacked(), method.embedding_.stacked())
    assert duplicate.get_params() == method.get_params()
    assert duplicate.loss_history_ == method.loss_history_
    assert not duplicate.embedding_.coordinates["first"].flags.writeable
    if Capability.OUT_OF_SAMPLE in method.card.capabilities:
        new = Dataset("first", ["new"], np.asarray(DATA["first"].X)[:1] + 0.1, entity="thing")
        places = [model.transform(new).stacked() for model in (method, duplicate)]
        np.testing.assert_array_equal(*places)


@pytest.mark.parametrize("key", KEYS)
def test_same_seed_gives_same_map(key: str) -> None:
    first, second = once_fitted(key).embedding_, fit_on_two_threads(key)[0].embedding_
    np.testing.assert_array_equal(first.stacked(), second.stacked())


@pytest.mark.parametrize("key", KEYS)
def test_map_says_which_datasets_nothing_connects(key: str) -> None:
    X = np.random.default_rng(4).normal(size=(25, 3))
    alone = Dataset("alone", [f"a{k}" for k in range(25)], X)
    data = HeteroData([*DATA.datasets.values(), alone], DATA.links, DATA.comparisons, DATA.labels)
    m = get_method(key)().fit(data).embedding_
    others = {part for name, part in m.components.items() if name != "alone"}
    assert m.components["alone"] not in others or not m.placed["alone"].any()


@pytest.mark.parametrize("key", KEYS)
def test_cancel_is_raised(key: str) -> None:
    def cancel(fraction: float, message: str = "", **figures: Any) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        get_method(key)().fit(DATA, progress=cancel)


@pytest.mark.parametrize("key", KEYS)
def test_bad_parameter_message_lists_allowed_values(key: str) -> None:
    with pytest.raises(ParameterError, match=r"n_components = 0 must be a whole number"):
        get_method(key)(n_components=0).fit(DATA)


@pytest.mark.parametrize("key", KEYS)
def test_data_without_features_and_links_are_refused(key: str) -> None:
    data = HeteroData([Dataset("a", ["x", "y"])])
    if get_method(key).card.needs:
        with pytest.raises(NotApplicableError) as caught:
            get_method(key)().fit(data)
        assert caught.value.reasons
        verdict = next(v for v in suggest(data) if v.card.key == key)
        assert not verdict.suits
        assert verdict.reasons


@pytest.mark.parametrize("key", KEYS)
def test_tiny_and_constant_data_give_a_map_or_a_reason(key: str) -> None:
    single = Dataset("one", ["007"], [[1.0, 2.0]])
    flat = Dataset("flat", ["a", "b", "c"], np.ones((3, 2)))
    data = HeteroData([single, flat], [Links("one", "flat", [0], [1])])
    try:
        embedding = get_method(key)().fit(data).embedding_
    except HetvizError:
        return
    assert np.isfinite(embedding.stacked()[embedding.stacked_placed()]).all()


@pytest.mark.parametrize("key", KEYS)
def test_new_rows_equal_their_fitted_twins(key: str) -> None:
    method = once_fitted(key)
    if Capability.OUT_OF_SAMPLE not in method.card.capabilities:
        with pytest.raises(HetvizError, match="cannot place new items"):
            method.transform(DATA["other"])
        return
    before = method.embedding_.stacked().copy()
    X = np.asarray(DATA["other"].X)
    new = method.transform(Dataset("other", ["twin 3", "twin 7"], X[[3, 7]]))
    old = method.embedding_.coordinates["other"][[3, 7]]
    np.testing.assert_allclose(new.coordinates["other"], old, atol=1e-9)
    np.testing.assert_array_equal(method.embedding_.stacked(), before)
    mixed = method.transform(Dataset("other", ["o3", "fresh"], X[[3, 7]]))
    assert list(mixed.ids["other"]) == ["fresh"]
    with pytest.raises(DataError, match="3 features were fitted"):
        method.transform(Dataset("other", ["wide"], np.ones((1, 9))))
    with pytest.raises(DataError, match="was not fitted"):
        method.transform(Dataset("others", ["x"], np.ones((1, 3))))
    with pytest.raises(HetvizError, match="call fit"):
        get_method(key)().transform(DATA["other"])


def test_suggest_ranks_by_benchmark_then_by_used_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def order() -> list[str]:
        return [verdict.card.key for verdict in suggest(DATA) if verdict.suits]

    keys = order()
    assert keys[0] == "joint-map"
    assert any("apart links" in reason for reason in suggest(DATA)[0].reasons)
    asked = {Need.LABELS, Need.COMPARISONS}
    needs = [{*get_method(key).card.needs} & asked for key in keys]
    first = next(place for place, which in enumerate(needs) if which)
    assert all(needs[first:])
    assert not any(needs[:first])
    benchmarks = {
        "shapes": {
            "linked": [
                {"method": "umap", "behind": 0.0, "n_sets": 1},
                {"method": "pca", "behind": 0.3, "n_sets": 1},
            ]
        },
        "seconds": {},
        "measuring": [1.0, 1.0],
    }
    monkeypatch.setattr(ranking, "_measured_table", lambda: benchmarks)
    assert order()[:2] == ["umap", "pca"]
    uses = [v.uses for v in suggest(DATA) if v.suits and not {*v.card.needs} & asked]
    assert uses[2:] == sorted(uses[2:], reverse=True)
    benchmarks["shapes"]["linked"][1]["behind"] = 0.004
    # Differences below .01 are ties, and closed forms win ties.
    assert order()[:2] == ["pca", "umap"]


# Methods without diagnostics.
_SILENT: set[str] = set()


@pytest.mark.parametrize("key", KEYS)
def test_diagnostics_are_saved_and_shown(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    diagnostics = pytest.importorskip("hetviz.ui.widgets.diagnostics", exc_type=ImportError)
    theme = pytest.importorskip("hetviz.ui.shell.theme", exc_type=ImportError)
    diagnostics_by_key = once_fitted(key).embedding_.diagnostics
    assert bool(diagnostics_by_key) != (key in _SILENT)
    for name, diagnostic in diagnostics_by_key.items():
        assert diagnostic.key == name
        assert diagnostic.title[0].isupper() and diagnostic.says.endswith(".")
        assert diagnostic.values and all(np.isfinite(value) for value in diagnostic.values.values())
        if diagnostic.unit == "share":
            assert all(-1e-9 <= value <= 1.0 + 1e-9 for value in diagnostic.values.values())
    loaded = json.loads(json.dumps(to_json(diagnostics_by_key), allow_nan=False))
    views: list[str] = []
    for where, name in ((theme, "show_section"), (theme, "show_note"), (diagnostics.st, "html")):
        monkeypatch.setattr(where, name, lambda *words: views.extend(words))
    monkeypatch.setattr(theme, "show_pairs", lambda rows: views.extend(map(" ".join, rows)))
    monkeypatch.setattr(diagnostics.st, "expander", lambda words: nullcontext())
    diagnostics.show_diagnostics({"diagnostics": loaded})
    places = {
        "app": "\n".join(views),
        "command line": "\n".join(diagnostic_lines(from_json(loaded))),
        "report": report._diagnostics(from_json(loaded)),
    }
    for where, text in places.items():
        for diagnostic in diagnostics_by_key.values():
            value = max(diagnostic.values.values(), key=abs)
            for words in (diagnostic.title, diagnostic.says, diagnostic.format_value(value)):
                # Non-breaking spaces join numbers and units.
                assert words in html.unescape(text).replace("\N{NO-BREAK SPACE}", " "), (
                    where,
                    words,
                )


def test_axis_diagnostics_list_correlated_features() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [9.0, 3.0, 0.1, 0.1]
    data = HeteroData([Dataset("things", map(str, range(60)), X, feature_names=[*"abcd"])])
    embedding = get_method("pca")(standardize=False).fit(data).embedding_
    for axis, name in ((0, "a"), (1, "b")):
        correlations = embedding.diagnostics[f"axis {axis + 1} of things"].values
        assert next(iter(correlations)) == name
        along = embedding.coordinates["things"][:, axis]
        assert correlations[name] == pytest.approx(np.corrcoef(along, X[:, axis])[0, 1])
    assert not any(key.startswith("axis") for key in once_fitted("mr-sne").embedding_.diagnostics)


def two_linked(*, weight: float | None = None, within: bool = False) -> HeteroData:
    """Two linked datasets, on request with further links of one weight, or within the first."""
    rng = np.random.default_rng(5)
    first = Dataset("first", [f"a{k}" for k in range(30)], rng.normal(size=(30, 4)))
    second = Dataset("second", [f"b{k}" for k in range(25)], rng.normal(size=(25, 3)))
    ends = np.arange(25)
    links = [Links("first", "second", ends, ends), Links("first", "second", ends + 5, ends)]
    if weight is not None:
        links.append(Links("first", "second", ends[:20], ends[:20] + 3, np.full(20, weight)))
    if within:
        links.append(Links("first", "first", np.arange(20), np.arange(20) + 7))
    return HeteroData([first, second], links)


@pytest.mark.parametrize(
    ("capability", "more"),
    [(Capability.CANNOT_LINKS, {"weight": -1.0}), (Capability.WITHIN_LINKS, {"within": True})],
)
@pytest.mark.parametrize(
    "key", [card.key for card in methods() if Capability.LINKS in card.capabilities]
)
def test_cards_say_which_links_are_used(key: str, capability: Capability, more: Any) -> None:
    given = two_linked(), two_linked(**more)
    plain, changed = (hetviz.embed(data, key).stacked() for data in given)
    uses = capability in get_method(key).card.capabilities
    if (key, capability) == ("kbmf2k", Capability.CANNOT_LINKS):
        uses = False  # a pair without a link counts as one that has a negative link
    assert np.array_equal(plain, changed, equal_nan=True) != uses


def test_embed_warns_of_links_that_the_method_leaves_out() -> None:
    data = two_linked(weight=-1.0, within=True)
    with pytest.warns(DataWarning) as warned:
        hetviz.embed(data, "cca")
    assert [str(one.message) for one in warned if one.category is DataWarning] == [
        "Canonical correlations: 20 links left out, as this method uses no negative links.",
        "Canonical correlations: 20 links left out, as this method uses no links within a dataset.",
    ]
