"""LilyBench's generation: runs made up so that every cell is known, below the paper's figures."""

from math import nan
from typing import Any

import pytest
from inspect_ai.log import EvalLog, EvalScore
from inspect_ai.model import GenerateConfig

from music_evals.reports.special.lilybench import PAPER
from tests.reports.made import made_log, reports, rows, runs, score, tables

PAPERS_SAMPLING = GenerateConfig(temperature=0.7, top_p=0.9, max_tokens=3000)
DATA = "paper protocol, data bmdataset-1a2b"


def against(reference: str, js: float = 70.0, fmd: float = 1.0) -> dict[str, dict[str, float]]:
    """Figures against a reference, with intervals that are easily recognised."""
    similarity = {"js": js, "js_low": js - 2, "js_high": js + 3}
    similarity |= {"js_polyphony_rate": 60.0, "js_groove_consistency": 80.0, "js_scale_consistency": 75.5}
    similarity |= {"shift_polyphony_rate": -1.25, "shift_groove_consistency": 0.5, "shift_scale_consistency": 0.0}
    frechet = {"fmd": fmd, "fmd_low": fmd - 0.1, "fmd_high": fmd + 0.2, "fmd_infinity": fmd - 0.3, "fmd_texts": 199.0}
    return {
        "similarity_figures": {f"{reference}/{name}": value for name, value in similarity.items()},
        "frechet_figures": {f"{reference}/{name}": value for name, value in frechet.items()},
    }


