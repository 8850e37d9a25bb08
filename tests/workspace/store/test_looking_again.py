"""Tests that changed choices of large files use cached cells."""

import pytest

from hetviz.io.intake import child
from hetviz.workspace.store.blobs import ReadCache
from hetviz.workspace.store.content import look_at_files

pytestmark = pytest.mark.usefixtures("reader_here")


def table(n=4_000):
    rows = (
        f"i{k},{k / 7:.4f},{k % 5},{'red' if k % 3 else 'blue'},some words {k}" for k in range(n)
    )
    return "\n".join(["name,size,grade,kind,note", *rows]).encode()


@pytest.fixture
def cache(tmp_path):
    return ReadCache(tmp_path / "read")


def with_recipe(look, column, kind):
    return {look.file: {"recipes": {look.sheet: look.recipe.with_type(column, kind).to_dict()}}}


def test_changed_columns_use_cached_cells(cache, tmp_path, monkeypatch):
    files = {"t.csv": table(9_000)}
    first = look_at_files(files, {}, cache)
    entry = with_recipe(first[0], "grade", "category")
    with monkeypatch.context() as patch:
        patch.setattr(child, "preview_tables", lambda *_: pytest.fail("the files are parsed again"))
        second = look_at_files(files, entry, cache, (first, {}))
        two = with_recipe(second[0], "note", "leave out")
        third = look_at_files(files, two, cache, (second, entry))
        # Taking back finds what was seen before.
        assert look_at_files(files, entry, cache, (third, two)) == second
        assert look_at_files(files, {}, cache, (third, two)) == first
    fresh = look_at_files(files, two, ReadCache(tmp_path / "other"))
    assert third[0].recipe == fresh[0].recipe
    assert third[0].profiles == fresh[0].profiles


def test_other_choices_parse_again(cache):
    files = {"t.csv": table(9_000)}
    first = look_at_files(files, {}, cache)
    entry = with_recipe(first[0], "grade", "category")
    # Another file of the same name.
    other = look_at_files({"t.csv": table(9_500)}, entry, cache, (first, {}))
    assert other[0].n_data == 9_500
    semicolons = look_at_files(files, {"t.csv": {"separator": ";"}}, cache, (first, {}))
    assert len(semicolons[0].recipe.columns) == 1
    cache.shrink(0)
    again = look_at_files(files, entry, cache, (first, {}))
    assert again[0].recipe.column("grade").type == "category"
    assert again[0].n_data == 9_000


def test_removed_choice_is_proposed_again(cache):
    files = {"t.csv": table(9_000)}
    first = look_at_files(files, {}, cache)
    entry = with_recipe(first[0], "grade", "category")
    second = look_at_files(files, entry, cache, (first, {}))
    cache.shrink(0)
    assert look_at_files(files, {}, cache, (second, entry)) == first
