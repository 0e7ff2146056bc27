"""Metrics: every series of the contract, and counts that are exactly right."""

import shutil
import subprocess
import time
import unittest

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness import health
from tests.integration.harness.api import (
    ADD, CALL_TIMEOUT_S, SET_EXISTING, ApiTestCase, table_lookup,
    table_update)
from tests.integration.harness.exposition import scrape
from tests.integration.harness.process import (
    BACKEND, ON_GPU, TIER, config_of, table_of)

# name: type, labels
DOCUMENTED = {
    "gatherd_build_info": ("gauge", "version backend"),
    "grpc_server_started_total":
        ("counter", "grpc_type grpc_service grpc_method"),
    "grpc_server_handled_total":
        ("counter", "grpc_type grpc_service grpc_method grpc_code"),
    "grpc_server_handling_seconds":
        ("histogram", "grpc_type grpc_service grpc_method"),
    "gatherd_stage_duration_seconds": ("histogram", "stage"),
    "gatherd_request_keys": ("histogram", "method"),
    "gatherd_lookup_keys_total": ("counter", "table outcome"),
    "gatherd_update_keys_total": ("counter", "table outcome"),
    "gatherd_erase_keys_total": ("counter", "table"),
    "gatherd_table_rows": ("gauge", "table"),
    "gatherd_table_revision": ("gauge", "table"),
    "gatherd_tier_rows": ("gauge", "table tier"),
    "gatherd_tier_capacity_rows": ("gauge", "table tier"),
    "gatherd_tier_memory_bytes": ("gauge", "table tier"),
    "gatherd_tier_keys_total": ("counter", "table tier outcome"),
    "gatherd_tier_evictions_total": ("counter", "table tier"),
    "gatherd_batch_requests": ("histogram", ""),
    "gatherd_inflight_requests": ("gauge", ""),
    "gatherd_inflight_bytes": ("gauge", ""),
    "gatherd_queue_requests": ("gauge", ""),
    "gatherd_rejected_total": ("counter", "reason"),
    "gatherd_access_files_stale": ("gauge", "files"),
    "process_cpu_seconds_total": ("counter", ""),
    "process_resident_memory_bytes": ("gauge", ""),
    "process_start_time_seconds": ("gauge", ""),
    "process_open_fds": ("gauge", ""),
}

# Label values that exist from the start.
VALUES = {
    "gatherd_lookup_keys_total": ("outcome", "found missing"),
    "gatherd_update_keys_total": ("outcome", "updated inserted skipped"),
    "gatherd_tier_keys_total": ("outcome", "hit miss"),
    "gatherd_stage_duration_seconds":
        ("stage", "decode queue device encode"),
    "gatherd_rejected_total":
        ("reason", "overload too_large deadline draining unauthorized"),
    "gatherd_access_files_stale": ("files", "tls auth"),
    "gatherd_request_keys":
        ("method", "Lookup LookupStream Update UpdateStream Erase"),
}
CODES = ("OK Canceled Unknown InvalidArgument DeadlineExceeded NotFound "
         "PermissionDenied ResourceExhausted FailedPrecondition "
         "Unimplemented Internal Unavailable Unauthenticated").split()
SERVICE = "gatherd.v1.EmbeddingService"
DIM = 4


