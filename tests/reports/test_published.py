"""The transcribed tables: by the arithmetic that they must satisfy, and against the paper's text where there is one."""

import re
from pathlib import Path

import pytest
from statsmodels.stats.proportion import proportion_confint

from music_evals import benchmarks
from music_evals.benchmarks import Published, PublishedRow, published

SEEDS = Path(__file__).parents[3] / "shared" / "seeds"
PAPER, MUSE_PAPER, MSU_PAPER = (sorted(SEEDS.glob(f"{number}*.txt")) for number in ("002", "001", "003"))
FOLDER = Path(benchmarks.__file__).parent
TABLES = sorted(f"{path.parents[1].name}_{path.stem}" for path in FOLDER.glob("*/published/*.csv"))
HALF = 0.005 + 1e-9
"""What rounding to two decimals may move a number by."""


def load(name: str) -> Published:
    benchmark, _, table = name.partition("_")
    return published(benchmark, table)


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_names_its_source_and_holds_percentages(name: str) -> None:
    table = load(name)
    commit = "31924fb755fafb351c76385403d176a9ab7fce76"
    papers = ("2406.15885", "2606.08722", "2510.22455", "2511.20697")
    assert any(known in table.source for known in (*(f"{paper}, Table" for paper in papers), commit))
    assert all(0 <= figure <= 100 for row in table.rows for figure in row.figures.values())


def test_table1_f1_is_the_harmonic_mean() -> None:
    rows = load("ziqi_table1").rows
    assert len(rows) == 16
    inexact = []
    for row in rows:
        for part in ("comprehension", "generation"):
            precision, recall, printed = (row.figures[f"{part} {figure}"] for figure in ("precision", "recall", "f1"))
            if precision == 0:
                assert recall == printed == 0
                continue
            assert f1(precision - HALF, recall - HALF) - HALF <= printed <= f1(precision + HALF, recall + HALF) + HALF
            if abs(f1(precision, recall) - printed) > HALF:
                inexact.append((row.labels["model"], part))
    # These five follow from precision and recall before rounding only; no row contradicts itself.
    assert inexact == [
        ("Mixtral-8x7B", "comprehension"),
        ("Qwen-7B", "comprehension"),
        ("Qwen-7B", "generation"),
        ("Qwen-14B", "comprehension"),
        ("Yi-34B", "comprehension"),
    ]


def test_table2_averages_are_means_of_its_rows() -> None:
    *rows, average = load("ziqi_table2").rows
    assert len(rows) == 16
    assert average.labels == {"model": "Average"}
    for name, printed in average.figures.items():
        assert sum(row.figures[name] for row in rows) / 16 == pytest.approx(printed, abs=HALF)


def themes_mean(row: PublishedRow) -> float:
    return sum(figure for theme, figure in row.figures.items() if theme != "average") / 10


@pytest.mark.parametrize(
    ("name", "fitting"),
    [
        ("ziqi_leaderboard_zero_shot", ["Baichuan2-7B-Base", "educhat-base-002-13B"]),
        ("ziqi_leaderboard_five_shot", ["educhat-base-002-13B"]),
    ],
)
def test_printed_averages_are_means_of_themes_in_few_rows_only(name: str, fitting: list[str]) -> None:
    rows = load(name).rows
    assert len(rows) == 16
    assert all(len(row.figures) == 11 for row in rows)
    assert [row.labels["model"] for row in rows if abs(themes_mean(row) - row.figures["average"]) <= HALF] == fitting
    # They are near the mean, and an average of some kind: no theme stands in the place of another's by far.
    for row in rows:
        themes = [figure for theme, figure in row.figures.items() if theme != "average"]
        assert min(themes) <= row.figures["average"] <= max(themes)
        assert row.figures["average"] == pytest.approx(themes_mean(row), abs=1.3)


