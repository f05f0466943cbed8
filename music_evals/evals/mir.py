"""Any dataset of mirdata as a listening test, from a TOML file that says what is asked.

"mirdata: Software for Reproducible Usage of Datasets"
Rachel M. Bittner, Magdalena Fuentes, David Rubinstein, Andreas Jansson, Keunwoo Choi, Thor Kell
https://doi.org/10.5281/zenodo.3527750

inspect eval evals/mir.py -T facts=simac.toml -T dataset=~/mir_datasets/simac --model MODEL
"""

import tomllib
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from inspect_ai import Task

from music_evals import benchmarks
from music_evals.datasets_builders.dataset_io import PUBLISHED, DatasetSpec
from music_evals.datasets_builders.questions.media_questions import FEATURES
from music_evals.datasets_builders.questions.mirdata.dataset import VERSION, mirdata_set
from music_evals.datasets_builders.questions.mirdata.facts import read_facts
from music_evals.evals.shared.question_sets import QuestionSetParameters, question_set_task
from music_evals.evals.shared.registration import task

_NAME = "listening"
BENCHMARK = DatasetSpec(benchmarks.MIRDATA, VERSION, None, {_NAME: FEATURES})


@dataclass(frozen=True, slots=True, kw_only=True)
class MirParameters(QuestionSetParameters):
    """Parameters of a task on a dataset of mirdata.

    Args:
        facts: a TOML file with a table ``[mirdata]`` and a table ``[mirdata.tasks.listening]``, as
            `docs/mirdata.md` explains.
    """

    dataset: str = PUBLISHED
    facts: str = ""


@task
def listening(params: MirParameters) -> Task:
    """Answer a question about each track of a dataset."""
    return question_set_task(params, _NAME, _dataset(params.facts))


def _dataset(path: str) -> DatasetSpec:
    """The dataset that a file describes; the version tells two files apart."""
    if not path:
        raise ValueError("facts= is missing: a TOML file that says what is asked")
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8")
        facts = read_facts(tomllib.loads(text).get("mirdata", {}))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"facts={path} cannot be read: {error}") from error
    version = f"{VERSION}+{sha256(text.encode()).hexdigest()[:8]}"
    remote = benchmarks.Remote(mirdata=facts.loader, commit=facts.version)
    source = benchmarks.Source(f"{facts.loader} of mirdata", remotes=[remote])
    return replace(mirdata_set(benchmarks.MIRDATA, facts, version), source=source)
