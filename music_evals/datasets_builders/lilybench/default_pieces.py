r"""The offline default: LilyPond pieces that are made from music21's corpus on this machine.

Every score is read with music21 and written as MusicXML. It is reduced to its music (no lyrics,
texts, page layout, beams or stem directions), converted to LilyPond by musicxml2ly, and given a
header with the Mutopia Project's fields. Repeats are not marked, so that every measure is written
and sounds once: musicxml2ly nests repeats whose beginning ABC leaves out.
``datasets_builders/names/lilybench_pieces.toml`` lists the pieces, and the rule by which they were
chosen.

Pieces that LilyPond does not compile, or that are longer than `MAX_CHARACTERS`, are left out, with
the reason.
"""

import re
import tempfile
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache as cached
from itertools import chain, pairwise, takewhile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.lilybench.facts import composer_named
from music_evals.datasets_builders.lilybench.rows import LeftOut, Piece, not_measured
from music_evals.datasets_builders.msu.works import default_works
from music_evals.datasets_builders.progress import OnPiece
from music_evals.notation.lilypond.compiler import compile_texts, lilypond_cache
from music_evals.notation.lilypond.converters import ConversionError, musicxml_to_lilypond
from music_evals.notation.lilypond.syntax.header import read_header
from music_evals.notation.lilypond.syntax.lexer import blocks
from music_evals.notation.scores.preparing import (
    NO_NAME,
    ScoreError,
    prepare_score,
    score_to_musicxml,
)
from music_evals.notation.scores.reading import read_corpus, read_score
from music_evals.notation.subprocesses import map_in_subprocess

if TYPE_CHECKING:  # importing music21 takes a third of a second
    from music21.stream import Score

MAX_CHARACTERS = 60_000  # longest text of a piece
_NOT_MUSIC = {
    "work",
    "movement-title",
    "movement-number",
    "identification",
    "defaults",
    "credit",
    "print",
    "score-instrument",
    "midi-instrument",
    "instrument",
    "part-abbreviation",
    "beam",
    "stem",
    "notehead",
    "lyric",
    "harmony",
    "figured-bass",
    "repeat",
    "ending",
}
_KEPT_DIRECTIONS = frozenset({"dynamics", "wedge", "metronome", "octave-shift", "pedal"})
_CONVERTER_LINES = re.compile(
    r"^(?:% automatically[^\n]*|% The score definition|\\pointAndClickOff|#\(set-global-staff-size "
    r"[\d.]+\))\n",
    re.MULTILINE,
)
_BAR_NUMBER = re.compile(r"\\barNumberCheck\s{1,80}#(\d+)$", re.MULTILINE)
_MIDI = re.compile(r"% To create MIDI output[^\n]*\n[ \t]*%[ \t]*(\\midi \{[^\n}]*\})")


@dataclass(frozen=True, slots=True)
class Source:
    """A score of music21's corpus, and known facts about it."""

    id: str
    path: str  # in the corpus
    title: str
    tune: int | None = None  # number of the tune in a file of several
    composer: str | None = None
    style: str | None = None  # in the Mutopia Project's words
    instrument: str | None = None  # None for the names of the parts
    abc: str | None = None  # the score itself, if it is not of the corpus


@cached
def default_sources() -> tuple[Source, ...]:
    """Return the sources of all pieces, by id."""
    table = read_table("names/lilybench_pieces.toml")
    sources = []
    for work in default_works():
        if work.path not in table["left_out"]:
            style = table["works"].get(work.composer)
            source = Source(_id(work.path), work.path, work.title, None, work.composer, style)
            sources.append(source)
    for collection in table["collections"].values():
        facts = [collection.get(name) for name in ("composer", "style", "instrument")]
        for place, title in collection["pieces"].items():
            path, _, tune = place.partition("#")
            number = int(tune) if tune else None
            sources.append(Source(_id(path, tune), path, title, number, *facts))
    return tuple(sorted(sources, key=lambda source: source.id))


