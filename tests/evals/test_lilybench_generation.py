"""Writing music: what a model is asked, what is found out about its pieces, and the figures over
them.
"""

import math
import shutil
from dataclasses import replace
from unittest.mock import patch

import pytest
from inspect_ai import score
from inspect_ai.log import read_eval_log

from music_evals.evals.shared.parameters import ParameterError

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'")

import torch

from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.lilybench_generation.references import load_references
from music_evals.evals.lilybench_generation import generation, written_music
from music_evals.notation.lilypond import writing
from music_evals.scorers import reference_pieces, written_pieces
from tests.encoders.tiny_encoder import make_tiny_encoder
from tests.generation_dataset import PROMPTS, make_dataset, piece
from tests.harness import metrics, run, run_scripted, samples
from tests.notation.lilypond.sandbox.test_hostile import BOUNDED, STOPPED_BY_TIME

GOOD = piece(7)
BROKEN = GOOD.replace("\\score {", "\\score ")


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    torch.set_num_threads(1)
    with patch.dict("os.environ", MUSIC_EVALS_CACHE=str(tmp_path_factory.mktemp("cache"))):
        yield


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return make_dataset(tmp_path_factory.mktemp("generation") / "dataset")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return make_tiny_encoder(
        tmp_path_factory.mktemp("encoder") / "tiny", [GOOD], layers=6, hidden=8
    )


@pytest.fixture(scope="module")
def played(dataset, encoder, tmp_path_factory):
    """The reference pieces themselves as answers, one a prompt."""
    folder = tmp_path_factory.mktemp("played")
    for number, text in enumerate(load_references(str(dataset), "music21-test")[0].texts):
        (folder / f"{number:02}.ly").write_text(text, encoding="utf-8")
    task = generation(dataset=str(dataset), encoder=str(encoder), media=0)
    (log,) = run(
        task,
        tmp_path_factory.mktemp("logs"),
        "baseline/playback",
        model_args={"folder": str(folder)},
    )
    return log


def figures(log):
    return metrics(log)["written_music"]


def pieces(log):
    """Metadata of the scores, as the figures are made from them."""
    return [(sample.scores or {})["written_music"].metadata or {} for sample in samples(log)]


def prompts_of(**parameters):
    found = []
    for sample in generation(**parameters).dataset:
        assert isinstance(sample.input, list)
        found.append(sample.input)
    return found


def test_the_first_prompts_of_the_bank_are_asked(dataset):
    whole = prompts_of(dataset=str(dataset))
    assert [one[-1].text for one in prompts_of(dataset=str(dataset), n_prompts=3)] == [
        one[-1].text for one in whole[:3]
    ]
    with pytest.raises(
        ParameterError, match=f"n_prompts=1000 is not valid; the bank of .* has {PROMPTS} prompts"
    ):
        generation(dataset=str(dataset), n_prompts=1000)


def test_the_log_tells_what_ran_and_what_is_undefined(played):
    assert played.eval.task == "lilybench_generation_bmdataset"
    told = played.eval.metadata or {}
    assert told["references"] == {"music21-test": 12, "music21-other": 12}
    assert told["encoder"].startswith("tiny@sha256:")
    assert {told[name] for name in ("regime", "protocol")} == {"zero", "strict"}
    assert "music21-test/fmd_infinity" not in figures(played), "50 pieces are needed to extrapolate"
    assert not any(map(math.isnan, figures(played).values()))


def test_scoring_again_needs_the_log_alone(played, dataset, encoder, tmp_path):
    """Without LilyPond, encoder or model the same figures come out, and those against another
    reference.
    """
    with_encoder = score(
        read_eval_log(played.location),
        written_music(str(dataset), encoder=str(encoder)),
        action="overwrite",
    )
    assert figures(with_encoder)["music21-other/fmd"] == figures(played)["music21-other/fmd"] > 0
    reference_pieces.shared_encoder.cache_clear()
    other = make_dataset(
        tmp_path / "other", references={"mutopia": [piece(seed) for seed in range(12)]}
    )
    whole = read_eval_log(played.location)
    never = AssertionError("nothing is to be found out twice")
    with patch.object(written_pieces, "examine", side_effect=never):
        again = score(whole, written_music(str(dataset), encoder="/gone/tiny"), action="overwrite")
        against_other = score(whole, written_music(str(other)), action="overwrite")
    old, new = figures(played), figures(again)
    kept = [name for name in old if "/fmd" not in name]
    assert {name: old[name] for name in kept} == {name: new[name] for name in kept}
    assert figures(against_other)["mutopia/js"] == pytest.approx(old["music21-test/js"])


