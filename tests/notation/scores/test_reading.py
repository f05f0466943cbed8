"""Score files: every format, and files that are damaged or hostile."""

import io
import tomllib
import zipfile
from pathlib import Path

import mido
import pytest
from music21 import converter, corpus, note, stream
from music21.musicxml.m21ToXml import GeneralObjectExporter

from music_evals.notation.scores import reading
from music_evals.notation.scores.preparing import ScoreError, prepare_score, score_to_musicxml
from music_evals.notation.scores.reading import allowance_of_score, read_score
from music_evals.notation.subprocesses import LimitError, map_in_subprocess
from tests.notation.midi.midi_files import saved

XML = (
    '<?xml version="1.0"?>{doctype}<score-partwise><part-list><score-part '
    'id="P1"><part-name>A</part-name></score-part>'
    '</part-list><part id="P1"><measure '
    'number="7"><attributes><divisions>1</divisions></attributes>{note}</measure>'
    "</part></score-partwise>"
)
NOTE = "<note><pitch><step>C</step><octave>4</octave></pitch><duration>{}</duration><type>whole</type></note>"
GOOD = XML.format(doctype="", note=NOTE.format(4))
LAUGHS = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;">]>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>'
CONTAINER = '<container><rootfiles><rootfile full-path="{}"/></rootfiles></container>'


def mxl(rootfile="score.xml", music=GOOD, container=True):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        if container:
            archive.writestr("META-INF/container.xml", CONTAINER.format(rootfile))
        archive.writestr("score.xml", music)
    return buffer.getvalue()


def midi(ticks):
    return saved(
        [mido.Message("note_on", note=60), mido.Message("note_off", note=60, time=ticks)],
        resolution=480,
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        *tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["files"],
        ("a.xml", XML.format(doctype=LAUGHS, note="").encode(), "entities"),
        ("a.xml", XML.format(doctype=OUTSIDE, note="").encode(), "entities"),
        ("a.xml", XML.format(doctype="", note="").encode(), "no notes"),
        ("a.xml", b"<a>" * 20_000 + b"</a>" * 20_000, "root element"),
        ("a.mxl", mxl(container=False), "container.xml"),
        ("a.mxl", mxl("../../etc/passwd"), "no file in the archive"),
        ("a.mxl", mxl("/etc/passwd"), "no file in the archive"),
        ("a.mxl", mxl("other.xml"), "no file in the archive"),
        (
            "a.xml",
            GOOD.replace("<div", "<a>" * 9_999 + "</a>" * 9_999 + "<div").encode(),
            "too deep",
        ),
        ("a.mxl", mxl(music=XML.format(doctype=LAUGHS, note="")), "entities"),
        ("a.mid", midi(480)[:-6], "no MIDI file|no notes"),
    ],
)
def test_bad_files_are_told_apart(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ScoreError, match=message) as caught:
        read_score(path)
    assert str(path) in str(caught.value)


def test_headers_that_lie_about_sizes_and_files_that_are_not_there(tmp_path):
    path = tmp_path / "a.mxl"
    data = mxl(music=" " * 5_000_000)
    path.write_bytes(data.replace((5_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(ScoreError):
        read_score(path)
    with pytest.raises(ScoreError, match="cannot be opened"):
        read_score(tmp_path / "b.xml")


BEATS = "<time><beats>999999999</beats><beat-type>4</beat-type></time>"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.abc", b"X:1\nM:99999/4\nK:C\nC|\n"),
        ("a.xml", GOOD.replace("<div", f"{BEATS}<div").encode()),
        ("a.mxl", mxl(music=GOOD.replace("</measure>", "<x/>" * 10_000_000 + "</measure>"))),
    ],
)
def test_a_small_score_cannot_take_much_memory(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    (result,) = map_in_subprocess(count_notes, [path], lambda _: allowance_of_score(len(content)))
    # A slow machine may come to the limit of time first.
    assert isinstance(result, LimitError), result


def count_notes(path):
    return len(read_score(path).recurse().notes)


def test_the_tunes_of_an_abc_file_are_read_one_by_one(tmp_path):
    path = tmp_path / "book.abc"
    head = "Tunes of the village\n%%propagate-accidentals octave\n\n"
    path.write_text(
        f"{head}X:7\nL:1/4\nK:C\nC D |\n\nRemarks\n\nX:9\nL:1/4\nK:C\n^F f |\n\nMore remarks\n"
    )
    assert [reading.count_tunes(path), reading.count_tunes(tmp_path / "no.abc")] == [2, 0]
    tunes = [
        [note.pitch.midi for note in read_score(path, tune).recurse().notes] for tune in (1, 2)
    ]
    assert tunes == [[60, 62], [66, 77]]
    with pytest.raises(ScoreError, match="2 tunes"):
        read_score(path)


def test_measures_are_numbered_from_0_after_a_pickup():
    tune = converter.parse("X:1\nL:1/4\nM:3/4\nK:G\nD | G A B | d3 |]\n", format="abc")
    prepared = prepare_score(tune)
    assert [measure.number for measure in prepared.parts[0].getElementsByClass("Measure")] == [
        0,
        1,
        2,
    ]
    assert (prepared.metadata.title, prepared.metadata.composer) == ("", "")
    with pytest.raises(ScoreError, match="several pieces in one have to be given one by one"):
        prepare_score(corpus.parse("josquin/laDeploration"))


def test_notes_that_are_not_printed_are_no_notes_of_the_score():
    """As the sixteenths that play a trill, in a voice of their own or after the note in the same
    one.
    """
    measure = stream.Measure([stream.Voice([note.Note("C4", type="whole")])], number=1)
    for name, text in (("played", "d16 c d c d c d c d c d c d c d c"), ("partly", "e2 d4 c")):
        voice = stream.Voice(converter.parse(f"tinynotation: 4/4 {text}").recurse().notes, id=name)
        for unprinted in list(voice.notes)[name == "partly" :]:
            unprinted.style.hideObjectOnPrint = True
        measure.insert(0, voice)
    prepared = prepare_score(stream.Score([stream.Part([measure])]))
    assert [element.nameWithOctave for element in prepared.recurse().notes] == ["C4", "E4"]
    assert {voice.quarterLength for voice in prepared.recurse().getElementsByClass("Voice")} == {
        4.0
    }


def test_the_same_score_is_the_same_musicxml_on_another_day():
    score = prepare_score(converter.parse("tinyNotation: 4/4 c1"))
    assert "<encoding-date>" in GeneralObjectExporter(score).parse().decode()
    assert "encoding-date" not in score_to_musicxml(score)
    trios = (
        prepare_score(corpus.parse("corelli/opus3no1/1grave", forceSource=True)) for _ in range(2)
    )
    first, second = map(score_to_musicxml, trios)
    assert first == second
