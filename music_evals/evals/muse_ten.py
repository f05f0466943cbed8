"""The MUSE Benchmark: ten listening tasks, by ear or from MIDI; none of them is one of the three of
`muse`.

"The MUSE Benchmark: Probing Music Perception and Auditory Relational Reasoning in Audio LLMs"
Brandon James Carone, Iran R. Roman, Pablo Ripollés
https://arxiv.org/abs/2510.19055

inspect eval evals/muse_ten.py --model google/gemini-2.5-pro -T modality=audio
inspect eval evals/muse_ten.py@oddball --model baseline/reader -T strategy=cot -T shots=few
inspect eval evals/muse_ten.py@contour --model vllm/Qwen/Qwen2.5-7B-Instruct -T strategy=logiclm
"""

from string import Template

from inspect_ai import Task

from music_evals.benchmarks.prompts import load_prompts
from music_evals.datasets_builders.muse_ten.dataset import BENCHMARK
from music_evals.datasets_builders.muse_ten.stimuli import FORMS
from music_evals.evals.muse import MuseParameters, Trials, load_wording, trials_task
from music_evals.evals.shared.levels import at_level
from music_evals.evals.shared.registration import task
from music_evals.solvers.symbolic.muse_ten import SOLVERS


@task
def oddball(params: MuseParameters) -> Task:
    """Tell whether two melodies are the same, or one note was changed: yes or no."""
    return _task("oddball", "Are the two exactly the same melody?", params)


@task
def contour(params: MuseParameters) -> Task:
    """Name the contour of a melody: four options."""
    return _task("contour", "Which contour has the melody?", params)


@task
def instrument(params: MuseParameters) -> Task:
    """Name the instrument that plays: four options."""
    return _task("instrument", "Which instrument plays?", params)


@task
def rhythm_matching(params: MuseParameters) -> Task:
    """Tell whether two drum patterns are the same: yes or no."""
    return _task("rhythm_matching", "Are the two exactly the same drum pattern?", params)


@task
def meter(params: MuseParameters) -> Task:
    """Find out by how many beats are grouped: three options."""
    return _task("meter", "By how many are the beats grouped?", params)


@task
def key_modulation(params: MuseParameters) -> Task:
    """Tell whether the key changes: two options."""
    return _task("key_modulation", "Does a key modulation occur?", params)


@task
def progression(params: MuseParameters) -> Task:
    """Tell whether two excerpts have the same chord progression: two options."""
    return _task("progression", "Do the two have the same chord progression?", params)


@task
def transposition_pairs(params: MuseParameters) -> Task:
    """Tell whether two melodies are the same but for their key: yes or no."""
    return _task("transposition_pairs", "Are the two the same melody, but for the key?", params)


@task
def major_or_minor(params: MuseParameters) -> Task:
    """Tell whether a chord is major or minor: two options."""
    return _task("major_or_minor", "Is the chord major or minor?", params)


@task
def syncopation_pairs(params: MuseParameters) -> Task:
    """Tell which of two drum loops is more syncopated: two options."""
    return _task("syncopation_pairs", "Which of the two is more syncopated?", params)


def _task(name: str, question: str, params: MuseParameters) -> Task:
    form = FORMS[name]
    solver = SOLVERS.get(name)
    dataset = at_level(BENCHMARK, name, params)
    trials = Trials(name, question, form.clips, dataset, lambda row: str(row["why"]), solver)
    wording = load_wording(BENCHMARK.name, name, params)
    texts = wording[name]
    frame = wording["letters" if form.is_lettered else "sentences"]
    options = list(form.options)
    if form.is_lettered:
        lettered = zip(form.targets, options, strict=True)
        options = [f"{letter}. {option}" for letter, option in lettered]
    lead = wording["one" if len(form.clips) == 1 else "two"][params.modality]
    given = Template(lead).substitute(music=texts["music"])
    if params.modality == "midi":
        given += texts.get("midi", "")
    facts = {
        "given": given,
        "question": texts["question"],
        "hints": texts["hints"],
        "options": "\n".join(options),
        "first": options[0],
        "second": options[1],
    }
    system = frame["cot" if params.strategy == "cot" else "standalone"]
    if solver and params.strategy == "logiclm":
        schema = solver.schema
        transcription = wording["transcription"]
        system = transcription["text"]
        facts |= {
            **transcription[schema.functor],
            **texts.get(schema.functor, {}),
            "template": schema.template(trials.identifiers),
        }
    # What LogicLM says between transcription and answer is worded for both benchmarks in one place.
    followup = {**load_prompts("muse")["logiclm"], **facts, "final": frame["final"]}
    return trials_task(
        trials, params, Template(system).substitute(facts), followup, texts["worked"]
    )
