"""A hundred clients at once: everyone gets the answer to their own question."""

import threading

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness.api import (
    ADD, FLOAT16, ApiTestCase, Client, float32_rows, missing_keys,
    table_lookup, table_update)
from tests.integration.harness.exposition import scrape
from tests.integration.harness.process import config_of, table_of

EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
NUM_CHANNELS = 100
DIM = 16


def rows_of(keys, salt):
    """Rows that nobody else asks for; exact in float32 and float16."""
    keys = np.asarray(keys, np.int64)[:, None]
    return ((keys * 31 + np.arange(DIM) * 7 + salt) % 2048).astype(np.float32)


class ConcurrencyTest(ApiTestCase):
    CONFIG = config_of([
        table_of("dense", DIM, 10000, "dense"),
        table_of("hashed", DIM, 100000),
        table_of("sum", 2, 1000, "dense"),
        table_of("bounded", DIM, 1000),
    ])

    def in_parallel(self, work):
        """work(client, number) over a channel each, started together."""
        failures, barrier = [], threading.Barrier(NUM_CHANNELS)

        def run(number):
            client = Client(self.server.address)
            try:
                grpc.channel_ready_future(client.channel).result(60)
                barrier.wait(60)
                work(client, number)
            except Exception as error:
                failures.append(f"client {number}: {error!r}")
            finally:
                client.close()
        threads = [threading.Thread(target=run, args=(number,))
                   for number in range(NUM_CHANNELS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_everyone_gets_their_own_rows(self):
        keys = np.arange(10000)
        self.client.update("dense", keys, rows_of(keys, 0))

        def work(client, number):
            rng = np.random.default_rng(number)
            for turn in range(15):
                own = rng.integers(-100, 10100, rng.integers(1, 1000))
                outside = (own < 0) | (own >= 10000)
                expected = np.where(outside[:, None], 0, rows_of(own, 0))
                full, half = client.lookup_all(
                    table_lookup("dense", own),
                    table_lookup("dense", own[::-1], output_type=FLOAT16))
                np.testing.assert_array_equal(float32_rows(full), expected)
                np.testing.assert_array_equal(
                    np.frombuffer(half.values, "<f2").reshape(-1, DIM),
                    expected[::-1])
                assert missing_keys(full, own.tolist()) == own[
                    outside].tolist(), turn
        self.in_parallel(work)

    def test_everyone_writes_reads_and_erases_their_own_keys(self):
        before = self.client.table_info("hashed").num_rows

        def work(client, number):
            keys = [(number << 40) + i for i in range(200)]
            for turn in range(10):
                result = client.update("hashed", keys, rows_of(keys, turn))
                assert (result.num_inserted + result.num_updated
                        == len(keys)), result
                np.testing.assert_array_equal(
                    client.rows("hashed", keys), rows_of(keys, turn))
                erased = client.erase("hashed", keys[turn::2])
                assert erased.num_erased == len(keys[turn::2]), erased
                found = client.lookup("hashed", keys)
                assert missing_keys(found, keys) == keys[turn::2]
            client.erase("hashed", keys)
        self.in_parallel(work)
        self.assertEqual(self.client.table_info("hashed").num_rows, before)

    def test_additions_from_everyone_are_all_counted(self):
        keys = list(range(50))

        def work(client, number):
            rows = np.array([[1, number]] * (2 * len(keys)))
            for _ in range(10):
                client.update("sum", keys + keys, rows, ADD)
        self.in_parallel(work)
        total = sum(range(NUM_CHANNELS))
        self.assertRows(
            self.client.rows("sum", keys),
            [[2 * 10 * NUM_CHANNELS, 2 * 10 * total]] * len(keys))

    def test_requests_over_tables_in_opposite_order_do_not_block(self):
        def work(client, number):
            for turn in range(20):
                keys, rows = [number, turn], rows_of([0, 1], turn)
                updates = [table_update("dense", keys, rows),
                           table_update("hashed", keys, rows),
                           table_update("dense", keys[:1], rows[:1])]
                client.update_all(*updates[::1 if number % 2 else -1])
        self.in_parallel(work)
        self.client.erase("hashed", range(NUM_CHANNELS))

    def test_a_table_fills_to_exactly_its_size(self):
        """Whoever is refused has written nothing, whoever is not, all."""
        def work(client, number):
            for turn in range(20):
                keys = [number * 1000 + turn * 10 + i for i in range(7)]
                try:
                    client.update_all(
                        table_update("sum", [999], [[1, 0]], ADD),
                        table_update("bounded", keys, rows_of(keys, 0)))
                    missing = []
                except grpc.RpcError as error:
                    assert error.code() == EXHAUSTED, error.details()
                    assert "bounded" in error.details()
                    missing = keys
                assert missing_keys(
                    client.lookup("bounded", keys), keys) == missing
        self.in_parallel(work)
        info = self.client.table_info("bounded")
        self.assertEqual(info.num_rows, 1000 // 7 * 7)
        self.assertRows(self.client.rows("sum", [999]), [[1000 // 7, 0]])

    def test_revisions_of_concurrent_writes_are_all_different(self):
        seen, lock = [], threading.Lock()

        def work(client, number):
            for turn in range(10):
                result = client.update("hashed", [number], rows_of([0], turn))
                found = client.lookup("hashed", [number])
                assert found.revision >= result.revision
                with lock:
                    seen.append(result.revision)
        self.in_parallel(work)
        self.assertEqual(len(set(seen)), NUM_CHANNELS * 10)

    def test_refusals_beside_answers(self):
        def work(client, number):
            for turn in range(10):
                try:
                    client.lookup_all(table_lookup("dense", [number]),
                                      table_lookup(f"absent{number}", [1]))
                    raise AssertionError("answered")
                except grpc.RpcError as error:
                    assert error.code() == grpc.StatusCode.NOT_FOUND
                    assert f"absent{number}" in error.details()
                assert client.lookup(
                    "dense", [number, -1 - turn]).num_missing == 1
        self.in_parallel(work)

    def test_nothing_is_in_flight_afterwards(self):
        def work(client, _):
            client.update_all(*[
                table_update("hashed", [key], rows_of([key], 0))
                for key in range(5)])
            client.embeddings.Lookup.future(pb.LookupRequest(
                lookups=[table_lookup("dense", range(9000))])).cancel()
        self.in_parallel(work)
        self.client.lookup("dense", [0])
        metrics = scrape(self.server)
        self.assertEqual(metrics["gatherd_queue_requests"].value(), 0)