def test_five_zero_shot_averages_are_over_the_questions() -> None:
    """Weighted by the numbers of published test questions, as counted in the repository's files."""
    questions = {
        "composition theory": 1165,
        "world ethnic music": 1805,
        "popular music": 1291,
        "Western music history": 2350,
        "Chinese music history": 2632,
        "Chinese traditional music": 1896,
        "music aesthetics": 658,
        "music education": 1181,
        "music performance": 826,
        "female music": 335,
    }
    fitting = [
        row.labels["model"]
        for row in load("ziqi_leaderboard_zero_shot").rows
        if row.figures["average"]
        and abs(sum(n * row.figures[theme] for theme, n in questions.items()) / 14139 - row.figures["average"]) < 0.01
    ]
    assert fitting == [
        "ChatGLM2-6B",
        "Ziya-LLaMA-13B-v1.1",
        "Qwen-7B-base",
        "Qwen-14B-Base",
        "Baichuan2-13B-Base",
    ]


@pytest.mark.skipif(not PAPER, reason="no copy of the paper's text beside the checkout")
@pytest.mark.parametrize(
    ("name", "first", "end", "rows"),
    [
        ("ziqi_table1", "GPT-4\t63.15", "Table 1:", 16),
        ("ziqi_table2", "GPT-4\t66.67", "Table 2:", 17),
        ("ziqi_table3", "High-school\t", "Table 3:", 12),
        ("ziqi_table4", "Western Music History\t", "Table 4:", 13),
    ],
)
def test_the_papers_tables_are_as_in_its_text(name: str, first: str, end: str, rows: int) -> None:
    text = PAPER[0].read_text(encoding="utf-8")
    printed = text[text.index(first) : text.index(end)].strip().splitlines()
    table = load(name)
    assert len(printed) == len(table.rows) == rows
    for line, row in zip(printed, table.rows, strict=True):
        cells = [cell for cell in line.split("\t") if cell]
        assert next(iter(row.labels.values())) == cells[0]
        figures = list(row.figures.values())
        if name == "ziqi_table3":
            signs = {"yes": "✓", "no": "×", "": "-"}
            assert [signs[row.labels[label]] for label in ("music major", "musical background")] == [
                "×" if cell == "Х" else cell for cell in cells[1:3]
            ]
            low, _, high = cells[3].partition(" - ")
            cells[1:] = [*([] if low == "-" else [low, high or low]), cells[4]]
        assert figures == [float(cell) for cell in cells[1:]]


def test_gpt4_in_the_human_study_is_a_share_of_whole_questions() -> None:
    assert load("ziqi_table3").rows[-1].figures == {"precision": round(100 * 77 / 114, 2)}
    gpt4 = {row.labels["theme"]: row.figures["gpt-4"] for row in load("ziqi_table4").rows}
    assert gpt4["World Ethnic Music"] == round(100 * 11 / 18, 2)  # nine sub-themes, Black African music among them
    assert gpt4["Popular Music"] == round(100 * 18 / 22, 2)  # eleven sub-themes, film music left out
    assert gpt4["Music Generation"] == 25.0


MUSE_TASKS = ("syncopation", "transposition", "chord_quality")
MSU_LEVELS = tuple(f"level {level}" for level in (1, 2, 3, 4))


def shares_of(trials: int) -> set[float]:
    return {round(100 * right / trials, 2) for right in range(trials + 1)}


def test_muse_figures_are_shares_of_the_trials_or_of_some_of_them() -> None:
    *rows, chance = load("muse_table1").rows
    assert len(rows) == 36
    assert chance.labels["model"] == "Chance"
    assert all(row.figures["chord_quality"] in shares_of(44) for row in rows)
    fewer = [
        (row.labels["model"], row.figures[task])
        for row in rows
        for task in ("syncopation", "transposition")
        if row.figures[task] not in shares_of(20)
    ]
    assert len(fewer) == 10
    # 10/18 or 5/9, 10/13, 18/19, 6/19, 12/19, 16/19, 16/18 or 8/9: trials were left out, and only with Gemini.
    assert set(fewer) == {
        *(("Gemini 2.5 Flash", share) for share in (55.56, 76.92, 94.74, 31.58, 63.16, 84.21, 88.89)),
        *(("Gemini 2.5 Pro", share) for share in (94.74, 63.16)),
    }


