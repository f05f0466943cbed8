r"""The offline default: pieces in LilyPond that are made from music21's corpus on this machine.

Every score is read with music21, written as MusicXML, reduced to its music (no lyrics, texts, page layout, beams or
stem directions), turned into LilyPond by musicxml2ly, and given a header with the Mutopia Project's fields. Repeats are
not marked, so that every measure stands and sounds once: musicxml2ly nests repeats whose beginning ABC leaves out. The
list of pieces is ``datasets_builders/names/lilybench_pieces.toml``, which says by what rule it was made.

What LilyPond does not compile, or what is longer than `MAX_CHARACTERS`, is left out, with the reason.
"""

import hashlib
import inspect
import json
import re
import sys
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache as cached
from importlib.metadata import version
from itertools import tee
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from xml.etree import ElementTree

from music_evals.datasets_builders import read_table
from music_evals.datasets_builders.lilybench.facts import composer_named
from music_evals.datasets_builders.lilybench.rows import Piece, not_measured
from music_evals.datasets_builders.msu.works import default_works
from music_evals.datasets_builders.progress import OnPiece
from music_evals.notation.cache import cache_get, cache_put
from music_evals.notation.lilypond.compiler import (
    ConversionError,
    compile_texts,
    lilypond_version,
    musicxml_to_lilypond,
)
from music_evals.notation.lilypond.syntax import block_spans, read_header
from music_evals.notation.scores.preparing import NO_NAME, ScoreError, prepare_score, score_to_musicxml
from music_evals.notation.scores.reading import read_corpus, read_score
from music_evals.notation.subprocesses import LimitError, map_in_subprocess

if TYPE_CHECKING:  # music21 takes a third of a second to import
    from music21.stream import Score

MAX_CHARACTERS: Final = 60_000  # longest text of a piece
_MOST_KEPT: Final = 1 << 20  # bytes of an entry of the cache
_NOT_MUSIC: Final = frozenset(
    {
        *("work", "movement-title", "movement-number", "identification", "defaults", "credit", "print"),
        *("score-instrument", "midi-instrument", "instrument", "part-abbreviation"),
        *("beam", "stem", "notehead", "lyric", "harmony", "figured-bass", "repeat", "ending"),
    }
)
_KEPT_DIRECTIONS: Final = frozenset({"dynamics", "wedge", "metronome", "octave-shift", "pedal"})
_CONVERTER_LINES: Final = re.compile(
    r"^(?:% automatically[^\n]*|% The score definition|\\pointAndClickOff|#\(set-global-staff-size [\d.]+\))\n",
    re.MULTILINE,
)
_BAR_NUMBER: Final = re.compile(r"\\barNumberCheck\s{1,80}#(\d+)$", re.MULTILINE)
_MIDI: Final = re.compile(r"% To create MIDI output[^\n]*\n[ \t]*%[ \t]*(\\midi \{[^\n}]*\})")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a piece comes from, and what is known of it."""

    id: str
    path: str  # in music21's corpus
    tune: int | None  # number of a tune in a file of several
    title: str
    composer: str | None
    style: str | None  # in the Mutopia Project's words
    instrument: str | None  # where none is known, the parts' names are taken


class Converted(NamedTuple):
    """A piece, or the reason why there is none; `measures` is how many the first part's MusicXML has."""

    source: Source
    piece: Piece | None = None
    measures: int = 0
    reason: str = ""


@cached
def default_sources() -> tuple[Source, ...]:
    """What the pieces are made from, by id."""
    listed = read_table("names/lilybench_pieces.toml")
    sources = [
        Source(_id(work.path), work.path, None, work.title, work.composer, listed["works"].get(work.composer), None)
        for work in default_works()
        if work.path not in listed["left_out"]
    ]
    for collection in listed["collections"].values():
        known = [collection.get(name) for name in ("composer", "style", "instrument")]
        for place, title in collection["pieces"].items():
            path, _, tune = place.partition("#")
            sources.append(Source(_id(path, tune), path, int(tune) if tune else None, title, *known))
    return tuple(sorted(sources, key=lambda source: source.id))


def first_sources() -> tuple[Source, ...]:
    """Those of the default sources that a first run takes, see ``names/first_run.toml``."""
    names = read_table("names/first_run.toml")["lilybench"]
    return tuple(source for source in default_sources() if source.id in names)


