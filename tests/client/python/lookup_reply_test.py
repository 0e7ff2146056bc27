"""A reply is read as protobuf reads it, without a copy of its rows."""

import random
import unittest

from google.protobuf import message as protobuf
import grpc
import numpy as np

import gatherd
from gatherd import lookup_reply
from proto.gatherd.v1 import gatherd_pb2 as pb


def fields_of(rows):
    return (rows.data_type, rows.dim, rows.num_rows, rows.missing,
            rows.num_missing, rows.revision)


def by_protobuf(reply):
    """[(fields, values)], or None if it is no LookupResponse."""
    try:
        response = pb.LookupResponse.FromString(reply)
    except protobuf.DecodeError:
        return None
    return [(fields_of(rows), rows.values) for rows in response.results]


def by_client(reply):
    try:
        answers = lookup_reply.read(reply)
    except gatherd.GatherdError as error:
        assert error.code == grpc.StatusCode.INTERNAL, error
        return None
    return [(fields_of(rows), bytes(values)) for rows, values in answers]


def delimited(tag, content):
    """A field of up to 127 bytes."""
    return bytes([tag, len(content)]) + content


def rows_of(seed):
    rng = random.Random(seed)
    return pb.TableRows(
        data_type=rng.randrange(5), dim=rng.randrange(300),
        num_rows=rng.randrange(300), values=rng.randbytes(rng.randrange(300)),
        missing=rng.randbytes(rng.randrange(9)), num_missing=rng.randrange(9),
        revision=rng.getrandbits(64))


def reply_of(seed):
    return pb.LookupResponse(results=[
        rows_of(f"{seed} {i}") for i in range(seed % 4)]).SerializeToString()


class LookupReplyTest(unittest.TestCase):

    def assert_as_protobuf(self, reply):
        expected = by_protobuf(reply)
        self.assertIsNotNone(expected)
        self.assertEqual(expected, by_client(reply))

    def test_none_one_and_several_results(self):
        for seed in range(40):
            self.assert_as_protobuf(reply_of(seed))

    def test_rows_are_a_view(self):
        reply = pb.LookupResponse(
            results=[pb.TableRows(values=bytes(1000))]).SerializeToString()
        [(message, values)] = lookup_reply.read(reply)
        self.assertEqual(b"", message.values)
        self.assertTrue(np.shares_memory(np.frombuffer(values, np.uint8),
                                         np.frombuffer(reply, np.uint8)))

    def test_the_last_values_count(self):
        self.assert_as_protobuf(delimited(
            0x0A, delimited(0x22, b"old") + b"\x10\x05" +
            delimited(0x22, b"new")))

    def test_unknown_fields_are_skipped(self):
        unknown = (b"\xf8\x07\xff\xff\x03",  # 127, varint
                   b"\xf9\x0712345678",  # 64 bits
                   b"\xfd\x071234",  # 32 bits
                   b"\xfa\x07\x02ab",  # bytes
                   b"\x20\x07",  # 4, as a varint
                   b"\x08\x07")  # 1, as a varint: data_type within the rows
        for field in unknown:
            inner = field + delimited(0x22, b"rows") + field
            self.assert_as_protobuf(field + delimited(0x0A, inner) + field)

    def test_cut_short(self):
        reply = reply_of(3)
        for size in range(len(reply)):
            with self.subTest(size):
                self.assertEqual(by_protobuf(reply[:size]),
                                 by_client(reply[:size]))

    def test_damaged(self):
        """What both read, they read alike; protobuf also takes groups."""
        rng, num_read = random.Random(1), 0
        for seed in range(3000):
            reply = bytearray(reply_of(seed % 16))
            for _ in range(rng.randrange(1, 4)):
                if reply:
                    reply[rng.randrange(min(len(reply), 40))] = (
                        rng.randrange(256))
            found = by_client(bytes(reply))
            if found is not None:
                num_read += 1
                self.assertEqual(by_protobuf(bytes(reply)), found)
        self.assertGreater(num_read, 300)

    def test_what_protobuf_refuses(self):
        for text, reply in (
                ("ends within a number", b"\x0a"),
                ("ends within a number", b"\x0a\x80"),
                ("a number of over 10 bytes", b"\x0a" + b"\xff" * 11),
                ("a field ends behind its message", b"\x0a\x05\x08"),
                ("a field ends behind its message", b"\x0a\x02\x22\x01"),
                ("a field of wire type 7", b"\x0f"),
                ("a field of number 0", b"\x02\x00"),
        ):
            with self.subTest(text):
                self.assertIsNone(by_protobuf(reply))
                with self.assertRaises(gatherd.GatherdError) as caught:
                    lookup_reply.read(reply)
                self.assertEqual(grpc.StatusCode.INTERNAL,
                                 caught.exception.code)
                self.assertIn(text, caught.exception.message)
