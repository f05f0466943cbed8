"""Reads score files of all common formats.

Files come from users and from the web, so they are checked before music21 reads them. A damaged or
hostile file, such as an archive that unpacks to gigabytes, is a `ScoreError` that names the file.
Checks take no more time than reading.
"""

import io
import re
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from music_evals.notation.abc.plain import parse_plain, plain_abc
from music_evals.notation.midi.note_arrays import MidiError
from music_evals.notation.midi.score_reading import read_midi_score
from music_evals.notation.scores.preparing import (
    FORMATS,
    SUFFIXES,
    ScoreError,
    failure,
    prepare_score,
)

if TYPE_CHECKING:  # music21 takes a third of a second to import
    from music21.stream import Score

MAX_BYTES = 20_000_000  # largest file that is read, also after decompression
MAX_NOTES = 200_000  # most notes and rests in a score
MAX_MEASURES = 10_000  # most measures in a part
# Longest score in quarter notes: five and a half hours at 120 a minute.
_MAX_QUARTERS = 4 * MAX_MEASURES
_MAX_VOICES = 200  # most voices of an ABC tune
_MAX_DEPTH = 50  # of XML elements; MusicXML nests about ten deep
_ACCEPTED = "accepted are " + ", ".join(SUFFIXES)

_LENGTH = r"\d{1,7}(\.\d{1,6})?"
_OFFSET = r"([+-]?\d{1,2}(\.\d{1,6})?)?"
_COUNT = r"([+-]?\d{1,3})?"
# The values of MusicXML elements that music21 counts up to, or creates that many objects of.
_MUSICXML_VALUES = {
    "duration": _LENGTH,
    "divisions": _LENGTH,
    "beats": r"(\d{1,3}(\s*\+\s*\d{1,3}){0,9})?",
    "octave": r"-?\d?",
    **dict.fromkeys(("fifths", "alter", "key-alter", "line", "octave-change"), _OFFSET),
    **dict.fromkeys(("beat-type", "actual-notes", "normal-notes", "chromatic", "diatonic"), _COUNT),
    **dict.fromkeys(("staves", "staff", "staff-lines", "slash-dots"), r"\d{0,2}"),
    **dict.fromkeys(("multiple-rest", "measure-repeat"), r"\d{0,3}"),
}
_ENDING = r"(?s)(?!.*\d{3})[\d\s,.-]{0,20}"
_TUNE = re.compile(rb"^X:", re.MULTILINE)
# Text that would make music21 create measures without end, and the like.
_ABSURD_FIELD = r"(?:^|\[)[MLQ]:[^\]\n]{0,80}?[0-9]{4,}"
_ABSURD_KERN = (
    r"^[^!\n*=][^\n]*(?:%\d{4}|(?:\d{4}|\.{8})\.{0,9}[A-Ga-gr])|(?:^|\t)\*M[^\t\n]{0,40}?\d{4,}"
)


def read_score(path: Path, tune: int = 0) -> "Score":
    """Read a score file, by its suffix (one of `SUFFIXES`); `prepare_score` makes the score
    uniform.

    An ABC file may hold several tunes: `tune` is the place of the tune to read, from 1.

    ScoreError if the file is missing, too large, damaged, hostile or of another format, or if it
    holds several pieces or no notes.
    """
    return read_score_data(path, tune)[0]