def test_muse_table_agrees_with_the_papers_text_where_that_is_right() -> None:
    *rows, _ = load("muse_table1").rows
    gemini = [row for row in rows if "Gemini" in row.labels["model"]]
    by = {tuple(row.labels.values()): row.figures for row in rows}

    def span(modality: str) -> tuple[float, float]:
        found = [
            row.figures[task]
            for row in gemini
            for task in ("syncopation", "chord_quality")
            if row.labels["modality"] == modality
        ]
        return min(found), max(found)

    # "MIDI 84–100% vs. audio 6–65%"; but the table goes down to 50 from MIDI, with Flash's standalone chords.
    assert span("audio") == (6.82, 65.0)
    assert span("midi") == (50.0, 100.0)
    # "from 25% ZS to 65% FS in Standalone/CoT"; but the table has 63.16 for the first of them.
    few = [by["Gemini 2.5 Pro", "audio", "few", strategy]["syncopation"] for strategy in ("standalone", "cot")]
    zero = [by["Gemini 2.5 Pro", "audio", "zero", strategy]["syncopation"] for strategy in ("standalone", "cot")]
    assert (zero, few) == ([25.0, 25.0], [63.16, 65.0])
    # "Gemini reaching 95–100%" with LogicLM from MIDI: few-shot.
    assert {by[model, "midi", "few", "logiclm"]["syncopation"] for model in ("Gemini 2.5 Flash", "Gemini 2.5 Pro")} == {
        95.0,
        100.0,
    }


@pytest.mark.skipif(not MUSE_PAPER, reason="no copy of the paper's text beside the checkout")
def test_muse_table1_is_as_in_the_papers_text() -> None:
    text = MUSE_PAPER[0].read_text(encoding="utf-8")
    printed = text[text.index("| Mod. | Shot") : text.index("\n3 Results")].splitlines()[1:]
    names = {"Stand.": "standalone", "CoT": "cot", "LogicLM": "logiclm", "Audio": "audio", "MIDI": "midi"}
    models = {"Flash": "Gemini 2.5 Flash", "Pro": "Gemini 2.5 Pro", "Qwen": "Qwen2.5-Omni"}
    rows = {tuple(row.labels.values()): row.figures for row in load("muse_table1").rows}
    assert re.findall(r"Flash|Pro|Qwen", text[: text.index(printed[0])].rsplit("Mod.", 1)[1]) == [*models] * 3
    modality, shots, read = "", "", {}
    for line in printed:
        words = [word.strip() for word in line.split("|") if word.strip()]
        numbers = [float(word) for word in words if re.fullmatch(r"[\d.]+", word)]
        if words[0] == "Chance":
            assert rows["Chance", "", "", ""] == dict(zip(MUSE_TASKS, numbers, strict=True))
            continue
        modality = next((names[word] for word in words if word in ("Audio", "MIDI")), modality)
        (strategy,) = (names[word] for word in words if word in ("Stand.", "CoT", "LogicLM"))
        # A group's label stands in its middle row: zero-shot begins with a modality, few-shot three rows later.
        shots = {"standalone": "zero" if "Audio" in words or "MIDI" in words else "few"}.get(strategy, shots)
        cells = [(model, modality, shots, strategy) for model in models.values()]
        read |= {(cell, task): numbers[3 * place + index] for place, task in enumerate(MUSE_TASKS)
                 for index, cell in enumerate(cells)}  # fmt: skip
    assert len(read) == 108
    assert read == {(cell, task): rows[cell][task] for cell, task in read}


@pytest.mark.parametrize(("name", "rows"), [("msu_table2", 15), ("msu_table5", 10)])
def test_msu_levels_are_shares_of_450_questions_and_make_the_overall(name: str, rows: int) -> None:
    table = load(name)
    assert len(table.rows) == rows
    contradicted = []
    for row in table.rows:
        levels = [row.figures[level] for level in MSU_LEVELS]
        assert set(levels) <= shares_of(450)
        right = sum(round(4.5 * share) for share in levels)
        if row.figures["overall"] != round(100 * right / 1800, 2):
            contradicted.append((row.labels["modality"], row.labels["model"], round(100 * right / 1800, 2)))
    assert contradicted == ([("textual", "Grok 4", 42.56)] if name == "msu_table2" else [])


