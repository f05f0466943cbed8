"""The scorer of the completion probe: whether a reply has the hidden options word for word."""

import re
import unicodedata

from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.scorers.scores import fence, main_metric, required_metadata, scorer

_MOST = 20_000  # characters of a reply that are read
_LABEL = re.compile(r"\s*(?:[-*•]|\(?[A-Ha-h1-8][.):、．])\s+")


@scorer(metrics=[main_metric()])
def completed() -> Scorer:
    """Score whether a reply has all hidden options, each on lines of its own; labels and case do
    not count.
    """

    async def score(state: TaskState, target: Target) -> Score:
        hidden = required_metadata(state, "hidden")
        lines = _words(state.output.completion[:_MOST])
        completed = [option for option in hidden if f"\n{_words(option)}\n" in f"\n{lines}\n"]
        listed = "\n".join(
            f"{'found' if option in completed else 'not found'}: {option}" for option in hidden
        )
        ends = fence(listed, least=3)
        return Score(
            value=CORRECT if len(completed) == len(hidden) else INCORRECT,
            answer=f"{len(completed)} of {len(hidden)}",
            explanation=f"Options that were not shown:\n\n{ends}text\n{listed}\n{ends}",
            metadata={"found": len(completed)},
        )

    return score


def _words(text: str) -> str:
    """Lines without labels, case, outer punctuation and runs of spaces."""
    lines = []
    for line in text.splitlines():
        content = unicodedata.normalize("NFKC", _LABEL.sub("", line, count=1)).casefold()
        lines.append(" ".join(content.split()).strip(" .,;。，；\"'“”`*"))
    return "\n".join(lines)
