"""Every type in and out of every type of table, against numpy."""

import numpy as np

from tests.integration.harness import row_format
from tests.integration.harness.api import (
    ADD, BFLOAT16, FLOAT16, FLOAT32, INT8, SET, ApiTestCase)
from tests.integration.harness.process import config_of, table_of
from tests.integration.harness.row_format import assert_same_rows, convert

TYPES = {"float32": FLOAT32, "float16": FLOAT16, "bfloat16": BFLOAT16,
         "int8": INT8}
DIMS = (1, 3, 5, 7, 100, 8192)

# Ties of float16 and bfloat16, both ways; the edges of their ranges;
# subnormals; both zeros; infinities and NaN.
SPECIAL = np.array([
    0.0, -0.0, 1.0, -1.0, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 1 + 2 ** -8,
    1 + 3 * 2 ** -8, 1 + 2 ** -9, 65504, 65519.99, 65520, -65520, 1e6,
    6e-8, 2 ** -25, 2 ** -25 * 1.001, 2 ** -24, -(2 ** -24) * 1.5, 1e-40,
    3.3895314e38, 3.3961775e38, 3.4028235e38, -3.4028235e38, 1e-45,
    np.inf, -np.inf, np.nan, 0.1, 127.5, 1 / 3, 2 ** -14], np.float32)


