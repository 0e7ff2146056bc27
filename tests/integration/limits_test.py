"""Limits: each is kept exactly and refused with its number and its setting."""

import time

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness.api import (
    CALL_TIMEOUT_S, ApiTestCase, missing_keys, table_lookup, table_update)
from tests.integration.harness.exposition import scrape
from tests.integration.harness.process import config_of, table_of, wait_until

EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
MIB = 2 ** 20


class MessageLimitTest(ApiTestCase):
    CONFIG = config_of([
        table_of("wide", 1024, 100, "dense"),
        table_of("narrow", 1, 1000),
    ], server={"max_message_bytes": "1MiB"})

    def request_of(self, num_bytes):
        """A legal lookup of exactly so many bytes, padded where it is
        skipped."""
        request = pb.LookupRequest(lookups=[table_lookup("narrow", [1])])
        encoded = request.SerializeToString()
        padding = num_bytes - len(encoded) - 5  # tag 2, length 3
        self.assertGreater(padding, 2 ** 14)
        length = bytes([padding & 127 | 128, padding >> 7 & 127 | 128,
                        padding >> 14])
        return encoded + b"\xfa\x06" + length + bytes(padding)

    def test_request_of_exactly_the_limit_and_one_byte_over(self):
        self.assertTrue(
            self.client.raw_unary("Lookup", self.request_of(MIB)))
        with self.assertFails(EXHAUSTED, MIB + 1, MIB):
            self.client.raw_unary("Lookup", self.request_of(MIB + 1))
        with self.assertFails(EXHAUSTED, MIB + 1, MIB):
            self.client.raw_stream("LookupStream",
                                   [self.request_of(MIB + 1)])

    def test_reply_over_the_limit(self):
        self.assertEqual(
            self.client.lookup("wide", [1] * 255).num_rows, 255)
        with self.assertFails(EXHAUSTED, "wide", MIB, "max_message_bytes"):
            self.client.lookup("wide", [1] * 257)
        with self.assertFails(EXHAUSTED, "wide", MIB, "max_message_bytes"):
            self.client.lookup_all(table_lookup("narrow", [1]),
                                   table_lookup("wide", [1] * 100),
                                   table_lookup("wide", [1] * 200))
        with self.assertFails(EXHAUSTED, "wide", MIB, "max_message_bytes"):
            list(self.client.embeddings.LookupStream(
                iter([pb.LookupRequest(
                    lookups=[table_lookup("wide", [1] * 257)])]),
                timeout=CALL_TIMEOUT_S))

    def test_smaller_output_fits(self):
        for fields in ({"output_type": pb.DATA_TYPE_FLOAT16},
                       {"pooling": pb.POOLING_SUM, "offsets": [0]}):
            self.client.lookup("wide", [1] * 400, **fields)

    def test_an_empty_row_for_every_bag(self):
        """A few bytes of request may ask for many bytes of reply."""
        with self.assertFails(EXHAUSTED, "wide", MIB, "max_message_bytes"):
            self.client.lookup("wide", [], pooling=pb.POOLING_SUM,
                               offsets=[0] * 100000)


class DefaultLimitTest(ApiTestCase):
    CONFIG = config_of([table_of("narrow", 1, 1100000)])

    def test_a_million_keys_and_one_more(self):
        keys = np.arange(1000001)
        rows = keys[:, None].astype(np.float32)
        result = self.client.update("narrow", keys[:-1], rows[:-1])
        self.assertEqual(result.num_inserted, 1000000)
        self.assertRows(self.client.rows("narrow", keys[:-1]), rows[:-1])
        for call in (lambda: self.client.lookup("narrow", keys),
                     lambda: self.client.update("narrow", keys, rows),
                     lambda: self.client.erase("narrow", keys)):
            with self.assertFails(grpc.StatusCode.INVALID_ARGUMENT,
                                  "narrow", 1000001, 1000000):
                call()
        self.assertEqual(
            self.client.erase("narrow", keys[:-1]).num_erased, 1000000)


class InflightLimitTest(ApiTestCase):
    CONFIG = config_of([
        table_of("wide", 64, 100, "dense"),
    ], server={"max_message_bytes": "1MiB", "max_inflight_bytes": "1MiB"})

    def test_one_request_over_the_limit(self):
        keys = [1] * 4090  # request and reply together are over 1 MiB
        with self.assertFails(EXHAUSTED, MIB, "max_inflight_bytes"):
            self.client.lookup("wide", keys)
        self.assertEqual(self.client.lookup("wide", [1] * 3000).num_rows,
                         3000)

    def test_replies_that_nobody_reads_count_until_they_are_let_go(self):
        # Six streams hold a reply of 77 KB each, or two at most: together they
        # stay below the limit, and leave no room for a request of 647 KB.
        request = pb.LookupRequest(lookups=[table_lookup("wide", [1] * 300)])

        def requests():
            for _ in range(1000):  # more than any transport takes by itself
                yield request
        streams = [self.connect(self.server).embeddings.LookupStream(
            requests(), timeout=2 * CALL_TIMEOUT_S) for _ in range(6)]

        def inflight_bytes():
            return scrape(self.server)["gatherd_inflight_bytes"].value()

        def stand_still():
            first = inflight_bytes()
            time.sleep(0.3)
            return inflight_bytes() == first > 6 * 300 * 256
        wait_until(stand_still, CALL_TIMEOUT_S, "replies that nobody reads")
        large = [1] * 2450
        with self.assertFails(EXHAUSTED, "max_inflight_bytes"):
            self.client.lookup("wide", large)
        for stream in streams:
            stream.cancel()
        wait_until(lambda: inflight_bytes() == 0, CALL_TIMEOUT_S,
                   "room after the streams ended")
        self.client.lookup("wide", large)


