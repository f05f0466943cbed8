"""ZIQI-Eval's tasks end to end: on the composed bank, on a small source, and (where there is a
copy) as published.
"""

import os
from pathlib import Path

import pytest
from inspect_ai import score
from inspect_ai.log import read_eval_log
from scipy.stats import binom

from music_evals.datasets_builders.ziqi.dataset import write
from music_evals.datasets_builders.ziqi.published import build_published
from music_evals.evals.shared.parameters import ParameterError
from music_evals.evals.ziqi import comprehension, generation, sample_id
from music_evals.reports.records import read_records
from music_evals.scorers.lettered_choice import lettered_choice
from tests.harness import metrics, run, run_scripted, samples
from tests.ziqi_source import write_source

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "ziqi"
needs_published = pytest.mark.skipif(
    not (PUBLISHED.is_dir() and os.environ.get("GOLDEN") == "full"),
    reason="half a minute: with GOLDEN=full and a copy of ZIQI-Eval in ../shared/data/ziqi",
)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A dataset in the published layout, twelve questions a theme, one of them twice."""

    def edit(split, theme, rows):
        if (split, theme) == ("test", "popular_music"):
            rows[5][1:6] = rows[1][1:6]

    folder = tmp_path_factory.mktemp("small")
    write(
        build_published(write_source(folder / "source", test_rows=12, edit=edit)), folder / "ziqi"
    )
    return str(folder / "ziqi")


def figures(log):
    return metrics(log)["lettered_choice"]


def groups(log, column):
    """The score of each group of questions."""
    scores = read_records(log.location).scores
    found = scores[scores["group"].str.startswith(f"{column}=")]
    return dict(zip(found["group"].str.removeprefix(f"{column}="), found["value"], strict=True))


def letters(log):
    return [(sample.scores or {})["lettered_choice"].answer for sample in samples(log)]


def prompt_of(sample):
    return "".join(message.text for message in sample.input if not isinstance(message, str))


@pytest.mark.parametrize(
    ("language", "shots", "protocol"), [("zh", "zero", "paper"), ("en", "five", "strict")]
)
def test_a_letter_earns_its_share_of_the_keys(tmp_path, language, shots, protocol):
    task = comprehension(language=language, shots=shots, protocol=protocol)
    keys = [str(sample.target) for sample in task.dataset][:24]
    log = run_scripted(task, tmp_path, lambda *_: "[[答案：B]]", limit=24)
    assert (figures(log)["questions"], figures(log)["accuracy"]) == (
        24,
        pytest.approx(keys.count("B") / 24),
    )
    assert log.eval.task == "ziqi_like_comprehension_generated-seed1"
    assert log.eval.metadata is not None
    assert log.eval.metadata["is_ziqi_eval"] is False


def test_continuations_run(tmp_path):
    task = generation(language="en", shots="five")
    assert prompt_of(task.dataset[0]).count("\nK:") == 6  # five examples and the question
    assert prompt_of(task.dataset[0]).isascii()
    log = run(task, tmp_path, model="baseline/chance", limit=40)[0]
    found = figures(log)
    assert figures(log)["answered"] == 1
    low, high = binom.interval(0.999, 40, 0.25)
    assert low <= 40 * found["accuracy"] <= high


def test_what_a_prompt_holds(small):
    task = comprehension(dataset=small, shots="five")
    first = next(sample for sample in task.dataset if sample.id == "0000-composition_theory")
    assert first.choices == [f"作曲理论test0{letter}" for letter in "ABCD"]
    for sample in task.dataset:
        prompt, theme = (
            prompt_of(sample),
            prompt_of(sample).rpartition("的第")[0].rpartition("\n")[2],
        )
        # Five examples of the same theme from dev, with their answers; nothing of test but the
        # question itself.
        assert [f"{theme}的第{number}题（dev）____。" in prompt for number in range(5)] == [
            True
        ] * 5
        assert prompt.count("（dev）____。") == 5
        assert prompt.count("（test）____。") == 1
        assert [prompt.count(f"[[答案：{letter}]]") for letter in "ABCD"] == [2, 1, 1, 1]
    told = task.metadata or {}
    assert told["is_ziqi_eval"] is True


def test_records_hold_the_score_of_each_theme(small, tmp_path):
    (log,) = run(comprehension(dataset=small), tmp_path, model="baseline/chance")
    records = read_records(log.location)
    scores = records.scores[records.scores["source"] == "measured"]
    themes = scores[scores["group"].str.startswith("theme=")].set_index("group")["n"]
    assert (len(themes), themes["theme=popular music"]) == (10, 12)
    items = records.main[0]
    assert len(items[["theme", "subtheme"]].drop_duplicates()) == 56
    assert (items["target"] == "A").mean() == 0.25


def test_rotations_move_the_options_and_the_key(small, tmp_path):
    task = comprehension(dataset=small, rotations=4, themes=["女性音乐"])
    asked = {}
    for sample in task.dataset:
        asked.setdefault((sample.metadata or {})["question"], []).append(sample)
    assert len(asked) == 12
    for question, four in asked.items():
        assert [sample.id for sample in four] == [
            f"{sample_id(question)}-rotation{number}" for number in range(4)
        ]
        assert sorted(str(sample.target) for sample in four) == list("ABCD")
        right = {(sample.choices or [])["ABCD".index(str(sample.target))] for sample in four}
        assert len(right) == 1
        assert len({tuple(sample.choices or []) for sample in four}) == 4
    log = run_scripted(task, tmp_path, lambda *_: "[[答案：A]]选A。", limit=None)
    assert figures(log)["accuracy"] == 0.25
    assert groups(log, "rotation").keys() == {"0", "1", "2", "3"}
    assert sum(groups(log, "rotation").values()) == pytest.approx(1), (
        "A is right once for each question"
    )
    assert {*letters(log)} == {"A"}


def test_rotations_keep_what_speaks_of_other_options(tmp_path):
    def edit(split, theme, rows):
        if (split, theme) == ("test", "female_music"):
            rows[1][2:7] = ["Run", "M.C.", "Jay", "以上都对", "D"]
            rows[2][2:7] = ["Run", "M.C.", "Both A and B", "None of the above", "C"]
            rows[3][2:7] = ["A和B", "B和C", "C和D", "E和F", "B"]

    write(build_published(write_source(tmp_path / "source", edit=edit)), tmp_path / "ziqi")
    task = comprehension(dataset=str(tmp_path / "ziqi"), rotations=4, themes="female music")
    asked = {}
    for sample in task.dataset:
        asked.setdefault((sample.metadata or {})["question"], []).append(sample)
    assert [len(some) for some in asked.values()] == [3, 4, 4]
    above, notes = list(asked.values())[:2]
    assert [sample.choices for sample in above] == [
        ["Run", "M.C.", "Jay", "以上都对"],
        ["Jay", "Run", "M.C.", "以上都对"],
        ["M.C.", "Jay", "Run", "以上都对"],
    ]
    assert {str(sample.target) for sample in above} == {"D"}
    assert {(sample.choices or [])["ABCD".index(str(sample.target))] for sample in notes} == {
        "B和C"
    }
    assert (task.metadata or {})["not_rotated"] == ["female_music-test-0001"]
    assert len(comprehension(dataset=str(tmp_path / "ziqi"), themes="female music").dataset) == 4


def test_themes_and_the_human_subset(small):
    assert len(comprehension(dataset=small, themes="popular music, 女性音乐").dataset) == 24
    assert len(comprehension(dataset=small, themes=["popular_music"]).dataset) == 12
    subset = comprehension(dataset=small, subset="human", themes="popular music").dataset
    # Twelve rows in twelve sub-themes, one of them a duplicate of another sub-theme's.
    assert len(subset) == 11


def test_hostile_replies_are_scored(small, tmp_path):
    for reply in (
        "",
        "\0" * 1000,
        "[[" * 100_000,
        "A" * 1_000_000,
        "[[答案：E]]",
        "<script>A</script>",
    ):
        log = run_scripted(
            comprehension(dataset=small, themes="female music"), tmp_path, lambda *_, r=reply: r
        )
        assert figures(log)["answered"] == 0, reply[:20]


def test_a_log_can_be_scored_again_under_the_other_protocol(small, tmp_path):
    task = comprehension(dataset=small, themes="female music")
    log = run_scripted(task, tmp_path, lambda *_: "According to theory, the answer is B.")
    assert (samples(log)[0].scores or {})["lettered_choice"].answer == "B"
    again = score(read_eval_log(log.location), lettered_choice("paper"), action="overwrite")
    assert (again.samples or [])[0].scores["lettered_choice"].answer == "A"  # type: ignore[index]


def test_five_shots_need_five_rows_of_dev(tmp_path):
    plan = build_published(write_source(tmp_path / "source"))
    plan.rows["comprehension"]["dev"].pop()  # type: ignore[attr-defined]
    write(plan, tmp_path / "ziqi")
    with pytest.raises(
        ParameterError, match="has 4 rows of female music in dev; shots=five needs 5"
    ):
        comprehension(dataset=str(tmp_path / "ziqi"), shots="five")


@needs_published
def test_the_human_subset_is_two_questions_a_subtheme() -> None:
    published = str(PUBLISHED)
    tasks = [make(dataset=published, subset="human") for make in (comprehension, generation)]
    assert [len(task.dataset) for task in tasks] == [112, 2]
    ids = [sample.id for sample in tasks[0].dataset]
    again, other = (
        comprehension(dataset=published, subset="human", seed=seed).dataset for seed in (0, 1)
    )
    assert ids == [sample.id for sample in again] != [sample.id for sample in other]


@needs_published
def test_chance_is_at_chance_on_published_questions(tmp_path: Path) -> None:
    tasks = [
        comprehension(dataset=str(PUBLISHED), themes="composition theory"),
        generation(dataset=str(PUBLISHED)),
    ]
    for log in run(tasks, tmp_path, model="baseline/chance", limit=80):
        low, high = binom.interval(0.999, 80, 0.25)
        assert low <= 80 * figures(log)["accuracy"] <= high
        assert figures(log)["answered"] == 1
