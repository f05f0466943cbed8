"""How many notes of a transcription without times are right.

Conventions: a transcription is a sequence of integers, one per note or stroke: MIDI pitches, slots
of a grid, or numbers of chords. What is written twice counts twice.
"""

from bisect import bisect_left
from collections.abc import Sequence


def note_f1(
    transcription: Sequence[int],
    reference: Sequence[int],
    *,
    in_order: bool,
) -> float:
    """Return the share of right notes: F1, which is 2·right / (written + true).

    The right notes are the largest matching of equal notes in which no note has two partners, as in
    mir_eval. There partners also agree in time. A transcription without times has its order
    instead: with `in_order`, for melodies and series of chords, partners must keep the order. The
    right notes are then the longest common subsequence, so that a note left out or put in costs
    that note and not all notes behind it. Without `in_order`, for chords and for slots of a rhythm,
    which are times themselves, the order does not count.

    Args:
        transcription: the notes that were written.
        reference: the true notes.
        in_order: whether the order of the notes counts.

    Returns:
        The share, from 0 to 1; 0 if a sequence is empty, as in mir_eval.

    Source: C. Raffel et al., "mir_eval: a transparent implementation of common MIR metrics", ISMIR
        2014 (`onset`, `transcription`, `multipitch`). With `in_order` it is ROUGE-L with β = 1,
        C.-Y. Lin, "ROUGE: a package for automatic evaluation of summaries", ACL workshop 2004.

    Example:
        >>> note_f1([60, 64, 65, 67], [60, 62, 64, 65, 67], in_order=True)  # 62 is left out
        0.8888888888888888
        >>> note_f1([67, 60, 63], [60, 64, 67], in_order=False)
        0.6666666666666666
    """
    if not transcription or not reference:
        return 0.0
    if not in_order:
        transcription = sorted(transcription)
        reference = sorted(reference)
    return 2 * _common_length(transcription, reference) / (len(transcription) + len(reference))


def _common_length(first: Sequence[int], second: Sequence[int]) -> int:
    """The length of the longest common subsequence, as J. W. Hunt and T. G. Szymanski (1977) find
    it.

    That of sorted sequences is the number of common notes.
    """
    ends: list[int] = []  # at n: the first place in `second` where n + 1 common notes can end
    for note in first:
        places = [place for place, other in enumerate(second) if other == note]
        for place in reversed(places):
            shorter = bisect_left(ends, place)
            ends[shorter : shorter + 1] = [place]
    return len(ends)
