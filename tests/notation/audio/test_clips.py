"""Clips of strangers are bounded in rate and in length."""

import io

import numpy as np
import pytest
import soundfile

from music_evals.notation.audio.clips import check_clip, sendable_clip


def wav(seconds, rate):
    buffer = io.BytesIO()
    soundfile.write(buffer, np.zeros(seconds * rate), rate, format="WAV", subtype="PCM_U8")
    return buffer.getvalue()


def with_rate(data, rate):
    return data[:24] + rate.to_bytes(4, "little") + data[28:]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (with_rate(wav(1, 8000), 2**31 - 1), "2,147,483,647 Hz; accepted: 1,000 to 192,000"),
        (with_rate(wav(1, 8000), 1), "1 Hz"),
        (wav(3601, 1000), "over 3,600 seconds"),
    ],
)
def test_rates_and_lengths_that_would_fill_the_memory(data, problem):
    with pytest.raises(ValueError, match=problem):
        check_clip(data)
    with pytest.raises(ValueError, match=problem):
        sendable_clip(data, 120)
