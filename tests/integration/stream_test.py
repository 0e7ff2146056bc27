"""Streams: replies in order, the first failure ends the stream."""

import queue
import threading

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness.api import (
    CALL_TIMEOUT_S, ApiTestCase, float32_rows, table_lookup, table_update)
from tests.integration.harness.process import config_of, table_of

DIM = 4


def lookup_request(table, keys):
    return pb.LookupRequest(lookups=[table_lookup(table, keys)])


def update_request(table, keys, rows):
    return pb.UpdateRequest(updates=[table_update(table, keys, rows)])


class StreamTest(ApiTestCase):
    CONFIG = config_of([
        table_of("dense", DIM, 10000, "dense"),
        table_of("hashed", DIM, 10000),
        table_of("fixed", DIM, 10, read_only=True),
    ], server={"max_keys_per_request": 5000})

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.rows = np.repeat(np.arange(5000.0)[:, None], DIM, axis=1)
        cls.client.update("dense", range(5000), cls.rows)

    def lookups(self, requests):
        return self.client.embeddings.LookupStream(
            iter(requests), timeout=CALL_TIMEOUT_S)

    def updates(self, requests):
        return self.client.embeddings.UpdateStream(
            iter(requests), timeout=CALL_TIMEOUT_S)

    def test_replies_in_request_order_whatever_their_size(self):
        rng = np.random.default_rng(10)
        sizes = [1 if i % 3 else int(rng.integers(2000, 5000))
                 for i in range(100)]
        keys = [np.arange(size) * 3 % 5000 + 0 for size in sizes]
        replies = list(self.lookups(
            lookup_request("dense", k) for k in keys))
        self.assertEqual(len(replies), 100)
        for asked, reply in zip(keys, replies):
            self.assertRows(float32_rows(reply.results[0]), self.rows[asked])

    def test_one_message_at_a_time(self):
        """A reply does not wait for the next request."""
        requests = queue.Queue()
        stream = self.lookups(iter(requests.get, None))
        for key in range(20):
            requests.put(lookup_request("dense", [key]))
            reply = next(stream)
            self.assertRows(float32_rows(reply.results[0]), [[key] * DIM])
        requests.put(None)
        self.assertEqual(list(stream), [])
        self.assertEqual(stream.code(), grpc.StatusCode.OK)

    def test_no_message_at_all(self):
        self.assertEqual(list(self.lookups([])), [])
        self.assertEqual(list(self.updates([])), [])

    def test_a_failing_lookup_ends_the_stream_with_its_status(self):
        stream = self.lookups([
            lookup_request("dense", [1]), lookup_request("dense", [2]),
            lookup_request("absent", [3]), lookup_request("dense", [4])])
        for key in (1, 2):
            self.assertRows(float32_rows(next(stream).results[0]),
                            [[key] * DIM])
        with self.assertFails(grpc.StatusCode.NOT_FOUND, "absent"):
            next(stream)

    def test_a_failing_update_ends_the_stream_with_its_status(self):
        stream = self.updates([
            update_request("hashed", [1], [[1] * DIM]),
            update_request("fixed", [1], [[1] * DIM]),
            update_request("hashed", [2], [[1] * DIM])])
        self.assertEqual(next(stream).results[0].num_inserted, 1)
        with self.assertFails(grpc.StatusCode.FAILED_PRECONDITION, "fixed"):
            next(stream)
        self.assertEqual(self.client.lookup("hashed", [1, 2]).num_missing, 1)

    def test_the_limit_of_keys_holds_for_each_message(self):
        whole = list(range(5000))
        replies = list(self.lookups([lookup_request("dense", whole)] * 3))
        self.assertEqual([r.results[0].num_rows for r in replies],
                         [5000] * 3)
        stream = self.lookups([lookup_request("dense", whole),
                               lookup_request("dense", whole + [1])])
        next(stream)
        with self.assertFails(grpc.StatusCode.INVALID_ARGUMENT, "dense",
                              5001, 5000):
            next(stream)

    def test_updates_take_effect_in_order(self):
        replies = list(self.updates(
            update_request("hashed", [100, 101], [[turn] * DIM] * 2)
            for turn in range(300)))
        counts = [(r.results[0].num_inserted, r.results[0].num_updated)
                  for r in replies]
        self.assertEqual(counts, [(2, 0)] + [(0, 2)] * 299)
        revisions = [r.results[0].revision for r in replies]
        self.assertEqual(revisions, sorted(set(revisions)))
        self.assertRows(self.client.rows("hashed", [100]), [[299] * DIM])

    def test_an_acknowledged_update_is_seen_by_the_other_stream(self):
        written, asked = queue.Queue(), queue.Queue()
        updates = self.updates(iter(written.get, None))
        lookups = self.lookups(iter(asked.get, None))
        for turn in range(100):
            written.put(update_request("hashed", [200], [[turn] * DIM]))
            revision = next(updates).results[0].revision
            asked.put(lookup_request("hashed", [200]))
            result = next(lookups).results[0]
            self.assertRows(float32_rows(result), [[turn] * DIM])
            self.assertGreaterEqual(result.revision, revision)
        written.put(None)
        asked.put(None)

    def test_cancelling_a_stream_leaves_the_server_well(self):
        for _ in range(20):
            stream = self.lookups(
                lookup_request("dense", range(5000)) for _ in range(50))
            next(stream)
            stream.cancel()
        self.assertEqual(self.client.lookup("dense", [1]).num_missing, 0)

    def test_many_streams_at_once(self):
        failures = []

        def run(first_key):
            try:
                keys = [(first_key + i) % 5000 for i in range(50)]
                replies = list(self.lookups(
                    lookup_request("dense", [k]) for k in keys))
                self.assertEqual(
                    [float32_rows(r.results[0])[0, 0] for r in replies],
                    keys)
            except Exception as error:  # reported by the test's own thread
                failures.append(error)
        threads = [threading.Thread(target=run, args=(i * 97,))
                   for i in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
