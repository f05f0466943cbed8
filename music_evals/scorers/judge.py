"""Scorer for open questions on a score: answers are judged by rules, or by a majority of models.

A sample has one question on a score, or several that were asked together. Its metadata hold:

- ``questions``: a list of dictionaries with ``id`` (unique in the dataset), ``level``, ``kind``,
  ``question``, ``answer`` and ``answer_type`` (see `readers.checking.AnswerType`);
- ``score_id``: the score that the questions are on;
- ``asked``, optional: the number of questions of the score at each level, ``{"1": 3, …}``. By this
  number the level-wise success knows of questions that a limit or an error left out. The default
  counts the sample's questions.

By rules, a question counts if a rule can read its reference answer. The model's reply does not
change that: a reply that no rule can read is wrong. All other questions are *unscored* for every
model. With judges, a question without a majority is unscored. A sample without any scored question
has the value ``N``, because Inspect shows a sample without a value to no metric, and ``unscored``
and ``answered`` count its questions. No accuracy counts them.

Source: arXiv 2511.20697, sections 3.3 and 5.1, Appendices G and H.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import nan
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import anyio
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.scorer import NOANSWER, Score, Scorer, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import LimitExceededError, collect

from music_evals.notation.toml_files import read_toml
from music_evals.scorers.explanations import code, shortened
from music_evals.scorers.items import all_items
from music_evals.scorers.metrics.accuracy import joint_agreement
from music_evals.scorers.metrics.estimates import flatten
from music_evals.scorers.readers import try_read
from music_evals.scorers.readers.fields import FORM, judge_fields
from music_evals.scorers.readers.verdicts import judge_open
from music_evals.scorers.readers.votes import read_rating, read_vote
from music_evals.scorers.scores import (
    ANSWER_METRICS,
    Figures,
    SampleError,
    SampleScores,
    details_of,
    main_metric,
    required_metadata,
    run_in_thread,
    sample_metric,
    scorer,
    setting_up,
    without_tags,
)
from music_evals.solvers.door import install

RULES = "rules"  # the judge that is no model
GRACE = 12.0
"""Seconds that a judge has for a reply once the others have a majority."""
LATE = "came too late: a majority stood"
"""The reason of an abstention: the others had a majority, and `GRACE` later there was no vote."""

_PROMPTS = read_toml(__package__, "judge.toml")
PROMPT = Template(_PROMPTS["prompt"])
"""The prompt of a judge; it sees neither the question nor the score, as in the paper."""

_FIELDS = ("id", "level", "kind", "question", "answer", "answer_type")
NOT_JUDGED = ("empty", "refused")
"""Readings that are wrong without a judge."""
_SHOWN = 200
_NUMBER = re.compile(r"(?m)^[ *_#]{0,6}([0-9]{1,3})[.):]")  # of an answer in a list


_Entry = dict[str, Any]  # of the log, on the answer to a question
_Facts = Mapping[str, Any]  # of a question, or of the answer to it


@sample_metric
def unscored(scores: SampleScores) -> float:
    """The number of questions that no rule can score or no majority decides."""
    return float(sum(item.value is None for item in all_items(scores)))


@sample_metric
def misnumbered(scores: SampleScores) -> Figures:
    """The number of replies to several questions that answer fewer than were asked, or have other
    numbers.

    There is no such metric if each question is asked alone.
    """
    flags = [details["misnumbered"] for details in details_of(scores) if "misnumbered" in details]
    return {"misnumbered": float(sum(flags))} if flags else {}


@sample_metric
def overruled(scores: SampleScores) -> Figures:
    """The number of answers that a rule calls wrong and the judges right: worth a look by a person.

    There is no such metric without judges.
    """
    voted = [item.details for item in all_items(scores) if item.details["votes"]]
    return {"overruled": float(sum("overruled" in details for details in voted))} if voted else {}


@sample_metric
def agreement(scores: SampleScores) -> Figures:
    """The share of questions on which all judges and the person of `human_labels` agree, with its
    interval.

    See `joint_agreement`; there is no such metric without judges and labels.
    """
    items = all_items(scores)
    questions = [item.details for item in items]
    return flatten({"agreement": joint_agreement(questions, [item.cluster for item in items])})


@scorer(
    metrics=[
        main_metric(),
        unscored(),
        misnumbered(),
        overruled(),
        agreement(),
        *ANSWER_METRICS,
    ]
)
def judged(
    judges: list[str] | str = RULES,
    human_labels: str | None = None,
    max_tokens: int | None = 16,
) -> Scorer:
    """Judge the answers to a sample's questions, by rule or by a majority of models.

    The value is the share of right answers among the scored questions, NaN without any. All judges
    are asked about each answer at the same time, at temperature 0. A judge that fails, or replies
    neither 0 nor 1 (`readers.votes`), abstains. More than half of *all* judges must agree,
    otherwise the question is unscored; once they do, the others have `GRACE` left. Missing answers
    and refusals are wrong without being sent to a judge.

    Args:
        judges: ``rules``, or an odd number of judging models: names with a "/", or roles
            (``model_roles``) without.
        human_labels: path of a CSV file with the columns ``id`` (of a question) and ``label`` (1 or
            0). The labels are people's verdicts on the answers of this run; reports compare them
            with the judges'.
        max_tokens: the most tokens of a judge's reply. The paper allows 1; some providers refuse
            that, and models that reason need hundreds. None leaves it to the model's own
            configuration.

    Returns:
        The scorer. Its scores' metadata hold ``score_id``, ``judges`` and ``questions``, each with
        its ``verdict`` and ``votes`` by judge (1, 0 or None), ``rule`` (True, False or None),
        ``overruled`` where the judges call right what the rule calls wrong, and ``of_level``, the
        number of questions that the score has at its level.

    Raises:
        ValueError: the number of judges is even, a judge is named twice, or the file of labels is
            not as above; while scoring, a sample lacks its questions.

    Source: arXiv 2511.20697, section 3.3 and Appendices G and H.3.
    """
    install()
    names = _judge_names(judges)
    labels = _read_labels(human_labels) if human_labels is not None else {}

    async def score(state: TaskState, target: Target) -> Score:
        questions = _questions(state)
        with setting_up():
            models = {
                name: get_model(name) if "/" in name else get_model(role=name, required=True)
                for name in names
            }
        judge = judge_fields if state.metadata.get(FORM) == "schema" else judge_open
        verdicts = await run_in_thread(judge, state.output.completion, questions)
        entries = [_entry(*pair, labels) for pair in zip(questions, verdicts, strict=True)]
        panel = _Panel(models, GenerateConfig(temperature=0, max_tokens=max_tokens))
        await collect(*map(panel.collect_votes, questions, entries))
        for entry in entries if names else ():
            entry["verdict"] = _verdict(entry, len(names))
            if entry["verdict"] == 1 and entry["rule"] is False:
                entry["overruled"] = True
        return _score(state, questions, entries, names)

    return score


def _judge_names(judges: list[str] | str) -> list[str]:
    if judges == RULES or judges == [RULES]:
        return []
    listed = judges.split(",") if isinstance(judges, str) else judges
    names = [name.strip() for name in listed]
    if len(names) % 2 == 0:
        raise ValueError(
            f"judges names {len(names)} judges; a majority needs an odd number, or {RULES!r}"
        )
    if not all(names) or RULES in names:
        raise ValueError(
            f"judges={judges!r}: each judge is the name of a model or of a role; {RULES!r} stands "
            "alone"
        )
    if twice := [name for name, number in Counter(names).items() if number > 1]:
        raise ValueError(f"judges names {twice[0]!r} twice; a judge has one vote")
    return names


def _read_labels(path: str) -> dict[str, int]:
    where = f"human_labels={path}"
    labels: dict[str, int] = {}
    try:
        with Path(path).expanduser().open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            for name in ("id", "label"):
                if name not in (rows.fieldnames or ()):
                    raise ValueError(f"{where}: column {name!r} is missing")
            for row in rows:
                label = (row["label"] or "").strip()
                line = rows.line_num
                if label not in ("0", "1"):
                    raise ValueError(f"{where}, line {line}: label {label!r} is neither 1 nor 0")
                if row["id"] in labels:
                    raise ValueError(f"{where}, line {line}: {row['id']!r} has a label already")
                labels[row["id"]] = int(label)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{where}: the file cannot be read ({error})") from error
    if not labels:
        raise ValueError(f"{where}: the file holds no label")
    return labels


def _questions(state: TaskState) -> list[_Entry]:
    questions: list[_Entry] = required_metadata(state, "questions")
    for question in questions:
        if missing := [name for name in _FIELDS if name not in question]:
            raise SampleError(f"sample {state.sample_id}: a question has no {missing[0]!r}")
    required_metadata(state, "score_id")
    return questions


def _entry(question: _Facts, verdict: _Facts, labels: Mapping[str, int]) -> _Entry:
    """What the log has of an answer, without votes."""
    return {
        "id": question["id"],
        "level": int(question["level"]),
        "kind": question["kind"],
        "key": question["answer"],
        "votes": {},
        "abstained": {},
        **verdict,
        "human": labels.get(str(question["id"])),
    }


def judge_prompt(reference: str, prediction: str) -> str:
    """Return what a judge is asked about an answer."""
    return PROMPT.substitute(without_tags(reference=reference, prediction=prediction))


def _verdict(entry: _Facts, judges: int) -> int | None:
    if entry["reading"] in NOT_JUDGED:
        return 0
    votes = Counter(vote for vote in entry["votes"].values() if vote is not None)
    return next((vote for vote, number in votes.items() if 2 * number > judges), None)


class _Panel(NamedTuple):
    """Judges that mark the same answers."""

    models: Mapping[str, Model]
    config: GenerateConfig
    read: Callable[..., int | None] = read_vote

    async def collect_votes(self, question: _Facts, entry: _Entry) -> None:
        """Ask all judges about an answer at the same time, and enter their votes."""
        if not self.models or entry["reading"] in NOT_JUDGED:
            return
        prompt = judge_prompt(question["answer"], entry["prediction"])
        votes: dict[str, tuple[int | None, str]] = {}
        with anyio.CancelScope() as scope:

            async def ask(name: str) -> None:
                votes[name] = await self.vote(self.models[name], prompt)
                cast = Counter(vote for vote, _ in votes.values() if vote is not None)
                if 2 * max(cast.values(), default=0) > len(self.models):
                    scope.deadline = min(scope.deadline, anyio.current_time() + GRACE)

            await collect(*map(ask, self.models))
        for name in self.models:
            entry["votes"][name], reason = votes.get(name, (None, LATE))
            if reason:
                entry["abstained"][name] = reason

    async def vote(self, judge: Model, prompt: str) -> tuple[int | None, str]:
        """A judge's vote, or None and the reason why it abstains."""
        try:
            reply = (await judge.generate(prompt, config=self.config)).completion
        except LimitExceededError:
            raise
        except Exception as error:  # a judge that fails must not lose the votes of the others
            return None, f"{type(error).__name__}: {error}"[:_SHOWN]
        vote, failure = try_read(self.read, reply)
        if vote is not None:
            return vote, ""
        return None, failure or f"replied {reply[:_SHOWN]!r}"


