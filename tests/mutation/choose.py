"""Choose the cheapest test functions that keep lines covered and mutants killed.

With ``--most N`` only N nodes of functions are dropped: those that repeat most, for their size, of
what others do.
"""

import argparse
import ast
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from tests.mutation.lines import tests_by_line

KEPT = (
    *("tests/oracles/", "tests/golden/", "tests/campaign/", "tests/test_", "lilypond/sandbox/"),
    *("scorers/metrics/", "tests/examples/", "test_corpora", "test_door", "test_turns"),
    *(
        "any_",
        "no_reply",
        "damaged",
        "refuse",
        "real_",
        "foreign",
        "docs",
        "other_means",
        "authors",
    ),
    *("secret", "hostile", "attack", "inject", "bomb", "sandbox", "published", "coverage"),
    *("statsmodels", "scipy", "sklearn"),
    *(
        "test_writers",
        "labelled_replies",
        "music21",
        "scikit",
        "symusic",
        "transformers",
        "by_hand",
    ),
    *("read_back_with", "second_reader", "same_seed", "knows_the_answers", "leaks_are", "dodges"),
    *("degenerate", "interrupted", "full_disk", "not_at_all", "a_small_", "junk", "no_answer"),
    *("never_its_answer", "outside", "private", "has_a_key", "leave_its_place", "no_tag"),
    *("two_processes", "hang_", "no_markup", "golden_logs"),
)
"""Parts of the ids of tests that stay whatever the mutants say."""
MUTANT = 25  # lines that a mutant is worth


def killers(folder):
    """Mutant → the test functions that failed with it."""
    found = defaultdict(set)
    for path in sorted(Path(folder).glob("*.jsonl")):
        for line in map(json.loads, path.read_text("utf-8").splitlines()):
            if line.get("failed"):
                found[path.stem].add(line["ended"].partition("[")[0])
    return found


def sizes():
    """Test function → its AST nodes."""
    return {
        f"{path}::{node.name}": sum(1 for _ in ast.walk(node))
        for path in sorted(Path("tests").rglob("test_*.py"))
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
    }


def worth_of(by_line, killed_by):
    """Test function → what it covers and kills, each with its weight."""
    worth = defaultdict(dict)
    for place, tests in by_line.items():
        for test in tests:
            worth[test.partition("[")[0]][place] = 1
    for mutant, functions in killed_by.items():
        for function in functions:
            worth[function][mutant] = MUTANT
    return worth


def chosen(worth, size):
    """The functions that stay: those of `KEPT`, then those that add most for their size."""
    kept = {name for name in worth if name not in size or any(part in name for part in KEPT)}
    have = set().union(*(worth[name] for name in kept))
    left = set(worth) - kept

    def gain(name):
        return (
            sum(weight for thing, weight in worth[name].items() if thing not in have) / size[name]
        )

    while left and gain(best := max(sorted(left), key=gain)):
        kept.add(best)
        left.remove(best)
        have |= set(worth[best])
    return kept


def repeated(worth, kept, size, most):
    """Functions to drop that have at most so many nodes together, those that add least first."""
    times = Counter(thing for name in kept for thing in worth[name])

    def left_over(name):
        return sum(value / (1 + times[thing]) ** 2 for thing, value in worth[name].items())

    dropped = []
    for name in sorted(set(worth) - kept, key=lambda name: (left_over(name) / size[name], name)):
        if size[name] <= most:
            dropped.append(name)
            most -= size[name]
    return dropped


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coverage", required=True)
    parser.add_argument("--kills", required=True)
    parser.add_argument("--most", type=int, default=sys.maxsize)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    size = sizes()
    worth = worth_of(tests_by_line(options.coverage)[0], killers(options.kills))
    kept = chosen(worth, size)
    dropped = sorted(repeated(worth, kept, size, options.most))
    Path(options.out).write_text(json.dumps(dropped, indent=0), "utf-8")
    print(f"{len(dropped)} of {len(size)} functions, {sum(map(size.get, dropped)):,} nodes")


if __name__ == "__main__":
    main()
