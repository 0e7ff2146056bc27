"""Replies of the generated messages are read as they are, or refused."""

import unittest

import grpc
import numpy as np

import gatherd
from gatherd import lookup_reply
from gatherd import messages
from gatherd import results
from proto.gatherd.v1 import gatherd_pb2 as pb


def read(message, num_keys, num_rows=None):
    [(twin, values)] = lookup_reply.read(
        pb.LookupResponse(results=[message]).SerializeToString())
    return results.table_rows(
        twin, values, num_keys, num_keys if num_rows is None else num_rows)


def reply(data_type, values, **fields):
    values = np.asarray(values)
    return pb.TableRows(
        data_type=data_type, num_rows=len(values), values=values.tobytes(),
        **{"dim": values.shape[1], **fields})


class RowsTest(unittest.TestCase):

    def assert_rows(self, found, dtype, expected):
        self.assertEqual(dtype, found.dtype)
        np.testing.assert_array_equal(expected, found)

    def test_float32(self):
        values = np.arange(6, dtype="<f4").reshape(3, 2)
        answer = read(reply(1, values, revision=2**64 - 1), 3)
        self.assert_rows(answer.rows, np.float32, values)
        self.assert_rows(answer.floats(), np.float32, values)
        self.assertEqual("float32", answer.data_type)
        self.assertEqual(2**64 - 1, answer.revision)
        self.assertIsNone(answer.scales)
        self.assertFalse(answer.rows.flags.writeable)

    def test_unpacks(self):
        rows, missing = read(reply(1, np.ones((3, 2), "<f4")), 3)
        self.assertEqual((3, 2), rows.shape)
        self.assert_rows(missing, bool, [False] * 3)

    def test_float16(self):
        values = np.array([[1.5, -np.inf], [6e-8, 65504]], "<f2")
        answer = read(reply(2, values), 2)
        self.assert_rows(answer.rows, np.float16, values)
        self.assert_rows(answer.floats(), np.float32,
                         values.astype(np.float32))

    def test_bfloat16(self):
        floats = np.array([[1.5, -2, np.inf], [0, -0.0, 3e38]], "<f4")
        bits = (floats.view(np.uint32) >> 16).astype("<u2")
        answer = read(reply(3, bits), 2)
        self.assert_rows(answer.rows, np.uint16, bits)
        self.assert_rows(answer.floats(), np.float32,
                         (bits.astype(np.uint32) << 16).view(np.float32))
        self.assertEqual(1.5, answer.floats()[0, 0])

    def test_int8(self):
        elements = np.array([[1, -127, 5], [0, 127, -3]], np.int8)
        scales = np.array([0.5, 3], "<f4")
        values = np.hstack([elements.view(np.uint8),
                            scales.view(np.uint8).reshape(2, 4)])
        answer = read(reply(4, values, dim=3), 2)
        self.assert_rows(answer.rows, np.int8, elements)
        self.assert_rows(answer.scales, np.float32, scales)
        self.assert_rows(answer.floats(), np.float32,
                         [[0.5, -63.5, 2.5], [0, 381, -9]])

    def test_no_rows(self):
        for number, dtype in ((1, "<f4"), (2, "<f2"), (3, "<u2"), (4, "i1")):
            answer = read(pb.TableRows(data_type=number, dim=5), 0)
            self.assert_rows(answer.rows, dtype, np.empty((0, 5)))
            self.assertEqual((0, 5), answer.floats().shape)
            self.assertEqual(0, answer.missing.size)

    def test_missing_bits_are_of_keys(self):
        for num_keys in (1, 7, 8, 9, 1000):
            missing = np.random.default_rng(num_keys).random(num_keys) < 0.5
            message = reply(
                1, np.ones((2, 1), "<f4"), num_missing=missing.sum(),
                missing=np.packbits(missing, bitorder="little").tobytes())
            answer = read(message, num_keys, num_rows=2)
            self.assert_rows(answer.missing, bool, missing)
            self.assertEqual(missing.sum(), answer.num_missing)


class NonsenseTest(unittest.TestCase):

    def assert_internal(self, text, call):
        with self.assertRaises(gatherd.GatherdError) as caught:
            call()
        self.assertEqual(grpc.StatusCode.INTERNAL, caught.exception.code)
        self.assertIn(text, caught.exception.message)

    def test_fields_that_contradict_each_other(self):
        values = np.ones((2, 3), "<f4")
        for text, message, num_keys in (
                ("data_type 0 is unknown", reply(0, values), 2),
                ("data_type 9 is unknown", reply(9, values), 2),
                ("dim is 0", reply(1, values, dim=0), 2),
                ("dim is 8193", reply(1, values, dim=8193), 2),
                ("has 2 rows; 3 were asked", reply(1, values), 3),
                ("24 bytes; 2 rows have 32", reply(1, values, dim=4), 2),
                ("24 bytes; 2 rows have 14", reply(4, values, dim=3), 2),
                ("missing has 2 bytes for 2 keys",
                 reply(1, values, missing=b"\1\0"), 2),
        ):
            with self.subTest(text):
                self.assert_internal(text, lambda m=message, n=num_keys:
                                     read(m, n))

    def test_table_of_unknown_type(self):
        self.assert_internal(
            "data_type 7",
            lambda: results.table_info(messages.TableInfo(data_type=7)))