def sample_rows(data_type, num_rows, dim, seed):
    """Rows in the type's own layout: ordinary values, in every magnitude."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((num_rows, dim)).astype(np.float32)
    rows *= np.exp2(rng.integers(-8, 8, (num_rows, 1))).astype(np.float32)
    return row_format.from_float32(data_type, rows)


class DataTypeTest(ApiTestCase):
    CONFIG = config_of(
        [table_of(f"{name}_{dim}_{space}", dim, 64, space, data_type=name)
         for name in TYPES for dim in DIMS for space in ("dense", "hashed")]
        + [table_of(f"{name}_tenth", 5, 64, data_type=name,
                    default_row={"constant": 0.1}) for name in TYPES])

    def read(self, table, keys, output_type):
        result = self.client.lookup(table, keys, output_type=output_type)
        self.assertEqual(result.data_type, output_type)
        self.assertEqual(
            len(result.values),
            len(keys) * row_format.row_bytes(output_type, result.dim))
        return row_format.parse_rows(output_type, result.values, len(keys))

    def check(self, table, table_type, given_type, rows, mode=SET):
        """Writes rows of given_type and reads them as every type."""
        keys = list(range(len(rows)))
        self.client.update(table, keys, rows.tobytes(), mode, given_type)
        stored = convert(given_type, table_type, rows)
        for name, output_type in TYPES.items():
            assert_same_rows(
                output_type, self.read(table, keys, output_type),
                convert(table_type, output_type, stored),
                f"{table}: given {given_type}, read as {name}")

    def test_all_types_into_and_out_of_all_types(self):
        for dim in DIMS:
            for space in ("dense", "hashed"):
                for seed, (name, table_type) in enumerate(TYPES.items()):
                    for given_type in TYPES.values():
                        with self.subTest(dim=dim, space=space, table=name,
                                          given=given_type):
                            self.check(f"{name}_{dim}_{space}", table_type,
                                       given_type,
                                       sample_rows(given_type, 8, dim, seed))

    def test_special_values(self):
        rows = np.resize(SPECIAL, (3, 100))
        for name, table_type in TYPES.items():
            if table_type == INT8:
                continue  # see below: one scale for the whole row
            for given_type in (FLOAT32, FLOAT16, BFLOAT16):
                with self.subTest(table=name, given=given_type):
                    table = f"{name}_100_hashed"
                    given = row_format.from_float32(given_type, rows)
                    self.client.update(table, [0, 1, 2], given.tobytes(),
                                       SET, given_type)
                    stored = convert(given_type, table_type, given)
                    for output in (FLOAT32, FLOAT16, BFLOAT16):
                        assert_same_rows(
                            output, self.read(table, [0, 1, 2], output),
                            convert(table_type, output, stored),
                            f"read as {output}")

    def test_same_type_in_and_out_keeps_every_bit(self):
        rng = np.random.default_rng(3)
        for name, data_type in TYPES.items():
            with self.subTest(type=name):
                values = rng.bytes(
                    16 * row_format.row_bytes(data_type, 100))
                table = f"{name}_100_dense"
                self.client.update(table, range(16), values, SET, data_type)
                for output_type in (data_type, 0):  # 0: the table's own
                    result = self.client.lookup(table, range(16),
                                                output_type=output_type)
                    self.assertEqual(result.values, values)
                    self.assertEqual(result.data_type, data_type)
                self.client.update(table, [20], values[:len(values) // 16],
                                   SET, 0)
                self.assertEqual(self.client.lookup(table, [20]).values,
                                 values[:len(values) // 16])

    def test_int8_layout_and_scale(self):
        rows = np.array([
            [1, -2, 3.5, 0.5, -127],
            [0, -0.0, 0, 0, 0],
            [np.nan, np.inf, -np.inf, 2, -1],
            [0.5, 1.5, 2.5, -2.5, 127],
            [np.inf, -np.inf, np.nan, 0, 0],
        ], np.float32)
        self.client.update("int8_5_hashed", range(5), rows)
        result = self.read("int8_5_hashed", range(5), INT8)
        self.assertEqual(result.shape, (5, 9))
        elements = result[:, :5].view(np.int8).tolist()
        scales = np.ascontiguousarray(result[:, 5:]).view("<f4")[:, 0]
        self.assertEqual(elements, [
            [1, -2, 4, 0, -127],
            [0, 0, 0, 0, 0],
            [0, 127, -127, 127, -64],
            [0, 2, 2, -2, 127],
            [127, -127, 0, 0, 0],
        ])
        np.testing.assert_array_equal(
            scales, np.array([1, 0, np.float32(2) / 127, 1, 0], np.float32))

    def test_constant_default_row_in_every_type(self):
        for name, table_type in TYPES.items():
            row = np.full((1, 5), 0.1, np.float32)
            stored = row_format.from_float32(table_type, row)
            for output_type in TYPES.values():
                with self.subTest(table=name, output=output_type):
                    assert_same_rows(
                        output_type,
                        self.read(f"{name}_tenth", [-1], output_type),
                        convert(table_type, output_type, stored))

    def test_add_works_in_float32_and_converts_once(self):
        for table in ("float16_3_hashed", "float16_3_dense"):
            self.client.update(table, [40], [[2048, 1, -2048]])
            self.client.update(table, [40, 40], [[1, 2 ** -11, -1]] * 2,
                               ADD)
            self.assertRows(self.client.rows(table, [40]),
                            [[2050, 1 + 2 ** -10, -2050]])
        self.client.update("bfloat16_3_hashed", [40], [[256, 1, 0]])
        self.client.update("bfloat16_3_hashed", [40, 40], [[1, 0, 0]] * 2,
                           ADD)
        self.assertRows(self.client.rows("bfloat16_3_hashed", [40]),
                        [[258, 1, 0]])
        self.client.update("float16_3_hashed", [41], [[65504, 0, 0]])
        self.client.update("float16_3_hashed", [41], [[65504, 0, 0]], ADD)
        self.assertRows(self.client.rows("float16_3_hashed", [41]),
                        [[np.inf, 0, 0]])

    def test_add_to_int8_rescales_the_row(self):
        for table in ("int8_3_hashed", "int8_3_dense"):
            self.client.update(table, [50], [[127, 1, 0]])
            self.client.update(table, [50, 50], [[64, 0, -3.25]] * 2, ADD)
            expected = row_format.from_float32(
                INT8, np.array([[255, 1, -6.5]], np.float32))
            assert_same_rows(INT8, self.read(table, [50], INT8), expected)

    def test_given_int8_is_dequantised_before_it_is_added(self):
        given = row_format.from_float32(
            INT8, np.array([[127, 3, -5]], np.float32))
        self.client.update("float32_3_hashed", [60], [[0.5, 0.5, 0.5]])
        self.client.update("float32_3_hashed", [60], given.tobytes(), ADD,
                           INT8)
        self.assertRows(self.client.rows("float32_3_hashed", [60]),
                        [[127.5, 3.5, -4.5]])
