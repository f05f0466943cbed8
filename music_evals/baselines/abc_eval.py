"""How the reader answers ABC-Eval's questions on whole scores: from the fields and the first voice of the ABC."""

from fractions import Fraction

from music_evals.baselines.asking import Request
from music_evals.notation.abc.plain import split_voices
from music_evals.notation.abc.tunes import (
    parse_key,
    parse_meter,
    parse_unit,
    read_measure,
    split_measures,
    total_duration,
)


def answer(request: Request) -> str | None:
    """Count the measures, or choose key, metre or note length; None if the tune does not say it."""
    (abc,) = request.music
    header, voices = split_voices(abc)
    fields = {line[0]: line[2:].split(" clef=")[0].strip() for line in header if line[1:2] == ":"}
    try:
        if request.keys["task"] == "bar_count":
            return str(count_measures("\n".join(next(iter(voices.values()))), fields))
        kind = request.keys["kind"]
        options = [_plain(option, kind) for option in request.keys["options"]]
        metre = parse_meter(fields["M"])
        value = {
            "key": lambda: parse_key(fields["K"]).name,
            "metre": lambda: "{}/{}".format(*metre),
            # Published questions ask for the field L, others for the lower number of the metre.
            "note_length": lambda: fields["L"] if "/" in options[0] else str(metre[1]),
        }[kind]()
    except (KeyError, StopIteration, ValueError):
        return None
    places = [place for place, option in enumerate(options) if option == value]
    return str(request.keys["answers"][places[0]]) if len(places) == 1 else None


def count_measures(body: str, fields: dict[str, str]) -> int:
    """Count the measures of a voice, without a first one that is shorter than the metre; ValueError if unreadable.

    Example:
        >>> count_measures("D | G2 A | B3 :|", {"M": "3/4", "L": "1/4", "K": "G"})
        2
    """
    metre = parse_meter(fields["M"])
    measures = list(split_measures(body))
    events = read_measure(measures[0].text, parse_unit(fields.get("L"), metre), metre)
    has_pickup = len(measures) > 1 and total_duration(events) < Fraction(*metre)
    return len(measures) - has_pickup


def _plain(option: str, kind: str) -> str:
    """A key as ABC writes it; any other option unchanged."""
    return parse_key(option.replace("-flat", "b").replace("-sharp", "#")).name if kind == "key" else option
