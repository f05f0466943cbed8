"""The uniform form of music21 scores that the suite works on, and its MusicXML."""

import re
from typing import TYPE_CHECKING, Any, cast

from music_evals.notation.scores.numbering import number_measures

if TYPE_CHECKING:  # music21 takes a third of a second to import
    from music21.stream import Score

FORMATS = {
    ".musicxml": "musicxml",
    ".xml": "musicxml",
    ".mxl": "musicxml",
    ".mid": "midi",
    ".midi": "midi",
    ".abc": "abc",
    ".krn": "humdrum",
}
"""Suffixes of the score files that `read_score` accepts → their formats, as music21 names them."""
SUFFIXES = tuple(FORMATS)
NO_NAME = "MusicXML Part"  # music21's name for a part without a name
# In titles of Humdrum these stand for values of other records.
_RANDOM_ID = re.compile(r'"([A-Z])[0-9a-f]{32}"')
_DATE = re.compile(r"\s*<encoding-date>[^<]*</encoding-date>")


def failure(error: Exception) -> str:
    """Say what an error of a library is: its class and the beginning of its message."""
    return f"{type(error).__name__}: {str(error)[:200]}"


class ScoreError(ValueError):
    """A score cannot be read or written; the message says what is wrong and what is accepted."""


def prepare_score(source: Any) -> "Score":
    """Bring a music21 score or part into the uniform form; its parts are used up.

    - The measures of all parts have the same numbers, those of print: see `numbering`.
    - Parts that end early are filled with rests.
    - A note that no single note value can show is split into tied notes.
    - Page layout is dropped, and so are notes that are not printed, such as those that play a
      trill.
    - Title and composer are in the metadata, empty where unknown.

    Repeats are not expanded. Pitches stay as written, also those of transposing instruments.

    Args:
        source: a music21 score or part.

    Raises:
        ScoreError: the score has no notes.

    Example:
        >>> from music21 import converter
        >>> tune = converter.parse("tinyNotation: 3/4 g4 c'2. d'4 e' f'")
        >>> [measure.number for measure in prepare_score(tune).parts[0].getElementsByClass(
        ...     "Measure")]
        [1, 2, 3]
    """
    from music21 import stream

    parts = list(source.parts) if isinstance(source, stream.Score) else [source]
    prepared: Any = stream.Score()
    for part in parts:
        _add_part(prepared, part)
    if not prepared.parts or not prepared.recurse().notes:
        raise ScoreError(
            "the score has no parts with notes; several pieces in one have to be given one by one"
        )
    if source is not parts[0]:
        _add_spanners(prepared, source)
    _drop_layout(prepared)
    for measure in list(prepared.recurse().getElementsByClass("Measure")):
        _drop_unprinted_notes(measure)
        measure.flattenUnnecessaryVoices(inPlace=True)
    for container in [prepared, *prepared.recurse().getElementsByClass(["Measure", "Voice"])]:
        notes = container.getElementsByClass("GeneralNote")
        if any(element.duration.type == "complex" for element in notes):
            container.splitAtDurations()
    _fill_parts(prepared)
    number_measures(prepared)
    prepared.metadata = _metadata(source.metadata)
    return cast("Score", prepared)


def _add_part(prepared: Any, part: Any) -> None:
    """Add a part, with measures; one without measures and notes is left out."""
    if not part.getElementsByClass("Measure"):
        if not part.recurse().notesAndRests:
            return
        part.makeMeasures(inPlace=True)
        part.makeTies(inPlace=True)
    prepared.insert(0, part)


def _add_spanners(prepared: Any, source: Any) -> None:
    """Add the spanners of a score; no group of staves that lacks one of them."""
    kept = set(map(id, prepared.parts))
    for spanner in list(source.getElementsByClass("Spanner")):
        is_group = "StaffGroup" in spanner.classes
        if not is_group or kept.issuperset(map(id, spanner.getSpannedElements())):
            prepared.insert(0, spanner)


def _drop_layout(score: Any) -> None:
    from music21 import layout

    for element in list(score.recurse().getElementsByClass([layout.LayoutBase])):
        if not isinstance(element, layout.StaffGroup) and element.activeSite is not None:
            element.activeSite.remove(element)


def _metadata(old: Any) -> Any:
    """Metadata with the title and composer, without anything else."""
    from music21 import metadata

    new = metadata.Metadata()
    old = old or new
    title = re.sub(r"@\{[^{}]*\}[ .,:]*", "", old.title or old.movementName or "").rstrip(" ,")
    title, composer = (" ".join(text.split()) for text in (title, old.composer or ""))
    # music21 takes the name of a file without a title as its title.
    new.title = "" if title.lower().endswith(SUFFIXES) else title
    new.composer = composer
    return new


def score_to_musicxml(score: Any, *, in_place: bool = False) -> str:
    """Write a prepared score as MusicXML, without the date of writing and random identifiers.

    Args:
        score: from `prepare_score`.
        in_place: add rests and the marks of tuplets to `score`; this avoids a copy. Beams and signs
            of accidentals are then written only where the score has them.

    Raises:
        ScoreError: music21 cannot write it.
    """
    from music21.exceptions21 import Music21Exception
    from music21.musicxml.m21ToXml import GeneralObjectExporter

    try:
        exporter = GeneralObjectExporter(score)
        if in_place:
            _complete_measures(score)
            exporter.makeNotation = False
        text = _DATE.sub("", bytes(exporter.parse()).decode())
    except Music21Exception as error:
        raise ScoreError(f"cannot be written as MusicXML: {error}") from error
    names: dict[str, str] = {}
    return _RANDOM_ID.sub(
        lambda match: names.setdefault(match[0], f'"{match[1]}id{len(names) + 1}"'), text
    )


def _complete_measures(score: Any) -> None:
    """Fill measures with rests that are not printed, and mark the beginnings and ends of
    tuplets.
    """
    from music21.stream.makeNotation import makeTupletBrackets

    score.makeRests(
        refStreamOrTimeRange=[0.0, score.highestTime],
        fillGaps=True,
        inPlace=True,
        hideRests=True,
        timeRangeFromBarDuration=True,
    )
    for part in score.parts:
        if not part.streamStatus.tuplets:
            for container in part.recurse().getElementsByClass(["Measure", "Voice"]):
                makeTupletBrackets(container, inPlace=True)


def _drop_unprinted_notes(measure: Any) -> None:
    """Replace unprinted notes by unprinted rests, and drop voices without any printed note."""
    from music21 import note

    for voice in list(measure.voices):
        if voice.notes and all(element.style.hideObjectOnPrint for element in voice.notes):
            measure.remove(voice)
    for container in (measure, *measure.voices):
        for element in [element for element in container.notes if element.style.hideObjectOnPrint]:
            rest = note.Rest(duration=element.duration)
            rest.style.hideObjectOnPrint = True
            container.replace(element, rest)


def _fill_parts(score: Any) -> None:
    """Give all parts as many measures as the longest part has."""
    from music21 import note, stream

    parts: list[list[Any]] = [list(part.getElementsByClass("Measure")) for part in score.parts]
    longest = [*max(parts, key=len)]
    for part, measures in zip(score.parts, parts, strict=True):
        for model in longest[len(measures) :]:
            filler: Any = stream.Measure()
            filler.append(note.Rest(quarterLength=model.duration.quarterLength or 4.0))
            part.insert(part.highestTime, filler)
