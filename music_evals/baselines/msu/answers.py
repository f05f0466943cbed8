"""Answers questions on a score by reading its ABC, and nothing else."""

from music_evals.baselines.msu import opening, whole, written
from music_evals.baselines.msu.score import Score

UNKNOWN = "Unknown"
"""The answer where there is none."""

_ON_THE_MUSIC = (*written.RULES, *whole.RULES)


def answer(score: Score, question: str) -> str:
    """Answer a question.

    Args:
        score: the score that it is about.
        question: as it is asked.

    Returns:
        The answer; ``Unknown`` for questions of other forms, and for places that are not in the score or not to be
        read.

    Example:
        >>> from music_evals.baselines.msu.score import read_score
        >>> score = read_score("X:1\\nL:1/4\\nM:2/4\\nK:Bb\\nV:1\\n_G,D | %1\\n")
        >>> answer(score, "In measure 1, what is the lowest pitch? Give its octave too.")
        'G♭3'
        >>> answer(score, "In measure 2, what is the lowest pitch?"), answer(score, "Is it beautiful?")
        ('Unknown', 'Unknown')
    """
    # Of a score that is not there, nothing is true and nothing false.
    rules = (*opening.RULES, *_ON_THE_MUSIC) if score.parts else opening.RULES
    for pattern, answer_match in rules:
        match = pattern.match(question)
        if match is not None:
            try:
                return answer_match(score, match)
            except ValueError:
                return UNKNOWN
    return UNKNOWN
