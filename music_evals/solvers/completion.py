"""A probe for memorised questions: the model sees some options of a question and is asked for the
others.

A model that writes hidden options word for word has seen the question, unless the shown options
give them away. So a question is asked only if one of its hidden options occurs in no other
question: labels that come again and again, such as keys, the four qualities of a triad or names of
instruments, can be guessed from the other questions.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from random import Random
from string import Template

from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser

from music_evals.solvers.stimulus import music_texts, question_message

MAX_TOKENS = 1024
_REQUEST = {
    "en": (
        "This is a question with $count options, of which you see $shown. Write the others word for"
        " word as they stand in the original, one on each line, and nothing else."
    ),
    "zh": (
        "下面是一道有 $count 个选项的题目，只列出了其中 $shown 个。"
        "请逐字写出其余选项的原文，每行一个，不要写其他内容。"
    ),
}


def to_complete(samples: Sequence[Sample], language: str = "en") -> list[Sample]:
    """Return samples that show a question, its music and half of its options, and ask for the other
    half.

    Samples with fewer than four options are left out, and so are those whose hidden options all
    occur in other samples. Question and options are read from the metadata ``asks`` of the message.
    The request is in `language`, ``en`` or ``zh``. The metadata ``hidden`` of a sample has the
    other half.

    Raises:
        ValueError: no question has four options and can be asked.
    """
    # A question in several orders of its options counts once.
    questions = set()
    for sample in samples:
        message, facts = question_message(sample)
        music = "\n".join(music_texts(message, facts))
        options = sorted({_normalized(option) for option in facts.get("options") or ()})
        questions.add((facts.get("question") or "", music, *options))
    counts = Counter(chain.from_iterable(options for _, _, *options in questions))
    probes = []
    for sample in samples:
        options = question_message(sample)[1].get("options") or []
        if len(options) < 4:
            continue
        drawn = Random(f"completion {sample.id}").sample(range(len(options)), len(options) // 2)
        shown = [options[place] for place in sorted(drawn)]
        hidden = [option for place, option in enumerate(options) if place not in drawn]
        if any(counts[_normalized(option)] == 1 for option in hidden):
            probes.append(_probe(sample, shown, hidden, language))
    if not probes:
        raise ValueError(
            "twin=completion is not valid: no question of this task has four options that other "
            "questions do not have; valid is original"
        )
    return probes


def _normalized(option: str) -> str:
    return " ".join(option.casefold().split())


def _probe(sample: Sample, shown: list[str], hidden: list[str], language: str) -> Sample:
    """A sample that shows some options of a question and asks for the hidden ones."""
    message, facts = question_message(sample)
    request = Template(_REQUEST[language]).substitute(
        count=len(shown) + len(hidden), shown=len(shown)
    )
    question = facts.get("question") or ""
    music = [piece for piece in music_texts(message, facts) if piece not in question]
    text = "\n\n".join([request, question, *music, "\n".join(shown)])
    facts = {
        "benchmark": facts["benchmark"],
        "task": facts["task"],
        "answer_type": "text",
        "majority": "Unknown",
    }
    metadata = {**(sample.metadata or {}), "twin": "completion", "hidden": hidden}
    for key in ("media", "options"):
        metadata.pop(key, None)
    return Sample(
        id=sample.id,
        input=[ChatMessageUser(content=text, metadata={"asks": facts})],
        target="\n".join(hidden),
        metadata=metadata,
    )