class FullTableTest(ApiTestCase):
    CONFIG = config_of([
        table_of("bounded", 2, 100),
        table_of("other", 2, 100),
        table_of("exact", 1, 20011),
    ])

    def fill(self, num_rows):
        self.client.erase("bounded", range(-200, 200))
        self.client.update("bounded", range(num_rows),
                           np.zeros((num_rows, 2)))

    def refuse(self, keys, mode=0):
        before = self.client.table_info("bounded")
        with self.assertFails(EXHAUSTED, "bounded", 100, "rows"):
            self.client.update("bounded", keys, np.ones((len(keys), 2)),
                               mode)
        self.assertEqual(self.client.table_info("bounded"), before)
        self.assertRows(self.client.rows("bounded", range(100)),
                        np.zeros((100, 2)))

    def test_the_last_place_and_one_more(self):
        self.fill(99)
        self.client.update("bounded", [-1], [[0, 0]])
        for mode in (0, 1):
            self.refuse([-2], mode)
            self.refuse([5, 6, -2, 7], mode)
        self.assertEqual(self.client.table_info("bounded").num_rows, 100)

    def test_existing_keys_of_a_full_table_are_written(self):
        self.fill(100)
        result = self.client.update("bounded", [1, 2, 2], [[1, 1]] * 3)
        self.assertEqual(result.num_updated, 2)
        result = self.client.update("bounded", [3, 500], [[1, 1]] * 2,
                                    pb.UPDATE_MODE_SET_EXISTING)
        self.assertEqual((result.num_updated, result.num_skipped), (1, 1))

    def test_duplicates_take_one_place(self):
        self.fill(99)
        result = self.client.update("bounded", [-5] * 10, [[1, 1]] * 10)
        self.assertEqual(result.num_inserted, 1)

    def test_an_erased_key_makes_room_for_one(self):
        self.fill(100)
        self.refuse([-6])
        self.client.erase("bounded", [50])
        self.client.update("bounded", [-6], [[0, 0]])
        self.refuse([-7])

    def test_far_too_many_at_once(self):
        self.fill(0)
        self.refuse(list(range(101)))
        self.assertEqual(self.client.table_info("bounded").num_rows, 0)
        self.client.update("bounded", range(100), np.zeros((100, 2)))

    def test_parts_of_one_request_share_the_room(self):
        self.fill(60)
        rows = np.zeros((40, 2))
        with self.assertFails(EXHAUSTED, "bounded", 100, "rows"):
            self.client.update_all(
                table_update("other", [1], rows[:1]),
                table_update("bounded", range(60, 100), rows),
                table_update("bounded", [100], rows[:1]))
        self.assertEqual(self.client.table_info("bounded").num_rows, 60)
        self.assertEqual(self.client.lookup("other", [1]).num_missing, 1)
        results = self.client.update_all(
            table_update("bounded", range(60, 100), rows),
            table_update("bounded", range(60, 100), rows))
        self.assertEqual(
            [(r.num_inserted, r.num_updated) for r in results],
            [(40, 0), (0, 40)])

    def test_any_n_distinct_keys_fit(self):
        rng = np.random.default_rng(9)
        for keys in (rng.integers(-2 ** 63, 2 ** 63 - 1, 20011),
                     np.arange(20011) << 40, np.arange(20011) * 4096):
            rows = np.arange(20011, dtype=np.float32)[:, None]
            result = self.client.update("exact", keys, rows)
            self.assertEqual(result.num_inserted, 20011)
            with self.assertFails(EXHAUSTED, "exact", 20011, "rows"):
                self.client.update("exact", [7], [[1]])
            self.assertRows(self.client.rows("exact", keys), rows)
            self.assertEqual(
                self.client.erase("exact", keys).num_erased, 20011)

    def test_a_table_filled_and_emptied_many_times(self):
        """Places come back, also beside lookups."""
        start = time.monotonic()
        for turn in range(200):
            keys = range(turn * 100, turn * 100 + 100)
            self.client.update("other", keys, np.full((100, 2), turn))
            result = self.client.lookup("other", keys)
            self.assertEqual(missing_keys(result, list(keys)), [])
            self.client.erase("other", keys)
        self.assertLess(time.monotonic() - start, 60)
