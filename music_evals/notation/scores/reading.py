"""Reads score files of all common formats.

Files come from users and from the web. A damaged file is a `ScoreError` that names the file. A file
may claim measures or notes without end, so callers read it by `notation.subprocesses`, with
`allowance_of_score`.
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
from music_evals.notation.subprocesses import Allowance, allowance_for

if TYPE_CHECKING:  # music21 takes a third of a second to import
    from music21.stream import Score

_ACCEPTED = "accepted are " + ", ".join(SUFFIXES)

_TUNE = re.compile(rb"(?m)^X:")


def allowance_of_score(size: int) -> Allowance:
    """Return the limits for a score of so many bytes: a byte of compressed MusicXML becomes
    kilobytes of objects.
    """
    return allowance_for(size, 10_000)


def read_score(path: Path, tune: int = 0) -> "Score":
    """Read a score file, by its suffix (one of `SUFFIXES`); `prepare_score` makes the score
    uniform.

    An ABC file may hold several tunes: `tune` is the place of the tune to read, from 1.

    ScoreError if the file is missing, damaged or of another format, or if it holds several pieces
    or no notes.
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
        data = path.read_bytes()
    except OSError as error:
        raise ScoreError(
            f"{path}: cannot be opened ({error.strerror or error}); {_ACCEPTED}"
        ) from error
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
            return read_midi_score(content)
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
    if not score.recurse().notes:
        raise ScoreError("the score has no notes")
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


def _check_musicxml(data: bytes) -> str:
    """Parse the XML safely, and write it anew for music21, so that both see the same."""
    from xml.etree.ElementTree import ParseError, tostring

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root = fromstring(data, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    except DefusedXmlException as error:
        raise ScoreError(
            "it declares XML entities, which no MusicXML needs and which are not read"
        ) from error
    # An unknown encoding is a LookupError or a ValueError.
    except (ParseError, ValueError, LookupError) as error:
        raise ScoreError(f"it is no well-formed XML ({error})") from error
    if root.tag != "score-partwise":
        raise ScoreError(
            f"its root element is <{root.tag[:40]}>; accepted is MusicXML's <score-partwise>"
        )
    for part in root.findall("part"):
        _add_defaults(part)
        measures = part.findall("measure")
        for measure in measures:
            _join_chords(measure)
        # Finale fills the last measure, which a pickup shortens.
        for measure in measures[:-1]:
            _write_out_last_forward(measure)
    try:
        return tostring(root, encoding="unicode")
    except RecursionError:
        raise ScoreError("its XML is nested too deep") from None


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
            files = (element for element in root.iter() if element.tag.endswith("rootfile"))
            paths = (file.get("full-path") for file in files)
            return _unpack(archive, next(paths, None) or "")
    except ScoreError:
        raise
    # zipfile, zlib and defusedxml raise exceptions of many classes.
    except Exception as error:
        raise ScoreError(f"it is a damaged archive ({failure(error)})") from error


def _unpack(archive: zipfile.ZipFile, name: str) -> bytes:
    if name not in archive.namelist():
        raise ScoreError(
            f"{name[:80]!r}, which compressed MusicXML needs, is no file in the archive"
        )
    return archive.read(name)


def count_tunes(path: Path) -> int:
    """Count the tunes of an ABC file; 0 for other files, and for files that cannot be opened."""
    if path.suffix.lower() != ".abc":
        return 0
    try:
        with path.open("rb") as lines:
            return sum(line.startswith(b"X:") for line in lines)
    except OSError:
        return 0


def _tune(data: bytes, place: int) -> bytes:
    """A tune of an ABC file, up to an empty line, with the directives at the head of the file
    (2.2).
    """
    head, *tunes = _TUNE.split(data)
    directives = re.findall(rb"(?m)^(?:%|I:).*\n", head)
    return b"".join(directives) + b"X:" + re.split(rb"\n[ \t\r]*\n", tunes[place - 1])[0]


def _check_abc(data: bytes) -> str:
    """Check the fields, and write the tune so that music21 reads all of it."""
    text = decode_text(data)
    tunes = len(_TUNE.findall(data))
    if tunes > 1:
        raise ScoreError(f"it holds {tunes} tunes; they are read one by one")
    if not re.search(r"(?m)^K:", text):
        raise ScoreError("it has no K: field, which every ABC tune needs (ABC 2.1, 3.1.14)")
    return plain_abc(text)


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
            text = decode_text(data)
            if "**kern" not in text:
                raise ScoreError("it has no **kern spine")
            return text
    return data
