"""Hashed tables keep every 64-bit key apart and count exactly."""

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness.api import (
    ADD, BOUNDARY_KEYS, INT64_MAX, INT64_MIN, SET, SET_EXISTING, ApiTestCase,
    missing_keys)
from tests.integration.harness.process import TIER, config_of, table_of

DIM = 4


def rows_of(keys, version=0):
    """Rows that say whose they are."""
    keys = np.asarray(keys, np.int64)
    words = np.stack([keys >> 48, keys >> 24 & 0xFFFFFF, keys & 0xFFFFFF,
                      np.full_like(keys, version)], axis=1)
    return words.astype(np.float32)  # below 2^24: exact


class HashedTableTest(ApiTestCase):
    CONFIG = config_of([
        table_of("keys", DIM, 200000),
        table_of("counts", DIM, 1000),
        table_of("half", DIM, 1000, default_row={"constant": 0.5}),
        table_of("strict", DIM, 1000, missing_key_policy="error"),
    ])

    def counts(self, result):
        return (result.num_updated, result.num_inserted, result.num_skipped,
                result.num_evicted)

    def test_every_boundary_key_round_trips(self):
        before = self.client.table_info("keys").num_rows
        keys = [k for k in BOUNDARY_KEYS]
        result = self.client.update("keys", keys, rows_of(keys))
        self.assertEqual(self.counts(result), (0, len(keys), 0, 0))
        found = self.client.lookup("keys", keys[::-1])
        self.assertEqual(missing_keys(found, keys), [])
        self.assertRows(self.client.rows("keys", keys), rows_of(keys))
        self.assertEqual(
            self.client.table_info("keys").num_rows, before + len(keys))
        erased = self.client.erase("keys", keys)
        self.assertEqual(erased.num_erased, len(keys))
        self.assertEqual(self.client.table_info("keys").num_rows, before)
        self.assertEqual(
            missing_keys(self.client.lookup("keys", keys), keys), keys)

    def test_each_boundary_key_alone(self):
        for key in (INT64_MIN, INT64_MAX, -1, 0, 1, 2 ** 32, -(2 ** 32)):
            with self.subTest(key=key):
                self.client.update("keys", [key], rows_of([key]))
                self.assertRows(self.client.rows("keys", [key]),
                                rows_of([key]))
                self.assertEqual(
                    self.client.erase("keys", [key]).num_erased, 1)
                self.assertEqual(
                    self.client.lookup("keys", [key]).num_missing, 1)
                self.assertEqual(
                    self.client.erase("keys", [key]).num_erased, 0)

    def test_random_keys_round_trip(self):
        rng = np.random.default_rng(1)
        keys = np.unique(rng.integers(INT64_MIN, INT64_MAX, 50000))
        rng.shuffle(keys)
        stored, absent = keys[:40000], keys[40000:]
        result = self.client.update("keys", stored, rows_of(stored))
        self.assertEqual(result.num_inserted, len(stored))
        keys = rng.permutation(keys)
        found = self.client.lookup("keys", keys)
        missing = missing_keys(found, keys.tolist())
        np.testing.assert_array_equal(np.sort(missing), np.sort(absent))
        expected = rows_of(keys)
        expected[np.isin(keys, absent)] = 0
        self.assertRows(self.client.rows("keys", keys), expected)
        self.assertEqual(
            self.client.erase("keys", keys).num_erased, len(stored))

    def test_strided_keys_and_keys_that_differ_in_their_upper_half(self):
        keys = [i * 4096 for i in range(20000)]
        keys += [(i << 32) + 7 for i in range(-10000, 10000)]
        keys = sorted(set(keys))
        self.client.update("keys", keys, rows_of(keys))
        self.assertRows(self.client.rows("keys", keys), rows_of(keys))
        self.client.erase("keys", keys)

    def test_one_key_many_times_in_one_lookup(self):
        self.client.update("counts", [5], rows_of([5]))
        keys = [5, 6, 5, 6, 5]
        result = self.client.lookup("counts", keys)
        self.assertEqual(missing_keys(result, keys), [6, 6])
        self.assertRows(
            self.client.rows("counts", keys),
            rows_of([5, 0, 5, 0, 5]) * [[1], [0], [1], [0], [1]])
        self.client.erase("counts", [5])

    def test_of_duplicates_in_set_the_last_wins(self):
        keys = [1, 2, 1, 3, 2, 1]
        rows = np.arange(6 * DIM).reshape(6, DIM)
        result = self.client.update("counts", keys, rows)
        self.assertEqual(self.counts(result), (0, 3, 0, 0))
        self.assertRows(self.client.rows("counts", [1, 2, 3]),
                        rows[[5, 4, 3]])
        result = self.client.update("counts", [1, 4, 1], rows[:3])
        self.assertEqual(self.counts(result), (1, 1, 0, 0))
        self.assertRows(self.client.rows("counts", [1, 4]), rows[[2, 1]])
        self.client.erase("counts", [1, 2, 3, 4])

    def test_duplicates_in_add_add_up_from_the_default_row(self):
        keys = [10, 11, 10, 10]
        result = self.client.update("half", keys, np.ones((4, DIM)), ADD)
        self.assertEqual(self.counts(result), (0, 2, 0, 0))
        self.assertRows(self.client.rows("half", [10, 11]),
                        [[3.5] * DIM, [1.5] * DIM])
        result = self.client.update("half", [11, 12, 11],
                                    np.full((3, DIM), 2), ADD)
        self.assertEqual(self.counts(result), (1, 1, 0, 0))
        self.assertRows(self.client.rows("half", [11, 12]),
                        [[5.5] * DIM, [2.5] * DIM])
        self.client.erase("half", [10, 11, 12])

    def test_set_existing_skips_absent_keys(self):
        self.client.update("counts", [20, 21], rows_of([20, 21]))
        keys = [20, 22, 20, 23, 22]
        rows = np.arange(5 * DIM).reshape(5, DIM)
        result = self.client.update("counts", keys, rows, SET_EXISTING)
        self.assertEqual(self.counts(result), (1, 0, 2, 0))
        self.assertRows(self.client.rows("counts", [20, 21]),
                        [rows[2], rows_of([21])[0]])
        lookup = self.client.lookup("counts", keys)
        self.assertEqual(missing_keys(lookup, keys), [22, 23, 22])
        self.client.erase("counts", [20, 21])

    def test_erase_counts_distinct_keys_that_existed(self):
        self.client.update("counts", [30, 31], rows_of([30, 31]))
        before = self.client.table_info("counts").num_rows
        result = self.client.erase("counts", [30, 32, 30, 33])
        self.assertEqual(result.num_erased, 1)
        self.assertEqual(
            self.client.table_info("counts").num_rows, before - 1)
        result = self.client.update("counts", [30], rows_of([30], 2), ADD)
        self.assertEqual(self.counts(result), (0, 1, 0, 0))
        self.assertRows(self.client.rows("counts", [30]), rows_of([30], 2))
        self.client.erase("counts", [30, 31])

    def test_missing_bits_over_every_length_of_bitmap(self):
        self.client.update("counts", [0], rows_of([0]))
        for length in list(range(1, 20)) + [63, 64, 65]:
            for at in (0, length // 2, length - 1):
                keys = [0] * length
                keys[at] = 99
                result = self.client.lookup("counts", keys)
                self.assertEqual(missing_keys(result, keys), [99])
                self.assertEqual(result.missing[at >> 3], 1 << (at & 7))
        self.client.erase("counts", [0])

    def test_default_row_is_returned_and_its_bit_set(self):
        result = self.client.lookup("half", [77])
        self.assertEqual(missing_keys(result, [77]), [77])
        self.assertRows(self.client.rows("half", [77]), [[0.5] * DIM])

    def test_missing_key_policy_of_table_and_request(self):
        self.client.update("strict", [1], rows_of([1]))
        keys = [1, -42, 1, 43, -44]
        with self.assertFails(grpc.StatusCode.NOT_FOUND, "strict", -42, 3):
            self.client.lookup("strict", keys)
        allowed = self.client.lookup(
            "strict", keys,
            missing_key_policy=pb.MISSING_KEY_POLICY_DEFAULT_ROW)
        self.assertEqual(missing_keys(allowed, keys), [-42, 43, -44])
        with self.assertFails(grpc.StatusCode.NOT_FOUND, "counts", -9, 2):
            self.client.lookup(
                "counts", [-9, 998],
                missing_key_policy=pb.MISSING_KEY_POLICY_ERROR)
        self.assertEqual(self.client.lookup("strict", [1]).num_missing, 0)
        with self.assertFails(grpc.StatusCode.NOT_FOUND, "strict", 5, 1):
            self.client.lookup("strict", [1, 5], offsets=[0, 1],
                               pooling=pb.POOLING_SUM)

    def test_table_info_tells_the_configuration(self):
        info = self.client.table_info("half")
        self.assertEqual(
            (info.name, info.data_type, info.dim, info.key_space),
            ("half", pb.DATA_TYPE_FLOAT32, DIM, "hashed"))
        self.assertEqual([t.kind for t in info.tiers], [TIER])
        self.assertEqual(info.tiers[0].capacity_rows, 1000)
        self.assertGreater(info.tiers[0].memory_bytes, 1000 * DIM * 4 - 1)

    def test_updating_no_keys_is_legal(self):
        result = self.client.update("counts", [], b"", SET)
        self.assertEqual(self.counts(result), (0, 0, 0, 0))
        self.assertEqual(self.client.erase("counts", []).num_erased, 0)
