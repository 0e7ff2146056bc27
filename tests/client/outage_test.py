"""Clients whose servers are all gone for a while: they are well soon after
one is back, whatever calls were made meanwhile."""

import time
import unittest

from tests.client.clients import CppClient, LookupLoop, PythonClient
from tests.integration.harness.name_server import NameServer
from tests.integration.harness.process import (
    Server, config_of, free_port, table_of)

OUTAGE_S = 0.7
# By itself gRPC looks at connections that no call waits for every 5 s, and
# needs several such looks.
MAX_RECOVERY_S = 4


def config_at(address):
    return config_of([table_of("words", 2, 100, "dense")],
                     server={"address": address})


class OutageTest(unittest.TestCase):

    def outlast(self, open_client):
        for num_servers in (1, 2):
            with self.subTest(num_servers=num_servers):
                self.outlast_of(num_servers, open_client)

    def outlast_of(self, num_servers, open_client):
        addresses = [f"127.0.0.1:{free_port()}" for _ in range(num_servers)]
        self.outlast_at(addresses, lambda: addresses,
                        lambda: open_client(",".join(addresses)))

    def outlast_at(self, addresses, move, open_client):
        """All servers at `addresses` end, and others start where move() says
        that they are from then on."""
        servers = self.start_all(addresses)
        loop = LookupLoop(open_client())
        self.addCleanup(loop.close)
        loop.wait_for_answer(since=0)
        for server in servers:
            server.close()
        time.sleep(OUTAGE_S)
        self.start_all(move())
        ended = time.monotonic()
        seconds = loop.wait_for_answer(since=ended) - ended
        print(f"answered after {seconds:.2f} s")
        self.assertLess(seconds, MAX_RECOVERY_S, loop.outcomes[-3:])

    def outlast_with_new_addresses(self, open_client):
        """As where every pod of a Deployment is replaced at once."""
        port = free_port()
        names = NameServer(["127.0.0.1", "127.0.0.2"])
        self.addCleanup(names.close)

        def move():
            names.addresses = ["127.0.0.3", "127.0.0.4"]
            return [f"{host}:{port}" for host in names.addresses]
        name = f"dns://127.0.0.1:{names.port}/words.svc.:{port}"
        self.outlast_at([f"{host}:{port}" for host in names.addresses], move,
                        lambda: open_client(name))

    def start_all(self, addresses):
        servers = [Server(config_at(address)) for address in addresses]
        for server in servers:
            self.addCleanup(server.close)
        return servers

    def test_python_by_name(self):
        self.outlast_with_new_addresses(lambda address: PythonClient(address, 1))

    def test_cpp_by_name(self):
        self.outlast_with_new_addresses(
            lambda address: CppClient(address, 1))

    def test_cpp_async_by_name(self):
        self.outlast_with_new_addresses(
            lambda address: CppClient(address, 1, "async"))

    def test_python(self):
        self.outlast(lambda address: PythonClient(address, 5))

    def test_python_without_repeating_a_call(self):
        self.outlast(lambda address: PythonClient(address, 1))

    def test_cpp(self):
        self.outlast(lambda address: CppClient(address, 5))

    def test_cpp_without_repeating_a_call(self):
        self.outlast(lambda address: CppClient(address, 1))

    def test_cpp_async(self):
        self.outlast(lambda address: CppClient(address, 5, "async"))

    def test_cpp_async_without_repeating_a_call(self):
        self.outlast(lambda address: CppClient(address, 1, "async"))
