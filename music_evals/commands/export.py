"""`music-evals export`: the replies of a log as the file that a benchmark's official script
reads.
"""

import json
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from typer import Argument, Option

from music_evals.commands.output import errors_in_a_line, say

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

Format = Literal["mmau", "mmar", "muchomusic"]
Entry = dict[str, Any]


def export(
    log: Annotated[Path, Argument(help="A log of MMAU, MMAR or MuChoMusic.")],
    form: Annotated[Format, Option("--as", help="Whose script reads the file.")],
    out: Annotated[Path, Option(help="File to write.")],
    questions: Annotated[
        Path | None,
        Option(
            help=(
                "The authors' JSON file: its entries are completed, and those that were not asked "
                "left out."
            )
        ),
    ] = None,
) -> None:
    """Write the replies of a log as the file that the benchmark's official script reads, or as a
    submission.
    """
    # Here, so that `music-evals --help` need not wait for it.
    from inspect_ai.log import read_eval_log

    from music_evals.datasets_builders.dataset_io.folders import replace_file
    from music_evals.notation.secrets import kind_of_secret
    from music_evals.notation.subprocesses import read_in_subprocess

    with errors_in_a_line():
        if out.exists():
            raise ValueError(f"{out} is there already; give another file")
        try:
            read = read_in_subprocess(read_eval_log, log)
        except ValueError as error:
            raise ValueError(f"{log} cannot be read as a log of Inspect: {error}") from None
        benchmark = str((read.eval.metadata or {}).get("benchmark"))
        accepted = _BENCHMARKS[form]
        if benchmark not in accepted:
            raise ValueError(
                f"{log} is of {benchmark}; --as {form} is for {' and '.join(accepted)}"
            )
        samples = [sample for sample in read.samples or [] if sample.epoch == 1]
        entries = list(map(_ENTRIES[form], samples))
        if questions is not None:
            originals = read_in_subprocess(_originals, questions)
            entries = [
                entry | originals[entry["id"]] for entry in entries if entry["id"] in originals
            ]
        if not entries:
            raise ValueError(f"{log} has no sample of the questions in {questions or 'it'}")
        text = json.dumps(entries, ensure_ascii=False, indent=2)
        if kind := kind_of_secret(text):
            raise ValueError(f"{out} holds {kind}; make it invalid, and leave its reply out")
        with replace_file(out.expanduser()) as file:
            file.write_text(text + "\n", encoding="utf-8")
    say(f"Wrote {len(entries)} of {len(samples)} replies to {out}")


def _originals(path: Path) -> dict[str, Entry]:
    """Id → entry of the authors' file, which is JSON or JSON Lines."""
    text = path.read_text(encoding="utf-8")
    if not text.lstrip().startswith("["):
        text = f"[{','.join(filter(str.strip, text.splitlines()))}]"
    return {str(entry["id"]): entry for entry in json.loads(text)}


def _common(sample: "EvalSample") -> Entry:
    """What the files of all authors have; a question without a public answer has none."""
    options, place = _shown(sample)
    entry = {
        "id": sample.metadata.get("question", str(sample.id)),
        "question": _question(sample),
        "choices": options,
    }
    if place >= 0:
        entry["answer"] = options[place]
    return entry


def _shown(sample: "EvalSample") -> tuple[list[str], int]:
    """The options in the order that the model saw, and the place of the right one; −1 if that is
    not public.
    """
    options, right = sample.metadata["options"], ascii_uppercase.find(str(sample.target))
    order = list(sample.metadata.get("option_order", range(len(options))))
    place = order.index(right) if right >= 0 else -1
    return [options[at] for at in order], place


def _question(sample: "EvalSample") -> str:
    """The text of the question alone, which the message that asks it has in its metadata."""
    for message in [] if isinstance(sample.input, str) else sample.input:
        if asks := (message.metadata or {}).get("asks"):
            return str(asks.get("question", ""))
    return ""


def _tags(sample: "EvalSample") -> dict[str, list[str]]:
    """Kind → names of the groups that the question belongs to."""
    from music_evals.scorers.items import TAGS

    tags: dict[str, list[str]] = {}
    for tag in filter(None, str(sample.metadata.get("tags", "")).split(TAGS)):
        kind, _, name = tag.partition(": ")
        tags.setdefault(kind, []).append(name)
    return tags


def _mmau(sample: "EvalSample") -> Entry:
    tags, reply = _tags(sample), sample.output.completion
    facts = {
        "task": tags.get("task", ["music"])[0],
        "category": sample.metadata.get("theme"),
        "sub-category": sample.metadata.get("subtheme"),
        "difficulty": tags.get("difficulty", ["medium"])[0],
    }
    # The script reads the former, the authors' page names the latter.
    return {**_common(sample), **facts, "model_output": reply, "model_prediction": reply}


def _mmar(sample: "EvalSample") -> Entry:
    facts = {
        "modality": "music",
        "category": sample.metadata.get("theme"),
        "sub-category": sample.metadata.get("subtheme"),
    }
    return {**_common(sample), **facts, "answer_prediction": sample.output.completion}


def _muchomusic(sample: "EvalSample") -> Entry:
    """The script looks for the place of 0 in `answer_orders`: that of the right option."""
    tags = _tags(sample)
    options, right = _shown(sample)
    wrong = list(range(1, len(options)))
    orders = [*wrong[:right], 0, *wrong[right:]] if right >= 0 else wrong
    return {
        "id": str(sample.id),
        "prompt": _question(sample),
        "answers": options,
        "answer_orders": orders,
        "dataset": sample.metadata.get("theme"),
        "genre": sample.metadata.get("subtheme") or "",
        "reasoning": tags.get("reasoning", []),
        "knowledge": tags.get("knowledge", []),
        "model_output": sample.output.completion,
    }


_ENTRIES = {
    "mmau": _mmau,
    "mmar": _mmar,
    "muchomusic": _muchomusic,
}
_BENCHMARKS = {
    **{form: (form,) for form in get_args(Format)},
    "mmau": ("mmau", "mmau_test"),
}
