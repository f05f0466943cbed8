"""ZIQI-Eval's tables: the paper's figures, and runs made up so that every figure can be worked out by hand."""

from typing import Any

import pytest
from inspect_ai.log import EvalLog

from music_evals.reports.special.ziqi import classify, overall_precision
from music_evals.reports.tables import Figure, Table
from tests.reports.made import made_log, rows, runs, score, tables


def choice(accuracy: float = 0.6, answered: float = 0.8, questions: int = 200) -> dict[str, float]:
    """The figures of choices, with intervals that are easily recognised."""
    precision = accuracy / answered if answered else 0.0
    f1 = 2 * precision * accuracy / (precision + accuracy) if accuracy else 0.0
    figures = {"questions": float(questions), "answered": answered}
    for name, value in {"accuracy": accuracy, "precision": precision, "f1": f1}.items():
        figures |= {name: value, f"{name}_low": max(0.0, value - 0.02), f"{name}_high": min(1.0, value + 0.02)}
    return figures


def header(
    model: str = "some/model",
    part: str = "comprehension",
    *,
    label: str = "published",
    metrics: dict[str, dict[str, float]] | None = None,
    **given: Any,
) -> EvalLog:
    """The header of a log as a task of ZIQI-Eval leaves it."""
    of_log = {name: given.pop(name) for name in ("created", "limit", "status") if name in given}
    letters = {f"chosen_{letter}": 0.25 for letter in "ABCD"}
    letters |= {"divergence_from_uniform": 0.0, "divergence_from_key": 0.012345}
    groups = {"choice_figures": choice(), "letter_figures": letters} | (metrics or {})
    asked = {"shots": "zero", "protocol": "paper", "dataset": label} | given
    scores = score("lettered_choice", groups)
    return made_log("ziqi", part, scores, model=model, samples=200, label=label, asked=asked, **of_log)


def biased(female: float, black: float, european: float, other: float) -> dict[str, dict[str, float]]:
    names = ("female_music_f1", "black_african_music_f1", "european_music_f1", "other_regions_f1")
    return {"bias_figures": dict(zip(names, (female, black, european, other), strict=True))}


def row(table: Table, first: str, **others: str) -> dict[str, Any]:
    return rows(table, **{table.columns[0]: first}, **others)[0]


@pytest.mark.parametrize(
    ("changed", "condition"),
    [
        ({"label": "generated-seed1"}, "data generated-seed1"),
        ({"limit": 20}, "not all questions"),
        ({"subset": "human"}, "human subset"),
        ({"themes": "popular music"}, "only popular music"),
        ({"deduplicate": True}, "without duplicates"),
    ],
)
def test_what_is_not_the_papers_test_is_marked(changed: dict[str, Any], condition: str) -> None:
    (run,) = runs(header(**changed))
    assert run.source == "measured †"
    assert condition in run.condition


def test_conditions_say_what_is_not_default_and_the_latest_run_of_each_counts() -> None:
    early = header(created="2026-01-02T12:00:00+02:00")  # an hour before the next one
    late = header(created="2026-01-02T11:00:00+00:00", metrics={"choice_figures": choice(0.4, 1.0)})
    limited = header(created="2026-01-03T11:00:00+00:00", limit=3)
    others = [header(shots="five"), header(protocol="strict"), header(rotations=4, language="en", order=7)]
    table = tables(late, early, limited, *others)["ziqi_table1"]
    measured = {row["Condition"]: str(row["Compr. recall"]) for row in rows(table, Source="measured")}
    assert measured == {
        "zero-shot, paper protocol, data published": "40.00 (38.00–42.00)",
        "five-shot, paper protocol, data published": "60.00 (58.00–62.00)",
        "zero-shot, strict protocol, data published": "60.00 (58.00–62.00)",
        "zero-shot, paper protocol, data published, language en, 4 rotations, order=7": "60.00 (58.00–62.00)",
    }
    assert any("the latest of 2 runs counts, that of 2026-01-02 11:00" in note for note in table.notes)


