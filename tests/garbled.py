"""The model `garbled/reader`: `baseline/reader`, which breaks a share of its symbolic lines as models
do, so that LogicLM has something to repair.
"""

import re

from inspect_ai.model import modelapi

from music_evals.baselines.provider import BaselineAPI


@modelapi(name="garbled")
class GarbledAPI(BaselineAPI):
    """The reader; `error_rate` is the share of its lines that are garbled."""

    def __init__(self, *args, error_rate, **options):
        super().__init__(*args, **options)
        self.error_rate = error_rate

    async def _answer(self, request, seed):
        text = await super()._answer(request, seed)
        is_garbled = request.random.random() < self.error_rate
        if request.keys["answer_type"] != "symbols" or not is_garbled:
            return text
        return garbled(text, request.random)


def garbled(lines, random):
    """Break the lines in a way that leaves the numbers readable."""
    ways = {
        "commentary": lambda: f"Here is my transcription:\n{lines}",
        "code fence": lambda: f"```\n{lines}\n```",
        "broken bracket": lambda: lines.replace("])", ")", 1),
        "line twice": lambda: f"{lines}\n{lines.splitlines()[0]}",
        "wrong functor": lambda: "notes" + lines[lines.index("(") :],
        "wrong identifier": lambda: re.sub(r"\(([^,]+),", r"(\1.wav,", lines, count=1),
        "out of range": lambda: lines.replace("])", ", 999])", 1),
    }
    return ways[random.choice(list(ways))]()
