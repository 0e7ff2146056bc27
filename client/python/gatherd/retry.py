"""Deadlines and repeated attempts, as the C++ client has them."""

import dataclasses
import math
import random
import threading
import time
from typing import Any, Callable, Iterator, Optional

import grpc

from gatherd import errors


# Thirty years. gRPC takes deadlines after the year 2262 for past ones.
_LONGEST_TIMEOUT_S = 1e9


def check_timeout(timeout_s: float) -> float:
    if not (timeout_s > 0 and math.isfinite(timeout_s)):
        raise ValueError(
            f"timeout is {timeout_s} s; it must be more than 0 and finite")
    return min(timeout_s, _LONGEST_TIMEOUT_S)


def check_max_attempts(max_attempts: int) -> int:
    if max_attempts < 1:
        raise ValueError(
            f"max_attempts is {max_attempts}; it must be 1 or more")
    return max_attempts


@dataclasses.dataclass(frozen=True)
class Backoff:
    """How long to wait before the next attempt, in seconds.

    Grows and is jittered, so that clients which failed together do not come
    back together.
    """

    # Five attempts last longer than the 300 ms for which a server that stops
    # refuses calls on connections that still stand.
    initial: float = 0.05
    maximum: float = 2.0
    multiplier: float = 2.0

    def waits(self) -> Iterator[float]:
        """Each between half of a bound and all of it."""
        bound = self.initial
        while True:
            yield bound * random.uniform(0.5, 1.0)
            bound = min(bound * self.multiplier, self.maximum)


def _error(failure: grpc.RpcError,
           earlier: Optional[errors.GatherdError]) -> errors.GatherdError:
    """When the deadline ends the last of several attempts, what went wrong
    before is the reason."""
    code, message = failure.code(), failure.details() or ""
    if earlier is not None and code == grpc.StatusCode.DEADLINE_EXCEEDED:
        message = f"{message}; an earlier attempt: {earlier}"
    return errors.GatherdError(code, message)


def call(attempt: Callable[[float], Any], timeout_s: float, max_attempts: int,
         backoff: Backoff, closed: threading.Event) -> Any:
    """What attempt(seconds left) returns.

    Repeated after UNAVAILABLE and nothing else, while max_attempts and the
    deadline leave room. GatherdError for what it fails with; CANCELLED once
    `closed` is set during a wait.
    """
    deadline = time.monotonic() + timeout_s
    waits = backoff.waits()
    earlier: Optional[errors.GatherdError] = None
    num_attempts = 0
    while True:
        num_attempts += 1
        try:
            return attempt(deadline - time.monotonic())
        except grpc.RpcError as failure:
            error = _error(failure, earlier)
        if (error.code != grpc.StatusCode.UNAVAILABLE
                or num_attempts >= max_attempts):
            raise error
        wait = next(waits)
        if time.monotonic() + wait >= deadline:
            raise error
        if closed.wait(wait):
            raise errors.GatherdError(
                grpc.StatusCode.CANCELLED,
                f"the client was closed; an earlier attempt: {error}")
        earlier = error
