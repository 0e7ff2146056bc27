"""The Python client against gatherd itself."""

import os
import tempfile
import threading
import time
import unittest

import grpc
import numpy as np

import gatherd
from tests.integration.harness.certificates import Authority, read
from tests.integration.harness.process import (
    BACKEND, TIER, Server, config_of, free_port, table_of)

DIM = 8
MIB = 2**20


def rows_of(num_rows, dim=DIM, seed=1):
    """Small whole numbers: exact in every type, and their sums, too."""
    rng = np.random.default_rng(seed)
    return rng.integers(-8, 9, (num_rows, dim)).astype(np.float32)


class ServerTestCase(unittest.TestCase):

    CONFIG = config_of([])

    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.CONFIG)
        cls.addClassCleanup(cls.server.close)
        cls.client = gatherd.Client(cls.server.address, timeout=30)
        cls.addClassCleanup(cls.client.close)

    def assert_fails(self, code, call, *texts):
        with self.assertRaises(gatherd.GatherdError) as caught:
            call()
        self.assertEqual(code, caught.exception.code, caught.exception)
        for text in texts:
            self.assertIn(str(text), caught.exception.message)


class RowsTest(ServerTestCase):
    CONFIG = config_of([
        *(table_of(data_type, DIM, 10_000, data_type=data_type)
          for data_type in ("float32", "float16", "bfloat16", "int8")),
        table_of("dense", DIM, 100, "dense"),
        table_of("default", 2, 100, default_row={"constant": 0.5}),
    ])

    def test_rows_of_every_type(self):
        keys, rows = [2**40, -5, 2**62], rows_of(3)
        for name in ("float32", "float16", "bfloat16"):
            result = self.client.update(name, keys, rows)
            self.assertEqual((3, 0), (result.num_inserted, result.num_updated))
            for output in (None, "float32", "float16", "bfloat16"):
                answer = self.client.lookup(
                    name, [2**62, 2**41, -5, 2**40, 2**40], output_type=output)
                self.assertEqual(output or name, answer.data_type)
                np.testing.assert_array_equal(
                    answer.floats(),
                    [rows[2], np.zeros(DIM), rows[1], rows[0], rows[0]])
                np.testing.assert_array_equal(
                    answer.missing, [False, True, False, False, False])
                self.assertEqual(1, answer.num_missing)
                self.assertGreaterEqual(answer.revision, result.revision)

    def test_a_timeout_of_centuries(self):
        self.assertEqual([True], self.client.lookup(
            "float32", [-77], timeout=1e300).missing)

    def test_int8_rows_go_and_come_bit_for_bit(self):
        elements = np.random.default_rng(2).integers(
            -127, 128, (50, DIM), np.int8)
        scales = np.random.default_rng(3).random(50, np.float32)
        keys = np.arange(50)
        self.client.update("int8", keys, elements, scales=scales)
        answer = self.client.lookup("int8", keys)
        np.testing.assert_array_equal(elements, answer.rows)
        np.testing.assert_array_equal(scales, answer.scales)
        asked, _ = self.client.lookup("int8", keys, output_type="float32")
        np.testing.assert_array_equal(asked, answer.floats())
        # As they came, they may be sent.
        self.client.update("int8", keys + 100, answer.rows,
                           scales=answer.scales)
        again = self.client.lookup("int8", keys + 100)
        np.testing.assert_array_equal(elements, again.rows)

    def test_bfloat16_bits_go_and_come(self):
        bits = np.arange(4 * DIM, dtype=np.uint16).reshape(4, DIM) + 0x3F80
        self.client.update("bfloat16", np.arange(4), bits,
                           data_type="bfloat16")
        rows, _ = self.client.lookup("bfloat16", np.arange(4))
        np.testing.assert_array_equal(bits, rows)

    def test_arrays_that_are_no_plain_ones(self):
        keys = np.arange(40, dtype=np.int16)[::2]
        rows = np.asfortranarray(rows_of(20, 2 * DIM).astype(np.float64))
        self.client.update("float32", keys, rows[:, ::2])
        found, _ = self.client.lookup("float32", keys.astype(np.uint64)[::-1])
        np.testing.assert_array_equal(rows[::-1, ::2], found)

    def test_pooling(self):
        keys = np.array([1, 2, 3, 4, 77777])
        rows = rows_of(4)
        self.client.update("float32", keys[:4], rows)
        weights = np.array([1, 2, 0.5, -1, 9], np.float32)
        weighted = np.vstack([rows * weights[:4, None], np.zeros(DIM)])
        found, missing = self.client.lookup(
            "float32", keys, pooling="sum", offsets=[0, 3, 3], weights=weights)
        np.testing.assert_array_equal(found, [
            weighted[:3].sum(0), np.zeros(DIM), weighted[3:].sum(0)])
        np.testing.assert_array_equal(missing, keys == 77777)
        found, _ = self.client.lookup("float32", keys[:4], pooling="mean",
                                      offsets=np.array([0, 2]),
                                      output_type="float16")
        self.assertEqual(np.float16, found.dtype)
        np.testing.assert_array_equal(
            found, [rows[:2].mean(0), rows[2:].mean(0)])

    def test_long_bags(self):
        """Offsets of one, two and three bytes."""
        self.client.update("float32", np.arange(1000), rows_of(1000))
        keys = np.random.default_rng(4).integers(0, 1000, 40_000)
        offsets = np.array([0, 5, 127, 128, 129, 16383, 16384, 16390])
        found, _ = self.client.lookup("float32", keys, pooling="sum",
                                      offsets=offsets)
        np.testing.assert_array_equal(
            found, np.add.reduceat(rows_of(1000)[keys], offsets))

    def test_several_tables_in_one_call(self):
        self.client.update_many([
            gatherd.Update("dense", [3], np.full((1, DIM), 3.0)),
            gatherd.Update("default", [4], [[4.0, 5.0]])])
        dense, hashed, again = self.client.lookup_many([
            gatherd.Lookup("dense", [3, 100]),
            gatherd.Lookup("default", [9, 4, 9]),
            gatherd.Lookup("dense", [])])
        np.testing.assert_array_equal(dense.rows[0], np.full(DIM, 3.0))
        np.testing.assert_array_equal(dense.missing, [False, True])
        np.testing.assert_array_equal(
            hashed.rows, [[0.5, 0.5], [4, 5], [0.5, 0.5]])
        self.assertEqual((0, DIM), again.rows.shape)

    def test_modes_and_erase(self):
        one = np.ones((2, DIM), np.float32)
        self.client.update("float16", [900, 901], one)
        self.client.update("float16", [900, 900], one, mode="add")
        skipped = self.client.update("float16", [901, 902], 5 * one,
                                     mode="set_existing")
        self.assertEqual((1, 1), (skipped.num_updated, skipped.num_skipped))
        rows, missing = self.client.lookup("float16", [900, 901, 902])
        np.testing.assert_array_equal(rows[:, 0], [3, 5, 0])
        np.testing.assert_array_equal(missing, [False, False, True])
        self.assertEqual(
            2, self.client.erase("float16", [900, 901, 902]).num_erased)

    def test_no_keys(self):
        answer = self.client.lookup("int8", [])
        self.assertEqual((0, DIM), answer.rows.shape)
        answer = self.client.lookup("float32", [], pooling="sum",
                                    offsets=[0, 0])
        np.testing.assert_array_equal(answer.rows, np.zeros((2, DIM)))
        self.assertEqual(0, self.client.update("float32", [], []).num_inserted)
        self.assertEqual(0, self.client.erase("float32", []).num_erased)

    def test_refusals_are_the_servers(self):
        self.assert_fails(grpc.StatusCode.NOT_FOUND,
                          lambda: self.client.lookup("nothing", [1]),
                          "nothing")
        self.assert_fails(
            grpc.StatusCode.NOT_FOUND,
            lambda: self.client.lookup("default", [12345],
                                       missing_key_policy="error"), 12345)
        self.assert_fails(
            grpc.StatusCode.INVALID_ARGUMENT,
            lambda: self.client.update("dense", [1], np.ones((1, DIM + 1))),
            "dense", "values")

    def test_what_the_server_says_of_itself(self):
        info = self.client.info()
        self.assertEqual((BACKEND, 1_000_000, 64 * MIB),
                         (info.backend, info.max_keys_per_request,
                          info.max_message_bytes))
        self.assertEqual("SERVING", self.client.health())
        tables = {table.name: table for table in self.client.tables()}
        self.assertEqual(6, len(tables))
        self.assertEqual(("int8", DIM, "hashed"), (
            tables["int8"].data_type, tables["int8"].dim,
            tables["int8"].key_space))
        self.assertEqual("dense", tables["dense"].key_space)
        self.assertEqual([TIER], [tier.kind for tier in tables["int8"].tiers])

    def test_threads_share_a_client(self):
        failures = []

        def work(number):
            keys = np.arange(10) + 10_000 * (number + 1)
            rows = rows_of(10, seed=number)
            try:
                for _ in range(50):
                    self.client.update("float32", keys, rows)
                    found, _ = self.client.lookup("float32", keys)
                    np.testing.assert_array_equal(rows, found)
            except BaseException as error:  # shown by the test's own thread
                failures.append(error)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], failures)


