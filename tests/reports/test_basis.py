"""What the numbers rest on: read back from headers as Inspect would write them."""

from typing import Any

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalResults, EvalRevision, EvalSpec, EvalStats
from inspect_ai.model import GenerateConfig, ModelConfig, ModelUsage

from music_evals.reports.basis import basis_report, distinctions, newest
from music_evals.reports.tables import Figure, Table
from tests.reports.made import score

DATA = {
    "benchmark": "muse",
    "dataset": "/home/somebody/data/muse",
    "dataset_label": "generated-seed1",
    "dataset_source": "generated",
    "dataset_builder_version": "1.2.0",
    "music_evals_version": "0.9.1",
    "dataset_seed": 1,
    "dataset_licence": "mit",
}


def header(
    number: int = 1,
    *,
    day: int = 1,
    metadata: dict[str, Any] | None = None,
    results: EvalResults | None = None,
    stats: EvalStats | None = None,
    **of_spec: Any,
) -> EvalLog:
    spec = {
        "created": f"2026-01-{day:02}T10:30:00+00:00",
        "task": "muse_syncopation",
        "task_version": "1.0.0",
        "model": "openai/some-model",
        "dataset": EvalDataset(samples=20),
        "config": EvalConfig(epochs=1),
        "packages": {"inspect_ai": "0.3.285"},
        "metadata": DATA if metadata is None else metadata,
        **of_spec,
    }
    log = EvalLog(eval=EvalSpec(**spec), status="success", results=results, stats=stats or EvalStats())
    log.location = f"file:///home/somebody/logs/run-{number}.eval"
    return log


def tables(*headers: EvalLog, passed_over: tuple[tuple[str, str], ...] = ()) -> dict[str, Table]:
    return {table.name: table for table in basis_report(headers, passed_over).tables}


def rows(table: Table) -> list[dict[str, Any]]:
    values = [[cell.value if isinstance(cell, Figure) else cell for cell in row] for row in table.rows]
    return [dict(zip(table.columns, row, strict=True)) for row in values]


def test_a_run_is_told_with_its_samples_tokens_and_time() -> None:
    asked = {"modality": "audio", "dataset": "/home/somebody/data/muse", "prompts": "/home/me/mine.toml"}
    scores = [score("final_answer", {}, 12, 3), score("answered", {}, 15)]
    usage = {
        "openai/some-model": ModelUsage(
            input_tokens=100, input_tokens_cache_read=40, output_tokens=70, reasoning_tokens=50
        ),
        "judge/one": ModelUsage(input_tokens=30, output_tokens=2),
        "judge/two": ModelUsage(input_tokens=30, output_tokens=3),
    }
    begun, ended = "2026-01-01T10:30:10+00:00", "2026-01-01T10:32:15+00:00"
    log = header(
        config=EvalConfig(epochs=2, limit=8),
        task_args_passed=asked,
        results=EvalResults(total_samples=16, completed_samples=15, scores=scores),
        stats=EvalStats(started_at=begun, completed_at=ended, model_usage=usage),
    )
    assert rows(tables(log)["basis_runs"]) == [
        {
            **{"Run": "1", "Task": "muse_syncopation", "Arguments": "modality=audio, prompts=…"},
            **{"Model": "openai/some-model", "Begun": "2026-01-01 10:30", "Status": "success"},
            **{"In dataset": 20, "Only": "first 8", "Epochs": 2},
            **{"Asked": 16, "Completed": 15, "Failed": 1, "Unscored": 3},
            **{"Input tokens": 140, "Output tokens": 70, "Reasoning tokens": 50, "Other models' tokens": 65},
            **{"Seconds": 125, "Log": "run-1.eval"},
        }
    ]


def test_a_run_that_failed_has_no_numbers_rather_than_zeros() -> None:
    failed = header(2, day=2).model_copy(update={"status": "error"})
    good = header(1, day=1, results=EvalResults(total_samples=20, completed_samples=20))
    assert tables(failed, good) == tables(good, failed), "in the order of their days"
    first, second = rows(tables(failed, good)["basis_runs"])
    assert (first["Log"], first["Status"], first["Asked"], first["Failed"]) == ("run-1.eval", "success", 20, 0)
    assert (second["Status"], second["Asked"], second["Failed"]) == ("error", None, None)
    assert "Seconds" not in first, "no run has any"


