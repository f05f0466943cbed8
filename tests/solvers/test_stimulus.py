"""Questions with other music in the place of their own: what changes in a sample, and what does
not.
"""

import re

import pytest
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, ContentAudio, ContentImage

from music_evals.evals import lilybench, msu, muse, ziqi
from music_evals.solvers.stimulus import ARMS, NOTE, apply_stimulus, question_message
from tests.golden.record import HERE as GOLDEN

MSU, LILYBENCH = (str(GOLDEN / "data" / name) for name in ("msu", "lilybench"))
TASKS = {
    "muse": muse.syncopation,
    "muse audio": lambda **given: muse.chord_quality(modality="audio", **given),
    "ziqi": ziqi.generation,
    "ziqi in English": lambda **given: ziqi.generation(language="en", **given),
    "msu": lambda **given: msu.textual(dataset=MSU, **given),
    "msu pages": lambda **given: msu.visual(dataset=MSU, **given),
    "msu single": lambda **given: msu.textual(dataset=MSU, asking="single", levels="1", **given),
    "bar_count": lambda **given: lilybench.bar_count(dataset=LILYBENCH, **given),
}
CHINESE = {"ziqi"}


def shown(sample):
    """The music of a sample, by the metadata of its last message, and by its parts."""
    message = sample.input[-1]
    assert isinstance(message, ChatMessageUser)
    if isinstance(message.content, str):
        return [
            message.content[start:end]
            for start, end in (message.metadata or {})["asks"].get("music", ())
        ]
    parts = [part for part in message.content if isinstance(part, ContentAudio | ContentImage)]
    return [part.audio if isinstance(part, ContentAudio) else part.image for part in parts]


def said(sample):
    return [(message.role, message.content) for message in sample.input]


def without_music(sample):
    """The question of a sample with a sign in the place of its music."""
    message, asks = question_message(sample)
    parts = [message.content] if isinstance(message.content, str) else message.content
    texts = [part if isinstance(part, str) else getattr(part, "text", "♪") for part in parts]
    for start, end in reversed(asks.get("music") or ()):
        texts[0] = f"{texts[0][:start]}♪{texts[0][end:]}"
    return re.sub("♪(\n♪)+", "♪", "\n".join(texts))


def answer_of(sample):
    target = str(sample.target)
    return sample.choices["ABCD".index(target)] if sample.choices else target


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("arm", ARMS[1:])
def test_only_the_music_changes(name, arm):
    make = TASKS[name]
    originals, changed = (
        {sample.id: sample for sample in make().dataset},
        list(make(stimulus=arm).dataset),
    )
    # All scores of these data have the same composer.
    assert len(changed) == len(originals) or name == "msu single"
    assert len(changed) > 1
    for sample in changed:
        original, metadata = originals[sample.id], sample.metadata or {}
        assert (sample.target, sample.choices) == (original.target, original.choices)
        old, new, text = shown(original), shown(sample), sample.input[-1].text
        assert old
        assert metadata["stimulus"] == arm
        assert said(sample)[:-1] == said(original)[:-1]
        if arm == "none":
            assert not new
            assert text.replace(NOTE["zh" if name in CHINESE else "en"], "♪") == without_music(
                original
            )
            continue
        assert len(new) == len(old) or "pages" in name
        assert not {*new} & {*old}
        if arm == "other":
            owner = originals[metadata["stimulus_of"]]
            assert new == shown(owner)
            assert "msu" in name or answer_of(owner) != answer_of(original)


def test_without_music_there_is_nothing_to_transcribe():
    with pytest.raises(ValueError, match="stimulus=none leaves nothing to transcribe"):
        muse.syncopation(strategy="logiclm", stimulus="none")


def question(number, music):
    message = ChatMessageUser(
        content=f"X:{number} tune?", metadata={"asks": {"music": music, "notation": "abc"}}
    )
    return Sample(id=number, input=[message], target="A")


def test_questions_without_music_are_left_out():
    samples = [question(1, []), question(2, [[0, 8]])]
    assert [sample.id for sample in apply_stimulus("none", samples)] == [2]


def test_a_task_without_music_refuses():
    with pytest.raises(
        ValueError, match="no question of this task comes with music; valid is given"
    ):
        ziqi.comprehension(stimulus="none")
    with pytest.raises(ValueError, match="content=title shows no score; leave stimulus as"):
        msu.textual(dataset=MSU, content="title", stimulus="none")
    with pytest.raises(
        ValueError,
        match="stimulus='silence' is not valid; valid values are: given, none, noise, other",
    ):
        muse.syncopation(stimulus="silence")


def test_there_has_to_be_another_answer():
    with pytest.raises(ValueError, match="no question has another answer than the others"):
        apply_stimulus("other", [question(1, [[0, 8]]), question(2, [[0, 8]])])
