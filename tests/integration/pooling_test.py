"""Bags of rows: sums and means, weights, empty bags, every output type."""

import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness import row_format
from tests.integration.harness.api import (
    BFLOAT16, FLOAT16, FLOAT32, INT8, ApiTestCase, float32_rows, missing_keys)
from tests.integration.harness.process import config_of, table_of

SUM, MEAN = pb.POOLING_SUM, pb.POOLING_MEAN
ROWS = 500
DIM = 7


def pool(rows, offsets, pooling, weights=None):
    """float32 all along, in the order of keys."""
    bags = []
    weights = (np.ones(len(rows), np.float32) if weights is None
               else np.asarray(weights, np.float32))
    for begin, end in zip(offsets, list(offsets[1:]) + [len(rows)]):
        total = np.zeros(rows.shape[1], np.float32)
        for row, weight in zip(rows[begin:end], weights[begin:end]):
            total = total + row * weight
        if pooling == MEAN:
            divisor = weights[begin:end].sum(dtype=np.float32)
            total = total / divisor if divisor != 0 else total * 0
        bags.append(total)
    return np.array(bags, np.float32).reshape(len(offsets), rows.shape[1])


class PoolingTest(ApiTestCase):
    CONFIG = config_of([
        table_of("whole", DIM, ROWS, "dense"),
        table_of("real", DIM, ROWS, "hashed"),
        table_of("fp16", DIM, ROWS, "hashed", data_type="float16"),
        table_of("int8", DIM, ROWS, "dense", data_type="int8"),
        table_of("half", DIM, ROWS, "hashed",
                 default_row={"constant": 0.5}),
        table_of("wide", 8192, 16, "dense"),
    ])

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = np.random.default_rng(4)
        cls.whole = rng.integers(-50, 50, (ROWS, DIM)).astype(np.float32)
        cls.real = rng.standard_normal((ROWS, DIM)).astype(np.float32)
        keys = range(ROWS)
        cls.client.update("whole", keys, cls.whole)
        for table in ("real", "fp16", "int8"):
            cls.client.update(table, keys, cls.real)

    def bags(self, table, keys, offsets, pooling, **fields):
        result = self.client.lookup(table, keys, offsets=offsets,
                                    pooling=pooling, **fields)
        self.assertEqual(result.num_rows, len(offsets))
        return result

    def random_bags(self, seed, num_keys=2000):
        rng = np.random.default_rng(seed)
        keys = rng.integers(0, ROWS, num_keys)
        offsets = np.sort(rng.integers(0, num_keys + 1, 99))
        return keys, [0] + offsets.tolist(), rng

    def test_sums_and_means_of_small_whole_numbers_are_exact(self):
        keys, offsets, rng = self.random_bags(5)
        weights = rng.integers(-4, 5, len(keys)).astype(np.float32)
        for pooling in (SUM, MEAN):
            for given in (None, weights):
                with self.subTest(pooling=pooling, weighted=given is not None):
                    rows = float32_rows(self.bags(
                        "whole", keys, offsets, pooling, weights=given))
                    self.assertRows(
                        rows + 0.0,  # the sign of a zero is left open
                        pool(self.whole[keys], offsets, pooling, given) + 0.0)

    def test_real_numbers_within_float32_rounding(self):
        keys, offsets, rng = self.random_bags(6)
        weights = rng.random(len(keys)).astype(np.float32)
        for table in ("real", "fp16", "int8"):
            stored = float32_rows(self.client.lookup(
                table, range(ROWS), output_type=FLOAT32))
            for pooling in (SUM, MEAN):
                rows = float32_rows(self.bags(
                    table, keys, offsets, pooling, weights=weights,
                    output_type=FLOAT32))
                np.testing.assert_allclose(
                    rows, pool(stored[keys], offsets, pooling, weights),
                    rtol=1e-4, atol=1e-4)

    def test_output_types_convert_once_at_the_end(self):
        keys, offsets, _ = self.random_bags(7)
        for output_type in (FLOAT32, FLOAT16, BFLOAT16, INT8):
            with self.subTest(output_type=output_type):
                result = self.bags("whole", keys, offsets, SUM,
                                   output_type=output_type)
                self.assertEqual(result.data_type, output_type)
                rows = row_format.parse_rows(output_type, result.values,
                                             len(offsets))
                expected = row_format.from_float32(
                    output_type, pool(self.whole[keys], offsets, SUM) + 0.0)
                if output_type != INT8:
                    rows = row_format.to_float32(output_type, rows) + 0.0
                    expected = row_format.to_float32(output_type, expected)
                    output_type = FLOAT32
                row_format.assert_same_rows(output_type, rows, expected)

    def test_pooled_float16_accumulates_in_float32(self):
        self.client.update("fp16", [1], np.full((1, DIM), 1))
        self.client.update("fp16", [2], np.full((1, DIM), 2048))
        rows = float32_rows(self.bags("fp16", [2] + [1] * 300, [0], SUM,
                                      output_type=FLOAT32))
        self.assertRows(rows, [[2348] * DIM])
        self.client.update("fp16", [1, 2], self.real[[1, 2]])

    def test_own_type_of_the_table_is_the_default_output(self):
        result = self.bags("fp16", [1, 2], [0], SUM)
        self.assertEqual(result.data_type, FLOAT16)
        self.assertEqual(len(result.values), 2 * DIM)

    def test_empty_bags_and_no_bags(self):
        for pooling in (SUM, MEAN):
            with self.subTest(pooling=pooling):
                rows = float32_rows(self.bags(
                    "whole", [3, 4], [0, 0, 1, 1, 2, 2], pooling))
                zero = [0] * DIM
                self.assertRows(rows + 0.0, np.array(
                    [zero, self.whole[3], zero, self.whole[4], zero, zero],
                    np.float32) + 0.0)
                rows = float32_rows(self.bags("half", [], [0, 0], pooling))
                self.assertRows(rows, [zero, zero])
                result = self.bags("whole", [], [], pooling)
                self.assertEqual((result.values, result.dim), (b"", DIM))

    def test_weights_that_sum_to_zero_have_mean_zero(self):
        rows = float32_rows(self.bags(
            "whole", [3, 4, 5, 6], [0, 2], MEAN, weights=[2, -2, 0, 0]))
        self.assertRows(rows + 0.0, np.zeros((2, DIM)))
        rows = float32_rows(self.bags(
            "whole", [3, 3], [0], SUM, weights=[2, -1]))
        self.assertRows(rows + 0.0, [self.whole[3] + 0.0])

    def test_a_missing_key_adds_the_default_row_and_sets_its_bit(self):
        self.client.update("half", [1], np.ones((1, DIM)))
        keys = [1, 2, 3, 1]
        result = self.bags("half", keys, [0, 2, 3], SUM,
                           weights=[1, 2, 4, 3])
        self.assertEqual(missing_keys(result, keys), [2, 3])
        self.assertRows(float32_rows(result),
                        [[2] * DIM, [2] * DIM, [3] * DIM])
        result = self.bags("half", [1, 2], [0], MEAN)
        self.assertRows(float32_rows(result), [[0.75] * DIM])

    def test_wide_rows_and_one_large_bag(self):
        rows = np.arange(8192, dtype=np.float32)[None, :]
        self.client.update("wide", [1, 2], np.vstack([rows, rows * 2]))
        result = self.bags("wide", [1, 2, 1], [0, 1], SUM)
        self.assertRows(float32_rows(result), np.vstack([rows, rows * 3]))
        keys = np.arange(100000) % ROWS
        result = self.bags("whole", keys, [0], SUM)
        self.assertRows(float32_rows(result),
                        [self.whole.sum(axis=0) * (100000 // ROWS)])

    def test_bags_of_every_length(self):
        lengths = list(range(0, 70))
        offsets = np.cumsum([0] + lengths[:-1]).tolist()
        keys = np.arange(sum(lengths)) * 7 % ROWS
        rows = float32_rows(self.bags("whole", keys, offsets, SUM))
        self.assertRows(rows + 0.0,
                        pool(self.whole[keys], offsets, SUM) + 0.0)
