"""Where a text writes its measures: the stretches between bar checks, each with the events that LilyPond made of it.

A stretch (`Span`) belongs to one voice where all that LilyPond read in it sounds in that voice, once. What a stretch
holds is not taken from its text but from LilyPond's events, so a bar check at the wrong place shows as a stretch whose
events do not fill a measure.
"""

from bisect import bisect_right
from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

from music_evals.notation.lilypond.structure import Event, Structure
from music_evals.notation.lilypond.syntax.lexer import Kind, code_tokens


class Span(NamedTuple):
    """What stands between two bar checks of a voice, or ahead of the first, or after the last."""

    voice: int
    start: int  # offset in the text
    end: int
    closed: bool  # whether a bar check of the same voice begins and ends it
    events: tuple[Event, ...]  # one at least
    length: Fraction | None  # whole notes until the next stretch of the voice; None where none follows directly
    shared: bool  # whether other voices are written in it too, or it is played more than once

    @property
    def measure(self) -> int:
        """Number of the measure in which it begins."""
        return self.events[0].measure


def find_spans(text: str, structure: Structure) -> list[Span]:
    """Find the stretches between bar checks, by voice and then by time; `structure` was read from the text."""
    checks = [token.start for token in code_tokens(text) if token.kind is Kind.SIGN and token.text == "|"]
    uses: dict[int, int] = defaultdict(int)
    runs: dict[int, list[tuple[int, list[Event]]]] = {}
    for voice, events in sorted(structure.voices.items()):
        run = runs[voice] = []
        for event in events:
            place = bisect_right(checks, event.offset)
            if run and run[-1][0] == place and event.offset >= run[-1][1][-1].offset:
                run[-1][1].append(event)
            else:
                uses[place] += 1
                run.append((place, [event]))
    spans: list[Span] = []
    for voice, run in runs.items():
        for index, (place, sounding) in enumerate(run):
            follows = run[index + 1] if index + 1 < len(run) and run[index + 1][0] == place + 1 else None
            preceded = index > 0 and run[index - 1][0] == place - 1
            begin = sounding[0].moment
            spans.append(
                Span(
                    voice=voice,
                    start=checks[place - 1] + 1 if place else 0,
                    end=checks[place] if place < len(checks) else len(text),
                    closed=preceded and follows is not None,
                    events=tuple(sounding),
                    length=follows[1][0].moment - begin if follows else None,
                    shared=uses[place] > 1,
                )
            )
    return spans
