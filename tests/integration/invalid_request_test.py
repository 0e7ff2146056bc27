"""Requests that are refused, and the words and numbers they are refused with."""

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness.api import (
    BFLOAT16, CALL_TIMEOUT_S, FLOAT16, INT8, ApiTestCase, table_lookup,
    table_update)
from tests.integration.harness.process import config_of, table_of

INVALID = grpc.StatusCode.INVALID_ARGUMENT
SUM = pb.POOLING_SUM
DIM = 6


class InvalidRequestTest(ApiTestCase):
    CONFIG = config_of([
        table_of("words", DIM, 100),
        table_of("dense", DIM, 100, "dense"),
        table_of("fixed", DIM, 100, read_only=True),
    ], server={"max_keys_per_request": 50})

    def setUp(self):
        self.before = [self.client.table_info(n) for n in ("words", "dense")]

    def tearDown(self):
        """Nothing that is refused changes anything."""
        self.assertEqual(
            [self.client.table_info(n) for n in ("words", "dense")],
            self.before)

    def refuse_lookup(self, texts, keys=(1, 2, 3), **fields):
        for table in ("words", "dense"):
            with self.subTest(table=table, **fields):
                with self.assertFails(INVALID, table, *texts):
                    self.client.lookup(table, keys, **fields)
                with self.assertFails(INVALID, table, *texts):
                    self.client.lookup_all(
                        table_lookup("words", [1]),
                        table_lookup(table, keys, **fields))

    def test_offsets(self):
        self.refuse_lookup(["offsets"], pooling=SUM)
        self.refuse_lookup(["offsets", 2, 0], offsets=[0, 1])
        self.refuse_lookup(["offsets", 1, 0], pooling=SUM, offsets=[1])
        self.refuse_lookup(["offsets", 2, 1], pooling=SUM,
                           offsets=[0, 2, 1])
        self.refuse_lookup(["offsets", 4, 3], pooling=SUM, offsets=[0, 4])
        self.refuse_lookup(["offsets", 4294967295, 3], pooling=SUM,
                           offsets=[0, 4294967295])
        self.refuse_lookup(["offsets", 1, 0], keys=[], pooling=SUM,
                           offsets=[0, 1])
        self.refuse_lookup(["offsets", 5, 0], keys=[], pooling=SUM,
                           offsets=[5])

    def test_weights(self):
        self.refuse_lookup(["weights", 3, 0], weights=[1, 2, 3])
        self.refuse_lookup(["weights", 2, 3], weights=[1, 2], pooling=SUM,
                           offsets=[0])
        self.refuse_lookup(["weights", 4, 3], weights=[1] * 4, pooling=SUM,
                           offsets=[0])
        self.refuse_lookup(["weights", 1, 0], keys=[], weights=[1],
                           pooling=SUM, offsets=[0])

    def test_unknown_enum_values(self):
        for value in (3, 99, -1, 2147483647):
            self.refuse_lookup(["pooling", value], pooling=value,
                               offsets=[0])
            self.refuse_lookup(["missing_key_policy", value],
                               missing_key_policy=value)
        for value in (5, 99, -1):
            self.refuse_lookup(["output_type", value], output_type=value)
            with self.assertFails(INVALID, "words", "data_type", value):
                self.client.update_all(table_update(
                    "words", [1], np.zeros((1, DIM)), data_type=value))
        for value in (3, 99, -1):
            with self.assertFails(INVALID, "words", "mode", value):
                self.client.update_all(table_update(
                    "words", [1], np.zeros((1, DIM)), mode=value))

    def test_bytes_of_values(self):
        for data_type, row_bytes in ((pb.DATA_TYPE_FLOAT32, 24), (FLOAT16, 12),
                                     (BFLOAT16, 12), (INT8, 10), (0, 24)):
            for num_keys, given in ((1, 0), (1, row_bytes - 1),
                                    (1, row_bytes + 1), (1, 2 * row_bytes),
                                    (3, 2 * row_bytes), (0, row_bytes)):
                for table in ("words", "dense"):
                    with self.subTest(type=data_type, keys=num_keys,
                                      given=given):
                        with self.assertFails(
                                INVALID, table, "values", given,
                                num_keys * row_bytes):
                            self.client.update(
                                table, list(range(num_keys)), b"v" * given,
                                data_type=data_type)

    def test_keys_in_one_request_of_all_tables(self):
        fifty, rows = list(range(50)), np.zeros((50, DIM))
        self.assertEqual(self.client.lookup("words", fifty).num_rows, 50)
        self.client.lookup_all(table_lookup("words", fifty[:25]),
                               table_lookup("dense", fifty[25:]))
        with self.assertFails(INVALID, "words", "keys", 51, 50):
            self.client.lookup("words", fifty + [50])
        with self.assertFails(INVALID, "keys", 51, 50):
            self.client.lookup_all(table_lookup("words", fifty[:25]),
                                   table_lookup("dense", fifty[24:]))
        with self.assertFails(INVALID, "words", "keys", 51, 50):
            self.client.update("words", fifty + [50],
                               np.zeros((51, DIM)))
        with self.assertFails(INVALID, "keys", 51, 50):
            self.client.update_all(
                table_update("dense", fifty, rows),
                table_update("words", [1], rows[:1]))
        with self.assertFails(INVALID, "words", "keys", 51, 50):
            self.client.erase("words", fifty + [50])
        with self.assertFails(INVALID, "keys", 60, 50):
            self.client.lookup("words", list(range(60)), pooling=SUM,
                               offsets=[0])

    def test_read_only(self):
        failed = grpc.StatusCode.FAILED_PRECONDITION
        before = self.client.table_info("fixed")
        for mode in (0, 1, 2):
            with self.assertFails(failed, "fixed"):
                self.client.update("fixed", [1], np.zeros((1, DIM)), mode)
        with self.assertFails(failed, "fixed"):
            self.client.erase("fixed", [1])
        with self.assertFails(failed, "fixed"):
            self.client.update_all(
                table_update("words", [1], np.zeros((1, DIM))),
                table_update("fixed", [1], np.zeros((1, DIM))))
        self.assertEqual(self.client.lookup("fixed", [1]).num_missing, 1)
        self.assertEqual(self.client.table_info("fixed"), before)

    def test_unknown_table(self):
        not_found = grpc.StatusCode.NOT_FOUND
        with self.assertFails(not_found, "no_such_table"):
            self.client.lookup("no_such_table", [1])
        with self.assertFails(not_found, "no_such_table"):
            self.client.lookup("no_such_table", [])
        with self.assertFails(not_found, "no_such_table"):
            self.client.update("no_such_table", [1], [[1.0]])
        with self.assertFails(not_found, "no_such_table"):
            self.client.erase("no_such_table", [1])

    def test_unknown_method_and_service(self):
        for method in ("/gatherd.v1.EmbeddingService/Nothing",
                       "/gatherd.v2.EmbeddingService/Lookup"):
            call = self.client.channel.unary_unary(method)
            with self.assertFails(grpc.StatusCode.UNIMPLEMENTED):
                call(b"", timeout=CALL_TIMEOUT_S)
