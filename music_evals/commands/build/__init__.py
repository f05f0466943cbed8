"""`music-evals build`: build the dataset of a benchmark as a folder in the layout of the Hub."""

import typer

from music_evals.commands.build.lilybench import lilybench
from music_evals.commands.build.lilybench_generation import lilybench_generation
from music_evals.commands.build.msu import msu
from music_evals.commands.build.muse import muse
from music_evals.commands.build.ziqi import ziqi

app = typer.Typer(help="Build the dataset of a benchmark as a folder in the layout of the Hub.", no_args_is_help=True)
app.command()(lilybench)
app.command()(lilybench_generation)
app.command()(msu)
app.command()(muse)
app.command()(ziqi)
