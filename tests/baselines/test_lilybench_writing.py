"""The pieces that the baselines write: what was asked for, as LilyPond itself understands it."""

from collections.abc import Callable
from fractions import Fraction
from string import Template

import pytest

from music_evals.baselines.conversation import Conversation, Turn
from music_evals.baselines.lilybench import conversation as questions
from music_evals.baselines.lilybench.writing import guess, read, recognises, reply_before
from music_evals.benchmarks.prompts import load_prompts
from music_evals.notation.lilypond import compiler
from music_evals.notation.lilypond.compiler import compile_texts
from music_evals.notation.lilypond.sandbox import SandboxError, available_confinement
from music_evals.notation.lilypond.structure import Structure, read_structures
from music_evals.notation.lilypond.syntax import read_header

WORDING = load_prompts("lilybench")["generation"]


def runs_lilypond() -> bool:
    try:
        compiler.lilypond_version()
        available_confinement()
    except (compiler.LilyPondError, SandboxError):
        return False
    return True


needs_lilypond = pytest.mark.skipif(not runs_lilypond(), reason="LilyPond is not installed or cannot be confined")


def request(*, demonstration: str = "", **described: str) -> Conversation:
    lines = [Template(WORDING["description"][name]).substitute(value=value) for name, value in described.items()]
    prompt = Template(WORDING["prompt"]).substitute(description="\n".join(lines))
    turns = [Turn("system", WORDING["instruction"])]
    if demonstration:
        shown = Template(WORDING["demonstration"]).substitute(score=demonstration)
        turns += [Turn("user", Template(WORDING["prompt"]).substitute(description="Key: B major"))]
        turns += [Turn("assistant", shown)]
    return Conversation((*turns, Turn("user", prompt)))


def repair(conversation: Conversation, reply: str) -> Conversation:
    asked = Template(WORDING["repair"]).substitute(problem="score.ly:3:1: error: syntax error")
    return Conversation((*conversation.turns, Turn("assistant", reply), Turn("user", asked)))


def code(reply: str) -> str:
    first, *lines, last = reply.split("\n")
    assert (first, last) == ("```lilypond", "```")
    return "\n".join(lines) + "\n"


NO_KEYS = ("G-sharp major", "H Dur")
# Description, then the metre and the number of staves that are to come of it. The key is the one asked for, if any.
ASKED: list[tuple[dict[str, str], str, int]] = [
    ({"form": "concerto", "ensemble": "violin, viola, cello", "key": "G major", "metre": "4/4"}, "4/4", 3),
    ({"form": "suite", "part": "2: minuetto", "key": "A minor"}, "3/4", 2),
    ({"form": "Suite", "part": "5: gigue", "ensemble": "flute", "key": "E-flat major"}, "6/8", 1),
    ({"form": "sinfonia", "ensemble": "strings", "part": "1: allegro molto", "key": "B-flat major"}, "4/4", 4),
    ({"form": "aria", "ensemble": "voice, violin, harpsichord", "key": "F-sharp minor", "metre": "12/8"}, "12/8", 3),
    ({"form": "sonata", "ensemble": "two violins and basso continuo", "part": "2: adagio"}, "4/4", 3),
    ({"form": "cantata", "part": "4: Recitativo", "ensemble": "tenor, cello", "key": "C minor"}, "4/4", 2),
    ({"form": "motet", "ensemble": "soprano, alto, tenor, bass", "metre": "3/2", "key": "D dorian"}, "3/2", 4),
    ({"form": "opera", "part": "3: siciliana", "ensemble": "oboe, bassoon, contrabass"}, "12/8", 3),
    ({"form": "suite", "part": "6: Bourrée I", "ensemble": "church organ"}, "2/2", 2),
    ({"form": "suite", "part": "loure", "ensemble": "viola da gamba, theorbo"}, "6/4", 2),
    ({"ensemble": "trumpet, trumpet, timpani", "metre": "2/4", "key": "D major"}, "2/4", 3),
    ({"ensemble": "timpani", "metre": "5/4"}, "5/4", 1),
    ({"ensemble": "kazoo, contrabass", "metre": "7/8", "key": "C-sharp major"}, "7/8", 2),
    ({"ensemble": "9 ocarinas, piccolo", "metre": "3/16", "key": "A-flat minor"}, "3/16", 2),
    ({"ensemble": "orchestra, harp, choir", "metre": "9/8", "key": "D-sharp minor"}, "9/8", 8),
    ({"key": "G-sharp major", "metre": "4/0"}, "4/4", 2),
    ({"key": "H Dur", "metre": "99/7", "ensemble": ";;;", "part": "12:"}, "4/4", 2),
    ({}, "4/4", 2),
    ({"ensemble": "1/2 + 3", "metre": "1/4", "key": "B locrian"}, "1/4", 2),
    (
        {
            "composer": 'X" } #(system "true") \\include "y.ly" % {',
            "form": "aria } \\markup #(exit 3) ❤ " + "very " * 60,
            "part": '1: "allegro" ${z} \\\\ %{',
            "key": "F major",
        },
        "4/4",
        2,
    ),
]
METRES = ("2/2", "2/4", "3/4", "4/4", "6/8", "9/8", "12/8", "3/8", "6/4", "4/2", "11/16", "16/2")
KEYS = ("C major", "F-sharp major", "C-flat major", "E minor", "G lydian", "E phrygian", "A mixolydian", "B-flat minor")
MORE = [
    {"form": form, "ensemble": ensemble, "key": KEYS[number % 8], "metre": METRES[number % 12], "part": part}
    for number, (form, ensemble, part) in enumerate(
        [
            ("concerto", "violin, viola, cello, contrabass, harpsichord", "3: allegro non molto"),
            ("concerto grosso", "flute, oboe, french horn, clarinet", "presto"),
            ("divertimento", "acoustic guitar (nylon)", "2: larghetto"),
            ("ouverture", "trombone, english horn, recorder", "1: Grave"),
            ("serenata", "synth voice, pizzicato strings", "4: tambourin"),
            ("alma mater", "bass, tenor", "1: affettuoso"),
        ]
        * 3
    )
]


