"""The layers of the house: which folder may import which, and which know nothing of Inspect and
datasets.
"""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "music_evals"
MAY_IMPORT = {
    "benchmarks": set(),
    "notation": set(),
    "encoders": {"notation"},
    "datasets_builders": {"benchmarks", "notation", "encoders"},
    "solvers": {"notation", "scorers.readers.cleaning"},  # whoever takes a reply cleans it
    "scorers": {"notation", "encoders", "solvers.door"},  # whoever asks a model goes by the door
    "rewards": {
        "benchmarks",
        "notation",
        "scorers.readers",
        "scorers.metrics",
        "scorers.answer_kinds",
    },
    "baselines": {"notation", "solvers.symbolic"},
    "evals": {
        "benchmarks",
        "notation",
        "encoders",
        "datasets_builders",
        "solvers",
        "scorers",
        "baselines",
    },
    "reports": {"benchmarks", "notation", "encoders", "scorers"},
    "shards": {"benchmarks", "notation", "datasets_builders", "solvers", "evals", "reports"},
    "listening": {"datasets_builders", "solvers", "baselines"},
    "commands": {
        "benchmarks",
        "notation",
        "encoders",
        "datasets_builders",
        "solvers",
        "scorers",
        "baselines",
        "evals",
        "reports",
        "shards",
        "listening",
        "rewards",
    },
}
PURE = (
    "benchmarks",
    "notation",
    "encoders",
    "solvers/symbolic",
    "scorers/metrics",
    "scorers/answer_kinds",
    "scorers/readers",
    "rewards",
)
MODULES = [path for room in MAY_IMPORT for path in sorted((HOUSE / room).rglob("*.py"))]


def statements(node):
    """What an import of a module runs."""
    for child in ast.iter_child_nodes(node):
        is_typing = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if not is_typing and not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ):
            yield child
            yield from statements(child)


def imports(path, walk=ast.walk):
    names = set()
    for node in walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path} imports relatively"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def imported_modules(path, names):
    """The modules of a set of names that a module imports, also inside functions."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= names & {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                modules.add(submodule if submodule in names else str(node.module))
    return modules & names


def test_no_two_modules_import_each_other():
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in HOUSE.rglob("*.py")
    }
    graph = {name: imported_modules(path, {*paths}) - {name} for name, path in paths.items()}
    assert graph["music_evals.evals.muse"] > {"music_evals.datasets_builders.muse.dataset"}
    order = [*TopologicalSorter(graph).static_order()]  # CycleError names the modules
    assert len(order) == len(paths)


def test_the_package_holds_the_rooms_and_the_top_level_links_to_some():
    assert len(MODULES) > 30
    assert {path.name for path in HOUSE.iterdir() if (path / "__init__.py").is_file()} == set(
        MAY_IMPORT
    )
    for room in ("datasets_builders", "evals", "scorers", "solvers"):
        assert (ROOT / room).is_symlink()
        assert (ROOT / room).resolve() == HOUSE / room


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(HOUSE)))
def test_imports_run_down_the_layers(path):
    room = path.relative_to(HOUSE).parts[0]
    for name in imports(path):
        if not name.startswith("music_evals."):
            assert name.partition(".")[0] not in MAY_IMPORT, (
                f"{name} is not imported from music_evals"
            )
            continue
        target = name.removeprefix("music_evals.")
        allowed = {room, *MAY_IMPORT[room]}
        below = any(target == other or target.startswith(f"{other}.") for other in allowed)
        assert below or target in {other.partition(".")[0] for other in allowed}, (
            f"{room} may not import {target}"
        )


@pytest.mark.parametrize("room", PURE)
def test_pure_rooms_know_nothing_of_inspect_and_datasets(room):
    for path in (HOUSE / room).rglob("*.py"):
        assert not {name.partition(".")[0] for name in imports(path)} & {
            "inspect_ai",
            "datasets",
            "huggingface_hub",
        }


def loaded(name, found):
    """What an import of a module loads of this package, and the libraries that those modules
    name.
    """
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        part = ROOT.joinpath(*parts[:end])
        if ".".join(parts[:end]) not in found:
            found.add(".".join(parts[:end]))
            for path in (part.with_suffix(".py"), part / "__init__.py"):
                for other in imports(path, statements) if path.is_file() else ():
                    loaded(other, found)
    return found


def test_rewards_load_neither_inspect_nor_a_provider_nor_a_heavy_library():
    row = {
        "question": "Which key?",
        "answer": "G minor",
        "answer_type": "key",
        "options": ["Yes", "No"],
        "target": "B",
    }
    code = f"from music_evals.rewards import score; import sys; row = {row}; "
    code += "print([score(task, row, 'B').value for task in ('muse_syncopation', 'msu_textual')], "
    code += "{'inspect_ai', 'openai', 'anthropic', 'datasets', 'pandas', 'torch'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[1.0, 0.0] set()\n"


def test_every_inspect_command_loads_the_tasks_without_a_heavy_library():
    heavy = {
        "music21",
        "scipy.stats",
        "datasets",
        "pandas",
        "verovio",
        "soundfile",
        "torch",
        "transformers",
        "sklearn",
    }
    code = f"import sys, music_evals.evals.registry; print({heavy} & {{*sys.modules}})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
