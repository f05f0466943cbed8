"""Questions with other music in the place of their own: what changes in a sample, and what does not."""

from collections.abc import Callable
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, ContentAudio, ContentImage

from music_evals.evals import lilybench, msu, muse, musictheorybench, ziqi
from music_evals.reports import music
from music_evals.solvers.stimulus import ARMS, NOTE, apply_stimulus
from tests.golden.record import HERE as GOLDEN

MSU, LILYBENCH = (str(GOLDEN / "data" / name) for name in ("msu", "lilybench"))
TASKS: dict[str, Callable[..., Task]] = {
    "muse": muse.syncopation,
    "muse few-shot": lambda **given: muse.transposition(shots="few", strategy="cot", **given),
    "muse audio": lambda **given: muse.chord_quality(modality="audio", **given),
    "ziqi": ziqi.generation,
    "ziqi in English": lambda **given: ziqi.generation(language="en", **given),
    "msu": lambda **given: msu.textual(dataset=MSU, **given),
    "msu pages": lambda **given: msu.visual(dataset=MSU, **given),
    "msu single": lambda **given: msu.textual(dataset=MSU, asking="single", levels="1", **given),
    "bar_count": lambda **given: lilybench.bar_count(dataset=LILYBENCH, **given),
    "bar_count with tools": lambda **given: lilybench.bar_count(dataset=LILYBENCH, strategy="logiclm", **given),
}
CHINESE = {"ziqi"}


def samples(task: Task) -> list[Sample]:
    return list(task.dataset)


def said(sample: Sample) -> list[tuple[str, Any]]:
    return [(message.role, message.model_dump(include={"content"})) for message in sample.input]


def shown(sample: Sample) -> list[Any]:
    """What a sample shows of music, by the metadata of its last message, and by its parts."""
    message = sample.input[-1]
    assert isinstance(message, ChatMessageUser)
    if isinstance(message.content, str):
        return [message.content[start:end] for start, end in (message.metadata or {})["asks"].get("music", ())]
    parts = [part for part in message.content if isinstance(part, ContentAudio | ContentImage)]
    return [part.audio if isinstance(part, ContentAudio) else part.image for part in parts]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("arm", ARMS[1:])
def test_only_the_music_changes(name: str, arm: str) -> None:
    make = TASKS[name]
    if "tools" in name and arm == "none":
        with pytest.raises(ValueError, match="stimulus=none leaves the tools without a score"):
            make(stimulus=arm)
        return
    given, other = samples(make()), samples(make(stimulus=arm))
    by_id = {one.id: one for one in given}
    # All scores of these data have the same composer.
    assert len(other) == len(given) or name == "msu single"
    assert len(other) > 1
    for changed in other:
        one = by_id[changed.id]
        assert (one.target, one.choices) == (changed.target, changed.choices)
        old, new = shown(one), shown(changed)
        assert old
        assert said(changed)[:-1] == said(one)[:-1]  # worked examples and the instruction
        text = changed.input[-1].text
        assert (changed.metadata or {})["stimulus"] == arm
        if arm == "none":
            assert (new, text.count(NOTE["zh" if name in CHINESE else "en"])) == (
                [],
                len(old) if "pages" not in name else 1,
            )
            assert not any(each in text for each in old)
        else:
            assert len(new) == len(old) or "pages" in name
            assert not {*new} & {*old}
        if arm == "other":
            (owner,) = [each for each in given if each.id == (changed.metadata or {})["stimulus_of"]]
            assert new == shown(owner)
            if "msu" not in name:
                assert _answer(owner) != _answer(one)
        if "tools" in name:
            assert (changed.metadata or {})["score"] == "".join(new)


def _answer(sample: Sample) -> str:
    target = str(sample.target)
    return sample.choices["ABCD".index(target)] if sample.choices else target


def test_questions_without_music_are_left_out() -> None:
    tune, theory = samples(ziqi.generation())[0], samples(musictheorybench.knowledge())[0]
    assert [one.id for one in apply_stimulus("none", [theory, tune])] == [tune.id]


def test_a_task_without_music_refuses() -> None:
    with pytest.raises(ValueError, match="no question of this task comes with music; valid is given"):
        ziqi.comprehension(stimulus="none")
    with pytest.raises(ValueError, match="content=title gives no music"):
        msu.textual(dataset=MSU, content="title", stimulus="none")
    with pytest.raises(
        ValueError, match="stimulus='silence' is not valid; valid values are: given, none, noise, other"
    ):
        muse.syncopation(stimulus="silence")


def test_there_has_to_be_another_answer() -> None:
    alike = samples(muse.syncopation())[:2]
    for one in alike:
        one.target = "A"
    with pytest.raises(ValueError, match="no question has another answer than the others"):
        apply_stimulus("other", alike)


def test_reports_know_the_arms() -> None:
    assert tuple(music.ARMS) == ARMS


def test_the_tune_of_ziqi_is_all_of_it() -> None:
    for one in samples(ziqi.generation())[:5]:
        (tune,) = shown(one)
        assert tune.startswith("X:")
        assert f"{tune}\n" in one.input[-1].text