def test_msu_table2_agrees_with_the_papers_text() -> None:
    rows = {(row.labels["modality"], row.labels["model"]): row.figures for row in load("msu_table2").rows}
    best = {
        (modality, column): max(
            (figures[column], model) for (where, model), figures in rows.items() if where == modality
        )
        for modality in ("textual", "visual")
        for column in (*MSU_LEVELS, "overall")
    }
    assert best == {
        ("textual", "level 1"): (65.33, "Gemini 2.5 Pro"),
        ("textual", "level 2"): (56.0, "Gemini 2.5 Pro"),
        ("textual", "level 3"): (38.67, "Gemini 2.5 Pro"),
        ("textual", "level 4"): (40.89, "ChatGPT-5-mini"),
        ("textual", "overall"): (49.44, "Gemini 2.5 Pro"),
        ("visual", "level 1"): (27.11, "Claude Sonnet 4"),
        ("visual", "level 2"): (22.44, "Gemini 2.5 Pro"),
        ("visual", "level 3"): (30.44, "Claude Opus 4"),
        ("visual", "level 4"): (22.67, "Qwen3-VL-235B-A22B-Instruct"),
        ("visual", "overall"): (24.22, "Claude Opus 4"),
    }
    comparable = ("Claude Opus 4", "Claude Sonnet 4", "Grok 4", "Qwen3-VL-235B-A22B-Instruct")
    overall = [rows["textual", model]["overall"] for model in comparable]
    assert (min(overall), max(overall)) == (41.22, 42.61)
    assert rows["textual", "ChatGPT-5"]["overall"] == 47.28
    # Appendix J: "exceeding the text-only Qwen3-Max by about 4%", which the tables do not bear out.
    qwen3_max = next(row for row in load("msu_table5").rows if row.labels["model"] == "Qwen3-Max")
    assert overall[-1] - qwen3_max.figures["overall"] == pytest.approx(1.55)


def test_msu_table3_repeats_table2_and_its_intervals_are_wilsons() -> None:
    overall = {tuple(row.labels.values()): row.figures["overall"] for row in load("msu_table2").rows}
    rows = load("msu_table3").rows
    assert len(rows) == 8
    for row in rows:
        accuracy, low, high = (row.figures[name] for name in ("accuracy", "low", "high"))
        assert accuracy == overall[tuple(row.labels.values())]
        ends = proportion_confint(round(18 * accuracy), 1800, method="wilson")
        assert [round(100 * float(end), 2) for end in ends] == [low, high]


@pytest.mark.skipif(not MSU_PAPER, reason="no copy of the paper's text beside the checkout")
@pytest.mark.parametrize(
    ("name", "first", "end"),
    [
        ("msu_table2", "Qwen3-VL-235B-A22B-Instruct\t58.44", "where $"),
        ("msu_table3", "Grok 4\t42.61\t[", "In Figure 12"),
        ("msu_table5", "Qwen3-4B\t20.00", "by these exclusions"),
    ],
)
def test_msu_tables_are_as_in_the_papers_text(name: str, first: str, end: str) -> None:
    text = MSU_PAPER[0].read_text(encoding="utf-8")
    text = text[text.index(first) :]
    modality, read = "textual", []
    for line in text[: text.index(end)].splitlines():
        if "Visual QA" in line:
            modality = "visual"
        numbers = [float(number) for number in re.findall(r"\d+\.\d\d", line)]
        if numbers:
            model = line.split("\t")[-1 - (2 if name == "msu_table3" else len(numbers))]
            read.append((modality, model, numbers))
    assert read == [(*row.labels.values(), list(row.figures.values())) for row in load(name).rows]
