"""Score files that are made to hurt: refused with a named reason, or read; the files beside them
come to no harm.
"""

import io
import random
import zipfile
from itertools import islice
from pathlib import Path

import mido

from music_evals.datasets_builders.msu.computed import build_own
from music_evals.datasets_builders.msu.works import Work
from music_evals.notation.scores.preparing import ScoreError
from music_evals.notation.subprocesses import Allowance, LimitError, map_in_subprocess
from tests.notation.midi.midi_files import saved
from tests.notation.scores.test_reading import GOOD, LAUGHS, NOTE, OUTSIDE, XML, midi, mxl

TUNE = Path(__file__).parents[1] / "notation/abc/study.abc"
IN_CI = 12


def xml(attributes="", inside="", notes=1):
    music = XML.format(doctype="", note=NOTE.format(4) * notes + inside)
    return music.replace("</attributes>", f"{attributes}</attributes>").encode()


def abc(music, header=""):
    return f"X:1\nL:1/4\nM:4/4\n{header}K:C\n{music}\n".encode()


def kern(line, head="*M4/4"):
    return f"**kern\n{head}\n=1\n{line}\n==\n*-\n".encode()


def metre(numerator, denominator):
    signature = mido.MetaMessage("time_signature", numerator=numerator, denominator=denominator)
    return saved(
        [signature, mido.Message("note_on", note=60), mido.Message("note_off", note=60, time=480)]
    )


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def files():
    """Files by name, the worst first."""
    huge, dozen = "9" * 9, "9" * 12
    yield "beats.xml", xml(f"<time><beats>{huge}</beats><beat-type>4</beat-type></time>")
    yield "metre.abc", abc("C4|").replace(b"M:4/4", b"M:99999/4")
    yield "unit.abc", abc("C4|").replace(b"L:1/4", b"L:1/99999999")
    yield "bomb.mxl", mxl(music=" " * 60_000_000)
    yield "length.krn", kern("99999999c")
    yield "metre.mid", metre(255, 2**200)
    yield "octaves.abc", abc("C" + "'" * 100_000)
    yield "fifths.xml", xml(f"<key><fifths>{huge}</fifths></key>")
    yield "laughs.xml", XML.format(doctype=LAUGHS, note="").encode()
    yield "cut.mid", midi(480)[:-3]
    for tag in ("beat-type", "staves"):
        yield (
            f"{tag}.xml",
            xml(f"<time><beats>4</beats><beat-type>4</beat-type></time><{tag}>{dozen}</{tag}>"),
        )
    yield (
        "sum.xml",
        xml(f"<time><beats>{'+'.join(['999'] * 9)}</beats><beat-type>1</beat-type></time>"),
    )
    yield (
        "sums.xml",
        xml(f"<time><beats>{'+'.join(['1'] * 99_999)}</beats><beat-type>4</beat-type></time>"),
    )
    yield "no-beats.xml", xml("<time><beats>0</beats><beat-type>0</beat-type></time>")
    yield "few-beats.xml", xml("<time><beats>-4</beats><beat-type>4</beat-type></time>")
    yield "divisions.xml", xml().replace(b"<divisions>1<", b"<divisions>0<")
    yield "tiny.xml", xml().replace(b"<divisions>1<", b"<divisions>9999999<")
    yield "octave.xml", xml().replace(b"<octave>4<", f"<octave>{huge}<".encode())
    yield "alter.xml", xml().replace(b"</step>", f"</step><alter>{huge}</alter>".encode())
    yield "double.xml", xml().replace(b"</step>", b"</step><alter>99</alter>")
    ratio = "<time-modification><actual-notes>{0}</actual-notes><normal-notes>{0}</normal-notes></time-modification>"
    yield "tuplet.xml", xml().replace(b"</type>", f"</type>{ratio.format(huge)}".encode())
    yield "no-tuplet.xml", xml().replace(b"</type>", f"</type>{ratio.format(0)}".encode())
    yield "dots.xml", xml().replace(b"</type>", b"</type>" + b"<dot/>" * 2_000)
    yield "ending.xml", xml(inside=f'<barline><ending number="1-{huge}" type="start"/></barline>')
    yield (
        "times.xml",
        xml(inside=f'<barline><repeat direction="backward" times="{huge}"/></barline>'),
    )
    yield "transposed.xml", xml(f"<transpose><chromatic>{huge}</chromatic></transpose>")
    yield "lines.xml", xml(f"<staff-details><staff-lines>{huge}</staff-lines></staff-details>")
    yield "rests.xml", xml(f"<measure-style><multiple-rest>{huge}</multiple-rest></measure-style>")
    yield "notes.xml", xml(notes=200_001)
    yield "forward.xml", xml(inside="<forward><duration>9999999</duration></forward>")
    yield "back.xml", xml(inside="<backup><duration>99999</duration></backup>" + NOTE.format(1))
    yield (
        "measures.xml",
        xml().replace(b"</measure>", b"</measure>" + b'<measure number="1"/>' * 10_001),
    )
    yield (
        "parts.xml",
        xml().replace(
            b"</part>", b"</part>" + b'<part id="P1"><measure number="1"/></part>' * 200_001
        ),
    )
    yield "deep.xml", xml("<a>" * 99_999 + "</a>" * 99_999)
    yield "outside.xml", XML.format(doctype=OUTSIDE, note="").encode()
    yield "number.xml", xml().replace(b'number="7"', f'number="{dozen * 9}"'.encode())
    yield "type.xml", xml().replace(b"whole", b"1024th" * 99)
    yield "step.xml", xml().replace(b"<step>C<", b"<step>H<")
    yield "utf16.xml", b"\xff\xfe" + GOOD.encode("utf-16-le")
    yield "encoding.xml", GOOD.replace("1.0", '1.0" encoding="x-none').encode()
    yield "nul.xml", xml() + b"\0" * 100
    yield "unclosed.xml", xml()[:-20]
    yield "timewise.xml", GOOD.replace("partwise", "timewise").encode()
    yield "attributes.xml", xml("".join(f"<a{n}/>" for n in range(50_000)))
    yield "name.xml", GOOD.replace("<part-name>A<", f"<part-name>{'A' * 1_000_000}<").encode()
    yield "many.mxl", zipped({f"{n}": b"" for n in range(20_000)})
    yield "nested.mxl", mxl(music=mxl().decode("latin-1"))
    yield "laughs.mxl", mxl(music=XML.format(doctype=LAUGHS, note=""))
    yield (
        "beats.mxl",
        mxl(music=xml(f"<time><beats>{huge}</beats><beat-type>4</beat-type></time>").decode()),
    )
    yield "container.mxl", zipped({"META-INF/container.xml": LAUGHS.encode() + b"<a/>"})
    yield "link.mxl", mxl("../../../etc/passwd")
    yield "cut.mxl", mxl()[:-40]
    yield "octaves-below.abc", abc("c" + "," * 99)
    yield "slashes.abc", abc("C" + "/" * 99)
    yield "broken.abc", abc("C" + ">" * 60 + "D")
    yield "tuplet.abc", abc("(9999:1:9999CDE|")
    yield "tuplets.abc", abc("(9:1:9" * 5_000 + "C|")
    yield "chord.abc", abc("[" * 20_000 + "C" + "]" * 20_000)
    yield "graces.abc", abc("{" * 20_000 + "C" + "}" * 20_000)
    yield "slurs.abc", abc("(" * 20_000 + "C" + ")" * 20_000)
    yield "ties.abc", abc("C-" * 3_000)
    yield "rests.abc", abc("Z999|" * 2_000 + "C|")
    yield "voices.abc", abc("\n".join(f"V:{n}\nC|" for n in range(5_000)))
    yield "long.abc", abc("C999" * 20_000, "").replace(b"L:1/4", b"L:1")
    yield "inline.abc", abc("C4|[M:999999/1]C4|[L:1/999999]C4|")
    yield "tempo.abc", abc("C4|", f"Q:1/{huge}={huge}\n")
    yield "bars.abc", abc("C|" + "|:" * 5_000 + "C|")
    yield "key.abc", abc("C4|").replace(b"K:C", b"K:" + b"C#" * 9_999)
    yield "nul.abc", abc("C4|\0")
    yield "quotes.abc", abc('"' * 9_999 + "C4|")
    yield "fields.abc", abc("C4|", "T:x\n" * 50_000)
    yield "metre.krn", kern("4c", head="*M99999/4")
    yield "zeros.krn", kern("0" * 60 + "c")
    yield "dots.krn", kern("4" + "." * 999 + "c")
    yield "octaves.krn", kern("4" + "c" * 9_999)
    yield "rational.krn", kern("1%9999999c")
    yield (
        "spines.krn",
        kern("4c", head="*M4/4\n" + "\n".join("\t".join(["*^"] * 2**n) for n in range(10))),
    )
    yield "key.krn", kern("4c", head="*k[" + "f#" * 9_999 + "]")
    yield "chord.krn", kern(" ".join(["4c"] * 20_000))
    yield "long.mid", midi(2**27)
    yield "smpte.mid", midi(480).replace(b"\x01\xe0", b"\xe7\x28", 1)
    yield "no-metre.mid", metre(0, 1)
    yield "tracks.mid", midi(480).replace(b"\0\0\0\x06\0\0\0\x01", b"\0\0\0\x06\0\x01\xff\xff", 1)
    yield (
        "sounding.mid",
        saved([mido.Message("note_on", note=n % 128, time=1) for n in range(20_000)]),
    )
    yield (
        "meta.mid",
        saved([mido.MetaMessage("text", text="x" * 2_000_000), mido.Message("note_on", note=60)]),
    )
    yield "random.mid", b"MThd" + random.Random(1).randbytes(2_000)


def load(work):
    """The name of a score, or the reason why it is none."""
    try:
        work.load()
    except ScoreError as error:
        return str(error)
    return work.name


def test_no_score_file_ends_a_build_or_holds_it(tmp_path, counting, full):
    made = dict(files()) if full else dict(islice(files(), IN_CI))
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    if full:
        (tmp_path / "good.abc").write_bytes(TUNE.read_bytes())
        plan = build_own(tmp_path)
        told = dict(plan.left_out or {})
        read = {score["score_id"] for scores in plan.scores.values() for score in scores}
        assert "good.abc" in read
    else:
        works = [Work(name, str(tmp_path / name)) for name in made]
        few = Allowance(cpu=5, memory=256 << 20)  # so that no file takes long
        told = dict(zip(made, map_in_subprocess(load, works, lambda _: few), strict=True))
    with counting("score files") as tally:
        for name in made:
            with tally.case(name):
                if full:
                    assert name in read or told[name]
                    assert "Traceback" not in told.get(name, "")
                    continue
                # A score that was read has its name, and one that was not, a reason in a line.
                assert isinstance(told[name], LimitError) or 0 < len(told[name]) < 1000
