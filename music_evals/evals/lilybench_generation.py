r"""LilyBench, generation: a model writes pieces of music in LilyPond.

"Can LLMs understand LilyPond? A benchmark for symbolic music generation and understanding"
Matteo Spanio, Mohammad Torabi, Andrea Poltronieri, Antonio Rodà
https://arxiv.org/abs/2606.08722

inspect eval evals/lilybench_generation.py --model vllm/Qwen/Qwen2.5-Coder-14B-Instruct \
  -T encoder=csc-unipd/lilybert
inspect eval evals/lilybench_generation.py --model openai/gpt-4o \
  -T regime=few -T attempts=3 -T dataset=published
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any, Literal

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)

from music_evals.benchmarks.prompts import Prompts, load_prompts
from music_evals.datasets_builders.dataset_io import GENERATED, describe_dataset, load_split
from music_evals.datasets_builders.lilybench.rows import Protocol
from music_evals.datasets_builders.lilybench_generation.dataset import BENCHMARK
from music_evals.datasets_builders.lilybench_generation.references import (
    load_demonstrations,
    load_references,
)
from music_evals.datasets_builders.lilybench_generation.rows import (
    FULL,
    DemonstrationRow,
    Description,
    PromptRow,
)
from music_evals.evals.shared.declared_tasks import declared_task, question_metadata, samples_view
from music_evals.evals.shared.parameters import check_lilypond, check_positive
from music_evals.evals.shared.registration import task
from music_evals.scorers.reference_pieces import ReferencePieces, shared_encoder
from music_evals.scorers.written_music import music_scorer
from music_evals.solvers.media import MEDIA, SHOWN
from music_evals.solvers.writing import write_music

Regime = Literal["zero", "few", "ablation"]
DEMONSTRATIONS: Mapping[Regime, str] = {"few": "train", "ablation": "ablation"}
"""The split that a regime's demonstrations come from."""
MAX_NEW_TOKENS = 3000
MAX_ATTEMPTS = 10
FEW_PROMPTS = 200
"""How many prompts are asked by default. The paper names this number, but its figures are of all
prompts.
"""

PIECES = ReferencePieces(load_references, load_demonstrations)
written_music = music_scorer(PIECES)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationParameters:
    """Parameters of `generation`.

    Args:
        dataset: ``generated`` for a look-alike of the published test; ``published`` for that, which
            is fetched once; a folder; or ``hf://datasets/ORG/NAME[@REVISION]``.
        regime: ``zero`` for the prompt alone, ``few`` for three demonstrations from the training
            split ahead of it, ``ablation`` for three hand-written ones in A minor.
        protocol: ``strict`` for prompts with key and metre, and descriptors on a grid; ``paper``
            for prompts, reading of replies, rule of what compiles and descriptors as published, and
            prompts drawn from files if the dataset has them
            (``music_evals/notation/lilypond/writing.py``).
        n_prompts: number of prompts, from the first of the bank on; the published figures are of
            1000. If the bank has fewer than the default, all are asked.
        reference: reference sets of the dataset to compare with, separated by commas; all by
            default.
        encoder: encoder for the Fréchet Music Distance, such as ``csc-unipd/lilybert``, or a
            folder; None for no distance.
        attempts: most replies of a model, which is sent LilyPond's errors after each that fails;
            the paper has 1.
        media: number of samples, from the first on, for which the log shows the first system and a
            piano roll; or ``all``.
        prompts: ``second`` or ``third`` wording, or a TOML file with your own.
    """

    dataset: str = GENERATED
    regime: Regime = "zero"
    protocol: Protocol = "strict"
    n_prompts: int = FEW_PROMPTS
    reference: str | None = None
    encoder: str | None = None
    attempts: int = 1
    media: int | Literal["all"] = SHOWN
    prompts: str | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_positive(n_prompts=self.n_prompts)
        if not 1 <= self.attempts <= MAX_ATTEMPTS:
            raise ValueError(
                f"attempts={self.attempts} is not valid; a number from 1 to {MAX_ATTEMPTS} is "
                "needed"
            )