@needs_lilypond
def test_every_piece_compiles_without_a_word() -> None:
    asked = [*(described for described, *_ in ASKED), *MORE]
    texts = [code(read(request(**described), seed)) for seed, described in enumerate(asked)]
    for described, compiled in zip(asked, compile_texts(texts), strict=True):
        assert (compiled.status, compiled.messages, len(compiled.midi)) == (0, "", 1), described


@pytest.fixture(scope="module")
def understood() -> list[Structure]:
    structures = list(read_structures([code(read(request(**described))) for described, *_ in ASKED]))
    assert all(isinstance(one, Structure) for one in structures)
    return [one for one in structures if isinstance(one, Structure)]


@needs_lilypond
def test_pieces_are_in_the_key_and_metre_and_for_the_instruments_asked_for(understood: list[Structure]) -> None:
    for (described, metre, staves), found in zip(ASKED, understood, strict=True):
        key = described.get("key")
        assert not found.problems, described
        assert {one.name for one in found.keys} == {found.keys[0].name if key in (None, *NO_KEYS) else key}, described
        assert {one.name for one in found.metres} == {metre}
        assert {event.staff for event in found.events} == set(range(1, staves + 1)), described
        assert {event.voice for event in found.events} == set(range(1, staves + 1))
        assert 8 <= found.measures <= 20


def test_the_header_says_who_wrote_it() -> None:
    text = code(read(request(composer="Vivaldi", form="concerto grosso", key="D minor", ensemble="2 violins, viola")))
    header = read_header(text)
    assert header["composer"] == "music-evals reader"
    assert header["title"] == "Concerto grosso in D minor"
    assert text.count('midiInstrument = "violin"') == 2
    assert '\\clef "alto"' in text


def test_words_give_the_tempo() -> None:
    def tempo(**described: str) -> str:
        text = code(read(request(**described)))
        return text[text.index("\\tempo") + 7 :].split(" }")[0]

    assert tempo(part="2: Adagio_e_staccato", metre="3/4") == '"Adagio e staccato" 4 = 56'
    assert tempo(part="1: allegro_non_molto", metre="4/4") == '"Allegro non molto" 4 = 108'
    # Beats of a half note are slower, of an eighth note faster than of a quarter, and none is so by as much.
    assert tempo(part="allegro", metre="2/2") == '"Allegro" 2 = 74'
    assert tempo(part="allegro", metre="3/8") == '"Allegro" 8 = 195'


def test_prompts_are_recognised_and_questions_are_not() -> None:
    asked = request(key="G major", demonstration="{ c'1 }")
    assert recognises(asked)
    assert recognises(repair(asked, "{"))
    assert not questions.recognises(asked)
    other = Conversation(
        (Turn("user", "Write a piece of music."), Turn("assistant", "Reply with one complete LilyPond"))
    )
    assert not recognises(other)
    for function in (read, guess, reply_before):
        with pytest.raises(ValueError, match="asks for no piece of music"):
            function(other)


def test_demonstrations_are_not_described_pieces() -> None:
    asked = request(key="G major", demonstration="{ c'1 }")
    assert "\\key g \\major" in read(asked)
    assert reply_before(asked) is None
    assert reply_before(repair(asked, "mine")) == "mine"


@pytest.mark.parametrize("write", [read, guess])
def test_a_seed_makes_one_of_several_pieces(write: Callable[..., str]) -> None:
    asked = request(form="sonata", key="G major")
    assert write(asked) == write(asked)
    assert len({write(asked, seed) for seed in (None, 1234, 1235)}) == 3
    assert write(repair(asked, "{"), 1234) == write(asked, 1234)


@needs_lilypond
def test_garbled_pieces_do_not_compile_and_are_sound_when_asked_again() -> None:
    asked = request(form="minuet", key="G major", ensemble="flute")
    broken = read(asked, 7, 1.0)
    assert broken != read(asked, 7)
    assert read(repair(asked, broken), 7, 1.0) == read(asked, 7)
    compiled, mended = compile_texts([code(broken), code(read(repair(asked, broken), 7, 1.0))])
    assert not compiled.succeeded
    assert (mended.succeeded, len(mended.midi)) == (True, 1)
    garbled = [read(asked, seed, 0.5) != read(asked, seed) for seed in range(20)]
    assert 4 <= sum(garbled) <= 16


@needs_lilypond
def test_chance_writes_eight_measures_of_anything() -> None:
    texts = [code(guess(request(key="G major"), seed)) for seed in range(4)]
    assert [(one.status, one.messages, len(one.midi)) for one in compile_texts(texts)] == [(0, "", 1)] * 4
    for found in read_structures(texts[:2]):
        assert isinstance(found, Structure)
        assert found.measures == 8
        assert sum(event.duration for event in found.events) == 8
        assert {event.duration for event in found.events} <= {Fraction(1, length) for length in (1, 2, 4, 8, 16)}
        assert len({(event.step, event.alteration, event.octave) for event in found.events}) > len(found.events) / 2
