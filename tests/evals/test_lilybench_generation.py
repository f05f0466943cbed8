"""Writing music: what a model is asked, what is found out about its pieces, and the figures over
them.
"""

import base64
import io
import math
import shutil
from dataclasses import replace
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import pytest
from inspect_ai import score
from inspect_ai.log import read_eval_log
from PIL import Image

from music_evals.evals.shared.parameters import ParameterError

pytest.importorskip("lilypond", reason="LilyPond is not installed: pip install -e '.[lilypond]'")

import torch

from music_evals.benchmarks.prompts import load_prompts
from music_evals.datasets_builders.dataset_io import DatasetError
from music_evals.datasets_builders.lilybench_generation.references import load_references
from music_evals.encoders.lilybert import load_encoder
from music_evals.evals.lilybench_generation import generation, published_request, written_music
from music_evals.notation.lilypond import writing
from music_evals.reports.records import read_records
from music_evals.scorers import reference_pieces, written_pieces
from music_evals.scorers.metrics.frechet import frechet_distance
from music_evals.scorers.metrics.written import (
    embedded,
)
from tests.encoders.tiny_encoder import make_tiny_encoder
from tests.generation_dataset import PROMPTS, make_dataset, piece
from tests.harness import metrics, run, run_scripted, samples
from tests.notation.lilypond.sandbox.test_hostile import BOUNDED, STOPPED_BY_TIME

METADATA = "%% === METADATA ==="
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


def test_the_prompt_is_the_same_in_every_regime(dataset):
    by_regime = {
        regime: prompts_of(dataset=str(dataset), regime=regime)
        for regime in ("zero", "few", "ablation")
    }
    assert [len(messages[0]) for messages in by_regime.values()] == [2, 8, 8]
    for zero, few, ablation in zip(*by_regime.values(), strict=True):
        assert zero[0].text == few[0].text == ablation[0].text
        assert zero[-1].text == few[-1].text == ablation[-1].text
    roles = [message.role for message in by_regime["few"][0]]
    assert roles == ["system", *["user", "assistant"] * 3, "user"]
    assert piece(1000).strip() in by_regime["few"][0][2].text
    assert "\nKey: G major\nMetre: 3/4\n" in by_regime["zero"][0][-1].text
    assert all(
        "\\key a \\minor" in message.text
        for message in by_regime["ablation"][0]
        if message.role == "assistant"
    )


def test_the_papers_prompt_is_one_message_with_metadata_and_demonstrations(dataset):
    zero, few = (
        prompts_of(dataset=str(dataset), protocol="paper", regime=regime)[0]
        for regime in ("zero", "few")
    )
    assert [one.role for one in zero] == [one.role for one in few] == ["system", "user"]
    *shown, last = few[1].text.split(METADATA)[1:]
    assert few[1].text.startswith(METADATA)
    assert [piece(1000 + number).strip() in one for number, one in enumerate(shown)] == [True] * 3
    assert METADATA + last == zero[1].text
    known = {
        "composer": "Vivaldi",
        "period": "Late Baroque",
        "musical_form": "concerto",
        "ensemble": "violin, cello",
    }
    lines = [f"%% {field}: {value}" for field, value in {**known, "part": "0: allegro"}.items()]
    block = "\n".join([METADATA, *lines, "%% === END METADATA ==="])
    head, asked = zero[1].text[: len(block)], zero[1].text[len(block) :]
    assert head == block
    assert all(
        words in asked
        for words in ("Vivaldi", "(Late Baroque)", '"0: allegro"', "nederlands", "\\relative")
    )
    assert not any(words in zero[1].text for words in ("```", "fence", "\\midi", "G major", "3/4"))


def test_what_the_papers_prompt_does_not_know_has_no_line_and_other_words():
    row = dict.fromkeys(("composer", "period", "form", "ensemble", "part", "key", "metre"))
    told = published_request(cast(Any, row), load_prompts("lilybench_generation")["paper"])
    assert told.startswith(f"{METADATA}\n%% part: full\n%% === END METADATA ===")
    assert all(
        words in told
        for words in ("18th century (Baroque)", "any short form", "a few", "whole ensemble")
    )


def test_the_first_prompts_of_the_bank_are_asked(dataset):
    whole = prompts_of(dataset=str(dataset))
    assert [one[-1].text for one in prompts_of(dataset=str(dataset), n_prompts=3)] == [
        one[-1].text for one in whole[:3]
    ]
    with pytest.raises(
        ParameterError, match=f"n_prompts=1000 is not valid; the bank of .* has {PROMPTS} prompts"
    ):
        generation(dataset=str(dataset), n_prompts=1000)