def test_a_subset_says_which() -> None:
    limits: list[Any] = [{"limit": (4, 10)}, {"sample_id": ["a", "b"]}, {"sample_id": "a"}]
    logs = [header(day, day=day, config=EvalConfig(**only)) for day, only in enumerate(limits, start=1)]
    assert [row["Only"] for row in rows(tables(*logs)["basis_runs"])] == ["5–10", "2 named", "1 named"]
    assert distinctions([*logs, header(4)])[1] == "Only some of the samples were asked in 3 of 4 runs."


def test_what_runs_share_is_told_once_with_their_numbers() -> None:
    real = {"benchmark": "muse", "dataset_label": "recordings", "dataset_source": "recordings",
            "dataset_revision": "0123456789abcdef0123456789abcdef01234567", "dataset_licence": "other"}  # fmt: skip
    order = (DATA, DATA, real, DATA, real)
    logs = [header(number, day=number, metadata=about) for number, about in enumerate(order, start=1)]
    generated, recorded = rows(tables(*reversed(logs))["basis_data"])
    assert (generated["Dataset"], generated["Seed"], generated["Builder"]) == ("generated-seed1", "1", "1.2.0")
    assert generated["Runs"] == "1–2, 4"
    assert (recorded["Revision on the Hub"], recorded["Seed"], recorded["Runs"]) == ("0123456789ab", None, "3, 5")
    assert distinctions(logs) == ["Generated data, not the paper's: generated-seed1."]
    assert newest(logs).day == 5


def test_settings_are_told_and_secrets_and_paths_are_not() -> None:
    generation = GenerateConfig(temperature=0.0, max_tokens=512, seed=7, max_connections=20)
    secret = {"system_message": "You know hunter5.", "extra_headers": {"authorization": "hunter6"}}
    log = header(
        model_base_url="https://user:hunter2@models.example:8000/v1?key=hunter3",
        model_args={
            "api_key": "hunter4",
            "password": 1234,
            "dtype": "bfloat16",
            "max_model_len": 4096,
            "template": "/home/me/t.jinja",
        },
        model_generate_config=generation.model_copy(update=secret),
        config=EvalConfig(sample_shuffle=3, token_limit=1000),
        model_roles={"judge": [ModelConfig(model="judge/one"), ModelConfig(model="judge/two")]},
    )
    found = tables(log, passed_over=(("file:///home/me/logs/bad.eval", "no such file: '/home/me/logs/bad.eval'"),))
    assert rows(found["basis_passed_over"]) == [{"Log": "bad.eval", "Why": "no such file: 'bad.eval'"}]
    assert rows(found["basis_settings"]) == [
        {
            "Model": "openai/some-model",
            "Served at": "models.example",
            "Provider": "api_key=…, dtype=bfloat16, max_model_len=4096, password=…, template=…",
            "Generation": "extra_headers=…, max_tokens=512, seed=7, system_message=…, temperature=0.0",
            "Order of samples": "shuffled, seed 3",
            "Limits of a sample": "token=1000",
            "Other roles": "judge: judge/one and judge/two",
            "Runs": "1",
        }
    ]
    everything = "".join(table.to_csv() for table in found.values())
    assert "hunter" not in everything
    assert "/home" not in everything


def test_the_order_of_samples_is_told() -> None:
    for shuffled, shuffle, arguments, order in (
        (False, None, {"seed": 5}, "as in the dataset"),
        (True, None, {"seed": 0}, "shuffled, seed 0"),
        (True, None, {}, "shuffled"),
        (False, True, {"seed": 5}, "shuffled"),
        (True, 3, {"seed": 5}, "shuffled, seed 3"),
    ):
        dataset, config = EvalDataset(samples=20, shuffled=shuffled), EvalConfig(sample_shuffle=shuffle)
        log = header(dataset=dataset, config=config, task_args=arguments)
        assert rows(tables(log)["basis_settings"])[0]["Order of samples"] == order


def test_software_is_told_with_the_commit_and_whether_it_was_changed() -> None:
    committed = EvalRevision(type="git", origin="https://user:hunter2@git.example/x", commit="b8a1c4d", dirty=True)
    old, new = header(1), header(2, packages={"inspect_ai": "0.3.285", "vllm": "0.10.1"}, revision=committed)
    columns = ("vllm", "Git commit", "Runs")
    told = [[row[name] for name in columns] for row in rows(tables(old, new)["basis_software"])]
    assert told == [[None, None, "1"], ["0.10.1", "b8a1c4d, modified", "2"]]
