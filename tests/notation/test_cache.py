"""The cache is optional, and does not grow without bound."""

import os

import pytest

from music_evals.commands.doctor import CHECKS
from music_evals.notation import cache
from music_evals.notation.cache import cache_get, cache_put, entries
from tests.commands.cli import run


def test_entries_that_were_not_used_for_longest_go_first(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.LIMIT, "0.00001")  # 10,000 bytes
    for number in range(5):
        cache_put(tmp_path, f"a/{number}", bytes(1968))
        os.utime(tmp_path / "a" / str(number), (number, number))
    assert cache_get(tmp_path, "a/0", 1968) == bytes(1968)  # and so it was used last
    cache_put(tmp_path, "b/5", bytes(1968))
    assert sorted(path.name for _, _, path in entries(tmp_path)) == ["0", "3", "4", "5"]
    assert cache_get(tmp_path, "a/1", 10) is None


def test_a_cache_that_cannot_be_used_is_not_used_and_that_is_said_once(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    for _ in range(3):
        cache_put(tmp_path / "file", "x", b"content")
        assert cache_get(tmp_path / "file", "x", 10) is None
    messages = [record.message for record in caplog.records]
    assert (
        len(messages) == len(set(messages)) == 2
    )  # that it cannot be written to, and that it cannot be read
    assert all(f"the cache {tmp_path / 'file'} is not used" in message for message in messages)


@pytest.mark.parametrize("place", [0, 31, 32, -1])
def test_a_damaged_entry_is_none(tmp_path, place):
    cache_put(tmp_path, "x", b"MThd and more")
    assert cache_get(tmp_path, "x", 13) == b"MThd and more"
    assert cache_get(tmp_path, "x", 12) is None, "it is larger"
    content = bytearray((tmp_path / "x").read_bytes())
    content[place] ^= 1
    (tmp_path / "x").write_bytes(content)
    assert cache_get(tmp_path, "x", 13) is None
    for damage in (b"", bytes(content[:-1]), b"[0, null, 3, [], {}]"):
        (tmp_path / "x").write_bytes(damage)
        assert cache_get(tmp_path, "x", 100) is None


def test_clearing_removes_what_can_be_made_again_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("MUSIC_EVALS_CACHE", str(tmp_path))
    (tmp_path / "mine").write_text("kept")
    cache_put(tmp_path / "lilypond", "x", bytes(2_000_000))
    code, output = run("cache", "clear")
    assert code == 0
    assert "Removed 2.0 MB" in output
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    status = next(check.run() for check in CHECKS if check.feature == "cache")
    assert f"{tmp_path}: datasets 0.0 MB, published 0.0 MB, lilypond 0.0 MB" in status
