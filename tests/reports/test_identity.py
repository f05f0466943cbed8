"""What tells runs apart: each kind of setting, in headings, in the choice of the latest run, and in comparisons."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalConfig, EvalLog, EvalPlan
from inspect_ai.model import GenerateConfig, ModelConfig

from music_evals.reports.tables import Figure, Table
from tests.reports.made import runs, tables
from tests.reports.test_comparisons import AUDIO, MIDI, comparison_report, log, rows
from tests.reports.test_muse import Cell, header

MODEL, TOLD = "some/model", "data recordings"
OWN: dict[str, Any] = {"temperature": 0.0, "max_tokens": 100}
CELL = Cell("syncopation", "midi", "zero", "standalone")

# Fields of the log → how the model or the condition is told.
SETTINGS: list[tuple[dict[str, Any], str, str]] = [
    ({"model_args": {"error_rate": 0.5}}, " [error_rate=0.5]", ""),
    ({"model_args": {"lora_path": "/home/me/lora"}}, " [lora_path=…]", ""),
    ({"model_base_url": "http://me:hunter2@node:8001/v1?key=hunter3"}, " [served at=node:8001]", ""),
    ({"model_generate_config": GenerateConfig(temperature=0.7)}, "", ", temperature=0.7"),
    ({"model_generate_config": GenerateConfig(top_p=0.9)}, "", ", top_p=0.9"),
    ({"model_generate_config": GenerateConfig(seed=7)}, "", ", sampling seed=7"),
    ({"model_generate_config": GenerateConfig(max_tokens=50)}, "", ", max_tokens=50"),
    ({"model_generate_config": GenerateConfig(reasoning_effort="low")}, "", ", reasoning_effort=low"),
    ({"model_generate_config": GenerateConfig(system_message="I am hunter2.")}, "", ", system_message=…"),
    ({"config": EvalConfig(epochs=3, epochs_reducer=["max"])}, "", ", epochs=3 (max)"),
    ({"config": EvalConfig(token_limit=900)}, "", ", token_limit=900"),
    ({"model_roles": {"judge": ModelConfig(model="judge/one")}}, "", ", judge=judge/one"),
    ({"solver": "other/solver", "solver_args": {"tries": 2}}, "", ", solver=other/solver"),
    ({"task_version": "1.1.0"}, "", ", task version=1.1.0"),
]
DATA = {
    "dataset_revision": ("0123456789abcdef0123456789abcdef01234567", "revision=0123456789ab"),
    "dataset_source_revision": ("v2", "source revision=v2"),
    "dataset_builder_version": ("1.0.1", "builder=1.0.1"),
    "dataset_seed": (2, "seed of the data=2"),
}
NAMES = [(model or condition).strip(" ,[").split("=")[0] for _, model, condition in SETTINGS]


def effects(*logs: EvalLog) -> Table:
    return next(table for table in comparison_report(logs).tables if table.name == "tests_effects_muse")


def changed(before: EvalLog, about: dict[str, Any] | None = None, **fields: Any) -> EvalLog:
    fields = {
        "task_version": "1.0.0",
        **fields,
        "metadata": {**(before.eval.metadata or {}), "generation": OWN, **(about or {})},
    }
    return before.model_copy(update={"eval": before.eval.model_copy(update=fields)})


@pytest.mark.parametrize(("fields", "model", "condition"), SETTINGS, ids=NAMES)
def test_unlike_runs_are_columns_of_their_own(fields: dict[str, Any], model: str, condition: str) -> None:
    logs = [changed(header(CELL, 4)), changed(header(CELL, 9), **fields)]
    first, second = sorted(runs(*logs), key=lambda run: run.value() or 0)
    told = "" if "task_version" not in fields else ", task version=1.0.0"
    assert (first.model, first.condition) == (MODEL, TOLD + told)
    assert (second.model, second.condition.replace(", not all trials", "")) == (MODEL + model, TOLD + condition)
    assert not first.earlier + second.earlier


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> list[EvalLog]:
    """Four trials, all wrong when heard and right when read."""
    folder, of_muse = tmp_path_factory.mktemp("logs"), {"benchmark": "muse", "config": "syncopation"}
    return [log(folder, pattern, asked=asked, **of_muse) for pattern, asked in (("IIII", AUDIO), ("CCCC", MIDI))]


@pytest.mark.parametrize("fields", [fields for fields, *_ in SETTINGS], ids=NAMES)
def test_no_effect_is_told_of_runs_that_differ_in_something_else(fields: dict[str, Any], pair: list[EvalLog]) -> None:
    assert effects(changed(pair[0]), changed(pair[1])).rows
    table = effects(changed(pair[0]), changed(pair[1], **fields))
    assert not table.rows
    (note,) = [note for note in table.notes if note.startswith("Not compared, because they differ also in ")]
    assert note.endswith(": 1 pair of runs of some/model.")
    assert "hunter" not in note


def test_nor_in_the_table_of_the_papers_effects() -> None:
    heard = header(CELL._replace(modality="audio"), 9)
    for fields, known in (({}, 1), ({"model_args": {"error_rate": 0.5}}, 0)):
        (*_, row) = tables(changed(header(CELL, 4)), changed(heard, **fields))["muse_effects"].rows
        assert sum(isinstance(cell, Figure) for cell in row) == known


@pytest.mark.parametrize("name", DATA)
def test_other_data_of_the_same_label_is_told_and_not_paired(name: str, tmp_path: Path) -> None:
    value, words = DATA[name]
    found = runs(changed(header(CELL, 4)), changed(header(CELL, 9), {name: value}))
    assert sorted(run.condition for run in found) == [TOLD, f"{TOLD}, {words}"]
    logs = [changed(log(tmp_path, "CCCC", "a/first")), changed(log(tmp_path, "IIII", "b/second"), {name: value})]
    report = comparison_report(logs)
    assert not [table for table in report.tables if table.name.startswith("tests_")]
    assert [row["Data"] for row in rows(report, "costs")] == ["generated-seed1", f"generated-seed1, {words}"]


def test_what_changes_no_answer_and_what_is_as_the_task_has_it_tells_no_runs_apart() -> None:
    same = GenerateConfig(temperature=0.0, max_tokens=100, max_connections=3, max_retries=2, timeout=5, cache=True)
    logs = [changed(header(CELL, 4)), changed(header(CELL, 4), model_generate_config=same)]
    (run,) = runs(*logs)
    assert (run.heading(), run.earlier) == ("some/model (data recordings)", 1)


def test_what_a_file_of_prompts_held_tells_runs_apart_where_they_name_the_same_file() -> None:
    checksums = "0123456789abcdef" * 4, "123456789abcdef0" * 4
    logs = [changed(header(CELL, 4, prompts="p.toml"), {"prompts_sha256": checksum}) for checksum in checksums]
    plain, *found = sorted(run.condition for run in runs(changed(header(CELL, 4)), *logs))
    assert plain == TOLD
    assert found == [f"{TOLD}, prompts=p.toml, checksum of prompts={checksum[:12]}" for checksum in checksums]
    assert runs(logs[0])[0].condition == f"{TOLD}, prompts=p.toml"


def test_settings_of_the_run_count_as_those_of_the_model_does_where_the_task_tells_its_own() -> None:
    own, other = (EvalPlan(config=GenerateConfig(**OWN, top_k=top_k)) for top_k in (None, 20))
    logs = [header(CELL, 4).model_copy(update={"plan": plan}) for plan in (own, other)]
    assert sorted(run.condition for run in runs(*map(changed, logs))) == [TOLD, f"{TOLD}, top_k=20"]
    (run,) = runs(*logs)
    assert run.condition == TOLD, "a log from before tasks told their own does not say whose top_k is"


def test_values_that_are_not_shown_are_numbered() -> None:
    logs = [changed(header(CELL, 4), model_args={"token": f"hunter{number}"}) for number in (5, 6, 6)]
    assert sorted((run.model, run.earlier) for run in runs(*logs)) == [
        ("some/model [token=… (1)]", 0),
        ("some/model [token=… (2)]", 1),
    ]


def test_effects_of_unlike_runs_stand_in_rows_of_their_own(tmp_path: Path) -> None:
    logs = []
    for fields, heard in (
        ({}, "IIII"),
        ({"model_generate_config": GenerateConfig(temperature=0.7)}, "ICCC"),
        ({"model_args": {"dtype": "half"}}, "CCCC"),
    ):
        for asked, pattern in ((AUDIO, heard), (MIDI, "CCCC")):
            logs.append(changed(log(tmp_path, pattern, asked=asked, benchmark="muse", config="chords"), **fields))
    report = comparison_report(logs)
    found = {
        (row["Model"], row["Else"]): row["First"].value
        for row in rows(report, "tests_effects_muse")
        if row["Task"] == "chords"
    }
    assert found == {
        ("all models", None): 50,
        ("some/model", None): 0,
        ("some/model", "temperature 0.7"): 75,
        ("some/model [dtype=half]", None): 100,
    }
    assert "Not compared" not in "".join(
        note for table in report.tables for note in table.notes if table.name.startswith("tests_effects")
    )


def test_models_at_other_settings_are_not_paired_and_one_with_other_arguments_is_another_model(tmp_path: Path) -> None:
    logs = [changed(log(tmp_path, "CCCC", "a/first")), changed(log(tmp_path, "IIII", "b/second"))]
    warm = [logs[0], changed(logs[1], model_generate_config=GenerateConfig(temperature=0.7))]
    (table,) = [one for one in comparison_report(warm).tables if one.name == "tests_models_ziqi"]
    assert not table.rows
    assert "differ also in temperature (default and 0.7): 1 pair of runs of a/first, b/second." in table.notes[-1]
    half = changed(log(tmp_path, "IIII", "a/first"), model_args={"dtype": "half"})
    found = rows(comparison_report([*logs, half]), "tests_models_ziqi")
    assert [(row["First model"], row["Second model"]) for row in found] == [
        ("a/first", "a/first [dtype=half]"),
        ("a/first", "b/second"),
        ("a/first [dtype=half]", "b/second"),
    ]
