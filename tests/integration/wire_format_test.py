"""Bytes on the wire: garbage is refused, everything legal is understood."""

import random

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness import wire
from tests.integration.harness.api import (
    CALL_TIMEOUT_S, METHODS, ApiTestCase, float32_rows)
from tests.integration.harness.process import config_of, table_of

DIM = 2
REQUESTS = {"Lookup": pb.LookupRequest, "LookupStream": pb.LookupRequest,
            "Update": pb.UpdateRequest, "UpdateStream": pb.UpdateRequest,
            "Erase": pb.EraseRequest}


def parses(method, request):
    try:
        REQUESTS[method].FromString(request)
        return True
    except Exception:  # DecodeError's place differs between versions
        return False


class WireFormatTest(ApiTestCase):
    CONFIG = config_of([table_of("words", DIM, 1000)])

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.update("words", [1, 2, 3], [[1, 10], [2, 20], [3, 30]])

    def call(self, method, request):
        if method.endswith("Stream"):
            return self.client.raw_stream(method, [request])
        return self.client.raw_unary(method, request)

    def refuse(self, method, request):
        with self.assertFails(grpc.StatusCode.INVALID_ARGUMENT):
            self.call(method, request)

    def tearDown(self):
        self.assertRows(self.client.rows("words", [1, 2, 3]),
                        [[1, 10], [2, 20], [3, 30]])

    def test_garbage_to_every_method(self):
        for method in METHODS:
            for name, request in wire.NO_MESSAGES.items():
                with self.subTest(method=method, request=name):
                    self.refuse(method, request)
            for name, part in wire.NO_PARTS.items():
                with self.subTest(method=method, part=name):
                    self.refuse(method, wire.length_field(1, part))

    def test_garbage_to_the_table_service(self):
        for method in ("ListTables", "GetServerInfo"):
            for name, request in wire.NO_MESSAGES.items():
                with self.subTest(method=method, request=name):
                    with self.assertFails(grpc.StatusCode.INVALID_ARGUMENT):
                        self.client.raw_unary(method, request,
                                              "TableService")

    def test_every_prefix_of_a_request(self):
        request = pb.LookupRequest(lookups=[pb.TableLookup(
            table="words", keys=[1, 2, 3], pooling=pb.POOLING_SUM,
            offsets=[0, 1], weights=[1, 2, 3], output_type=1)])
        encoded = request.SerializeToString()
        for length in range(1, len(encoded)):
            if not parses("Lookup", encoded[:length]):
                with self.subTest(length=length):
                    self.refuse("Lookup", encoded[:length])

    def test_random_damage_never_stops_the_server(self):
        rng = random.Random(8)
        lookup = pb.LookupRequest(lookups=[pb.TableLookup(
            table="words", keys=[1, 2], output_type=2)] * 2)
        for round_number in range(500):
            encoded = bytearray(lookup.SerializeToString())
            for _ in range(rng.randint(1, 4)):
                encoded[rng.randrange(len(encoded))] = rng.randrange(256)
            for method in ("Lookup", "Erase", "LookupStream"):
                if method == "Erase" and parses(method, bytes(encoded)):
                    continue  # it might erase what other tests read
                try:
                    self.call(method, bytes(encoded))
                except grpc.RpcError as error:
                    self.assertIn(
                        error.code(),
                        (grpc.StatusCode.INVALID_ARGUMENT,
                         grpc.StatusCode.NOT_FOUND),
                        f"round {round_number}: {bytes(encoded)!r}: "
                        f"{error.details()}")

    def test_a_name_that_is_no_text(self):
        request = wire.length_field(1, wire.length_field(1, b"\xff\xfe\x80"))
        for method in METHODS:
            with self.assertRaises(grpc.RpcError) as caught:
                self.call(method, request)
            self.assertIn(caught.exception.code(),
                          (grpc.StatusCode.INVALID_ARGUMENT,
                           grpc.StatusCode.NOT_FOUND))

    def lookup(self, *parts):
        reply = self.client.raw_unary("Lookup", b"".join(parts))
        return pb.LookupResponse.FromString(reply).results

    def test_unknown_fields_are_skipped(self):
        unknown = b"".join(wire.UNKNOWN_FIELDS)
        part = (unknown + wire.length_field(1, b"words") + unknown
                + wire.packed_keys(2, [2, 1]) + unknown)
        results = self.lookup(unknown, wire.length_field(1, part), unknown)
        self.assertEqual(len(results), 1)
        self.assertRows(float32_rows(results[0]), [[2, 20], [1, 10]])

    def test_fields_in_any_order_the_last_of_a_scalar_counts(self):
        part = (wire.varint_field(6, 1) + wire.packed_keys(2, [3])
                + wire.length_field(1, b"unknown") + wire.varint_field(6, 2)
                + wire.length_field(1, b"words"))
        result, = self.lookup(wire.length_field(1, part))
        self.assertEqual(np.frombuffer(result.values, "<f2").tolist(),
                         [3, 30])

    def test_keys_packed_unpacked_and_in_pieces(self):
        part = (wire.length_field(1, b"words") + wire.packed_keys(2, [1, 2])
                + wire.fixed64_field(2, 3) + wire.packed_keys(2, [])
                + wire.packed_keys(2, [2]))
        result, = self.lookup(wire.length_field(1, part))
        self.assertRows(float32_rows(result),
                        [[1, 10], [2, 20], [3, 30], [2, 20]])

    def test_keys_of_32_bits(self):
        name = wire.length_field(1, b"words")
        part = (name + wire.length_field(8, np.array([3, 1], "<u4").tobytes())
                + wire.tag(8, wire.FIXED32) + b"\2\0\0\0")
        result, = self.lookup(wire.length_field(1, part))
        self.assertRows(float32_rows(result), [[3, 30], [1, 10], [2, 20]])
        for method in METHODS:
            self.refuse(method, wire.length_field(
                1, part + wire.packed_keys(2, [1])))

    def test_offsets_and_weights_packed_unpacked_and_in_pieces(self):
        part = (wire.length_field(1, b"words")
                + wire.packed_keys(2, [1, 2, 3]) + wire.varint_field(3, 1)
                + wire.varint_field(4, 0)
                + wire.length_field(4, wire.varint(2) + wire.varint(3))
                + wire.fixed32_field(5, 2.0)
                + wire.length_field(5, np.array([3, 4], "<f4").tobytes()))
        result, = self.lookup(wire.length_field(1, part))
        self.assertRows(float32_rows(result), [[8, 80], [12, 120], [0, 0]])

    def test_lengths_written_with_more_bytes_than_needed(self):
        part = wire.length_field(1, b"words") + wire.packed_keys(2, [1])
        padded = wire.tag(1, wire.LENGTH) + bytes([len(part) | 128, 0x80, 0])
        result, = self.lookup(padded + part)
        self.assertRows(float32_rows(result), [[1, 10]])

    def test_a_field_of_another_wire_type_counts_as_unknown(self):
        part = (wire.length_field(1, b"words") + wire.packed_keys(2, [1])
                + wire.varint_field(1, 5) + wire.length_field(6, b"")
                + wire.varint_field(2, 9))
        self.assertTrue(parses("Lookup", wire.length_field(1, part)))
        result, = self.lookup(wire.length_field(1, part))
        self.assertRows(float32_rows(result), [[1, 10]])

    def test_update_and_erase_understand_the_same(self):
        unknown = b"".join(wire.UNKNOWN_FIELDS)
        rows = np.array([[7, 8], [9, 10]], "<f4").tobytes()
        part = (unknown + wire.length_field(4, b"to be replaced")
                + wire.fixed64_field(2, 70) + wire.packed_keys(2, [71])
                + wire.varint_field(3, 1) + wire.length_field(4, rows)
                + wire.length_field(1, b"words") + unknown)
        reply = pb.UpdateResponse.FromString(self.client.raw_unary(
            "Update", unknown + wire.length_field(1, part)))
        self.assertEqual(reply.results[0].num_inserted, 2)
        self.assertRows(self.client.rows("words", [70, 71]),
                        [[7, 8], [9, 10]])
        part = (wire.fixed64_field(2, 70) + unknown
                + wire.length_field(1, b"words") + wire.packed_keys(2, [71]))
        reply = pb.EraseResponse.FromString(self.client.raw_unary(
            "Erase", wire.length_field(1, part) + unknown))
        self.assertEqual(reply.results[0].num_erased, 2)

    def test_empty_bytes_are_an_empty_request(self):
        for method in ("Lookup", "Update", "Erase"):
            self.assertEqual(self.client.raw_unary(method, b""), b"")
        for method in ("LookupStream", "UpdateStream"):
            self.assertEqual(self.client.raw_stream(method, [b"", b""]),
                             [b"", b""])

    def test_many_tables_in_one_request(self):
        part = wire.length_field(1, wire.length_field(1, b"words")
                                 + wire.packed_keys(2, [1]))
        results = self.lookup(part * 20000)
        self.assertEqual(len(results), 20000)
        self.assertRows(float32_rows(results[-1]), [[1, 10]])

    def test_deeply_nested_groups(self):
        depth = 50000
        nested = wire.tag(9, wire.GROUP) * depth + wire.tag(
            9, wire.END_GROUP) * depth
        with self.assertFails(grpc.StatusCode.INVALID_ARGUMENT):
            self.client.channel.unary_unary(
                "/gatherd.v1.EmbeddingService/Lookup")(
                    nested, timeout=CALL_TIMEOUT_S)
