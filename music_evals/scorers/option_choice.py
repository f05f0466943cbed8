"""Scorers of questions with options or a short answer: this project's reading, and that of a
benchmark's authors.

Both score every reply, so that one log has both. The sample's metadata hold ``options`` in the
order of the dataset, and ``option_order`` if a solver shuffled them; answers in scores are letters
in the order of the dataset.
"""

from collections import Counter
from functools import partial
from string import ascii_uppercase
from typing import Literal

from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.scorers.chosen_option import choice_details, option_judge, score_choice
from music_evals.scorers.explanations import make_score
from music_evals.scorers.metrics.estimates import estimate, flatten
from music_evals.scorers.readers.official import READERS
from music_evals.scorers.readers.verdicts import judge_short, plain_text
from music_evals.scorers.scores import (
    ANSWER_METRICS,
    Figures,
    SampleScores,
    judge_sample,
    main_metric,
    read_reply,
    required_metadata,
    sample_metric,
    scorer,
)

Protocol = Literal["strict", "paper"]
MAIN = {"strict": "strict_choice/accuracy", "paper": "official_choice/accuracy"}
"""Protocol → main metric."""
NO_ANSWER = "?"
"""The target of a question whose answer is not public."""


@sample_metric
def vote(scores: SampleScores) -> Figures:
    """The share of questions whose commonest answer is right, if each question is asked without one
    option at a time.

    Answers count by their text, those of all epochs together; of equally common answers the first
    counts. A reply without an answer has no vote. Source:
    github.com/yongyizang/AreYouReallyListening, ``qwen_2_audio.py``.
    """
    rights: dict[str, str] = {}
    ballots: dict[str, Counter[str]] = {}
    for sample in sorted(scores, key=lambda sample: str(sample.sample_id)):
        about = sample.sample_metadata or {}
        details = sample.score.metadata or {}
        if "question" not in about or "key" not in details:
            continue
        texts = dict(zip(ascii_uppercase, map(plain_text, about["options"]), strict=False))
        rights.setdefault(about["question"], texts[details["key"]])
        ballot = ballots.setdefault(about["question"], Counter())
        if sample.score.answer:
            ballot[texts[sample.score.answer]] += 1
    verdicts = []
    for question, ballot in ballots.items():
        commonest = [text for text, _ in ballot.most_common(1)]
        verdicts.append(float(commonest == [rights[question]]))
    return flatten({"vote": estimate(verdicts)})


@scorer(metrics=[main_metric(), *ANSWER_METRICS, vote(), choice_details()])
def strict_choice() -> Scorer:
    """Score the option that a reply gives as its answer, by letter or text, or its short answer.

    Each option whose text is that of the right one is right: three published questions have it
    twice.
    """

    async def score(state: TaskState, target: Target) -> Score:
        right = target.text
        if required_metadata(state, "options"):
            return await _scored(state, right)
        verdict = await judge_sample(state, partial(judge_short, right=right), right)
        return make_score(state, (), verdict, right, right_answer=right)

    return score


@scorer(metrics=[main_metric(), *ANSWER_METRICS, vote()])
def official_choice(reader: str) -> Scorer:
    """Score the option that the authors' procedure reads, one of
    `music_evals.scorers.readers.official`.
    """
    if reader not in READERS:
        raise ValueError(f"reader={reader!r} is not valid; valid values are: {', '.join(READERS)}")

    async def score(state: TaskState, target: Target) -> Score:
        return await _scored(state, target.text, reader)

    return score


async def _scored(state: TaskState, target: str, reader: str | None = None) -> Score:
    if target == NO_ANSWER:
        return Score.unscored(
            reason="other", explanation="The answer to this question is not public."
        )
    judge = option_judge(state, target, reader)
    options = state.metadata["options"]
    if reader is None:
        return await score_choice(state, target, options, judge, key=target)
    return make_score(state, options, await read_reply(judge, state.output.completion), key=target)
