"""Training sets: the columns of test rows, the same bytes again, and apart from test sets by
content and by work.
"""

from itertools import chain

import pytest
from datasets import load_dataset

from music_evals.datasets_builders import builder
from music_evals.datasets_builders.dataset_io import (
    DatasetError,
    Provenance,
    load_split,
    write_dataset,
)
from music_evals.datasets_builders.lilybench.default_pieces import default_sources, first_sources
from music_evals.datasets_builders.msu.works import default_works, first_works
from music_evals.datasets_builders.training.decontamination import TestRows
from music_evals.datasets_builders.training.sets import Request, apart_works, build_training_set
from tests.commands.cli import run


def rows_of(name, config, *splits, dataset="generated"):
    spec = builder(name).BENCHMARK
    return [
        row
        for split in splits
        for row in load_split(str(dataset), config, split, benchmark=spec).to_list()
    ]


def test_a_training_set_says_that_it_is_one(tmp_path):
    code, output = run(
        "build", "train", "muse", "--rows", 12, "--task", "chord_quality", "--out", tmp_path / "out"
    )
    assert code == 0, output
    assert "chord_quality: 12 rows in train" in output
    loaded = load_dataset(
        str(tmp_path / "out"), "chord_quality", split="train", cache_dir=str(tmp_path / "cache")
    )
    assert list(loaded.features) == [*builder("muse").BENCHMARK.features["chord_quality"], "prompt"]
    from trl.data_utils import is_conversational  # takes seconds to load

    assert is_conversational(loaded[0])
    assert [message["role"] for message in loaded[0]["prompt"]] == ["system", "user"]
    assert loaded[0]["midi_text"] in loaded[0]["prompt"][-1]["content"]
    rows = rows_of("muse", "chord_quality", "train", dataset=tmp_path / "out")
    assert {row["audio"]["bytes"] for row in rows} == {b"-"}
    assert sorted(row["target"] for row in rows) == [*"AAABBBCCCDDD"]
    tested = {tuple(row["pitches"]) for row in rows_of("muse", "chord_quality", "test", "fewshot")}
    assert tested.isdisjoint(tuple(row["pitches"]) for row in rows)
    card = (tmp_path / "out" / "README.md").read_text()
    assert "not for training" not in card
    assert "rows, works or tunes compared" in card


def test_rows_hold_the_prompts_of_the_tasks(tmp_path):
    code, output = run(
        "build", "train", "ziqi", "--rows", 4, "--task", "generation", "--out", tmp_path / "out"
    )
    assert code == 0, output
    rows = load_dataset(
        str(tmp_path / "out"), "generation", split="train", cache_dir=str(tmp_path / "cache")
    )
    for row in rows:
        assert all(text in row["prompt"][-1]["content"] for text in row["options"])
    assert len({row["prompt"][-1]["content"] for row in rows}) == len(rows)


def test_rows_of_a_further_test_set_are_left_out(tmp_path):
    spec = builder("muse").BENCHMARK
    options = {"rows": 10, "seed": 3, "tasks": ["transposition"]}
    build_training_set("muse", tmp_path / "before", **options)
    before = rows_of("muse", "transposition", "train", dataset=tmp_path / "before")
    columns, made = spec.features, Provenance("muse", spec.version, "generated", "mit", seed=77)
    # Tasks on scores ask all splits by default, "train" too.
    splits = {"transposition": {"test": before[:5], "train": before[5:]}}
    write_dataset(tmp_path / "test", splits, features=columns, provenance=made)
    record = build_training_set(
        "muse", tmp_path / "after", against={str(tmp_path / "test"): spec}, **options
    )
    after = rows_of("muse", "transposition", "train", dataset=tmp_path / "after")
    pitches = [
        {tuple(row[f"pitches_{place}"]) for row in rows for place in (1, 2)}
        for rows in (before, after)
    ]
    assert pitches[0].isdisjoint(pitches[1])
    assert record.decontamination
    for split in ("test", "train"):
        counts = record.decontamination.tests[f"muse generated-seed77, transposition/{split}"]
        assert counts == {"rows": 5, "dropped": 5}


def test_tunes_and_works_are_apart(tmp_path):
    build_training_set("ziqi", tmp_path / "out", rows=40, seed=1, tasks=["generation"])
    rows = rows_of("ziqi", "generation", "train", dataset=tmp_path / "out")
    tested = rows_of("ziqi", "generation", "dev", "test")
    tunes = ({row["id"].rsplit("-", 2)[0] for row in group} for group in (rows, tested))
    texts = ({text for row in group for text in row["options"]} for group in (rows, tested))
    assert set.isdisjoint(*tunes)
    assert set.isdisjoint(*texts)
    sources, works = apart_works(default_sources()), apart_works(default_works())
    assert {source.id for source in sources}.isdisjoint(source.id for source in first_sources())
    levels = chain.from_iterable(default_works(f"msu_level{level}") for level in range(2, 6))
    levels = chain(levels, first_works(), first_sources(["lilybench_levels"]))
    assert {work.path for work in (*works, *sources)}.isdisjoint(work.path for work in levels)
    assert len(works) > 20
    by_name = {
        work.name: work for work in default_works()
    }  # two chorales of one title and composer are one work
    assert (by_name["bach-244-44"] in works) == (by_name["bach-248-5"] in works)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mmau", {"rows": 5}, "mmau has no training set; accepted are lilybench, msu, muse"),
        (
            "muse",
            {"rows": 5, "tasks": ["rhythm"]},
            "muse has no task rhythm; accepted are syncopation, transposition",
        ),
        (
            "muse",
            {"rows": 900, "tasks": ["chord_quality"]},
            "not 900; ask for fewer, or choose tasks with --task",
        ),
    ],
)
def test_what_cannot_be_built_is_one_line(tmp_path, name, options, message):
    with pytest.raises(DatasetError, match=message):
        build_training_set(name, tmp_path / "out", seed=1, **options)
    assert not (tmp_path / "out").exists()


def test_the_error_says_how_many_rows_there_are_with_equally_frequent_answers():
    # Five rows have the answer A and three B: three of each are the most that are balanced. The
    # config is one of which no half is reserved for tests.
    answers = "ABAABABA"
    rows = [{"target": answer, "options": ["Major", "Minor"]} for answer in answers]

    def wanted(count):
        return list(Request({"generation": count}, 1, TestRows(), None).apart("generation", rows))

    with pytest.raises(
        DatasetError, match="generation gives 6 rows apart from the test sets, not 8"
    ):
        wanted(8)
    assert sorted(row["target"] for row in wanted(6)) == ["A", "A", "A", "B", "B", "B"]
