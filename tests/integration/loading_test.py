"""While a table loads: the ports are open, the others answer, not ready yet."""

import os
import tempfile

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness import health, npy_files
from tests.integration.harness.api import (
    CALL_TIMEOUT_S, ApiTestCase, table_lookup, table_update)
from tests.integration.harness.exposition import scrape
from tests.integration.harness.process import (
    ON_GPU, Server, config_of, table_of)

# Takes a while, even though a row is small.
NUM_ROWS = 40_000_000 if ON_GPU else 6_000_000
LOADING = grpc.StatusCode.UNAVAILABLE


class LoadingTest(ApiTestCase):

    def start(self):
        folder = tempfile.mkdtemp(prefix="gatherd_test_")
        npy_files.save(folder, "rows.npy",
                       np.arange(NUM_ROWS, dtype=np.float32)[:, None])
        npy_files.save(folder, "keys.npy", np.arange(NUM_ROWS) * 4096)
        server = Server(config_of([
            table_of("small", 2, 100),
            table_of("large", 1, NUM_ROWS,
                     source={"rows": "rows.npy", "keys": "keys.npy"}),
            table_of("last", 2, 100, "dense"),
        ]), folder=folder, start=False)
        self.addCleanup(server.close)
        server.wait_listening()
        return server

    def test_while_a_table_loads(self):
        server = self.start()
        client = self.connect(server)
        for call in (
                lambda: client.lookup("large", [1]),
                lambda: client.update("large", [1], [[1]]),
                lambda: client.erase("large", [1]),
                lambda: client.lookup_all(table_lookup("small", [1]),
                                          table_lookup("large", [1])),
                lambda: client.update_all(
                    table_update("small", [99], [[1, 1]]),
                    table_update("large", [1], [[1]])),
                lambda: list(client.embeddings.LookupStream(
                    iter([pb.LookupRequest(
                        lookups=[table_lookup("large", [1])])]),
                    timeout=CALL_TIMEOUT_S))):
            with self.assertFails(LOADING, "large", "loading"):
                call()
        client.update("small", [1], [[3, 4]])
        self.assertRows(client.rows("small", [1, 99]), [[3, 4], [0, 0]])
        self.assertEqual(client.lookup("last", [0, 100]).num_missing, 1)
        self.assertEqual(server.http("/livez")[0], 200)
        self.assertEqual(server.http("/readyz")[0], 503)
        for service in health.SERVICES:
            self.assertEqual(health.status(client, service), "NOT_SERVING")
        self.assertIn("gatherd_lookup_keys_total", scrape(server))
        names = [info.name for info in client.tables.ListTables(
            pb.ListTablesRequest(), timeout=CALL_TIMEOUT_S).tables]
        self.assertEqual(names, ["small", "large", "last"])
        with self.assertFails(LOADING, "large", "loading"):
            client.lookup("large", [1])  # so all of this was in time

        server.wait_ready()
        for service in health.SERVICES:
            self.assertEqual(health.status(client, service), "SERVING")
        keys = np.arange(0, NUM_ROWS, 997)
        self.assertRows(client.rows("large", keys * 4096), keys[:, None])
        info = client.table_info("large")
        self.assertEqual(info.num_rows, NUM_ROWS)
        self.assertEqual(server.stop(), 0)

    def test_a_stop_while_a_table_loads(self):
        server = self.start()
        server.signal()
        self.assertEqual(server.wait_exit(timeout_s=10), 0, server.log())

    def test_a_source_that_cannot_be_loaded_ends_the_process(self):
        folder = tempfile.mkdtemp(prefix="gatherd_test_")
        npy_files.save(folder, "short.npy", np.zeros((1000, 2), "<f4"))
        npy_files.damage(folder, "short.npy", lambda b: b[:-100])
        size = os.path.getsize(os.path.join(folder, "short.npy"))
        server = Server(config_of([
            table_of("fine", 2, 10),
            table_of("broken", 2, 1000, "dense",
                     source={"rows": "short.npy"}),
        ]), folder=folder, start=False)
        self.addCleanup(server.close)
        self.assertEqual(server.wait_exit(), 1)
        for text in ("broken", "short.npy", str(size)):
            self.assertIn(text, server.log())