def read_score_data(path: Path, tune: int = 0) -> tuple["Score", bytes, str]:
    """Read a score as `read_score` does; also return the contents of the file or of the tune, and
    their format.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ScoreError(f"{path}: {suffix or 'no suffix'} is no score format; {_ACCEPTED}")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ScoreError(
            f"{path}: cannot be opened ({error.strerror or error}); {_ACCEPTED}"
        ) from error
    if len(data) > MAX_BYTES:
        raise ScoreError(f"{path}: more than {MAX_BYTES:,} bytes; a score file may have no more")
    if not data.strip():
        raise ScoreError(f"{path}: the file is empty; {_ACCEPTED}")
    if tune:
        data = _tune(data, tune)
    kind = FORMATS[suffix]
    try:
        return _parse(_check(data, kind), kind), data, kind
    except ValueError as error:
        raise ScoreError(f"{path}: {error}") from error


def parse_musicxml(text: str) -> "Score":
    """Read untrusted MusicXML and prepare the score; errors are those of `read_score` and
    `prepare_score`.
    """
    return prepare_score(_parse(_check_musicxml(text.encode()), "musicxml"))


def read_corpus(path: str) -> "Score":
    """Read a score of music21's corpus, such as ``bach/bwv66.6.mxl``.

    music21 is kept from storing a pickle of the score, which takes as long as reading it.
    """
    from music21 import converter, corpus

    score = cast(
        "Score", converter.parse(corpus.getWork(path), forceSource=True, storePickle=False)
    )
    if path.endswith(".krn"):
        _mend_kern(score)
    return score


def _parse(content: Any, kind: str) -> "Score":
    """Read checked content, from memory, so that the file cannot change in between."""
    from music21 import converter, stream

    read = parse_plain if kind == "abc" else partial(converter.parseData, format=kind)
    try:
        if kind == "midi":
            return read_midi_score(content, MAX_NOTES, MAX_MEASURES)
        score = read(content)
    except (MemoryError, ScoreError, MidiError):
        raise
    # music21's readers raise exceptions of any class.
    except Exception as error:
        raise ScoreError(f"music21 cannot read it as {kind} ({failure(error)})") from error
    if isinstance(score, stream.Opus):
        raise ScoreError("it holds several pieces; a file may hold one")
    if isinstance(score, stream.Part):
        part, score = score, stream.Score()
        score.insert(0, part)
        score.metadata = part.metadata
    if kind == "humdrum":
        _mend_kern(score)
    _check_notes(len(score.recurse().notes))
    _check_measures([len(part.getElementsByClass("Measure")) for part in score.parts])
    return score


def _mend_kern(score: Any) -> None:
    """Undo what music21 does at the ends of kern: an empty measure at the end, and 1 as the first
    number.
    """
    rows = [list(part.getElementsByClass("Measure")) for part in score.parts]
    if all(row and not row[-1].recurse().notesAndRests for row in rows):
        for part, row in zip(score.parts, rows, strict=True):
            part.remove(row.pop())
    for row in rows:
        if len(row) > 1 and row[1].number > row[0].number + 1:
            row[0].number = row[1].number - 1


def _check_notes(count: int) -> None:
    if not count:
        raise ScoreError("the score has no notes")
    if count > MAX_NOTES:
        raise ScoreError(f"{count:,} notes; a score may have {MAX_NOTES:,}")


def _check_measures(counts: list[int]) -> None:
    """Check the numbers of measures of all parts."""
    longest, parts = max(counts, default=0), len(counts)
    if longest > MAX_MEASURES:
        raise ScoreError(f"{longest:,} measures; a part may have {MAX_MEASURES:,}")
    if longest * parts > MAX_NOTES:  # parts that end early are filled up
        raise ScoreError(
            f"{parts:,} parts of {longest:,} measures; a score may have {MAX_NOTES:,} measures "
            "in all"
        )


def _check_musicxml(data: bytes) -> str:
    """Parse the XML safely, and write it anew for music21, so that both see the same."""
    from xml.etree.ElementTree import tostring

    root = _parse_xml(data)
    if root.tag != "score-partwise":
        raise ScoreError(
            f"its root element is <{root.tag[:40]}>; accepted is MusicXML's <score-partwise>"
        )
    level = [root]
    for _ in range(_MAX_DEPTH):
        level = [child for element in level for child in element]
    if level:
        raise ScoreError(f"its XML is nested more than {_MAX_DEPTH} deep; MusicXML is not")
    _check_notes(sum(1 for _ in root.iter("note")))
    _check_values(root)
    parts = root.findall("part")
    _check_measures([len(part.findall("measure")) for part in parts])
    for part in parts:
        _check_length(part)
        _add_defaults(part)
        measures = part.findall("measure")
        for measure in measures:
            _join_chords(measure)
        # Finale fills the last measure, which a pickup shortens.
        for measure in measures[:-1]:
            _write_out_last_forward(measure)
    return tostring(root, encoding="unicode")


def _parse_xml(data: bytes) -> Any:
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        return fromstring(data, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    except DefusedXmlException as error:
        raise ScoreError(
            "it declares XML entities, which no MusicXML needs and which are not read"
        ) from error
    # An unknown encoding is a LookupError or a ValueError.
    except (ParseError, ValueError, LookupError) as error:
        raise ScoreError(f"it is no well-formed XML ({error})") from error


def _check_values(root: Any) -> None:
    """Check the values that music21 counts up to."""
    for tag, pattern in _MUSICXML_VALUES.items():
        for element in root.iter(tag):
            text = element.text or ""
            if not re.fullmatch(pattern, text[:80].strip()):
                raise ScoreError(f"<{tag}> is {text[:20]!r}, which is no sensible number for it")
    for element in root.iter("ending"):
        number = element.get("number", "")
        if not re.fullmatch(_ENDING, number):
            raise ScoreError(
                f"an <ending> has the number {number[:20]!r}; accepted are numbers below 100"
            )


def _check_length(part: Any) -> None:
    divisions, quarters = 1.0, 0.0
    for element in part.iter():
        if element.tag == "divisions":
            divisions = max(float(element.text or 1), 1.0)
        elif element.tag == "duration":
            quarters += float(element.text or 0) / divisions
    if quarters > _MAX_QUARTERS:
        raise ScoreError(
            f"a part lasts {quarters:,.0f} quarter notes; it may last {_MAX_QUARTERS:,}"
        )


def _add_defaults(part: Any) -> None:
    """Write out two defaults: music21 gives a note without a staff to all staves, and knows no
    default of divisions.
    """
    from xml.etree.ElementTree import SubElement

    if any((staves.text or "1").strip() != "1" for staves in part.iter("staves")):
        for note in part.iter("note"):
            if note.find("staff") is None:
                SubElement(note, "staff").text = "1"
    first = part.find("measure")
    if first is not None and next(part.iter("divisions"), None) is None:
        attributes = first.makeelement("attributes", {})
        SubElement(attributes, "divisions").text = "1"
        first.insert(0, attributes)


def _join_chords(measure: Any) -> None:
    """Move what stands between the notes of a chord behind it: music21 would end the chord
    there.
    """
    ordered: list[Any] = []
    place = 0  # behind the last note
    for element in measure:
        is_note = element.tag == "note"
        if not is_note or element.find("chord") is None:
            ordered.append(element)
            place = len(ordered) if is_note else place
        else:
            ordered.insert(place, element)
            place += 1
    measure[:] = ordered


def _write_out_last_forward(measure: Any) -> None:
    """Make a rest that is not printed of a ``<forward>`` at the end of a measure: music21 would
    shorten the measure.
    """
    now, end, last = 0.0, 0.0, None
    for element in measure:
        duration = float(element.findtext("duration") or 0)
        if element.tag == "backup":
            now -= duration
        elif element.tag in ("note", "forward") and element.find("chord") is None:
            now += duration
            if now > end:
                end, last = now, element
    if last is not None and last.tag == "forward":
        last.tag = "note"
        last.set("print-object", "no")
        last.insert(0, last.makeelement("rest", {}))


def musicxml_bytes(data: bytes) -> bytes:
    """Take the MusicXML out of its archive, if it is in one, without writing anything to disk."""
    from defusedxml.ElementTree import fromstring

    if not data.startswith(b"PK"):
        return data
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            container = _unpack(archive, "META-INF/container.xml")
            root = fromstring(container, forbid_entities=True, forbid_external=True)
            paths = [
                element.get("full-path") or ""
                for element in root.iter()
                if element.tag.endswith("rootfile")
            ]
            return _unpack(archive, paths[0] if paths else "")
    except ScoreError:
        raise
    # zipfile, zlib and defusedxml raise exceptions of many classes.
    except Exception as error:
        raise ScoreError(f"it is a damaged archive ({failure(error)})") from error


def _unpack(archive: zipfile.ZipFile, name: str) -> bytes:
    """Unpack a file up to the limit: the size in the archive's headers can be wrong."""
    if name not in archive.namelist():
        raise ScoreError(
            f"{name[:80]!r}, which compressed MusicXML needs, is no file in the archive"
        )
    with archive.open(name) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ScoreError(f"{name[:80]!r} unpacks to more than {MAX_BYTES:,} bytes")
    return content