async def rate_captions(judge: str, captions: Sequence[tuple[str, str]]) -> list[float]:
    """Return a judge's ratings of captions: from 0 to 5, divided by 5; NaN where none can be read.

    Args:
        judge: name of a model; the model with the role ``judge``, if there is one, takes its place.
        captions: what people wrote, a caption a line, and the caption to rate.

    Source: github.com/EvolvingLMMs-Lab/lmms-eval, ``lmms_eval/tasks/song_describer/utils.py``, for
        the scale. A rating that lmms-eval cannot read is 0 there.
    """
    with setting_up():
        model = get_model(role="judge", default=judge)
    panel = _Panel({}, GenerateConfig(temperature=0), read_rating)
    ratings = []
    for people, text in captions:
        texts = without_tags(reference=people, prediction=text)
        rating, _ = await panel.vote(model, Template(_PROMPTS["rating"]).substitute(texts))
        ratings.append(nan if rating is None else rating / 5)
    return ratings


def _score(
    state: TaskState,
    questions: Sequence[_Facts],
    entries: Sequence[_Entry],
    names: Sequence[str],
) -> Score:
    verdicts = [entry["verdict"] for entry in entries if entry["verdict"] is not None]
    asked = state.metadata.get("asked") or Counter(str(entry["level"]) for entry in entries)
    for entry in entries:
        entry["of_level"] = int(asked.get(str(entry["level"]), 1))
    metadata = {
        "score_id": state.metadata["score_id"],
        "judges": list(names) or [RULES],
        "questions": list(entries),
    }
    if len(questions) > 1:
        metadata["misnumbered"] = _is_misnumbered(state.output.completion, entries)
    explanation = "\n".join(map(_line, questions, entries))
    score = Score(
        value=NOANSWER,
        answer="; ".join(shortened(entry["prediction"], 40) for entry in entries),
        explanation=explanation,
        metadata=metadata,
    )
    if verdicts:
        score.value = sum(verdicts) / len(verdicts)
    else:
        score.reason = "grader_failed" if names else "undecided"
    return score


