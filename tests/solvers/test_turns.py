"""Turns of requests against servers with a limit of the rate, by a clock that the test sets."""

import heapq
import math
from itertools import count

import pytest

from music_evals.solvers.turns import MOVES_ON, Turns

CONNECTIONS = 100
LATENCY = 0.05  # of an answer
TRIP = 0.01  # of a refusal


class Limit:
    """A server's limit: so many requests a minute."""

    def __init__(self, per_minute):
        self.most, self.taken, self.tokens, self.last = per_minute, [0.0] * 0, per_minute * 1.0, 0.0

    def window(self, now):
        """Seconds to wait until the minute is over in which all were taken; 0 takes the request."""
        self.taken = [sent for sent in self.taken if sent // 60 == now // 60]
        return 60 - now % 60 if self._is_full(now) else 0

    def sliding(self, now):
        """As many in any 60 seconds."""
        self.taken = [sent for sent in self.taken if now - sent < 60]
        return 60 - (now - self.taken[0]) if self._is_full(now) else 0

    def bucket(self, now):
        """As many at once, and one more for each share of a minute."""
        self.tokens = min(self.most, self.tokens + (now - self.last) * self.most / 60)
        self.last = now
        if self.tokens < 1:
            return (1 - self.tokens) * 60 / self.most
        self.tokens -= 1
        return 0

    def spaced(self, now):
        """One for each share of a minute."""
        gap = 60 / self.most
        if self.taken and now - self.taken[-1] < gap:
            return gap - (now - self.taken[-1])
        self.taken.append(now)
        return 0

    def _is_full(self, now):
        if len(self.taken) < self.most:
            self.taken.append(now)
            return False
        return True


def seconds_for(requests, wait, says):
    """How long requests take that are sent by turns, and the last rate that was noted."""
    now, order = 0.0, count()
    rates = [0.0]
    turns = Turns(rates.append, lambda: now)
    events = []
    queue, answers, left = [0], [0], [requests]

    def later(seconds, action):
        heapq.heappush(events, (now + seconds, next(order), action))

    def start():
        if left[0]:
            left[0] -= 1
            ask()

    def ask():
        if turns.are_kept:
            queue[0] += 1
            if queue[0] == 1:
                hold()
        else:
            send()

    def hold():
        """The first of the queue waits as `Turns.wait` does."""
        if (rest := turns._next - now) > 1e-9:
            return later(min(rest, 0.02), hold)
        turns.take()
        queue[0] -= 1
        send()
        return hold() if queue[0] else None

    def send():
        sent = turns.send()
        if seconds := wait(now):
            later(TRIP, lambda: refuse(sent, math.ceil(seconds) if says else None))
        else:
            later(LATENCY, finish)

    def refuse(sent, seconds):
        turns.refuse(sent, seconds)
        ask()

    def finish():
        answers[0] += 1
        turns.answer()
        start()

    for number in range(CONNECTIONS):
        later(number / 100, start)
    while answers[0] < requests:
        now, _, action = heapq.heappop(events)
        action()
    return now, rates[-1]


@pytest.mark.parametrize("says", [False, True], ids=["429 alone", "Retry-After"])
@pytest.mark.parametrize(("per_minute", "requests"), [(12, 60), (60, 300), (600, 300)])
@pytest.mark.parametrize("kind", ["window", "sliding", "bucket", "spaced"])
def test_little_time_is_lost(kind, per_minute, requests, says):
    limit = Limit(per_minute)
    seconds, rate = seconds_for(requests, getattr(limit, kind), says)
    at_first = 1 if kind == "spaced" else per_minute
    least = max(requests - at_first, 0) * 60 / per_minute
    assert seconds <= 1.3 * max(least, requests / CONNECTIONS * LATENCY + 1)
    if least > 60:
        assert per_minute / 2 < rate < per_minute * 2


def test_nobody_waits_for_a_server_that_has_stopped_to_answer():
    now = [0.0]
    turns = Turns(lambda _: None, lambda: now[0])
    turns.refuse(turns.send(), None)
    assert turns.are_kept
    turns.answer()
    now[0] = MOVES_ON - 1
    assert turns.are_kept
    now[0] = MOVES_ON + 1
    assert not turns.are_kept