def count_tunes(path: Path) -> int:
    """Count the tunes of an ABC file; 0 for other files, and for files that cannot be opened."""
    if path.suffix.lower() != ".abc":
        return 0
    try:
        with path.open("rb") as file:
            return len(_TUNE.findall(file.read(MAX_BYTES)))
    except OSError:
        return 0


def _tune(data: bytes, place: int) -> bytes:
    """A tune of an ABC file, up to an empty line, with the directives at the head of the file
    (2.2).
    """
    head, *tunes = _TUNE.split(data)
    directives = re.findall(rb"^(?:%|I:).*\n", head, re.MULTILINE)
    return b"".join(directives) + b"X:" + re.split(rb"\n[ \t\r]*\n", tunes[place - 1])[0]


def _check_abc(data: bytes) -> str:
    """Check fields and lengths, and write the tune so that music21 reads all of it."""
    text = decode_text(data)
    tunes = len(_TUNE.findall(data))
    if tunes > 1:
        raise ScoreError(f"it holds {tunes} tunes; they are read one by one")
    if not re.search(r"^K:", text, re.MULTILINE):
        raise ScoreError("it has no K: field, which every ABC tune needs (ABC 2.1, 3.1.14)")
    _refuse_absurd(text, _ABSURD_FIELD)
    voices = len(set(re.findall(r"(?:^|\[)V:\s*([^\s\]]+)", text, re.MULTILINE)))
    if voices > _MAX_VOICES:
        raise ScoreError(f"it has {voices:,} voices; a tune may have {_MAX_VOICES}")
    music = re.sub(r"^[A-Za-z]:(?![|:]).*|%.*", "", text, flags=re.MULTILINE)
    lengths = re.findall(r"[A-Ga-gxz][,']*([0-9]{0,9})|[ZX]([0-9]{0,9})", music)
    _check_notes(len(lengths) or 1)
    units = re.findall(r"(?:^|\[)L:\s*([0-9]+)(?:/([0-9]+))?", text, re.MULTILINE)
    unit = max((4 * int(over) / max(int(under or 1), 1) for over, under in units), default=0.5)
    quarters = 0.0
    for note, measures in lengths:
        quarters += int(measures) * 4 if measures else int(note or 1) * unit
    if quarters > _MAX_QUARTERS * max(voices, 1):
        raise ScoreError(
            f"it lasts {quarters:,.0f} quarter notes; a voice may last {_MAX_QUARTERS:,}"
        )
    return plain_abc(text)


def _check_kern(data: bytes) -> str:
    text = decode_text(data)
    if "**kern" not in text:
        raise ScoreError("it has no **kern spine")
    _refuse_absurd(text, _ABSURD_KERN)
    _check_notes(len(re.findall(r"^[^!*=\s]|(?<=[\t ])[^!*=\s]", text, re.MULTILINE)) or 1)
    return text


def _refuse_absurd(text: str, pattern: str) -> None:
    if match := re.search(pattern, text, re.MULTILINE):
        raise ScoreError(f"{match[0][-20:]!r} is no sensible note length, octave or metre")


def decode_text(data: bytes) -> str:
    """Decode text as UTF-8, or else as Latin-1: many collections are older than UTF-8."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if "\0" in text:
        raise ScoreError("it is binary data and no text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check(data: bytes, kind: str) -> Any:
    match kind:
        case "musicxml":
            return _check_musicxml(musicxml_bytes(data))
        case "abc":
            return _check_abc(data)
        case "humdrum":
            return _check_kern(data)
    return data