def _is_misnumbered(reply: str, entries: Sequence[_Facts]) -> bool:
    """Whether a reply to several questions answers fewer, or has other numbers."""
    numbers = map(int, _NUMBER.findall(reply))
    is_short = None in [entry["prediction"] for entry in entries]
    return is_short or max(numbers, default=0) > len(entries)


def _line(question: _Facts, entry: _Facts) -> str:
    verdict = {1: "right", 0: "wrong", None: "unscored"}[entry["verdict"]]
    read = "nothing" if entry["prediction"] is None else code(entry["prediction"])
    return (
        f"- **{verdict}**, level {entry['level']}, {code(entry['kind'])}: "
        f"{code(question['question'])} Expected {code(question['answer'])}; read {read}. "
        f"{_decision(entry, question['answer_type'])}"
    )


def _decision(entry: _Facts, answer_type: str) -> str:
    """Say in a sentence who decided on an answer, and how."""
    rule = f"the rule for {answer_type.replace('_', ' or ')}"
    if entry["votes"]:
        return _majority(entry, rule)
    if entry["verdict"] is None:
        return f"Unscored, as {rule} does not read the reference."
    sentences = {
        "unreadable": f"Wrong, as {rule} does not read the answer.",
        "empty": "No answer was found in the reply.",
        "refused": "The answer is a refusal.",
    }
    return sentences.get(entry["reading"], f"Judged by {rule}.")


def _majority(entry: _Facts, rule: str) -> str:
    who = "No majority" if entry["verdict"] is None else "Majority"
    votes = []
    for judge, vote in entry["votes"].items():
        votes.append(f"{code(judge)} {'abstains' if vote is None else vote}")
    by_rule = "" if entry["rule"] is None else f"; {rule} would say {int(entry['rule'])}"
    return f"{who}: {', '.join(votes)}{by_rule}."