def test_a_model_repairs_what_lilypond_does_not_take(dataset, tmp_path):
    turns = []

    def reply(messages, config):
        turns.append(messages)
        return f"```lilypond\n{GOOD if len(turns) > 1 else BROKEN}```"

    log = run_scripted(generation(dataset=str(dataset), attempts=3, media=0), tmp_path, reply)
    assert len(turns) == 2  # the second compiles, so no third is asked for
    assert "score.ly:2:21: error: " in turns[1][-1].text  # the line that it has in the reply
    assert figures(log)["compile_rate"] == 1
    first = score(
        read_eval_log(log.location),
        written_music(str(dataset), attempt=1),
        action="overwrite",
    )
    assert figures(first)["compile_rate"] == 0


@pytest.mark.slow
def test_hostile_pieces_fail_with_a_reason_and_do_no_harm(dataset, tmp_path):
    """Some of the attacks that the tests of LilyPond's sandbox make, through a task."""
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret of the user", encoding="utf-8")
    midi = r"\score { { c4 } \midi { } }"
    attacks = {
        "reads": f'#(call-with-input-file "{secret}" read)\n{midi}',
        "deletes": f'#(delete-file "{secret}")\n{midi}',
        "starts programs": f'#(system "touch {tmp_path}/touched")\n#(ly:error "done")\n{midi}',
        "writes no MIDI": (
            '#(call-with-output-file "a.midi" (lambda (port) (display "MThx none at all" port)))'
        ),
        "fences": "```" * 1000,
        "markup": "\x00\ud83d <script>alert(1)</script> ![x](http://127.0.0.1/) " + "c" * 300_000,
        "takes long": next(iter(STOPPED_BY_TIME.values())),
        "crashes": BOUNDED["crashes"],
    }
    texts = list(attacks.values())

    def reply(messages, config):
        return f"```\n{texts[(config.seed or 0) - 1234]}\n```"

    task = generation(dataset=str(dataset), media=0)
    with patch.object(writing, "LIMITS", replace(writing.LIMITS, seconds=2)):
        log = run_scripted(task, tmp_path / "logs", reply, limit=len(texts))
    for sample in samples(log):
        judged, name = (
            (sample.scores or {})["written_music"],
            list(attacks)[sample.metadata["index"]],
        )
        assert judged.value == 0, name
        assert judged.answer, name
        assert len(judged.explanation or "") < 10_000
    assert secret.read_text(encoding="utf-8") == "a secret of the user"
    assert not (tmp_path / "touched").exists()


def test_what_the_dataset_lacks_is_told_before_any_work(dataset, tmp_path):
    for parameters, message in (
        ({"reference": "bach"}, "has no reference set 'bach'; it has: music21-test, music21-other"),
        ({"encoder": "/no/such/folder"}, "/no/such/folder"),
    ):
        with pytest.raises(ParameterError, match=message):
            generation(dataset=str(dataset), **parameters)
    bare = make_dataset(tmp_path / "bare", references={"mutopia": [GOOD]}, demonstrations=False)
    with pytest.raises(
        ParameterError, match=r"config 'demonstrations' .* has no split 'train'; it has: ablation"
    ):
        generation(dataset=str(bare), regime="few")
    assert len(prompts_of(dataset=str(bare), regime="ablation")) == PROMPTS
    shutil.rmtree(bare)
    with pytest.raises((ParameterError, DatasetError), match="does not exist"):
        generation(dataset=str(bare))
