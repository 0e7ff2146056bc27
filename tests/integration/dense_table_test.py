"""Dense tables: rows 0 to rows - 1 always exist, nothing else ever does."""

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness.api import (
    ADD, INT64_MAX, INT64_MIN, SET, SET_EXISTING, ApiTestCase, missing_keys)
from tests.integration.harness.process import config_of, table_of

ROWS = 1000
DIM = 3
OUTSIDE = [ROWS, ROWS + 1, -1, -2, INT64_MIN, INT64_MAX, 2 ** 32,
           2 ** 32 + 5, -ROWS, 2 ** 63 - ROWS, 2 ** 61]


class DenseTableTest(ApiTestCase):
    CONFIG = config_of([
        table_of("dense", DIM, ROWS, "dense"),
        table_of("neighbour", DIM, ROWS, "dense",
                 default_row={"constant": -7}),
        table_of("half", DIM, ROWS, "dense", default_row={"constant": 0.5}),
        table_of("strict", DIM, ROWS, "dense", missing_key_policy="error"),
        table_of("single", 1, 1, "dense"),
    ])

    def counts(self, result):
        return (result.num_updated, result.num_inserted, result.num_skipped,
                result.num_evicted)

    def test_every_row_holds_the_default_row_at_first(self):
        result = self.client.lookup("neighbour", range(ROWS))
        self.assertEqual(result.num_missing, 0)
        self.assertRows(self.client.rows("neighbour", range(ROWS)),
                        np.full((ROWS, DIM), -7))

    def test_bounds_in_reads(self):
        keys = [0, ROWS - 1] + OUTSIDE + [0]
        result = self.client.lookup("half", keys)
        self.assertEqual(missing_keys(result, keys), OUTSIDE)
        self.assertRows(self.client.rows("half", keys),
                        np.full((len(keys), DIM), 0.5))

    def test_bounds_in_writes(self):
        for mode in (SET, ADD, SET_EXISTING):
            with self.subTest(mode=mode):
                keys = [ROWS - 1] + OUTSIDE + [0] + OUTSIDE[:3]
                rows = np.full((len(keys), DIM), 3)
                result = self.client.update("dense", keys, rows, mode)
                self.assertEqual(self.counts(result),
                                 (2, 0, len(OUTSIDE), 0))
                self.assertRows(self.client.rows("dense", [0, ROWS - 1]),
                                np.full((2, DIM), 3))
                self.assertRows(self.client.rows("dense", [1, ROWS - 2]),
                                np.zeros((2, DIM)))
                erased = self.client.erase("dense", keys)
                self.assertEqual(erased.num_erased, 2)
                self.assertRows(self.client.rows("dense", [0, ROWS - 1]),
                                np.zeros((2, DIM)))
        self.assertRows(self.client.rows("neighbour", [0, ROWS - 1]),
                        np.full((2, DIM), -7))

    def test_num_rows_is_always_the_size(self):
        self.client.update("half", [1], np.ones((1, DIM)))
        self.client.erase("half", [1, 2, ROWS])
        info = self.client.table_info("half")
        self.assertEqual((info.num_rows, info.key_space), (ROWS, "dense"))
        self.assertEqual(info.tiers[0].num_rows, ROWS)
        self.assertEqual(info.tiers[0].capacity_rows, ROWS)

    def test_erase_puts_the_default_row_back_and_counts_the_key(self):
        self.client.update("half", [5], np.ones((1, DIM)))
        result = self.client.erase("half", [5, 5, 6, -1])
        self.assertEqual(result.num_erased, 2)
        self.assertRows(self.client.rows("half", [5, 6]),
                        np.full((2, DIM), 0.5))
        result = self.client.update("half", [5], np.ones((1, DIM)), ADD)
        self.assertEqual(self.counts(result), (1, 0, 0, 0))
        self.assertRows(self.client.rows("half", [5]), [[1.5] * DIM])
        self.client.erase("half", [5])

    def test_duplicates(self):
        rows = np.arange(4 * DIM).reshape(4, DIM)
        result = self.client.update("dense", [7, 8, 7, 7], rows)
        self.assertEqual(self.counts(result), (2, 0, 0, 0))
        self.assertRows(self.client.rows("dense", [7, 8]), rows[[3, 1]])
        result = self.client.update("dense", [7, 8, 7], np.ones((3, DIM)),
                                    ADD)
        self.assertEqual(self.counts(result), (2, 0, 0, 0))
        self.assertRows(self.client.rows("dense", [7, 8]),
                        [rows[3] + 2, rows[1] + 1])
        result = self.client.update("dense", [7, -7, 7, -7], rows,
                                    SET_EXISTING)
        self.assertEqual(self.counts(result), (1, 0, 1, 0))
        self.assertRows(self.client.rows("dense", [7]), [rows[2]])
        self.client.erase("dense", [7, 8])

    def test_every_row_round_trips(self):
        rng = np.random.default_rng(2)
        order = rng.permutation(ROWS)
        rows = rng.standard_normal((ROWS, DIM)).astype(np.float32)
        self.client.update("dense", order, rows[order])
        self.assertRows(self.client.rows("dense", range(ROWS)), rows)
        self.assertEqual(
            self.client.erase("dense", range(ROWS)).num_erased, ROWS)

    def test_policy_error_names_the_first_row_outside(self):
        with self.assertFails(
                grpc.StatusCode.NOT_FOUND, "strict", ROWS, 2):
            self.client.lookup("strict", [0, ROWS, -1])
        self.assertEqual(self.client.lookup("strict", [0]).num_missing, 0)

    def test_pooling_adds_the_default_row_for_keys_outside(self):
        self.client.update("half", [9], np.ones((1, DIM)))
        result = self.client.rows("half", [9, -1, ROWS], offsets=[0],
                                  pooling=pb.POOLING_SUM)
        self.assertRows(result, [[2] * DIM])
        self.client.erase("half", [9])

    def test_a_table_of_one_element(self):
        result = self.client.update("single", [0, 1], [[4], [5]])
        self.assertEqual(self.counts(result), (1, 0, 1, 0))
        self.assertRows(self.client.rows("single", [0, 1, -1]),
                        [[4], [0], [0]])
