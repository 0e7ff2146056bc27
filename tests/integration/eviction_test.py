"""Tables that evict: never more than N rows, at most a quarter fewer."""

import numpy as np

from tests.integration.harness.api import (
    ADD, SET_EXISTING, ApiTestCase, missing_keys)
from tests.integration.harness.process import config_of, table_of

ROWS = 1000
DIM = 2


def rows_of(keys):
    return np.stack([np.asarray(keys), np.asarray(keys) + 1], axis=1)


class EvictionTest(ApiTestCase):
    CONFIG = config_of([
        table_of(policy, DIM, ROWS, eviction=policy)
        for policy in ("lru", "lfu")
    ] + [table_of("tiny", DIM, 1, eviction="lru")])

    def num_rows(self, table):
        return self.client.table_info(table).num_rows

    def test_a_stream_of_new_keys(self):
        for table in ("lru", "lfu"):
            with self.subTest(table=table):
                inserted = evicted = 0
                start = self.num_rows(table)
                for begin in range(0, 20 * ROWS, 100):
                    keys = range(begin, begin + 100)
                    result = self.client.update(table, keys, rows_of(keys))
                    inserted += result.num_inserted + result.num_updated
                    evicted += result.num_evicted
                    self.assertLessEqual(self.num_rows(table), ROWS)
                self.assertGreaterEqual(self.num_rows(table), ROWS * 3 // 4)
                self.assertEqual(inserted, 20 * ROWS)
                self.assertEqual(self.num_rows(table),
                                 start + inserted - evicted)

    def test_what_is_found_is_right_and_what_is_missing_is_counted(self):
        for table in ("lru", "lfu"):
            with self.subTest(table=table):
                keys = list(range(50000, 50000 + 3 * ROWS))
                for begin in range(0, len(keys), 250):
                    part = keys[begin:begin + 250]
                    self.client.update(table, part, rows_of(part))
                result = self.client.lookup(table, keys)
                missing = set(missing_keys(result, keys))
                expected = rows_of(keys)
                expected[[k in missing for k in keys]] = 0
                self.assertRows(self.client.rows(table, keys), expected)
                self.assertLessEqual(len(keys) - len(missing), ROWS)

    def test_rows_in_use_stay(self):
        """A small hot set that is read all the time outlives a scan."""
        hot = list(range(-50, 0))
        for table in ("lru", "lfu"):
            with self.subTest(table=table):
                self.client.update(table, hot, rows_of(hot))
                for _ in range(20):
                    self.client.lookup(table, hot)
                for begin in range(10 ** 6, 10 ** 6 + 5 * ROWS, 20):
                    keys = range(begin, begin + 20)
                    self.client.update(table, keys, rows_of(keys))
                    self.client.lookup(table, hot)
                kept = len(hot) - self.client.lookup(table, hot).num_missing
                self.assertGreaterEqual(kept, len(hot) * 8 // 10)

    def test_a_batch_larger_than_the_table(self):
        keys = list(range(900000, 900000 + 4 * ROWS))
        for table in ("lru", "lfu"):
            with self.subTest(table=table):
                self.client.update(table, keys, rows_of(keys))
                self.assertLessEqual(self.num_rows(table), ROWS)

    def test_other_modes_evict_only_to_insert(self):
        keys = list(range(700000, 700000 + 2 * ROWS))
        self.client.update("lru", keys, rows_of(keys), ADD)
        self.assertLessEqual(self.num_rows("lru"), ROWS)
        before = self.num_rows("lru")
        absent = list(range(-9000, -8000))
        result = self.client.update("lru", absent, rows_of(absent),
                                    SET_EXISTING)
        self.assertEqual((result.num_skipped, result.num_evicted),
                         (len(absent), 0))
        self.assertEqual(self.num_rows("lru"), before)

    def test_a_table_of_one_row(self):
        for key in range(10):
            self.client.update("tiny", [key], rows_of([key]))
            self.assertEqual(self.num_rows("tiny"), 1)
            self.assertRows(self.client.rows("tiny", [key]), rows_of([key]))