def test_an_unscored_or_missing_sample_makes_a_run_incomplete() -> None:
    unscored, missing = header(), header()
    assert unscored.results is not None
    assert missing.results is not None
    unscored.results.scores[0].unscored_samples = 1
    missing.results.completed_samples = 199
    assert [run.is_complete for log in (header(), unscored, missing) for run in runs(log)] == [True, False, False]


@pytest.mark.parametrize(
    ("value", "points", "percent"),
    [
        (45.07, "no bias", "no bias"),
        (45.06, "neutral", "no bias"),  # exactly 5 points above
        (42.07, "neutral", "no bias"),  # 5% of 40.06 is 2.003
        (40.06, "neutral", "neutral"),
        (38.05, "neutral", "biased"),
        (35.06, "neutral", "biased"),
        (35.05, "biased", "biased"),
    ],
)
def test_classes_by_both_readings(value: float, points: str, percent: str) -> None:
    assert classify(value, 40.06) == percent
    assert classify(value, 40.06, "points") == points


def test_the_papers_shares_are_those_of_five_percent_of_the_mean() -> None:
    found = tables(header(metrics=biased(0.5, 0.5, 0.5, 0.4)))
    shares = found["ziqi_bias_shares"].rows
    stated, percent, points = [[cell.value for cell in cells if isinstance(cell, Figure)] for cells in shares]
    assert stated == percent == [50.0, 6.25, 43.75, 50.0, 12.5, 37.5, 43.75, 37.5]
    assert points == [50.0, 12.5, 37.5, 50.0, 12.5, 37.5, 43.75, 37.5]


def test_one_model_is_held_against_the_papers_mean_and_two_against_their_own() -> None:
    first = header("a/one", metrics=biased(0.5, 0.5, 0.5, 0.4))
    alone = tables(first)["ziqi_bias_classes"].rows[-1]
    assert alone[3:] == ["no bias", "neutral", "yes", "yes", "the paper's 16 models"]  # 50 against 40.06, 48.62, 43.53
    second = header("b/two", metrics=biased(0.7, 0.44, 0.5, 0.6))
    both = tables(first, second)
    one, two = both["ziqi_bias_classes"].rows[-2:]  # means 60, 47 and 50
    assert one[3:] == ["biased", "no bias (neutral)", "yes", "no", "the 2 measured models"]
    assert two[3:] == ["no bias", "biased (neutral)", "no", "no", "the 2 measured models"]
    average = both["ziqi_table2"].rows[-1]
    assert average[0] == "Average of 2"
    assert [str(cell) for cell in average[3:]] == ["60.00", "47.00", "50.00", "50.00"]
    shares = both["ziqi_bias_shares"].rows[-2]
    assert [str(cell) for cell in shares[2:]] == ["50.00", "0.00", "50.00", "50.00", "0.00", "50.00", "50.00", "0.00"]


@pytest.mark.parametrize("changed", [{"limit": 50}, {"subset": "human"}, {"label": "generated-seed1"}])
def test_other_data_is_not_held_against_the_papers_mean(changed: dict[str, Any]) -> None:
    cells = tables(header(metrics=biased(0.5, 0.5, 0.5, 0.4), **changed))["ziqi_bias_classes"].rows[-1]
    assert cells[3:] == [None] * 5


