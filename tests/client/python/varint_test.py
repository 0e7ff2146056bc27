"""Varints as protobuf itself writes them."""

import unittest

import numpy as np

from gatherd import varint
from proto.gatherd.v1 import gatherd_pb2 as pb


def expected(values):
    """The packed bytes behind the tag and the length."""
    message = pb.TableLookup.FromString(
        pb.TableLookup(offsets=values).SerializeToString())
    assert list(message.offsets) == list(values)
    encoded = message.SerializeToString()
    position = 1
    while encoded[position] & 0x80:
        position += 1
    return encoded[position + 1:]


class VarintTest(unittest.TestCase):

    def assert_encoded(self, values):
        array = np.array(values, np.uint32)
        self.assertEqual(expected(array.tolist()), varint.encode(array))

    def test_none(self):
        self.assertEqual(b"", varint.encode(np.empty(0, np.uint32)))

    def test_each_length_and_its_bounds(self):
        bounds = sorted({max(0, 2**bits + delta) for bits in range(32)
                         for delta in (-1, 0, 1)} | {2**32 - 1})
        for value in bounds:
            self.assert_encoded([value])
        self.assert_encoded(bounds)
        self.assert_encoded(bounds[::-1])

    def test_random(self):
        rng = np.random.default_rng(1)
        for size in (1, 2, 1000):
            bits = rng.integers(0, 33, size)
            self.assert_encoded(
                (rng.random(size) * 2.0**bits).astype(np.uint32))
