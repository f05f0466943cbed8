"""Draw mutants of the package, each with the tests that run its line."""

import argparse
import ast
import json
import random
from collections import Counter
from pathlib import Path

from tests.mutation.lines import tests_by_line

SWAPPED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
CASES = 4  # of one test function
TESTS = 60  # of one mutant


def places(tree):
    """Numbers of the nodes, in the order of `ast.walk`, that `mutated` can change."""
    number = {id(node): index for index, node in enumerate(ast.walk(tree))}
    inside = {
        id(part) for node in ast.walk(tree) if isinstance(node, FUNCTIONS) for part in _code(node)
    }
    return [number[id(node)] for node in ast.walk(tree) if id(node) in inside and _change(node)]


def _code(function):
    """The nodes of a function's body but messages of errors and annotations."""
    left = [part for part in function.body if not isinstance(part, ast.Expr | ast.Raise)]
    while left:
        node = left.pop()
        yield node
        if isinstance(node, ast.AnnAssign):
            left += [node.value] if node.value else []
        else:
            left += [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.Raise)]


def _change(node):
    """What changes a node in place; None if nothing does."""
    match node:
        case ast.Compare(ops=[operator, *_]) if type(operator) in SWAPPED:
            return lambda: node.ops.__setitem__(0, SWAPPED[type(operator)]())
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) if type(operator) in SWAPPED:
            return lambda: setattr(node, "op", SWAPPED[type(operator)]())
        case ast.Constant(value=bool(value)):
            return lambda: setattr(node, "value", not value)
        case ast.Constant(value=int(value) | float(value)):
            return lambda: setattr(node, "value", value + 1)
        case ast.If() | ast.IfExp() | ast.While():
            return lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))
        case ast.Return(value=ast.AST()):
            return lambda: setattr(node, "value", ast.Constant(None))
    return None


def mutated(source, place):
    """The tree of a source with one change, and the changed node."""
    tree = ast.parse(source)
    node = list(ast.walk(tree))[place]
    _change(node)()
    return ast.fix_missing_locations(tree), node


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--coverage", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    tests, width = tests_by_line(options.coverage)
    sources = {
        str(path): path.read_text("utf-8") for path in sorted(Path("music_evals").rglob("*.py"))
    }
    drawn = [
        (path, place) for path, source in sources.items() for place in places(ast.parse(source))
    ]
    mutants = []
    for path, place in random.Random(options.seed).sample(drawn, options.count):
        node = mutated(sources[path], place)[1]
        tried = Counter()
        chosen = []
        for test in sorted(tests.get((path, node.lineno), ()), key=width.get):
            tried[test.partition("[")[0]] += 1
            if tried[test.partition("[")[0]] <= CASES:
                chosen.append(test)
        kind = type(node).__name__
        mutants.append(
            {
                "path": path,
                "place": place,
                "line": node.lineno,
                "kind": kind,
                "tests": chosen[:TESTS],
            }
        )
    Path(options.out).write_text(json.dumps(mutants, indent=0), "utf-8")
    print(
        Counter(mutant["kind"] for mutant in mutants),
        sum(not m["tests"] for m in mutants),
        "not run",
    )


if __name__ == "__main__":
    main()
