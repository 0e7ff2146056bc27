"""Callers that go on calling while servers come and go."""

import threading
import time


class Callers:
    """Threads that call, each again and again, until stop().

    `call` returns nothing, and raises what it fails with. Failures are
    collected, not raised: what counts is that there are none.
    """

    def __init__(self, call, num_threads=2):
        self._call = call
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.num_calls = 0
        self.longest_s = 0.0
        self.failures = []
        self._threads = [threading.Thread(target=self._run)
                         for _ in range(num_threads)]
        for thread in self._threads:
            thread.start()

    def _run(self):
        while not self._ended.is_set():
            began = time.monotonic()
            failure = None
            try:
                self._call()
            except Exception as error:  # pylint: disable=broad-except
                failure = error
            seconds = time.monotonic() - began
            with self._lock:
                self.num_calls += 1
                self.longest_s = max(self.longest_s, seconds)
                if failure is not None:
                    self.failures.append(failure)

    def stop(self):
        self._ended.set()
        for thread in self._threads:
            thread.join()
