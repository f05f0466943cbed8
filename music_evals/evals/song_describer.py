r"""Song Describer: describe recordings of up to two minutes, of which people wrote captions.

"The Song Describer Dataset: a Corpus of Audio Captions for Music-and-Language Evaluation"
Ilaria Manco, Benno Weck, SeungHeon Doh, Minz Won, Yixiao Zhang, Dmitry Bogdanov, Yusong Wu, Ke
Chen, Philip Tovstogan, Emmanouil Benetos, Elio Quinton, György Fazekas, Juhan Nam
https://arxiv.org/abs/2311.10057

inspect eval evals/song_describer.py --model google/gemini-2.5-pro
inspect eval evals/song_describer.py --model openai-api/local/af3 -T dataset=published \
  -T judge=openai/gpt-5
"""

from inspect_ai import Task

from music_evals.datasets_builders.questions.captions import SONG_DESCRIBER as BENCHMARK
from music_evals.evals.shared.captions import CaptionParameters, caption_task
from music_evals.evals.shared.registration import task


@task
def captions(params: CaptionParameters) -> Task:
    """Describe a recording in free words."""
    return caption_task(params, BENCHMARK)
