"""Scorers of questions with options or a short answer: this project's reading, and that of a benchmark's authors.

Both score every reply, so that one log has both. The sample's metadata hold ``options`` in the order of the dataset,
and ``option_order`` if a solver shuffled them; answers in scores are letters in the order of the dataset.
"""

import re
import unicodedata
from collections import Counter
from string import ascii_uppercase
from typing import Final, Literal

from inspect_ai.scorer import SampleScore, Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.scorers.explanations import explained
from music_evals.scorers.metrics.estimates import estimate, flatten
from music_evals.scorers.readers import Reading, without_thinking
from music_evals.scorers.readers.choices import read_choice
from music_evals.scorers.readers.official import MAX_REPLY, READERS
from music_evals.scorers.scores import (
    main_metric,
    make_score,
    read_reply,
    readings,
    required_metadata,
    sample_metric,
    scorer,
)

Protocol = Literal["strict", "paper"]
MAIN: Final = {"strict": "strict_choice/accuracy", "paper": "official_choice/accuracy"}
"""Protocol → main metric."""

_ANSWER: Final = re.compile(r"(?i)answer\W{0,3}:\W{0,3}(.{1,300})")


@sample_metric
def vote(scores: list[SampleScore]) -> dict[str, float]:
    """The share of questions whose commonest answer is right, if each question is asked without one option at a time.

    Answers count by their text, those of all epochs together; of equally common answers the first counts. A reply
    without an answer has no vote. Source: github.com/yongyizang/AreYouReallyListening, ``qwen_2_audio.py``.
    """
    ballots: dict[str, tuple[str, Counter[str]]] = {}  # question → its right answer, and the votes for each answer
    for sample in sorted(scores, key=lambda sample: str(sample.sample_id)):
        about, details = sample.sample_metadata or {}, sample.score.metadata or {}
        if "question" not in about or "key" not in details:
            continue
        texts = dict(zip(ascii_uppercase, map(_plain, about["options"]), strict=False))
        _, votes = ballots.setdefault(about["question"], (texts[details["key"]], Counter()))
        votes.update([texts[sample.score.answer]] if sample.score.answer else [])
    verdicts = [[right] == [text for text, _ in votes.most_common(1)] for right, votes in ballots.values()]
    return flatten({"vote": estimate([*map(float, verdicts)])})


@scorer(metrics=[main_metric(), readings(), vote()])
def strict_choice() -> Scorer:
    """Score the option that a reply gives as its answer, by letter or text, or its short answer.

    Each option whose text is that of the right one is right: three published questions have it twice.
    """

    async def score(state: TaskState, target: Target) -> Score:
        options: list[str] = required_metadata(state, "options")
        if options:
            return await _scored(state, target.text, "read_choice")
        reading = await read_reply(short_answer, state.output.completion)
        answer = reading.answer or ""
        right = answer if _plain(answer) == _plain(target.text) else target.text
        return make_score(reading, right, explained(state, (), target.text, reading))

    return score


@scorer(metrics=[main_metric(), readings(), vote()])
def official_choice(reader: str) -> Scorer:
    """Score the option that the authors' procedure reads, one of `music_evals.scorers.readers.official`."""
    if reader not in READERS:
        raise ValueError(f"reader={reader!r} is not valid; valid values are: {', '.join(READERS)}")

    async def score(state: TaskState, target: Target) -> Score:
        return await _scored(state, target.text, reader)

    return score


async def _scored(state: TaskState, target: str, reader: str) -> Score:
    options: list[str] = required_metadata(state, "options")
    order: list[int] = state.metadata.get("option_order") or [*range(len(options))]
    shown, place = [options[at] for at in order], ascii_uppercase.index(target)
    reply = state.output.completion
    if reader == "read_choice":
        reading = await read_reply(read_choice, reply, shown)
        if reading.answer is None and shown.count(options[place]) > 1:
            # A text that stands twice names no letter; without its copies it is that of the right option.
            copies = {at for at in order if options[at] == options[place] and at != place}
            alone = ["" if at in copies else options[at] for at in order]
            reading = await read_reply(read_choice, reply, alone)
    else:
        reading = await read_reply(READERS[reader], reply, shown, order.index(place))
    if reading.answer is None:
        return make_score(reading, target, explained(state, options, target, reading), key=target)
    taken = order[ascii_uppercase.index(reading.answer)]
    right = ascii_uppercase[taken if _plain(options[taken]) == _plain(options[place]) else place]
    reading = reading._replace(answer=ascii_uppercase[taken])
    return make_score(reading, right, explained(state, options, right, reading), key=target)


def short_answer(reply: str) -> Reading:
    """Read what follows the last "Answer:", or a reply of one line.

    >>> short_answer("I hear three beats.\\nFinal Answer: 3/4").answer, short_answer("waltz").answer
    ('3/4', 'waltz')
    """
    reply = without_thinking(reply)[-MAX_REPLY:]
    if found := _ANSWER.findall(reply):
        return Reading("answered", found[-1].strip(" .*`"), "what follows the last label")
    lines = reply.strip().splitlines()
    if len(lines) == 1 and len(lines[0]) <= 300:
        return Reading("answered", lines[0].strip(" .*`"), "the whole reply")
    return Reading("unreadable" if lines else "empty")


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
