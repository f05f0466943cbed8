"""Strict rows: right by an independent reader, free of what tells the answer, and deterministic."""

import random
import re
from collections import Counter

import pytest

from music_evals.baselines.lilybench import count_measures, perform
from music_evals.datasets_builders.lilybench.corpus import Usable
from music_evals.datasets_builders.lilybench.rows import CLEAN, CORRUPTIONS, FIELDS, TASKS, TaskName, TaskRow
from music_evals.datasets_builders.lilybench.strict import MASK, make_rows, near_metadata
from music_evals.notation.lilypond.compiler import lilypond_cache
from tests.oracles.lilypond_errors import wrong_measures

OPEN: list[TaskName] = ["bar_count", "bar_sequencing", "error_detection"]
CHOICES: list[TaskName] = [task for task in TASKS if task not in (*OPEN, "emotion_recognition")]


@pytest.fixture(scope="module")
def rows(usable_tunes: list[Usable]) -> dict[TaskName, list[TaskRow]]:
    return {task: make_rows(task, usable_tunes, 7, 11, cache=lilypond_cache()) for task in (*CHOICES, *OPEN)}


def test_every_task_has_its_rows_with_ids_of_their_own(rows: dict[TaskName, list[TaskRow]]) -> None:
    for task, made in rows.items():
        assert len(made) == (12 if task == "error_detection" else 11)
        assert len({row["id"] for row in made}) == len(made)
        assert all(row["id"].startswith(f"{task}.strict.{row['piece']}") for row in made)
        if task in CHOICES:
            assert all(len(set(row["options"])) == 4 and row["answer"] in "0123" for row in made)
            assert max(Counter(row["answer"] for row in made).values()) <= 7  # no favourite place


def test_no_score_says_whose_it_is(rows: dict[TaskName, list[TaskRow]], usable_tunes: list[Usable]) -> None:
    words = {tune.header[field].split()[-1].lower() for tune in usable_tunes for field in ("composer", "style")}
    words |= {"minuet", "march", "prelude", "song", "piano", "melody"}
    for made in rows.values():
        for row in made:
            told = set(re.findall(r"[^\W\d_]+", row["score"].lower()))
            assert not told & words
            assert not any(word in name for name in told for word in words)


def written(score: str) -> dict[str, str]:
    """What the commands of a tune say."""
    key, metre = re.search(r"\\key (\w)(\w*) \\(\w+)", score), re.search(r"\\time (\S+)", score)
    assert key
    assert metre
    tonic = key[1].upper() + {"": "", "is": "-sharp", "es": "-flat"}[key[2]]
    return {"key": f"{tonic} {key[3]}", "metre": metre[1], "note_length": metre[1].partition("/")[2]}


def test_counts_are_those_of_lilyponds_midi_and_metadata_what_is_written(rows: dict[TaskName, list[TaskRow]]) -> None:
    assert all(row["answer"] == str(9 + int(row["piece"].rpartition("piece")[2])) for row in rows["bar_count"])
    for row in rows["bar_count"][:4]:
        assert row["answer"] == str(count_measures(row["score"], perform(row["score"])))
    assert {row["kind"] for row in rows["metadata_qa"]} == set(FIELDS)
    for row in rows["metadata_qa"]:
        assert written(row["score"])[row["kind"]] == row["options"][int(row["answer"])]


def test_masked_scores_say_nothing_of_what_is_masked(
    rows: dict[TaskName, list[TaskRow]], usable_tunes: list[Usable]
) -> None:
    whole = {tune.id: tune.score for tune in usable_tunes}
    for row in rows["metadata_prediction"]:
        command = "\\key" if row["kind"] == "key" else "\\time"
        assert f"{command} {MASK}" in row["score"]
        assert row["score"].count(command) == row["score"].count(f"{command} {MASK}")
        assert written(whole[row["piece"]])[row["kind"]] == row["options"][int(row["answer"])]


def test_measures_in_the_order_of_the_answer_stand_in_the_piece(
    rows: dict[TaskName, list[TaskRow]], usable_tunes: list[Usable]
) -> None:
    whole = {tune.id: " ".join(tune.score.split()) for tune in usable_tunes}
    for row in rows["bar_sequencing"]:
        assert row["answer"] != "0123"
        assert " | ".join(row["options"][int(digit)] for digit in row["answer"]) in whole[row["piece"]]
    for row in rows["next_bar_prediction"]:
        right = " ".join(row["score"].split()) + " " + row["options"][int(row["answer"])]
        assert right in whole[row["piece"]]
        for index, option in enumerate(row["options"]):
            assert option in whole[row["piece"]]
            if str(index) != row["answer"]:
                assert " ".join(row["score"].split()) + f" {option} |" not in whole[row["piece"]]


def test_errors_are_where_an_independent_reader_finds_them(rows: dict[TaskName, list[TaskRow]]) -> None:
    kinds = Counter(row["kind"] for row in rows["error_detection"])
    assert kinds == dict.fromkeys([*CORRUPTIONS, CLEAN], 2)
    for row in rows["error_detection"]:
        expected = [] if row["answer"] == "none" else [int(row["answer"])]
        assert (row["kind"] == CLEAN) == (expected == [])
        assert wrong_measures(row["score"]) == expected


def test_options_by_themselves_tell_little(rows: dict[TaskName, list[TaskRow]]) -> None:
    # Each composer is right about once in two rows of 11 and wrong three times as often.
    right = Counter(row["options"][int(row["answer"])] for row in rows["composer_recognition"])
    wrong = Counter(option for row in rows["composer_recognition"] for option in row["options"]) - right
    assert set(right) == set(wrong)
    assert len(right) == 8
    assert all(right[name] <= wrong[name] <= 9 for name in right)


def test_the_true_value_is_anywhere_among_its_neighbours() -> None:
    places = Counter()
    for seed in range(400):
        near = list(near_metadata("metre", "2/4", random.Random(seed)))
        places[near.index("2/4")] += 1
    assert set(places) == set(range(5)) or set(places) == set(range(6))
    assert max(places.values()) < 2.5 * min(places.values())


def test_the_seed_decides_and_too_few_pieces_are_an_error(usable_tunes: list[Usable]) -> None:
    once, again, other = (make_rows("composer_recognition", usable_tunes, seed, 10) for seed in (1, 1, 2))
    assert once == again != other
    with pytest.raises(ValueError, match=r"bar_count: 100 rows are needed, and the pieces give 12"):
        make_rows("bar_count", usable_tunes, 1, 100)