def together(*parts: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    groups = dict.fromkeys(group for part in parts for group in part)
    return {group: {name: value for part in parts for name, value in part.get(group, {}).items()} for group in groups}


def written(
    metrics: dict[str, dict[str, float]], name: str = "written_music", pieces: int = 200, **params: Any
) -> EvalScore:
    compiled = {"compile_rate": 0.6, "compile_rate_low": 0.53, "compile_rate_high": 0.67, "pieces": float(pieces)}
    compiled |= {"compile_rate_with_notes": 0.5}
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
    of_log = {name: given.pop(name) for name in ("created", "limit", "samples") if name in given}
    asked = {"protocol": "paper", "attempts": 1, "encoder": "csc-unipd/lilybert", "pooling": "first_token"} | given
    asked |= {"regime": regime, "dataset": "/data/made"}
    identity = None if asked["encoder"] is None else f"{asked['encoder']}@0f1e, layer 6"
    about = {**asked, "is_lilybench": is_lilybench, "encoder": identity}
    of_log = {"samples": 200, "label": label, "asked": asked, "about": about, "sampling": sampling} | of_log
    return made_log("lilybench", "generation", *scores, **of_log)


def papers(js: float = 70.0, fmd: float = 1.0, pieces: int = 200) -> EvalScore:
    return written(together(*(against(reference, js, fmd) for reference in PAPER)), pieces=pieces)


def test_table2_has_measured_rows_below_the_papers_in_each_regime() -> None:
    logs = header(papers(pieces=1000), regime="few"), header(papers(), regime="ablation", protocol="strict")
    table = tables(*logs)["lilybench_table2"]
    regimes = {"Zero-shot": [], "Few-shot": ["measured"], "Ablation": ["measured †"]}
    assert [(row[0], row[2]) for row in table.rows] == [
        (regime, source) for regime, measured in regimes.items() for source in ["paper"] * 4 + measured
    ]
    few, ablation = rows(table, Model="some/model")
    assert [str(cell) for cell in few.values()] == [
        "Few-shot", "some/model", "measured", DATA, "1000 pieces", "60.0 (53.0–67.0)", "50.0",
        "70.00 (68.00–73.00)", "70.00 (68.00–73.00)", "1.000 (0.900–1.200)", "1.000 (0.900–1.200)", "0.700", "0.700",
    ]  # fmt: skip
    assert ablation["Condition"] == "strict protocol, data bmdataset-1a2b"
    assert any(note.startswith("† Not the paper's procedure") for note in table.notes)
    codestral = rows(table, Model="Codestral-22B")[2]
    printed = [str(cell) for cell in list(codestral.values())[4:]]
    assert printed == ["1000 pieces", "97.1", "None", "89.44", "76.95", "1.754", "2.535", "None", "None"]


def test_a_distance_stands_beside_the_papers_for_as_many_pieces_alone() -> None:
    found = tables(header(papers()), header(papers(fmd=2.0, pieces=1000), regime="few"))
    few, many = rows(found["lilybench_table2"], Model="some/model")
    cells = ("Of", "FMD (test)", "FMD∞ (test)")
    assert [str(few[cell]) for cell in cells] == ["200 pieces", "None", "0.700"]
    assert [str(many[cell]) for cell in cells] == ["1000 pieces", "2.000 (1.900–2.200)", "1.700"]
    (moved, *_) = rows(found["lilybench_descriptors"])
    assert [str(moved[cell]) for cell in ("Texts", "FMD", "FMD∞")] == ["199", "1.000 (0.900–1.200)", "0.700"]
    deepseek = rows(found["lilybench_table2"], Model="DeepSeek-Coder-V2-Lite")
    assert {row["Of"] for row in deepseek} == {"1000, 693 or 666 pieces"}


def test_other_references_have_a_table_and_a_figure_of_their_own() -> None:
    scores = written(together(against("music21-test"), against("music21-other")))
    found = reports(header(scores, label="generated-seed1234", is_lilybench=False, protocol="strict"))
    paper, other = found.tables[:2]
    assert not rows(paper, Model="some/model"), "no run was judged against the paper's references"
    against_each = [f"{figure} (music21-{part})" for figure in ("JS", "FMD") for part in ("test", "other")]
    assert list(other.columns[5:]) == against_each
    assert other.rows[0][2:4] == ["measured †", "strict protocol, data generated-seed1234"]
    assert list(found.figures) == ["lilybench_table2", "lilybench_generation_1"]
    assert "some/model" not in found.figures["lilybench_table2"]
    assert "Codestral" not in found.figures["lilybench_generation_1"]


def test_the_figure_has_published_and_measured_cells() -> None:
    drawn = reports(header(papers(pieces=1000), regime="few")).figures["lilybench_table2"]
    assert f"1: some/model (measured; {DATA})" in drawn
    assert drawn.count(">C</text>") == 6, "three regimes against two references"
    assert drawn.count(">1</text>") == 2


def test_an_undefined_figure_is_shown_with_its_reason() -> None:
    why = "groove consistency: 1 value among 200 pieces; at least 2 are needed"
    similarity = dict.fromkeys(against("mutopia")["similarity_figures"], nan)
    similarity |= {"mutopia/js_polyphony_rate": 41.5, f"mutopia/js undefined: {why}": nan}
    frechet = {"mutopia/fmd": 2.5, "mutopia/fmd note: 200 pieces for 768 dimensions": nan, "mutopia/fmd_infinity": nan}
    scores = written({"similarity_figures": similarity, "frechet_figures": frechet}, pieces=1000)
    found = reports(header(scores))
    (row,) = rows(found.tables[0], Model="some/model")
    cells = [str(cell) for cell in list(row.values())[7:]]
    assert cells == ["None", "undefined[1]", "None", "2.500[2]", "None", "undefined[3]"]
    assert {f"[1] {why}", "[2] 200 pieces for 768 dimensions"} <= set(found.tables[0].notes)
    assert any("A dash: not judged against this reference." in note for note in found.tables[0].notes)
    assert "some/model" not in found.figures["lilybench_table2"], "a point has two coordinates"
    (moved,) = rows(found.tables[1])
    assert str(moved["JS polyphony rate"]) == "41.50"
    assert str(moved["Shift of polyphony rate"]) == "undefined[1]"
    assert str(moved["FMD∞"]) == "undefined[3]"
    assert list(found.tables[1].notes[2:5]) == [
        f"[1] {why}",
        "[2] 200 pieces for 768 dimensions",
        "[3] the log gives no reason",
    ]


def test_runs_with_repairs_are_no_runs_of_the_papers() -> None:
    three = written({"compile_figures": {"attempt_1": 0.5, "attempt_2": 0.55, "attempt_3": 0.6}})
    two = written({"compile_figures": {"attempt_1": 0.4, "attempt_2": 0.6}})
    found = tables(header(three, attempts=3), header(two, attempts=2), header(papers()))
    attempts = {tuple(str(row[f"After {number}"]) for number in (1, 2, 3)) for row in rows(found["lilybench_repairs"])}
    assert attempts == {("40.0", "60.0", "None"), ("50.0", "55.0", "60.0")}
    main = rows(found["lilybench_table2"], Source="measured †")
    assert {row["Condition"] for row in main} == {f"{DATA}, {number} attempts" for number in (2, 3)}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"sampling": GenerateConfig(temperature=1.0, top_p=0.9)}, "temperature=1.0"),
        ({"encoder": "a/b"}, "encoder a/b@0f1e, layer 6"),
        ({"pooling": "mean"}, "pooling mean"),
        ({"limit": 10}, "not all prompts"),
        ({"prompts": "mine.toml"}, "prompts=mine.toml"),
        ({"samples": 6}, "6 prompts"),
    ],
)
def test_whatever_differs_from_the_paper_is_said_and_marked(changed: dict[str, Any], said: str) -> None:
    (run,) = runs(header(papers(), **changed))
    assert (run.source, run.condition) == ("measured †", f"{DATA}, {said}")


def test_the_last_scores_of_a_log_count() -> None:
    judged = {"encoder": "a/b", "protocol": "strict", "dataset": "/data/other", "reference": "mutopia"}
    again = written(against("mutopia", js=12.0), name="written_music1", **judged)
    (run,) = runs(header(papers(), again))
    assert run.facts["references"] == ("mutopia",)
    assert run.value("similarity_figures/mutopia/js") == 12.0
    assert run.condition == f"{DATA}, encoder a/b, judged by the strict protocol, references of /data/other"
    both = runs(header(papers()), header(papers(), again))
    assert len(both) == 2, "another judgement does not replace the first"