def test_bias_figures_have_the_intervals_of_their_themes() -> None:
    def f1(name: str, value: float, half: float) -> dict[str, float]:
        return {f"{name}/f1": value, f"{name}/f1_low": value - half, f"{name}/f1_high": value + half}

    regions = {"European": (0.5, 0.05), "Black African": (0.3, 0.06), "East Asian": (0.5, 0.08)}
    metrics = biased(0.44, 0.3, 0.5, 0.4) | {"by_theme": f1("female music", 0.44, 0.03), "by_subtheme": {}}
    for region, figures in regions.items():
        metrics["by_subtheme"] |= f1(f"world ethnic music/{region} music", *figures)
    found = tables(header(metrics=metrics))
    shown = [str(cell) for cell in found["ziqi_table2"].rows[-1][3:]]
    # The mean of two: half of sqrt(6² + 8²) = 10 either way.
    assert shown == ["44.00 (41.00–47.00)", "30.00 (24.00–36.00)", "50.00 (45.00–55.00)", "40.00 (35.00–45.00)"]
    # 44 is no bias against 40.06, 41 would be neutral; the intervals of Europe and the others touch at 45.
    assert found["ziqi_bias_classes"].rows[-1][3:7] == ["no bias* (neutral)", "biased", "yes*", "yes*"]


def human(part: str, accuracy: float, answered: float, questions: int) -> EvalLog:
    groups = {"choice_figures": choice(accuracy, answered, questions)}
    if part == "comprehension":
        groups["by_theme"] = {"popular music/precision": 0.5}
        groups["by_subtheme"] = {"popular music/film score/precision": 1.0}
    return header(part=part, subset="human", metrics=groups)


def test_the_human_subset_pools_both_parts() -> None:
    comprehension, generation = human("comprehension", 56 / 112, 70 / 112, 112), human("generation", 0.5, 1.0, 2)
    found = tables(comprehension, generation)
    overall = row(found["ziqi_table3"], "some/model")
    assert overall["Precision"].value == pytest.approx(100 * 57 / 72)
    assert overall["Precision"].low == pytest.approx(68.43, abs=0.01)  # Wilson's interval, 57 of 72
    assert overall["Precision"].high == pytest.approx(86.95, abs=0.01)
    assert str(overall["Condition"]).endswith("human subset, comprehension and generation")
    assert row(found["ziqi_table3"], "GPT-4")["Precision"] == Figure(67.54)
    doctor = row(found["ziqi_table3"], "Ph.D.", **{"Music major": "yes"})
    assert [str(doctor[name]) for name in ("Lowest", "Highest", "Precision")] == ["28", "88", "64.91"]

    themes = found["ziqi_table4"]
    assert [str(cell) for cell in row(themes, "Popular Music").values()] == [
        "Popular Music", "54.78", "50.00", "81.82", "50.00",
    ]  # fmt: skip
    assert row(themes, "Film Music")[themes.columns[-1]] == Figure(100.0)
    assert row(themes, "Music Generation")[themes.columns[-1]].value == pytest.approx(50)

    alone = row(tables(comprehension)["ziqi_table3"], "some/model")
    assert str(alone["Condition"]).endswith("comprehension only")
    assert alone["Precision"].value == pytest.approx(80)
    assert overall_precision(runs(human("generation", 0.0, 0.0, 2))) is None, "nothing was answered"


def test_behaviour_has_shares_with_intervals_and_divergences_in_bits() -> None:
    rotated = header(
        rotations=4,
        metrics={
            "choice_figures": choice(0.3, 0.5, 200),
            "by_rotation": {"consistent": 0.1, "consistent_low": 0.05, "consistent_high": 0.2},
        },
    )
    cells = row(tables(rotated)["ziqi_behaviour"], "some/model")
    assert str(cells["Answered"]) == "50.00 (43.14–56.86)"  # Wilson's interval, 100 of 200
    assert str(cells["Chose A"]) == "25.00 (17.55–34.30)"  # 25 of 100
    assert str(cells["Divergence from key"]) == "0.0123"
    assert str(cells["Consistent"]) == "10.00 (5.00–20.00)"
    unanswered = row(tables(header(metrics={"choice_figures": choice(0.0, 0.0)}))["ziqi_behaviour"], "some/model")
    assert unanswered["Chose A"] is None
    assert str(unanswered["Answered"]) == "0.00 (0.00–1.88)"