def make_pieces(
    sources: tuple[Source, ...], *, cache: Path | None = None, on_piece: OnPiece = lambda *_: None
) -> tuple[list[Piece], dict[str, str]]:
    """Make pieces, and tell of those left out the id and the reason.

    With `cache` each one is kept there: a run may want both datasets of LilyBench. `on_piece` is told "converting" and
    the number of pieces, after each.
    """
    made, to_compile = tee(_converted(sources, cache, on_piece))
    # LilyPond works on the first texts while later ones are still made.
    texts = (one.piece.text for one in to_compile if one.piece)
    # What the machine let come to no end stays, and whoever reads the pieces finds that out.
    compiled = compile_texts(texts, cache=cache, together=True)
    problems = [one.problem if one.is_measured else None for one in compiled]
    converted = list(made)
    left_out = {one.source.id: one.reason for one in converted if one.piece is None}
    found = [one.piece for one in converted if one.piece]
    left_out |= {
        piece.id: f"LilyPond does not compile it: {problem}"
        for piece, problem in zip(found, problems, strict=True)
        if problem
    }
    return [piece for piece in found if piece.id not in left_out], left_out


def _converted(sources: Sequence[Source], cache: Path | None, on_piece: OnPiece) -> Iterator[Converted]:
    known = {source: _known(cache, source) for source in sources} if cache else {}
    new = [source for source in sources if known.get(source) is None]
    made = map_in_subprocess(convert, new, few=2)
    for source in sources:
        one = known.get(source) or next(made)
        if isinstance(one, LimitError):
            one = Converted(source, reason=str(one))
        elif cache and source in new:
            piece = None if one.piece is None else asdict(one.piece)
            cache_put(cache, _entry(source), json.dumps([piece, one.measures, one.reason]).encode())
        yield one
        on_piece("converting", len(sources))


def _known(cache: Path, source: Source) -> Converted | None:
    """The piece that is kept of a source; None where there is none, or it is damaged."""
    try:
        piece, measures, reason = json.loads(cache_get(cache, _entry(source), _MOST_KEPT) or b"")
        return Converted(source, Piece(**piece) if piece else None, measures, reason)
    except (ValueError, TypeError):
        return None


def _entry(source: Source) -> str:
    parts = [_code(), version("music21"), lilypond_version(), asdict(source)]
    return f"{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}.piece"


@cached
def _code() -> str:
    """What changes with the conversion: a checksum of its code."""
    modules = (sys.modules[one.__module__] for one in (convert, prepare_score, musicxml_to_lilypond, composer_named))
    return hashlib.sha256("".join(map(inspect.getsource, modules)).encode()).hexdigest()


def convert(source: Source) -> Converted:
    """Turn a score of music21's corpus into LilyPond that is not yet compiled, or say why that cannot be.

    DatasetError where that is the machine's doing.
    """
    try:
        score = _read(source)
        _write_modes(score)
        musicxml, measures = _music_alone(score_to_musicxml(score, in_place=True))
    except ScoreError as error:
        return Converted(source, reason=str(error))
    # music21 lets out whatever its code runs into, and one score must not stop the others.
    except Exception as error:
        return Converted(source, reason=f"music21 fails on it ({type(error).__name__}: {str(error)[:200]})")
    try:
        text = _with_header(musicxml_to_lilypond(musicxml), source, _instrument(score))
    except ConversionError as error:
        if not error.is_measured:
            raise not_measured([source.id]) from error
        return Converted(source, reason=str(error))
    if len(text) > MAX_CHARACTERS:
        return Converted(source, reason=f"its text has {len(text):,} characters; {MAX_CHARACTERS:,} are allowed")
    return Converted(source, Piece(source.id, raw=text, text=text, header=read_header(text)), measures)


def _id(path: str, tune: str = "") -> str:
    name = str(PurePosixPath(path).with_suffix("") if not tune else f"{PurePosixPath(path).with_suffix('')}-{tune}")
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._/-]+", "-", plain)


def _read(source: Source) -> "Score":
    from music21 import corpus

    path = Path(str(corpus.getWork(source.path)))
    if source.tune is None:
        read = read_score(path) if path.suffix == ".abc" else read_corpus(source.path)
        return prepare_score(read, in_place=True)
    with tempfile.TemporaryDirectory() as folder:
        tune = Path(folder) / "tune.abc"
        tune.write_text(_tune(path.read_text("utf-8", errors="replace"), source.tune), encoding="utf-8")
        return prepare_score(read_score(tune), in_place=True)