def test_the_papers_rules_count_what_compiles_and_what_is_embedded(dataset, encoder, tmp_path):
    short = '\\version "2.24.0"\\language "english"'
    replies = [GOOD, "\\score { { r1 } \\midi { } }", "", short]

    def reply(messages, config):
        return replies[(config.seed or 0) - 1234]

    task = generation(
        dataset=str(dataset), encoder=str(encoder), protocol="paper", n_prompts=4, media=0
    )
    log = run_scripted(task, tmp_path, reply, limit=4)
    found = figures(log)
    assert (found["compile_rate"], found["questions"]) == (0.5, 4)
    assert [one["has_notes"] for one in pieces(log)].count(True) == 1
    # The short one alone is dropped: to the empty one two lines are added.
    assert len(embedded(pieces(log))) == 3
    references = load_references(str(dataset), "music21-test")[0]
    loaded = load_encoder(str(encoder))
    real, made = (
        np.array(loaded.embed(texts))
        for texts in (
            references.texts,
            [writing.published_text(writing.published_code(one)) for one in replies[:3]],
        )
    )
    assert found["music21-test/fmd"] == pytest.approx(frechet_distance(real, made), abs=1e-5)
    again = score(
        read_eval_log(log.location),
        written_music(str(dataset), encoder=str(encoder)),
        action="overwrite",
    )
    assert (figures(again)["compile_rate"], len(embedded(pieces(again)))) == (0.25, 3)


def test_sampling_is_the_papers_with_a_seed_for_each_prompt(dataset, tmp_path):
    configs = []

    def reply(messages, config):
        configs.append(config)
        return ""

    run_scripted(generation(dataset=str(dataset)), tmp_path, reply, limit=PROMPTS, epochs=2)
    assert {(one.temperature, one.top_p, one.max_tokens) for one in configs} == {(0.7, 0.9, 3000)}
    seeds = sorted(one.seed for one in configs if one.seed is not None)
    assert seeds == [*range(1234, 1234 + PROMPTS), *range(11234, 11234 + PROMPTS)]


def test_a_reference_set_played_back_is_like_itself(played, dataset):
    found = figures(played)
    assert all(row["compiles"] for row in load_references(str(dataset), "music21-test")[0].rows)
    assert (found["compile_rate"], found["questions"]) == (1.0, PROMPTS)
    assert found["music21-test/js"] == pytest.approx(100, abs=1e-9)
    assert found["music21-test/fmd"] == pytest.approx(0, abs=1e-6)
    assert found["music21-test/js"] > found["music21-other/js"]
    assert found["music21-test/fmd"] < found["music21-other/fmd"]
    for name in ("music21-other/js", "music21-other/fmd"):
        assert found[f"{name}_low"] <= found[name] <= found[f"{name}_high"]
    # Each piece is a copy of the reference piece that it is.
    assert found["near_copies"] == 1.0


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


def test_an_undefined_figure_says_why_and_is_not_zero(dataset, tmp_path):
    replies = iter([" \n", *[f"```\n{BROKEN}```"] * 2])
    log = run_scripted(
        generation(dataset=str(dataset)),
        tmp_path,
        lambda *_: next(replies),
        limit=3,
        max_connections=1,
    )
    found = figures(log)
    assert found["compile_rate"] == 0
    assert not {"music21-test/js", "music21-test/fmd"} & set(found)
    reference = (log.eval.metadata or {})["references"]
    assert reference, "it is named all the same"
    judged = [(sample.scores or {})["written_music"] for sample in samples(log)]
    assert sum(one.answer == "the reply holds no LilyPond" for one in judged) == 1
    assert sum("error" in (one.explanation or "") for one in judged) == 2


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


def test_one_piece_written_again_and_again_is_a_copy_of_itself(dataset, tmp_path):
    log = run_scripted(
        generation(dataset=str(dataset), media=0),
        tmp_path,
        lambda *_: piece(777),
        limit=PROMPTS,
    )
    found = figures(log)
    one = pytest.approx(1 / PROMPTS)
    assert (found["compile_rate"], found["repeated"], found["original_rate"]) == (1, 1, one)
    records = read_records(tmp_path)
    assert records.score(0).value == one
    assert records.floors(0)["chance"].value == 1


def test_a_copied_demonstration_is_found_and_the_viewer_is_given_pictures(dataset, tmp_path):
    log = run_scripted(
        generation(dataset=str(dataset)), tmp_path, lambda *_: f"```\n{piece(1001)}```"
    )
    assert figures(log)["near_copies"] == 1
    told = (samples(log)[0].scores or {})["written_music"].explanation or ""
    assert told.startswith("**Asked:** a piece in LilyPond: ")
    assert "100% of it in demonstrations train/shown-1" in told
    for title in ("first system", "piano roll"):
        data = told.partition(f"![{title}](data:image/png;base64,")[2].partition(")")[0]
        picture = Image.open(io.BytesIO(base64.b64decode(data)))
        assert picture.width > 100
        assert len(set(picture.convert("L").tobytes())) > 1


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


def test_a_dataset_without_reference_sets_says_so(tmp_path):
    bare = make_dataset(tmp_path / "bare", references={"mutopia": []})
    found = figures(
        run_scripted(generation(dataset=str(bare)), tmp_path, lambda *_: f"```\n{GOOD}```")
    )
    assert not any(name.endswith(("js", "fmd")) for name in found)
    assert found["compile_rate"] == 1