def first_sources(lists: Sequence[str] = ("lilybench", "lilybench_further")) -> tuple[Source, ...]:
    """Return the sources of a first run, which these lists of ``names/first_run.toml`` name."""
    table = read_table("names/first_run.toml")
    names = set(chain.from_iterable(table[key] for key in lists))
    return tuple(source for source in default_sources() if source.id in names)


def make_pieces(
    sources: Sequence[Source], *, on_piece: OnPiece = lambda *_: None
) -> tuple[list[Piece], LeftOut]:
    """Make pieces; also return id → reason for those that were left out.

    `on_piece` is called with "converting" and the number of pieces after each.
    """
    pieces = []
    left_out = {}
    for source, result in zip(sources, map_in_subprocess(convert, sources), strict=True):
        if isinstance(result, Piece):
            pieces.append(result)
        else:
            left_out[source.id] = str(result)
        on_piece("converting", len(sources))
    # A piece that the machine stopped is kept; the error comes when the pieces are read.
    runs = compile_texts([piece.text for piece in pieces], cache=lilypond_cache(), together=True)
    for piece, run in zip(pieces, runs, strict=True):
        if run.is_measured and run.problem:
            left_out[piece.id] = f"LilyPond does not compile it: {run.problem}"
    return [piece for piece in pieces if piece.id not in left_out], left_out


def convert(source: Source) -> Piece | str:
    """Convert a score of music21's corpus to LilyPond, not yet compiled, or return the reason why
    that fails.

    DatasetError if the machine is the reason.
    """
    try:
        score = read_source(source)
        _write_modes(score)
        musicxml = _music_alone(score_to_musicxml(score, in_place=True))
    except ScoreError as error:
        return str(error)
    # music21 passes on all errors of its code, and one score must not stop the others.
    except Exception as error:
        return f"music21 fails on it ({type(error).__name__}: {str(error)[:200]})"
    try:
        names = (" ".join((part.partName or "").split()) for part in score.parts)
        instrument = ", ".join(dict.fromkeys(name for name in names if name not in ("", NO_NAME)))
        text = _with_header(musicxml_to_lilypond(musicxml), source, instrument)
    except ConversionError as error:
        if not error.is_measured:
            raise not_measured([source.id]) from error
        return str(error)
    if len(text) > MAX_CHARACTERS:
        return f"its text has {len(text):,} characters; {MAX_CHARACTERS:,} are allowed"
    return Piece(source.id, text, read_header(text))


def _id(path: str, tune: str = "") -> str:
    name = str(PurePosixPath(path).with_suffix("")) + (f"-{tune}" if tune else "")
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._/-]+", "-", ascii_name)


def read_source(source: Source) -> "Score":
    """Read a score of music21's corpus, or one in ABC."""
    from music21 import corpus

    path = Path() if source.abc else Path(str(corpus.getWork(source.path)))
    if source.abc is None and source.tune is None:
        score = read_score(path) if path.suffix == ".abc" else read_corpus(source.path)
        return prepare_score(score)
    with tempfile.TemporaryDirectory() as folder:
        tune = Path(folder) / "tune.abc"
        text = source.abc or _tune(path.read_text("utf-8", errors="replace"), source.tune or 0)
        tune.write_text(text, encoding="utf-8")
        try:
            return prepare_score(read_score(tune))
        except ScoreError as error:
            # Two builds list the same reasons, wherever their files were.
            raise ScoreError(str(error).replace(f"{folder}/", "")) from error


def _tune(book: str, number: int) -> str:
    """A tune by its own number, which is not always its place in the book."""
    lines = iter(book.splitlines())
    if not any(re.fullmatch(rf"X:\s*0*{number}\s*", line) for line in lines):
        raise ScoreError(f"the file holds no tune {number}")
    tune = takewhile(lambda line: line.strip() and not line.startswith("X:"), lines)
    return "\n".join([f"X:{number}", *tune, ""])


