"""Clients whose servers are all gone for a while: they are well soon after
one is back, whatever calls were made meanwhile."""

import subprocess
import threading
import time
import unittest

import gatherd
from tests.integration.harness.process import (
    Server, config_of, find_program, free_port, table_of, wait_until)

OUTAGE_S = 0.7
# By itself gRPC looks at connections that no call waits for every 5 s, and
# needs several such looks.
MAX_RECOVERY_S = 4


def config_at(port):
    return config_of([table_of("words", 2, 100, "dense")],
                     server={"address": f"127.0.0.1:{port}"})


class PythonLoop:
    """gatherd.Client, on a thread of this process."""

    def __init__(self, address, max_attempts):
        self.outcomes = []
        self._client = gatherd.Client(address, max_attempts=max_attempts)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._ended.wait(0.01):
            try:
                self._client.lookup("words", [1, 99])
                self.outcomes.append("ok")
            except gatherd.GatherdError as error:
                self.outcomes.append(str(error))

    def close(self):
        self._ended.set()
        self._thread.join()
        self._client.close()


class CppLoop:
    """The program lookup_loop."""

    def __init__(self, *args):
        self.outcomes = []
        self._process = subprocess.Popen(
            [find_program("tests/client/lookup_loop"), *map(str, args)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        for line in self._process.stdout:
            self.outcomes.append(line.rstrip("\n"))

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._thread.join()
        self._process.stdout.close()


class OutageTest(unittest.TestCase):

    def outlast(self, open_loop):
        for num_servers in (1, 2):
            with self.subTest(num_servers=num_servers):
                self.outlast_of(num_servers, open_loop)

    def outlast_of(self, num_servers, open_loop):
        ports = [free_port() for _ in range(num_servers)]
        servers = self.start_all(ports)
        loop = open_loop(",".join(f"127.0.0.1:{port}" for port in ports))
        self.addCleanup(loop.close)
        wait_until(lambda: "ok" in loop.outcomes, 30, "a first answer")
        for server in servers:
            server.close()
        time.sleep(OUTAGE_S)
        num_before = len(loop.outcomes)
        self.start_all(ports)
        began = time.monotonic()
        wait_until(lambda: "ok" in loop.outcomes[num_before:], 60,
                   "an answer of the new servers")
        seconds = time.monotonic() - began
        print(f"answered after {seconds:.2f} s")
        self.assertLess(seconds, MAX_RECOVERY_S, loop.outcomes[-3:])

    def start_all(self, ports):
        servers = [Server(config_at(port)) for port in ports]
        for server in servers:
            self.addCleanup(server.close)
        return servers

    def test_python(self):
        self.outlast(lambda address: PythonLoop(address, 5))

    def test_python_without_repeating_a_call(self):
        self.outlast(lambda address: PythonLoop(address, 1))

    def test_cpp(self):
        self.outlast(lambda address: CppLoop(address, "blocking", 5))

    def test_cpp_without_repeating_a_call(self):
        self.outlast(lambda address: CppLoop(address, "blocking", 1))

    def test_cpp_async(self):
        self.outlast(lambda address: CppLoop(address, "async", 5))

    def test_cpp_async_without_repeating_a_call(self):
        self.outlast(lambda address: CppLoop(address, "async", 1))
