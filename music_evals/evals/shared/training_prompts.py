"""The prompts of training rows: what a task of the suite sends for them, as messages that trainers
take.
"""

from collections.abc import Container
from importlib import import_module
from pathlib import Path

from inspect_ai import Task

from music_evals.solvers.stimulus import messages_of

Messages = list[dict[str, str]]

_CONDITIONS = {
    "msu": ({"asking": "single"},),
    "muse": ({"modality": "midi"},),
    "muse_ten": ({"modality": "midi"},),
    "ziqi": ({"language": "zh"}, {"language": "en"}),
}
"""Dataset → the parameters of the tasks that ask its rows, without sound and one question at a
time.
"""
_TASKS = {"questions": "textual"}  # config → task of another name


def training_prompts(name: str, folder: Path) -> dict[str, dict[str, Messages]]:
    """Return the zero-shot prompts of a dataset's rows, as the tasks send them.

    Args:
        name: of the dataset.
        folder: a dataset folder with the rows as a test split.

    Returns:
        Config → id of a row → its messages, each with ``role`` and ``content``, a text.
    """
    from music_evals.datasets_builders.dataset_io import describe_dataset, load_split
    from music_evals.evals.registry import dataset_module

    spec = dataset_module(name).BENCHMARK
    module = import_module(f"music_evals.evals.{name}")
    prompts = {}
    for config in describe_dataset(str(folder), benchmark=spec).provenance.counts:
        make = getattr(module, _TASKS.get(config, config), None)
        if make is None:  # scores, on which other rows ask
            continue
        messages: dict[str, Messages] = {}
        for parameters in _CONDITIONS.get(name, ({},)):
            messages |= _messages(make(dataset=str(folder), **parameters))
        ids = load_split(str(folder), config, "test", benchmark=spec, columns=["id"])["id"]
        prompts[config] = {row: messages[_sample_id(row, messages)] for row in ids}
    return prompts


def _sample_id(row: str, sample_ids: Container[str]) -> str:
    """What a task calls a row: its id, perhaps without the names of its theme at the beginning."""
    while row and row not in sample_ids:
        row = row.partition("-")[2]
    return row


def _messages(task: Task) -> dict[str, Messages]:
    """Id of a row, or what a task calls it → its messages."""
    messages_by_row = {}
    for sample in task.dataset:
        messages = messages_of(sample)
        row = (sample.metadata or {}).get("row", sample.id)
        messages_by_row[str(row)] = [
            {"role": message.role, "content": message.text} for message in messages
        ]
    return messages_by_row
