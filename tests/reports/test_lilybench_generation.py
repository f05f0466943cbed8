"""LilyBench's generation: the paper's figures against its text, and runs made up so that every cell is known."""

from math import isnan, nan
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, EvalScore
from inspect_ai.model import GenerateConfig

from music_evals.benchmarks import published
from music_evals.reports.special.lilybench import PAPER
from music_evals.reports.tables import Cell, Figure, Table
from tests.reports.made import made_log, reports, runs, score, tables

TEXT = sorted((Path(__file__).parents[3] / "shared" / "seeds").glob("000*.txt"))
MODELS = ("Phi-4", "Qwen2.5-Coder-14B", "DeepSeek-Coder-V2-Lite", "Codestral-22B")
MUSIC21 = ("music21-test", "music21-other")
REGIMES = ("Zero-shot", "Few-shot", "Ablation")
PAPERS_SAMPLING = GenerateConfig(temperature=0.7, top_p=0.9, max_tokens=3000)

# --- the published figures ---


def printed(column: str, regime: str) -> dict[str, float]:
    rows = published("lilybench", "table2").rows
    return {row.labels["model"]: row.figures[column] for row in rows if row.labels["regime"] == regime}


def test_the_transcription_has_four_models_in_each_regime() -> None:
    rows = published("lilybench", "table2").rows
    assert [(row.labels["regime"], row.labels["model"]) for row in rows] == [
        (regime, model) for regime in REGIMES for model in MODELS
    ]
    assert all(len(row.figures) == 5 for row in rows)
    assert len({model[0] for model in MODELS}) == 4, "the figure tells them apart by their first letter"


@pytest.mark.parametrize(
    ("column", "regime", "lowest", "highest"),
    [
        ("FMD test", "Few-shot", 0.696, 0.742),
        ("FMD test", "Ablation", 1.754, 1.980),
        ("compile rate", "Few-shot", 19.9, 45.2),
        ("compile rate", "Zero-shot", 48.6, 79.3),
    ],
)
def test_ranges_are_those_that_section_4_1_states(column: str, regime: str, lowest: float, highest: float) -> None:
    found = printed(column, regime).values()
    assert (min(found), max(found)) == (lowest, highest)


def test_leaders_are_those_that_the_paper_names() -> None:
    def best(column: str, regime: str, sign: int = 1) -> str:
        found = printed(column, regime)
        return max(found, key=lambda model: sign * found[model])

    assert best("compile rate", "Zero-shot") == "Codestral-22B"
    assert best("JS test", "Zero-shot") == "Qwen2.5-Coder-14B"
    assert best("FMD Mutopia", "Zero-shot", -1) == "Phi-4"
    assert printed("FMD test", "Few-shot")["Codestral-22B"] == 0.696
    highest = max(row.figures["JS test"] for row in published("lilybench", "table2").rows)
    assert printed("JS test", "Ablation")["Codestral-22B"] == highest == 89.44
    assert {round(rate) for rate in printed("compile rate", "Ablation").values()} == {97, 99, 100}
    zero, few = (printed("FMD test", regime) for regime in ("Zero-shot", "Few-shot"))
    assert (zero["Phi-4"], few["Phi-4"], zero["DeepSeek-Coder-V2-Lite"]) == (0.933, 0.701, 0.887)
    assert all(few[model] < zero[model] for model in MODELS), "demonstrations pull all four closer"


def test_where_the_papers_text_and_table_disagree_the_notes_say_so() -> None:
    zero, few = (printed("JS test", regime) for regime in ("Zero-shot", "Few-shot"))
    assert all(few[model] < zero[model] for model in ("Phi-4", "Codestral-22B")), "section 5 has them rise"
    zero = printed("FMD test", "Zero-shot")
    assert min(zero, key=lambda model: zero[model]) == "DeepSeek-Coder-V2-Lite", "section 5: second-best"
    ablation = printed("FMD test", "Ablation")
    assert min(ablation, key=lambda model: ablation[model]) == "Codestral-22B", "section 4.1: the worst in its column"
    assert 200 * printed("compile rate", "Zero-shot")["Phi-4"] / 100 == pytest.approx(142.2)
    notes = " ".join(tables(header(papers()))["lilybench_table2"].notes)
    for said in ("142.2", "the table has it fall", "where it is first", "where it is the best"):
        assert said in notes


