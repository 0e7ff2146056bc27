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


def open_clients(address, max_attempts_of_python=5):
    """By name. One of Python, since two would read for each other."""
    return {
        "cpp": CppClient(address),
        "cpp, no repetitions": CppClient(address, 1),
        "cpp, async": CppClient(address, way="async"),
        "python": PythonClient(address, max_attempts_of_python),
    }


class OutageTest(unittest.TestCase):

    def outlast(self, addresses, clients, move=None):
        """All servers at `addresses` end, and others start: there, or where
        move() says that they are from then on."""
        servers = self.start_all(addresses)
        loops = {name: LookupLoop(client) for name, client in clients.items()}
        for loop in loops.values():
            self.addCleanup(loop.close)
            loop.wait_for_answer(since=0)
        for server in servers:
            server.close()
        time.sleep(OUTAGE_S)
        self.start_all(move() if move else addresses)
        ended = time.monotonic()
        for name, loop in loops.items():
            with self.subTest(client=name):
                seconds = loop.wait_for_answer(since=ended) - ended
                print(f"{name}: answered after {seconds:.2f} s")
                self.assertLess(seconds, MAX_RECOVERY_S, loop.outcomes[-3:])

    def start_all(self, addresses):
        servers = [Server(config_at(address)) for address in addresses]
        for server in servers:
            self.addCleanup(server.close)
        return servers

    def test_of_one_server(self):
        address = f"127.0.0.1:{free_port()}"
        self.outlast([address], open_clients(address))

    def test_of_two_servers(self):
        addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
        self.outlast(addresses, open_clients(",".join(addresses)))

    def test_that_ends_at_new_addresses(self):
        """As where every pod of a Deployment is replaced at once."""
        port = free_port()
        names = NameServer(["127.0.0.1", "127.0.0.2"])
        self.addCleanup(names.close)
        target = f"dns://127.0.0.1:{names.port}/words.svc.:{port}"

        def move():
            names.addresses = ["127.0.0.3", "127.0.0.4"]
            return [f"{host}:{port}" for host in names.addresses]
        self.outlast([f"{host}:{port}" for host in names.addresses],
                     open_clients(target, max_attempts_of_python=1), move)
