"""Clients whose servers are all gone for a while: they are well soon after
one is back, whatever calls were made meanwhile."""

import time
import unittest

from tests.client.lookup_loops import CppLoop, PythonLoop
from tests.integration.harness.process import (
    Server, config_of, free_port, table_of)

OUTAGE_S = 0.7
# By itself gRPC looks at connections that no call waits for every 5 s, and
# needs several such looks.
MAX_RECOVERY_S = 4


def config_at(port):
    return config_of([table_of("words", 2, 100, "dense")],
                     server={"address": f"127.0.0.1:{port}"})


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
        loop.wait_for_answer(since=0)
        for server in servers:
            server.close()
        time.sleep(OUTAGE_S)
        ended = time.monotonic()
        self.start_all(ports)
        seconds = loop.wait_for_answer(since=ended) - ended
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
