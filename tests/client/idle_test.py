"""Clients that seldom call lose no update when a server is taken down in good
order meanwhile, though they never send an update with `add` twice."""

import time
import unittest

from tests.client.clients import CppClient, PythonClient
from tests.integration.harness.exposition import scrape
from tests.integration.harness.process import (
    Server, config_of, free_port, table_of, wait_until)

# Every second of them would meet a call by chance; on a busy machine a client
# may not get to read in the milliseconds that it takes for it.
NUM_HAND_OVERS = 8
MAX_LOST = 1
IDLE_S = 0.6


def num_lookups(server):
    return scrape(server)["grpc_server_handled_total"].value(
        grpc_method="Lookup", grpc_code="OK")


class IdleTest(unittest.TestCase):

    def start(self, address):
        server = Server(config_of(
            [table_of("words", 2, 100, "dense")],
            server={"address": address, "drain_delay": "500ms"}))
        self.addCleanup(server.close)
        return server

    def outlast(self, open_client):
        addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
        servers = [self.start(address) for address in addresses]
        client = open_client(",".join(addresses))
        self.addCleanup(client.close)
        outcomes = []
        for i in range(NUM_HAND_OVERS):
            for server in servers:
                before = num_lookups(server)
                wait_until(lambda server=server, before=before:
                           client.lookup() == "ok"
                           and num_lookups(server) > before, 30,
                           "both servers are asked")
            time.sleep(IDLE_S)
            self.assertEqual(0, servers[i % 2].stop())
            outcomes += [client.add() for _ in range(3)]
            servers[i % 2] = self.start(addresses[i % 2])
        self.assertLessEqual(
            sum(outcome != "ok" for outcome in outcomes), MAX_LOST, outcomes)

    def test_python(self):
        self.outlast(PythonClient)

    def test_cpp(self):
        self.outlast(CppClient)
