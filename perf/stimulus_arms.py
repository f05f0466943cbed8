"""What other music in the place of a question's own adds to making a task's samples, against the task as it is.

python perf/stimulus_arms.py [--repeats 5] [--only msu]
"""

from collections.abc import Callable
from functools import partial

from inspect_ai import Task
from measuring import paired, start

from music_evals.evals import lilybench, msu, muse, ziqi
from music_evals.solvers.stimulus import ARMS

TASKS: dict[str, Callable[..., Task]] = {
    "muse syncopation": muse.syncopation,
    "muse syncopation, audio": partial(muse.syncopation, modality="audio"),
    "ziqi generation": ziqi.generation,
    "msu textual, single": partial(msu.textual, asking="single"),
    "msu visual": msu.visual,
    "lilybench bar_count": lilybench.bar_count,
}


def main(repeats: int = 5, only: str = "") -> None:
    for name, make in TASKS.items():
        for arm in ARMS[1:] if only in name else ():
            samples = len(make().dataset)
            paired(f"{name}, {samples} samples, {arm}", partial(make, stimulus=arm), "as it is", make, repeats)


if __name__ == "__main__":
    start(main, __doc__)
