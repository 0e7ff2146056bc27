"""Clients that look up, one call after the other, while a test ends, starts
and cuts off their servers. Deadlines are a second."""

import subprocess
import threading
import time

import gatherd
from tests.integration.harness.process import find_program, wait_until


class _Loop:
    """`outcomes` has a pair for each call: time.monotonic() at its end, and
    "ok" or why it failed."""

    def __init__(self):
        self.outcomes = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _add(self, outcome):
        self.outcomes.append((time.monotonic(), outcome))

    def wait_for_answer(self, since, timeout_s=60):
        """When it came; `since` is of time.monotonic()."""
        wait_until(lambda: self._answers(since), timeout_s, "an answer")
        return self._answers(since)[0]

    def _answers(self, since):
        return [when for when, outcome in self.outcomes
                if when > since and outcome == "ok"]

    def failures(self, since):
        """Pairs as of `outcomes`."""
        return [(when, outcome) for when, outcome in self.outcomes
                if when > since and outcome != "ok"]

    def is_well(self, for_s):
        """Whether calls were answered for so long, and none failed."""
        since = time.monotonic() - for_s
        return bool(self._answers(since)) and not self.failures(since)


class PythonLoop(_Loop):
    """gatherd.Client, on a thread of this process."""

    def __init__(self, address, max_attempts):
        self._client = gatherd.Client(address, max_attempts=max_attempts,
                                      timeout=1)
        self._ended = threading.Event()
        super().__init__()

    def _run(self):
        while not self._ended.wait(0.01):
            try:
                self._client.lookup("words", [1, 99])
                self._add("ok")
            except gatherd.GatherdError as error:
                self._add(str(error))

    def close(self):
        self._ended.set()
        self._thread.join()
        self._client.close()


class CppLoop(_Loop):
    """The program lookup_loop; `way` is "blocking" or "async"."""

    def __init__(self, address, way, max_attempts, pause_ms=10):
        self._process = subprocess.Popen(
            [find_program("tests/client/lookup_loop"), address, way,
             str(max_attempts), str(pause_ms)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        super().__init__()

    def _run(self):
        for line in self._process.stdout:
            self._add(line.rstrip("\n"))

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._thread.join()
        self._process.stdout.close()
