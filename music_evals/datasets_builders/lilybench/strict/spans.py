"""Where a text writes its measures: the spans between bar checks, each with the events that LilyPond read in it.

A span belongs to one voice if all its events sound in that voice, once. Its content is LilyPond's events, not its text.
So a bar check at a wrong place appears as a span whose events do not fill a measure.
"""

from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

from music_evals.notation.lilypond.structure import Event, Structure
from music_evals.notation.lilypond.syntax.lexer import Kind, code_tokens


class Span(NamedTuple):
    """The passage between two bar checks of a voice, ahead of the first, or after the last."""

    voice: int
    start: int  # offset in the text
    end: int
    closed: bool  # whether it begins and ends with a bar check of the same voice
    events: tuple[Event, ...]  # at least one
    length: Fraction | None  # whole notes until the next span of the voice; None if none follows directly
    shared: bool  # whether other voices are written in it too, or it is played more than once

    @property
    def measure(self) -> int:
        """Number of the measure in which it begins."""
        return self.events[0].measure


def find_spans(text: str, structure: Structure) -> list[Span]:
    """Find the spans between bar checks, by voice and then by time; `structure` was read from the text."""
    checks = [token.start for token in code_tokens(text) if token.kind is Kind.SIGN and token.text == "|"]
    uses: Counter[int] = Counter()
    groups: dict[int, list[tuple[int, list[Event]]]] = {}  # voice → number of bar checks ahead, and events
    for voice, voice_events in sorted(structure.voices.items()):
        group = groups[voice] = []
        for event in voice_events:
            place = bisect_right(checks, event.offset)
            if group and group[-1][0] == place and event.offset >= group[-1][1][-1].offset:
                group[-1][1].append(event)
            else:
                uses[place] += 1
                group.append((place, [event]))
    spans: list[Span] = []
    for voice, group in groups.items():
        for index, (place, events) in enumerate(group):
            following = group[index + 1] if index + 1 < len(group) and group[index + 1][0] == place + 1 else None
            spans.append(
                Span(
                    voice=voice,
                    start=checks[place - 1] + 1 if place else 0,
                    end=checks[place] if place < len(checks) else len(text),
                    closed=index > 0 and group[index - 1][0] == place - 1 and following is not None,
                    events=tuple(events),
                    length=following[1][0].moment - events[0].moment if following else None,
                    shared=uses[place] > 1,
                )
            )
    return spans
