"""Which music a question is asked with: its own, none, noise, or another item's.

What a score owes to the music is seen where the music is taken away: a model that does as well without it does not read
or hear it. `under` changes the samples of any task whose messages say where their music stands: spans of the text
(``music`` of the metadata ``asks``), or parts with sound or pictures. Only the question that is asked changes; worked
examples keep their music.

Sources: silence and noise in the place of sound as in RUListening (arXiv 2504.00369) and MusICA-MetaBench (arXiv
2607.06015).
"""

import base64
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from random import Random
from typing import Any, Final, Literal, get_args

from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageUser, Content, ContentAudio, ContentImage, ContentText

from music_evals.notation.noise import noise_audio, noise_pages, noise_text
from music_evals.solvers.media import MEDIA

Stimulus = Literal["given", "none", "noise", "other"]
"""``given`` is the item's own music, ``none`` a note that there is none, ``noise`` random music in the same notation
and as long, ``other`` the music of another item with another answer."""

ARMS: Final[tuple[Stimulus, ...]] = get_args(Stimulus)
NOTE: Final = {
    "en": "(There is no music here. Answer from the question alone.)",
    "zh": "（此处没有乐谱。请仅根据问题作答。）",
}

_Place = str | tuple[Content, ...]  # a text, or parts that stand side by side
_Music = tuple[_Place, ...]


def apply_stimulus(stimulus: Stimulus, samples: Sequence[Sample], language: str = "en") -> list[Sample]:
    """Return samples with other music in the place of theirs; left out are those that show none, or have no other.

    Args:
        stimulus: what is shown.
        samples: of one task. The last message that has the metadata ``asks`` shows the music. A text under ``score`` in
            a sample's metadata, which tools read, is changed with it.
        language: of the note that there is no music, ``en`` or ``zh``.

    Raises:
        ValueError: no sample shows music, or has other music, or tools would be left without a score.
    """
    if stimulus == "given":
        return list(samples)
    shown = [(sample, music) for sample in samples if (music := _music(_asking(sample)))]
    if not shown:
        raise ValueError(f"stimulus={stimulus} is not valid: no question of this task comes with music; valid is given")
    if stimulus == "none" and any("score" in (sample.metadata or {}) for sample, _ in shown):
        raise ValueError("stimulus=none leaves the tools without a score; valid are given, noise and other")
    if stimulus == "other":
        found = [_with(sample, stimulus, music, owner) for sample, music, owner in _others(shown)]
        if not found:
            raise ValueError("stimulus=other is not valid: no question has another answer than the others")
        return found
    make = partial(_note, language) if stimulus == "none" else _noise
    made: dict[Hashable, _Music] = {}  # many questions may be about the same music
    for sample, music in shown:
        if _key(music) not in made:
            made[_key(music)] = make(music, _asks(sample))
    return [_with(sample, stimulus, made[_key(music)]) for sample, music in shown]


def _asking(sample: Sample) -> ChatMessage:
    return next(each for each in reversed(_messages(sample)) if "asks" in (each.metadata or {}))


def _messages(sample: Sample) -> list[ChatMessage]:
    assert not isinstance(sample.input, str)
    return sample.input


def _asks(sample: Sample) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (_asking(sample).metadata or {})["asks"]
    return found


def _music(message: ChatMessage) -> _Music:
    """What a message shows of music, in its order."""
    if isinstance(message.content, str):
        return tuple(message.content[start:end] for start, end in (message.metadata or {})["asks"].get("music") or ())
    return tuple(tuple(run) for is_music, run in groupby(message.content, key=_is_music) if is_music)


def _is_music(part: Content) -> bool:
    return isinstance(part, ContentAudio | ContentImage)


def _key(music: _Music) -> Hashable:
    return tuple(place if isinstance(place, str) else tuple(map(_data, place)) for place in music)


def _data(part: Content) -> str:
    return part.audio if isinstance(part, ContentAudio) else part.image if isinstance(part, ContentImage) else ""


