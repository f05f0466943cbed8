"""Keeps to the rate at which a server takes requests, which is learned from what it refuses."""

import math
import time
from collections.abc import Callable

import anyio

MOVES_ON = 600.0
"""Seconds after an answer in which a refusal is no failure."""
_FIRST = 60.0  # the same, ahead of the first answer
_LATER = 1 / 10  # a pause, as a share of the time without a request that was taken
_SHORTEST, _LONGEST = 0.02, 60.0  # seconds of a pause
_FIRST_PACE = 0.05  # seconds between requests after the first refusal
_UNDER_WAY = 8  # requests at most whose refusal may be on its way
_FASTER, _SLOWER = 0.97, 1.2  # factors of the pace, after a request that was taken, or refused
_FIRST_NOTE, _NEXT_NOTE = 10.0, 60.0  # seconds of counting


class Turns:
    """The turns of the requests to a model whose server refuses some (HTTP 429).

    Nobody waits before the first refusal. Then requests are sent one after the other, each a little
    sooner after the last one until one is refused. After a refusal all wait for as long as the
    server says, or for a tenth of the time since the last request that was taken: so a server that
    takes many at the beginning of each minute is asked for them at once, and one that takes a
    request every few seconds is asked about as often.

    Args:
        note: takes the number of requests a minute that the server takes, a few seconds after the
            first refusal and whenever it has changed much.
        now: a clock, in seconds.
    """

    def __init__(
        self, note: Callable[[float], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._note = note
        self._now = now
        self._queue = anyio.Lock()
        self._answered = -math.inf
        self._sent: list[float] = []  # since a refusal, without what was refused
        self._last = 0.0  # when the last request was sent that was taken ahead of these
        self._pace = 0.0  # seconds between requests; 0 ahead of the first refusal
        self._delay = 0.0  # seconds until a refusal comes
        self._next = self._resumed = -math.inf  # when to send the next request
        self._counted = 0.0
        self._taken = 0
        self._noted = 0.0

    @property
    def are_kept(self) -> bool:
        """Whether the server has refused a request, and still answers others."""
        return self._pace > 0 and self._now() - self._answered < MOVES_ON

    async def wait(self) -> float:
        """Wait for the turn to send a request; return how many seconds that took."""
        start = self._now()
        if self.are_kept:
            async with self._queue:
                while self.are_kept and (left := self._next - self._now()) > 0:
                    await anyio.sleep(min(left, _SHORTEST))  # a refusal may change the next turn
                self.take()
        return self._now() - start

    def take(self) -> None:
        """Take the turn."""
        now = self._now()
        self._next = now + self._pace
        if self._sent and now - self._sent[0] > self._delay:  # by now it is not refused any more
            self._pace = max(self._pace * _FASTER, self._delay / _UNDER_WAY, _SHORTEST / 2)

    def send(self) -> float:
        """Count a request that is sent; return its time."""
        now = self._now()
        if self._answered == -math.inf:
            self._answered = now - MOVES_ON + _FIRST
            self._last = now
        self._sent.append(now)
        return now

    def answer(self) -> None:
        """Count an answer."""
        self._answered = self._now()

    def refuse(self, sent: float, seconds: float | None) -> None:
        """Count the refusal of a request.

        Args:
            sent: when it was sent.
            seconds: how long the server says to wait, if it does; servers round up to whole
                seconds.
        """
        now = self._now()
        if sent in self._sent:
            self._sent.remove(sent)
        if sent < self._resumed:
            return  # it was sent ahead of an earlier refusal, so it says nothing new
        taken = [earlier for earlier in self._sent if earlier < sent]
        self._delay = now - sent
        if not self._pace:
            self._pace = _FIRST_PACE
            self._counted = now
        elif taken:
            self._learn(taken)
            self._taken += len(taken)
        self._last = max([self._last, *taken])
        self._sent = [later for later in self._sent if later > sent]
        pause = max(_LATER * (now - self._last), _SHORTEST, (seconds or 0) - 1)
        self._next = self._resumed = now + min(pause, _LONGEST)
        self._tell(now)

    def _learn(self, taken: list[float]) -> None:
        """Slow down to the rate that was seen, quickly where a single request was taken."""
        slower = self._pace * (_SLOWER if len(taken) > 1 else 2)
        seen = (taken[-1] - self._last) / len(taken) * _SLOWER
        self._pace = max(self._pace, min(slower, seen, _LONGEST))

    def _tell(self, now: float) -> None:
        """Note the rate, and count anew."""
        since = now - self._counted
        if since < (_NEXT_NOTE if self._noted else _FIRST_NOTE) or not self._taken:
            return
        rate = 60 * self._taken / since
        self._counted = now
        self._taken = 0
        if not 2 / 3 < rate / (self._noted or math.inf) < 3 / 2:
            self._noted = rate
            self._note(rate)
