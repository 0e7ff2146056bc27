"""A soak of seconds, and that it notices what it looks for.

tests/bench/soak is one of minutes. GATHERD_STRESS_SECONDS says for how long.
"""

import dataclasses
import multiprocessing
import os
import sys
import unittest

import numpy as np

from tests.integration.harness.process import Server
from tests.integration.soak import levels, rows, run, tables

SECONDS = float(os.environ.get("GATHERD_STRESS_SECONDS", "20"))
# Memory is that of the most in flight so far, which still grows after seconds.
MAX_RISE_BYTES = 512 * levels.MIB
EVERY_KIND = (
    "lookup", "lookup_many", "update", "update_many", "erase", "rows checked",
    "Lookup OK", "Lookup DEADLINE_EXCEEDED", "Lookup CANCELLED",
    "LookupStream CANCELLED", "connections closed under a call",
    "clients killed", "streams never read", "streams read slowly",
    "connections with garbage", "calls with garbage")


class SoakTest(unittest.TestCase):

    def test_every_kind_of_load_at_once(self):
        report = run.run(run.Options(
            seconds=SECONDS, sample_s=1, max_rise_bytes=MAX_RISE_BYTES))
        print(report, file=sys.stderr)
        self.assertEqual(report.problems, [])
        for kind in EVERY_KIND:
            self.assertGreater(report.counts[kind], 0, kind)
        most = max(sample.inflight_bytes for sample in report.samples)
        self.assertGreater(most, 0)


class RowsTest(unittest.TestCase):
    KEYS = np.array([3, 4, 70_000])
    VERSIONS = np.array([7, 127, 2_000_000])

    def setUp(self):
        self.rows = rows.rows_of(self.KEYS, self.VERSIONS, 8)

    def check(self, oldest=0, newest=0):
        rows.check_rows(self.KEYS, self.rows, self.VERSIONS + oldest,
                        self.VERSIONS + newest)

    def test_right_rows(self):
        self.check()
        self.check(-1, 1)
        self.assertEqual(127, np.abs(self.rows).max())
        np.testing.assert_array_equal(self.rows, np.rint(self.rows))

    def test_a_row_that_is_older_than_what_was_acknowledged(self):
        with self.assertRaisesRegex(AssertionError, "stale: key 3 has .* 7"):
            self.check(1, 2)

    def test_a_row_of_two_versions(self):
        self.rows[1, 5:] = rows.rows_of([4], [128], 8)[0, 5:]
        with self.assertRaisesRegex(AssertionError, "torn .* key 4"):
            self.check(0, 1)

    def test_another_keys_row(self):
        self.rows[0] = rows.rows_of([5], [7], 8)[0]
        with self.assertRaisesRegex(AssertionError, "key 3"):
            self.check()

    def test_no_row_at_all(self):
        for nonsense in (0, np.nan, np.inf, -5):
            self.rows[2] = nonsense
            with self.assertRaisesRegex(AssertionError, "key 70000"):
                self.check()

    def test_a_wrong_sum(self):
        expected = self.rows.copy()
        self.rows[1, 7] += 1
        with self.assertRaisesRegex(AssertionError, "sum 1 of 3 is wrong"):
            rows.check_equal(self.KEYS, self.rows, expected, "sum")


class TablesTest(unittest.TestCase):

    def test_the_last_look_finds_one_wrong_row(self):
        context = multiprocessing.get_context("spawn")
        with Server(tables.config()) as server:
            shared = tables.make_shared(server, context)
            tables.first_write(shared)
            self.assertEqual(tables.check_all(shared), 3 * tables.NUM_KEYS)
            with shared.connect() as client:
                client.erase("hashed", [77])
                with self.assertRaisesRegex(AssertionError,
                                            "key 77 is missing"):
                    tables.check_all(shared)
                client.update("hashed", [77], rows.rows_of([77], 1, 32))
                client.update("fixed", [5], rows.rows_of([6], 0, 64))
                with self.assertRaisesRegex(AssertionError, "row 5 of"):
                    tables.check_all(shared)


class LevelsTest(unittest.TestCase):
    IDLE = levels.Sample(seconds=0, resident_bytes=100 * levels.MIB,
                         descriptors=11, threads=40, inflight_requests=0,
                         inflight_bytes=0, queued=0)

    def samples(self, mib_of):
        return [dataclasses.replace(
            self.IDLE, seconds=second,
            resident_bytes=int(mib_of(second) * levels.MIB))
            for second in range(100)]

    def problems(self, samples, after=None):
        return levels.memory_problems(samples, after or samples[-1],
                                      10 * levels.MIB)

    def test_memory_that_is_level_in_the_end(self):
        for mib_of in (lambda s: 100, lambda s: min(300, 100 + 10 * s),
                       lambda s: 100 + 5 * (s % 2), lambda s: 300 - s):
            self.assertEqual(self.problems(self.samples(mib_of)), [])

    def test_memory_that_grows(self):
        found = self.problems(self.samples(lambda s: 100 + s))
        self.assertEqual(len(found), 2)
        self.assertIn("rose by 49 MiB", found[0])
        self.assertIn("49 MiB more", found[1])

    def test_memory_that_jumps_when_the_load_ends(self):
        after = dataclasses.replace(self.IDLE,
                                    resident_bytes=200 * levels.MIB)
        found = self.problems(self.samples(lambda s: 100), after)
        self.assertEqual(len(found), 1)
        self.assertIn("100 MiB more", found[0])

    def test_too_few_samples_are_no_proof(self):
        self.assertEqual(len(self.problems([self.IDLE] * 3)), 1)

    def test_what_is_left_after_the_load(self):
        self.assertEqual(levels.rest_problems(self.IDLE, self.IDLE), [])
        for name in ("descriptors", "inflight_requests", "inflight_bytes",
                     "queued"):
            left = dataclasses.replace(self.IDLE, **{name: 12})
            found = levels.rest_problems(self.IDLE, left)
            self.assertEqual(len(found), 1)
            self.assertIn("12", found[0])


class LogTest(unittest.TestCase):

    def test_errors_and_what_is_no_json(self):
        self.assertEqual(run.log_problems(
            '{"level":"info"}\n{"level":"warning"}\n'), [])
        for line in ('{"level":"error","message":"x"}', "abort", "[1]",
                     '{"message":"x"}'):
            self.assertEqual(run.log_problems(line), [f"log: {line}"])
