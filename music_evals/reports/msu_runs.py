"""Runs of MSU-Bench, taken from the headers of Inspect logs."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from inspect_ai.log import EvalLog

from music_evals.reports.runs import (
    Logged,
    is_complete,
    latest,
    metrics_of,
    not_ended,
    notes_on_earlier,
    other_arguments,
)

SCORER: Final = "judged"
MODALITIES: Final = ("textual", "visual")
LEVELS: Final = (1, 2, 3, 4)
RULES: Final = "rules"

# `judge_max_tokens` says nothing of what was judged right, and `cache` nothing of the answers.
_TOLD: Final = (
    *("dataset", "asking", "levels", "content", "split", "judges", "judge_max_tokens", "human_labels"),
    *("max_score_tokens", "too_long", "cache"),
)


class Condition(NamedTuple):
    """What was run; its two modalities can be compared.

    `published` says that the questions are MSU-Bench's; `complete` that none that was to be asked was left out or
    failed; `lengths` how many scores were cut or left out; `other` holds whatever else was asked for, as name=value.
    """

    model: str
    dataset: str
    published: bool
    asking: str
    content: str
    split: str
    levels: tuple[int, ...]
    judges: tuple[str, ...]
    complete: bool
    lengths: str
    other: tuple[str, ...]

    def __str__(self) -> str:
        """Return it in words, without model and judges; what is as by default is left out."""
        words = [
            f"data {self.dataset}",
            "all questions at once" if self.asking == "batch" else "one question at a time",
        ]
        words += ["title only"] if self.content == "title" else []
        words += [f"{self.split} split"] if self.split != "all" else []
        words += [f"levels {', '.join(map(str, self.levels))}"] if self.levels != LEVELS else []
        words += [self.lengths] if self.lengths else []
        words += [] if self.complete else ["not all questions"]
        return ", ".join([*words, *self.other])

    @property
    def is_papers_test(self) -> bool:
        """Whether the paper's questions were asked as in its main tables, all of them, and models judged."""
        return (
            self.published
            and self.complete
            and not self.lengths
            and (self.asking, self.content, self.split, self.levels) == ("batch", "full", "all", LEVELS)
            and self.judges != (RULES,)
        )

    @property
    def source(self) -> str:
        """How tables mark its row."""
        return "measured" if self.is_papers_test else "measured †"

    @property
    def judged_by(self) -> str:
        """Who judged, in words."""
        return RULES if self.judges == (RULES,) else f"models: {', '.join(self.judges)}"


class Run(Logged[Condition]):
    """A run in one modality, which is its `task`."""

    __slots__ = ()

    def count(self, group: str, name: str) -> int:
        """Return a number of questions or scores, 0 where the log has none."""
        return round(self.value(group, name) or 0)


def why_not(log: EvalLog) -> str:
    """Say why a log cannot be used.

    Args:
        log: header of a log.

    Returns:
        The reason, or nothing where it can be used.

    Example:
        >>> from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec
        >>> spec = EvalSpec(
        ...     created="2026-01-01T00:00:00+00:00", task="t", dataset=EvalDataset(), model="m", config=EvalConfig()
        ... )
        >>> why_not(EvalLog(eval=spec, status="error"))
        'it is not of MSU-Bench'
    """
    if (log.eval.metadata or {}).get("benchmark") != "msu":
        return "it is not of MSU-Bench"
    if reason := not_ended(log):
        return reason
    scores = [score for score in (log.results.scores if log.results else []) if score.name == SCORER]
    if not scores:
        return f"it has no figures of the scorer {SCORER}"
    return "" if any(score.scored_samples for score in scores) else "none of its questions could be scored"


def read_runs(logs: Iterable[EvalLog]) -> list[Run]:
    """Take the runs of MSU-Bench from the headers of logs.

    Args:
        logs: logs of any tasks; those that `why_not` names a reason for are passed over.

    Returns:
        A run for every modality and condition, by model; of several the latest, with the number of the earlier ones.

    Example:
        >>> read_runs([])
        []
    """
    return latest(_run(log) for log in logs if not why_not(log))


def notes_on(runs: Sequence[Run]) -> list[str]:
    """Say what the measured rows of a table need to have said of them.

    Args:
        runs: the runs that it shows.

    Returns:
        The notes.

    Example:
        >>> notes_on([])
        []
    """
    notes = []
    if any(not run.condition.is_papers_test for run in runs):
        notes.append(
            "† Not the paper's test, and not to be compared with its figures: other questions, a part of them, asked "
            "otherwise than all of a score at once, without the score, or judged by rules, as the row says."
        )
    if any(run.condition.judges == (RULES,) for run in runs):
        notes.append(
            "Judged by rules: a question whose reference no rule reads is unscored; where one reads it, an answer that "
            "it cannot read is wrong. Rules are stricter than models that judge."
        )
    return [*notes, *notes_on_earlier(runs)]


def _run(log: EvalLog) -> Run:
    about, asked = log.eval.metadata or {}, log.eval.task_args
    scores = [score for score in (log.results.scores if log.results else []) if score.name == SCORER]
    judges = asked.get("judges") or RULES
    named = judges.split(",") if isinstance(judges, str) else judges
    condition = Condition(
        model=log.eval.model,
        dataset=about["dataset_label"],
        published=bool(about["is_msu_bench"]),
        asking=asked["asking"],
        content=asked["content"],
        split=about["split"],
        levels=tuple(about["levels"]),
        judges=tuple(sorted(name.strip() for name in named)),
        # A question that nobody decides counts as asked, and the tables give the number of such; how many a sample held
        # that has no verdict at all, a header does not tell.
        complete=is_complete(log, scores if asked["asking"] == "batch" else ()),
        lengths=_lengths(about["scores_truncated"], len(about["scores_refused"])),
        other=other_arguments(log.eval.task_args_passed, _TOLD),
    )
    # A question that was asked alone and not scored is missing from the figures, which a scorer makes of the others.
    alone = sum(score.unscored_samples or 0 for score in scores) if condition.asking == "single" else 0
    metrics = metrics_of(scores)
    for name in ("questions", "unscored"):
        metrics["judged_accuracy", name] = metrics.get(("judged_accuracy", name), 0.0) + alone
    return Run(condition, about["config"], datetime.fromisoformat(log.eval.created), metrics)


def _lengths(truncated: int, refused: int) -> str:
    parts = [f"{truncated} scores cut"] if truncated else []
    return ", ".join([*parts, *([f"{refused} scores left out as too long"] if refused else [])])