@pytest.mark.skipif(not TEXT, reason="no copy of the paper's text beside the checkout")
def test_the_papers_table_is_as_in_its_text() -> None:
    text = TEXT[0].read_text(encoding="utf-8")
    printed = text[text.index("Zero-shot Phi-4 71.1") : text.index("Table 2: Generation matrix")].splitlines()
    lines = [line.rsplit(maxsplit=5) for line in printed if line.strip()]
    rows = published("lilybench", "table2").rows
    assert len(lines) == len(rows) == 12
    for line, row in zip(lines, rows, strict=True):
        assert line[0].endswith(row.labels["model"])
        assert list(row.figures.values()) == [float(cell) for cell in line[1:]]


# --- measured ---


def against(reference: str, js: float = 70.0, fmd: float = 1.0) -> dict[str, dict[str, float]]:
    """Figures against a reference, with intervals that are easily recognised."""
    similarity = {"js": js, "js_low": js - 2, "js_high": js + 3}
    similarity |= {"js_polyphony_rate": 60.0, "js_groove_consistency": 80.0, "js_scale_consistency": 75.5}
    similarity |= {"shift_polyphony_rate": -1.25, "shift_groove_consistency": 0.5, "shift_scale_consistency": 0.0}
    frechet = {"fmd": fmd, "fmd_low": fmd - 0.1, "fmd_high": fmd + 0.2, "fmd_infinity": fmd - 0.3}
    return {
        "similarity_figures": {f"{reference}/{name}": value for name, value in similarity.items()},
        "frechet_figures": {f"{reference}/{name}": value for name, value in frechet.items()},
    }


