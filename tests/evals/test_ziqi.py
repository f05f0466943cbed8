"""ZIQI-Eval's tasks end to end: on the composed bank, on a small source, and (where there is a
copy) as published.
"""

import os
from pathlib import Path

import pytest
from scipy.stats import binom

from music_evals.datasets_builders.ziqi.dataset import write
from music_evals.datasets_builders.ziqi.published import build_published
from music_evals.evals.shared.parameters import ParameterError
from music_evals.evals.ziqi import comprehension, generation
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


def letters(log):
    return [(sample.scores or {})["lettered_choice"].answer for sample in samples(log)]


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
