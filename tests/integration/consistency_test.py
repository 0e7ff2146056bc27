"""Two writers, four readers: no row is torn and none is stale.

GATHERD_STRESS_SECONDS says for how long each table is written and read.
"""

import multiprocessing
import os

from tests.integration.harness import versioned_rows
from tests.integration.harness.api import ApiTestCase
from tests.integration.harness.process import config_of, table_of

NUM_KEYS = 2000
SECONDS = float(os.environ.get("GATHERD_STRESS_SECONDS", "5"))


class ConsistencyTest(ApiTestCase):
    CONFIG = config_of([
        table_of("dense", versioned_rows.DIM, NUM_KEYS, "dense"),
        table_of("hashed", versioned_rows.DIM, NUM_KEYS + 100),
    ])

    def stress(self, table):
        context = multiprocessing.get_context("spawn")
        begun = context.RawArray("q", NUM_KEYS)
        acknowledged = context.RawArray("q", NUM_KEYS)
        stop, outcomes = context.Event(), context.Queue()
        versioned_rows.first_write(self.client, table, NUM_KEYS, begun,
                                   acknowledged)
        address = self.server.address
        jobs = [(versioned_rows.write,
                 (address, table, list(range(writer, NUM_KEYS, 2)), begun,
                  acknowledged, stop, writer)) for writer in range(2)]
        jobs += [(versioned_rows.read,
                  (address, table, NUM_KEYS, begun, acknowledged, stop,
                   10 + reader)) for reader in range(4)]
        children = [context.Process(target=versioned_rows.run,
                                    args=(role, args, stop, outcomes))
                    for role, args in jobs]
        for child in children:
            child.start()
        try:
            versioned_rows.run_until(stop, SECONDS)
            results = [outcomes.get(timeout=60) for _ in children]
        finally:
            stop.set()
            for child in children:
                child.join(10)
                if child.is_alive():
                    child.terminate()
        print(f"{table}, {SECONDS} s: {sorted(results)}")
        for role, outcome in results:
            self.assertIsInstance(outcome, int, f"{role}: {outcome}")
            self.assertGreater(outcome, 0, role)

    def test_dense_table(self):
        self.stress("dense")

    def test_hashed_table_with_erase(self):
        self.stress("hashed")