def _write_modes(score: Any) -> None:
    """Make key signatures without a mode minor if all others with as many sharps are; they would
    become major.
    """
    from music21.key import Key

    signatures = list(score.recurse().getElementsByClass("KeySignature"))
    keys = [signature for signature in signatures if isinstance(signature, Key)]
    for signature in signatures:
        modes = {key.mode for key in keys if key.sharps == signature.sharps}
        if not isinstance(signature, Key) and modes == {"minor"}:
            signature.activeSite.replace(signature, signature.asKey("minor"))


def _music_alone(musicxml: str) -> str:
    """MusicXML without what is not music.

    musicxml2ly fails on page layout. Texts and lyrics are often badly scanned, and make up half of
    some files. Random identifiers of parts are replaced. Only measure 0, the pickup (see
    `numbering`), is marked as one that is not counted, because musicxml2ly fills up any other short
    measure. So each piece of a divided measure has a number.
    """
    root = ElementTree.fromstring(musicxml)
    for element in list(root.iter()):
        for child in list(element):
            directions = {direction.tag for direction in child.iterfind("direction-type/*")}
            if child.tag in _NOT_MUSIC or not directions <= _KEPT_DIRECTIONS:
                element.remove(child)
        element.attrib.pop("color", None)
    score_parts = list(root.iter("score-part"))
    names = {part.attrib["id"]: f"P{number}" for number, part in enumerate(score_parts, 1)}
    for part in [*score_parts, *root.findall("part")]:
        part.attrib["id"] = names[part.attrib["id"]]
    for part in root.findall("part"):
        _number_measures(part.findall("measure"))
    return ElementTree.tostring(root, encoding="unicode")


def _number_measures(measures: Sequence[ElementTree.Element]) -> None:
    for before, measure in pairwise([measures[0], *measures]):
        # A piece of a divided measure becomes a measure of its own.
        if not measure.attrib["number"].isdigit():
            for line in before.findall("barline[bar-style='none']"):
                before.remove(line)
    first = 0 if measures[0].attrib["number"] == "0" else 1
    for number, measure in enumerate(measures, first):
        measure.attrib |= {"number": str(number), "implicit": "no" if number else "yes"}


def _with_header(text: str, source: Source, instrument: str) -> str:
    """Replace the converter's header by ours, and remove its page settings and remarks."""
    score = blocks(text, "\\score")[0][0].start
    commands = ("\\header", "\\paper", "\\layout")
    settings = chain.from_iterable(blocks(text, command) for command in commands)
    for block in sorted(settings, key=lambda block: block[0].start, reverse=True):
        start, end = block[0].start, block[-1].end
        if start < score:
            text = text[:start] + text[end:].removeprefix("\n")
    text = _CONVERTER_LINES.sub("", text)
    text = _MIDI.sub(r"\1", _BAR_NUMBER.sub(r"% \1", text))
    version, _, music = text.partition("\n")
    music = "\n".join(line.rstrip() for line in music.strip().splitlines())
    music = re.sub(r"\n{3,}", "\n\n", music)
    return f"{version}\n\n{_header(source, instrument)}\n\n{music}\n"


def _header(source: Source, instrument: str) -> str:
    """A header like those of the Mutopia Project, in which title and composer appear twice."""
    composer = composer_named(source.composer or "")
    stated = source.composer or "Traditional"
    tune = f", no. {source.tune}" if source.tune else ""
    fields = {
        "title": source.title,
        "composer": composer.name_and_years if composer else stated,
        "mutopiatitle": source.title,
        "mutopiacomposer": stated,
        "mutopiainstrument": source.instrument or instrument,
        "style": source.style,
        "source": f"music21 corpus, {source.path}{tune}",
    }
    lines = ["\\header {"]
    for name, text in fields.items():
        if text:
            quoted = text.replace("\\", "\\\\").replace('"', '\\"')
            lines.append(f'  {name} = "{quoted}"')
    return "\n".join([*lines, "}"])
