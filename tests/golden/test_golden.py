"""Today's code against the record in this folder; `README.md` says how to write it anew after an
intended change.
"""

import re

import pytest
from matplotlib.figure import Figure

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'")

from music_evals.datasets_builders.abc_eval import dataset as abc_eval
from music_evals.datasets_builders.dataset_io import GENERATED, describe_dataset
from music_evals.evals.registry import dataset_module
from tests.golden import record, replies

CACHED = ("muse", "muse_ten", "ziqi")  # default data, which is made once for all tests
SLOW = ("ziqi published", *record.COSTLY)
"""What takes half a minute or more: only with ``GOLDEN=full``."""


@pytest.fixture(scope="module")
def folders(no_audits, tmp_path_factory):
    """Where each dataset is once it was built."""
    out = tmp_path_factory.mktemp("built")
    names = [name for name in record.BUILDS if record.FULL or name not in SLOW]
    return {name: out / name for name in names if record.can_build(name)}


def built(name, folders):
    if name in CACHED:
        return describe_dataset(GENERATED, benchmark=dataset_module(name).BENCHMARK).folder
    if not folders[name].exists():
        with pytest.MonkeyPatch.context() as patch:
            # The numbers of rows that the small files give; larger ones are tried in vain.
            patch.setattr(abc_eval, "_SIZES", (36, 12, 9, 6, 3))
            record.build(name, folders[name])
    return folders[name]


@pytest.mark.parametrize("name", [*record.BUILDS, *record.COSTLY])
def test_rows(name, folders, tmp_path):
    if name in SLOW and not record.FULL:
        pytest.skip("takes long: only with GOLDEN=full")
    if not record.can_build(name):
        pytest.skip(f"no copy of the published data in {record.PUBLISHED}")
    folder = record.build(name, tmp_path / "out") if name in record.COSTLY else built(name, folders)
    assert record.dataset_record(folder) == record.recorded("datasets")[name]


@pytest.mark.parametrize("benchmark", record.BENCHMARKS)
def test_prompts(benchmark, folders):
    expected = record.recorded(f"prompts/{benchmark}")
    needed = {
        name: built(name, folders) for name in folders if name in record.ASKED and benchmark in name
    }
    found = record.prompts_record(benchmark, expected["prompts"], needed)
    for condition, prompts in found["prompts"].items():
        lost = [text for key, text in expected["texts"].items() if key not in found["texts"]]
        assert prompts == expected["prompts"][condition], (
            condition,
            "texts that are no more:",
            lost,
        )


def test_scores():
    expected = record.recorded("scores")
    found = replies.scores_record(record.HERE / "data" / "generation", expected)
    assert list(found) == list(expected)
    for case, scored in found.items():
        for (reply, value, answer, metadata), before in zip(scored, expected[case], strict=True):
            known = {name: metadata.get(name) for name in before[3]}  # further metadata may come
            assert [reply, value, answer, known] == before, case


def test_report(tmp_path, monkeypatch):
    # Drawing takes most of the time, and tests/reports looks at figures.
    monkeypatch.setattr(Figure, "savefig", lambda _, out, **__: out.write("<svg/>"))
    found = record.tables(tmp_path / "report")
    for path in sorted((record.HERE / "report").glob("*.csv")):
        assert shortened(found.get(path.name, "")) == shortened(path.read_text(encoding="utf-8")), (
            path.name
        )


def shortened(text):
    """A text with ten digits of each number: the last ones depend on the processor."""
    return re.sub(r"-?\d+\.\d{6,}(e-\d+)?", lambda number: f"{float(number[0]):.10g}", text)


LOGS = sorted((record.HERE / "logs").glob("*.eval"))


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_scored_again(path):
    old, new = record.scored_again(path)
    assert new.results is not None
    assert sum(len(score.metrics) for score in new.results.scores) <= 16
    values = [
        [score.value for sample in log.samples or [] for score in (sample.scores or {}).values()]
        for log in (old, new)
    ]
    assert shortened(str(values[0])) == shortened(str(values[1]))
    assert record.figures(old) == record.figures(new)
