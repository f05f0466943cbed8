"""Logs on disk as the tasks write them, with the scores that a test wants."""

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalPlan,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    write_eval_log,
)
from inspect_ai.model import GenerateConfig, ModelUsage
from inspect_ai.scorer import Score

from music_evals.benchmarks import load

CHANCE = {"": {"chance": {"value": 0.25}}}


def write_log(
    folder,
    values,
    *,
    benchmark="ziqi",
    task="comprehension",
    model="vllm/org/model",
    params=None,
    about=None,
    samples=(),
    scores=(),
    answers=(),
    day=1,
    limit=None,
    epochs=1,
    in_dataset=None,
    settings=None,
    status="success",
    fields=None,
    metrics=None,
    stats=None,
):
    """Write a log.

    Args:
        folder: where.
        values: of the samples ``q0``, ``q1``…; ``"CI"`` for a right and a wrong one. In several
            epochs they follow one another.
        benchmark, task, model: what ran.
        params: parameters that are not as by default.
        about: more metadata of the log.
        samples: metadata of each sample.
        scores: metadata of each score.
        answers: of each score.
        day: of January 2026, when it ran.
        limit: of the run.
        epochs: of the run.
        in_dataset: number of samples of the dataset; by default all were asked.
        settings: of generation.
        status: of the run.
        fields: further fields of the header.
        metrics: further metrics of the scorer.
        stats: when the run began and ended.
    """
    metric = load(benchmark).tasks[task].metric
    scorer, _, name = metric.partition("/")
    number = len(values) // epochs
    made = [
        EvalSample(
            id=f"q{place % number}",
            epoch=place // number + 1,
            input="?",
            target=f"right of {benchmark}'s q{place % number}",
            metadata=dict(samples[place % number]) if samples else {},
            scores={
                scorer: Score(
                    value=value,
                    answer=answers[place] if answers else "A",
                    metadata={"reading": "answered", **(scores[place] if scores else {})},
                )
            },
            model_usage={
                model: ModelUsage(output_tokens=10 * (place + 1)),
                "judge": ModelUsage(output_tokens=999),
            },
            working_time=float(place + 1),
        )
        for place, value in enumerate(values)
    ]
    metadata = {
        "benchmark": benchmark,
        "config": task,
        "condition": dict(params or {}),
        "main_metric": metric,
        "dataset_label": "generated-seed1",
        "dataset_source": "generated",
        "floors": CHANCE,
        **(about or {}),
    }
    log = EvalLog(
        status=status,
        eval=EvalSpec(
            created=f"2026-01-{day:02}T10:00:00+00:00",
            task=f"{benchmark}_{task}",
            model=model,
            dataset=EvalDataset(samples=in_dataset or number),
            config=EvalConfig(limit=limit, epochs=epochs),
            task_args=dict(params or {}),
            task_args_passed=dict(params or {}),
            metadata=metadata,
            **(fields or {}),
        ),
        plan=EvalPlan(config=settings or GenerateConfig()),
        results=EvalResults(
            total_samples=len(made),
            completed_samples=len(made),
            scores=[
                EvalScore(
                    name=scorer,
                    scorer=scorer,
                    metrics={
                        key: EvalMetric(name=key, value=value)
                        for key, value in {name: 0.0, **(metrics or {})}.items()
                    },
                )
            ],
        ),
        stats=EvalStats(**(stats or {})),
        samples=made,
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{max([int(path.stem) for path in folder.iterdir()], default=-1) + 1:02}.eval"
    write_eval_log(log, str(path))
    return path


def rows(table):
    """The rows of a table by heading."""
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]
