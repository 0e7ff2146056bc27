"""The clients, for tests that end, start and cut off their servers: table
"words" of dim 2, deadlines of a second. A call gives "ok", or why it failed."""

import subprocess
import threading
import time

import gatherd
import numpy as np

from tests.integration.harness.process import find_program, wait_until

_KEYS = [1, 99]


class PythonClient:
    """gatherd.Client, in this process."""

    def __init__(self, address, max_attempts=5):
        self._client = gatherd.Client(address, max_attempts=max_attempts,
                                      timeout=1)
        self.close = self._client.close

    def lookup(self):
        return self._outcome(lambda: self._client.lookup("words", _KEYS))

    def add(self):
        return self._outcome(lambda: self._client.update(
            "words", _KEYS, np.ones((2, 2)), mode="add"))

    @staticmethod
    def _outcome(call):
        try:
            call()
            return "ok"
        except gatherd.GatherdError as error:
            return str(error)


class CppClient:
    """The program client_calls; `way` is "blocking" or "async"."""

    def __init__(self, address, max_attempts=5, way="blocking"):
        self._process = subprocess.Popen(
            [find_program("tests/client/client_calls"), address, way,
             str(max_attempts)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def lookup(self):
        return self._call("lookup")

    def add(self):
        return self._call("add")

    def _call(self, name):
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().rstrip("\n")

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class LookupLoop:
    """A client that looks up on a thread, one call after the other.

    `outcomes` has a pair for each call: time.monotonic() at its end, and what
    the call gave. close() closes the client, too.
    """

    def __init__(self, client):
        self.outcomes = []
        self._client = client
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._ended.wait(0.01):
            outcome = self._client.lookup()
            self.outcomes.append((time.monotonic(), outcome))

    def close(self):
        self._ended.set()
        self._thread.join()
        self._client.close()

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