class LargeTest(ServerTestCase):
    NUM_ROWS = 100_000
    CONFIG = config_of([table_of("large", 64, NUM_ROWS)],
                       server={"max_keys_per_request": NUM_ROWS})

    def test_far_beyond_grpcs_own_limit(self):
        keys = np.random.default_rng(5).permutation(self.NUM_ROWS)
        rows = rows_of(self.NUM_ROWS, 64)
        self.client.update("large", keys, rows)
        found, missing = self.client.lookup("large", keys)
        self.assertGreater(found.nbytes, 24 * MIB)
        np.testing.assert_array_equal(rows, found)
        self.assertFalse(missing.any())

    def test_beyond_the_servers_limits(self):
        """Nothing is split: a call is all or nothing."""
        keys = np.arange(self.NUM_ROWS + 1)
        self.assert_fails(grpc.StatusCode.INVALID_ARGUMENT,
                          lambda: self.client.lookup("large", keys),
                          self.NUM_ROWS)
        self.assert_fails(
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            lambda: self.client.update(
                "large", keys[:-1], np.zeros((self.NUM_ROWS, 200))),
            64 * MIB)


class RestartTest(unittest.TestCase):

    def test_calls_outlast_a_restart(self):
        address = f"127.0.0.1:{free_port()}"
        config = config_of([table_of("words", 2, 100, "dense")],
                           server={"address": address})
        first = Server(config)
        self.addCleanup(first.close)
        client = gatherd.Client(address, timeout=60, max_attempts=1000)
        self.addCleanup(client.close)
        client.update("words", [1], [[1.0, 2.0]])
        self.assertEqual(0, first.stop())
        with self.assertRaises(gatherd.GatherdError) as caught:
            client.lookup("words", [1], max_attempts=1)
        self.assertEqual(grpc.StatusCode.UNAVAILABLE, caught.exception.code)

        servers = []

        def restart():
            time.sleep(0.5)  # long enough that several attempts fail
            servers.append(Server(config))
        starter = threading.Thread(target=restart)
        starter.start()
        rows, _ = client.lookup("words", [1])
        starter.join()
        self.addCleanup(servers[0].close)
        np.testing.assert_array_equal(rows, np.zeros((1, 2)))
        client.update("words", [1], [[3.0, 4.0]])


class SecuredTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="gatherd_test_")
        authority = Authority(folder)
        identity = authority.issue("server")
        for name, token in (("read", "r-token"), ("write", "w-token")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(token)
        cls.roots = read(authority.certificate)
        cls.server = Server(config_of([table_of("words", 2, 100)], {
            "tls": {"certificate": identity.certificate, "key": identity.key},
            "auth": {"read_tokens_file": "read", "write_tokens_file": "write"},
        }), folder=folder)
        cls.addClassCleanup(cls.server.close)

    def connect(self, **options):
        client = gatherd.Client(self.server.address, **options)
        self.addCleanup(client.close)
        return client

    def assert_fails(self, code, call):
        with self.assertRaises(gatherd.GatherdError) as caught:
            call()
        self.assertEqual(code, caught.exception.code, caught.exception)

    def test_tokens_over_tls(self):
        reader, writer, nobody = (
            self.connect(root_certificates=self.roots, token=token)
            for token in ("r-token", "w-token", None))
        writer.update("words", [1], [[1.0, 2.0]])
        rows, _ = reader.lookup("words", [1])
        np.testing.assert_array_equal(rows, [[1, 2]])
        self.assert_fails(grpc.StatusCode.PERMISSION_DENIED,
                          lambda: reader.erase("words", [1]))
        self.assert_fails(grpc.StatusCode.UNAUTHENTICATED,
                          lambda: nobody.lookup("words", [1]))
        self.assertEqual("SERVING", nobody.health())

    def test_without_tls(self):
        client = self.connect(token="r-token", max_attempts=1)
        self.assert_fails(grpc.StatusCode.UNAVAILABLE, client.info)
