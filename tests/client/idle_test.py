"""Clients that seldom call lose no update when a server is taken down in good
order meanwhile, though they never send an update with `add` twice."""

import time
import unittest

from tests.client.clients import CppClient, PythonClient
from tests.integration.harness.exposition import num_lookups
from tests.integration.harness.process import (
    Server, config_of, free_port, table_of, wait_until)

# Every second of them would meet a call by chance; on a busy machine a client
# may not get to read in the milliseconds that it takes for it.
NUM_HAND_OVERS = 8
MAX_LOST = 1
IDLE_S = 0.6


class IdleTest(unittest.TestCase):

    def start(self, address):
        server = Server(config_of(
            [table_of("words", 2, 100, "dense")],
            server={"address": address, "drain_delay": "500ms"}))
        self.addCleanup(server.close)
        return server

    def test_blocking_clients(self):
        addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
        servers = [self.start(address) for address in addresses]
        clients = {"python": PythonClient(",".join(addresses)),
                   "cpp": CppClient(",".join(addresses))}
        for client in clients.values():
            self.addCleanup(client.close)
        outcomes = {name: [] for name in clients}
        for i in range(NUM_HAND_OVERS):
            for server in servers:
                for client in clients.values():
                    self.reach(client, server)
            time.sleep(IDLE_S)
            self.assertEqual(0, servers[i % 2].stop())
            for name, client in clients.items():
                outcomes[name] += [client.add() for _ in range(3)]
            servers[i % 2] = self.start(addresses[i % 2])
        for name, of_client in outcomes.items():
            num_lost = sum(outcome != "ok" for outcome in of_client)
            self.assertLessEqual(num_lost, MAX_LOST, (name, of_client))

    def reach(self, client, server):
        before = num_lookups(server)
        wait_until(lambda: client.lookup() == "ok"
                   and num_lookups(server) > before, 30,
                   "every server is asked")