def together(*parts: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    groups = {group for part in parts for group in part}
    return {
        group: {name: value for part in parts for name, value in part.get(group, {}).items()}
        for group in sorted(groups, reverse=True)
    }


def written(metrics: dict[str, dict[str, float]], name: str = "written_music", **params: Any) -> EvalScore:
    compiled = {"compile_rate": 0.6, "compile_rate_low": 0.53, "compile_rate_high": 0.67, "pieces": 200.0}
    copies = {"near_copies": 0.05, "near_copies_low": 0.02, "near_copies_high": 0.09}
    copies |= {"demonstrations/near_copies": 0.01}
    return score(name, together({"compile_figures": compiled, "novelty_figures": copies}, metrics), **params)


def header(
    *scores: EvalScore,
    regime: str = "zero",
    label: str = "bmdataset-1a2b",
    is_lilybench: bool = True,
    sampling: GenerateConfig = PAPERS_SAMPLING,
    **given: Any,
) -> EvalLog:
    """The header of a log as the task leaves it."""
    of_log = {name: given.pop(name) for name in ("created", "limit") if name in given}
    asked = {"protocol": "paper", "attempts": 1, "encoder": "csc-unipd/lilybert", "pooling": "first_token"} | given
    asked |= {"regime": regime, "dataset": "/data/made"}
    identity = None if asked["encoder"] is None else f"{asked['encoder']}@0f1e, layer 6"
    about = {**asked, "is_lilybench": is_lilybench, "encoder": identity}
    return made_log(
        "lilybench",
        "generation",
        *scores,
        samples=200,
        label=label,
        asked=asked,
        about=about,
        sampling=sampling,
        **of_log,
    )


def papers(js: float = 70.0, fmd: float = 1.0) -> EvalScore:
    return written(together(*(against(reference, js, fmd) for reference in PAPER)))


def generated(**asked: Any) -> EvalLog:
    scores = written(together(*(against(reference) for reference in MUSIC21)))
    return header(scores, label="generated-seed1234", is_lilybench=False, protocol="strict", **asked)


def rows(table: Table, model: str = "some/model") -> list[dict[str, Cell]]:
    found = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return [row for row in found if row["Model"] == model]


def test_table2_has_measured_rows_below_the_papers_in_each_regime() -> None:
    logs = header(papers(), regime="few"), header(papers(), regime="ablation", protocol="strict")
    table = tables(*logs)["lilybench_table2"]
    assert [(row[0], row[2]) for row in table.rows] == [
        *[("Zero-shot", "paper")] * 4,
        *[("Few-shot", "paper")] * 4,
        ("Few-shot", "measured"),
        *[("Ablation", "paper")] * 4,
        ("Ablation", "measured †"),
    ]
    few, ablation = rows(table)
    assert [str(cell) for cell in few.values()] == [
        "Few-shot", "some/model", "measured", "paper protocol, data bmdataset-1a2b", "60.0 (53.0–67.0)",
        "70.00 (68.00–73.00)", "70.00 (68.00–73.00)", "1.000 (0.900–1.200)", "1.000 (0.900–1.200)",
    ]  # fmt: skip
    assert ablation["Condition"] == "strict protocol, data bmdataset-1a2b"
    assert any(note.startswith("† Not the paper's procedure") for note in table.notes)
    codestral = rows(table, "Codestral-22B")[2]
    assert [str(cell) for cell in list(codestral.values())[4:]] == ["97.1", "89.44", "76.95", "1.754", "2.535"]


def test_other_references_have_a_table_and_a_figure_of_their_own() -> None:
    found = reports(generated())
    names = [table.name for table in found.tables]
    assert names == ["lilybench_table2", "lilybench_generation_1", "lilybench_descriptors", "lilybench_novelty"]
    paper, other = found.tables[:2]
    assert not rows(paper), "no run was judged against the paper's references"
    assert other.title == "LilyBench generation against music21-test and music21-other"
    assert other.columns[5:] == (
        "JS (music21-test)",
        "JS (music21-other)",
        "FMD (music21-test)",
        "FMD (music21-other)",
    )
    (row,) = other.rows
    assert row[2:4] == ["measured †", "strict protocol, data generated-seed1234"]
    assert any("not the paper's" in note for note in other.notes)
    assert list(found.figures) == ["lilybench_table2", "lilybench_generation_1"]
    assert "some/model" not in found.figures["lilybench_table2"]
    assert "Codestral" not in found.figures["lilybench_generation_1"]
    assert "against music21-other" in found.figures["lilybench_generation_1"]


def test_the_figure_has_published_and_measured_cells() -> None:
    drawn = reports(header(papers(), regime="few")).figures["lilybench_table2"]
    assert "Paper: P Phi-4, Q Qwen2.5-Coder-14B, D DeepSeek-Coder-V2-Lite, C Codestral-22B" in drawn
    assert "1: some/model (measured; paper protocol, data bmdataset-1a2b)" in drawn
    assert drawn.count(">C</text>") == 6, "three regimes against two references"
    assert drawn.count(">1</text>") == 2
    assert "measured †" not in drawn


def test_an_undefined_figure_is_shown_with_its_reason() -> None:
    why = "groove consistency: 1 value among 200 pieces; at least 2 are needed"
    similarity = dict.fromkeys(against("mutopia")["similarity_figures"], nan)
    similarity |= {"mutopia/js_polyphony_rate": 41.5, f"mutopia/js undefined: {why}": nan}
    frechet = {"mutopia/fmd": 2.5, "mutopia/fmd note: 200 pieces for 768 dimensions": nan, "mutopia/fmd_infinity": nan}
    found = reports(header(written({"similarity_figures": similarity, "frechet_figures": frechet})))
    (row,) = rows(found.tables[0])
    assert [str(row[name]) for name in ("JS (test)", "JS (Mut.)", "FMD (test)", "FMD (Mut.)")] == [
        "None", "undefined[1]", "None", "2.500[2]",
    ]  # fmt: skip
    assert {f"[1] {why}", "[2] 200 pieces for 768 dimensions"} <= set(found.tables[0].notes)
    assert any("A dash: not judged against this reference." in note for note in found.tables[0].notes)
    assert "some/model" not in found.figures["lilybench_table2"], "a point has two coordinates"
    (moved,) = rows(found.tables[1])
    assert str(moved["JS polyphony rate"]) == "41.50"
    assert str(moved["Shift of polyphony rate"]) == "undefined[1]"
    assert str(moved["FMD∞"]) == "undefined[2]"
    assert list(found.tables[1].notes[2:4]) == [f"[1] {why}", "[2] the log gives no reason"]


def test_without_an_encoder_there_is_no_fmd_and_the_note_says_why() -> None:
    only_js = {"similarity_figures": against("music21-test")["similarity_figures"]}
    only_js |= {"frechet_figures": {"music21-test/fmd undefined: no encoder was named": nan}}
    found = reports(header(written(only_js), encoder=None, label="generated-seed1234", is_lilybench=False))
    table = found.tables[1]
    cell = rows(table)[0]["FMD (music21-test)"]
    assert isinstance(cell, Figure)
    assert isnan(cell.value)
    assert f"{cell.mark} no encoder was named" in table.notes
    assert list(found.figures) == ["lilybench_table2"], "a point has two coordinates"


def test_repairs_stand_by_attempt() -> None:
    three = written({"compile_figures": {"attempt_1": 0.5, "attempt_2": 0.55, "attempt_3": 0.6}})
    two = written({"compile_figures": {"attempt_1": 0.4, "attempt_2": 0.6}})
    found = tables(header(three, attempts=3), header(two, attempts=2), header(papers()))
    table = found["lilybench_repairs"]
    assert sorted([str(cell) for cell in row[4:]] for row in table.rows) == [
        ["200", "40.0", "60.0", "None"],
        ["200", "50.0", "55.0", "60.0"],
    ]
    assert "lilybench_repairs" not in tables(header(papers()))
    main = rows(found["lilybench_table2"])
    assert len(main) == 3, "runs without any reference have their compile rates in the paper's table"
    assert {row["Condition"] for row in main if row["Source"] == "measured †"} == {
        "paper protocol, data bmdataset-1a2b, 2 attempts",
        "paper protocol, data bmdataset-1a2b, 3 attempts",
    }


def test_near_copies_stand_by_what_was_copied() -> None:
    table = tables(header(papers()))["lilybench_novelty"]
    assert [[str(cell) for cell in row[4:]] for row in table.rows] == [
        ["200", "any", "5.0 (2.0–9.0)"],
        ["200", "demonstrations", "1.0"],
    ]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"sampling": GenerateConfig(temperature=1.0, top_p=0.9)},
            "paper protocol, data bmdataset-1a2b, temperature=1.0",
        ),
        ({"encoder": "a/b"}, "paper protocol, data bmdataset-1a2b, encoder a/b@0f1e, layer 6"),
        ({"pooling": "mean"}, "paper protocol, data bmdataset-1a2b, pooling mean"),
        ({"limit": 10}, "paper protocol, data bmdataset-1a2b, not all prompts"),
        ({"prompts": "mine.toml"}, "paper protocol, data bmdataset-1a2b, prompts=mine.toml"),
    ],
)
def test_whatever_differs_from_the_paper_is_said_and_marked(changed: dict[str, Any], said: str) -> None:
    (row,) = rows(tables(header(papers(), **changed))["lilybench_table2"])
    assert (row["Source"], row["Condition"]) == ("measured †", said)


def test_the_last_scores_of_a_log_count() -> None:
    again = written(
        against("mutopia", js=12.0),
        name="written_music1",
        encoder="a/b",
        protocol="strict",
        dataset="/data/other",
        reference="mutopia",
    )
    (run,) = runs(header(papers(), again))
    assert run.facts["references"] == ("mutopia",)
    assert run.value("similarity_figures/mutopia/js") == 12.0
    assert run.condition == (
        "paper protocol, data bmdataset-1a2b, encoder a/b, judged by the strict protocol, references of /data/other"
    )
    both = runs(header(papers()), header(papers(), again))
    assert len(both) == 2, "another judgement does not replace the first"
