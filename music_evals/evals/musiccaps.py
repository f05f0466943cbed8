r"""MusicCaps: describe clips of ten seconds, of which musicians wrote captions.

"MusicLM: Generating Music From Text"
Andrea Agostinelli, Timo I. Denk, Zalán Borsos, Jesse Engel, Mauro Verzetti, Antoine Caillon,
Qingqing Huang, Aren Jansen, Adam Roberts, Marco Tagliasacchi, Matt Sharifi, Neil Zeghidour,
Christian Frank
https://arxiv.org/abs/2301.11325

inspect eval evals/musiccaps.py --model google/gemini-2.5-pro -T dataset=/data/musiccaps
inspect eval evals/musiccaps.py --model openai-api/local/af3 -T dataset=/data/musiccaps \
  -T judge=openai/gpt-5
"""

from inspect_ai import Task

from music_evals.datasets_builders.questions.captions import MUSICCAPS as BENCHMARK
from music_evals.evals.shared.captions import CaptionParameters, caption_task
from music_evals.evals.shared.registration import task


@task
def captions(params: CaptionParameters) -> Task:
    """Describe a clip in free words."""
    return caption_task(params, BENCHMARK)
