"""Today's code against the record in this folder; `README.md` says how to write it anew after an intended change."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install 'music-evals[lilypond]'")

from tests.golden import record, replies

BENCHMARKS = ("muse", "ziqi", "msu", "lilybench")


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUSIC_EVALS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Where each dataset is once it was built."""
    out = tmp_path_factory.mktemp("built")
    return {name: out / name for name in record.BUILDS if record.can_build(name)}


def built(name: str, folders: dict[str, Path]) -> Path:
    if not folders[name].exists():
        record.build(name, folders[name])
    return folders[name]


@pytest.mark.parametrize("name", [*record.BUILDS, *record.COSTLY])
def test_rows(name: str, folders: dict[str, Path], tmp_path: Path) -> None:
    if name in record.COSTLY and not record.FULL:
        pytest.skip("minutes: only with GOLDEN=full")
    if not record.can_build(name):
        pytest.skip(f"no copy of the published data in {record.PUBLISHED}")
    folder = record.build(name, tmp_path / "out") if name in record.COSTLY else built(name, folders)
    assert record.dataset_record(folder) == record.recorded("datasets")[name]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_prompts(benchmark: str, folders: dict[str, Path]) -> None:
    expected = record.recorded(f"prompts/{benchmark}")
    needed = {name: built(name, folders) for name in folders if name in record.ASKED and benchmark in name}
    found = record.prompts_record(record.conditions(needed)[benchmark])
    assert list(found["prompts"]) == [name for name in expected["prompts"] if name in found["prompts"]]
    for condition, prompts in found["prompts"].items():
        for prompt, before in zip(prompts, expected["prompts"][condition], strict=True):
            told = {key: lines for key, lines in found["texts"].items() if key in prompt}
            assert (prompt, told) == (
                before,
                {key: expected["texts"][key] for key in before.split() if key in expected["texts"]},
            ), condition


def test_scores() -> None:
    expected = record.recorded("scores")
    found = replies.scores_record(record.HERE / "data" / "generation")
    assert list(found) == list(expected)
    for case, scored in found.items():
        for (reply, value, answer, metadata), before in zip(scored, expected[case], strict=True):
            known = {name: metadata.get(name) for name in before[3]}  # further metadata may come
            assert [reply, value, answer, known] == before, case
