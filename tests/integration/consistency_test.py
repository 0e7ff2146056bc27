"""Two writers, four readers: no row is torn and none is stale.

GATHERD_STRESS_SECONDS says for how long each table is written and read.
"""

import multiprocessing
import os
import sys

import numpy as np

from tests.integration.harness import versioned_rows
from tests.integration.harness.api import ApiTestCase
from tests.integration.harness.process import config_of, table_of

NUM_KEYS = 2000
WRITERS, READERS = 2, 4
SECONDS = float(os.environ.get("GATHERD_STRESS_SECONDS", "4"))


class ConsistencyTest(ApiTestCase):
    CONFIG = config_of([
        table_of("dense", versioned_rows.DIM, NUM_KEYS, "dense"),
        table_of("hashed", versioned_rows.DIM, NUM_KEYS + 100),
        table_of("evicting", versioned_rows.DIM, NUM_KEYS // 2,
                 eviction="lru"),
    ])

    def stress(self, table):
        context = multiprocessing.get_context("spawn")
        stress = versioned_rows.Stress(
            self.server.address, table, NUM_KEYS,
            *(context.RawArray("q", NUM_KEYS) for _ in range(3)),
            context.Barrier(WRITERS + READERS + 1), context.Event())
        versioned_rows.first_write(self.client, stress)
        outcomes = context.Queue()
        jobs = [(versioned_rows.write, stress, outcomes, writer,
                 range(writer, NUM_KEYS, WRITERS))
                for writer in range(WRITERS)]
        jobs += [(versioned_rows.read, stress, outcomes, 100 + reader)
                 for reader in range(READERS)]
        children = [context.Process(target=versioned_rows.run, args=job)
                    for job in jobs]
        for child in children:
            child.start()
            self.addCleanup(child.join)
            self.addCleanup(child.terminate)
        stress.ready.wait(60)
        stress.stop.wait(SECONDS)
        stress.stop.set()
        results = [outcomes.get(timeout=60) for _ in children]
        print(f"{table}, {SECONDS} s: {results}", file=sys.stderr)
        for role, outcome in results:
            self.assertIsInstance(outcome, int, f"{role}: {outcome}")
            self.assertGreater(outcome, 0, role)

    def test_the_check_notices_torn_and_stale_rows(self):
        keys, versions = np.array([3, 4]), np.array([7, 9])
        words = versioned_rows.rows_of(keys, versions).view(np.uint32)
        check = versioned_rows.check_present
        check(keys, words, versions, versions)
        with self.assertRaisesRegex(AssertionError, "key 4 has version 9"):
            check(keys, words, versions + [0, 1], versions + 5)
        with self.assertRaisesRegex(AssertionError, "key 3 has version 7"):
            check(keys, words, versions - 5, versions - [1, 0])
        words[1, 20:] = versioned_rows.rows_of([4], [8]).view(
            np.uint32)[0, 20:]
        with self.assertRaisesRegex(AssertionError, "torn: key 4"):
            check(keys, words, versions, versions)

    def test_dense_table(self):
        self.stress("dense")

    def test_hashed_table_with_erase(self):
        self.stress("hashed")

    def test_table_that_evicts(self):
        self.stress("evicting")
