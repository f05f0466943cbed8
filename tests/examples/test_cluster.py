"""`examples/cluster`: a script and a job that were not run, but whose commands take what they name."""

import shlex
import subprocess
from pathlib import Path

import typer
import yaml

from music_evals.commands.main import app
from music_evals.evals import registry

CLUSTER = Path(__file__).parents[2] / "examples" / "cluster"
RUN = typer.main.get_command(app).commands["run"]


def check_run(words):
    """`music-evals run` has the options of a command, and the suite its tasks."""
    options = {option for each in RUN.params for option in each.opts}
    start = words.index("music-evals") + 2
    first_option = next(place for place in range(start, len(words)) if words[place][0] == "-")
    targets = words[start:first_option]
    assert targets
    for target in targets:
        benchmark, _, task = target.partition("_")
        assert not task or hasattr(registry.MODULES[benchmark], task)
    passed_on = {"--display"}  # Inspect's own
    named = {word for word in words[first_option:] if word.startswith("-")}
    assert named <= options | passed_on


def test_the_script_for_slurm_is_bash_and_its_command_exists():
    path = CLUSTER / "slurm.sh"
    subprocess.run(["bash", "-n", str(path)], check=True)
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    (command,) = [line for line in text.splitlines() if "music-evals run" in line]
    words = shlex.split(command)
    check_run(words[words.index("music-evals") : words.index("&")])


def test_the_job_for_ray_is_yaml_and_its_command_exists():
    job = yaml.safe_load((CLUSTER / "rayjob.yaml").read_text(encoding="utf-8"))
    check_run(shlex.split(job["spec"]["entrypoint"]))
