"""Memory: taken at start, as much as announced, and it does not grow."""

import concurrent.futures
import unittest

import numpy as np

from tests.integration.harness.api import ApiTestCase
from tests.integration.harness.exposition import scrape
from tests.integration.harness.process import (
    ON_GPU, Server, config_of, table_of, wait_until)

ROWS = 400_000
DIM = 64
MIB = 2 ** 20


def resident_bytes(server):
    return scrape(server)["process_resident_memory_bytes"].value()


class MemoryTest(ApiTestCase):
    CONFIG = config_of([table_of("hashed", DIM, ROWS),
                        table_of("dense", DIM, ROWS, "dense")])

    @classmethod
    def setUpClass(cls):
        with Server(config_of([])) as empty:
            cls.empty_bytes = resident_bytes(empty)
        super().setUpClass()

    def announced_bytes(self):
        return sum(self.client.table_info(name).tiers[0].memory_bytes
                   for name in ("hashed", "dense"))

    @unittest.skipIf(ON_GPU, "it has spare rows there for whole batches")
    def test_a_hashed_table_takes_little_more_than_its_rows(self):
        announced = self.client.table_info("hashed").tiers[0].memory_bytes
        self.assertGreaterEqual(announced, ROWS * DIM * 4)
        self.assertLessEqual(announced, ROWS * (1.05 * DIM * 4 + 32))

    @unittest.skipIf(ON_GPU, "resident memory is the host's alone")
    def test_at_start_as_much_is_taken_as_was_announced(self):
        """The first test to run."""
        taken = resident_bytes(self.server) - self.empty_bytes
        self.assertGreater(taken, 0.95 * self.announced_bytes())
        self.assertLess(taken, 1.05 * self.announced_bytes() + 16 * MIB)

    def test_memory_does_not_grow_with_writes(self):
        rows = np.ones((1000, DIM), np.float32)
        levels = []
        for turn in range(200):
            keys = np.arange(1000) * 7 + turn * 1_000_003
            self.client.update("hashed", keys, rows)
            self.client.update("dense", keys % ROWS, rows)
            self.client.lookup("hashed", keys)
            self.client.erase("hashed", keys)
            levels.append(resident_bytes(self.server))
        self.assertLess(levels[-1] - levels[50], 8 * MIB, levels)
        self.assertEqual(self.client.table_info("hashed").num_rows, 0)

    @unittest.skipIf(ON_GPU, "replies are in pinned memory there, which stays")
    def test_memory_of_a_burst_is_given_back(self):
        keys = np.arange(60_000) % ROWS  # a reply of 15 MiB
        before = resident_bytes(self.server)
        with concurrent.futures.ThreadPoolExecutor(16) as callers:
            list(callers.map(
                lambda _: self.client.lookup("hashed", keys), range(64)))
        most = resident_bytes(self.server)
        self.assertGreater(most, before + 30 * MIB)
        # Not all of it: the ends of the C library's heaps stay.
        wait_until(
            lambda: resident_bytes(self.server) < most - (most - before) / 4,
            60, "memory is given back")