class MetricsTest(ApiTestCase):
    CONFIG = config_of([
        table_of("words", DIM, 1000),
        table_of("dense", DIM, 100, "dense"),
        table_of("fixed", DIM, 100, read_only=True),
        table_of("cache", DIM, 64, eviction="lru"),
        table_of("tiny", DIM, 1),
    ], server={"max_message_bytes": "1MiB"})

    def test_a_series_from_the_start(self):  # the first test to run
        metrics = scrape(self.server)
        for name, (kind, labels) in DOCUMENTED.items():
            with self.subTest(name=name):
                self.assertEqual(metrics[name].kind, kind)
                self.assertNotEqual(metrics[name].help_text, "")
                self.assertEqual(metrics[name].label_names(),
                                 {frozenset(labels.split())})
        for name, (label, values) in VALUES.items():
            for value in values.split():
                with self.subTest(name=name, value=value):
                    self.assertTrue(any(
                        metrics[name].series(suffix, **{label: value})
                        for suffix in ("", "_count")))
        for method, kind in (("Lookup", "unary"), ("Update", "unary"),
                             ("Erase", "unary"),
                             ("LookupStream", "bidi_stream"),
                             ("UpdateStream", "bidi_stream")):
            labels = {"grpc_type": kind, "grpc_service": SERVICE,
                      "grpc_method": method}
            self.assertEqual(
                metrics["grpc_server_started_total"].value(**labels), 0)
            for code in CODES:
                self.assertEqual(metrics["grpc_server_handled_total"].value(
                    **labels, grpc_code=code), 0)
        for method in ("ListTables", "GetServerInfo"):
            metrics["grpc_server_started_total"].value(
                grpc_service="gatherd.v1.TableService", grpc_method=method)
        # The self-test has read every table, and counts nowhere.
        self.assertEqual(metrics["gatherd_lookup_keys_total"].sum(), 0)
        self.assertEqual(metrics["gatherd_tier_keys_total"].sum(), 0)
        self.assertEqual(metrics["gatherd_request_keys"].sum("_count"), 0)
        self.assertEqual(
            metrics["gatherd_build_info"].value(backend=BACKEND), 1)

    @unittest.skipUnless(ON_GPU, "no device has series on the CPU backend")
    def test_a_series_for_each_device_from_the_start(self):
        metrics = scrape(self.server)
        rows = metrics["gatherd_device_rows_read_total"]
        memory = metrics["gatherd_device_memory_bytes"]
        self.assertEqual((rows.kind, rows.label_names()),
                         ("counter", {frozenset(["device", "locality"])}))
        self.assertEqual((memory.kind, memory.label_names()),
                         ("gauge", {frozenset(["device", "state"])}))
        info = self.client.tables.GetServerInfo(
            pb.GetServerInfoRequest(), timeout=CALL_TIMEOUT_S)
        for locality in ("local", "remote"):
            self.assertEqual(len(rows.series("", locality=locality)),
                             len(info.devices))
        # The self-test has read every table, and counts nowhere.
        self.assertEqual(rows.sum(), 0)
        for labels, value in memory.series("", state="used"):
            self.assertGreater(value, 0, labels)

    @unittest.skipUnless(ON_GPU, "rows are read by devices on GPUs alone")
    def test_rows_that_devices_read(self):
        self.client.update("words", range(10), np.ones((10, DIM)))
        before = self.run_and_scrape(lambda: (
            self.client.lookup("words", [1, 2, 3, 77, 1]),
            self.client.lookup("dense", [1, -1])))
        name = "gatherd_device_rows_read_total"
        self.assertEqual(self.after[name].sum() - before[name].sum(), 5)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not there")
    def test_promtool_finds_nothing(self):
        self.client.lookup("words", [1])
        result = subprocess.run(
            ["promtool", "check", "metrics"], capture_output=True, text=True,
            input=self.server.http("/metrics")[1], check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def moved(self, before, name, suffix="", **labels):
        """By how much the one series grew."""
        return (self.after[name].value(suffix, **labels)
                - before[name].value(suffix, **labels))

    def run_and_scrape(self, work):
        before = scrape(self.server)
        work()
        self.after = scrape(self.server)
        return before

    def test_lookups_are_counted_by_key(self):
        self.client.update("words", range(10), np.ones((10, DIM)))

        def work():
            self.client.lookup("words", [1, 2, 3, 77, 1])
            self.client.lookup("words", [1, 78, 79], offsets=[0, 2],
                               pooling=pb.POOLING_SUM)
            self.client.lookup_all(table_lookup("words", [5]),
                                   table_lookup("dense", [1, -1]))
        before = self.run_and_scrape(work)
        for table, found, missing in (("words", 6, 3), ("dense", 1, 1),
                                      ("fixed", 0, 0)):
            for name, hit, miss in (
                    ("gatherd_lookup_keys_total", "found", "missing"),
                    ("gatherd_tier_keys_total", "hit", "miss")):
                for outcome, count in ((hit, found), (miss, missing)):
                    with self.subTest(table=table, outcome=outcome):
                        self.assertEqual(self.moved(
                            before, name, table=table, outcome=outcome),
                            count)
        self.assertEqual(self.moved(
            before, "gatherd_request_keys", "_count", method="Lookup"), 3)
        self.assertEqual(self.moved(
            before, "gatherd_request_keys", "_sum", method="Lookup"), 11)

    def test_writes_are_counted_by_distinct_key(self):
        self.client.erase("words", range(100, 120))
        rows = np.ones((4, DIM))

        def work():
            self.client.update("words", [100, 101, 100, 102], rows)
            self.client.update("words", [100, 100, 103, 104], rows, ADD)
            self.client.update("words", [100, 105, 105, 106], rows,
                               SET_EXISTING)
            self.client.update("dense", [0, 1, 100, -1], rows)
            self.client.erase("words", [100, 100, 999])
            self.client.erase("dense", [5])
        before = self.run_and_scrape(work)
        for table, outcome, count in (
                ("words", "inserted", 5), ("words", "updated", 2),
                ("words", "skipped", 2), ("dense", "updated", 2),
                ("dense", "skipped", 2), ("dense", "inserted", 0)):
            with self.subTest(table=table, outcome=outcome):
                self.assertEqual(self.moved(
                    before, "gatherd_update_keys_total", table=table,
                    outcome=outcome), count)
        for table in ("words", "dense"):
            self.assertEqual(self.moved(
                before, "gatherd_erase_keys_total", table=table), 1)
            info = self.client.table_info(table)
            tier = {"table": table, "tier": TIER}
            for name, value in (
                    ("gatherd_table_rows", info.num_rows),
                    ("gatherd_table_revision", info.revision)):
                self.assertEqual(self.after[name].value(table=table), value)
            for name, value in (
                    ("gatherd_tier_rows", info.tiers[0].num_rows),
                    ("gatherd_tier_capacity_rows",
                     info.tiers[0].capacity_rows),
                    ("gatherd_tier_memory_bytes",
                     info.tiers[0].memory_bytes)):
                self.assertEqual(self.after[name].value(**tier), value)

    def test_evictions(self):
        evicted = []

        def work():
            for begin in range(0, 1000, 50):
                keys = range(begin, begin + 50)
                evicted.append(self.client.update(
                    "cache", keys, np.ones((50, DIM))).num_evicted)
        before = self.run_and_scrape(work)
        self.assertEqual(self.moved(
            before, "gatherd_tier_evictions_total", table="cache",
            tier=TIER), sum(evicted))

    def test_calls_are_counted_by_code(self):
        stub = self.client.embeddings

        def work():
            self.client.lookup("words", [1])
            for call in (lambda: self.client.lookup("absent", [1]),
                         lambda: self.client.lookup("words", [1],
                                                    weights=[1]),
                         lambda: self.client.raw_unary("Lookup", b"\xff")):
                self.assertRaises(grpc.RpcError, call)
            self.assertRaises(grpc.RpcError, lambda: self.client.erase(
                "fixed", [1]))
            list(stub.LookupStream(
                iter([pb.LookupRequest()] * 5), timeout=CALL_TIMEOUT_S))
            stream = stub.UpdateStream(
                iter([pb.UpdateRequest(updates=[table_update(
                    "fixed", [1], np.ones((1, DIM)))])]),
                timeout=CALL_TIMEOUT_S)
            self.assertRaises(grpc.RpcError, lambda: list(stream))
            time.sleep(0.2)  # the last call's end reaches us before its count
        before = self.run_and_scrape(work)
        for method, code, count in (
                ("Lookup", "OK", 1), ("Lookup", "NotFound", 1),
                ("Lookup", "InvalidArgument", 2), ("Lookup", "Internal", 0),
                ("Erase", "FailedPrecondition", 1), ("Erase", "OK", 0),
                ("LookupStream", "OK", 1), ("Update", "OK", 0),
                ("UpdateStream", "FailedPrecondition", 1)):
            with self.subTest(method=method, code=code):
                self.assertEqual(self.moved(
                    before, "grpc_server_handled_total", grpc_code=code,
                    grpc_service=SERVICE, grpc_method=method), count)
        for method, count in (("Lookup", 4), ("LookupStream", 1)):
            labels = {"grpc_service": SERVICE, "grpc_method": method}
            self.assertEqual(self.moved(
                before, "grpc_server_started_total", **labels), count)
            self.assertEqual(self.moved(
                before, "grpc_server_handling_seconds", "_count", **labels),
                count)

    def test_refusals_by_reason(self):
        self.client.update("tiny", [1], np.ones((1, DIM)))

        def work():
            for call in (lambda: self.client.lookup("words", [1] * 70000),
                         lambda: self.client.update(
                             "words", range(70000),
                             np.ones((70000, DIM)))):
                self.assertRaises(grpc.RpcError, call)
        before = self.run_and_scrape(work)
        self.assertGreaterEqual(self.moved(
            before, "gatherd_rejected_total", reason="too_large"), 1)
        self.assertEqual(self.moved(
            before, "gatherd_rejected_total", reason="draining"), 0)

    def test_histograms_are_cumulative_and_in_seconds(self):
        began = time.monotonic()
        before = self.run_and_scrape(lambda: [
            self.client.lookup("words", [1]) for _ in range(50)])
        labels = {"grpc_service": SERVICE, "grpc_method": "Lookup"}
        took = self.moved(before, "grpc_server_handling_seconds", "_sum",
                          **labels)
        self.assertTrue(0 < took < time.monotonic() - began)
        buckets = self.after["grpc_server_handling_seconds"].series(
            "_bucket", **labels)
        bounds = [float(found["le"]) for found, _ in buckets]
        counts = [count for _, count in buckets]
        self.assertEqual(bounds, sorted(bounds))
        self.assertEqual(counts, sorted(counts))
        self.assertEqual(bounds[-1], float("inf"))
        self.assertLess(bounds[0], 0.001)

    def test_gauges_of_the_process(self):
        metrics = scrape(self.server)
        self.assertGreater(
            metrics["process_resident_memory_bytes"].value(), 2 ** 20)
        self.assertLess(abs(
            metrics["process_start_time_seconds"].value() - time.time()),
            600)
        self.assertGreater(metrics["process_open_fds"].value(), 5)
        self.assertEqual(metrics["gatherd_inflight_requests"].value(), 0)
        self.assertEqual(health.status(self.client), "SERVING")
