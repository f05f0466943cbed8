"""Work in processes of limited memory and CPU time: what one item does to its process harms no
other item.
"""

import os
import time

from music_evals.notation.subprocesses import Allowance, LimitError, map_in_subprocess


def work(item):
    match item:
        case "loops":
            while True:
                pass
        case "grows":
            return str(len(bytearray(1 << 40)))
        case "ends":
            os._exit(3)
        case "sleeps":
            time.sleep(1_000)
        case "raises":
            raise KeyError(item)
    return item.upper()


def test_what_takes_too_much_is_told_and_the_rest_is_done_in_order():
    items = ["a", "loops", "b", "grows", "ends", "c"]
    results = list(map_in_subprocess(work, items, lambda _: Allowance(cpu=0, memory=1 << 30)))
    assert [result for result in results if isinstance(result, str)] == ["A", "B", "C"]
    errors = {
        item: str(result)
        for item, result in zip(items, results, strict=True)
        if isinstance(result, LimitError)
    }
    assert errors == {
        "loops": "took more than 0 s of CPU time",
        "grows": "needs more than 1,024 MiB of memory",
        "ends": "ended its process with status 3",
    }