def _note(language: str, music: _Music, asks: Mapping[str, Any]) -> _Music:
    note = NOTE[language]
    return tuple(note if isinstance(place, str) else (ContentText(text=note),) for place in music)


def _noise(music: _Music, asks: Mapping[str, Any]) -> _Music:
    return tuple(
        noise_text(place, asks["notation"]) if isinstance(place, str) else tuple(_noise_parts(place)) for place in music
    )


def _noise_parts(parts: Sequence[Content]) -> Iterator[Content]:
    pages = [part for part in parts if isinstance(part, ContentImage)]
    for page, image in zip(pages, noise_pages(len(pages)) if pages else (), strict=True):
        yield page.model_copy(update={"image": _uri("image/png", image)})
    for part in parts:
        if isinstance(part, ContentAudio):
            sound = noise_audio(base64.b64decode(part.audio.partition(",")[2]))
            yield part.model_copy(update={"audio": _uri("audio/wav", sound), "format": "wav"})


def _uri(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def _others(shown: Sequence[tuple[Sample, _Music]]) -> Iterator[tuple[Sample, _Music, object]]:
    """Each sample with the music of another, and whose it is: drawn among those that have another answer."""
    owners: dict[Hashable, tuple[_Music, object]] = {}
    answers: dict[Hashable, dict[str, set[str]]] = {}
    for sample, music in shown:
        owners.setdefault(_key(music), (music, sample.id))
        for kind, answer in _answers(sample).items():
            answers.setdefault(_key(music), {}).setdefault(kind, set()).add(answer)
    for sample, music in shown:
        mine, order = _answers(sample), [key for key in answers if key != _key(music)]
        Random(f"other {sample.id}").shuffle(order)
        same = {key: sum(one in answers[key].get(kind, ()) for kind, one in mine.items()) for key in order}
        # Better one that was asked the same kind of question, and has another answer to it.
        order.sort(key=lambda key: (same[key], not mine.keys() & answers[key].keys()))
        if order and same[order[0]] < len(mine):
            yield (sample, *owners[order[0]])


def _answers(sample: Sample) -> dict[str, str]:
    """Kind of question → right answer, an option by its text."""
    questions = (sample.metadata or {}).get("questions")
    if isinstance(questions, list):
        return {row["kind"] or row["question"]: row["answer"] for row in questions}
    target = sample.target if isinstance(sample.target, str) else " ".join(sample.target)
    if sample.choices and len(target) == 1:
        target = sample.choices[int(target) if target.isdigit() else ord(target) - ord("A")]
    return {str(_asks(sample).get("kind", "")): target}


def _with(sample: Sample, stimulus: Stimulus, music: _Music, owner: object = None) -> Sample:
    """A sample that shows music, or a note, in the place of its own."""
    message, places = _asking(sample), iter(music)
    asks: dict[str, Any] = {**_asks(sample), "stimulus": stimulus}
    content: Any = []
    if isinstance(message.content, str):
        content, end, spans = "", 0, []
        for start, stop in asks["music"]:
            content += message.content[end:start]
            spans.append([len(content), len(content) + len(place := next(places))])
            content, end = f"{content}{place}", stop
        content += message.content[end:]
        asks["music"] = spans
    else:
        for is_music, run in groupby(message.content, key=_is_music):
            content += next(places) if is_music else run
    if stimulus == "none":
        asks = {name: fact for name, fact in asks.items() if name not in ("music", "notation")}
    changed = ChatMessageUser(content=content, metadata={**(message.metadata or {}), "asks": asks})
    metadata = {name: value for name, value in (sample.metadata or {}).items() if name != MEDIA}
    if "score" in metadata:
        metadata["score"] = "\n".join(map(str, music))
    metadata |= {"stimulus": stimulus, **({} if owner is None else {"stimulus_of": owner})}
    messages = [changed if each is message else each for each in _messages(sample)]
    return sample.model_copy(update={"input": messages, "metadata": metadata})