def _write_modes(score: Any) -> None:
    """Make key signatures without a mode minor where all others of as many sharps are: they would become major."""
    from music21.key import Key

    signs = list(score.recurse().getElementsByClass("KeySignature"))
    for sign in (sign for sign in signs if not isinstance(sign, Key)):
        if {each.mode for each in signs if isinstance(each, Key) and each.sharps == sign.sharps} == {"minor"}:
            sign.activeSite.replace(sign, sign.asKey("minor"))


def _tune(book: str, number: int) -> str:
    """A tune out of a file of many: from its number to the next blank line."""
    lines = iter(book.splitlines())
    for line in lines:
        if re.fullmatch(rf"X:\s*0*{number}\s*", line):
            break
    else:
        raise ScoreError(f"the file holds no tune {number}")
    tune = [f"X:{number}"]
    for line in lines:
        if not line.strip() or line.startswith("X:"):
            break
        tune.append(line)
    return "\n".join(tune) + "\n"


def _music_alone(musicxml: str) -> tuple[str, int]:
    """Leave out of MusicXML what is not music, and tell how many measures the first part has.

    Page layout is what musicxml2ly fails on; texts and lyrics are often badly scanned, and make up half of some files;
    parts may have random identifiers. Measure 0, which is the pickup (see `prepare_score`), and no other is marked as
    one that is not counted, for musicxml2ly fills up any other that is short.
    """
    root = ElementTree.fromstring(musicxml)
    for element in list(root.iter()):
        for child in list(element):
            kinds = {one.tag for kind in child.findall("direction-type") for one in kind}
            if child.tag in _NOT_MUSIC or not kinds <= _KEPT_DIRECTIONS:
                element.remove(child)
        element.attrib.pop("color", None)
    names = {part.attrib["id"]: f"P{number}" for number, part in enumerate(root.iter("score-part"), 1)}
    for part in [*root.iter("score-part"), *root.findall("part")]:
        part.attrib["id"] = names[part.attrib["id"]]
    for measure in root.iter("measure"):
        measure.attrib["implicit"] = "yes" if measure.attrib["number"] == "0" else "no"
    first = root.find("part")
    return ElementTree.tostring(root, encoding="unicode"), 0 if first is None else len(first.findall("measure"))


def _instrument(score: Any) -> str:
    """The instruments by the names of the parts, each once."""
    names = (" ".join((part.partName or "").split()) for part in score.parts)
    return ", ".join(dict.fromkeys(name for name in names if name not in ("", NO_NAME)))


def _with_header(text: str, source: Source, instrument: str) -> str:
    """Put our header in the place of the converter's, and leave out its page settings and remarks."""
    settings = [span for command in ("\\header", "\\paper", "\\layout") for span in block_spans(text, command)]
    score = block_spans(text, "\\score")[0][0]
    for start, end in sorted(settings, reverse=True):
        if start < score:
            text = text[:start] + text[end:].removeprefix("\n")
    text = _CONVERTER_LINES.sub("", text)
    text = _MIDI.sub(r"\1", _BAR_NUMBER.sub(r"% \1", text))
    version, _, music = text.partition("\n")
    music = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in music.strip().splitlines()))
    return f"{version}\n\n{_header(source, instrument)}\n\n{music}\n"


def _header(source: Source, instrument: str) -> str:
    """A header such as those of the Mutopia Project, where title and composer stand twice."""
    composer = composer_named(source.composer) if source.composer else None
    stated = composer.name_and_years if composer else source.composer or "Traditional"
    fields = {
        "title": source.title,
        "composer": stated,
        "mutopiatitle": source.title,
        "mutopiacomposer": source.composer or "Traditional",
        "mutopiainstrument": source.instrument or instrument or None,
        "style": source.style,
        "source": f"music21 corpus, {source.path}" + (f", no. {source.tune}" if source.tune else ""),
    }
    quoted = {name: text.replace("\\", "\\\\").replace('"', '\\"') for name, text in fields.items() if text}
    return "\n".join(["\\header {", *(f'  {name} = "{text}"' for name, text in quoted.items()), "}"])
