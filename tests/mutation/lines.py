"""Which tests run which lines, from the data of `pytest --cov-context=test`."""

from collections import defaultdict


def tests_by_line(file):
    """(path, line) → ids of tests; and test → the number of lines that it runs.

    What a fixture runs counts for all tests of its file: it runs with the first that asks for it.
    """
    from coverage import CoverageData  # installed by hand: README.md

    data = CoverageData(file)
    data.read()
    by_line = defaultdict(set)
    width = defaultdict(int)
    shared = defaultdict(set)
    for name in data.measured_files():
        path = name[name.index("music_evals/") :]
        for line, contexts in data.contexts_by_lineno(name).items():
            for context in filter(None, contexts):
                test, _, phase = context.rpartition("|")
                width[test] += 1
                by_line[path, line].add(test)
                if phase == "setup":
                    shared[path, line].add(test.partition("::")[0])
    tests = defaultdict(list)
    for test in width:
        tests[test.partition("::")[0]].append(test)
    for place, files in shared.items():
        for file in files:
            by_line[place].update(tests[file])
    return by_line, width