@task
def generation(params: GenerationParameters) -> Task:
    """Write a piece of music in LilyPond (sections 3.1 and 3.3)."""
    check_lilypond("generation compiles what the model writes, in a sandbox")
    worded = "paper" if params.protocol == "paper" else ""
    wording = load_prompts("lilybench_generation", params.prompts, worded)
    origin = describe_dataset(params.dataset, benchmark=BENCHMARK)
    counts = origin.provenance.counts.get("prompts", ())
    pinned = params.dataset
    if origin.revision:  # a branch on the Hub may move; a log is scored again with the same pieces
        pinned = f"{pinned.partition('@')[0]}@{origin.revision}"
    is_drawn_from_files = params.protocol == "paper" and "paper" in counts
    drawn_from, split = ("files", "paper") if is_drawn_from_files else ("entries", "test")
    rows = load_split(pinned, "prompts", split, benchmark=BENCHMARK).to_list()
    if params.n_prompts > max(len(rows), FEW_PROMPTS):
        raise ValueError(
            f"n_prompts={params.n_prompts} is not valid; the bank of {params.dataset} has "
            f"{len(rows)} prompts"
        )
    shown = []
    if params.regime in DEMONSTRATIONS:
        split = DEMONSTRATIONS[params.regime]
        shown = load_split(pinned, "demonstrations", split, benchmark=BENCHMARK).to_list()
    references = PIECES.references(pinned, params.reference)
    encoder = None if params.encoder is None else shared_encoder(params.encoder).identity
    metric = "written_music/compile_rate" if params.protocol == "paper" else ""
    is_lilybench = origin.provenance.source != GENERATED
    return declared_task(
        params,
        "lilybench_generation",
        "generation",
        origin,
        [
            prompt_to_sample(row, shown, wording, params.protocol)
            for row in rows[: params.n_prompts]
        ],
        solver=write_music(params.attempts, wording["repair"], params.protocol),
        scorer=written_music(
            pinned,
            params.reference,
            params.protocol,
            params.encoder,
            pictures=params.media != 0,
        ),
        metric=metric,
        config=GenerateConfig(temperature=0.7, top_p=0.9, max_tokens=MAX_NEW_TOKENS),
        viewer=samples_view(
            "Pieces",
            ("sampleStatus", "sampleId", "answer", "tokens"),
            ("input", "target", "duration"),
        ),
        metadata={
            "is_lilybench": is_lilybench,
            "regime": params.regime,
            "protocol": params.protocol,
            "prompts_drawn_from": drawn_from,
            "references": {reference.name: len(reference.ids) for reference in references},
            "encoder": encoder,
            "attempts": params.attempts,
        },
        is_like=not is_lilybench,
    )


def prompt_to_sample(
    row: PromptRow, shown: Sequence[DemonstrationRow], wording: Prompts, protocol: Protocol
) -> Sample:
    """Map a prompt to a sample without a target.

    Demonstrations are earlier turns under ``strict``, and the beginning of the prompt's message
    under ``paper``.
    """
    words = wording["paper"] if protocol == "paper" else wording
    messages: list[ChatMessage] = [ChatMessageSystem(content=words["instruction"])]
    template = Template(words["demonstration"])
    if protocol == "paper":
        parts = []
        for demonstration in shown:
            score = demonstration["text"].strip("\r\n")
            parts.append(
                template.substitute(metadata=published_metadata(demonstration, words), score=score)
            )
        prompt = "\n\n".join([*parts, published_request(row, words)])
    else:
        for demonstration in shown:
            score = template.substitute(score=demonstration["text"].strip("\r\n"))
            messages.append(ChatMessageUser(content=request(demonstration, wording)))
            messages.append(ChatMessageAssistant(content=score))
        prompt = request(row, wording)
    fields = wording["description"]
    description = {
        name: value for name, value in row.items() if name in fields and value is not None
    }
    messages.append(
        ChatMessageUser(
            content=prompt,
            metadata=question_metadata(
                "lilybench_generation",
                "generation",
                answer_type="piece",
                form="$answer",
                index=row["index"],
                description=description,
            ),
        )
    )
    return Sample(
        id=row["id"],
        input=messages,
        metadata={"index": row["index"], "entry": row["entry"], MEDIA: True},
    )


def request(description: Description, wording: Prompts) -> str:
    """Word what is to be written under ``strict``."""
    return Template(wording["prompt"]).substitute(
        description=_lines(description, wording["description"])
    )


def published_request(description: Description, wording: Prompts) -> str:
    """Word what is to be written under ``paper``: metadata, and a sentence with other words for
    unknown fields.
    """
    facts: Mapping[str, Any] = description
    words = {name: facts[name] or unknown for name, unknown in wording["unknown"].items()}
    part = facts["part"] or FULL
    words["part"] = (
        wording["full"] if part == FULL else Template(wording["part"]).substitute(part=part)
    )
    return Template(wording["prompt"]).substitute(
        words, metadata=published_metadata(description, wording)
    )


def published_metadata(description: Description, wording: Prompts) -> str:
    """Word the metadata of a piece as published: in comments of LilyPond."""
    return Template(wording["metadata"]).substitute(
        lines=_lines({**description, "part": description["part"] or FULL}, wording["lines"])
    )


def _lines(facts: Mapping[str, Any], lines: Mapping[str, str]) -> str:
    return "\n".join(
        Template(line).substitute(value=facts[field])
        for field, line in lines.items()
        if facts[field]
    )
