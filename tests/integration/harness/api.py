"""The API as tests use it: messages, one-table calls, expected failures."""

import contextlib
import unittest

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from proto.gatherd.v1 import gatherd_pb2_grpc as pb_grpc
from tests.integration.harness.process import Server

FLOAT32 = pb.DATA_TYPE_FLOAT32
FLOAT16 = pb.DATA_TYPE_FLOAT16
BFLOAT16 = pb.DATA_TYPE_BFLOAT16
INT8 = pb.DATA_TYPE_INT8

SET = pb.UPDATE_MODE_SET
ADD = pb.UPDATE_MODE_ADD
SET_EXISTING = pb.UPDATE_MODE_SET_EXISTING

INT64_MIN = -(2 ** 63)
INT64_MAX = 2 ** 63 - 1

# Every value that a 64-bit key space could treat specially by mistake.
BOUNDARY_KEYS = sorted(
    {INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1}
    | {sign * (2 ** bit) + delta
       for bit in range(63) for sign in (1, -1) for delta in (-1, 0, 1)})

# Every call has a deadline far above what it takes.
CALL_TIMEOUT_S = 30

METHODS = ("Lookup", "LookupStream", "Update", "UpdateStream", "Erase")


def open_channel(address, credentials=None):
    """A channel with a connection of its own and no message limits."""
    options = [
        ("grpc.max_receive_message_length", -1),
        ("grpc.max_send_message_length", -1),
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_http_proxy", 0),
    ]
    if credentials is None:
        return grpc.insecure_channel(address, options=options)
    return grpc.secure_channel(address, credentials, options=options)


def table_lookup(table, keys, **fields):
    return pb.TableLookup(table=table, keys=keys, **fields)


def table_update(table, keys, rows, mode=SET, data_type=FLOAT32):
    """`rows`: an array of the type's own layout, or bytes."""
    if not isinstance(rows, bytes):
        if data_type == FLOAT32:
            rows = np.asarray(rows, np.float32)
        rows = np.ascontiguousarray(rows).tobytes()
    return pb.TableUpdate(table=table, keys=keys, data_type=data_type,
                          values=rows, mode=mode)


class Client:
    """One channel; the short calls take and return parts of one table."""

    def __init__(self, address, channel=None):
        self.channel = channel or open_channel(address)
        self.embeddings = pb_grpc.EmbeddingServiceStub(self.channel)
        self.tables = pb_grpc.TableServiceStub(self.channel)

    def close(self):
        self.channel.close()

    def lookup_all(self, *lookups):
        request = pb.LookupRequest(lookups=lookups)
        return self.embeddings.Lookup(request, timeout=CALL_TIMEOUT_S).results

    def lookup(self, table, keys, **fields):
        return self.lookup_all(table_lookup(table, keys, **fields))[0]

    def rows(self, table, keys, **fields):
        """Looked-up float32 rows as an array."""
        return float32_rows(self.lookup(
            table, keys, output_type=FLOAT32, **fields))

    def update_all(self, *updates):
        request = pb.UpdateRequest(updates=updates)
        return self.embeddings.Update(request, timeout=CALL_TIMEOUT_S).results

    def update(self, table, keys, rows, mode=SET, data_type=FLOAT32):
        return self.update_all(
            table_update(table, keys, rows, mode, data_type))[0]

    def erase(self, table, keys):
        request = pb.EraseRequest(
            erases=[pb.TableErase(table=table, keys=keys)])
        return self.embeddings.Erase(
            request, timeout=CALL_TIMEOUT_S).results[0]

    def table_info(self, table):
        reply = self.tables.ListTables(
            pb.ListTablesRequest(), timeout=CALL_TIMEOUT_S)
        return next(info for info in reply.tables if info.name == table)

    def raw_unary(self, method, request, service="EmbeddingService"):
        """Sends and returns bytes, untouched."""
        call = self.channel.unary_unary(f"/gatherd.v1.{service}/{method}")
        return call(request, timeout=CALL_TIMEOUT_S)

    def raw_stream(self, method, requests):
        """Sends and returns lists of bytes, untouched."""
        call = self.channel.stream_stream(
            f"/gatherd.v1.EmbeddingService/{method}")
        return list(call(iter(requests), timeout=CALL_TIMEOUT_S))


def float32_rows(result):
    return np.frombuffer(result.values, "<f4").reshape(
        result.num_rows, result.dim)


def missing_keys(result, keys):
    """The keys whose bit is set, in order; checks the bitmap's form."""
    if not result.missing:
        assert result.num_missing == 0
        return []
    assert len(result.missing) == (len(keys) + 7) // 8
    bits = np.unpackbits(
        np.frombuffer(result.missing, np.uint8), bitorder="little")
    assert not bits[len(keys):].any()
    assert bits.sum() == result.num_missing > 0
    return [key for key, bit in zip(keys, bits) if bit]


class ApiTestCase(unittest.TestCase):
    """Tests over one server of the class's CONFIG, or over their own."""

    CONFIG = None
    server = None
    client = None

    @classmethod
    def setUpClass(cls):
        if cls.CONFIG is not None:
            cls.use(Server(cls.CONFIG))

    @classmethod
    def use(cls, server):
        """Makes it the class's server, to be stopped cleanly at the end."""
        cls.server = server
        cls.addClassCleanup(server.close)
        cls.client = Client(server.address)
        cls.addClassCleanup(cls.client.close)

    @classmethod
    def tearDownClass(cls):
        if cls.server is not None and (code := cls.server.stop()) != 0:
            raise AssertionError(f"gatherd ended with {code}")

    def connect(self, server, channel=None):
        client = Client(server.address, channel)
        self.addCleanup(client.close)
        return client

    @contextlib.contextmanager
    def assertFails(self, code, *texts):
        """A call inside ends with `code`, its message naming all texts."""
        with self.assertRaises(grpc.RpcError) as caught:
            yield
        error = caught.exception
        self.assertEqual(error.code(), code, error.details())
        for text in texts:
            self.assertIn(str(text), error.details())

    def assertRows(self, rows, expected):
        """Equal bit for bit as float32."""
        np.testing.assert_array_equal(
            np.ascontiguousarray(rows, np.float32).view(np.uint32),
            np.ascontiguousarray(expected, np.float32).view(np.uint32))
